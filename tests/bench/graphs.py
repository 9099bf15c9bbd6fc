"""The works as ONNX graphs, in the forms that onnxruntime's documentation offers."""

import dataclasses
import typing

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass
class Graph:
    model: bytes
    inputs: dict  # name → array, as this form wants it
    outputs: dict  # name → shape
    how: str
    read: typing.Callable = lambda outputs: outputs  # to the layout of the work


def make(nodes, inputs, outputs, constants, how, read=lambda outputs: outputs, extra=()):
    def info(name, array):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    graph = helper.make_graph(
        nodes, "work", [info(name, array) for name, array in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()]
        + [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in extra],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=11, opset_imports=[
        helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)])
    return Graph(model.SerializeToString(), inputs, outputs, how, read)


def gemm(work):
    weights = work.weights()
    nodes, constants = [], {}
    for i in range(work.copies):
        constants |= {f"w{i}": np.ascontiguousarray(weights[f"w{i}"].T), f"b{i}": weights[f"b{i}"]}
        nodes += [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"p{i}"]),
                  helper.make_node("Add", [f"p{i}", f"b{i}"], [f"s{i}" if work.activation else f"y{i}"])]
        if work.activation:
            nodes.append(helper.make_node({"relu": "Relu", "gelu": "Gelu"}[work.activation], [f"s{i}"], [f"y{i}"]))
    yield make(nodes, work.inputs(), work.output_shapes(), constants, "MatMul, Add, fused by the session")


def merge(x):
    """[batch, head, position, d] to [batch, position, head · d]."""
    b, h, s, d = x.shape
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(b, s, h * d)


def attention(work):
    inputs = work.inputs()
    b, q = work.batch, work.queries
    merged = {name: merge(array) for name, array in inputs.items()}

    def split(outputs):
        return {"y": outputs["y"].reshape(b, q, work.heads, work.d).transpose(0, 2, 1, 3)}

    shape = {"y": (b, q, work.heads * work.d)}
    if work.heads == work.kv_heads:
        if work.mask == "window":
            constants = {"bias": np.where(work.keep(np.arange(q)), 0, -np.inf).astype(np.float32)[None, None]}
            node = helper.make_node("MultiHeadAttention", ["q", "k", "v", "", "", "bias"], ["y"],
                                    domain="com.microsoft", num_heads=work.heads, scale=work.scale)
        else:
            constants = {}
            node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft",
                                    num_heads=work.heads, scale=work.scale, unidirectional=int(work.mask == "causal"))
        yield make([node], merged, shape, constants, "MultiHeadAttention", split)
    if work.mask:
        constants = {"seqlens_k": np.full((b,), q - 1, np.int32), "total": np.array(q, np.int32)}
        node = helper.make_node("GroupQueryAttention", ["q", "k", "v", "", "", "seqlens_k", "total"],
                                ["y", "present_key", "present_value"], domain="com.microsoft", num_heads=work.heads,
                                kv_num_heads=work.kv_heads, scale=work.scale,
                                local_window_size=work.window if work.mask == "window" else -1)
        yield make([node], merged, shape, constants, "GroupQueryAttention", split,
                   extra=("present_key", "present_value"))
    if work.mask == "window":
        constants = {"mask": work.keep(np.arange(q))}
        node = helper.make_node("Attention", ["q", "k", "v", "mask"], ["y"], scale=work.scale)
    else:
        constants = {}
        node = helper.make_node("Attention", ["q", "k", "v"], ["y"], scale=work.scale,
                                is_causal=int(work.mask == "causal"))
    yield make([node], inputs, work.output_shapes(), constants, "Attention of opset 23")


def onnx_forms(work):
    if work.group in ("gemm", "rows"):
        return gemm(work)
    if work.group == "sdpa":
        return attention(work)
    import exports
    return exports.forms(work)
