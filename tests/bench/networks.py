"""The networks as PyTorch modules: for PyTorch itself, and as what onnxruntime and OpenVINO import."""

import pathlib

import torch
import torch.nn.functional as F
from torch import nn

from works import BASE

minilm = pathlib.Path(__file__).resolve().parents[2] / ".venv" / "cache" / "minilm"


class Attend(nn.Module):
    def __init__(self, weights, name, causal, steps):
        super().__init__()
        self.heads, self.causal, self.steps = BASE["heads"], causal, steps
        for part in ("query", "key", "value", "output"):
            setattr(self, part, linear(weights, f"{name}.{part}"))

    def forward(self, x, memory):
        batch, width = x.shape[0], x.shape[2]

        def split(y):
            return y.view(batch, -1, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(memory)), split(self.value(memory))
        if self.steps:
            scores = torch.matmul(q, k.transpose(-1, -2)) / (width // self.heads) ** 0.5
            if self.causal:
                scores = scores + torch.triu(torch.full(scores.shape[-2:], float("-inf")), 1)
            y = torch.matmul(torch.softmax(scores, -1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.output(y.transpose(1, 2).reshape(batch, -1, width))


class Layer(nn.Module):
    """steps: attention written in steps, which importers recognize, instead of in one function."""

    def __init__(self, work, steps):
        super().__init__()
        weights = {name: torch.from_numpy(array) for name, array in work.weights().items()}
        self.decoder = work.group == "decoder"
        self.self_attention = Attend(weights, "self", self.decoder, steps)
        if self.decoder:
            self.cross_attention = Attend(weights, "cross", False, steps)
        self.widen, self.narrow = linear(weights, "widen"), linear(weights, "narrow")
        self.norms = nn.ModuleList()
        for i in range(3 if self.decoder else 2):
            norm = nn.LayerNorm(BASE["width"])
            norm.weight.data, norm.bias.data = weights[f"norm_{i}.weight"], weights[f"norm_{i}.bias"]
            self.norms.append(norm)

    def forward(self, x, memory=None):
        x = self.norms[0](self.self_attention(x, x) + x)
        if self.decoder:
            x = self.norms[1](self.cross_attention(x, memory) + x)
        return self.norms[-1](self.narrow(F.relu(self.widen(x))) + x)


def linear(weights, name):
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    module = nn.Linear(weight.shape[1], weight.shape[0])
    module.weight.data, module.bias.data = weight, bias
    return module


class MiniLM(nn.Module):
    """The last hidden state of all-MiniLM-L6-v2."""

    def __init__(self, attention):
        super().__init__()
        from transformers import AutoModel
        self.bert = AutoModel.from_pretrained(minilm, attn_implementation=attention, dtype=torch.float32)

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.bert(input_ids=input_ids, attention_mask=attention_mask,
                         token_type_ids=token_type_ids).last_hidden_state


def build(work, steps=False):
    torch.set_grad_enabled(False)
    module = MiniLM("eager" if steps else "sdpa") if work.group == "minilm" else Layer(work, steps)
    return module.eval()


def inputs(work):
    return [torch.from_numpy(array) for array in work.inputs().values()]
