#!/usr/bin/env bash
# The first build of scripts/bench: it has kernels of every format, none that this CPU cannot run but those that models are
# made of, and cpack refuses it. Nothing is compiled.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmake -S "$ULB_SOURCE" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DULB_KERNELS_FOR=this-cpu \
    -DBUILD_TESTING=OFF >"$scratch/log" 2>&1 || fail "configuring: $(tail -20 "$scratch/log")"
objects() { grep -oE 'kernel_[a-z0-9_]+\.dir' "$1/build.ninja" | sort -u; }
objects "$scratch/build" >"$scratch/first"
objects "$ULB_BUILD" >"$scratch/all"
[[ ! $(comm -23 "$scratch/first" "$scratch/all") ]] || fail "kernels that the whole build lacks"
cmp -s <(grep _ref_ref "$scratch/first") <(grep _ref_ref "$scratch/all") || fail "a format without its scalar reference"
(($(wc -l <"$scratch/first") < $(wc -l <"$scratch/all"))) || fail "nothing is left out"
isa=$("$bench" topology --json | python3 -c 'import json, sys; print(" ".join(json.load(sys.stdin)["isa"]))')
for word in avx512vnni avx512vbmi amxint8; do
    [[ " $isa " == *" $word "* ]] || ! grep "_${word}\.dir" "$scratch/first" | grep -vE '^kernel_(int1|int2_pshufb|peak)_' ||
        fail "kernels for $word, which this CPU lacks"
done
(cd "$scratch/build" && cpack -G TGZ) >"$scratch/log" 2>&1 && fail "cpack packs the kernels of one CPU"
grep -q 'packages have all' "$scratch/log" || fail "cpack says: $(tail -3 "$scratch/log")"
