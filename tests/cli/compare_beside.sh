#!/usr/bin/env bash
# ulb-bench compare --beside: programs that play a build with known times, programs that go wrong, and one real pair.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
export LC_ALL=C

# play NAME PYTHON: a program that takes turns as a build does; the statement may change us, the time of a cell.
play() {
    cat >"$1" <<PYTHON
#!/usr/bin/env python3
import json, random, sys, time
open("arguments", "a").write("$1 " + " ".join(sys.argv[1:]) + "\\n")
# Each start of a program has its own luck, and the same in every run of this test.
random.seed("$1 %d" % sum(line.startswith("$1 ") for line in open("arguments")))
names = ["int%da8-play-none-%dx1x16" % (bits, tile) for bits in (1, 2, 4, 8) for tile in (8, 16)]
wanted = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == "--kernels"]
import re
names = [name for name in names if not wanted or re.search(wanted[-1], name)]
cells = [{"kernel": name, "m": size, "k": size} for name in names for size in (64, 128)]
print(json.dumps({"turns": 1, "cells": cells}), flush=True)
luck = {cell["kernel"]: 1 + random.uniform(-.01, .01) for cell in cells}
turns = 0
for line in sys.stdin:
    turns += 1
    for place in map(int, line.split()):
        cell = cells[place]
        us = cell["m"] * luck[cell["kernel"]] * random.uniform(.98, 1.02)
        $2
        print(json.dumps({"cell": place, "us": [us, us * 1.01]}), flush=True)
PYTHON
    chmod +x "$1"
}
beside() { # BASE NEW OPTION...
    "$bench" compare --beside "$PWD/$1" "$PWD/$2" "${@:3}"
}
ends() { # CODE PATTERN COMMAND...: as expect, behind the notes on the sessions
    local code=$1 pattern=$2 status=0
    shift 2
    "$@" >out 2>err || status=$?
    [[ $status == "$code" ]] || fail "exit $status instead of $code: $* : $(cat err)"
    tail -1 err | grep -qE -- "^ulb-bench: .*$pattern" || fail "message of '$*' lacks /$pattern/: $(cat err)"
}
play same ""
play slow "us *= 1.1 if cell['kernel'].startswith('int2a8-play-none-8x') else 1"
play all "us *= 1.1"
# Slow as well: few sessions find room in their time, so that chance accuses no kernel.
play loud "us *= random.choice((1, 3, 9, 30)); time.sleep(.003)"
play louder "us *= random.choice((1, 3, 9, 30)); time.sleep(.003)"
play fast "us *= .8"
play less ""
sed -i 's/for bits in (1, 2, 4, 8)/for bits in (2, 4, 8)/' less

beside same same >out 2>err || fail "exit $? of one build: $(cat out err)"
grep -q '^answer: nothing regressed; a kernel slower by' out && grep -q '0 regressed, 0 improved, 0 unsure, 16 same' out ||
    fail "$(cat out)"
grep -q '^session 3: 0 of 8 kernels open' err || fail "$(cat err)"
[[ $(grep -c '^same gemv --quick --shapes 2048x2048,4096x4096 --turns$' arguments) == 6 ]] || fail "$(cat arguments)"
beside same slow --json >out.json 2>err && fail "10 % pass"
python3 - <<'PYTHON' || fail "$(cat out.json)"
import json
answer = json.load(open("out.json"))
slow = [k for k in answer["kernels"] if k["verdict"] == "regressed"]
assert [k["kernel"] for k in slow] == ["int2a8-play-none-8x1x16"], slow
assert .08 < slow[0]["change"] < .12 and slow[0]["smallest_detectable"] < .1, slow
assert answer["regressions"] == 2 and answer["sessions"] >= 5, answer
PYTHON
# The suspect alone is measured again.
[[ $(tail -1 arguments) == *'--kernels ^(int2a8-play-none-8x1x16)$ --turns' ]] || fail "$(tail -1 arguments)"
ends 1 "16 figures have regressed" beside same all
beside all same >out 2>err || fail "an improvement fails: $(cat out err)"
ends 4 "cannot tell.*raise --max-minutes" beside loud louder --max-minutes 0.1
beside loud louder --max-minutes 0.1 --allow-blind >/dev/null 2>err || fail "--allow-blind is not heeded: $(cat err)"
ends 1 "4 cells of the base are missing in the new build" beside same less
beside same less --allow-missing=int1 >/dev/null 2>err || fail "--allow-missing is not heeded: $(cat err)"
beside same slow --kernel '^int8' >/dev/null 2>err || fail "--kernel is not heeded: $(cat err)"
beside same slow --cell '8x1x16 64x64$' >out 2>err && fail "--cell is not heeded"
grep -q 'us: 1 regressed, 0 improved, 0 unsure, 3 same' out || fail "$(cat out)"
: >arguments
"$bench" compare --beside ./same ./same --base-library old.so --kernel-library new.so -- --formats int2 -m falcon3-1b \
    >/dev/null 2>err || fail "libraries: $(cat err)"
grep -q '^./same gemv --quick --kernel-library old.so --formats int2 -m falcon3-1b --turns' <(sed 's/^same/.\/same/' arguments) &&
    grep -q 'kernel-library new.so' arguments || fail "$(cat arguments)"

# Programs that go wrong: one line, and the exit code says whose fault it is.
play short "
        if turns == 3: sys.exit(3)"
play wrong "
        sys.exit(1)"
play mute "
        print('nothing', flush=True); continue"
printf '#!/bin/sh\nexit 2\n' >old && chmod +x old
printf '#!/bin/sh\necho "{}"\n' >other && chmod +x other
echo "no program" >text
ends 3 "short ended in the middle" beside same short
ends 1 "wrong: a kernel gives wrong results" beside same wrong
ends 3 "mute answers with what is no turn" beside same mute
ends 2 "old refuses its options.*or is older than --beside" beside old same
ends 3 "other lists cells in another way" beside other same
ends 3 "text cannot be started: Permission denied" beside text same
ends 3 "nowhere cannot be started: No such file" beside same nowhere
expect 2 "max-minutes 'x'" beside same same --max-minutes x
expect 2 "leave out --metric" beside same same --metric us
expect 2 "leave out --metric" beside same same --confirm
expect 2 "go with --beside" "$bench" compare a b --max-minutes 3
expect 2 "name the new ones with --kernel-library" beside same same --base-library old.so
ends 2 "no cell matches --cell" beside same same --cell nothing

# Interrupted, it keeps what was whole.
play slowly "
        import time; time.sleep(.01)"
"$bench" compare --beside ./slowly ./slowly --max-minutes 5 >out 2>err &
for _ in $(seq 600); do grep -q '^session 1' err && break; sleep .1; done
kill -INT $!
code=0
wait $! || code=$?
[[ $code == 130 ]] || fail "exit $code of an interruption: $(cat err)"
grep -q '^answer: ' out || fail "an interruption loses the first session: $(cat out err)"

# The real thing; what it finds is the machine's business.
code=0
"$bench" compare --beside "$bench" "$bench" --threshold 900 --allow-blind --max-minutes 0.1 --json -- --formats int2 \
    --shapes 256x256 --ring-mib 16 >out.json 2>err || code=$?
[[ $code == 0 ]] || fail "exit $code of a real pair: $(cat err)"
python3 - <<'PYTHON' || fail "$(cat out.json)"
import json
answer = json.load(open("out.json"))
assert answer["cells"] and all(c["base"] > 0 and c["new"] > 0 and c["rounds"] >= 4 for c in answer["cells"]), answer
PYTHON
expect 2 "a turn names cells" "$bench" gemv --turns --quick --formats int2 --shapes 256x256 --ring-mib 16 <<<"7777"
