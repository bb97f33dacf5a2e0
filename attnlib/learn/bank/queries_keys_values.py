"""Exercises on queries, keys and values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from attnlib.functional import attention, attention_weights
from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Exercise, by_cases, compare, normal, numbers, scalar
from attnlib.scoring import additive_scores

BUY, APPLE, PHONE = (torch.tensor(x, dtype=torch.float64) for x in ([1, 1], [2, 2], [0, 4]))
WORDS = torch.stack([BUY, APPLE, PHONE])


def softmax(answer: object) -> str | None:
    """Grade a softmax over the last axis."""
    cases = [
        (torch.tensor([[4.0, 8.0, 8.0], [1.0, 2.0, 3.0]]),),
        (normal(7, 5, seed=0),),
        (normal(3, 2, seed=1) - 9,),
    ]
    undivided = "the exponentials are right; they still have to be divided by their sum."
    mistakes = [
        (lambda s: s.softmax(0), "the columns sum to one; each row should. Which axis is that?"),
        (lambda s: s.exp() / s.exp().sum(), "the whole table sums to one; each row should, by itself."),
        (lambda s: s / s.sum(-1, keepdim=True), "you divide the scores by their sum; the exponential is missing."),
        (torch.exp, undivided),
        (lambda s: (s - s.amax(-1, keepdim=True)).exp(), undivided),
        (lambda s: s.log_softmax(-1), "this is the logarithm of the softmax."),
    ]  # fmt: skip
    own = {"softmax", "log_softmax"}, "it calls a ready-made softmax; write it with exp and sum."
    wrong = by_cases(answer, lambda s: s.softmax(-1), cases, mistakes, ready_made=own)
    return wrong or _huge_scores(answer) or _more_axes(answer)


def _huge_scores(answer: Callable) -> str | None:
    for rows in ([[1000.0, 1001.0]], [[1000.0, 0.0], [1.0, 2.0]], [[-1000.0, 10.0], [-1000.0, -1001.0]]):
        huge = numbers(call(answer, torch.tensor(rows)))
        if not huge.isfinite().all():
            return (
                f"right for small scores, but {rows} gives NaN: exp(1000) is infinite, and exp(-1000) is zero. "
                "What can you subtract from each row, so that its largest exponential is 1?"
            )
        wrong = compare(huge, torch.tensor(rows).softmax(-1).double())
        if wrong:
            return f"right for small scores, but not for {rows}: {wrong}"
    return None


def _more_axes(answer: Callable) -> str | None:
    deep = normal(2, 3, 5, seed=0)
    wrong = compare(numbers(call(answer, deep.clone())), deep.softmax(-1).double())
    return wrong and f"right for a table, but not with more axes: {wrong} The last axis is -1."


def _squared(query: Tensor, keys: Tensor) -> Tensor:
    return ((query - keys) ** 2).sum(-1)


def _kernel(query: Tensor, keys: Tensor, reach: float) -> Tensor:
    return (-_squared(query, keys) / (2 * reach**2)).exp()


def _mix(logits: Callable) -> Callable:
    """Return a look-up whose weights are the softmax of ``logits(squared distance, reach)``."""
    return lambda query, keys, values, reach: logits(_squared(query, keys), reach).softmax(0) @ values


def soft_lookup(answer: object) -> str | None:
    """Grade a look-up of vectors, weighted by a Gaussian of the distance."""
    cases = [
        (normal(D, seed=2), normal(S, D, seed=0), normal(S, seed=1), reach)
        for S, D, reach in ((5, 2, 0.7), (11, 3, 1.3), (3, 7, 2.5))
    ]
    formula = "exp(-distance² / (2 reach²))"
    mistakes = [
        (lambda q, k, v, r: _kernel(q, k, r) @ v, "the weights do not sum to one yet: divide by their sum."),
        (lambda q, k, v, r: _kernel(q, k, r) / _kernel(q, k, r).sum(), "these are the weights; mix the values with them."),
        (_mix(lambda d, r: -d / (2 * r)), f"the reach is not squared: {formula}."),
        (_mix(lambda d, r: -d / r**2), f"the 2 is missing: {formula}."),
        (_mix(lambda d, r: -d.sqrt() / (2 * r**2)), f"the distance is not squared: {formula}."),
        (_mix(lambda d, r: -d / 2 * r**2), "x / 2 * reach² multiplies by reach²; put the 2 reach² in brackets."),
        (_mix(lambda d, r: -d), f"the reach is missing: {formula}."),
        (_mix(lambda d, r: d / (2 * r**2)), "the sign is missing: far keys should count less."),
        (lambda q, k, v, r: (-((q - k).sum(-1) ** 2) / (2 * r**2)).softmax(0) @ v, "square each difference before you add them up."),
        (lambda q, k, v, r: v[_squared(q, k).argmin()], "this takes the nearest value alone, like a dict."),
    ]  # fmt: skip
    return by_cases(answer, _mix(lambda d, r: -d / (2 * r**2)), cases, mistakes, read=scalar)


def _scored(change: Callable, dim: int = -1) -> Callable:
    """Return attention whose scores are ``change(products, D)``."""
    return lambda q, k, v: change(q @ k.mT, q.shape[-1]).softmax(dim) @ v


def attention_from_nothing(answer: object) -> str | None:
    """Grade attention for any leading axes."""
    cases = [
        (normal(*lead, T, D, seed=0), normal(*lead, S, D, seed=1), normal(*lead, S, Dv, seed=2))
        for lead, T, S, D, Dv in (((), 5, 7, 5, 3), ((), 2, 3, 11, 5), ((2, 3), 5, 7, 11, 13))
    ]
    mistakes = [
        (_scored(lambda s, D: s), "the scores are not divided by √D."),
        (_scored(lambda s, D: s / D), "you divide by D; its square root is enough."),
        (_scored(lambda s, D: s / s.shape[-1] ** 0.5), "you divide by √S, the number of keys; the width D is meant."),
        (lambda q, k, v: (q @ k.mT / v.shape[-1] ** 0.5).softmax(-1) @ v, "you divide by the root of the width of v; the width D of q and k is meant."),
        (_scored(lambda s, D: s / D**0.5, -2), "your columns sum to one: the softmax runs over the queries. It should run over the keys, the last axis."),
        (lambda q, k, v: (q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5 @ v, "you divide the weights by √D; the scores are to be divided, before the softmax."),
        (lambda q, k, v: attention(q, k, k), "you mix the keys; the values are to be mixed."),
        (lambda q, k, v: attention_weights(q, k), "these are the weights; the values are still to be mixed with them."),
        (lambda q, k, v: q @ k.mT / q.shape[-1] ** 0.5 @ v, "the softmax is missing."),
        (_scored(lambda s, D: s * D**0.5), "you multiply by √D; divide."),
        (_scored(lambda s, D: (s / D**0.5).softmax(-1)), "there are two softmaxes; one is enough."),
        (_scored(lambda s, D: s / D**0.5, 1), "axis 1 is the heads; the keys are axis -1."),
    ]  # fmt: skip
    own = {"scaled_dot_product_attention"}, "it calls the ready-made function; write out its steps."
    return by_cases(answer, attention, cases, mistakes, ready_made=own)


def mutual_query(answer: object) -> str | None:
    """Grade a query matrix that makes *apple* and *phone* look at each other."""
    w_q = numbers(answer)
    if w_q.shape != (2, 2) or not w_q.isfinite().all():
        return f"w_q should be 2 by 2 finite numbers, yours has shape {tuple(w_q.shape)}."

    def heard(w: Tensor) -> tuple[float, float]:
        weights = attention_weights(WORDS @ w, WORDS, scale=1.0)
        return weights[1, 2].item(), weights[2, 1].item()

    def solved(w: Tensor) -> bool:
        return min(heard(w)) >= 0.99

    if solved(w_q):
        return None
    if solved(w_q.T):
        return "it would work as w_q @ word, but here the query is word @ w_q: transpose it."
    if solved(20 * w_q):
        return "both queries point the right way, but they are too short: make the matrix larger."
    for name, word, want, weight in zip(
        ("apple", "phone"), (APPLE, PHONE), ("phone", "apple"), heard(w_q), strict=True
    ):
        if weight < 0.99:
            query = [round(x, 2) for x in (word @ w_q).tolist()]
            return (
                f"{name} gives {want} {weight:.3f}, at least 0.99 is asked. The query of {name} is {query}: its product "
                f"with {want} must be larger than with the other two, by 5 or more."
            )
    return None


def growing_vectors(answer: object) -> str | None:
    """Grade three vectors a, b, c of which a looks at b and b looks at c, with tied projections."""
    x = numbers(answer)
    if x.shape != (3, 2):
        return f"three vectors of two numbers are asked, yours have shape {tuple(x.shape)}."
    if not x.isfinite().all():
        return "the numbers must be finite."
    scores, names = x @ x.T, "abc"
    for i, j in ((0, 1), (1, 2)):
        rival = max((n for n in range(3) if n != j), key=lambda n: scores[i, n].item())
        if scores[i, rival] >= scores[i, j]:
            whom = "itself" if rival == i else names[rival]
            verb = "ties with it at" if scores[i, rival] == scores[i, j] else "reaches"
            text = (
                f"{names[i]} should score highest with {names[j]} ({scores[i, j]:.3g}), "
                f"but {whom} {verb} {scores[i, rival]:.3g}."
            )
            if x[j].norm() <= x[i].norm():
                text += f" No wonder: {names[j]} is not longer than {names[i]}."
            return text
    return None


def _hidden(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    return (q @ w_q)[:, :, None] + (k @ w_k)[:, None]


def additive(answer: object) -> str | None:
    """Grade additive scores."""
    cases = [
        (
            normal(B, T, C, seed=0),
            normal(B, S, K, seed=1),
            normal(C, D, seed=2),
            normal(K, D, seed=3),
            normal(D, seed=4),
        )
        for B, T, S, C, K, D in ((2, 3, 7, 5, 11, 13), (3, 5, 2, 7, 3, 11), (5, 2, 3, 3, 2, 7))
    ]
    mistakes = [
        (lambda q, k, w_q, w_k, u: _hidden(q, k, w_q, w_k) @ u, "the tanh is missing; without it the score is a sum of two parts, and the query's part cancels in the softmax."),
        (lambda q, k, w_q, w_k, u: (torch.tanh(q @ w_q)[:, :, None] + torch.tanh(k @ w_k)[:, None]) @ u, "the tanh comes after the sum of the two parts, not on each."),
        (lambda q, k, w_q, w_k, u: torch.tanh(_hidden(q, k, w_q, w_k) @ u), "the tanh comes before u, on each of the D hidden numbers."),
        (lambda *case: additive_scores(*case).mT, "queries are the rows and keys the columns; yours is turned round."),
        (lambda q, k, w_q, w_k, u: torch.tanh(_hidden(q, k, w_q, w_k)).sum(-1), "the D hidden numbers are summed as they are; u weighs them."),
        (lambda q, k, w_q, w_k, u: torch.tanh(_hidden(q, k, w_q, w_k)), "these are the D hidden numbers of every pair; u turns them into one score."),
        (lambda q, k, w_q, w_k, u: (q @ w_q) @ (k @ w_k).mT, "these are dot products; here the two parts are added, and pass through tanh and u."),
        (lambda *case: additive_scores(*case).softmax(-1), "these are weights; the scores come before the softmax."),
    ]  # fmt: skip
    return by_cases(answer, additive_scores, cases, mistakes)


def _layers() -> list[tuple[str, Callable[[Tensor], Tensor], bool]]:
    """Return layers on 7 tokens, and whether the order of their tokens matters to them."""
    place, steps, marks = normal(7, 3, seed=1), torch.arange(1, 8)[:, None], torch.eye(7)[:, :, None]

    def self_attention(x: Tensor) -> Tensor:
        return attention(x, x, x)

    def moving_average(x: Tensor) -> Tensor:
        padded = torch.cat([x[:1] * 0, x, x[:1] * 0])
        return (padded[:-2] + padded[1:-1] + padded[2:]) / 3

    return [
        ("self-attention", self_attention, False),
        ("a layer that treats each token alone", lambda x: torch.tanh(x) * 2, False),
        ("the mean of all tokens so far", lambda x: x.cumsum(0) / steps, True),
        ("attention with a vector added for each place", lambda x: self_attention(x + place), True),
        ("a moving average of three neighbours", moving_average, True),
        ("a layer that hands each token the one before", lambda x: x.roll(1, 0), True),
        ("a layer that adds a hundredth of a vector for each place", lambda x: x + place / 100, True),
        ("a layer that marks the first token", lambda x: x + marks[0], True),
        ("a layer that marks the token in the middle", lambda x: x + marks[3], True),
        ("a layer that marks the last token", lambda x: x + marks[6], True),
    ]


def order_matters(answer: object) -> str | None:
    """Grade a test of whether a layer can tell the order of its tokens."""
    x, layers, said = normal(7, 3, seed=0), _layers(), []
    with torch.random.fork_rng(devices=[]):  # a random permutation may be the identity: ask five times
        torch.manual_seed(0)
        for name, layer, _ in layers:
            answers = [call(answer, layer, x.clone()) for _ in range(5)]
            if not all(
                isinstance(a, (bool, np.bool_)) or getattr(a, "dtype", None) == torch.bool for a in answers
            ):
                return (
                    f"it should return True or False, not {type(answers[0]).__name__} (asked about {name})."
                )
            said.append(any(map(bool, answers)))
    right = [truth for *_, truth in layers]
    missed = [name for (name, *_), s, r in zip(layers, said, right, strict=True) if s != r]
    if not missed:
        return None
    if not any(said):
        return "it always says False; some of the layers it was asked about do care about order."
    if not any(said[2:]) and all(said[:2]):
        return "every answer is turned round: return True if the order matters."
    if said[:2] == [True, True]:
        return "it says that order matters even where each token is treated alone: shuffle the outputs the same way before you compare."
    if said[0]:
        return "self-attention differs by rounding alone, about 1e-7: compare with `torch.allclose`, not exactly."
    if not said[4] and said[5]:
        return "a moving average looks the same from both ends, so turning the sequence round does not catch it: use a random permutation."
    if all("marks" in name for name in missed):
        return f"it misses {missed[0]}: tokens that stay in their places, as all but two do in a swap, tell nothing. Move them all: `torch.randperm`."
    return f"it is wrong about {missed[0]}."


HOURS = torch.tensor([6, 9, 12, 18], dtype=torch.float64)
DEGREES = torch.tensor([8, 14, 21, 15], dtype=torch.float64)
REACH = 1.5
# how much h, h² and 1 of the query count with h and h² of the key
PRODUCTS = torch.tensor([[1, 0], [0, 0], [0, -0.5]], dtype=torch.float64) / REACH**2


def _two_matrices(answer: object) -> tuple[Tensor, Tensor]:
    """Read w_q and w_k, each (3, D) with the same D.

    Raises:
        AnswerError: If they have another form.
    """
    pair = list(answer.values()) if isinstance(answer, dict) else answer
    if not isinstance(pair, (list, tuple, Tensor, np.ndarray)) or len(pair) != 2:
        raise AnswerError("two matrices are asked, w_q and w_k, in a list.")
    w_q, w_k = map(numbers, pair)
    for name, w in (("w_q", w_q), ("w_k", w_k)):
        if w.ndim != 2 or len(w) != 3 or not w.numel():
            turned = " Yours lies on its side: `x @ w` needs a row for each." if w.shape[-1:] == (3,) else ""
            raise AnswerError(
                f"{name} should be (3, D), a row each for h, h² and 1; it is {tuple(w.shape)}.{turned}"
            )
        if not w.isfinite().all():
            raise AnswerError(f"the numbers of {name} must be finite.")
    if w_q.shape != w_k.shape:
        raise AnswerError(
            f"queries and keys need one width D: w_q is {tuple(w_q.shape)}, w_k {tuple(w_k.shape)}."
        )
    return w_q, w_k


def distance_by_products(answer: object) -> str | None:
    """Grade projections with which dot products score hours by their distance."""
    w_q, w_k = _two_matrices(answer)
    asking, hours = (
        torch.stack([h, h**2, torch.ones_like(h)], -1) for h in (torch.arange(0, 24.5, 0.5).double(), HOURS)
    )
    right = (asking @ PRODUCTS @ hours[:, :2].T).softmax(-1) @ DEGREES

    def off(products: Tensor) -> Tensor:
        return (asking @ products @ hours.T).softmax(-1) @ DEGREES - right

    D = w_q.shape[1]
    products = w_q @ w_k.T / D**0.5
    gap = off(products)
    if gap.abs().max() <= 0.05:
        return None
    if D == 1:
        return (
            "with D = 1 a score is one product; it takes two, one for each term that differs from key to key."
        )
    if off(products[[1, 2, 0]][:, [1, 2, 0]]).abs().max() <= 0.05:
        return "it would be right if an hour were (1, h, h²); here it is (h, h², 1)."
    if D == 3 and off(w_q.T @ w_k / D**0.5).abs().max() <= 0.05:
        return "it would be right as w @ x, but here it is x @ w: transpose both."
    if off(products * D**0.5).abs().max() <= 0.05:
        return f"it would be right without the division by √D, and here D is {D}: make up for it."
    for found, words in _other_products(products, D):
        if found:
            return words
    worst = int(gap.abs().argmax())
    return f"asked for {worst / 2:g} o'clock it answers {abs(gap[worst]):.1f} degrees too {'much' if gap[worst] > 0 else 'little'}."


def _other_products(products: Tensor, D: int) -> list[tuple[bool, str]]:
    """Return what may be wrong with the products of a query's numbers with a key's, each with its words."""
    unseen, products = products[:, 2], products[:, :2]  # what meets the key's 1 is the same for all keys
    largest = products.abs().max()
    hour, held = products[0, 0].item(), products[2, 1].item()
    small = 1e-3 * REACH**-2
    clean = (products * (PRODUCTS == 0)).abs().max() <= small  # neither h² of the query nor other pairs
    ratio = held / hour if abs(hour) > small else 0.0
    reach = abs(hour) ** -0.5 if abs(hour) > small else 0.0
    twice = " Has √D been made up for twice?" if abs(hour * REACH**2 / D**0.5 - 1) < 0.01 else ""
    return [
        (bool(largest <= small), "all scores are alike, so it answers the mean of the four at every hour."),
        (clean and abs(held) <= small < abs(unseen[1]), "the square is that of the hour that asks: it is the same for every key, and a softmax does not see it. Whose square makes the difference?"),
        (clean and abs(held) <= small, "h times h alone: a dot product rewards length, and 18:00 wins nearly always. What holds long keys back?"),
        (clean and abs(hour) <= small, "the score does not contain the hour that asks times the hour of the key."),
        (clean and hour < 0 and held > 0, "every sign is turned round: here the farthest key wins."),
        (clean and ratio > 0, "half the square of the key is subtracted; yours has the other sign."),
        (clean and abs(ratio + 1) < 0.02, "the whole square of the key is subtracted; half of it is enough. Write out (q - h)²."),
        (clean and abs(ratio + 0.25) < 0.01, "a quarter of the key's square is subtracted, half of it is needed: was the half put in twice?"),
        (clean and abs(ratio + 0.5) < 0.02, f"it is a soft dictionary, but its reach is {reach:.2f} hours; {REACH} is asked.{twice}"),
        (clean, f"the two terms do not fit together: the product of the hours counts {hour:.3g}, the square of the key {held:.3g}. Write out (q - h)²."),
        (bool(products[1].abs().max() > small), "the square of the hour that asks meets a number of the key: that term is not in (q - h)²."),
        (bool(products[0, 1].abs() > small), "the hour that asks meets the square of the key; only its 1 should."),
        (bool(products[2, 0].abs() > small), "the 1 of the query meets the hour of the key; only its square should meet it."),
    ]  # fmt: skip


def _listen(turn: str, size: Callable, axis: int) -> Callable:
    """Return cross-attention with a way to turn the keys, a width under the scores and an axis to weigh along."""

    def listen(x: Tensor, heard: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
        k = heard @ w_k
        if turn == "early":
            k = w_k.T @ heard.reshape(len(heard), heard.shape[2], heard.shape[1])
        else:
            k = k.mT if turn == "turned" else k.reshape(len(k), k.shape[2], k.shape[1])
        return (x @ w_q @ k / size(x, heard, w_q, w_v) ** 0.5).softmax(axis) @ (heard @ w_v)

    return listen


def repaired(answer: object) -> str | None:
    """Grade the repair of a cross-attention with three silent mistakes."""
    cases = []
    for B, T, S, C, E, D, Dv in ((2, 3, 5, 7, 11, 13, 17), (3, 11, 7, 5, 2, 17, 13), (5, 2, 13, 11, 7, 3, 2)):
        shapes = [(B, T, C), (B, S, E), (C, D), (E, D), (E, Dv)]
        made = [normal(*shape, seed=n) for n, shape in enumerate(shapes)]
        cases.append(tuple(x if x.ndim == 3 else 2 * x / len(x) ** 0.5 for x in made))
    axes = [
        (-1, ""),
        (1, "look at the weights of one word of x: they do not sum to one."),
        (0, "the weights of a word sum to one over the batch, not over what it hears."),
    ]
    scrambles = "put the words of heard into another order, and the output changes; it should not. A reshape reads on row by row: it does not turn."
    turns = [("turned", ""), ("reshaped", scrambles), ("early", scrambles)]
    sizes = [
        (lambda x, h, w_q, w_v: w_q.shape[1], ""),
        (lambda x, h, w_q, w_v: x.shape[-1], "the scores are divided by √C: which width do a query and a key have when they meet?"),
        (lambda x, h, w_q, w_v: 1, "the scores are not divided by anything any more."),
        (lambda x, h, w_q, w_v: w_q.shape[1] ** 2, "the scores are divided by D; its square root is enough."),
        (lambda x, h, w_q, w_v: h.shape[-1], "the scores are divided by √E, the width of heard before it is projected."),
        (lambda x, h, w_q, w_v: h.shape[1], "the scores are divided by √S, the number of keys; the width of a key is meant."),
        (lambda x, h, w_q, w_v: w_v.shape[1], "the scores are divided by the root of the width of the values."),
        (lambda x, h, w_q, w_v: x.shape[1], "the scores are divided by √T, the number of queries; the width of a query is meant."),
        (lambda x, h, w_q, w_v: w_q.shape[1] ** 0.5, "the root of D is taken twice; divide the scores by √D."),
        (lambda x, h, w_q, w_v: 1 / w_q.shape[1], "the scores are multiplied by √D; divide."),
    ]  # fmt: skip
    mistakes = []
    for axis, skew in axes:
        for turn, scrambled in turns:
            for size, scale in sizes:
                said = [words for words in (skew, scrambled, scale) if words]
                if said:
                    left = f"{len(said)} mistakes are in it, one of them: " if len(said) > 1 else ""
                    mistakes.append((_listen(turn, size, axis), left + said[0]))
    found = _listen("reshaped", sizes[1][0], 1)
    right = _listen("turned", sizes[0][0], -1)

    def scaled(q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT / q.shape[-1] ** 0.5

    mistakes = [
        (found, "it still does what it did. Three lines are wrong; begin with the weights: what do those of one word sum to?"),
        (lambda x, h, w_q, w_k, w_v: right(x, h, w_q, w_k, w_k), "the keys are mixed; what is handed over are the values."),
        (lambda x, h, w_q, w_k, w_v: right(x, h, w_q, w_k, torch.eye(h.shape[-1])), "what is mixed is heard itself; it has to go through w_v."),
        (lambda x, h, w_q, w_k, w_v: (x @ w_q @ (h @ w_k).mT).softmax(-1) / w_q.shape[1] ** 0.5 @ (h @ w_v), "the weights are divided by √D; the scores are to be divided, before the softmax."),
        (lambda x, h, w_q, w_k, w_v: scaled(x @ w_q, h @ w_k).softmax(1).softmax(-1) @ (h @ w_v), "there are two softmaxes; the one over the keys is enough."),
        (lambda x, h, w_q, w_k, w_v: scaled(x @ w_q, h @ w_k).flatten(1).softmax(-1).reshape(len(x), x.shape[1], -1) @ (h @ w_v), "the weights of all words together sum to one; those of each word should."),
        (lambda x, h, w_q, w_k, w_v: attention_weights(x @ w_q, h @ w_k), "these are the weights; the values are still to be mixed."),
        (lambda x, h, w_q, w_k, w_v: x @ w_q @ (h @ w_k).mT / w_q.shape[1] ** 0.5 @ (h @ w_v), "the softmax is gone."),
        *mistakes,
    ]  # fmt: skip
    return by_cases(answer, right, cases, mistakes)


EXERCISES = [
    Exercise(
        "3.2", "A softmax that does not overflow", "easy", 5,
        (
            "Exponentials first, then divide each row by its sum; `sum(-1, keepdim=True)` keeps the axis.",
            "exp(1000) is infinite. Adding one number to a whole row of scores does not change its softmax.",
            "Subtract the largest score of each row: `scores.amax(-1, keepdim=True)`.",
        ),
        softmax,
        "Library softmaxes guard against overflow by subtracting the largest score, PyTorch's too.",
    ),
    Exercise(
        "3.4", "A soft dictionary", "medium", 8,
        (
            "The squared distance to each key is `((query - keys) ** 2).sum(-1)`, one number for each key.",
            "Weigh each key by exp(-distance² / (2 reach²)), divide by the sum, mix the values.",
            "Or put -distance² / (2 reach²) into a softmax: it does the exponential and the division.",
        ),
        soft_lookup,
        "A short reach makes it a dict that takes the nearest key; a long one returns the mean.",
    ),
    Exercise(
        "3.5", "Attention from nothing", "medium", 10,
        (
            "Steps 2 to 4: products divided by √D, softmax over the keys, mix the values.",
            "For any leading axes turn only the last two: `k.transpose(-2, -1)`.",
            "Divide the scores by `q.shape[-1] ** 0.5` before the softmax, and mix the values with the weights after it.",
        ),
        attention_from_nothing,
        "That is the whole mechanism; everything else in this book is about its consequences.",
    ),
    Exercise(
        "3.6", "Two words that look at each other", "medium", 10,
        (
            "Decide first what each word should ask. A query along (-1, 1) sees phone = (0, 4) and is blind to apple and buy.",
            "A query along (1, 0) sees apple = (2, 2) and is blind to phone; it has to be long, since buy gets half as much.",
            "You need a matrix with apple @ w_q = (-2, 2) and phone @ w_q = (12, 0): phone = (0, 4) gives you its second row.",
        ),
        mutual_query,
        "No tied projection can do this: each word would have to be longer than the other.",
    ),
    Exercise(
        "3.7", "Who may look at whom", "medium", 8,
        (
            "Raw scores are x @ x.T. For a to prefer b to itself, a·b must exceed a·a.",
            "So b must be longer than a, and c longer than b. But a must still prefer b to c.",
            "Try a along the first axis, and let c point mostly along the second.",
        ),
        growing_vectors,
        "Each vector had to be longer than the last; so c can never look at a.",
    ),
    Exercise(
        "3.8", "Additive scores", "hard", 12,
        (
            "Project both: (B, T, D) and (B, S, D). Every query has to meet every key.",
            "Make room for the other axis with `[:, :, None]` and `[:, None]`; the sum broadcasts to (B, T, S, D).",
            "tanh first, then `@ u`, which sums the last axis away.",
        ),
        additive,
        "On the way it held D numbers for every pair; the dot product holds one.",
    ),
    Exercise(
        "3.9", "Does order matter?", "hard", 12,
        (
            "Shuffle the tokens with `torch.randperm(len(x))`, run the layer, and compare.",
            "If order does not matter, layer(x[p]) equals layer(x)[p], up to rounding.",
            "`torch.allclose(a, b, atol=1e-5)` compares up to rounding; return True when it does not hold.",
        ),
        order_matters,
        "Attention sees a set, not a sequence. Whatever it knows of order must be put into the vectors.",
    ),
    Exercise(
        "3.12", "Distance out of products", "hard", 12,
        (
            "Write out (q - h)². One term is the same for every key, and the softmax does not see it. Two are left.",
            "Each term that is left is a number of the query times a number of the key: which are they? A term without q meets the 1 of the query.",
            "So D = 2 is enough. Put 1/reach² into one of the matrices, and something that makes up for the division by √D.",
        ),
        distance_by_products,
        "A dot product rewards length; a key that carries minus half its own square as one more number holds itself back. So search by nearness can be done with products alone.",
    ),
    Exercise(
        "3.13", "It ran, and it learned", "hard", 10,
        (
            "All shapes are as the comments say. Do not look at shapes, but at what must hold: what do the weights of one word sum to? Does the order of what is heard matter?",
            "Let x, heard and the widths be small, and compare line by line with the section Four steps.",
            "The lines to change are those of k, of the scores and of the weights. `torch.arange(6).reshape(2, 3)` beside `torch.arange(6).reshape(3, 2).mT` shows what is wrong with the first.",
        ),
        repaired,
        "All three have stood in published code: they stop nothing, and training finds a way round. With its softmax over the wrong axis, a well-known model of images drew as well as after the repair. So test what must hold, not only that it learns.",
    ),
]  # fmt: skip
