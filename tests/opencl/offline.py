#!/usr/bin/env python3
"""Compiles device kernels with Intel's offline compiler, and counts what is in the loop over K.

usage: offline.py DEVICE_BUILDS [REGEX]     ocloc: ULB_OCLOC or in PATH; exit 77 where there is none

Of every kernel the matrix instructions must be of the right type and as many as its tile says, and messages to memory as
many as its operands need: one that keeps accumulators in memory has more. Quantising in the kernel hides behind matrix
instructions when a quantised block is used eight times; cycles of an instruction are assumed (docs/method/devices.md).
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TARGETS = {"pvc": 16, "dg2-g10": 8}
DPAS_CYCLES = 16  # assumed, of 8 tokens and 16 lanes; a vector instruction takes one
OPERAND = {"dpas-int2": r":[su]2\s", "dpas-int8": r":b\s+r\d+\.\d+:b\s", "dpas-bf16": r":bf\s+r\d+\.\d+:bf\s"}


def find_ocloc(folder):
    """The program, and its environment: the disassembler opens a library by a name that packages lack."""
    ocloc = os.environ.get("ULB_OCLOC") or shutil.which("ocloc")
    if not ocloc:
        print("skipped: no ocloc")
        sys.exit(77)
    paths = [p for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
    places = [pathlib.Path(p) / "libiga64.so.1" for p in paths + ["/usr/lib/x86_64-linux-gnu"]]
    for place in places:
        if place.exists():
            (folder / "libiga64.so").symlink_to(place)
            break
    return ocloc, {**os.environ, "LD_LIBRARY_PATH": ":".join([str(folder)] + paths)}


def compile_and_disassemble(ocloc, env, target, source, options, folder):
    work = pathlib.Path(tempfile.mkdtemp(dir=folder))
    build = subprocess.run([ocloc, "compile", "-file", source, "-device", target, "-output", "k", "-options",
                            "-cl-std=CL2.0 " + options], cwd=work, env=env, capture_output=True, text=True)
    binary = list(work.glob("*.bin"))
    if build.returncode or not binary:
        sys.exit(f"FAILED: {source.name} for {target} with {options}: {build.stdout[-2000:]}{build.stderr[-500:]}")
    if re.search("spill", build.stdout + build.stderr, re.I):
        sys.exit(f"FAILED: {source.name} for {target} with {options} spills: {build.stdout[-500:]}")
    subprocess.run([ocloc, "disasm", "-file", binary[0], "-device", target, "-dump", "dump"], cwd=work, env=env,
                   capture_output=True)
    text = [p for p in (work / "dump").glob("*product*.asm")]
    if not text:
        print("skipped: ocloc does not disassemble here (libiga64.so)")
        sys.exit(77)
    return text[0].read_text().splitlines()


def count(lines):
    """Matrix instructions, messages and all instructions of the smallest loop that has every matrix instruction."""
    labels = {m.group(1): i for i, line in enumerate(lines) if (m := re.match(r"(L\d+):", line))}
    dpas = [i for i, line in enumerate(lines) if re.search(r"\bdpas", line)]
    loops = []
    for i, line in enumerate(lines):
        if re.search(r"\b(jmpi|goto|while|brc)\b", line):
            loops += [(i - labels[t], labels[t], i) for t in re.findall(r"\bL\d+\b", line) if labels.get(t, i) < i]
    loops = [l for l in loops if dpas and l[1] <= dpas[0] and dpas[-1] <= l[2]]
    if not loops:
        sys.exit("FAILED: no loop has the matrix instructions")
    _, begin, end = min(loops)
    body = [line for line in lines[begin:end + 1] if re.match(r"[\s(]+\S", line)]
    sends = [line for line in body if re.match(r"\s*(\([^)]*\)\s*)?send", line)]
    return len(dpas), len(sends), len(body), [lines[i] for i in dpas]


def expected(rows, tokens, steps, words, lanes, name):
    """Messages of a round: each token's part of a step, and each tile's words."""
    given = 2 if lanes == 8 and re.search("bf16-(fused|scaled)", name) else 1  # four bfloat16 of a lane are two words
    block = {2: 1, 8: 2}[words] if lanes == 16 else words
    return rows * steps * block + tokens * steps * given


def check(target, lanes, builds, sources, ocloc, env, folder):
    counts, faults = {}, []
    for line in builds:
        name, source, rows, tokens, steps, words, options = line.split(" ", 6)
        rows, tokens, steps, words = int(rows), int(tokens), int(steps), int(words)
        dpas, sends, length, text = count(compile_and_disassemble(ocloc, env, target, sources / source, options, folder))
        path = re.search("dpas-[a-z0-9]+", name).group(0)
        wanted = rows * max(tokens // 8, 1) * steps, expected(rows, tokens, steps, words, lanes, name)
        counts[name] = dpas, sends, length - dpas - sends
        if (dpas, sends) != wanted:
            faults.append(f"{target} {name}: {dpas} matrix instructions and {sends} messages, not {wanted}")
        if not all(re.search(OPERAND[path], line + " ") for line in text):
            faults.append(f"{target} {name}: operands of another type: {text[0].strip()}")
    return counts, faults


def check_reuse(counts):
    """With 16 lanes: what is beside matrix instructions hides behind them from an eight-fold reuse on, and not before."""
    fused = {name: c for name, c in counts.items() if re.match(r"int2bf16-fused-dpas-int2-\d+x\d\d", name)}
    faults = [] if len(fused) >= 4 else [f"only these tiles show the reuse: {list(fused)}"]
    for name, (dpas, sends, others) in fused.items():
        reuse = int(re.search(r"-(\d+)x\d+s", name).group(1))
        print(f"{name}: reused {reuse} times, {others} cycles beside {DPAS_CYCLES * dpas} of matrix instructions")
        if (others <= DPAS_CYCLES * dpas) != (reuse >= 8):
            faults.append(f"{name}: quantising a block that is used {reuse} times")
    return faults


def check_explained(bench, target, counts, env):
    """gamma --explain --target counts the same."""
    faults = []
    for name in [name for name in counts if re.match(r"(int2bf16-fused|int8f32-before|bf16bf16)-dpas-\w+-(1x1s4|8x16s1)$", name)]:
        done = subprocess.run([bench, "gamma", "--explain", f"^{name}$", "--target", target, "--json"], env=env, capture_output=True,
                              text=True)
        row = json.loads(done.stdout)["explain"][0] if done.returncode == 0 else {"limits": []}
        found = {limit["limit"]: limit["count"] for limit in row["limits"]}
        if found != dict(zip(("matrix", "messages", "vector"), counts[name])):
            faults.append(f"{target} {name}: --explain says {found or done.stderr}, not {counts[name]}")
    return faults


def check_planted(builds, sources, *where):
    """A pointer into private vectors keeps accumulators in memory, which the messages show."""
    for build in builds:
        if build.startswith("int2bf16-before-dpas-int2-8x16"):
            name = build.split(" ")[1]
            text = (sources / name).read_text()
            planted = text.replace("acc[t][b] = 0;", "for (int r = 0; r < ULB_BLOCK; r++) ((ulb_sum *)&acc[t][b])[first_row(r)] = 0;")
            planted = planted.replace("/* What a sub-group computes. */", "static uint first_row(uint r) { return r ^ (get_local_id(0) >> 8); }")
            if planted.count("first_row") != 2:
                return ["nothing was planted"]
            (sources / name).write_text(planted)
            _, faults = check("pvc", 16, [build], sources, *where)
            (sources / name).write_text(text)
            return [] if any("messages" in fault or "spills" in fault for fault in faults) else ["the planted pointer was not found"]
    return ["no kernel to plant in"]


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        ocloc, env = find_ocloc(folder)
        for target, lanes in TARGETS.items():
            sources = folder / target
            sources.mkdir()
            builds = subprocess.run([sys.argv[1], sources, str(lanes)], check=True, capture_output=True,
                                    text=True).stdout.splitlines()
            if len(sys.argv) > 2:
                builds = [b for b in builds if re.search(sys.argv[2], b)]
            counts, faults = check(target, lanes, builds, sources, ocloc, env, folder)
            faults += check_explained(pathlib.Path(sys.argv[1]).parents[2] / "ulb-bench", target, counts, {**env, "ULB_OCLOC": ocloc})
            for name, (dpas, sends, alu) in counts.items():
                print(f"{target:8} {name:36} {dpas:3} dpas, {sends:3} sends, {alu:4} others")
            if lanes == 16 and len(sys.argv) == 2:
                faults += check_reuse(counts) + check_planted(builds, sources, ocloc, env, folder)
            if faults:
                sys.exit("FAILED:\n" + "\n".join(faults))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
