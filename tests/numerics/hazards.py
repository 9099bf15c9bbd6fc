"""Masks and numbers on which attention has been found wrong elsewhere, one claim a function, through compiled code.

Lengths are such that tiles of keys are skipped, whole, asked and cut short.
"""
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from claims import check, claim

heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
QUERIES, KEYS, WIDTH = 150, 300, 8
i, j = np.indices((QUERIES, KEYS))
true = "%t = arith.constant true\n"

# By name: the body of the keep region, and the same for numpy.
masks = {
    "causal": ("%keep = attn.causal %i, %j", j <= i),
    "bottom_right": ("%keep = attn.causal %i, %j bottom_right(%lq, %lk)", j <= i + KEYS - QUERIES),
    "window": ("%keep = attn.window %i, %j before(139) after(20)", (i - j <= 139) & (j - i <= 20)),
    "chunk": ("%keep = attn.chunk %i, %j width(50)", i // 50 == j // 50),
    "dilated": ("%keep = attn.dilated %i, %j step(3)", (i - j) % 3 == 0),
    "sink": ("%n = arith.constant 20 : index\n%a = attn.prefix %j, %n\n%b2 = attn.window %i, %j before(30) after(0)\n"
             "%keep = arith.ori %a, %b2 : i1", (j < 20) | ((j <= i) & (i - j <= 30))),
    "outside": (true + "%w = attn.window %i, %j before(9) after(9)\n%keep = arith.xori %w, %t : i1", abs(i - j) > 9),
    "tail": ("%n = arith.constant 290 : index\n%keep = arith.cmpi sge, %j, %n : index", j >= 290),
    "documents": ("%keep = attn.same_document %di, %dj : i32", (i // 40) % 3 == (j // 70) % 3),
    "tensor": ("%keep = tensor.extract %m[%i, %j] : tensor<150x300xi1>", (i * 7 + j * 11) % 5 < 2),
}
spellings = [
    "%keep = attn.causal %i, %j",
    "%keep = arith.cmpi sge, %i, %j : index",
    true + "%later = arith.cmpi sgt, %j, %i : index\n%keep = arith.xori %later, %t : i1",
    "%a = attn.causal %i, %j\n%w = attn.window %i, %j before(1000) after(7)\n%keep = arith.andi %a, %w : i1",
]


def attention(name, body, options="", q=QUERIES, k=KEYS, d=WIDTH, batch=1, element="f32", extra="", score=""):
    """One entry: query, key and value to result and log-sum-exp."""
    tensor = lambda n: f"tensor<{batch}x1x{n}x{d}x{element}>"
    reads = maps = arguments = ""
    if "%di" in body:
        reads = "reads(%di0, %dj0 : tensor<150xi32>, tensor<300xi32>) maps [affine_map<(b, h, q, k) -> (q)>, affine_map<(b, h, q, k) -> (k)>]"
        extra += f", %di0: tensor<150xi32> {{attn.name = \"di\"}}, %dj0: tensor<300xi32> {{attn.name = \"dj\"}}"
        arguments = ", %di, %dj"
    if "%m[" in body:
        reads = "reads(%m0 : tensor<150x300xi1>) maps [affine_map<(b, h, q, k) -> ()>]"
        extra += ", %m0: tensor<150x300xi1> {attn.name = \"m\"}"
        arguments = ", %m"
    keep = f"keep(%b, %h, %i, %j, %lq, %lk{arguments}) {{\n{body}\nattn.yield %keep : i1\n}}" if body else ""
    return f"""func.func @{name}(%q: {tensor(q)} {{attn.name = "q"}}, %k: {tensor(k)} {{attn.name = "k"}}, %v: {tensor(k)} {{attn.name = "v"}}{extra})
    -> ({tensor(q)} {{attn.name = "o"}}, tensor<{batch}x1x{q}xf32> {{attn.name = "lse"}}) {{
  %0, %1 = attn.attention %q, %k, %v scale(0.5) {options} {reads} {score} {keep} : {tensor(q)}, {tensor(k)}, {tensor(k)} -> {tensor(q)}, tensor<{batch}x1x{q}xf32>
  return %0, %1 : {tensor(q)}, tensor<{batch}x1x{q}xf32>
}}
"""


entries = {}
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)


def run(name, **inputs):
    files = []
    for key, value in inputs.items():
        np.save(folder / f"{key}.npy", value)
        files += ["--input", f"{key}={folder / key}.npy"]
    subprocess.run([heed, "run", folder / "hazards.so", "--entry", name, *files, "--output", folder / "out"], check=True,
                   capture_output=True)
    return np.load(folder / "out" / "o.npy")[:, 0], np.load(folder / "out" / "lse.npy")[:, 0]


def data(q=QUERIES, k=KEYS, d=WIDTH, batch=1, kind=np.float32):
    random = np.random.default_rng(1)
    return {name: random.standard_normal((batch, 1, n, d)).astype(kind) for name, n in (("q", q), ("k", k), ("v", k))}


def reads(name):
    if name == "documents":
        return {"di": (i[:, 0] // 40 % 3).astype(np.int32), "dj": (j[0] // 70 % 3).astype(np.int32)}
    return {"m": masks["tensor"][1]} if name == "tensor" else {}


for name, (body, _) in masks.items():
    entries[name] = attention(name, body)
for number, body in enumerate(spellings):
    entries[f"spelling{number}"] = attention(f"spelling{number}", body)
entries["empty"] = attention("empty", "%n = arith.constant 5 : index\n%a = attn.causal %i, %j\n%p = arith.cmpi sge, %j, %n : index\n%keep = arith.andi %a, %p : i1")
entries["empty_nan"] = entries["empty"].replace("@empty", "@empty_nan").replace("scale(0.5)", "scale(0.5) empty_rows(nan)")
entries["lengths"] = attention("lengths", "", "key_lengths(%n : tensor<2xi32>)", batch=2, extra=', %n: tensor<2xi32> {attn.name = "n", attn.range = [0, 300]}')
entries["capped"] = attention("capped", "%n = arith.constant 65 : index\n%keep = attn.prefix %j, %n", k=80,
                              score="score(%s, %b, %h, %i, %j, %lq, %lk) {\n%c = arith.constant 50.0 : f32\n%x = arith.divf %s, %c : f32\n"
                                    "%y = math.tanh %x : f32\n%z = arith.mulf %y, %c : f32\nattn.yield %z : f32\n}")
for rows, columns in ((3, 5), (5, 3)):
    entries[f"top{rows}{columns}"] = attention(f"top{rows}{columns}", masks["causal"][0], q=rows, k=columns)
    entries[f"bottom{rows}{columns}"] = attention(f"bottom{rows}{columns}", masks["bottom_right"][0], q=rows, k=columns)
for width in (1, 2, 300):
    entries[f"wide{width}"] = attention(f"wide{width}", f"%keep = attn.window %i, %j before({width - 1}) after(0)", q=300)
entries["half"] = attention("half", "", k=4096, q=2, element="f16")
entries["deep"] = attention("deep", masks["causal"][0], d=128, element="f16")
entries["step"] = attention("step", "%keep = attn.window %i, %j before(129) after(0)", "query_offset(%o : tensor<1xi32>)", q=1,
                            extra=', %o: tensor<1xi32> {attn.name = "o0", attn.range = [0, 299]}')
entries["steps"] = attention("steps", "%keep = attn.window %i, %j before(129) after(0)", q=300)


@claim
def a_poisoned_value_or_key_reaches_the_rows_that_keep_it_and_no_other():
    for name, (_, keeps) in masks.items():
        inputs = data() | reads(name)
        clean, _ = run(name, **inputs)
        for tensor, poison, row in (("v", np.nan, 130), ("v", np.inf, 3), ("k", np.nan, 149), ("k", np.inf, 299)):
            poisoned = inputs[tensor].copy()
            poisoned[0, 0, row] = poison
            found, _ = run(name, **inputs | {tensor: poisoned})
            touched = keeps[:, row]
            assert np.array_equal(found[0][~touched], clean[0][~touched]), f"{name}: {poison} in row {row} of {tensor} leaks"
            if np.isnan(poison):
                assert np.isnan(found[0][touched]).all(), f"{name}: NaN in row {row} of {tensor} is lost"


@claim
def a_poisoned_query_stays_in_its_row():
    for name in masks:
        inputs = data() | reads(name)
        clean, _ = run(name, **inputs)
        inputs["q"][0, 0, 77] = np.nan
        found, _ = run(name, **inputs)
        others = np.arange(QUERIES) != 77
        assert np.array_equal(found[0][others], clean[0][others]) and np.isnan(found[0][77]).all(), name


@claim
def masks_weigh_as_numpy_does():
    for name, (_, keeps) in masks.items():
        inputs = data()
        found, lse = run(name, **inputs | reads(name))
        scores = np.where(keeps, inputs["q"][0, 0].astype(float) @ inputs["k"][0, 0].T.astype(float) * 0.5, -np.inf)
        with np.errstate(divide="ignore"):
            weights = np.exp(scores)
            sums = weights.sum(1, keepdims=True)
            expected = weights @ inputs["v"][0, 0] / np.where(sums == 0, 1, sums)
            assert np.allclose(found[0], expected, atol=1e-5), name
            assert np.allclose(lse[0], np.log(sums[:, 0]), atol=1e-5), name


@claim
def rows_without_keys_follow_the_policy_and_leave_the_others():
    (zeros, lse), (nans, _) = run("empty", **data()), run("empty_nan", **data())
    assert (zeros[0][:5] == 0).all() and np.isneginf(lse[0][:5]).all() and np.isnan(nans[0][:5]).all()
    assert np.array_equal(zeros[0][5:], nans[0][5:]) and np.isfinite(zeros[0]).all()


@claim
def a_batch_entry_wholly_padded_is_empty_and_padding_is_never_read():
    inputs = data(batch=2)
    clean, _ = run("lengths", **inputs, n=np.array([0, 140], np.int32))
    for tensor in ("k", "v"):
        inputs[tensor][0], inputs[tensor][1, :, 140:] = np.nan, np.inf
    found, lse = run("lengths", **inputs, n=np.array([0, 140], np.int32))
    assert (found[0] == 0).all() and np.isneginf(lse[0]).all() and np.array_equal(found, clean) and np.isfinite(lse[1]).all()


@claim
def spellings_of_causal_agree_bit_by_bit():
    results = [run(f"spelling{number}", **data())[0] for number in range(len(spellings))]
    assert all(np.array_equal(results[0], other) for other in results[1:])


@claim
def causal_is_aligned_as_it_says():
    for rows, columns in ((3, 5), (5, 3)):
        for name, shift in (("top", 0), ("bottom", columns - rows)):
            inputs = data(rows, columns)
            inputs["q"][:] = 0
            _, lse = run(f"{name}{rows}{columns}", **inputs)
            counts = np.clip(np.arange(rows) + shift + 1, 0, columns)
            with np.errstate(divide="ignore"):
                assert np.allclose(lse[0], np.log(counts), atol=1e-6), (name, rows, columns)


@claim
def a_window_keeps_as_many_keys_as_it_is_wide():
    for width in (1, 2, 300):
        inputs = data(300)
        inputs["q"][:] = 0
        inputs["v"][:] = 0
        inputs["v"][0, 0, 100] = 1
        found, _ = run(f"wide{width}", **inputs)
        rows = np.arange(300)
        expected = np.where((rows >= 100) & (rows - 100 < width), 1 / np.minimum(rows + 1, width), 0)
        assert np.allclose(found[0, :, 0], expected, rtol=1e-6, atol=0), width


@claim
def padding_gets_no_weight_from_a_softcap():
    inputs = data(k=80)
    clean, _ = run("capped", **inputs)
    inputs["v"][0, 0, 65:], inputs["k"][0, 0, 65:] = 1e30, 1e30
    assert np.array_equal(run("capped", **inputs)[0], clean)


@claim
def many_equal_weights_sum_to_one_in_half_precision():
    inputs = data(2, 4096, kind=np.float16)
    inputs["q"][:] = 1
    inputs["k"][:] = 1
    inputs["v"][:] = 1
    assert (run("half", **inputs)[0] == 1).all()


@claim
def large_halves_do_not_overflow_in_between():
    for size in (30, 240):
        inputs = data(d=128, kind=np.float16)
        inputs["q"][:], inputs["k"][:], inputs["v"][:] = size, size, 60000
        assert (run("deep", **inputs)[0] == 60000).all()
        inputs["k"][:, :, 1::2] = -size
        assert (run("deep", **inputs)[0] == 60000).all()


@claim
def decoding_under_a_window_equals_the_whole():
    inputs = data(300)
    whole, _ = run("steps", **inputs)
    for step in (0, 128, 129, 130, 131, 259, 299):
        one, _ = run("step", q=inputs["q"][:, :, step:step + 1], k=inputs["k"], v=inputs["v"], o0=np.array([step], np.int32))
        assert np.allclose(one[0, 0], whole[0, step], atol=1e-6), step


model = folder / "hazards.mlir"
model.write_text("module @hazards {\n" + "".join(entries.values()) + "}\n")
subprocess.run([heed, "compile", model, "-o", folder / "hazards.so"], check=True)
check()
