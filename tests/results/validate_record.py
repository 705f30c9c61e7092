#!/usr/bin/env python3
"""Checks records against results/schema.json.

usage: validate_record.py RECORD...            prints what is wrong; exit 1 when anything is
       validate_record.py --self-test PROGRAM  PROGRAM FOLDER writes sample records: all must be valid, and every
                                               single damage done to them must be found
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

SCHEMA = pathlib.Path(__file__).parents[2] / "results" / "schema.json"


def make_validator():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def faults(validator, record):
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(record)]


def rename(container, key, new):
    container[new] = container.pop(key)


def damages(record):
    """Pairs of a description and a damaged copy: each alone must make the record invalid."""
    rows = {
        "beta.cells": lambda r: r["beta"]["cells"][0],
        "beta.yardstick": lambda r: r["beta"]["yardstick"][0],
        "gamma.cells": lambda r: r["gamma"]["cells"][0],
        "overlap.cells": lambda r: r["overlap"]["cells"][0],
        "peak": lambda r: r["peak"][0],
        "cells": lambda r: r["cells"][0],
        "counts": lambda r: r["counts"][0],
    }
    if "embedding" in record["gamma"]:
        rows["gamma.embedding"] = lambda r: r["gamma"]["embedding"][0]
    if "devices" in record:
        rows["devices"] = lambda r: r["devices"][0]
        for part in ("peaks", "cells", "yardstick", "left_out"):
            rows[f"devices.{part}"] = lambda r, part=part: r["devices"][0][part][0]
        for part in ("launch", "ring"):
            rows[f"devices.{part}"] = lambda r, part=part: r["devices"][0][part]
    if record["decode"]:
        rows["decode.runs"] = lambda r: r["decode"]["runs"][0]
        for part in ("split_ms", "missing_ms", "prefill", "prefetch"):
            rows[f"decode.runs.{part}"] = lambda r, part=part: r["decode"]["runs"][0][part]
        if "prefill_curve" in record["decode"]["runs"][0]:
            rows["decode.runs.prefill_curve"] = lambda r: r["decode"]["runs"][0]["prefill_curve"][0]
        rows["decode.runs.prefill.split_ms"] = lambda r: r["decode"]["runs"][0]["prefill"]["split_ms"]
    for place, row in {**rows, "the top": lambda r: r, "machine": lambda r: r["machine"]}.items():
        for key in row(record):
            if key in ("platform", "settings", "devices", "choices", "models", "format_errors", "summary", "fork_join", "prediction", "noise_floor", "port_bounds", "best", "crossover", "counts", "read_share", "joule_samples", "prefill_curve") or (key.startswith("prefetch") and not key.endswith("_reason")) or (place == "machine" and key.endswith("_reason")):
                continue
            damaged = copy.deepcopy(record)
            del row(damaged)[key]
            if not (key.endswith("_reason") and row(record)[key[:-7]] is not None):
                yield f"{place} without {key}", damaged
    for place, row in rows.items():
        for key, value in row(record).items():
            damaged = copy.deepcopy(record)
            rename(row(damaged), key, key + "x")
            yield f"{place}: {key} misspelt", damaged
            damaged = copy.deepcopy(record)
            row(damaged)[key] = [] if isinstance(value, str) else "text"
            yield f"{place}: {key} of a wrong type", damaged
            if value is not None and key + "_reason" not in row(record):
                damaged = copy.deepcopy(record)
                row(damaged)[key] = None
                yield f"{place}: {key} null without a reason", damaged
    for place in ("best", "crossover"):
        for key in record[place][0] if record[place] else ():
            damaged = copy.deepcopy(record)
            del damaged[place][0][key]
            yield f"{place} without {key}", damaged
    for key in record["port_bounds"][0] if record.get("port_bounds") else ():
        damaged = copy.deepcopy(record)
        del damaged["port_bounds"][0][key]
        if not key.endswith("_reason") or record["port_bounds"][0][key[:-7]] is None:
            yield f"port_bounds without {key}", damaged
    for key in record.get("noise_floor", ()):
        damaged = copy.deepcopy(record)
        del damaged["noise_floor"][key]
        yield f"noise_floor without {key}", damaged
    for key in record["prediction"]:
        damaged = copy.deepcopy(record)
        del damaged["prediction"][key]
        yield f"prediction without {key}", damaged
    for key, value in (("schema_version", 2), ("created", "yesterday"), ("warnings", [1]), ("cells", {})):
        damaged = copy.deepcopy(record)
        damaged[key] = value
        yield f"{key} is {value}", damaged
    for place, key, value in (("cells", "mode", "hot"), ("cells", "bound", "luck"), ("beta.cells", "level", "L9")):
        damaged = copy.deepcopy(record)
        rows[place](damaged)[key] = value
        yield f"{place}: {key} is {value}", damaged


def self_test(validator, program):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        records = {path.name: json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).iterdir())}
    assert len(records) >= 4, f"only {len(records)} samples"
    wrong = [f"{name}: {fault}" for name, record in records.items() for fault in faults(validator, record)]
    tried = 0
    for name, record in records.items():
        for rows in (record["cells"], record["beta"]["cells"], record["gamma"]["cells"], record["overlap"]["cells"], record["peak"],
                     record["best"], record["crossover"], record["counts"], record.get("port_bounds", []),
                     (record["decode"] or {}).get("runs", [])):
            del rows[1:]
        for what, damaged in damages(record):
            tried += 1
            if validator.is_valid(damaged):
                wrong.append(f"{name}: not found: {what}")
    print(f"{len(records)} samples, {tried} damages, {len(wrong)} wrong")
    return wrong


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    validator = make_validator()
    if arguments[0] == "--self-test":
        wrong = self_test(validator, arguments[1])
    else:
        wrong = [f"{name}: {fault}" for name in arguments
                 for fault in faults(validator, json.loads(pathlib.Path(name).read_text()))]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
