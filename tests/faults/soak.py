#!/usr/bin/env python3
"""Random command lines, right and wrong, with calls that fail now and then.

usage: soak.py BUILD [--lines N] [--seed N] [--first N]

BUILD is best one with AddressSanitizer. A line fails when the program crashes, leaks, takes more than a minute, says
nothing or too much about an error, or ends with another exit code than it should: without a fault 0 for a right line
and 2 for a wrong one; with one 0, or 3, or 2 where a file could not be read. --first begins at that line of the same
sequence. The clock goes fast, so that measurements wait for a quiet machine no longer than they must; the minute is a
real one. Exit code 1 when any line failed.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import inject

FAULTS = ["malloc", "calloc", "realloc", "aligned_alloc", "open", "read", "write", "mmap", "affinity", "thread", "perf",
          "rename", "fsync", "mkdir", "spawn", "any"]
# What may stand behind each option: right values, wrong ones.
VALUES = {
    "--ring-mib": (["8", "16"], ["0", "-1", "x", "99999999999999999999"]),
    "--kernels": (["int2a8-(pshufb-avx2|scalar)", "int1a8-scalar"], ["[", "int7", "("]),
    "--formats": (["int2", "int1"], ["int9", "int2,,nix"]),
    "--shapes": (["64x256", "128x128,64x64"], ["0x64", "64", "", "64x64x", "99999999x64"]),
    "--set": (["0", "all"], ["Q", "100000", "0,0", "3-1"]),
    "--split": (["static", "dynamic", "weighted"], ["sideways", ""]),
    "--seed": (["0", "42", "9223372036854775807"], ["-1", "1e9", ""]),
    "--isa-mask": (["avx512f", "avxvnni,gfni"], ["avx9000", "avx2,,fma"]),
    "--progress": (["off", "on", "auto"], ["maybe"]),
    "--platform": (["arl", "arlh", "lnl"], ["nosuch", "./nosuch.json", ""]),
    "--models": (["mobilellm-1.5b", "config.json"], ["gpt-9", "nosuch.json"]),
    "--to": (["csv", "md", "sql", "googlebench", "bmf", "prometheus"], ["xml", ""]),
    "--metric": (["efficiency", "us", "gamma"], ["speed"]),
    "--threshold": (["5", "10%"], ["x", "-3"]),
    "--figure": (["roofline", "bars"], ["nosuch"]),
    "--format": (["svg", "txt"], ["bmp"]),
    "--n": (["2", "1,3"], ["0", "x", "4097"]),
}
CELLS = ["--shapes", "--set", "--split", "--seed", "--isa-mask", "--progress"]
# Command, what must be there, options that may be, arguments (right, wrong).
COMMANDS = [
    (["topology"], [], [], None),
    (["counters"], [], [], None),
    (["list"], [], [], (["kernels", "formats", "models", "platforms", "cores", "figures", "counters"], ["nosuch", ""])),
    (["shapes"], [], [], (["llama3-8b", "config.json", "mixtral-8x7b"], ["nosuch", "0.json", "out/"])),
    (["model"], ["--platform"], ["--models"], None),
    (["export"], ["--to"], [], (["0.json"], ["nosuch.json", "config.json"])),
    (["compare", "0.json"], [], ["--metric", "--threshold"], (["0.json"], ["nosuch.json", "config.json"])),
    (["plot", "-o", "out"], ["--figure", "--format"], [], (["0.json"], ["nosuch.json", "config.json"])),
    (["report", "-o", "page.html"], [], [], (["0.json"], ["nosuch.json", "config.json"])),
    (["history", "list", "--db", "history.db"], [], [], None),
    (["history", "trend", "--db", "history.db"], [], ["--metric"], None),
    (["history", "add", "--db", "new.db"], [], [], (["0.json"], ["nosuch.json", "config.json"])),
    (["verify"], ["--kernels"], ["--isa-mask"], None),
    (["beta", "--quick"], ["--ring-mib"], ["--set", "--seed", "--progress"], None),
    (["gamma", "--quick"], ["--kernels"], ["--set", "--seed"], None),
    (["gemv", "--quick"], ["--ring-mib", "--kernels", "--shapes"], CELLS, None),
    (["gemm", "--quick"], ["--ring-mib", "--kernels", "--shapes", "--n"], CELLS, None),
    (["formats", "--quick"], ["--ring-mib", "--formats"], [], None),
    (["--quick", "-o", "out"], ["--ring-mib", "--kernels", "--shapes"], CELLS, None),
]
MEMORY = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:")


def random_line(dice):
    """(arguments, whether they are right)."""
    command, needed, optional, last = dice.choice(COMMANDS)
    wrong = dice.random() < 0.3
    options = needed + [name for name in optional if name not in needed and dice.random() < 0.4]
    places = [*options, *(["last"] if last else []), "surplus"]
    bad = dice.choice(places) if wrong else None
    arguments = list(command)
    for name in options:
        arguments += [name, dice.choice(VALUES[name][name == bad])]
    if last:
        arguments.append(dice.choice(last[bad == "last"]))
    if bad == "surplus":
        arguments.append(dice.choice(["--frob", "--json=yes", "-Z"]))
    if dice.random() < 0.5:
        arguments.append("--json" if "export" not in arguments else "--json")
    return arguments, not wrong


def random_fault(dice):
    if dice.random() < 0.35:
        return {}
    later = dice.choice(["", "", "+"])
    return {"ULB_FAULTS_FAIL": f"{dice.choice(FAULTS)}:{int(10 ** dice.uniform(0, 3))}{later}",
            "ULB_FAULTS_FROM": "ulb-bench"}


def verdict(end, right, fault):
    """What is wrong with an end; '' when nothing is."""
    if end.code == "hang":
        return "took more than a minute"
    report = MEMORY.search(end.err)
    if report:
        return report[0]
    own = [line for line in end.err.splitlines() if line.startswith("ulb-bench: ")]
    allowed = {0, 2, 3} if fault else {0} if right else {2}
    if fault and not right:
        allowed = {2, 3}
    if end.code not in allowed:
        return f"exit code {end.code}"
    if len(own) != (end.code != 0):
        return f"{len(own)} messages with exit code {end.code}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    # A sanitizer's library wants to come first, and would itself abort where memory cannot be had.
    os.environ["OCL_ICD_VENDORS"] = "/nowhere"  # drivers of others are no part of this
    os.environ["ASAN_OPTIONS"] = "verify_asan_link_order=0:allocator_may_return_null=1:detect_leaks=1"
    os.environ["LSAN_OPTIONS"] = f"suppressions={inject.SOURCE}/tests/project/lsan.supp:print_suppressions=0"
    codes, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as scratch:
        bench = inject.Bench(options.build.resolve(), pathlib.Path(scratch))
        dice = random.Random(options.seed)
        for number in range(options.first + options.lines):
            arguments, right = random_line(dice)
            fault = random_fault(dice)
            if number < options.first:
                continue
            end = bench.run_line(arguments, **inject.HASTE, **fault)
            codes[end.code, bool(fault)] += 1
            wrong = verdict(end, right, fault)
            if wrong:
                bad += 1
                print(f"line {number}: {wrong}: {arguments} {fault.get('ULB_FAULTS_FAIL', '')}\n"
                      + "\n".join(end.err.splitlines()[:12]), flush=True)
    for (code, fault), n in sorted(codes.items(), key=str):
        print(f"exit code {code}, {'a fault' if fault else 'no fault'}: {n}")
    print(f"{options.lines} lines, seed {options.seed}: {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
