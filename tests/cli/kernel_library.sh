#!/usr/bin/env bash
# Kernels of a third party: found, verified, measured and named in the record; what is wrong with a library is said.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
cp "$ULB_BUILD"/tests/kernels/{library,fault,late,field}_*.so .
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
version=$(sed -n 's/^enum { ULB_KERNEL_ABI = \([0-9]*\) };/\1/p' "$ULB_SOURCE/kernels/kernel.h")
expect 2 "library_old.so was built for version 6 of the kernel interface, this program has version $version; rebuild it against" \
    "$bench" gamma --kernel-library library_old.so
expect 2 "library_unnamed.so: kernel 0: variant 'My-Row' must be one word of lower-case letters and digits" \
    "$bench" gamma --kernel-library library_unnamed.so
expect 2 "there is a kernel int8a8-mine-any-1x1x1 already" \
    "$bench" gamma --kernel-library library_sound.so,library_taken.so
expect 2 "only goes with 'list kernels' and 'list formats'" "$bench" list models "${library[@]}"
# Each wrong field has its own message.
while read -r field message; do
    expect 2 "field_$field.so: kernel 0: $message" "$bench" list kernels --kernel-library "field_$field.so"
done <<'T'
variant variant 'my-row' must be one word
isa isa 'avx512-vnni' must be one of ref, any, .*avx2
unknown isa 'avx1024' must be one of
needs isa 'avx2' and needs without avx2
mr mr 0 must be a multiple of the layout's tile_m, 1
nr nr 0 must be at least 1
kr kr 0 must be a multiple of the layout's tile_k, 1
bytes bytes_per_step 0 must be
tolerance tolerance -1 must be
run run must be the kernel's function
layout layout must be one of the suite's
kind layout->kind must be one of enum ulb_layout_kind
fields layout->fields.bit_offset must be a function, and encode and decode
tiles layout->tiles.pack and tiles.unpack must be functions
blocks layout->kind 3 does not go with a format without blocks
prefetch prefetch.kind 3 must be one of enum ulb_prefetch_kind
abi abi 6 must be ULB_KERNEL_ABI
T

# Mistakes of newcomers: each is named in one line, with the kernel and the shape, and none passes.
"$bench" verify --kernel-library fault_none.so --kernels newcomer >out 2>err || fail "a sound kernel: $(cat out err)"
grep -q 'equal over 80 cases' out && [[ ! -s err ]] || fail "a sound kernel: $(cat out err)"
sanitized=$(sed -n 's/^ULB_SANITIZE:[A-Z]*=//p' "$ULB_BUILD/CMakeCache.txt")
while read -r fault code message; do
    # A sanitizer looks for leaks at exit(), by a process of its own.
    [[ -z $sanitized || $fault != leaves ]] || continue
    for form in "" --json; do
        # shellcheck disable=SC2086
        expect "$code" "kernel int8a8-newcomer-any-1x1x1 $message at [0-9]+x[0-9]+(,.*)?$" \
            timeout 20 "$bench" verify --kernel-library "fault_$fault.so" --kernels newcomer $form
        [[ -z $form ]] || python3 -c 'import json; row, = json.load(open("out"))["rows"]; assert row["verified"] is False and row["difference"]' ||
            fail "$fault: $(cat out)"
    done
done <<'T'
behind 1 (writes outside of|touches memory behind) its results
before 1 touches memory before its results
overreads 1 touches memory behind its weights
wrongrows 1 writes a row outside of .m0, m1.
spoilsw 1 writes its weights
spoilsx 1 writes its activations
fivetokens 1 differs from its scalar reference
forever 1 did not return within 1 s
crashes 1 crashed \(.*\)
overflows 1 crashed \(.*\)
illegal 1 (uses an instruction that this CPU lacks|crashed) \(.*\)
leaves 3 ended the program by exit\(0\)
prints 1 prints
threads 1 starts a thread or a process
moves 1 moves a thread to other CPUs
T
[[ $(uname -m) != x86_64 ]] || expect 1 "changes how floating-point numbers are rounded" \
    "$bench" verify --kernel-library fault_rounds.so --kernels newcomer
# Several, each with its own: what one does to its process is not the next one's.

status=0
"$bench" verify --kernel-library fault_crashes.so,library_sound.so --kernels 'newcomer|mine' >out 2>err || status=$?
[[ $status == 1 && $(grep -c 'FAILS: crashed' out) == 1 && $(grep -c 'equal over 80 cases' out) == 1 ]] ||
    fail "two libraries: exit $status, $(cat out err)"

# A bound of one's own; signals.
expect 1 "did not return within 0.2 s" "$bench" verify --kernel-library fault_forever.so --kernels newcomer --call-timeout 0.2
expect 2 "must be 0.001 to 1000000 seconds" "$bench" verify --call-timeout 0
ends() { # SIGNAL COMMAND...: within two seconds of the signal
    local signal=$1 begin status=0
    shift
    "$@" >out 2>err &
    local pid=$!
    sleep 2.5
    begin=$(date +%s%N)
    kill -"$signal" $pid
    wait $pid || status=$?
    (($(date +%s%N) - begin < 2000000000)) && [[ $status == 130 ]] || fail "$signal: exit $status, $(cat err): $*"
}
ends TERM "$bench" verify --kernel-library fault_forever.so --kernels newcomer --call-timeout 100
late=(--quick --shapes 1024x64 --ring-mib 64 --set "$pu" --kernels newcomer)
ends INT "$bench" gemv --kernel-library late_forever.so "${late[@]}"

# Kernels that go wrong when they are timed alone: a mistake that verify shows is never timed.
expect 1 "kernel int8a8-newcomer-any-1x1x1 writes a row outside" "$bench" gemv --kernel-library fault_wrongrows.so "${late[@]}"
timed() { # CODE PATTERN LIBRARY OPTION...: one line beside the notes
    local code=$1 pattern=$2 file=$3 status=0
    shift 3
    timeout 60 "$bench" gemv --kernel-library "$file" "${late[@]}" "$@" >out 2>err || status=$?
    [[ $status == "$code" ]] && grep -qE "^ulb-bench: $pattern" err || fail "$file: exit $status, $(grep -v ^note: err)"
}
timed 1 "kernel int8a8-newcomer-any-1x1x1 writes behind its results at [0-9]+x[0-9]+" late_behind.so
timed 1 "kernel int8a8-newcomer-any-1x1x1 did not return within 1.5 s at [0-9]+x[0-9]+; .*--call-timeout" late_forever.so --call-timeout 1.5
timed 3 "kernel int8a8-newcomer-any-1x1x1 ended the program by exit\(\) at [0-9]+x[0-9]+" late_leaves.so
# A sanitizer has its own words for a crash.
[[ -n $sanitized ]] ||
    timed 3 "kernel int8a8-newcomer-any-1x1x1 crashed \(Segmentation fault\) at [0-9]+x[0-9]+" late_crashes.so
"$bench" gemv --kernel-library late_prints.so "${late[@]}" --json >out 2>err || fail "a kernel that prints: $(tail -3 err)"
python3 -c 'import json; json.load(open("out"))' && grep -q 'hello from the kernel' err || fail "what a kernel prints is among the results"

# The headers are those of C++ as well.
if command -v c++ >/dev/null; then
    cat >plugin.cc <<'C'
#include "kernels/plugin.h"
static void run(const ulb_gemm *g) { ulb_row_scales(g, &ulb_int8_rows); }
static const ulb_kernel row = [] {
    ulb_kernel row = ulb_kernel();
    row.abi = ULB_KERNEL_ABI;
    row.variant = "mine";
    row.isa = "any";
    row.layout = &ulb_int8_rows;
    row.activation = ULB_ACT_A8;
    row.mr = row.nr = row.kr = 1;
    row.bytes_per_step = 32;
    row.run = run;
    return row;
}();
static const ulb_kernel *const rows[] = {&row};
const struct ulb_kernel_library ulb_kernel_library = {ULB_KERNEL_ABI, rows, 1};
C
    c++ -std=c++17 -Wall -Wextra -Werror -Wno-missing-field-initializers -O2 -shared -fPIC -I"$ULB_SOURCE" plugin.cc -o plugin.so 2>err ||
        fail "C++: $(head -5 err)"
    "$bench" list kernels --kernel-library plugin.so --kernels mine >out || fail "a library in C++"
fi
echo "library: third-party kernels as documented"
