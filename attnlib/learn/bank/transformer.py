"""Exercises on the Transformer: the block, its norms, tokens, and what a model writes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from numbers import Integral

import torch
from torch import Tensor

from attnlib.functional import attention
from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import by_cases, close, describe, listed, normal, numbers, scalar
from attnlib.learn.judging import by_name
from attnlib.positions import rotary


def _root(x: Tensor, eps: float, dim: int | tuple = -1) -> Tensor:
    return x.double().square().mean(dim, keepdim=True).add(eps).sqrt()


def _deviation(x: Tensor, eps: float, correction: int = 0) -> Tensor:
    return (x.var(-1, keepdim=True, correction=correction) + eps).sqrt()


def rms_norm(answer: object, says: dict[str, str]) -> str | None:
    """Grade an RMS norm, also of small numbers and of large ones in half precision."""
    cases = [
        (normal(*sizes, seed=0) * size + 1, normal(sizes[-1], seed=1), eps)
        for sizes, size, eps in (((2, 3, 5), 3.0, 1e-5), ((7, 2), 1.0, 1e-6), ((3, 11), 0.7, 0.5))
    ]
    mistakes = [
        (lambda x, w, e: (x - x.mean(-1, keepdim=True)) / _deviation(x, e) * w, says["layer_norm"]),
        (lambda x, w, e: (x - x.mean(-1, keepdim=True)) / _deviation(x, e, 1) * w, says["layer_norm"]),
        (lambda x, w, e: x / _deviation(x, e) * w, says["variance"]),
        (lambda x, w, e: x / _deviation(x, e, 1) * w, says["variance"]),
        (lambda x, w, e: x / (x.square().sum(-1, keepdim=True) + e).sqrt() * w, says["length"]),
        (lambda x, w, e: x / x.norm(dim=-1, keepdim=True) * w, says["length"]),
        (lambda x, w, e: x / (x.norm(dim=-1, keepdim=True) + e) * w, says["length"]),
        (lambda x, w, e: x / _root(x, e), says["weight_unused"]),
        (lambda x, w, e: x / _root(x, e) * (1 + w), says["one_more"]),
        (lambda x, w, e: x / _root(x, e) + w, says["weight_added"]),
        (lambda x, w, e: x / _root(x * w, e), says["weight_first"]),
        (lambda x, w, e: x / _root(x, e) / w, says["divided_by_weight"]),
        (lambda x, w, e: x / _root(x, e).square() * w, says["no_root"]),
        (lambda x, w, e: x * _root(x, e) * w, says["times_root"]),
        (lambda x, w, e: x / x.abs().mean(-1, keepdim=True) * w, says["mean_of_sizes"]),
        (lambda x, w, e: x / _root(x, e, -2) * w, says["over_tokens"]),
        (lambda x, w, e: x / _root(x, e, tuple(range(x.ndim))) * w, says["over_all"]),
        (lambda x, w, e: x / _root(x, e, 0) * w, says["over_first_axis"]),
        (lambda x, w, e: x / (x.mean(-1, keepdim=True) ** 2 + e).sqrt() * w, says["square_of_mean"]),
        (lambda x, w, e: x / _root(x, 0.0) * w, says["eps_unused"]),
        (lambda x, w, e: x / (_root(x, 0.0) + e) * w, says["eps_outside"]),
        (lambda x, w, e: x / (_root(x, 0.0) + math.sqrt(e)) * w, says["eps_outside"]),
    ]
    ready_made = ({"rms_norm", "layer_norm", "normalize"}, says["ready_made"])
    words = by_cases(answer, lambda x, w, e: x / _root(x, e) * w, cases, mistakes, ready_made=ready_made)
    return words or _in_half(answer, says)


def _in_half(answer: object, says: dict[str, str]) -> str | None:
    x, weight = (300 * normal(2, 5, seed=2)).half(), torch.ones(5).half()
    result = call(answer, x.clone(), weight, 1e-5)
    got = numbers(result)
    if not got.isfinite().all() or not torch.allclose(got, x.double() / _root(x, 1e-5), atol=0.02):
        return says["half_overflows"]
    dtype = str(getattr(result, "dtype", type(result).__name__))
    if dtype.removeprefix("torch.") != "float16":
        return says["half_lost"].format(dtype=dtype)
    for given in (torch.float32, torch.float64):
        dtype = str(call(answer, x.to(given), weight.to(given), 1e-5).dtype)
        if dtype.removeprefix("torch.") != str(given).removeprefix("torch."):
            return says["dtype_lost"].format(given=given, dtype=dtype)
    return None


def _drafts() -> list[tuple[Tensor, Tensor]]:
    """Return probabilities of a large model and of the small one that drafts for it; some are 0."""
    cases = [
        ([0.5, 0.3, 0.15, 0.05], [0.2, 0.35, 0.4, 0.05]),
        ([0.07, 0.0, 0.53, 0.11, 0.29], [0.23, 0.31, 0.0, 0.25, 0.21]),
        ([0.6, 0.0, 0.4], [0.9, 0.0, 0.1]),
        ([0.25, 0.0, 0.75], [0.25, 0.0, 0.75]),
        ([0.0, 1.0], [1.0, 0.0]),
    ]
    return [tuple(torch.tensor(row, dtype=torch.float64) for row in case) for case in cases]


def _rounded(p: Tensor) -> list[float]:
    """Return probabilities as they are written; on a page a tensor's numbers have fewer digits."""
    return [round(x, 4) for x in p.tolist()]


def draft(answer: object, says: dict[str, str]) -> str | None:
    """Grade the acceptance of a drafted token, and what is drawn in place of one that is rejected."""
    for n, (p, q) in enumerate(_drafts()):
        where = says["not_for"].format(p=_rounded(p), q=_rounded(q)) if n else ""
        result = call(listed(answer), p.clone(), q.clone())
        got = numbers(result)
        if got.shape != (2, len(p)):
            return where + says["two_rows"].format(V=len(p), got=tuple(got.shape))
        words = _name_acceptance(*got, p, q, says) or _name_instead(*got, p, q, says)
        if words:
            return where + words
    return None


def _name_acceptance(
    accept: Tensor, instead: Tensor, p: Tensor, q: Tensor, says: dict[str, str]
) -> str | None:
    """Return None if as many drafts are accepted as may be, else the mistake."""
    drafted = q > 0  # others never come up, so that any probability is right
    some, p_some, q_some = accept[drafted], p[drafted], q[drafted]
    if some.isnan().any() or accept.isinf().any():
        return says["accept_not_finite"]
    right = (p_some / q_some).clamp(max=1)
    if close(some, right):
        return None if accept.isfinite().all() else says["accept_not_finite"]
    mistakes = [
        (p_some / q_some, says["above_one"]),
        ((q_some / p_some).clamp(max=1), says["upside_down"]),
        (q_some / p_some, says["upside_down"]),
        ((p_some >= q_some).double(), says["all_or_nothing"]),
        ((p_some > q_some).double(), says["all_or_nothing"]),
        (torch.minimum(p_some, q_some), says["both_at_once"]),
        (p_some, says["by_target"]),
        (1 - (p_some / q_some).clamp(max=1), says["rejection"]),
        ((p_some - q_some).clamp(min=0), says["difference"]),
        (torch.zeros_like(some), says["draft_unused"]),
        (torch.ones_like(some), says["always"]),
        (p_some / (p_some + q_some), says["share"]),
    ]
    if close(instead[drafted], right) and abs(accept.sum() - 1) < 1e-4:
        return says["rows_swapped"]
    for wrong, words in mistakes:
        if close(some, wrong):
            return words
    if (some < -1e-4).any() or (some > 1 + 1e-4).any():
        return says["no_probability"]
    came = q * accept.nan_to_num()
    if close(came + (1 - came.sum()) * instead, p):
        best, got = torch.minimum(p, q).sum(), came.sum()
        return says["too_few"].format(got=float(got), best=float(best))
    above = (came - p).argmax()
    if came[above] > p[above] + 1e-4:
        return says["too_often"].format(at=int(above), came=float(came[above]), p=float(p[above]))
    return says["other_acceptance"]


def _name_instead(accept: Tensor, instead: Tensor, p: Tensor, q: Tensor, says: dict[str, str]) -> str | None:
    """Return None if what comes out is distributed as the large model says, else the mistake."""
    if not instead.isfinite().all():
        return says["instead_not_finite"]
    rejected = 1 - torch.minimum(p, q).sum()
    left = (p - q).clamp(min=0)
    if rejected < 1e-9:
        return None
    if close(instead, left / left.sum()):
        return None
    mistakes = [
        (p, says["from_target"]),
        (q, says["from_draft"]),
        (left, says["not_one"]),
        (p - q, says["negative"]),
        ((p - q) / rejected, says["negative"]),
        ((p - q).abs() / (p - q).abs().sum(), says["both_sides"]),
        ((q - p).clamp(min=0) / rejected, says["turned_round"]),
        ((p - q).softmax(0), says["softmax"]),
        (left.softmax(0), says["softmax"]),
        ((left > 0).double() / (left > 0).sum(), says["evenly"]),
        (torch.full_like(p, 1 / len(p)), says["evenly"]),
        (p * (left > 0) / (p * (left > 0)).sum(), says["only_likelier"]),
    ]
    for wrong, words in mistakes:
        if close(instead, wrong):
            return words
    if (instead < -1e-4).any() or abs(instead.sum() - 1) > 1e-4:
        return says["instead_no_probability"].format(total=float(instead.sum()))
    out = torch.minimum(p, q) + rejected * instead
    at = (out - p).abs().argmax()
    return says["other_instead"].format(at=int(at), out=float(out[at]), p=float(p[at]))


def _losses(tokens: list[int]) -> list[float]:
    """Return a loss for each token but the first, which is the smaller the more tokens come before it."""
    return [3 / n + tokens[n] / 7 + tokens[n - 1] / 50 for n in range(1, len(tokens))]


def _slices(N: int, window: int, stride: int) -> list[tuple[int, int, int]]:
    """Return for each slice its start, its end, and how many of its tokens were counted before it."""
    found, counted, start = [], 1, 0  # the first token of a text has no loss
    while counted < N:
        end = min(start + window, N)
        found.append((start, end, counted - start))
        start, counted = start + stride, end
    return found


def _new_losses(tokens: list[int], window: int, stride: int) -> list[list[float]]:
    """Return the losses that each slice adds."""
    slices = _slices(len(tokens), window, stride)
    return [_losses(tokens[start:end])[known - 1 :] for start, end, known in slices]


def _all_losses(tokens: list[int], window: int, stride: int) -> list[list[float]]:
    """Return all losses of each slice."""
    return [_losses(tokens[start:end]) for start, end, _ in _slices(len(tokens), window, stride)]


def _every_slice(tokens: list[int], window: int, stride: int) -> list[list[float]]:
    """Return the losses of slices that begin anywhere in the text, also after the one that ends it."""
    return [_losses(tokens[start : start + window]) for start in range(0, len(tokens), stride)]


def _mean(losses: list) -> float:
    return sum(losses) / len(losses)


def _flat(parts: list[list[float]]) -> list[float]:
    return [one for part in parts for one in part]


def _cut_apart(tokens: list[int], size: int) -> list[list[float]]:
    return [_losses(tokens[start : start + size]) for start in range(0, len(tokens), size)]


def _weighed_by_tokens(tokens: list[int], window: int, stride: int) -> float:
    """Weigh each slice's average by its new tokens, and divide by all: the first token has no loss."""
    parts = _new_losses(tokens, window, stride)
    new = [len(part) + (n == 0) for n, part in enumerate(parts)]
    return sum(_mean(part) * many for part, many in zip(parts, new, strict=True)) / len(tokens)


def _last_of_each(tokens: list[int], window: int, stride: int) -> list[float]:
    """Count the last losses of each slice, as many as the stride, also where fewer are new."""
    first, *rest = _all_losses(tokens, window, stride)
    return _flat([first, *(part[-stride:] for part in rest)])


def _moved_back(tokens: list[int], window: int, stride: int) -> list[float]:
    """Let the last slice be a full one, which begins earlier."""
    parts, last = _new_losses(tokens, window, stride), _losses(tokens[-window:])
    return _flat([*parts[:-1], last[-len(parts[-1]) :]])


def _in_front(tokens: list[int], window: int, stride: int) -> list[float]:
    """Count of each slice as many losses as are new, from its front."""
    pairs = zip(_all_losses(tokens, window, stride), _new_losses(tokens, window, stride), strict=True)
    return _flat([every[: len(new)] for every, new in pairs])


def _latest(tokens: list[int], window: int, stride: int) -> list[float]:
    """Let each slice put its losses over those of the slices before it."""
    found = {}
    for start, end, _ in _slices(len(tokens), window, stride):
        found |= dict(enumerate(_losses(tokens[start:end]), start))
    return [*found.values()]


def _one_dropped(tokens: list[int], window: int, stride: int, kept: slice) -> list[float]:
    """Leave a new loss of each slice but the first out."""
    first, *rest = _new_losses(tokens, window, stride)
    return _flat([first, *(part[kept] for part in rest)])


def long_text(answer: object, says: dict[str, str]) -> str | None:
    """Grade the mean loss over a text that is longer than what a model reads at once."""
    cases = []
    for N, window, stride in (
        (14, 6, 3),
        (11, 5, 2),
        (12, 4, 3),
        (5, 5, 3),
        (4, 7, 3),
        (23, 8, 5),
        (9, 3, 1),
        (14, 6, 4),
    ):

        def read(tokens: list[int], window: int = window) -> list[float]:
            if len(tokens) > window:
                raise ValueError(f"this model reads {window} tokens at once, got {len(tokens)}")
            return _losses(list(tokens))

        cases.append(([n * n % 11 for n in range(3, N + 3)], read, window, stride))

    def of(judge: Callable) -> Callable:
        return lambda tokens, read, window, stride: judge(tokens, window, stride)

    def right(tokens: list[int], window: int, stride: int) -> float:
        return _mean(_flat(_new_losses(tokens, window, stride)))

    mistakes = [
        (lambda t, w, s: _mean(_flat(_all_losses(t, w, s))), says["counted_again"]),
        (lambda t, w, s: _mean(_flat(_every_slice(t, w, s))), says["counted_again"]),
        (lambda t, w, s: _mean(_flat([part[-s:] for part in _every_slice(t, w, s)])), says["last_of_every"]),
        (lambda t, w, s: _mean([_mean(part) for part in _all_losses(t, w, s)]), says["mean_of_all_means"]),
        (lambda t, w, s: _mean([_mean(part) for part in _new_losses(t, w, s)]), says["mean_of_means"]),
        (_weighed_by_tokens, says["weighed_by_tokens"]),
        (lambda t, w, s: _mean(_flat(_cut_apart(t, w))), says["cut_apart"]),
        (lambda t, w, s: _mean(_flat(_cut_apart(t, s))), says["cut_apart"]),
        (lambda t, w, s: sum(_flat(_cut_apart(t, w))) / (len(t) - 1), says["cut_apart"]),
        (lambda t, w, s: _mean(_flat(_new_losses(t, w, s)[:-1])), says["last_lost"]),
        (lambda t, w, s: sum(_flat(_new_losses(t, w, s)[:-1])) / (len(t) - 1), says["last_lost"]),
        (lambda t, w, s: _mean(_last_of_each(t, w, s)), says["too_many_at_end"]),
        (lambda t, w, s: _mean(_moved_back(t, w, s)), says["moved_back"]),
        (lambda t, w, s: _mean(_flat([part[-s:] for part in _new_losses(t, w, s)])), says["beginning_lost"]),
        (lambda t, w, s: _mean(_flat(_new_losses(t, w, 1))), says["stride_unused"]),
        (lambda t, w, s: _mean(_flat(_new_losses(t, w, w // 2))), says["half_windows"]),
        (lambda t, w, s: _mean(_in_front(t, w, s)), says["front_for_end"]),
        (lambda t, w, s: _mean(_latest(t, w, s)), says["later_slice_wins"]),
        (lambda t, w, s: _mean(_losses(t[-w:])), says["last_alone"]),
        (lambda t, w, s: _mean(_one_dropped(t, w, s, slice(1, None))), says["one_too_few"]),
        (lambda t, w, s: _mean(_one_dropped(t, w, s, slice(None, -1))), says["one_too_few"]),
        (lambda t, w, s: _mean(_flat([part[:-1] for part in _new_losses(t, w, s)])), says["one_too_few"]),
        (lambda t, w, s: sum(_flat(_new_losses(t, w, s))) / len(t), says["divided_by_tokens"]),
        (lambda t, w, s: sum(_flat(_new_losses(t, w, s))), says["sum"]),
        (lambda t, w, s: math.exp(right(t, w, s)), says["perplexity"]),
        (lambda t, w, s: right(t[:w], w, s), says["first_alone"]),
        (lambda t, w, s: _mean(_flat([part[1:] for part in _new_losses(t, w, s)])), says["one_too_few"]),
        (
            lambda t, w, s: _mean(
                _flat(
                    [
                        a[-len(b) - 1 :]
                        for a, b in zip(_all_losses(t, w, s), _new_losses(t, w, s), strict=True)
                    ]
                )
            ),
            says["one_too_many"],
        ),
    ]
    known = [(of(judge), words) for judge, words in mistakes]
    return by_cases(answer, of(right), cases, known, read=scalar)


def _kept(logits: Tensor, k: int, *, largest: bool = True) -> Tensor:
    """Return which of the logits are among the k largest of their row."""
    places = logits.topk(k, -1, largest=largest).indices
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, places, True)


def _among(kept: Tensor, logits: Tensor, hidden: float = -math.inf) -> Tensor:
    return logits.masked_fill(~kept, hidden).softmax(-1)


def _probabilities(logits: Tensor, temperature: float, k: int) -> Tensor:
    return _among(_kept(logits, k), logits / temperature)


def _cut_off(p: Tensor, k: int) -> Tensor:
    return p * _kept(p, k)


def _over_sum(p: Tensor, **axes) -> Tensor:
    return p / p.sum(**axes)


def _over_the_batch() -> list[Callable]:
    """Return the ways to take the softmax over the texts instead of the tokens."""
    return [
        lambda x, t, k: (x / t).masked_fill(~_kept(x, k), -math.inf).softmax(0),
        lambda x, t, k: (x / t).masked_fill(~_kept(x, k), -math.inf).softmax(0).nan_to_num(0),
        lambda x, t, k: (x / t).softmax(0),
        lambda x, t, k: (x / t).softmax(0) * _kept(x, k),
        lambda x, t, k: _over_sum((x / t).softmax(0) * _kept(x, k), dim=-1, keepdim=True),
        lambda x, t, k: _cut_off((x / t).softmax(0), k),
        lambda x, t, k: _over_sum(_cut_off((x / t).softmax(0), k), dim=-1, keepdim=True),
        lambda x, t, k: _over_sum(_cut_off((x / t).softmax(-1), k), dim=0, keepdim=True),
    ]


def _over_everything() -> list[Callable]:
    """Return the ways to take one softmax over the texts and the tokens."""
    return [
        lambda x, t, k: (x / t).flatten().softmax(0).reshape(x.shape),
        lambda x, t, k: (x / t).masked_fill(~_kept(x, k), -math.inf).flatten().softmax(0).reshape(x.shape),
        lambda x, t, k: (x / t).flatten().softmax(0).reshape(x.shape) * _kept(x, k),
    ]


def sampling(answer: object, says: dict[str, str]) -> str | None:
    """Grade the probabilities that a token is drawn with: temperature, then the k most likely."""
    cases = [
        (normal(2, 7, seed=0) * 2, 0.5, 3),
        (normal(3, 5, seed=1), 2.0, 1),
        (normal(1, 11, seed=2) * 3, 1.5, 11),
        (normal(2, 5, seed=3) * 500, 0.7, 4),
        (normal(2, 5, seed=9) * 3 - 500, 0.7, 3),
    ]
    mistakes = [
        (lambda x, t, k: _probabilities(x, 1 / t, k), says["times_temperature"]),
        (lambda x, t, k: _probabilities(x, 1.0, k), says["temperature_unused"]),
        (lambda x, t, k: (x / t).softmax(-1), says["k_unused"]),
        (lambda x, t, k: x.softmax(-1), says["both_unused"]),
        (lambda x, t, k: _cut_off((x / t).softmax(-1), k), says["not_one"]),
        (lambda x, t, k: _cut_off((x / t).softmax(-1), k).softmax(-1), says["softmax_twice"]),
        (lambda x, t, k: _probabilities(x, 1.0, k) / t, says["probabilities_divided"]),
        (lambda x, t, k: _cut_off(x.softmax(-1) / t, k), says["probabilities_divided"]),
        (lambda x, t, k: _among(_kept(x, k), x / t, -100.0), says["minus_100"]),
        (lambda x, t, k: _among(_kept(x, k), x / t, 0.0), says["logit_of_zero"]),
        (lambda x, t, k: _among(_kept(x, k, largest=False), x / t), says["least_likely"]),
        (lambda x, t, k: _among(~_kept(x, k), x / t), says["inverted"]),
        (lambda x, t, k: _probabilities(x, t, k - 1), says["one_too_few"]),
        (lambda x, t, k: _probabilities(x, t, k + 1), says["one_too_many"]),
        (lambda x, t, k: _among(x >= x.flatten().topk(k).values[-1], x / t), says["of_the_batch"]),
        (lambda x, t, k: _among(x >= x[0].topk(k).values[-1], x / t), says["of_the_first_row"]),
        (lambda x, t, k: _probabilities(x, t, k).sort(-1, descending=True).values, says["sorted"]),
        (lambda x, t, k: _among(_kept(x, k), (x / t).softmax(-1)), says["probabilities_hidden"]),
        (lambda x, t, k: _over_sum(_cut_off((x / t).softmax(-1), k)), says["sum_of_the_batch"]),
        (lambda x, t, k: _probabilities(x, t, k)[:1].repeat(len(x), 1), says["first_row_for_all"]),
        (lambda x, t, k: _probabilities(x, t, k).log(), says["logarithms"]),
        (lambda x, t, k: _probabilities(x, t, k).log().masked_fill(~_kept(x, k), 0.0), says["logarithms"]),
        (lambda x, t, k: (x / t).log_softmax(-1).masked_fill(~_kept(x, k), -math.inf), says["logarithms"]),
        (lambda x, t, k: (x / t).log_softmax(-1) * _kept(x, k), says["logarithms"]),
        (lambda x, t, k: (x / t).log_softmax(-1), says["logarithms"]),
        (
            lambda x, t, k: _over_sum((x / t).log_softmax(-1) * _kept(x, k), dim=-1, keepdim=True),
            says["logarithms_divided"],
        ),
        (lambda x, t, k: _kept(x, k) / k, says["equally_likely"]),
        (lambda x, t, k: _kept(x, 1).double(), says["most_likely"]),
        *((wrong, says["over_the_batch"]) for wrong in _over_the_batch()),
        *((wrong, says["over_everything"]) for wrong in _over_everything()),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k), -math.inf), says["logits"]),
        (lambda x, t, k: (x / t).topk(k, -1).values.softmax(-1), says["k_alone"]),
        (lambda x, t, k: _among(_kept(x.abs(), k), x / t), says["farthest_from_zero"]),
        (lambda x, t, k: _over_sum((x / t).exp() * _kept(x, k), dim=-1, keepdim=True), says["overflow"]),
    ]
    return by_cases(answer, _probabilities, cases, mistakes)


def _zero(T: int, S: int) -> Tensor:
    return torch.arange(T)


def _behind(T: int, S: int) -> Tensor:
    return torch.arange(T) + S


def _continued(
    queries: Callable | None, keys: Callable | None, *, offset: int = 0, again: bool = False
) -> Callable:
    """Return attention of T new tokens behind S, rotated to ``queries(T, S)`` and ``keys(T, S)`` or left."""

    def step(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
        T, S = len(q), len(kept_k)
        q = rotary(q, queries(T, S)) if queries else q
        k = torch.cat([kept_k, rotary(k, keys(T, S)) if keys else k])
        k = rotary(k) if again else k
        future = torch.arange(S + T) > torch.arange(T)[:, None] + S + offset
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(future, -math.inf)
        return scores.softmax(-1) @ torch.cat([kept_v, v])

    return step


def _placed(positions: Callable | None, **options) -> Callable:
    """Return the same, queries and keys turned alike."""
    return _continued(positions, positions, **options)


def _masked(mask: Callable) -> Callable:
    """Return attention of T new tokens behind S, at their positions, with a mask (T, S + T) of their own."""

    def step(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
        T, S = len(q), len(kept_k)
        keys = torch.cat([kept_k, rotary(k, _behind(T, S))])
        return attention(rotary(q, _behind(T, S)), keys, torch.cat([kept_v, v]), mask(T, S))

    return step


def _neighbours(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
    places = _behind(len(q), len(kept_k))
    keys = torch.cat([kept_k, rotary(k, places, interleaved=True)])
    return attention(rotary(q, places, interleaved=True), keys, torch.cat([kept_v, v]), causal=True)


def _new_first(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
    places = _behind(len(q), len(kept_k))
    keys, values = torch.cat([rotary(k, places), kept_k]), torch.cat([v, kept_v])
    return attention(rotary(q, places), keys, values, causal=True)


def _values_turned(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
    return _placed(_behind)(q, k, rotary(v, _behind(len(v), len(kept_k))), kept_k, kept_v)


def continued(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of a cached step that loses positions and mask."""
    cases = []
    for T, S, D, Dv in ((3, 4, 6, 2), (1, 5, 4, 3), (5, 2, 2, 7), (2, 0, 4, 5)):
        q, k, v, kept_v = (
            normal(n, d, seed=s) for s, (n, d) in enumerate(((T, D), (T, D), (T, Dv), (S, Dv)))
        )
        cases.append((q, k, v, rotary(normal(S, D, seed=9)), kept_v))

    def kept(T: int, S: int) -> Tensor:
        return torch.arange(S + T) < S

    again = says["turned_again"]
    mistakes = [
        (_placed(_zero, offset=1000), says["as_given"]),
        (_placed(_behind, offset=1000), says["no_mask"]),
        (_placed(_zero), says["from_zero"]),
        (_continued(_behind, None, again=True), again),
        (_placed(_behind, again=True), again),
        (_continued(_zero, None, again=True), says["and_queries_from_zero"].format(mistake=again)),
        (_continued(_behind, _zero), says["keys_from_zero"]),
        (_continued(_zero, _behind), says["queries_from_zero"]),
        (_continued(_behind, None), says["keys_not_turned"]),
        (_continued(None, _behind), says["queries_not_turned"]),
        (_placed(lambda T, S: torch.full((T,), S)), says["one_position"]),
        (_new_first, says["new_first"]),
        (_neighbours, says["neighbours"]),
        (_placed(None), says["nothing_turned"]),
        (_placed(lambda T, S: _behind(T, S) + 1), says["one_late"]),
        (_placed(lambda T, S: _behind(T, S) - 1), says["one_early"]),
        (_placed(_behind, offset=-1), says["not_itself"]),
        (_placed(_behind, offset=1), says["one_too_many"]),
        (_values_turned, says["values_turned"]),
        (lambda q, *rest: _placed(_behind)(q * q.shape[-1] ** 0.5, *rest), says["not_divided"]),
        (_masked(lambda T, S: torch.ones(T, S + T).tril(S).bool() & ~kept(T, S)), says["kept_hidden"]),
        (_masked(lambda T, S: ~torch.ones(T, S + T).tril(S).bool()), says["inverted"]),
        (_masked(lambda T, S: torch.ones(T, S + T).triu(S).bool() | kept(T, S)), says["turned_round"]),
        (_masked(lambda T, S: torch.eye(T, S + T).roll(S, -1).bool() | kept(T, S)), says["itself_only"]),
        (_placed(lambda T, S: torch.full((T,), S + T - 1)), says["one_position"]),
        (_masked(lambda T, S: torch.ones(T, S + T).tril().bool()), says["top_left"]),
        *(
            (_masked(lambda T, S, on=on: torch.ones(T, S + T).triu(on * S).bool()), says["upper"])
            for on in (0, 1)
        ),
    ]
    return by_cases(answer, _placed(_behind), cases, mistakes)


def _grams(tokens: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def _blocks(tokens: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(0, len(tokens), n)]


def _repeated(grams: list) -> float:
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def _of_grams(judge: Callable) -> Callable:
    return lambda tokens, n: judge(_grams(tokens, n))


def _share(count: Callable) -> Callable:
    return _of_grams(lambda grams: count(grams) / len(grams))


def _apart(tokens: list[int], n: int) -> float:
    """Count only what stood before without an overlap."""
    grams = _grams(tokens, n)
    return sum(gram in _grams(tokens[:i], n) for i, gram in enumerate(grams)) / len(grams)


def _searched_for(tokens: list[int], n: int) -> float:
    """Search for n tokens in a text written with spaces, as if no token began or ended inside another."""
    places = range(len(tokens) - n + 1)
    found = (" ".join(map(str, tokens[i : i + n])) in " ".join(map(str, tokens[: i + n - 1])) for i in places)
    return sum(found) / len(places)


def repeats(answer: object, says: dict[str, str]) -> str | None:
    """Grade the share of n-grams that stood in the text before."""
    cases = [
        ([1, 2, 2, 2, 1, 2, 2, 2, 1, 1, 2, 2], 2),
        ([5, 5, 5, 5, 5], 3),
        ([1, 2, 1, 3, 4], 2),
        ([7, 8, 7, 8, 7, 9], 1),
        ([3, 1, 4, 3, 1, 4, 3, 1], 4),
        ([2, 7], 2),
        ([1, 12, 11, 2], 2),
        ([12, 3, 2, 3], 2),
        ([1, 2, 3, 1, 4, 3], 3),
    ]
    mistakes = [
        (_of_grams(lambda g: _repeated(["".join(map(str, one)) for one in g])), says["written_together"]),
        (_searched_for, says["searched_for"]),
        (_of_grams(lambda g: _repeated([(one[0], one[-1]) for one in g])), says["ends_alone"]),
        (_of_grams(lambda g: _repeated([one[0] for one in g])), says["first_token_alone"]),
        (_share(lambda g: len(set(g))), says["different_ones"]),
        (_share(lambda g: sum(m for m in Counter(g).values() if m > 1)), says["first_counted"]),
        (_share(lambda g: sum(m > 1 for m in Counter(g).values())), says["each_once"]),
        (_of_grams(lambda g: sum(m > 1 for m in Counter(g).values()) / len(set(g))), says["of_different"]),
        (_of_grams(lambda g: _repeated(g) * len(g)), says["count"]),
        (lambda t, n: _repeated(_grams(t, n)) * len(_grams(t, n)) / len(t), says["divided_by_tokens"]),
        (lambda t, n: _repeated(t), says["n_unused"]),
        (_of_grams(lambda g: _repeated(g[:-1])), says["last_missing"]),
        (_share(lambda g: max(Counter(g).values())), says["most_common"]),
        (lambda t, n: _repeated(_grams(t, n + 1)), says["one_too_many"]),
        (lambda t, n: _repeated(_blocks(t, n)), says["cut_into_pieces"]),
        (_share(lambda g: sum(a == b for a, b in pairwise(g))), says["place_before_only"]),
        (_of_grams(lambda g: _repeated([tuple(sorted(one)) for one in g])), says["order_lost"]),
        (_share(lambda g: sum(m * (m - 1) // 2 for m in Counter(g).values())), says["pairs_counted"]),
        (_of_grams(lambda g: (len(g) - len(set(g))) // len(g)), says["fraction_lost"]),
        (_of_grams(lambda g: _repeated(g) * len(g) / len(set(g))), says["divided_by_different"]),
        (_of_grams(lambda g: float(_repeated(g) > 0)), says["whether"]),
        (_of_grams(lambda g: 100 * _repeated(g)), says["percent"]),
        (_apart, says["overlaps_left_out"]),
    ]
    return by_cases(answer, _of_grams(_repeated), cases, mistakes, read=scalar)


PLAN = ("vocab_size", "embed_dim", "num_heads", "num_layers", "hidden_dim")


def _whole(name: str, number: object, says: dict[str, str]) -> int:
    if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
        raise AnswerError(says["not_whole"].format(name=name, got=describe(number)))
    return int(number)


def plan(answer: object, says: dict[str, str]) -> str | None:
    """Grade the sizes of a model under five conditions."""
    answer = by_name(PLAN, answer if isinstance(answer, Mapping) else {})
    V, C, H, layers, hidden = (_whole(name, answer[name], says) for name in PLAN)
    if V != 2048:
        return says["vocabulary"].format(size=V)
    if C % H or C // H != 32:
        return says["head_width"].format(width=C, heads=H, each=C / H)
    if layers < 6:
        return says["few_blocks"].format(layers=layers)
    attention, mlp = 4 * C * C, 3 * C * hidden
    if not 1.9 <= mlp / attention <= 2.1:
        ungated = math.isclose(hidden, 4 * C, rel_tol=0.06)
        words = says["mlp_ungated"] if ungated else says["mlp_share"]
        return words.format(times=mlp / attention)
    total = V * C + layers * (attention + mlp + 2 * C) + C
    if total > 1_000_000:
        return says["too_large"].format(over=total - 1_000_000)
    if total < 900_000:
        return says["too_small"].format(room=1_000_000 - total)
    return None
