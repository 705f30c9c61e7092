#!/usr/bin/env bash
# What strangers hand in is data: nothing is loaded or obeyed that the command line does not name.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
export LC_ALL=C.UTF-8 PATH=$PATH
mkdir samples
"$ULB_BUILD/tests/results/sample_record" samples
cp "$(find samples -name "*.json" | sort | tail -1)" record.json

# ---- names that a terminal would obey ----
python3 - <<'P'
import json
forged = "x\nulb-bench: forged\033[2J\u009b31m\u202e\u2066\r\u2028"
record = json.load(open("record.json"))
record["machine"]["cpu_model"] = record["machine"]["kernel_release"] = forged
record["warnings"] = [forged]
for cell in record["cells"] + record["gamma"]["cells"]:
    cell["kernel"] = cell["kernel"][:30] + forged[:12]
for cell in record["cells"]:
    cell["model"] = forged
    cell["us"] *= 1.5
record[forged] = {forged: forged}
json.dump(record, open("hostile.json", "w"))
json.dump({**record, "cells": [{forged: forged}]}, open("broken.json", "w"))
json.dump({"name": forged, "classes": [{forged: 1}]}, open("platform.json", "w"))
P
cat >is_clean.py <<'P'
import sys, unicodedata
for name in sys.argv[1:]:
    text = open(name, "rb").read().decode().replace("\r\n", "\n") # as CSV ends lines
    bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
    assert not bad, (name, bad)
    assert not any(line.startswith("ulb-bench: forged") for line in text.split("\n")), name
P
clean() { # COMMAND...: it ends in good order, and prints nothing that is obeyed
    local status=0
    "$@" >out 2>err || status=$?
    ((status <= 3)) || fail "exit $status: $*: $(head -3 err)"
    python3 is_clean.py out err || fail "what a terminal obeys is printed: $*"
}
for json in '' --json; do
    for file in hostile.json broken.json; do
        clean "$bench" compare record.json $file --force --all $json
        clean "$bench" report $file --out page.html $json
        clean "$bench" plot $file --figure bars --format txt --out figures $json
        clean "$bench" history --db h.db add $file $json
        clean "$bench" decode --model bitnet-125m --record $file $json
        clean "$bench" gemv --resume $file $json
    done
    clean "$bench" history --db h.db list $json
    clean "$bench" history --db h.db trend $json
    clean "$bench" model --platform platform.json $json
done
for form in --markdown --junit --github; do clean "$bench" compare record.json hostile.json --force $form; done
for to in csv md sql prometheus; do clean "$bench" export hostile.json --to $to; done
for to in csv md prometheus; do clean "$bench" export hostile.json --to $to --summary; done
name=$'a\nulb-bench: forged\033[2J.json'
clean "$bench" report "$name"
cp hostile.json "$name"
clean "$bench" compare record.json "$name" --force

# ---- a library that a record names ----
echo '__attribute__((constructor)) static void run(void) { __builtin_trap(); }' >evil.c
if command -v cc >/dev/null; then
    cc -shared -fPIC evil.c -o evil.so
    python3 - <<'P'
import json
record = json.load(open("record.json"))
record["settings"] = {**record.get("settings", {}), "kernel_library": "./evil.so"}
json.dump(record, open("plugged.json", "w"))
for cell in record["cells"]:
    for key in ("us", "us_min", "us_ci_lo", "us_ci_hi"): cell[key] *= 3
    cell["us_samples"] = [3 * us for us in cell["us_samples"]]
    cell["gbps"] /= 3
    cell["efficiency"] = cell["efficiency"] and cell["efficiency"] / 3
json.dump(record, open("slower.json", "w"))
P
    touch plugged.journal
    for command in run gemv gemm; do
        expect 2 "measured with --kernel-library ./evil.so.*name it again beside --resume" "$bench" $command --resume plugged.json
    done
    expect 2 "measured with --kernel-library ./evil.so.*name it again beside --confirm" \
        "$bench" compare plugged.json slower.json --confirm --metric us --threshold 20
    expect 2 "no effect without --confirm" "$bench" compare plugged.json slower.json --kernel-library ./evil.so
fi

# ---- nothing measured is lost ----
# Every process of a container may have the same PID: six runs of one second have a record each.
small=(--quick --shapes 64x128 --ring-mib 64 --kernels '^int8a8-sign|^int8a8-ref' --set "$pu" --progress off)
if unshare --user --map-root-user -pf true 2>/dev/null; then
    for i in 1 2 3 4 5 6; do
        unshare --user --map-root-user -pf "$bench" beta --quick --ring-mib 64 --set "$pu" --out six >/dev/null 2>"six$i" &
    done
    wait
    [[ $(find six -name '*.json' | wc -l) == 6 ]] || fail "six runs, records: $(ls six) $(cat six?)"
    for i in 1 2 3; do
        unshare --user --map-root-user -pf "$bench" gemv "${small[@]}" --out three >/dev/null 2>"three$i" &
    done
    wait
    [[ $(find three -name '*.json' | wc -l) == 3 ]] || fail "three runs, records: $(ls three) $(cat three?)"
    [[ -z $(find three -name '*.journal') ]] || fail "journals are left: $(ls three)"
    for record in six/*.json three/*.json; do
        python3 "$ULB_SOURCE/tests/results/validate_record.py" "$record" || fail "$record"
    done
    [[ $(cat three? | grep '^record: ' | sort -u | wc -l) == 3 ]] || fail "names told: $(cat three?)"
fi

# What ulb-bench drew is replaced, and nothing else unless told so.
echo "my notes" >notes.html
expect 2 "notes.html is there and nothing that ulb-bench drew; name another file with --out, or give --force" \
    "$bench" report record.json -o notes.html
[[ $(cat notes.html) == "my notes" ]] || fail "notes are gone"
"$bench" report record.json -o notes.html --force >/dev/null 2>err || fail "report --force: $(cat err)"
"$bench" report record.json -o notes.html >/dev/null 2>err || fail "a report over a report: $(cat err)"
expect 2 "is a record" "$bench" report record.json -o hostile.json --force
if command -v gnuplot >/dev/null; then
    for format in svg png pdf txt; do
        draw=("$bench" plot record.json --figure beta --format "$format" --out drawn)
        "${draw[@]}" >/dev/null 2>err || fail "$format: $(cat err)"
        "${draw[@]}" >/dev/null 2>err || fail "$format again: $(cat err)"
        head -c 70000 /dev/zero >"drawn/record-beta.$format"
        expect 2 "record-beta.$format is there and nothing that ulb-bench drew.*--force" "${draw[@]}"
        "${draw[@]}" --force >/dev/null 2>err || fail "$format --force: $(cat err)"
    done
    python3 - <<'P' || fail "a PNG's or an SVG's mark"
import struct, xml.dom.minidom, zlib
png = open("drawn/record-beta.png", "rb").read()
at, kinds = 8, []
while at < len(png):
    size, kind = struct.unpack(">I4s", png[at:at + 8])
    assert zlib.crc32(png[at + 4:at + 8 + size]) == struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0], kind
    kinds.append(kind)
    at += 12 + size
assert kinds[:2] == [b"IHDR", b"tEXt"] and kinds[-1] == b"IEND", kinds
xml.dom.minidom.parse("drawn/record-beta.svg")
P
fi

# ---- the environment ----
# A gnuplot that writes without end (300 MB, so that the machine survives a limit that fails), itself or by a child.
mkdir fake
for how in 'exec head -c 300000000 /dev/zero' 'head -c 300000000 /dev/zero; sleep 100'; do
    printf '#!/bin/sh\n%s\n' "$how" >fake/gnuplot
    chmod +x fake/gnuplot
    expect 3 "gnuplot was ended: it writes more than 64 MiB" env PATH="$scratch/fake:$PATH" "$bench" plot record.json --figure beta --out fake
done

# Another machine by hwloc's environment: what is wrong is named.
python3 - <<P
source = open("$ULB_SOURCE/tests/cli/hybrid-1p1e.xml").read().split("\n")
first = next(i for i, line in enumerate(source) if 'type="Machine"' in line)
open("no-machine.xml", "w").write("\n".join(source[:first] + source[first + 1:]))
P
for bad in HWLOC_XMLFILE=no-machine.xml HWLOC_XMLFILE=record.json HWLOC_SYNTHETIC=garbage HWLOC_FSROOT=/nonexistent; do
    status=0
    env "$bad" "$bench" topology >out 2>err || status=$?
    [[ $status == 2 || $status == 3 ]] && grep -q "^ulb-bench: .*${bad%%=*}=" err || fail "$bad: exit $status, $(cat err)"
done
expect 2 "HWLOC_SYNTHETIC describes another machine" env HWLOC_SYNTHETIC='core:2 pu:1' "$bench" beta

# Names of formats as others write them.
expect 2 "unknown format 'int8_k_m'; did you mean 'int8'\\?" "$bench" gemv --formats INT8_K_M --shapes 64x128
"$bench" list kernels --json >kernels.json
"$bench" gamma --quick --formats INT8 --kernels '^int8a8-ref|^int8a8-scalar' >/dev/null 2>err || fail "INT8: $(cat err)"

# Numbers that no machine measures.
for change in 'record["cells"][0]["gbps"] = 1e300' 'record["cells"][0]["us"] = -5' \
    'record["cells"][0]["us_samples"][0] = -1e9' 'record["gamma"]["cells"][0]["gamma_cycles"] = -1'; do
    python3 -c "import json; record = json.load(open('record.json')); $change; json.dump(record, open('odd.json', 'w'))"
    for command in "report -o odd.html" "plot --out odd" "compare record.json"; do
        # shellcheck disable=SC2086
        expect 2 "odd.json: [a-z.]*cells.0.: [a-z_]+: [-0-9.e+]+ is (out of range|below 0)" "$bench" $command odd.json
    done
done

# Too little memory for a document that is sound: the environment's fault, and named as that.
python3 - <<'P'
import json
record = json.load(open("record.json"))
record["warnings"] = ["x" * 100] * 200000
json.dump(record, open("large.json", "w"))
P
# A sanitizer cannot live in so little.
[[ -z $(sed -n 's/^ULB_SANITIZE:[A-Z]*=//p' "$ULB_BUILD/CMakeCache.txt") ]] || { echo "strangers: all but the memory"; exit 0; }
status=0
(ulimit -v 60000 && exec "$bench" export large.json --to csv) >out 2>err || status=$?
[[ $status == 0 || $status == 3 ]] || fail "too little memory: exit $status, $(cat err)"
[[ $status == 0 ]] || grep -qE 'memory' err || fail "too little memory is not named: $(cat err)"
echo "strangers: what is handed in is data"
