"""Exercises on the square root of the width."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlib.learn.calling import call
from attnlib.learn.grading import Exercise, compare, numbers


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")


def _double(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def with_a_mean(answer: object) -> str | None:
    """Grade the variance of a score whose numbers have a mean."""
    for mean, d in ((3.0, 7), (0.7, 11), (0.0, 16), (-2.0, 3)):
        square = 1 + mean**2
        known = [
            (d, "it must depend on the mean: without (Z), E[q²] is 1 + mean², and E[s] is no longer 0."),
            (
                d * square**2,
                "that is d · E[q²] · E[k²]; take away the square of the mean of each product, mean⁴.",
            ),
            (d * square, "both E[q²] and E[k²] change, and E[s]² has to be taken away."),
            (
                d * square**2 - (d * mean**2) ** 2,
                "you take away E[s]², but leave out the mixed terms of line 5: without (Z) they are mean⁴ each, and there are d(d − 1).",
            ),
            (
                d * square**2 + d * (d - 1) * mean**4,
                "that is E[s²]; the variance takes away E[s]², which is (d · mean²)².",
            ),
            (d * (1 + 2 * abs(mean)), "only the square of the mean counts."),
            (
                d * (1 + mean**4),
                "(1 + mean²)² has a middle term, 2 mean²; and mean⁴ is what is taken away.",
            ),
            (d + 2 * mean**2, "each of the d products adds 2 mean², not the sum as a whole."),
            (3 * d, "that is for a mean of 1; write it for any mean."),
            (
                math.sqrt(d * (1 + 2 * mean**2)),
                "that is the standard deviation; leave out the root.",
            ),
        ]
        wrong = compare(
            numbers(call(answer, mean, d)).squeeze(),
            torch.tensor(d * (1 + 2 * mean**2), dtype=torch.float64),
            [(torch.tensor(float(value), dtype=torch.float64), words) for value, words in known],
            tolerance=1e-3,
        )
        if wrong is not None:
            return f"with mean {mean:g} and d = {d}: {wrong}"
    return None


def scaled_scores(answer: object) -> str | None:
    """Grade scaled scores."""
    q, k = _random(3, 16, seed=0), _random(5, 16, seed=1)
    plain = (q @ k.T).double()
    right = plain / 4
    return compare(
        numbers(call(answer, q.clone(), k.clone())),
        right,
        [
            (plain, "these are the plain dot products; divide by the root of the width."),
            (plain / 16, "you divide by d; only its root leaves a standard deviation of 1."),
            (plain * 4, "you multiply by the root of the width; divide."),
            (plain / math.sqrt(5), "that is the root of the number of keys; the width is the last axis."),
            (plain / math.sqrt(3), "that is the root of the number of queries; the width is the last axis."),
            (right.T, "queries should be rows and keys columns; this is the transpose."),
            (right.softmax(-1), "these are the weights; leave out the softmax."),
            *(
                (
                    plain / spread,
                    "you divide by a spread measured on these scores; the divisor should depend on D alone.",
                )
                for c in (0, 1)
                for spread in (plain.std(correction=c), plain.std(-1, correction=c, keepdim=True))
            ),
        ],
        tolerance=2e-2 if _is_half(answer, q, k) else 1e-4,
    )


def _is_half(answer: object, *arguments: Tensor) -> bool:
    got = call(answer, *(x.clone() for x in arguments))
    return getattr(got, "dtype", None) in (torch.float16, torch.bfloat16)


def _wrong_divisors(a: Tensor, b: Tensor) -> list[tuple[object, str]]:
    """Return the mistakes people make, for standard deviations a of q and b of k."""
    d, right = len(a), (a * b).norm()
    return [
        (d**0.5, "that is right for standard deviations of 1 only; those of q and k count too."),
        ((a * b).square().sum(), "that is the variance of the score; divide by its root."),
        ((a * b).sum(), "standard deviations of independent terms do not add; their squares do."),
        ((a * b).sum().sqrt(), "before the root stand variances: square the standard deviations."),
        (
            a.norm() * b.norm(),
            "you sum over q and over k first; coordinate i of q meets coordinate i of k only, so multiply before you sum.",
        ),
        (
            a.norm() * b.norm() / d**0.5,
            "you average the variances of q and of k first; coordinate i of q meets coordinate i of k only, so multiply before you sum.",
        ),
        (
            a.mean() * b.mean() * d**0.5,
            "mean standard deviations do not do: coordinate i of q meets coordinate i of k only, so multiply before you sum.",
        ),
        (
            (a.square() + b.square()).sum().sqrt(),
            "the variances of q and k multiply, since each term is a product.",
        ),
        ((a + b).norm(), "the standard deviations of q and k multiply, since each term is a product."),
        (a.norm(), "the keys are missing: each product has the variance std_q² · std_k²."),
        (b.norm(), "the queries are missing: each product has the variance std_q² · std_k²."),
        (a.mean() * d**0.5, "the keys are missing: each product has the variance std_q² · std_k²."),
        (
            (a * b).square().mean().sqrt(),
            "variances of independent terms add: a sum under the root, no mean.",
        ),
        (right * d**0.5, "the sum has d terms already; no further factor √d."),
        (1 / right, "that is what to multiply by; the question is what to divide by."),
    ]


def divisor(answer: object) -> str | None:
    """Grade the divisor for coordinates of different standard deviations."""
    cases = (
        ([3.0, 1.0, 0.5], [0.7, 2.0, 4.0]),
        ([0.2, 0.5, 1.5, 4.0], [0.1, 3.0, 0.7, 0.5]),
        ([1.0] * 9, [1.0] * 9),
    )
    for std_q, std_k in cases:
        a, b = _double(*std_q), _double(*std_k)
        right = (a * b).norm()
        known = _wrong_divisors(a, b)
        wrong = compare(
            numbers(call(answer, torch.tensor(std_q), torch.tensor(std_k))).squeeze(),
            right,
            [
                (value, words)
                for value, words in ((torch.as_tensor(v, dtype=torch.float64), w) for v, w in known)
                if abs(value - right) > 1e-3
            ],
            tolerance=1e-3,
        )
        if wrong is not None:
            return f"with std_q = {std_q} and std_k = {std_k}: {wrong}"
    return None


def repaired(answer: object) -> str | None:
    """Grade scores of several heads, divided by the right width."""
    x, w_q, w_k = _random(2, 5, 24, seed=0), _random(24, 24, seed=1), _random(24, 24, seed=2)
    q, k = ((x @ w).unflatten(-1, (4, 6)).transpose(1, 2) for w in (w_q, w_k))
    plain = (q @ k.mT).double()  # (2, 4, 5, 5)
    mixed_q, mixed_k = ((x @ w).unflatten(-1, (6, 4)).movedim(-1, 1) for w in (w_q, w_k))
    return compare(
        numbers(call(answer, x.clone(), w_q.clone(), w_k.clone(), 4)),
        plain / math.sqrt(6),
        [
            (
                plain / math.sqrt(24),
                "the scores are divided by the root of the model's width, 24, still; each is a sum of 6 products only.",
            ),
            (plain / 6, "you divide by the width of a head; take its root."),
            (plain, "the division is gone; divide by the root of a head's width."),
            (plain / 2, "you divide by the root of the number of heads; it is their width that counts."),
            (plain / math.sqrt(5), "you divide by the root of the number of tokens; it is the head's width."),
            (
                plain / (math.sqrt(24) / 4),
                "you divide the root of 24 by the number of heads; divide 24 by it first, then take the root.",
            ),
            ((plain / math.sqrt(6)).softmax(-1), "these are the weights; return the scores."),
            (
                (mixed_q @ mixed_k.mT).double() / math.sqrt(6),
                "the heads are cut out wrongly: each is a block of neighbouring numbers.",
            ),
        ],
        tolerance=1e-3,
    )


def temperature(answer: object) -> str | None:
    """Grade a divisor that gives the largest weight a wanted size."""
    cases = [
        ([2.0, 0.0], 0.75),
        ([3.0, 1.0, 0.5, -2.0], 0.9),
        ([3.0, 1.0, 0.5, -2.0], 0.4),
        ([8.0, 7.0, 0.0], 0.6),
    ]
    tolerance = 1e-3 + 1e-6  # a thousandth, as the exercise says; float32 may round
    for scores, top in cases:
        s = _double(*scores)
        got = numbers(call(answer, torch.tensor(scores), top)).squeeze()
        if got.numel() != 1:
            return f"return one number, the divisor, and not {got.numel()} numbers."
        t = got.item()
        where = f"for scores {scores} and {top:g}"
        if not math.isfinite(t) or t <= 0:
            return f"{where}: the divisor must be a number above 0, yours is {t:g}."
        found, turned = ((s / d).softmax(-1).max().item() for d in (t, 1 / t))
        if abs(found - top) <= tolerance:
            continue
        if abs(turned - top) <= tolerance:
            return f"{where}: that is what to multiply by; the question is what to divide by."
        if abs(t - 1) < 1e-9:
            return f"{where}: dividing by 1 leaves the largest weight at {found:.3f}."
        way = "larger" if found > top else "smaller"
        return f"{where}: after division by {t:.3g} the largest weight is {found:.3f}; a {way} divisor gets closer."
    return None


def _wrong_cosines(q: Tensor, k: Tensor, g: float) -> list[tuple[Tensor, str]]:
    """Return the mistakes people make with cosine scores."""
    unit_q, unit_k = (x / x.norm(dim=-1, keepdim=True) for x in (q, k))
    plain, right = q @ k.T, g * unit_q @ unit_k.T
    return [
        (unit_q @ unit_k.T, "the factor is missing: cosines lie between −1 and 1, too close for a softmax."),
        (g * plain, "the lengths still count: divide each query and each key by its own length."),
        (g * plain / math.sqrt(6), "the lengths still count: divide each query and key by its own length."),
        (plain / math.sqrt(6), "these are scaled dot products; divide each query and key by its own length."),
        (g * unit_q @ k.T, "the keys keep their lengths; divide them too."),
        (g * q @ unit_k.T, "the queries keep their lengths; divide them too."),
        (
            right / math.sqrt(6),
            "the root of the width is not needed any more: a cosine does not grow with it.",
        ),
        (
            g * (q / q.norm()) @ (k / k.norm()).T,
            "you divide by the length of the whole matrix; each row has its own.",
        ),
        (
            g * (q / q.norm(dim=0)) @ (k / k.norm(dim=0)).T,
            "you divide columns by their lengths; a query is a row: `dim=-1`.",
        ),
        (
            g * (q / q.square().sum(-1, keepdim=True)) @ (k / k.square().sum(-1, keepdim=True)).T,
            "you divide by the squared length; take the root.",
        ),
        (
            g * (q / q.abs().sum(-1, keepdim=True)) @ (k / k.abs().sum(-1, keepdim=True)).T,
            "you divide by the sum of the absolute values; the length is the root of the sum of the squares.",
        ),
        (
            plain.clamp(-g, g),
            "clamping bounds the scores, but below g the lengths still count; divide each query and key by its own.",
        ),
        (
            g * (plain / g).tanh(),
            "tanh bounds the scores, but the lengths still count; divide each query and key by its own.",
        ),
        (right.T, "queries should be rows and keys columns; this is the transpose."),
        (right.softmax(-1), "these are the weights; leave out the softmax."),
        (right / g**2, "you divide by g; multiply by it."),
    ]


def cosine_scores(answer: object) -> str | None:
    """Grade scores that lengths cannot change."""
    q, k, g = 6 * _random(4, 6, seed=0), 0.5 * _random(5, 6, seed=1), 10.0
    unit_q, unit_k = (x / x.norm(dim=-1, keepdim=True) for x in (q, k))
    right = g * unit_q @ unit_k.T
    return compare(
        numbers(call(answer, q.clone(), k.clone(), g)),
        right.double(),
        [(wrong.double(), words) for wrong, words in _wrong_cosines(q, k, g)],
        tolerance=1e-3,
    )


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
