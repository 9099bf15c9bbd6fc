"""PyTorch: inference mode; `out=` where an operation has it."""

import shutil

import numpy as np
import torch
import torch.nn.functional as F

import networks
from peers.base import Call, Unsupported


class Torch:
    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def version(self):
        return torch.__version__

    def prepare(self, work):
        with torch.inference_mode():
            yield from {"gemm": self.gemm, "rows": self.gemm, "overhead": self.gemm, "sdpa": self.attention}.get(work.group, self.network)(work)

    @staticmethod
    def gemm(work):
        weights = {name: torch.from_numpy(array) for name, array in work.weights().items()}
        inputs = [torch.from_numpy(array) for array in work.inputs().values()]
        outs = [torch.empty(work.m, work.n) for _ in inputs]
        items = [(x, weights[f"w{i}"], weights[f"b{i}"], out) for i, (x, out) in enumerate(zip(inputs, outs))]

        def outputs():
            return {f"y{i}": out.numpy() for i, out in enumerate(outs)}

        @torch.inference_mode()
        def into():
            for x, w, b, out in items:
                torch.addmm(b, x, w, out=out)
                if work.activation == "relu":
                    out.relu_()
                elif work.activation == "gelu":
                    torch._C._nn.gelu_(out)

        items = [(x, w.t(), b, out) for x, w, b, out in items]
        yield Call(into, outputs, "addmm(out=), weight [n, k]")
        if work.copies == 1:
            items = [(x, w.contiguous(), b, out) for x, w, b, out in items]
            yield Call(into, outputs, "addmm(out=), weight [k, n]")

        # What torch.compile emits for a frozen model.
        packed = [(x, torch.ops.mkldnn._reorder_linear_weight(weights[f"w{i}"], work.m), weights[f"b{i}"])
                  for i, x in enumerate(inputs)]
        results = [None] * work.copies
        activation = work.activation or "none"
        algorithm = "none" if work.activation == "gelu" else ""

        @torch.inference_mode()
        def frozen():
            for i, (x, w, b) in enumerate(packed):
                results[i] = torch.ops.mkldnn._linear_pointwise(x, w, b, activation, [], algorithm)

        yield Call(frozen, lambda: {f"y{i}": out.numpy() for i, out in enumerate(results)}, "oneDNN, packed weight")

    @staticmethod
    def attention(work):
        inputs = work.inputs()
        q, k, v = (torch.from_numpy(inputs[name]) for name in "qkv")
        result = [None]

        def outputs():
            return {"y": result[0].numpy()}

        mask = torch.from_numpy(work.keep(np.arange(work.queries))) if not work.has_named_mask else None
        options = {"attn_mask": mask, "is_causal": work.mask == "causal", "scale": work.scale}
        if work.heads != work.kv_heads:
            options["enable_gqa"] = True

        @torch.inference_mode()
        def run():
            result[0] = F.scaled_dot_product_attention(q, k, v, **options)

        yield Call(run, outputs, "scaled_dot_product_attention")
        if mask is not None:
            options = options | {"attn_mask": torch.where(mask, 0.0, float("-inf"))}

            @torch.inference_mode()
            def run_bias():
                result[0] = F.scaled_dot_product_attention(q, k, v, **options)

            yield Call(run_bias, outputs, "scaled_dot_product_attention, mask of floats")

    @staticmethod
    def network(work):
        module = networks.build(work)
        inputs = networks.inputs(work)
        result = [None]

        @torch.inference_mode()
        def run():
            result[0] = module(*inputs)

        yield Call(run, lambda: {next(iter(work.output_shapes())): result[0].numpy()}, "eager")


class TorchCompile(Torch):
    """Whole networks frozen, so that constants are folded and weights packed; other masks through flex_attention."""

    def __init__(self, threads):
        if not shutil.which("g++"):
            raise ImportError("expected g++, which torch.compile calls")
        super().__init__(threads)

    def prepare(self, work):
        torch._dynamo.reset()
        if work.group == "sdpa" and not work.has_named_mask:
            yield self.flex_attention(work)
        elif work.group in ("minilm", "encoder", "decoder"):
            yield self.frozen(work)
        else:
            raise Unsupported("one operation: see torch")

    @staticmethod
    def flex_attention(work):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        documents = torch.from_numpy(work.documents()) if work.mask == "documents" else None

        def keep(batch, head, query, key):
            if documents is not None:
                return (query >= key) & (documents[query] == documents[key])
            return (query >= key) & (query - key < work.window)

        mask = create_block_mask(keep, None, None, work.queries, work.keys, device="cpu")
        compiled = torch.compile(flex_attention, dynamic=False)
        inputs = work.inputs()
        q, k, v = (torch.from_numpy(inputs[name]) for name in "qkv")
        result = [None]

        @torch.inference_mode()
        def run():
            result[0] = compiled(q, k, v, block_mask=mask, scale=work.scale)

        return Call(run, lambda: {"y": result[0].numpy()}, "flex_attention, block mask")

    @staticmethod
    def frozen(work):
        from torch._inductor import config
        config.freezing = True
        with torch.inference_mode():
            compiled = torch.compile(networks.build(work), dynamic=False)
        inputs, result = networks.inputs(work), [None]

        @torch.inference_mode()
        def run():
            result[0] = compiled(*inputs)

        run()
        return Call(run, lambda: {next(iter(work.output_shapes())): result[0].numpy()}, "torch.compile, frozen")
