"""Compares attention.so in the current folder with additive attention in numpy, and draws the alignment."""

import subprocess

import numpy as np
from safetensors.numpy import load_file

weights = load_file("attention.safetensors")
random = np.random.default_rng(3)
states = random.standard_normal((1, 4, 64), np.float32)
annotations = 3 * random.standard_normal((1, 9, 128), np.float32)
arguments = []
for name, array in (("states", states), ("annotations", annotations)):
    np.save(f"{name}.npy", array)
    arguments += ["--input", f"{name}={name}.npy"]
subprocess.run(["heed", "run", "attention.so", *arguments, "--output", "out"], check=True)

hidden = np.tanh((states @ weights["w"].T)[:, :, None] + (annotations @ weights["u"].T)[:, None])
scores = hidden.astype(np.float64) @ weights["v"]
exponentials = np.exp(scores - scores.max(-1, keepdims=True))
expected = exponentials / exponentials.sum(-1, keepdims=True)

found = np.load("out/weights.npy")
for row in found[0]:
    print("".join(" ░▒▓█"[min(4, int(weight * 15))] for weight in row))
np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
np.testing.assert_allclose(np.load("out/context.npy"), expected @ annotations, rtol=0, atol=1e-5)
