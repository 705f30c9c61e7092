#!/usr/bin/env python3
"""Completion in the shells themselves: command lines are typed at a terminal, with tabs, and what runs is compared."""
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(os.environ["ULB_SOURCE"]) / "docs" / "completions"
BENCH = Path(os.environ["ULB_BUILD"]) / "ulb-bench"

START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"source '{SCRIPTS}/ulb-bench.bash'"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=('{SCRIPTS}' $fpath); autoload -Uz compinit; compinit -u -D"),
    "fish": (["fish", "--no-config", "-i"], f"source '{SCRIPTS}/ulb-bench.fish'"),
}
CASES = [  # typed, with tabs; what the program then gets
    ("list mod\t", "list models"),
    ("gemv --spl\t stat\t", "gemv --split static"),
    ("gemv --formats int8,bf1\t", "gemv --formats int8,bf16"),
    ("gemv --formats=bf1\t", "gemv --formats=bf16"),
    ("gemv --formats=int8,bf1\t", "gemv --formats=int8,bf16"),
    ("--plat\t ln\t", "--platform lnl"),
    ("compare rec\t", "compare record.json"),
    ("gemv --out fol\t", "gemv --out folder"),
]

# Completion is asked of the program; all else is noted.
PROGRAM = """#!/bin/sh
[ "$1" = completion ] && exec "$ULB_REAL" "$@"
echo "$@" >"$ULB_NOTE.new" && mv "$ULB_NOTE.new" "$ULB_NOTE"
"""


class Terminal:
    def __init__(self, shell, folder):
        argv, prepare = START[shell]
        environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8",
                       "ULB_REAL": str(BENCH), "ULB_NOTE": str(folder / "note"), "INPUTRC": "/dev/null"}
        self.note = folder / "note"
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder / "work")
            os.execvpe(argv[0], argv, environment)
        os.set_blocking(self.descriptor, False)
        self.shown = b""
        self.type(prepare + "\n")
        assert self.run("ready") == "ready", f"{shell} does not start: {self.shown!r}"

    def read(self):
        try:
            self.shown += os.read(self.descriptor, 65536)
        except (BlockingIOError, OSError):
            pass

    def type(self, text):
        """A tab is given the time to be answered: what the shell shows has come to rest."""
        for part in text.replace("\t", "\t\0").split("\0"):
            os.write(self.descriptor, part.encode())
            rest = 0
            while part.endswith("\t") and rest < 5:
                length = len(self.shown)
                time.sleep(0.05)
                self.read()
                rest = rest + 1 if len(self.shown) == length else 0

    def run(self, line):
        self.note.unlink(missing_ok=True)
        self.type(f"ulb-bench {line}\n")
        for _ in range(400):
            self.read()
            if self.note.exists():
                return self.note.read_text().rstrip("\n")
            time.sleep(0.05)
        return None

    def close(self):
        os.close(self.descriptor)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def make_folder(folder):
    for name in ("bin", "work", "work/folder"):
        (folder / name).mkdir(parents=True)
    for name in ("record.json", "record.txt", "folder.json"):
        (folder / "work" / name).touch()
    program = folder / "bin" / "ulb-bench"
    program.write_text(PROGRAM)
    program.chmod(0o755)


def test(shell):
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        make_folder(Path(name))
        terminal = Terminal(shell, Path(name))
        for typed, wanted in CASES:
            got = terminal.run(typed)
            if got is None or got.rstrip("/") != wanted:  # zsh takes the slash of a folder away again
                print(f"FAILED: {shell}: {typed!r} became {got!r}, not {wanted!r}: {terminal.shown[-300:]!r}")
                bad += 1
        terminal.close()
    return bad


def main():
    shells = sys.argv[1:] or [shell for shell in START if shutil.which(shell)]
    print("shells:", *shells)
    known = subprocess.run([BENCH, "list", "formats", "--json"], capture_output=True, text=True, check=True).stdout
    assert '"bf16"' in known and '"int8"' in known, "this build lacks the formats that the test types"
    sys.exit(sum(test(shell) for shell in shells) > 0)


main()
