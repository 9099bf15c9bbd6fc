"""Decoding step by step with caches, one claim a function, through compiled code: what a step computes, and which bytes
it touches. The bytes are counted by counting.c, to which code compiled with --instrument=thread tells each access."""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import save_file

from claims import check, claim
from elements import load, store

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(root / "examples" / "09-python"))
from heed_module import STATE, Module

heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
HEADS, WIDTH = 2, 16
# Tolerances are of numbers near 1, after some layers.
kinds = {"f32": 2e-5, "f16": 2e-2, "bf16": 1e-1}
WINDOWS = {"f32": (7, 130), "f16": (7,), "bf16": (7,)}
LENGTH = 300
COLUMNS, STEPS, CAPACITY = HEADS * WIDTH, 1000, 1003


def layer(name, kind, rule):
    """A layer as steps run it: it adds to its input its attention to the tokens so far, which are in caches."""
    hidden = f"tensor<?x{HEADS}x?x{WIDTH}x{kind}>"
    return f"""
func.func private @{name}(%x: {hidden}, %position: tensor<?xi32>, %k: {hidden}, %v: {hidden}) -> ({hidden}, {hidden}, {hidden}) {{
  %new_k = attn.cache_update %k, %x at %position : {hidden}, {hidden}, tensor<?xi32>
  %new_v = attn.cache_update %v, %x at %position : {hidden}, {hidden}, tensor<?xi32>
  %a = attn.attention %x, %new_k, %new_v scale(0.125) query_offset(%position : tensor<?xi32>) keep(%b, %h, %i, %j, %lq, %lk) {{
    %keep = {rule}
    attn.yield %keep : i1
  }} : {hidden}, {hidden}, {hidden} -> {hidden}
  %y = arith.addf %x, %a : {hidden}
  return %y, %new_k, %new_v : {hidden}, {hidden}, {hidden}
}}
"""


def layers(kind):
    """Four layers, every other one with a window, once for each window."""
    hidden = f"tensor<?x{HEADS}x?x{WIDTH}x{kind}>"
    shape = lambda length: f'attn.shape = ["batch", {HEADS}, "{length}", {WIDTH}]'
    text = layer(f"all_{kind}", kind, "attn.causal %i, %j")
    states = ", ".join(f'%{part}{i}: {hidden} {{attn.name = "{part}{i}", {shape("capacity")}, attn.state = {2 * i + n}}}'
                       for i in range(4) for n, part in ((1, "k"), (2, "v")))
    position = '%position: tensor<?xi32> {attn.name = "position", attn.shape = ["batch"], attn.range = [0, "capacity - new"]}'
    for window in WINDOWS[kind]:
        text += layer(f"window_{kind}_{window}", kind, f"attn.window %i, %j before({window - 1}) after(0)")
        calls = "".join(f"""
  %x{i + 1}, %nk{i}, %nv{i} = call @{f"all_{kind}" if i % 2 else f"window_{kind}_{window}"}(%x{i}, %position, %k{i}, %v{i})
    : ({hidden}, tensor<?xi32>, {hidden}, {hidden}) -> ({hidden}, {hidden}, {hidden})""" for i in range(4))
        text += f"""
func.func @step_{kind}_{window}(%x0: {hidden} {{attn.name = "x", {shape("new")}}}, {position}, {states})
    -> ({hidden} {{attn.name = "y", {shape("new")}}}, {', '.join([hidden] * 8)}) {{{calls}
  return %x4, {', '.join(f"%n{part}{i}" for i in range(4) for part in "kv")} : {', '.join([hidden] * 9)}
}}
"""
    return text


def decoder(kind):
    """One layer with weights: projections to query, key and value, attention to the cache, projection of the result."""
    hidden, matrix = f"tensor<1x1x{COLUMNS}x{kind}>", f"tensor<{COLUMNS}x{COLUMNS}x{kind}>"
    cache, heads = f"tensor<1x?x{COLUMNS}x{kind}>", f"tensor<1x?x{HEADS}x{WIDTH}x{kind}>"
    one = f"tensor<1x1x{HEADS}x{WIDTH}x{kind}>"
    shape = f'attn.shape = [1, "capacity", {COLUMNS}]'
    parts = "".join(f"""
  %w_{part} = attn.param "{part}_{kind}" : {matrix}
  %{part} = attn.linear %x, %w_{part} : {hidden}, {matrix} -> {hidden}""" for part in ("query", "key", "value"))
    return f"""
func.func @decode_{kind}(%x: {hidden} {{attn.name = "x"}},
    %position: tensor<1xi32> {{attn.name = "position", attn.range = [0, "capacity - 1"]}},
    %keys: {cache} {{attn.name = "keys", {shape}, attn.state = 1}}, %values: {cache} {{attn.name = "values", {shape}, attn.state = 2}})
    -> ({hidden} {{attn.name = "y"}}, {cache}, {cache}) attributes {{attn.require = ["1 <= capacity"]}} {{{parts}
  %new_keys = attn.cache_update %keys, %key at %position : {cache}, {hidden}, tensor<1xi32>
  %new_values = attn.cache_update %values, %value at %position : {cache}, {hidden}, tensor<1xi32>
  %c1 = arith.constant 1 : index
  %capacity = tensor.dim %keys, %c1 : {cache}
  %q = tensor.expand_shape %query [[0], [1], [2, 3]] output_shape [1, 1, {HEADS}, {WIDTH}] : {hidden} into {one}
  %k = tensor.expand_shape %new_keys [[0], [1], [2, 3]] output_shape [1, %capacity, {HEADS}, {WIDTH}] : {cache} into {heads}
  %v = tensor.expand_shape %new_values [[0], [1], [2, 3]] output_shape [1, %capacity, {HEADS}, {WIDTH}] : {cache} into {heads}
  %a = attn.attention %q, %k, %v scale(0.25) layout("bqhd,bkhd,bkhe->bqhe") query_offset(%position : tensor<1xi32>)
    keep(%b, %h, %i, %j, %lq, %lk) {{
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  }} : {one}, {heads}, {heads} -> {one}
  %merged = tensor.collapse_shape %a [[0], [1], [2, 3]] : {one} into {hidden}
  %w_out = attn.param "out_{kind}" : {matrix}
  %y = attn.linear %merged, %w_out : {hidden}, {matrix} -> {hidden}
  return %y, %new_keys, %new_values : {hidden}, {cache}, {cache}
}}
"""


def rounded(values, kind):
    return load(store(values, kind)).astype(float)


def random(*shape, kind):
    return rounded(np.random.default_rng(len(shape)).standard_normal(shape) * 0.7, kind)


def under_masks(x, kind, window):
    """The four layers on all tokens at once, each under the whole mask."""
    distance = np.subtract.outer(np.arange(LENGTH), np.arange(LENGTH))
    for most in (window, LENGTH, window, LENGTH):
        scores = np.where((distance >= 0) & (distance < most), 0.125 * x @ x.swapaxes(-1, -2), -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        x = rounded(x + rounded(weights / weights.sum(-1, keepdims=True) @ x, kind), kind)
    return x


@claim
def steps_equal_the_whole_where_every_other_layer_has_a_window():
    for kind, tolerance in kinds.items():
        x = random(2, HEADS, LENGTH, WIDTH, kind=kind)
        for window in WINDOWS[kind]:
            whole, step = under_masks(x, kind, window), module[f"step_{kind}_{window}"]
            # Nothing reads a row of a cache before a step has written it.
            caches = {argument.name.decode(): store(np.full((2, HEADS, LENGTH, WIDTH), np.nan), kind)
                      for argument in step.arguments if argument.role == STATE}
            # One by one until past twice the window, then several at a time.
            begins = [*range(2 * window + 3), *range(2 * window + 3, LENGTH, 32), LENGTH]
            assert {window - 1, window, window + 1, 2 * window + 1} <= set(begins)
            for begin, end in zip(begins, begins[1:]):
                found = load(step(x=store(x[:, :, begin:end], kind), position=np.full(2, begin, np.int32), **caches)["y"])
                expected = whole[:, :, begin:end]
                assert np.allclose(found, expected, rtol=tolerance, atol=tolerance), (kind, window, begin, abs(found - expected).max())


class Counter:
    """What counting.c has counted in the regions given by name, and elsewhere."""

    def __init__(self, **regions):
        self.names = [*regions, "elsewhere"]
        counting.forget_regions()
        for address, size in regions.values():
            counting.count_in(ctypes.c_void_p(address), ctypes.c_uint64(size))

    def __getitem__(self, name):
        return tuple(counting.counted(self.names.index(name), is_write) for is_write in (0, 1))


@claim
def a_thousand_steps_read_the_weights_once_and_the_keys_and_values_they_attend_to_and_write_one_row():
    for kind, tolerance in kinds.items():
        entry = counted[f"decode_{kind}"]
        keys, values = (store(np.full((1, CAPACITY, COLUMNS), np.nan), kind) for _ in range(2))
        xs, row = random(STEPS, COLUMNS, kind=kind), COLUMNS * keys.itemsize
        ys = np.empty((STEPS, COLUMNS))
        for step in range(STEPS):
            parts = {f"{part} {name}": (cache.ctypes.data + begin * row, (end - begin) * row)
                     for name, cache in (("keys", keys), ("values", values))
                     for part, begin, end in (("past", 0, step), ("new", step, step + 1), ("later", step + 1, CAPACITY))}
            counter = Counter(weights=(counted.params, image_bytes), **parts)
            outputs = entry(x=store(xs[None, None, step], kind), position=np.array([step], np.int32), keys=keys, values=values)
            ys[step] = load(outputs["y"])[0, 0]
            assert counter["weights"] == (4 * COLUMNS * row, 0), (kind, step, counter["weights"])
            for name in ("keys", "values"):
                assert counter[f"past {name}"] == (step * row, 0), (kind, step, name, counter[f"past {name}"])
                assert counter[f"new {name}"] == (row, row), (kind, step, name, counter[f"new {name}"])
                assert counter[f"later {name}"] == (0, 0), (kind, step, name, counter[f"later {name}"])
            # The rest is scratch: some of fixed size, and f32 scores of the keys attended to, which are written, weighed
            # and summed. A copy of keys or values does not fit in, nor anything that grows with the capacity.
            _, written = counter["elsewhere"]
            assert written <= 8192 + 4 * 4 * HEADS * (step + 1), (kind, step, written)
        q, k, v = (rounded(xs @ rounded(weights[f"{part}_{kind}"], kind).T, kind) for part in ("query", "key", "value"))
        heads = lambda x: x.reshape(STEPS, HEADS, WIDTH).swapaxes(0, 1)
        scores = np.where(np.tri(STEPS, dtype=bool), 0.25 * heads(q) @ heads(k).swapaxes(-1, -2), -np.inf)
        probabilities = np.exp(scores - scores.max(-1, keepdims=True))
        attended = probabilities / probabilities.sum(-1, keepdims=True) @ heads(v)
        merged = rounded(attended.swapaxes(0, 1).reshape(STEPS, COLUMNS), kind)
        expected = merged @ rounded(weights[f"out_{kind}"], kind).T
        assert np.allclose(ys, expected, rtol=tolerance, atol=tolerance), (kind, abs(ys - expected).max())
        assert np.isnan(load(keys)[0, STEPS:]).all() and np.isnan(load(values)[0, STEPS:]).all(), kind


scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)


def build(name, text, *options):
    (folder / f"{name}.mlir").write_text(f"module @{name} attributes {{heed.params = \"weights.safetensors\"}} {{{text}}}\n")
    subprocess.run([heed, "compile", folder / f"{name}.mlir", "-o", folder / f"{name}.so", *options], check=True)
    return Module(folder / f"{name}.so")


subprocess.run(["clang", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", root / "tests" / "numerics" / "counting.c",
                "-o", folder / "counting.so"], check=True)
counting = ctypes.CDLL(str(folder / "counting.so"), ctypes.RTLD_GLOBAL)
counting.counted.restype = ctypes.c_uint64
generator = np.random.default_rng(0)
weights = {f"{part}_{kind}": (generator.standard_normal((COLUMNS, COLUMNS)) * COLUMNS ** -0.5).astype(np.float32)
           for part in ("query", "key", "value", "out") for kind in kinds}
save_file(weights, folder / "weights.safetensors")
module = build("decoding", "".join(map(layers, kinds)))
counted = build("counted", "".join(map(decoder, kinds)), "--instrument=thread")
image_bytes = counted.image.ctypes.data + counted.image.size - counted.params
check()
