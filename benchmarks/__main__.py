"""Print a table of ratios: ``python -m benchmarks``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib import (
    MultiHeadAttention,
    attention,
    causal_mask,
    pick_device,
    sliding_window_attention,
    tiled_attention,
)

RUNS = 9
SIZES = {"(8, 12, 1024, 64)": (8, 12, 1024, 64), "(1, 8, 4096, 64)": (1, 8, 4096, 64)}
Work = Callable[[], object]


def seconds(work: Work, device: torch.device) -> float:
    """Return how long a call takes; on a GPU, ten calls are queued, as a model would queue them."""
    calls = 10 if device.type == "cuda" else 1
    start = time.perf_counter()
    for _ in range(calls):
        work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def ratio(ours: Work, theirs: Work, device: torch.device) -> float:
    """Return the median of ``ours / theirs``, timed in turn so that both see the same machine."""
    seconds(ours, device), seconds(theirs, device)
    return median(seconds(ours, device) / seconds(theirs, device) for _ in range(RUNS))


def plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Compute causal attention by the formula, with its full matrix."""
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    hidden = ~causal_mask(q.shape[-2], device=q.device)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


def against_pytorch(size: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Iterator:
    """Go through what PyTorch has too: a name, ours, theirs."""
    B, H, T, D = size
    q, k, v = torch.randn(3, *size).to(device, dtype)
    for name, causal in (("", False), (", causal", True)):
        yield (
            f"attention{name}",
            lambda causal=causal: attention(q, k, v, causal=causal),
            lambda causal=causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
        )
    x = torch.randn(B, T, H * D).to(device, dtype)
    theirs = nn.MultiheadAttention(H * D, H, batch_first=True).to(device, dtype)
    ours = MultiHeadAttention.from_torch(theirs)
    hidden = ~causal_mask(T, device=device)
    for name, mine, options in (
        ("", {}, {}),
        (", causal", {"causal": True}, {"attn_mask": hidden, "is_causal": True}),
    ):

        def run_ours(mine=mine):
            return ours(x, **mine)

        def run_theirs(options=options):
            return theirs(x, x, x, need_weights=False, **options)[0]

        yield f"MultiHeadAttention{name}, forward", run_ours, run_theirs
        yield (
            f"MultiHeadAttention{name}, forward and backward",
            lambda run=run_ours: run().sum().backward(),
            lambda run=run_theirs: run().sum().backward(),
        )


def main() -> None:
    """Measure and print."""
    device = pick_device()
    torch.manual_seed(0)
    print(f"torch {torch.__version__} on {device}, medians of {RUNS}\n")
    print("| what | size | dtype | ratio |\n|---|---|---|---|")
    dtypes = [torch.float32, torch.bfloat16] if device.type == "cuda" else [torch.float32]
    for dtype in dtypes:
        for name, size in SIZES.items():
            for what, ours, theirs in against_pytorch(size, dtype, device):
                print(
                    f"| {what} | {name} | {str(dtype)[6:]} | {ratio(ours, theirs, device):.2f}x |", flush=True
                )
    q, k, v = torch.randn(3, 1, 8, 4096, 64).to(device)
    tiled = ratio(lambda: tiled_attention(q, k, v, causal=True), lambda: plain(q, k, v), device)
    print(f"| tiled_attention, causal, against the plain formula | T = 4096 | float32 | {tiled:.2f}x |")
    long = torch.randn(3, 1, 8, 16384, 64).to(device)
    window = ratio(
        lambda: sliding_window_attention(*long, window=256),
        lambda: sliding_window_attention(q, k, v, window=256),
        device,
    )
    print(f"| sliding_window_attention, window 256 | T from 4096 to 16384 | float32 | {window:.2f}x |")


if __name__ == "__main__":
    main()
