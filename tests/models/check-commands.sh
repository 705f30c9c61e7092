#!/usr/bin/env bash
# `ulb-bench list` and `ulb-bench model` from outside: JSON that parses, tables within 80 columns, exit codes, and
# one line on stderr when something is wrong.
# usage: check-commands.sh ULB-BENCH SOURCE-ROOT
set -euo pipefail
bench=$1 root=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# query PYTHON-EXPRESSION ARGUMENT...: the expression must be true of the JSON document d.
query() {
    "$bench" "${@:2}" --json >"$scratch/json" 2>"$scratch/err" || fail "${*:2}: exit code $?"
    [[ ! -s $scratch/err ]] || fail "${*:2}: wrote to stderr"
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' \
        "$scratch/json" "$1" || fail "${*:2}: not true: $1"
}

# table ARGUMENT...: succeeds with lines of at most 80 columns.
table() {
    "$bench" "$@" >"$scratch/out" || fail "$*: exit code $?"
    [[ -s $scratch/out ]] || fail "$*: printed nothing"
    [[ $(wc -L <"$scratch/out") -le 80 ]] || fail "$*: wider than 80 columns"
}

# refused TEXT ARGUMENT...: exit code 2, nothing on stdout, one line on stderr that holds TEXT.
refused() {
    local code=0
    "$bench" "${@:2}" >"$scratch/out" 2>"$scratch/err" || code=$?
    [[ $code -eq 2 ]] || fail "${*:2}: exit code $code instead of 2"
    [[ ! -s $scratch/out ]] || fail "${*:2}: wrote to stdout"
    [[ $(wc -l <"$scratch/err") -eq 1 ]] || fail "${*:2}: not one line on stderr"
    grep -qF -- "$1" "$scratch/err" || fail "${*:2}: '$1' is not in: $(cat "$scratch/err")"
}

for what in kernels formats models shapes platforms cores counters figures; do
    table list $what
    query "list(d) == ['$what'] and len(d['$what']) > 0" list $what
done
query "[p['name'] for p in d['platforms']] == ['arl', 'arlh', 'lnl', 'lnl-gpu', 'bmg', 'a100']" list platforms
query "{'golden-cove', 'sapphire-rapids', 'raptor-cove', 'redwood-cove', 'lion-cove', 'gracemont', 'crestmont', 'skymont',
    'ice-lake', 'tiger-lake', 'zen3', 'zen4', 'zen5-client', 'zen5', 'neoverse-v2',
    'cortex-x4', 'neoverse-n2', 'firestorm'} == {c['name'] for c in d['cores']}" list cores
query "all(c['source'] and all(t['logic']['uops'] >= 1 for t in c['ports'].values()) for c in d['cores'])" list cores
query "[c['name'] for c in d['cores'] if c['pipes_inferred']] == ['gracemont', 'crestmont', 'skymont']" list cores
query "[c['name'] for c in d['cores'] if '512' in c['ports']] == [c['name'] for c in d['cores'] if 'avx512f' in c['isa']]" \
    list cores
query "[c['name'] for c in d['counters']] == 'papi perf likwid chain tsc'.split()" list counters
query "{'int8', 'int2', 'int1', 'bf16'} <= {f['name'] for f in d['formats']}" list formats
query "{'falcon3-1b', 'gptj-6b', 'deepseek-v3', 'bitnet-100b', 'mt-nlg-530b'} <= {s['model'] for s in d['shapes']}" list shapes
query "{m['model'] for m in d['gemv']} == {'falcon3-1b', 'mobilellm-1.5b', 'llama3-8b', 'bitnet-2b-4t'}" \
    model --platform lnl
query "{m['model'] for m in d['gemv']} == {'gptj-6b'}" model --platform lnl --models gptj-6b
query "all(k['runs_here'] == (k['built'] and not k['missing']) for k in d['kernels'])" list kernels
query "all(k['name'].startswith('int2a8-') and k['bytes_per_step'] == 8 for k in d['kernels'])" \
    list kernels --kernels '^int2a8'
query "all(k['runs_here'] for k in d['kernels'])" list kernels --kernels ref
query "all('avx2' in k['missing'] for k in d['kernels'] if k['built'] and 'avx2' in k['needs'])" list kernels --isa-mask avx2
query "all({'avx2', 'fma'} <= set(k['missing']) for k in d['kernels'] if k['built'] and k['isa'] == 'avx2')" \
    list kernels --isa-mask avx2,fma

for platform in arl arlh lnl; do
    table model --platform $platform
    table model --platform "$root/models/data/$platform.json"
done
query "d['platform']['name'] == 'lnl' and abs(d['totals'][1]['gibps'] - 37.16) < 0.01" model --platform lnl
query "[r['bound'] for r in d['ceilings']] == ['memory', 'memory', 'memory', 'compute']" model --platform arlh
# 640,000 bytes at 98 GiB/s and 1 us of fork/join
query "[round(r['predicted_us'], 2) for r in d['gemv'] if (r['m'], r['k'], r['format']) == (1600, 1600, 'int2')] == [7.08]" \
    model --platform arl
query "all(r['predicted_us'] is None and r['predicted_us_reason'] for r in d['gemv'])" model --platform lnl
# What is printed as the platform is itself a platform file.
"$bench" model --platform lnl --json | python3 -c \
    'import json, sys; json.dump(json.load(sys.stdin)["platform"], sys.stdout)' >"$scratch/again.json"
query "abs(d['totals'][1]['gibps'] - 37.16) < 0.01" model --platform "$scratch/again.json"

# Devices: 2 us of launch beside 640,000 bytes at 97 GiB/s, half of a peak's work at 1024 tokens, 16 bits beyond 12 GB.
for platform in lnl-gpu bmg a100; do
    table model --platform $platform
    table model --platform "$root/models/data/$platform.json"
done
query "[round(r['predicted_us'], 2) for r in d['gemv'] if (r['m'], r['k'], r['format']) == (1600, 1600, 'int2')] == [8.14]" \
    model --platform lnl-gpu --models mobilellm-1.5b
query "all(abs(r['predicted_us'] - r['m'] * r['k'] * 2048 / 200e6) < 0.01 for r in d['gemm'] if r['format'] == 'int2')" \
    model --platform bmg
query "all(r['tops'] is None and r['tops_reason'] for r in d['gemm'] if r['format'] == 'bf16')" model --platform bmg
query "{(r['model'], r['format']) for r in d['decode'] if not r['fits']} == {('llama3-8b', 'bf16')}" model --platform bmg
query "all(r['fits'] is None and r['fits_reason'] and r['tokens_per_s'] is None for r in d['decode'])" model --platform a100
query "d['outside'] == 0 and [r['id'] for r in d['open']] == 'g010 g029 g039 g046 g057 g059 g071'.split()" model --check-paper
query "all(r['reading'] for r in d['open']) and d['repeats'] == 28" model --check-paper
table model --check-paper
query "len(d['rows']) == 41 and all(r['inside'] and r['lo'] <= r['modelled'] <= r['hi'] for r in d['rows'])" \
    model --check-paper
query "len(d['rows']) == 13 and {r['platform'] for r in d['rows']} == {'lnl', 'any'} and d['outside'] == 0" \
    model --platform lnl --check-paper

# Simulated splits: totals inside of what is published, gains as the rates of the classes imply.
table simulate
table simulate --platform arlh --models falcon3-1b --sharing fair
table simulate --check-paper
query "d['outside'] == 0 and len(d['rows']) == 3 and all(r['lo'] <= r['simulated'] <= r['hi'] for r in d['rows'])" \
    simulate --check-paper
query "len(d['totals']) == 6 and all(abs(t['speedup'] / t['implied_speedup'] - 1) < 0.003 for t in d['totals'])" simulate
query "[t['speedup'] > 1.3 for t in d['totals'] if t['format'] == 'int1'] == [False, True, True]" simulate
query "d['totals'][0]['idle_classes'] == ['LP-E']" simulate --platform arlh
query "[(r['tile_rows'], round(r['predicted_us'], 1)) for r in d['gemv']] == [(32, 9.8)]" \
    simulate --platform arl --formats int2 --shapes 1600x1600
query "[(r['tile_rows'], round(r['predicted_us'], 1)) for r in d['gemv']] == [(1, 8.1)]" \
    simulate --platform arl --formats int2 --shapes 1600x1600 --tile 1 --fork-join 2
query "all(r['predicted_us'] is None and r['predicted_us_reason'] for r in d['gemv'])" simulate --platform lnl
refused "built in (arl, arlh, lnl" simulate --platform nosuch
refused "must be 1 to 1048576" simulate --tile 0
refused "must be 1 to 1048576" simulate --chunk -3
refused "must be 0 to 1000000" simulate --take-ns x
refused "must be equal or fair" simulate --sharing mine
refused "must be static" simulate --split odd
refused "no gamma of format 'int8'" simulate --formats int8
query "{t['platform'] for t in d['totals']} == {'lnl'}" simulate --platform arl --platform lnl
refused "no gamma of format 'bogus'" simulate --platform arl --formats int2,bogus
refused "names no format" simulate --formats ,
refused "no other option" simulate --check-paper --platform lnl
refused "measure it" simulate --platform auto

echo '{"name": "x", "classes": 3}' >"$scratch/bad.json"
refused "bad.json: title is missing" model --platform "$scratch/bad.json"
refused "built in (arl, arlh, lnl, lnl-gpu, bmg, a100)" model --platform nosuch
refused "a CPU's 1-bit kernel" model --platform bmg --measure
refused "describes a device" simulate --platform bmg
refused "must be measured" model --platform auto
refused "say which: --platform" model
refused "unknown model 'gpt-9'" model --platform lnl --models gpt-9
refused "nothing is published of platform 'auto'" model --platform auto --check-paper
refused "surplus argument 'surplus'" model --platform lnl surplus
refused "cannot list 'engines'" list engines
refused "say what to list" list
refused "no kernel matches" list kernels --kernels nosuch
refused "no regular expression" list kernels --kernels '['
refused "unknown instruction-set bit 'sse9'" list kernels --isa-mask sse9
refused "only go with 'list kernels'" list shapes --isa-mask avx2
