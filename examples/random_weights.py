#!/usr/bin/env python3
"""Writes random weights for every attn.param of a module: random_weights.py MODEL.mlir OUT.safetensors

Matrices are uniform with variance 1 / columns, so that activations keep their size; the weights of norms are near 1.
"""

import pathlib
import re
import sys

import numpy as np
from safetensors.numpy import save_file


def main(model, output):
    text = pathlib.Path(model).read_text()
    aliases = dict(re.findall(r"^(!\w+) = (tensor<.*>)$", text, re.M))
    random = np.random.default_rng(1)
    weights = {}
    for name, type in re.findall(r'attn\.param "([^"]+)" : (\S+)', text):
        shape = [int(size) for size in re.findall(r"(\d+)x", aliases.get(type, type))]
        if name not in weights:
            bound = np.sqrt(3 / shape[-1]) if len(shape) > 1 else 0.1
            weights[name] = random.uniform(-bound, bound, shape).astype(np.float32)
            if re.search(r"norm[^.]*\.weight$", name):
                weights[name] += 1
    save_file(weights, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
