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

# Complete: record, figures, what is shown of it.
"$bench" "${small[@]}" "${few[@]}" --formats bf16,int8,int2,int1 --out full >screen 2>notes || fail "run: $(cat notes)"
record=$(newest full)
check_record "$record"

# The first screen: at most 40 lines of 80 columns but for paths, made of the record alone, with its figures.
"$bench" show "$record" >again || fail "show"
diff screen again || fail "show prints another screen than the run"
[[ $(wc -l <screen) -le 40 ]] || fail "the screen has $(wc -l <screen) lines"
grep -vE '^(Record|Page) ' screen | awk 'length > 80 { print; bad = 1 } END { exit bad }' || fail "a line over 80 columns"
grep -qx "Record   $record" screen || fail "the screen does not name the record"
grep -qx "Page     ${record%.json}.html" screen || fail "the screen does not name the page"
! grep -q '^figure: ' notes || fail "figures are named unasked: $(cat notes)"
python3 - "$record" <<'P' || fail "the summary"
import json, statistics, sys
record = json.load(open(sys.argv[1]))
screen, summary = open("screen").read(), record["summary"]
cells = [c for c in record["cells"] if c["n"] == 1]
set_ = record["beta"]["yardstick"][0]["set"]
betas = [c["gbps"] for c in record["beta"]["cells"] if c["set"] == set_ and c["level"] == "mem"]
states = [s["gbps"] for s in record["beta"]["memory"]["states"]]
assert 0 <= record["beta"]["memory"]["n_samples"] <= 21 * (len(cells) * 3 + 20)
others = states[1:] if len(states) > 1 else betas + [record["beta"]["yardstick"][0]["gbps"], None]
assert summary.get("memory_other_gbps") in others, summary
assert summary["memory_gbps"] in (states[:1] if len(states) > 1 else betas + [record["beta"]["yardstick"][0]["gbps"]]), summary
assert "%.1f GB/s" % summary["memory_gbps"] in screen and summary["trust"] + ":" in screen
model, described = summary["models"][0], record["models"][0]
assert model["model"] == described["model"] == "mobilellm-1.5b"
head = described["head"]
us_of = lambda size: 1e6 * size / (summary["memory_gbps"] * 1e9)
# The head reads at bf16's median share of memory speed, of each shape's fastest kernel.
bf16 = {}
for c in cells:
    if c["format"] == "bf16" and c["gbps"] > bf16.get((c["m"], c["k"]), {"gbps": 0})["gbps"]:
        bf16[c["m"], c["k"]] = c
head_limit = us_of(2 * head["m"] * head["k"])
head_us = head_limit / statistics.median(c["efficiency"] for c in bf16.values())
floor = head_limit + us_of(described["kv_bytes"])
# A token's rest: of two formats, as decoded in the same run.
runs = record["decode"]["runs"]
assert [(r["model"], r["format"], r["context"]) for r in runs] == [("mobilellm-1.5b", "bf16", 4096), ("mobilellm-1.5b", "int2", 4096)]
attention = min([1e3 * r["split_ms"]["attention"] / r["kv_bytes_per_token"] / r["queries_per_key"] for r in runs])
layer = min([1e3 / r["layers"] * (r["split_ms"]["quantise"] + r["split_ms"]["other"] + min(r["split_ms"]["fork_join"], max(
    0, r["split_ms"]["gemv"] + r["split_ms"]["fork_join"] - r["gemv_cold_ms"]))) for r in runs])
cache = max(us_of(described["kv_bytes"]), described["kv_bytes"] * described["queries_per_key"] * attention)
assert described["queries_per_key"] == runs[0]["queries_per_key"] == 5 and abs(model["cache_us"] / cache - 1) < 1e-6
other = head_us + cache + described["layers"] * layer
assert abs(model["other_us"] / other - 1) < 1e-6, (model["other_us"], other)
assert "as decoded" in model["basis"] and model["basis"].split(";")[0] in screen
assert {f["format"] for f in model["formats"]} == {"bf16", "int8", "int2", "int1"}
errors = {e["format"]: e["rmse"] for e in record["format_errors"]}
for row in model["formats"]:
    us, limit = other, floor
    for matrix in described["matrices"]:
        best = min((c for c in cells if c["format"] == row["format"] and (c["m"], c["k"]) == (matrix["m"], matrix["k"])), key=lambda c: c["us"])
        us += matrix["active"] * best["us"]
        limit += matrix["active"] * best["us"] * best["efficiency"]
    assert abs(row["tokens_per_s"] * us / 1e6 - 1) < 1e-6, row
    assert abs(row["tokens_per_s_limit"] * limit / 1e6 - 1) < 1e-6, row
    assert abs(row["share_of_limit"] - row["tokens_per_s"] / row["tokens_per_s_limit"]) < 1e-6, row
    assert row["error_rmse"] == errors[row["format"]], row
    assert any(line.split()[-9:] and row["format"] in line and "%.1f" % row["tokens_per_s"] in line
               for line in screen.splitlines()), row
tps = [row["tokens_per_s"] for row in model["formats"]]
assert tps == sorted(tps)
good = [r for r in model["formats"] if r["error_rmse"] <= 0.25]
slower = lambda r: min(r["tokens_per_s"], r.get("tokens_per_s_other", r["tokens_per_s"]))
fast = [r for r in good if slower(r) >= 10]
wanted = min(fast, key=lambda r: r["error_rmse"]) if fast else max(good, key=slower)
assert model["suggested"] == wanted["format"], (model["suggested"], wanted)
P
python3 "$ULB_SOURCE/tests/cli/first_screen.py" "$bench" "$record" || fail "a number of the first screen"
"$bench" show "$record" --json >part
python3 - "$record" <<'P' || fail "show --json is not the record's summary"
import json, math, sys
def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return math.isclose(a, b, rel_tol=1e-6) if isinstance(a, float) else a == b
assert same(json.load(open("part")), json.load(open(sys.argv[1]))["summary"])
P
for section in machine beta gamma cells overlap decode formats all; do
    "$bench" show "$record" --section $section >part 2>notes || fail "show --section $section: $(cat notes)"
    [[ -s part ]] || fail "show --section $section prints nothing"
done
status=0
"$bench" show "$record" --section everything >/dev/null 2>notes || status=$?
[[ $status == 2 ]] && grep -q "must be summary|machine" notes || fail "an unknown section: exit $status: $(cat notes)"
"$bench" show "$record" --section all >report

# Advice of the record: the model that was measured gets the screen's figures, at the same context.
"$bench" advise mobilellm-1.5b --record "$record" --json >advice || fail "advise: exit $?"
python3 - "$record" <<'P' || fail "the advice"
import json, sys
summary, advice = json.load(open(sys.argv[1]))["summary"], json.load(open("advice"))
model = summary["models"][0]
assert advice["context"] == model["context"] == 4096 and abs(advice["memory_gbps"] / summary["memory_gbps"] - 1) < 1e-6
assert advice["available_bytes"] > 0 and advice["record"] == sys.argv[1] and advice["suggested"]
ours, theirs = advice["formats"], model["formats"]
for mine, other in zip(ours, theirs, strict=True):
    assert mine["format"] == other["format"] and mine["kernel"] == other["kernel"], (mine, other)
    for key in ("tokens_per_s", "tokens_per_s_limit", "share_of_limit", "weight_bytes", "error_rmse", "kv_bytes"):
        assert abs(mine[key] / other[key] - 1) < 1e-6, (key, mine, other)
front = [f for f in ours if not any(g["tokens_per_s"] >= f["tokens_per_s"] and g["error_rmse"] <= f["error_rmse"] and g != f
                                    for g in ours)]
assert [f["format"] for f in front] == [f["format"] for f in ours if f["pareto"]], ours
P
# A step of several sequences says nothing of what a token alone takes.
python3 - "$record" <<'P'
import copy, json, sys
record = json.load(open(sys.argv[1]))
run = copy.deepcopy(record["decode"]["runs"][0])
run["batch"] = 8
run["split_ms"] = {key: value / 8 for key, value in run["split_ms"].items()}
record["decode"]["runs"].append(run)
json.dump(record, open("batched.json", "w"))
P
"$bench" advise mobilellm-1.5b --record batched.json --json >batched || fail "advise with a batch: exit $?"
python3 -c 'import json
with_it, without = (json.load(open(name))["formats"] for name in ("batched", "advice"))
assert with_it == without, (with_it, without)' || fail "a batch changes the advice"
"$bench" advise llama3-8b --record "$record" --context 0 --max-error 1 --min-tps 0.001 >advice || fail "advise: exit $?"
grep -q "^Take     bf16: the least error at 0.001 tokens/s or more" advice || fail "advice: $(cat advice)"
awk 'length > 80 && !/^(Record|Measure) / { print; bad = 1 } END { exit bad }' advice || fail "a line over 80 columns"
# Weights of three values are held by a format of three values as they are; none of those is in this record.
refused() { # EXIT REGEX ARGUMENT...
    local status=0 wanted=$1 regex=$2
    shift 2
    "$bench" advise "$@" --record "$record" >advice 2>notes || status=$?
    [[ $status == "$wanted" && $(wc -l <notes) == 1 ]] && grep -qE "$regex" notes || fail "advise $*: exit $status: $(cat notes)"
}
refused 1 "bitnet-2b-4t: no format that fits has an error of at most 0.25" bitnet-2b-4t
refused 1 "no format fits: 0.1 GiB are available" llama3-8b --memory 0.1
refused 1 "reaches 1e\+06 tokens/s" mobilellm-1.5b --min-tps 1e6
refused 2 "nosuchmodel" nosuchmodel
refused 2 "must be GiB above 0" llama3-8b --memory nothing
cp "$record" gemm.json
python3 -c 'import json; r = json.load(open("gemm.json")); r["cells"] = []; json.dump(r, open("gemm.json", "w"))'
record=gemm.json refused 2 "gemm.json: the record has no products of one token; make one with .ulb-bench run" mobilellm-1.5b
awk 'length > 80 { print; bad = 1 } END { exit bad }' report || fail "a line of the report is over 80 columns"
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

# A ring smaller than the weights by which a token's rest tries kernels: it has one of its own, warned of once.
"$bench" --quick --ring-mib 8 --kernels int1a8-scalar --shapes 64x256 --out small-ring --json >small-ring.json 2>notes ||
    fail "a whole run with a small ring: $(cat notes)"
python3 -c 'import json
record = json.load(open("small-ring.json"))
assert record["decode"]["runs"], record.get("decode")
assert sum("ring of 8 MiB" in w for w in record["warnings"]) == 1, record["warnings"]' || fail "a small ring's run"

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
PATH=$scratch/nothing "$bench" "${small[@]}" --formats int8,int2 --out bare >/dev/null 2>notes || status=$?
[[ $status == 0 ]] || fail "run without gnuplot: exit $status: $(cat notes)"
grep -q "gnuplot" notes || fail "nothing said about gnuplot: $(cat notes)"
check_record "$(newest bare)"

# Without --kernels the fastest of each format is measured, and the paper's own sequence; --like measures the same.
chosen=$(newest bare)
python3 - "$chosen" <<'P' || fail "the choice of kernels"
import json, sys
record = json.load(open(sys.argv[1]))
choices, measured = record["choices"], {cell["kernel"] for cell in record["cells"]}
assert record["settings"]["best_kernels"] is True
assert measured == {c["kernel"] for c in choices if c["chosen"] or c["paper"]}, (measured, choices)
assert {c["kernel"] for c in choices} == {c["kernel"] for c in record["gamma"]["cells"]}
for format_ in ("int8", "int2"):
    rows = [c for c in choices if c["format"] == format_]
    best_gamma = min(c["gamma_cycles"] for c in rows if c["gamma_cycles"])
    for c in rows:
        near = c["gamma_cycles"] is not None and c["gamma_cycles"] <= 1.6 * best_gamma
        assert (c["cold_ratio"] is not None) == near, c
    timed = [c for c in rows if c["cold_ratio"]]
    best = min(c["cold_ratio"] for c in timed)
    first = next(c for c in timed if c["cold_ratio"] <= 1.03 * best)
    assert [c for c in rows if c["chosen"]] == [first], rows
P
PATH=$scratch/nothing "$bench" --quick --like "$chosen" --ring-mib 256 --out like --json >like.json 2>notes || fail "--like: $(cat notes)"
python3 - "$chosen" <<'P' || fail "--like measures something else"
import json, sys
old, new = json.load(open(sys.argv[1])), json.load(open("like.json"))
shape = lambda c: (c["kernel"], c["model"], c["layer"], c["m"], c["k"], c["mode"])
assert sorted(map(shape, old["cells"])) == sorted(map(shape, new["cells"]))
P
status=0
"$bench" --like "$chosen" --formats int8 2>notes >/dev/null || status=$?
[[ $status == 2 ]] && grep -q "takes formats, kernels, models and shapes from its record" notes || fail "--like --formats: exit $status: $(cat notes)"
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
