#!/usr/bin/env python3
"""Makes every call into the system fail once, in turn, in every subcommand, and judges how the program ends.

usage: inject.py BUILD [--commands A,B] [--limit N | --places] [--jobs N] [--keep FOLDER [--seconds N]] [--verbose]

A first run of each command lists its calls by kind and call stack (fail_nth_call.c). Files, threads, affinity, perf and mmap:
every call fails once. Allocations: of each distinct stack the first call and the middle one. With --limit only some
of these; with --places only those allocations whose place, the three functions around them, no command before has.
Good ends are: an exit code of 2 or 3 with exactly one line that says what happened, and exit code 0
with the same result as without the fault, or with another one and a new line, reason or warning that says so. Commands
that measure print other figures each time: there every key of the undisturbed runs must be in the result, and a record
must be valid. They are given a clock that goes fast, so that they wait for a quiet machine no longer than they must, and
scripts in the place of programs that take seconds. Exit code 1 when any run ends otherwise: crash, hang, wrong or
unclear message, silent loss, torn or forgotten files.

--keep writes each end to FOLDER as it is known and leaves out what is there already, so that all can be tried in pieces
of --seconds; a command's ends are dropped when the program is another one.
"""
import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests" / folder) for folder in ("results", "shapes")]
import gguf_file
import validate_record

ALLOCATIONS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"}
SECONDS = 60
RUNS = 3  # of a command that measures, for what its runs have in common
PU = "PU"  # stands for one that no other job uses
HASTE = {"ULB_FAULTS_CLOCK": "50"}
ONE = ["--kernels", "int2a8-scalar"]
TINY = ["--quick", "--ring-mib", "8", "--set", PU, *ONE]
CELL = TINY + ["--shapes", "64x256"]
LIBRARY = ["--kernel-library", "library_sound.so", "--kernels", "int8a8-mine"]  # a kernel of others
DECODE = ["decode", "--quick", "--model", "gpt-117m", "--layers", "1", "--tokens", "2", "--formats", "int2",
          "--ring-mib", "8", "--set", PU]
# What the commands read stands in their folder: see prepare().
COMMANDS = {
    "run": CELL + ["--out", "out", "--json"],
    "count": ["--count", *ONE, "--out", "out", "--json"],
    "topology": ["topology", "--json"],
    "counters": ["counters", "--json"],
    "beta": ["beta", "--quick", "--ring-mib", "8", "--json"],
    "gamma": ["gamma", *TINY, "--json"],
    "explain": ["gamma", "--quick", "--ring-mib", "8", "--set", PU, "--explain", "int2a8-scalar", "--json"],
    "gemv": ["gemv", *CELL, "--json"],
    "resume": ["gemv", "--resume", "kept/cells.json", "--json"],
    "gemm": ["gemm", *CELL, "--n", "2", "--json"],
    "decode": [*DECODE, "--json"],
    "decode-beside": [*DECODE, "--energy-root", "root", "--import", "runs.json", "--json"],
    "formats": ["formats", *TINY, "--json"],
    "verify": ["verify", *ONE, "--json"],
    "verify-library": ["verify", *LIBRARY, "--json"],
    "gemv-library": ["gemv", "--quick", "--ring-mib", "8", "--set", PU, *LIBRARY, "--shapes", "64x256", "--json"],
    "shapes": ["shapes", "llama3-8b", "--json"],
    "shapes-file": ["shapes", "config.json", "--json"],
    "shapes-gguf": ["shapes", "model.gguf", "--json"],
    "model": ["model", "--platform", "lnl", "--json"],
    "model-device": ["model", "--platform", "bmg", "--json"],
    "model-file": ["model", "--platform", "platform.json", "--models", "config.json", "--json"],
    "model-record": ["model", "--platform", "lnl", "--record", "0.json", "--json"],
    "simulate": ["simulate", "--platform", "lnl", "--json"],
    "check-paper": ["model", "--check-paper", "--json"],
    "list": ["list", "kernels", "--json"],
    "list-models": ["list", "models", "--json"],
    "list-figures": ["list", "figures", "--json"],
    "plot": ["plot", "0.json", "--figure", "roofline", "--format", "svg", "--out", "out", "--json"],
    "report": ["report", "0.json", "-o", "report.html", "--json"],
    "compare": ["compare", "0.json", "0.json", "--json"],
    "compare-junit": ["compare", "0.json", "0.json", "--junit"],
    "export": ["export", "0.json", "--to", "csv"],
    "export-sql": ["export", "0.json", "--to", "sql"],
    "history-add": ["history", "add", "0.json", "--db", "new.db", "--json"],
    "history-list": ["history", "list", "--db", "history.db", "--json"],
    "history-trend": ["history", "trend", "--db", "history.db", "--json"],
    "history-bisect": ["history", "bisect", "--db", "history.db", "--json"],
}
MEASURED = {"run", "count", "beta", "gamma", "explain", "gemv", "resume", "gemm", "decode", "decode-beside", "formats",
            "counters", "verify", "verify-library", "gemv-library"}
# What people read of those whose output is the same each time.
COMMANDS.update({f"{name}-text": words[:-1] for name, words in COMMANDS.items()
                 if words[-1] == "--json" and name not in MEASURED})
# What a command that measures is run with in the place of programs that take seconds.
STAND_INS = {
    "likwid-bench": "echo 'MByte/s: 20000'",
    "likwid-perfctr": "echo 'Clock [MHz],2000'; echo 'CPI,0.5'",
}
IMPORTED = {"model_type": "gpt 117M Q2", "model_size": 50000000, "model_n_params": 117000000, "n_threads": 2,
            "n_prompt": 0, "n_gen": 64, "avg_ts": 3.5, "stddev_ts": 0.5}
NOTES = re.compile(r"(note|record|figure|report|model): |\S+: \d+ runs? ")
# Exit code 2 after a fault: a file that could not be read, a machine of which hwloc told less than before.
REFUSALS = re.compile(r"Cannot allocate memory|only the same run goes on")
LAST_WORDS = re.compile(r"Assertion `.*' failed|^(free|malloc|munmap_chunk|double free).*\(|^realloc\(|^Error reading paranoid")  # of other libraries

Call = collections.namedtuple("Call", "wish kind frames")
End = collections.namedtuple("End", "code out err files failed")


class Bench:
    def __init__(self, build, scratch):
        self.program = build / "ulb-bench"
        self.library = build / "tests" / "faults" / "libfaults.so"
        self.template = scratch / "template"
        self.programs = scratch / "programs"
        self.scratch = scratch
        self.validator = validate_record.make_validator()
        self.pus = queue.Queue()
        for pu in sorted(os.sched_getaffinity(0)):
            self.pus.put(str(pu))
        self.prepare(build)

    def prepare(self, build):
        self.template.mkdir()
        subprocess.run([build / "tests" / "results" / "sample_record", self.template], check=True,
                       stdout=subprocess.DEVNULL)
        for record in self.template.glob("*.json"):
            if record.name != "0.json":
                record.unlink()
        config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
                  "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
                  "num_key_value_heads": 2, "vocab_size": 512, "tie_word_embeddings": False}
        (self.template / "config.json").write_text(json.dumps(config))
        (self.template / "model.gguf").write_bytes(gguf_file.gguf(gguf_file.META, gguf_file.TENSORS))
        shutil.copy(SOURCE / "models" / "data" / "arlh.json", self.template / "platform.json")
        shutil.copy(build / "tests" / "kernels" / "library_sound.so", self.template)
        (self.template / "runs.json").write_text(json.dumps([IMPORTED]))
        zone = self.template / "root" / "sys" / "class" / "powercap" / "intel-rapl:0"
        zone.mkdir(parents=True)
        for name, value in ("name", "package-0"), ("max_energy_range_uj", 10**11), ("energy_uj", 10**9):
            (zone / name).write_text(f"{value}\n")
        self.make_history()

    def make_history(self):
        """Ten records, whose first cell became slower with the sixth."""
        records = []
        for number in range(10):
            record = json.loads((self.template / "0.json").read_text())
            record["created"] = f"2026-03-{number + 1:02}T12:00:00Z"
            record["build"]["commit"] = f"{number:012x}"
            record["cells"][0]["efficiency"] *= (1 if number < 5 else 0.8) * (1 + 0.001 * (number % 3))
            records.append(self.scratch / f"history-{number}.json")
            records[-1].write_text(json.dumps(record))
        subprocess.run([self.program, "history", "add", *records, "--db", "history.db"], cwd=self.template,
                       capture_output=True, check=True)

    def make_unfinished(self):
        """A record and its journal, of a run whose disk was full after some cells."""
        kept = self.template / "kept"
        self.run_line(["gemv", *CELL, "--out", str(kept)], **HASTE, ULB_FAULTS_FAIL="write:20", ULB_FAULTS_FROM="ulb-bench")
        for path in list(kept.iterdir()):
            path.rename(kept / f"cells{path.suffix}")

    def play_programs(self):
        """A folder for PATH with scripts that do at once what takes their namesakes long."""
        self.programs.mkdir()
        (self.programs / "sh").symlink_to(shutil.which("sh"))
        for name, script in STAND_INS.items():
            self.script(name, script)
        valgrind = shutil.which("valgrind")
        if not valgrind:
            return
        kept = self.scratch / "callgrind"
        kept.mkdir()
        find = 'for a; do case $a in --callgrind-out-file=*) to=${a#*=}; to=${to%/*};; esac; done\n'
        self.script("valgrind", f'{find}{valgrind} "$@" && {shutil.which("cp")} "$to"/* {kept}')
        self.run("count", log=os.devnull)
        self.script("valgrind", f'{find}exec {shutil.which("cp")} {kept}/* "$to"')

    def script(self, name, text):
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run(self, name, log=None, fail=None, **more):
        """One run of the command of that name, with its calls logged or one of them made to fail."""
        environment = dict(more)
        if name in MEASURED:
            environment.update(HASTE, PATH=str(self.programs))
        if log:
            environment["ULB_FAULTS_LOG"] = str(log)
        if fail:
            environment["ULB_FAULTS_FAIL"] = fail
        return self.run_line(COMMANDS[name], **environment)

    def run_line(self, arguments, **wish):
        """One run in a folder of its own; files holds what was left behind."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as place:
            folder, mark = pathlib.Path(place, "folder"), pathlib.Path(place, "failed")
            shutil.copytree(self.template, folder)
            environment = dict(os.environ, LC_ALL="C", OCL_ICD_VENDORS="/nowhere", LD_PRELOAD=str(self.library), ULB_FAULTS_DONE=str(mark))
            environment.update(wish)
            pu = self.pus.get()
            words = [pu if word == PU else word for word in arguments]
            try:
                done = subprocess.run([self.program, *words], cwd=folder, env=environment, timeout=SECONDS,
                                      stdin=subprocess.DEVNULL, capture_output=True)
                code = done.returncode
            except subprocess.TimeoutExpired as late:
                done, code = late, "hang"
            finally:
                self.pus.put(pu)
            files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            failed = mark.exists()
        text = [(stream or b"").decode(errors="replace") for stream in (done.stdout, done.stderr)]
        return End(code, *text, files, failed)

    def calls(self, name):
        """(an undisturbed run, the calls that it made)"""
        log = self.scratch / f"{name}.log"
        end = self.run(name, log=log)
        calls = []
        for line in log.read_text().splitlines():
            stack, kind, count, *frames = line.split()
            count = int(count)
            turns = range(1, count + 1) if kind not in ALLOCATIONS else sorted({1, (count + 1) // 2})
            calls += [Call(f"{stack}:{turn}", kind, frames) for turn in turns]
        return end, calls


def structure(value, path=""):
    """Paths of a document with the kinds of values there; elements of lists are alike."""
    if isinstance(value, dict):
        return set().union({path}, *(structure(item, f"{path}.{key}") for key, item in value.items()))
    if isinstance(value, list):
        rows = (structure(item, path + "[]") for item in value if isinstance(item, (dict, list)))
        return set().union({path}, *rows)  # how many numbers are in a list is a matter of the clock
    return {path + (" null" if value is None else "")}


def reasons(document):
    """Texts with which a document explains itself."""
    if isinstance(document, dict):
        own = {f"{key}={value}" for key, value in document.items() if key.endswith("reason") or key in ("note", "how")}
        return own.union(*(reasons(item) for key, item in document.items() if key != "warnings"),
                         document.get("warnings") or [])
    if isinstance(document, list):
        return set().union(*(reasons(item) for item in document))
    return set()


def without_numbers(texts):
    return {re.sub(r"[\d.]+", "#", text) for text in texts}


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


class Undisturbed:
    """What a command gives without a fault: one run, or some where figures differ from run to run."""

    def __init__(self, name, ends):
        self.exact = name not in MEASURED
        self.first = ends[0]
        documents = [parsed(end.out) for end in ends]
        self.document = documents[0]
        self.structure = set.intersection(*map(structure, documents))
        self.said = set().union(*(without_numbers(end.err.splitlines()) for end in ends))
        self.reasons = set().union(*(without_numbers(reasons(document)) for document in documents))
        self.kinds = kinds_of_files(self.first)
        for end in ends[1:]:
            self.kinds &= kinds_of_files(end)

    def lost(self, after):
        """What a good end gives less than this, in words; '' when nothing."""
        new = parsed(after.out)
        missing = self.kinds - kinds_of_files(after)
        if missing:
            return f"files {sorted(missing)}"
        drawn = [name for name in self.first.files if self.exact and name.endswith((".svg", ".html"))]
        other = [name for name in drawn if after.files[name] != self.first.files[name]]
        if other:
            return f"another {other[0]}"
        if self.document is None:
            return "" if after.out == self.first.out else "another output"
        if new is None:
            return "no document"
        if self.exact:
            return "" if new == self.document else difference(self.document, new)
        keys = [path for path in self.structure - structure(new) if not path.endswith(("_reason", " null"))]
        return f"keys {sorted(keys)[:5]}" if keys else ""

    def stated(self, after):
        said = without_numbers(after.err.splitlines()) - self.said
        return bool(said or without_numbers(reasons(parsed(after.out))) - self.reasons)


def difference(old, new):
    old, new = (json.dumps(document, indent=0).splitlines() for document in (old, new))
    return "result: " + " ".join(line for line in difflib.unified_diff(old, new, lineterm="", n=0)
                                 if line[:2] not in ("--", "++", "@@"))[:300]


def left_behind(bench, after):
    """What is wrong with the files; '' when nothing is."""
    for name, content in after.files.items():
        if name.endswith(".tmp") or name.endswith("-journal"):
            return f"forgot {name}"
        if re.match(r"out/.*\.json$", name):
            record = parsed(content.decode(errors="replace"))
            if record is None or validate_record.faults(bench.validator, record):
                return f"torn record {name}"
        if name.endswith(".svg") and b"</svg>" not in content or name.endswith(".html") and b"</html>" not in content:
            return f"torn {name}"
    for name in ("0.json", "config.json"):
        if after.files.get(name) != (bench.template / name).read_bytes():
            return f"changed {name}"
    return ""


def judge(bench, call, undisturbed, after):
    """(outcome, detail): message, stated and harmless are good; a call that was not made says nothing."""
    if not after.failed:
        return "not made", ""
    if after.code == "hang":
        return "hang", ""
    if after.code < 0 or after.code > 3:
        return "crash", f"exit {after.code}"
    wrong = left_behind(bench, after)
    if wrong:
        return "files", wrong
    own = [line for line in after.err.splitlines() if not NOTES.match(line) and not LAST_WORDS.search(line)]
    if after.code == 0:
        if own:
            return "unclear", own[0]
        lost = undisturbed.lost(after)
        if not lost:
            return "harmless", ""
        return ("stated", "") if undisturbed.stated(after) else ("silent", lost)
    if len(own) != 1 or not own[0].startswith("ulb-bench: "):
        return "unclear", " | ".join(own) or "no message"
    if call.kind != "write" and after.out and parsed(after.out) is None:
        return "unclear", "half a document on standard output"
    refused = after.code == 2 and call.kind not in ("open", "read", "fdopen") and not REFUSALS.search(own[0])
    if after.code == 1 or refused:
        return "misnamed", f"exit {after.code}: {own[0]}"
    return "message", own[0]


def kinds_of_files(end):
    """Names without the time and the process that they hold; without SQLite's log, which it plays back."""
    return collections.Counter(re.sub(r"\d+", "#", name) for name in end.files if not re.search(r"-(wal|shm)$", name))


def named(bench, frames):
    """The program's own frames as functions, where addr2line is installed."""
    offsets = [frame.split("+")[1] for frame in frames if frame.startswith("ulb-bench+")][:6]
    if not shutil.which("addr2line") or not offsets:
        return " ".join(frames[:6])
    lines = subprocess.run(["addr2line", "-f", "-s", "-e", bench.program, *offsets], capture_output=True,
                           text=True).stdout.split("\n")
    return " < ".join(f"{name} {place}" for name, place in zip(lines[::2], lines[1::2]))


class Kept:
    """The ends of one command so far: a file whose first line says of which program and calls they are."""

    def __init__(self, bench, name, folder):
        self.path = folder / f"{name}.jsonl" if folder else None
        self.ends, self.calls = {}, None
        program = hashlib.sha256(bench.program.read_bytes()).hexdigest()
        lines = [json.loads(line) for line in self.path.read_text().splitlines()] if folder and self.path.exists() else []
        if lines and lines[0]["program"] == program and lines[0]["arguments"] == COMMANDS[name]:
            self.calls = [Call(*call) for call in lines[0]["calls"]]
            self.ends = {wish: (outcome, detail) for wish, outcome, detail in lines[1:]}
        self.head = {"program": program, "arguments": COMMANDS[name]}

    def begin(self, calls):
        self.calls = calls
        if self.path:
            self.path.write_text(json.dumps({**self.head, "calls": calls}) + "\n")

    def add(self, call, outcome, detail):
        self.ends[call.wish] = outcome, detail
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps([call.wish, outcome, detail]) + "\n")


def measure_undisturbed(bench, name, kept):
    end, calls = bench.calls(name)
    if end.code != 0:
        sys.exit(f"{name}: exit {end.code} without any fault: {end.err}")
    if kept.calls is None:
        kept.begin(calls)
    return Undisturbed(name, [end] + [bench.run(name) for _ in range(RUNS - 1) if name in MEASURED])


def place_of(call):
    """Where a call is made: its frames as far as the third of the program's own."""
    own = [i for i, frame in enumerate(call.frames) if frame.startswith("ulb-bench+")]
    return call.kind, *call.frames[:own[2] + 1 if len(own) > 2 else None]


def choose(calls, options, places):
    if options.limit:
        return calls[::max(1, len(calls) // options.limit)]
    if not options.places:
        return calls
    first = {place_of(call): call for call in reversed(calls)}
    new = {id(call) for place, call in first.items() if place not in places}
    places |= set(first)
    return [call for call in calls if call.kind not in ALLOCATIONS or id(call) in new]


def inject(bench, name, options, places):
    """(table of outcomes, bad ends, how many are left)"""
    kept = Kept(bench, name, options.keep)
    undisturbed = None if kept.calls else measure_undisturbed(bench, name, kept)
    calls = choose(kept.calls, options, places)
    if not undisturbed and time.monotonic() < options.deadline and any(call.wish not in kept.ends for call in calls):
        undisturbed = measure_undisturbed(bench, name, kept)

    def one(call):
        if call.wish in kept.ends or not undisturbed or time.monotonic() > options.deadline:
            return call, None
        for _ in range(RUNS if name in MEASURED else 1):
            ended = judge(bench, call, undisturbed, bench.run(name, fail=call.wish))
            if ended[0] != "not made":
                break
        return call, ended

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for call, ended in pool.map(one, calls):
            if ended:
                kept.add(call, *ended)
            if ended and (options.verbose or ended[0] not in GOOD):
                print(f"{name}: {call.kind} {call.wish}: {ended[0]}: {ended[1]}\n    {named(bench, call.frames)}",
                      flush=True)
    ends = [(call.kind, *kept.ends[call.wish]) for call in calls if call.wish in kept.ends]
    table = collections.Counter((kind, outcome) for kind, outcome, _ in ends)
    return table, sum(outcome not in GOOD for _, outcome, _ in ends), len(calls) - len(ends)


GOOD = ("message", "stated", "harmless", "not made")


def print_table(table):
    outcomes = [*GOOD, *sorted({outcome for _, outcome in table} - set(GOOD))]
    print(f"{'call':16}" + "".join(f"{outcome:>10}" for outcome in outcomes) + f"{'all':>8}")
    for kind in sorted({kind for kind, _ in table}) + ["all"]:
        row = [sum(n for (k, o), n in table.items() if o == outcome and kind in (k, "all")) for outcome in outcomes]
        print(f"{kind:16}" + "".join(f"{n:10}" for n in row) + f"{sum(row):8}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--limit", type=int, help="so many faults of each command, evenly spread")
    parser.add_argument("--places", action="store_true", help="only allocations from places that no command before has")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further fault after so many")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.deadline = time.monotonic() + options.seconds
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    tables, places, bad, left = {}, set(), 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(options.build.resolve(), pathlib.Path(scratch))
        names = options.commands.split(",")
        if MEASURED.intersection(names):
            bench.make_unfinished()
            bench.play_programs()
        for name in names:
            tables[name], wrong, rest = inject(bench, name, options, places)
            bad, left = bad + wrong, left + rest
        print_table(sum(tables.values(), collections.Counter()))
        print(f"{sum(map(sum, (table.values() for table in tables.values())))} faults, {bad} bad ends, {left} left")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
