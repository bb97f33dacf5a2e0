"""Exercises on queries, keys and values."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlib.functional import attention, attention_weights
from attnlib.learn.exercises import Exercise, call
from attnlib.learn.grading import close, compare, numbers
from attnlib.scoring import additive_scores

BUY, APPLE, PHONE = (torch.tensor(x, dtype=torch.float64) for x in ([1, 1], [2, 2], [0, 4]))
WORDS = torch.stack([BUY, APPLE, PHONE])


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def scores_by_hand(answer: object) -> str | None:
    """Grade the three scores of *phone*."""
    right = WORDS @ PHONE
    return compare(
        numbers(answer),
        right,
        [
            (WORDS @ APPLE, "these are the scores of apple; now phone is the one that asks."),
            (right / math.sqrt(2), "these are divided by √2; the raw scores were asked for."),
            (right.softmax(0), "these are the weights after the softmax; the scores come before."),
            (WORDS.norm(dim=1), "these are the lengths of the words, not products with phone."),
            (
                right / WORDS.norm(dim=1) / PHONE.norm(),
                "these are cosines; a dot product does not divide by the lengths.",
            ),
        ],
        tolerance=0.01,
    )


def softmax(answer: object) -> str | None:
    """Grade a softmax over the last axis."""
    scores = torch.tensor([[4.0, 8.0, 8.0], [1.0, 2.0, 3.0]])
    e = scores.exp()
    wrong = compare(
        numbers(call(answer, scores.clone())),
        scores.softmax(-1).double(),
        [
            (
                (e / e.sum(0)).double(),
                "the columns sum to one; each row should. Which axis is that?",
            ),
            ((e / e.sum()).double(), "the whole table sums to one; each row should, by itself."),
            (
                (scores / scores.sum(-1, keepdim=True)).double(),
                "you divide the scores by their sum; the exponential is missing.",
            ),
            (e.double(), "the exponentials are right; they still have to be divided by their sum."),
            (scores.log_softmax(-1).double(), "this is the logarithm of the softmax."),
        ],
    )
    if wrong:
        return wrong
    huge = numbers(call(answer, torch.tensor([[1000.0, 1001.0]])))
    if not huge.isfinite().all():
        return (
            "right for small scores, but scores of 1000 give NaN: exp(1000) is infinite. "
            "What can you subtract from a row without changing its softmax?"
        )
    if not close(huge, torch.tensor([[0.0, 1.0]]).softmax(-1).double()):
        return "right for small scores, but not for scores of 1000."
    return None


def shapes(answer: object) -> str | None:
    """Grade the shapes of scores, weights and output."""
    if not isinstance(answer, dict) or set(answer) != {"scores", "weights", "output"}:
        return "keep the dict with its three keys scores, weights and output."
    got = {name: tuple(int(n) for n in value) for name, value in answer.items()}
    if got["scores"] == (2, 3, 11, 5):
        return "scores: queries are the rows and keys the columns; yours is turned round."
    if got["scores"] != (2, 3, 5, 11):
        return "scores: one number for each pair of a query and a key; the width 7 is summed away."
    if got["weights"] != got["scores"]:
        return "weights: the softmax changes the numbers, not the shape."
    if got["output"] == (2, 3, 5, 7):
        return "output: what is mixed are the values, so it is as wide as they are."
    if got["output"] != (2, 3, 5, 13):
        return "output: one mixed value for each query."
    return None


def soft_lookup(answer: object) -> str | None:
    """Grade a look-up of vectors, weighted by a Gaussian of the distance."""
    keys, values = _random(5, 2, seed=0), _random(5, seed=1)
    query, width = _random(2, seed=2), 0.7
    gap = query - keys
    squared = (gap**2).sum(-1)

    def mix(logits: Tensor) -> Tensor:
        return (logits.softmax(0) * values).sum().double()

    kernel = (-squared / (2 * width**2)).exp()
    got = numbers(call(answer, query.clone(), keys.clone(), values.clone(), width))
    got = got.reshape(()) if got.numel() == 1 else got
    return compare(
        got,
        mix(-squared / (2 * width**2)),
        [
            ((kernel * values).sum().double(), "the weights do not sum to one yet: divide by their sum."),
            ((kernel / kernel.sum()).double(), "these are the weights; mix the values with them."),
            (mix(-squared / (2 * width)), "the width is not squared: exp(-distance² / (2 width²))."),
            (mix(-squared / width**2), "the 2 is missing: exp(-distance² / (2 width²))."),
            (
                mix(-squared.sqrt() / (2 * width**2)),
                "the distance is not squared: exp(-distance² / (2 width²)).",
            ),
            (mix(squared / (2 * width**2)), "the sign is missing: far keys should count less."),
            (mix(-(gap.sum(-1) ** 2) / (2 * width**2)), "square each difference before you add them up."),
            (values[squared.argmin()].double(), "this takes the nearest value alone, like a dict."),
        ],
    )


def attention_from_nothing(answer: object) -> str | None:
    """Grade attention for any leading axes."""
    q, k, v = _random(5, 4, seed=0), _random(7, 4, seed=1), _random(7, 4, seed=2)
    scores, D, S = q @ k.T, 4, 7
    wrong = compare(
        numbers(call(answer, q.clone(), k.clone(), v.clone())),
        attention(q, k, v).double(),
        [
            ((scores.softmax(-1) @ v).double(), "the scores are not divided by √D."),
            (((scores / D).softmax(-1) @ v).double(), "you divide by D; its square root is enough."),
            (((scores / math.sqrt(S)).softmax(-1) @ v).double(), "you divide by √S, the number of keys; the width D is meant."),
            (((scores / 2).softmax(-2) @ v).double(), "your columns sum to one: the softmax runs over the queries. It should run over the keys, the last axis."),
            ((scores.softmax(-1) / 2 @ v).double(), "you divide the weights by √D; the scores are to be divided, before the softmax."),
            (((scores / 2).softmax(-1) @ k).double(), "you mix the keys; the values are to be mixed."),
            ((scores / 2 @ v).double(), "the softmax is missing."),
            ((scores * 2).softmax(-1).matmul(v).double(), "you multiply by √D; divide."),
        ],
    )  # fmt: skip
    if wrong:
        return wrong
    q, k, v = (
        _random(2, 3, 5, 11, seed=3),
        _random(2, 3, 7, 11, seed=4),
        _random(2, 3, 7, 13, seed=5),
    )
    try:
        got = numbers(call(answer, q, k, v))
    except Exception as error:
        return (
            f"right for one sequence, but with leading axes (2, 3, 7, 11) it stopped with "
            f"`{type(error).__name__}: {error}`; turn only the last two axes, with `transpose(-2, -1)`."
        )
    wrong = compare(got, attention(q, k, v).double())
    return wrong and f"right for one sequence, but not with leading axes: {wrong}"


def one_sided_query(answer: object) -> str | None:
    """Grade a query matrix that makes *apple* listen to *phone*, and not the other way."""
    w_q = numbers(answer)
    if w_q.shape != (2, 2):
        return f"w_q should be a 2 by 2 matrix, yours has shape {tuple(w_q.shape)}."

    def weights(w: Tensor) -> Tensor:
        return attention_weights(WORDS @ w, WORDS, scale=1.0)

    def solved(w: Tensor) -> bool:
        return bool(weights(w)[1, 2] >= 0.99 and weights(w)[2, 1] <= 0.01)

    if solved(w_q):
        return None
    if solved(w_q.T):
        return "it would work as w_q @ apple, but here the query is apple @ w_q: transpose it."
    to_phone, back = weights(w_q)[1, 2].item(), weights(w_q)[2, 1].item()
    if to_phone < 0.99:
        return (
            f"apple gives phone {to_phone:.3f}, at least 0.99 is asked. Its query is "
            f"{[round(x, 2) for x in (APPLE @ w_q).tolist()]}: that should point where phone lies, "
            f"and away from apple."
        )
    return f"apple listens to phone, but phone still gives apple {back:.3f}; at most 0.01 is asked."


def growing_vectors(answer: object) -> str | None:
    """Grade three vectors a, b, c of which a looks at b and b looks at c, with tied projections."""
    x = numbers(answer)
    if x.shape != (3, 2):
        return f"three vectors of two numbers are asked, yours have shape {tuple(x.shape)}."
    scores, names = x @ x.T, "abc"
    for i, j in ((0, 1), (1, 2)):
        best = int(scores[i].argmax())
        if best != j or scores[i].sort().values[-2] >= scores[i, j]:
            rival = max((n for n in range(3) if n != j), key=lambda n: scores[i, n].item())
            text = (
                f"{names[i]} should score highest with {names[j]} ({scores[i, j]:.2f}), "
                f"but {names[rival]} reaches {scores[i, rival]:.2f}."
            )
            if x[j].norm() <= x[i].norm():
                text += f" No wonder: {names[j]} is not longer than {names[i]}."
            return text
    return None


def additive(answer: object) -> str | None:
    """Grade additive scores."""
    q, k = _random(2, 3, 5, seed=0), _random(2, 7, 11, seed=1)
    w_q, w_k, v = _random(5, 13, seed=2), _random(11, 13, seed=3), _random(13, seed=4)
    pairs = (q @ w_q)[:, :, None] + (k @ w_k)[:, None]
    right = additive_scores(q, k, w_q, w_k, v).double()
    return compare(
        numbers(call(answer, q, k, w_q, w_k, v)),
        right,
        [
            ((pairs @ v).double(), "the tanh is missing; without it the score is a sum of two parts, and the query's part cancels in the softmax."),
            (torch.tanh(pairs @ v).double(), "the tanh comes before v, on each of the D hidden numbers."),
            (right.transpose(1, 2), "queries are the rows and keys the columns; yours is turned round."),
            (torch.tanh(pairs).sum(-1).double(), "the D hidden numbers are summed as they are; v weighs them."),
            (torch.tanh(pairs).double(), "these are the D hidden numbers of every pair; v turns them into one score."),
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
    ]
    said = [bool(call(answer, layer, x.clone())) for _, layer, _ in layers]
    right = [truth for *_, truth in layers]
    if said == right:
        return None
    if said == [not truth for truth in right]:
        return "every answer is turned round: return True if the order matters."
    if said[:2] == [True, True]:
        return "it says that order matters even where each token is treated alone: shuffle the outputs the same way before you compare."
    if said[0] and not said[1]:
        return "self-attention differs by rounding alone, about 1e-7: compare with `torch.allclose`, not exactly."
    if said == [False, False, True, True, False]:
        return "a moving average looks the same from both ends, so turning the sequence round does not catch it: use a random permutation."
    missed = [name for (name, *_), s, r in zip(layers, said, right, strict=True) if s != r]
    return f"it is wrong about {missed[0]}."


EXERCISES = [
    Exercise(
        "3.1", "Scores by hand", "easy", 3,
        (
            "A score is a dot product: multiply the numbers in the same place, then add.",
            "phone is (0, 4). With buy = (1, 1): 0·1 + 4·1.",
        ),
        scores_by_hand,
        "phone scores itself highest, because it is the longest: a dot product rewards length.",
    ),
    Exercise(
        "3.2", "A softmax that does not overflow", "easy", 5,
        (
            "Exponentials first, then divide each row by its sum; `sum(-1, keepdim=True)` keeps the axis.",
            "exp(1000) is infinite. Adding one number to a whole row of scores does not change its softmax.",
            "Subtract the largest score of each row: `scores.amax(-1, keepdim=True)`.",
        ),
        softmax,
        "Every softmax in use subtracts the largest score first, PyTorch's too.",
    ),
    Exercise(
        "3.3", "Shapes", "easy", 4,
        (
            "`q @ k.transpose(-2, -1)` pairs every query with every key; leading axes stay as they are.",
            "There are 5 queries and 11 keys. What is mixed at the end are the values, 13 wide.",
        ),
        shapes,
        "The output has as many rows as there are queries, and is as wide as the values.",
    ),
    Exercise(
        "3.4", "A soft dictionary", "medium", 8,
        (
            "The squared distance to each key is `((query - keys) ** 2).sum(-1)`, one number for each key.",
            "Weigh each key by exp(-distance² / (2 width²)), divide by the sum, mix the values.",
            "Or put -distance² / (2 width²) into a softmax: it does the exponential and the division.",
        ),
        soft_lookup,
        "A narrow width makes it a dict that takes the nearest key; a wide one returns the mean.",
    ),
    Exercise(
        "3.5", "Attention from nothing", "medium", 10,
        (
            "Four steps: products, divide by √D, softmax over the keys, mix the values.",
            "For any leading axes turn only the last two: `k.transpose(-2, -1)`.",
            "`(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1) @ v`",
        ),
        attention_from_nothing,
        "That is the whole mechanism; everything else in this book is about its consequences.",
    ),
    Exercise(
        "3.6", "A query with a will of its own", "medium", 8,
        (
            "The query apple @ w_q should have a large product with phone = (0, 4), and a small one with apple = (2, 2).",
            "A query that points along (-1, 1) is blind to apple and sees phone.",
            "Which matrix turns (2, 2) into (-2, 2)? Remember that the vector stands on the left.",
        ),
        one_sided_query,
        "With a projection of its own a word can look for something that is unlike itself.",
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
            "tanh first, then `@ v`, which sums the last axis away.",
        ),
        additive,
        "On the way it held D numbers for every pair; the dot product holds one.",
    ),
    Exercise(
        "3.9", "Does order matter?", "hard", 12,
        (
            "Shuffle the tokens with `torch.randperm(len(x))`, run the layer, and compare.",
            "If order does not matter, layer(x[p]) equals layer(x)[p], up to rounding.",
            "`not torch.allclose(layer(x[p]), layer(x)[p], atol=1e-5)`",
        ),
        order_matters,
        "Attention sees a set, not a sequence. Whatever it knows of order must be put into the vectors.",
    ),
]  # fmt: skip
