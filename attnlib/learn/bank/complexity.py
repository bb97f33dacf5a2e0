"""Exercises on what attention costs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad

from attnlib.learn.calling import AnswerError, call
from attnlib.learn.footprint import footprint
from attnlib.learn.grading import (
    by_cases,
    close,
    compare,
    describe,
    fresh,
    listed,
    name_number,
    normal,
    numbers,
    single,
)
from attnlib.learn.judging import by_name
from attnlib.linear import elu_plus_one

READY_MADE = {  # as PyTorch calls them inside
    *(
        "softmax",
        "log_softmax",
        "softmin",
        "special_softmax",
        "special_log_softmax",
        "_softmax",
        "_log_softmax",
    ),
    *("gumbel_softmax", "scaled_dot_product_attention"),
}


def _random(*shape: int, seed: int) -> Tensor:
    return normal(*shape, seed=seed).double()


BOOK = ("texts", "length", "layers", "heads", "kv_heads", "cache_bytes")
GPU = 24 * 10**9  # bytes
HEAD = 128  # numbers in a query, key or value


def fit_the_book(answer: object, says: dict[str, str]) -> str | None:
    """Grade the sizes of a model that reads books, with its cache, in 24 GB."""
    sizes = by_name(BOOK, answer if isinstance(answer, Mapping) else {})
    for name in BOOK:
        if not isinstance(sizes[name], Integral) or isinstance(sizes[name], bool) or sizes[name] < 1:
            raise AnswerError(says["not_whole"].format(name=name, got=describe(sizes[name])))
    texts, n, layers, H, Hkv, width = (int(sizes[name]) for name in BOOK)
    if width not in (1, 2):
        return says["cache_width"].format(width=width)
    for name, given, least in (("texts", texts, 2), ("length", n, 100_000), ("layers", layers, 24)):
        if given < least:
            return says["too_few"].format(name=name, given=given, least=least)
    if H % Hkv:
        return says["not_grouped"].format(H=H, Hkv=Hkv)
    if Hkv < 4:
        return says["few_kv_heads"].format(Hkv=Hkv)
    if 2 * H / Hkv / width < 8:
        return says["intensity"].format(group=H // Hkv, width=width, got=2 * H / Hkv / width)
    d = HEAD * H
    weights = layers * (10 * d * d + 2 * d * HEAD * Hkv)
    cache = 2 * texts * layers * Hkv * HEAD * n * width
    if 2 * weights + cache > GPU:
        return _too_much(2 * weights, cache, texts, layers, n, width, says)
    if weights < 5 * 10**9:
        return says["few_weights"].format(weights=weights / 1e9, left=(GPU - 2 * weights - cache) / 1e9)
    return None


def _too_much(
    weights: int, cache: int, texts: int, layers: int, n: int, width: int, says: dict[str, str]
) -> str:
    """Say by how much weights and cache, in bytes, are too large, and what somebody counted if they seemed to fit."""
    sizes = says["too_much"].format(
        over=(weights + cache - GPU) / 1e9, weights=weights / 1e9, cache=cache / 1e9
    )
    counted = [
        (weights + cache, 24 * 2**30, says["binary"]),
        (weights + cache / 2, GPU, says["keys_alone"]),
        (weights + cache / texts, GPU, says["one_text"]),
        (weights / 2 + cache, GPU, says["numbers_for_bytes"]),
        (weights + cache / layers, GPU, says["one_layer"]),
    ]
    words = next((words for held, room, words in counted if held <= room), "")
    return f"{sizes} {words}".rstrip()


def crossover(answer: object, says: dict[str, str]) -> str | None:
    """Grade the length at which core and projections are equal, with grouped heads."""
    for d, H, Hkv in ((768, 12, 3), (1024, 16, 16), (512, 8, 1)):
        known = [
            (2 * d, says["as_many_heads"]),
            (d, says["at_d"]),
            (2 * d * Hkv / H, says["all_shrink"]),
            (d * (1 + Hkv / H) / 2, says["half"]),
            (d * (1 + Hkv / H) * 2, says["twice"]),
            (d * (1 / 2 + Hkv / H), says["no_output"]),
            (d * (3 + Hkv / H) / 2, says["one_shrinks"]),
            (d * (1 + H / Hkv), says["upside_down"]),
        ]
        where = says["where"].format(d=d, H=H, Hkv=Hkv)
        wrong = name_number(single(call(answer, d, H, Hkv)), d + d * Hkv / H, known, where)
        if wrong:
            return wrong
    return None


def cache(answer: object, says: dict[str, str]) -> str | None:
    """Grade the bytes of a KV cache."""
    # in the first sizes no two mistakes meet, nor does one undo another
    for B, layers, d, H, Hkv, n, width in ((7, 11, 1280, 20, 4, 1000, 3), (5, 32, 4096, 32, 8, 700, 2)):
        D = d // H
        right = 2 * B * layers * Hkv * D * n * width
        known = [
            (right / 2, says["half"]),
            (right * H / Hkv, says["query_heads"]),
            (right * (H / Hkv) ** 2, says["ratio_upside_down"]),
            (right / B, says["one_sequence"]),
            (right / layers, says["one_layer"]),
            (right / 2 * H / Hkv, says["half_of_query_heads"]),
            (right * 8, says["bits"]),
            (right / width, says["numbers"]),
            *((right * built_in / width, says["width_unused"]) for built_in in (2, 4)),
            (right * H, says["wide_heads"]),
            (right * n, says["scores"]),
            (right / D, says["one_number"]),
            (right / Hkv, says["one_head"]),
        ]
        where = says["where"].format(B=B, layers=layers, d=d, H=H, Hkv=Hkv, n=n, width=width)
        wrong = name_number(single(call(answer, B, layers, d, H, Hkv, n, width)), right, known, where)
        if wrong:
            return wrong
    return None


def window_pairs(answer: object, says: dict[str, str]) -> str | None:
    """Grade how many pairs a causal sliding window has."""
    for n, window in ((11, 4), (7, 1), (1000, 64), (4, 9)):
        known = [
            (n * n, says["every_pair"]),
            (n * window, says["always_full"]),
            ((n - window + 1) * window, says["full_alone"]),
            (n * window - window, says["one_query_less"]),
            (sum(min(i, window - 1) for i in range(n)), says["not_itself"]),
            (sum(min(i, window) for i in range(n)), says["before_itself"]),
            (sum(min(i + 1, window + 1) for i in range(n)), says["one_too_many"]),
            (sum(min(n, i + window) - max(0, i - window + 1) for i in range(n)), says["ahead"]),
            (n * (n + 1) // 2, says["triangle"]),
        ]
        if window >= n:
            known = [(n * window - window * (window - 1) // 2, says["beyond_the_text"])]
        right, where = sum(min(i + 1, window) for i in range(n)), says["where"].format(n=n, window=window)
        wrong = name_number(single(call(answer, n, window)), right, known, where)
        if wrong:
            return wrong
    return None


def intensity(answer: object, says: dict[str, str]) -> str | None:
    """Grade the operations a byte of one decoding step."""
    for group, width in ((5, 8), (3, 4), (1, 2), (8, 2)):  # in the first no two mistakes meet
        known = [
            (width / (2 * group), says["upside_down"]),
            (4 * group / width, says["twice"]),
            (group / width, says["half"]),
            (2 / width, says["one_query_head"]),
            (2 / (width * group), says["work_shared"]),
            (2 * group / (8 * width), says["bits"]),
            (2 * group, says["per_number"]),
            (group, says["half_per_number"]),
            (4 * group, says["twice_per_number"]),
            (2 * group * width, says["times_width"]),
            (2 * group**2 / width, says["group_squared"]),
            (2 * group // width, says["fraction_lost"]),
        ]
        where = says["where"].format(group=group, width=width)
        wrong = name_number(single(call(answer, group, width)), 2 * group / width, known, where)
        if wrong:
            return wrong
    return None


def merge(answer: object, says: dict[str, str]) -> str | None:
    """Grade the merging of two blocks of an online softmax."""
    scores, values = _random(7, seed=0) * 2, _random(7, 3, seed=1)
    for shift in ((0, 0), (1000, 1000), (0, 1000), (1000, 0), (1000, -1000), (-1000, 1000)):
        parts, every = [], torch.cat([scores[:3] + shift[0], scores[3:] + shift[1]])
        for s, v in ((every[:3], values[:3]), (every[3:], values[3:])):
            m = s.max()
            parts += [m, (s - m).exp().sum(), s.softmax(0) @ v]
        m1, l1, o1, m2, l2, o2 = parts
        got = numbers(call(answer, *(x.clone() for x in parts)))
        if any(shift) and not torch.isfinite(got).all():
            return says["overflows"].format(m1=shift[0], m2=shift[1])
        top = torch.maximum(m1, m2)
        a, b = (m1 - top).exp(), (m2 - top).exp()
        mistakes = [
            ((l1 * o1 + l2 * o2) / (l1 + l2), says["clamped" if any(shift) else "not_rescaled"]),
            ((o1 + o2) / 2, says["plain_mean"]),
            (o1 if m1 > m2 else o2, says["larger_alone"]),
            (o2 if m1 > m2 else o1, says["smaller_alone"]),
            ((b * l2 * o1 + a * l1 * o2) / (a * l1 + b * l2), says["weights_swapped"]),
            ((a * l2 * o1 + b * l1 * o2) / (a * l2 + b * l1), says["sums_swapped"]),
            (o1 + o2, says["sum_of_means"]),
            ((a * o1 + b * o2) / (a + b), says["largest_alone"]),
            (a * l1 * o1 + b * l2 * o2, says["not_divided"]),
            ((b * l1 * o1 + a * l2 * o2) / (b * l1 + a * l2), says["swapped"]),
            ((a * o1 + b * o2) / (a * l1 + b * l2), says["means_not_sums"]),
        ]
        wrong = compare(got, every.softmax(0) @ values, mistakes)
        if wrong:
            return wrong
    return None


def _blocks(scores: Tensor, values: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield blocks of scores and values, as copies that nothing else holds."""
    for start in range(0, len(scores), size):
        yield scores[start : start + size].clone(), values[start : start + size].clone()


class _Once:
    """Blocks of scores and values that come once, and say so to whoever asks for them again."""

    def __init__(self, scores: Tensor, values: Tensor, size: int, again: str) -> None:
        self.blocks, self.again, self.gone = _blocks(scores, values, size), again, False

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        if self.gone:
            raise AnswerError(self.again)
        return self

    def __next__(self) -> tuple[Tensor, Tensor]:
        try:
            return next(self.blocks)
        except StopIteration:
            self.gone = True
            raise


def _online(
    scores: Tensor,
    values: Tensor,
    size: int,
    *,
    sums: bool = True,
    outputs: bool = True,
    each: bool = False,
    after: bool = True,
) -> Tensor:
    """Go through the blocks once; if asked, do not rescale one of the sums, divide in each round, or not after."""
    top, total, o = torch.tensor(-math.inf).double(), 0.0, torch.zeros(values.shape[1]).double()
    for s, v in _blocks(scores, values, size):
        new = torch.maximum(top, s.max())
        shrink, e = (top - new).exp(), (s - new).exp()
        total = total * (shrink if sums else 1.0) + e.sum()
        o = (o * (shrink if outputs else 1.0) + e @ v) / (total if each else 1.0)
        top = new
    return o / total if after else o


def _own_maxima(scores: Tensor, values: Tensor, size: int) -> Tensor:
    """Sum up exponentials that are relative to the largest score of their own block."""
    e = torch.cat([_shifted(s) for s, _ in _blocks(scores, values, size)])
    return e @ values / e.sum()


def _each(scores: Tensor, values: Tensor, size: int) -> Tensor:
    return torch.stack([s.softmax(0) @ v for s, v in _blocks(scores, values, size)])


def _shifted(scores: Tensor) -> Tensor:
    return (scores - scores.max()).exp()


def _on_blocks(function: object, again: str) -> object:
    """Return a learner's function of blocks as one of scores, values and a size of blocks, which come once."""
    if not callable(function):
        return function

    @functools.wraps(function)
    def answer(*case: object) -> object:
        return function(_Once(*case, again))

    return answer


def one_pass(answer: object, says: dict[str, str]) -> str | None:
    """Grade an online softmax over blocks that come once."""
    cases = []
    for n, size, width in ((11, 3, 3), (7, 5, 2), (13, 2, 7)):
        scores = _random(n, seed=2) * 2
        scores[-1] = scores.max() + 1.0  # the maximum grows on the way
        cases.append((scores, _random(n, width, seed=3), size))
    mistakes = [
        (lambda *case: _online(*case, sums=False, outputs=False), says["not_rescaled"]),
        (lambda *case: _online(*case, outputs=False), says["values_not_rescaled"]),
        (lambda *case: _online(*case, sums=False), says["sum_not_rescaled"]),
        (_own_maxima, says["own_maxima"]),
        (lambda *case: _online(*case, each=True), says["divided_each_time"]),
        (lambda *case: _online(*case, each=True, after=False), says["divided_each_time"]),
        (lambda *case: _each(*case).mean(0), says["mean_of_blocks"]),
        (lambda *case: _each(*case).sum(0), says["sum_of_blocks"]),
        (lambda *case: _each(*case)[-1], says["last_block"]),
        (lambda s, v, _: s.exp() @ v / _shifted(s).sum(), says["different_maxima"]),
        (lambda s, v, _: _shifted(s) @ v, says["not_divided"]),
        (lambda s, v, _: s.exp() @ v, says["not_divided"]),
    ]

    own = READY_MADE, says["ready_made"]
    wrong = by_cases(
        _on_blocks(answer, says["read_twice"]),
        lambda s, v, _: s.softmax(0) @ v,
        cases,
        mistakes,
        ready_made=own,
    )
    return wrong or _extreme_scores(answer, says) or _keeps_blocks(answer, says)


def _extreme_scores(answer: Callable, says: dict[str, str]) -> str | None:
    """Try scores near 1000 and -1000, and both in one block."""
    values, scores = _random(7, 3, seed=3), _random(7, seed=4)
    far = torch.tensor([-1000.0, 0.0, 1000.0, -1000.0, 900.0, 1000.0, 0.0]).double()
    cases = [
        (scores + 1000, says["large"]),
        (scores - 1000, says["far_below"]),
        (scores + 1000 * (torch.arange(7) > 2), says["large_later"]),
        (scores + 1000 * (torch.arange(7) < 3), says["large_earlier"]),
        (scores + far, says["far_apart"]),
    ]
    for extreme, words in cases:
        got = numbers(call(answer, _blocks(extreme, values, 3)))
        if not close(got, extreme.softmax(0) @ values):
            return words
    return None


def _keeps_blocks(answer: Callable, says: dict[str, str]) -> str | None:
    """Tell whether more is held than a block and three things, over three hundred blocks."""
    scores, values = _random(900, seed=5), _random(900, 3, seed=6)
    needs = footprint(answer, lambda: _blocks(scores, values, 3))
    return says["blocks_kept"] if needs.held > 450 or needs.python > 2**14 else None


GRADIENTS = ("dv", "dq", "dk")  # in the order in which they are judged; the first needs the weights alone


def _backward_cases() -> Iterator[tuple]:
    """Yield queries, keys, values, outputs, logarithms of sums, a gradient and the size of a block."""
    for T, S, D, Dv, size, sharp in (
        (5, 7, 3, 2, 3, 1),
        (3, 11, 2, 5, 4, 1),
        (6, 4, 5, 3, 4, 2),
        (4, 9, 2, 3, 2, 400),
    ):
        q, k, v, do = (_random(*sizes, seed=n) for n, sizes in enumerate(((T, D), (S, D), (S, Dv), (T, Dv))))
        q = q * sharp
        scores = q @ k.mT * D**-0.5
        yield q, k, v, scores.softmax(-1) @ v, scores.logsumexp(-1), do, size


def _known_gradients(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor, size: int, says: dict[str, str]
) -> dict[str, list[tuple[Tensor, str]]]:
    """Return for each gradient what it is, first, and what known mistakes make of it."""
    root, lse = q.shape[-1] ** -0.5, lse[:, None]
    scores = q @ k.mT * root
    starts = range(0, len(k), size)
    p, dp, mean = (scores - lse).exp(), do @ v.mT, (do * o).sum(-1, keepdim=True)
    in_block = torch.cat(
        [(p * dp)[:, n : n + size].sum(-1, keepdim=True).expand_as(p[:, n : n + size]) for n in starts], 1
    )
    weights = [
        (p, ""),
        (torch.cat([scores[:, n : n + size].softmax(-1) for n in starts], 1), says["softmax_of_a_block"]),
        (scores.exp(), says["sum_unused"]),
        ((scores / root - lse).exp(), says["not_scaled"]),
        (_shifted(scores), says["sum_unused"]),
        ((scores - lse.exp()).exp(), says["lse_is_a_logarithm"]),
        (scores.exp() / lse, says["lse_is_a_logarithm"]),
    ]
    slopes = [
        (p * (dp - mean), ""),
        (p * dp, says["no_mean"]),
        (p * (dp - in_block), says["mean_of_a_block"]),
        (p * (dp + mean), says["mean_added"]),
        (dp - mean, says["not_weighted"]),
        (dp, says["not_weighted"]),
        (p * (dp - dp.mean(-1, keepdim=True)), says["plain_mean"]),
        (p * (1 - p) * dp, says["diagonal_alone"]),
        (p * (dp - o.sum(-1, keepdim=True)), says["output_alone"]),
        (p * (dp - do.sum(-1, keepdim=True)), says["gradient_alone"]),
        *((w * (dp - mean), words) for w, words in weights[1:]),
    ]
    last = torch.arange(len(k)) >= starts[-1]
    found = {"dv": [(w.mT @ do, words) for w, words in weights], "dq": [], "dk": []}
    whole = torch.arange(len(k)) < len(k) // size * size
    found["dv"] += [
        (p.mT @ do * last[:, None], says["last_block"]),
        (p.mT @ do * whole[:, None], says["never_read"]),
        (p.mT @ o, says["output_for_gradient"]),
        (p.mT @ do * root, says["values_scaled"]),
    ]
    for ds, words in slopes:
        found["dq"].append((ds @ k * root, words))
        found["dk"].append((ds.mT @ q * root, words))
    ds = slopes[0][0]
    for factor, words in (
        (1.0, says["slope_unscaled"]),
        (root**2, says["slope_scaled_twice"]),
        (-root, says["sign"]),
        (v.shape[-1] ** -0.5, says["root_of_Dv"]),
    ):
        found["dq"] += [(one @ k * factor, words) for one in (ds, p * dp)]
        found["dk"] += [(one.mT @ q * factor, words) for one in (ds, p * dp)]
    found["dq"].append(((ds * last) @ k * root, says["last_block"]))
    found["dk"].append(((ds * last).mT @ q * root, says["last_block"]))
    return found


def backwards(answer: object, says: dict[str, str]) -> str | None:
    """Grade the gradients of attention from the logarithms of the rows' sums, block by block."""
    for case in _backward_cases():
        result = call(listed(answer), *map(fresh, case))
        if not isinstance(result, list) or len(result) != 3:
            return says["three"].format(got=describe(result))
        got = dict(zip(("dq", "dk", "dv"), map(numbers, result), strict=True))
        known = _known_gradients(*case, says)
        shapes = {name: known[name][0][0].shape for name in GRADIENTS}
        if sorted(tuple(x.shape) for x in got.values()) == sorted(map(tuple, shapes.values())) and any(
            got[name].shape != shapes[name] for name in GRADIENTS
        ):
            return says["order"]
        large = case[0].abs().max() > 100
        for name in GRADIENTS:
            if large and not got[name].isfinite().all():
                return says["overflows"].format(name=name)
            (right, _), *mistakes = known[name]
            called = name, "too large", "too small"
            words = compare(got[name], right, mistakes, tolerance=1e-3, called=called)
            if words:
                return f"{name}: {words}"
    return _holds_weights(answer, says)


def _holds_weights(answer: Callable, says: dict[str, str], T: int = 64, S: int = 128) -> str | None:
    """Tell whether the weights of all pairs are held at once."""
    q, k, v, do = (_random(n, 2, seed=n) for n in (T, S, S + 1, T + 1))
    k, v, do = k[:S], v[:S], do[:T]
    scores = q @ k.mT * 2**-0.5
    o, lse = scores.softmax(-1) @ v, scores.logsumexp(-1)
    needs = footprint(listed(answer), q, k, v, o, lse, do, 4)
    return says["all_weights"] if needs.held > 3 * T * S // 4 or needs.python > 24 * T * S else None


def _beginning(q: Tensor, k: Tensor) -> Tensor:
    s = q @ k.mT
    return 1 + s + s**2 / 2


def exponential_features(answer: object, says: dict[str, str]) -> str | None:
    """Grade features whose product is 1 + s + s²/2, and not more of them than are needed."""
    for n, (T, S, D) in enumerate(((5, 7, 3), (11, 3, 5), (7, 13, 2))):
        where = says["where"].format(D=D) if n else ""
        q, k = normal(T, D, seed=n) * 0.8, normal(S, D, seed=n + 10) * 0.8
        given = [call(answer, x.clone()) for x in (q, k)]
        of_q, of_k = (_features(one, x, says) for one, x in zip(given, (q, k), strict=True))
        many, others = of_q.shape[1], of_k.shape[1]
        if many != others:
            return where + says["number_varies"].format(T=T, many=many, S=S, others=others)
        got = of_q @ of_k.mT
        coarse = any(str(getattr(one, "dtype", "")).endswith("float16") for one in given)  # bfloat16 too
        if not close(got, _beginning(q.double(), k.double()), 0.2 if coarse else 1e-3):
            return where + _other_terms(got, q.double(), k.double(), says)
        enough = (D + 1) * (D + 2) // 2
        if many > enough:
            return says["too_many"].format(many=many, D=D, enough=enough)
    return None


def _features(given: object, x: Tensor, says: dict[str, str]) -> Tensor:
    """Read the features of vectors ``(T, D)``.

    Raises:
        AnswerError: If they are not ``(T, F)``, or not finite.
    """
    got = numbers(given)
    if got.ndim != 2 or got.shape[0] != len(x):
        said = [says["shape"].format(x=tuple(x.shape), T=len(x), got=tuple(got.shape))]
        if got.ndim == 2 and got.shape[1] == len(x):
            said.append(says["turned"])
        if got.ndim > 2:
            said.append(says["not_flat"])
        raise AnswerError(" ".join(said))
    if not got.isfinite().all():
        raise AnswerError(says["not_finite"])
    return got


def _other_terms(got: Tensor, q: Tensor, k: Tensor, says: dict[str, str]) -> str:
    """Say which terms the product of the features has instead of 1 + s + s²/2."""
    s, squares, D = q @ k.mT, q**2 @ k.mT**2, q.shape[1]
    terms = torch.stack([torch.ones_like(s), s, squares, (s**2 - squares) / 2], -1).flatten(0, 1)
    found = torch.linalg.lstsq(terms, got.flatten()[:, None]).solution[:, 0]
    if not close((terms @ found).reshape(got.shape), got, 1e-3):
        return _no_polynomial(got, q, k, says)
    one, plain, square, mixed = (round(x, 3) + 0.0 for x in found.tolist())
    if abs(plain * D**0.5 - 1) < 5e-3 or abs(plain * D - 1) < 5e-3:
        return says["s_divided"]
    known = [  # how often 1, s, q_i² k_i² and q_i k_i q_j k_j count
        ((1, 1, 0, 0), says["no_square"]),
        ((0, 0, 1, 2), says["square_alone"]),
        ((0, 0, 0.5, 1), says["half_square_alone"]),
        ((1, 2, 1, 2), says["sum_squared"]),
        ((0.5, 1, 0.5, 1), says["half_sum_squared"]),
        ((1, 1, 1, 2), says["whole_square"]),
        ((1, 1, 0.25, 0.5), says["quarter_square"]),
        ((1, 1, 0.5, 0.5), says["pairs_once"]),
        ((1, 1, 1, 1), says["squares_as_pairs"]),
        ((1, 1, 0.5, 0), says["no_pairs"]),
        ((1, 1, 1, 0), says["no_pairs"]),
        ((1, 1, 0, 1), says["no_squares"]),
    ]
    for form, words in known:
        if all(abs(a - b) < 5e-3 for a, b in zip(form, (one, plain, square, mixed), strict=True)):
            return words
    if abs(one - 1) > 5e-3:
        return says["other_constant"].format(one=one) if one else says["no_constant"]
    if abs(plain - 1) > 5e-3:
        return says["other_s"].format(plain=plain) if plain else says["no_s"]
    return says["other_square"].format(square=square, mixed=mixed)


def _no_polynomial(got: Tensor, q: Tensor, k: Tensor, says: dict[str, str]) -> str:
    """Name features whose product is no sum of 1, s, all squares alike and all pairs alike."""
    features = [
        (elu_plus_one, says["elu"]),
        (torch.exp, says["exponentials"]),
        (lambda x: x.softmax(-1), says["softmax"]),
        (torch.relu, says["relu"]),
        (lambda x: 1 + x + x**2 / 2, says["each_number"]),
    ]
    goes_in = [(elu_plus_one, says["elu_first"]), (normalize, says["length_one"])]
    products = [(function(q) @ function(k).mT, words) for function, words in features]
    products += [(_beginning(function(q), function(k)), words) for function, words in goes_in]
    for product, words in products:
        if close(got, product, 1e-3):
            return words
    return _uneven(got, q, k, says) or says["other_terms"]


def _uneven(got: Tensor, q: Tensor, k: Tensor, says: dict[str, str]) -> str | None:
    """Say which products of two numbers count less than others; None if there is more to it."""
    first, second = torch.triu_indices(q.shape[1] + 1, q.shape[1] + 1)
    q, k = (torch.cat([torch.ones(len(x), 1).double(), x], 1) for x in (q, k))
    terms = (q[:, first] * q[:, second])[:, None] * (k[:, first] * k[:, second])  # (T, S, F)
    counts = torch.linalg.lstsq(terms.flatten(0, 1), got.flatten()[:, None]).solution[:, 0]
    if not close(terms @ counts, got, 1e-3):
        return None
    kinds = [
        ((first == 0) & (second > 0), says["uneven_numbers"]),
        ((first > 0) & (first == second), says["uneven_squares"]),
        ((first > 0) & (first < second), says["uneven_pairs"]),
    ]
    for of, words in kinds:
        if counts[of].max() - counts[of].min() > 5e-3:
            i, j = ((index[of][counts[of].argmin()] - 1).item() for index in (first, second))
            return words.format(first=i, last=j)
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
    """Return attention in blocks over padded texts: which keys it reads, hides, and what it rescales."""
    hidden = {
        "by text": lambda position, first, ends: position >= ends,
        "by block": lambda position, first, ends: position - first >= ends,
        "one less": lambda position, first, ends: position > ends,
        "one more": lambda position, first, ends: position >= ends - 1,
        "inverted": lambda position, first, ends: position < ends,
        "nothing": lambda position, first, ends: position < 0,
        "too late": lambda position, first, ends: position >= ends,
    }[hides]
    factors = {"both": (1, 1), "total": (1, 0), "o": (0, 1), "none": (0, 0), "turned": (-1, -1)}[shrinks]

    def attend(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, size: int) -> Tensor:
        if reads == "zeros":
            k, v = (pad(x, (0, 0, 0, -k.shape[1] % size)) for x in (k, v))
        S, m, total, o = k.shape[1], torch.tensor(start), 0.0, 0.0
        for first in range(0, S // size * size if reads == "whole blocks" else S, size):
            position = torch.arange(first, min(first + size, S))
            s = q @ k[:, position].mT * scale(q, size)
            seen = s.masked_fill(hidden(position, first, lengths[:, None, None]), fill)
            new = torch.maximum(m, (s if hides == "too late" else seen).amax(-1, keepdim=True))
            e, (for_total, for_o) = (seen - new).exp(), (((m - new) * n).exp() if n else 1.0 for n in factors)
            total = total * for_total + e.sum(-1, keepdim=True)
            m, o = new, o * for_o + e @ v[:, position]
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


def blocks_repaired(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of attention in blocks, over texts with padding, with three silent mistakes."""
    mistakes = [
        (_attend_in_blocks("whole blocks", "by block", "total"), says["as_it_was"]),
        (_attend_in_blocks(fill=-100.0), says["filled_too_high"]),
        (_attend_in_blocks(fill=0.0), says["filled_with_0"]),
        (_attend_in_blocks(start=0.0), says["starts_at_0"]),
        (_attend_in_blocks(scale=lambda q, size: 1.0), says["not_scaled"]),
        (_attend_in_blocks(scale=lambda q, size: 1 / q.shape[-1]), says["no_root"]),
        (_attend_in_blocks(scale=lambda q, size: size**-0.5), says["root_of_size"]),
        (_attend_in_blocks(divided=False), says["not_divided"]),
    ]
    shrinks = [
        ("both", ""),
        ("total", says["o_not_rescaled"]),
        ("o", says["total_not_rescaled"]),
        ("none", says["none_rescaled"]),
        ("turned", says["exponent_turned"]),
    ]
    hides = [
        ("by text", ""),
        ("by block", says["hidden_by_block"]),
        ("one less", says["one_too_many"]),
        ("one more", says["one_too_few"]),
        ("inverted", says["inverted"]),
        ("nothing", says["nothing_hidden"]),
        ("too late", says["hidden_too_late"]),
    ]
    reads = [("all", ""), ("whole blocks", says["never_read"]), ("zeros", "")]
    for (shrink, scale), (hide, mask), (read, lost) in itertools.product(shrinks, hides, reads):
        said = [words for words in (scale, mask, lost) if words]
        if said:
            words = says["several"].format(many=len(said), one=said[0]) if len(said) > 1 else said[0]
            mistakes.append((_attend_in_blocks(read, hide, shrink), words))
    wrong = by_cases(answer, _attend_in_blocks(), _padded_texts(), mistakes, tolerance=1e-3)
    return wrong or _holds_table(answer, says)


def _holds_table(answer: Callable, says: dict[str, str], T: int = 32, S: int = 128) -> str | None:
    """Tell whether all scores of a text are held at once."""
    q, k, v = normal(2, T, 2, seed=3), normal(2, S, 2, seed=4), normal(2, S, 3, seed=5)
    needs = footprint(answer, q, k, v, torch.tensor([S, S - 45]), 8)
    return says["all_scores"] if needs.held > 3 * T * S // 2 or needs.python > 30 * T * S else None
