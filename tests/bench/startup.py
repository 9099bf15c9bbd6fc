"""From the start of a process to the first result of MiniLM, files in the page cache.

heed is a program of its own, and a library that Python calls; the others are called from Python, as they are used.
A run of this file as `startup.py PEER FILE` is such a process; it prints a line when it has the result.
"""

import pathlib
import statistics
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
TOKENS = 16


def with_heed(file):
    import numpy as np
    sys.path.insert(0, str(here.parents[1] / "examples" / "09-python"))
    from heed_module import Module
    encode, = Module(file).entries.values()
    encode(input_ids=np.full((1, TOKENS), 2000), attention_mask=np.ones((1, TOKENS), np.int64))


def with_onnxruntime(file):
    import numpy as np
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    ids = np.full((1, TOKENS), 2000, np.int32)
    session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})


def with_openvino(file):
    import numpy as np
    import openvino as ov
    core = ov.Core()
    core.set_property({"CACHE_DIR": str(pathlib.Path(file).parent)})
    model = core.compile_model(file, "CPU", {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"})
    ids = np.full((1, TOKENS), 2000)
    model([ids, np.ones_like(ids), np.zeros_like(ids)])


RUNS = {"heed": with_heed, "onnxruntime": with_onnxruntime, "openvino": with_openvino}


def prepare(peer, folder):
    """The command of a process of this peer; None where there is none."""
    from works import WORKS
    work = WORKS[f"minilm b1 s{TOKENS}"]
    python = [sys.executable, __file__, peer]
    if peer == "heed":
        from peers.heed import Heed
        return [*python, Heed("heed", 1).compile(work)]
    if peer == "heed program":
        import numpy as np
        from peers.heed import compile_program
        for name, array in work.inputs().items():
            np.save(folder / f"{name}.npy", array)
        inputs = [part for name in work.inputs() for part in ("--input", f"{name}={folder / name}.npy")]
        return [compile_program(), *inputs, "--output", folder / "out"]
    if peer == "onnxruntime":
        import graphs
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.optimized_model_filepath = str(folder / "minilm.onnx")
        options.log_severity_level = 3
        ort.InferenceSession(next(graphs.onnx_forms(work)).model, options, providers=["CPUExecutionProvider"])
        return [*python, folder / "minilm.onnx"]
    if peer == "openvino":
        import openvino as ov
        from peers.open_vino import OpenVino
        (_, model), = OpenVino.network(work, work.inputs())
        ov.save_model(model, folder / "minilm.xml", compress_to_fp16=False)
        return [*python, folder / "minilm.xml"]
    return None


def seconds(command):
    """Until the process prints a line, or ends."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    taken = time.perf_counter() - begin
    process.stdout.read()
    return taken, process.wait()


def measure(peers, record):
    from machine import cache
    folder = cache / "startup"
    folder.mkdir(parents=True, exist_ok=True)
    print("\nSeconds from the start of a process to the first result of MiniLM")
    for peer in [*(["heed program"] if "heed" in peers else []), *peers]:
        try:
            command = prepare(peer, folder)
        except Exception as error:  # a peer that is absent has been reported
            print(f"  {peer:<14} failed: {str(error).splitlines()[0]}")
            continue
        if not command:
            continue
        runs = [seconds([str(part) for part in command]) for _ in range(7)]
        if any(status for _, status in runs):
            print(f"  {peer:<14} failed: {' '.join(map(str, command))}")
            continue
        times = [taken for taken, _ in runs[2:]]
        record(peer=peer, work="minilm start", threads=1, median_s=statistics.median(times), min_s=min(times))
        print(f"  {peer:<14} {statistics.median(times):.3f}, at best {min(times):.3f}", flush=True)


if __name__ == "__main__":
    RUNS[sys.argv[1]](sys.argv[2])
    print("done", flush=True)
