"""The networks as ONNX, exported from PyTorch and passed through onnxruntime's transformer optimizer."""

import contextlib
import hashlib
import io
import pathlib

import onnx
import onnxruntime
import torch
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

import networks
from graphs import Graph
from works import BASE, MINILM

cache = pathlib.Path(__file__).resolve().parents[2] / "build" / "bench" / "onnx"


def export(work, steps):
    """The file of the plain export."""
    key = f"{torch.__version__} {onnxruntime.__version__} {work.name} {steps} {pathlib.Path(networks.__file__).read_text()}"
    path = cache / f"{work.name.replace(' ', '-')}-{hashlib.sha1(key.encode()).hexdigest()[:12]}.onnx"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        names = list(work.inputs())
        with contextlib.redirect_stdout(io.StringIO()):
            torch.onnx.export(networks.build(work, steps), tuple(networks.inputs(work)), str(path), input_names=names,
                              output_names=list(work.output_shapes()), dynamo=False, opset_version=17)
    return path


def forms(work):
    inputs, outputs = work.inputs(), work.output_shapes()
    size = MINILM if work.group == "minilm" else BASE
    for steps in (True, False):
        path = export(work, steps)
        with contextlib.redirect_stdout(io.StringIO()):
            options = FusionOptions("bert")
            optimized = optimizer.optimize_model(str(path), "bert", num_heads=size["heads"], hidden_size=size["width"],
                                                 optimization_options=options, opt_level=1)
        fused = {name: count for name, count in optimized.get_fused_operator_statistics().items() if count}
        yield Graph(optimized.model.SerializeToString(), inputs, outputs,
                    "transformer optimizer: " + ", ".join(f"{count} {name}" for name, count in fused.items()))
    yield Graph(onnx.load(str(path)).SerializeToString(), inputs, outputs, "as exported")
