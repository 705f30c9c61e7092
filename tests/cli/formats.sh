#!/usr/bin/env bash
# The command formats: every format that is asked for, with its errors, the fastest kernels here, and the groups.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"

"$bench" formats --quick --ring-mib 64 --formats int4,int1,i2_s,q4_0,q4_k --json >out.json 2>notes ||
    fail "formats: $(cat notes)"
python3 - <<'P' || fail "rows and groups"
import json
document = json.load(open("out.json"))
rows = {row["format"]: row for row in document["rows"]}
assert list(rows) == ["int4", "int1", "i2_s", "q4_0", "q4_k"], list(rows)
for row in rows.values():
    assert 0 < row["rmse"] < row["max_error"] < 6, row
    if row["activation"] in ("f32", "bf16"):
        assert row["error_outliers"] is None and row["error_smoothed"] is None and row["error_smoothed_reason"], row
    else:
        assert 0 < row["error_outliers"] < 1 and 0 < row["error_smoothed"] < 1, row
    for prefix in ("", "in_place_"):
        name = row[prefix + "kernel"]
        if name is None:
            assert row[prefix + "kernel_reason"], row
            continue
        assert name.startswith(row["format"] + row["activation"] + "-") and "-ref-" not in name, row
        assert row[prefix + "weights_per_cycle"] <= 32 / row[prefix + "gamma_cycles"] * 1.0001, row
    assert row["kernel"] is None or row["repack_ns_per_weight"] > 0, row
assert rows["q4_0"]["bits_per_weight"] == rows["q4_k"]["bits_per_weight"] == 4.5
assert rows["q4_0"]["scale_columns"] == 32 and rows["int4"]["scale_columns"] == 0
assert rows["q4_0"]["rmse"] < rows["int4"]["rmse"] < rows["i2_s"]["rmse"] < rows["int1"]["rmse"]
assert document["outliers"] == {"tokens": 16, "columns": 4096, "channels": 8, "times": 100, "alpha": 0.5}, document["outliers"]
assert rows["q4_0"]["error_outliers"] < rows["int4"]["error_outliers"] < rows["int1"]["error_outliers"], rows
assert rows["int4"]["lossless"] and rows["i2_s"]["lossless"] and not rows["q4_0"]["lossless"]
assert [(g["format"], g["columns"]) for g in document["groups"]] == [
    (f, c) for f in ("int8", "int4", "int3", "int2") for c in (32, 64, 128, 256, 4096)]
P

"$bench" formats --quick --ring-mib 64 --formats int1,q4_0,q5_1 --out records >out 2>notes || fail "formats as a table: $(cat notes)"
grep -q '^int1 .* exact ' out || fail "no row of int1: $(cat out)"
grep -qE '^int1  *a8  *1\.[0-9]+  *0\.[0-9]{4}  *[01]\.[0-9]{4}$' out || fail "no errors of int1 with outliers: $(cat out)"
awk 'length > 80 { exit 1 }' out || fail "the table is wider than 80 columns"
code=0
"$bench" formats --formats int99 >out 2>notes || code=$?
((code == 2)) && grep -q "unknown format 'int99'" notes || fail "an unknown format: exit $code, $(cat notes)"

# The record has what the figure of errors shows, and the schema knows it.
record=$(echo records/formats-*.json)
[[ -f $record ]] || fail "no record: $(ls records)"
python3 "$ULB_SOURCE/tests/results/validate_record.py" "$record" || fail "schema"
if command -v gnuplot >/dev/null; then
    "$bench" plot "$record" --figure errors --format svg -o . >out 2>notes || fail "plot: $(cat notes)"
    grep -q 'int4' ./*errors.svg || fail "the figure lacks int4"
fi

# Without a list they are all measured; interrupted before the first, nothing is shown of them.
"$bench" list formats --json >list.json
python3 -c 'import json
formats = [row["name"] for row in json.load(open("list.json"))["formats"]]
assert len(formats) == len(set(formats)) >= 40, formats' || fail "formats: $(cat list.json)"
code=0
timeout --preserve-status -s INT 1 "$bench" formats >out 2>err || code=$?
((code == 130)) && grep -q '^ulb-bench: interrupted' err || fail "formats without a list: exit $code, $(cat err)"
[[ ! -s out ]] || fail "a table of nothing: $(cat out)"
