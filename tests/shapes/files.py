#!/usr/bin/env python3
"""Files that describe a model beside config.json: safetensors and their indexes, folders, oddities of JSON, GGUF files
with types of another fork. Damaged ones are refused with one line in under a second and in bounded memory.
usage: files.py ULB-BENCH MEBIBYTES"""
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
HUGE = 10**18
BITS = {"F32": 32, "BF16": 16, "F8_E4M3": 8, "U8": 8, "I32": 32, "U32": 32, "I64": 64}


def write(name, content):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def shown(*arguments):
    code, out, err, _, _ = run("shapes", *arguments, "--json")
    assert (code, err) == (0, ""), (arguments, code, err)
    return json.loads(out)


def refused(*arguments, text, command="shapes"):
    code, out, err, seconds, mib = run(command, *arguments)
    assert code == 2 and out == "" and err.count("\n") == 1 and text in err, (arguments, code, err)
    assert seconds < 1 and mib < most_mib, (arguments, seconds, mib)


def matrices(document):
    return {(m["layer"], m["m"], m["k"]): (m["count"], m["active"]) for m in document["matrices"]}


def safetensors(tensors, **changes):
    """A header alone: tensors of name: (dtype, shape)."""
    header, at = {}, 0
    for name, (dtype, shape) in tensors.items():
        size = BITS[dtype] // 8
        for side in shape:
            size *= side
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    for name, change in changes.items():
        header[name.replace("__", ".")].update(change)
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return struct.pack("<Q", len(text)) + text


def block(i, experts=0):
    at = f"model.layers.{i}."
    tensors = {at + "input_layernorm.weight": ("BF16", [64]), at + "self_attn.q_proj.weight": ("BF16", [96, 64]),
               at + "self_attn.k_proj.weight": ("BF16", [32, 64]), at + "self_attn.v_proj.weight": ("BF16", [32, 64]),
               at + "self_attn.o_proj.weight": ("BF16", [64, 96])}
    names = [f"mlp.experts.{e}." for e in range(experts)] or ["mlp."]
    for name in names:
        tensors.update({at + name + "gate_proj.weight": ("BF16", [128, 64]),
                        at + name + "up_proj.weight": ("BF16", [128, 64]),
                        at + name + "down_proj.weight": ("BF16", [64, 128])})
    if experts:
        tensors[at + "mlp.gate.weight"] = ("BF16", [experts, 64])
    return tensors


EMBEDDING = {"model.embed_tokens.weight": ("BF16", [1000, 64]), "model.norm.weight": ("BF16", [64])}
HEAD = {"lm_head.weight": ("BF16", [1000, 64])}
DENSE = {**EMBEDDING, **block(0), **block(1)}
BLOCK_WEIGHTS = 96 * 64 * 2 + 32 * 64 * 2 + 3 * 128 * 64

# --- safetensors ---

write("dense/model.safetensors", safetensors({**DENSE, **HEAD}))
document = shown("dense")
assert document["model"] == "dense" and document["layers"] == 2 and not document["tied_head"]
assert document["params"] == document["active_params"] == 2 * 64000 + 2 * BLOCK_WEIGHTS
assert matrices(document)[("gate", 128, 64)] == (2, 2) and document["source"] == "safetensors, 1 file"
assert document["file_bytes"] == 2 * (document["params"] + 3 * 64)
assert document["kv_bytes"] is None and document["kv_bytes_reason"]
write("tied/model.safetensors", safetensors(DENSE))
assert shown("tied/model.safetensors")["tied_head"]

EXPERTS = {**EMBEDDING, **HEAD, **block(0), **block(1, 8)}
write("moe/model.safetensors", safetensors(EXPERTS))
refused("moe/model.safetensors", text="no config.json beside it says how many are active")
write("moe/config.json", json.dumps({"model_type": "newcomer", "num_experts_per_tok": 2, "num_hidden_layers": 2,
                                     "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 16}))
document = shown("moe")
assert matrices(document)[("expert.up", 128, 64)] == (8, 2) and matrices(document)[("router", 8, 64)] == (1, 1)
assert any("by its tensors" in d and "newcomer" in d for d in document["derived"])
assert document["kv_bytes"] == 2 * 2 * 2 * 16 * 2 * 4096
refused("moe/config.json", text='"newcomer" is not known')

# Other layers: filters and matrices of the state are parameters and no GEMVs; towers and further blocks are left out.
ODD = {**EMBEDDING, **block(0), "model.layers.1.mixer.in_proj.weight": ("BF16", [200, 64]),
       "model.layers.1.mixer.A_log": ("F32", [128, 16]), "model.layers.1.mixer.conv1d.weight": ("BF16", [128, 1, 4]),
       "model.layers.1.mixer.out_proj.weight": ("BF16", [64, 128]), "vision_tower.blocks.0.qkv.weight": ("BF16", [99, 33]),
       "mtp.fc.weight": ("BF16", [64, 128])}
write("odd/model.safetensors", safetensors(ODD))
document = shown("odd")
assert document["params"] == 64000 + BLOCK_WEIGHTS + 200 * 64 + 128 * 16 + 128 * 4 + 64 * 128
assert not any("conv" in m["layer"] or "A_log" in m["layer"] for m in document["matrices"])
assert any("tower left out" in d for d in document["derived"]) and any("further tokens" in d for d in document["derived"])

# Packed weights are unpacked as quantization_config says, else refused.
Q = "model.layers.0.self_attn.q_proj."
PLAIN = {k: v for k, v in DENSE.items() if k != Q + "weight"}
PACKED = {
    "gptq": ({Q + "qweight": ("I32", [64 * 4 // 32, 96]), Q + "scales": ("BF16", [1, 96])}, {"bits": 4}),
    "awq": ({Q + "qweight": ("I32", [64, 96 * 4 // 32]), Q + "qzeros": ("I32", [1, 12])}, {"bits": 4}),
    "bitnet": ({Q + "weight": ("U8", [24, 64]), Q + "weight_scale": ("BF16", [1])}, {}),
    "compressed-tensors": ({Q + "weight_packed": ("I32", [96, 64 * 4 // 32]), Q + "weight_shape": ("I64", [2])},
                           {"config_groups": {"group_0": {"weights": {"num_bits": 4}}}}),
    "fp8": ({Q + "weight": ("F8_E4M3", [96, 64]), Q + "weight_scale_inv": ("F32", [1, 1])}, {}),
}
for method, (tensors, how) in PACKED.items():
    write(f"{method}/model.safetensors", safetensors({**PLAIN, **tensors}))
    if method != "fp8":
        refused(f"{method}/model.safetensors", text="is packed")
    write(f"{method}/config.json", json.dumps({"model_type": "newcomer", "num_hidden_layers": 2,
                                               "quantization_config": {"quant_method": method, **how}}))
    document = shown(f"{method}/model.safetensors")
    assert document["params"] == 64000 + 2 * BLOCK_WEIGHTS, (method, document["params"])
write("mxfp4/model.safetensors", safetensors({
    **EMBEDDING, **{k: v for k, v in block(0).items() if "mlp" not in k},
    "model.layers.0.mlp.experts.gate_up_proj_blocks": ("U8", [4, 256, 2, 16]),
    "model.layers.0.mlp.experts.gate_up_proj_scales": ("U8", [4, 256, 2]),
    "model.layers.0.mlp.experts.down_proj_blocks": ("U8", [4, 64, 4, 16])}))
write("mxfp4/config.json", json.dumps({"model_type": "newcomer", "num_experts_per_tok": 1,
                                       "quantization_config": {"quant_method": "mxfp4"}}))
assert matrices(shown("mxfp4"))[("expert.gate_up", 256, 64)] == (4, 1)
assert matrices(shown("mxfp4"))[("expert.down", 64, 128)] == (4, 1)

# An index names the files; all of them are needed.
parts = {"model-00001-of-00002.safetensors": {**EMBEDDING, **block(0)}, "model-00002-of-00002.safetensors": block(1)}
for name, tensors in parts.items():
    write("parts/" + name, safetensors(tensors))
index = json.dumps({"metadata": {}, "weight_map": {t: f for f, tensors in parts.items() for t in tensors}})
write("parts/model.safetensors.index.json", index)
assert shown("parts")["params"] == shown("parts/model.safetensors.index.json")["params"] == shown("tied")["params"]
refused("parts/model-00001-of-00002.safetensors", text="is one part of a model")
write("lost/model.safetensors.index.json", index)
refused("lost", text="model-00001-of-00002.safetensors cannot be opened")
write("climb/model.safetensors.index.json", json.dumps({"weight_map": {"x": "../parts/model-00001-of-00002.safetensors"}}))
refused("climb", text="names no file of its own folder")

# --- damaged safetensors ---

good = safetensors(DENSE)
DAMAGED = {
    "length": (struct.pack("<Q", 2 << 30) + good[8:], "claims a header of 2147483648 bytes"),
    "longest": (struct.pack("<Q", 2**64 - 1) + good[8:], "claims a header of 18446744073709551615 bytes"),
    "empty": (struct.pack("<Q", 0) + good[8:], "claims a header of 0 bytes"),
    "cut": (good[:-100], "claims a header"),
    "count": (safetensors(DENSE, model__norm__weight={"shape": [HUGE]}), "more than 1e+15 elements"),
    "counts": (safetensors(DENSE, model__norm__weight={"shape": [HUGE, HUGE, HUGE]}), "more than 1e+15 elements"),
    "negative": (safetensors(DENSE, model__norm__weight={"shape": [-64]}), "a size that is no number"),
    "deep": (safetensors(DENSE, model__norm__weight={"shape": [1] * 99}), "no shape of at most 8"),
    "overlap": (safetensors(DENSE, model__norm__weight={"data_offsets": [0, 128]}), "two tensors overlap"),
    "backward": (safetensors(DENSE, model__norm__weight={"data_offsets": [HUGE, 0]}), "has no data_offsets"),
    "sizes": (safetensors(DENSE, model__norm__weight={"shape": [65]}), "do not fill its 128 bytes"),
    "dtype": (safetensors(DENSE, model__norm__weight={"dtype": "Q4"}), "dtype Q4, which is not known"),
    "behind": (good + b"\0" * 100, "the file is cut off"),
    "blocks": (safetensors({**DENSE, "model.layers.99999999.x.weight": ("BF16", [4, 4])}), "more than 65536 blocks"),
    "none": (safetensors(EMBEDDING), "has no blocks"),
    "json": (struct.pack("<Q", 20) + b"{" * 20, "not the JSON"),
}
for name, (content, text) in DAMAGED.items():
    write(name + ".safetensors", content)
    refused(name + ".safetensors", text=text)
with open("many.safetensors", "wb") as file:  # written piece by piece: what this process takes counts for its children
    file.write(struct.pack("<Q", 4900000) + b"{")
    for i in range(400000):
        file.write(b'"%06d":{},' % i)
    file.write(b'"":{}' + b" " * (4900000 - 1 - 400000 * 12 - 6) + b"}")
refused("many.safetensors", text="holds more values than 40 MiB")
write("sparse.safetensors", struct.pack("<Q", 2 << 30) + b"{")
os.truncate("sparse.safetensors", 3 << 30)
refused("sparse.safetensors", text="has a header of 2147483648 bytes; at most")

# --- folders and oddities of JSON ---

CONFIG = dict(model_type="llama", hidden_size=64, intermediate_size=128, num_attention_heads=4, num_hidden_layers=2,
              vocab_size=1000, tie_word_embeddings=False)
plain = json.dumps(CONFIG)
parameters = 2 * 64000 + 2 * (4 * 64 * 64 + 3 * 64 * 128)
write("hub/models--some--Thing-9B/refs/main", "abc\n")
write("hub/models--some--Thing-9B/snapshots/abc/config.json", plain)
write("hub/models--some--Thing-9B/snapshots/old/config.json", plain.replace("64", "32"))
document = shown("hub/models--some--Thing-9B")
assert document["model"] == "thing-9b" and document["params"] == parameters
write("one/x-Q4.gguf", gguf(META, TENSORS))
assert shown("one")["source"].startswith("GGUF")
write("two/a.gguf", gguf(META, TENSORS))
write("two/b.gguf", gguf(META, TENSORS))
refused("two", text="holds 2 models and no config.json")
os.makedirs("nothing")
refused("nothing", text="holds no config.json")
write("reference/params.json", json.dumps(dict(dim=64, n_layers=2, n_heads=4, hidden_dim=128, vocab_size=1000)))
assert shown("reference")["params"] == parameters
assert shown(write("bom.json", b"\xef\xbb\xbf" + plain.encode()))["params"] == parameters
assert shown(write("inf.json", plain[:-1] + ', "router_z_loss": Infinity, "a": [NaN, -Infinity]}'))["params"] == parameters
refused(write("nan.json", plain.replace("128", "NaN")), text="intermediate_size is NaN or Infinity")
with open("big.json", "w") as file:
    file.write(plain[:-1] + ', "quantization_config": {"quant_method": "auto-round", "extra_config": {')
    for i in range(40000):
        file.write(f'"model.layers.{i}.mlp.gate": {{"bits": 16, "data_type": "float"}}, ')
    file.write('"last": 1}}}')
assert os.path.getsize("big.json") > 2 << 20 and shown("big.json")["params"] == parameters
document = shown(write("headless.json", plain[:-1] + ', "architectures": ["LlamaModel"]}'))
assert document["params"] == parameters - 64000 and document["kv_bytes"] == 0
assert document["bytes_per_token"]["bf16"] == document["bytes_per_token_without_head"]["bf16"] > 0
refused("Qwen/Qwen3-8B", text="the catalogue has it as 'qwen3-8b'")
refused("https://example.com/owner/model", text="nothing is downloaded")
refused("qwen3-8bb", text="did you mean 'qwen3-8b'")
refused("falcon3.json", text="cannot be opened")
write("Qwen3-8B/config.json", plain)  # a folder goes before a name of the catalogue that is only alike
assert shown("Qwen3-8B")["params"] == parameters and shown("qwen3-8b")["params"] > 8 * 10**9

# --- GGUF ---

def with_offsets(tensors, sizes):
    """The tensors with their data one behind the other, of these sizes; the last one's data too."""
    data = bytearray(gguf(META, tensors))
    at = len(data)
    for i in reversed(range(len(tensors))):
        at -= len(string(tensors[i][0])) + 4 + 8 * len(tensors[i][1]) + 4 + 8
        position = at + len(string(tensors[i][0])) + 4 + 8 * len(tensors[i][1]) + 4
        data[position:position + 8] = struct.pack("<Q", sum(sizes[:i]))
    return bytes(data) + b"\0" * (-len(data) % 32 + sum(sizes))


def typed(number):
    return [(name, dims, number if name.startswith("blk") else kind) for name, dims, kind in TENSORS]


elements = [dims[0] * dims[1] for _, dims, _ in TENSORS]
halves = [2 * n for n in elements]
for number, size in ((1, None), (39, 3), (77, 5), (999, 7)):  # TL2 of one fork is MXFP4 of the other; 77 and 999 are none
    sizes = [halves[0]] + [n if size is None else 32 * size * (n // 1024) for n in (halves if size is None else elements)[1:]]
    document = shown(write(f"type{number}.gguf", with_offsets(typed(number), sizes)))
    assert document["file_bytes"] == sum(sizes), (number, document["file_bytes"], sum(sizes))
more = TENSORS + [("blk.0.ssm_conv1d.weight", (4, 128), 0), ("blk.0.ssm_a", (16, 128), 0), ("blk.0.ssm_norm.weight", (32, 8), 0),
                  ("blk.0.ssm_out.weight", (96, 64), 1), ("per_layer_token_embd.weight", (32, 256), 1),
                  ("blk.0.ffn_gate_inp_shexp.weight", (64, 1), 1)]
document = shown(write("more.gguf", gguf(META, more)))
assert {m["layer"] for m in document["matrices"]} - {"q", "k", "v", "qkv", "o", "gate", "up", "gate_up", "down", "lm_head"} == {"ssm_out"}
assert document["params"] == sum(elements) + 4 * 128 + 16 * 128 + 32 * 8 + 96 * 64 + 32 * 256
for pairs, text in (([*META, ("general.type", 8, string("adapter"))], "is a LoRA adapter"),
                    ([("general.architecture", 8, string("clip"))], "is a vision or audio projector"),
                    ([("general.architecture", 8, string("t5")), *META[1:]], "is an encoder-decoder model"),
                    ([("general.architecture", 8, string("flux"))], "is a diffusion model")):
    refused(write("other.gguf", gguf(pairs, TENSORS)), text=text)
bert = [("general.architecture", 8, string("bert")), u32("bert.embedding_length", 64), u32("bert.block_count", 1),
        u32("bert.attention.head_count", 4), u32("bert.feed_forward_length", 128)]
document = shown(write("bert.gguf", gguf(bert, TENSORS)))
assert "lm_head" not in {m["layer"] for m in document["matrices"]} and document["kv_bytes"] == 0
assert any("an encoder" in d for d in document["derived"])

window = write("window.gguf", gguf([*META, u32("llama.attention.sliding_window", 8)], TENSORS))
assert shown(window)["kv_bytes"] == 4 * (16 + 16) * 2 * 8 and shown("one")["kv_bytes"] == 4 * (16 + 16) * 2 * 4096

# --- layers that the decoder cannot compute ---

hybrid = dict(model_type="lfm2", hidden_size=64, num_hidden_layers=3, vocab_size=1000, num_attention_heads=4,
              num_key_value_heads=2, block_ff_dim=192, block_auto_adjust_ff_dim=True, block_multiple_of=32, conv_L_cache=3,
              layer_types=["conv", "full_attention", "conv"], tie_embedding=True)
write("hybrid.json", json.dumps(hybrid))
document = shown("hybrid.json")
assert matrices(document)[("conv.in", 192, 64)] == (2, 2) and document["kv_bytes"] == 2 * 2 * 16 * 2 * 4096
assert document["params"] == 64000 + 2 * (256 * 64 + 3 * 64) + 3 * 3 * 128 * 64 + (64 + 64) * 64 + 2 * 32 * 64
assert shown("hybrid.json", "--context=100")["kv_bytes"] == 2 * 2 * 16 * 2 * 100
refused("--model", "hybrid.json", command="decode", text="layers other than attention and MLP")
code, out, err, _, _ = run("model", "--platform", "lnl", "--models", "hybrid.json", "--json")
assert code == 0 and {r["layer"] for r in json.loads(out)["gemv"]} >= {"conv.in", "conv.out"}, err
print("safetensors, folders, JSON and GGUF files read or refused as they should be")
