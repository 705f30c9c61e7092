#!/usr/bin/env bash
# gemv and gemm on PoCL: every product is verified, its record is valid, and the figures belong together. No time is judged.
# usage: device_products.sh FOLDER     the folder has the library that puts faults into the kernels' source
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
libraries=$1
validate=$ULB_SOURCE/tests/results/validate_record.py
cd "$scratch"
vendor=$(grep -il pocl /etc/OpenCL/vendors/*.icd | head -1 || true)
real=$(PATH=$PATH:/sbin ldconfig -p | awk '$1 == "libOpenCL.so.1" { print $NF; exit }')
[[ $vendor && $real ]] || { echo 'skipped: no PoCL'; exit 77; }
if [[ $("$bench" list devices 2>&1 || true) == *'built without OpenCL'* ]]; then
    expect 3 'built without OpenCL' "$bench" gemv --device opencl:0.0 --quick
    expect 3 'built without OpenCL' "$bench" gemm --device opencl:0.0 --quick
    echo 'skipped: built without OpenCL'
    exit 77
fi
mkdir vendors
cp "$vendor" vendors/a.icd
export OCL_ICD_VENDORS=$scratch/vendors
on=(--device opencl:0.0 --quick --ring-mib 32)
newest() { find "$1" -name '*.json' | sort | tail -1; }

cat >check.py <<'P'
import json, sys
what, record = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
shapes, tokens = {tuple(map(int, s.split("x"))) for s in sys.argv[3].split(",")}, set(map(int, sys.argv[4].split(",")))
cells, [device] = what["cells"], what["devices"]
assert cells == record["cells"] and record["devices"] == [device] and record["settings"]["device"] == "opencl:0.0"
assert {(c["m"], c["k"]) for c in cells} == shapes and {c["n"] for c in cells} == tokens
assert {c["format"] for c in cells} == {"int2", "tern2", "int8", "bf16"}
assert {c["quantise"] for c in cells} == {"fused", "scaled", "before", "none"}
peaks = {p["name"]: p["gops"] for p in device["peaks"]}
for c in cells:
    assert c["verified"] and c["device"] == c["set"] == "opencl:0.0" and c["path"] == "plain" and c["threads"] is None, c
    assert ("-%s-" % c["path"]) in c["kernel"] and c["kernel"].startswith(c["format"]), c
    # The best tile there is for so many tokens: GEMV kernels have one, others several.
    assert (c["tile"].endswith("x1")) == (c["n"] == 1), c
    assert c["us"] > 0 and c["us_event"] > 0 and c["launch_us"] == device["launch"]["us_host"], c
    assert len(c["us_samples"]) >= 3 and 0 < c["ring_bytes"] <= 33 << 20 and c["layout"].startswith("vnni"), c
    peak = peaks["fp32" if c["format"] == "bf16" else "int32"]
    bytes, operations = c["weight_bytes"], 2 * c["m"] * c["k"] * c["n"]
    assert c["peak_gops"] == peak
    memory, compute = bytes / c["yardstick_gbps"] / 1e3, operations / peak / 1e3
    repeats = {"none": 0, "before": 1}.get(c["quantise"], -(-c["m"] // int(c["tile"].split("x")[0])))
    rounding = 14.75 * c["k"] * c["n"] * repeats / peaks["fp32"] / 1e3
    wanted = c["launch_us"] + max(memory, compute, rounding)
    assert abs(c["predicted_us"] / wanted - 1) < 1e-5 and abs(c["residual"] - (c["us"] / wanted - 1)) < 1e-4, (c, wanted)
    longest = max(("memory", memory), ("compute", max(compute, rounding)), ("overhead", c["launch_us"]), key=lambda p: p[1])[0]
    assert c["bound"] == longest, c
    assert abs(c["gbps"] - bytes / c["us"] / 1e3) < 1e-5 * c["gbps"]
P
"$bench" gemv "${on[@]}" --shapes 96x320,65x129 --out v --json >gemv.json 2>err || fail "gemv: $(cat err)"
python3 "$validate" "$(newest v)" || fail 'invalid record of gemv'
python3 check.py gemv.json "$(newest v)" 96x320,65x129 1 || fail 'cells of gemv'
"$bench" gemm "${on[@]}" --shapes 65x129 -n 3,17 --out m --json >gemm.json 2>err || fail "gemm: $(cat err)"
python3 "$validate" "$(newest m)" || fail 'invalid record of gemm'
python3 check.py gemm.json "$(newest m)" 65x129 3,17 || fail 'cells of gemm'
COLUMNS=100 "$bench" gemv "${on[@]}" --shapes 96x320 --formats int2 >out 2>err || fail "gemv as a table: $(cat err)"
grep -qE '^int2bf16-fused-plain-1x1s4 +1 ' out || fail "the table lacks a kernel: $(cat out)"
[[ $(wc -L <out) -le 100 ]] || fail 'wider than 100 columns'
"$bench" show "$(newest v)" --section cells >out || fail 'show'
grep -q 'int8f32-fused-plain-1x1s4' out || fail "show lacks a kernel: $(cat out)"
"$bench" report "$(newest v)" -o page.html >out 2>err || fail "report: $(cat err)"
for text in 'opencl:0.0 reaches' 'us a launch' 'the device&#39;s is below\|the device.s is below' '<td>opencl:0.0<td>'; do
    grep -q "$text" page.html || fail "the page lacks /$text/"
done
if command -v gnuplot >/dev/null; then
    "$bench" plot "$(newest v)" --figure times --format svg --out . 2>err || fail "plot: $(cat err)"
    figure=$(find . -name '*-times.svg')
    grep -qE '>96x320 96 x 320: [0-9.]+ times<|96 x 320: [0-9.]+ times' "$figure" || fail 'the figure lacks a quotient'
fi

# Times that others publish stand beside ours, of a device of that name and a matrix of that size.
python3 - "$(newest v)" <<'P'
import json, sys
record = json.load(open(sys.argv[1]))
record["devices"][0]["name"] = "Intel(R) Arc(TM) 140V GPU (16GB)"
for cell in record["cells"]:
    if cell["format"] == "int2" and cell["n"] == 1:
        cell.update(m=34816, k=5120, us_event=600.0)
json.dump(record, open("140v.json", "w"))
P
"$bench" show 140v.json --section devices >out 2>err || fail "show of a 140V: $(cat err)"
grep -qE '^TernOCL +int2 +34816 +5120 +551 +600.0$' out && grep -qE '^XeTLA +int2 +5120 +6144 +121 +-$' out || fail "published times: $(cat out)"
! grep -q ' 697 ' out || fail "times of another device"
"$bench" show "$(newest v)" --section devices | grep -q TernOCL && fail "times of a device that is not there"
for form in csv md prometheus; do
    "$bench" export "$(newest v)" --to "$form" >out 2>err || fail "export --to $form: $(cat err)"
    grep -q 'bf16bf16-plain-1x1s4' out || fail "export --to $form lacks a kernel"
done
"$bench" compare "$(newest v)" "$(newest v)" --allow-blind >out 2>err || fail "compare: $(cat out err)"

# A kernel that is named and would have to be another one; options of the CPU; no shape.
expect 3 'kernel int2bf16-fused-dpas-int2-1x1s4 cannot run on opencl:0.0, which lacks a compiler with the matrix' \
    "$bench" gemv "${on[@]}" --shapes 96x320 --kernels int2bf16-fused-dpas-int2-1x1s4
expect 3 'and [0-9]+ more cannot run on opencl:0.0, which lacks cl_khr_integer_dot_product' \
    "$bench" gemm "${on[@]}" --shapes 96x320 --kernels dp4a
"$bench" gemv "${on[@]}" --shapes 96x320 --kernels 'int2bf16-fused-.*-1x1' --json >named.json 2>err || fail "named: $(cat err)"
python3 -c 'import json; assert [c["path"] for c in json.load(open("named.json"))["cells"]] == ["plain"]' || fail 'named'
for option in '--set 0' --warm --aa '--split static' '--isa-mask avx2'; do
    # shellcheck disable=SC2086
    expect 2 "${option%% *} has no effect on a device" "$bench" gemv "${on[@]}" $option
done
expect 2 'impossible shape|must be|is needed' "$bench" gemv "${on[@]}" --shapes 96

# A kernel that computes something else is not timed: the run fails, and what was measured before is kept.
status=0
env "LD_LIBRARY_PATH=$libraries" "REAL_OPENCL=$real" SPOIL=replace 'SPOIL_FROM=ULB_WORD(at, 6)' 'SPOIL_TO=ULB_WORD(at, 5)' \
    "$bench" gemv "${on[@]}" --shapes 96x320 --formats int2,int8 --json --out w >wrong.json 2>err || status=$?
[[ $status == 1 ]] || fail "exit $status instead of 1: $(cat err)"
tail -1 err | grep -qE '^ulb-bench: kernel int8bf16-fused-plain-1x1s4 differs at 96x320, token 0 of 1: the integer sum' ||
    fail "message of a kernel that differs: $(cat err)"
python3 -c 'import json; assert {c["format"] for c in json.load(open("wrong.json"))["cells"]} == {"int2"}' ||
    fail 'a kernel that differs was timed, or one before it is lost'
python3 "$validate" "$(newest w)" || fail 'invalid record of a run that failed'

# A device that is lost in the midst of it: what was measured before is kept.
status=0
env "LD_LIBRARY_PATH=$libraries" "REAL_OPENCL=$real" SPOIL=replace 'SPOIL_FROM=acc[t][b] = 0;' \
    'SPOIL_TO=acc[t][b] = 0; while (ULB_WORDS == 8) ((volatile global uint *)w)[0] = 7;' \
    "$bench" gemv "${on[@]}" --shapes 96x320 --formats int2,int8 --call-timeout 3 --json --out h >hung.json 2>err || status=$?
[[ $status == 3 ]] || fail "exit $status instead of 3: $(cat err)"
tail -1 err | grep -qE '^ulb-bench: the device did not come to an end within 3 s while ' || fail "a device that hangs: $(cat err)"
python3 -c 'import json; assert {c["format"] for c in json.load(open("hung.json"))["cells"]} == {"int2"}' || fail 'what was measured is lost'
python3 "$validate" "$(newest h)" || fail 'invalid record of a device that was lost'

# Matrices beyond the device's largest buffer are left out with a line, and a run of nothing else says so.
"$bench" gemv "${on[@]}" --shapes 96x320,400000x90000 --formats int2 --json >beyond.json 2>err || fail "a matrix beyond the device: $(cat err)"
grep -qE '^note: 400000x90000 in vnni16 is left out: it takes 8.4 GiB, and a buffer of opencl:0.0 holds [0-9.]+ GiB$' err ||
    fail "no line of what is left out: $(cat err)"
python3 -c 'import json; assert {(c["m"], c["k"]) for c in json.load(open("beyond.json"))["cells"]} == {(96, 320)}' || fail 'cells'
expect 3 'no matrix fits a buffer of opencl:0.0, which holds [0-9.]+ GiB; take smaller ones by --shapes' \
    "$bench" gemv "${on[@]}" --shapes 400000x90000 --formats int2
"$bench" gemv --quick --ring-mib 16 --set "$pu" --shapes 64x256 --kernels int2a8-scalar >out 2>err || fail "the CPU after it: $(cat err)"
echo 'device_products: done'
