"""Exercises on what attention costs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad

from attnlib.functional import attention
from attnlib.learn.calling import AnswerError, call
from attnlib.learn.footprint import footprint
from attnlib.learn.grading import Exercise, by_cases, close, compare, name_number, normal, numbers, single
from attnlib.linear import elu_plus_one, linear_attention


def _random(*shape: int, seed: int) -> Tensor:
    return normal(*shape, seed=seed).double()


def crossover(answer: object) -> str | None:
    """Grade the length at which core and projections are equal, with grouped heads."""
    for d, H, Hkv in ((768, 12, 3), (1024, 16, 16), (512, 8, 1)):
        at_d = "at n = d the core is the smaller one. Write both sides down: 4 n² d = 4 n d² + 4 n d · (width of all keys)."
        known = [
            (
                2.0 * d,
                "that is for as many key heads as query heads; fewer of them make the projections of K and V smaller.",
            ),
            (d, at_d),
            (
                2.0 * d * Hkv / H,
                "the projections of queries and output do not shrink; only those of K and V do.",
            ),
            (d * (1 + Hkv / H) / 2, "half of it: a product was left out of the projections. There are four."),
            (d * (3 + Hkv / H) / 2, "only one projection shrinks in yours; K and V both do."),
            (d * (1 + H / Hkv), "the quotient is upside down: keys are Hkv heads wide, queries H."),
        ]
        if Hkv == H:
            known = [(d, at_d)]
        wrong = name_number(
            single(call(answer, d, H, Hkv)), d + d * Hkv / H, known, f"with d = {d}, H = {H}, Hkv = {Hkv}: "
        )
        if wrong:
            return wrong
    return None


def cache(answer: object) -> str | None:
    """Grade the bytes of a KV cache."""
    for B, layers, d, H, Hkv, n, width in ((5, 10, 768, 12, 3, 1000, 4), (7, 32, 4096, 32, 8, 700, 2)):
        D = d // H
        right = 2.0 * B * layers * Hkv * D * n * width
        known = [
            (right / 2, "half of it: keys and values are both kept."),
            (
                right * H / Hkv,
                "too large by H / Hkv: you count the query heads, or take a head to be d / Hkv wide. Hkv heads are kept, each d / H wide.",
            ),
            (right / B, "that is one sequence; each of the B has keys and values of its own."),
            (right / layers, "that is one layer; every layer has keys and values of its own."),
            (right / 2 * H / Hkv, "keys and values are both kept, and only Hkv heads of each."),
            (right * 8, "that is in bits; the width is given in bytes."),
            (right / width, "those are numbers; each takes `width` bytes."),
            (right * H, "each head is d / H wide, not d."),
            (right * n, "the cache holds keys and values, not scores: it grows with n, not n²."),
            (right / D, "each head keeps d / H numbers for a token, not one."),
            (right / Hkv, "every one of the Hkv heads keeps its keys and values."),
        ]
        where = (
            f"with {B} sequences, {layers} layers, d = {d}, H = {H}, Hkv = {Hkv}, n = {n} and {width} bytes: "
        )
        wrong = name_number(single(call(answer, B, layers, d, H, Hkv, n, width)), right, known, where)
        if wrong:
            return wrong
    return None


def window_pairs(answer: object) -> str | None:
    """Grade how many pairs a causal sliding window looks at."""
    for n, window in ((10, 3), (7, 1), (1000, 64), (4, 9)):
        right = sum(min(i + 1, window) for i in range(n))
        full, wide = n * (n + 1) // 2, sum(min(i + 1, window + 1) for i in range(n))
        known = [
            (
                float(n * n),
                "that is every pair; a query sees at most `window` keys, and none that come later.",
            ),
            (
                float(n * window),
                "the first queries have fewer keys than the window: the first sees itself alone.",
            ),
            (
                float(sum(min(i, window - 1) for i in range(n))),
                "the query itself is one of the keys in its window.",
            ),
            (
                float(sum(min(i, window) for i in range(n))),
                "the query itself is left out: it is the last key of its window, and the first query sees itself.",
            ),
            (float(wide), "one key too many a query: the window counts the query itself."),
            (
                float(sum(min(n, i + window) - max(0, i - window + 1) for i in range(n))),
                "your window looks ahead too; it is causal.",
            ),
            (float(full), "that is the whole triangle; a query sees at most `window` keys."),
        ]
        if window >= n:
            known = [
                (
                    float(n * window - window * (window - 1) // 2),
                    "a window longer than the text sees what is there, and no more.",
                )
            ]
        where = f"with n = {n} and a window of {window}: "
        wrong = name_number(
            single(call(answer, n, window)), right, [pair for pair in known if pair[0] != right], where
        )
        if wrong:
            return wrong
    return None


def intensity(answer: object) -> str | None:
    """Grade the operations a byte of one decoding step."""
    for group, width in ((5, 1), (3, 4), (1, 2), (8, 2)):  # at width 1 no two mistakes meet
        right = 2 * group / width
        known = [
            (width / (2 * group), "upside down: operations for each byte, not bytes for each operation."),
            (4 * group / width, "twice too much: keys and values are both read."),
            (
                group / width,
                "half of it: two products, with keys and with values, of two operations for each number.",
            ),
            (
                2 / width,
                "the whole group of query heads uses the same keys: each works on every key that is read.",
            ),
            (2 / (width * group), "the group shares what is read; it does not share the work."),
            (2 * group / (8 * width), "the width is in bytes already."),
            (2.0 * group, "those are operations a number; a number takes `width` bytes."),
        ]
        known = [pair for pair in known if not math.isclose(pair[0], right)]
        where = f"with a group of {group} and {width} bytes a number: "
        wrong = name_number(single(call(answer, group, width)), right, known, where)
        if wrong:
            return wrong
    return None


def merge(answer: object) -> str | None:
    """Grade the merging of two blocks of an online softmax."""
    scores, values = _random(7, seed=0) * 2, _random(7, 3, seed=1)
    for shift in ((0.0, 0.0), (1000.0, 1000.0), (0.0, 1000.0), (1000.0, 0.0)):
        parts, every = [], torch.cat([scores[:3] + shift[0], scores[3:] + shift[1]])
        for s, v in ((every[:3], values[:3]), (every[3:], values[3:])):
            m = s.max()
            parts += [m, (s - m).exp().sum(), s.softmax(0) @ v]
        m1, l1, o1, m2, l2, o2 = parts
        got = numbers(call(answer, *(x.clone() for x in parts)))
        if any(shift) and not torch.isfinite(got).all():
            return f"right for small scores, but with m1 near {shift[0]:g} and m2 near {shift[1]:g} `exp` overflows: subtract the larger of m1 and m2 before it."
        top = torch.maximum(m1, m2)
        a, b = (m1 - top).exp(), (m2 - top).exp()
        wrong = compare(
            got,
            every.softmax(0) @ values,
            [
                ((l1 * o1 + l2 * o2) / (l1 + l2), "l1 and l2 are relative to different maxima: rescale each by exp(m - larger m) first."),
                ((o1 + o2) / 2, "a plain mean: the block with the larger exponentials must count for more."),
                (o1 + o2, "a sum of two means is not a mean: weigh them, and divide by the sum of the weights."),
                ((a * o1 + b * o2) / (a + b), "you weigh with the largest score of each block alone; the sums l1 and l2 say how many there are near it."),
                (a * l1 * o1 + b * l2 * o2, "the weighing is right; divide by the sum of the two weights."),
                ((b * l1 * o1 + a * l2 * o2) / (b * l1 + a * l2), "the factors are swapped, or have the wrong sign: block 1 is rescaled by exp(m1 - larger m), which is at most 1."),
                ((a * o1 + b * o2) / (a * l1 + b * l2), "o1 and o2 are means already: multiply them by l1 and l2 to have the sums back."),
            ],
        )  # fmt: skip
        if wrong:
            return wrong
    return None


def _blocks(scores: Tensor, values: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield blocks of scores and values, as copies that nothing else holds."""
    for start in range(0, len(scores), size):
        yield scores[start : start + size].clone(), values[start : start + size].clone()


def _online(scores: Tensor, values: Tensor, size: int, *, sums: bool = True, mix: bool = True) -> Tensor:
    """Go through the blocks once, and forget to rescale the sum or the mixed values."""
    top, total, mixed = torch.tensor(-math.inf).double(), 0.0, torch.zeros(values.shape[1]).double()
    for s, v in _blocks(scores, values, size):
        new = torch.maximum(top, s.max())
        shrink, e = (top - new).exp(), (s - new).exp()
        total = total * (shrink if sums else 1.0) + e.sum()
        mixed = mixed * (shrink if mix else 1.0) + e @ v
        top = new
    return mixed / total


def _each(scores: Tensor, values: Tensor, size: int) -> Tensor:
    return torch.stack([s.softmax(0) @ v for s, v in _blocks(scores, values, size)])


def _shifted(scores: Tensor) -> Tensor:
    return (scores - scores.max()).exp()


def one_pass(answer: object) -> str | None:
    """Grade an online softmax over blocks that come once."""
    cases = []
    for n, size, width in ((11, 3, 3), (7, 5, 2), (13, 2, 7)):
        scores = _random(n, seed=2) * 2
        scores[-1] = scores.max() + 1.0  # the maximum grows on the way
        cases.append((scores, _random(n, width, seed=3), size))
    mistakes = [
        (lambda *case: _online(*case, sums=False, mix=False), "what was summed before is relative to an older maximum: rescale it by exp(old - new)."),
        (lambda *case: _online(*case, mix=False), "the sum is rescaled, the mixed values are not: both are relative to the old maximum."),
        (lambda *case: _online(*case, sums=False), "the mixed values are rescaled, the sum is not: both are relative to the old maximum."),
        (lambda *case: _each(*case).mean(0), "a mean of the blocks' own results: a block with larger scores must count for more."),
        (lambda *case: _each(*case).sum(0), "a softmax for each block, summed: the weights then sum to the number of blocks."),
        (lambda *case: _each(*case)[-1], "that is the last block alone; carry the sums on from block to block."),
        (lambda s, v, _: s.exp() @ v / _shifted(s).sum(), "sum and mixed values are relative to different maxima."),
        (lambda s, v, _: _shifted(s) @ v, "divide by the sum of the exponentials at the end."),
        (lambda s, v, _: s.exp() @ v, "divide by the sum of the exponentials at the end."),
    ]  # fmt: skip

    @functools.wraps(answer)
    def on_blocks(*case: object) -> object:
        return answer(_blocks(*case))

    own = {"softmax"}, "it calls softmax; keep a maximum and a sum yourself."
    wrong = by_cases(on_blocks, lambda s, v, _: s.softmax(0) @ v, cases, mistakes, ready_made=own)
    return wrong or _extreme_scores(answer) or _keeps_blocks(answer)


def _extreme_scores(answer: Callable) -> str | None:
    """Try scores near 1000 and -1000, and both in one block."""
    values, scores = _random(7, 3, seed=3), _random(7, seed=4)
    far = torch.tensor([-1000.0, 0.0, 1000.0, -1000.0, 900.0, 1000.0, 0.0]).double()
    cases = [
        (scores + 1000, "with scores near 1000 `exp` overflows: subtract the largest so far."),
        (scores - 1000, "with scores near -1000 every exponential is 0: does your maximum start at 0? It must start at minus infinity."),
        (scores + 1000 * (torch.arange(7) > 2), "when a later block is near 1000 `exp` overflows: the largest score so far must follow the blocks."),
        (scores + far, "with scores of -1000 and 1000 in one block: subtract the largest score of all so far, not the first or the mean of a block."),
    ]  # fmt: skip
    for extreme, words in cases:
        got = numbers(call(answer, _blocks(extreme, values, 3)))
        if not close(got, extreme.softmax(0) @ values):
            return f"right for small scores, but {words}"
    return None


def _keeps_blocks(answer: Callable) -> str | None:
    """Tell whether more is held than a block and three things, over three hundred blocks."""
    scores, values = _random(900, seed=5), _random(900, 3, seed=6)
    needs = footprint(answer, lambda: _blocks(scores, values, 3))
    if needs.held > 450 or needs.python > 2**14:
        return "right, but blocks are kept, or their scores: use each as it comes. A maximum, a sum and the mixed values are enough."
    return None


def _linear(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return linear_attention(q, k, v, causal=True, feature_map=lambda x: x)


def _before(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return what a state gives that is read before it is written; 0/0 for the first token."""
    weights = (q @ k.T).tril(-1)
    return weights @ v / weights.sum(-1, keepdim=True)


def recurrence(answer: object) -> str | None:
    """Grade linear attention as a recurrence."""
    cases = [
        (
            _random(T, F, seed=4).exp().float(),
            _random(T, F, seed=5).exp().float(),
            _random(T, Dv, seed=6).float(),
        )
        for T, F, Dv in ((6, 4, 3), (5, 2, 7), (11, 5, 2))
    ]
    early = "you read before you write: add the token's own key and value to the state first, then answer its query."
    soft = "that is softmax attention: here a weight is the product of q and k itself."
    mistakes = [
        (_before, early),
        (lambda *case: _before(*case).nan_to_num(0), early),
        (lambda q, k, v: (q @ k.T).tril() @ v, "divide by the sum of the weights: the query times the sum of the keys so far."),
        (lambda q, k, v: (q @ k.T) @ v / (q @ k.T).sum(-1, keepdim=True), "every token sees the whole text; token t may use the state after t tokens only."),
        (lambda q, k, v: (q @ k.T).tril() @ v / torch.arange(1, len(q) + 1)[:, None], "divide by the sum of the weights, not by their number."),
        (lambda q, k, v: (q @ k.T).tril() @ v / (q @ k.sum(0))[:, None], "you divide by the sum over all keys; the sum of keys belongs to the state, and grows with it."),
        (lambda q, k, v: attention(q, k, v, causal=True, scale=1.0), soft),
        (lambda q, k, v: attention(q, k, v, causal=True), soft),
        (lambda q, k, v: v, "only the token's own key and value are used: the state has to be added up."),
        (lambda *case: _linear(*case)[-1], "that is the last output; collect one for every token, and stack them."),
    ]  # fmt: skip
    return by_cases(answer, _linear, cases, mistakes) or _goes_back(answer)


def _goes_back(answer: Callable, T: int = 256) -> str | None:
    """Tell whether all pairs are held, or every token goes through those before it again."""
    q, k = (_random(T, 4, seed=seed).exp().float() for seed in (7, 8))
    needs = footprint(answer, q, k, torch.ones(T, 3))
    if needs.held >= T * T // 4 or needs.python >= 2 * T * T:
        return "right, but it makes a table of all pairs, T by T, at once or row by row: go through the tokens, and keep a state of fixed size."
    if needs.read >= T * T // 2:
        return "right, but every token goes through the keys before it again: add each key and value to a state once, and read the state only."
    return None


def _beginning(q: Tensor, k: Tensor) -> Tensor:
    s = q @ k.mT
    return 1 + s + s**2 / 2


def exponential_features(answer: object) -> str | None:
    """Grade features whose product is 1 + s + s²/2, and not more of them than are needed."""
    for n, (T, S, D) in enumerate(((5, 7, 3), (11, 3, 5), (7, 13, 2))):
        where = f"right at first, but not for vectors {D} wide: " if n else ""
        q, k = normal(T, D, seed=n) * 0.8, normal(S, D, seed=n + 10) * 0.8
        given = [call(answer, x.clone()) for x in (q, k)]
        made = [_features(one, x) for one, x in zip(given, (q, k), strict=True)]
        if made[0].shape[1] != made[1].shape[1]:
            return f"{where}{T} vectors get {made[0].shape[1]} features each, {S} get {made[1].shape[1]}: each vector has its own, whatever stands beside it."
        got = made[0] @ made[1].mT
        coarse = any(str(getattr(one, "dtype", "")).endswith("float16") for one in given)  # bfloat16 too
        if not close(got, _beginning(q.double(), k.double()), 0.2 if coarse else 1e-3):
            return where + _other_terms(got, q.double(), k.double())
        enough, many = (D + 1) * (D + 2) // 2, made[0].shape[1]
        if many > enough:
            return f"right, but {many} features for vectors {D} wide, where {enough} do: some are alike, as x_i x_j and x_j x_i are. How much must one that stands for two count?"
    return None


def _features(given: object, x: Tensor) -> Tensor:
    """Read the features of vectors ``(T, D)``.

    Raises:
        AnswerError: If they are not ``(T, F)``, or not finite.
    """
    got = numbers(given)
    if got.ndim != 2 or got.shape[0] != len(x):
        turned = " Vectors are rows." if got.ndim == 2 and got.shape[1] == len(x) else ""
        apart = " Lay the products of each vector out in one row." if got.ndim > 2 else ""
        raise AnswerError(
            f"for x {tuple(x.shape)} the features should be ({len(x)}, F), yours are {tuple(got.shape)}.{turned}{apart}"
        )
    if not got.isfinite().all():
        raise AnswerError("the features must be finite numbers, whatever the sign of x.")
    return got


def _other_terms(got: Tensor, q: Tensor, k: Tensor) -> str:
    """Say which terms the product of the features has instead of 1 + s + s²/2."""
    s, squares, D = q @ k.mT, q**2 @ k.mT**2, q.shape[1]
    terms = torch.stack([torch.ones_like(s), s, squares, (s**2 - squares) / 2], -1).flatten(0, 1)
    found = torch.linalg.lstsq(terms, got.flatten()[:, None]).solution[:, 0]
    if not close((terms @ found).reshape(got.shape), got, 1e-3):
        return _no_polynomial(got, q, k)
    one, plain, square, mixed = (round(x, 3) + 0.0 for x in found.tolist())
    if abs(plain * D**0.5 - 1) < 5e-3 or abs(plain * D - 1) < 5e-3:
        return "s is q · k as it is here; yours is divided by the width or its root."
    known = [
        ((1, 1, 0, 0), "that is 1 + s; the square is missing. A square of a sum has a term for each pair of numbers of x."),
        ((0, 0, 1, 2), "that is s² alone: what feature gives 1, and which give s?"),
        ((0, 0, 0.5, 1), "that is s²/2 alone: what feature gives 1, and which give s?"),
        ((1, 2, 1, 2), "that is (1 + s)², and s counts twice in it: let the three parts have factors of their own."),
        ((0.5, 1, 0.5, 1), "that is (1 + s)²/2, which begins with a half. What is missing?"),
    ]  # fmt: skip
    for form, words in known:
        if all(abs(a - b) < 5e-3 for a, b in zip(form, (one, plain, square, mixed), strict=True)):
            return words
    if abs(one - 1) > 5e-3:
        why = (
            "a feature that is the same for every x is missing" if one == 0 else f"the constant is {one:.3g}"
        )
        return f"{why}; what does 1 + s + s²/2 give for s = 0?"
    if abs(plain - 1) > 5e-3:
        why = "s itself is missing" if plain == 0 else f"s counts {plain:.3g} times"
        return f"{why}: which features give q · k, as in plain linear attention?"
    return _other_square(square, mixed)


def _other_square(square: float, mixed: float) -> str:
    """Say what is wrong with s²/2, by what q_i² k_i² and q_i k_i q_j k_j count in it."""
    known = [
        ((1, 2), "s² counts whole; half of it is asked."),
        ((0.25, 0.5), "s² counts a quarter: a factor stands in f(q) and in f(k), so it comes in twice."),
        ((0.5, 0.5), "each pair is there once, but in s² it comes twice, as i, j and as j, i."),
        ((1, 1), "the squares x_i² count as much as the pairs; write out (a + b)²."),
        ((0.5, 0), "the squares x_i² alone do not do: a square of a sum has mixed terms, x_i x_j."),
        ((1, 0), "the squares x_i² alone do not do: a square of a sum has mixed terms, x_i x_j."),
        ((0, 1), "the pairs are right; the squares x_i² are missing."),
    ]  # fmt: skip
    for form, words in known:
        if abs(form[0] - square) < 5e-3 and abs(form[1] - mixed) < 5e-3:
            return words
    return f"1 and s are right. In s²/2, q_i² k_i² counts {square:.3g} in yours, and q_i k_i q_j k_j with i < j {mixed:.3g}: write out (a + b)²/2 and compare."


def _no_polynomial(got: Tensor, q: Tensor, k: Tensor) -> str:
    """Name features whose product is no sum of 1, s, all squares alike and all pairs alike."""
    for function, words in (
        (elu_plus_one, "that is the f of this chapter: its products are positive, and far from 1 + s + s²/2."),
        (torch.exp, "exponentials of each number: their products sum up e^(q_i + k_i), and s is nowhere in it."),
        (lambda x: x.softmax(-1), "a softmax of each vector: its products are positive, but s is nowhere in it."),
        (torch.relu, "where x is negative nothing is left of it: features may be negative here, only their product may not."),
        (lambda x: 1 + x + x**2 / 2, "that is 1 + x + x²/2 for each number of x; it is s for which it should come out, as the product of two tokens' features."),
    ):  # fmt: skip
        if close(got, function(q) @ function(k).mT, 1e-3):
            return words
    for function, words in (
        (elu_plus_one, "x goes through the f of this chapter first; it is to go in as it is."),
        (normalize, "the vectors are brought to length 1 first; here their lengths count."),
    ):
        if close(got, _beginning(function(q), function(k)), 1e-3):
            return words
    return _uneven(got, q, k) or (
        "the product of the features is no sum of 1, s and s²: use products of no more than two numbers of x, and the same f for q and k."
    )


def _uneven(got: Tensor, q: Tensor, k: Tensor) -> str | None:
    """Say which products of two numbers count less than others; None if there is more to it."""
    first, second = torch.triu_indices(q.shape[1] + 1, q.shape[1] + 1)
    q, k = (torch.cat([torch.ones(len(x), 1).double(), x], 1) for x in (q, k))
    terms = (q[:, first] * q[:, second])[:, None] * (k[:, first] * k[:, second])  # (T, S, F)
    counts = torch.linalg.lstsq(terms.flatten(0, 1), got.flatten()[:, None]).solution[:, 0]
    if not close(terms @ counts, got, 1e-3):
        return None
    kinds = {
        "x_i": (first == 0) & (second > 0),
        "x_i²": (first > 0) & (first == second),
        "x_i x_j": (first > 0) & (first < second),
    }
    for kind, of in kinds.items():
        if counts[of].max() - counts[of].min() > 5e-3:
            i, j = ((index[of][counts[of].argmin()] - 1).item() for index in (first, second))
            which = f"i = {j}" if kind != "x_i x_j" else f"i = {i} and j = {j}"
            return f"not all {kind} count alike: that of {which}, counted from 0, counts less than others. Is it there?"
    return None


def _attend_in_blocks(
    reads: str = "all",
    hides: str = "by text",
    shrinks: str = "both",
    *,
    fill: float = -math.inf,
    start: float = -math.inf,
    scale: Callable = lambda q, size: q.shape[-1] ** -0.5,
    divided: bool = True,
) -> Callable:
    """Return attention in blocks over texts with padding: which keys it reads, hides, and what it rescales."""
    hidden = {
        "by text": lambda place, first, ends: place >= ends,
        "by block": lambda place, first, ends: place - first >= ends,
        "one less": lambda place, first, ends: place > ends,
        "one more": lambda place, first, ends: place >= ends - 1,
        "inverted": lambda place, first, ends: place < ends,
        "nothing": lambda place, first, ends: place < 0,
        "too late": lambda place, first, ends: place >= ends,
    }[hides]
    factors = {
        "both": (1, 1), "total": (1, 0), "o": (0, 1), "none": (0, 0), "turned": (-1, -1),
    }[shrinks]  # fmt: skip

    def attend(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, size: int) -> Tensor:
        if reads == "zeros":
            k, v = (pad(x, (0, 0, 0, -k.shape[1] % size)) for x in (k, v))
        S, m, total, o = k.shape[1], torch.tensor(start), 0.0, 0.0
        for first in range(0, S // size * size if reads == "whole blocks" else S, size):
            place = torch.arange(first, min(first + size, S))
            s = q @ k[:, place].mT * scale(q, size)
            seen = s.masked_fill(hidden(place, first, lengths[:, None, None]), fill)
            new = torch.maximum(m, (s if hides == "too late" else seen).amax(-1, keepdim=True))
            e, (for_total, for_o) = (seen - new).exp(), (((m - new) * n).exp() if n else 1.0 for n in factors)
            total = total * for_total + e.sum(-1, keepdim=True)
            m, o = new, o * for_o + e @ v[:, place]
        return o / total if divided else o

    return attend


def _padded_texts() -> list[tuple]:
    """Return queries, keys, values, lengths and the size of a block; in the padding stand large numbers."""
    cases = []
    for lengths, T, S, D, Dv, size in (
        ([11, 4, 1], 2, 11, 5, 7, 5),
        ([6, 7], 5, 7, 3, 2, 3),
        ([13, 2, 7, 1, 5], 3, 13, 2, 11, 17),
    ):
        B = len(lengths)
        q, k, v = normal(B, T, D, seed=0) * 2, normal(B, S, D, seed=1), normal(B, S, Dv, seed=2)
        k[torch.arange(S) >= torch.tensor(lengths)[:, None]] *= 200
        cases.append((q, k, v, torch.tensor(lengths), size))
    q, k, v, lengths, _ = cases[0]
    far_below = torch.zeros_like(q), torch.full_like(k, -45.0)  # every score is the same, near -2000
    far_below[0][..., 0] = 100.0
    return [*cases, (100 * q, k, v, lengths, 2), (*far_below, v, lengths, 3)]


def blocks_repaired(answer: object) -> str | None:
    """Grade the repair of attention in blocks, over texts with padding, with three silent mistakes."""
    shrinks = [
        ("both", ""),
        ("total", "`total` is brought to the new maximum, `o` is not: which `m` is it that is subtracted there?"),
        ("o", "`o` is brought to the new maximum, `total` is not."),
        ("none", "neither `total` nor `o` is brought to the new maximum."),
        ("turned", "everything is NaN: at first `m` is minus infinity, and a factor must come out as 0 then. Which way round is its exponent?"),
    ]  # fmt: skip
    hides = [
        ("by text", ""),
        ("by block", "a key is hidden by its place in its block; a length counts from the start of the text."),
        ("one less", "one key too many is seen: that at place `length`, counted from 0, is padding."),
        ("one more", "one key too few is seen: a text of one key sees nothing, 0/0."),
        ("inverted", "it is turned round: the keys are hidden, and the padding is seen."),
        ("nothing", "no padding is hidden any more."),
        ("too late", "the largest score is taken over hidden keys too. Where a hidden score is far larger, nothing is left of the visible ones: 0/0."),
    ]  # fmt: skip
    reads = [
        ("all", ""),
        (
            "whole blocks",
            "some keys are never read: how many blocks are there, if S is no multiple of the size?",
        ),
        ("zeros", ""),
    ]
    mistakes = []
    for shrink, scale in shrinks:
        for hide, mask in hides:
            for read, lost in reads:
                said = [words for words in (scale, mask, lost) if words]
                if said:
                    left = f"{len(said)} mistakes are in it, one of them: " if len(said) > 1 else ""
                    mistakes.append((_attend_in_blocks(read, hide, shrink), left + said[0]))
    found = _attend_in_blocks("whole blocks", "by block", "total")
    mistakes = [
        (found, "it still does what it did. Three lines are wrong, and with one block of exactly S keys none of them shows: try two blocks, and S that is no multiple of the size."),
        (_attend_in_blocks(fill=-100.0), "where all visible scores are far below zero, the number you fill in is larger, and takes the weight. Fill in minus infinity."),
        (_attend_in_blocks(fill=0.0), "a score of 0 is not hidden: its exponential counts. Fill in minus infinity."),
        (_attend_in_blocks(start=0.0), "where all visible scores are far below zero, nothing is left of them: the largest so far must start at minus infinity, not at 0."),
        (_attend_in_blocks(scale=lambda q, size: 1.0), "the three are repaired, but the scores are not divided by √D any more."),
        (_attend_in_blocks(scale=lambda q, size: 1 / q.shape[-1]), "the three are repaired, but the scores are divided by D; its root is enough."),
        (_attend_in_blocks(scale=lambda q, size: size**-0.5), "the scores are divided by the root of the size of a block; it is the width of a query that counts."),
        (_attend_in_blocks(divided=False), "the three are repaired, but the division by `total` is gone."),
        *mistakes,
    ]  # fmt: skip
    return by_cases(answer, _attend_in_blocks(), _padded_texts(), mistakes, tolerance=1e-3) or _holds_table(
        answer
    )


def _holds_table(answer: Callable, T: int = 32, S: int = 128) -> str | None:
    """Tell whether all scores of a text are held at once."""
    q, k, v = normal(2, T, 2, seed=3), normal(2, S, 2, seed=4), normal(2, S, 3, seed=5)
    needs = footprint(answer, q, k, v, torch.tensor([S, S - 45]), 8)
    if needs.held > 3 * T * S // 2 or needs.python > 30 * T * S:
        return "right, but all scores of a text are there at once: repair the blocks instead of leaving them."
    return None


EXERCISES = [
    Exercise(
        "7.3", "Where they meet", "medium", 7,
        (
            "Queries and output: 2 · 2 n d². Keys and values: 2 · 2 n d times the width of all keys, which is Hkv · d / H.",
            "Set 4 n² d equal to the sum, and divide by 4 n d.",
        ),
        crossover,
        "Between d and 2d. Sharing keys makes the projections cheaper, so the core catches up sooner.",
    ),
    Exercise(
        "7.5", "The cache of a model", "medium", 6,
        (
            "In one layer, each token leaves a key and a value in every key/value head.",
            "A head is d / H wide, whatever Hkv is.",
        ),
        cache,
        "The number of query heads matters only through the width of a head.",
    ),
    Exercise(
        "7.7", "Pairs in a window", "medium", 6,
        (
            "The first query sees 1 key, the second 2, until the window is full.",
            "Which is smaller for the query at place i, its window or what there is? Sum that over all places.",
        ),
        window_pairs,
        "About n times the window: the cost is linear in n, as long as the window is not.",
    ),
    Exercise(
        "7.8", "Operations for a byte", "medium", 8,
        (
            "For one token in the cache: D numbers of its key and D of its value are read.",
            "Each query head of the group does 2 D operations with the key and 2 D with the value.",
            "How many such query heads work on the same numbers? The D cancels.",
        ),
        intensity,
        "A group of 8 does eight times the work on the same bytes; a roof at 200 operations a byte is still far.",
    ),
    Exercise(
        "7.9", "Merge two blocks", "hard", 10,
        (
            "With the larger maximum m, block i has the sum l_i · exp(m_i - m).",
            "o_i is a mean; the sum it came from is o_i times that sum.",
            "Add the two sums of values, and divide by the two sums of exponentials.",
        ),
        merge,
        "Blocks can be merged in any order, on different processors too.",
    ),
    Exercise(
        "7.10", "One pass", "hard", 12,
        (
            "Keep three things: the largest score so far, the sum of exponentials, the mixed values.",
            "When the maximum grows from `old` to `new`, multiply sum and mixed values by `exp(old - new)`.",
            "Start from a maximum of `-math.inf`: then `exp(old - new)` is 0, and the first block needs no special case.",
        ),
        one_pass,
        "The maximum, the sum and the mixed values: that is all FlashAttention keeps for a query.",
    ),
    Exercise(
        "7.11", "Attention as a recurrence", "hard", 12,
        (
            "The state is a table of k_i ⊗ v_i, summed over the tokens so far, and the sum of the k_i.",
            "`torch.outer(k, v)` makes the table of one token, (F, Dv).",
            "The output of a token is `q @ table / (q @ total)`, after its own key and value were added.",
        ),
        recurrence,
        "A state of fixed size, updated token by token: chapter 1 again.",
    ),
    Exercise(
        "7.14", "The beginning of the exponential", "hard", 12,
        (
            "A product of features is a sum: a feature that is 1 for every x adds 1, and x itself adds s. What is left is s²/2.",
            "s² is (q_1 k_1 + q_2 k_2 + ...)². Write it out for D = 2: each term is something of q times the same thing of k.",
            "What a feature is multiplied with stands in f(q) and in f(k). And x_1 x_2 and x_2 x_1 are the same number: how much must one feature count that stands for both?",
        ),
        exponential_features,
        "For short queries and keys this is nearly softmax, in linear time. The price is a state of about D²/2 rows instead of D. And far from zero it is no exponential any more: it never falls below a half, so that no key is ever quite silent.",
    ),
    Exercise(
        "7.15", "It passed with one block", "hard", 12,
        (
            "Take two texts without padding, four keys, blocks of two, and compare with the formula. Follow m through one turn of the loop.",
            "What does `lengths` count from, and what does `torch.arange(size)`?",
            "How often does the loop run with 7 keys in blocks of 3? Mind that the last block then has fewer columns.",
        ),
        blocks_repaired,
        "Every one of the three gives numbers of the right shape, close to the right size, and each is invisible where all keys are one block. A test of something in pieces needs three pieces at least, and a last one that is not full.",
    ),
]  # fmt: skip
