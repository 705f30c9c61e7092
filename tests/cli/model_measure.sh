#!/usr/bin/env bash
# ulb-bench model and run --platform: the paper's gammas, the port bounds of the real cores, and the measured 1-bit kernel,
# in JSON, text and figure.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"

# A record with given gammas: what is modelled from it can be worked out by hand.
"$ULB_BUILD/tests/results/sample_record" . || fail "no sample record"
python3 - <<'P'
import json
record = json.load(open("0.json"))
gammas = {"int1a8-blend-avxvnni-32x1x4": 2.39, "int1a8-table-avx2-64x1x4": 0.546, "int1a8-mask-avx512vnni-128x1x4": 0.1}
cell = next(c for c in record["gamma"]["cells"] if c["kernel"].startswith("int1a8-blend-avxvnni"))
record["gamma"]["cells"] = [dict(cell, kernel=k, isa=k.split("-")[2], gamma_cycles=g, gamma_min_cycles=g)
                            for k, g in gammas.items()]
json.dump(record, open("given.json", "w"))
record["gamma"]["cells"] = []
json.dump(record, open("none.json", "w"))
P
cat >check.py <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
where = sys.argv[2]
close = lambda a, b: abs(a - b) < 1e-6 * abs(b)
total = lambda part, sequence: next(t for t in part["totals"] if t["sequence"] == sequence)
assert d["kind"] == "model" and d["platform"]["name"] == "lnl"
assert {r["gamma_from"] for r in d["ceilings"]} == {"paper"} and abs(total(d, "blend")["gibps"] - 37.16) < 0.01
ports = d["port_bounds"]
assert {(r["class"], r["core"]) for r in ports["ceilings"]} == {("P", "lion-cove"), ("E", "skymont")}
assert all(r["gamma_from"] == "port bound" and r["source"] for r in ports["ceilings"])
assert {r["sequence"]: r["gamma_cycles"] for r in ports["ceilings"] if r["class"] == "E"}["blend"] == 4
assert close(total(ports, "blend")["gbps"], 4 * 4.1 * 4 / 1.75 + 4 * 3.7)
new, = [d["modelled_int1"]]
assert new["label"] == "modelled" and new["kernel"] != new["paper_kernel"] and "blend" in new["paper_kernel"]
ratio = new["measurement"]["ratios"][0]
assert close(ratio["ratio"], ratio["gamma_cycles"] / ratio["paper_gamma_cycles"])
rows = {r["class"]: r for r in new["ceilings"]}
assert close(rows["P"]["gamma_cycles"], 2.4 * ratio["ratio"]) and close(rows["E"]["gamma_cycles"], 4.71 * ratio["ratio"])
assert all(r["gamma_from"] == "modelled" and r["ratio_class"] == ratio["class"] for r in rows.values())
assert new["measurement"]["from"] == where, new["measurement"]
if where == "record":
    assert new["measurement"]["record"] == "given.json" and new["measurement"]["cpu_model"].startswith("Intel(R) Xeon")
    assert new["kernel"].startswith("int1a8-table-avx2") and close(ratio["ratio"], 0.546 / 2.39)
    assert close(total(new, "table")["gibps"], 97) and {r["bound"] for r in new["ceilings"]} == {"memory"}
else:
    assert new["measurement"]["record"] is None and new["measurement"]["record_reason"]
    # Ports allow the paper's sequence 1.25 on Zen 4 and 5, the cores with the most of them.
    assert 0.05 < ratio["ratio"] < 0.6 and 1.2 < ratio["paper_gamma_cycles"], ratio
    assert 38 < new["totals"][0]["gibps"] < 97.1
P

"$bench" model --platform lnl --record given.json --json >out.json 2>notes || fail "record: $(cat notes)"
[[ ! -s notes ]] || fail "stderr of model --record: $(cat notes)"
python3 check.py out.json record || fail "modelled from a record"
"$bench" model --platform lnl --record given.json >report || fail "record, as text"
[[ $(wc -L <report) -le 80 ]] || fail "wider than 80 columns"
for word in 'int1 +table +modelled +97\.0' 'int1 +blend +paper +37\.2' 'int1 +blend +port bound +48\.7' \
    'lion-cove' 'skymont \*' 'pipes inferred from throughput' 'measured in given.json'; do
    grep -qE -- "$word" report || fail "the report lacks /$word/"
done

# Without a measurement the rest is the same and the reason is given.
"$bench" model --platform arlh --json >out.json || fail "no measurement"
python3 - out.json <<'P' || fail "no measurement"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["modelled_int1"] is None and "--record" in d["modelled_int1_reason"] and "--measure" in d["modelled_int1_reason"]
idle = [r for r in d["port_bounds"]["ceilings"] if r["class"] == "LP-E"]
assert {r["core"] for r in idle} == {"crestmont"} and all(r["gamma_cycles"] > 0 and r["core_gbps"] is None for r in idle)
assert all(r["ebw_bytes_per_cycle_reason"] and r["note"] == "pipes inferred from throughput" for r in idle)
P

# Measured now, by either command, where both kernels can run.
if "$bench" list kernels --json --kernels 'int1a8-blend-avx(vnni|512vnni256)-' | grep -q '"runs_here": true'; then
    "$bench" --platform lnl --out now --json >out.json 2>notes || fail "measured now: $(cat notes)"
    python3 check.py out.json "measured now" || fail "modelled from a measurement"
    python3 check.py now/*.json "measured now" || fail "the document in the folder"
    "$bench" model --platform lnl --measure --json >out.json 2>notes || fail "model --measure: $(cat notes)"
    python3 check.py out.json "measured now" || fail "model --measure"
fi
"$bench" --platform lnl --out masked --json --isa-mask avxvnni,avx512vnni >out.json 2>notes || fail "masked: $(cat notes)"
python3 -c 'import json; d = json.load(open("out.json")); assert d["modelled_int1"] is None and "blend" in d["modelled_int1_reason"]' ||
    fail "a machine without the paper's kernel"
HWLOC_XMLFILE=$ULB_SOURCE/tests/cli/hybrid-1p1e.xml HWLOC_THISSYSTEM=0 \
    "$bench" --platform lnl --out replayed --json >out.json 2>notes || fail "a replayed topology: $(cat notes)"
python3 -c 'import json; d = json.load(open("out.json")); assert d["modelled_int1"] is None and d["modelled_int1_reason"]' ||
    fail "a replayed topology"

# The figure, drawn with the document and again from it.
if command -v gnuplot >/dev/null; then
    "$bench" model --platform lnl --record given.json --out figures >/dev/null 2>notes || fail "figure: $(cat notes)"
    document=$(find figures -name '*.json')
    svg=${document%.json}-roofline.svg
    [[ -s $svg && -s ${svg%.svg}.png ]] || fail "no figure: $(cat notes)"
    for text in 'int1 table, P: gamma 0.548, modelled' 'int1 table, E: gamma 1.076, modelled' \
        'int1 blend, E: gamma 4.710, paper' 'int1 blend, E: gamma 4.000, port bound of skymont' \
        'int2 pshufb, P: gamma 1.000, port bound of lion-cove' 'beta P 3.18' 'beta E 3.52' \
        '37.2 blend (paper)' '97.0 table (modelled)'; do
        grep -qF -- "$text" "$svg" || fail "the figure lacks '$text'"
    done
    "$bench" plot "$document" --format svg -o again >paths || fail "plot of a document"
    cmp "$svg" "again/$(basename "$svg")" || fail "the figure drawn again differs"
    [[ $(sed 's/.*-//' paths | tr '\n' ' ') == 'roofline.svg bars.svg tokens.svg speedup.svg ' ]] ||
        fail "the figures of a model: $(cat paths)"
fi

# refused PATTERN COMMAND...: exit code 2 and one line.
refused() {
    local status=0
    "${@:2}" >out 2>err || status=$?
    [[ $status == 2 && $(wc -l <err) == 1 ]] || fail "exit $status of ${*:2}: $(cat err)"
    grep -qE -- "$1" err || fail "message of ${*:2}: $(cat err)"
}
refused "none.json.*no gamma of the paper's 1-bit" "$bench" model --platform lnl --record none.json
refused "nosuch.json" "$bench" model --platform lnl --record nosuch.json
refused "not both" "$bench" model --platform lnl --record given.json --measure
refused "do not go with --check-paper" "$bench" model --check-paper --measure
refused "goes with --platform" "$bench" run --record given.json
document=$(find now figures masked -name '*.json' | head -1)
refused "unknown figure 'beta' of a modelled platform" "$bench" plot "$document" --figure beta
refused "'bars' is named twice" "$bench" plot "$document" --figure bars,,speedup,bars
refused "'svg' is named twice" "$bench" plot "$document" --figure bars --format svg,png,svg
echo "modelled: all as documented"
