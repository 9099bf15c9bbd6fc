"""Whatever lies in the padding of a batch, the positions before it come out the same."""

import subprocess

import numpy as np

random = np.random.default_rng(4)
x = random.standard_normal((2, 12, 128), np.float32)
mask = np.ones((2, 12), np.int64)
mask[1, 7:] = 0


def run(x, mask):
    np.save("x.npy", x)
    np.save("mask.npy", mask)
    subprocess.run(["heed", "run", "encoder.so", "--input", "x=x.npy", "--input", "mask=mask.npy", "--output", "out"],
                   check=True)
    return np.load("out/hidden.npy")


padded = run(x, mask)
x[1, 7:] = np.nan
filled = run(x, mask)
alone = run(x[1:, :7].copy(), mask[1:, :7].copy())
assert np.isfinite(filled[1, :7]).all(), "padding leaks"
np.testing.assert_array_equal(filled[0], padded[0])
np.testing.assert_array_equal(filled[1, :7], padded[1, :7])
np.testing.assert_allclose(alone[0], padded[1, :7], rtol=0, atol=1e-5)
print("padding, NaN or not, changes nothing")
