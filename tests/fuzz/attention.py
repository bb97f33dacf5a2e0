"""Cases of attention and its kin: the weights, the tiles, the window, and other ways to score."""

import math

import torch

from tests import DEVICE
from tests.fuzz.bounded import TANH, exact
from tests.fuzz.draw import Case, words
from tests.fuzz.heads import (
    draw_bias,
    draw_mask,
    draw_problem,
    draw_scale,
    expected_scores,
    finite_bias,
    seen,
    spread_heads,
)
from tests.fuzz.hidden import poison


def not_after(i, j):
    return j <= i


def not_every_third(i, j):
    return (i + 2 * j) % 3 > 0


def near(i, j):
    return (i - j).abs() < 2


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
            given_mask = draw.pick(not_after, not_every_third, near)
            mask = given_mask(torch.arange(T)[:, None], torch.arange(S)).to(DEVICE)
    if draw.chance(0.25):
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
    # a kernel that is only told of the causal mask does not look for NaN, as the docstring says
    told = name == "attention" and options["causal"] and mask is None and bias is None and softcap is None
    if name != "attention_scores" and not told:
        poison(draw, problem, seen(problem, mask, options["causal"]).expand(*lead, T, S), case)
    return case


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
