#!/usr/bin/env python3
"""Instructions of AArch64 rows per 32 weights, as compiled, beside what their mixes state and what ports allow.

usage: aarch64_counts.py BUILD [PART,...]   BUILD: a folder that scripts/test-aarch64 has built; PART of rows' names

Counted are the innermost loops that hold a row's products (sdot, usmmla, tbl, fmla ...) in the disassembly, one for each
plane of codes; 32 weights are as many products as the row's mix states. Ends of groups and of blocks are outside of them,
and so in the mix alone. Rows of several tokens: the loop for all tokens of a tile, which share its loads and masks;
mix and bounds are of as many. SVE is counted per vector of 128 bits, for which the mixes are stated. No clock is read:
mixes and bounds are ulb-bench's own, for the cores whose ports are published.
"""
import glob
import json
import re
import subprocess
import sys

PRODUCTS = {
    "matrix_products": r"(s|us|bf)mmla$",
    "dot_products": r"(s|us|u|bf)dot$",
    "shuffles": r"tbl$",
    "fmas": r"fmla$",
}
CORES = ("cortex-x4", "neoverse-v2", "firestorm")


def explained(build, parts):
    """Rows with their mixes and bounds; that they are masked keeps them from being measured."""
    command = ["qemu-aarch64", "-cpu", "max,sve128=on", f"{build}/ulb-bench", "gamma", "--quick", "--json",
               "--isa-mask", "neon,sve", "--explain", parts]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["explain"]


def disassembly(build, kernel):
    """Instructions of the function of a row: (address, mnemonic, operands)."""
    _, variant, isa = kernel["kernel"].split("-")[:3]
    folder, group = re.match(r"(\w+?)(g\d+)?$", kernel["format"].replace(".", "_")).groups()
    file, function = f"{folder}_{variant}", "run"
    if variant in ("maskn", "dotn"):
        file = f"{folder}_{variant[:-1]}_gemm"
    if variant == "plane":
        file, group, function = "affine_planes", None, f"run_{kernel['format']}"
    found = [path for name in (file, f"{file}_arm") for path in glob.glob(
        f"{build}/kernels/CMakeFiles/kernel_{name}_{isa}{(group or '')[1:]}.dir/**/*.o", recursive=True)]
    assert len(found) == 1, f"{kernel['kernel']}: {found}"
    text = subprocess.run(["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", found[0]],
                          check=True, capture_output=True, text=True).stdout
    lines, inside = [], False
    for line in text.splitlines():
        if line.endswith(">:"):
            # What the compiler did not put into the function itself stands behind it under a name of its own.
            label = line.split("<")[1][:-2]
            inside = label == function or (variant != "plane" and not label.startswith("ulb_"))
        match = re.match(r" +([0-9a-f]+):\t(\S+)\t?(.*)", line)
        if inside and match:
            lines.append((int(match[1], 16), match[2], match[3]))
    return lines


def loops(lines):
    """Bodies of loops: from the target of a branch back to the branch."""
    for i, (address, mnemonic, operands) in enumerate(lines):
        target = re.search(r"([0-9a-f]+) <", operands)
        if re.match(r"b\.|b$|cbn?z|tbn?z", mnemonic) and target and int(target[1], 16) < address:
            yield [line for line in lines[:i + 1] if line[0] >= int(target[1], 16)]


def products_of(body, pattern):
    return sum(bool(re.match(pattern, mnemonic)) for _, mnemonic, _ in body)


def loads_of(line):
    """Vectors that an instruction loads."""
    _, mnemonic, operands = line
    if not (re.match(r"ld", mnemonic) and re.match(r"[{ ]*[qzvd]\d", operands)):
        return 0
    return 2 if mnemonic == "ldp" else 1


def innermost(bodies):
    return [a for a in bodies if not any(a[0][0] <= b[0][0] and b[-1][0] <= a[-1][0] and b is not a for b in bodies)]


def count(build, kernel):
    """Instructions, vector operations, loads and prefetches per 32 weights."""
    kind = next(kind for kind in PRODUCTS if kernel["mix"][kind] > 0)
    with_products = [b for b in loops(disassembly(build, kernel)) if products_of(b, PRODUCTS[kind])]
    bodies = innermost(with_products)
    planes = bin(int(re.match(r"u(\d)|woq(\d)", kernel["format"])[0].strip("uwoq"))).count("1") \
        if "-plane-" in kernel["kernel"] else 1
    # The loops with most products are the rows'; of equal ones the shortest: others prefetch, too, or are unrolled ends.
    # Planes differ in what they load and mask for as many products.
    distinct = {}
    for body in sorted(bodies, key=lambda b: (-products_of(b, PRODUCTS[kind]), len(b))):
        plane = sum(map(loads_of, body)), products_of(body, "and$")
        distinct.setdefault(plane if planes > 1 else None, body)
    chosen = list(distinct.values())[:planes]
    assert len(chosen) == planes, kernel["kernel"]
    per_32 = mix_of(kernel)["mix"][kind] / planes
    sums = [0.0] * 4
    for body in chosen:
        units = products_of(body, PRODUCTS[kind]) / per_32
        for line in body:
            _, mnemonic, operands = line
            loads = loads_of(line)
            vector = not loads and re.match(r"[{ ]*[vz]\d", operands) and not re.match(r"st", mnemonic)
            for i, amount in enumerate((1, bool(vector), loads, mnemonic.startswith("prf"))):
                sums[i] += amount / units
    return sums


def mix_of(kernel):
    """What holds mix and bounds: the row, or its tile of several tokens."""
    return kernel["tile"] or kernel


def stated(mix):
    loads = mix["loads"] + mix["broadcasts"]
    return sum(mix.values()) - loads - mix["prefetches"], loads, mix["prefetches"]


def main():
    build = sys.argv[1]
    parts = sys.argv[2] if len(sys.argv) > 2 else "-(neon|dotprod|(sve)?(i8mm|bf16)|sve)-"
    print(f"{'':36} compiled: all  vector  loads  prefetches | stated: vector  loads | bounds: " + "  ".join(CORES))
    for kernel in (row for row in explained(build, parts) if row["mix"]):
        all_, vector, loads, prefetches = count(build, kernel)
        bounds = {row["core"]: row["bound_cycles"] for row in mix_of(kernel)["bounds"]}
        mix = mix_of(kernel)["mix"]
        text = "  ".join("   -" if bounds[core] is None else f"{bounds[core]:4.2f}" for core in CORES)
        name = kernel["kernel"] + (f" ({kernel['tile']['tokens']} tokens)" if kernel["tile"] else "")
        print(f"{name:36} {all_:14.2f} {vector:7.2f} {loads:6.2f} {prefetches:11.2f} |"
              f" {stated(mix)[0]:14.2f} {stated(mix)[1]:6.2f} | {text}")


if __name__ == "__main__":
    main()
