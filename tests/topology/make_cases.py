#!/usr/bin/env python3
"""Writes the machines of tests/topology/data: small topologies in hwloc's XML format 2, each with one trap.

Not run by the build or the tests; the files are committed. To change a case, edit it here and run
    tests/topology/make_cases.py tests/topology/data
A core is (PUs, L1d KiB, L2 domain, L3 domain); a cache domain is (name, KiB), None where there is none.
"""
import sys
from itertools import groupby
from pathlib import Path


def mask(pus):
    return hex(sum(1 << pu for pu in pus))


class Machine:
    def __init__(self, cores, kinds=(), allowed=None, offline=(), packages=1, with_cores=True):
        self.cores, self.kinds, self.offline, self.packages = cores, kinds, offline, packages
        self.pus = sorted(pu for core in cores for pu in core[0])
        self.allowed = self.pus if allowed is None else allowed
        self.with_cores = with_cores
        self.index = 1

    def object(self, kind, pus, inside="", more="", os_index=None):
        self.index += 1
        number = "" if os_index is None else f' os_index="{os_index}"'
        sets = f'cpuset="{mask(pus)}" complete_cpuset="{mask(pus)}" nodeset="0x1" complete_nodeset="0x1"'
        head = f'<object type="{kind}"{number} {sets}{more} gp_index="{self.index}"'
        return f"{head}>\n{inside}</object>\n" if inside else f"{head}/>\n"

    def cache(self, level, domain, pus, inside):
        if domain is None:
            return inside
        kind = 1 if level == 1 else 0
        more = f' cache_size="{domain[1] * 1024}" depth="{level}" cache_linesize="64"'
        more += f' cache_associativity="8" cache_type="{kind}"'
        return self.object(f"L{level}Cache", pus, inside, more)

    def core(self, number, core):
        pus, l1d = core[0], core[1]
        inside = "".join(self.object("PU", [pu], os_index=pu) for pu in pus)
        if self.with_cores:
            inside = self.object("Core", pus, inside, os_index=number)
        return self.cache(1, None if l1d is None else ("", l1d), pus, inside)

    def shared(self, level, cores):
        """Cores that follow one another and have the same domain are under one cache."""
        text = ""
        for domain, members in groupby(cores, key=lambda numbered: numbered[1][level]):
            members = list(members)
            pus = sorted(pu for _, core in members for pu in core[0])
            inside = self.shared(2, members) if level == 3 else "".join(self.core(n, c) for n, c in members)
            text += self.cache(level, domain, pus, inside)
        return text

    def xml(self):
        numbered = list(enumerate(self.cores))
        share = len(numbered) // self.packages
        body = self.object("NUMANode", self.pus, more=' local_memory="8589934592"', os_index=0)
        for package in range(self.packages):
            part = numbered[package * share:(package + 1) * share]
            pus = sorted(pu for _, core in part for pu in core[0])
            # padded, as some CPUs give their names
            info = '<info name="CPUModel" value="  Made-up CPU   "/>\n'
            body += self.object("Package", pus, info + self.shared(3, part), os_index=package)
        everything = sorted(self.pus + list(self.offline))
        head = f'<object type="Machine" os_index="0" cpuset="{mask(self.pus)}" complete_cpuset="{mask(everything)}"'
        head += f' allowed_cpuset="{mask(self.allowed)}" nodeset="0x1" complete_nodeset="0x1"'
        head += ' allowed_nodeset="0x1" gp_index="1">\n'
        kinds = ""
        for pus, efficiency, infos in self.kinds:
            forced = "" if efficiency is None else f' forced_efficiency="{efficiency}"'
            lines = "".join(f'<info name="{name}" value="{value}"/>\n' for name, value in infos.items())
            kinds += f'<cpukind cpuset="{mask(pus)}"{forced}>\n{lines}</cpukind>\n'
        return ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
                f'<topology version="2.0">\n{head}{body}</object>\n{kinds}</topology>\n')


def kind(pus, core_type=None, mhz=None, capacity=None, efficiency=None):
    infos = {"CoreType": core_type, "FrequencyMaxMHz": mhz, "LinuxCapacity": capacity}
    return list(pus), efficiency, {name: value for name, value in infos.items() if value}


def alone(pus, l1d, l2, l3):
    """Cores of one PU each, every one with an L2 of its own; hwloc wants cores in the order of their lowest PU."""
    return [((pu,), l1d, (f"l2-{pu}", l2), l3) for pu in pus]


def cluster(pus, l1d, l2, l3):
    return [((pu,), l1d, (f"l2-{pus[0]}", l2), l3) for pu in pus]


L3 = ("l3", 12288)
BIG, SMALL = "IntelCore", "IntelAtom"
HYBRID = alone(range(4), 48, 2048, L3) + cluster(range(4, 8), 32, 2048, L3)
PLAIN = alone(range(8), 32, 1024, L3)
UNKNOWN = [((pu,), None, None, None) for pu in range(6)]

CASES = {
    # Three kinds of which two are Atoms; only the missing L3 tells LP-E.
    "three-kinds": Machine(HYBRID + cluster([8, 9], 32, 2048, None),
                           [kind(range(4), BIG, 5000), kind(range(4, 8), SMALL, 3800), kind([8, 9], SMALL, 2500)]),
    # The same chip as a newer hwloc exports it.
    "low-power-kind": Machine(HYBRID + cluster([8, 9], 32, 2048, None),
                              [kind(range(4), BIG), kind(range(4, 8), SMALL), kind([8, 9], "IntelLowPower")]),
    # No kinds: the caches tell.
    "no-kinds-hybrid": Machine(HYBRID),
    "no-kinds": Machine(PLAIN),
    # Order of the kinds unknown, speeds unknown; the Atoms without L3 are LP-E and there is no plain E.
    "efficiency-unknown": Machine(alone(range(4), 48, 2560, L3) + cluster(range(4, 8), 32, 4096, None),
                                  [kind(range(4, 8), SMALL, efficiency=-1), kind(range(4), BIG, efficiency=-1)]),
    # Nine kinds that differ by their turbo only, 1 % a step.
    "nine-phantom-kinds": Machine(alone(range(9), 32, 1024, L3),
                                  [kind([pu], None, 5000 + 50 * pu, 900 + 10 * pu) for pu in range(9)]),
    # Same caches, two speeds: P and E as on Zen 5 with Zen 5c.
    "speed-only": Machine(PLAIN, [kind(range(4), None, 5100), kind(range(4, 8), None, 3300)]),
    # P cores with SMT: siblings far apart, PU 0 and PU 5 are one core.
    "scattered-siblings": Machine([((0, 5), 48, ("a", 2048), L3)] + cluster([1, 2, 3, 4], 32, 2048, L3) +
                                  [((6, 7), 48, ("b", 2048), L3)],
                                  [kind([0, 5, 6, 7], BIG, 4800), kind([1, 2, 3, 4], SMALL, 3800)]),
    # SMT switched off: the siblings of the P cores are offline.
    "smt-off": Machine(alone([0, 2, 4, 6], 48, 2048, L3) + cluster(range(8, 12), 32, 2048, L3),
                       [kind([0, 2, 4, 6], BIG, 5000), kind(range(8, 12), SMALL, 3800)], offline=[1, 3, 5, 7]),
    # One sibling, one E core and a whole P core are offline.
    "offline": Machine([((0,), 48, ("a", 2048), L3), ((2, 3), 48, ("b", 2048), L3)] +
                       cluster([6, 7, 9], 32, 2048, L3),
                       [kind([0, 2, 3], BIG, 5000), kind([6, 7, 9], SMALL, 3800)], offline=[1, 4, 5, 8]),
    # A cpuset of one core, its first PU not among the allowed ones of the class.
    "one-core-allowed": Machine([((2 * n, 2 * n + 1), 48, (f"l2-{n}", 2048), L3) for n in range(4)] +
                                cluster(range(8, 12), 32, 2048, L3),
                                [kind(range(8), BIG, 5000), kind(range(8, 12), SMALL, 3800)], allowed=[2, 3]),
    # Allowed: one SMT sibling of a P core and two E cores.
    "sibling-allowed": Machine([((2 * n, 2 * n + 1), 48, (f"l2-{n}", 2048), L3) for n in range(4)] +
                               cluster(range(8, 12), 32, 2048, L3),
                               [kind(range(8), BIG, 5000), kind(range(8, 12), SMALL, 3800)], allowed=[3, 9, 10]),
    # Kinds cut through SMT cores: one sibling of each is said to be slower, one even an Atom.
    "kinds-cut-cores": Machine([((0, 1), 48, ("a", 2048), L3), ((2, 3), 48, ("b", 2048), L3)] +
                               cluster([4, 5], 32, 2048, L3),
                               [kind([0, 2], BIG, 5000), kind([1], BIG, 3000), kind([3], SMALL, 3000),
                                kind([4, 5], SMALL, 3000)]),
    # The same without types and with equal caches: a core is as fast as its faster sibling.
    "speeds-cut-cores": Machine([((0, 1), 32, ("a", 1024), L3), ((2, 3), 32, ("b", 1024), L3)] +
                                alone([4, 5], 32, 1024, L3),
                                [kind([0, 2], None, 5000, 1024), kind([1, 3, 4, 5], None, 3000, 600)]),
    # Three classes of which the middle one may not be used.
    "no-e-allowed": Machine(HYBRID + cluster([8, 9], 32, 2048, None),
                            [kind(range(4), BIG), kind(range(4, 10), SMALL)], allowed=[0, 8]),
    # No caches at all: three typed kinds, the slow Atoms are LP-E by their speed.
    "no-caches": Machine(UNKNOWN, [kind([0, 1], BIG, 5000), kind([2, 3], SMALL, 4000), kind([4, 5], SMALL, 2500)]),
    # Caches that are there but of size 0, as some guests show them.
    "caches-of-size-0": Machine(alone(range(2), 0, 0, ("l3", 0)) + cluster([2, 3], 0, 0, ("l3", 0)),
                                [kind([0, 1], None, 4000, 1024), kind([2, 3], None, 4000, 500)]),
    # Two packages of one hybrid chip each; no Core objects in the export.
    "two-packages": Machine(alone([0, 1], 48, 2048, ("l3-a", 8192)) + cluster([2, 3], 32, 2048, ("l3-a", 8192)) +
                            alone([4, 5], 48, 2048, ("l3-b", 8192)) + cluster([6, 7], 32, 2048, ("l3-b", 8192)),
                            [kind([0, 1, 4, 5], BIG), kind([2, 3, 6, 7], SMALL)], packages=2, with_cores=False),
    # P cores switched off altogether: E and LP-E are left.
    "atoms-only": Machine(cluster(range(4), 32, 2048, L3) + cluster([4, 5], 32, 2048, None),
                          [kind(range(6), SMALL, 3800)]),
    # A stacked L3 on one die of two: sizes of the L3 are no classes.
    "stacked-l3": Machine(alone(range(4), 32, 1024, ("l3-a", 98304)) + alone(range(4, 8), 32, 1024, ("l3-b", 32768)),
                          [kind(range(4), None, 5250), kind(range(4, 8), None, 5700)]),
    # Two clusters of an Arm server's kind: each has cores of both classes under an L3 of its own size.
    "unequal-l3": Machine(alone([0, 1], 64, 512, ("l3-a", 8192)) + alone([2, 3], 64, 2048, ("l3-a", 8192)) +
                          alone([4, 5], 64, 512, ("l3-b", 16384)) + alone([6, 7], 64, 2048, ("l3-b", 16384))),
    # Arm with three tiers, known by capacity alone.
    "three-tiers": Machine(UNKNOWN, [kind([0, 1], capacity=300), kind([2, 3, 4], capacity=760),
                                     kind([5], capacity=1024)]),
}

if __name__ == "__main__":
    out = Path(sys.argv[1])
    for name, machine in CASES.items():
        (out / f"{name}.xml").write_text(machine.xml())
    (out / "format-3.xml").write_text(CASES["no-kinds"].xml().replace('version="2.0"', 'version="3.0"')
                                      .replace("hwloc2.dtd", "hwloc3.dtd"))
    whole = CASES["no-kinds"].xml()
    (out / "cut-off.xml").write_text(whole[:len(whole) // 2])
