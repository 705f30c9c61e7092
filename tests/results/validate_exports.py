#!/usr/bin/env python3
"""validate_exports.py ULB-BENCH SAMPLE-RECORD: every export of every sample record, read by the program it is for.

CSV by Python's csv, Markdown by cmark-gfm, SQL by sqlite3, Google Benchmark's JSON by its own compare.py, the files of
github-action-benchmark and Bencher by their published schemas, Prometheus' text by promtool, where there is one, and by
prometheus_text.py. What is read must be what the record holds.
"""
import csv
import datetime
import io
import json
import math
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

import jsonschema

import prometheus_text

HERE = pathlib.Path(__file__).parent
COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")
# The Python that has Debian's scipy, which compare.py needs; the first in PATH may be another.
PYTHON = "/usr/bin/python3"
SECTIONS = {"cells": "cells", "gamma.cells": "gamma", "beta.cells": "beta", "beta.yardstick": "yardstick",
            "overlap.cells": "overlap", "peak": "peak", "counts": "counts"}


def export(path, target, *options):
    command = [BENCH, "export", str(path), "--to", target, *options]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()  # line ends as they are


def rows_of(record, section):
    value = record
    for key in section.split("."):
        value = value[key] if value else []
    return value


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_formulas(path, folder):
    """No field begins a formula unless it is a number, and what was put before a text is an apostrophe alone."""
    record = json.loads(path.read_text())
    record["machine"]["cpu_model"] = "@SUM(A1:A9)"
    record["build"]["commit"] = "-1+1"
    texts = ["=HYPERLINK(\"http://example.org\",\"a\")", "+1+1", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1", "\n=1+1", "=1+1,2", "-", "a=1"]
    for cell, text in zip(record["cells"], texts):
        cell["verdict"] = text
        cell["residual"] = -0.25
    for cell in record["overlap"]["cells"]:
        cell["overlap_samples"] = [-0.5 * x for x in cell["overlap_samples"]]
    hostile = folder / "formulas.json"
    hostile.write_text(json.dumps(record))
    for section in SECTIONS:
        text = export(hostile, "csv", "--section", section)
        for row in csv.reader(io.StringIO(text, newline=""), strict=True):
            assert not any(field[:1] in tuple("=+-@\t\r\n") and not is_number(field) for field in row), row
    rows = list(csv.DictReader(io.StringIO(export(hostile, "csv"), newline=""), strict=True))
    assert {(row["cpu_model"], row["commit"]) for row in rows} == {("'@SUM(A1:A9)", "'-1+1")}
    for row, text in zip(rows, texts):
        shown = re.sub("[\t\r\n]", "?", text)  # reading a record replaces them
        assert row["verdict"] == "'" + shown if shown[0] in "=+-@" else row["verdict"] == shown, (row["verdict"], text)
        assert row["residual"] == "-0.25", row
    overlaps = csv.DictReader(io.StringIO(export(hostile, "csv", "--section", "overlap.cells"), newline=""), strict=True)
    for row, cell in zip(overlaps, record["overlap"]["cells"]):
        assert [float(x) for x in row["overlap_samples"].split()] == cell["overlap_samples"], row


def check_csv(path, record):
    for section in SECTIONS:
        text = export(path, "csv", "--section", section)
        assert text == export(path, "csv") or section != "cells"
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        wanted = rows_of(record, section)
        assert len(rows) == len(wanted), section
        for row, cell in zip(rows, wanted):
            assert row["created"] == record["created"] and row["cpu_model"] == record["machine"]["cpu_model"]
            for key, value in cell.items():
                if key.endswith("_reason"):
                    continue
                if isinstance(value, list):
                    assert [float(x) for x in row[key].split()] == value, (section, key)
                elif isinstance(value, bool):
                    assert row[key] == str(value).lower(), (section, key)
                elif isinstance(value, (int, float)):
                    assert float(row[key]) == value, (section, key, row[key], value)
                else:
                    assert row[key] == (value or ""), (section, key)


def check_markdown(path, record):
    html = subprocess.run(["cmark-gfm", "-e", "table"], input=export(path, "md"), check=True, capture_output=True,
                          text=True).stdout
    tables = tree.fromstring(f"<page>{html}</page>").findall("table")
    wanted = [(rows_of(record, section), first) for section, first in
              {"cells": "kernel", "gamma.cells": "kernel", "counts": "kernel", "beta.cells": "set",
               "decode.runs": "model"}.items() if rows_of(record, section)]
    assert len(tables) == len(wanted)
    for table, (rows, first) in zip(tables, wanted):
        body = table.find("tbody").findall("tr")
        assert len(body) == len(rows)
        head = len(table.find("thead/tr").findall("th"))
        for line, row in zip(body, rows):
            columns = ["".join(column.itertext()) for column in line.findall("td")]
            assert len(columns) == head and columns[0] == row[first] and "" not in columns, columns


def sqlite(database, script):
    return subprocess.run(["sqlite3", "-batch", "-bail", "-json", database], input=script, check=True,
                          capture_output=True, text=True).stdout


def check_sql(path, record, database):
    script = export(path, "sql")
    sqlite(database, script)
    sqlite(database, script)  # loading it again replaces it
    quoted = record["machine"]["cpu_model"].replace("'", "''")
    one = f"(SELECT id FROM records WHERE created = '{record['created']}' AND cpu_model = " + \
        f"'{quoted}' ORDER BY rowid DESC LIMIT 1)"
    for section, table in SECTIONS.items():
        rows = json.loads(sqlite(database, f'SELECT * FROM "{table}" WHERE record = {one} ORDER BY row;') or "[]")
        wanted = rows_of(record, section)
        assert len(rows) == len(wanted), (section, len(rows))
        samples = 0
        for row, cell in zip(rows, wanted):
            for key, value in cell.items():
                if isinstance(value, list):
                    samples += len(value)
                elif not key.endswith("_reason"):
                    assert row[key] == value, (section, key, row[key], value)
        stored = json.loads(sqlite(database, f"SELECT count(*) AS n, sum(value) AS total FROM samples WHERE \"table\" = "
                                             f"'{table}' AND record = {one};"))[0]
        assert stored["n"] == samples, section
        total = math.fsum(x for cell in wanted for v in cell.values() if isinstance(v, list) for x in v)
        assert math.isclose(stored["total"] or 0, total, rel_tol=1e-9, abs_tol=1e-9), section
    assert sqlite(database, "PRAGMA foreign_key_check; PRAGMA integrity_check;") == '[{"integrity_check":"ok"}]\n'


def check_sql_of_another_build(path, database):
    """A table that has a column more takes the rows; one that lacks a column says which, and nothing is loaded."""
    script = export(path, "sql")
    create = re.search(r'CREATE TABLE IF NOT EXISTS "gamma".*;', script)[0]
    sqlite(database, create.replace(", PRIMARY KEY", ", newer TEXT, PRIMARY KEY"))
    sqlite(database, script)
    assert "newer" in json.loads(sqlite(database, "SELECT * FROM gamma;"))[0]
    sqlite(database + ".old", create.replace('"class" TEXT, ', ""))
    try:
        sqlite(database + ".old", script)
        raise AssertionError("a table without the column class took the rows")
    except subprocess.CalledProcessError as refused:
        assert "has no column named class" in refused.stderr, refused.stderr
    assert "gamma" in sqlite(database + ".old", ".tables") and "records" not in sqlite(database + ".old", ".tables")


def compare(first, second):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([PYTHON, COMPARE, "-d", str(report), "benchmarks", first, second], check=True, capture_output=True)
        return json.loads(report.read_text())


def check_googlebench(path, record, folder):
    slower = json.loads(json.dumps(record))
    for cell in slower["cells"]:
        for key in ("us", "us_samples"):
            cell[key] = [1.25 * x for x in cell[key]] if isinstance(cell[key], list) else 1.25 * cell[key]
    other = folder / "slower.json"
    other.write_text(json.dumps(slower))
    files = [folder / "first.json", folder / "second.json"]
    for name, source in zip(files, (path, other)):
        name.write_text(export(source, "googlebench"))
    document = json.loads(files[0].read_text())
    assert document["context"]["num_cpus"] == record["machine"]["cores"]
    iterations = [b for b in document["benchmarks"] if b["run_type"] == "iteration"]
    assert [b["real_time"] for b in iterations] == \
        [us for cell in record["cells"] for us in (cell["us_samples"] or [cell["us"]])]
    report = compare(*files)
    by_name = {row["name"]: row for row in report}
    for cell in record["cells"]:
        name = next(n for n in by_name if n.startswith(cell["kernel"] + " ") and f" {cell['model']}/{cell['layer']} " in n)
        row = by_name[name]
        assert all(abs(m["time"] - 0.25) < 1e-6 for m in row["measurements"]), row
        if cell["us_samples"]:
            assert len(row["measurements"]) == len(cell["us_samples"]), row
            assert row["utest"]["time_pvalue"] < 0.01, row["utest"]


def check_schemas(path, record):
    schema = json.loads((HERE / "gha-schema.json").read_text())
    efficiencies = [cell["efficiency"] for cell in record["cells"] if cell["efficiency"] is not None]
    if efficiencies:
        bigger = json.loads(export(path, "gha-bigger"))
        jsonschema.validate(bigger, schema)
        assert [round(e["value"] / 100, 7) for e in bigger] == [round(e, 7) for e in efficiencies]
        assert len({e["name"] for e in bigger}) == len(bigger)
    else:
        refused = subprocess.run([BENCH, "export", str(path), "--to", "gha-bigger"], capture_output=True, text=True)
        assert refused.returncode == 2 and "efficiency" in refused.stderr, refused
    smaller = json.loads(export(path, "gha-smaller"))
    jsonschema.validate(smaller, schema)
    wanted = [c["us"] for c in record["cells"]] + [c["gamma_cycles"] for c in record["gamma"]["cells"]] + \
        [c["instructions_per_step"] for c in record["counts"]]
    assert [e["value"] for e in smaller] == [value for value in wanted if value is not None]
    assert len({e["name"] for e in smaller}) == len(smaller)

    bmf = json.loads(export(path, "bmf"))
    jsonschema.validate(bmf, json.loads((HERE / "bmf-schema.json").read_text()))
    for measures in bmf.values():
        for measure in measures.values():
            assert measure.get("lower_value", measure["value"]) <= measure["value"] <= \
                measure.get("upper_value", measure["value"]), measures
    latencies = [measures["latency"]["value"] for measures in bmf.values() if "latency" in measures]
    assert all(math.isclose(a, 1e3 * c["us"], rel_tol=1e-8) for a, c in zip(latencies, record["cells"]))
    assert sum(len(measures) for measures in bmf.values()) == len(smaller) + len(efficiencies)


# Metric: section, key of the value, factor to the base unit.
GAUGES = {
    "ulb_cell_time_seconds": ("cells", "us", 1e-6),
    "ulb_cell_read_bytes_per_second": ("cells", "gbps", 1e9),
    "ulb_cell_yardstick_bytes_per_second": ("cells", "yardstick_gbps", 1e9),
    "ulb_cell_efficiency_ratio": ("cells", "efficiency", 1),
    "ulb_kernel_gamma_cycles": ("gamma.cells", "gamma_cycles", 1),
    "ulb_kernel_instructions": ("counts", "instructions_per_step", 1),
    "ulb_beta_bytes_per_second": ("beta.cells", "gbps", 1e9),
    "ulb_yardstick_bytes_per_second": ("beta.yardstick", "gbps", 1e9),
    "ulb_decode_tokens_per_second": ("decode.runs", "tokens_per_s", 1),
    "ulb_decode_token_energy_joules": ("decode.runs", "joule_per_token", 1),
}


def check_about_record(metrics, record):
    [(info, one)] = metrics.pop("ulb_record_info")
    assert one == 1 and info["cpu_model"] == record["machine"]["cpu_model"] and info["commit"] == record["build"]["commit"]
    [(none, seconds)] = metrics.pop("ulb_record_timestamp_seconds")
    created = datetime.datetime.fromisoformat(record["created"].replace("Z", "+00:00"))
    assert none == {} and seconds == created.timestamp(), (seconds, record["created"])


def check_prometheus(path, record):
    metrics = prometheus_text.check(export(path, "prometheus"))
    check_about_record(metrics, record)
    for name, (section, key, factor) in GAUGES.items():
        samples = metrics.pop(name, [])
        first = {}  # of the rows with the same labels
        for row in rows_of(record, section):
            if row[key] is not None:
                first.setdefault(tuple(row[label] for label in samples[0][0]), row)
        wanted = list(first.values())
        assert len(samples) == len(wanted), (name, len(samples), len(wanted))
        for (labels, value), row in zip(samples, wanted):
            assert math.isclose(value, factor * row[key], rel_tol=1e-8), (name, labels, value)
            assert all(str(row[label]) == text for label, text in labels.items()), (name, labels)
    assert not metrics, metrics.keys()


def summary_of(path, record):
    """(of, name, format): value, from the cells themselves and from what 'show' says."""
    first = record["beta"]["yardstick"][0]["set"]
    cells = [c for c in record["cells"] if c["n"] == 1 and c["mode"] == "cold" and c["set"] == first]

    def share(chosen):
        fastest = {}
        for cell in chosen:
            shape = cell["model"], cell["layer"], cell["m"], cell["k"]
            if shape not in fastest or cell["gbps"] > fastest[shape]["gbps"]:
                fastest[shape] = cell
        known = [cell["efficiency"] for cell in fastest.values() if cell["efficiency"] is not None]
        return statistics.median(known) if known else None

    wanted = {("format", f, ""): share([c for c in cells if c["format"] == f]) for f in {c["format"] for c in cells}}
    wanted.update({("kernel", k, f): share([c for c in cells if c["kernel"] == k])
                   for k, f in {(c["kernel"], c["format"]) for c in cells}})
    shown = json.loads(subprocess.run([BENCH, "show", str(path), "--json"], check=True, capture_output=True).stdout)
    wanted.update({("model", model["model"], row["format"]): row["tokens_per_s"]
                   for model in shown["models"] for row in model["formats"]})
    return {key: value for key, value in wanted.items() if value is not None}


def same(found, wanted):
    assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
    assert all(math.isclose(found[key], wanted[key], rel_tol=1e-8) for key in wanted), (found, wanted)


def check_summary(path, record):
    wanted = summary_of(path, record)
    rows = list(csv.DictReader(io.StringIO(export(path, "csv", "--summary"), newline=""), strict=True))
    same({(r["of"], r[r["of"]], r["format"] if r["of"] != "format" else ""): float(r["value"]) for r in rows}, wanted)
    assert {r["metric"] for r in rows} <= {"efficiency", "tokens_per_s"} and len(rows) == len(wanted)

    html = subprocess.run(["cmark-gfm", "-e", "table"], input=export(path, "md", "--summary"), check=True,
                          capture_output=True, text=True).stdout
    assert sum(len(table.findall("tbody/tr")) for table in tree.fromstring(f"<page>{html}</page>").findall("table")) == \
        len(wanted)

    metrics = prometheus_text.check(export(path, "prometheus", "--summary"))
    check_about_record(metrics, record)
    same({(name.split("_")[1], labels[name.split("_")[1]], labels["format"] if "_format_" not in name else ""): value
          for name, samples in metrics.items() for labels, value in samples}, wanted)

    # Names of services: "OF NAME", and of a model its format.
    keys = {f"{of} {name}" + (f" {form}" if of == "model" else ""): value for (of, name, form), value in wanted.items()}
    times = {key: 1e6 / value for key, value in keys.items() if key.startswith("model ")}
    bmf = json.loads(export(path, "bmf", "--summary"))
    jsonschema.validate(bmf, json.loads((HERE / "bmf-schema.json").read_text()))
    same({name: value for name, measures in bmf.items() for value in (m["value"] for m in measures.values())}, keys)
    assert {m for measures in bmf.values() for m in measures} <= {"efficiency", "tps"}
    for target, values in (("gha-bigger", keys), ("gha-smaller", times)):
        entries = json.loads(export(path, target, "--summary"))
        jsonschema.validate(entries, json.loads((HERE / "gha-schema.json").read_text()))
        same({e["name"].split(": ")[1]: e["value"] / (100 if e["unit"] == "%" else 1) for e in entries}, values)
        assert {e["unit"] for e in entries} <= ({"%", "tokens/s"} if target == "gha-bigger" else {"us"})
    google = json.loads(export(path, "googlebench", "--summary"))["benchmarks"]
    same({b["name"]: b["real_time"] for b in google}, times)


def check_summary_of_little(path, folder):
    """Without a yardstick there are times of tokens alone; without cells of one token nothing at all."""
    record = json.loads(path.read_text())
    for cell in record["cells"]:
        cell.update(efficiency=None, efficiency_reason="none", yardstick_gbps=None, yardstick_gbps_reason="none")
    little = folder / "little.json"
    little.write_text(json.dumps(record))
    rows = list(csv.DictReader(io.StringIO(export(little, "csv", "--summary"), newline="")))
    assert rows and {r["of"] for r in rows} == {"model"}, rows
    for cell in record["cells"]:
        cell["n"] = 8
    little.write_text(json.dumps(record))
    assert export(little, "csv", "--summary").count("\n") == 1 and "###" not in export(little, "md", "--summary")
    for target in ("gha-bigger", "gha-smaller", "googlebench", "bmf", "prometheus"):
        refused = subprocess.run([BENCH, "export", str(little), "--to", target, "--summary"], capture_output=True, text=True)
        assert refused.returncode == 2 and "nothing for this format" in refused.stderr, (target, refused)
        assert not refused.stdout


def main(sample_program):
    prometheus_text.self_test()
    for program in ("cmark-gfm", "sqlite3"):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "samples").mkdir()
        subprocess.run([sample_program, str(folder / "samples")], check=True)
        paths = sorted((folder / "samples").iterdir())
        for path in paths[:3]:  # in the fourth the names fill their fields, so that keys coincide
            record = json.loads(path.read_text())
            # Texts that would break out of their fields.
            record["machine"]["cpu_model"] = f"O'Hara, \"{path.stem}\" | <b>CPU`</b>"
            if path.stem == "0":
                record["cells"][0]["verdict"] = "it's\r\n\"slow\", or; DROP TABLE cells; --"
            path.write_text(json.dumps(record))
            # What a terminal obeys is read as question marks.
            record["cells"][0]["verdict"] = record["cells"][0]["verdict"].replace("\r\n", "??")
            check_csv(path, record)
            check_markdown(path, record)
            check_sql(path, record, str(folder / "all.db"))
            if path == paths[0]:  # scipy takes its time to load
                check_googlebench(path, record, folder)
                check_formulas(path, folder)
                check_summary_of_little(path, folder)
                check_sql_of_another_build(path, str(folder / "other.db"))
            check_schemas(path, record)
            check_prometheus(path, record)
            check_summary(path, record)
        prometheus_text.check(export(paths[3], "prometheus"))  # of series that coincide one stays
        record = json.loads(paths[3].read_text())
        record.update(cells=[], counts=[])
        record["gamma"]["cells"] = []
        (folder / "bare.json").write_text(json.dumps(record))
        assert "### Decoded tokens" in export(folder / "bare.json", "md")
        for target in ("gha-bigger", "gha-smaller", "googlebench", "bmf"):
            refused = subprocess.run([BENCH, "export", str(folder / "bare.json"), "--to", target], capture_output=True,
                                     text=True)
            assert refused.returncode == 2 and "nothing for this format" in refused.stderr, (target, refused)
        for target in ("csv", "md", "sql", "googlebench", "gha-smaller", "bmf", "prometheus"):
            wrapped = json.loads(export(paths[3], target, "--json"))
            assert wrapped["format"] == target and ("text" in wrapped) != ("document" in wrapped)
    print(f"{len(paths)} records, all exports read by their consumers")


BENCH = sys.argv[1]
main(sys.argv[2])
