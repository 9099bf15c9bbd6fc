"""Runs a compiled model on the batches of its reference file: compare.py MODULE REFERENCE.safetensors."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file

module, reference = sys.argv[1:]
bounds = {"last_hidden_state": 2e-5, "sentence_embedding": 2e-6}
expected = load_file(reference)
for case in sorted({name.split(".")[0] for name in expected}):
    tensors = {name.split(".")[1]: tensor for name, tensor in expected.items() if name.startswith(case + ".")}
    with tempfile.TemporaryDirectory() as scratch:
        command = ["heed", "run", module, "--output", scratch]
        for name, tensor in tensors.items():
            if name not in bounds:
                np.save(f"{scratch}/{name}.npy", tensor)
                command += ["--input", f"{name}={scratch}/{name}.npy"]
        subprocess.run(command, check=True)
        made = {path.stem: np.load(path) for path in pathlib.Path(scratch).glob("*.npy") if path.stem in bounds}
    if made.keys() != tensors.keys() & bounds.keys():
        sys.exit(f"{case}: expected {sorted(tensors.keys() & bounds.keys())}, but got {sorted(made)}")
    kept = tensors.get("attention_mask", np.ones_like(tensors["input_ids"])) == 1
    for name, got in made.items():
        want = tensors[name]
        if name == "last_hidden_state":
            got, want = got[kept], want[kept]
        difference = np.abs(got.astype(np.float64) - want).max() if got.shape == want.shape else np.nan
        print(f"{case} {tensors['input_ids'].shape} {name}: {difference:.1e}, at most {bounds[name]:.1e}")
        if not difference <= bounds[name]:  # true for a NaN
            sys.exit(f"{case}: expected {name} within {bounds[name]:.1e}, but it differs by {difference:.1e}")
