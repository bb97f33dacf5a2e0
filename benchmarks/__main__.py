"""Print a table of ratios: ``python -m benchmarks``, with ``four_axes decoding`` for these parts only.

``--rules`` measures the backends of rules instead, on CUDA.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib import (
    Decoder,
    MultiHeadAttention,
    alibi_bias,
    attention,
    causal_mask,
    padding_mask,
    pick_device,
    rotary,
    sliding_window_attention,
    sliding_window_mask,
    tiled_attention,
)
from attnlib.instruments.counters import count_peak_bytes
from attnlib.instruments.timing import timed

RUNS = 9
LONG = 2e-2  # seconds of a run
SIZES = [(8, 12, 1024, 64), (1, 8, 4096, 64)]  # B, H, T, D
Work = Callable[[], object]
Row = tuple[str, str, str, float]
clock = timed


def computing(work: Work, device: torch.device, calls: int = 1) -> float:
    """Return the seconds that the processor spent on a call, which other programs hardly lengthen."""
    assert device.type == "cpu"
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def ratio(ours: Work, theirs: Work, device: torch.device, calls: int | None = None) -> float:
    """Return the median of ``ours / theirs``, timed in turn so that both see the same machine.

    Each goes first every other time. A run is as many calls as take 20 ms, on a GPU 10 and more in a queue.
    """
    clock(ours, device, 1), clock(theirs, device, 1)
    if calls is None:
        least = 10 if device.type == "cuda" else 1
        calls = min(100, max(least, int(LONG / clock(theirs, device, least))))
    ratios = []
    for run in range(RUNS):
        if run % 2:
            b, a = clock(theirs, device, calls), clock(ours, device, calls)
        else:
            a, b = clock(ours, device, calls), clock(theirs, device, calls)
        ratios.append(a / b)
    return median(ratios)


def plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Compute causal attention by the formula, with its full matrix."""
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    hidden = ~causal_mask(q.shape[-2], device=q.device)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


def kernels(size: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Iterator[Row]:
    """Compare `attention` with PyTorch's."""
    q, k, v = torch.randn(3, *size).to(device, dtype)
    for name, causal in (("", False), (", causal", True)):
        found = ratio(
            lambda causal=causal: attention(q, k, v, causal=causal),
            lambda causal=causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
            device,
        )
        yield f"`attention`{name}", str(size), str(dtype)[6:], found


def layers(size: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Iterator[Row]:
    """Compare `MultiHeadAttention` with PyTorch's, without weights and with."""
    B, H, T, D = size
    x = torch.randn(B, T, H * D).to(device, dtype)
    theirs = nn.MultiheadAttention(H * D, H, batch_first=True).to(device, dtype)
    ours = MultiHeadAttention.from_torch(theirs)
    hidden = ~causal_mask(T, device=device)
    for causal in (False, True):
        options = {"attn_mask": hidden, "is_causal": True} if causal else {}
        name = "`MultiHeadAttention`" + (", causal" if causal else "")

        def fast(causal=causal):
            return ours(x, causal=causal)

        def their_fast(options=options):
            return theirs(x, x, x, need_weights=False, **options)[0]

        def weights(causal=causal):
            return ours(x, causal=causal, need_weights=True)

        for label, mine, other in (
            ("forward", fast, their_fast),
            (
                "forward and backward",
                lambda fast=fast: fast().sum().backward(),
                lambda their_fast=their_fast: their_fast().sum().backward(),
            ),
            ("with weights", weights, lambda options=options: theirs(x, x, x, **options)),
            (
                "with weights of each head",
                weights,
                lambda options=options: theirs(x, x, x, average_attn_weights=False, **options),
            ),
        ):
            yield f"{name}, {label}", str(size), str(dtype)[6:], ratio(mine, other, device)


def less(device: torch.device) -> Iterator[Row]:
    """Measure what holds less or does less against what does not."""
    q, k, v = torch.randn(3, 1, 8, 4096, 64).to(device)
    found = ratio(lambda: tiled_attention(q, k, v, causal=True), lambda: plain(q, k, v), device)
    yield "`tiled_attention`, causal: time against the plain formula", "(1, 8, 4096, 64)", "float32", found
    long = torch.randn(3, 1, 8, 16384, 64).to(device)
    found = ratio(
        lambda: sliding_window_attention(*long, window=256),
        lambda: sliding_window_attention(q, k, v, window=256),
        device,
    )
    yield "`sliding_window_attention`, window 256: time", "T from 4096 to 16384", "float32", found
    q, k, v = torch.randn(3, 1, 8, 8192, 64).to(device)
    found = count_peak_bytes(lambda: tiled_attention(q, k, v, causal=True)) / count_peak_bytes(
        lambda: plain(q, k, v)
    )
    yield (
        "`tiled_attention`, causal: peak memory against the plain formula",
        "(1, 8, 8192, 64)",
        "float32",
        found,
    )


def four_axes(device: torch.device) -> Iterator[Row]:
    """Compare what PyTorch would take its slow path for with what it takes the quick one for."""
    T = 1024
    q, k, v = torch.randn(3, 2, 8, T, 64).to(device)
    bias = alibi_bias(8, T, device=device)
    hidden = ~causal_mask(T, device=device)
    full = bias.masked_fill(hidden, float("-inf"))[None]
    five = [x.unflatten(0, (1, 2)) for x in (q, k, v)]
    padding = padding_mask(torch.tensor([T, T - 100], device=device), T)
    one = q[:, :, :1]
    sdpa = F.scaled_dot_product_attention
    work: dict[str, tuple[Work, Work]] = {
        "bias of three axes": (
            lambda: attention(q, k, v, bias=bias),
            lambda: sdpa(q, k, v, attn_mask=bias[None]),
        ),
        "ALiBi, causal": (
            lambda: attention(q, k, v, bias=bias, causal=True),
            lambda: sdpa(q, k, v, attn_mask=full),
        ),
        "five axes": (lambda: attention(*five), lambda: sdpa(q, k, v)),
        "values half as wide": (lambda: attention(q, k, v[..., :32]), lambda: sdpa(q, k, v)),
        "one query, padding": (
            lambda: attention(one, k, v, padding),
            lambda: sdpa(one, k, v, attn_mask=padding),
        ),
        "window 256": (
            lambda: sliding_window_attention(q, k, v, window=256),
            lambda: in_flat_blocks(q, k, v, 256),
        ),
    }
    for name, (ours, theirs) in work.items():
        yield (
            f"`attention`, {name}, against PyTorch with four axes",
            str(tuple(q.shape)),
            "float32",
            ratio(ours, theirs, device),
        )
    yield (
        "`causal_mask(2048)` against `ones.tril()`",
        "",
        "bool",
        ratio(
            lambda: causal_mask(2048, device=device),
            lambda: torch.ones(2048, 2048, dtype=torch.bool, device=device).tril(),
            device,
        ),
    )
    mask = sliding_window_mask(4096, window=256, device=device)
    q, k, v = torch.randn(3, 1, 8, 4096, 64).to(device)
    found = count_peak_bytes(lambda: sliding_window_attention(q, k, v, window=256)) / count_peak_bytes(
        lambda: sdpa(q, k, v, attn_mask=mask)
    )
    yield (
        "`sliding_window_attention`: peak memory against the dense mask",
        "(1, 8, 4096, 64)",
        "float32",
        found,
    )


def in_flat_blocks(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Compute a sliding window by PyTorch alone: each block of queries with its own keys and those before."""
    B, H, T, D = q.shape
    n = T // window

    def flat(x: Tensor) -> Tensor:
        return x.transpose(1, 2).reshape(B * n, H, -1, D)

    def keys(x: Tensor) -> Tensor:
        return flat(F.pad(x, (0, 0, window, 0)).unfold(-2, 2 * window, window).mT)

    i = torch.arange(window, device=q.device)[:, None] + window
    j = torch.arange(2 * window, device=q.device)
    seen = (j <= i) & (j > i - window)
    seen = seen & (torch.arange(n, device=q.device)[:, None, None] * window + j >= window)  # (n, w, 2w)
    mask = seen.repeat(B, 1, 1)[:, None]
    out = F.scaled_dot_product_attention(flat(q.unflatten(2, (n, window))), keys(k), keys(v), attn_mask=mask)
    return out.unflatten(0, (B, n)).transpose(1, 2).flatten(2, 3)


def generation(device: torch.device) -> Iterator[Row]:
    """Measure cached generation of 256 tokens against uncached."""
    batch, start = (8, 768) if device.type == "cuda" else (1, 1)
    model = Decoder(256, 1024, 768, 12, 2).to(device)
    tokens = torch.zeros(batch, start, dtype=torch.int64, device=device)
    found = ratio(
        lambda: model.generate(tokens, 256),
        lambda: model.generate(tokens, 256, use_cache=False),
        device,
        calls=1,
    )
    yield (
        "`Decoder.generate`: time with a cache against without",
        f"{batch} x 256 after {start}",
        "float32",
        found,
    )


def decoding(device: torch.device) -> Iterator[Row]:
    """Measure one cached step of a layer, turned against plain, and one query behind a padding mask."""
    S = 1024
    for width, heads in ((768, 12), (512, 8)):
        layer = MultiHeadAttention(width, heads).to(device).eval()
        new, past = torch.randn(1, 1, width).to(device), torch.randn(1, S, width).to(device)

        def step(options: dict[str, object], layer=layer, new=new, past=past) -> Work:
            cache = layer.make_cache(1, S + 1)
            layer(past, causal=True, cache=cache, **options)

            def run() -> None:
                layer(new, causal=True, cache=cache, **options)
                cache.crop(S)

            return run

        with torch.no_grad():
            found = ratio(step({"rotary": rotary}), step({}), device, calls=30)
        yield (
            "a cached step of `MultiHeadAttention` with `rotary` against without",
            f"C {width}, S {S}",
            "float32",
            found,
        )
    for B in (8, 1):
        q, k, v = torch.randn(B, 12, 1, 64).to(device), *torch.randn(2, B, 12, S, 64).to(device)
        mask = padding_mask([S - 7 * i for i in range(1, B + 1)], S).to(device)
        with torch.no_grad():
            found = ratio(
                lambda q=q, k=k, v=v, mask=mask: attention(q, k, v, mask),
                lambda q=q, k=k, v=v, mask=mask: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
                device,
                calls=30,
            )
        yield "`attention` of one query with a padding mask", f"({B}, 12, {S}, 64)", "float32", found


def against_pytorch(device: torch.device) -> Iterator[Row]:
    """Compare attention and layer with PyTorch's, in every size and dtype."""
    for dtype in [torch.float32, torch.bfloat16] if device.type == "cuda" else [torch.float32]:
        for size in SIZES:
            yield from kernels(size, dtype, device)
            yield from layers(size, dtype, device)


PARTS = {
    "against_pytorch": against_pytorch,
    "four_axes": four_axes,
    "less": less,
    "generation": generation,
    "decoding": decoding,
}


def main() -> None:
    """Measure and print."""
    global clock
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios, ours over theirs.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if not given")
    parser.add_argument(
        "--busy", action="store_true", help="count the processor's time, in one thread, on a busy machine"
    )
    parser.add_argument(
        "--rules",
        nargs="?",
        type=float,
        const=math.inf,
        metavar="SECONDS",
        help="measure the backends of rules on CUDA, and begin nothing new after so many seconds",
    )
    asked = parser.parse_args()
    if asked.rules is not None:
        from benchmarks import rules

        rules.main(asked.rules)
        return
    unknown = set(asked.parts) - PARTS.keys()
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    device = torch.device("cpu") if asked.busy else pick_device()
    if asked.busy:
        torch.set_num_threads(1)
        clock = computing
    torch.manual_seed(0)
    how = "of the processor's time, in one thread" if asked.busy else "in turn"
    print(f"torch {torch.__version__} on {device}, medians of {RUNS} {how}\n")
    print("| what | size | dtype | ratio |\n|---|---|---|---|")
    for part in asked.parts or PARTS:
        for what, size, dtype, found in PARTS[part](device):
            print(f"| {what} | {size} | {dtype} | {found:.3f}x |", flush=True)


if __name__ == "__main__":
    main()
