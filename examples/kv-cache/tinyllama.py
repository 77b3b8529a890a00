# SPDX-License-Identifier: GPL-3.0-or-later
"""A small language model with the llama architecture (RMSNorm, rotary positions, SwiGLU) on bytes.

Two ways through the same weights: forward() over a whole sequence (training) and step() with a key-value
cache that the caller may shorten between steps (the experiment). Weights are kept as GGUF v3, all F32.
"""
import math
import struct

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, WIDTH, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 260, 128, 4, 4, 352, 256
HEAD = WIDTH // HEADS
BEGIN, SPACE = 1, 259
ROPE_BASE = 10000.0
EPSILON = 1e-5


def encode(text):
    """Bytes to tokens: 0-2 are special, 3-258 the bytes; the blank has a token of its own (259)."""
    return [BEGIN] + [SPACE if byte == 32 else 3 + byte for byte in text]


def decode(tokens):
    return bytes(32 if token == SPACE else token - 3 for token in tokens if token >= 3)


def rope_tables(length):
    inverse = 1.0 / (ROPE_BASE ** (torch.arange(0, HEAD, 2).float() / HEAD))
    angles = torch.outer(torch.arange(length).float(), inverse)
    return angles.cos(), angles.sin()


def rotate(x, cosine, sine):
    """Rotary embedding on interleaved pairs; cosine and sine hold one row per position of x."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(3)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn_norm, self.ffn_norm = Norm(), Norm()
        self.attn_q, self.attn_k = linear(WIDTH, WIDTH), linear(WIDTH, WIDTH)
        self.attn_v, self.attn_output = linear(WIDTH, WIDTH), linear(WIDTH, WIDTH)
        self.ffn_gate, self.ffn_up = linear(WIDTH, FEED_FORWARD), linear(WIDTH, FEED_FORWARD)
        self.ffn_down = linear(FEED_FORWARD, WIDTH)

    def split(self, x):
        batch, length, _ = x.shape
        return x.view(batch, length, HEADS, HEAD).transpose(1, 2)

    def forward(self, x, rope, past=None):
        """past: None or (keys, values) already rotated. Returns x, the new cache and the attention weights."""
        normed = self.attn_norm(x)
        query = rotate(self.split(self.attn_q(normed)), *rope)
        key = rotate(self.split(self.attn_k(normed)), *rope)
        value = self.split(self.attn_v(normed))
        if past is not None:
            key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
        scores = query @ key.transpose(-1, -2) / math.sqrt(HEAD)
        new, total = query.shape[2], key.shape[2]
        if new > 1:
            scores = scores + torch.full((new, total), -1e9, device=x.device).triu(1 + total - new)
        weights = scores.softmax(-1)
        x = x + self.attn_output((weights @ value).transpose(1, 2).reshape(x.shape))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(normed)) * self.ffn_up(normed)), (key, value), weights


class TinyLlama(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embd = nn.Embedding(VOCABULARY, WIDTH)
        nn.init.normal_(self.token_embd.weight, std=0.05)
        self.blk = nn.ModuleList(Block() for _ in range(LAYERS))
        self.output_norm = Norm()
        self.output = linear(WIDTH, VOCABULARY)
        cosine, sine = rope_tables(CONTEXT)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)

    def forward(self, tokens):
        rope = self.cosine[: tokens.shape[1]], self.sine[: tokens.shape[1]]
        x = self.token_embd(tokens)
        for block in self.blk:
            x, _, _ = block(x, rope)
        return self.output(self.output_norm(x))

    def step(self, tokens, position, cache):
        """Processes tokens that begin at `position` after `cache` (a list per layer). Returns the logits of
        the last token, the grown cache and each layer's attention weights."""
        end = position + tokens.shape[1]
        rope = self.cosine[position:end], self.sine[position:end]
        x, grown, weights = self.token_embd(tokens), [], []
        for block, past in zip(self.blk, cache or [None] * LAYERS):
            x, kept, seen = block(x, rope, past)
            grown.append(kept)
            weights.append(seen)
        return self.output(self.output_norm(x[:, -1])), grown, weights


# ---- GGUF ------------------------------------------------------------------------------------------------

GGUF_TYPES = {4: "<I", 6: "<f", 7: "<?", 0: "<B", 1: "<b", 2: "<H", 3: "<h", 5: "<i", 10: "<Q", 11: "<q", 12: "<d"}


def tensor_names(model):
    """(name in the file, parameter): the order in which they are written."""
    return [(name if name.endswith("weight") else name + ".weight", value) for name, value in model.named_parameters()]


def save(model, path):
    def text(value):
        return struct.pack("<Q", len(value)) + value

    metadata = []

    def add(key, kind, raw):
        metadata.append(text(key.encode()) + struct.pack("<I", kind) + raw)

    def add_u32(key, value):
        add(key, 4, struct.pack("<I", value))

    add("general.architecture", 8, text(b"llama"))
    add("general.name", 8, text(b"probelauf tiny licence-text model"))
    add("general.license", 8, text(b"GPL-3.0-or-later"))
    add_u32("general.file_type", 0)
    for key, value in (("context_length", CONTEXT), ("embedding_length", WIDTH), ("block_count", LAYERS),
                       ("feed_forward_length", FEED_FORWARD), ("attention.head_count", HEADS),
                       ("attention.head_count_kv", HEADS), ("rope.dimension_count", HEAD),
                       ("vocab_size", VOCABULARY)):
        add_u32("llama." + key, value)
    add("llama.rope.freq_base", 6, struct.pack("<f", ROPE_BASE))
    add("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", EPSILON))
    words = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % byte for byte in range(256)] + ["\u2581".encode()]
    add("tokenizer.ggml.model", 8, text(b"llama"))
    add("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, VOCABULARY) + b"".join(map(text, words)))
    add("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, VOCABULARY) + struct.pack("<%df" % VOCABULARY, *([0.0] * VOCABULARY)))
    kinds = [2, 3, 3] + [6] * 256 + [1]
    add("tokenizer.ggml.token_type", 9, struct.pack("<IQ", 5, VOCABULARY) + struct.pack("<%di" % VOCABULARY, *kinds))
    add_u32("tokenizer.ggml.bos_token_id", 1)
    add_u32("tokenizer.ggml.eos_token_id", 2)
    add_u32("tokenizer.ggml.unknown_token_id", 0)
    add("tokenizer.ggml.add_bos_token", 7, struct.pack("<?", True))
    add("tokenizer.ggml.add_space_prefix", 7, struct.pack("<?", False))

    index, data = b"", b""
    names = tensor_names(model)
    for name, value in names:
        array = value.detach().cpu().contiguous().numpy()
        index += text(name.encode()) + struct.pack("<I", array.ndim)
        index += b"".join(struct.pack("<Q", size) for size in reversed(array.shape))
        index += struct.pack("<IQ", 0, len(data))
        data += array.tobytes()
        data += b"\0" * (-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(names), len(metadata)) + b"".join(metadata) + index
    with open(path, "wb") as out:
        out.write(head + b"\0" * (-len(head) % 32) + data)


class Reader:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, form):
        (value,) = struct.unpack_from(form, self.raw, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        length = self.take("<Q")
        self.at += length
        return self.raw[self.at - length : self.at]

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.take("<I"), self.take("<Q")
            return [self.value(inner) for _ in range(count)]
        return self.take(GGUF_TYPES[kind])


def load(path, device="cpu"):
    with open(path, "rb") as source:
        raw = source.read()
    reader = Reader(raw)
    if raw[:4] != b"GGUF" or struct.unpack_from("<I", raw, 4)[0] != 3:
        raise SystemExit("%s is not a GGUF v3 file" % path)
    reader.at = 8
    tensors, pairs = reader.take("<Q"), reader.take("<Q")
    for _ in range(pairs):
        reader.text()
        reader.value(reader.take("<I"))
    entries = []
    for _ in range(tensors):
        name, dims = reader.text().decode(), reader.take("<I")
        shape = [reader.take("<Q") for _ in range(dims)][::-1]
        kind, offset = reader.take("<I"), reader.take("<Q")
        if kind != 0:
            raise SystemExit("%s: tensor %s is not F32" % (path, name))
        entries.append((name, shape, offset))
    base = reader.at + (-reader.at % 32)
    weights = {}
    for name, shape, offset in entries:
        count = math.prod(shape)
        weights[name] = torch.frombuffer(bytearray(raw[base + offset : base + offset + 4 * count]), dtype=torch.float32).view(shape)
    model = TinyLlama()
    model.load_state_dict(weights, strict=True)
    return model.to(device).eval()
