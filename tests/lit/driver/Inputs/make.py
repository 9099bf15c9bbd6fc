"""Writes what the tests of the command line read: make.py FOLDER."""

import pathlib
import sys

import numpy
import safetensors.numpy

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
random = numpy.random.default_rng(1)
weights = {"weight": random.standard_normal((20, 24), numpy.float32), "bias": random.standard_normal(20, numpy.float32)}
x = random.standard_normal((5, 24), numpy.float32)
safetensors.numpy.save_file(weights, folder / "layer.safetensors")
safetensors.numpy.save_file({"weight": weights["weight"] * 2, "bias": weights["bias"]}, folder / "other.safetensors")
safetensors.numpy.save_file({"x": x}, folder / "x.safetensors")
numpy.save(folder / "x.npy", x)
numpy.save(folder / "y.npy", x @ weights["weight"].T + weights["bias"])
