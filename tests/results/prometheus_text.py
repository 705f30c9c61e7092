"""Prometheus' text format, checked as promtool does: its grammar, its conventions for names, and no series twice."""
import re
import shutil
import subprocess

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:[^"{{}}]|"(?:[^"\\]|\\.)*")*)\}})? (\S+)$')
# What promtool wants in no name: units that have a base unit, types, and endings of other types.
ODD_UNITS = {"milliseconds", "microseconds", "ms", "us", "ns", "gbps", "gigabytes", "kilobytes", "bits", "percent", "percents"}
TYPES = {"counter", "gauge", "histogram", "summary"}
ENDINGS = ("_total", "_count", "_sum", "_bucket", "_created")


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"labels: {text!r} at {at}"
        name, value = match[1], re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        assert name not in labels and not name.startswith("__"), f"label {name}: {text!r}"
        labels[name] = value
        at = match.end()
    return labels


def parse(text):
    """{metric: [(labels, value), ...]}; AssertionError names the line."""
    assert text.endswith("\n"), "the last line does not end"
    metrics, helped, typed, series = {}, set(), set(), set()
    current = None
    for number, line in enumerate(text[:-1].split("\n"), 1):
        place = f"line {number}: {line!r}"
        head = re.match(rf"# (HELP|TYPE) ({NAME}) (.+)$", line)
        if head:
            keyword, name, rest = head.groups()
            known = helped if keyword == "HELP" else typed
            assert name not in known and name not in metrics, f"{place}: said twice, or behind its samples"
            assert keyword == "HELP" or rest == "gauge", place
            known.add(name)
            current = name
            continue
        match = SAMPLE.match(line)
        assert match, place
        name, labels, value = match[1], labels_of(match[2] or ""), float(match[3])
        assert name == current and name in helped and name in typed, f"{place}: not behind its HELP and TYPE"
        key = (name, tuple(sorted(labels.items())))
        assert key not in series, f"{place}: the series stands there twice"
        series.add(key)
        metrics.setdefault(name, []).append((labels, value))
    assert helped == typed == set(metrics), "a metric without samples"
    for name in metrics:
        assert name.startswith("ulb_") and name == name.lower() and not name.endswith(ENDINGS), name
        assert not (ODD_UNITS | TYPES) & set(name.split("_")), name
    return metrics


def check(text):
    """What parse() gives, after promtool, where it is installed, has found nothing to say."""
    if shutil.which("promtool"):
        lint = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        assert lint.returncode == 0 and not lint.stdout + lint.stderr, lint
    return parse(text)


def refuses(text):
    try:
        parse(text)
    except (AssertionError, ValueError):
        return True
    return False


def self_test():
    """The validator itself: what it must accept, and what it must not."""
    head = "# HELP ulb_a_ratio A.\n# TYPE ulb_a_ratio gauge\n"
    assert parse(head + 'ulb_a_ratio{a="x\\"{}\\\\,\\n",b=""} 1e-3\n') == \
        {"ulb_a_ratio": [({"a": 'x"{}\\,\n', "b": ""}, 0.001)]}
    assert parse(head + "ulb_a_ratio 1\n") == {"ulb_a_ratio": [({}, 1.0)]}
    for bad in ("ulb_a_ratio 1\n", head, head + "ulb_a_ratio 1", head + "ulb_a_ratio x\n", head + "ulb_a_ratio{a=1} 1\n",
                head + 'ulb_a_ratio{a="\\x"} 1\n', head + 'ulb_a_ratio{a="1",a="2"} 1\n', head + "ulb_a_ratio 1\nulb_a_ratio 2\n",
                head + 'ulb_a_ratio{a="b"c"} 1\n', head + "ulb_a_ratio 1\n" + head, (head + "ulb_a_ratio 1\n").replace("_ratio", "_us"),
                head + "ulb_b_ratio 1\n", head + "\n", (head + "ulb_a_ratio 1\n").replace("_ratio", "_total"),
                (head + "ulb_a_ratio 1\n").replace("_a_", "_summary_")):
        assert refuses(bad), bad
