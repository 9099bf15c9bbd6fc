"""The networks as PyTorch modules: for PyTorch itself, and for OpenVINO, which imports them."""

import torch
import torch.nn.functional as F
from torch import nn


def linear(weights, name):
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    module = nn.Linear(weight.shape[1], weight.shape[0])
    module.weight.data, module.bias.data = weight, bias
    return module


def norm(weights, name, epsilon):
    module = nn.LayerNorm(weights[f"{name}.weight"].shape[0], epsilon)
    module.weight.data, module.bias.data = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return module


class Attend(nn.Module):
    def __init__(self, weights, name, sizes, causal):
        super().__init__()
        self.heads, self.causal = sizes["heads"], causal
        self.query, self.key, self.value, self.output = (
            linear(weights, f"{name}.{part}") for part in ("query", "key", "value", "output"))
        self.norm = norm(weights, f"{name}.norm", sizes["epsilon"])

    def forward(self, x, memory, mask=None):
        batch, width = x.shape[0], x.shape[2]

        def split(y):
            return y.view(batch, -1, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(memory)), split(self.value(memory))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal)
        return self.norm(self.output(y.transpose(1, 2).reshape(batch, -1, width)) + x)


class Layer(nn.Module):
    def __init__(self, weights, name, sizes, decoder):
        super().__init__()
        self.self_attention = Attend(weights, f"{name}.self", sizes, decoder)
        self.cross_attention = Attend(weights, f"{name}.cross", sizes, False) if decoder else None
        self.widen, self.narrow = linear(weights, f"{name}.widen"), linear(weights, f"{name}.narrow")
        self.norm = norm(weights, f"{name}.inner.norm", sizes["epsilon"])
        self.activation = {"relu": F.relu, "gelu": F.gelu}[sizes["activation"]]

    def forward(self, x, memory=None, mask=None):
        x = self.self_attention(x, x, mask)
        if self.cross_attention:
            x = self.cross_attention(x, memory)
        return self.norm(self.narrow(self.activation(self.widen(x))) + x)


class MiniLM(nn.Module):
    """The last hidden state of all-MiniLM-L6-v2, a BERT (Devlin et al. 2018)."""

    def __init__(self, weights, sizes):
        super().__init__()
        self.words, self.positions, self.types = (
            nn.Embedding.from_pretrained(weights[f"embeddings.{name}"]) for name in ("words", "positions", "types"))
        self.norm = norm(weights, "embeddings.norm", sizes["epsilon"])
        self.layers = nn.ModuleList(Layer(weights, str(i), sizes, False) for i in range(sizes["layers"]))

    def forward(self, input_ids, attention_mask, token_type_ids):
        x = self.words(input_ids) + self.types(token_type_ids) + self.positions.weight[:input_ids.shape[1]]
        x = self.norm(x)
        mask = attention_mask[:, None, None].to(torch.bool).expand(-1, 1, input_ids.shape[1], -1)
        for layer in self.layers:
            x = layer(x, mask=mask)
        return x


def build(work):
    torch.set_grad_enabled(False)
    weights = {name: torch.from_numpy(array) for name, array in work.weights().items()}
    module = MiniLM(weights, work.sizes) if work.group == "minilm" else \
        Layer(weights, "0", work.sizes, work.group == "decoder")
    return module.eval()


def inputs(work):
    return [torch.from_numpy(array) for array in work.inputs().values()]
