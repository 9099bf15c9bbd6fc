"""What is measured: every work with its inputs, its weights, the least it costs, and its result from the formula.

A work's name is `group shape`: `gemm 128x384x384`, `sdpa s512_causal`, `minilm b1 s16`. Weights depend on the family
alone, so that one compiled module serves all works of a family; inputs are random normal numbers.
"""

import dataclasses
import math
import pathlib
import zlib

import numpy as np

minilm = pathlib.Path(__file__).resolve().parents[2] / ".venv" / "cache" / "minilm"

SIZES = {
    "minilm": {"width": 384, "inner": 1536, "layers": 6, "heads": 12, "epsilon": 1e-12, "activation": "gelu"},
    "encoder": {"width": 512, "inner": 2048, "layers": 1, "heads": 8, "epsilon": 1e-5, "activation": "relu"},
    "decoder": {"width": 512, "inner": 2048, "layers": 1, "heads": 8, "epsilon": 1e-5, "activation": "relu"},
}


def random(key):
    return np.random.default_rng(zlib.crc32(key.encode()))


def normal(generator, *shape, scale=1.0):
    return (generator.standard_normal(shape, np.float32) * np.float32(scale)).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Gemm:
    """y = activation(x · wᵀ + b), `copies` times, each with an x, w and b of its own.

    With one copy the weights stay in the smallest cache that holds them; with so many that no cache holds them all,
    they come from memory.
    """
    group: str
    m: int
    k: int
    n: int
    activation: str = ""
    copies: int = 1
    tolerance = 1e-4

    @property
    def name(self):
        suffix = f"_{self.activation}" if self.activation else ""
        return f"{self.group} {self.m}x{self.k}x{self.n}{suffix}{'_memory' if self.copies > 1 else ''}"

    @property
    def family(self):
        return f"gemm_{self.k}x{self.n}{self.activation}x{self.copies}"

    @property
    def flops(self):
        return 2 * self.m * self.k * self.n * self.copies

    @property
    def bytes(self):
        return 4 * (self.k * self.n + self.n + self.m * (self.k + self.n)) * self.copies

    @property
    def limit(self):
        return "bytes" if self.group == "rows" else "flops"

    def inputs(self):
        generator = random(self.name)
        return {f"x{i}": normal(generator, self.m, self.k) for i in range(self.copies)}

    def weights(self):
        generator, weights = random(self.family), {}
        for i in range(self.copies):
            weights[f"w{i}"] = normal(generator, self.n, self.k, scale=self.k ** -0.5)
            weights[f"b{i}"] = normal(generator, self.n)
        return weights

    def output_shapes(self):
        return {f"y{i}": (self.m, self.n) for i in range(self.copies)}

    def expected(self, inputs):
        """Some rows of the result, in double precision: {output: (rows, values)}."""
        weights, rows = self.weights(), np.unique(np.linspace(0, self.m - 1, 32).astype(int))
        expected = {}
        for i in range(self.copies):
            y = inputs[f"x{i}"][rows].astype(np.float64) @ weights[f"w{i}"].T + weights[f"b{i}"]
            if self.activation == "relu":
                y = np.maximum(y, 0)
            elif self.activation == "gelu":
                y = 0.5 * y * (1 + erf(y * 0.5 ** 0.5))
            expected[f"y{i}"] = (rows, y)
        return expected


erf = np.vectorize(math.erf)


@dataclasses.dataclass(frozen=True)
class Attention:
    """softmax(scale · q·kᵀ, where the mask keeps) · v, with the heads before the positions: [batch, head, position, d].

    mask: "", "causal" (as many queries as keys), "window": the query's own position and the window − 1 before it, or
    "documents": causal within documents of unlike lengths, whose ids are an input.
    """
    shape: str
    queries: int
    keys: int
    heads: int = 8
    kv_heads: int = 8
    d: int = 64
    mask: str = ""
    window: int = 0
    batch: int = 1
    group = "sdpa"
    tolerance = 1e-4

    @property
    def name(self):
        return f"sdpa {self.shape}"

    @property
    def family(self):
        return f"sdpa_h{self.heads}_{self.kv_heads}_d{self.d}{self.mask}{self.window or ''}"

    @property
    def scale(self):
        return self.d ** -0.5

    @property
    def pairs(self):
        """Kept pairs of a query and a key, of one head."""
        if not self.mask:
            return self.queries * self.keys
        if self.mask == "documents":
            return sum(length * (length + 1) // 2 for length in self.lengths)
        most = self.window or self.keys
        return sum(min(position + 1, most) for position in range(self.queries))

    @property
    def lengths(self):
        """Of the documents: from a thirty-second of all positions to what the others leave."""
        lengths = [self.queries * part // 64 for part in (9, 2, 14, 5, 3, 8, 6)]
        return [*lengths, self.queries - sum(lengths)]

    @property
    def has_named_mask(self):
        """Whether common libraries have a name for the mask, or none is needed; else they are given a tensor."""
        return self.mask in ("", "causal")

    @property
    def flops(self):
        return 4 * self.batch * self.heads * self.pairs * self.d

    @property
    def bytes(self):
        return 4 * self.batch * self.d * (2 * self.heads * self.queries + 2 * self.kv_heads * self.keys)

    @property
    def limit(self):
        return "bytes" if self.queries <= 4 else "flops"

    def inputs(self):
        generator = random(self.name)
        inputs = {
            "q": normal(generator, self.batch, self.heads, self.queries, self.d),
            "k": normal(generator, self.batch, self.kv_heads, self.keys, self.d),
            "v": normal(generator, self.batch, self.kv_heads, self.keys, self.d),
        }
        return inputs | ({"documents": self.documents()} if self.mask == "documents" else {})

    def documents(self):
        """The id of each position's document."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)

    def weights(self):
        return {}

    def output_shapes(self):
        return {"y": (self.batch, self.heads, self.queries, self.d)}

    def keep(self, rows):
        """Which keys these queries see."""
        distance = rows[:, None] - np.arange(self.keys)
        kept = (distance >= 0) & (distance < (self.window or self.keys))
        if self.mask == "documents":
            kept &= self.documents()[rows, None] == self.documents()
        return kept

    def expected(self, inputs):
        rows = np.unique(np.linspace(0, self.queries - 1, 32).astype(int))
        y = np.empty((self.batch, self.heads, len(rows), self.d))
        for b in range(self.batch):
            for h in range(self.heads):
                kv = h * self.kv_heads // self.heads
                scores = inputs["q"][b, h, rows].astype(np.float64) @ inputs["k"][b, kv].T * self.scale
                if self.mask:
                    scores[~self.keep(rows)] = -np.inf
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                y[b, h] = weights / weights.sum(-1, keepdims=True) @ inputs["v"][b, kv]
        return {"y": (rows, y)}


@dataclasses.dataclass(frozen=True)
class Model:
    """Whole networks: `minilm` (all-MiniLM-L6-v2), and one `encoder` or `decoder` layer of the base Transformer.

    half: only half of the tokens of the batch are valid, from a quarter to three quarters of each sequence.
    A decoder layer takes as many positions of the encoder as it has itself.
    """
    group: str
    batch: int
    seq: int
    half: bool = False
    tolerance = 1e-3
    limit = "flops"

    @property
    def name(self):
        return f"{self.group} b{self.batch} s{self.seq}{'_half' if self.half else ''}"

    @property
    def family(self):
        return self.group

    @property
    def sizes(self):
        return SIZES[self.group]

    @property
    def flops(self):
        """Of the matrix products."""
        tokens, pairs = self.batch * self.seq, self.batch * self.seq ** 2
        width, inner, layers = (self.sizes[name] for name in ("width", "inner", "layers"))
        flops = 2 * tokens * (4 * width ** 2 + 2 * width * inner) + 4 * pairs * width
        if self.group == "decoder":  # the attention to itself is causal, and there is one to the encoder
            causal = self.batch * self.seq * (self.seq + 1) // 2
            flops += 2 * tokens * 4 * width ** 2 + 4 * causal * width
        return layers * flops

    bytes = 0

    def valid(self):
        """Which tokens are valid: [batch, seq] of 0 and 1."""
        mask = np.ones((self.batch, self.seq), np.int64)
        if self.half:
            for row, part in zip(mask, np.linspace(0.25, 0.75, self.batch)):
                row[round(part * self.seq):] = 0
        return mask

    def inputs(self):
        generator = random(self.name)
        if self.group == "minilm":
            ids = generator.integers(1000, 30000, (self.batch, self.seq))
            return {"input_ids": ids, "attention_mask": self.valid(), "token_type_ids": np.zeros_like(ids)}
        names = ["x"] + ["memory"] * (self.group == "decoder")
        return {name: normal(generator, self.batch, self.seq, self.sizes["width"]) for name in names}

    def weights(self):
        """By names of our own: `0.self.query.weight` of layer 0, `embeddings.words`, …"""
        return minilm_weights() if self.group == "minilm" else self.layer_weights()

    def layer_weights(self):
        generator, weights = random(self.family), {}
        width, inner = self.sizes["width"], self.sizes["inner"]
        attentions = ["self"] + ["cross"] * (self.group == "decoder")
        matrices = [(f"{a}.{p}", width, width) for a in attentions for p in ("query", "key", "value", "output")]
        for name, rows, columns in matrices + [("widen", inner, width), ("narrow", width, inner)]:
            weights[f"0.{name}.weight"] = normal(generator, rows, columns, scale=columns ** -0.5)
            weights[f"0.{name}.bias"] = normal(generator, rows, scale=0.1)
        for name in [*attentions, "inner"]:
            weights[f"0.{name}.norm.weight"] = 1 + normal(generator, width, scale=0.1)
            weights[f"0.{name}.norm.bias"] = normal(generator, width, scale=0.1)
        return weights

    def output_shapes(self):
        return {"last_hidden_state" if self.group == "minilm" else "y": (self.batch, self.seq, self.sizes["width"])}

    def expected(self, inputs):
        """No formula here: the systems are compared with each other, at valid tokens."""
        return {}


def minilm_weights():
    from safetensors.numpy import load_file
    file = load_file(minilm / "model.safetensors")
    names = {"embeddings.words": "embeddings.word_embeddings.weight",
             "embeddings.positions": "embeddings.position_embeddings.weight",
             "embeddings.types": "embeddings.token_type_embeddings.weight"}
    parts = {"embeddings.norm": "embeddings.LayerNorm"}
    for i in range(SIZES["minilm"]["layers"]):
        layer = f"encoder.layer.{i}"
        parts |= {f"{i}.self.{part}": f"{layer}.attention.self.{part}" for part in ("query", "key", "value")}
        parts |= {f"{i}.self.output": f"{layer}.attention.output.dense",
                  f"{i}.self.norm": f"{layer}.attention.output.LayerNorm", f"{i}.widen": f"{layer}.intermediate.dense",
                  f"{i}.narrow": f"{layer}.output.dense", f"{i}.inner.norm": f"{layer}.output.LayerNorm"}
    names |= {f"{ours}.{kind}": f"{theirs}.{kind}" for ours, theirs in parts.items() for kind in ("weight", "bias")}
    return {ours: file[theirs] for ours, theirs in names.items()}


def attention_works():
    for s in (128, 512, 1024, 2048, 4096):
        yield Attention(f"s{s}", s, s)
        yield Attention(f"s{s}_causal", s, s, mask="causal")
        yield Attention(f"s{s}_window256", s, s, mask="window", window=256)
    yield Attention("s2048_documents", 2048, 2048, mask="documents")
    yield Attention("s1024_h9kv3_causal", 1024, 1024, heads=9, kv_heads=3, mask="causal")
    yield Attention("q128_k1500_h6", 128, 1500, heads=6, kv_heads=6)
    for d in (32, 80, 128):
        yield Attention(f"s512_d{d}", 512, 512, d=d)
    for q in (1, 4, 16):
        for k in (1024, 4096, 8192):
            yield Attention(f"q{q}_k{k}", q, k)


def all_works():
    for m, k, n in [(128, 384, 384), (128, 384, 1536), (128, 1536, 384), (512, 384, 1536), (512, 512, 512),
                    (512, 512, 2048), (512, 2048, 512), (128, 768, 3072), (1024, 1024, 1024)]:
        yield Gemm("gemm", m, k, n)
    for m in (16, 77, 197, 333):
        yield Gemm("gemm", m, 384, 1536)
        yield Gemm("gemm", m, 1536, 384)
    yield Gemm("gemm", 128, 384, 1536, "gelu")
    yield Gemm("gemm", 512, 512, 2048, "relu")
    for m, k, n in [(1, 576, 576), (1, 576, 1536), (1, 1536, 576), (4, 576, 1536), (1, 576, 49152)]:
        yield Gemm("rows", m, k, n)
    # 160 MB of weights and more: no cache holds them.
    for m, k, n in [(1, 576, 1536), (1, 1536, 576), (4, 576, 1536)]:
        yield Gemm("rows", m, k, n, copies=48)
    yield from attention_works()
    for group in ("minilm", "encoder", "decoder"):
        for seq in (16, 128, 512):
            yield Model(group, 1, seq)
        yield Model(group, 8, 128)
    yield Model("minilm", 8, 128, half=True)


def fusing_works():
    """Lengths, widths and masks at which fusing attention is compared with not fusing it."""
    for d in (16, 64, 128):
        for mask in ("", "causal"):
            for s in (1, 2, 8, 32, 128, 512, 1024):
                yield Attention(f"s{s}_d{d}{mask and '_' + mask}", s, s, d=d, mask=mask)
        for k in (1, 16, 128, 1024):
            yield Attention(f"q1_k{k}_d{d}", 1, k, d=d)


WORKS = {work.name: work for work in all_works()}
FUSING = {work.name: work for work in fusing_works()}
OVERHEAD = Gemm("overhead", 1, 16, 16)
