"""A change of one position of the target changes none before it; a change of the source changes all."""

import subprocess

import numpy as np

random = np.random.default_rng(5)
x = random.standard_normal((1, 10, 128), np.float32)
memory = random.standard_normal((1, 6, 128), np.float32)


def run():
    np.save("x.npy", x)
    np.save("memory.npy", memory)
    subprocess.run(["heed", "run", "decoder.so", "--input", "x=x.npy", "--input", "memory=memory.npy",
                    "--output", "out"], check=True)
    return np.load("out/hidden.npy")


def changed(before, after):
    return (before != after).any(-1)[0].astype(int).tolist()


first = run()
x[0, 6] += 1
second = run()
print("changed with target position 6:", changed(first, second))
assert changed(first, second) == [0] * 6 + [1] * 4
memory[0, 2] += 1
third = run()
print("changed with source position 2:", changed(second, third))
assert changed(second, third) == [1] * 10
