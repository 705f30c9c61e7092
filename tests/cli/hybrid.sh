#!/usr/bin/env bash
# A hybrid machine, as far as two equal cores can play one: a recorded tree that calls PU 0 a P core and PU 1 an E core,
# declared to be this system. Teams per class, mixed teams and every split are the real code on real threads.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
allowed=$(python3 -c 'import os; print({0, 1} <= os.sched_getaffinity(0))')
[[ $allowed == True ]] || { echo "skipped: PUs 0 and 1 are not both allowed"; exit 77; }
export HWLOC_XMLFILE=$ULB_SOURCE/tests/cli/hybrid-1p1e.xml HWLOC_THISSYSTEM=1
cd "$scratch"
small=(--quick --models mobilellm-1.5b --ring-mib 256)

"$bench" "${small[@]}" --out all >/dev/null 2>notes || fail "hybrid run: $(cat notes)"
record=$(find all -name '*.json')
python3 "$ULB_SOURCE/tests/results/validate_record.py" "$record" || fail "invalid record"
python3 - "$record" <<'P' || fail "the record of a hybrid machine"
import json, sys
record = json.load(open(sys.argv[1]))
assert record["topology"]["hybrid"] and [c["name"] for c in record["topology"]["classes"]] == ["P", "E"]
sets = {(cell["set"], cell["threads"]) for cell in record["beta"]["cells"] if cell["level"] == "mem"}
assert sets == {("all", 2), ("all:1", 1), ("P:1", 1), ("P", 1), ("E:1", 1), ("E", 1)}, sets
classes = {cell["class"] for cell in record["gamma"]["cells"]}
assert classes == {"P", "E"}, classes
assert all(cell["split"] == "dynamic" and cell["verified"] and cell["predicted_us"] > 0 for cell in record["cells"])
assert set(record["clock"]["hz"]) == {"P", "E"}
P

for split in static dynamic weighted; do
    "$bench" gemv "${small[@]}" --formats int2 --split $split --json >out.json 2>notes || fail "$split: $(cat notes)"
    python3 - $split out.json <<'P' || fail "cells of split $split"
import json, sys
cells = json.load(open(sys.argv[2]))["cells"]
assert len(cells) >= 4 and all(c["split"] == sys.argv[1] and c["threads"] == 2 and c["verified"] for c in cells)
P
done
"$bench" gemv "${small[@]}" --formats int2 --set E --json >out.json 2>notes || fail "set E: $(cat notes)"
python3 -c 'import json; assert all(c["set"] == "E" and c["threads"] == 1 for c in json.load(open("out.json"))["cells"])' ||
    fail "cells of set E"
echo "hybrid: teams, splits and sets as described"
