"""Random cases of every function that computes, against float64, values and gradients.

``python -m tests.fuzz --seed 7 --cases 10000`` looks for disagreements; ``--case 123`` repeats one of them.
A case is drawn from its seed and number alone. What must come out is computed in `tests.bounded`, which also
says how far a computation in the case's dtype may be off; `tests.reference` has the same as loops.
"""

import argparse
import collections
import dataclasses
import math
import random
import time
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call

import attnlib
from attnlib.linear import linear_attention_step
from attnlib.masks import to_torch_mha
from attnlib.scoring import additive_scores, bilinear_scores, dot_scores
from tests import DEVICE, reference
from tests.bounded import (
    ELU_PLUS_ONE,
    EXPONENTIAL,
    GELU,
    RECIPROCAL,
    TANH,
    Arithmetic,
    bounded,
    exact,
    inverse_root,
    roundoff,
)

FUNCTIONS = {
    function.__name__: function
    for function in (
        attnlib.attention,
        attnlib.attention_weights,
        attnlib.attention_scores,
        attnlib.masked_softmax,
        attnlib.tiled_attention,
        attnlib.sliding_window_attention,
        attnlib.linear_attention,
        linear_attention_step,
        attnlib.rotary,
        attnlib.sinusoidal,
        attnlib.alibi_bias,
        attnlib.causal_mask,
        attnlib.sliding_window_mask,
        attnlib.prefix_mask,
        attnlib.padding_mask,
        attnlib.document_mask,
        to_torch_mha,
        dot_scores,
        bilinear_scores,
        additive_scores,
        attnlib.KVCache,
        attnlib.MultiHeadAttention,
        attnlib.TransformerBlock,
        attnlib.Decoder,
    )
}
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SIZES = (1, 2, 3, 5, 7)


@dataclasses.dataclass
class Case:
    """One call, what it must return, and what may differ.

    Attributes:
        name: The function, a key of `FUNCTIONS`.
        dtype: Of the tensors that come out.
        text: The call in words.
        call: Calls the function given with the tensors given; returns a tensor or a tuple of them.
        expected: The same in an `Arithmetic`, from bounded tensors to bounded tensors.
        inputs: Tensors that a gradient may be asked of.
        needs: The names of those it is asked of.
        others: More tensors, which must not be changed either.
        clean: What stands for an input with hidden NaNs when the expected result is computed.
        ignored: Entries that are not compared, of ``output 0`` or of the gradient of an input.
    """

    name: str
    dtype: torch.dtype
    text: str
    call: Callable
    expected: Callable
    inputs: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    needs: tuple[str, ...] = ()
    others: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    clean: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    ignored: dict[str, Tensor] = dataclasses.field(default_factory=dict)


class Draw:
    """Random numbers, sizes, tensors and their places in memory, all from one seed."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}, {number}")
        self.generator = torch.Generator().manual_seed(self.random.getrandbits(40))

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *options):
        return self.random.choice(options)

    def size(self, none=0.0):
        return 0 if self.chance(none) else self.pick(*SIZES)

    def whole(self, least, most):
        return self.random.randint(least, most)

    def dtype(self):
        return self.random.choices(DTYPES, (4, 3, 2, 2))[0]

    def normal(self, shape, dtype, spread=1.0):
        x = torch.randn(shape, generator=self.generator, dtype=torch.float64) * spread
        return self.placed(x.to(DEVICE, dtype))

    def boolean(self, shape, share):
        return self.placed((torch.rand(shape, generator=self.generator) < share).to(DEVICE))

    def placed(self, x):
        """Put the numbers into memory in another order, with gaps, or once for a whole axis."""
        how = self.random.choices(("dense", "turned", "gaps", "expanded"), (6, 2, 2, 1))[0]
        if how == "turned" and x.ndim > 1:
            axis = self.whole(0, x.ndim - 2)
            return x.transpose(axis, -1).contiguous().transpose(axis, -1)
        if how == "gaps" and x.ndim:
            wide = x.new_zeros(*x.shape[:-1], 2 * x.shape[-1] + 1)
            wide[..., 1::2] = x
            return wide[..., 1::2]
        if how == "expanded" and x.ndim and x.numel():
            axis = self.whole(0, x.ndim - 1)
            return x.narrow(axis, 0, 1).expand(x.shape)
        return x

    def fitting(self, target):
        """Draw a shape that broadcasts to the target: some axes 1, some in front missing."""
        shape = [size if self.chance(0.7) else 1 for size in target]
        return tuple(shape[self.whole(0, len(shape)) :]) if self.chance(0.6) else tuple(shape)

    def some(self, names):
        """Draw which of the names need a gradient: all, none or any."""
        names = tuple(names)
        if self.chance(0.5):
            return names
        return tuple(name for name in names if self.chance(0.5))


def words(**things):
    """Write arguments in one line: tensors as their shape and dtype."""

    def word(x):
        if isinstance(x, Tensor):
            layout = "" if x.is_contiguous() else f" strides {x.stride()}"
            return f"{tuple(x.shape)} {str(x.dtype).removeprefix('torch.')}{layout}"
        return getattr(x, "__name__", None) or repr(x)

    return ", ".join(f"{name}={word(x)}" for name, x in things.items() if x is not None and x is not False)


# attention and its kin


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


def draw_bias(draw, target, dtype):
    if draw.chance(0.55):
        return None
    dtype = dtype if draw.chance(0.6) else draw.pick(*DTYPES)
    bias = draw.normal(draw.fitting(target), dtype, draw.pick(0.5, 3.0, 100.0, 1e4))
    if draw.chance(0.3):
        hidden = draw.boolean(bias.shape, draw.pick(0.1, 0.5, 1.0))
        bias = bias.masked_fill(hidden, -math.inf)
    return bias


def seen(problem, mask=None, causal=False, bias=None, window=None):
    """Return which keys each query sees, ``(..., T, S)`` on the CPU."""
    T, S = problem.target[-2:]
    visible = torch.ones(problem.target, dtype=torch.bool)
    if mask is not None:
        visible = visible & mask.cpu()
    if bias is not None:
        visible = visible & (bias.cpu() != -math.inf)
    if causal:
        visible = visible & reference.mask_from(T, S, lambda i, j: j <= i + S - T)
    if window is not None:
        visible = visible & reference.mask_from(T, S, lambda i, j: i - window < j <= i)
    return visible


def spread_heads(a, x, groups, lead):
    """Give every query head its own keys, then broadcast the leading axes."""
    if groups > 1:
        shape = (*x.shape[1:-2], groups, *x.shape[-2:])
        x = a.stored_gradient(a.spread(x.unsqueeze(-3), shape).flatten(-4, -3))
    return a.spread(x, (*lead, *x.shape[-2:]))


def expected_scores(a, t, problem, lead, scale, softcap=None):
    """Scores before the mask: times scale, softcap, plus bias."""
    T, S = problem.target[-2:]
    q = spread_heads(a, t["q"], 1, lead)
    k = spread_heads(a, t["k"], problem.groups, lead)
    D = q.shape[-1]
    scores = a.times(a.matmul(q, k.mT), 1 / math.sqrt(D) if scale is None else scale)
    if softcap is not None:
        scores = a.times(a.curve(a.times(scores, 1 / softcap), TANH), softcap)
    if "bias" in t:
        scores = a.add(scores, a.times(a.spread(t["bias"], (*lead, T, S)), 1.0))
    return scores


def poison(draw, problem, visible, case):
    """Write NaN or infinity where no query looks, or where some do not; mark what may feel it."""
    if draw.chance(0.7) or not visible.numel():
        return
    names = [name for name in draw.pick(("k",), ("v",), ("k", "v")) if name in case.inputs]
    number, everywhere = draw.pick(math.nan, math.inf, -math.inf), draw.chance(0.6)
    column = draw.whole(0, visible.shape[-1] - 1)
    for name in names:
        x = case.inputs[name]
        if everywhere:
            at = ~looked_at(visible, x, problem.groups)  # (..., S)
        else:
            if not visible[..., column].any() or visible[..., column].all():
                return
            at = torch.arange(x.shape[-2]).eq(column).expand(x.shape[:-1])
        if not at.any():
            continue
        at = at.unsqueeze(-1).expand(x.shape)
        case.clean[name] = x.cpu().masked_fill(at, 0.0)
        case.inputs[name] = x.masked_fill(at.to(x.device), number)
    if case.clean:
        where = "hidden" if everywhere else f"hidden from some (key {column})"
        case.text += f", {number} in {' and '.join(case.clean)} {where}"
    if case.clean and not everywhere:
        felt = visible[..., column]  # (..., T)
        everything = torch.tensor(True)
        case.ignored |= {name: everything for name in ("k", "v", "bias")}
        case.ignored["output 0"] = felt.unsqueeze(-1)
        case.ignored["q"] = reduce_any(felt, case.inputs["q"].shape[:-1]).unsqueeze(-1)


def looked_at(visible, x, groups):
    """Return which keys ``(..., S)`` of x some query sees."""
    any_query = visible.any(-2)  # (..., H, S)
    if groups > 1:
        any_query = any_query.unflatten(-2, (-1, groups)).any(-2)  # (..., Hkv, S)
    return reduce_any(any_query, x.shape[:-1])


def reduce_any(x, shape):
    """Undo a broadcast: True where any of the entries that come from one is."""
    if x.ndim < len(shape):
        x = x.expand(torch.broadcast_shapes(x.shape, shape))
    return x.double().expand(torch.broadcast_shapes(x.shape, shape)).sum_to_size(shape) > 0


def attention_case(draw, name):
    """Draw a case of attention, tiled_attention, attention_weights or attention_scores."""
    problem = draw_problem(draw)
    mixes = name in ("attention", "tiled_attention")
    T, S = problem.target[-2:]
    options = {"causal": draw.chance(0.4), "scale": draw_scale(draw)}
    mask, bias = draw_mask(draw, problem.target), draw_bias(draw, problem.target, problem.dtype)
    given_mask = mask
    if name == "tiled_attention":
        options["block_size"] = draw.pick(1, 2, 3, 5, 64)
        if draw.chance(0.15):
            rule = draw.pick(
                lambda i, j: j <= i, lambda i, j: (i + 2 * j) % 3 > 0, lambda i, j: (i - j).abs() < 2
            )
            given_mask = rule
            mask = rule(torch.arange(T)[:, None], torch.arange(S)).to(DEVICE)
    elif draw.chance(0.25):
        options["softcap"] = draw.pick(0.5, 5.0, 30.0)
    softcap = options.get("softcap")
    visible = seen(problem, mask, options["causal"], bias)
    lead = problem.lead if mixes else problem.target[:-2]
    visible = visible.expand(*lead, T, S)

    def call(function, t):
        values = (t["v"],) if mixes else ()
        return function(t["q"], t["k"], *values, given_mask, bias=t.get("bias"), **options)

    def expected(a, t):
        if name == "attention_scores":
            shown = seen(problem, mask, options["causal"]).expand(*lead, T, S)
            scores = a.stored(expected_scores(a, t, problem, lead, options["scale"], softcap))
            return torch.where(shown, scores, exact(torch.full((*lead, T, S), -math.inf)))
        scores = expected_scores(a, finite_bias(t), problem, lead, options["scale"], softcap)
        if not mixes:
            return a.softmax(scores, visible)
        return a.attend(scores, spread_heads(a, t["v"], problem.groups, lead), visible)

    case = Case(name, problem.dtype, "", call, expected)
    case.inputs = {"q": problem.q, "k": problem.k} | ({"v": problem.v} if mixes else {})
    if bias is not None:
        case.inputs["bias"] = bias
    if mask is not None:
        case.others["mask"] = mask
    case.needs = draw.some(case.inputs)
    case.text = words(**case.inputs, mask=given_mask, **options)
    if name != "attention_scores":
        poison(draw, problem, seen(problem, mask, options["causal"]).expand(*lead, T, S), case)
    return case


def finite_bias(t):
    """Replace a bias of minus infinity, which hides its key, by zero."""
    if "bias" not in t:
        return t
    b = t["bias"]
    return t | {"bias": torch.where(b[:1] == -math.inf, torch.zeros_like(b), b)}


def window_case(draw):
    problem = draw_problem(draw, same_length=True)
    window, scale = draw.pick(1, 2, 3, 5, 11), draw_scale(draw)
    T = problem.target[-1]
    visible = seen(problem, window=window).expand(*problem.lead, T, T)

    def call(function, t):
        return function(t["q"], t["k"], t["v"], window=window, scale=scale)

    def expected(a, t):
        scores = expected_scores(a, t, problem, problem.lead, scale)
        return a.attend(scores, spread_heads(a, t["v"], problem.groups, problem.lead), visible)

    case = Case("sliding_window_attention", problem.dtype, "", call, expected)
    case.inputs = {"q": problem.q, "k": problem.k, "v": problem.v}
    case.needs = draw.some(case.inputs)
    case.text = words(**case.inputs, window=window, scale=scale)
    poison(draw, problem, visible, case)
    return case


def softmax_case(draw):
    dtype = draw.dtype()
    shape = tuple(draw.size(0.05) for _ in range(draw.whole(1, 4)))
    scores = draw.normal(shape, dtype, draw.pick(1.0, 10.0, 200.0))
    if draw.chance(0.3):
        scores = scores.masked_fill(draw.boolean(shape, draw.pick(0.3, 0.9)), -math.inf)
    mask = draw_mask(draw, shape)
    visible = scores.cpu() != -math.inf
    if mask is not None:
        visible = visible & mask.cpu()

    def call(function, t):
        return function(t["scores"], mask)

    def expected(a, t):
        finite = torch.where(visible, t["scores"], torch.zeros_like(t["scores"]))
        # a row of one axis is a matrix of one row
        return a.softmax(finite, visible)

    case = Case("masked_softmax", dtype, "", call, expected, {"scores": scores})
    case.needs = draw.some(case.inputs)
    case.text = words(scores=scores, mask=mask)
    if mask is not None:
        case.others["mask"] = mask
        if draw.chance(0.3):
            hidden = (~mask).expand(shape)
            case.clean["scores"] = scores.masked_fill(hidden, 0.0)
            case.inputs["scores"] = scores.masked_fill(hidden, draw.pick(math.nan, math.inf))
            case.text += ", NaN or infinity hidden"
    return case


# linear attention


def identity(x):
    return x


FEATURES = {"elu_plus_one": ELU_PLUS_ONE, "exp": EXPONENTIAL, "identity": None}


def expected_linear(a, t, problem, features, causal, normalize):
    lead, (T, S) = problem.lead, problem.target[-2:]
    q = spread_heads(a, t["q"], 1, lead)
    k, v = (spread_heads(a, t[name], problem.groups, lead) for name in ("k", "v"))
    if FEATURES[features] is not None:
        q, k = (a.curve(x, FEATURES[features], kept=True) for x in (q, k))
    w = a.matmul(q, k.mT)
    if causal:
        w = torch.where(reference.mask_from(T, S, lambda i, j: j <= i), w, torch.zeros_like(w))
    mixed = a.matmul(w, v)
    if not normalize or not S:
        return a.stored(mixed)
    total = a.matmul(w, exact(torch.ones(*lead, S, 1)))
    return a.stored(a.multiply(mixed, a.spread(a.curve(total, RECIPROCAL), mixed.shape[1:])))


def draw_features(draw):
    features = draw.pick("elu_plus_one", "elu_plus_one", "exp", "identity")
    options = {}
    if features == "identity":
        options = {"feature_map": identity, "normalize": False}
    elif features == "exp":
        options = {"feature_map": torch.exp}
    if draw.chance(0.2):
        options["normalize"] = False
    return features, options


def linear_case(draw):
    causal = draw.chance(0.6)
    problem = draw_problem(draw, same_length=causal)
    features, options = draw_features(draw)
    block_size = draw.pick(1, 2, 3, 64)

    def call(function, t):
        return function(t["q"], t["k"], t["v"], causal=causal, block_size=block_size, **options)

    def expected(a, t):
        return expected_linear(a, t, problem, features, causal, options.get("normalize", True))

    case = Case("linear_attention", problem.dtype, "", call, expected)
    case.inputs = tame({"q": problem.q, "k": problem.k, "v": problem.v})
    case.needs = draw.some(case.inputs)
    case.text = words(**case.inputs, causal=causal, block_size=block_size, **options)
    return case


def tame(inputs):
    """Keep queries and keys where an exponential is neither nothing nor everything."""
    return inputs | {name: inputs[name].clamp(-4, 4) for name in ("q", "k")}


def step_case(draw):
    problem = draw_problem(draw, same_length=True, single_lead=True)
    while problem.groups > 1 or problem.q.shape[:-2] != problem.k.shape[:-2] or not problem.target[-1]:
        problem = draw_problem(draw, same_length=True, single_lead=True)
    features, options = draw_features(draw)

    def call(function, t):
        state, rows = None, []
        for i in range(problem.target[-1]):
            out, state = function(*(t[name][..., i, :] for name in ("q", "k", "v")), state, **options)
            rows.append(out)
        return torch.stack(rows, -2)

    def expected(a, t):
        return expected_linear(a, t, problem, features, True, options.get("normalize", True))

    case = Case("linear_attention_step", problem.dtype, "", call, expected)
    case.inputs = tame({"q": problem.q, "k": problem.k, "v": problem.v})
    case.needs = draw.some(case.inputs)
    case.text = words(**case.inputs, **options)
    return case


# positions


def turns(positions, dim, base, work):
    """Return the bounded cosines and sines ``(..., dim / 2)`` of the angles."""
    frequencies = torch.tensor(
        [reference.frequency(i, dim, base) for i in range(dim // 2)], dtype=torch.float64
    )
    angles = positions.double()[..., None] * frequencies
    # the exponent of the base is rounded, then the power, the product and the sine itself
    error = work * (angles.abs() * (math.log(base) + 5) + 4)
    return bounded(angles.cos(), error), bounded(angles.sin(), error)


def rotary_case(draw):
    dtype = draw.dtype()
    lead = tuple(draw.pick(1, 2, 3) if draw.chance(0.95) else 0 for _ in range(draw.whole(0, 3)))
    shape = (*lead, draw.size(0.05), draw.pick(2, 3, 5, 6, 7, 10))
    x = draw.normal(shape, dtype, draw.pick(1.0, 30.0))
    T, D = shape[-2:]
    dim = draw.pick(*range(2, D + 1, 2)) if D % 2 or draw.chance(0.4) else None
    options = {"interleaved": draw.chance(0.5)}
    if dim is not None:
        options["dim"] = dim
    if draw.chance(0.4):
        options["base"] = draw.pick(2.0, 500.0, 1e6)
    positions = None
    if draw.chance(0.6):
        far = draw.pick(5, 50, 5000)
        positions = torch.randint(-far, far, draw.fitting(shape[:-1]) or (1,), generator=draw.generator)
        positions = draw.placed(positions.to(DEVICE, draw.pick(torch.int64, torch.int32)))

    def call(function, t):
        return function(t["x"], positions, **options)

    def expected(a, t):
        at = torch.arange(T) if positions is None else positions.cpu()
        n = dim or D
        cos, sin = turns(at.expand(shape[:-1]), n, options.get("base", 10000.0), a.work)
        first = torch.arange(0, n, 2) if options["interleaved"] else torch.arange(n // 2)
        second = first + (1 if options["interleaved"] else n // 2)
        one, two = t["x"][..., first], t["x"][..., second]
        minus = a.times(a.multiply(two, sin), -1.0)
        turned = a.add(a.multiply(one, cos), minus), a.add(a.multiply(one, sin), a.multiply(two, cos))
        back = torch.argsort(torch.cat([first, second]))
        return torch.cat([a.stored(torch.cat(turned, -1)[..., back]), t["x"][..., n:]], -1)

    case = Case("rotary", dtype, "", call, expected, {"x": x}, draw.some(["x"]))
    if positions is not None:
        case.others["positions"] = positions
    case.text = words(x=x, positions=positions, **options)
    return case


def constant_case(name, dtype, text, call, expected):
    """Make a case without inputs: what it must return, in float64, and how far it may be off."""
    value, error = expected
    value = value.double()
    error = torch.as_tensor(error, dtype=torch.float64).expand(value.shape)
    return Case(name, dtype, text, lambda function, t: call(function), lambda a, t: bounded(value, error))


def sinusoidal_case(draw):
    T, dim, base = draw.size(0.1), 2 * draw.size(), draw.pick(10000.0, 3.0)
    options = {"T": T, "dim": dim, "base": base}
    u = roundoff(torch.float32)
    angle = torch.arange(T)[:, None].double()
    return constant_case(
        "sinusoidal",
        torch.float32,
        words(**options),
        lambda function: function(**options, device=DEVICE),
        (reference.sinusoidal(T, dim, base), (u * (angle * (math.log(base) + 5) + 4)).expand(T, dim)),
    )


def alibi_case(draw):
    H, T, S = draw.pick(1, 2, 3, 4, 5, 7, 8, 11, 12), draw.size(0.1), draw.size(0.1)
    bias = reference.alibi_bias(H, T, S)
    return constant_case(
        "alibi_bias",
        torch.float32,
        words(H=H, T=T, S=S),
        lambda function: function(H, T, S, device=DEVICE),
        (bias, 4 * roundoff(torch.float32) * bias.abs()),
    )


# masks


def mask_case(draw):
    name = draw.pick("causal_mask", "sliding_window_mask", "prefix_mask", "padding_mask", "document_mask")
    T, S, B = draw.size(0.1), draw.size(0.1), draw.size(0.1)
    offset = draw.pick(None, 0, 1, -1, 3, -4)
    lag = S - T if offset is None else offset
    sizes = {"offset": offset, "device": DEVICE}
    if name == "causal_mask":
        options, rule = sizes, lambda i, j: j <= i + lag
    elif name == "sliding_window_mask":
        window, ahead = draw.pick(1, 2, 3, 5), draw.pick(0, 1, 2)
        options, rule = (
            sizes | {"window": window, "ahead": ahead},
            lambda i, j: -ahead <= i + lag - j < window,
        )
    elif name == "prefix_mask":
        prefix = draw.whole(0, S)
        options, rule = sizes | {"prefix": prefix}, lambda i, j: j < prefix or j <= i + lag
    elif name == "padding_mask":
        lengths = [draw.whole(0, S) for _ in range(B)]
        given = draw.pick(lengths, torch.tensor(lengths, dtype=torch.long, device=DEVICE))
        rows = torch.stack(
            [reference.mask_from(1, S, lambda i, j, n=n: j < n) for n in lengths] or [torch.zeros(1, S)]
        )
        rows = rows[:B, None]
        text = words(lengths=lengths, S=S)
        return constant_case(name, torch.bool, text, lambda f: f(given, S), (rows, 0.0))
    else:
        shape = draw.pick((T,), (B, T))
        documents = torch.randint(-1, 3, shape, generator=draw.generator)
        rows = [
            reference.mask_from(T, T, lambda i, j, d=d: d[i] == d[j])
            for d in documents.reshape(-1, T).tolist()
        ]
        rows = torch.stack(rows)[:, None] if rows else torch.zeros(0, 1, T, T)
        rows = rows[0, 0] if len(shape) == 1 else rows
        documents = documents.to(DEVICE)
        return constant_case(
            name, torch.bool, words(documents=documents), lambda f: f(documents), (rows, 0.0)
        )
    expected = reference.mask_from(T, S, rule)
    return constant_case(
        name, torch.bool, words(T=T, S=S, **options), lambda f: f(T, S, **options), (expected, 0.0)
    )


# scores


def scores_case(draw, name):
    problem = draw_problem(draw)
    while name != "dot_scores" and problem.groups > 1:
        problem = draw_problem(draw)
    q, k, dtype = problem.q, problem.k, problem.dtype
    inputs = {"q": q, "k": k}
    if name != "dot_scores":
        D, width = draw.size(), draw.size()
        k = inputs["k"] = draw.normal((*k.shape[:-1], width), dtype)
        if name == "bilinear_scores":
            inputs["weight"] = draw.normal((q.shape[-1], width), dtype)
        else:
            inputs |= {"w_q": draw.normal((q.shape[-1], D), dtype), "w_k": draw.normal((width, D), dtype)}
            inputs["u"] = draw.normal((D,), dtype)
    *lead, T, S = problem.target

    def call(function, t):
        return function(*t.values())

    def expected(a, t):
        q, k = spread_heads(a, t["q"], 1, lead), spread_heads(a, t["k"], problem.groups, lead)
        if name == "dot_scores":
            return a.stored(a.matmul(q, k.mT))
        if name == "bilinear_scores":
            middle = a.stored(a.matmul(q, a.spread(t["weight"], (*lead, *t["weight"].shape[1:]))))
            return a.stored(a.matmul(middle, k.mT))
        D = t["u"].shape[-1]
        one = a.stored(a.matmul(q, a.spread(t["w_q"], (*lead, *t["w_q"].shape[1:]))))
        two = a.stored(a.matmul(k, a.spread(t["w_k"], (*lead, *t["w_k"].shape[1:]))))
        shape = (*lead, T, S, D)
        pairs = a.stored(a.add(a.spread(one.unsqueeze(-2), shape), a.spread(two.unsqueeze(-3), shape)))
        u = a.spread(t["u"].unsqueeze(-1), (*lead, T, D, 1))
        return a.stored(a.matmul(a.stored(a.curve(pairs, TANH, kept=True)), u)).squeeze(-1)

    return Case(name, dtype, words(**inputs), call, expected, inputs, draw.some(inputs))


# modules


def expected_linear_layer(a, t, name, x):
    """``x @ weight.T + bias``, stored."""
    rows = a.stored_gradient(x).flatten(1, -2)
    out = a.matmul(rows, t[f"{name}.weight"].mT)
    if f"{name}.bias" in t:
        out = a.add(out, a.spread(t[f"{name}.bias"], out.shape[1:]))
    return a.stored(out).reshape(*x.shape[:-1], out.shape[-1])


def expected_multihead(a, t, x, context, sizes, visible, prefix="", scale=None):
    """Return the output and the weights of multi-head attention."""
    D = sizes.C // sizes.H
    heads = []
    for name, source in (("q_proj", x), ("k_proj", context), ("v_proj", context)):
        y = expected_linear_layer(a, t, prefix + name, source)
        heads.append(y.unflatten(-1, (-1, D)).transpose(-3, -2))  # (2, B, heads, length, D)
    q, k, v = heads
    lead = q.shape[1:3]
    k, v = (spread_heads(a, y, sizes.H // sizes.Hkv, lead) for y in (k, v))
    scores = a.times(a.matmul(q, k.mT), 1 / math.sqrt(D) if scale is None else scale)
    visible = visible.expand(scores.shape[1:])
    out = a.attend(scores, v, visible).transpose(-3, -2).flatten(-2)
    return expected_linear_layer(a, t, prefix + "out_proj", out), a.softmax(scores, visible)


def expected_norm(a, t, name, x):
    rows = a.stored_gradient(x)
    C = x.shape[-1]
    mean = exact(torch.full((*x.shape[1:-2], C, 1), 1 / C, dtype=torch.float64))
    middle = a.add(rows, a.times(a.spread(a.matmul(rows, mean), x.shape[1:]), -1.0))
    inverse = a.curve(a.matmul(a.multiply(middle, middle), mean), inverse_root(1e-5))
    y = a.multiply(middle, a.spread(inverse, x.shape[1:]))
    y = a.multiply(y, a.spread(t[f"{name}.weight"], x.shape[1:]))
    return a.stored(a.add(y, a.spread(t[f"{name}.bias"], x.shape[1:])))


def expected_block(a, t, x, sizes, visible, prefix=""):
    normed = expected_norm(a, t, prefix + "attention_norm", x)
    out, _ = expected_multihead(a, t, normed, normed, sizes, visible, prefix + "attention.")
    x = a.stored(a.add(a.stored_gradient(x), out))
    hidden = expected_linear_layer(a, t, prefix + "up_proj", expected_norm(a, t, prefix + "network_norm", x))
    hidden = a.stored(a.curve(hidden, GELU, kept=True))
    return a.stored(a.add(a.stored_gradient(x), expected_linear_layer(a, t, prefix + "down_proj", hidden)))


@dataclasses.dataclass
class Sizes:
    B: int
    T: int
    S: int
    C: int
    H: int
    Hkv: int


def draw_sizes(draw, none=0.0):
    Hkv, groups = draw.pick(1, 2, 3), draw.pick(1, 1, 2, 3)
    H = Hkv * groups
    return Sizes(draw.pick(1, 2, 3), draw.size(none), draw.size(none), H * draw.pick(1, 2, 3), H, Hkv)


def draw_parameters(draw, module, dtype):
    """Draw a value for every parameter, as large as what usually stands there."""
    return {
        name: draw.normal(p.shape, dtype, 0.5 if p.ndim == 1 else p.shape[-1] ** -0.5)
        for name, p in module.named_parameters()
    }


def cuts(draw, T):
    """Cut T positions into pieces and return where each begins and ends."""
    ends = sorted({draw.whole(1, T) for _ in range(3)} | {T})
    return list(zip([0, *ends[:-1]], ends, strict=True))


def rows_of(mask, start, end):
    """Cut out what queries from start to end may see of the keys up to the end."""
    if mask is None or not mask.ndim:
        return mask
    mask = mask if mask.shape[-1] == 1 else mask[..., :end]
    return mask if mask.ndim < 2 or mask.shape[-2] == 1 else mask[..., start:end, :]


def multihead_case(draw):
    sizes, dtype = draw_sizes(draw, 0.05), draw.dtype()
    cached = draw.chance(0.35) and sizes.T > 0
    crossed = draw.chance(0.4) and not cached
    S = sizes.S if crossed else sizes.T
    options = {
        "num_kv_heads": sizes.Hkv,
        "bias": draw.chance(0.6),
        "scale": draw.pick(None, None, 0.7, -1.0, 0.0),
    }
    module = attnlib.MultiHeadAttention(sizes.C, sizes.H, **options)
    causal, need_weights = draw.chance(0.5), draw.chance(0.4)
    mask = draw_mask(draw, (sizes.B, sizes.H, sizes.T, S))
    if mask is not None and mask.ndim == 3:
        mask = mask[None]
    pieces = cuts(draw, sizes.T) if cached else None
    inputs = {"x": draw.normal((sizes.B, sizes.T, sizes.C), dtype)}
    if crossed:
        inputs["context"] = draw.normal((sizes.B, S, sizes.C), dtype)
    inputs |= draw_parameters(draw, module, dtype)
    problem = Problem(None, None, None, dtype, 1, (sizes.B, sizes.H, sizes.T, S), ())
    visible = seen(problem, mask, causal)
    for start, end in pieces or ():
        visible[..., start:end, end:] = False  # a piece sees the pieces before, and itself

    def call(function, t):
        layer = function(sizes.C, sizes.H, **options).to(DEVICE, dtype)
        parameters = {name: x for name, x in t.items() if name not in ("x", "context")}
        flags = {"causal": causal, "need_weights": need_weights}
        if not cached:
            return functional_call(layer, parameters, (t["x"], t.get("context")), {"mask": mask, **flags})
        cache, outs, weights = layer.make_cache(sizes.B, sizes.T), [], []
        for start, end in pieces:
            given = {"mask": rows_of(mask, start, end), "cache": cache, **flags}
            out = functional_call(layer, parameters, (t["x"][:, start:end],), given)
            outs.append(out[0] if need_weights else out)
            if need_weights:
                weights.append(nn.functional.pad(out[1], (0, S - end)))
        return (torch.cat(outs, 1), torch.cat(weights, 2)) if need_weights else torch.cat(outs, 1)

    def expected(a, t):
        both = expected_multihead(
            a, t, t["x"], t.get("context", t["x"]), sizes, visible, "", options["scale"]
        )
        return both if need_weights else both[0]

    text = words(sizes=sizes, mask=mask, causal=causal, need_weights=need_weights, cached=pieces, **options)
    needs = () if cached else draw.some(inputs)
    case = Case("MultiHeadAttention", dtype, f"{text}, {words(x=inputs['x'])}", call, expected, inputs, needs)
    if mask is not None:
        case.others["mask"] = mask
    return case


def torch_mha_case(draw):
    """Give a converted mask to PyTorch's own module, and expect what the mask means."""
    sizes, dtype = draw_sizes(draw), draw.pick(torch.float64, torch.float32)
    sizes.Hkv = sizes.H
    B, H, T, S = sizes.B, sizes.H, sizes.T, sizes.S
    shape = draw.pick((T, S), (B, 1, 1, S), (B, H, T, S), (B, 1, T, S))
    mask = draw.boolean(shape, 0.7).clone()
    mask[..., draw.whole(0, S - 1)] = True  # PyTorch's module answers a blind row with NaN
    inputs = {"x": draw.normal((B, T, sizes.C), dtype), "context": draw.normal((B, S, sizes.C), dtype)}
    own = attnlib.MultiHeadAttention(sizes.C, H)
    inputs |= draw_parameters(draw, own, dtype)
    visible = mask.cpu().expand(B, H, T, S)

    def call(function, t):
        module = nn.MultiheadAttention(sizes.C, H, batch_first=True, device=DEVICE, dtype=dtype)
        names = ("q_proj", "k_proj", "v_proj")
        parameters = {
            "in_proj_weight": torch.cat([t[f"{name}.weight"] for name in names]),
            "in_proj_bias": torch.cat([t[f"{name}.bias"] for name in names]),
            "out_proj.weight": t["out_proj.weight"],
            "out_proj.bias": t["out_proj.bias"],
        }
        turned = converted(function, mask, H)
        keyword = "key_padding_mask" if turned.shape == (B, S) and shape == (B, 1, 1, S) else "attn_mask"
        options = {keyword: turned, "need_weights": False}
        return functional_call(module, parameters, (t["x"], t["context"], t["context"]), options)[0]

    def expected(a, t):
        return expected_multihead(a, t, t["x"], t["context"], sizes, visible)[0]

    text = words(sizes=sizes, mask=mask, dtype=str(dtype))
    case = Case("to_torch_mha", dtype, text, call, expected, inputs, draw.some(inputs))
    case.others["mask"] = mask
    return case


def converted(function, mask, num_heads):
    """Convert a mask for PyTorch's module."""
    return function(mask)


def cache_case(draw):
    """Append pieces to a cache: it must hand back all that came, exactly."""
    dtype = draw.dtype()
    B, H, D = draw.size(), draw.size(), draw.size()
    T = draw.size()
    pieces, room = cuts(draw, T), T + draw.pick(0, 2)
    inputs = {name: draw.normal((B, H, T, D), dtype) for name in ("k", "v")}

    def call(function, t):
        cache = function(B, H, room, D, dtype=dtype, device=DEVICE)
        if draw.chance(0.3):
            cache.append(t["k"], t["v"])
            cache.reset()
        for start, end in pieces:
            k, v = cache.append(t["k"][:, :, start:end], t["v"][:, :, start:end])
        assert cache.length == T
        assert cache.max_length == room
        return k.clone(), v.clone()

    text = words(**inputs, pieces=pieces, room=room)
    return Case("KVCache", dtype, text, call, lambda a, t: (t["k"], t["v"]), inputs)


def block_case(draw):
    sizes, dtype = draw_sizes(draw, 0.05), draw.dtype()
    cached = draw.chance(0.4) and sizes.T > 0
    causal = draw.chance(0.5) or cached
    mask = None if cached else draw_mask(draw, (sizes.B, sizes.H, sizes.T, sizes.T))
    mask = mask[None] if mask is not None and mask.ndim == 3 else mask
    pieces = cuts(draw, sizes.T) if cached else None
    options = {"num_kv_heads": sizes.Hkv, "hidden_dim": draw.size()}
    inputs = {"x": draw.normal((sizes.B, sizes.T, sizes.C), dtype)}
    inputs |= draw_parameters(draw, attnlib.TransformerBlock(sizes.C, sizes.H, **options), dtype)
    problem = Problem(None, None, None, dtype, 1, (sizes.B, sizes.H, sizes.T, sizes.T), ())
    visible = seen(problem, mask, causal)

    def call(function, t):
        block = function(sizes.C, sizes.H, **options).to(DEVICE, dtype)
        parameters = {name: x for name, x in t.items() if name != "x"}
        if not cached:
            return functional_call(block, parameters, (t["x"],), {"mask": mask, "causal": causal})
        given = {"causal": True, "cache": block.attention.make_cache(sizes.B, sizes.T)}
        outs = [functional_call(block, parameters, (t["x"][:, i:j],), given) for i, j in pieces]
        return torch.cat(outs, 1)

    def expected(a, t):
        return expected_block(a, t, t["x"], sizes, visible)

    text = words(sizes=sizes, mask=mask, causal=causal, cached=pieces, **options, dtype=str(dtype))
    case = Case("TransformerBlock", dtype, text, call, expected, inputs, () if cached else draw.some(inputs))
    if mask is not None:
        case.others["mask"] = mask
    return case


def decoder_case(draw):
    sizes, dtype = draw_sizes(draw), draw.dtype()
    V, layers = draw.pick(2, 3, 5, 7), draw.pick(1, 2)
    arguments = (V, sizes.T + 1, sizes.C, sizes.H, layers)
    pieces = cuts(draw, sizes.T) if draw.chance(0.5) else None
    tokens = torch.randint(0, V, (sizes.B, sizes.T), generator=draw.generator).to(DEVICE)
    model = attnlib.Decoder(*arguments, num_kv_heads=sizes.Hkv)
    inputs = draw_parameters(draw, model, dtype)
    visible = reference.mask_from(sizes.T, sizes.T, lambda i, j: j <= i)

    def call(function, t):
        model = function(*arguments, num_kv_heads=sizes.Hkv).to(DEVICE, dtype)
        if pieces is None:
            return functional_call(model, t, (tokens,))
        caches = model.make_caches(sizes.B)
        parts = [functional_call(model, t, (tokens[:, i:j],), {"caches": caches}) for i, j in pieces]
        return torch.cat(parts, 1)

    def expected(a, t):
        words_in = a.stored_gradient(t["token_embedding.weight"])[:, tokens.cpu()]
        places = t["position_embedding.weight"][:, : sizes.T]
        x = a.stored(a.add(words_in, a.spread(places, words_in.shape[1:])))
        for i in range(layers):
            x = expected_block(a, t, x, sizes, visible, f"blocks.{i}.")
        return expected_linear_layer(a, t, "head", expected_norm(a, t, "norm", x))

    text = words(sizes=sizes, vocabulary=V, layers=layers, cached=pieces, dtype=str(dtype))
    case = Case("Decoder", dtype, text, call, expected, inputs, () if pieces else draw.some(inputs))
    case.others["tokens"] = tokens
    return case


KINDS = {  # how to draw a case, and how often
    lambda draw: attention_case(draw, "attention"): 24,
    lambda draw: attention_case(draw, "tiled_attention"): 16,
    lambda draw: attention_case(draw, "attention_weights"): 10,
    lambda draw: attention_case(draw, "attention_scores"): 5,
    softmax_case: 5,
    window_case: 7,
    linear_case: 8,
    step_case: 3,
    rotary_case: 5,
    sinusoidal_case: 1,
    alibi_case: 1,
    mask_case: 5,
    torch_mha_case: 2,
    lambda draw: scores_case(draw, "dot_scores"): 2,
    lambda draw: scores_case(draw, "bilinear_scores"): 1,
    lambda draw: scores_case(draw, "additive_scores"): 1,
    multihead_case: 6,
    cache_case: 1,
    block_case: 2,
    decoder_case: 2,
}


def make_case(seed, number):
    draw = Draw(seed, number)
    case = draw.random.choices(list(KINDS), list(KINDS.values()))[0](draw)
    case.text += f", gradients of {', '.join(case.needs)}" if case.needs else ""
    return case, draw


# the judge


def check(seed, number, functions=FUNCTIONS):
    """Run one case and return it with a list of what is wrong, empty if nothing is."""
    case, draw = make_case(seed, number)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return case, judge(case, draw, functions)
        except Exception as error:  # whatever it is, a valid call must not raise
            where = error.__traceback__
            while where.tb_next:
                where = where.tb_next
            file = where.tb_frame.f_code.co_filename.rsplit("/", 1)[-1]
            return case, [f"raised {type(error).__name__} in {file}:{where.tb_lineno}: {str(error)[:200]}"]


def judge(case, draw, functions):
    function = functions[case.name]
    tensors = {name: x.detach().requires_grad_(name in case.needs) for name, x in case.inputs.items()}
    before = {name: x.detach().clone() for name, x in (tensors | case.others).items()}
    outputs = as_tuple(case.call(function, tensors))
    again = as_tuple(case.call(function, tensors))
    faults = []
    for i, (one, two) in enumerate(zip(outputs, again, strict=True)):
        if not same(one, two):
            faults.append(f"output {i} differs in a second call")
    arithmetic = Arithmetic(torch.float32 if case.dtype == torch.bool else case.dtype)
    leaves = {name: exact(case.clean.get(name, x)) for name, x in case.inputs.items()}
    for leaf in leaves.values():
        leaf.requires_grad_()
    taken = {
        name: arithmetic.leaf(leaf, coarser(case.inputs[name].dtype, case.dtype))
        for name, leaf in leaves.items()
    }
    expected = as_tuple(case.expected(arithmetic, taken))
    for i, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        faults += compare(f"output {i}", got, want.detach(), case, case.dtype)
    if case.needs:
        faults += judge_gradients(case, draw, tensors, outputs, leaves, expected)
    for name, x in (tensors | case.others).items():
        if not same(x, before[name]):
            faults.append(f"{name} was changed in place")
    return faults


def judge_gradients(case, draw, tensors, outputs, leaves, expected):
    pairs = [(x, y) for x, y in zip(outputs, expected, strict=True) if x.requires_grad]
    if not pairs:
        return [f"no output needs a gradient, but {', '.join(case.needs)} does"]
    outputs, expected = zip(*pairs, strict=True)
    upstream = [upstream_gradient(draw, x) for x in outputs]
    got = torch.autograd.grad(outputs, [tensors[name] for name in case.needs], upstream, allow_unused=True)
    upstream = [exact(g) for g in upstream]
    wanted = [leaves[name] for name in case.needs]
    want = torch.autograd.grad(expected, wanted, upstream, allow_unused=True, materialize_grads=True)
    faults = []
    for name, x, y in zip(case.needs, got, want, strict=True):
        x = torch.zeros_like(tensors[name]) if x is None else x
        faults += compare(f"gradient of {name}", x, y, case, tensors[name].dtype)
    return faults


def upstream_gradient(draw, x):
    if draw.chance(0.15):
        return torch.ones((), dtype=x.dtype, device=x.device).expand(x.shape)
    return draw.normal(x.shape, x.dtype)


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def same(x, y):
    return x.shape == y.shape and bool(((x == y) | ((x != x) & (y != y))).all())


def coarser(one, other):
    return max(one, other, key=roundoff)


def compare(what, got, want, case, dtype):
    """Hold one tensor against a bounded one and say in one sentence what is wrong, if anything."""
    value, error = want
    if tuple(got.shape) != tuple(value.shape):
        return [f"{what} has shape {tuple(got.shape)} instead of {tuple(value.shape)}"]
    if got.dtype != dtype:
        return [f"{what} is {got.dtype} instead of {dtype}"]
    if got.device.type != DEVICE.type and case.inputs:
        return [f"{what} is on {got.device} instead of {DEVICE}"]
    x = got.detach().cpu().double()
    largest = math.inf if dtype == torch.bool else torch.finfo(dtype).max
    tiny = 0.0 if dtype == torch.bool else torch.finfo(dtype).tiny
    allowed = 2 * error + tiny if dtype == torch.float64 else error + tiny  # the oracle rounds, too
    wrong = ~((x - value).abs() <= allowed) & (x != value)
    wrong &= value.isinf() | (value.abs() + error <= largest)  # may overflow: anything goes
    ignored = case.ignored.get(what.removeprefix("gradient of "))
    if ignored is not None:
        wrong &= ~ignored
    if not wrong.any():
        return []
    worst = ((x - value).abs() / allowed).nan_to_num(nan=math.inf).masked_fill(~wrong, -1.0).argmax()
    at = tuple(int(i) for i in torch.unravel_index(worst, x.shape))
    return [
        f"{what}{list(at)} is {x[at].item():.6g} instead of {value[at].item():.6g} "
        f"within {allowed[at].item():.2g} ({int(wrong.sum())} of {x.numel()} wrong)"
    ]


def run(seed, cases, functions=FUNCTIONS, seconds=math.inf, report=print):
    """Check cases until the time is over; return how many of each function were done, and what failed."""
    done, failed, start = collections.Counter(), [], time.monotonic()
    for number in range(cases):
        if time.monotonic() - start > seconds:
            break
        case, faults = check(seed, number, functions)
        done[case.name] += 1
        if faults:
            failed.append(f"--seed {seed} --case {number}: {case.name}({case.text}): " + "; ".join(faults))
            report(failed[-1])
    return done, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--case", type=int, help="repeat this one only")
    arguments = parser.parse_args()
    if arguments.case is not None:
        case, faults = check(arguments.seed, arguments.case)
        print(f"{case.name}({case.text})", *(faults or ["agrees"]), sep="\n  ")
        raise SystemExit(bool(faults))
    start = time.monotonic()
    done, failed = run(arguments.seed, arguments.cases)
    counts = ", ".join(f"{name} {n}" for name, n in done.most_common())
    print(f"{done.total()} cases in {time.monotonic() - start:.0f} s, {len(failed)} disagree: {counts}")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
