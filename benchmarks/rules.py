"""Measure the backends of rules against each other: ``python -m benchmarks --rules`` on a machine with CUDA.

Writes ``attnlib/data/mask-rules.json``, by which `attnlib.backends.choose` decides, and prints what users
wait for against FlexAttention and PyTorch. A backend whose output or gradients are not the table's is left
out. ``--rules 200`` begins nothing new after 200 seconds: what the printed ratios need comes first.
"""

from __future__ import annotations

import contextlib
import json
import math
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TypeVar

import torch
import torch._dynamo
import torch.nn.functional as F
from torch import Tensor

from attnlib import MaskRule, attention
from attnlib._plan import Plan
from attnlib.backends import blocks, choose, flex, measured, varlen
from attnlib.instruments.timing import timed

HERE = Path(measured.__file__).parents[1] / "data" / measured.NAME
DTYPES = (torch.bfloat16, torch.float16)
SIZES = ((1, 16, 16384, 128), (4, 16, 2048, 128), (1, 16, 16384, 64), (4, 16, 2048, 64))  # B, H, T, D
MAIN = (torch.bfloat16, SIZES[0])
FAR = 0.015  # how far half precision may be off, as a share of the numbers; rounding alone makes 0.005
RUNS = 5
LONG = 0.03  # seconds of a run
Work = Callable[..., Tensor]
Key = TypeVar("Key")


def rules(B: int, T: int, device: torch.device) -> dict[str, MaskRule]:
    """Make the rules that are measured, by the names of their facts; the first five are compared as well."""
    documents = (torch.arange(T, device=device) // min(2048, T // 4)).expand(B, -1).contiguous()
    lengths = torch.full((B,), T - T // 4, device=device)
    window = min(1024, T // 4)
    return {
        "causal window": MaskRule(causal=True, window=window),
        "documents": MaskRule(documents=documents),
        "causal documents": MaskRule(causal=True, documents=documents),
        "lengths": MaskRule(lengths=lengths),
        "causal prefix": MaskRule(causal=True, prefix=T // 4),
        "causal window prefix": MaskRule(causal=True, window=window, prefix=16),
        "causal lengths": MaskRule(causal=True, lengths=lengths),
    }


COMPARED = 5


def backends(rule: MaskRule) -> dict[str, Work]:
    """Return every backend as a function of q, k and v, straight: none is chosen by what is stored."""

    def by(run: Callable[[Plan], Tensor]) -> Work:
        return lambda q, k, v: run(Plan(q, k, v, None, rule))

    def whole(plan: Plan) -> Tensor:
        return choose.compute(plan._replace(mask=plan.seen(), rule=None))

    return {
        "table": by(whole),
        "blocks": by(lambda plan: blocks.in_blocks(plan, choose.compute)),
        "varlen": by(varlen.run),
        "flex": by(flex.run),
    }


def both_ways(run: Work, given: list[Tensor], grad: Tensor) -> list[Tensor]:
    """Return the output and the gradients of q, k and v."""
    out = run(*given)
    return [out.detach(), *torch.autograd.grad(out, given, grad)]


def off(got: list[Tensor], want: list[Tensor]) -> float:
    """Return how far numbers are from others, as a share of them, in the mean of the squares."""
    pairs = zip(got, want, strict=True)
    return max(float((a.float() - b.float()).norm() / b.float().norm()) for a, b in pairs)


def seconds(works: dict[Key, Callable[[], object]], device: torch.device) -> dict[Key, list[float]]:
    """Return the seconds of a call in each run, many in a queue; the works take turns."""
    calls = {}
    for name, work in works.items():
        timed(work, device)
        calls[name] = min(100, max(3, int(LONG / timed(work, device, 3))))
    found: dict[Key, list[float]] = {name: [] for name in works}
    for run in range(RUNS):
        for name in reversed(works) if run % 2 else works:
            found[name].append(timed(works[name], device, calls[name]))
    return found


def measure(dtype: torch.dtype, size: tuple[int, ...], kind: str, device: torch.device) -> list[dict]:
    """Measure the backends that are right for a rule, forward, and forward and backward."""
    torch.manual_seed(0)
    B, _, T, D = size
    rule = rules(B, T, device)[kind]
    assert measured.kind_of(rule) == kind
    q, k, v, grad = torch.randn(4, *size, device=device).to(dtype)
    given = [x.detach().requires_grad_() for x in (q, k, v)]
    want: list[Tensor] | None = None
    works: dict[tuple[str, str], Callable[[], object]] = {}
    for name, run in backends(rule).items():
        begun = time.perf_counter()
        try:
            if name in choose.STRUCTURED and not choose.STRUCTURED[name].can(Plan(q, k, v, None, rule)):
                print(f"  {name} cannot")
                continue
            got = both_ways(run, given, grad)
            want = got if want is None else want
            wrong = off([run(q, k, v), *got], [want[0], *want])
        except Exception as error:  # whatever a backend of this PyTorch fails with
            print(f"  {name}: {type(error).__name__}: {str(error).strip()[:300]}")
            torch.cuda.empty_cache()
            continue
        print(f"  {name} is off by {wrong:.4f}, first calls took {time.perf_counter() - begun:.1f} s")
        if wrong < FAR:
            works[name, "forward"] = lambda run=run: run(q, k, v)
            works[name, "seconds"] = lambda run=run: both_ways(run, given, grad)
    times = {key: median(found) for key, found in seconds(works, device).items()}
    like = {
        "capability": list(torch.cuda.get_device_capability(device)),
        "dtype": str(dtype)[6:],
        "width": D,
        "length": T,
        "kind": kind,
    }
    rows = [
        {**like, "backend": name}
        | {which: float(f"{times[name, which]:.4g}") for which in ("forward", "seconds")}
        for name, which in works
        if which == "forward"
    ]
    for row in rows:
        print(f"  {row['backend']}: {row['forward'] * 1e3:.3f} ms, {row['seconds'] * 1e3:.3f} with backward")
    return rows


def store(rows: list[dict], device: torch.device) -> None:
    """Write down what was measured, and on what; from here on it decides."""
    made = {
        "card": torch.cuda.get_device_name(device),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "day": time.strftime("%Y-%m-%d"),
        "what": f"seconds of a call, forward, and with backward: median of {RUNS}, calls in a queue",
        "measure": "python -m benchmarks --rules",
        "rows": rows,
    }
    text = json.dumps(made, indent=1)
    each = ",\n".join(f"  {json.dumps(row)}" for row in rows)  # a row on a line
    HERE.write_text(f"{text[: text.index('[')]}[\n{each}\n ]\n}}\n", "utf8")
    measured.table.cache_clear()
    measured._order.cache_clear()


@contextlib.contextmanager
def without_flex() -> Iterator[None]:
    """Take compiled FlexAttention away for a while, as for somebody who never asked for it."""
    kept = dict(flex._compiled)
    flex.forget_flex()
    try:
        yield
    finally:
        flex._compiled.update(kept)


def compare(kind: str, device: torch.device) -> list[str]:
    """Compare `attention` as users call it with FlexAttention and PyTorch: lines of a table."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    dtype, size = MAIN
    B, _, T, _ = size
    q, k, v, grad = torch.randn(4, *size, device=device).to(dtype)
    given = [x.detach().requires_grad_() for x in (q, k, v)]
    rule = rules(B, T, device).get(kind)
    works: dict[str, Work] = {}
    if rule is None:
        causal = kind == "causal"
        works["attention"] = lambda q, k, v: attention(q, k, v, causal=causal)
        works["PyTorch"] = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    else:
        theirs = torch.compile(flex_attention, dynamic=False)
        block_mask = create_block_mask(rule, B if rule.tensors() else None, None, T, T, device=device.type)
        table = rule.table(T, device=device)

        def plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            with without_flex():
                return attention(q, k, v, rule)

        works["attention"] = plain
        works["attention, FlexAttention compiled"] = lambda q, k, v: attention(q, k, v, rule)
        works["FlexAttention"] = lambda q, k, v: theirs(q, k, v, block_mask=block_mask)
        works["PyTorch"] = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=table)
    there = seconds(running({n: lambda run=run: run(q, k, v) for n, run in works.items()}), device)
    back = seconds(
        running({n: lambda run=run: both_ways(run, given, grad) for n, run in works.items()}), device
    )

    def ratio(found: dict[str, list[float]], name: str, other: str) -> str:
        if name not in found or other not in found:
            return ""
        return f"{median(a / b for a, b in zip(found[name], found[other], strict=True)):.3f}x"

    def takes(found: dict[str, list[float]], name: str) -> str:
        return f"{median(found[name]) * 1e3:.3f} ms" if name in found else ""

    return [
        f"| {kind} | {name} | {other} | {ratio(there, name, other)} | {ratio(back, name, other)} "
        f"| {takes(there, name)} | {takes(there, other)} | {takes(back, name)} | {takes(back, other)} |"
        for name in works
        for other in works
        if name.startswith("attention") > other.startswith("attention")
    ]


def running(works: dict[str, Callable[[], object]]) -> dict[str, Callable[[], object]]:
    """Return the works that run, and say why the others do not."""
    found = {}
    for name, work in works.items():
        try:
            work()
        except Exception as error:  # whatever this PyTorch fails with
            print(f"{name}: {type(error).__name__}: {str(error).strip()[:300]}")
            continue
        found[name] = work
    return found


def main(limit: float = math.inf) -> None:
    """Measure, write and compare; then measure what is left. Nothing new begins after ``limit`` seconds."""
    if not torch.cuda.is_available():
        raise SystemExit("benchmarks --rules needs CUDA: what is stored is what was measured there")
    begun = time.perf_counter()

    def late() -> bool:
        return time.perf_counter() - begun > limit

    # one function is compiled for every rule and size, and after eight PyTorch would stop to compile
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10_000
    device = torch.device("cuda")
    flex.compile_flex()
    kinds = list(rules(1, 64, device))
    todo = [(*MAIN, kind) for kind in kinds[:COMPARED]]
    rest = [(dtype, size, kind) for dtype in DTYPES for size in SIZES for kind in kinds]
    rows: list[dict] = []

    def measure_all(these: list[tuple]) -> None:
        for one in these:
            if late():
                print(f"\n{limit:.0f} s are over: {one} and what comes after it was not measured")
                break
            print(f"{time.perf_counter() - begun:4.0f} s, {one}", flush=True)
            rows.extend(measure(*one, device))
            store(rows, device)

    measure_all(todo)
    print(f"\ntorch {torch.__version__} on {torch.cuda.get_device_name(device)}, {MAIN}\n")
    print("| rule | what | against | forward | with backward | takes | other | with backward | other |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in (*kinds[:COMPARED], "no mask", "causal"):
        if late():
            print(f"{limit:.0f} s are over: {kind} and what comes after it was not compared")
            break
        print(*compare(kind, device), sep="\n", flush=True)
    print()
    measure_all([one for one in rest if one not in todo])
    print(f"\n{len(rows)} rows written to {HERE.name} after {time.perf_counter() - begun:.0f} s")
