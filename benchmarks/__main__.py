"""Print a table of ratios: ``python -m benchmarks``."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn

from attnlib import MultiHeadAttention, attention, pick_device

RUNS = 9
SIZES = {"B 8, H 12, T 1024, D 64": (8, 12, 1024, 64), "B 1, H 8, T 4096, D 64": (1, 8, 4096, 64)}


def ratio(ours: Callable[[], object], theirs: Callable[[], object], device: torch.device) -> float:
    """Return the median of ``ours / theirs``, timed in turn so that both see the same machine."""

    def seconds(run: Callable[[], object]) -> float:
        start = time.perf_counter()
        run()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    seconds(ours), seconds(theirs)
    return median(seconds(ours) / seconds(theirs) for _ in range(RUNS))


def main() -> None:
    """Measure and print."""
    device = pick_device()
    torch.manual_seed(0)
    print(f"torch {torch.__version__} on {device}, medians of {RUNS}")
    for name, (B, H, T, D) in SIZES.items():
        q, k, v = torch.randn(3, B, H, T, D).to(device)
        x = torch.randn(B, T, H * D).to(device)
        theirs = nn.MultiheadAttention(H * D, H, batch_first=True).to(device)
        ours = MultiHeadAttention.from_torch(theirs)
        rows = {
            "attention": (
                lambda q=q, k=k, v=v: attention(q, k, v),
                lambda q=q, k=k, v=v: F.scaled_dot_product_attention(q, k, v),
            ),
            "attention, causal": (
                lambda q=q, k=k, v=v: attention(q, k, v, causal=True),
                lambda q=q, k=k, v=v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            ),
            "MultiHeadAttention, forward": (
                lambda x=x, m=ours: m(x),
                lambda x=x, m=theirs: m(x, x, x, need_weights=False),
            ),
            "MultiHeadAttention, forward and backward": (
                lambda x=x, m=ours: m(x).sum().backward(),
                lambda x=x, m=theirs: m(x, x, x, need_weights=False)[0].sum().backward(),
            ),
        }
        for what, (mine, other) in rows.items():
            print(f"{name}  {what:<42} {ratio(mine, other, device):.2f}x")


if __name__ == "__main__":
    main()
