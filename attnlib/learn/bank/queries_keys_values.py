"""Exercises on queries, keys and values."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from attnlib.functional import attention, attention_weights
from attnlib.learn.calling import call, explain
from attnlib.learn.grading import Calls, Exercise, compare, numbers
from attnlib.scoring import additive_scores

BUY, APPLE, PHONE = (torch.tensor(x, dtype=torch.float64) for x in ([1, 1], [2, 2], [0, 4]))
WORDS = torch.stack([BUY, APPLE, PHONE])


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")


def softmax(answer: object) -> str | None:
    """Grade a softmax over the last axis."""
    scores = torch.tensor([[4.0, 8.0, 8.0], [1.0, 2.0, 3.0]])
    e, shifted = scores.exp(), (scores - scores.amax(-1, keepdim=True)).exp()
    undivided = "the exponentials are right; they still have to be divided by their sum."
    with Calls() as calls:
        got = numbers(call(answer, scores.clone()))
    wrong = compare(
        got,
        scores.softmax(-1).double(),
        [
            ((e / e.sum(0)).double(), "the columns sum to one; each row should. Which axis is that?"),
            ((e / e.sum()).double(), "the whole table sums to one; each row should, by itself."),
            (
                (scores / scores.sum(-1, keepdim=True)).double(),
                "you divide the scores by their sum; the exponential is missing.",
            ),
            (e.double(), undivided),
            (shifted.double(), undivided),
            (scores.log_softmax(-1).double(), "this is the logarithm of the softmax."),
        ],
    )
    if wrong:
        return wrong
    if calls.names & {"softmax", "log_softmax"}:
        return "right, but it calls a ready-made softmax; write it with exp and sum."
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
    deep = _random(2, 3, 5, seed=0)
    wrong = compare(numbers(call(answer, deep.clone())), deep.softmax(-1).double())
    return wrong and f"right for a table, but not with more axes: {wrong} The last axis is -1."


def soft_lookup(answer: object) -> str | None:
    """Grade a look-up of vectors, weighted by a Gaussian of the distance."""
    keys, values = _random(5, 2, seed=0), _random(5, seed=1)
    query, reach = _random(2, seed=2), 0.7
    gap = query - keys
    squared = (gap**2).sum(-1)

    def mix(logits: Tensor) -> Tensor:
        return (logits.softmax(0) * values).sum().double()

    kernel = (-squared / (2 * reach**2)).exp()
    got = numbers(call(answer, query.clone(), keys.clone(), values.clone(), reach))
    got = got.reshape(()) if got.numel() == 1 else got
    return compare(
        got,
        mix(-squared / (2 * reach**2)),
        [
            ((kernel * values).sum().double(), "the weights do not sum to one yet: divide by their sum."),
            ((kernel / kernel.sum()).double(), "these are the weights; mix the values with them."),
            (mix(-squared / (2 * reach)), "the reach is not squared: exp(-distance² / (2 reach²))."),
            (mix(-squared / reach**2), "the 2 is missing: exp(-distance² / (2 reach²))."),
            (
                mix(-squared.sqrt() / (2 * reach**2)),
                "the distance is not squared: exp(-distance² / (2 reach²)).",
            ),
            (
                mix(-squared / 2 * reach**2),
                "x / 2 * reach² multiplies by reach²; put the 2 reach² in brackets.",
            ),
            (mix(-squared), "the reach is missing: exp(-distance² / (2 reach²))."),
            (mix(squared / (2 * reach**2)), "the sign is missing: far keys should count less."),
            (mix(-(gap.sum(-1) ** 2) / (2 * reach**2)), "square each difference before you add them up."),
            (values[squared.argmin()].double(), "this takes the nearest value alone, like a dict."),
        ],
    )


def attention_from_nothing(answer: object) -> str | None:
    """Grade attention for any leading axes."""
    q, k, v = _random(5, 5, seed=0), _random(7, 5, seed=1), _random(7, 3, seed=2)
    scores, root = q @ k.T, math.sqrt(5)
    weights = (scores / root).softmax(-1)
    with Calls() as calls:
        got = numbers(call(answer, q.clone(), k.clone(), v.clone()))
    wrong = compare(
        got,
        attention(q, k, v).double(),
        [
            ((scores.softmax(-1) @ v).double(), "the scores are not divided by √D."),
            (((scores / 5).softmax(-1) @ v).double(), "you divide by D; its square root is enough."),
            (((scores / math.sqrt(7)).softmax(-1) @ v).double(), "you divide by √S, the number of keys; the width D is meant."),
            (((scores / math.sqrt(3)).softmax(-1) @ v).double(), "you divide by the root of the width of v; the width D of q and k is meant."),
            (((scores / root).softmax(-2) @ v).double(), "your columns sum to one: the softmax runs over the queries. It should run over the keys, the last axis."),
            ((scores.softmax(-1) / root @ v).double(), "you divide the weights by √D; the scores are to be divided, before the softmax."),
            ((weights @ k).double(), "you mix the keys; the values are to be mixed."),
            (weights.double(), "these are the weights; the values are still to be mixed with them."),
            ((scores / root @ v).double(), "the softmax is missing."),
            (((scores * root).softmax(-1) @ v).double(), "you multiply by √D; divide."),
            ((weights.softmax(-1) @ v).double(), "there are two softmaxes; one is enough."),
        ],
    )  # fmt: skip
    if wrong:
        return wrong
    if "scaled_dot_product_attention" in calls.names:
        return "right, but it calls the ready-made function; write out its steps."
    q, k, v = _random(2, 3, 5, 11, seed=3), _random(2, 3, 7, 11, seed=4), _random(2, 3, 7, 13, seed=5)
    try:
        got = numbers(call(answer, q.clone(), k.clone(), v.clone()))
    except Exception as error:
        return (
            f"right for one sequence, but with leading axes (2, 3) it stopped with `{explain(error)}`. "
            f"`k.T` turns every axis, `k.transpose(-2, -1)` the last two."
        )
    by_heads = ((q @ k.mT / math.sqrt(11)).softmax(1) @ v).double()
    wrong = compare(
        got, attention(q, k, v).double(), [(by_heads, "axis 1 is the heads; the keys are axis -1.")]
    )
    return wrong and f"right for one sequence, but not with leading axes (2, 3): {wrong}"


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


def additive(answer: object) -> str | None:
    """Grade additive scores."""
    q, k = _random(2, 3, 5, seed=0), _random(2, 7, 11, seed=1)
    w_q, w_k, u = _random(5, 13, seed=2), _random(11, 13, seed=3), _random(13, seed=4)
    pairs = (q @ w_q)[:, :, None] + (k @ w_k)[:, None]
    right = additive_scores(q, k, w_q, w_k, u).double()
    return compare(
        numbers(call(answer, *(t.clone() for t in (q, k, w_q, w_k, u)))),
        right,
        [
            ((pairs @ u).double(), "the tanh is missing; without it the score is a sum of two parts, and the query's part cancels in the softmax."),
            (((torch.tanh(q @ w_q)[:, :, None] + torch.tanh(k @ w_k)[:, None]) @ u).double(), "the tanh comes after the sum of the two parts, not on each."),
            (torch.tanh(pairs @ u).double(), "the tanh comes before u, on each of the D hidden numbers."),
            (right.transpose(1, 2), "queries are the rows and keys the columns; yours is turned round."),
            (torch.tanh(pairs).sum(-1).double(), "the D hidden numbers are summed as they are; u weighs them."),
            (torch.tanh(pairs).double(), "these are the D hidden numbers of every pair; u turns them into one score."),
            (right.softmax(-1), "these are weights; the scores come before the softmax."),
        ],
    )  # fmt: skip


def order_matters(answer: object) -> str | None:
    """Grade a test of whether a layer can tell the order of its tokens."""
    x, place = _random(7, 3, seed=0), _random(7, 3, seed=1)
    steps = torch.arange(1, 8)[:, None]

    def self_attention(x: Tensor) -> Tensor:
        return attention(x, x, x)

    def moving_average(x: Tensor) -> Tensor:
        padded = torch.cat([x[:1] * 0, x, x[:1] * 0])
        return (padded[:-2] + padded[1:-1] + padded[2:]) / 3

    layers = [
        ("self-attention", self_attention, False),
        ("a layer that treats each token alone", lambda x: torch.tanh(x) * 2, False),
        ("the mean of all tokens so far", lambda x: x.cumsum(0) / steps, True),
        ("attention with a vector added for each place", lambda x: self_attention(x + place), True),
        ("a moving average of three neighbours", moving_average, True),
        ("a layer that hands each token the one before", lambda x: x.roll(1, 0), True),
        ("a layer that adds a hundredth of a vector for each place", lambda x: x + place / 100, True),
    ]
    said = []
    with torch.random.fork_rng(devices=[]):  # a random permutation may be the identity: ask five times
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
    if said == right:
        return None
    if len(set(said)) == 1 and said[0] is False:
        return "it always says False; some of the layers it was asked about do care about order."
    if not any(said[2:]) and all(said[:2]):
        return "every answer is turned round: return True if the order matters."
    if said[:2] == [True, True]:
        return "it says that order matters even where each token is treated alone: shuffle the outputs the same way before you compare."
    if said[0]:
        return "self-attention differs by rounding alone, about 1e-7: compare with `torch.allclose`, not exactly."
    if not said[4] and said[5]:
        return "a moving average looks the same from both ends, so turning the sequence round does not catch it: use a random permutation."
    missed = [name for (name, *_), s, r in zip(layers, said, right, strict=True) if s != r]
    return f"it is wrong about {missed[0]}."


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
            "The weights are `(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)`.",
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
]  # fmt: skip
