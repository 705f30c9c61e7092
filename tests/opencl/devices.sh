#!/usr/bin/env bash
# Devices as users meet them: listed, measured on PoCL, and every way in which a driver can fail. No time is judged.
# usage: devices.sh FOLDER     the folder has the libraries that this test puts in the way
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
libraries=$1
validate=$ULB_SOURCE/tests/results/validate_record.py
cd "$scratch"
quick=(--quick --ring-mib 16)

# What a CPU-only user does works, whatever stands in the way of devices.
works() { # COMMAND...
    "$@" "$bench" beta "${quick[@]}" --set "$pu" >out 2>err || fail "a CPU run after it: $(cat err)"
    grep -q 'yardstick of' out || fail "a CPU run after it prints no yardstick"
}
# query PYTHON-EXPRESSION FILE: the expression is true of the document d.
query() { python3 -c 'import json, sys; d = json.load(open(sys.argv[2])); sys.exit(not eval("(%s)" % sys.argv[1]))' "$1" "$2" ||
    fail "not true of $2: $1: $(head -c 2000 "$2")"; }
newest() { find "$1" -name '*.json' | sort | tail -1; }

if [[ $("$bench" list devices 2>&1 || true) == *'built without OpenCL'* ]]; then
    expect 3 'built without OpenCL; install opencl-c-headers and build it again$' "$bench" list devices
    expect 3 'built without OpenCL' "$bench" beta --device opencl:0.0
    "$bench" topology --json >topology.json || fail "topology"
    query "d['devices'] == [] and 'built without' in d['devices_reason']" topology.json
    works env
    echo 'devices: built without OpenCL'
    exit 0
fi

# ---- verbs that cannot yet ----
for verb in gamma 'gamma --explain int2a8-scalar' decode; do
    # shellcheck disable=SC2086
    expect 3 "beta, verify, gemv and gemm alone can use a device yet" "$bench" $verb --device opencl:0.0
done
expect 2 '--set has no effect on a device' "$bench" beta --device opencl:0.0 --set "$pu"
works env

# ---- no loader, no driver, broken drivers: these need none installed ----
none=(env "LD_PRELOAD=$libraries/libno_loader.so")
expect 3 'no OpenCL: .*libOpenCL.so.absent.*install the package ocl-icd-libopencl1' "${none[@]}" "$bench" list devices
expect 3 'no OpenCL: ' "${none[@]}" "$bench" beta --device opencl:0.0 "${quick[@]}"
"${none[@]}" "$bench" topology --json >topology.json || fail "topology without a loader"
query "d['devices'] == [] and d['devices_reason'].startswith('no OpenCL: ')" topology.json
"${none[@]}" "$bench" topology >out || fail "topology without a loader"
! grep -q '^devices' out || fail "topology speaks of devices where there are none"
works "${none[@]}"

real=$(PATH=$PATH:/sbin ldconfig -p | awk '$1 == "libOpenCL.so.1" { print $NF; exit }')
[[ $real ]] || { echo 'skipped: no libOpenCL.so.1'; exit 77; }
mkdir vendors
drivers=(env "OCL_ICD_VENDORS=$scratch/vendors")
expect 3 'no OpenCL driver: .*/vendors holds no .icd file; install the driver' "${drivers[@]}" "$bench" list devices
expect 3 'no OpenCL driver: ' env OCL_ICD_VENDORS=/nowhere "$bench" list devices
broken() { # DRIVER PATTERN
    echo "$1" >vendors/a.icd
    expect 3 "$2" "${drivers[@]}" "$bench" list devices
    expect 3 "$2" "${drivers[@]}" "$bench" beta --device opencl:0.0 "${quick[@]}"
    works "${drivers[@]}"
}
broken libabsent-driver.so 'driver that .*/vendors/a.icd names cannot be loaded \(libabsent-driver.so: .*remove the file$'
broken "$ULB_SOURCE/README.md" 'driver that .*/a.icd names cannot be loaded \(.*README.md: .*reinstall that driver'
broken "$libraries/libdriver_abort.so" 'driver crashed \(Aborted\) while .* was loaded, which .*/a.icd names; reinstall'
broken "$libraries/libdriver_exit.so" 'driver ended its process by exit\(\) while .* was loaded, which .*/a.icd names'
: >vendors/a.icd
expect 3 'vendors/a.icd names no driver' "${drivers[@]}" "$bench" list devices

# ---- PoCL ----
"$bench" list devices --json >devices.json 2>err || { echo "skipped: $(cat err)"; exit 77; }
query "list(d) == ['devices'] and all({'id', 'name', 'vendor', 'driver', 'version', 'units', 'memory_bytes', 'lanes', 'matrix',
    'extensions'} <= set(r) for r in d['devices'])" devices.json
# The tests' device is PoCL alone, so that ids are known wherever they run.
vendor=$(grep -il pocl /etc/OpenCL/vendors/*.icd | head -1 || true)
[[ $vendor ]] || { echo 'skipped: no PoCL'; exit 77; }
cp "$vendor" vendors/a.icd
export OCL_ICD_VENDORS=$scratch/vendors
"$bench" list devices --json >devices.json || fail "list devices"
query "[r['id'] for r in d['devices']] == ['opencl:0.0'] and 'PoCL' in d['devices'][0]['version'] and
    d['devices'][0]['matrix'] == 'none' and d['devices'][0]['lanes'] is None and d['devices'][0]['lanes_reason']" devices.json
"$bench" list devices >out || fail "list devices"
grep -q '^opencl:0.0 ' out || fail "the table lacks the device: $(cat out)"
"$bench" topology >out || fail "topology"
grep -q '^devices  *opencl:0.0: ' out || fail "topology does not name the device: $(tail -2 out)"
"$bench" topology --json >topology.json || fail "topology --json"
query "[r['id'] for r in d['devices']] == ['opencl:0.0'] and 'devices_reason' not in d" topology.json
HWLOC_XMLFILE=$ULB_SOURCE/tests/topology/data/no-e-allowed.xml "$bench" topology --json >topology.json || fail "replayed"
query "d['devices'] == [] and d['devices_reason'].startswith('replayed')" topology.json
echo libabsent-driver.so >vendors/b.icd
"$bench" list devices >out 2>err || fail "one driver of two is broken: $(cat err)"
grep -q '^note: .*b.icd names cannot be loaded' err || fail "no note of the broken driver: $(cat err)"
rm vendors/b.icd

# ---- what is measured ----
"$bench" beta --device opencl:0.0 "${quick[@]}" --out r --json >beta.json 2>err || fail "beta: $(cat err)"
record=$(newest r)
python3 "$validate" "$record" || fail "invalid record"
cat >check.py <<'P'
import json, sys
device = json.load(open("beta.json"))
record = json.load(open(sys.argv[1]))
assert record["devices"] == [device] and record["beta"]["cells"] == [] and record["settings"]["device"] == "opencl:0.0"
launch, ring = device["launch"], device["ring"]
assert launch["us_host"] > 0 and launch["back_to_back"]["us_host"] > 0 and launch["back_to_back"]["launches"] == 1000
peaks = {p["name"]: p for p in device["peaks"]}
assert list(peaks) == ["fp32", "int32", "dp4a", "i8xi8", "i8xi4", "i8xi2", "bf16"]
assert peaks["fp32"]["gops"] > 0 and peaks["int32"]["gops"] > 0
assert all(peaks[p]["gops"] is None and "lacks cl_" in peaks[p]["gops_reason"] for p in list(peaks)[2:])
assert ring["bytes"] == ring["copies"] * ring["copy_bytes"] == 16 << 20 == ring["wanted_bytes"]
cells = device["cells"]
assert {c["bytes"] for c in cells} == {256 << 10, 16 << 20} and {c["set"] for c in cells} == {"opencl:0.0"}
assert {c["variant"] for c in cells if c["bytes"] == 256 << 10} == {"strided-512", "strided-2048", "parted-64", "parted-1024"}
assert all(c["threads"] is None and c["gbps"] > 0 and c["us_event"] > 0 and c["us_host"] > 0 for c in cells)
best = max((c for c in cells if c["bytes"] == ring["bytes"]), key=lambda c: c["gbps"])
[yardstick] = device["yardstick"]
assert yardstick["gbps"] == best["gbps"] and yardstick["variant"] == best["variant"]
for c in cells:
    wanted = launch["us_host"] + c["bytes"] / yardstick["gbps"] / 1e3
    assert abs(c["predicted_us"] / wanted - 1) < 1e-6, (c, wanted)
assert {"block-2048", "block2d-2048"} <= {r["variant"] for r in device["left_out"]}
P
python3 check.py "$record" || fail "what was measured"
"$bench" show "$record" --section devices >shown || fail "show"
for line in '^Launch of an empty kernel' '^fp32 ' 'yardstick of opencl:0.0'; do
    grep -q "$line" shown || fail "show --section devices lacks /$line/: $(cat shown)"
done
"$bench" show "$record" >shown || fail "show"
grep -q '^Device   opencl:0.0, ' shown && ! grep -q '^Memory' shown || fail "the first screen: $(cat shown)"
COLUMNS=100 "$bench" beta --device PoCL "${quick[@]}" >out 2>err && fail "a name that no device has"
grep -q "there is no device 'PoCL'; there is opencl:0.0" err || fail "unknown device: $(cat err)"
name=$(python3 -c 'import json; print(json.load(open("devices.json"))["devices"][0]["name"][3:12])')
"$bench" beta --device "$name" "${quick[@]}" >out 2>err || fail "by name '$name': $(cat err)"
[[ $(wc -L <out) -le 100 ]] || fail "wider than 100 columns"
"$bench" beta --device cpu "${quick[@]}" --set "$pu" >out 2>err || fail "--device cpu"
grep -q 'cycles by' out || fail "--device cpu does not measure the CPU"
if command -v gnuplot >/dev/null; then
    "$bench" plot "$record" --figure devices --format svg,txt --out . 2>err || fail "plot: $(cat err)"
    figure=$(find . -name '*-devices.svg')
    grep -q 'parted-64' "$figure" || fail "the figure lacks a reader"
fi

# ---- a driver that fails in the midst of it ----
export REAL_OPENCL=$real
spoilt=(env "LD_LIBRARY_PATH=$libraries")
# fails CODE PATTERN FOLDER COMMAND...: notes of what was measured, then one line that says what went wrong; the record is
# there and valid.
fails() {
    local code=$1 pattern=$2 folder=$3 status=0
    shift 3
    "$@" "$bench" beta --device opencl:0.0 "${quick[@]}" --call-timeout 3 --out "$folder" --json >out 2>err || status=$?
    [[ $status == "$code" ]] || fail "exit $status instead of $code: $(cat err)"
    [[ $(grep -vcE '^(note|record): ' err) == 1 ]] || fail "not one line: $(cat err)"
    tail -1 err | grep -qE "^ulb-bench: $pattern" || fail "message lacks /$pattern/: $(cat err)"
    python3 "$validate" "$(newest "$folder")" || fail "invalid record in $folder"
}
fails 3 "launch.cl was not built for opencl:0.0 with '' \(CL_BUILD_PROGRAM_FAILURE\): .*planted; update the driver" unbuilt \
    "${spoilt[@]}" SPOIL=build
query "'planted' in ' '.join(d['build_logs'][0]['log']) and d['launch'] is None and d['cells'] == []" out
works env
fails 3 'the device did not come to an end within 3 s while 256 KiB were read with parted-64 on opencl:0.0; restart' hung \
    "${spoilt[@]}" SPOIL=loop
query "d['launch']['us_host'] > 0 and d['peaks'][0]['gops'] > 0 and
    {c['variant'] for c in d['cells']} == {'strided-512', 'strided-2048'} and d['yardstick'] == []" out
works env

# A signal in the midst of it: the same is kept.
"${spoilt[@]}" SPOIL=loop "$bench" beta --device opencl:0.0 "${quick[@]}" --progress on --json >out 2>err &
for ((i = 0; i < 300; i++)); do
    ! grep -q '^device' err || break # launches and peaks were told before
    sleep 0.1
done
sleep 1
kill -TERM $!
status=0
wait $! || status=$?
[[ $status == 130 ]] || fail "exit $status after a signal: $(cat err)"
query "d['launch']['us_host'] > 0" out
unset REAL_OPENCL
works env
! pgrep -P $$ ulb-bench || fail "a process is left"
echo 'devices: done'
