#!/usr/bin/env bash
# ulb-bench --count: the same figure every time, and a reason where there is none.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"

# A machine that can do neither says so, and writes no record.
mkdir nothing
status=0
PATH=$scratch/nothing "$bench" --count --out bare >out 2>err || status=$?
if [[ $status == 0 ]]; then
    grep -q perf out || fail "counted without valgrind, and not by perf: $(cat out)"
else
    [[ $status == 3 && $(wc -l <err) == 1 && ! -s out ]] || fail "exit $status without valgrind: $(cat err)"
    grep -q 'instructions cannot be counted: perf: .*callgrind: ' err || fail "no reason: $(cat err)"
    [[ -z $(find bare -name '*.json') ]] || fail "a record of nothing was written"
    need valgrind
fi

for run in 1 2; do
    "$bench" --count --kernels '^int[12]a8|^bf16' --out "$run" --json >"$run.out" 2>notes || fail "--count: $(cat notes)"
    python3 "$ULB_SOURCE/tests/results/validate_record.py" "$(find "$run" -name 'count-*.json')" || fail "invalid record"
done
"$bench" list kernels --kernels '^int[12]a8|^bf16' --json >kernels
python3 - <<'P' || fail "counts"
import json
one, two = (json.load(open(name))["counts"] for name in ("1.out", "2.out"))
assert one == two, "two runs differ"
kernels = {kernel["name"]: kernel for kernel in json.load(open("kernels"))["kernels"]}
assert {row["kernel"] for row in one} == set(kernels)
for row in one:
    kernel, count = kernels[row["kernel"]], row["instructions_per_step"]
    if not kernel["runs_here"]:
        assert count is None and "this CPU lacks" in row["instructions_per_step_reason"], row
    elif count is None:
        assert row["source"] is None and "valgrind" in row["instructions_per_step_reason"], row
    else:
        # A vector instruction is at most 64 bytes wide; scalar kernels take some instructions a weight.
        assert row["source"] in ("perf", "callgrind")
        assert (32 < count < 1000) if kernel["isa"] == "ref" else (0.25 < count < 32), row
counted = {row["kernel"]: row["instructions_per_step"] for row in one if row["instructions_per_step"]}
assert counted
if "int1a8-blend-avx2-32x1x4" in counted:  # what the sequences are known by
    assert counted["int1a8-table-avx2-64x1x16"] < counted["int1a8-blend-avx2-32x1x4"] / 3, counted
P

# The table has every kernel that was counted, and says of the others why not, within 80 columns.
"$bench" --count --kernels 'int1a8' --out table >report 2>notes || fail "--count: $(cat notes)"
awk 'length > 80 { print; bad = 1 } END { exit bad }' report || fail "a line of the report is over 80 columns"
grep -q '^kernel .*per 32 weights' report || fail "no table: $(cat report)"

expect() { # CODE PATTERN ARGUMENTS
    local status=0
    "$bench" "${@:3}" >out 2>err || status=$?
    [[ $status == "$1" && $(wc -l <err) == 1 ]] && grep -qE -- "$2" err || fail "exit $status of ${*:3}: $(cat err)"
}
expect 2 "no kernel matches" --count --kernels int7
expect 2 "lnl is modelled" --count --platform lnl
for idle in "--models falcon3-1b" "--shapes 64x64" "--split static" --warm --aa --quick "--ring-mib 64"; do
    # shellcheck disable=SC2086 # an option and its value
    expect 2 "^ulb-bench: ${idle%% *} has no effect with --count" --count $idle
done
expect 3 "cannot run here: missing .*avx2" --count --kernels 'int2a8-.*-avx2' --isa-mask avx2
expect 3 "/proc/nowhere" --count --out /proc/nowhere

# Counts are compared across machines, not across compilers; 2 % more of one kernel is found.
python3 - "$(find 1 -name 'count-*.json')" <<'P'
import json, sys
record = json.load(open(sys.argv[1]))
json.dump(record, open("base.json", "w"))
record["machine"]["cpu_model"], record["clock"]["cycles_source"] = "another CPU", "papi"
json.dump(record, open("moved.json", "w"))
next(row for row in record["counts"] if row["instructions_per_step"])["instructions_per_step"] *= 1.02
json.dump(record, open("more.json", "w"))
record["build"]["compiler"] = "GNU 99.1.0"
json.dump(record, open("compiler.json", "w"))
P
"$bench" compare base.json moved.json --metric instructions >out || fail "counts of another machine: $(cat out)"
expect 1 "1 figure has regressed" compare base.json more.json --metric instructions
expect 3 "not comparable: build.compiler" compare base.json compiler.json --metric instructions
expect 3 "not comparable: machine.cpu_model" compare base.json moved.json
echo "count: the same twice, reasons where there is none"
