"""Remembers token after token in caches that are slices of a larger array, and compares with causal attention."""

import sys

import numpy as np

from heed_module import ALIGNMENT, HeedError, Module, aligned

recall = Module(sys.argv[1])["recall"]
for argument in recall.arguments:
    role = ("input", "state", "output")[argument.role]
    shape = ", ".join(argument.shape[dim].contents.text.decode() for dim in range(argument.rank))
    print(f"{role:6} {argument.name.decode()}: {argument.type.numpy()} [{shape}]")

random = np.random.default_rng(7)
steps, batch = 10, 2
query, key, value = random.standard_normal((3, batch, steps, 64), np.float32)
memory = np.full((2, batch, 40, 64), np.nan, np.float32)
keys, values = memory[0, :, :steps], memory[1, :, :steps]  # views with a stride between batch entries
outputs = []
for step in range(steps):
    now = slice(step, step + 1)
    position = np.full(batch, step, np.int64)
    outputs.append(recall(query=query[:, now].copy(), key=key[:, now].copy(), value=value[:, now].copy(),
                          position=position, keys=keys, values=values)["output"])


def heads(x):
    return x.reshape(batch, steps, 4, 16).transpose(0, 2, 1, 3).astype(np.float64)


scores = heads(query) @ heads(key).swapaxes(-1, -2) / 4
scores = np.where(np.tri(steps, dtype=bool), scores, -np.inf)
weights = np.exp(scores - scores.max(-1, keepdims=True))
expected = (weights / weights.sum(-1, keepdims=True) @ heads(value)).transpose(0, 2, 1, 3).reshape(batch, steps, 64)
found = np.concatenate(outputs, 1)
print(f"{steps} steps, largest difference to numpy: {abs(found - expected).max():.2g}")
np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
np.testing.assert_array_equal(keys, key)
assert np.isnan(memory[:, :, steps:]).all(), "expected nothing to be written behind the caches"

# What does not fit is refused before anything is read or written.
for wrong in ({"position": np.full(batch, steps, np.int64)}, {"query": query[:, :2].copy()}, {"key": key[:1, :1]}):
    arguments = {"query": query[:, :1].copy(), "key": key[:, :1].copy(), "value": value[:, :1].copy(),
                 "position": np.zeros(batch, np.int64), "keys": keys, "values": values}
    try:
        recall(**(arguments | wrong))
    except HeedError as error:
        print(f"refused: {error}")
    else:
        sys.exit(f"expected {', '.join(wrong)} to be refused")
np.testing.assert_array_equal(keys, key)
assert aligned(0).ctypes.data % ALIGNMENT == 0, "expected a workspace to be aligned, even one that a module does not need"
