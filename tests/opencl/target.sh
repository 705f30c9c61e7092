#!/usr/bin/env bash
# gamma --explain KERNEL --target TARGET: what is counted is what the compiler disassembles, and every way in which that
# fails ends with one line. A script stands in for ocloc; the test device_offline has the real one where it is installed.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
query() { python3 -c 'import json, sys; d = json.load(open(sys.argv[2])); sys.exit(not eval("(%s)" % sys.argv[1]))' "$1" "$2" ||
    fail "not true of $2: $1: $(head -c 2000 "$2")"; }
mkdir programs temporary
export TMPDIR=$scratch/temporary
cat >loop.asm <<'A'
L0:
        mov (16|M0)              r1.0<1>:d     r2.0<1;1,0>:d
L16:
(W)     send.ugm (1|M0)          r4       r3      null:0  0x0  0x02  {$1} // wr:1+0, rd:4; load
        dpas.8x8 (16|M0)         r138:d        r138:d            r9:s2             r14.0:b
        mul (16|M0)              r1.0<1>:f     r2.0<1;1,0>:f
(W&f0.0) jmpi                                L16
A
cat >programs/ocloc <<'S'
#!/bin/sh
what=$1
for word; do
    case $previous in -out_dir | -dump) folder=$word ;; -device) target=$word ;; esac
    previous=$word
done
case $what-$target in
*-nosuch) echo "unknown device"; exit 1 ;;
compile-silent) ;;
compile-spills) echo "warning: kernel spilled 8 registers"; : >"$folder/kernel.bin" ;;
compile-*) : >"$folder/kernel_$target.bin" ;;
disasm-mute) mkdir "$folder" ;;
disasm-flat) mkdir "$folder" && grep -v jmpi "$LOOP" >"$folder/.text.product.asm" ;;
disasm-*) mkdir "$folder" && cp "$LOOP" "$folder/product_KernelHeap.asm" ;;
esac
S
chmod +x programs/ocloc
export LOOP=$scratch/loop.asm PATH=$scratch/programs:$PATH
unset ULB_OCLOC
kernel=int2bf16-fused-dpas-int2-8x16s1

"$bench" gamma --explain "^$kernel" --target pvc --json >out.json 2>err || fail "explain: $(cat err)"
query "[(e['kernel'], e['target'], e['lanes'], e['bound'], e['cycles']) for e in d['explain']] == [('$kernel', 'pvc', 16, 'matrix', 16)]" out.json
query "[(l['limit'], l['count'], l['cycles']) for l in d['explain'][0]['limits']] == [('matrix', 1, 16), ('vector', 2, 2), ('messages', 1, 4)]" out.json
query "d['explain'][0]['operations_per_cycle'] == 2 * 8 * 16 * 16 * 32 / 16 and 'assumed' in d['explain'][0]['label']" out.json
"$bench" gamma --explain "^$kernel" --target dg2-g10 --json >out.json 2>err || fail "8 lanes: $(cat err)"
query "d['explain'][0]['lanes'] == 8" out.json
COLUMNS=80 "$bench" gamma --explain "^$kernel,^int8bf16-before" --target pvc >out 2>err && fail 'a comma is in no name'
COLUMNS=80 "$bench" gamma --explain "^int(2|8)bf16-before-dpas-int[28]-8x16" --target pvc >out 2>err || fail "as text: $(cat err)"
grep -q "matrix instructions bound it, 16 cycles" out || fail "the text: $(cat out)"
[[ $(wc -L <out) -le 80 ]] || fail 'wider than 80 columns'

expect 2 '--target needs --explain KERNEL' "$bench" gamma --target pvc
expect 2 "no kernel of devices matches 'int2a8-scalar'" "$bench" gamma --explain int2a8-scalar --target pvc
expect 2 'int2bf16-fused-plain-1x1s4 has no matrix instructions' "$bench" gamma --explain '^int2bf16-fused-plain-1x1' --target pvc
expect 2 'none of these kernels has matrix instructions' "$bench" gamma --explain '^int2bf16-.*-plain-' --target pvc
expect 3 "ocloc cannot compile the kernel for nosuch, or does not know that target; 'ocloc compile --help'" \
    "$bench" gamma --explain "^$kernel" --target nosuch
expect 3 'ocloc wrote no binary for silent' "$bench" gamma --explain "^$kernel" --target silent
expect 3 'the kernel spills registers on spills' "$bench" gamma --explain "^$kernel" --target spills
expect 3 'ocloc does not disassemble: libiga64.so.1 is missing' "$bench" gamma --explain "^$kernel" --target mute
expect 3 'no loop of the disassembly has all matrix instructions' "$bench" gamma --explain "^$kernel" --target flat
expect 3 '^ulb-bench: /nowhere/ocloc is missing; install intel-opencl-icd, or name another by ULB_OCLOC$' \
    env ULB_OCLOC=/nowhere/ocloc "$bench" gamma --explain "^$kernel" --target pvc
expect 3 'no folder for ocloc could be made in /nowhere/' env TMPDIR=/nowhere "$bench" gamma --explain "^$kernel" --target pvc
[[ -z $(ls temporary) ]] || fail "left behind: $(ls temporary)"
echo 'target: bounds from a disassembly, and what stops them'
