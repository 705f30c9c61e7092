#!/usr/bin/env bash
# Kernels of a third party: found, verified, measured and named in the record; what is wrong with a library is said.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
cp "$ULB_BUILD"/tests/kernels/library_*.so .
rm -f library_*.so.*
library=(--kernel-library library_sound.so)
small=(--quick --shapes 64x128 --ring-mib 256 --kernels mine)

"$bench" list kernels "${library[@]}" --kernels mine --json >out.json || fail "list"
python3 -c 'import json; r, = json.load(open("out.json"))["kernels"]
assert r["name"] == "int8a8-mine-any-1x1x1" and r["runs_here"] and r["format"] == "int8", r' || fail "list: $(cat out.json)"
"$bench" verify "${library[@]}" --kernels mine >out || fail "verify: $(cat out)"
"$bench" gemv "${library[@]}" "${small[@]}" --out record >/dev/null 2>notes || fail "gemv: $(cat notes)"
record=$(find record -name '*.json')
python3 "$ULB_SOURCE/tests/results/validate_record.py" "$record" || fail "the record"
python3 -c 'import json, sys
record = json.load(open(sys.argv[1]))
assert record["settings"]["kernel_library"] == "library_sound.so"
assert {c["kernel"] for c in record["cells"]} == {"int8a8-mine-any-1x1x1"}' "$record" || fail "what the record names"

# A run that goes on needs its library named again: a record loads nothing.
"$bench" gemv "${library[@]}" "${small[@]}" --full --out killed >/dev/null 2>&1 &
pid=$!
until (($(cat killed/*.journal 2>/dev/null | wc -l) > 5)) || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -INT $pid 2>/dev/null || true
wait $pid || true
record=$(find killed -name '*.json')
if [[ -n $(find killed -name '*.journal') ]]; then
    expect 2 "measured with --kernel-library library_sound.so.*name it again" "$bench" gemv --resume "$record"
    "$bench" gemv --resume "$record" "${library[@]}" >/dev/null 2>notes || fail "--resume: $(cat notes)"
fi
grep -q '"kernel": "int8a8-mine-any-1x1x1"' "$record" || fail "cells of a run that went on"

# Where no kernel is named all are checked: those of 32-bit floats, which nothing else takes unasked, first.
# Interrupted, what was checked is told.
status=0
timeout --preserve-status -s INT 3 "$bench" verify --json >out.json 2>err || status=$?
[[ $status == 130 ]] || fail "verify of all kernels: exit $status, $(cat err)"
python3 -c 'import json
rows = json.load(open("out.json"))["rows"]
assert rows and rows[0]["kernel"].startswith("fp32f32-") and "verified" in rows[0], rows' || fail "verify of all kernels"

# A kernel that computes something else is a finding like any other's.
status=0
"$bench" verify --kernel-library library_wrong.so --kernels wrong >out 2>err || status=$?
[[ $status == 1 ]] && grep -q 'int8a8-wrong-any-1x1x1' err || fail "a wrong kernel: exit $status, $(cat out err)"

# Of an option given twice the last counts, as of any.
for what in list verify; do
    kernels=$([[ $what == list ]] && echo kernels || true)
    # shellcheck disable=SC2086
    "$bench" $what $kernels --kernel-library nosuch.so "${library[@]}" --kernels mine >out || fail "two libraries: $(cat out)"
done
expect 2 "no kernel matches 'wrong'" "$bench" list kernels --kernel-library library_wrong.so "${library[@]}" --kernels wrong

expect 2 "nosuch.so" "$bench" list kernels --kernel-library nosuch.so
expect 2 "no library of kernels is named" "$bench" gamma --kernel-library ,
expect 2 "library_empty.so exports no ulb_kernel_library" "$bench" gamma --kernel-library library_empty.so
expect 2 "library_old.so was built for version 1 of a kernel's row, this is version [0-9]+" \
    "$bench" gamma --kernel-library library_old.so
expect 2 "library_unnamed.so: row 0 is not complete" "$bench" gamma --kernel-library library_unnamed.so
expect 2 "there is a kernel int8a8-mine-any-1x1x1 already" \
    "$bench" gamma --kernel-library library_sound.so,library_taken.so
expect 2 "only goes with 'list kernels' and 'list formats'" "$bench" list models "${library[@]}"
echo "library: third-party kernels as documented"
