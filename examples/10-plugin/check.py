"""Compares attention.so in the current folder with the formula in numpy."""

import subprocess

import numpy as np

random = np.random.default_rng(3)
tensors = {name: random.standard_normal((2, 4, 50, 32), np.float32) for name in "qkv"}
tensors |= {"r1": np.float32([0.5, 1, 2, 4]), "r2": np.float32([4, 2, 1, 0.5])}
arguments = []
for name, array in tensors.items():
    np.save(f"{name}.npy", array)
    arguments += ["--input", f"{name}={name}.npy"]
subprocess.run(["heed", "run", "attention.so", *arguments, "--output", "out"], check=True)

q, k, v, r1, r2 = (array.astype(np.float64) for array in tensors.values())
steps = np.arange(50)[:, None] - np.arange(50)
scores = q @ k.swapaxes(-1, -2) / np.sqrt(32)
scores -= r1[:, None, None] * np.log1p(r2[:, None, None] * np.abs(steps))
weights = np.exp(np.where(steps >= 0, scores, -np.inf))
expected = weights / weights.sum(-1, keepdims=True) @ v
np.testing.assert_allclose(np.load("out/y.npy"), expected, rtol=0, atol=2e-6)
print("as the formula says")
