"""Exercises on the square root of the width."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.functional import pad, scaled_dot_product_attention

from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import by_cases, listed, normal, numbers, scalar, single, unit


def _misread(q: Tensor, k: Tensor, weights: Tensor, divisor: float) -> Iterator[tuple[Tensor | float, str]]:
    """Return what mistakes in reading the divisor off give, each with the name of its sentence."""
    D, s, logs = q.shape[-1], q @ k.mT, weights.log()
    yield divisor**2, "squared"
    yield divisor**0.5, "root"
    yield 1 / divisor, "multiplier"
    yield -divisor, "sign"
    for base in (2.0, 10.0):
        yield divisor * math.log(base), "other_base"
    ratio, around = s / logs, [x - x.mean() for x in (s, logs)]
    for wrong in (ratio.mean(), ratio[0, 0], ratio.median(), (s * logs).sum() / logs.square().sum()):
        yield wrong, "row_constant"
        yield abs(wrong), "row_constant"
    yield (around[0] * around[1]).sum() / around[1].square().sum(), "row_constant"
    yield around[0].norm() / around[1].norm(), "row_constant"
    for n in range(min(len(q) - 1, 2)):
        yield (s[n, 0] - s[n + 1, 0]) / (logs[n, 0] - logs[n + 1, 0]), "across_queries"
    yield (s[0, 0] - s[0, 1]) / (weights[0, 0] - weights[0, 1]), "no_logarithm"
    yield s.std() / weights.std(), "no_logarithm"
    yield (s / weights).mean(), "no_logarithm"
    yield (s[:, 0] - s[:, 1]).mean() / (weights[:, 0] - weights[:, 1]).mean(), "no_logarithm"
    yield ((s[:, 0] - s[:, 1]) / (weights[:, 0] - weights[:, 1])).mean(), "no_logarithm"
    yield (s[0, 0] / s[0, 1]).abs().log() / (logs[0, 0] - logs[0, 1]), "logarithms_of_scores"
    yield divisor / D**0.5, "scaled_first"
    yield divisor * D**0.5, "times_root"
    yield s.std(), "deviation"
    yield s.std(correction=0), "deviation"
    yield D**0.5, "root_of_d"
    yield D, "width"
    yield 1.0, "one"


def read_off(answer: object, says: dict[str, str]) -> str | None:
    """Grade the divisor of scores, read off the weights that came of them."""
    cases = [(3, 4, 6, 7.5), (5, 3, 16, 8.0), (2, 7, 5, 1.0), (4, 2, 9, 3.0), (1, 5, 3, 0.7), (6, 6, 4, 33.0)]
    for n, (T, S, D, divisor) in enumerate(cases):
        q, k = normal(T, D, seed=n), normal(S, D, seed=n + 10)
        weights = (q @ k.T / divisor).softmax(-1)
        got = single(call(answer, weights.clone(), q.clone(), k.clone()))
        if math.isclose(got, divisor, rel_tol=0.01):  # a hundredth, as the exercise says
            continue
        where = says["right_at_first"].format(T=T, S=S, D=D) if n else ""
        if not math.isfinite(got):
            return where + says["no_number"].format(got=got)
        for wrong, name in _misread(q, k, weights, divisor):
            if math.isclose(got, float(wrong), rel_tol=1e-3):
                return where + says[name]
        found, given = (
            " ".join(f"{weight:.3f}" for weight in row[0].tolist())
            for row in ((q @ k.T / (got or math.inf)).softmax(-1), weights)
        )
        return where + says["other_weights"].format(got=got, found=found, given=given)
    return None


def with_a_mean(answer: object, says: dict[str, str]) -> str | None:
    """Grade the variance of a score whose numbers have a mean."""
    mistakes = [
        (lambda m, d: d, says["no_mean"]),
        (lambda m, d: d * (1 + m**2) ** 2, says["nothing_taken_away"]),
        (lambda m, d: d * (1 + m**2), says["one_square"]),
        (lambda m, d: d * (1 + m**2) ** 2 - (d * m**2) ** 2, says["no_mixed_terms"]),
        (lambda m, d: d * (1 + m**2) ** 2 + d * (d - 1) * m**4, says["mean_square"]),
        (lambda m, d: d * (1 + 2 * m**2) + d * (d - 1) * m**4, says["squares_of_summands"]),
        (lambda m, d: d * (1 + 2 * abs(m)), says["not_squared"]),
        (lambda m, d: d * (1 + m**4), says["no_middle_term"]),
        (lambda m, d: d + 2 * m**2, says["added_once"]),
        (lambda m, d: 3 * d, says["mean_of_one"]),
        (lambda m, d: 1 + 2 * m**2, says["one_product"]),
        (lambda m, d: math.sqrt(d * (1 + 2 * m**2)), says["standard_deviation"]),
        (lambda m, d: d * (1 + m**2) ** 2 - m**4, says["taken_away_once"]),
        (lambda m, d: d * ((1 + m**2) ** 2 - m**2), says["mean_not_squared"]),
        (lambda m, d: d * (1 + m**2) ** 2 - d**2 * m**2, says["mean_not_squared"]),
        (lambda m, d: d * m**2, says["mean_of_the_score"]),
        (lambda m, d: d * m**4, says["what_is_taken_away"]),
        (lambda m, d: d + m**2, says["added_once"]),
        (lambda m, d: d * (1 + m**2) - m**2, says["one_square"]),
        (lambda m, d: 2 * d * m**2, says["one_left_out"]),
        (lambda m, d: 2 * d * (1 + m**2), says["squares_added"]),
        (lambda m, d: d * (1 + m) ** 2, says["deviation_and_mean"]),
        (lambda m, d: d * (1 + m) ** 4, says["deviation_and_mean"]),
        (lambda m, d: d**2 * (1 + 2 * m**2), says["times_d_twice"]),
        (lambda m, d: d * (1 - m**2) ** 2, says["square_below_1"]),
        (lambda m, d: d * ((1 - m**2) ** 2 - m**4), says["square_below_1"]),
    ]
    cases = [(3.0, 7), (0.7, 11), (0.0, 16), (-2.0, 3)]
    return by_cases(answer, lambda m, d: d * (1 + 2 * m**2), cases, mistakes, read=scalar, tolerance=1e-3)


def divisor(answer: object, says: dict[str, str]) -> str | None:
    """Grade the divisor for coordinates of different standard deviations."""
    cases = [
        (torch.tensor([3.0, 1.0, 0.5]), torch.tensor([0.7, 2.0, 4.0])),
        (torch.tensor([0.2, 0.5, 1.5, 4.0]), torch.tensor([0.1, 3.0, 0.7, 0.5])),
        (torch.ones(9), torch.ones(9)),
    ]
    mistakes = [
        (lambda a, b: len(a) ** 0.5, says["root_of_d"]),
        (lambda a, b: (a * b).square().sum(), says["variance"]),
        (lambda a, b: (a * b).sum(), says["deviations_added"]),
        (lambda a, b: (a * b).sum().sqrt(), says["not_squared"]),
        (lambda a, b: a.norm() * b.norm(), says["summed_first"]),
        (lambda a, b: a.norm() * b.norm() / len(a) ** 0.5, says["averaged_first"]),
        (lambda a, b: a.mean() * b.mean() * len(a) ** 0.5, says["mean_deviations"]),
        (lambda a, b: (a.square() + b.square()).sum().sqrt(), says["variances_of_both_added"]),
        (lambda a, b: (a + b).norm(), says["deviations_of_both_added"]),
        (lambda a, b: a.norm(), says["no_keys"]),
        (lambda a, b: b.norm(), says["no_queries"]),
        (lambda a, b: a.mean() * len(a) ** 0.5, says["no_keys"]),
        (lambda a, b: (a * b).square().mean().sqrt(), says["mean_under_root"]),
        (lambda a, b: (a * b).norm() * len(a) ** 0.5, says["root_of_d_too"]),
        (lambda a, b: 1 / (a * b).norm(), says["multiplier"]),
        (lambda a, b: a * b * len(a) ** 0.5, says["one_each"]),
        (lambda a, b: a * b, says["one_each"]),
        (lambda a, b: (a * b).square(), says["one_each"]),
    ]
    return by_cases(answer, lambda a, b: (a * b).norm(), cases, mistakes, read=scalar, tolerance=1e-3)


def _blocks(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _head_scores(divisor: Callable, cut: Callable = _blocks) -> Callable:
    """Return the scores of heads that are blocks of neighbours, or cut otherwise, over ``divisor(q, C)``."""

    def scores(x: Tensor, w_q: Tensor, w_k: Tensor, heads: int) -> Tensor:
        q, k = (cut(x @ w, heads) for w in (w_q, w_k))  # (B, H, T, D)
        return q @ k.mT / divisor(q, x.shape[-1])

    return scores


def _between_heads(x: Tensor, w_q: Tensor, w_k: Tensor, heads: int) -> Tensor:
    """Return scores of the heads of each token with each other: tokens and heads were not swapped."""
    q, k = ((x @ w).unflatten(-1, (heads, -1)) for w in (w_q, w_k))  # (B, T, H, D)
    return q @ k.mT / q.shape[-1] ** 0.5


def _by_what_is_measured(scores: Tensor) -> Iterator[Tensor]:
    """Return scores over the standard deviation of all, of each text, of each table and of each row."""
    for axis in range(4):
        of = scores.flatten(axis).std(-1) if axis < 3 else scores.std(-1)
        yield scores / of[(..., *[None] * (4 - axis))]


def repaired(answer: object, says: dict[str, str]) -> str | None:
    """Grade scores of several heads, divided by the right width."""
    cases = [
        (normal(B, T, C, seed=0), normal(C, C, seed=1), normal(C, C, seed=2), heads)
        for B, T, C, heads in ((2, 5, 24, 4), (3, 7, 22, 2), (2, 3, 15, 5))
    ]

    def root(q: Tensor, C: int) -> float:
        return q.shape[-1] ** 0.5

    right = _head_scores(root)
    mistakes = [
        (_head_scores(lambda q, C: C**0.5), says["root_of_model"]),
        (_head_scores(lambda q, C: q.shape[-1]), says["no_root"]),
        (_head_scores(lambda q, C: 1), says["not_divided"]),
        (_head_scores(lambda q, C: q.shape[1] ** 0.5), says["root_of_heads"]),
        (_head_scores(lambda q, C: q.shape[2] ** 0.5), says["root_of_tokens"]),
        (_head_scores(lambda q, C: C**0.5 / q.shape[1]), says["root_too_early"]),
        (_head_scores(lambda q, C: 6**0.5), says["always_6"]),
        (lambda *case: right(*case).softmax(-1), says["weights"]),
        (_head_scores(root, lambda y, heads: y.unflatten(-1, (-1, heads)).movedim(-1, 1)), says["dealt"]),
        (_head_scores(root, lambda y, heads: y.reshape(len(y), heads, y.shape[1], -1)), says["tokens_dealt"]),
        (_head_scores(lambda q, C: 4), says["always_4_or_heads"]),
        (_head_scores(lambda q, C: q.shape[-1] ** -0.5), says["times_root"]),
        (_head_scores(lambda q, C: q.shape[-1] ** 0.25), says["fourth_root"]),
        (_head_scores(lambda q, C: (C * q.shape[-1]) ** 0.5), says["twice_divided"]),
        (_head_scores(lambda q, C: len(q) ** 0.5), says["root_of_batch"]),
        *(
            (lambda *case, n=n: list(_by_what_is_measured(right(*case)))[n], says["measured"])
            for n in range(4)
        ),
        (lambda *case: right(*case).mT, says["turned"]),
        (lambda *case: right(*case).sum(1), says["one_table"]),
        (lambda x, a, b, heads: (x @ a) @ (x @ b).mT / x.shape[-1] ** 0.5, says["one_table"]),
        (lambda x, a, b, heads: right(x, a.T, b.T, heads), says["transposed"]),
        (lambda x, a, b, heads: right(x, a, a, heads), says["one_matrix"]),
        (lambda x, a, b, heads: right(x, b, b, heads), says["one_matrix"]),
        (_between_heads, says["not_swapped"]),
    ]
    return by_cases(answer, right, cases, mistakes, tolerance=1e-3)


def temperature(answer: object, says: dict[str, str]) -> str | None:
    """Grade a divisor that gives the largest weight a wanted size."""
    cases = [
        ([2.0, 0.0], 0.75),
        ([3.0, 1.0, 0.5, -2.0], 0.9),
        ([3.0, 1.0, 0.5, -2.0], 0.4),
        ([8.0, 7.0, 0.0], 0.6),
        ([0.5, -2.0, 3.0, 1.0], 0.9),
        ([-200.0, -203.0, -201.0, -199.0, -207.0], 0.3),
        ([60.0, 10.0, 0.0], 0.5),
        ([900.0, 400.0, 0.0], 0.5),  # near 900
        ([0.009, 0.004, 0.0], 0.8),  # near 0.004
    ]
    for scores, top in cases:
        t = single(call(answer, torch.tensor(scores), top))
        words = _other_top(torch.tensor(scores, dtype=torch.float64), t, top, says)
        if words:
            return says["for_scores"].format(scores=scores, top=top, words=words)
    return None


def _other_top(s: Tensor, t: float, top: float, says: dict[str, str]) -> str | None:
    """Return what is wrong with a divisor of scores; None if it makes the largest weight ``top``."""
    if not math.isfinite(t) or t <= 0:
        return says["not_above_0"].format(t=t)
    tolerance = 1e-3 + 1e-6  # a thousandth, as the exercise says; float32 may round
    weights = (s / t).softmax(-1)
    found, turned = weights.max().item(), (s * t).softmax(-1).max().item()
    if abs(found - top) <= tolerance:
        return None
    if math.isnan(found):
        return says["overflows"].format(t=t)
    if abs(turned - top) <= tolerance:
        return says["multiplier"]
    if s.argmax() != 0 and abs(weights[0].item() - top) <= tolerance:
        return says["first_weight"].format(top=top)
    if s.argmax() != 0 and not 0.01 < t < 100:
        return says["far_off"].format(t=t)
    if abs(t - 1) < 1e-9:
        return says["divided_by_1"].format(found=found)
    pairs = (s.max() - s) / math.log(top / (1 - top))
    if len(s) > 2 and ((pairs - t).abs() < 1e-4 * t).any():
        return says["two_keys"].format(n=len(s))
    others = s[torch.arange(len(s)) != s.argmax()]
    odds = math.log(top * (len(s) - 1) / (1 - top))
    if odds and any(abs((s.max() - mean) / odds - t) < 1e-4 * t for mean in (s.mean(), others.mean())):
        return says["others_at_their_mean"]
    if abs(found - top) < 0.01:
        return says["coarse"].format(t=t, found=found)
    words = says["should_be_larger"] if found > top else says["should_be_smaller"]
    if found > 0.9999 or found < 1.05 / len(s):
        words += says["at_an_end"]
    return words.format(t=t, found=found)


def _cosines(q: Tensor, k: Tensor, g: float) -> Tensor:
    return g * unit(q) @ unit(k).T


def _divided(size: Callable[[Tensor], Tensor]) -> Callable:
    """Return scores of queries and keys divided by another size than the length of each."""
    return lambda q, k, g: g * (q / size(q)) @ (k / size(k)).T


def cosine_scores(answer: object, says: dict[str, str]) -> str | None:
    """Grade scores that lengths cannot change."""
    cases = [
        (6 * normal(T, D, seed=0), 0.5 * normal(S, D, seed=1), g)
        for T, S, D, g in ((4, 5, 6, 10.0), (7, 2, 3, 5.0), (2, 3, 11, 20.0))
    ]
    mistakes = [
        (lambda q, k, g: _cosines(q, k, 1.0), says["no_factor"]),
        (lambda q, k, g: g * q @ k.T, says["lengths_count"]),
        (lambda q, k, g: q @ k.T, says["plain_products"]),
        (lambda q, k, g: g * q @ k.T / q.shape[-1] ** 0.5, says["lengths_count"]),
        (lambda q, k, g: q @ k.T / q.shape[-1] ** 0.5, says["scaled_products"]),
        (lambda q, k, g: g * unit(q) @ k.T, says["keys_keep_lengths"]),
        (lambda q, k, g: g * q @ unit(k).T, says["queries_keep_lengths"]),
        (lambda q, k, g: _cosines(q, k, g) / q.shape[-1] ** 0.5, says["root_too"]),
        (_divided(lambda x: x.norm()), says["whole_matrix"]),
        (_divided(lambda x: x.norm(dim=0)), says["columns"]),
        (_divided(lambda x: x.square().sum(-1, keepdim=True)), says["squared_length"]),
        (_divided(lambda x: x.abs().sum(-1, keepdim=True)), says["absolute_values"]),
        (lambda q, k, g: (q @ k.T).clamp(-g, g), says["clamped"]),
        (lambda q, k, g: g * (q @ k.T / g).tanh(), says["tanh"]),
        (lambda q, k, g: _cosines(q, k, g).T, says["turned"]),
        (lambda q, k, g: _cosines(q, k, g).softmax(-1), says["weights"]),
        (lambda q, k, g: _cosines(q, k, 1 / g), says["divided_by_g"]),
        (lambda q, k, g: _cosines(q, k, g * g), says["g_twice"]),
        (lambda q, k, g: _cosines(q, k, g) * q.shape[-1], says["not_of_length_1"]),
        (lambda q, k, g: _cosines(q, k, g) * q.shape[-1] ** 0.5, says["times_root"]),
        (lambda q, k, g: unit(q) @ k.T, says["keys_keep_lengths_no_factor"]),
        (lambda q, k, g: q @ unit(k).T, says["queries_keep_lengths_no_factor"]),
        *((lambda q, k, g, n=n: g * unit(q @ k.T, n), says["scores_of_length_1"]) for n in (0, 1)),
        (lambda q, k, g: g * q @ k.T / (q @ k.T).abs().max(), says["largest_score"]),
        (lambda q, k, g: g * q @ k.T / (q @ k.T).abs().amax(-1, keepdim=True), says["largest_score"]),
        (lambda q, k, g: g * (q @ k.T).clamp(-1, 1), says["clamped"]),
        (lambda q, k, g: g * (q @ k.T / q.shape[-1] ** 0.5).clamp(-1, 1), says["clamped"]),
        (lambda q, k, g: g * _cosines(q, k, 1.0).tanh(), says["tanh_of_cosines"]),
        (lambda q, k, g: g * _cosines(q, k, 1.0).softmax(-1), says["weights"]),
        (lambda q, k, g: _cosines(q, k, g).abs(), says["sign_lost"]),
        (lambda q, k, g: _cosines(q, k, g).clamp(-1, 1), says["clamped_to_1"]),
        (
            lambda q, k, g: g * F.layer_norm(q, q.shape[-1:]) @ F.layer_norm(k, k.shape[-1:]).T,
            says["centred"],
        ),
        (
            lambda q, k, g: _cosines(q - q.mean(-1, keepdim=True), k - k.mean(-1, keepdim=True), g),
            says["centred"],
        ),
    ]
    return by_cases(answer, _cosines, cases, mistakes, tolerance=1e-3)


def _read_vectors(name: str, given: object, d: int, says: dict[str, str]) -> Tensor:
    """Read a list of vectors ``(N, d)``.

    Raises:
        AnswerError: If it has another shape, or numbers that are not finite.
    """
    x = numbers(given)
    if x.ndim != 2 or x.shape[1] != d:
        turned = x.ndim == 2 and x.shape[0] == d
        words = says["vectors_as_columns"] if turned else says["no_vectors"]
        raise AnswerError(words.format(name=name, d=d, shape=tuple(x.shape)))
    if not x.isfinite().all():
        raise AnswerError(says["not_finite"].format(name=name))
    return x


def _breaks_assumptions(name: str, x: Tensor, says: dict[str, str]) -> str | None:
    """Return where vectors break (Z) or (U), exactly and over all rows; None if nowhere."""
    n, mean, square = len(x), x.mean(0), x.square().mean(0)
    if n < 2:
        return says["one_vector"].format(name=name)
    at, off = mean.abs().argmax().item(), (square - 1).abs().argmax().item()
    shifted, scaled = abs(mean[at]) > 1e-3, abs(square[off] - 1) > 1e-3
    if (shifted or scaled) and n > 8 and abs(mean[at]) < 0.5 and abs(square[off] - 1) < 0.7:
        return says["random"].format(name=name)
    if shifted:
        return says["mean_not_0"].format(name=name, at=at, n=n, mean=mean[at])
    if scaled and (square * n / (n - 1) - 1).abs().max() < 1e-3:
        return says["squares_of_sample"].format(name=name, at=off, n=n)
    return says["mean_square_not_1"].format(name=name, at=off, n=n, square=square[off]) if scaled else None


def any_spread(answer: object, says: dict[str, str]) -> str | None:
    """Grade queries and keys with (Z) and (U), but any spread of their scores."""
    for n, (d, spread) in enumerate(((14, 8), (6, 6), (10, 0), (22, 8), (6, 2))):
        given = call(listed(answer), d, spread)
        given = list(given.values()) if isinstance(given, Mapping) else given
        try:
            q, k = given
        except (TypeError, ValueError):
            raise AnswerError(says["not_two"]) from None
        where = says["where"].format(d=d, spread=spread)
        q, k = _read_vectors(f"{where}q", q, d, says), _read_vectors(f"{where}k", k, d, says)
        words = (
            _breaks_assumptions("q", q, says)
            or _breaks_assumptions("k", k, says)
            or _other_spread(q, k, spread, says)
        )
        if words:
            return says["right_at_first"].format(words=where + words) if n else where + words
    return None


def _other_spread(q: Tensor, k: Tensor, spread: int, says: dict[str, str]) -> str | None:
    """Return what is wrong with the spread of all N · M scores; None if nothing is."""
    d = q.shape[1]
    found = ((q.mT @ q / len(q)) * (k.mT @ k / len(k))).sum().clamp(min=0).sqrt().item()
    paired = (q * k).sum(-1).square().mean().sqrt().item() if q.shape == k.shape else found
    if abs(found - spread) < 1e-3:
        return None
    known = [
        (paired, spread, says["pairs_alone"]),
        (found, d, says["all_march"]),
        (found, d**0.5, says["independent"]),
        (found, abs(2 * spread - d), says["others_not_idle"]),
        (found, d - spread, says["d_less_spread"]),
        (found, (spread**2 + d - spread) ** 0.5, says["others_vary"]),
        (found, spread**0.5, says["variance"]),
        (found, 0, says["all_zero"]),
    ]
    for measured, wanted, words in known:
        if abs(measured - wanted) < 1e-3:
            return words
    return says["other_spread"].format(found=found)


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


def padded(answer: object, says: dict[str, str]) -> str | None:
    """Grade attention with QK-norm through a kernel that takes padded widths only."""
    asked = []

    def kernel_for(D: int) -> Callable:
        def kernel(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None) -> Tensor:
            width = q.shape[-1]
            asked.append(width)
            if width % 8:
                words = says["not_padded"] if width == D else says["padded_otherwise"]
                raise AnswerError(words.format(D=D, width=width))
            if width < D:
                raise AnswerError(says["width_written_in"].format(D=D, width=width))
            return scaled_dot_product_attention(q, k, v, scale=scale)

        return kernel

    sizes = [  # the last one is wider than a width that someone may write in
        (2, 3, 5, 7, 11, 13),
        (3, 2, 7, 5, 3, 19),
        (2, 5, 3, 11, 17, 7),
        (3, 2, 5, 7, 16, 3),
        (1, 2, 3, 2, 131, 5),
    ]
    cases = [
        (
            3 * normal(B, H, T, D, seed=0),
            2 * normal(B, H, S, D, seed=1),
            normal(B, H, S, Dv, seed=2),
            kernel_for(D),
        )
        for B, H, T, S, D, Dv in sizes
    ]
    root_d, root_p = (lambda D, P: D**0.5), (lambda D, P: P**0.5)
    right = _normed(root_d, root_d)
    mistakes = [
        (_normed(root_p, root_p), says["padded_width"]),
        (_normed(root_p, root_d), says["padded_lengths"]),
        (_normed(root_d, root_p), says["padded_division"]),
        (_normed(root_d, lambda D, P: (D * P) ** 0.5), says["divided_twice"]),
        (_normed(root_p, lambda D, P: (D * P) ** 0.5), says["divided_twice_padded_lengths"]),
        (_normed(root_d, lambda D, P: D), says["no_root"]),
        (_normed(root_d, lambda D, P: 1), says["not_divided"]),
        (_normed(root_p, lambda D, P: 1), says["not_divided_padded_lengths"]),
        (_normed(root_d, lambda D, P: 1 / D), says["times_d"]),
        (_normed(root_d, lambda D, P: 20**0.5), says["always_20"]),
        (_normed(root_d, lambda D, P: 8), says["always_8"]),
        (_normed(root_d, lambda D, P: D**-0.5), says["times_root"]),
        (_normed(root_p, lambda D, P: D**-0.5), says["times_root"]),
        (_normed(lambda D, P: 1, root_d), says["length_1"]),
        (_normed(lambda D, P: 1, root_p), says["length_1_padded_division"]),
        (_bare(root_d), says["no_norm"]),
        (_bare(root_p), says["no_norm_padded_division"]),
        (_bare(root_d, only="q"), says["only_queries"]),
        (_bare(root_p, only="q"), says["only_queries"]),
        (_bare(root_d, only="k"), says["only_keys"]),
        (_bare(root_p, only="k"), says["only_keys"]),
        (lambda q, k, v, f: _normed(root_d, lambda *_: v.shape[-2] ** 0.5)(q, k, v, f), says["key_count"]),
        (lambda q, k, v, f: _normed(root_d, lambda *_: v.shape[-1] ** 0.5)(q, k, v, f), says["value_width"]),
        (_bare(root_d, -2), says["norm_along_tokens"]),
        (_bare(root_p, -2), says["norm_along_tokens"]),
        (lambda q, *rest: pad(right(q, *rest), (0, -q.shape[-1] % 8)), says["padded_output"]),
    ]
    words = by_cases(answer, right, cases, mistakes, tolerance=1e-3)
    if words is None and len(asked) < len(cases):
        return says["without_kernel"]
    return words
