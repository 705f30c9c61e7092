#!/usr/bin/env bash
# Every screen that takes no measuring fits its width: no line is longer than COLUMNS, and than 80 in a pipe. Lines that
# name a file are excepted, since a path is never cut.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
unset COLUMNS
"$ULB_BUILD/tests/results/sample_record" .
# too_wide COLUMNS FILE: the lines of more columns that name no file.
too_wide() { awk -v most="$1" 'length > most && !/[^ ]\/[^ ]*\.(json|html|gguf|db|svg)|^(Record|Page|Measure)/ { print; bad = 1 } END { exit !bad }' "$2"; }

cat >llama.json <<'J'
[{"model_type": "llama 8B Q4_0", "model_size": 4653375488, "model_n_params": 8030261248, "n_threads": 2, "n_prompt": 0,
  "n_gen": 64, "avg_ts": 7.5, "stddev_ts": 0.1, "cpu_info": "AMD EPYC"}]
J
"$bench" --quick --models mobilellm-1.5b --ring-mib 64 --kernels '-(ref|avx2|neon)-' --formats bf16,int8,q8_0,int4,int2,int1 \
    --out own >ran 2>notes || fail "run: $(cat notes)"
mv own/*.json own.json
python3 - <<'P'
import json
record = json.load(open("own.json"))
for cell in record["cells"]:
    for key in ("us", "gbps"):
        cell[key] *= 2 if key == "us" else 0.5
    cell["us_samples"] = [2 * us for us in cell["us_samples"]]
json.dump(record, open("slower.json", "w"))
P
"$bench" decode --quick --model bitnet-125m --ring-mib 64 --layers 2 --tokens 4 --kernels '-(ref|avx2|neon)-' \
    --formats bf16,int4,int1 --record own.json --import llama.json >decoded 2>notes || fail "decode: $(cat notes)"
"$bench" formats --quick --formats int8,int4,q4_0 --ring-mib 64 >table 2>notes || fail "formats: $(cat notes)"
for screen in ran decoded table; do
    ! too_wide 80 $screen || fail "$screen: lines above are longer than 80 columns"
done
screens=0
while read -r line; do
    for columns in 80 100 200; do
        status=0
        # shellcheck disable=SC2086
        COLUMNS=$columns "$bench" $line >out 2>notes || status=$?
        [[ $status == 0 || $line =~ ^advise|slower && $status == 1 ]] || fail "$line: exit $status: $(cat notes)"
        [[ -s out ]] || fail "$line prints nothing"
        ! too_wide $columns out || fail "$line in $columns columns: lines above are longer"
    done
    screens=$((screens + 1))
done <<'L'
--help
help
topology
counters
list kernels
list formats
list models
list shapes
list platforms
list cores
list counters
list figures
model --platform lnl
model --platform arl
model --platform arlh --models gptj-6b
model --check-paper
simulate
simulate --sharing fair
simulate --check-paper
shapes llama3-8b
shapes deepseek-v3 --separate
shapes bitnet-2b-4t
gamma --quick --explain int1a8-table
show own.json
show own.json --section machine
show own.json --section beta
show own.json --section gamma
show own.json --section cells
show own.json --section overlap
show own.json --section decode
show own.json --section formats
show own.json --section all
show 0.json --section all
show 1.json --section all
show 4.json --section all
compare own.json own.json
compare own.json own.json --all
compare own.json slower.json
compare own.json slower.json --all
advise mobilellm-1.5b --record own.json
advise llama3-8b --record own.json --min-tps 1000
advise deepseek-v3 --record own.json
history add own.json --db h.db
history list --db h.db
history trend --db h.db
history trend --db h.db --verbose
L
((screens >= 38)) || fail "only $screens screens"
echo "widths: $screens screens fit 80, 100 and 200 columns"
