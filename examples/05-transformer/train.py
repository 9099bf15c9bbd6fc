#!/usr/bin/env python3
"""Trains the small encoder-decoder of reverse.mlir to reverse digit strings, and writes reverse.safetensors.

It needs PyTorch and takes minutes, so that its result is committed and no test runs it:

  python3 -m venv /tmp/train && /tmp/train/bin/pip install torch numpy safetensors && /tmp/train/bin/python train.py

The model is that of "Attention Is All You Need", written out; its parameters have the names that the .mlir reads.
"""

import math
import pathlib
import random

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from strings import BEGIN, END, PAD, VOCABULARY, held_out, tokens

WIDTH, HEADS, INNER, LAYERS, LONGEST = 64, 4, 128, 2, 10


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x, y, keep):
        """From x to y. keep: [batch or 1, 1, query or 1, key]."""
        query, key, value = (
            linear(z).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for linear, z in ((self.query, x), (self.key, y), (self.value, y)))
        scores = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        weights = scores.masked_fill(~keep, -math.inf).softmax(-1)
        return self.output((weights @ value).transpose(1, 2).flatten(-2))


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attention, self.norm_1, self.norm_2 = Attention(), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.widen, self.narrow = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, keep):
        x = self.norm_1(x + self.self_attention(x, x, keep))
        return self.norm_2(x + self.narrow(self.widen(x).relu()))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attention, self.cross_attention = Attention(), Attention()
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.widen, self.narrow = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, memory, source_keep, causal):
        x = self.norm_1(x + self.self_attention(x, x, causal))
        x = self.norm_2(x + self.cross_attention(x, memory, source_keep))
        return self.norm_3(x + self.narrow(self.widen(x).relu()))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)  # of both sides and of the projection (section 3.4)
        nn.init.normal_(self.embedding.weight, std=WIDTH**-0.5)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))

    def embed(self, ids):
        position = torch.arange(ids.shape[1])[:, None]
        angle = position / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
        return self.embedding(ids) * math.sqrt(WIDTH) + torch.stack((angle.sin(), angle.cos()), -1).flatten(-2)

    def forward(self, source, target):
        source_keep = (source != PAD)[:, None, None]
        causal = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()[None, None]
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, source_keep)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, memory, source_keep, causal)
        return x @ self.embedding.weight.T


def random_string():
    while held_out(string := "".join(random.choices("0123456789", k=random.randint(1, LONGEST)))):
        pass
    return string


def batch(strings):
    """Sources, and targets with both ends, padded to one length."""
    def pad(rows):
        return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)
    return pad([tokens(s) + [END] for s in strings]), pad([[BEGIN] + tokens(s[::-1]) + [END] for s in strings])


def accuracy(model, strings):
    """The share of the strings whose every next token is right."""
    source, target = batch(strings)
    with torch.no_grad():
        right = (model(source, target[:, :-1]).argmax(-1) == target[:, 1:]) | (target[:, 1:] == PAD)
    return right.all(-1).float().mean().item()


def main():
    torch.set_num_threads(1)  # so small a model gains nothing from more
    random.seed(1)
    torch.manual_seed(1)
    model = Transformer()
    strings = ["".join(random.choices("0123456789", k=1 + i % LONGEST)) for i in range(20000)]
    unseen = [string for string in strings if held_out(string)]
    optimizer = torch.optim.Adam(model.parameters(), lr=1, betas=(0.9, 0.98), eps=1e-9)
    # Section 5.3, with a shorter warm-up for a shorter training.
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 0.5 * WIDTH**-0.5 * min((step + 1) ** -0.5, (step + 1) * 1000**-1.5))
    for step in range(1, 20001):
        source, target = batch([random_string() for _ in range(64)])
        logits = model(source, target[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 250 == 0:
            right = accuracy(model, unseen)
            print(f"step {step}: loss {loss.item():.4f}, held-out strings right {right:.4f}", flush=True)
            if right == 1 and loss.item() < 2e-3:
                break
    save_file(model.state_dict(), pathlib.Path(__file__).with_name("reverse.safetensors"))


main()
