"""How code grows with a model's layers, one claim a function: counted in the emitted code, as no test asserts a time.

layers.py           checks the claims
layers.py --times   prints seconds of compiling 1 to 32 identical layers, and 1 to 8 distinct ones
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from safetensors.numpy import load_file, save_file

from claims import check, claim

bert = pathlib.Path(__file__).resolve().parents[1] / "reference" / "bert"
heed = pathlib.Path(os.environ["HEED_BUILD"]) / "bin" / "heed"
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)


def deepened(layers, words=50):
    """A folder with the BERT of tests/reference in so many layers, all of the shape of its first."""
    model = folder / f"bert-{layers}-{words}"
    model.mkdir(exist_ok=True)
    config = json.loads((bert / "config.json").read_text()) | {"num_hidden_layers": layers, "vocab_size": words}
    (model / "config.json").write_text(json.dumps(config))
    weights = {}
    for name, array in load_file(bert / "model.safetensors").items():
        before, layer, after = name.partition(".layer.0.")
        if layer:
            weights |= {f"{before}.layer.{i}.{after}": array for i in range(layers)}
        elif "word_embeddings" in name:
            weights[name] = np.zeros((words, array.shape[1]), np.float32)
        elif ".layer." not in name:
            weights[name] = array
    save_file(weights, model / "model.safetensors")
    return model


def distinct(layers):
    """A model whose layers differ in the windows of their attention."""
    hidden = "tensor<1x2x?x8xf32>"
    text = "".join(f"""func.func private @layer{i}(%x: {hidden}) -> {hidden} {{
  %y = attn.attention %x, %x, %x scale(0.25) keep(%b, %h, %i, %j, %lq, %lk) {{
    %keep = attn.window %i, %j before({i + 1}) after(0)
    attn.yield %keep : i1
  }} : {hidden}, {hidden}, {hidden} -> {hidden}
  return %y : {hidden}
}}
""" for i in range(layers))
    calls = "".join(f"  %x{i + 1} = call @layer{i}(%x{i}) : ({hidden}) -> {hidden}\n" for i in range(layers))
    model = folder / f"distinct-{layers}.mlir"
    model.write_text(f"""module @distinct {{
{text}func.func @distinct(%x0: {hidden} {{attn.name = "x", attn.shape = [1, 2, "n", 8]}}) -> ({hidden} {{attn.name = "y"}}) {{
{calls}  return %x{layers} : {hidden}
}}
}}
""")
    return model


def code(model):
    subprocess.run([heed, "compile", model, "--emit=llvm", "-o", folder / "code.mlir"], check=True)
    return (folder / "code.mlir").read_text()


def size(model):
    """Functions and instructions."""
    text = code(model)
    return len(re.findall(r"^ *llvm\.func .*\{$", text, re.M)), len(re.findall(r"^ *(?:%\S+ = )?llvm\.\w", text, re.M))


@claim
def identical_layers_share_their_code():
    functions, instructions = zip(*(size(deepened(layers)) for layers in (1, 2, 32)))
    assert len(set(functions)) == 1, functions
    # What a layer adds are its call, and rows in the table of parameters: a fraction of its code.
    each = instructions[1] - instructions[0]
    assert 0 < each < instructions[0] / 30, instructions
    assert abs(instructions[2] - instructions[0] - 31 * each) < each, instructions


@claim
def distinct_layers_add_up():
    functions, instructions = zip(*(size(distinct(layers)) for layers in (1, 2, 4)))
    assert functions[2] - functions[1] == 2 * (functions[1] - functions[0]) > 0, functions
    each = instructions[1] - instructions[0]
    assert abs(instructions[2] - instructions[1] - 2 * each) < 0.1 * each, instructions


@claim
def weights_are_never_in_the_code():
    small, large = (len(code(deepened(1, words))) for words in (50, 500000))
    assert (folder / "bert-1-500000" / "model.safetensors").stat().st_size > 40e6 and large < 1.01 * small, (small, large)


def print_times():
    for name, make, counts in (("identical", deepened, (1, 2, 8, 32)), ("distinct", distinct, (1, 2, 4, 8))):
        for layers in counts:
            model, begin = make(layers), time.monotonic()
            subprocess.run([heed, "compile", model, "-o", folder / "code.o"], check=True)
            print(f"{layers:>3} {name} layers: {time.monotonic() - begin:6.2f} s, {(folder / 'code.o').stat().st_size:>8} bytes")


if "--times" in sys.argv:
    print_times()
else:
    check()
