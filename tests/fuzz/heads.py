"""Queries, keys and values whose heads and leading axes fit together, and which keys a query sees."""

import dataclasses
import math

import torch
from torch import Tensor

from tests import reference
from tests.fuzz.bounded import RECIPROCAL, TANH
from tests.fuzz.draw import DTYPES, SIZES


@dataclasses.dataclass
class Problem:
    """Queries, keys and values with grouped or broadcast axes, and which keys each query sees."""

    q: Tensor
    k: Tensor
    v: Tensor
    dtype: torch.dtype
    groups: int
    target: tuple[int, ...]  # (..., T, S) of the scores
    lead: tuple[int, ...]  # of the output


def draw_problem(draw, *, same_length=False, single_lead=False):
    dtype = draw.dtype()
    T, D, Dv = draw.size(0.07), draw.size(), draw.size()
    S = T if same_length or draw.chance(0.4) else draw.pick(*SIZES, 11, 0)
    axes = draw.random.choices((0, 1, 2, 3), (1, 2, 8, 1))[0]
    batch = tuple(draw.pick(1, 2, 3) if draw.chance(0.95) else 0 for _ in range(axes - 1))
    groups, Hkv = draw.pick(1, 1, 1, 2, 3), draw.pick(1, 2, 3)
    heads = (Hkv * groups,) * (axes > 0), (Hkv,) * (axes > 0), (Hkv,) * (axes > 0)
    leads = [(*batch, *head) for head in heads]
    if axes and draw.chance(0.3) and not single_lead:
        leads = [loosened(draw, lead, groups > 1 and Hkv > 1) for lead in leads]
    spread = draw.pick(1.0, 1.0, 1.0, 1.0, 0.0, 8.0)
    q, k = (draw.normal((*lead, n, D), dtype, spread) for lead, n in zip(leads[:2], (T, S), strict=True))
    v = draw.normal((*leads[2], S, Dv), dtype, draw.pick(1.0, 1.0, 30.0))
    grouped = groups > 1 and Hkv > 1 and axes > 0
    full = [(*lead[:-1], Hkv * groups) if grouped else lead for lead in leads]
    target = (*torch.broadcast_shapes(*full[:2]), T, S)
    return Problem(q, k, v, dtype, groups if grouped else 1, target, torch.broadcast_shapes(*full))


def loosened(draw, lead, grouped):
    """Make some leading axes 1, or leave them out in front; grouped heads stay."""
    kept = 1 if grouped else 0
    lead = [1 if draw.chance(0.4) and i < len(lead) - kept else size for i, size in enumerate(lead)]
    first = draw.whole(0, len(lead) - kept) if draw.chance(0.3) else 0
    return tuple(lead[first:])


def draw_scale(draw):
    return draw.pick(
        None, None, None, None, 0.3, 2.0, 1.0, 0.0, -0.0, -1.0, -0.4, 1e-30, 1e-8, 1e4, 1e30, -1e30
    )


def draw_mask(draw, target):
    if draw.chance(0.4):
        return None
    mask = draw.boolean(draw.fitting(target), draw.pick(0.0, 0.3, 0.6, 0.9, 1.0))
    if draw.chance(0.3) and mask.ndim > 1 and mask.shape[-2]:
        mask = mask.clone()
        mask[..., draw.whole(0, mask.shape[-2] - 1), :] = False  # a query that sees nothing
    return mask


def draw_learned(draw, target, dtype):
    """Draw a scale or a softcap that may learn: one number, or one for each head."""
    dtype = dtype if draw.chance(0.6) else draw.pick(*DTYPES)
    shape = draw.pick((), (1,), (*draw.fitting(target[:-2]), 1, 1) if len(target) > 2 else ())
    return (draw.normal(shape, dtype).abs() + 0.3).to(dtype)


def draw_sink(draw, target, dtype):
    """Draw a score for each head, or broadcast ones."""
    dtype = dtype if draw.chance(0.6) else draw.pick(*DTYPES)
    sink = draw.normal(draw.fitting(target[:-2]), dtype, draw.pick(0.5, 3.0, 100.0))
    return sink.masked_fill(draw.boolean(sink.shape, 0.5), -math.inf) if draw.chance(0.1) else sink


def draw_bias(draw, target, dtype):
    if draw.chance(0.55):
        return None
    dtype = dtype if draw.chance(0.6) else draw.pick(*DTYPES)
    bias = draw.normal(draw.fitting(target), dtype, draw.pick(0.5, 3.0, 100.0, 1e4))
    if draw.chance(0.3):
        hidden = draw.boolean(bias.shape, draw.pick(0.1, 0.5, 1.0))
        bias = bias.masked_fill(hidden, -math.inf)
    return bias


def seen(problem, mask=None, causal=False, bias=None):
    """Return which keys each query sees, ``(..., T, S)`` on the CPU."""
    T, S = problem.target[-2:]
    visible = torch.ones(problem.target, dtype=torch.bool)
    if mask is not None:
        visible = visible & mask.cpu()
    if bias is not None:
        visible = visible & (bias.cpu() != -math.inf)
    if causal:
        visible = visible & reference.mask_from(T, S, lambda i, j: j <= i + S - T)
    return visible


def spread_heads(a, x, groups, lead):
    """Give every query head its own keys, then broadcast the leading axes."""
    if groups > 1:
        shape = (*x.shape[1:-2], groups, *x.shape[-2:])
        x = a.stored_gradient(a.spread(x.unsqueeze(-3), shape).flatten(-4, -3))
    return a.spread(x, (*lead, *x.shape[-2:]))


def with_sink(a, t, scores, v, visible):
    """Add the sink as one more key, whose value is zero; v may be None."""
    if "sink" not in t:
        return scores, v, visible
    sink = t["sink"][..., None, None]
    hidden = (sink[:1] == -math.inf).expand(sink.shape)
    sink = a.spread(a.times(torch.where(hidden, 0.0, sink), 1.0), (*scores.shape[1:-1], 1))
    open_ = ~hidden[0].expand(*visible.shape[:-1], 1)
    scores, visible = torch.cat([scores, sink], -1), torch.cat([visible, open_], -1)
    return scores, v if v is None else torch.cat([v, v.new_zeros(*v.shape[:-2], 1, v.shape[-1])], -2), visible


def expected_scores(a, t, problem, lead, scale, softcap=None):
    """Scores before the mask: times scale, softcap, plus bias."""
    T, S = problem.target[-2:]
    q = spread_heads(a, t["q"], 1, lead)
    k = spread_heads(a, t["k"], problem.groups, lead)
    D = q.shape[-1]
    if "scale" in t:  # a learned one may be multiplied with the queries, and rounded
        q = a.stored(a.multiply(q, a.stored_gradient(a.spread(t["scale"], q.shape[1:]))))
        scores = a.matmul(q, k.mT)
    else:
        scores = a.times(a.matmul(q, k.mT), 1 / math.sqrt(D) if scale is None else scale)
    if "softcap" in t:
        cap, inverse = (
            a.spread(x, scores.shape[1:]) for x in (t["softcap"], a.curve(t["softcap"], RECIPROCAL))
        )
        scores = a.multiply(a.curve(a.multiply(scores, inverse), TANH), cap)
    elif softcap is not None:
        scores = a.times(a.curve(a.times(scores, 1 / softcap), TANH), softcap)
    if "bias" in t:
        scores = a.add(scores, a.times(a.spread(t["bias"], (*lead, T, S)), 1.0))
    return scores


def finite_bias(t):
    """Replace a bias of minus infinity, which hides its key, by zero."""
    if "bias" not in t:
        return t
    b = t["bias"]
    return t | {"bias": torch.where(b[:1] == -math.inf, torch.zeros_like(b), b)}
