"""Exercises on queries, keys and values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import product

import numpy as np
import torch
from torch import Tensor

from attnlib.experiments.queries_keys_values.black_boxes import BOXES
from attnlib.functional import attention, attention_weights
from attnlib.learn.calling import AnswerError, call, tell_error
from attnlib.learn.grading import by_cases, close, compare, normal, numbers, scalar
from attnlib.scoring import additive_scores

NAMES = "buy", "apple", "phone"
WORDS = torch.tensor([[1, 1], [2, 2], [0, 4]], dtype=torch.float64)


def _normals(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
    """Return normal numbers in each of the shapes, the same at every call."""
    return tuple(normal(*shape, seed=n) for n, shape in enumerate(shapes))


def softmax(answer: object, says: dict[str, str]) -> str | None:
    """Grade a softmax over the last axis."""
    cases = [
        (torch.tensor([[4.0, 8.0, 8.0], [1.0, 2.0, 3.0]]),),
        (normal(7, 5, seed=0),),
        (normal(3, 2, seed=1) - 9,),
    ]
    mistakes = [
        (lambda s: s.softmax(0), says["columns"]),
        (lambda s: s.exp() / s.exp().sum(), says["whole_table"]),
        (lambda s: _shifted(s) / _shifted(s).sum(), says["whole_table"]),
        (lambda s: s / s.sum(-1, keepdim=True), says["no_exponential"]),
        (torch.exp, says["not_divided"]),
        (_shifted, says["not_divided"]),
        (lambda s: s.log_softmax(-1), says["logarithm"]),
    ]
    for exponentials, n in product((torch.exp, _shifted), range(1, 7)):
        mistakes.append((_with_epsilon(exponentials, 10**-n), says["epsilon"]))

    def graded(ready_made: set[str]) -> str | None:
        own = ready_made, says["ready_made"]
        return by_cases(answer, lambda s: s.softmax(-1), cases, mistakes, ready_made=own)

    wrong = graded(set()) or _huge_scores(answer, says) or _more_axes(answer, says)
    return wrong or graded(READY_MADE)  # last, as it says that the numbers are right


# what holds a softmax, or its exponentials and their sum
READY_MADE = {
    *("softmax", "log_softmax", "softmin", "gumbel_softmax", "cross_entropy", "scaled_dot_product_attention"),
    *(
        "special_softmax",
        "special_log_softmax",
        "special_logsumexp",
        "_softmax",
        "_log_softmax",
        "_safe_softmax",
    ),
    *("logsumexp", "logcumsumexp", "logaddexp", "logaddexp2"),
}


def _shifted(s: Tensor) -> Tensor:
    return (s - s.amax(-1, keepdim=True)).exp()


def _with_epsilon(exponentials: Callable, epsilon: float) -> Callable:
    return lambda s: exponentials(s) / (exponentials(s).sum(-1, keepdim=True) + epsilon)


def _huge_scores(answer: Callable, says: dict[str, str]) -> str | None:
    for rows in ([[1000.0, 1001.0]], [[1000.0, 0.0], [1.0, 2.0]], [[-1000.0, 10.0], [-1000.0, -1001.0]]):
        huge = numbers(call(answer, torch.tensor(rows)))
        if not huge.isfinite().all():
            return says["overflow"].format(rows=rows)
        if rows == [[1000.0, 1001.0]] and close(huge, torch.full((1, 2), 0.5).double()):
            return says["cut_off"].format(rows=rows)
        wrong = compare(huge, torch.tensor(rows).softmax(-1).double())
        if wrong:
            return says["wrong_if_huge"].format(rows=rows, wrong=wrong)
    return None


def _more_axes(answer: Callable, says: dict[str, str]) -> str | None:
    deep = normal(2, 3, 5, seed=0)
    wrong = compare(numbers(call(answer, deep.clone())), deep.softmax(-1).double())
    return wrong and says["more_axes"].format(wrong=wrong)


def _squared(query: Tensor, keys: Tensor) -> Tensor:
    return ((query - keys) ** 2).sum(-1)


def _kernel(query: Tensor, keys: Tensor, bandwidth: float) -> Tensor:
    return (-_squared(query, keys) / (2 * bandwidth**2)).exp()


def _mix(logits: Callable) -> Callable:
    """Return a look-up whose weights are the softmax of ``logits(squared distance, bandwidth)``."""
    return lambda query, keys, values, bandwidth: logits(_squared(query, keys), bandwidth).softmax(0) @ values


def _products(divided: Callable) -> Callable:
    """Return a look-up by dot products, divided by ``divided(bandwidth, D)``."""
    return lambda query, keys, values, bandwidth: (
        (keys @ query / divided(bandwidth, len(query))).softmax(0) @ values
    )


def soft_lookup(answer: object, says: dict[str, str]) -> str | None:
    """Grade a look-up of vectors, weighted by a Gaussian of the distance."""
    cases = [
        (normal(D, seed=2), normal(S, D, seed=0), normal(S, seed=1), bandwidth)
        for S, D, bandwidth in ((5, 5, 0.7), (11, 3, 1.3), (3, 7, 2.5))
    ]
    mistakes = [
        (lambda q, k, v, r: _kernel(q, k, r) @ v, says["not_divided"]),
        (lambda q, k, v, r: _kernel(q, k, r) @ v / len(v), says["not_divided"]),
        (lambda q, k, v, r: _kernel(q, k, r) @ v / (r * math.sqrt(2 * math.pi)), says["not_divided"]),
        (lambda q, k, v, r: _kernel(q, k, r) / _kernel(q, k, r).sum(), says["weights"]),
        (_mix(lambda d, r: -d / (2 * r)), says["bandwidth_not_squared"]),
        (_mix(lambda d, r: -d / r**2), says["no_two"]),
        (_mix(lambda d, r: -d / (2 * r) ** 2), says["two_squared"]),
        (_mix(lambda d, r: -2 * d / r**2), says["two_above"]),
        (_mix(lambda d, r: -d.sqrt() / (2 * r**2)), says["distance_not_squared"]),
        (_mix(lambda d, r: -d.sqrt() / (2 * r)), says["distance_not_squared"]),
        (_mix(lambda d, r: -d.sqrt() / r), says["distance_not_squared"]),
        (_mix(lambda d, r: -(d**2) / (2 * r**2)), says["squared_twice"]),
        (lambda q, k, v, r: (-(q - k).abs().sum(-1) / r).softmax(0) @ v, says["absolute"]),
        (lambda q, k, v, r: (-((q - k).abs().sum(-1) ** 2) / (2 * r**2)).softmax(0) @ v, says["absolute"]),
        (lambda q, k, v, r: -_squared(q, k) / (2 * r**2) @ v, says["no_exponential"]),
        (lambda q, k, v, r: (1 / _squared(q, k)) @ v / (1 / _squared(q, k)).sum(), says["no_exponential"]),
        (lambda q, k, v, r: (-_squared(q, k) / (2 * r**2)).softmax(0) @ k, says["keys_mixed"]),
        (_mix(lambda d, r: -d * r), says["bandwidth_multiplied"]),
        (_mix(lambda d, r: -d * r**2), says["bandwidth_multiplied"]),
        (_mix(lambda d, r: -2 * d * r**2), says["bandwidth_multiplied"]),
        (_mix(lambda d, r: -d / 2 * r**2), says["no_brackets"]),
        (_mix(lambda d, r: -d), says["no_bandwidth"]),
        (_mix(lambda d, r: -d / 2), says["no_bandwidth"]),
        (_mix(lambda d, r: d / (2 * r**2)), says["no_sign"]),
        (lambda q, k, v, r: (-((q - k).sum(-1) ** 2) / (2 * r**2)).softmax(0) @ v, says["squared_late"]),
        (lambda q, k, v, r: v[_squared(q, k).argmin()], says["nearest_alone"]),
        (lambda q, k, v, r: (-((q - k) ** 2).mean(-1) / (2 * r**2)).softmax(0) @ v, says["mean"]),
        (lambda q, k, v, r: (-((q - k) ** 2).sum(0) / (2 * r**2)).softmax(0) @ v, says["over_keys"]),
    ]
    by = [lambda r, D: 1, lambda r, D: r, lambda r, D: r**2, lambda r, D: 2 * r**2, lambda r, D: -2 * r**2]
    mistakes += [(_products(divided), says["products"]) for divided in (*by, lambda r, D: D**0.5)]
    return by_cases(answer, _mix(lambda d, r: -d / (2 * r**2)), cases, mistakes, read=scalar)


def _scored(change: Callable, dim: int = -1) -> Callable:
    """Return attention whose scores are ``change(products, D)``."""
    return lambda q, k, v: change(q @ k.mT, q.shape[-1]).softmax(dim) @ v


def attention_from_nothing(answer: object, says: dict[str, str]) -> str | None:
    """Grade attention for any leading axes."""
    cases = [
        _normals((*lead, T, D), (*lead, S, D), (*lead, S, Dv))
        for lead, T, S, D, Dv in (((), 5, 7, 5, 3), ((), 2, 3, 11, 5), ((2, 3), 5, 7, 11, 13))
    ]
    mistakes = [
        (_scored(lambda s, D: s), says["not_scaled"]),
        (_scored(lambda s, D: s / D), says["by_width"]),
        (_scored(lambda s, D: s / s.shape[-1] ** 0.5), says["by_number_of_keys"]),
        (lambda q, k, v: (q @ k.mT / v.shape[-1] ** 0.5).softmax(-1) @ v, says["by_width_of_values"]),
        (_scored(lambda s, D: s / D**0.5, -2), says["columns"]),
        (lambda q, k, v: (q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5 @ v, says["weights_scaled"]),
        (lambda q, k, v: attention(q, k, k), says["keys_mixed"]),
        (lambda q, k, v: attention_weights(q, k), says["weights"]),
        (lambda q, k, v: q @ k.mT / q.shape[-1] ** 0.5 @ v, says["no_softmax"]),
        (_scored(lambda s, D: s * D**0.5), says["multiplied"]),
        (_scored(lambda s, D: (s / D**0.5).softmax(-1)), says["two_softmaxes"]),
        (_scored(lambda s, D: s / D**0.5, 1), says["heads"]),
        (_scored(lambda s, D: s / 8), says["fixed_width"]),
        (_scored(lambda s, D: s / D**0.5 + torch.full_like(s, -torch.inf).triu(1)), says["causal"]),
    ]
    own = {"scaled_dot_product_attention"}, says["ready_made"]
    try:
        return _exchanged(answer, says) or by_cases(answer, attention, cases, mistakes, ready_made=own)
    except IndexError as error:
        if "Dimension out of range" not in str(error):
            raise
        return f"{tell_error(error, answer)} {says['from_the_front']}"


def _exchanged(answer: object, says: dict[str, str]) -> str | None:
    """Tell whether the keys ask: only with as many queries as keys does that not stop."""
    q, k, v = _normals((5, 7), (5, 7), (5, 3))
    got = numbers(call(answer, q.clone(), k.clone(), v.clone()))
    known = any(close(got, numbers((k @ q.mT / width).softmax(-1) @ v)) for width in (7**0.5, 1, 7))
    return says["exchanged"] if known else None


def mutual_query(answer: object, says: dict[str, str]) -> str | None:
    """Grade a query matrix that makes *apple* and *phone* attend to each other."""
    w_q = numbers(answer)
    if w_q.shape != (2, 2):
        return says["shape"].format(shape=tuple(w_q.shape))
    if not w_q.isfinite().all():
        return says["not_finite"]

    def weights_of(w: Tensor) -> Tensor:
        return attention_weights(WORDS @ w, WORDS, scale=1.0)

    def mutual(w: Tensor) -> tuple[float, float]:
        return weights_of(w)[1, 2].item(), weights_of(w)[2, 1].item()

    def solved(w: Tensor) -> bool:
        return min(mutual(w)) >= 0.99

    if solved(w_q):
        return None
    if solved(w_q.T):
        return says["transposed"]
    if solved(20 * w_q):
        short = [name for name, weight in zip(NAMES[1:], mutual(w_q), strict=True) if weight < 0.99]
        return says["both_too_short"] if len(short) == 2 else says["too_short"].format(name=short[0])
    for changed, words in (
        (-w_q, says["other_sign"]),
        (w_q.flip(0), says["rows_exchanged"]),
        (w_q.flip(1), says["columns_exchanged"]),
    ):
        if solved(changed):
            return words
    if math.isnan(sum(mutual(w_q))):
        return says["overflows"]
    for i, j in ((1, 2), (2, 1)):
        row = weights_of(w_q)[i]
        if row[j] < 0.99:
            rival = max((n for n in range(3) if n != j), key=lambda n: row[n].item())
            whose = says["itself"] if rival == i else NAMES[rival]
            query = [round(x, 2) for x in (WORDS[i] @ w_q).tolist()]
            told = {"who": NAMES[i], "whom": NAMES[j], "rival": whose, "query": query}
            return says["astray"].format(weight=row[j], more=row[rival], **told)
    return None


def growing_vectors(answer: object, says: dict[str, str]) -> str | None:
    """Grade three vectors a, b, c of which a attends most to b and b to c, with tied projections."""
    x = numbers(answer)
    if x.shape != (3, 2):
        return says["shape"].format(shape=tuple(x.shape))
    if not x.isfinite().all():
        return says["not_finite"]
    wrong = _astray(x, says)
    return says["opposite_order"] if wrong and not _astray(x.flip(0), says) else wrong


def _astray(x: Tensor, says: dict[str, str]) -> str | None:
    """Return what keeps a from attending most to b, or b to c."""
    scores, names = x @ x.T, "abc"
    for i, j in ((0, 1), (1, 2)):
        rival = max((n for n in range(3) if n != j), key=lambda n: scores[i, n].item())
        if scores[i, rival] >= scores[i, j]:
            words = says["ties"] if scores[i, rival] == scores[i, j] else says["outdone"]
            if x[j].norm() <= x[i].norm():
                words = f"{words} {says['not_longer']}"
            named = says["itself"] if rival == i else names[rival]
            return words.format(
                who=names[i], whom=names[j], score=scores[i, j], rival=named, highest=scores[i, rival]
            )
    return None


def _added(score: Callable) -> Callable:
    """Return scores made by ``score`` of the projected queries, the projected keys and u."""
    return lambda q, k, w_q, w_k, u: score((q @ w_q)[:, :, None], (k @ w_k)[:, None], u)


def additive(answer: object, says: dict[str, str]) -> str | None:
    """Grade additive scores."""
    cases = [
        _normals((B, T, C), (B, S, K), (C, D), (K, D), (D,))
        for B, T, S, C, K, D in (
            (2, 3, 3, 5, 11, 13),
            (2, 3, 7, 5, 11, 13),
            (3, 5, 2, 7, 3, 11),
            (5, 2, 3, 3, 2, 7),
        )
    ]
    mistakes = [
        (_added(lambda q, k, u: (q + k) @ u), says["no_tanh"]),
        (_added(lambda q, k, u: (q.tanh() + k.tanh()) @ u), says["tanh_early"]),
        (_added(lambda q, k, u: ((q + k) @ u).tanh()), says["tanh_late"]),
        (lambda *case: additive_scores(*case).mT, says["turned"]),
        (_added(lambda q, k, u: (q + k).tanh().sum(-1)), says["u_unused"]),
        (_added(lambda q, k, u: (q + k).tanh()), says["hidden_numbers"]),
        (lambda q, k, w_q, w_k, u: (q @ w_q) @ (k @ w_k).mT, says["dot_products"]),
        (lambda *case: additive_scores(*case).softmax(-1), says["weights"]),
        (lambda *case: additive_scores(*case) / len(case[-1]) ** 0.5, says["divided"]),
        (_added(lambda q, k, u: (q - k).tanh() @ u), says["minus"]),
        (_added(lambda q, k, u: (k - q).tanh() @ u), says["minus"]),
        (lambda q, k, w_q, w_k, u: (q @ w_q + k @ w_k).tanh() @ u, says["same_position"]),
        (_added(lambda q, k, u: (q + k).tanh() * u), says["not_summed"]),
        (_added(lambda q, k, u: (q * k).tanh() @ u), says["multiplied"]),
    ]
    return by_cases(answer, additive_scores, cases, mistakes)


def _layers(marked: list[int], says: dict[str, str]) -> list[tuple[str, Callable[[Tensor], Tensor], bool]]:
    """Return layers on 7 tokens, each with its name and whether the order of its tokens matters to it."""
    position, steps, marks = normal(7, 3, seed=1), torch.arange(1, 8)[:, None], torch.eye(7)[:, :, None]

    def self_attention(x: Tensor) -> Tensor:
        return attention(x, x, x)

    def moving_average(x: Tensor) -> Tensor:
        padded = torch.cat([x[:1] * 0, x, x[:1] * 0])
        return (padded[:-2] + padded[1:-1] + padded[2:]) / 3

    def marks_token(token: int) -> Callable[[Tensor], Tensor]:
        return lambda x: x + marks[token]

    return [
        (says["self_attention"], self_attention, False),
        (says["each_alone"], lambda x: torch.tanh(x) * 2, False),
        (says["mean_so_far"], lambda x: x.cumsum(0) / steps, True),
        (says["attention_with_positions"], lambda x: self_attention(x + position), True),
        (says["moving_average"], moving_average, True),
        (says["one_before"], lambda x: x.roll(1, 0), True),
        (says["faint_positions"], lambda x: x + position / 100, True),
        *((says["marks_token"].format(token=token), marks_token(token), True) for token in marked),
    ]


def _ask_five_times(answer: object, layer: Callable, x: Tensor) -> list:
    """Return what an answer says of a layer: five times, as a random permutation may move little, or nothing."""
    return [call(answer, layer, x.clone()) for _ in range(5)]


def _positions_moved(answer: object, x: Tensor) -> list[int]:
    """Return the positions at which an answer, in five tries, ever puts another token than stood there."""
    moved: set[int] = set()

    def watch(given: Tensor) -> Tensor:
        if given.shape == x.shape:
            moved.update(i for i in range(len(x)) if not close(given[i], x[i], 1e-9))
        return given

    _ask_five_times(answer, watch, x)
    return sorted(moved)


def order_matters(answer: object, says: dict[str, str]) -> str | None:
    """Grade a test of whether a layer can tell the order of its tokens.

    It may shuffle once, by a permutation that stays the same, and some of those leave a token or two at their
    positions: a layer that marks those is not asked, unless most tokens stay.
    """
    x, said = normal(7, 3, seed=0), []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        moved = _positions_moved(answer, x)
        enough = len(moved) > len(x) / 2
        marked = moved if enough else [token for token in range(len(x)) if token not in moved]
        layers = _layers([marked[0], marked[-1]], says)
        turned = True  # whether it says the opposite: never that two equal outputs are unlike
        for name, layer, _ in layers:
            answers = _ask_five_times(answer, layer, x)
            if not all(
                isinstance(a, (bool, np.bool_)) or getattr(a, "dtype", None) == torch.bool for a in answers
            ):
                return says["no_truth"].format(type=type(answers[0]).__name__, layer=name)
            said.append(any(map(bool, answers)))
            turned &= all(map(bool, answers)) != layers[len(said) - 1][2]
        always_true = all(map(bool, _ask_five_times(answer, lambda x: x * 0, x)))
        by_rounding = not any(map(bool, _ask_five_times(answer, lambda x: x + x.amax(0), x)))
    missed = [n for n, (_, _, truth) in enumerate(layers) if said[n] != truth]
    if not missed:
        return None
    if not any(said):
        return says["always_false"]
    if turned:
        return says["inverted"]
    if all(said) and always_true:
        return says["always_true"]
    if all(said[:2]):
        return says["outputs_in_another_order"]
    if said[0]:
        return says["rounding"] if by_rounding else says["other_tokens"]
    if not said[4] and said[5] and said[6]:
        return says["turned_round"]
    if missed == [5]:
        return says["rolled"]
    if all(said[2:5]) and not any(said[5:]):
        return says["sums_alone"]
    if said[4] and said[5] and not said[2] and not any(said[6:]):
        return says["moved_not_compared"]
    if said[5] and not said[6]:
        return says["coarse"]
    if [n for n, one in enumerate(said) if one] == [3, 6]:
        return says["features"]
    if missed[0] >= 7 and not enough:  # from 7 on they mark a token
        return says["few_moved"].format(layer=layers[missed[0]][0], moved=len(moved))
    return says["wrong_about"].format(layer=layers[missed[0]][0])


HOURS = torch.tensor([6, 9, 12, 18], dtype=torch.float64)
DEGREES = torch.tensor([8, 14, 21, 15], dtype=torch.float64)
BANDWIDTH = 1.5
# how much h, h² and 1 of the query count with h and h² of the key
PRODUCTS = torch.tensor([[1, 0], [0, 0], [0, -0.5]], dtype=torch.float64) / BANDWIDTH**2


def _two_matrices(answer: object, says: dict[str, str]) -> tuple[Tensor, Tensor]:
    """Read w_q and w_k, each (3, D) with the same D.

    Raises:
        AnswerError: If they have another form.
    """
    pair = list(answer.values()) if isinstance(answer, dict) else answer
    if not isinstance(pair, (list, tuple, Tensor, np.ndarray)) or len(pair) != 2:
        raise AnswerError(says["not_two"])
    w_q, w_k = map(numbers, pair)
    for name, w in (("w_q", w_q), ("w_k", w_k)):
        if w.ndim != 2 or len(w) != 3 or not w.numel():
            words = says["on_its_side"] if w.shape[-1:] == (3,) else says["not_three_rows"]
            raise AnswerError(words.format(name=name, shape=tuple(w.shape)))
        if not w.isfinite().all():
            raise AnswerError(says["not_finite"].format(name=name))
    if w_q.shape != w_k.shape:
        raise AnswerError(says["two_widths"].format(w_q=tuple(w_q.shape), w_k=tuple(w_k.shape)))
    return w_q, w_k


def distance_by_products(answer: object, says: dict[str, str]) -> str | None:
    """Grade projections with which dot products score hours by their distance."""
    w_q, w_k = _two_matrices(answer, says)
    asking, hours = (
        torch.stack([h, h**2, torch.ones_like(h)], -1) for h in (torch.arange(0, 24.5, 0.5).double(), HOURS)
    )
    right = (asking @ PRODUCTS @ hours[:, :2].T).softmax(-1) @ DEGREES

    def off(products: Tensor) -> Tensor:
        return (asking @ products @ hours.T).softmax(-1) @ DEGREES - right

    D = w_q.shape[1]
    products = w_q @ w_k.T / D**0.5
    if off(products).abs().max() <= 0.05:
        return None
    if D == 1:
        return says["one_product"]
    if off(products[[1, 2, 0]][:, [1, 2, 0]]).abs().max() <= 0.05:
        return says["other_order"]
    if D == 3 and off(w_q.T @ w_k / D**0.5).abs().max() <= 0.05:
        return says["transposed"]
    if off(products * D**0.5).abs().max() <= 0.05:
        return says["root_forgotten"].format(D=D)
    for found, words in _other_products(products, D, says):
        if found:
            return words
    return says["overflows"]


def _other_products(products: Tensor, D: int, says: dict[str, str]) -> list[tuple[bool, str]]:
    """Return what may be wrong with the products of a query's numbers with a key's, each with its words."""
    unseen, products = products[:, 2], products[:, :2]  # what meets the key's 1 is the same for all keys
    largest = products.abs().max()
    hour, held = products[0, 0].item(), products[2, 1].item()
    small = 1e-3 * BANDWIDTH**-2
    clean = (products * (PRODUCTS == 0)).abs().max() <= small  # neither h² of the query nor other pairs
    ratio = held / hour if abs(hour) > small else 0.0
    bandwidth = abs(hour) ** -0.5 if abs(hour) > small else 0.0
    root_twice = abs(hour * BANDWIDTH**2 / D**0.5 - 1) < 0.01
    return [
        (bool(largest <= small), says["all_alike"]),
        (clean and abs(held) <= small < abs(unseen[1]), says["square_of_query"]),
        (clean and abs(held) <= small, says["no_square"]),
        (clean and abs(hour) <= small, says["no_product"]),
        (clean and hour < 0 and held > 0, says["inverted"]),
        (clean and ratio > 0, says["square_added"]),
        (clean and abs(ratio + 1) < 0.02, says["whole_square"]),
        (clean and abs(ratio + 0.25) < 0.01, says["quarter_square"]),
        (clean and abs(ratio + 0.5) < 0.02 and root_twice, says["root_twice"].format(bandwidth=bandwidth)),
        (clean and abs(ratio + 0.5) < 0.02, says["other_bandwidth"].format(bandwidth=bandwidth)),
        (clean, says["no_fit"].format(hour=hour, square=held)),
        (bool(products[1].abs().max() > small), says["square_of_query_meets"]),
        (bool(products[0, 1].abs() > small), says["query_meets_square"]),
        (bool(products[2, 0].abs() > small), says["one_meets_hour"]),
    ]


def _reshaped(x: Tensor) -> Tensor:
    """Return what has the shape of x turned round, read on row by row."""
    return x.reshape(x.mT.shape)


def _cross_attention(turn: Callable, size: Callable, axis: int) -> Callable:
    """Return cross-attention with a way to turn the keys, a width under the scores and an axis to weigh."""

    def cross_attention(x: Tensor, context: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
        scores = x @ w_q @ turn(context, w_k) / size(x, context, w_q, w_v) ** 0.5
        return scores.softmax(axis) @ (context @ w_v)

    return cross_attention


def repaired(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of a cross-attention with three silent mistakes."""
    cases = []
    for B, T, S, C, E, D, Dv in ((2, 3, 5, 7, 11, 13, 17), (3, 11, 7, 5, 2, 17, 13), (5, 2, 13, 11, 7, 3, 2)):
        made = _normals((B, T, C), (B, S, E), (C, D), (E, D), (E, Dv))
        cases.append(tuple(x if x.ndim == 3 else 2 * x / len(x) ** 0.5 for x in made))
    axes = [(-1, ""), (1, says["over_queries"]), (0, says["over_batch"])]
    turns = [
        (lambda h, w_k: (h @ w_k).mT, ""),
        (lambda h, w_k: _reshaped(h @ w_k), says["scrambled"]),
        (lambda h, w_k: w_k.T @ _reshaped(h), says["scrambled"]),
    ]
    sizes = [
        (lambda x, h, w_q, w_v: w_q.shape[1], ""),
        (lambda x, h, w_q, w_v: x.shape[-1], says["by_width_of_x"]),
        (lambda x, h, w_q, w_v: 1, says["not_scaled"]),
        (lambda x, h, w_q, w_v: w_q.shape[1] ** 2, says["by_width"]),
        (lambda x, h, w_q, w_v: h.shape[-1], says["by_width_of_context"]),
        (lambda x, h, w_q, w_v: h.shape[1], says["by_number_of_keys"]),
        (lambda x, h, w_q, w_v: w_v.shape[1], says["by_width_of_values"]),
        (lambda x, h, w_q, w_v: x.shape[1], says["by_number_of_queries"]),
        (lambda x, h, w_q, w_v: w_q.shape[1] ** 0.5, says["root_twice"]),
        (lambda x, h, w_q, w_v: 1 / w_q.shape[1], says["multiplied"]),
    ]
    as_it_was, right = (
        _cross_attention(turns[1][0], sizes[1][0], 1),
        _cross_attention(turns[0][0], sizes[0][0], -1),
    )

    def scaled(q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT / q.shape[-1] ** 0.5

    def mixed(weigh: Callable) -> Callable:
        return lambda x, h, w_q, w_k, w_v: weigh(x @ w_q, h @ w_k) @ (h @ w_v)

    mistakes = [
        (as_it_was, says["unchanged"]),
        (lambda x, h, w_q, w_k, w_v: right(x, h, w_q, w_k, w_k), says["keys_mixed"]),
        (lambda x, h, w_q, w_k, w_v: right(x, h, w_q, w_k, torch.eye(h.shape[-1])), says["context_mixed"]),
        (mixed(lambda q, k: (q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5), says["weights_scaled"]),
        (mixed(lambda q, k: scaled(q, k).softmax(1).softmax(-1)), says["two_softmaxes"]),
        (mixed(lambda q, k: scaled(q, k).flatten(1).softmax(-1).view_as(q @ k.mT)), says["over_all"]),
        (lambda x, h, w_q, w_k, w_v: attention_weights(x @ w_q, h @ w_k), says["weights"]),
        (mixed(scaled), says["no_softmax"]),
    ]
    for (axis, skewed), (turn, scrambled), (size, scale) in product(axes, turns, sizes):
        said = [words for words in (skewed, scrambled, scale) if words]
        if said:
            words = says["several"].format(count=len(said), one=said[0]) if len(said) > 1 else said[0]
            mistakes.append((_cross_attention(turn, size, axis), words))
    return by_cases(answer, right, cases, mistakes)


# of the boxes of exercise 3.13, by the names of the functions in ``black_boxes.py``
ARE_ATTENTION = "equal_weights", "sharp", "soft"
ARE_NOT = "convolution", "soft_while_short", "not_divided", "over_queries"


def _letters(answer: object, says: dict[str, str]) -> set[str]:
    """Read letters of boxes: in a list, a tuple or a set, in one string, or as the keys that a dict has as true.

    Raises:
        AnswerError: If it holds something else, or a letter that no box has.
    """
    last = max(BOXES)
    if isinstance(answer, dict):
        answer = [name for name, is_one in answer.items() if is_one]
    if isinstance(answer, str):
        answer = re.findall(r"\w+", answer) if re.search(r"\W", answer) else list(answer)
    if not isinstance(answer, (list, tuple, set, frozenset)) or not all(isinstance(n, str) for n in answer):
        raise AnswerError(says["no_letters"].format(last=last))
    named = {name.strip().lower() for name in answer}
    if named - set(BOXES):
        raise AnswerError(says["no_such_box"].format(name=min(named - set(BOXES)), last=last))
    return named


def not_attention(answer: object, says: dict[str, str]) -> str | None:
    """Grade which of the boxes are not attention."""
    called = {BOXES[name].__name__ for name in _letters(answer, says)}
    if called == set(ARE_NOT):
        return None
    if not called:
        return says["none"]
    if len(called) == len(BOXES):
        return says["all"]
    if called == set(ARE_ATTENTION):
        return says["the_others"]
    wrongly = [says[kind] for kind in ARE_ATTENTION if kind in called]
    missed = [says[kind] for kind in ARE_NOT if kind not in called]
    return (wrongly + missed)[0]
