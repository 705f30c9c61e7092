#!/usr/bin/env bash
# Records of earlier versions, whose kernels, layouts and keys have other names: they plot, report, export, compare and
# go on in a history; an old kernel's name chooses the kernel of today.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
export LC_ALL=C
renamed=$ULB_BUILD/tests/cli/renamed_bench # with the made-up names of tests/results/renamed_names.c
"$ULB_BUILD/tests/results/sample_record" . || fail "no sample records"
mv 4.json new.json # the one that holds everything

cat >older.py <<'P'
"""older.py OUT VERSION NEW=OLD...: new.json as an earlier version wrote it, a day earlier; keys begin with a dot."""
import json, sys
record = json.load(open("new.json"))
names = dict(argument.split("=") for argument in sys.argv[3:])
def older(value, at=""):
    if isinstance(value, dict):
        return {names.get(f"{at}.{key}", key): older(inner, f"{at}.{key}") for key, inner in value.items()}
    if isinstance(value, list):
        return [older(inner, at) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value
record = older(record)
record["schema_version"] = int(sys.argv[2])
record["created"] = "2025-01-01T00:00:00Z"
if record["schema_version"] == 1:
    for cell in record["cells"]:
        for key in "layout", "samples_per_round", "noise_floor", "disturbed_samples":
            del cell[key]
    for yardstick in record["beta"]["yardstick"]:
        del yardstick["hz_samples"]
json.dump(record, open(sys.argv[1], "w"))
P
names=(int2a8-pshufb-avx2-32x1x4=int2a8-shuffle-avx2-32x1x4 bf16f32-fma-avx2-32x1x2=bf16f32-muladd-avx2-32x1x2
    vnni4-interleaved=mixed)
python3 older.py names.json 2 "${names[@]}"
python3 older.py old.json 2 "${names[@]}" .cells.gbps=rate .beta.yardstick.variant=reader
python3 older.py oldest.json 1 "${names[@]}"
grep -q '"rate"' old.json || fail "old.json has no old key"
grep -q int2a8-shuffle-avx2-32x1x4 old.json || fail "old.json has no old name"
! grep -q int2a8-pshufb-avx2-32x1x4 old.json || fail "old.json has a new name"

# All figures are the same figures, in either direction, whatever the version of the schema.
same() { # PROGRAM OPTION... BASE NEW
    "$@" >out 2>err || fail "exit $?: $*: $(cat err out)"
    grep -q ': 0 regressed, 0 improved, 0 unsure, [1-9][0-9]* same$' out || fail "$*: $(tail -3 out)"
    grep -qE '[0-9] (missing|new)' out && fail "$*: $(tail -3 out)"
    return 0
}
for metric in efficiency us gbps gamma instructions; do
    same "$renamed" compare --metric "$metric" old.json new.json
    same "$renamed" compare --metric "$metric" new.json old.json
done
same "$renamed" compare oldest.json new.json
same "$renamed" compare new.json oldest.json
same "$renamed" compare oldest.json old.json
expect 1 "missing in the new record.*run --like" "$bench" compare names.json new.json
"$bench" compare names.json new.json --allow-missing >out 2>err || true
grep -q ' [1-9][0-9]* missing, [1-9][0-9]* new' out || fail "the renaming is not what made them equal: $(head -3 out)"

# The layouts that were renamed.
while IFS=, read -r kind old now; do
    [[ $kind == layout ]] || continue
    python3 older.py layout-old.json 2 "vnni4-interleaved=$old"
    python3 older.py layout-new.json 2 "vnni4-interleaved=$now"
    same "$bench" compare layout-old.json layout-new.json
    same "$bench" compare layout-old.json layout-new.json --metric us
done <"$ULB_SOURCE/results/record/renamed.csv"

# The project's baselines, were they of the first version.
for baseline in "$ULB_SOURCE"/results/baselines/*.json; do
    metric=efficiency
    [[ $baseline != */counts-* ]] || metric=instructions
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); r["schema_version"] = 1; json.dump(r, open("baseline.json", "w"))' "$baseline"
    same "$bench" compare --metric $metric baseline.json "$baseline"
done

# Figures, report and table of an old record are those of the new one.
mkdir old new
for age in old new; do
    cp "$age.json" "$age/record.json"
    "$renamed" export "$age/record.json" --to csv >"$age/record.csv" 2>err || fail "export of $age.json: $(cat err)"
    if command -v gnuplot >/dev/null; then
        "$renamed" plot "$age/record.json" --format txt >/dev/null 2>err || fail "plot of $age.json: $(cat err)"
    fi
done
sed -i 's/2025-01-01T00:00:00Z/'"$(python3 -c 'import json; print(json.load(open("new.json"))["created"])')"'/' old/record.csv
for file in new/*.csv new/*.txt; do
    [[ ! -e $file ]] || cmp "$file" "old/${file#new/}" || fail "$file is another of the old record"
done
"$renamed" report old.json new.json -o report.html >/dev/null 2>err || fail "report: $(cat err)"
grep -q int2a8-pshufb-avx2-32x1x4 report.html || fail "the report lacks a kernel"
! grep -q shuffle report.html || fail "the report has old names"

# An old name chooses the kernel, and says so once.
if "$bench" list kernels --kernels '^int8a8-scalar-ref-1x1x1$' >/dev/null 2>&1; then
    for command in list\ kernels verify; do
        # shellcheck disable=SC2086
        "$renamed" $command --kernels int8a8-plain-ref-1x1x1 >out 2>err || fail "$command by an old name: $(cat err)"
        grep -q int8a8-scalar-ref-1x1x1 out || fail "$command: $(cat out)"
        [[ $(cat err) == "note: the kernel int8a8-plain-ref-1x1x1 is int8a8-scalar-ref-1x1x1 in this version" ]] ||
            fail "$command says: $(cat err)"
    done
    expect 2 "no kernel matches 'int8a8-plain'" "$renamed" list kernels --kernels int8a8-plain
fi

# A series that was begun under the old name goes on under the new one.
if "$bench" history add names.json --db history.db >out 2>err; then
    "$renamed" history add new.json --db history.db >out || fail "history add: $(cat out)"
    for name in int2a8-shuffle-avx2-32x1x4 int2a8-pshufb-avx2-32x1x4; do
        "$renamed" history trend --db history.db --cell "^$name " --json >"$name.json" 2>err || fail "trend: $(cat err)"
    done
    cmp int2a8-shuffle-avx2-32x1x4.json int2a8-pshufb-avx2-32x1x4.json || fail "an old name finds another series"
    "$renamed" history add names.json --db history.db >out 2>err
    grep -q '1 known\|0 records added' out || fail "a record is added again under its new names: $(cat out)"
fi
echo "renamed: ok"
