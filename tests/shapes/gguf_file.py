"""Writes GGUF files: what stands before the weights, right or wrong."""
import struct


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf(pairs=(), tensors=(), version=3, n_pairs=None, n_tensors=None):
    """A header of raw values: pairs of (key, type, bytes), tensors of (name, dims, type)."""
    data = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if n_tensors is None else n_tensors,
                                 len(pairs) if n_pairs is None else n_pairs)
    for key, kind, value in pairs:
        data += string(key) + struct.pack("<I", kind) + value
    for name, dims, kind in tensors:
        data += string(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        data += struct.pack("<IQ", kind, 0)
    return data


def u32(key, value):
    return (key, 4, struct.pack("<I", value))


META = [("general.architecture", 8, string("llama")), u32("llama.embedding_length", 64), u32("llama.block_count", 1),
        u32("llama.attention.head_count", 4), u32("llama.feed_forward_length", 128), u32("llama.vocab_size", 256)]
TENSORS = [("token_embd.weight", (64, 256), 1), ("blk.0.attn_q.weight", (64, 64), 1),
           ("blk.0.attn_k.weight", (64, 64), 1), ("blk.0.attn_v.weight", (64, 64), 1),
           ("blk.0.attn_output.weight", (64, 64), 1), ("blk.0.ffn_gate.weight", (64, 128), 1),
           ("blk.0.ffn_up.weight", (64, 128), 1), ("blk.0.ffn_down.weight", (128, 64), 1)]
