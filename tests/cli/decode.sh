#!/usr/bin/env bash
# The command decode: figures that add up, the same tokens for any threads and split, records, layers that do not fit.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
small=(--quick --model bitnet-125m --layers 2 --tokens 6 --ring-mib 256 --kernels '-(avx2|avxvnni|neon|dotprod)-')
one_kernel=(--kernels 'int2a8-mask-(avx2|dotprod)-') # the same tokens as by any other

status=0
"$bench" decode "${small[@]}" --formats int8,bf16,int2 --context 5 --prompt 4 --out . --json >out.json 2>notes || status=$?
if [[ $status == 3 ]] && grep -q 'can run here' notes; then
    echo "skipped: $(cat notes)"
    exit 77
fi
[[ $status == 0 ]] || fail "decode: exit $status: $(cat notes)"
record=$(echo decode-*.json)
"$bench" list kernels --json >rows.json || fail "list kernels"
python3 - "$record" <<'P' || fail "figures"
import json, sys
runs = json.load(open("out.json"))["runs"]
assert json.load(open(sys.argv[1]))["decode"]["runs"] == runs
assert [r["format"] for r in runs] == ["bf16", "int8", "int2"], "the 16-bit run comes first"
for r in runs:
    assert r["verified"] and len(r["ms_samples"]) == r["tokens"] == 6 and r["context"] == 5, r
    assert r["layers_run"] == 2 and r["layers"] == 11 and r["extrapolated"], r
    assert abs(sum(r["split_ms"].values()) / r["ms_per_token"] - 1) < 1e-6, r
    assert abs(sum(r["gemv_ms"].values()) / r["split_ms"]["gemv"] - 1) < 1e-6, r
    assert abs(r["tokens_per_s"] * r["ms_per_token"] / 1e3 - 1) < 1e-6, r
    assert abs(r["roofline_tokens_per_s"] * r["bytes_per_token"] / 1e9 / r["yardstick_gbps"] - 1) < 1e-6, r
    assert abs(r["amdahl_speedup"] - 1 / (1 - r["alpha"] + r["alpha"] / r["byte_ratio"])) < 1e-6, r
    bound = runs[0]["ms_per_token"] / r["amdahl_speedup"]
    assert abs(bound + sum(r["missing_ms"].values()) - r["ms_per_token"]) < 1e-6 * r["ms_per_token"], r
    assert r["kv_bytes"] == (5 + 2 + 6) * 11 * 768 * 2 * 2 and r["kv_gbps"] > 0 and r["kv_share"] > 0, r
    prefill = r["prefill"]
    assert r["prompt"] == 4 and abs(prefill["first_token_ms"] * prefill["tokens_per_s"] / 4000 - 1) < 1e-6, r
    parts = prefill["split_ms"]
    assert abs(sum(parts.values()) / prefill["first_token_ms"] - 1) < 0.01, prefill
    largest = max(parts, key=parts.get)
    limit = "compute" if prefill["peak_share"] >= prefill["memory_share"] else "memory"
    assert prefill["bound"] == (limit if largest == "gemm" else largest), r
    assert {prefill[f"choice_{part}"] for part in ("qkv", "o", "gate_up", "down")} <= {"one-token", "many-tokens", "order"}, r
    assert r["joule_per_token"] is None and r["joule_per_token_reason"], r
    assert r["published"] == [], r
rows = json.load(open("rows.json"))["kernels"]
choice = {row["name"]: row["prefetch_choice"] for row in rows}
of_many = {row["name"]: row["prefetch_choice"] and not row["prefetch_tokens"] for row in rows}
for r in runs:
    for part, kernel in r["kernels"].items():
        assert r["prefetch"][part] in (("L1", "L1+1024", "L1+2048", "L2+1024", "L2+2048", "L2+3072", "none") if choice[kernel] else (None,)), r
        many = r["prefill"].get("kernel_" + part)  # none of the head
        assert not many or r["prefill"]["prefetch_" + part] in (("L1", "L1+1024", "L1+2048", "L2+1024", "L2+2048", "L2+3072", "none") if of_many[many] else (None,)), r
hidden, ffn, vocab = 768, 3072, 32002
assert runs[0]["bytes_per_token"] > 2 * 11 * (4 * hidden * hidden) + 2 * hidden * vocab
for r in runs:  # operations a second are of the layers that were run, the first token of all: here some 4 times as long
    layers, head = 2 * 2 * 4 * (4 * hidden * hidden + 3 * hidden * ffn), 2 * hidden * vocab
    ran = (layers + head) / r["prefill"]["gops"] / 1e6
    assert ran < r["prefill"]["first_token_ms"] < 11 / 2 * ran, (ran, r["prefill"])
P
python3 "$ULB_SOURCE/tests/results/validate_record.py" "$record" || fail "schema"
for key in peak_rss_bytes huge_bytes; do
    grep -qE "\"$key\": ([0-9]+|null)," out.json || fail "no whole number: $(grep $key out.json)"
done

# A prompt of several steps computes the head in each of them.
cat >steps.json <<'J'
{"model_type": "llama", "hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 1, "head_dim": 64,
 "num_attention_heads": 2, "vocab_size": 65536, "tie_word_embeddings": true}
J
"$bench" decode --quick --model steps.json --formats int8 --prompt 513 --tokens 2 --ring-mib 64 --json >one.json 2>notes ||
    fail "a prompt of two steps: exit $?: $(cat notes)"
python3 - <<'P' || fail "operations of a prompt of two steps"
import json
(run,) = json.load(open("one.json"))["runs"]
hidden, ffn, vocab = 128, 512, 65536
operations = 2 * (513 * (4 * hidden * hidden + 3 * hidden * ffn) + 2 * hidden * vocab)
assert abs(run["prefill"]["gops"] * run["prefill"]["first_token_ms"] * 1e6 / operations - 1) < 1e-6, run["prefill"]
P

# Several prompts, in any order: a point for each, the largest of which is the run's own; a row for each; a figure.
"$bench" decode --quick --model steps.json --formats int8,bf16 --prompt 64,1,200,8 --ubatch 100 --tokens 2 --ring-mib 64 --out curve >table 2>notes ||
    fail "several prompts: exit $?: $(cat notes)"
python3 "$ULB_SOURCE/tests/results/validate_record.py" curve/*.json || fail "schema of several prompts"
python3 - curve/*.json <<'P' || fail "points of several prompts"
import json, sys
for run in json.load(open(sys.argv[1]))["decode"]["runs"]:
    points, prefill = run["prefill_curve"], run["prefill"]
    assert run["prompt"] == run["context"] == 200 and prefill["ubatch"] == 100, run
    assert [p["tokens"] for p in points] == [1, 8, 64, 200], points
    last = points[-1]
    assert last["ms"] == prefill["first_token_ms"], (last, prefill)
    assert all(last[key] == prefill[key] for key in ("tokens_per_s", "gops", "peak_share", "memory_share", "split_ms", "bound"))
    hidden, ffn, vocab = 128, 512, 65536
    for p in points:
        operations = 2 * (p["tokens"] * (4 * hidden * hidden + 3 * hidden * ffn) + 2 ** (p["tokens"] > 100) * hidden * vocab)
        assert abs(p["gops"] * p["ms"] * 1e6 / operations - 1) < 1e-6, p
        assert abs(p["tokens_per_s"] * p["ms"] / 1e3 / p["tokens"] - 1) < 1e-6, p
        assert abs(sum(p["split_ms"].values()) / p["ms"] - 1) < 0.02, p
P
[[ $(grep -cE '^(bf16|int8) +(1|8|64|200) ' table) == 8 ]] || fail "no row for each prompt: $(cat table)"
awk 'length > 80 { exit 1 }' table || fail "prompts are wider than 80 columns: $(cat table)"
"$bench" plot curve/*.json --figure prompts --format svg >/dev/null 2>notes || grep -q 'need the program gnuplot' notes || fail "the figure of prompts: $(cat notes)"
python3 -c 'import json; assert "prefill_curve" not in json.load(open("one.json"))["runs"][0]' || fail "a curve of one prompt"
for bad in 0 8,0 8,8 '8,' ',8' x 8x 8,,64 1048577 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do
    expect 2 "prompt '$bad': must be up to 16 numbers from 1 to 1048576, each once" "$bench" decode "${small[@]}" --prompt "$bad"
done
expect 2 "prompt 64 is more than --context 16" "$bench" decode "${small[@]}" --prompt 64,8 --context 16

# What others publish for the model of that name and the format stands beside it, in the record too.
cp steps.json Llama-2-7B.json
"$bench" decode --quick --model Llama-2-7B.json --formats q4_0 --tokens 2 --ring-mib 64 --out named >out 2>notes ||
    fail "a model with published speeds: exit $?: $(cat notes)"
grep -qE '^ q4_0 +[0-9.]+ tokens/s, [0-9]+ % of the bandwidth, beside ' out && grep -q 'Apple M2 Max' out || fail "no published speeds: $(cat out)"
awk 'length > 80 { exit 1 }' out || fail "published speeds are wider than 80 columns: $(cat out)"
python3 "$ULB_SOURCE/tests/results/validate_record.py" named/*.json || fail "schema of published speeds"

# The pieces that kernels are chosen on lie within the ring's mapping in the widest format too, padded as they are.
cat >wide.json <<'J'
{"model_type": "llama", "hidden_size": 1280, "intermediate_size": 14336, "num_hidden_layers": 1, "head_dim": 128,
 "num_attention_heads": 4, "vocab_size": 512, "tie_word_embeddings": true}
J
"$bench" decode --quick --model wide.json --formats fp32 --kernels '-(avx2|neon)-' --tokens 2 --ring-mib 1 >/dev/null 2>notes || fail "fp32 with a small ring: exit $?: $(cat notes)"

# Weights that are too few for a yardstick are refused by one line that says so.
cat >tiny.json <<'J'
{"model_type": "llama", "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 1,
 "vocab_size": 32, "tie_word_embeddings": true}
J
"$bench" decode --quick --model tiny.json --formats int1 --kernels 'int1.*-ref-' --tokens 2 --ring-mib 64 --threads "$pu" >/dev/null 2>notes && fail "tiny weights are decoded"
grep -q '^ulb-bench: tiny in int1: [0-9]* bytes of weights are too few for 1 thread, which read 4096 each' notes || fail "tiny weights: $(cat notes)"

# Speed-ups are over 16 bits, whichever format of them there is, and over nothing else.
"$bench" decode "${small[@]}" --formats fp32,int2,fp16 --json >beside.json 2>notes || fail "decode beside fp16: $(cat notes)"
"$bench" decode "${small[@]}" --formats fp32,int2 --json >alone.json 2>notes || fail "decode beside fp32: $(cat notes)"
python3 - <<'P' || fail "what speed-ups are over"
import json
beside, alone = (json.load(open(name))["runs"] for name in ("beside.json", "alone.json"))
assert [r["format"] for r in beside] == ["fp16", "fp32", "int2"], beside
assert [r["observed_speedup"] is None for r in beside] == [False, False, False] and beside[0]["observed_speedup"] == 1
assert [r["observed_speedup"] for r in alone] == [None, None], alone
P

# The same tokens on one core, with another split, with a thread that is slow; others from other weights.
digest() {
    "$bench" decode "${small[@]}" "${one_kernel[@]}" --formats int2 --context 5 --json "$@" 2>notes >one.json || fail "decode $*: $(cat notes)"
    python3 -c 'import json; print(json.load(open("one.json"))["runs"][-1]["token_digest"])'
}
all=$(python3 -c 'import json; print(json.load(open("out.json"))["runs"][-1]["token_digest"])')
[[ $(digest --prompt 4) == "$all" ]] || fail "other tokens by another kernel"
all=$(digest)
[[ $(digest --threads "$pu") == "$all" ]] || fail "other tokens on one core"
[[ $(digest --split dynamic --slow-thread 0:3) == "$all" ]] || fail "other tokens with a dynamic split"
[[ $(digest --split-shares 2 --threads "$pu") == "$all" ]] || fail "other tokens with shares of one's own"
other=$(digest --seed 2 --split weighted) || fail "a weighted split: $other"
[[ -n $other && $other != "$all" ]] || fail "another seed gives '$other', this one $all"

# A longer context adds its keys and values to what a token reads, and nothing else: 11 layers of 768 each, 2 bytes.
python3 -c 'import json; (run,) = json.load(open("one.json"))["runs"]; print(run["bytes_per_token"])' >short
digest --context 1005 >/dev/null
python3 -c 'import json; (run,) = json.load(open("one.json"))["runs"]
assert run["bytes_per_token"] - float(open("short").read()) == 1000 * 11 * 768 * 2 * 2, run' || fail "bytes of a longer context"

# A cache of fewer bits holds the same positions in fewer bytes: 18 for 32 elements instead of 64. Steps of another size
# give the same tokens.
digest --context 1005 --kv-type q4_0 --prompt 100 >first
python3 -c 'import json; (run,) = json.load(open("one.json"))["runs"]
assert run["kv_type"] == "q4_0" and run["kv_bytes"] == (1005 + 2 + 6) * 11 * 768 // 32 * 18 * 2, run
assert run["prefill"]["ubatch"] == 100, run' || fail "a cache in q4_0"
digest --context 1005 --kv-type q4_0 --prompt 100 --ubatch 33 >second
cmp -s first second || fail "other tokens with steps of another size"
python3 -c 'import json; (run,) = json.load(open("one.json"))["runs"]; assert run["prefill"]["ubatch"] == 33, run' || fail "--ubatch"
expect 2 "kv-type 'q5_0': must be bf16, q8_0, q4_0 or fp32" "$bench" decode "${small[@]}" --kv-type q5_0
expect 2 "--ubatch is for the prompt" "$bench" decode "${small[@]}" --ubatch 16

# Sequences together, in any order of their numbers: a run for each number, whose figures are of all and of each. One
# alone has the tokens that it has without --batch.
alone=$(digest --context 200)
"$bench" decode "${small[@]}" "${one_kernel[@]}" --formats bf16,int2 --context 200 --batch 3,1 --out batch >table 2>notes || fail "--batch: $(cat notes)"
python3 "$ULB_SOURCE/tests/results/validate_record.py" batch/*.json || fail "schema of --batch"
python3 - batch/*.json "$alone" <<'P' || fail "figures of --batch"
import json, sys
runs = json.load(open(sys.argv[1]))["decode"]["runs"]
assert [(r["format"], r["batch"]) for r in runs] == [(f, b) for f in ("bf16", "int2") for b in (1, 3)], runs
assert runs[2]["token_digest"] == sys.argv[2] != runs[3]["token_digest"], "tokens of one alone"
for r in runs:
    n = r["batch"]
    assert abs(r["tokens_per_s"] / n / r["sequence_tokens_per_s"] - 1) < 1e-6, r
    assert abs(r["sequence_tokens_per_s"] * r["ms_per_token"] / 1e3 - 1) < 1e-6, r
    assert abs(sum(r["split_ms"].values()) / r["ms_per_token"] - 1) < 1e-6, r
    assert abs(r["roofline_tokens_per_s"] / n * r["bytes_per_step"] / 1e9 / r["yardstick_gbps"] - 1) < 1e-6, r
    assert r["kv_bytes"] == n * (200 + 2 + 6) * 11 * 768 * 2 * 2 and abs(r["bytes_per_step"] / n - r["bytes_per_token"]) < 1, r
    assert r["observed_speedup"] and r["alpha"] and len(r["ms_samples"]) == 6, r
    assert (r["amdahl_speedup"] is None) == (n > 1) and (n == 1 or "3 tokens" in r["amdahl_speedup_reason"]), r
one, three = runs[2:]
assert three["bytes_per_step"] - one["bytes_per_step"] == 2 * one["kv_bytes_per_token"], "weights are read once"
P
[[ $(grep -cE '^(bf16|int2) +(1|3) ' table) == 4 ]] || fail "no row for each batch: $(cat table)"
awk 'length > 80 { exit 1 }' table || fail "batches are wider than 80 columns: $(cat table)"
"$bench" compare batch/*.json batch/*.json --metric tps --json >compared 2>notes || fail "compare of batches: exit $?: $(cat notes)"
python3 -c 'import json
keys = [c["key"] for c in json.load(open("compared"))["cells"]]
assert len(set(keys)) == 4 and sum(" b3" in key for key in keys) == 2, keys' || fail "keys of batches: $(cat compared)"
together=$(digest --context 200 --batch 5)
[[ $together != "$alone" ]] || fail "five sequences have the tokens of one"
[[ $(digest --context 200 --batch 5 --threads "$pu") == "$together" ]] || fail "a batch has other tokens on one core"
[[ $(digest --context 200 --batch 5 --split static) == "$together" ]] || fail "a batch has other tokens with a static split"
[[ $(digest --context 200 --batch 2,5 --slow-thread 0:3) == "$together" ]] || fail "a batch has other tokens beside another one"
for bad in 0 1025 2,2 x; do
    expect 2 "batch '$bad': must be up to 16 numbers from 1 to 1024, each once" "$bench" decode "${small[@]}" --batch "$bad"
done
expect 2 "fill their caches with --context" "$bench" decode "${small[@]}" --batch 2 --prompt 8
expect 3 "not enough memory: 2 layers of bitnet-125m in int2 need" "$bench" decode "${small[@]}" --formats int2 --batch 1024 --context 1000000

# Several splits take turns at the same tokens: a run for each, one table for each.
"$bench" decode "${small[@]}" --formats bf16,int2 --split weighted,static,dynamic --split-shares 1 --threads "$pu" --out turns >table 2>notes ||
    fail "several splits: $(cat notes)"
python3 - turns/decode-*.json <<'P' || fail "runs of several splits"
import json, sys
runs = json.load(open(sys.argv[1]))["decode"]["runs"]
assert [(r["format"], r["split"]) for r in runs] == [(f, s) for f in ("bf16", "int2") for s in ("weighted", "static", "dynamic")]
assert all(r["observed_speedup"] == 1 and r["alpha"] for r in runs[:3]), "each split has a baseline of its own"
assert len({r["token_digest"] for r in runs[3:]}) == 1
assert len({tuple(r["ms_samples"]) for r in runs}) == 6
P
[[ $(grep -c 'behind a context of' table) == 3 && $(grep -cE '^int2 +[0-9]' table) == 3 ]] ||
    fail "tables of several splits: $(cat table)"
awk 'length > 80 { print; bad = 1 } END { exit bad }' table || fail "a line of these tables is over 80 columns"
expect 2 "split 'static': must be static, dynamic or weighted, each at most once" \
    "$bench" decode "${small[@]}" --split static,static
expect 2 "weighted split, which --split does not name" "$bench" decode "${small[@]}" --split static --split-shares 1
expect 2 "one split here" "$bench" gemv --quick --split static,dynamic

# A format without a kernel for this CPU is left out, and said; by itself it is an error.
"$bench" decode "${small[@]}" --formats int2,int4 --kernels 'int4a8-.*-avxvnni-' --isa-mask avxvnni --json >one.json 2>notes ||
    fail "a format without a kernel: $(cat notes)"
grep -q '^note: int4 is left out: no kernel of int4 can run here' notes || fail "left out without a word: $(cat notes)"
python3 -c 'import json; assert [r["format"] for r in json.load(open("one.json"))["runs"]] == ["int2"]' || fail "runs"
expect 3 "no kernel of int4 can run here .missing avxvnni" \
    "$bench" decode "${small[@]}" --formats int4 --kernels 'int4a8-.*-avxvnni-' --isa-mask avxvnni

# Into a record that is there, warnings too; without a 16-bit run there is no alpha, with the reason.
"$bench" decode "${small[@]}" --formats int8,int4 --kernels '^int8a8|int4a8-.*-avxvnni-' --isa-mask avxvnni \
    --record "$record" >table 2>notes || fail "--record: $(cat notes)"
python3 -c 'import json, sys
runs = json.load(open(sys.argv[1]))["decode"]["runs"]
assert [r["format"] for r in runs] == ["int8"] and runs[0]["alpha"] is None and "16-bit" in runs[0]["alpha_reason"]' "$record" ||
    fail "runs of --record"
python3 -c 'import json, sys
record = json.load(open(sys.argv[1]))
assert sum(w.startswith("int4 is left out") for w in record["warnings"]) == 1, record["warnings"]
built = record["build"]["id"]
assert len(built) == 40, record["build"]
record["build"]["id"] = "0a"
json.dump(record, open("rebuilt.json", "w"))
record["build"]["id"] = built
record["machine"]["cpu_model"] = "Another"
json.dump(record, open("another.json", "w"))' "$record" || fail "warnings of --record"
expect 3 'build.id is "0a" in the record' "$bench" decode "${small[@]}" --formats int8 --record rebuilt.json
expect 3 'machine.cpu_model is "Another" in the record' "$bench" decode "${small[@]}" --formats int8 --record another.json
awk 'length > 80 { print; bad = 1 } END { exit bad }' table || fail "a line of the table is over 80 columns"
grep -q 'ONLY 2 OF 11 LAYERS WERE RUN' table || fail "the table hides that layers are extrapolated: $(cat table)"

# Interrupted: what the record had and was not measured anew is still there.
cp "$record" merged.json
"$bench" decode "${small[@]}" --tokens 500 --formats bf16,int4,int2,int1 --record merged.json >table 2>/dev/null &
pid=$!
while cmp -s "$record" merged.json && kill -0 $pid; do sleep 0.02; done
kill -INT $pid
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "exit $status of an interrupted decode --record"
grep -q '^ *bf16 ' table || fail "an interrupted decode shows nothing: $(cat table)"
python3 -c 'import json
record = json.load(open("merged.json"))
formats = [r["format"] for r in record["decode"]["runs"]]
assert formats[0] == "bf16" and formats[-1] == "int8" and "int1" not in formats, formats
assert record["warnings"][-1].startswith("interrupted"), record["warnings"]' || fail "what an interrupted decode --record leaves"

# Two at once into one record: the runs of both are there, and warnings of neither's way.
cp "$record" shared.json
"$bench" decode "${small[@]}" "${one_kernel[@]}" --formats int2 --record shared.json >/dev/null 2>&1 &
"$bench" decode "${small[@]}" --formats bf16 --record shared.json >/dev/null 2>&1
wait
python3 "$ULB_SOURCE/tests/results/validate_record.py" shared.json || fail "a record that two processes wrote"
python3 -c 'import json
record = json.load(open("shared.json"))
formats = sorted(r["format"] for r in record["decode"]["runs"])
assert formats == ["bf16", "int2"], formats
assert not any("unfinished" in w for w in record["warnings"]), record["warnings"]' || fail "two at once"

# Interrupted among the prompts behind the tokens: the run is there with those that were complete.
"$bench" decode "${small[@]}" --formats bf16 --prompt 1,1800,1900,2000,2100,2200,2300,2400 --progress on --out cut >table 2>notes &
pid=$!
while ! grep -qs 'decode (5' notes && kill -0 $pid; do sleep 0.02; done
kill -INT $pid
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "exit $status of a decode interrupted among its prompts"
python3 -c 'import json, sys
(run,) = json.load(open(sys.argv[1]))["decode"]["runs"]
tokens = [p["tokens"] for p in run["prefill_curve"]]
assert tokens[-1] == 2400 == run["prompt"] and len(tokens) < 8, tokens' cut/*.json || fail "what a decode interrupted among its prompts leaves"

# Interrupted before the first run is complete: a document all the same, which has none, and no folder for it.
rm -f notes # those of the run before would have this one interrupted before it is a run
"$bench" decode "${small[@]}" --tokens 60000 --formats bf16 --out early --json --progress on >one.json 2>notes &
pid=$!
while ! grep -qs decode notes && kill -0 $pid; do sleep 0.02; done
kill -INT $pid
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "exit $status of a decode interrupted early"
python3 -c 'import json; assert json.load(open("one.json")) == {"runs": []}' || fail "what a decode interrupted early prints"
[[ ! -e early ]] || fail "a folder without a record is left: $(ls early)"

# A run that can be gone on with would lose what is put into its record.
touch merged.journal
expect 2 "merged.json: its run is not finished; go on with it by --resume" "$bench" decode "${small[@]}" --record merged.json
rm merged.journal

# Killed: the runs before the one at work are in a valid record.
"$bench" decode "${small[@]}" --tokens 500 --formats bf16,int8,int4,int2 --out killed >/dev/null 2>&1 &
pid=$!
for _ in $(seq 3000); do
    [[ -z $(find killed -name '*.json' 2>/dev/null) ]] || break
    sleep 0.02
done
kill -9 $pid
wait $pid || true
record=$(find killed -name '*.json')
python3 "$ULB_SOURCE/tests/results/validate_record.py" "$record" || fail "the record of a run that was killed"
python3 -c 'import json, sys
record = json.load(open(sys.argv[1]))
assert 1 <= len(record["decode"]["runs"]) < 4 and record["warnings"][-1].startswith("unfinished"), record["warnings"]' \
    "$record" || fail "what a run that was killed leaves"
echo "decode: figures, tokens and records as documented"
