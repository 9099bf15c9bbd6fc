"""Numbers and sizes on which attention has been found wrong elsewhere, one claim a function, through compiled code.

Each entry is small and dynamic in its lengths, so that one object answers for all of them: 3 queries are few, whose keys
are split into parts; 40 are many, of which some are left over by every tile.
"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from claims import check, claim
from elements import load, store

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(root / "examples" / "09-python"))
from heed_module import HeedError, Module

heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
WIDTH, SCALE = 8, 0.5
FEW, MANY = 3, 40
# Lowest finite number, and how far a result with weights and sums in f32 may be from numpy's in doubles.
kinds = {"f32": (np.finfo(np.float32).min, 2e-6), "f16": (-65504.0, 2e-3), "bf16": (float.fromhex("-0x1.fep127"), 2e-2)}


def tensor(shape, kind, name):
    sizes = "x".join("?" if isinstance(size, str) else str(size) for size in shape)
    shown = ", ".join(f'"{size}"' if isinstance(size, str) else str(size) for size in shape)
    return f"tensor<{sizes}x{kind}>", f'{{attn.name = "{name}", attn.shape = [{shown}]}}'


def attention(name, kind="f32", masks=0, options="", keep="", extra=(), heads=(1, 1), widths=(WIDTH, WIDTH), values="k"):
    """One entry: query, key, value and additive masks to result and log-sum-exp."""
    q, q_name = tensor((1, heads[0], "q", widths[0]), kind, "q")
    k, k_name = tensor((1, heads[1], "k", widths[0]), kind, "k")
    v, v_name = tensor((1, heads[1], values, widths[1]), kind, "v")
    o, o_name = tensor((1, heads[0], "q", widths[1]), kind, "o")
    lse, lse_name = tensor((1, heads[0], "q"), "f32", "lse")
    mask, _ = tensor(("q", "k"), kind, "m")
    arguments = [f"%q: {q} {q_name}", f"%k: {k} {k_name}", f"%v: {v} {v_name}", *extra]
    arguments += ["%m{}: {} {}".format(i, *tensor(("q", "k"), kind, f"m{i}")) for i in range(masks)]
    reads = score = ""
    if masks:
        many = range(masks)
        reads = (f"reads({', '.join(f'%m{i}' for i in many)} : {', '.join([mask] * masks)}) "
                 f"maps [{', '.join(['affine_map<(b, h, q, k) -> (q, k)>'] * masks)}]")
        steps = "".join((f"%w{i} = arith.extf %e{i} : {kind} to f32\n" if kind != "f32" else "")
                        + f"%s{i + 1} = arith.addf %s{i}, %{'e' if kind == 'f32' else 'w'}{i} : f32\n" for i in many)
        score = (f"score(%s0, %b, %h, %i, %j, %lq, %lk, {', '.join(f'%e{i}' for i in many)}) "
                 f"{{\n{steps}attn.yield %s{masks} : f32\n}}")
    if keep:
        keep = f"keep(%b, %h, %i, %j, %lq, %lk) {{\n{keep}\nattn.yield %keep : i1\n}}"
    return f"""func.func @{name}({', '.join(arguments)}) -> ({o} {o_name}, {lse} {lse_name}) {{
  %0, %1 = attn.attention %q, %k, %v scale({SCALE}) {options} {reads} {score} {keep} : {q}, {k}, {v} -> {o}, {lse}
  return %0, %1 : {o}, {lse}
}}
"""


# (query heads, key heads) and (key width, value width).
shapes = [((3, 1), (40, 1)), ((7, 1), (1, 80)), ((6, 1), (72, 128)), ((6, 6), (100, 256)), ((2, 1), (96, 192))]
entries = {f"masked_{kind}": attention(f"masked_{kind}", kind, masks=2) for kind in kinds}
entries |= {f"heads{i}": attention(f"heads{i}", heads=heads, widths=widths, values="w")
            for i, (heads, widths) in enumerate(shapes)}
entries["causal"] = attention("causal", options="key_lengths(%n : tensor<1xi32>)", keep="%keep = attn.causal %i, %j",
                              extra=['%n: tensor<1xi32> {attn.name = "n", attn.range = [0, "k"]}'])

open_type = f"tensor<?x?x?x{WIDTH}xf32>"
open_shape = lambda length: f'attn.shape = ["batch", "heads", "{length}", {WIDTH}]'
entries["open"] = f"""func.func @open(%q: {open_type} {{attn.name = "q", {open_shape("q")}}}, %k: {open_type} {{attn.name = "k", {open_shape("k")}}},
    %v: {open_type} {{attn.name = "v", {open_shape("k")}}}) -> ({open_type} {{attn.name = "o"}}, tensor<?x?x?xf32> {{attn.name = "lse"}}) {{
  %0, %1 = attn.attention %q, %k, %v scale({SCALE}) : {open_type}, {open_type}, {open_type} -> {open_type}, tensor<?x?x?xf32>
  return %0, %1 : {open_type}, tensor<?x?x?xf32>
}}
"""


def data(queries, keys, kind="f32", heads=(1, 1), widths=(WIDTH, WIDTH)):
    """Normal numbers as the kind holds them, in f32."""
    random = np.random.default_rng(queries * 1000 + keys)
    draw = lambda *shape: load(store(random.standard_normal(shape), kind))
    return {"q": draw(1, heads[0], queries, widths[0]), "k": draw(1, heads[1], keys, widths[0]), "v": draw(1, heads[1], keys, widths[1])}


def call(name, kind="f32", **tensors):
    if name.startswith("masked"):
        tensors.setdefault("m1", np.zeros_like(tensors["m0"]))
    stored = {key: store(value, kind) if value.dtype.kind == "f" else value for key, value in tensors.items()}
    outputs = module[name](**stored)
    return load(outputs["o"])[0], outputs["lse"][0]


def reference(q, k, v, *masks):
    """Attention of one head and its log-sum-exp in doubles; an empty row is zeros."""
    scores = q[0, 0].astype(float) @ k[0, 0].T.astype(float) * SCALE + sum(m.astype(float) for m in masks)
    top = scores.max(1, initial=-np.inf, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(top), 0, top))
    sums = weights.sum(1, keepdims=True)
    with np.errstate(divide="ignore"):
        return weights @ v[0, 0] / np.where(sums == 0, 1, sums), np.log(sums[:, 0]) + np.where(np.isneginf(top), 0, top)[:, 0]


def agrees(found, expected, tolerance):
    return all(np.allclose(one, other, rtol=tolerance, atol=tolerance) for one, other in zip((found[0][0], found[1][0]), expected))



@claim
def a_row_of_minus_infinity_is_empty_and_leaves_the_others_bit_by_bit():
    for kind in kinds:
        for queries, keys in ((FEW, 70), (MANY, 70), (MANY, 300)):
            inputs, mask = data(queries, keys, kind), np.zeros((queries, keys), np.float32)
            whole = call(f"masked_{kind}", kind, **inputs, m0=mask)
            empty = [0, queries - 1]
            mask[empty] = -np.inf
            found, lse = call(f"masked_{kind}", kind, **inputs, m0=mask)
            others = np.setdiff1d(np.arange(queries), empty)
            assert (found[0, empty] == 0).all() and np.isneginf(lse[0, empty]).all(), (kind, queries, keys)
            assert np.array_equal(found[0, others], whole[0][0, others]) and np.array_equal(lse[0, others], whole[1][0, others]), (kind, queries, keys)


@claim
def a_row_of_the_lowest_finite_number_is_a_mean_and_not_empty():
    for kind, (lowest, tolerance) in kinds.items():
        for queries, keys in ((FEW, 70), (MANY, 70), (FEW, 600)):
            inputs, mask = data(queries, keys, kind), np.zeros((queries, keys), np.float32)
            mask[0], mask[1] = -np.inf, lowest
            found, lse = call(f"masked_{kind}", kind, **inputs, m0=mask)
            assert np.isfinite(found).all() and (found[0, 0] == 0).all(), (kind, queries, keys)
            # Scores are f32 whatever the type: beside the lowest f16 they still differ, beside the others not.
            plain = call(f"masked_{kind}", kind, **inputs, m0=np.zeros_like(mask))[0][0, 1]
            expected, error = (plain, 2e-2) if kind == "f16" else (inputs["v"][0, 0].mean(0), tolerance)
            assert np.allclose(found[0, 1], expected, atol=error), (kind, queries, keys)
            assert lse[0, 1] < 0.9 * lowest, (kind, queries, keys)


@claim
def the_lowest_finite_number_and_a_negative_score_make_no_nan():
    for size in (1.0, 1e36):
        inputs, mask = data(MANY, 70), np.full((MANY, 70), kinds["f32"][0], np.float32)
        inputs["q"][:], inputs["k"][:] = -size / WIDTH / SCALE, 1
        found, _ = call("masked_f32", **inputs, m0=mask)
        expected = inputs["v"][0, 0].mean(0) if size == 1 else 0 * inputs["v"][0, 0, 0]
        assert np.allclose(found[0], expected, atol=2e-6), size


@claim
def two_masks_add_up_without_nan():
    for kind, (lowest, tolerance) in kinds.items():
        for queries in (FEW, MANY):
            inputs = data(queries, 70, kind)
            first, second = np.zeros((2, queries, 70), np.float32)
            first[0], second[0] = lowest, lowest    # beyond f32: empty; beyond f16 alone: the scores themselves
            first[1, :50], second[1, 20:] = -np.inf, lowest
            first[2, :69], second[2, :69] = lowest, lowest
            found, _ = call(f"masked_{kind}", kind, **inputs, m0=first, m1=second)
            assert np.isfinite(found).all(), (kind, queries)
            v = inputs["v"][0, 0]
            alone = call(f"masked_{kind}", kind, **inputs, m0=0 * second, m1=0 * second)[0][0, 0]
            assert np.allclose(found[0, 0], alone if kind == "f16" else 0, atol=2e-2), (kind, queries)
            if kind != "f16":
                assert np.allclose(found[0, 1], v[50:].mean(0), atol=tolerance), (kind, queries)
            assert np.allclose(found[0, 2], v[69], atol=tolerance), (kind, queries)


@claim
def parts_of_the_keys_merge_into_the_whole_also_where_one_is_masked():
    for keys in (256, 257, 600, 1030):
        inputs, mask = data(FEW, keys), np.zeros((FEW, keys), np.float32)
        mask[0, 256:512], mask[1, :256], mask[2] = -np.inf, -np.inf, -np.inf
        clean = call("masked_f32", **inputs, m0=mask)
        assert agrees(clean, reference(*inputs.values(), mask), 5e-6), keys
        assert (clean[0][0, 2] == 0).all() and np.isneginf(clean[1][0, 2]), keys
        # Unsplit: the same rows among many.
        many = {**inputs, "q": np.tile(inputs["q"], (1, 1, 14, 1))}
        unsplit, lse = call("masked_f32", **many, m0=np.tile(mask, (14, 1)))
        assert np.allclose(unsplit[0, :FEW], clean[0][0], atol=2e-6), keys
        # No key of a masked part gives its value, whatever that is.
        poisoned = inputs["v"].copy()
        poisoned[0, 0, 256:512] = np.nan
        found, _ = call("masked_f32", **{**inputs, "v": poisoned}, m0=mask)
        assert np.array_equal(found[0, 0], clean[0][0, 0]), keys


@claim
def a_poisoned_value_reaches_the_rows_that_weigh_it_in_every_type():
    for kind in kinds:
        for queries, keys in ((FEW, 70), (MANY, 70), (MANY, 30)):
            inputs = data(queries, keys, kind)
            mask = np.where(np.arange(keys) <= np.arange(queries)[:, None] + keys - queries, 0, -np.inf).astype(np.float32)
            clean = call(f"masked_{kind}", kind, **inputs, m0=mask)[0][0]
            row = keys - 2
            for poison in (np.nan, np.inf):
                inputs["v"][0, 0, row] = poison
                found = call(f"masked_{kind}", kind, **inputs, m0=mask)[0][0]
                before = np.isneginf(mask[:, row])
                assert np.array_equal(found[before], clean[before], equal_nan=True), (kind, queries, keys, poison)
                assert not np.isfinite(found[~before]).any(), (kind, queries, keys, poison)


@claim
def every_number_of_keys_is_right_in_one_object():
    for keys in range(131):
        for queries in (1, FEW, MANY):
            inputs, mask = data(queries, keys), np.zeros((queries, keys), np.float32)
            found = call("masked_f32", **inputs, m0=mask)
            assert agrees(found, reference(*inputs.values()), 2e-6), (queries, keys)
    assert call("masked_f32", **data(0, 5), m0=np.zeros((0, 5), np.float32))[0].shape == (1, 0, WIDTH)


def check_open(batch, heads, queries, keys):
    random = np.random.default_rng(batch + heads + queries + keys)
    q, k, v = (random.standard_normal((batch, heads, n, WIDTH)).astype(np.float32) for n in (queries, keys, keys))
    found = module["open"](q=q, k=k, v=v)
    assert found["o"].shape == (batch, heads, queries, WIDTH) and found["lse"].shape == (batch, heads, queries)
    for b, h in np.ndindex(batch, heads):
        expected = reference(*(x[b:b + 1, h:h + 1] for x in (q, k, v)))
        assert agrees((found["o"][b, h:h + 1], found["lse"][b, h:h + 1]), expected, 2e-6), (batch, heads, queries, keys)


@claim
def every_size_may_be_none_or_one():
    for sizes in itertools.product((0, 1, 2), (0, 1, 3), (0, 1, 40), (0, 1, 70)):
        check_open(*sizes)


@claim
def batch_and_length_vary_in_one_object():
    for batch, length in ((1, 1), (2, 7), (3, 1), *((1, length) for length in range(1, 301))):
        check_open(batch, 1, length, length)


@claim
def a_mask_as_a_tensor_is_the_mask_as_an_operation():
    for queries, keys in ((FEW, 70), (MANY, 70), (MANY, 30)):
        inputs = data(queries, keys)
        later = np.triu(np.ones((queries, keys), bool), 1)
        spelled = call("masked_f32", **inputs, m0=np.where(later, -np.inf, 0).astype(np.float32))
        found = call("causal", **inputs, n=np.array([keys], np.int32))
        assert np.allclose(found[0], spelled[0], atol=2e-6) and np.allclose(found[1], spelled[1], atol=2e-6), (queries, keys)


@claim
def heads_of_a_group_read_their_own_keys_and_values():
    for i, (heads, widths) in enumerate(shapes):
        for queries in (FEW, MANY):
            inputs = data(queries, 70, heads=heads, widths=widths)
            found, _ = call(f"heads{i}", **inputs)
            group = heads[0] // heads[1]
            for head in range(heads[0]):
                own = slice(head // group, head // group + 1)
                expected, _ = reference(inputs["q"][:, head:head + 1], inputs["k"][:, own], inputs["v"][:, own])
                assert np.allclose(found[head], expected, atol=1e-5), (heads, widths, queries, head)
            inputs["v"][:] = np.arange(heads[1], dtype=np.float32)[:, None, None]
            found, _ = call(f"heads{i}", **inputs)
            assert np.allclose(found, (np.arange(heads[0]) // group)[:, None, None], rtol=1e-6), (heads, widths, queries)


@claim
def lengths_that_do_not_fit_are_refused():
    inputs = data(FEW, 70)
    for length in (-1, 71, 2 ** 31 - 1, -2 ** 31):
        try:
            call("causal", **inputs, n=np.array([length], np.int32))
        except HeedError:
            continue
        raise AssertionError(f"{length} keys of 70 are taken")
    inputs = data(FEW, 70, heads=shapes[0][0], widths=shapes[0][1])
    for values in (0, 69):
        try:
            call("heads0", **{**inputs, "v": np.ascontiguousarray(inputs["v"][:, :, :values])})
        except HeedError:
            continue
        raise AssertionError(f"{values} values for 70 keys are taken")


scratch = tempfile.TemporaryDirectory()
model = pathlib.Path(scratch.name) / "extremes.mlir"
model.write_text("module @extremes {\n" + "".join(entries.values()) + "}\n")
subprocess.run([heed, "compile", model, "-o", model.with_suffix(".so")], check=True)
module = Module(model.with_suffix(".so"))
check()
