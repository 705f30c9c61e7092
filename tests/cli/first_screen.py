#!/usr/bin/env python3
"""Every number of the first screen stands in the record and in the report page, and equals both.

usage: first_screen.py ULB-BENCH RECORD     RECORD: of a whole run, with its summary
"""
import html
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

GIB = 1 << 30


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def same(a, b):
    """Equal but for the last of nine digits."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6)
    return a == b


def paragraphs(screen):
    """Text behind each head, lines that go on joined."""
    found = {}
    for line in screen.splitlines():
        head = re.match(r"([A-Z][a-z]+) +", line)
        if head:
            name = head[1]
            found[name] = line[9:]
        elif line.startswith(" " * 9) and found:
            found[name] += " " + line.strip()
        else:
            name = "tables"
            found[name] = found.get(name, "") + line + "\n"
    return found


def speeds_of(row):
    other = "/%.1f" % row["tokens_per_s_other"] if "tokens_per_s_other" in row else ""
    return "%.1f" % row["tokens_per_s"] + other


def check_machine(said, record):
    machine, summary = record["machine"], record["summary"]
    guest = " (guest of %s)" % machine["hypervisor"] if machine["hypervisor"] else ""
    check(said["Machine"] == "%.40s, %d cores, %.1f GiB%s" % (
        machine["cpu_model"], machine["cores"], machine["memory_bytes"] / GIB, guest), said["Machine"])
    check(said["Made"] == "%s by ulb-bench %s" % (record["created"], record["build"]["version"]), said["Made"])
    other = ""
    if "memory_other_gbps" in summary:
        where = "an earlier run" if "memory_other_created" in summary else "other spells"
        other = ", in %s %.1f" % (where, summary["memory_other_gbps"])
    threads, one = summary["memory_threads"], "%.1f" % summary["memory_one_core_gbps"]
    gbps = "%.1f" % summary["memory_gbps"]
    check(said["Memory"] == (f"{gbps} GB/s read by {threads} cores{other}; {one} by one" if threads > 1 else
                             f"{gbps} GB/s read by one core{other}"), said["Memory"])
    check(said["Limit"] == summary["limit"], said["Limit"])
    check(said["Trust"] == f"{summary['trust']}: {summary['trust_reason']}", said["Trust"])
    check("%.0f %% of samples disturbed, a cell is known to %.1f %%; differences under %.0f %%" % (
        100 * summary["disturbed_share"], 100 * summary["noise"], math.ceil(200 * summary["noise"])) in said["Trust"], said["Trust"])


def check_tables(text, summary):
    """Rows of the models' tables, which are taken out of the text; what is left has no unknown number."""
    printed = 0
    for model in summary["models"]:
        check(f"\n{model['model']} " in text, f"no table of {model['model']}")
        text = text.replace(model["model"], "", 1)
        for row in model["formats"]:
            cells = [speeds_of(row), "%.0f %%" % (100 * row["share_of_limit"]), "%.2f GB" % (row["weight_bytes"] / 1e9),
                     "-" if row["error_rmse"] is None else "%.3f" % row["error_rmse"]]
            line = re.search(r"\n[> ] %s +%s +[^\n]*" % (re.escape(row["format"]), " +".join(map(re.escape, cells))), text)
            if not line:
                continue
            check(("<- suggested" in line[0]) == (row["format"] == model["suggested"]) == line[0].startswith("\n>"), line[0])
            bound = re.search(r"\(gamma ([\d.]+)\)", line[0])
            check(not bound or bound[1] == "%.2f" % row["gamma_cycles"], line[0])
            text = text.replace(line[0], "", 1)
            printed += 1
    for known in ("%d formats of %d model" % (len(summary["models"][0]["formats"]), len(summary["models"])),
                  "context %d" % summary["models"][0]["context"], "16-bit head", "bf16 head",
                  "the least error at %.0f tok/s or more, else the fastest of error up to %.2f" % (
                      summary["wanted_tokens_per_s"], summary["largest_error"])):
        text = re.sub(re.escape(known).replace(r"\ ", r"\s+"), "", text)
    check(not re.search(r"\d", text), f"numbers that the record does not hold: {text}")
    return printed


def check_rest(said, record):
    summary = record["summary"]
    for share, name in re.findall(r"attention takes (\d+) % of a token of (\S+)", said.get("Why", "")):
        model = next(m for m in summary["models"] if m["model"] == name)
        best = next(f for f in model["formats"] if f["format"] == model["suggested"])
        check(share == "%.0f" % (1e-4 * model["cache_us"] * best["tokens_per_s"]), said["Why"])
    formats = "|".join(re.escape(f["format"]) for m in summary["models"] for f in m["formats"])
    left = re.sub(r"attention takes \d+ % of a token of \S+|" + formats, "", said.get("Why", ""))
    check(not re.search(r"\d", left), f"numbers that the record does not hold: {left}")
    note, more = re.match(r"(.*?)(?: ?(\d+) more warnings?: show RECORD --section machine)?$", said.get("Note", "")).groups()
    warnings = record["warnings"]
    check(not note or any(w.startswith(note.removesuffix(" ...")) for w in warnings), note)
    check(int(more or 0) == len(warnings) - (1 if note else 0), said.get("Note"))


def check_page(page, record):
    summary, first = record["summary"], record["summary"]["models"][0]
    text = lambda pattern: html.unescape(re.search(pattern, page, re.S)[1])
    embedded = json.loads(text(r'id="record">(.*?)</script>'))
    check(same(embedded, record), "the page's record is another one")
    check(same(json.loads(text(r'id="answer-data">(.*?)</script>'))["models"], summary["models"]), "the page's models")
    check(text(r'id="chip-memory">(.*?)<') == "%.1f GB/s" % summary["memory_gbps"], "the page's memory")
    beside = text(r'id="chip-memory-of">(.*?)<')
    check("memory_other_gbps" not in summary or beside.endswith(" %.1f" % summary["memory_other_gbps"]), beside)
    check(text(r"<p id=limit>(.*?)</p>") == summary["limit"], "the page's limit")
    check(text(r"<p id=trust[^>]*>(.*?)</p>") == f"Quality of this run: {summary['trust']}. {summary['trust_reason']}", "the page's trust")
    body = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    rows = re.search(r"id=formats>.*?<tbody>(.*?)</tbody>", body, re.S)[1].strip().split("<tr")[1:]
    for row, shown in zip(first["formats"], rows, strict=True):
        cells = [re.sub(r"\s+$", "", cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)", shown)]
        wanted = [row["format"], None, "%.2f" % (row["weight_bytes"] / 1e9), "%.3f" % row["error_rmse"], speeds_of(row),
                  "%.1f" % row["tokens_per_s_limit"], "%.0f %%" % (100 * row["share_of_limit"]), row["bound"]]
        check(all(w is None or w == c for w, c in zip(wanted, cells)), f"{cells} is not {wanted}")
    one = summary["memory_one_core_gbps"]
    check("%.1f" % one in body or "%.2f" % one in body, f"one core's {one} GB/s")
    for value in (summary["wanted_tokens_per_s"], summary["largest_error"]):
        check(re.search(r'value="%g"' % value, body), f"the wish {value}")


def check_record(bench, record, folder, name):
    path, page = folder / f"{name}.json", folder / f"{name}.html"
    path.write_text(json.dumps(record))
    record["summary"] = json.loads(output(bench, "show", str(path), "--json"))
    path.write_text(json.dumps(record))
    screen = output(bench, "show", str(path))
    check(len(screen.splitlines()) <= 40, f"{len(screen.splitlines())} lines")
    said = paragraphs(screen)
    check_machine(said, record)
    printed = check_tables(said["tables"], record["summary"])
    check_rest(said, record)
    subprocess.run([bench, "report", str(path), "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
    check_page(page.read_text(), record)
    print(f"{name}: {len(re.findall(r'[0-9.]+', screen))} numbers, {printed} formats, equal in record and page")
    return screen


def main(bench, path):
    record = json.loads(pathlib.Path(path).read_text())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        check_record(bench, record, folder, "own")
        gbps, memory = record["summary"]["memory_gbps"], record["beta"]["memory"]
        memory.pop("earlier", None)
        memory.update(n_samples=100, states=[{"gbps": gbps, "share": 0.7}, {"gbps": gbps / 2, "share": 0.3}])
        screen = check_record(bench, record, folder, "two-speeds")
        check("in other spells" in screen and "two speeds" in screen, screen)
        memory.update(states=[{"gbps": gbps, "share": 1}], earlier={"gbps": 2 * gbps, "created": "2026-11-29T08:54:50Z"})
        for cell in record["beta"]["cells"] + record["beta"]["yardstick"]:
            if cell["set"] == memory["set"] and cell.get("level", "mem") == "mem":
                cell["gbps"] = gbps
        screen = check_record(bench, record, folder, "earlier-run")
        check("in an earlier run" in screen and "poor: " in screen, screen)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
