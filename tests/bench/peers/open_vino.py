"""OpenVINO: latency hint, one stream, f32, static shapes, tensors that share the caller's memory."""

import warnings

import networks
import numpy as np
import openvino as ov
import torch
from openvino import opset13 as op

from peers.base import Call


class OpenVino:
    def __init__(self, threads):
        self.core = ov.Core()
        self.config = {
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": "1",
            "INFERENCE_NUM_THREADS": str(threads),
            "INFERENCE_PRECISION_HINT": "f32",
            "ENABLE_CPU_PINNING": "YES" if threads > 1 else "NO",
        }

    def version(self):
        return ov.__version__.split("-")[0]

    def prepare(self, work):
        build = {"gemm": self.gemm, "rows": self.gemm, "overhead": self.gemm, "sdpa": self.attention}.get(work.group, self.network)
        inputs = work.inputs()
        inputs.pop("documents", None)  # a mask that follows from them is a constant
        for how, model in build(work, inputs):
            request = self.core.compile_model(model, "CPU", self.config).create_infer_request()
            outputs = {}
            for i, array in enumerate(inputs.values()):
                request.set_input_tensor(i, ov.Tensor(array, shared_memory=True))
            for i, (name, shape) in enumerate(work.output_shapes().items()):
                outputs[name] = np.empty(shape, np.float32)
                request.set_output_tensor(i, ov.Tensor(outputs[name], shared_memory=True))

            def run(request=request, inputs=inputs):
                request.start_async()
                request.wait()

            yield Call(run, lambda outputs=outputs: outputs, how)

    @staticmethod
    def gemm(work, inputs):
        weights = work.weights()
        parameters, results = [], []
        for i in range(work.copies):
            x = op.parameter([work.m, work.k], np.float32, name=f"x{i}")
            y = op.matmul(x, op.constant(weights[f"w{i}"]), False, True)
            y = op.add(y, op.constant(weights[f"b{i}"][None]))
            if work.activation:
                y = op.relu(y) if work.activation == "relu" else op.gelu(y, "erf")
            parameters.append(x)
            results.append(op.result(y))
        yield "MatMul, Add", ov.Model(results, parameters, "work")

    @staticmethod
    def attention(work, inputs):
        q, k, v = parameters = [op.parameter(list(array.shape), np.float32, name=name)
                                for name, array in inputs.items()]
        if work.heads != work.kv_heads:
            group, shape = work.heads // work.kv_heads, list(inputs["k"].shape)

            def repeat(x):
                wide = op.broadcast(op.unsqueeze(x, op.constant(2)), [*shape[:2], group, *shape[2:]], "BIDIRECTIONAL")
                return op.reshape(wide, [shape[0], work.heads, *shape[2:]], False)

            k, v = repeat(k), repeat(v)
        scale = op.constant(np.float32(work.scale))
        if not work.has_named_mask:
            mask = op.constant(np.where(work.keep(np.arange(work.queries)), 0, -np.inf).astype(np.float32)[None, None])
            y = op.scaled_dot_product_attention(q, k, v, mask, scale, causal=False)
        elif work.mask == "causal":
            # Without a mask the scale cannot be told; it is the default one.
            y = op.scaled_dot_product_attention(q, k, v, causal=True)
        else:
            y = op.scaled_dot_product_attention(q, k, v, causal=False)
        yield "ScaledDotProductAttention", ov.Model([op.result(y)], parameters, "work")

    @staticmethod
    def network(work, inputs):
        module, examples = networks.build(work), networks.inputs(work)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # OpenVINO imports by what PyTorch calls deprecated
            model = ov.convert_model(module, example_input=tuple(examples),
                                     input=[list(array.shape) for array in inputs.values()])
        yield "converted from PyTorch, static shapes", model
