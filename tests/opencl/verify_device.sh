#!/usr/bin/env bash
# Kernels of devices on PoCL: all are equal to the scalar reference, and faults put into their source are found.
# usage: verify_device.sh FOLDER [REGEX]     the folder has the library that puts them there; REGEX: kernels to verify
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
libraries=$1 kernels=${2:-}
cd "$scratch"
vendor=$(grep -il pocl /etc/OpenCL/vendors/*.icd | head -1 || true)
real=$(PATH=$PATH:/sbin ldconfig -p | awk '$1 == "libOpenCL.so.1" { print $NF; exit }')
[[ $vendor && $real ]] || { echo 'skipped: no PoCL'; exit 77; }
if [[ $("$bench" list devices 2>&1 || true) == *'built without OpenCL'* ]]; then
    expect 3 'built without OpenCL; install opencl-c-headers and build it again$' "$bench" verify --device opencl:0.0
    echo 'skipped: built without OpenCL'
    exit 77
fi
mkdir vendors
cp "$vendor" vendors/a.icd
export OCL_ICD_VENDORS=$scratch/vendors
verify=("$bench" verify --device opencl:0.0)

# ---- equal ----
"${verify[@]}" ${kernels:+--kernels "$kernels"} --json >rows.json 2>err || fail "verify: $(cat err) $(head -c 3000 rows.json)"
cat >check.py <<'P'
import json, re, sys
rows = json.load(open("rows.json"))["rows"]
assert rows and all(r["verified"] and r["cases"] > 100 and r["device"] == "opencl:0.0" for r in rows), rows
for r in rows:
    assert "-" + r["path"] + "-" in r["kernel"] and re.search(sys.argv[1], r["kernel"]), r
    # PoCL has neither matrix instructions nor packed dot products: these are played, and the row says so.
    assert r["body"] == ("work group" if r["path"] == "plain" else "played") and ("lacks" in r) == (r["path"] != "plain"), r
names = " ".join(r["kernel"] for r in rows)
for part in ("int2bf16-fused-plain", "int2bf16-fused-dpas-int2", "int2f32-fused", "tern2bf16-scaled", "int8bf16-before", "bf16bf16-dpas-bf16"):
    assert part in names, part
P
python3 check.py "$kernels" || fail 'rows of verify'
COLUMNS=100 "${verify[@]}" --kernels '^int2bf16-fused-plain-1x1' >out 2>err || fail "verify as a table: $(cat err)"
grep -qE '^int2bf16-fused-plain-1x1s4 +equal over [0-9]+ cases$' out || fail "the table: $(cat out)"

# ---- what is asked for and is not there ----
expect 2 "devices have no kernels of the format 'int4'; they have int2, tern2, int8, bf16\$" "${verify[@]}" --formats int4
expect 2 "no kernel of devices matches 'int2bf16-fusd-plain-1x1s4'; did you mean 'int2bf16-fused-plain-1x1s4'" \
    "${verify[@]}" --kernels int2bf16-fusd-plain-1x1s4
expect 2 '--kernels' "${verify[@]}" --kernels '('
expect 2 '--isa-mask has no effect on a device' "${verify[@]}" --isa-mask avx2
expect 2 "there is no device 'opencl:7.7'" "$bench" verify --device opencl:7.7

# ---- faults in a copy of the source ----
# finds KERNEL FROM TO PATTERN: verify says what is wrong, and ends with 1.
finds() {
    local status=0
    grep -qF -- "$2" "$ULB_SOURCE"/kernels/opencl/*.cl* || fail "no source has: $2"
    env "LD_LIBRARY_PATH=$libraries" "REAL_OPENCL=$real" SPOIL=replace "SPOIL_FROM=$2" "SPOIL_TO=$3" \
        "${verify[@]}" --kernels "^$1\$" >out 2>err || status=$?
    [[ $status == 1 ]] || fail "$2 -> $3: exit $status instead of 1: $(cat out err)"
    [[ $(wc -l <err) == 1 ]] || fail "$2 -> $3: not one line: $(cat err)"
    grep -qE "^ulb-bench: kernel $1 .*$4" err || fail "$2 -> $3: the message lacks /$4/: $(cat err)"
    grep -q FAILS: out || fail "$2 -> $3: no row says so: $(cat out)"
}
few=int2bf16-fused-plain-2x8s2 many=int2bf16-fused-dpas-int8-8x16s1 one=int2bf16-fused-dpas-int2-1x1s4
sum='the integer sum of row [0-9]+ is'
# Operand words, bytes, rows, steps, parts.
finds $few '(ULB_WORD(at, 0), ULB_WORD(at, 1))' '(ULB_WORD(at, 1), ULB_WORD(at, 0))' "$sum"
finds $many 'codes.x >> 8 & 0xFF' 'codes.x >> 16 & 0xFF' "$sum"
finds $many '^ 0x02020202' '' "$sum"
finds $many 'row % 16' '(row ^ 1) % 16' "$sum"
finds $one 'min(first + s, p.steps - 1)' 'min(first + (s ^ 1), p.steps - 1)' "$sum"
finds $few 'other < ULB_SPLIT' 'other < ULB_SPLIT - 1' "$sum"
finds $few 'x + (size_t)min(p.token0 + i, n - 1)' 'x + (size_t)min(p.token0 + (i ^ 1), n - 1)' "$sum"
finds int8bf16-before-dp4a-2x8s2 'ULB_WORD(at, 5), ULB_WORD(at, 6)' 'ULB_WORD(at, 6), ULB_WORD(at, 5)' "$sum"
finds bf16bf16-plain-1x1s4 '<< 16) * as_float(words[w] << 16)' '<< 16) * as_float(words[w] & 0xFFFF0000)' 'row [0-9]+ is'
# Scales, rounding, and the order of the last two products.
finds $few '* row_scales[row]' '* row_scales[row ^ 1]' 'row [0-9]+ is'
finds $few '* scales[i]' '* scales[0]' 'row [0-9]+ is'
finds $few '(float)sum * row_scales[row] * scales[i]' '(float)sum * (row_scales[row] * scales[i])' 'row [0-9]+ is'
finds $few '127.0f / largest' 'as_float(as_int(127.0f / largest) + 4)' 'the inverse of its scale is'
finds $few 'largest / 127.0f' 'as_float(as_int(largest / 127.0f) + 4)' 'its scale is'
finds $few 'as_uint(ULB_FLOAT(x) * inverse + 12582912.0f)' '(uint)(int)(ULB_FLOAT(x) * inverse)' "$sum"
finds int2bf16-before-plain-1x1s4 'as_uint(ULB_FLOAT(x) * inverse + 12582912.0f)' '(uint)(int)(ULB_FLOAT(x) * inverse)' \
    'activation [0-9]+ is the code'
# What is written that must not be, and what is not written.
finds $few 'row >= m || p->token0 + i >= n' 'row >= m' 'writes behind the (sums|results)'
finds $few 'scale[token] = of_token;' 'scale[token] = of_token; scale[-1] = 0;' 'writes before the scales'
finds $few 'acc[t][b] = 0;' 'acc[t][b] = 0; ((global uint *)w)[0] = 7;' 'writes over the weights'
finds $few 'sums[to] = sum;' '' "$sum"
finds $few 'y[to] = (float)sum' 'if (row > 0) y[to] = (float)sum' 'row 0 is'
echo 'verify_device: done'
