"""Measure the backends of rules against each other: ``python -m benchmarks --rules`` on a machine with CUDA.

Writes ``attnlib/data/mask-rules.json``, by which `attnlib.backends.choose` decides, and prints what users wait
for against PyTorch and FlexAttention. A backend whose output or gradients differ from the table's is left out.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib import MaskRule, attention
from attnlib._plan import Plan
from attnlib.backends import blocks, choose, flex, measured, varlen
from benchmarks.__main__ import ratio

HERE = Path(measured.__file__).parents[1] / "data" / measured.NAME
DTYPES = (torch.bfloat16, torch.float16)
SIZES = ((1, 16, 16384, 128), (4, 16, 2048, 128), (1, 16, 16384, 64), (4, 16, 2048, 64))  # B, H, T, D
MAIN = (1, 16, 16384, 128)
FAR = 0.03  # what half precision may be off, as a share of the largest number


def rules(B: int, T: int, device: torch.device) -> dict[str, MaskRule]:
    """Make the rules that are measured, by the names of their facts."""
    documents = (torch.arange(T, device=device) // min(2048, T // 4)).expand(B, -1).contiguous()
    lengths = torch.full((B,), T - T // 4, device=device)
    return {
        "causal window": MaskRule(causal=True, window=min(1024, T // 4)),
        "causal window prefix": MaskRule(causal=True, window=min(1024, T // 4), prefix=16),
        "documents": MaskRule(documents=documents),
        "causal documents": MaskRule(causal=True, documents=documents),
        "lengths": MaskRule(lengths=lengths),
        "causal lengths": MaskRule(causal=True, lengths=lengths),
        "causal prefix": MaskRule(causal=True, prefix=T // 4),
    }


def both_ways(run: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor) -> list[Tensor]:
    """Return the output and the gradients of q, k and v."""
    given = [x.detach().requires_grad_() for x in (q, k, v)]
    out = run(*given)
    return [out.detach(), *torch.autograd.grad(out, given, torch.ones_like(out))]


def seconds(run: Callable[[], object], device: torch.device, runs: int = 7) -> float:
    """Return the median time of a call, many in a queue."""
    calls, found = 10, []
    run()
    for _ in range(runs):
        torch.cuda.synchronize(device)
        start = time.perf_counter()
        for _ in range(calls):
            run()
        torch.cuda.synchronize(device)
        found.append((time.perf_counter() - start) / calls)
    return sorted(found)[runs // 2]


def backends(rule: MaskRule) -> dict[str, Callable[..., Tensor]]:
    """Return every backend as a function of q, k and v, straight: none is chosen by the table."""

    def by(run: Callable[[Plan], Tensor]) -> Callable[..., Tensor]:
        return lambda q, k, v: run(Plan(q, k, v, None, rule))

    def whole(plan: Plan) -> Tensor:
        return choose.compute(plan._replace(mask=plan.seen(), rule=None))

    return {
        "table": by(whole),
        "blocks": by(lambda plan: blocks.in_blocks(plan, choose.compute)),
        "varlen": by(varlen.run),
        "flex": by(flex.run),
    }


def measure(device: torch.device) -> Iterator[dict]:
    """Measure every backend for every rule, forward and backward, and yield those that are right."""
    torch.manual_seed(0)
    card = list(torch.cuda.get_device_capability(device))
    for dtype in DTYPES:
        for size in SIZES:
            B, _, T, D = size
            q, k, v = torch.randn(3, *size, device=device).to(dtype)
            for kind, rule in rules(B, T, device).items():
                assert measured.kind_of(rule) == kind
                for name, forward, total in times(rule, q, k, v):
                    print(
                        f"  {str(dtype)[6:]} {size} {kind}, {name}: {forward:.6f} s, {total:.6f} s with backward"
                    )
                    yield {
                        "capability": card,
                        "dtype": str(dtype)[6:],
                        "width": D,
                        "length": T,
                        "kind": kind,
                        "backend": name,
                        "forward": round(forward, 7),
                        "seconds": round(total, 7),
                    }


def times(rule: MaskRule, q: Tensor, k: Tensor, v: Tensor) -> Iterator[tuple[str, float, float]]:
    """Yield the backends that are right for a rule, with their seconds forward, and forward and backward."""
    want = None
    given = [x.detach().requires_grad_() for x in (q, k, v)]
    grad = torch.ones_like(q)
    for name, run in backends(rule).items():
        try:
            if name in choose.STRUCTURED and not choose.STRUCTURED[name].can(Plan(q, k, v, None, rule)):
                continue
            got = both_ways(run, q, k, v)
            want = got if want is None else want
            pairs = zip(got, want, strict=True)
            off = max(float((a - b).abs().max() / b.abs().max().clamp_min(1e-6)) for a, b in pairs)
            if not off < FAR:
                print(f"  {name} is off by {off:.3f} of the largest number, and left out")
                continue
            forward = seconds(lambda run=run: run(q, k, v), q.device)
            total = seconds(lambda run=run: torch.autograd.grad(run(*given), given, grad), q.device)
        except (RuntimeError, TypeError, ValueError) as error:
            print(f"  {name}: {str(error).splitlines()[0][:90]}")
            torch.cuda.empty_cache()
            continue
        yield name, forward, total


def store(device: torch.device) -> None:
    """Measure everything and write it down with what it was measured on."""
    flex.compile_flex()
    rows = list(measure(device))
    made = {
        "card": torch.cuda.get_device_name(device),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "day": time.strftime("%Y-%m-%d"),
        "what": "forward and backward, median of 7, 10 calls in a queue; python -m benchmarks --rules",
        "rows": rows,
    }
    HERE.write_text(json.dumps(made, indent=1) + "\n", "utf8")
    measured.table.cache_clear()
    measured._order.cache_clear()
    print(f"{len(rows)} rows written to {HERE.name}\n")


def lines(device: torch.device) -> Iterator[tuple[str, float]]:
    """Compare `attention` as users call it with FlexAttention and with PyTorch."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    B, _, T, _ = MAIN
    q, k, v = torch.randn(3, *MAIN, device=device).to(torch.bfloat16)
    their = torch.compile(flex_attention, dynamic=False)
    wanted = rules(B, T, device)
    for compiled in (False, True):
        flex.forget_flex()
        if compiled:
            flex.compile_flex()
        for kind in ("causal window", "documents", "causal documents", "lengths", "causal prefix"):
            rule = wanted[kind]
            mask = create_block_mask(rule, B if rule.tensors() else None, None, T, T, device=device.type)
            found = ratio(
                lambda rule=rule: attention(q, k, v, rule),
                lambda mask=mask: their(q, k, v, block_mask=mask),
                device,
            )
            yield (
                f"{kind}, {'with' if compiled else 'without'} compiled FlexAttention of ours, against it",
                found,
            )
    for name, causal in (("no mask", False), ("causal", True)):
        found = ratio(
            lambda causal=causal: attention(q, k, v, causal=causal),
            lambda causal=causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
            device,
        )
        yield f"{name}, against PyTorch", found


def main() -> None:
    """Measure, write and compare."""
    if not torch.cuda.is_available():
        raise SystemExit("benchmarks --rules needs CUDA: the table is of what was measured there")
    device = torch.device("cuda")
    store(device)
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name(device)}, bfloat16, {MAIN}\n")
    print("| what | ratio |\n|---|---|")
    for what, found in lines(device):
        print(f"| {what} | {found:.3f}x |", flush=True)
