"""Writes the spellings torch-*.mlir of fused/: attention as people write it in PyTorch, exported to linalg.

    pip install torch==2.15.0 torch-mlir==20261001 && python tests/corpus/export.py FOLDER

Each file was committed as produced, under the FileCheck lines that pin its fused form.
"""

import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch_mlir import fx

out = pathlib.Path(sys.argv[1])

class Sdpa(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)
class SdpaCausal(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
class SdpaMask(nn.Module):
    def forward(self, q, k, v, m):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=m)
class SdpaGqa(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
class Eager(nn.Module):
    """BERT's: split heads by view and permute, additive mask, softmax in the type, merge."""
    def forward(self, q, k, v, mask):
        b, s, d = q.shape
        sp = lambda x: x.view(b, s, 4, d // 4).permute(0, 2, 1, 3)
        s_ = torch.matmul(sp(q), sp(k).transpose(-1, -2)) / (d // 4) ** 0.5
        s_ = s_ + (1.0 - mask[:, None, None, :]) * torch.finfo(torch.float32).min
        c = torch.matmul(F.softmax(s_, dim=-1), sp(v))
        return c.permute(0, 2, 1, 3).contiguous().view(b, s, d)
class Llama(nn.Module):
    """repeat_kv, f16, softmax in f32 and back."""
    def forward(self, q, k, v, mask):
        b, kv, s, d = k.shape
        rep = lambda x: x[:, :, None, :, :].expand(b, kv, 2, s, d).reshape(b, kv * 2, s, d)
        w = torch.matmul(q, rep(k).transpose(2, 3)) * d ** -0.5
        w = w + mask
        w = F.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        return torch.matmul(w, rep(v)).transpose(1, 2).contiguous()
class T5(nn.Module):
    """No scale, learned position bias."""
    def forward(self, q, k, v, bias):
        s = torch.matmul(q, k.transpose(3, 2)) + bias
        w = F.softmax(s.float(), dim=-1).type_as(s)
        return torch.matmul(w, v)
class Gpt2(nn.Module):
    """where(tril, scores, lowest)."""
    def forward(self, q, k, v):
        s = q.shape[-2]
        w = torch.matmul(q, k.transpose(-1, -2)) / torch.full([], q.shape[-1] ** 0.5)
        tril = torch.tril(torch.ones(s, s, dtype=torch.bool))
        w = torch.where(tril, w, torch.full([], torch.finfo(w.dtype).min))
        return torch.matmul(F.softmax(w, dim=-1), v)
class Fairseq(nn.Module):
    """Heads merged into the batch, bmm, q scaled first, masked_fill with -inf."""
    def forward(self, q, k, v, pad):
        b, h, s, d = q.shape
        flat = lambda x: x.reshape(b * h, s, d)
        w = torch.bmm(flat(q) * d ** -0.5, flat(k).transpose(1, 2))
        w = w.view(b, h, s, s).masked_fill(pad[:, None, None, :], float("-inf")).view(b * h, s, s)
        return torch.bmm(F.softmax(w, dim=-1), flat(v))
class Gemma(nn.Module):
    def forward(self, q, k, v, mask):
        w = torch.matmul(q, k.transpose(2, 3)) * 0.0625
        w = torch.tanh(w / 50.0) * 50.0
        w = w + mask
        return torch.matmul(F.softmax(w, dim=-1, dtype=torch.float32), v)
class Einsum(nn.Module):
    def forward(self, q, k, v):
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) * 0.25
        return torch.einsum("bhqk,bkhd->bqhd", s.softmax(-1), v)
r = torch.randn
B, H, S, D = 2, 4, 6, 16
cases = {
 "torch-sdpa": (Sdpa(), (r(B,H,S,D),r(B,H,S,D),r(B,H,S,D))),
 "torch-sdpa-causal": (SdpaCausal(), (r(B,H,S,D),r(B,H,S,D),r(B,H,S,D))),
 "torch-sdpa-mask": (SdpaMask(), (r(B,H,S,D),r(B,H,S,D),r(B,H,S,D)) + (torch.ones(B,1,S,S,dtype=torch.bool),)),
 "torch-sdpa-grouped": (SdpaGqa(), (r(B,H,S,D), r(B,2,S,D), r(B,2,S,D))),
 "torch-bert": (Eager(), (r(B,S,H*D),r(B,S,H*D),r(B,S,H*D)) + (torch.ones(B,S),)),
 "torch-llama": (Llama(), (r(B,H,S,D).half(), r(B,2,S,D).half(), r(B,2,S,D).half(), r(B,1,S,S).half())),
 "torch-t5": (T5(), (r(B,H,S,D),r(B,H,S,D),r(B,H,S,D)) + (r(1,H,S,S),)),
 "torch-gpt2": (Gpt2(), (r(B,H,S,D),r(B,H,S,D),r(B,H,S,D))),
 "torch-fairseq": (Fairseq(), (r(B,H,S,D),r(B,H,S,D),r(B,H,S,D)) + (torch.zeros(B,S,dtype=torch.bool),)),
 "torch-gemma": (Gemma(), (r(B,H,S,D),r(B,H,S,D),r(B,H,S,D)) + (r(B,1,S,S),)),
 "torch-einsum": (Einsum(), (r(B,S,H,D),r(B,S,H,D),r(B,S,H,D))),
}
for name, (model, inputs) in cases.items():
    module = fx.export_and_import(model.eval(), *inputs, output_type="linalg-on-tensors", func_name="attend")
    (out / f"{name}.mlir").write_text(str(module))
