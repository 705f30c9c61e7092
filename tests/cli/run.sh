#!/usr/bin/env bash
# Whole runs: complete, interrupted, without gnuplot. Each must leave a valid record.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
validate=$ULB_SOURCE/tests/results/validate_record.py
cd "$scratch"
small=(--quick --models mobilellm-1.5b --ring-mib 256)
few=(--kernels '-(avx2|avxvnni|neon|dotprod)-') # CPUs of many instruction sets have four times as many

# newest FOLDER: its one record.
newest() { find "$1" -name '*.json' | sort | tail -1; }
check_record() { python3 "$validate" "$1" || fail "invalid record $1"; }

# Complete: record, report within 100 columns, figures.
"$bench" "${small[@]}" "${few[@]}" --formats bf16,int8,int2,int1 --out full >report 2>notes || fail "run: $(cat notes)"
record=$(newest full)
check_record "$record"
awk 'length > 100 { print; bad = 1 } END { exit bad }' report || fail "a line of the report is over 100 columns"
for word in int1a8 int2a8 int8a8 bf16f32; do grep -q "$word" report || fail "$word is missing in the report"; done
grep -q '^Overlap on all' report || fail "no overlap in the report"
judged='.residual. [0-9.]+ % median, [0-9.]+ % at the 95th percentile of [0-9]+ cells'
not_judged='not judged, the noise of each of the [0-9]+ cells is beyond 15 %'
grep -qE "^prediction: ($judged|$not_judged)$" report || fail "no summary of the predictions in the report"
python3 - "$record" <<'P' || fail "the record's predictions"
import json, statistics, sys
record = json.load(open(sys.argv[1]))
kernels = {cell["kernel"] for cell in record["cells"]}
assert {cell["kernel"] for cell in record["overlap"]["cells"]} == kernels
assert {row["kernel"] for row in record["port_bounds"]} == kernels
assert all(row["bound_cycles"] or row["bound_cycles_reason"] for row in record["port_bounds"])
unknown = {cell["kernel"] for cell in record["overlap"]["cells"] if cell["overlap"] is None}
assert len(unknown) <= len(kernels) / 4, unknown  # of those noise left no gamma of all cores
for cell in record["overlap"]["cells"]:
    if cell["kernel"] in unknown:
        assert "no gamma" in cell["overlap_reason"], cell
        continue
    assert isinstance(cell["overlap"], float) and len(cell["overlap_samples"]) >= 5, cell
    assert cell["tile_us"] >= 0 and cell["call_us"] >= 0 and cell["column_ns"] >= 0, cell
    shapes = {tuple(map(int, shape.split("x"))) for shape in cell["shapes"].split(",")}
    assert len(shapes) == 3 and not shapes & {(c["m"], c["k"]) for c in record["cells"]}, cell
for cell in record["cells"]:
    assert abs(cell["us"] / statistics.median(cell["us_samples"]) - 1) < 1e-6, cell
    assert abs(cell["gbps"] * cell["us"] * 1e3 / cell["weight_bytes"] - 1) < 1e-6, cell
    if cell["predicted_us"] is None:
        assert cell["kernel"] in unknown, cell
        continue
    assert abs(cell["us"] / cell["predicted_us"] - 1 - cell["residual"]) < 1e-6, cell
    assert abs(cell["us"] / cell["predicted_plain_us"] - 1 - cell["residual_plain"]) < 1e-6, cell
wake = record["beta"]["wake"]
assert min(wake["rest_us"], wake["first_gbps"], wake["awake_gbps"]) > 0 and isinstance(wake["lost_us"], float), wake
assert "after a rest of %.0f us" % wake["rest_us"] in open("report").read()
summary = record["prediction"]
predicted = [cell for cell in record["cells"] if cell["predicted_us"]]
assert summary["cells"] + summary["noisy_cells"] == len(predicted)
judged = [abs(cell["residual"]) for cell in predicted if cell["noise"] <= 0.15]
assert len(judged) == summary["cells"], summary
assert ("prediction: not judged" in open("report").read()) == (not judged)
assert not judged or abs(statistics.median(judged) - summary["median_abs_residual"]) < 1e-6
P
grep -q '</html>' "${record%.json}.html" || fail "the report is missing: $(cat notes)"
if command -v gnuplot >/dev/null; then
    for figure in roofline bars kernels beta gamma prediction; do
        for format in svg png; do
            [[ -s ${record%.json}-$figure.$format ]] || fail "figure $figure.$format is missing: $(cat notes)"
        done
    done
fi

# A ring of a MiB is too small to tell what a rest costs.
"$bench" beta --quick --ring-mib 1 --json >out.json 2>notes || fail "beta with a small ring: $(cat notes)"
python3 -c 'import json
wake = json.load(open("out.json"))["wake"]
assert wake["lost_us"] is None and "--ring-mib" in wake["lost_us_reason"], wake' || fail "a rest in a small ring"

# JSON on stdout is the record and nothing else. A set with a long name is the same set everywhere.
set=$("$bench" topology --json | python3 -c 'import json, sys; print("%048d" % json.load(sys.stdin)["allowed_pus"][0])')
"$bench" "${small[@]}" --kernels 'int2a8.*pshufb' --set "$set" --out json --json >out.json 2>/dev/null || fail "run --json"
check_record out.json
python3 - "$set" <<'P' || fail "a set with a long name"
import json, sys
record = json.load(open("out.json"))
assert sys.argv[1] in {c["set"] for c in record["beta"]["cells"] if c["level"] == "mem"}, record["beta"]["cells"]
assert record["beta"]["yardstick"][0]["set"] == sys.argv[1] and {c["set"] for c in record["cells"]} == {sys.argv[1]}
assert all(c["ebw_bytes_per_cycle"] for c in record["gamma"]["cells"]), record["gamma"]["cells"]
P

# OpenMP binds the first thread before main; all PUs are there nevertheless.
"$bench" topology --json >free.json
for binding in OMP_PROC_BIND=true OMP_PLACES=cores GOMP_CPU_AFFINITY=0; do
    env "$binding" "$bench" topology --json >bound.json
    cmp -s free.json bound.json || fail "$binding: $(diff free.json bound.json)"
done

# Without gnuplot the run is done all the same.
mkdir nothing
status=0
PATH=$scratch/nothing "$bench" "${small[@]}" "${few[@]}" --formats int1 --out bare >/dev/null 2>notes || status=$?
[[ $status == 0 ]] || fail "run without gnuplot: exit $status: $(cat notes)"
grep -q "gnuplot" notes || fail "nothing said about gnuplot: $(cat notes)"
check_record "$(newest bare)"
status=0
PATH=$scratch/nothing "$bench" plot "$record" -o "$scratch" 2>notes || status=$?
[[ $status == 3 ]] || fail "plot without gnuplot: exit $status"
[[ $(wc -l <notes) == 1 ]] && grep -q "gnuplot" notes || fail "plot without gnuplot says: $(cat notes)"

# Interrupted in the grid: exit 130, one line, and what was measured is in a valid record.
rm -f notes # those of the run before are not this one's
"$bench" "${small[@]}" "${few[@]}" --formats int8,int2 --progress on --out cut >/dev/null 2>notes &
pid=$!
for _ in $(seq 600); do
    grep -qs '^gemv' notes && break
    sleep 0.1
done
kill -INT $pid
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "interrupted run: exit $status: $(cat notes)"
grep -q "interrupted.*kept" notes || fail "interrupted run says: $(cat notes)"
record=$(newest cut)
check_record "$record"
python3 - "$record" <<'P' || fail "the interrupted record lost what was measured"
import json, sys
record = json.load(open(sys.argv[1]))
assert record["beta"]["cells"] and record["gamma"]["cells"] and record["warnings"]
P

# A disk that fills up: exit 3, one line with the path, no half-written record.
status=0
(ulimit -f 1; "$bench" "${small[@]}" "${few[@]}" --formats int2 --out tiny >/dev/null 2>notes) || status=$?
[[ $status == 3 ]] || fail "full disk: exit $status: $(cat notes)"
grep -q "tiny/" notes || fail "full disk says: $(cat notes)"
[[ -z $(find tiny -name '*.json*') ]] || fail "a broken record was left behind"

echo "whole runs: all as documented"
