#!/usr/bin/env bash
# The command gemm: cells of many tokens beside both limits, verified, and who is the fastest for how many.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"

"$bench" gemm --quick --ring-mib 256 --shapes 384x768,192x1536 --n 1,3,64 --json >out.json 2>notes ||
    fail "gemm: $(cat notes)"
python3 - <<'P' || fail "cells, limits, best and crossover"
import json, re
from statistics import median, quantiles
document = json.load(open("out.json"))
cells = document["cells"]
kernels = {c["kernel"] for c in cells}
assert {(c["m"], c["k"], c["n"]) for c in cells} == {(m, k, n) for m, k in ((384, 768), (192, 1536)) for n in (1, 3, 64)}
assert len(cells) == 6 * len(kernels)
peaks, beside, ratios, shares = {}, [], [], []
for peak in document["peak"]:
    assert peak["gops"] > 0 and len(peak["gops_samples"]) == 3, peak
    peaks[peak["activation"]] = max(peaks.get(peak["activation"], 0), peak["gops"])
for c in cells:
    assert c["verified"] and c["mode"] == "cold" and 3 <= len(c["us_samples"]) <= 9, c  # disturbed ones are left out
    assert abs(c["gops"] * c["us"] / (2e-3 * c["m"] * c["k"] * c["n"]) - 1) < 1e-6, c
    assert abs(c["gbps"] * c["us"] / (1e-3 * c["weight_bytes"]) - 1) < 1e-6, c
    assert c["predicted_us"] is None and c["predicted_us_reason"] == "the models are of one token", c
    loops = ["a8"] if re.search("a8z?-", c["kernel"]) else ["f32", "bf16"] if "bf16-" in c["kernel"] else ["f32"]
    peak = max(peaks.get(loop, 0) for loop in loops)
    if peak:
        beside.append(c["peak_gops"] / peak)
        ratios.append(c["peak_share"] / (c["gops"] / c["peak_gops"]))
        if "-table-" not in c["kernel"]:  # tables multiply nothing
            shares.append(c["peak_share"])
        assert c["bound"] == ("compute" if c["peak_share"] > c["efficiency"] else "memory"), c
    else:
        assert c["peak_gops"] is None and c["bound"] is None, c
# Single cells may have met a neighbour of the core's, not half of them; all samples of the peak before them may have:
# other units, or other threads, would be a factor of two.
assert 0.55 < median(beside) < 1.8 and 0.9 < median(ratios) < 1.1, (median(beside), median(ratios))
# No products beat registers alone.
assert max(shares) < 2 and quantiles(shares, n=10)[-1] < 1, sorted(shares)
formats = {c["format"] for c in cells}
assert {(b["m"], b["format"], b["n"]) for b in document["best"]} == {(m, f, n) for m in (384, 192) for f in formats for n in (1, 3, 64)}
for best in document["best"]:
    rivals = [c["us"] for c in cells if all(c[key] == best[key] for key in ("m", "k", "n", "format"))]
    assert best["us"] == min(rivals), best
for change in document["crossover"]:
    assert change["n"] in (3, 64) and change["from"] != change["to"], change
P

# Without --json: a table within 80 columns that says the same.
"$bench" gemm --quick --ring-mib 256 --shapes 384x768 --n 2,5 --formats int8 >table 2>notes || fail "gemm table: $(cat notes)"
awk 'length > 80 { print; bad = 1 } END { exit bad }' table || fail "a line of the table is over 80 columns"
for words in 'GEMM, cold weights' '-- shapes 384x768, 384 x 768, N = 5 --' 'Fastest kernel by format'; do
    grep -qF -- "$words" table || fail "'$words' is missing: $(head -20 table)"
done

# The layers of a model, and more tokens than memory holds.
"$bench" gemm --quick --ring-mib 256 --models mobilellm-1.5b --n 2 --formats int8 --json >out.json 2>notes ||
    fail "gemm of a model: $(cat notes)"
python3 -c 'import json; assert {c["layer"] for c in json.load(open("out.json"))["cells"]} == {"qkv", "o", "gate_up", "down"}' ||
    fail "layers of a model"
status=0
(ulimit -v 3000000; "$bench" gemm --quick --ring-mib 64 --shapes 1000000x64 --n 4096 --formats int8 >out.json 2>notes) || status=$?
[[ $status == 3 ]] && grep -q 'memory.*--n' notes || fail "too many tokens: exit $status: $(cat notes)"
echo "gemm: many tokens as documented"
