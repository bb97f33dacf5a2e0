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
from attnlib.learn.calling import AnswerError, call, tell_error
from attnlib.learn.grading import by_cases, describe, normal, numbers, scalar
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


def _block(first: Callable, second: Callable) -> Callable:
    """Return a block of two steps, each a function of the stream, a norm and a part."""
    return lambda x, norm_1, attend, norm_2, mlp: second(first(x, norm_1, attend), norm_2, mlp)


def _before(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return x + part(norm(x))


def _after(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return norm(x + part(x))


def _on_the_stream(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return norm(x) + part(norm(x))


def _unnormed(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return x + part(x)


def _lost(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return part(norm(x))


def _branch(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return x + norm(part(x))


def _both_sides(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return x + norm(part(norm(x)))


def _parts(seed: int, C: int) -> tuple[Callable, ...]:
    """Return two norms with weights of their own, a mixing of tokens and an MLP on each."""

    def norm(n: int) -> Callable:
        weight = 1 + normal(C, seed=n).abs()
        return lambda x: x / x.square().mean(-1, keepdim=True).sqrt() * weight

    mix, up = normal(C, C, seed=seed + 2), normal(C, C, seed=seed + 3)
    return norm(seed), lambda x: x.cumsum(0) @ mix, norm(seed + 1), lambda x: (x @ up).tanh()


def repaired_block(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of a block whose norms stand where they should not."""
    cases = [
        (3 * normal(T, C, seed=seed), *_parts(seed, C)) for T, C, seed in ((3, 5, 0), (7, 2, 10), (1, 11, 20))
    ]
    stream, cut = says["stream_normalised"], says["stream_cut"]
    mistakes = [
        (_block(_on_the_stream, _after), says["as_given"]),
        (_block(_after, _after), says["block_of_2017"]),
        (_block(_before, _after), says["mlp_after"]),
        (_block(_on_the_stream, _before), says["at_attention"].format(mistake=stream)),
        (_block(_before, _on_the_stream), says["at_mlp"].format(mistake=stream)),
        (_block(_on_the_stream, _on_the_stream), stream),
        (_block(_on_the_stream, _unnormed), says["and_mlp_unnormed"].format(mistake=stream)),
        (_block(_before, _unnormed), says["mlp_unnormed"]),
        (_block(_unnormed, _before), says["attention_unnormed"]),
        (_block(_unnormed, _unnormed), says["norms_unused"]),
        (_block(_lost, _before), says["at_attention"].format(mistake=cut)),
        (_block(_before, _lost), says["at_mlp"].format(mistake=cut)),
        (_block(_lost, _lost), cut),
        (_block(_branch, _before), says["attention_normed_late"]),
        (_block(_before, _branch), says["mlp_normed_late"]),
        (_block(_branch, _branch), says["both_normed_late"]),
        (lambda x, n1, a, n2, f: _before(_before(x, n2, f), n1, a), says["mlp_first"]),
        (lambda x, n1, a, n2, f: _before(_before(x, n1, f), n2, a), says["mlp_first"]),
        (lambda x, n1, a, n2, f: x + f(n2(a(n1(x)))), says["one_chain"]),
        (lambda x, n1, a, n2, f: x + _block(_before, _before)(x, n1, a, n2, f), says["added_twice"]),
        (_block(_both_sides, _both_sides), says["normed_again"]),
        (lambda x, n1, a, n2, f: x + a(n1(x)) + f(n2(x)), says["side_by_side"]),
        (lambda x, n1, a, n2, f: x + f(n2(x + a(n1(x)))), says["attention_lost"]),
        (lambda x, n1, a, n2, f: _before(_before(x, n1, a), n1, f), says["one_norm"]),
        (lambda x, n1, a, n2, f: _before(_before(x, n2, a), n1, f), says["norms_exchanged"]),
        (lambda x, n1, a, n2, f: n2(_block(_before, _before)(x, n1, a, n2, f)), says["normed_at_end"]),
    ]
    return by_cases(answer, _block(_before, _before), cases, mistakes)


def _join(pieces: list[str], pair: tuple[str, str], *, times: int | None = None) -> list[str]:
    """Join a pair wherever it stands, from left to right."""
    out, i = [], 0
    while i < len(pieces):
        if tuple(pieces[i : i + 2]) == pair and times != 0:
            out, i, times = [*out, "".join(pair)], i + 2, None if times is None else times - 1
        else:
            out, i = [*out, pieces[i]], i + 1
    return out


def _cut(text: str, merges: list[tuple[str, str]], *, times: int | None = None) -> list[str]:
    pieces = list(text)
    for pair in merges:
        pieces = _join(pieces, pair, times=times)
    return pieces


def _longest_first(text: str, merges: list[tuple[str, str]]) -> list[str]:
    """Take the longest known piece each time, from left to right."""
    known, out = {"".join(pair) for pair in merges} | set(text), []
    while text:
        longest = max((text[:n] for n in range(1, len(text) + 1) if text[:n] in known), key=len)
        out, text = [*out, longest], text[len(longest) :]
    return out


def _leftmost_first(text: str, merges: list[tuple[str, str]]) -> list[str]:
    """Join the first two pieces that may be joined, until none are left."""
    pieces, i = list(text), 0
    while i < len(pieces) - 1:
        if tuple(pieces[i : i + 2]) in merges:
            pieces[i : i + 2], i = ["".join(pieces[i : i + 2])], 0
        else:
            i += 1
    return pieces


def _commonest_first(text: str, merges: list[tuple[str, str]]) -> list[str]:
    """Join the pair that is most common in this text, until none are left."""
    pieces = list(text)
    while found := [pair for pair in pairwise(pieces) if pair in merges]:
        pieces = _join(pieces, max(found, key=found.count))
    return pieces


def _unordered(text: str, merges: list[tuple[str, str]]) -> list[str]:
    pieces = list(text)
    for _ in text:
        for pair in merges[::-1]:
            pieces = _join(pieces, pair)
    return pieces


def _one_pass(text: str, merges: list[tuple[str, str]]) -> list[str]:
    """Go through the text once, and join wherever a merge fits the letters."""
    out, i = [], 0
    while i < len(text):
        n = 2 if tuple(text[i : i + 2]) in merges else 1
        out, i = [*out, text[i : i + n]], i + n
    return out


def _from_the_right(text: str, merges: list[tuple[str, str]]) -> list[str]:
    """Cut the text and the merges written backwards, and turn the pieces round."""
    backwards = [(b[::-1], a[::-1]) for a, b in merges]
    return [piece[::-1] for piece in _cut(text[::-1], backwards)][::-1]


def _last_pair_missed(text: str, merges: list[tuple[str, str]]) -> list[str]:
    pieces = list(text)
    for pair in merges:
        pieces = [*_join(pieces[:-1], pair), *pieces[-1:]]
    return pieces


def new_word(answer: object, says: dict[str, str]) -> str | None:
    """Grade the cutting of a new text by merges learned before."""
    merges = [("t", "h"), ("i", "n"), ("th", "e"), ("h", "e"), ("in", "g"), ("e", "r")]
    cases = [
        ("the other ring", merges),
        ("abc", [("a", "b"), ("b", "c"), ("a", "bc")]),  # the longest piece does not come up
        ("abcbc", [("b", "c"), ("a", "bc"), ("a", "b")]),  # nor the one farthest to the left
        ("abcbc", [("a", "b"), ("b", "c")]),  # nor the one that is common here
        ("aaaab", [("a", "a"), ("aa", "b")]),
        ("q", merges),
        ("", merges),
        ("Xyzy", []),
        ("aaab", [("a", "a")]),  # from left to right
    ]
    for n, (text, learned) in enumerate(cases):
        try:
            result = call(answer, text, list(learned))
        except (IndexError, ValueError, KeyError) as error:
            if not n:
                raise
            words = tell_error(error, answer)
        else:
            words = _name_cut(result, text, learned, says)
        if words:
            return says["not_for"].format(text=text, mistake=words) if n else words
    return None


def _name_cut(result: object, text: str, merges: list[tuple[str, str]], says: dict[str, str]) -> str | None:
    """Return None if a text is cut as the merges say, else the mistake it shows."""
    if hasattr(result, "tolist"):
        result = result.tolist()
    if not isinstance(result, (list, tuple)):
        raise AnswerError(says["no_list"].format(kind=type(result).__name__))
    pieces, right = list(result), _cut(text, merges)
    if pieces == right:
        return None
    mistakes = [
        (lambda t, m: list(t), says["letters"]),
        (lambda t, m: _cut(t, m[:1]), says["first_merge_only"]),
        (lambda t, m: _cut(t, m, times=1), says["one_place_only"]),
        (_longest_first, says["longest_first"]),
        (_leftmost_first, says["leftmost_first"]),
        (_commonest_first, says["commonest_first"]),
        (_one_pass, says["one_pass"]),
        (lambda t, m: _cut(t, m[::-1]), says["last_merge_first"]),
        (_unordered, says["order_lost"]),
        (lambda t, m: t.split(), says["cut_at_spaces"]),
        (lambda t, m: [piece for piece in _cut(t, m) if piece != " "], says["spaces_lost"]),
        (lambda t, m: [piece for piece in _cut(t, m) if len(piece) > 1], says["letters_lost"]),
        (lambda t, m: list(dict.fromkeys(_cut(t, m))), says["each_once"]),
        (_from_the_right, says["from_the_right"]),
        (lambda t, m: _cut(t, m)[:-1], says["end_lost"]),
        (_last_pair_missed, says["last_pair_missed"]),
        (lambda t, m: _cut(t.lower(), m), says["lower_case"]),
    ]
    for wrong, words in mistakes:
        if pieces == wrong(text, merges):
            return words
    joined = "".join(map(str, pieces))
    if joined != text:
        if len(joined) == len(text):
            return says["other_text"]
        return says["longer_text"] if len(joined) > len(text) else says["shorter_text"]
    made = {a + b for a, b in merges}
    for piece in pieces:
        if len(piece) > 1 and piece not in made:
            return says["no_piece"].format(piece=piece)
    if len(pieces) == len(right):
        return says["other_places"]
    return says["too_many"]


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
    ]
    mistakes = [
        (_of_grams(lambda g: _repeated(["".join(map(str, one)) for one in g])), says["written_together"]),
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
