#!/usr/bin/env bash
# ulb-bench compare: verdicts and exit codes, every form of output, records that are broken or of other machines.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
export LC_ALL=C
"$ULB_BUILD/tests/results/sample_record" . || fail "no sample records"
mv 0.json before.json

# change FILE PYTHON: a copy of before.json, r, after that statement.
change() {
    python3 -c "import json; r = json.load(open('before.json')); $2; json.dump(r, open('$1', 'w'))"
}
slower="for c in r['cells']:
    if 'int1a8-blend-avxvnni' in c['kernel']: c['us_samples'] = [1.2 * x for x in c['us_samples']]"
change after.json "pass
$slower"
change hidden.json "r['cells'] = r['cells'][12:]"
change other.json "r['machine']['cpu_model'] = 'Another'"
change newer.json "r['schema_version'] = 99"
change older.json "r['schema_version'] = 1
for c in r['cells']:
    for key in 'layout', 'samples_per_round', 'noise_floor', 'disturbed_samples': del c[key]
for y in r['beta']['yardstick']: del y['hz_samples']"
change empty.json "r['cells'] = []"
head -c 20000 before.json >truncated.json
head -c 3000 /dev/urandom >noise.json

"$bench" compare before.json before.json >out || fail "a record is worse than itself"
grep -q '0 regressed, 0 improved, 0 unsure, 108 same' out || fail "$(cat out)"
grep -q 'answer: both records hold one and the same measurement' out || fail "$(cat out)"
expect 1 "12 figures have regressed" "$bench" compare before.json after.json
[[ $(grep -cE '^regressed +-16.7% .* int1a8-blend-avxvnni' out) == 1 ]] || fail "$(cat out)"
[[ $(wc -l <out) -le 12 ]] || fail "the answer takes $(wc -l <out) lines"
"$bench" compare before.json after.json -v >out 2>err && fail "-v hides the exit code"
[[ $(grep -cE '^regressed +-16.7% .* int1a8-blend-avxvnni' out) == 13 ]] || fail "$(cat out)"
[[ $(awk 'length > 80' out | wc -l) == 0 ]] || fail "wider than 80 columns: $(cat out)"
"$bench" compare after.json before.json >out || fail "exit $? of an improvement"
[[ $(grep -c '^improved' out) == 1 ]] || fail "$(cat out)"
expect 1 "12 cells of the base are missing.*run --like BASE" "$bench" compare before.json hidden.json
"$bench" compare before.json hidden.json --all --allow-missing >out || fail "exit $? of missing cells"
[[ $(grep -c '^missing' out) == 12 && $(grep -c '^same' out) == 104 ]] || fail "$(cat out)"
change wrong.json "r['cells'][5]['verified'] = False"
expect 1 "1 cell has wrong results.*verify" "$bench" compare before.json wrong.json --allow-blind
expect 4 "cannot tell.*--allow-blind" "$bench" compare before.json older.json --must-see 0.1
"$bench" compare before.json older.json --must-see 0.1 --allow-blind >/dev/null || fail "--allow-blind is not heeded"
"$bench" compare before.json after.json --kernel '^int8' >/dev/null || fail "--kernel is not heeded"
expect 2 "no figure matches" "$bench" compare before.json after.json --cell nothing
expect 2 "no regular expression" "$bench" compare before.json after.json --kernel '('
expect 2 "must-see 'x'" "$bench" compare before.json after.json --must-see x
"$bench" compare before.json after.json --threshold 30% >/dev/null || fail "--threshold is not heeded"
"$bench" compare before.json after.json --metric gamma >/dev/null || fail "gammas are the same"
expect 1 "12 figures have" "$bench" compare before.json after.json after.json --metric us
"$bench" compare before.json after.json hidden.json --json >pooled.json 2>/dev/null && fail "pooled records pass"
change stranger.json "r['build']['id'] = 'another'"
expect 3 "pooled and must be of one build.*build.id" "$bench" compare before.json before.json stranger.json

# Tails: the worst of each round.
change tails.json "pass
for c in r['cells']:
    if 'int1a8-blend-avxvnni' in c['kernel']: c['us_samples'] = [x * (1.6 if i % 3 == 1 else 1) for i, x in enumerate(c['us_samples'])]"
"$bench" compare before.json tails.json >/dev/null || fail "tails count in the median: exit $?"
expect 1 "12 figures have regressed" "$bench" compare before.json tails.json --metric p95

# Orders: cells of one kernel beside each other, or the smallest share first.
"$bench" compare before.json after.json --all --sort key >out 2>err && fail "--sort hides the exit code"
python3 - <<'PYTHON' || fail "--sort"
import json, subprocess, os
def cells(order):
    out = subprocess.run([os.environ["ULB_BUILD"] + "/ulb-bench", "compare", "before.json", "after.json", "--json", "--sort", order],
                         capture_output=True).stdout
    return json.loads(out)["cells"]
keys = [c["key"] for c in cells("key")]
shares = [c["new"] for c in cells("share")]
changes = [abs(1 - c["ratio"]) for c in cells("change")]
assert keys == sorted(keys) and shares == sorted(shares) and changes[0] > .1 and changes[-1] < .01
PYTHON
expect 2 "must be verdict, change, share or key" "$bench" compare before.json after.json --sort size
expect 2 "goes with --metric efficiency" "$bench" compare before.json after.json --sort share --metric us

# The other forms, read by parsers of theirs.
"$bench" compare before.json after.json --json >out.json 2>/dev/null && fail "--json hides the exit code"
"$bench" compare before.json after.json --junit >out.xml 2>/dev/null && fail "--junit hides the exit code"
"$bench" compare before.json hidden.json --junit >gone.xml 2>/dev/null && fail "--junit passes what is gone"
"$bench" compare before.json wrong.json --junit >wrong.xml 2>/dev/null && fail "--junit passes wrong results"
"$bench" compare before.json older.json --must-see 0.1 --junit >blind.xml 2>/dev/null && fail "--junit passes what is blind"
change odd.json "pass
for c in r['cells']: c['model'] = 'odd\\uffff\\ufffemodel'"
"$bench" compare odd.json odd.json --junit >odd.xml || fail "exit $? of odd names"
{ "$bench" compare before.json hidden.json --github 2>/dev/null || true; } | grep -q '^::error title=ulb-bench compare::12 cells' ||
    fail "--github does not name what is gone"
{ "$bench" compare before.json older.json --must-see 0.1 --github 2>/dev/null || true; } | grep -q '^::warning .*cannot tell' ||
    fail "--github does not say that it cannot tell"
"$bench" compare before.json after.json --markdown >out.md 2>/dev/null && fail "--markdown hides the exit code"
"$bench" compare before.json after.json --github >out.txt 2>/dev/null && fail "--github hides the exit code"
python3 - <<'PYTHON' || fail "a form of output"
import json, xml.etree.ElementTree as tree
document = json.load(open("out.json"))
assert document["regressions"] == 12 and document["missing"] == 0 and len(document["cells"]) == 108
pooled = json.load(open("pooled.json"))  # hidden.json lacks 12 cells, and not those that are slower
assert {c["record"] for c in pooled["cells"]} == {"after.json,hidden.json"} and pooled["missing"] == 0
rounds = [{c["key"]: c["rounds"] for c in d["cells"]} for d in (document, pooled)]
assert len(rounds[0]) == len(rounds[1]) == 108
for cell in document["cells"]:
    for key in "key base new ratio ci_lo ci_hi p_adjusted threshold noise_floor machine rounds verdict".split():
        assert cell[key] is not None or cell[key + "_reason"], (key, cell)
    if cell["verdict"] == "regressed":
        assert 1 / 1.21 < cell["ratio"] < 1 / 1.19 and cell["p_adjusted"] < 0.05
        assert 1 / 1.25 < cell["ci_lo"] < 1 / 1.2 < cell["ci_hi"] < 1 / 1.15
suite, = tree.parse("out.xml").getroot().findall("testsuite")
assert suite.get("tests") == "109" == str(len(suite.findall("testcase"))) and suite.get("failures") == "12"
assert len(suite.findall("testcase/failure")) == 12 and not suite.findall("testcase/error")
assert all(c.get("classname") and c.get("name") for c in suite.findall("testcase"))
gone, = tree.parse("gone.xml").getroot().findall("testsuite")
assert gone.get("failures") == "12" and {f.get("type") for f in gone.findall("testcase/failure")} == {"missing"}
assert gone.get("skipped") == str(len(gone.findall("testcase/skipped")))
wrong, = tree.parse("wrong.xml").getroot().findall("testsuite")
assert wrong.get("failures") == "1" and "wrong results" in wrong.find("testcase/failure").get("message")
blind, = tree.parse("blind.xml").getroot().findall("testsuite")
assert blind.get("failures") == "0" and "cannot tell" in blind.find("testcase/skipped").get("message")
odd, = tree.parse("odd.xml").getroot().findall("testsuite")
assert any("odd??model" in c.get("name") for c in odd.findall("testcase")), "noncharacters"
lines = open("out.txt").read().splitlines()
assert len(lines) == 11 and all(l.startswith("::error title=slower int1a8-blend") for l in lines[:10])
assert lines[10].startswith("::notice title=ulb-bench compare::12 regressed")
text = open("out.md").read()
assert text.startswith("### ulb-bench, efficiency: 12 regressed") and text.count("\n| int1a8") == 13
PYTHON

# What cannot be compared, and what is no record.
expect 3 'not comparable: machine.cpu_model is "Intel.*" in the base and "Another".*--force' \
    "$bench" compare before.json other.json
python3 -c 'import json
record = json.load(open("before.json"))
for last in "avx512bf16", "amxbf16":
    record["machine"]["isa"] = [f"word{i:02}" for i in range(20)] + [last]
    json.dump(record, open(last + ".json", "w"))'
expect 3 'machine.isa is \.\.\..*avx512bf16.* in the base and \.\.\..*amxbf16' "$bench" compare avx512bf16.json amxbf16.json
"$bench" compare before.json other.json --force >out || fail "--force"
"$bench" compare older.json before.json >out || fail "an older schema: $?"
grep -q '108 same' out || fail "$(cat out)"
expect 3 "newer.json: schema_version: written by a newer version.*update it" "$bench" compare before.json newer.json
expect 2 "truncated.json: line" "$bench" compare before.json truncated.json
expect 2 "noise.json: " "$bench" compare noise.json before.json
expect 2 "empty.json against before.json: the new record: no figures of the metric efficiency" "$bench" compare before.json empty.json
expect 2 "nowhere.json could not be opened" "$bench" compare before.json nowhere.json
expect 2 "no figures of the metric tps" "$bench" compare before.json after.json --metric tps
expect 2 "unknown metric 'speed'.*efficiency" "$bench" compare before.json after.json --metric speed
expect 2 "threshold 'x'" "$bench" compare before.json after.json --threshold x
expect 2 "threshold '0x10'" "$bench" compare before.json after.json --threshold 0x10
expect 2 "choose one" "$bench" compare before.json after.json --json --junit
expect 2 "name two records" "$bench" compare before.json
expect 2 "choose one" "$bench" compare before.json after.json --force --confirm
expect 2 "runs efficiency.*not instructions" "$bench" compare before.json after.json --confirm --metric instructions
expect 2 "use it with run, gemv or gemm" "$bench" gamma --quick --aa
echo "compare: ok"
