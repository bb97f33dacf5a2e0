"""Exercises on the square root of the width."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.learn.calling import call
from attnlib.learn.grading import Exercise, by_cases, normal, scalar, single, unit


def with_a_mean(answer: object) -> str | None:
    """Grade the variance of a score whose numbers have a mean."""
    mistakes = [
        (lambda m, d: d, "it must depend on the mean: without (Z), E[q²] is 1 + mean², and E[s] is no longer 0."),
        (lambda m, d: d * (1 + m**2) ** 2, "that is d · E[q²] · E[k²]; take away the square of the mean of each product, mean⁴."),
        (lambda m, d: d * (1 + m**2), "both E[q²] and E[k²] change, and E[s]² has to be taken away."),
        (lambda m, d: d * (1 + m**2) ** 2 - (d * m**2) ** 2, "you take away E[s]², but leave out the mixed terms of line 5: without (Z) they are mean⁴ each, and there are d(d − 1)."),
        (lambda m, d: d * (1 + m**2) ** 2 + d * (d - 1) * m**4, "that is E[s²]; the variance takes away E[s]², which is (d · mean²)²."),
        (lambda m, d: d * (1 + 2 * abs(m)), "only the square of the mean counts."),
        (lambda m, d: d * (1 + m**4), "(1 + mean²)² has a middle term, 2 mean²; and mean⁴ is what is taken away."),
        (lambda m, d: d + 2 * m**2, "each of the d products adds 2 mean², not the sum as a whole."),
        (lambda m, d: 3 * d, "that is for a mean of 1; write it for any mean."),
        (lambda m, d: math.sqrt(d * (1 + 2 * m**2)), "that is the standard deviation; leave out the root."),
    ]  # fmt: skip
    cases = [(3.0, 7), (0.7, 11), (0.0, 16), (-2.0, 3)]
    return by_cases(answer, lambda m, d: d * (1 + 2 * m**2), cases, mistakes, read=scalar, tolerance=1e-3)


def _products(divisor: Callable) -> Callable:
    """Return scores divided by ``divisor(q, k)``."""
    return lambda q, k: q @ k.mT / divisor(q, k)


def scaled_scores(answer: object) -> str | None:
    """Grade scaled scores."""
    cases = [(normal(T, D, seed=0), normal(S, D, seed=1)) for T, S, D in ((3, 5, 16), (7, 2, 11), (2, 3, 49))]
    right = _products(lambda q, k: q.shape[-1] ** 0.5)
    measured = "you divide by a spread measured on these scores; the divisor should depend on D alone."
    mistakes = [
        (_products(lambda q, k: 1), "these are the plain dot products; divide by the root of the width."),
        (_products(lambda q, k: q.shape[-1]), "you divide by d; only its root leaves a standard deviation of 1."),
        (_products(lambda q, k: q.shape[-1] ** -0.5), "you multiply by the root of the width; divide."),
        (_products(lambda q, k: len(k) ** 0.5), "that is the root of the number of keys; the width is the last axis."),
        (_products(lambda q, k: len(q) ** 0.5), "that is the root of the number of queries; the width is the last axis."),
        (_products(lambda q, k: 4), "4 is the root of one width, 16; take the root of whatever comes, `q.shape[-1]`."),
        (lambda q, k: right(q, k).T, "queries should be rows and keys columns; this is the transpose."),
        (lambda q, k: right(q, k).softmax(-1), "these are the weights; leave out the softmax."),
        *((_products(lambda q, k, c=c: (q @ k.T).std(correction=c)), measured) for c in (0, 1)),
        *((_products(lambda q, k, c=c: (q @ k.T).std(-1, correction=c, keepdim=True)), measured) for c in (0, 1)),
    ]  # fmt: skip
    return by_cases(answer, right, cases, mistakes)


def divisor(answer: object) -> str | None:
    """Grade the divisor for coordinates of different standard deviations."""
    cases = [
        (torch.tensor(std_q), torch.tensor(std_k))
        for std_q, std_k in (
            ([3.0, 1.0, 0.5], [0.7, 2.0, 4.0]),
            ([0.2, 0.5, 1.5, 4.0], [0.1, 3.0, 0.7, 0.5]),
            ([1.0] * 9, [1.0] * 9),
        )
    ]
    meets = "coordinate i of q meets coordinate i of k only, so multiply before you sum."
    variance = "each product has the variance std_q² · std_k²."
    mistakes = [
        (lambda a, b: len(a) ** 0.5, "that is right for standard deviations of 1 only; those of q and k count too."),
        (lambda a, b: (a * b).square().sum(), "that is the variance of the score; divide by its root."),
        (lambda a, b: (a * b).sum(), "standard deviations of independent terms do not add; their squares do."),
        (lambda a, b: (a * b).sum().sqrt(), "before the root stand variances: square the standard deviations."),
        (lambda a, b: a.norm() * b.norm(), f"you sum over q and over k first; {meets}"),
        (lambda a, b: a.norm() * b.norm() / len(a) ** 0.5, f"you average the variances of q and of k first; {meets}"),
        (lambda a, b: a.mean() * b.mean() * len(a) ** 0.5, f"mean standard deviations do not do: {meets}"),
        (lambda a, b: (a.square() + b.square()).sum().sqrt(), "the variances of q and k multiply, since each term is a product."),
        (lambda a, b: (a + b).norm(), "the standard deviations of q and k multiply, since each term is a product."),
        (lambda a, b: a.norm(), f"the keys are missing: {variance}"),
        (lambda a, b: b.norm(), f"the queries are missing: {variance}"),
        (lambda a, b: a.mean() * len(a) ** 0.5, f"the keys are missing: {variance}"),
        (lambda a, b: (a * b).square().mean().sqrt(), "variances of independent terms add: a sum under the root, no mean."),
        (lambda a, b: (a * b).norm() * len(a) ** 0.5, "the sum has d terms already; no further factor √d."),
        (lambda a, b: 1 / (a * b).norm(), "that is what to multiply by; the question is what to divide by."),
    ]  # fmt: skip
    return by_cases(answer, lambda a, b: (a * b).norm(), cases, mistakes, read=scalar, tolerance=1e-3)


def _head_scores(divisor: Callable, *, dealt: bool = False) -> Callable:
    """Return the scores of heads that are blocks of neighbours, or dealt out in turn, over ``divisor(q, C)``."""

    def scores(x: Tensor, w_q: Tensor, w_k: Tensor, heads: int) -> Tensor:
        q, k = x @ w_q, x @ w_k
        if dealt:
            q, k = (y.unflatten(-1, (-1, heads)).movedim(-1, 1) for y in (q, k))
        else:
            q, k = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (q, k))  # (B, H, T, D)
        return q @ k.mT / divisor(q, x.shape[-1])

    return scores


def repaired(answer: object) -> str | None:
    """Grade scores of several heads, divided by the right width."""
    cases = [
        (normal(B, T, C, seed=0), normal(C, C, seed=1), normal(C, C, seed=2), heads)
        for B, T, C, heads in ((2, 5, 24, 4), (3, 7, 22, 2), (2, 3, 15, 5))
    ]
    right = _head_scores(lambda q, C: q.shape[-1] ** 0.5)
    mistakes = [
        (_head_scores(lambda q, C: C**0.5), "the scores are divided by the root of the model's width C still; each is a sum over a head only."),
        (_head_scores(lambda q, C: q.shape[-1]), "you divide by the width of a head; take its root."),
        (_head_scores(lambda q, C: 1), "the division is gone; divide by the root of a head's width."),
        (_head_scores(lambda q, C: q.shape[1] ** 0.5), "you divide by the root of the number of heads; it is their width that counts."),
        (_head_scores(lambda q, C: q.shape[2] ** 0.5), "you divide by the root of the number of tokens; it is the head's width."),
        (_head_scores(lambda q, C: C**0.5 / q.shape[1]), "you divide the root of C by the number of heads; divide C by it first, then take the root."),
        (_head_scores(lambda q, C: 6**0.5), "6 is the width of a head for one C and one number of heads; take it from what comes, C / heads."),
        (lambda *case: right(*case).softmax(-1), "these are the weights; return the scores."),
        (_head_scores(lambda q, C: q.shape[-1] ** 0.5, dealt=True), "the heads are cut out wrongly: each is a block of neighbouring numbers."),
    ]  # fmt: skip
    return by_cases(answer, right, cases, mistakes, tolerance=1e-3)


def temperature(answer: object) -> str | None:
    """Grade a divisor that gives the largest weight a wanted size."""
    cases = [
        ([2.0, 0.0], 0.75),
        ([3.0, 1.0, 0.5, -2.0], 0.9),
        ([3.0, 1.0, 0.5, -2.0], 0.4),
        ([8.0, 7.0, 0.0], 0.6),
        ([0.5, -2.0, 3.0, 1.0], 0.9),
        ([-200.0, -203.0, -201.0, -199.0, -207.0], 0.3),
    ]
    tolerance = 1e-3 + 1e-6  # a thousandth, as the exercise says; float32 may round
    for scores, top in cases:
        s = torch.tensor(scores, dtype=torch.float64)
        t = single(call(answer, torch.tensor(scores), top))
        where = f"for scores {scores} and {top:g}"
        if not math.isfinite(t) or t <= 0:
            return f"{where}: the divisor must be a number above 0, yours is {t:g}."
        weights = (s / t).softmax(-1)
        found, turned = weights.max().item(), (s * t).softmax(-1).max().item()
        if abs(found - top) <= tolerance:
            continue
        if abs(turned - top) <= tolerance:
            return f"{where}: that is what to multiply by; the question is what to divide by."
        if s.argmax() != 0 and abs(weights[0].item() - top) <= tolerance:
            return f"{where}: the weight of the first score is {top:g} now; it is the largest that should be."
        if s.argmax() != 0 and not 0.01 < t < 100:
            return f"{where}: {t:g} is far off. Which weight does your search follow? The largest may stand anywhere."
        if abs(t - 1) < 1e-9:
            return f"{where}: dividing by 1 leaves the largest weight at {found:.3f}."
        way = "larger" if found > top else "smaller"
        return f"{where}: after division by {t:.3g} the largest weight is {found:.3f}; a {way} divisor gets closer."
    return None


def _cosines(q: Tensor, k: Tensor, g: float) -> Tensor:
    return g * unit(q) @ unit(k).T


def cosine_scores(answer: object) -> str | None:
    """Grade scores that lengths cannot change."""
    cases = [
        (6 * normal(T, D, seed=0), 0.5 * normal(S, D, seed=1), g)
        for T, S, D, g in ((4, 5, 6, 10.0), (7, 2, 3, 5.0), (2, 3, 11, 20.0))
    ]
    lengths = "divide each query and key by its own length."
    mistakes = [
        (lambda q, k, g: _cosines(q, k, 1.0), "the factor is missing: cosines lie between −1 and 1, too close for a softmax."),
        (lambda q, k, g: g * q @ k.T, f"the lengths still count: {lengths}"),
        (lambda q, k, g: g * q @ k.T / q.shape[-1] ** 0.5, f"the lengths still count: {lengths}"),
        (lambda q, k, g: q @ k.T / q.shape[-1] ** 0.5, f"these are scaled dot products; {lengths}"),
        (lambda q, k, g: g * unit(q) @ k.T, "the keys keep their lengths; divide them too."),
        (lambda q, k, g: g * q @ unit(k).T, "the queries keep their lengths; divide them too."),
        (lambda q, k, g: _cosines(q, k, g) / q.shape[-1] ** 0.5, "the root of the width is not needed any more: a cosine does not grow with it."),
        (lambda q, k, g: g * (q / q.norm()) @ (k / k.norm()).T, "you divide by the length of the whole matrix; each row has its own."),
        (lambda q, k, g: g * unit(q, 0) @ unit(k, 0).T, "you divide columns by their lengths; a query is a row: `dim=-1`."),
        (lambda q, k, g: g * (q / q.square().sum(-1, keepdim=True)) @ (k / k.square().sum(-1, keepdim=True)).T, "you divide by the squared length; take the root."),
        (lambda q, k, g: g * (q / q.abs().sum(-1, keepdim=True)) @ (k / k.abs().sum(-1, keepdim=True)).T, "you divide by the sum of the absolute values; the length is the root of the sum of the squares."),
        (lambda q, k, g: (q @ k.T).clamp(-g, g), f"clamping bounds the scores, but below g the lengths still count; {lengths}"),
        (lambda q, k, g: g * (q @ k.T / g).tanh(), f"tanh bounds the scores, but the lengths still count; {lengths}"),
        (lambda q, k, g: _cosines(q, k, g).T, "queries should be rows and keys columns; this is the transpose."),
        (lambda q, k, g: _cosines(q, k, g).softmax(-1), "these are the weights; leave out the softmax."),
        (lambda q, k, g: _cosines(q, k, 1 / g), "you divide by g; multiply by it."),
    ]  # fmt: skip
    return by_cases(answer, _cosines, cases, mistakes, tolerance=1e-3)


EXERCISES = [
    Exercise(
        "4.3", "Numbers with a mean", "medium", 8,
        (
            "The d products are still independent of each other, so their variances add: find the variance of one, q · k.",
            "Var(qk) = E[q²] E[k²] − (E[q] E[k])², and E[q²] = 1 + mean².",
            "(1 + m²)² − m⁴ = 1 + 2m².",
        ),
        with_a_mean,
        "Half of what is added, d · mean², is mean · (q_1 + … + q_d): all keys of a query have it in common, and the softmax does not see it, nor the shift by d · mean². Within a query the variance is d(1 + mean²).",
    ),
    Exercise(
        "4.4", "Scores of unit spread", "easy", 4,
        (
            "`q @ k.T` holds every dot product, queries as rows.",
            "The width is `q.shape[-1]`; a root is `** 0.5`.",
        ),
        scaled_scores,
        "One division, and the spread no longer depends on the width.",
    ),
    Exercise(
        "4.5", "The right divisor", "medium", 6,
        (
            "Line 7 of the proof, for one coordinate: the variance of q_i k_i is std_q[i]² · std_k[i]².",
            "Line 9 now adds d different numbers. The divisor is the root of their sum.",
        ),
        divisor,
        "√d is the case in which every product has variance 1.",
    ),
    Exercise(
        "4.7", "A quiet bug", "medium", 6,
        (
            "Of how many products is each score the sum?",
            "After the split, the last axis of `q` is the width of a head.",
        ),
        repaired,
        "It raised no error: with four heads the scores would spread by a half of what they should, √(1/4).",
    ),
    Exercise(
        "4.8", "As sharp as you like", "hard", 12,
        (
            "A larger divisor makes weights more equal, so the largest weight falls as the divisor grows: search for it.",
            "Halve an interval: start with 1e-3 and 1e3, look at the middle, keep the half that holds the answer; 60 times.",
            "With two keys there is a formula: the gap divided by log(top / (1 − top)).",
        ),
        temperature,
        "The divisor is a temperature: it sets how sharp the choice is, and √d is only the place to start.",
    ),
    Exercise(
        "4.9", "Lengths that cannot count", "medium", 8,
        (
            "The length of each row is `x.norm(dim=-1, keepdim=True)`.",
            "Divide the queries by their lengths and the keys by theirs; then take dot products, and multiply by g.",
        ),
        cosine_scores,
        "However long queries and keys become, no score exceeds g.",
    ),
]  # fmt: skip
