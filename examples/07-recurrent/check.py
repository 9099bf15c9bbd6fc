"""Compares @lstm of recurrent.so in the current folder with an LSTM in numpy."""

import subprocess

import numpy as np
from safetensors.numpy import load_file

weights = {name: array.astype(np.float64) for name, array in load_file("recurrent.safetensors").items()}
x = np.random.default_rng(6).standard_normal((50, 64), np.float32)
np.save("x.npy", x)
subprocess.run(["heed", "run", "recurrent.so", "--entry", "lstm", "--input", "x=x.npy", "--output", "out"], check=True)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


h, c, expected = np.zeros(64), np.zeros(64), []
for row in x:
    i, f, g, o = np.split(weights["lstm.weight_ih"] @ row + weights["lstm.weight_hh"] @ h + weights["lstm.bias"], 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    expected.append(h)
found = np.load("out/hidden.npy")
print(f"largest difference to numpy: {abs(found - expected).max():.2g}")
np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
