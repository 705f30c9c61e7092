#!/usr/bin/env python3
"""--help, -h, help COMMAND, the man page and completion give each command the same options."""
import os
import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(os.environ["ULB_BUILD"]) / "ulb-bench"
MAN = Path(os.environ["ULB_SOURCE"]) / "docs" / "ulb-bench.1"
COMMON = {"--json", "--color", "--help", "--version"}  # the man page's first list; which commands have --json, --help says
BUILT_IN = {"--help": "-h", "--version": "-V"}  # read before the options, which --help does not show

bad = []


def run(*words):
    done = subprocess.run([BENCH, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        bad.append(f"ulb-bench {' '.join(words)}: exit {done.returncode}, {done.stderr}")
    return done.stdout


def same_help(*ways):
    """The help text, which all ways of asking for it must show."""
    texts = [run(*way) for way in ways]
    bad.extend(f"{' '.join(way)} shows another text than {' '.join(ways[0])}" for way, text in zip(ways, texts) if text != texts[0])
    return texts[0]


def options_of_help(text):
    """{long: letter or None} of the option table."""
    return {long: letter or None for letter, long in re.findall(r"^ +(?:(-\w), )?(--[a-z-]+)", text, flags=re.M)}


def lists_of_man(commands):
    """[(commands it is of, {long: letter or None})] of the page's OPTIONS, in their order."""
    page = MAN.read_text(encoding="utf-8")
    page = page[page.index(".Sh OPTIONS"):page.index(".Sh ENVIRONMENT")]
    lists, last = [], 0
    for begin, end in zip(re.finditer(r"^\.Bl .*\n", page, flags=re.M), re.finditer(r"^\.El$", page, flags=re.M)):
        named = re.findall(r"[a-z]+", " ".join(re.findall(r"^\.(?:Pq )?Cm (.*)", page[last:begin.start()], flags=re.M)))
        items = re.findall(r"^\.It (?:Fl (\w) , )?Fl -([a-z-]+)", page[begin.end():end.start()], flags=re.M)
        lists.append(({name for name in named if name in commands}, {f"--{long}": f"-{letter}" if letter else None for letter, long in items}))
        last = end.end()
    return lists


def main():
    overview = same_help(["--help"], ["-h"], ["help"])
    commands = re.findall(r"^  ([a-z]+) ", overview, flags=re.M)
    assert len(commands) >= 8, f"only these commands: {commands}"
    lists = lists_of_man(commands)
    assert len(lists) >= 8 and set(lists[0][1]) == COMMON, lists
    shown = {command: options_of_help(same_help([command, "--help"], [command, "-h"], ["help", command])) for command in commands}
    measuring, choice = lists[1]  # of which each command takes those that it has a use for
    for command in commands:
        help_text = shown[command] | BUILT_IN
        man = {}
        for of, options in lists[2:]:
            if command in of:
                man |= options
        for long, letter in (lists[0][1] | (choice if command in measuring else {})).items():
            if long in help_text:
                man.setdefault(long, letter)
        if man != help_text:
            bad.append(f"{command}: the man page and --help differ in {sorted(set(man.items()) ^ set(help_text.items()), key=str)}")
        offered = {line.split("\t")[0] for line in run("completion", "words", "--", command, "--").splitlines()[1:]}
        if offered != set(help_text):
            bad.append(f"{command}: completion and --help differ in {sorted(offered ^ set(help_text))}")
    unused = set(choice) - set().union(*(shown[command] for command in measuring))
    if unused:
        bad.append(f"the man page gives measuring commands {sorted(unused)}, which none has")
    print(f"{len(commands)} commands, {sum(map(len, shown.values()))} options")
    sys.exit("\n".join(bad) if bad else 0)


main()
