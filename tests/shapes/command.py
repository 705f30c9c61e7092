#!/usr/bin/env python3
"""The command `shapes` from outside: its three outputs, files where models are named, and damaged files, each of which
is refused with one line in under a second and in bounded memory.
usage: command.py ULB-BENCH MEBIBYTES"""
import csv
import io
import json
import os
import struct
import sys
import tempfile

from gguf_file import META, TENSORS, gguf, string, u32
from runner import runner

bench, most_mib = sys.argv[1], int(sys.argv[2])
os.chdir(tempfile.mkdtemp())
run = runner(bench)

FALCON = dict(model_type="llama", head_dim=256, hidden_size=2048, intermediate_size=8192, num_attention_heads=8,
              num_hidden_layers=18, num_key_value_heads=4, tie_word_embeddings=False, vocab_size=131072)


def shown(*arguments):
    code, out, err, _, _ = run("shapes", *arguments)
    assert (code, err) == (0, ""), (arguments, code, err)
    return out


def write(name, content):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def config(**changes):
    return json.dumps({key: value for key, value in {**FALCON, **changes}.items() if value != "absent"})


HUGE = 10**18

# --- what is shown ---

write("falcon.json", config())
document = json.loads(shown("falcon.json", "--json"))
assert document["model"] == "falcon" and document["layers"] == 18 and document["params"] == 1669332992
assert document["derived"] == []
assert [(m["layer"], m["m"], m["k"], m["count"], m["active"], m["fused"]) for m in document["matrices"]] == [
    ("qkv", 4096, 2048, 18, 18, True), ("o", 2048, 2048, 18, 18, False), ("gate_up", 16384, 2048, 18, 18, True),
    ("down", 2048, 8192, 18, 18, False), ("lm_head", 131072, 2048, 1, 1, False)]
assert document["matrices"][0]["parts"] == [{"layer": "q", "m": 2048}, {"layer": "k", "m": 1024},
                                            {"layer": "v", "m": 1024}]
assert document["file_bytes"] is None and document["file_bytes_reason"]
weights = sum(m["m"] * m["k"] * m["active"] for m in document["matrices"])
scales = sum(m["m"] * m["active"] for m in document["matrices"])
assert document["bytes_per_token"]["bf16"] == 2 * weights
assert document["bytes_per_token"]["int8"] == weights + 4 * scales
assert document["bytes_per_token"]["int2"] == weights // 4 + 4 * scales
assert document["bytes_per_token_without_head"]["bf16"] == 2 * document["weights_per_token_without_head"]
assert {f["name"] for f in json.loads(run("list", "formats", "--json")[1])["formats"]} == set(document["bytes_per_token"])

separate = json.loads(shown("falcon.json", "--json", "--separate"))
assert [m["layer"] for m in separate["matrices"]] == ["q", "k", "v", "o", "gate", "up", "down", "lm_head"]
assert separate["bytes_per_token"]["bf16"] == 2 * weights and separate["params"] == document["params"]

rows = list(csv.DictReader(io.StringIO(shown("falcon.json", "--csv"))))
assert [(r["layer"], int(r["m"]), r["form"]) for r in rows] == [
    (m["layer"], m["m"], "fused" if m["fused"] else "separate") for m in document["matrices"]]
assert sum(int(r["bytes_per_token_int2"]) for r in rows) == document["bytes_per_token"]["int2"]

for arguments in ("falcon.json",), ("deepseek-v3", "--separate"), ("mt-nlg-530b",), ("bitnet-xl",):
    lines = shown(*arguments).splitlines()
    assert max(map(len, lines)) <= 100 and len(lines) > 10, arguments
by_format = json.loads(shown("bitnet-xl", "--json"))["bytes_per_token"]  # rows of 5460, which no block of 32 divides
assert by_format["q4_0"] is None and "no multiple of 32" in by_format["q4_0_reason"]
assert isinstance(by_format["int8"], int)
assert json.loads(shown("mt-nlg-530b", "--json"))["bytes_per_token"]["int8_reason"] == "the vocabulary is not published"

write("small.gguf", gguf(META, TENSORS))
small = json.loads(shown("small.gguf", "--json"))
assert small["file_bytes"] == 2 * (64 * 256 + 4 * 64 * 64 + 3 * 64 * 128) == small["file_bytes_per_token"]
assert small["tied_head"] and small["source"].startswith("GGUF version 3")

# A file wherever a model is named.
code, out, err, _, _ = run("model", "--platform", "lnl", "--models", "falcon.json,small.gguf,gptj-6b", "--json")
assert code == 0, err
assert {r["model"] for r in json.loads(out)["gemv"]} == {"falcon", "small", "gptj-6b"}
code, out, err, _, _ = run("model", "--platform", "lnl", "--models", "falcon.json,./falcon.json")
assert code == 2 and "named twice" in err

# --- what is refused ---

DAMAGED = {
    "empty": b"",
    "cut.json": config()[:-20],
    "huge-number.json": config(vocab_size=HUGE),
    "wider-number.json": config().replace("131072", "9" * 400),
    "nan.json": config().replace("131072", "NaN"),
    "wrong-type.json": config(hidden_size="2048"),
    "list.json": config(hidden_size=[1, 2]),
    "negative.json": config(num_hidden_layers=-18),
    "nothing.json": config(hidden_size=None),
    "twice.json": config()[:-1] + ', "hidden_size": 4096}',
    "unknown.json": config(model_type="perceiver"),
    "deep.json": '{"a":' * 60000,
    "deep-list.json": '{"a":' + "[" * 300000,
    "objects.json": "[" + "{}," * 170000 + "{}]",  # what jansson needs the most memory for, at the largest size
    "long.json": config()[:-1] + ', "x": "' + "y" * 10**7 + '"}',
    "noise.json": bytes(range(256)) * 100,
    "cut.gguf": gguf(META, TENSORS)[:-30],
    "cut-in-key.gguf": gguf(META)[:100],
    "magic.gguf": b"GGUF",
    "version1.gguf": gguf(META, TENSORS, version=1),
    "version9.gguf": gguf(META, TENSORS, version=9),
    "tensors.gguf": gguf(META, TENSORS, n_tensors=HUGE),
    "pairs.gguf": gguf(META, TENSORS, n_pairs=HUGE),
    "string.gguf": gguf(META[:1] + [("x", 8, struct.pack("<Q", HUGE))]),
    "array.gguf": gguf(META[:1] + [("x", 9, struct.pack("<IQ", 4, HUGE))]),
    "array-of-strings.gguf": gguf(META[:1] + [("x", 9, struct.pack("<IQ", 8, HUGE))]),
    "nested.gguf": gguf(META[:1] + [("x", 9, struct.pack("<IQ", 9, 1) * 100000)]),
    "type.gguf": gguf(META[:1] + [("x", 55, b"")]),
    "nan.gguf": gguf(META + [("llama.rope.freq_base", 6, struct.pack("<f", float("nan")))], TENSORS),
    "blocks.gguf": gguf([*META[:2], u32("llama.block_count", 2**32 - 1), *META[3:]], TENSORS),
    "side.gguf": gguf(META, TENSORS + [("blk.0.x.weight", (HUGE, HUGE, HUGE, HUGE), 1)]),
    "tensor-type.gguf": gguf(META, TENSORS + [("blk.0.attn_q.weight", (64, 64), 2**31)]),
    "contradiction.gguf": gguf(META, [("blk.0.attn_q.weight", (65, 64), 1)]),
    "experts.gguf": gguf(META, TENSORS + [("blk.0.ffn_up_exps.weight", (64, 64, 7), 1)]),
    "control.gguf": gguf(META, TENSORS + [("blk.0.\n\x1b[2J.weight", (64, 64), 2**31)]),
}
# All zeros behind a header that claims as many empty strings as fit: 100 GB of file, of which little is read.
write("sparse-strings.gguf", gguf(META[:1] + [("x", 9, struct.pack("<IQ", 8, 10**7))]))
os.truncate("sparse-strings.gguf", 100 * 10**9)

for name, content in DAMAGED.items():
    write(name, content)
assert len(DAMAGED) >= 30
slowest, largest = 0, 0
for name in [*DAMAGED, "sparse-strings.gguf"]:
    code, out, err, seconds, mib = run("shapes", name)
    assert code == 2 and out == "", (name, code, err)
    assert err.count("\n") == 1 and err.startswith("ulb-bench: " + name) and err[:-1].isprintable(), (name, err)
    assert seconds < 1 and mib < most_mib, f"{name}: {seconds:.2f} s, {mib:.0f} MiB"
    slowest, largest = max(slowest, seconds), max(largest, mib)

for arguments, text in ((), "say which model"), (("falcon.json", "x"), "surplus argument 'x'"), (("gpt-9",), "unknown model 'gpt-9'"), \
        (("nosuch.gguf",), "cannot be opened"), ((".",), "models and no config.json"), (("falcon.json", "--json", "--csv"), "either --json or --csv"):
    code, out, err, _, _ = run("shapes", *arguments)
    assert code == 2 and out == "" and text in err and err.count("\n") == 1, (arguments, err)
print(f"{len(DAMAGED) + 1} damaged files refused, each in {slowest:.2f} s and {largest:.0f} MiB at most")
