#!/usr/bin/env python3
"""The time left that a quick run shows: from a fifth of the run on, elapsed and left together miss the whole by 30 % at most.

usage: time_left.py ULB-BENCH [ARGUMENT...]     the arguments of the run, default: --quick
"""
import os
import re
import subprocess
import sys
import tempfile
import time

MISSED_MOST = 0.30


def main(bench, *arguments):
    bench = os.path.abspath(bench)
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        run = subprocess.Popen([bench, "run", *(arguments or ["--quick"]), "--progress", "on"], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in run.stderr:
            left = re.match(r"(\S+) \(\d+ %\): \d+:\d\d, (\d+):(\d\d) left", line)
            if left:
                shown.append((left[1], time.monotonic() - begin, 60 * int(left[2]) + int(left[3])))
        if run.wait() != 0:
            sys.exit(f"exit {run.returncode}")
        whole = time.monotonic() - begin
    worst = 0
    for stage, elapsed, left in shown:
        missed = (elapsed + left) / whole - 1
        late = elapsed > whole / 5
        worst = max(worst, abs(missed)) if late else worst
        print(f"{stage:8} {elapsed:6.1f} s, {left:3} s left: {100 * missed:+5.0f} %{'' if late else ' (before a fifth)'}")
    print(f"time left of a run of {whole:.0f} s: missed by {100 * worst:.0f} % at most")
    if len(shown) < 10 or worst > MISSED_MOST:
        sys.exit("the time left is wrong")


if __name__ == "__main__":
    main(*sys.argv[1:])
