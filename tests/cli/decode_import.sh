#!/usr/bin/env bash
# What stands beside decoded tokens: energy, by a made-up counter that turns over, and runs of llama-bench.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
decode() { # OPTION...
    local status=0
    "$bench" decode --quick --model bitnet-125m --tokens 100 --ring-mib 256 --formats int2 --json "$@" >out.json 2>notes || status=$?
    if [[ $status == 3 ]] && grep -q 'can run here' notes; then
        echo "skipped: $(cat notes)"
        exit 77
    fi
    [[ $status == 0 ]] || fail "decode $*: exit $status: $(cat notes)"
}

zone=root/sys/class/powercap/intel-rapl:0
mkdir -p "$zone"
echo package-0 >"$zone/name"
range=300000000000
echo $range >"$zone/max_energy_range_uj"
echo $((range - 300000)) >"$zone/energy_uj"
# 0.1 J at least every 5 ms, or so many percent of it each time, and over the end of the range; renamed into place, so
# that no reader sees half a number; under a name of its own, because the move of a counter just killed may be at work.
count_energy() { # PERCENT
    local joules=$((range - 300000)) step=100000
    while [[ -d $zone ]]; do
        joules=$(((joules + step) % range)) step=$((step < 1000000000 ? step * $1 / 100 : step))
        echo $joules >"$zone/next$1" && mv "$zone/next$1" "$zone/energy_uj" || break
        sleep 0.005
    done
}
count_energy 100 2>/dev/null &
counter=$!
trap 'kill $counter 2>/dev/null || true; rm -rf "$scratch"' EXIT

cat >runs.json <<'J'
[{"backends": "CPU", "build_commit": "1a2b", "model_type": "bitnet 125M Q2", "model_size": 50000000, "model_n_params": MINE, "n_threads": 1,
  "n_prompt": 0, "n_gen": 64, "avg_ts": 3.5, "stddev_ts": 0.5},
 {"model_type": "bitnet 125M Q2", "model_size": 50000000, "model_n_params": MINE, "n_threads": 1, "n_prompt": 0, "n_gen": 64, "avg_ts": 9e6},
 {"model_type": "another", "model_size": 5e9, "model_n_params": 7e9, "n_threads": 1, "n_prompt": 0, "n_gen": 64, "avg_ts": 5},
 {"model_type": "bitnet 125M Q2", "model_size": 50000000, "model_n_params": MINE, "n_threads": 1, "n_prompt": 512, "n_gen": 0, "avg_ts": 90}]
J
# 11 layers of width 768, feed-forward 3072, 32002 words; the embedding is the head.
blocks=$((11 * (4 * 768 * 768 + 3 * 768 * 3072))) words=$((32002 * 768))
sed -i "s/MINE/$((blocks + words))/" runs.json
# Elsewhere, on too many threads, with a cache of 1000 positions in q8_0; read from standard input beside the file.
cat >more.jsonl <<'J'
a loader's message
{"cpu_info": "Some Other CPU", "model_type": "x", "model_size": 50000000, "model_n_params": MINE, "n_threads": 1, "n_prompt": 0, "n_gen": 64, "avg_ts": 9e6}
{"model_type": "x", "model_size": 50000000, "model_n_params": MINE, "n_threads": 5000, "n_prompt": 0, "n_gen": 64, "avg_ts": 9e6}
{"model_type": "x", "model_size": 50000000, "model_n_params": MINE, "n_threads": 1, "n_prompt": 0, "n_gen": 1, "n_depth": 1000, "type_k": "q8_0", "avg_ts": 3}
J
sed -i "s/MINE/$((blocks + words))/" more.jsonl
decode --energy-root root --import runs.json --import - --out written <more.jsonl
python3 "$ULB_SOURCE/tests/results/validate_record.py" written/*.json || fail "the record with imported runs"
"$bench" report written/*.json -o page.html >/dev/null 2>&1 && grep -q 'Some Other CPU' page.html || fail "the report has no imported runs"
expect 2 "import 'runs.json': is named twice" "$bench" decode --import runs.json --import runs.json
grep -q '1 run with a prompt left out' notes || fail "nothing is said of the prompt: $(cat notes)"
python3 - <<'P' || fail "figures: $(cat out.json)"
import json
decode = json.load(open("out.json"))
run, = decode["runs"]
assert run["energy_source"] == "powercap: package-0", run
assert 0 < run["watts"] < 40 and 0 < run["idle_watts"] < 40, run # 20 W, and a step of the counter more or less
seconds = run["joule_per_token_gross"] / run["watts"]
assert abs(run["joule_per_token"] - (run["joule_per_token_gross"] - run["idle_watts"] * seconds)) < 1e-6 * (1 + run["joule_per_token_gross"]), run
assert len(run["joule_samples"]) == run["tokens"] and all(j > -40 for j in run["joule_samples"]), run["joule_samples"]
sound, wild, other, elsewhere, many, deep = decode["imported"]
position = 11 * 2 * 768 * 2
assert abs(sound["kv_bytes_per_token"] - 31.5 * position) < 1, sound
assert abs(sound["bytes_per_token"] - 50000000 - 31.5 * position) < 1, sound
assert abs(deep["kv_bytes_per_token"] - 1000 * 11 * 768 * (34 / 32 + 2)) < 1 and deep["possible"], deep
for run_of, reason in (elsewhere, "another CPU, Some Other CPU"), (many, "5000 threads"):
    assert run_of["possible"] is None and run_of["roofline_tokens_per_s"] is None and reason in run_of["possible_reason"], run_of
assert abs(sound["roofline_tokens_per_s"] * sound["bytes_per_token"] / 1e9 - run["yardstick_gbps"]) < 1e-6, sound
assert sound["possible"] and sound["our_format"] == "int2" and sound["our_tokens_per_s"] == run["tokens_per_s"], sound
assert sound["build"] == "1a2b" and sound["tokens_per_s_stddev"] == 0.5 and wild["tokens_per_s_stddev"] is None
assert wild["possible"] is False, wild
assert other["possible"] is None and "--model" in other["possible_reason"] and other["bytes_per_token"] is None, other
P

# Power that rises: each token's energy stands at its place in time.
kill $counter && wait $counter || true
count_energy 101 2>/dev/null &
counter=$!
decode --energy-root root --tokens 600
python3 - <<'P' || fail "rising power: $(cat out.json)"
import json
run, = json.load(open("out.json"))["runs"]
assert len(run["joule_samples"]) == len(run["ms_samples"]) == 600
gross = [joules + run["idle_watts"] * ms / 1000 for joules, ms in zip(run["joule_samples"], run["ms_samples"])]
assert sum(gross[400:]) > 1.5 * sum(gross[:200]) > 0, gross
P

# Without a counter: null, with the remedy; layers left out give no energy either.
kill $counter && wait $counter || true
rm -r root
root=root-$(printf '%0100d' 0) # the remedy comes whole behind a long path
mkdir "$root"
decode --energy-root "$root"
python3 - <<'P' || fail "no counter: $(cat out.json)"
import json
run, = json.load(open("out.json"))["runs"]
for key in "joule_per_token", "joule_per_token_gross", "watts", "idle_watts":
    assert run[key] is None and "modprobe intel_rapl_msr" in run[key + "_reason"], run
assert run["energy_source"] == "none" and run["joule_samples"] == []
P
echo "decode: energy and imported runs as documented"
