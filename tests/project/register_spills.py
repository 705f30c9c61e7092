#!/usr/bin/env python3
"""What compilers do to the product loops of a build's AVX2, AVX-VNNI and AVX-512 rows, in one compiler and not the
other, told without a clock, from objdump. Stores of vectors to the stack: sums in memory cost a row up to two thirds
of its speed. Prefetches in a row, no vector operation between them: those of a whole visit together leave no room for
the misses of loads, which cost int4 with AVX2 a sixth of its speed from memory.
usage: loops.py BUILD    prints the rows that have more than they may; exit 1 when there are any

The product loop of a function is, of its loops without another one with products inside, the one with the most
products, of several the shortest. Loads are not counted: constants may wait in memory."""
import re
import subprocess
import sys
from pathlib import Path

# File in kernels/CMakeLists.txt, file:ISA, or file:ISA:function, stores for 100 products that GCC 12 and Clang 14 need at most, and what is
# stored. Others: none.
ALLOWED = [
    (r"affine/planes:avxvnni:run_affine_u5z", 7, "Clang 14: one sum of 16 registers' worth waits beside the planes of 5 bits"),
    (r"affine/planes:avx512vnni:ulb_add_affine_2", 4, "24 sums, 3 masks, 3 activations and fields are all registers"),
    (r"int1/mask_gemm", 13, "24 sums, 7 masks and 3 activations are more than 32 registers"),
    (r"(int2|tern2)/mask", 10, "sums of 32 bits of slices and results of groups, 4 vectors each"),
    (r"int3/maddubs", 16, "the 10 sums of 32 bits wait for the end of a visit"),
    (r"int4/maddubs", 13, "sums of 32 bits of two slices and results of groups, 6 vectors each"),
    (r"int4/mask_gemm", 12, "sums of 32 bits of 4 tokens"),
    (r"(int2|tern2)/mask_gemm", 70, "sums of 32 bits of 2 tokens; fields of both take all registers"),
    (r"int8/dp_gemm:avxvnni", 5, "one of 12 sums, beside two activations and the weights"),
    (r"int4/mask:avxvnni(32|64)|int8/dp:avxvnni32", 6, "results of groups beside the sums of two slices"),
    (r"int8/sign", 9, "results of groups beside the sums of two slices"),
    (r"tl1/lookup:avx512vnni", 2, "16 sums, 8 activations, 2 tables, a mask and what is looked up are all registers"),
    (r"tl2/table", 12, "sums of 32 bits"),
    (r"tl2/permute", 3, "16 sums, 8 indices, 4 activations, masks and table are more than 32 registers"),
    (r"tern1_6/permute", 2, "20 sums, 4 activations, 3 tables, 3 masks and 3 of a step are more than 32 registers"),
    (r"([^/]*/(rows|planes)|table4/lookup|(t?q[0-9]_[01k]|mxfp4|iq4_nl)/in_place):[^:]*:(run_)?tokens(_\w+)?", 2000, "what is staged for all tokens lies on the stack: its products are elsewhere"),
    (r"[^/]*/rows:[^:]*:run_fields", 46, "sums of groups beside those of blocks; codes taken apart beside 24 sums"),
    (r"q3_k/rows:avxvnni", 38, "results wait for the end of a block"),
    (r"(t?q[0-9]_[01k]|mxfp4|iq4_nl)/in_place:avx(2|vnni):pass_[234]", 40, "sums of blocks wait in memory"),
    (r"(tq1_0|q5_0|q5_1)/in_place:avxvnni", 34, "the results of two rows; masks; scales"),
    (r"(affine/planes|woq/planes|table4/lookup):avx2:(ulb_add_affine|add_(chunk|k_block))_[456](_[134])?", 13, "some of the sums of 32 bits, beside those of 16 bits or the codes of two steps"),
    (r"[^/]*/rows", 30, "results wait for the end of a block"),
    (r"q[2-6]_k/in_place", 25, "activations that two rows share, scales, results"),
    (r"(tq1_0|q5_0|q5_1)/in_place", 8, "the results of two rows; masks"),
]

# The same for prefetches in a row; others: those of two lines into L1 and L2, or a third line into one of them.
IN_A_ROW = 5
ALLOWED_IN_A_ROW = [
    (r"int4/mask_gemm", 12, "a visit of several tokens, which are bound by products"),
    (r"int2/mask:avx512vnni25632", 6, "two lines of a slice and the next one's first, of groups of four visits"),
    (r"int1/mask_gemm|int8/dp_gemm", 6, "a visit of several tokens, which are bound by products"),
    (r"(q[458]_[01]|mxfp4|iq4_nl|tq1_0)/in_place", 8, "one for each of eight rows"),
    (r"affine/unpack3", 6, "three lines that one step takes apart"),
    (r"q[0-9]_[01k]/rows", 10, "scales and minima behind a group"),
    (r"(mxfp4|iq4_nl)/rows:avx512vnni:run_fields", 6, "three lines of one step, for several tokens"),
    (r"fp32/fma:avx512:run_tokens", 9, "a visit of several tokens, which are bound by products"),
]

PRODUCT = re.compile(r"(\{vex\} *)?(vpdpbusd|vpdpwssd|vdpbf16ps|vpmaddubsw|vpmaddwd|vpmull[wd]|vpshufb|vfn?madd\w+) ")
STORE = re.compile(r"v\w+ +%[yz]mm\d+,-?(0x)?[0-9a-f]*\(%r[sb]p[,)]")
ROW = re.compile(r"_((?:avx2|avxvnni|avx512(?:vnni|vnni256|vbmi|bf16)?)(?:32|64|128)?)\.dir$")
FUNCTION = re.compile(r"^[0-9a-f]{8,} <(.*)>:$")
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(.*)$")
JUMP = re.compile(r"j\w+ +([0-9a-f]+)\b")


def functions(path):
    """Name and instructions, (address, text), of each function of an object."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
    name, body = None, []
    for line in text.stdout.splitlines():
        if start := FUNCTION.match(line):
            if body:
                yield name, body
            name, body = start[1], []
        elif found := INSTRUCTION.match(line):
            body.append((int(found[1], 16), found[2]))
    if body:
        yield name, body


def loop_begin(body, at, end):
    """Where the jump that is instruction end goes; None: no jump, or the way back from a prefetch that stands behind
    the function (kernels/x86/simd/prefetch.h), which closes no loop."""
    text = body[end][1]
    if text.startswith("jmp") and end and body[end - 1][1].startswith(("prefetcht0", "prefetcht1")):
        return None
    jump = JUMP.match(text)
    return at.get(int(jump[1], 16)) if jump else None


def product_loop(body):
    """The instructions of the product loop; none: no loop has products."""
    at = {address: i for i, (address, _) in enumerate(body)}
    loops = {}
    for end in range(len(body)):
        begin = loop_begin(body, at, end)
        if begin is not None and begin <= end:
            inside = [instruction for _, instruction in body[begin : end + 1]]
            if products := sum(bool(PRODUCT.match(instruction)) for instruction in inside):
                loops[begin, end] = (products, -len(inside), inside)
    inner = [
        loop
        for (begin, end), loop in loops.items()
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in loops)
    ]
    return max(inner, key=lambda loop: loop[:2])[2] if inner else []


def in_a_row(loop):
    """The most prefetches without a vector operation between them."""
    longest = run = 0
    for instruction in loop:
        if instruction.startswith("prefetch"):
            run += 1
        elif instruction.startswith(("v", "{vex}")):
            run = 0
        longest = max(longest, run)
    return longest


def allowed(table, file, isa, name, default):
    """What a table allows a function of a row."""
    rest = f"(:{isa})?(:{re.escape(name)})?"
    row = f"{file}:{isa}:{name}"
    return next((most for pattern, most, _ in table if re.fullmatch(f"({pattern}){rest}", row)), default)


def main(build):
    rows = offenders = 0
    for path in sorted(Path(build, "kernels/CMakeFiles").glob("kernel_*.dir/formats/*/*.o")):
        row = ROW.search(path.parts[-4])
        if not row:
            continue
        file = f"{path.parts[-2]}/{path.name.removesuffix('.c.o')}"
        for name, body in functions(path):
            loop = product_loop(body)
            rows += bool(loop)
            stores = sum(bool(STORE.match(instruction)) for instruction in loop)
            products = sum(bool(PRODUCT.match(instruction)) for instruction in loop)
            most = allowed(ALLOWED, file, row[1], name, 0)
            if 100 * stores > most * products:
                print(f"{path.parts[-4]} {name}: {stores} vectors are stored on the stack in the product loop of "
                      f"{products} products; at most {most} for 100 products")
                offenders += 1
            most = allowed(ALLOWED_IN_A_ROW, file, row[1], name, IN_A_ROW)
            if in_a_row(loop) > most:
                print(f"{path.parts[-4]} {name}: {in_a_row(loop)} prefetches in a row in the product loop; at most {most}")
                offenders += 1
    print(f"{rows} product loops")
    return 1 if offenders or not rows else 0


sys.exit(main(sys.argv[1]))
