#!/usr/bin/env python3
"""Makes every call into the system fail once, in turn, in every subcommand, and judges how the program ends.

usage: inject.py BUILD [--commands A,B] [--limit N] [--jobs N] [--verbose]

A first run of each command lists its calls by kind and call stack (faults.c). Files, threads, affinity, perf and mmap:
every call fails once. Allocations: of each distinct stack the first call and the middle one. With --limit only some
of these. Good ends are: an exit code of 2 or 3 with exactly one line that says what happened, and exit code 0
with the same result as without the fault, or with another one and a new line, reason or warning that says so. Exit code
1 when any run ends otherwise: crash, hang, wrong or unclear message, silent loss, torn or forgotten files.
"""
import argparse
import collections
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "results"))
import validate_record

ALLOCATIONS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"}
SECONDS = 60
TINY = ["--quick", "--ring-mib", "8", "--kernels", "int2a8-pshufb-avx2|int2a8-scalar"]
CELL = TINY + ["--shapes", "64x256"]
# What the commands read stands in their folder: see prepare().
COMMANDS = {
    "run": CELL + ["--out", "out", "--json"],
    "count": ["--count", "--kernels", "int2a8-scalar", "--out", "out", "--json"],
    "topology": ["topology", "--json"],
    "counters": ["counters", "--json"],
    "beta": ["beta", "--quick", "--ring-mib", "8", "--json"],
    "gamma": ["gamma", *TINY, "--json"],
    "explain": ["gamma", "--quick", "--explain", "int2a8-pshufb-avx2", "--json"],
    "gemv": ["gemv", *CELL, "--json"],
    "gemm": ["gemm", *CELL, "--n", "2", "--json"],
    "decode": ["decode", "--quick", "--model", "gpt-117m", "--layers", "1", "--tokens", "2", "--weights", "int2",
               "--ring-mib", "8", "--json"],
    "formats": ["formats", *TINY, "--json"],
    "verify": ["verify", "--kernels", "int2a8-pshufb-avx2", "--json"],
    "shapes": ["shapes", "llama3-8b", "--json"],
    "shapes-file": ["shapes", "config.json", "--json"],
    "model": ["model", "--platform", "lnl", "--json"],
    "check-paper": ["model", "--check-paper", "--json"],
    "list": ["list", "kernels", "--json"],
    "list-models": ["list", "models", "--json"],
    "list-figures": ["list", "figures", "--json"],
    "plot": ["plot", "0.json", "--figure", "roofline", "--format", "svg", "--out", "out", "--json"],
    "report": ["report", "0.json", "-o", "report.html", "--json"],
    "compare": ["compare", "0.json", "0.json", "--json"],
    "export": ["export", "0.json", "--to", "csv"],
    "history-add": ["history", "add", "0.json", "--db", "new.db", "--json"],
    "history-list": ["history", "list", "--db", "history.db", "--json"],
    "history-trend": ["history", "trend", "--db", "history.db", "--json"],
}
NOTES = re.compile(r"(note|record|figure|report|model): |\S+: \d+ runs? ")

LAST_WORDS = re.compile(r"Assertion `.*' failed|^(free|malloc|munmap_chunk|double free).*\(|^realloc\(|^Error reading paranoid")  # of other libraries

Call = collections.namedtuple("Call", "wish kind frames")
End = collections.namedtuple("End", "code out err files seconds")


class Bench:
    def __init__(self, build, scratch):
        self.program = build / "ulb-bench"
        self.library = build / "tests" / "faults" / "libfaults.so"
        self.template = scratch / "template"
        self.scratch = scratch
        self.validator = validate_record.make_validator()
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
        subprocess.run([self.program, "history", "add", "0.json", "--db", "history.db"], cwd=self.template,
                       capture_output=True, check=True)

    def run(self, arguments, **wish):
        """One run in a folder of its own; files holds what was left behind."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            shutil.copytree(self.template, folder, dirs_exist_ok=True)
            environment = dict(os.environ, LC_ALL="C", LD_PRELOAD=str(self.library), **wish)
            try:
                done = subprocess.run([self.program, *arguments], cwd=folder, env=environment, timeout=SECONDS,
                                      stdin=subprocess.DEVNULL, capture_output=True)
                code = done.returncode
            except subprocess.TimeoutExpired as late:
                done, code = late, "hang"
            files = {str(path.relative_to(folder)): path.read_bytes()
                     for path in pathlib.Path(folder).rglob("*") if path.is_file()}
        text = [(stream or b"").decode(errors="replace") for stream in (done.stdout, done.stderr)]
        return End(code, *text, files, 0)

    def calls(self, arguments, jobs_log):
        end = self.run(arguments, ULB_FAULTS_LOG=str(jobs_log))
        calls = []
        for line in jobs_log.read_text().splitlines():
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


def lost(before, after, exact):
    """Whether a good end gives less than the undisturbed run."""
    old, new = parsed(before.out), parsed(after.out)
    if old is None:
        return before.out != after.out
    if new is None:
        return True
    if exact:
        return old != new
    return any(not path.endswith(("_reason", " null")) for path in structure(old) - structure(new))


def stated(before, after):
    old, new = parsed(before.out), parsed(after.out)
    said = without_numbers(after.err.splitlines()) - without_numbers(before.err.splitlines())
    return bool(said or without_numbers(reasons(new)) - without_numbers(reasons(old)))


def difference(before, after, exact):
    if not exact:
        return f"gained or lost: {structure(parsed(before.out)) ^ structure(parsed(after.out))}"
    old, new = (json.dumps(parsed(end.out), indent=0).splitlines() for end in (before, after))
    return "result differs without a word: " + " ".join(
        line for line in difflib.unified_diff(old, new, lineterm="", n=0) if line[:2] not in ("--", "++", "@@"))[:300]


def left_behind(bench, before, after):
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
        if after.files.get(name) != before.files[name]:
            return f"changed {name}"
    return ""


def judge(bench, call, before, after, exact):
    """(outcome, detail): message, stated or harmless are good."""
    if after.code == "hang":
        return "hang", ""
    if after.code < 0 or after.code > 3:
        return "crash", f"exit {after.code}"
    wrong = left_behind(bench, before, after)
    if wrong:
        return "files", wrong
    own = [line for line in after.err.splitlines() if not NOTES.match(line) and not LAST_WORDS.search(line)]
    if after.code == 0:
        if own:
            return "unclear", own[0]
        if not lost(before, after, exact) and same_files(before, after):
            return "harmless", ""
        return ("stated", "") if stated(before, after) else ("silent", difference(before, after, exact))
    if len(own) != 1 or not own[0].startswith("ulb-bench: "):
        return "unclear", " | ".join(own) or "no message"
    if call.kind != "write" and after.out and parsed(after.out) is None:
        return "unclear", "half a document on standard output"
    refused = after.code == 2 and call.kind not in ("open", "read", "fdopen") and "Cannot allocate memory" not in own[0]
    if after.code == 1 or refused:
        return "misnamed", f"exit {after.code}: {own[0]}"
    return "message", own[0]


def same_files(before, after):
    """Whether all kinds of files are there that were without the fault; names hold the time."""
    kinds = [collections.Counter(re.sub(r"\d", "#", name) for name in end.files
                                 if not re.search(r"-(wal|shm)$", name))  # SQLite's log, which it plays back
             for end in (before, after)]
    return not kinds[0] - kinds[1]


MEASURED = {"run", "count", "beta", "gamma", "explain", "gemv", "gemm", "decode", "formats", "counters", "verify"}


def named(bench, frames):
    """The program's own frames as functions, where addr2line is installed."""
    offsets = [frame.split("+")[1] for frame in frames if frame.startswith("ulb-bench+")][:6]
    if not shutil.which("addr2line") or not offsets:
        return " ".join(frames[:6])
    lines = subprocess.run(["addr2line", "-f", "-s", "-e", bench.program, *offsets], capture_output=True,
                           text=True).stdout.split("\n")
    return " < ".join(f"{name} {place}" for name, place in zip(lines[::2], lines[1::2]))


def inject(bench, name, limit, jobs, verbose):
    arguments = COMMANDS[name]
    log = bench.scratch / f"{name}.log"
    before, calls = bench.calls(arguments, log)
    if before.code != 0:
        sys.exit(f"{name}: exit {before.code} without any fault: {before.err}")
    chosen = calls[::max(1, len(calls) // limit) if limit else 1]
    table, bad = collections.Counter(), []

    def one(call):
        after = bench.run(arguments, ULB_FAULTS_FAIL=call.wish)
        return call, judge(bench, call, before, after, name not in MEASURED)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for call, (outcome, detail) in pool.map(one, chosen):
            table[call.kind, outcome] += 1
            if outcome not in GOOD:
                bad.append((call, outcome, detail))
            if verbose or outcome not in GOOD:
                print(f"{name}: {call.kind} {call.wish}: {outcome}: {detail}\n    {named(bench, call.frames)}",
                      flush=True)
    return table, bad


GOOD = ("message", "stated", "harmless")


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
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    table, bad = collections.Counter(), []
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(options.build.resolve(), pathlib.Path(scratch))
        for name in options.commands.split(","):
            rows, wrong = inject(bench, name, options.limit, options.jobs, options.verbose)
            table += rows
            bad += wrong
    print_table(table)
    print(f"{sum(table.values())} faults, {len(bad)} bad ends")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
