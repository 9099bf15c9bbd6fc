"""A process of one peer: prepares works and measures them, told by one line of JSON at a time.

  worker.py PEER THREADS wall|cpu    (the clock)

  {"do": "prepare", "work": NAME}     → {"how": …, …}
  {"do": "outputs", "file": PATH}     → {}, and the outputs of the prepared work as an .npz file
  {"do": "measure", "seconds": S}     → {"samples": […]}
  {"do": "release"}                   → {}

An answer with "unsupported" or "failed" in its stead says why; one with "absent" comes first where the peer is not
installed. What libraries print goes to standard error.
"""

import importlib
import json
import os
import sys
import time
import traceback

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

PEERS = {
    "heed": ("peers.heed", "Heed", "heed"),
    "heed.static": ("peers.heed", "Heed", "heed.static"),
    "heed.unfused": ("peers.heed", "Heed", "heed.unfused"),
    "onnxruntime": ("peers.onnx_runtime", "OnnxRuntime"),
    "openvino": ("peers.open_vino", "OpenVino"),
    "torch": ("peers.pytorch", "Torch"),
    "torch.compile": ("peers.pytorch", "TorchCompile"),
    "openblas": ("peers.openblas", "OpenBlas"),
}


def settle(threads):
    """Threads and processors, before any library starts threads."""
    # Some machines name a core type for old builds of OpenBLAS; a current one knows better.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["OMP_PROC_BIND"] = "true"
    os.environ["GOMP_CPU_AFFINITY"] = f"0-{threads - 1}"
    os.sched_setaffinity(0, set(range(threads)))


def main(name, threads, clock):
    settle(threads)
    clock = {"wall": time.perf_counter, "cpu": time.process_time}[clock]
    from peers.base import Unsupported, measure
    from works import FUSING, OVERHEAD, WORKS
    import numpy as np

    module, kind, *arguments = PEERS[name]
    peer = getattr(importlib.import_module(module), kind)(*arguments, threads)
    call, works = None, WORKS | FUSING | {OVERHEAD.name: OVERHEAD}

    def do(command):
        nonlocal call
        if command["do"] == "prepare":
            call = None
            # The fastest of the ways that the peer's documentation offers.
            best = float("inf")
            for candidate in peer.prepare(works[command["work"]]):
                fastest = min(measure(candidate, command["seconds"], clock))
                if fastest < best:
                    best, call = fastest, candidate
            if not call:
                raise Unsupported("nothing to run")
            return call.facts
        if command["do"] == "outputs":
            call.run()
            np.savez(command["file"], **call.outputs())
            return {}
        if command["do"] == "measure":
            return {"samples": measure(call, command["seconds"], clock)}
        if command["do"] == "release":
            call = None
            return {}
        raise ValueError(f"expected a command, but got {command['do']}")

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    answer({"version": peer.version()})
    for line in sys.stdin:
        try:
            answer(do(json.loads(line)))
        except Unsupported as reason:
            answer({"unsupported": str(reason)})
        except Exception as error:  # a peer may fail in its own ways; the others go on
            traceback.print_exc()
            answer({"failed": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"})


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    except ImportError as error:
        answers.write(json.dumps({"absent": str(error)}) + "\n")
        answers.flush()
