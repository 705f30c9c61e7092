#!/usr/bin/env bash
# A hybrid machine, as far as two equal cores can play one: a recorded tree that calls PU 0 a P core and PU 1 an E core,
# declared to be this system. Teams per class, mixed teams and every split are the real code on real threads.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
allowed=$(python3 -c 'import os; print({0, 1} <= os.sched_getaffinity(0))')
[[ $allowed == True ]] || { echo "skipped: PUs 0 and 1 are not both allowed"; exit 77; }
export HWLOC_XMLFILE=$ULB_SOURCE/tests/cli/hybrid-1p1e.xml HWLOC_THISSYSTEM=1
cd "$scratch"
export COLUMNS=100
small=(--quick --models mobilellm-1.5b --ring-mib 256)
rows='int2a8-mask-(avx2|dotprod)-|int[14]a8-mask-(avxvnni|avx512vnni)-'

"$bench" "${small[@]}" --kernels "$rows" --out all >/dev/null 2>notes || fail "hybrid run: $(cat notes)"
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
    "$bench" gemv "${small[@]}" --kernels "$rows" --formats int2 --split $split --out $split --json >out.json 2>notes || fail "$split: $(cat notes)"
    python3 - $split out.json <<'P' || fail "cells of split $split"
import json, sys
cells = json.load(open(sys.argv[2]))["cells"]
assert len(cells) >= 4 and all(c["split"] == sys.argv[1] and c["threads"] == 2 and c["verified"] for c in cells)
P
done
# The weighted split says by what: what a core of each class gets done while both work.
python3 "$ULB_SOURCE/tests/results/validate_record.py" weighted/*.json || fail "invalid record of the weighted split"
python3 - weighted/*.json <<'P' || fail "the rates of the weighted split"
import json, sys
record = json.load(open(sys.argv[1]))
kernels = {c["kernel"] for c in record["cells"]}
assert {(w["kernel"], w["class"]) for w in record["class_shares"]} == {(k, c) for k in kernels for c in ("P", "E")}
for w in record["class_shares"]:
    assert 0 < w["ebw_gbps"] <= w["beta_gbps"] * (1 + 1e-9), w
    if w["gamma_cycles"] is None:  # on a machine this uneven beta alone has a say
        assert w["ebw_gbps"] == w["beta_gbps"] and "lost in noise" in w["gamma_cycles_reason"], w
    else:
        assert w["gamma_cycles"] > 0, w
    assert w["ebw_gbps"] > 0.2 * max(v["ebw_gbps"] for v in record["class_shares"] if v["kernel"] == w["kernel"]), w
P

# Names and numbers mixed.
"$bench" gemv --quick --shapes 512x1024 --ring-mib 64 --kernels "$rows" --formats int2 --set P,1 --json >out.json 2>notes || fail "set P,1: $(cat notes)"
python3 -c 'import json; assert all(c["set"] == "P,1" and c["threads"] == 2 for c in json.load(open("out.json"))["cells"])' ||
    fail "cells of set P,1"

"$bench" gemv "${small[@]}" --kernels "$rows" --formats int2 --set E --json >out.json 2>notes || fail "set E: $(cat notes)"
python3 -c 'import json; assert all(c["set"] == "E" and c["threads"] == 1 for c in json.load(open("out.json"))["cells"])' ||
    fail "cells of set E"

# Cores that share an L2: how far it feeds them.
python3 - "$HWLOC_XMLFILE" cluster.xml <<'P'
import sys
import xml.etree.ElementTree as tree
machine = tree.parse(sys.argv[1])
l3 = next(o for o in machine.iter("object") if o.get("type") == "L3Cache")
first, second = [o for o in l3 if o.get("type") == "L2Cache"]
first.extend(list(second))
l3.remove(second)
for key in ("cpuset", "complete_cpuset"):
    first.set(key, "0x00000003")
for kind in machine.getroot().findall("cpukind"):
    machine.getroot().remove(kind)
machine.write("cluster.xml", xml_declaration=True, encoding="UTF-8")
P
sed -i 's/^<topology/<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology/' cluster.xml
HWLOC_XMLFILE=cluster.xml "$bench" beta --quick --ring-mib 256 --set 0 --out cluster >report 2>notes || fail "cluster: $(cat notes)"
grep -qE '^L2 of PUs 0-1 \(core\): 1 core reads [0-9.]+ GB/s, 2 read [0-9.]+, [0-9]+ % of as many alone; [12] do' report ||
    fail "no word of the cluster: $(cat report)"
[[ $(wc -L <report) -le 100 ]] || fail "wider than 100 columns: $(cat report)"
python3 -c 'import json, sys
beta = json.load(open(sys.argv[1]))["beta"]
sets = {(c["set"], c["threads"]): c for c in beta["cells"] if c["level"] == "mem"}
assert {("0-1:1", 1), ("0-1", 2)} <= set(sets), sets
(yardstick,) = beta["yardstick"]
assert yardstick["set"] == "0" and yardstick["gbps"] == sets["0", 1]["gbps"], yardstick
assert yardstick["drift"] is None and yardstick["drift_reason"], yardstick' cluster/*.json || fail "beta of the cluster"

# Weights that the last-level cache (here 16 MiB, says the tree) may hold are not cold, and the run says so.
warm() { # LAYERS
    "$bench" decode --quick --model bitnet-125m --layers "$1" --formats int8 --tokens 2 --ring-mib 256 >/dev/null 2>notes ||
        fail "decode of $1 layers: $(cat notes)"
    grep -q '^note: bitnet-125m in int8: .* less than four times the last-level cache of 16 MiB' notes
}
warm 1 || fail "one layer is called cold: $(cat notes)"
! warm all || fail "all layers are called warm: $(cat notes)"

# A system that does not tell how much memory it has: null with the reason, never 0.
sed 's/ local_memory="[0-9]*"//' "$HWLOC_XMLFILE" >sizeless.xml
upset=$ULB_BUILD/tests/faults/libupset.so
if LD_PRELOAD=$upset "$bench" --version >/dev/null 2>&1; then
    HWLOC_XMLFILE=sizeless.xml LD_PRELOAD=$upset ULB_UPSET=no-memory-size "$bench" gamma --quick --kernels '^int2a8-scalar-ref' \
        --set 0 --out sizeless >/dev/null 2>notes || fail "no size of the memory: $(cat notes)"
    python3 "$ULB_SOURCE/tests/results/validate_record.py" sizeless/*.json || fail "invalid record without a size of the memory"
    python3 -c 'import json, sys
machine = json.load(open(sys.argv[1]))["machine"]
assert machine["memory_bytes"] is None and machine["memory_bytes_reason"], machine' sizeless/*.json || fail "memory_bytes"
    "$bench" report sizeless/*.json -o page.html >/dev/null 2>&1 || fail "report without a size of the memory"
    ! grep -qwE 'nan|0\.0 GiB' page.html || fail "the report has a number for what is not known"
fi

echo "hybrid: teams, splits and sets as described"
