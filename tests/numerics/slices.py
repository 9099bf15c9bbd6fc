"""Keys and values that are part of something larger are read where they lie: one claim a function, through compiled code.

Emitted code has no memory but its workspace, so that what it might copy shows in how the workspace grows.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
from ctypes import c_int64

import numpy as np

from claims import check, claim
from elements import load, store

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(root / "examples" / "09-python"))
from heed_module import Module

heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
HEADS, WIDTH = 2, 16
tolerances = {"f32": 5e-6, "f16": 2e-3, "bf16": 2e-2}


def tensor(sizes, kind):
    return f"tensor<{sizes}x{kind}>"


def attention(type_, layout):
    return f"""  %y = attn.attention %q, %k, %v scale(0.25) layout("{layout}") : {type_}, {type_}, {type_} -> {type_}
"""


def entry(name, kind, arguments, body, attributes=""):
    query = tensor(f"1x{HEADS}x?x{WIDTH}", kind)
    shape = f'attn.shape = [1, {HEADS}, "queries", {WIDTH}]'
    return f"""func.func @{name}(%q: {query} {{attn.name = "q", {shape}}}, {arguments}) -> ({query} {{attn.name = "y"}}) {attributes} {{
  %c2 = arith.constant 2 : index
{body}{attention(query, "bhqd,bhkd,bhke->bhqe")}  return %y : {query}
}}
"""


def strided(kind):
    key = tensor(f"1x{HEADS}x?x{WIDTH}", kind)
    argument = lambda name: f'%{name}: {key} {{attn.name = "{name}", attn.shape = [1, {HEADS}, "keys", {WIDTH}], attn.strided}}'
    return entry(f"strided_{kind}", kind, f"{argument('k')}, {argument('v')}", "")


def beside(kind):
    """A key and its value lie side by side."""
    both, key = tensor(f"1x{HEADS}x?x{2 * WIDTH}", kind), tensor(f"1x{HEADS}x?x{WIDTH}", kind)
    part = lambda begin: f"tensor.extract_slice %kv[0, 0, 0, {begin}] [1, {HEADS}, %n, {WIDTH}] [1, 1, 1, 1] : {both} to {key}"
    return entry(f"beside_{kind}", kind, f'%kv: {both} {{attn.name = "kv", attn.shape = [1, {HEADS}, "keys", {2 * WIDTH}]}}',
                 f"  %n = tensor.dim %kv, %c2 : {both}\n  %k = {part(0)}\n  %v = {part(WIDTH)}\n")


def stacked(kind):
    """All keys lie before all values, and all but nine rows of each are attended to, from a place told at run time."""
    both, key = tensor(f"2x{HEADS}x?x{WIDTH}", kind), tensor(f"1x{HEADS}x?x{WIDTH}", kind)
    part = lambda i: f"tensor.extract_slice %kv[{i}, 0, %from, 0] [1, {HEADS}, %n, {WIDTH}] [1, 1, 1, 1] : {both} to {key}"
    return entry(f"stacked_{kind}", kind,
                 f'%kv: {both} {{attn.name = "kv", attn.shape = [2, {HEADS}, "keys", {WIDTH}]}}, '
                 '%begin: tensor<1xi64> {attn.name = "begin", attn.range = [0, 9]}',
                 f"""  %zero = arith.constant 0 : index
  %first = tensor.extract %begin[%zero] : tensor<1xi64>
  %from = arith.index_cast %first : i64 to index
  %all = tensor.dim %kv, %c2 : {both}
  %c9 = arith.constant 9 : index
  %n = arith.subi %all, %c9 : index
  %k = {part(0)}
  %v = {part(1)}
""", 'attributes {attn.require = ["9 <= keys"]}')


def projected(kind):
    """Query, key and value are parts of one product."""
    columns = 3 * HEADS * WIDTH
    hidden, product, matrix = tensor("1x?x8", kind), tensor(f"1x?x{columns}", kind), tensor(f"{columns}x8", kind)
    merged, split = tensor(f"1x?x{HEADS * WIDTH}", kind), tensor(f"1x?x{HEADS}x{WIDTH}", kind)
    parts = "".join(f"""  %s{name} = tensor.extract_slice %p[0, 0, {i * HEADS * WIDTH}] [1, %n, {HEADS * WIDTH}] [1, 1, 1] : {product} to {merged}
  %{name} = tensor.expand_shape %s{name} [[0], [1], [2, 3]] output_shape [1, %n, {HEADS}, {WIDTH}] : {merged} into {split}
""" for i, name in enumerate("qkv"))
    return f"""func.func @projected_{kind}(%x: {hidden} {{attn.name = "x", attn.shape = [1, "tokens", 8]}}, %w: {matrix} {{attn.name = "w"}})
    -> ({split} {{attn.name = "y"}}) {{
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : {hidden}
  %p = attn.linear %x, %w : {hidden}, {matrix} -> {product}
{parts}{attention(split, "bqhd,bkhd,bkhe->bqhe")}  return %y : {split}
}}
"""


entries = [strided("f32"), beside("f32"), beside("f16"), stacked("bf16"), projected("f32")]


def random(kind, *shape):
    return load(store(np.random.default_rng(sum(shape)).standard_normal(shape), kind))


def expected(q, k, v):
    scores = 0.25 * q.astype(float) @ k.swapaxes(-1, -2).astype(float)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def scratch_per_key(name, *sizes):
    """Bytes by which the workspace grows with each key more; `sizes`: all but the keys, which come last."""
    bytes = lambda keys: module[name].struct.workspace_bytes((c_int64 * (len(sizes) + 1))(*sizes, keys), 1)
    return (bytes(5000) - bytes(1000)) / 4000


def agrees(name, kind, inputs, q, k, v):
    found = load(module[name](q=store(q, kind), **inputs)["y"])
    wanted = expected(q, k, v)
    assert np.allclose(found, wanted, rtol=tolerances[kind], atol=tolerances[kind]), (name, q.shape, k.shape, abs(found - wanted).max())


@claim
def views_of_larger_tensors_are_attended_to():
    for queries in (1, 3, 40):
        for keys in (1, 70, 300):
            q = random("f32", 1, HEADS, queries, WIDTH)
            k, v = (random("f32", 1, keys + i, HEADS + 1, WIDTH).swapaxes(1, 2)[:, 1:, i:] for i in (1, 2))
            agrees("strided_f32", "f32", {"k": k, "v": v}, q, k, v)
            for kind in ("f32", "f16"):
                q, kv = random(kind, 1, HEADS, queries, WIDTH), random(kind, 1, HEADS, keys, 2 * WIDTH)
                agrees(f"beside_{kind}", kind, {"kv": store(kv, kind)}, q, kv[..., :WIDTH], kv[..., WIDTH:])
            q, kv = random("bf16", 1, HEADS, queries, WIDTH), random("bf16", 2, HEADS, keys + 9, WIDTH)
            agrees("stacked_bf16", "bf16", {"kv": store(kv, "bf16"), "begin": np.array([4], np.int64)}, q, kv[:1, :, 4:-5],
                   kv[1:, :, 4:-5])


@claim
def parts_of_one_product_are_attended_to():
    for tokens in (1, 3, 70, 300):
        x, w = random("f32", 1, tokens, 8), random("f32", 3 * HEADS * WIDTH, 8)
        q, k, v = (part.reshape(1, tokens, HEADS, WIDTH).swapaxes(1, 2) for part in np.split(x @ w.T, 3, -1))
        found, wanted = module["projected_f32"](x=x, w=w)["y"], expected(q, k, v).swapaxes(1, 2)
        assert np.allclose(found, wanted, rtol=2e-4, atol=2e-4), (tokens, abs(found - wanted).max())


@claim
def no_slice_is_copied():
    for kind, names in {"f32": ("strided_f32", "beside_f32"), "f16": ("beside_f16",), "bf16": ("stacked_bf16",)}.items():
        row = HEADS * WIDTH * store(0, kind).itemsize
        for name in names:
            # Few queries keep sums of each part of the keys; many share keys that are packed into transposed tiles.
            assert scratch_per_key(name, 1) < 2, (name, scratch_per_key(name, 1))
            assert scratch_per_key(name, 40) < row + 1, (name, scratch_per_key(name, 40))
    # Three rows of the product; keys and, as heads lie side by side, values packed once.
    assert scratch_per_key("projected_f32") < (3 + 2) * 4 * HEADS * WIDTH + 2, scratch_per_key("projected_f32")


scratch = tempfile.TemporaryDirectory()
model = pathlib.Path(scratch.name) / "slices.mlir"
model.write_text("module @slices {\n" + "".join(entries) + "}\n")
subprocess.run([heed, "compile", model, "-o", model.with_suffix(".so")], check=True)
module = Module(model.with_suffix(".so"))
check()
