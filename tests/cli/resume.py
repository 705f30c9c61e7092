"""Kills runs at random moments, lets them go on, and compares what comes out with a run that nobody disturbed."""
import glob
import json
import os
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import time

bench, source = sys.argv[1:]
seed = int(os.environ.get("ULB_TEST_SEED", time.time_ns() % 2**32))
random.seed(seed)
os.environ["PATH"] = "/nowhere"  # no gnuplot: figures take longer than all else
small = ["--quick", "--shapes", "512x1024,256x512", "--kernels", "int2a8-mask-(avx2|dotprod)-|int1a8-table-(avx2|neon)-", "--ring-mib", "64"]


def fail(text):
    sys.exit(f"FAILED (ULB_TEST_SEED={seed}): {text}")


def run(*words, code=0, limit=None, **more):
    def bound():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    done = subprocess.run([bench, *words], capture_output=True, text=True, preexec_fn=bound, timeout=120, **more)
    if done.returncode != code:
        fail(f"exit {done.returncode} instead of {code}: {' '.join(words)}: {done.stderr}")
    return done


def only(pattern):
    files = glob.glob(pattern)
    if len(files) != 1:
        fail(f"{len(files)} files are {pattern}")
    return files[0]


def load(path):
    valid = subprocess.run([sys.executable, f"{source}/tests/results/validate_record.py", path], capture_output=True)
    if valid.returncode:
        fail(f"invalid record {path}: {valid.stdout.decode()} {valid.stderr.decode()}")
    return json.load(open(path))


# What is left of a record when times are taken out: its keys, words and sizes, how many samples there are of what.
WORDS = {"created", "verdict", "bound", "prefetch", "variant", "yardstick_variant"}
NUMBERS = {"m", "k", "n", "threads", "weight_bytes", "ring_bytes", "buffer_bytes", "seed", "cores",
           "bytes_per_step", "schema_version"}


def skeleton(value, key=""):
    if isinstance(value, dict):
        return {k: skeleton(v, k) for k, v in value.items()
                if not k.endswith("_reason") and k not in ("sessions", "warnings", "summary", "disturbed_samples", "load_average", "memory_available_bytes",
                             "huge_pages", "states", "kernels", "prefetch", "token_digest")}
    if isinstance(value, list):
        if value and all(isinstance(v, float) for v in value):
            return len(value)
        return [skeleton(v, key) for v in value]
    if isinstance(value, bool):
        return value
    if value is None or isinstance(value, (int, float)):
        return value if key in NUMBERS else "number"  # noise decides whether some figures can be had
    return "word" if key in WORDS else value


def differences(a, b, place=""):
    if type(a) is type(b) and isinstance(a, dict):
        return [d for k in sorted(set(a) | set(b)) for d in differences(a.get(k), b.get(k), f"{place}.{k}")]
    if type(a) is type(b) and isinstance(a, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{place}[{i}]")]
    return [] if a == b else [f"{place}: {a} and {b}"]


def is_noise(difference):
    """A gamma that noise made meaningless is left out: few of 15 samples."""
    counts = re.fullmatch(r".*\.gamma_samples: (\d+) and (\d+)", difference)
    return bool(counts) and abs(int(counts[1]) - int(counts[2])) <= 3


def same(record, reference, what):
    """All rounds, or on a loaded machine what a quick run's budget of seconds allows; calls that take long there are
    sampled once a round instead of three times."""
    rounds = {len(c["us_samples"]) // c["samples_per_round"] for r in (record, reference) for c in r["cells"]}
    out_of_time = any(n < 21 for n in rounds)
    if out_of_time and min(rounds) < 9:
        fail(f"{what}: only {rounds} rounds")
    found = [d for d in differences(skeleton(record), skeleton(reference)) if ".us_samples" not in d and not (out_of_time and "_samples" in d) and not is_noise(d)]
    if found:
        fail(f"{what}: {found[:10]}")
    if any("unfinished" in w or "interrupted" in w for w in record["warnings"]):
        fail(f"{what}: {record['warnings']}")


def start(*words, folder=None, stderr=subprocess.DEVNULL, **environment):
    process = subprocess.Popen([bench, *words], stdout=subprocess.DEVNULL, stderr=stderr, text=True,
                               env={**os.environ, **environment})
    while folder and process.poll() is None and not glob.glob(f"{folder}/*.journal"):
        time.sleep(0.005)
    return process


def entries(journal):
    lines = open(journal).read().split("\n")[:-1]
    return [json.loads(line) for line in lines[1:]]


def sampled(journal):
    """How many turns of cells a journal holds: warm-ups come before them."""
    return sum("us" in entry["value"] for entry in entries(journal))


def best_candidate(of_shapes):
    """Where prefetches go by the ratios of a kernel's shapes; of a kernel that asks L2 or not at all the second is none."""
    medians = [statistics.median(of) if None not in of else 9 for of in zip(*of_shapes)]
    names = ("L1", "L2+1024", "L2+2048", "L2+3072", "L1+1024", "L1+2048") if 9 not in medians else ("L1", "none")
    best = medians.index(min(medians))
    return names[best] if medians[best] <= 0.98 else "L1"


def check_kept(record, kept, what):
    """The samples of the journal, in their order, begin what the record has of each cell; prefetches stay as chosen."""
    seen, ratios = {}, {}
    for entry in kept:
        if "us" in entry["value"]:
            kernel, shape = entry["entry"].split(": ")[1].split(" ")[:2]
            seen.setdefault((kernel, shape.rstrip(",")), []).extend(entry["value"]["us"])
        if entry["entry"].startswith("warm-up: ") and entry["value"]["candidate_ratios"][0] is not None:
            ratios.setdefault(entry["entry"].split(" ")[1], []).append(entry["value"]["candidate_ratios"])
    chosen = {kernel: best_candidate(of) for kernel, of in ratios.items()}
    for cell in record["cells"]:
        samples = seen.get((cell["kernel"], f"{cell['m']}x{cell['k']}"), [])
        there = cell["us_samples"][:len(samples)]
        if samples and cell["prefetch"] != chosen.get(cell["kernel"]):
            fail(f"{what}: {cell['kernel']} {cell['m']}x{cell['k']} was told anew where prefetches go")
        if len(there) != len(samples) or any(abs(a / b - 1) > 1e-8 for a, b in zip(samples, there)):
            fail(f"{what}: samples of {cell['kernel']} {cell['m']}x{cell['k']} were lost: {samples} {there}"[:3000])
    return len(seen)


def kill_and_go_on(command, words, reference, longest, what, most=6):
    """Kills the run, then the one that goes on, ... at random moments, until one comes through."""
    folder = f"kill-{len(glob.glob('kill-*'))}"
    process = start(command, *words, "--out", folder, folder=folder)
    began, kept = 1, []
    while True:
        time.sleep(random.uniform(0, longest))
        process.kill()
        if process.wait() == 0:
            break
        if not glob.glob(f"{folder}/*.json"):
            process = start(command, *words, "--out", folder, folder=folder)
            continue
        journals = glob.glob(f"{folder}/*[0-9].journal")
        if not journals:
            break
        path = journals[0].replace(".journal", ".json")
        if not json.load(open(path))["warnings"][-1].startswith("unfinished"):
            run(command, "--resume", path)  # the record was written, and the journal not yet removed
            break
        now = entries(journals[0])
        if now[:len(kept)] != kept:
            fail(f"{what}: the journal lost entries")
        kept, began = now, began + 1
        if began > most:
            run(command, "--resume", path)
            break
        process = start(command, "--resume", path)
    record = load(only(f"{folder}/*.json"))
    if glob.glob(f"{folder}/*.journal"):
        fail(f"{what}: the journal is still there")
    same(record, reference, what)
    check_kept(record, kept, what)
    return began, len(record["sessions"])


# A run that nobody disturbs, and the same killed again and again, at moments that fit how fast this machine is.
began_at = time.monotonic()
run("gemv", *small, "--out", "whole")
whole_s = time.monotonic() - began_at
reference = load(only("whole/*.json"))
if glob.glob("whole/*.journal") or len(reference["sessions"]) != 1:
    fail("a whole run")
killed = rounds = 0
while killed < 2 and rounds < 10:
    began, sessions = kill_and_go_on("gemv", small, reference, whole_s / 2, f"gemv, round {rounds}")
    killed, rounds = killed + began - 1, rounds + 1
    if sessions > began:
        fail(f"{sessions} sessions of {began} processes")
if killed < 2:
    fail(f"only {killed} processes were killed in {rounds} runs of {whole_s:.2f} s")
run("gemv", *small, "--aa", "--out", "whole-aa")
kill_and_go_on("gemv", [*small, "--aa"], load(only("whole-aa/*.json")), 0.5, "gemv --aa")

# The whole command: read bandwidth and gammas are entries too.
one = [*small, "--set", str(min(os.sched_getaffinity(0)))]
run("run", *one, "--out", "run")
kill_and_go_on("run", one, load(only("run/*.json")), 2, "run", most=3)

# Ended by SIGTERM: in good order, with the samples so far in the record.
process = start("gemv", *small, "--out", "term", folder="term")
while process.poll() is None and sampled(only("term/*.journal")) < 3:
    time.sleep(0.002)
process.send_signal(signal.SIGTERM)
if process.wait() != 130:
    fail(f"exit {process.returncode} after SIGTERM")
journal = only("term/*.journal")
path = journal.replace(".journal", ".json")
if not any("interrupted" in w for w in load(path)["warnings"]):
    fail("nothing says that the record is unfinished")

# A PU that is lost in mid-run: its samples so far are in the record, which goes on when the PU is back.
lost = min(os.sched_getaffinity(0))
process = start("gemv", *small, "--out", "lost", folder="lost", stderr=subprocess.PIPE,
                LD_PRELOAD=f"{os.path.dirname(bench)}/tests/faults/libupset.so", ULB_UPSET=f"offline:{lost}",
                ASAN_OPTIONS="verify_asan_link_order=0")
while process.poll() is None and sampled(only("lost/*.journal")) < 5:
    time.sleep(0.002)
process.send_signal(signal.SIGUSR1)
said = process.communicate()[1]
if process.returncode != 3 or f"PU {lost} can no longer be used" not in said or "--resume" not in said:
    fail(f"exit {process.returncode} after PU {lost} was lost: {said}")
kept = entries(only("lost/*.journal"))
lost_record = only("lost/*.json")
if len(kept) < 5 or not check_kept(load(lost_record), kept, "lost PU"):
    fail(f"lost PU: {len(kept)} entries were kept")
run("gemv", "--resume", lost_record)
record = load(lost_record)
same(record, reference, "after a lost PU")
check_kept(record, kept, "lost PU, resumed")

# What is refused, and said: other options, another build, another machine, a torn and a damaged journal.
for words, field in ((["--seed", "2"], "settings.seed"), (["--full"], "settings.quick"),
                     (["--warm"], "settings.warm"), (one[-2:], "settings.set")):
    done = run("gemv", "--resume", path, *words, code=2)
    if field not in done.stderr or done.stderr.count("\n") != 1:
        fail(f"{words}: {done.stderr}")
if "settings.command" not in run("gemm", "--resume", path, code=2).stderr:
    fail("another command")
if "--out does not go" not in run("gemv", "--resume", path, "--out", "x", code=2).stderr:
    fail("--out with --resume")
text = open(journal).read()
header, rest = text.split("\n", 1)
for section, key in (("build", "commit"), ("build", "id"), ("machine", "cpu_model"), ("machine", "kernel_release")):
    other = json.loads(header)
    other[section][key] = "another"
    open(journal, "w").write(json.dumps(other) + "\n" + rest)
    if f'{section}.{key} is "another" in the record' not in run("gemv", "--resume", path, code=2).stderr:
        fail(f"another {section}.{key}")
open(journal, "w").write(header + "\n{\n" + rest)
if "line 2 is damaged" not in run("gemv", "--resume", path, code=2).stderr:
    fail("a damaged line")
open(journal, "w").write(header + '\n{"entry":"odd","value":{}}\n')
if "line 2 is 'odd' where" not in run("gemv", "--resume", path, code=2).stderr:
    fail("another entry")
open(journal, "w").write(text + '{"entry": "torn')
run("gemv", "--resume", path)
record = load(path)
same(record, reference, "after SIGTERM and a torn line")
if len(record["sessions"]) != 2:
    fail(f"sessions {record['sessions']}")
if "has no journal" not in run("gemv", "--resume", path, code=2).stderr:
    fail("a whole record")
if "nosuch.json" not in run("gemv", "--resume", "nosuch.json", code=2).stderr:
    fail("no record")
if "without --count" not in run("run", "--count", "--resume", path, code=2).stderr:
    fail("--count with --resume")

# A disk that fills up in the middle: what fits is kept; with room again the run goes on.
done = run("gemv", *small, "--out", "full", code=3, limit=24 << 10)
if "full/" not in done.stderr or "goes on" not in done.stderr:
    fail(f"full disk: {done.stderr}")
kept = entries(only("full/*.journal"))
if not sampled(only("full/*.journal")):
    fail("full disk: no sample was kept")
run("gemv", "--resume", only("full/*.json"))
record = load(only("full/*.json"))
same(record, reference, "after a full disk")
check_kept(record, kept, "full disk")

# Two processes on one record.
process = start("gemv", *[w for w in small if w != "--quick"], "--out", "two", folder="two")
done = run("gemv", "--resume", only("two/*.journal").replace(".journal", ".json"), code=3)
process.send_signal(signal.SIGINT)
if "another process is writing" not in done.stderr or process.wait() != 130:
    fail(f"two at once: {done.stderr} {process.returncode}")
print(f"resume: {killed} processes killed, nothing lost")
