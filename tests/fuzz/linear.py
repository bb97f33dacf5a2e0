"""Cases of linear attention, at once and step by step."""

import torch

from tests import reference
from tests.fuzz.bounded import ELU_PLUS_ONE, EXPONENTIAL, RECIPROCAL, exact
from tests.fuzz.draw import Case, words
from tests.fuzz.heads import draw_problem, spread_heads


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
    case.inputs = tame(problem)
    case.needs = draw.some(case.inputs)
    case.text = words(**case.inputs, causal=causal, block_size=block_size, **options)
    return case


def tame(problem):
    """Keep queries and keys where an exponential is neither nothing nor everything in their dtype."""
    most = 4 if problem.dtype == torch.float16 else 16
    return {"q": problem.q.clamp(-most, most), "k": problem.k.clamp(-most, most), "v": problem.v}


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
    case.inputs = tame(problem)
    case.needs = draw.some(case.inputs)
    case.text = words(**case.inputs, **options)
    return case
