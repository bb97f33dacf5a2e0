"""Cases of attention and its kin: the weights, the tiles, the window, and other ways to score."""

import math

import torch

from attnlib.functional import attention_with_lse
from tests import DEVICE, reference
from tests.fuzz.bounded import TANH, Arithmetic, exact
from tests.fuzz.draw import Case, words
from tests.fuzz.heads import (
    draw_bias,
    draw_learned,
    draw_mask,
    draw_problem,
    draw_scale,
    draw_sink,
    expected_scores,
    finite_bias,
    seen,
    spread_heads,
    with_sink,
)
from tests.fuzz.hidden import poison
from tests.fuzz.rules import draw_facts, facts_seen, rule_of


def not_after(i, j):
    return j <= i


def not_every_third(i, j):
    return (i + 2 * j) % 3 > 0


def near(i, j):
    return (i - j).abs() < 2


def attention_case(draw, name):
    """Draw a case of `attention` or of what takes the same arguments: weights, scores, tiles, windows, parts."""
    problem = draw_problem(draw)
    T, S = problem.target[-2:]
    mixes = name not in ("attention_weights", "attention_scores", "key_mass")
    options = {"scale": draw_scale(draw)}
    if name != "sliding_window_attention":
        options["causal"] = draw.chance(0.4)
    else:
        options["window"] = draw.pick(1, 2, 3, 5, 11)
    if name in ("tiled_attention", "key_mass"):
        options["block_size"] = draw.pick(1, 2, 3, 5, 64)
    if name == "attention_in_blocks":
        options |= {"rows": draw.pick(1, 2, 3), "align": draw.pick(1, 1, 2, 4)}
    facts, mask, bias = None, None, draw_bias(draw, problem.target, problem.dtype)
    if draw.chance(0.85 if name == "attention_in_blocks" else 0.3):
        facts = draw_facts(draw, problem.target)
    else:
        mask = draw_mask(draw, problem.target)
    given_mask = mask if facts is None else rule_of(facts)
    if name == "tiled_attention" and facts is None and draw.chance(0.15):
        given_mask = draw.pick(not_after, not_every_third, near)
        mask = given_mask(torch.arange(T)[:, None], torch.arange(S)).to(DEVICE)
    inputs = {"q": problem.q, "k": problem.k} | ({"v": problem.v} if mixes else {})
    if bias is not None:
        inputs["bias"] = bias
    if draw.chance(0.15):
        inputs["scale"] = draw_learned(draw, problem.target, problem.dtype)
        del options["scale"]
    if draw.chance(0.25):
        if draw.chance(0.4):
            inputs["softcap"] = draw_learned(draw, problem.target, problem.dtype)
        else:
            options["softcap"] = draw.pick(0.5, 5.0, 30.0)
    if name != "attention_scores" and draw.chance(0.25):
        inputs["sink"] = draw_sink(draw, problem.target, problem.dtype)
    softcap, scale, causal = options.get("softcap"), options.get("scale"), options.get("causal", False)
    lead = problem.lead if mixes else problem.target[:-2]

    def visible_to(bias):
        visible = seen(problem, mask, causal, bias)
        if name == "sliding_window_attention":
            visible = visible & reference.mask_from(
                T, S, lambda i, j: -options["window"] < j - i - S + T <= 0
            )
        visible = visible if facts is None else visible & facts_seen(facts, T, S)
        return visible.expand(*lead, T, S)

    visible = visible_to(bias)

    def call(function, t):
        more = {x: t[x] for x in ("bias", "scale", "softcap", "sink") if x in t}
        values = (t["v"],) if mixes else ()
        return function(t["q"], t["k"], *values, given_mask, **more, **options)

    def expected(a, t):
        if name == "attention_scores":
            scores = a.stored(expected_scores(a, t, problem, lead, scale, softcap))
            return torch.where(visible_to(None), scores, exact(torch.full((*lead, T, S), -math.inf)))
        a = Arithmetic(torch.promote_types(problem.dtype, torch.float32)) if name == "key_mass" else a
        scores = expected_scores(a, finite_bias(t), problem, lead, scale, softcap)
        v = spread_heads(a, t["v"], problem.groups, lead) if mixes else None
        scores, v, shown = with_sink(a, t, scores, v, visible)
        if name == "attention_with_lse":
            log_sum, nothing = a.log_sum(scores, shown), exact(torch.full((*lead, T), -math.inf))
            return a.attend(scores, v, shown), torch.where(shown.any(-1), log_sum, nothing)
        if mixes:
            return a.attend(scores, v, shown)
        weights = a.softmax(scores, shown)[..., :S]
        if name == "key_mass":
            return a.matmul(exact(torch.ones(*lead, 1, T)), weights).squeeze(-2)
        return weights

    case = Case(name, problem.dtype, "", call, expected, inputs)
    if mask is not None:
        case.others["mask"] = mask
    case.wide = {"attention_with_lse": (1,), "key_mass": (0,)}.get(name, ())
    case.needs = draw.some(inputs) if name != "key_mass" else ()
    case.text = words(**inputs, mask=given_mask, **options) + (f", facts={facts}" if facts else "")
    # a kernel that is only told of the causal mask does not look for NaN, as the docstring says
    alone = not any({"window", "ahead", "documents", "lengths"} & set(one) for one in facts or ())
    told = name in ("attention", "attention_in_blocks") and alone and (causal or facts is not None)
    told = told and mask is None and bias is None and "softcap" not in options
    if name not in ("attention_scores", "key_mass") and not told:
        poison(draw, problem, visible_to(None), case)
    return case


def merge_case(draw):
    """Attend to some keys and to the others, and join the parts."""
    problem = draw_problem(draw)
    T, S = problem.target[-2:]
    cut, scale, mask = draw.whole(0, S), draw_scale(draw), draw_mask(draw, (*problem.target[:-1], S))
    visible = seen(problem, mask).expand(*problem.lead, T, S)
    mask = None if mask is None else mask.expand(*mask.shape[:-1], S) if mask.ndim else mask.expand(S)
    parts = slice(0, cut), slice(cut, S)
    inputs = {"q": problem.q, "k": problem.k, "v": problem.v}
    if draw.chance(0.3):
        inputs["sink"] = draw_sink(draw, problem.target, problem.dtype)

    def call(function, t):
        found = []
        for part in parts:
            own = None if mask is None else mask[..., part]
            sink = t.get("sink") if part.start == 0 else None
            found += attention_with_lse(
                t["q"], t["k"][..., part, :], t["v"][..., part, :], own, scale=scale, sink=sink
            )
        return function(*found)

    def expected(a, t):
        scores = expected_scores(a, t, problem, problem.lead, scale)
        v, outs, sums, some = spread_heads(a, t["v"], problem.groups, problem.lead), [], [], []
        for part in parts:
            own = (scores[..., part], v[..., part, :], visible[..., part])
            own = with_sink(a, t if part.start == 0 else {}, *own)
            outs.append(a.attend(*own))
            sums.append(a.log_sum(own[0], own[2]))
            some.append(own[2].any(-1))
        pair, open_ = torch.stack(sums, -1), torch.stack(some, -1)
        weights = a.softmax(pair, open_).unsqueeze(-2)  # (..., T, 1, 2)
        out = a.stored(a.matmul(weights, torch.stack(outs, -2))).squeeze(-2)
        nothing = exact(torch.full(open_.shape[:-1], -math.inf))
        return out, torch.where(open_.any(-1), a.log_sum(pair, open_), nothing)

    case = Case("merge", problem.dtype, "", call, expected, inputs, draw.some(inputs))
    case.wide = (1,)
    case.text = words(**inputs, mask=mask, cut=cut, scale=scale)
    if mask is not None:
        case.others["mask"] = mask
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
