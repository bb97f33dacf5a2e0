"""Exercises on the Transformer: the block, its norms, tokens, and what a model writes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise

import torch
from torch import Tensor

from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Exercise, by_cases, normal, numbers, scalar
from attnlib.positions import rotary


def _root(x: Tensor, eps: float, dim: int | tuple = -1) -> Tensor:
    return x.double().square().mean(dim, keepdim=True).add(eps).sqrt()


def rms_norm(answer: object) -> str | None:
    """Grade an RMS norm, also of small numbers and of large ones in half precision."""
    cases = [(normal(*sizes, seed=0) * size + 1, normal(sizes[-1], seed=1), eps)
        for sizes, size, eps in (((2, 3, 5), 3.0, 1e-5), ((7, 2), 1.0, 1e-6), ((3, 11), 0.01, 0.5))
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
        (_block(_branch, _branch), "you normalise what each part adds; normalise what it reads."),
        (lambda x, n1, a, n2, f: _before(_before(x, n2, f), n1, a), "the order is turned round: attention first, then the network."),
        (lambda x, n1, a, n2, f: x + a(n1(x)) + f(n2(x)), "the network reads `x` from before attention: it should read what attention has added."),
        (lambda x, n1, a, n2, f: x + f(n2(x + a(n1(x)))), "what attention added is read by the network and then lost: add both to the road."),
        (lambda x, n1, a, n2, f: _before(_before(x, n1, a), n1, f), "both parts read `norm_1`: each has a norm of its own."),
        (lambda x, n1, a, n2, f: _before(_before(x, n2, a), n1, f), "the two norms are exchanged."),
        (lambda x, n1, a, n2, f: n2(_block(_before, _before)(x, n1, a, n2, f)), "right, and then normalised once more: the road leaves the block as it is."),
    ]  # fmt: skip
    return by_cases(answer, _block(_before, _before), cases, mistakes)


def _pairs(tokens: list[int]) -> list[tuple[int, int]]:
    return list(pairwise(tokens))


def _most_common(tokens: list[int]) -> tuple[int, int] | None:
    pairs = _pairs(tokens)
    return Counter(pairs).most_common(1)[0][0] if pairs else None  # of equals, the one met first


def _replace(
    tokens: list[int], pair: tuple[int, int] | None, new: int, *, times: int | None = None
) -> list[int]:
    out, i = [], 0
    while i < len(tokens):
        if tuple(tokens[i : i + 2]) == pair and times != 0:
            out, i, times = [*out, new], i + 2, None if times is None else times - 1
        else:
            out, i = [*out, tokens[i]], i + 1
    return out


def _merge(tokens: list[int], new: int) -> list[int]:
    return _replace(tokens, _most_common(tokens), new)


def _last_of_equals(tokens: list[int]) -> tuple[int, int]:
    counts = Counter(_pairs(tokens))
    return [pair for pair, n in counts.items() if n == max(counts.values())][-1]


def _at_both(tokens: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Replace every place where the pair stands, also two that share a token."""
    out, skip = [], False
    for i, token in enumerate(tokens):
        if tuple(tokens[i : i + 2]) == pair:
            out, skip = [*out, new], True
        elif skip:
            skip = False
        else:
            out.append(token)
    return out


def one_merge(answer: object) -> str | None:
    """Grade one step of byte-pair encoding."""
    texts = [
        [3, 1, 2, 1, 2, 3, 1, 2],
        [1, 1, 1, 1, 2],
        [1, 1, 1, 2],
        [5, 4, 4, 5, 5, 4],
        [7, 8, 9],
        [7],
        [],
        [2, 1, 1, 2, 1, 1, 3],
    ]
    cases = [(text, 300 + n) for n, text in enumerate(texts)]  # fmt: skip
    mistakes = [
        (lambda t, n: t, "nothing is replaced."),
        (lambda t, n: [], "it returns an empty list."),
        (lambda t, n: _replace(t, _most_common(t), n, times=1), "only the first place is replaced: replace them all, from left to right."),
        (lambda t, n: _replace(t, min(Counter(_pairs(t)).items(), key=lambda one: one[1])[0], n), "that is the rarest pair; the most common one is asked."),
        (lambda t, n: _replace(t, _most_common(t)[::-1], n), "the pair is turned round: (1, 2) and (2, 1) are two pairs."),
        (lambda t, n: _at_both(t, _most_common(t), n), "one token was used twice: in a row of three equal ones, the first two become the new token, and the third stays."),
        (lambda t, n: _replace(t[::-1], _most_common(t)[::-1], n)[::-1], "replaced from the right; go from left to right."),
        (lambda t, n: [n if tuple(t[i : i + 2]) == _most_common(t) else t[i] for i in range(len(t))], "the second token of the pair is still there: one new token stands for both."),
        (lambda t, n: [n if token == Counter(t).most_common(1)[0][0] else token for token in t], "that replaces the most common token; asked is the most common pair of neighbours."),
        (lambda t, n: _replace(t, _last_of_equals(t), n), "of pairs that are equally common, take the one that comes first in the text."),
        (lambda t, n: _replace(t, max(Counter(_pairs(t)).items(), key=lambda one: (one[1], one[0]))[0], n), "of pairs that are equally common, take the one that comes first in the text, not the one with the largest numbers."),
        (lambda t, n: _replace(t, min(Counter(_pairs(t)).items(), key=lambda one: (-one[1], one[0]))[0], n), "of pairs that are equally common, take the one that comes first in the text, not the one with the smallest numbers."),
        (lambda t, n: [token for token in _merge(t, n) if token != n], "the pair is gone, but the new token is not there."),
    ]  # fmt: skip
    return _by_lists(answer, _merge, cases, mistakes)


def _by_lists(answer: object, reference: Callable, cases: list[tuple], mistakes: list[tuple]) -> str | None:
    """Grade a function of a list of tokens that returns a list of tokens."""
    for n, case in enumerate(cases):
        where = f"right at first, but not for {case[0]}: " if n else ""
        try:
            result = call(answer, list(case[0]), *case[1:])
        except (IndexError, ValueError) as error:
            if not n:
                raise
            return f"{where}it stops with {type(error).__name__}. Is there a pair at all? Without one the text stays as it is."
        if hasattr(result, "tolist"):
            result = result.tolist()
        if not isinstance(result, (list, tuple)):
            raise AnswerError(f"return the list of tokens, got {type(result).__name__}.")
        if list(result) == reference(*case):
            continue
        for wrong, words in mistakes:
            try:
                if list(result) == wrong(*case):
                    return where + words
            except (IndexError, ValueError, TypeError):  # a mistake that stops here is not the one made
                continue
        if len(result) != len(reference(*case)):
            return f"{where}{len(result)} tokens come back, which is too {'many' if len(result) > len(reference(*case)) else 'few'}."
        return f"{where}the number of tokens is right, the tokens are not."
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
    hand = "exponentials of large logits overflow: subtract the largest of each row first, or use `softmax`."
    mistakes = [
        (lambda x, t, k: _probabilities(x, 1 / t, k), "you multiply by the temperature; divide by it: a low temperature makes the likely likelier."),
        (lambda x, t, k: _probabilities(x, 1.0, k), "the temperature is not used."),
        (lambda x, t, k: (x / t).softmax(-1), "`k` is not used: all tokens can still be drawn."),
        (lambda x, t, k: x.softmax(-1), "neither the temperature nor `k` is used."),
        (lambda x, t, k: _sharpened((x / t).softmax(-1), k), "the probabilities that are left do not sum to one: hide logits before the softmax, or divide by the sum."),
        (lambda x, t, k: _sharpened(x.softmax(-1) / t, k), "divide the logits by the temperature, not the probabilities: those of a row must sum to one."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k), 0.0).softmax(-1), "a logit of 0 is not minus infinity: its exponential is 1."),
        (lambda x, t, k: (x / t * _kept(x, k)).softmax(-1), "a logit of 0 is not minus infinity: its exponential is 1."),
        (lambda x, t, k: (x / t).masked_fill(~_kept(x, k, largest=False), -math.inf).softmax(-1), "these are the k least likely tokens."),
        (lambda x, t, k: (x / t).masked_fill(_kept(x, k), -math.inf).softmax(-1), "inverted: the k most likely tokens are the ones that are hidden."),
        (lambda x, t, k: _probabilities(x, t, k - 1), "one token too few is kept: the k-th most likely belongs to the k."),
        (lambda x, t, k: _probabilities(x, t, k + 1), "one token too many is kept."),
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


def _continued(first: Callable, key: Callable | None = None, **options) -> Callable:
    """Return attention of new words whose positions begin at ``first(S)``, those of keys at ``key(S)``."""

    def step(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
        S, T = len(kept_k), len(q)
        turned = rotary(q, torch.arange(T) + first(S))
        keys = k if key is False else rotary(k, torch.arange(T) + (key or first)(S))
        return _turned_attention(turned, keys, v, (kept_k, kept_v), **options)

    return step


def continued(answer: object) -> str | None:
    """Grade the repair of a cached step that loses positions and mask."""
    cases = []
    for T, S, D, Dv in ((3, 4, 6, 2), (1, 5, 4, 3), (5, 2, 2, 7), (2, 0, 4, 5)):
        q, k, v, kept_v = (
            normal(n, d, seed=s) for s, (n, d) in enumerate(((T, D), (T, D), (T, Dv), (S, Dv)))
        )
        cases.append((2 * q, 2 * k, v, rotary(2 * normal(S, D, seed=9)), kept_v))
    right, zero, wide = (lambda S: S), (lambda S: 0), {"offset": 1000}
    unmasked = "no mask: where several words are new, each of them sees the new ones after it."
    start = "the positions begin at 0 again: the new words stand behind the kept ones."
    mistakes = [
        (_continued(zero, **wide), "as it was given: hand in the function after changing it."),
        (_continued(right, **wide), f"the positions are right. But {unmasked}"),
        (_continued(zero), f"the mask is right. But {start}"),
        (_continued(right, again=True), "the kept keys are turned a second time: they were turned when they were kept. Turn the new ones only."),
        (_continued(right, False, again=True), "the kept keys are turned a second time: they were turned when they were kept. Turn the new ones only."),
        (_continued(zero, again=True), "the kept keys are turned a second time: they were turned when they were kept. Turn the new ones only."),
        (_continued(right, zero), "the queries stand in the right place, the new keys still begin at 0."),
        (_continued(zero, right), "the new keys stand in the right place, the queries still begin at 0."),
        (_continued(right, False), "the new keys are not turned at all."),
        (_continued(lambda S: S + 1), "the positions begin one too late: S words have the places 0 to S - 1."),
        (_continued(lambda S: S - 1), "the positions begin one too early: S words have the places 0 to S - 1."),
        (_continued(right, offset=-1), "no word sees itself: the diagonal belongs to the mask."),
        (_continued(right, offset=1), "each word sees one word too many, the one after it."),
        (_top_left, "the mask is aligned top-left, so the new words do not see what was kept: the last query must see the last key."),
    ]  # fmt: skip
    return by_cases(answer, _continued(right), cases, mistakes)


def _top_left(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Tensor:
    return _continued(lambda S: S, offset=-len(kept_k))(q, k, v, kept_k, kept_v)


def _grams(tokens: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def _repeated(tokens: list[int], n: int) -> float:
    grams = _grams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def repeats(answer: object) -> str | None:
    """Grade the share of n-grams that stood in the text before."""
    texts = [([1, 2, 3, 1, 2, 3, 1, 2, 4], 2), ([5, 5, 5, 5, 5], 3), ([1, 2, 3, 4, 5, 6], 2), ([7, 8, 7, 8, 7, 9], 1), ([3, 1, 4, 3, 1, 4, 3, 1], 4), ([2, 7], 2)]  # fmt: skip

    def share(count: Callable) -> Callable:
        return lambda t, n: count(_grams(t, n)) / len(_grams(t, n))

    mistakes = [
        (share(lambda g: len(set(g))), "that is the share of different ones; asked is the share that stood there before."),
        (share(lambda g: sum(m for m in Counter(g).values() if m > 1)), "the first time is counted too: a pair that comes twice has been repeated once."),
        (share(lambda g: sum(1 for m in Counter(g).values() if m > 1)), "each is counted once, however often it comes back: count every time after the first."),
        (lambda t, n: sum(1 for m in Counter(_grams(t, n)).values() if m > 1) / len(set(_grams(t, n))), "that is a share of the different ones; the share of all places is asked."),
        (lambda t, n: _repeated(t, n) * len(_grams(t, n)), "that is a count; divide by the number of places at which n tokens begin."),
        (lambda t, n: _repeated(t, n) * len(_grams(t, n)) / len(t), "you divide by the number of tokens; n tokens begin at fewer places."),
        (lambda t, n: _repeated(t, 1), "`n` is not used: these are single tokens."),
        (lambda t, n: _repeated(t, n + 1), "that is one token too many in each."),
        (lambda t, n: 1 - len(set(_blocks(t, n))) / len(_blocks(t, n)), "you cut the text into pieces; look at every place, also in the middle of the last."),
        (share(lambda g: sum(a == b for a, b in pairwise(g))), "you compare with the place before only; a repetition may stand anywhere before."),
        (lambda t, n: _repeated([tuple(sorted(g)) for g in _grams(t, n)], 1), "order counts: (1, 2) and (2, 1) are not the same."),
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
    if not isinstance(answer, Mapping) or set(answer) != set(PLAN):
        return f"keep the dict with its keys {', '.join(PLAN[:-1])} and {PLAN[-1]}."
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
        "9.5", "One merge", "medium", 12,
        (
            "Count neighbours with `Counter(zip(tokens, tokens[1:]))`; `most_common(1)` gives the first of equals.",
            "Walk with an index: if the pair stands here, append the new token and go on by two, else by one.",
            "A text of one token has no pair, and one of none neither.",
        ),
        one_merge,
        "Repeat it a thousand times and you have a vocabulary. Nothing here knows what a word is, and yet common words become single tokens.",
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
