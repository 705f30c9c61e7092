#!/usr/bin/env bash
# The embedding look-up beside the gamma of kernels: block formats alone, each operator that runs here, the reference first.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"

"$bench" gamma --quick --set "$pu" --formats int8,u4,q4_0 --out . --json >out.json 2>notes || fail "gamma: exit $?: $(cat notes)"
python3 - <<'P' || fail "rows of the look-up: $(cat out.json)"
import json
rows = json.load(open("out.json"))["embedding"]
cells = {(row["format"], row["isa"]) for row in rows}
assert {("u4", "ref"), ("q4_0", "ref")} <= cells <= {("u4", "ref"), ("q4_0", "ref"), ("u4", "bmi2")}, cells
assert len(cells) == len(rows), rows
for row in rows:
    assert row["verified"] and row["class"], row
    assert row["bytes_per_step"] == {"u4": 17, "q4_0": 18}[row["format"]], row
    assert row["gamma_cycles"] is None or row["gamma_min_cycles"] <= row["gamma_cycles"], row
    assert len(row["gamma_samples"]) <= 15, row
P
python3 "$ULB_SOURCE/tests/results/validate_record.py" gamma-*.json || fail "schema"

# Without bmi2 the reference alone; as a table.
"$bench" gamma --quick --set "$pu" --formats u4 --isa-mask bmi2 >out 2>notes || fail "without bmi2: exit $?: $(cat notes)"
grep -q '^Embedding look-up' out && grep -qE '^u4 +ref ' out || fail "no look-up in the table: $(cat out)"
! grep -q ' bmi2 ' out || fail "a look-up by instructions that are masked: $(cat out)"
awk 'length > 80 { exit 1 }' out || fail "the table is wider than 80 columns"

# Formats without blocks have none.
"$bench" gamma --quick --set "$pu" --kernels 'int2a8-scalar' --json >out.json 2>notes || fail "int2: exit $?: $(cat notes)"
python3 -c 'import json; assert json.load(open("out.json"))["embedding"] == []' || fail "a look-up of int2: $(cat out.json)"
