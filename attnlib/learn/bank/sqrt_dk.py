"""Exercises on the square root of the width."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Exercise, by_cases, listed, normal, numbers, scalar, single, unit


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
        ([60.0, 10.0, 0.0], 0.5),
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


def _read_vectors(name: str, given: object, d: int) -> Tensor:
    """Read a list of vectors ``(N, d)``.

    Raises:
        AnswerError: If it has another shape, or numbers that are not finite.
    """
    x = numbers(given)
    if x.ndim != 2 or x.shape[1] != d:
        turned = " Vectors are rows." if x.ndim == 2 and x.shape[0] == d else ""
        raise AnswerError(f"{name} should have shape (N, {d}), yours is {tuple(x.shape)}.{turned}")
    if not x.isfinite().all():
        raise AnswerError(f"{name} should hold finite numbers.")
    return x


def _breaks_assumptions(name: str, x: Tensor) -> str | None:
    """Return where vectors break (Z) or (U), exactly and over all rows; None if nowhere."""
    n, mean, square = len(x), x.mean(0), x.square().mean(0)
    if n < 2:
        return f"{name}: one vector cannot have mean 0 and mean square 1; give at least two."
    at, off = mean.abs().argmax().item(), (square - 1).abs().argmax().item()
    shifted, scaled = abs(mean[at]) > 1e-3, abs(square[off] - 1) > 1e-3
    if (shifted or scaled) and n > 8 and abs(mean[at]) < 0.5 and abs(square[off] - 1) < 0.7:
        return f"{name}: random numbers keep (Z) and (U) roughly only. A few vectors, written out, keep them exactly."
    where = f"{name}, coordinate {{}}, counted from 0: over your {n} vectors"
    if shifted:
        return f"{where.format(at)} the mean is {mean[at]:.3g}; (Z) wants 0."
    if scaled and (square * n / (n - 1) - 1).abs().max() < 1e-3:
        return f"{where.format(off)} the squares sum to N − 1; for a mean square of 1 they sum to N."
    return f"{where.format(off)} the mean square is {square[off]:.3g}; (U) wants 1." if scaled else None


def any_spread(answer: object) -> str | None:
    """Grade queries and keys with (Z) and (U), but any spread of their scores."""
    for n, (d, spread) in enumerate(((10, 6), (6, 6), (14, 0), (22, 8), (6, 2))):
        given = call(listed(answer), d, spread)
        given = list(given.values()) if isinstance(given, Mapping) else given
        try:
            q, k = given
        except (TypeError, ValueError):
            raise AnswerError("return two matrices in a list, [q, k].") from None
        where = f"for d = {d} and a spread of {spread}: "
        q, k = _read_vectors(f"{where}q", q, d), _read_vectors(f"{where}k", k, d)
        words = _breaks_assumptions("q", q) or _breaks_assumptions("k", k) or _other_spread(q, k, spread)
        if words:
            return f"{'right at first, but not ' if n else ''}{where}{words}"
    return None


def _other_spread(q: Tensor, k: Tensor, spread: int) -> str | None:
    """Return what is wrong with the spread of all scores; None if nothing is."""
    d = q.shape[1]
    found = (
        ((q.mT @ q / len(q)) * (k.mT @ k / len(k))).sum().clamp(min=0).sqrt().item()
    )  # of all N · M scores
    paired = (q * k).sum(-1).square().mean().sqrt().item() if q.shape == k.shape else found
    if abs(found - spread) < 1e-3:
        return None
    known = [
        (paired, spread, "that is the spread of q[i] with k[i] alone; every query meets every key."),
        (found, d, "all d coordinates march together. Let some of them take back what the others add."),
        (found, d**0.5, "(I) holds still, and gives the root of d: let coordinates move together."),
        (found, abs(2 * spread - d), "`spread` of the coordinates add up, but the other ones are not idle: each takes 1 away."),
        (found, d - spread, "that is d − spread: the score is the number of coordinates that agree, less the number of those that do not."),
        (found, (spread**2 + d - spread) ** 0.5, "`spread` of the coordinates march, but those that move on their own add to the variance too."),
        (found, spread**0.5, "that is the variance of the scores; `spread` is its root."),
        (found, 0, "all scores are 0: what some coordinates add, the others take away. Let fewer of them do so."),
    ]  # fmt: skip
    for measured, wanted, words in known:
        if abs(measured - wanted) < 1e-3:
            return words
    return f"the scores spread by {found:.3g}, the root of their mean square."


def _normed(length: Callable, divisor: Callable) -> Callable:
    """Return attention of queries and keys brought to ``length(D, P)``, scores over ``divisor(D, P)``."""

    def attend(q: Tensor, k: Tensor, v: Tensor, kernel: object) -> Tensor:
        D = q.shape[-1]
        P = D + -D % 8
        scores = unit(q) @ unit(k).mT * length(D, P) ** 2 / divisor(D, P)
        return scores.softmax(-1) @ v

    return attend


def _bare(divisor: Callable, dim: int | None = None, only: str = "") -> Callable:
    """Return attention with a norm along another axis, for one of the two only or for none, over ``divisor(D, P)``."""

    def attend(q: Tensor, k: Tensor, v: Tensor, kernel: object) -> Tensor:
        D = q.shape[-1]
        if dim is not None:
            q, k = (unit(x, dim) * x.shape[dim] ** 0.5 for x in (q, k))
        q = unit(q) * D**0.5 if only == "q" else q
        k = unit(k) * D**0.5 if only == "k" else k
        return (q @ k.mT / divisor(D, D + -D % 8)).softmax(-1) @ v

    return attend


def _other_root(axis: int) -> Callable:
    """Return attention with the right lengths, scores over the root of another size: of an axis of the values."""
    return lambda q, k, v, kernel: _normed(lambda D, P: D**0.5, lambda D, P: v.shape[axis] ** 0.5)(
        q, k, v, kernel
    )


def padded(answer: object) -> str | None:
    """Grade attention with QK-norm through a kernel that takes padded widths only."""
    asked = []

    def kernel(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None) -> Tensor:
        asked.append(q.shape[-1])
        if q.shape[-1] % 8:
            raise AnswerError(
                f"the kernel takes widths divisible by 8, and got {q.shape[-1]}: leave the padding in."
            )
        return scaled_dot_product_attention(q, k, v, scale=scale)

    cases = [
        (3 * normal(B, H, T, D, seed=0), 2 * normal(B, H, S, D, seed=1), normal(B, H, S, Dv, seed=2), kernel)
        for B, H, T, S, D, Dv in (
            (2, 3, 5, 7, 11, 13),
            (3, 2, 7, 5, 3, 19),
            (2, 5, 3, 11, 17, 7),
            (3, 2, 5, 7, 16, 3),
        )
    ]
    root_d, root_p = (lambda D, P: D**0.5), (lambda D, P: P**0.5)
    mistakes = [
        (_normed(root_p, root_p), "the padded width still counts: a zero adds nothing to a dot product, but it does to a width that is read off afterwards."),
        (_normed(root_p, root_d), "the division is right now, but not the lengths: the mean square in `rms_norm` counts the zeros as well."),
        (_normed(root_d, root_p), "the lengths are right now, but not the division: what does the kernel divide by, if nobody tells it?"),
        (_normed(root_d, lambda D, P: (D * P) ** 0.5), "the scores are divided twice: the kernel still divides by a root of its own."),
        (_normed(root_p, lambda D, P: (D * P) ** 0.5), "the scores are divided twice, and the lengths are still those of the padded vectors."),
        (_normed(root_d, lambda D, P: D), "you divide by D; the scores should be divided by its root."),
        (_normed(root_p, lambda D, P: P), "the lengths are still those of the padded vectors, and the division is by the width, not its root."),
        (_normed(root_d, lambda D, P: 1), "the division is gone; `scale` is what the scores are multiplied by."),
        (_normed(root_p, lambda D, P: 1), "the division is gone, and the lengths are still those of the padded vectors."),
        (_normed(root_d, lambda D, P: 1 / D), "`scale` is what the scores are multiplied by: you multiply by D."),
        (_normed(root_d, lambda D, P: 20**0.5), "20 is one width of many; take D from what comes."),
        (_normed(root_d, lambda D, P: 8), "8 is the root of one width, 64; take D from what comes."),
        (_normed(root_d, lambda D, P: D**-0.5), "`scale` is what the scores are multiplied by: you multiply by the root."),
        (_normed(root_p, lambda D, P: D**-0.5), "`scale` is what the scores are multiplied by: you multiply by the root."),
        (_normed(lambda D, P: 1, root_d), "queries and keys are 1 long; bring them to √D."),
        (_normed(lambda D, P: 1, root_p), "queries and keys are 1 long; bring them to √D. And what does the kernel divide by?"),
        (_bare(root_d), "the division is right, but the norm is gone: lengths still count."),
        (_bare(root_p), "the norm is gone: lengths still count. And what does the kernel divide by?"),
        *((_bare(root, only="q"), "only the queries are normed: the keys still have lengths of their own.") for root in (root_d, root_p)),
        *((_bare(root, only="k"), "only the keys are normed: the queries still have lengths of their own.") for root in (root_d, root_p)),
        (_other_root(-2), "you divide by the root of the number of keys; it is the width of the queries that counts."),
        (_other_root(-1), "you divide by the root of the values' width; it is that of the queries that counts."),
        (_bare(root_d, -2), "the norm runs along the tokens; a query is a row, its numbers lie along the last axis."),
        (_bare(root_p, -2), "the norm runs along the tokens; a query is a row, its numbers lie along the last axis."),
        (lambda q, k, v, kernel: pad(_normed(root_d, root_d)(q, k, v, kernel), (0, -q.shape[-1] % 8)), "the output has columns of padding: leave the values as they are, or cut them off."),
    ]  # fmt: skip
    words = by_cases(answer, _normed(root_d, root_d), cases, mistakes, tolerance=1e-3)
    if words is None and len(asked) < len(cases):
        return "the numbers are right, but they have to come from the kernel: it is the fast one."
    return words


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
    Exercise(
        "4.12", "Any spread you like", "hard", 12,
        (
            "Take d = 2 and the queries (1, 1) and (−1, −1). With which two keys are all scores 0, and with which are they 2 or −2?",
            "Where query and key move alike, a coordinate adds 1 to the score; where they move oppositely, it takes 1 away.",
            "Two queries and two keys are enough. How many coordinates have to agree?",
        ),
        any_spread,
        "(Z) and (U) alone allow any spread from 0 to d. It is (I) that makes it √d, and one side is enough: if the coordinates of the keys are independent of each other and of the queries, those of the queries may move together as they like.",
    ),
    Exercise(
        "4.13", "Zeros that count", "hard", 10,
        (
            "Take q = (1, 1, 1) by hand. How long is it after `rms_norm`, and how long if five zeros were appended first?",
            "A width is read off a vector in two places, and one of them is inside the kernel.",
        ),
        padded,
        "Zeros change no dot product, but they change every width that is read off afterwards. For widths divisible by 8 nothing was padded, so a test with 64 had found nothing.",
    ),
]  # fmt: skip
