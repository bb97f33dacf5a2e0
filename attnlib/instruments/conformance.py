"""Whether a device computes attention rightly: thirty small cases, each held against the formula on the CPU.

A backend of PyTorch has more than once returned wrong numbers without an error. On Apple's MPS that were
causal attention in half precision (pytorch/pytorch#195910), one query of grouped heads (#174861), heads that
lie strided in memory (#181133), values of another width (#176767) and a second scale (#184122); each has its
case here. ``python -m attnlib doctor --check`` asks yours.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from attnlib.functional import attention
from attnlib.model import Decoder
from attnlib.multihead import MultiHeadAttention
from attnlib.positions import rotary

# what may be lost to rounding, as a share of the largest number
ALLOWED = {torch.float32: 2e-3, torch.float16: 1e-2, torch.bfloat16: 4e-2}
Module = TypeVar("Module", bound=nn.Module)
HALF = torch.float16
BRAIN = torch.bfloat16


@dataclass(frozen=True)
class Case:
    """One call, and what it is called with.

    Attributes:
        name: What it is about.
        what: ``"attention"``, ``"gradients"``, ``"layer"`` or ``"decoder"``.
        T: Queries.
        S: Keys.
        D: Width of queries and keys.
        Dv: Width of values; D if None.
        heads: Key heads, of four for queries.
        dtype: Of everything.
        causal: Also apply the causal mask.
        masked: Whether there is a mask, in which one query sees nothing.
        biased: Whether there is a bias for each head.
        strided: Whether heads are a view of ``(B, T, H, D)``, as a layer makes them.
        size: Of the numbers.
        scale: Factor on the scores, if not ``1 / sqrt(D)``.
        quick: Whether it is one of the few that `attnlib.pick_device` tries.
    """

    name: str
    what: str = "attention"
    T: int = 33
    S: int = 33
    D: int = 64
    Dv: int | None = None
    heads: int = 4
    dtype: torch.dtype = torch.float32
    causal: bool = False
    masked: bool = False
    biased: bool = False
    strided: bool = False
    size: float = 1.0
    scale: float | None = None
    quick: bool = False

    def __str__(self) -> str:
        return f"{self.name}, {str(self.dtype).removeprefix('torch.')}"


CASES = (
    Case("no mask", quick=True),
    Case("a scale of its own", scale=0.5, quick=True),
    Case("no mask", dtype=HALF),
    Case("no mask", dtype=BRAIN),
    Case("causal", causal=True, T=129, S=129),
    Case("causal", causal=True, T=64, S=64, dtype=HALF, quick=True),
    Case("causal", causal=True, T=129, S=129, dtype=BRAIN),
    Case("fewer queries than keys, causal", causal=True, T=5, S=37, quick=True),
    Case("fewer queries than keys, causal", causal=True, T=5, S=37, dtype=HALF),
    Case("more queries than keys, causal", causal=True, T=37, S=5),
    Case("a mask that hides all from one query", masked=True),
    Case("a mask that hides all from one query", masked=True, dtype=HALF, quick=True),
    Case("one query", T=1, S=257),
    Case("one query of grouped heads, 1,024 keys", T=1, S=1024, D=128, heads=2, dtype=BRAIN, quick=True),
    Case("one query, a mask", T=1, S=257, masked=True, dtype=HALF),
    Case("grouped heads", heads=2),
    Case("grouped heads, causal", heads=1, causal=True, dtype=HALF),
    Case("heads strided in memory", T=3, S=3, strided=True, quick=True),
    Case("heads strided in memory, causal", strided=True, causal=True, dtype=HALF),
    Case("a bias", biased=True),
    Case("a bias and a mask", biased=True, masked=True, dtype=HALF),
    Case("heads of width 5", D=5),
    Case("heads of width 256", D=256, dtype=HALF),
    Case("values of another width", Dv=40, quick=True),
    Case("1,025 keys, causal", T=1025, S=1025, causal=True),
    Case("large scores", size=30.0),
    Case("gradients, causal", "gradients", causal=True, strided=True),
    Case("gradients, a mask", "gradients", masked=True, heads=2),
    Case("a layer step by step, rotary", "layer"),
    Case("a model step by step", "decoder"),
)
# enough to choose a device by, in the time that a first product on a GPU takes
QUICK = tuple(case for case in CASES if case.quick)


@dataclass(frozen=True)
class Fault:
    """A case that a device computed wrongly.

    Attributes:
        case: Which.
        reason: How far off it was, or the error.
    """

    case: Case
    reason: str

    def __str__(self) -> str:
        return f"{self.case}: {self.reason}"


def find_faults(device: torch.device | str, cases: tuple[Case, ...] = CASES) -> list[Fault]:
    """Compute cases on a device and return those that came out wrong; no random number of yours is used.

    Args:
        device: Where to compute.
        cases: Which.

    Returns:
        The faults; none if the device computes attention rightly.
    """
    found = []
    for seed, case in enumerate(cases):
        try:
            off = _off(case, torch.device(device), seed)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            found.append(Fault(case, f"{type(error).__name__}: {str(error).splitlines()[0]}"))
            continue
        if not off <= ALLOWED[case.dtype]:  # NaN is not
            found.append(
                Fault(case, f"off by {off:.2g} of the largest number, {ALLOWED[case.dtype]:.2g} allowed")
            )
    return found


def _off(case: Case, device: torch.device, seed: int) -> float:
    """Return by how much a case is off, as a share of the largest number."""
    run = {"layer": _layer, "decoder": _decoder}.get(case.what, _call)
    pairs = run(case, device, torch.Generator("cpu").manual_seed(seed))
    worst = 0.0
    for got, expected in pairs:
        if got.dtype != case.dtype or got.shape != expected.shape:
            return math.inf
        off = (got.detach().cpu().double() - expected.detach()).abs().max()
        share = float(off / expected.detach().abs().max())
        worst = share if math.isnan(share) or share > worst else worst
    return worst


def _call(case: Case, device: torch.device, g: torch.Generator) -> list[tuple[Tensor, Tensor]]:
    """Compute attention here and by the formula, and its gradients where they are asked for."""

    def draw(heads: int, length: int, width: int) -> Tensor:
        x = case.size * torch.randn(2, length, heads, width, generator=g, device="cpu", dtype=torch.float64)
        x = x.to(case.dtype)
        return x.transpose(1, 2) if case.strided else x.transpose(1, 2).contiguous()  # (B, H, T, D)

    q, k = draw(4, case.T, case.D), draw(case.heads, case.S, case.D)
    v = draw(case.heads, case.S, case.Dv or case.D)
    mask = torch.rand(2, 1, case.T, case.S, generator=g, device="cpu") > 0.4 if case.masked else None
    if mask is not None:
        mask[0, 0, case.T // 2] = case.T == 1
    bias = torch.randn(4, case.T, case.S, generator=g, device="cpu").to(case.dtype) if case.biased else None
    there = [_moved(x, device).requires_grad_(case.what == "gradients") for x in (q, k, v)]
    here = [x.double().requires_grad_(case.what == "gradients") for x in (q, k, v)]
    out = attention(
        there[0],
        there[1],
        there[2],
        mask=None if mask is None else mask.to(device),
        bias=None if bias is None else bias.to(device),
        causal=case.causal,
        scale=case.scale,
    )
    expected = _formula(here[0], here[1], here[2], mask, bias, case)
    if case.what != "gradients":
        return [(out, expected)]
    weight = torch.randn(expected.shape, generator=g, device="cpu", dtype=torch.float64)
    got = torch.autograd.grad((out * weight.to(out)).sum(), there)
    return [(out, expected), *zip(got, torch.autograd.grad((expected * weight).sum(), here), strict=True)]


def _moved(x: Tensor, device: torch.device) -> Tensor:
    """Move a tensor and keep how it lies in memory, on its own device too."""
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device).copy_(x)


def _formula(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, case: Case) -> Tensor:
    """Compute attention as it is defined, with nothing of this library."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scale = case.D**-0.5 if case.scale is None else case.scale
    scores = q @ k.transpose(-2, -1) * scale  # (B, H, T, S)
    T, S = scores.shape[-2:]
    seen = torch.ones(T, S, dtype=torch.bool, device="cpu")
    seen = seen.tril(S - T) if case.causal else seen
    seen = seen if mask is None else seen & mask
    scores = scores if bias is None else scores + bias.double()
    top = scores.masked_fill(~seen, -math.inf).amax(-1, keepdim=True)
    weights = (scores - top.masked_fill(top == -math.inf, 0.0)).exp().masked_fill(~seen, 0.0)
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0) @ v  # (B, H, T, Dv)


def _filled(make: Callable[[], Module], g: torch.Generator) -> Module:
    """Make a module in float64 with weights of a generator's own."""
    with torch.device("meta"):
        module = make()
    module.to_empty(device="cpu").double().eval()
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3, generator=g)
    return module


def _layer(case: Case, device: torch.device, g: torch.Generator) -> list[tuple[Tensor, Tensor]]:
    """Compare cached steps of a layer there with one pass in float64 here."""
    layer = _filled(lambda: MultiHeadAttention(32, 4, num_kv_heads=2), g)
    x = torch.randn(2, 9, 32, generator=g, device="cpu", dtype=torch.float64)
    there, parts = (
        copy.deepcopy(layer).to(case.dtype).to(device),
        x.to(case.dtype).to(device).split([4, 1, 4], 1),
    )
    with torch.no_grad():
        cache = there.make_cache(2, 9)
        steps = [there.forward(part, causal=True, rotary=rotary, cache=cache) for part in parts]
        return [(torch.cat(steps, 1), layer.forward(x, causal=True, rotary=rotary))]


def _decoder(case: Case, device: torch.device, g: torch.Generator) -> list[tuple[Tensor, Tensor]]:
    """Compare cached steps of a model there with one pass in float64 here."""
    model = _filled(lambda: Decoder(17, 9, 32, 4, 2), g)
    tokens = torch.randint(17, (2, 9), generator=g, device="cpu")
    there = copy.deepcopy(model).to(case.dtype).to(device)
    with torch.no_grad():
        caches = there.make_caches(2)
        steps = [there.forward(part.to(device), caches=caches) for part in tokens.split([4, 1, 4], 1)]
        return [(torch.cat(steps, 1), model.forward(tokens))]
