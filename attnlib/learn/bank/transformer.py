"""Exercises on the Transformer: the block, its norms, tokens, and what a model writes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from attnlib.functional import attention
from attnlib.learn.calling import AnswerError, call, tell_error
from attnlib.learn.data import by_name
from attnlib.learn.grading import Exercise, by_cases, normal, numbers, scalar
from attnlib.positions import rotary


def _root(x: Tensor, eps: float, dim: int | tuple = -1) -> Tensor:
    return x.double().square().mean(dim, keepdim=True).add(eps).sqrt()


def rms_norm(answer: object) -> str | None:
    """Grade an RMS norm, also of small numbers and of large ones in half precision."""
    cases = [(normal(*sizes, seed=0) * size + 1, normal(sizes[-1], seed=1), eps)
        for sizes, size, eps in (((2, 3, 5), 3.0, 1e-5), ((7, 2), 1.0, 1e-6), ((3, 11), 0.7, 0.5))
    ]  # fmt: skip
    mistakes = [
        (lambda x, w, e: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + e).sqrt() * w, "this is a layer norm: it takes the mean away. An RMS norm leaves the mean where it is."),
        (lambda x, w, e: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + e).sqrt() * w, "this is a layer norm: it takes the mean away. An RMS norm leaves the mean where it is."),
        (lambda x, w, e: x / (x.var(-1, keepdim=True, unbiased=False) + e).sqrt() * w, "the variance is measured from the mean; the mean square is measured from zero."),
        (lambda x, w, e: x / (x.var(-1, keepdim=True) + e).sqrt() * w, "the variance is measured from the mean; the mean square is measured from zero."),
        (lambda x, w, e: x / (x.square().sum(-1, keepdim=True) + e).sqrt() * w, "you divide by the length of the vector: take the mean of the squares, not their sum."),
        (lambda x, w, e: x / x.norm(dim=-1, keepdim=True) * w, "you divide by the length of the vector: take the mean of the squares, not their sum."),
        (lambda x, w, e: x / (x.norm(dim=-1, keepdim=True) + e) * w, "you divide by the length of the vector: take the mean of the squares, not their sum."),
        (lambda x, w, e: x / _root(x, e), "the weight is not used: multiply by it at the end."),
        (lambda x, w, e: x / _root(x, e) * (1 + w), "multiply by the weight itself, not by one more."),
        (lambda x, w, e: x / _root(x, e) + w, "the weight is a factor, not something to add."),
        (lambda x, w, e: x / _root(x * w, e), "the weight comes last: norm first, then multiply."),
        (lambda x, w, e: x / _root(x, e) / w, "you divide by the weight; multiply by it."),
        (lambda x, w, e: x / _root(x, e).square() * w, "the root is missing: divide by the root of the mean square."),
        (lambda x, w, e: x * _root(x, e) * w, "you multiply by the root; divide by it."),
        (lambda x, w, e: x / x.abs().mean(-1, keepdim=True) * w, "this is the mean of the sizes: square first, take the mean, then the root."),
        (lambda x, w, e: x / _root(x, e, -2) * w, "the mean runs over the tokens: each token is normalised by its own numbers, dim=-1."),
        (lambda x, w, e: x / _root(x, e, tuple(range(x.ndim))) * w, "there is one root for the whole tensor: each token has its own, dim=-1 with keepdim=True."),
        (lambda x, w, e: x / _root(x, e, 0) * w, "the mean runs over the first axis: each token is normalised by its own numbers, dim=-1."),
        (lambda x, w, e: x / (x.mean(-1, keepdim=True) ** 2 + e).sqrt() * w, "this is the square of the mean; take the mean of the squares."),
        (lambda x, w, e: x / _root(x, 0.0) * w, "`eps` is not used."),
        (lambda x, w, e: x / (_root(x, 0.0) + e) * w, "`eps` stands outside the root: it is added to the mean square, inside."),
        (lambda x, w, e: x / (_root(x, 0.0) + math.sqrt(e)) * w, "`eps` stands outside the root: it is added to the mean square, inside."),
    ]  # fmt: skip
    ready_made = (
        {"rms_norm", "layer_norm", "normalize"},
        "it calls what PyTorch has ready; write the formula.",
    )
    words = by_cases(answer, lambda x, w, e: x / _root(x, e) * w, cases, mistakes, ready_made=ready_made)
    return words or _in_half(answer)


def _in_half(answer: object) -> str | None:
    x, weight = (300 * normal(2, 5, seed=2)).half(), torch.ones(5).half()
    result = call(answer, x.clone(), weight, 1e-5)
    where = "right in float32. In float16"
    got = numbers(result)
    right = x.double() / _root(x, 1e-5)
    if not got.isfinite().all() or not torch.allclose(got, right, atol=0.02):
        return f"{where} the squares of numbers over 255 overflow, and what is left is zero: take the mean square of `x.float()`."
    dtype = str(getattr(result, "dtype", type(result).__name__))
    if dtype.removeprefix("torch.") != "float16":
        return f"{where} it returns {dtype}: give back the dtype of x."
    for given in (torch.float32, torch.float64):
        dtype = str(call(answer, x.to(given), weight.to(given), 1e-5).dtype)
        if dtype.removeprefix("torch.") != str(given).removeprefix("torch."):
            return f"the numbers are right, but of {given} it makes {dtype}: give back the dtype of x."
    return None


def _block(first: Callable, second: Callable) -> Callable:
    """Return a block of two steps, each a function of the stream, a norm and a part."""
    return lambda x, norm_1, attend, norm_2, network: second(first(x, norm_1, attend), norm_2, network)


def _before(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return x + part(norm(x))


def _after(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return norm(x + part(x))


def _on_the_road(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return norm(x) + part(norm(x))


def _unnormed(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return x + part(x)


def _lost(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return part(norm(x))


def _branch(x: Tensor, norm: Callable, part: Callable) -> Tensor:
    return x + norm(part(x))


def _parts(seed: int, C: int) -> tuple[Callable, ...]:
    """Return two norms with weights of their own, a mixing of tokens and a network of each."""

    def norm(n: int) -> Callable:
        weight = 1 + normal(C, seed=n).abs()
        return lambda x: x / x.square().mean(-1, keepdim=True).sqrt() * weight

    mix, up = normal(C, C, seed=seed + 2), normal(C, C, seed=seed + 3)
    return norm(seed), lambda x: x.cumsum(0) @ mix, norm(seed + 1), lambda x: (x @ up).tanh()


def repaired_block(answer: object) -> str | None:
    """Grade the repair of a block whose norms stand in the wrong places."""
    cases = []
    for T, C, seed in ((3, 5, 0), (7, 2, 10), (1, 11, 20)):
        norm_1, attend, norm_2, network = _parts(seed, C)
        cases.append((3 * normal(T, C, seed=seed), norm_1, attend, norm_2, network))
    road = "the road itself is normalised: what a part adds is added to `x` as it was, not to `norm(x)`."
    lost = "the road is cut: `x +` is missing, and the block passes on only what its last parts made."
    mistakes = [
        (_block(_on_the_road, _after), "as it was given: hand in the function after changing it."),
        (_block(_after, _after), "this is the block of 2017: it normalises the sums. Here the parts read a norm, and nothing normalises the road."),
        (_block(_before, _after), "attention is right. The network still reads the road as it is, and the sum is normalised: it should be the same two moves again."),
        (_block(_on_the_road, _before), f"the network is right. At attention, {road}"),
        (_block(_before, _on_the_road), f"attention is right. At the network, {road}"),
        (_block(_on_the_road, _on_the_road), road),
        (_block(_on_the_road, _unnormed), f"{road} And the network reads the road without a norm."),
        (_block(_before, _unnormed), "attention is right. The network reads the road without a norm: `norm_2` is not used."),
        (_block(_unnormed, _before), "the network is right. Attention reads the road without a norm: `norm_1` is not used."),
        (_block(_unnormed, _unnormed), "the norms are not used at all."),
        (_block(_lost, _before), f"the network is right. At attention, {lost}"),
        (_block(_before, _lost), f"attention is right. At the network, {lost}"),
        (_block(_lost, _lost), lost),
        (_block(_branch, _before), "the network is right. At attention you normalise what it adds; normalise what it reads."),
        (_block(_before, _branch), "attention is right. At the network you normalise what it adds; normalise what it reads."),
        (_block(_branch, _branch), "you normalise what each part adds; normalise what it reads."),
        (lambda x, n1, a, n2, f: _before(_before(x, n2, f), n1, a), "the order is turned round: attention first, then the network."),
        (lambda x, n1, a, n2, f: _before(_before(x, n1, f), n2, a), "the order is turned round: attention first, then the network."),
        (lambda x, n1, a, n2, f: x + f(n2(a(n1(x)))), "the network reads only what attention made, and that is then lost: each part adds to the road."),
        (lambda x, n1, a, n2, f: x + _block(_before, _before)(x, n1, a, n2, f), "`x` is added twice: after attention it is on the road already."),
        (lambda x, n1, a, n2, f: _before(_before(x, n1, lambda y: n1(a(y))), n2, lambda y: n2(f(y))), "what the parts read is right; what they add is normalised once more."),
        (lambda x, n1, a, n2, f: x + a(n1(x)) + f(n2(x)), "the network reads `x` from before attention: it should read what attention has added."),
        (lambda x, n1, a, n2, f: x + f(n2(x + a(n1(x)))), "what attention added is read by the network and then lost: add both to the road."),
        (lambda x, n1, a, n2, f: _before(_before(x, n1, a), n1, f), "both parts read `norm_1`: each has a norm of its own."),
        (lambda x, n1, a, n2, f: _before(_before(x, n2, a), n1, f), "the two norms are exchanged."),
        (lambda x, n1, a, n2, f: n2(_block(_before, _before)(x, n1, a, n2, f)), "right, and then normalised once more: the road leaves the block as it is."),
    ]  # fmt: skip
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


def new_word(answer: object) -> str | None:
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
    mistakes = [
        (lambda t, m: list(t), "these are the letters; nothing is joined."),
        (lambda t, m: _cut(t, m[:1]), "only the first merge is applied; go through them all."),
        (lambda t, m: _cut(t, m, times=1), "each merge is applied at one place only: join the pair wherever it stands."),
        (_longest_first, "you took the longest known piece from the left; apply the merges in the order in which they were learned."),
        (_leftmost_first, "you joined from left to right whatever may be joined; apply the merges in the order in which they were learned."),
        (_commonest_first, "you chose the pair that is most common in this text; the order was learned before, and does not depend on it."),
        (_one_pass, "the text is gone through once, and pieces that were joined are not joined further: take the merges one after the other, and go through all pieces for each."),
        (lambda t, m: _cut(t, m[::-1]), "the merges are applied from the last to the first; what was learned first comes first."),
        (_unordered, "the order is lost: each merge has its turn once, those learned first come first."),
        (lambda t, m: t.split(), "a text is cut by merges, not at its spaces; a space is a letter like any other."),
        (lambda t, m: [piece for piece in _cut(t, m) if piece != " "], "the spaces are lost: they are letters like any other."),
        (lambda t, m: [piece for piece in _cut(t, m) if len(piece) > 1], "letters that no merge joins are pieces too."),
        (lambda t, m: sorted(set(_cut(t, m)), key=t.find), "each piece stands there once; the text should come back when they are joined."),
        (lambda t, m: [p[::-1] for p in _cut(t[::-1], [(b[::-1], a[::-1]) for a, b in m])][::-1], "where pairs overlap, join from left to right."),
        (lambda t, m: _cut(t, m)[:-1], "the last piece is lost: go on to the end of the text."),
    ]  # fmt: skip
    return _by_lists(answer, _cut, cases, mistakes)


def _by_lists(answer: object, reference: Callable, cases: list[tuple], mistakes: list[tuple]) -> str | None:
    """Grade a function of a text and a list that returns a list of pieces."""
    for n, (text, rest) in enumerate(cases):
        where = f"right at first, but not for {text!r}: " if n else ""
        try:
            result = call(answer, text, list(rest))
        except (IndexError, ValueError, KeyError) as error:
            if not n:
                raise
            return where + tell_error(error, answer)
        if hasattr(result, "tolist"):
            result = result.tolist()
        if not isinstance(result, (list, tuple)):
            raise AnswerError(f"return the list of pieces, got {type(result).__name__}.")
        right = reference(text, rest)
        if list(result) == right:
            continue
        for wrong, words in mistakes:
            if list(result) == wrong(text, rest):
                return where + words
        joined = "".join(map(str, result))
        if joined != text:
            many = len(joined) - len(text)
            way = "not" if not many else "longer than" if many > 0 else "shorter than"
            return f"{where}joined again, the pieces are {way} the text: each letter must be in one piece."
        made = {a + b for a, b in rest}
        strange = [piece for piece in result if len(piece) > 1 and piece not in made]
        if strange:
            return f"{where}{strange[0]!r} is no piece: no merge makes it. Join whole pieces, not ends of pieces."
        side = "many" if len(result) > len(right) else "few"
        many = (
            f"these are too {side} pieces" if len(result) != len(right) else "the text is cut in other places"
        )
        return f"{where}{many}."
    return None


def _kept(logits: Tensor, k: int, *, largest: bool = True) -> Tensor:
    """Return which of the logits are among the k largest of their row."""
    places = logits.topk(k, -1, largest=largest).indices
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, places, True)


def _probabilities(logits: Tensor, temperature: float, k: int) -> Tensor:
    return (logits / temperature).masked_fill(~_kept(logits, k), -math.inf).softmax(-1)


def _sharpened(p: Tensor, k: int) -> Tensor:
    return p * _kept(p, k)


def sampling(answer: object) -> str | None:
    """Grade the probabilities that a token is drawn with: temperature, then the k most likely."""
    cases = [
        (normal(*sizes, seed=n) * size, temperature, k)
        for n, (sizes, size, temperature, k) in enumerate(
            [((2, 7), 2.0, 0.5, 3), ((3, 5), 1.0, 2.0, 1), ((1, 11), 3.0, 1.5, 11), ((2, 5), 500.0, 0.7, 4)]
        )
    ]
    cases.append((normal(2, 5, seed=9) * 3 - 500, 0.7, 3))
    hand = "exponentials of large logits overflow: subtract the largest of each row first, or use `softmax`."
    mistakes = [
        (lambda x, t, k: _probabilities(x, 1 / t, k), "you multiply by the temperature; divide by it: a low temperature makes the likely likelier."),
        (lambda x, t, k: _probabilities(x, 1.0, k), "the temperature is not used."),
        (lambda x, t, k: (x / t).softmax(-1), "`k` is not used: all tokens can still be drawn."),
        (lambda x, t, k: x.softmax(-1), "neither the temperature nor `k` is used."),
        (lambda x, t, k: _sharpened((x / t).softmax(-1), k), "the probabilities that are left do not sum to one: hide logits before the softmax, or divide by the sum."),
        (lambda x, t, k: _sharpened((x / t).softmax(-1), k).softmax(-1), "that is the softmax of probabilities: divide those that are left by their sum."),
        (lambda x, t, k: _probabilities(x, 1.0, k) / t, "divide the logits by the temperature, not the probabilities: those of a row must sum to one."),
        (lambda x, t, k: _sharpened(x.softmax(-1) / t, k), "divide the logits by the temperature, not the probabilities: those of a row must sum to one."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k), -100.0).softmax(-1), "-100 is not low enough where all logits are lower: take minus infinity."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k), 0.0).softmax(-1), "a logit of 0 is not minus infinity: its exponential is 1."),
        (lambda x, t, k: (x / t * _kept(x, k)).softmax(-1), "a logit of 0 is not minus infinity: its exponential is 1."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k, largest=False), -math.inf).softmax(-1), "these are the k least likely tokens."),
        (lambda x, t, k: (x / t).masked_fill(_kept(x, k), -math.inf).softmax(-1), "inverted: the k most likely tokens are the ones that are hidden."),
        (lambda x, t, k: _probabilities(x, t, k - 1), "one token too few is kept: the k-th most likely belongs to the k."),
        (lambda x, t, k: _probabilities(x, t, k + 1), "one token too many is kept."),
        (lambda x, t, k: (x / t).masked_fill(x < x.flatten().topk(k).values[-1], -math.inf).softmax(-1), "the k most likely of the whole batch are kept; each row has its own."),
        (lambda x, t, k: (x / t).masked_fill(x < x[0].topk(k).values[-1], -math.inf).softmax(-1), "all rows are cut at the k-th logit of the first; each row has its own."),
        (lambda x, t, k: _probabilities(x, t, k).sort(-1, descending=True).values, "the probabilities stand in order of size; each belongs at the place of its token."),
        (lambda x, t, k: (x / t).softmax(-1).masked_fill(~_kept(x, k), -math.inf).softmax(-1), "that is the softmax of probabilities: hide logits, or divide those that are left by their sum."),
        (lambda x, t, k: _sharpened((x / t).softmax(-1), k) / _sharpened((x / t).softmax(-1), k).sum(), "divided by the sum of the whole batch: each row must sum to one."),
        (lambda x, t, k: _probabilities(x, t, k).log(), "these are logarithms of probabilities."),
        (lambda x, t, k: _kept(x, k) / k, "all k tokens are equally likely here; their logits say how likely each is."),
        (lambda x, t, k: _kept(x, 1).double(), "this is the most likely token; asked is how likely each one is."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k), -math.inf).softmax(0), "the softmax runs over the batch; each row, over the vocabulary, must sum to one: dim=-1."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k), -math.inf), "these are logits; probabilities are asked: a softmax is missing."),
        (lambda x, t, k: (x / t).topk(k, -1).values.softmax(-1), "these are the k probabilities alone; return one for each token of the vocabulary, with zeros for the others."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x.abs(), k), -math.inf).softmax(-1), "these are the k logits farthest from zero; take the largest."),
        (lambda x, t, k: ((x / t).exp() * _kept(x, k)) / ((x / t).exp() * _kept(x, k)).sum(-1, keepdim=True), hand),
    ]  # fmt: skip
    return by_cases(answer, _probabilities, cases, mistakes)


def _turned_attention(
    q: Tensor, k: Tensor, v: Tensor, kept: tuple[Tensor, Tensor], *, offset: int = 0, again: bool = False
) -> Tensor:
    """Attend from new words to the kept ones and themselves; the options are what goes wrong."""
    keys, values = torch.cat([kept[0], k]), torch.cat([kept[1], v])
    keys = rotary(keys) if again else keys
    place = torch.arange(len(q))[:, None] + len(kept[0]) + offset
    scores = (q @ keys.mT / q.shape[-1] ** 0.5).masked_fill(torch.arange(len(keys)) > place, -math.inf)
    return scores.softmax(-1) @ values


def _zero(T: int, S: int) -> Tensor:
    return torch.arange(T)


def _behind(T: int, S: int) -> Tensor:
    return torch.arange(T) + S


def _early(T: int, S: int) -> Tensor:
    return torch.arange(T) + S - 1


def _late(T: int, S: int) -> Tensor:
    return torch.arange(T) + S + 1


def _one_place(T: int, S: int) -> Tensor:
    return torch.full((T,), S)


def _last_place(T: int, S: int) -> Tensor:
    return torch.full((T,), S + T - 1)


def _continued(queries: Callable | None, keys: Callable | None, **options) -> Callable:
    """Return attention of T new words behind S, turned by ``queries(T, S)`` and ``keys(T, S)``, or not at all."""

    def turned(x: Tensor, positions: Callable | None, S: int) -> Tensor:
        return x if positions is None else rotary(x, positions(len(x), S))

    def step(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
        S = len(kept_k)
        return _turned_attention(turned(q, queries, S), turned(k, keys, S), v, (kept_k, kept_v), **options)

    return step


def _new_first(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
    places = _behind(len(q), len(kept_k))
    keys, values = torch.cat([rotary(k, places), kept_k]), torch.cat([v, kept_v])
    return _turned_attention(rotary(q, places), keys[len(kept_k) :], values[len(kept_k) :], (keys[: len(kept_k)], values[: len(kept_k)]))  # fmt: skip


def continued(answer: object) -> str | None:
    """Grade the repair of a cached step that loses positions and mask."""
    cases = []
    for T, S, D, Dv in ((3, 4, 6, 2), (1, 5, 4, 3), (5, 2, 2, 7), (2, 0, 4, 5)):
        q, k, v, kept_v = (
            normal(n, d, seed=s) for s, (n, d) in enumerate(((T, D), (T, D), (T, Dv), (S, Dv)))
        )
        cases.append((q, k, v, rotary(normal(S, D, seed=9)), kept_v))
    unmasked = "no mask: where several words are new, each of them sees the new ones after it."
    start = "the positions begin at 0 again: the new words stand behind the kept ones."
    again = "the kept keys are turned a second time: they were turned when they were kept. Turn the new ones only."
    mistakes = [
        (_continued(_zero, _zero, offset=1000), "as it was given: hand in the function after changing it."),
        (_continued(_behind, _behind, offset=1000), f"the positions are right. But {unmasked}"),
        (_continued(_zero, _zero), f"the mask is right. But {start}"),
        (_continued(_behind, None, again=True), again),
        (_continued(_behind, _behind, again=True), again),
        (_continued(_zero, None, again=True), f"{again} And the queries begin at 0."),
        (_continued(_behind, _zero), "the queries stand in the right place, the new keys still begin at 0."),
        (_continued(_zero, _behind), "the new keys stand in the right place, the queries still begin at 0."),
        (_continued(_behind, None), "the new keys are not turned at all."),
        (_continued(None, _behind), "the queries are not turned at all."),
        (_continued(_one_place, _one_place), "all new words stand at one position; each has its own, one after the other."),
        (_new_first, "the new keys and values stand before the kept ones: append them at the end."),
        (_continued(None, None), "nothing is turned: the new queries and keys need their positions."),
        (_continued(_late, _late), "the positions begin one too late: S words have the places 0 to S - 1."),
        (_continued(_early, _early), "the positions begin one too early: S words have the places 0 to S - 1."),
        (_continued(_behind, _behind, offset=-1), "no word sees itself: the diagonal belongs to the mask."),
        (_continued(_behind, _behind, offset=1), "each word sees one word too many, the one after it."),
        (lambda q, k, v, a, b: _continued(_behind, _behind)(q, k, rotary(v, _behind(len(v), len(a))), a, b), "the values are turned too: they are mixed, not compared, and nothing turns them back."),
        (lambda q, k, v, a, b: _continued(_behind, _behind)(q * q.shape[-1] ** 0.5, k, v, a, b), "the scores are not divided by the root of D."),
        (lambda q, k, v, a, b: _continued(_behind, _behind)(q, k, v, a, b) if len(a) == 0 else _alone(q, k, v, len(a)), "the new words see each other and nothing of what was kept: the kept columns belong to the mask."),
        (_masked(lambda T, S: ~torch.ones(T, S + T).tril(S).bool()), "the mask is inverted: True means that a word may be seen."),
        (_masked(lambda T, S: torch.ones(T, S + T).triu(S).bool() | (torch.arange(S + T) < S)), "among the new words the mask is turned round: each sees those after it instead of those before."),
        (_masked(lambda T, S: torch.eye(T, S + T).roll(S, -1).bool() | (torch.arange(S + T) < S)), "each new word sees what was kept and itself; it must see the new words before it, too."),
        (_continued(_last_place, _last_place), "all new words stand at one position; each has its own, one after the other."),
        (_top_left, "the mask is aligned top-left, so the new words do not see what was kept: the last query must see the last key."),
    ]  # fmt: skip
    return by_cases(answer, _continued(_behind, _behind), cases, mistakes)


def _masked(mask: Callable) -> Callable:
    """Return attention of T new words behind S, at their places, with a mask (T, S + T) of their own."""

    def step(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
        T, S = len(q), len(kept_k)
        keys = torch.cat([kept_k, rotary(k, _behind(T, S))])
        return attention(rotary(q, _behind(T, S)), keys, torch.cat([kept_v, v]), mask(T, S))

    return step


def _alone(q: Tensor, k: Tensor, v: Tensor, S: int) -> Tensor:
    places = _behind(len(q), S)
    return _turned_attention(rotary(q, places), rotary(k, places), v, (k[:0], v[:0]))


def _top_left(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
    return _continued(_behind, _behind, offset=-len(kept_k))(q, k, v, kept_k, kept_v)


def _grams(tokens: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def _repeated(tokens: list[int], n: int) -> float:
    grams = _grams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def repeats(answer: object) -> str | None:
    """Grade the share of n-grams that stood in the text before."""
    texts = [([4, 1, 1, 1, 4, 4, 4, 1, 1, 4, 4, 2], 2), ([5, 5, 5, 5, 5], 3), ([1, 2, 1, 3, 4], 2), ([7, 8, 7, 8, 7, 9], 1), ([3, 1, 4, 3, 1, 4, 3, 1], 4), ([2, 7], 2), ([1, 12, 11, 2], 2)]  # fmt: skip

    def share(count: Callable) -> Callable:
        return lambda t, n: count(_grams(t, n)) / len(_grams(t, n))

    mistakes = [
        (lambda t, n: _repeated(["".join(map(str, g)) for g in _grams(t, n)], 1), "written together, (1, 12) and (11, 2) look the same: compare tuples."),
        (share(lambda g: len(set(g))), "that is the share of different ones; asked is the share that stood there before."),
        (share(lambda g: sum(m for m in Counter(g).values() if m > 1)), "the first time is counted too: a pair that comes twice has been repeated once."),
        (share(lambda g: sum(1 for m in Counter(g).values() if m > 1)), "each is counted once, however often it comes back: count every time after the first."),
        (lambda t, n: sum(1 for m in Counter(_grams(t, n)).values() if m > 1) / len(set(_grams(t, n))), "that is a share of the different ones; the share of all places is asked."),
        (lambda t, n: _repeated(t, n) * len(_grams(t, n)), "that is a count; divide by the number of places at which n tokens begin."),
        (lambda t, n: _repeated(t, n) * len(_grams(t, n)) / len(t), "you divide by the number of tokens; n tokens begin at fewer places."),
        (lambda t, n: _repeated(t, 1), "`n` is not used: these are single tokens."),
        (lambda t, n: _repeated(t[:-1], n), "the last place is missing: n tokens begin at one place more."),
        (share(lambda g: max(Counter(g).values())), "that is how often the most common one comes; every repetition counts."),
        (lambda t, n: _repeated(t, n + 1), "that is one token too many in each."),
        (lambda t, n: 1 - len(set(_blocks(t, n))) / len(_blocks(t, n)), "you cut the text into pieces; look at every place, also in the middle of the last."),
        (share(lambda g: sum(a == b for a, b in pairwise(g))), "you compare with the place before only; a repetition may stand anywhere before."),
        (lambda t, n: _repeated([tuple(sorted(g)) for g in _grams(t, n)], 1), "order counts: (1, 2) and (2, 1) are not the same."),
        (share(lambda g: sum(m * (m - 1) // 2 for m in Counter(g).values())), "every earlier place is counted; a place counts once, however often its tokens came before."),
        (lambda t, n: (len(_grams(t, n)) - len(set(_grams(t, n)))) // len(_grams(t, n)), "`//` leaves the fraction out: divide with `/`."),
        (lambda t, n: _repeated(t, n) * len(_grams(t, n)) / len(set(_grams(t, n))), "you divide by the number of different ones; divide by the number of places."),
        (lambda t, n: float(_repeated(t, n) > 0), "that says whether anything is repeated; asked is the share of places."),
        (lambda t, n: 100 * _repeated(t, n), "that is in percent; return the share, between 0 and 1."),
    ]  # fmt: skip
    return by_cases(answer, _repeated, texts, mistakes, read=scalar)


def _blocks(tokens: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(0, len(tokens), n)]


PLAN = ("vocab_size", "embed_dim", "num_heads", "num_layers", "hidden_dim")


def _whole(name: str, number: object) -> int:
    got = numbers(number)
    if got.numel() != 1 or got.item() != int(got.item()) or got.item() < 1:
        raise AnswerError(f"{name} must be a whole number of at least 1.")
    return int(got.item())


def plan(answer: object) -> str | None:
    """Grade the sizes of a model under five conditions."""
    answer = by_name(PLAN, answer)
    V, C, H, layers, hidden = (_whole(name, answer[name]) for name in PLAN)
    if V != 2048:
        return f"the vocabulary is given: 2,048 tokens, not {V:,}."
    if C % H or C // H != 32:
        return f"a head should be 32 wide; {C} numbers on {H} heads are {C / H:.4g}."
    if layers < 6:
        return f"at least 6 blocks are asked, yours are {layers}."
    attention, network = 4 * C * C, 3 * C * hidden
    if not 1.9 <= network / attention <= 2.1:
        advice = " A gated network has three matrices." if math.isclose(hidden, 4 * C, rel_tol=0.06) else ""
        return f"the network has {network / attention:.3g} times the weights of attention, where about 2 are asked.{advice}"
    total = V * C + layers * (attention + network + 2 * C) + C
    if total > 1_000_000:
        advice = " Where are most of them: in the table of tokens, or in the blocks?"
        return f"that is too large by {total - 1_000_000:,} parameters.{advice}"
    if total < 900_000:
        return f"there is room for {1_000_000 - total:,} parameters more; use 900,000 at least."
    return None


EXERCISES = [
    Exercise(
        "9.3", "An RMS norm", "medium", 10,
        (
            "The mean square of each token: `x.square().mean(-1, keepdim=True)`.",
            "Add `eps`, take the root, divide `x` by it, and multiply by the weight.",
            "float16 ends at 65,504, and the square of 300 is 90,000. Convert x first, and convert the result back.",
        ),
        rms_norm,
        "Half of a layer norm: the mean stays, and there is no bias. It is computed in float32 whatever the model is stored in, because squares leave the range of float16.",
    ),
    Exercise(
        "9.4", "Repair the block", "medium", 8,
        (
            "Follow `x` from the first line to the last. Where is it overwritten by something other than itself plus what a part adds?",
            "Each half has one form, `x + part(norm(x))`. Write it twice.",
        ),
        repaired_block,
        "Every part reads a copy of the road that was brought to size, and adds to the road itself. So there is a path from the last layer to the first on which nothing is multiplied or divided.",
    ),
    Exercise(
        "9.5", "Cut a new word", "medium", 10,
        (
            "Begin with `list(text)`, the letters. Take the merges one after the other.",
            "For each, walk along the pieces: where its pair stands, append both joined and go on by two, else append one and go on by one.",
            "The page's own `merge(tokens, pair)` is that walk.",
        ),
        new_word,
        "The pieces depend on the order of the merges, not on what looks longest: the rules are replayed as they were learned. A word that nobody foresaw falls into shorter pieces, and nothing is ever unknown.",
    ),
    Exercise(
        "9.6", "Temperature and top-k", "medium", 10,
        (
            "Divide the logits by the temperature before anything else.",
            "`logits.topk(k, -1)` knows the places of the k largest of each row; the k-th value is the least that is kept.",
            "Fill the others with minus infinity, then take the softmax: it divides by the sum of what is left.",
        ),
        sampling,
        "The temperature changes how much is staked on the favourite, top-k who may run at all. At k = 1 the temperature no longer matters.",
    ),
    Exercise(
        "9.8", "A step that forgets where it is", "hard", 12,
        (
            "The first new word follows S kept ones. What is its position? `rotary(x, positions)` takes them.",
            "With one new word no mask is needed. With three, what does the first of them see?",
            "The kept keys were turned when they were kept. `attention(q, k, v, causal=True)` aligns the last query with the last key.",
        ),
        continued,
        "Both bugs are silent: with an empty cache the first is not there, and with one new word the second is not. A test has to feed several words behind several others.",
    ),
    Exercise(
        "9.9", "Does it repeat itself?", "easy", 8,
        (
            "All n neighbouring tokens, as tuples: `tuple(tokens[i : i + n])`. At how many places can they begin?",
            "Walk through them with a set of those seen so far. Or compare how many there are with how many different ones.",
        ),
        repeats,
        "Greedy writing falls into loops, and this number finds them without reading. Taken against the training text instead of the own past, it finds what was learned by heart.",
    ),
    Exercise(
        "9.10", "A model of a million", "medium", 12,
        (
            "With tied weights the table of tokens counts once: 2,048 times the width. A block has 4 C² in attention and 3 C times `hidden_dim` in its gated network.",
            "The network has twice the weights of attention when 3 C `hidden_dim` = 8 C². Choose a width that is a multiple of 32, then see how many blocks fit.",
            "Try the width 96: the table takes 196,608. How much is left, and how much does a block take?",
        ),
        plan,
        "In a small model the table of tokens takes a seventh to a fifth of everything, and untied twice that: so it is tied, and the vocabulary small. The rest buys few wide blocks or many narrow ones.",
    ),
]  # fmt: skip
