"""Compares attention.so in the current folder with multi-head attention in numpy."""

import subprocess

import numpy as np
from safetensors.numpy import load_file

weights = load_file("attention.safetensors")
random = np.random.default_rng(2)
x = random.standard_normal((2, 7, 512), np.float32)
y = random.standard_normal((2, 33, 512), np.float32)
np.save("x.npy", x)
np.save("y.npy", y)
subprocess.run(["heed", "run", "attention.so", "--input", "x=x.npy", "--input", "y=y.npy", "--output", "out"], check=True)


def linear(z, name):
    return z @ weights[f"{name}.weight"].astype(np.float64).T + weights[f"{name}.bias"]


def heads(z):
    return z.reshape(*z.shape[:2], 8, 64).transpose(0, 2, 1, 3)


query, key, value = heads(linear(x, "query")), heads(linear(y, "key")), heads(linear(y, "value"))
scores = query @ key.swapaxes(-1, -2) / np.sqrt(64)
exponentials = np.exp(scores - scores.max(-1, keepdims=True))
attended = exponentials / exponentials.sum(-1, keepdims=True) @ value
expected = linear(attended.transpose(0, 2, 1, 3).reshape(x.shape), "output")

found = np.load("out/output.npy")
print(f"largest difference to numpy: {abs(found - expected).max():.2g}")
np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
