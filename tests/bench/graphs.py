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
    inputs.pop("documents", None)  # a mask that follows from them is a constant
    b, q = work.batch, work.queries
    merged = {name: merge(array) for name, array in inputs.items()}

    def split(outputs):
        return {"y": outputs["y"].reshape(b, q, work.heads, work.d).transpose(0, 2, 1, 3)}

    shape = {"y": (b, q, work.heads * work.d)}
    if work.heads == work.kv_heads:
        if not work.has_named_mask:
            constants = {"bias": np.where(work.keep(np.arange(q)), 0, -np.inf).astype(np.float32)[None, None]}
            node = helper.make_node("MultiHeadAttention", ["q", "k", "v", "", "", "bias"], ["y"],
                                    domain="com.microsoft", num_heads=work.heads, scale=work.scale)
        else:
            constants = {}
            node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft",
                                    num_heads=work.heads, scale=work.scale, unidirectional=int(work.mask == "causal"))
        yield make([node], merged, shape, constants, "MultiHeadAttention", split)
    if work.mask in ("causal", "window"):
        constants = {"seqlens_k": np.full((b,), q - 1, np.int32), "total": np.array(q, np.int32)}
        node = helper.make_node("GroupQueryAttention", ["q", "k", "v", "", "", "seqlens_k", "total"],
                                ["y", "present_key", "present_value"], domain="com.microsoft", num_heads=work.heads,
                                kv_num_heads=work.kv_heads, scale=work.scale,
                                local_window_size=work.window if work.mask == "window" else -1)
        yield make([node], merged, shape, constants, "GroupQueryAttention", split,
                   extra=("present_key", "present_value"))
    if not work.has_named_mask:
        constants = {"mask": work.keep(np.arange(q))}
        node = helper.make_node("Attention", ["q", "k", "v", "mask"], ["y"], scale=work.scale)
    else:
        constants = {}
        node = helper.make_node("Attention", ["q", "k", "v"], ["y"], scale=work.scale,
                                is_causal=int(work.mask == "causal"))
    yield make([node], inputs, work.output_shapes(), constants, "Attention of opset 23")


class Network:
    """A network of the operations into which onnxruntime's transformer optimizer fuses a BERT.

    packed: query, key and value in one product, where they read the same. mask: None, "flags" of valid tokens, or
    their "lengths".
    """

    def __init__(self, work, packed, mask):
        self.work, self.packed, self.sizes = work, packed, work.sizes
        self.weights, self.nodes, self.constants, self.mask = work.weights(), [], {}, ""
        inputs, x = work.inputs(), "x"
        if work.group == "minilm":
            inputs = {name: array.astype(np.int32) for name, array in inputs.items()}
            x = "embedded"
            self.add("EmbedLayerNormalization",
                     ["input_ids", "token_type_ids"] + [self.constant(f"embeddings.{name}") for name in
                                                        ("words", "positions", "types", "norm.weight", "norm.bias")],
                     [x, "unused"], epsilon=self.sizes["epsilon"])
            self.mask = "attention_mask"
            if mask == "lengths":
                self.constants["axis"] = np.array([1])
                self.nodes.append(helper.make_node("ReduceSum", ["attention_mask", "axis"], ["lengths"], keepdims=0))
                self.mask = "lengths"
        for i in range(self.sizes["layers"]):
            x = self.layer(i, x)
        output, = work.output_shapes()
        self.nodes[-1].output[0] = output
        self.graph = make(self.nodes, inputs, work.output_shapes(), self.constants, f"fused operations of a BERT, "
                          f"{'Attention' if packed else 'MultiHeadAttention'}{', mask of ' + mask if mask else ''}")

    def add(self, kind, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain="com.microsoft", **attributes))
        return outputs[0]

    def constant(self, *names, transpose=False):
        """Weights by name, several side by side."""
        arrays = [self.weights[name].T if transpose else self.weights[name] for name in names]
        self.constants["|".join(names)] = np.ascontiguousarray(np.concatenate(arrays, -1))
        return "|".join(names)

    def product(self, x, name):
        self.nodes.append(helper.make_node("MatMul", [x, self.constant(f"{name}.weight", transpose=True)], [name]))
        return name

    def biased(self, x, name):
        self.nodes.append(helper.make_node("Add", [self.product(x, name), self.constant(f"{name}.bias")],
                                           [f"{name}.sum"]))
        return f"{name}.sum"

    def add_and_norm(self, part, x, linear, name):
        inputs = [part, x] + [self.constant(f"{name}.norm.{kind}") for kind in ("weight", "bias")]
        return self.add("SkipLayerNormalization", [*inputs, self.constant(f"{linear}.bias")], [f"{name}.norm"],
                        epsilon=self.sizes["epsilon"])

    def attend(self, x, memory, name, causal):
        heads, parts = self.sizes["heads"], ("query", "key", "value")
        if self.packed and x == memory:
            y = self.add("Attention", [
                x, self.constant(*(f"{name}.{part}.weight" for part in parts), transpose=True),
                self.constant(*(f"{name}.{part}.bias" for part in parts)), self.mask,
            ], [f"{name}.attended"], num_heads=heads, unidirectional=int(causal))
        else:
            q, k, v = (self.biased(operand, f"{name}.{part}") for part, operand in zip(parts, (x, memory, memory)))
            y = self.add("MultiHeadAttention", [q, k, v, "", self.mask], [f"{name}.attended"], num_heads=heads,
                         unidirectional=int(causal))
        return self.add_and_norm(self.product(y, f"{name}.output"), x, f"{name}.output", name)

    def layer(self, i, x):
        x = self.attend(x, x, f"{i}.self", self.work.group == "decoder")
        if self.work.group == "decoder":
            x = self.attend(x, "memory", f"{i}.cross", False)
        if self.sizes["activation"] == "gelu":
            wide = self.add("BiasGelu", [self.product(x, f"{i}.widen"), self.constant(f"{i}.widen.bias")],
                            [f"{i}.active"])
        else:
            wide = f"{i}.active"
            self.nodes.append(helper.make_node("Relu", [self.biased(x, f"{i}.widen")], [wide]))
        return self.add_and_norm(self.product(wide, f"{i}.narrow"), x, f"{i}.narrow", f"{i}.inner")


def network(work):
    for packed in (True, False):
        for mask in ("flags", "lengths") if work.group == "minilm" else (None,):
            yield Network(work, packed, mask).graph


def onnx_forms(work):
    """The ways to write a work, of which a session is made for each."""
    return {"gemm": gemm, "rows": gemm, "overhead": gemm, "sdpa": attention}.get(work.group, network)(work)
