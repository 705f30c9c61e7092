#!/usr/bin/env python3
"""Runs ulb-bench in places that stand in its way, and compares with the table of docs/PLATFORMS.md.

usage: situations.py BUILD [--write] [--only WORD] [--pus one|two] [--verbose]

Each situation is real where this system allows it to be made; where it does not, the situation is left out here and
the table keeps what it was elsewhere. Numbers that vary are written as N. Exit code 1 when what is printed, or the
exit code, is not the table's; --write puts it there instead. --pus selects those that one PU is enough for, or the rest.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TABLE = SOURCE / "docs" / "PLATFORMS.md"
CPU = pathlib.Path("/sys/fs/cgroup/cpu")
CPUSET = pathlib.Path("/sys/fs/cgroup/cpuset")
os.environ["COLUMNS"] = "200"  # lines as a whole, to look for words in them
MEMORY = pathlib.Path("/sys/fs/cgroup/memory")
KERNEL = ["--kernels", "int2a8-(pshufb|mask)-avx2"]
BETA = ["beta", "--quick", "--ring-mib", "64"]
GEMV = ["gemv", "--quick", "--ring-mib", "64", "--shapes", "2048x2048,4096x4096", *KERNEL]
RUN = ["--quick", "--ring-mib", "64", "--shapes", "256x256", *KERNEL]


class Left(Exception):
    """The situation cannot be made here."""


class Place:
    """What one situation needs, undone when it is over."""

    def __init__(self, build, folder):
        self.build, self.folder, self.undo = build, pathlib.Path(folder), []
        self.bench, self.tools = build / "ulb-bench", build / "tests" / "faults"

    def group(self, root, **files):
        """A control group of version 1 below our own, and the command that runs in it."""
        own = next((line.split(":", 2)[2].strip() for line in open("/proc/self/cgroup")
                    if root.name in line.split(":")[1].split(",")), None)
        if own is None:
            raise Left(f"no control group of version 1 for {root.name}")
        group = root / own.lstrip("/") / f"ulb-bench-{os.getpid()}"
        try:
            group.mkdir()
            self.undo.append(lambda: self.remove(group))
            for name, value in files.items():
                (group / name.replace("__", ".", 1)).write_text(value)
        except OSError as no:
            raise Left(f"{group}: {no.strerror}") from no
        return group, ["sh", "-c", f'echo $$ >"{group}/cgroup.procs" && exec "$@"', "sh"]

    @staticmethod
    def remove(group):
        for _ in range(50):
            try:
                group.rmdir()
                return
            except OSError:
                time.sleep(0.05)

    def mounts(self, script):
        """The command that runs in a mount namespace of its own, after the script."""
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        command = [*unshare, "sh", "-c", f'{script} && exec "$@"', "sh"]
        if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
            raise Left("no mount namespaces")
        return command

    def deny(self, *what):
        command = [self.tools / "deny", *what, "--"]
        if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
            raise Left("no seccomp filters")
        return command

    def fake_groups(self, **files):
        """A tree of control groups of version 2 in the place of the system's."""
        if "0::" not in open("/proc/self/cgroup").read():
            raise Left("no control groups of version 2")
        tree = self.folder / "groups"
        tree.mkdir()
        for name, value in files.items():
            (tree / name.replace("__", ".", 1)).write_text(value + "\n")
        return self.mounts(f"mount --bind '{tree}' /sys/fs/cgroup")

    def start(self, command, **environment):
        return subprocess.Popen(command, cwd=self.folder, env=dict(os.environ, LC_ALL="C", **environment), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def two_pus():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise Left("PUs 0 and 1 are not both allowed")


def plain(arguments, **environment):
    def make(place):
        return [], arguments, environment, None
    return make


# ---- how each situation is made: returns command before ulb-bench, its arguments, environment, what is done to it ----

def cpuset(place):
    two_pus()
    _, into = place.group(CPUSET, cpuset__cpus="0", cpuset__mems="0")
    return into, ["topology"], {}, None


def quota_v1(place):
    two_pus()
    _, into = place.group(CPU, cpu__cfs_quota_us="50000")
    return into, BETA, {}, None


def quota_v2(place):
    two_pus()
    return place.fake_groups(cpu__max="50000 100000"), BETA, {}, None


def no_sys(place):
    return place.mounts("mount -t tmpfs none /sys"), ["topology"], {}, None


def no_sys_run(place):
    return place.mounts("mount -t tmpfs none /sys"), [*RUN, "--out", "out"], {}, None


def no_proc(place):
    return place.mounts("mount -t tmpfs none /proc"), BETA, {}, None


def read_only(place):
    return (place.mounts(f"mount --bind '{place.folder}' '{place.folder}' && mount -o remount,ro,bind '{place.folder}' "
                         f"&& cd '{place.folder}'"), [*RUN, "--out", "out"], {}, None)


def no_perf(place):
    return place.deny("perf_event_open"), ["counters"], {}, None


def no_affinity(place):
    return place.deny("sched_setaffinity", "perf_event_open"), BETA, {}, None


def no_affinity_set(place):
    return place.deny("sched_setaffinity"), [*BETA, "--set", str(min(os.sched_getaffinity(0)))], {}, None


def no_huge_pages(place):
    return place.deny("huge-pages"), BETA, {}, None


# A last-level cache of which four fit: beside one of 480 MiB no ring of less than 1920 MiB is cold.
SMALL_CACHE = {"HWLOC_SYNTHETIC": "l3:1(size=32MB) l2:1 core:2 pu:1", "HWLOC_THISSYSTEM": "1"}


def memory_v1(place):
    _, into = place.group(MEMORY, memory__limit_in_bytes=str(1 << 30))
    return into, ["beta", "--quick"], SMALL_CACHE, None


def memory_v2(place):
    files = {"memory__max": str(1 << 30), "memory__current": str(64 << 20), "memory__stat": "inactive_file 0"}
    return place.fake_groups(**files), ["beta", "--quick"], SMALL_CACHE, None


def memory_too_small(place):
    _, into = place.group(MEMORY, memory__limit_in_bytes=str(64 << 20))
    return into, ["beta", "--quick"], {}, None


def address_space(place):
    # Room for the ring, and not for what it takes beside it.
    return ["sh", "-c", 'ulimit -v 2200000 && exec "$@"', "sh"], ["beta", "--quick"], SMALL_CACHE, None


def non_root(place):
    if os.geteuid() != 0:
        return [], BETA, {}, None
    if not shutil.which("setpriv"):
        raise Left("no setpriv")
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*as_nobody, place.bench, "--version"], capture_output=True).returncode != 0:
        raise Left("others may not read the build folder")
    return as_nobody, BETA, {}, None


def recorded(name):
    return plain(["topology"], HWLOC_XMLFILE=str(SOURCE / "tests" / "topology" / "data" / name))


def narrowed(place):
    two_pus()
    group, into = place.group(CPUSET, cpuset__cpus="0-1", cpuset__mems="0")

    def act(process):
        (group / "cpuset.cpus").write_text("0")
        return process
    return into, GEMV, {}, act


def moved(place):
    two_pus()

    def act(process):
        subprocess.run(["taskset", "-apc", "0", str(process.pid)], capture_output=True, check=True)
        return process
    return [], GEMV, {}, act


def signalled(number, environment=None, after=None):
    """The signal comes in the third round of the grid, however long a round takes; after() starts what then runs."""
    def make(place):
        def act(process):
            while process.poll() is None and not any('"3: ' in journal.read_text()
                                                     for journal in place.folder.glob("out/*.journal")):
                time.sleep(0.01)
            process.send_signal(number)
            return after(place, process) if after else process
        return [], [*GEMV, "--out", "out"], environment(place) if environment else {}, act
    return make


def upset(what):
    return signalled(signal.SIGUSR1, lambda place: {"LD_PRELOAD": str(place.tools / "libupset.so"), "ULB_UPSET": what})


def go_on(place, process):
    process.wait()
    record, = place.folder.glob("out/*.json")
    return place.start([place.bench, "gemv", "--resume", record])


def full_disk(place):
    (place.folder / "out").mkdir()
    return place.mounts(f"mount -t tmpfs -o size=12k none '{place.folder}/out'"), [*GEMV, "--out", "out"], {}, None


def musl(place):
    place.bench = place.build.parent / "musl" / "build" / "ulb-bench"
    if not place.bench.exists():
        raise Left(f"no {place.bench}; scripts/test-musl builds it")
    return [], BETA, {}, None


def offline_upset(place):
    two_pus()
    return upset("offline:1")(place)


def one_core(place):
    return ["taskset", "-c", str(min(os.sched_getaffinity(0)))], BETA, {}, None


def shared_l2(place):
    two_pus()
    return [], BETA, {"HWLOC_SYNTHETIC": "l3:1 l2:1 core:2 pu:1", "HWLOC_THISSYSTEM": "1"}, None


def two_nodes(place):
    two_pus()
    return [], BETA, {"HWLOC_SYNTHETIC": "numa:2 l3:1 l2:1 core:1 pu:1", "HWLOC_THISSYSTEM": "1"}, None


MEMORY_CELL = r"^ *all +\d+ +mem"
ROW = r"^int2a8-pshufb-avx2(?=.*%)"  # of the table of cells

# Situation, how it is made, the function for it, what to look for in the output.
SITUATIONS = [
    ("container with a cpuset", "control group of version 1 with one of two CPUs", cpuset, r"^allowed .*"),
    ("container with a CPU quota", "control group of version 1, half a CPU", quota_v1, r"note: .*quota.*"),
    ("the same, version 2", "tree of files over /sys/fs/cgroup: no quota is in force", quota_v2, r"note: .*quota.*"),
    ("no /sys", "empty file system over /sys", no_sys, r"^note .*"),
    ("no /sys, whole run", "the same", no_sys_run, r"^record: out/"),
    ("no /proc", "empty file system over /proc", no_proc, MEMORY_CELL),
    ("read-only file system", "bind mount, read-only", read_only, r"^ulb-bench: .*"),
    ("seccomp denies perf_event_open", "seccomp filter, EPERM", no_perf, r"^perf .*"),
    ("seccomp denies sched_setaffinity too", "seccomp filter, EPERM", no_affinity, r"note: .*pinned.*"),
    ("the same, with --set", "the same", no_affinity_set, r"^ulb-bench: .*"),
    ("no huge pages", "prctl PR_SET_THP_DISABLE", no_huge_pages, r"note: huge.*"),
    ("memory limit of a container", "control group of version 1, 1 GiB", memory_v1, r"note: memory.*"),
    ("the same, version 2", "tree of files over /sys/fs/cgroup: no limit is in force", memory_v2, r"note: memory.*"),
    ("memory limit that nothing fits", "control group of version 1, 64 MiB", memory_too_small, r"^ulb-bench: .*"),
    ("limit of the address space", "ulimit -v", address_space, r"note: memory.*"),
    ("not root", "user nobody", non_root, MEMORY_CELL),
    ("offline CPUs", "recorded topology", recorded("offline.xml"), r"^offline .*"),
    ("CPU goes offline in mid-run", "taken out of the control group's cpuset while the grid runs", narrowed,
     r"^ulb-bench: .*"),
    ("the same", "interposed library: PU 1 holds no thread any more", offline_upset, r"^ulb-bench: .*"),
    ("threads moved in mid-run", "taskset of all threads to one CPU: they go back", moved, ROW),
    ("frequency changes in mid-run", "interposed clock: all takes 1.3 times as long", upset("slow:1.3"),
     r"note: .*GHz.*"),
    ("suspended laptop", "interposed clock: CLOCK_BOOTTIME jumps by an hour", upset("sleep:3600"), r"note: .*suspend.*"),
    ("1 core", "taskset to one CPU", one_core, MEMORY_CELL),
    ("256 cores", "synthetic topology of hwloc",
     plain(["topology"], HWLOC_SYNTHETIC="pack:2 numa:2 l3:4 l2:16 core:1 pu:1"), r"packages \d+, NUMA nodes \d+|^core +\d.*"),
    ("several memory nodes", "synthetic topology of hwloc: two nodes with a PU each", two_nodes, r"^ *node\d +\d +mem"),
    ("low-power cores", "recorded topology", recorded("low-power-kind.xml"), r"^set all .*"),
    ("cores that share an L2", "synthetic topology of hwloc: one L2 over both PUs", shared_l2,
     r"^L2 of PUs .* alone"),
    ("no glibc", "scripts/test-musl: one static program with musl", musl, MEMORY_CELL),
    ("interrupted", "SIGINT in the third round", signalled(signal.SIGINT), r"^ulb-bench: .*"),
    ("the same", "SIGTERM in the third round", signalled(signal.SIGTERM), r"^ulb-bench: .*"),
    ("killed, then --resume", "SIGKILL in the third round", signalled(signal.SIGKILL, after=go_on), ROW),
    ("disk full in mid-run", "file system of 12 KiB over the folder of records", full_disk, r"^ulb-bench: .*"),
]

OF_TWO_PUS = {cpuset, quota_v1, quota_v2, narrowed, moved, offline_upset, shared_l2, two_nodes}


def normalised(text):
    text = re.sub(r"/tmp/\S+?(?=/out)", "FOLDER", text)
    text = re.sub(r"cells-\S+?\.(journal|json)", r"cells-N.\1", text)
    return re.sub(r"\s+", " ", re.sub(r"(?<![A-Za-z\d-])\d+(\.\d+)?(?![A-Za-z\d])", "N", text)).strip().replace("|", "\\|")


def run(build, make, wanted):
    """(printed, exit code) of one situation."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        place = Place(build, folder)
        try:
            before, arguments, environment, act = make(place)
            process = place.start([*before, place.bench, *arguments, *(["--progress", "on"] if act else [])],
                                  **environment)
            errors = ""
            while act:
                line = process.stderr.readline()
                errors += line
                if not line or line.startswith("gemv "):
                    process = act(process)
                    break
            out, rest = process.communicate(timeout=120)
        finally:
            for undo in reversed(place.undo):
                undo()
    lines = (out + errors + rest).splitlines()
    found = [normalised(match[0]) for line in lines if (match := re.search(wanted, line))]
    if not found:
        return "\n".join(lines[-12:]), process.returncode
    return found[0] if len(set(found)) == 1 else "; ".join(dict.fromkeys(found)), process.returncode


def rows_of_table(text):
    return {tuple(cell.strip() for cell in line.split(" | ")[:2]): line
            for line in text.splitlines() if line.startswith("| ") and not line.startswith("| situation")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--pus", choices=("one", "two"))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    text = TABLE.read_text()
    known, bad, left = rows_of_table(text), 0, 0
    lines = []
    for situation, how, make, wanted in SITUATIONS:
        row = known.get((f"| {situation}", how))
        if options.only not in situation or options.pus == ("one" if make in OF_TWO_PUS else "two"):
            lines.append(row)
            continue
        begin = time.monotonic()
        try:
            printed, code = run(options.build.resolve(), make, wanted)
            now = f"| {situation} | {how} | {printed} | {code} |"
        except Left as reason:
            print(f"left out here: {situation}: {reason}")
            left += 1
            now = row
        if options.verbose:
            print(f"{time.monotonic() - begin:5.1f} s  {now}", flush=True)
        if now != row and not options.write:
            bad += 1
            print(f"DIFFERS: {situation}\n  table: {row}\n  now:   {now}")
        lines.append(now)
    if options.write:
        begin, end = "<!-- situations -->\n", "<!-- end of situations -->\n"
        head, tail = text[:text.index(begin) + len(begin)], text[text.index(end):]
        heading = "| situation | how it was produced | what is printed | exit code |\n|---|---|---|---|\n"
        TABLE.write_text(head + heading + "".join(line + "\n" for line in lines if line) + tail)
    print(f"{len(SITUATIONS)} situations, {left} left out here, {bad} differ from docs/PLATFORMS.md")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
