"""Runs attention.so on the numbers of the worked example and compares every stage with constants."""

import pathlib
import subprocess
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
inputs = {
    "query": [[.1, .3, .5], [.4, .2, .6], [.7, .8, .9]],
    "key": [[.2, .1, .3], [.5, .7, .4], [.9, .2, .8]],
    "value": [[.3, .7, .5], [.6, .4, .8], [.9, .5, .2]],
}
output = [[.619841, .524751, .494509], [.634469, .522505, .481277], [.655047, .509865, .483996]]
expected = {
    "steps": {
        "scores": [[.20, .46, .55], [.28, .58, .88], [.49, 1.27, 1.51]],
        "weights": [[.295342, .343177, .361480], [.277539, .330025, .392436], [.228789, .358933, .412278]],
        "output": output,
    },
    "causal": {"output": [[.3, .7, .5], [.462958, .537042, .662958], output[2]]},
}

arguments = []
for name, rows in inputs.items():
    np.save(folder / f"{name}.npy", np.array(rows, np.float32))
    arguments += ["--input", f"{name}={folder / name}.npy"]
np.set_printoptions(precision=6, suppress=True, floatmode="fixed")
for entry, stages in expected.items():
    subprocess.run(["heed", "run", folder / "attention.so", "--entry", entry, *arguments, "--output", folder / entry],
                   check=True)
    for stage, rows in stages.items():
        found = np.load(folder / entry / f"{stage}.npy")
        print(f"{entry}: {stage}\n{found}")
        np.testing.assert_allclose(found, rows, rtol=0, atol=1e-6)
