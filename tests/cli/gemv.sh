#!/usr/bin/env bash
# The command gemv: shapes of the user's own, what stands beside the cells, and weights that stay in cache.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
small=(--quick --ring-mib 256 --kernels 'int2a8-.*-avx2' --json)

# run_or_skip ARGUMENTS: the kernels need AVX2.
run_or_skip() {
    local status=0
    "$bench" gemv "${small[@]}" "$@" >out.json 2>notes || status=$?
    if [[ $status == 3 ]] && grep -q 'cannot run here' notes; then
        echo "skipped: $(cat notes)"
        exit 77
    fi
    [[ $status == 0 ]] || fail "gemv $*: exit $status: $(cat notes)"
}

run_or_skip --shapes 640x768,96x4096
python3 - <<'P' || fail "explicit shapes"
import json
document = json.load(open("out.json"))
assert {(c["model"], c["layer"], c["m"], c["k"]) for c in document["cells"]} == \
    {("shapes", "640x768", 640, 768), ("shapes", "96x4096", 96, 4096)}
assert all(c["verified"] and c["predicted_us"] > 0 and c["predicted_plain_us"] > 0 for c in document["cells"])
assert {c["kernel"] for c in document["overlap"]["cells"]} == {c["kernel"] for c in document["cells"]}
assert document["prediction"]["cells"] + document["prediction"]["noisy_cells"] == len(document["cells"])
# Fork, join and the first bytes' latency are most of what so small a matrix takes, and of a plain read of its size.
# A neighbour at work during one of the two hides it in some cells.
shares = [(cell["kernel"], cell["efficiency"], cell["read_share"]) for cell in document["cells"]]
assert all(efficiency / 4 < read < 4 for _, efficiency, read in shares), shares
assert sum(efficiency / 1.5 < read < 1.5 for _, efficiency, read in shares) > 0.75 * len(shares), shares
assert any(abs(efficiency - read) > 0.005 for _, efficiency, read in shares), shares
P

run_or_skip --shapes 640x768 --models mobilellm-1.5b
python3 -c 'import json; c = json.load(open("out.json"))["cells"]
assert list(dict.fromkeys(x["model"] for x in c)) == ["mobilellm-1.5b", "shapes"], c' || fail "shapes beside models"

# Where prefetches go: as was faster where a kernel leaves the choice, else null with the reason.
"$bench" list kernels --json >rows.json || fail "list kernels"
check_prefetch() {
    python3 - <<'P' || fail "prefetches $*"
import json
choice = {row["name"]: row["prefetch_choice"] for row in json.load(open("rows.json"))["kernels"]}
for cell in json.load(open("out.json"))["cells"]:
    if choice[cell["kernel"]]:
        assert cell["prefetch"] in ("L1", "L1+1024", "L1+2048", "L2+1024", "L2+2048", "L2+3072", "none") and "prefetch_reason" not in cell, cell
    else:
        assert cell["prefetch"] is None and cell["prefetch_reason"] == "the kernel's prefetches have one place for so many tokens", cell
P
}
check_prefetch of cold weights

# Weights in cache have no memory time to overlap: said, not guessed.
run_or_skip --shapes 640x768 --warm
python3 - <<'P' || fail "warm weights"
import json
document = json.load(open("out.json"))
assert document["overlap"]["cells"] == [] and document["prediction"]["cells"] == 0
for cell in document["cells"]:
    assert cell["mode"] == "warm" and cell["predicted_us"] is None and cell["predicted_plain_us"] > 0
    assert cell["predicted_us_reason"] == "the overlap is measured with cold weights"
    assert cell["bound"] in ("compute", "overhead") and "memory" not in cell["verdict"], cell
    assert cell["read_share"] is None and "cache" in cell["read_share_reason"], cell
P
check_prefetch of warm weights

# A ring that a cache holds in part, and a format without some of the shapes: each said once.
run_or_skip --shapes 640x768 --ring-mib 1
[[ $(grep -c 'ring of 1 MiB is less than four times' notes) == 1 ]] || fail "a small ring: $(cat notes)"
grep -q 'from which part of the weights called cold may come' notes || fail "what of a small ring: $(cat notes)"
run_or_skip --shapes 640x768 --ring-mib 1 --warm
grep -q 'from which part of what the yardstick reads may come' notes || fail "a small ring, warm: $(cat notes)"

# An emulator's figures are of no CPU: three rounds do, and the user is told.
ULB_EMULATED=pretence run_or_skip --shapes 640x768
grep -q 'emulated by pretence' notes || fail "the emulator is not told: $(cat notes)"
python3 -c 'import json; cells = json.load(open("out.json"))["cells"]
assert cells and all(c["verified"] and len(c["us_samples"]) == 3 * c["samples_per_round"] for c in cells), cells' ||
    fail "rounds in an emulator"
echo "gemv: shapes, predictions, prefetches, warm weights and emulators as documented"
