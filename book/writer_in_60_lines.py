"""The writer of chapter 9, with PyTorch alone: load its weights, or train it."""

import torch
import torch.nn.functional as F
from torch import nn


def rotary(x):  # (B, H, T, D): each pair of features turns with the position
    half = x.shape[-1] // 2
    frequencies = 10000.0 ** (-torch.arange(half) / half)
    angles = torch.arange(x.shape[-2])[:, None] * frequencies  # (T, D / 2)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x.split(half, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self, C, H):
        super().__init__()
        self.H = H
        self.q_proj = nn.Linear(C, C, bias=False)
        self.k_proj = nn.Linear(C, C, bias=False)
        self.v_proj = nn.Linear(C, C, bias=False)
        self.out_proj = nn.Linear(C, C, bias=False)

    def forward(self, x):  # (B, T, C)
        made = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in made)
        scores = rotary(q) @ rotary(k).mT / q.shape[-1] ** 0.5  # (B, H, T, T)
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, -torch.inf).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, C, H, hidden):
        super().__init__()
        self.attention = Attention(C, H)
        self.attention_norm = nn.RMSNorm(C, eps=1e-5)
        self.network_norm = nn.RMSNorm(C, eps=1e-5)
        self.gate_proj = nn.Linear(C, hidden, bias=False)
        self.up_proj = nn.Linear(C, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, C, bias=False)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        y = self.network_norm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Decoder(nn.Module):
    def __init__(self, V, C=128, H=4, L=4, hidden=344):
        super().__init__()
        self.token_embedding = nn.Embedding(V, C)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(C, H, hidden) for _ in range(L))
        self.norm = nn.RMSNorm(C, eps=1e-5)

    def forward(self, tokens):  # (B, T) -> (B, T, V): logits of the next token
        x = self.token_embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.token_embedding.weight.T


@torch.no_grad()
def write(model, tokens, steps, temperature=0.8):
    for _ in range(steps):
        logits = model(torch.tensor([tokens]))[0, -1]
        chances = (logits / temperature).softmax(-1)
        tokens = [*tokens, torch.multinomial(chances, 1).item()]
    return tokens
