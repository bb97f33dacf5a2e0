"""Exercises on what attention costs."""

from __future__ import annotations

import math
import tracemalloc
import weakref
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from attnlib.functional import attention
from attnlib.learn.calling import call
from attnlib.learn.grading import Calls, Exercise, close, compare, numbers
from attnlib.linear import linear_attention


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu").double()


def _one(answer: object) -> float:
    """Read a single number."""
    got = numbers(answer)
    if got.numel() != 1:
        raise TypeError(f"the answer must be a single number, got {got.numel()} of them")
    return got.item()


def _name(got: float, right: float, known: Sequence[tuple[float, str]], where: str = "") -> str | None:
    """Return None if the number is right, else the mistake that leads to it."""
    if math.isclose(got, right, rel_tol=1e-6):
        return None
    for wrong, words in known:
        if math.isclose(got, wrong, rel_tol=1e-6):
            return words
    return f"{where}it should be {right:,.12g}, yours is {got:,.12g}."


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
        wrong = _name(
            _one(call(answer, d, H, Hkv)), d + d * Hkv / H, known, f"with d = {d}, H = {H}, Hkv = {Hkv} "
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
            f"with {B} sequences, {layers} layers, d = {d}, H = {H}, Hkv = {Hkv}, n = {n} and {width} bytes "
        )
        wrong = _name(_one(call(answer, B, layers, d, H, Hkv, n, width)), right, known, where)
        if wrong:
            return wrong
    return None


def longest(answer: object) -> str | None:
    """Grade the longest text whose cache fits."""
    cases = ((10**9, 12, 4, 64, 4), (5 * 2**30, 32, 8, 128, 2), (1_000_300, 3, 2, 16, 2))
    for memory, layers, Hkv, D, width in cases:
        token = 2 * layers * Hkv * D * width
        right, exact = memory // token, memory / token
        got = _one(call(answer, memory, layers, Hkv, D, width))
        where = f"with {memory:,} bytes "
        known = [
            (exact, f"{where}{exact:,.2f} tokens would fill it exactly; there are whole tokens only."),
            (
                float(right + 1),
                f"{where}yours is one token too many: it would not fit any more. Round down, always.",
            ),
            (float(memory // (token // 2)), "twice too long: keys and values are both kept."),
            (2 * exact, "twice too long: keys and values are both kept."),
            (float(memory * layers // token), "too long: every layer keeps keys and values."),
            (float(memory // token // 8), "eight times too short: the width is in bytes already, not bits."),
            (float(memory // (8 * token)), "eight times too short: the width is in bytes already, not bits."),
            (float(8 * memory // token), "eight times too long: memory and width are both in bytes."),
            (float(memory * width // token), "too long: a number takes `width` bytes."),
            (float(math.isqrt(memory // token)), "no root: the cache grows with n, not with n²."),
            (float(token), "that is what one token takes; how many fit?"),
        ]
        if exact == right:
            known = known[1:]
        if got != right:
            return _name(got, right, known, where) or f"{where}it should be {right}, yours is {got:g}."
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
        where = f"with n = {n} and a window of {window} "
        wrong = _name(
            _one(call(answer, n, window)), right, [pair for pair in known if pair[0] != right], where
        )
        if wrong:
            return wrong
    return None


def intensity(answer: object) -> str | None:
    """Grade the operations a byte of one decoding step."""
    for group, width in ((3, 4), (1, 2), (8, 2)):
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
        where = f"with a group of {group} and {width} bytes a number "
        wrong = _name(_one(call(answer, group, width)), right, known, where)
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


class _Once:
    """Blocks of scores and values that can be gone through once; notes whether old ones are still held."""

    def __init__(self, scores: Tensor, values: Tensor) -> None:
        self.parts = list(zip(scores.split(3), values.split(3), strict=True))
        self.held = False

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        given: list[weakref.ref] = []
        for s, v in self.parts:
            scores, values = s.clone(), v.clone()
            given.append(weakref.ref(values))
            yield scores, values
            del scores, values
            self.held |= sum(ref() is not None for ref in given) > 1


def one_pass(answer: object) -> str | None:
    """Grade an online softmax over blocks that come once."""
    scores, values = _random(11, seed=2) * 2, _random(11, 3, seed=3)
    scores[-1] = scores.max() + 1.0  # the maximum grows on the way
    parts = list(zip(scores.split(3), values.split(3), strict=True))

    def run(*, shrink_sum: bool = True, shrink_mix: bool = True) -> Tensor:
        top, total, mixed = torch.tensor(-math.inf).double(), 0.0, torch.zeros(3).double()
        for s, v in parts:
            new = torch.maximum(top, s.max())
            shrink, e = (top - new).exp(), (s - new).exp()
            total = total * (shrink if shrink_sum else 1.0) + e.sum()
            mixed = mixed * (shrink if shrink_mix else 1.0) + e @ v
            top = new
        return mixed / total

    blocks = _Once(scores, values)
    with Calls() as calls:
        got = numbers(call(answer, iter(blocks)))
    exponentials = [s.softmax(0) @ v for s, v in parts]
    mixed = scores.exp() @ values
    wrong = compare(
        got,
        scores.softmax(0) @ values,
        [
            (run(shrink_sum=False, shrink_mix=False), "what was summed before is relative to an older maximum: rescale it by exp(old - new)."),
            (run(shrink_mix=False), "the sum is rescaled, the mixed values are not: both are relative to the old maximum."),
            (run(shrink_sum=False), "the mixed values are rescaled, the sum is not: both are relative to the old maximum."),
            (torch.stack(exponentials).mean(0), "a mean of the blocks' own results: a block with larger scores must count for more."),
            (torch.stack(exponentials).sum(0), "a softmax for each block, summed: the weights then sum to the number of blocks."),
            (exponentials[-1], "that is the last block alone; carry the sums on from block to block."),
            (mixed / (scores - scores.max()).exp().sum(), "sum and mixed values are relative to different maxima."),
            ((scores - scores.max()).exp() @ values, "divide by the sum of the exponentials at the end."),
            (mixed, "divide by the sum of the exponentials at the end."),
        ],
    )  # fmt: skip
    if wrong:
        return wrong
    if "softmax" in calls.names:
        return "right, but it calls softmax; keep a maximum and a sum yourself."
    if blocks.held:
        return "right, but it holds all blocks at once: use each as it comes, and keep three things only."
    if not torch.isfinite(numbers(call(answer, iter(_Once(scores + 1000, values))))).all():
        return (
            "right for small scores, but with scores near 1000 `exp` overflows: subtract the largest so far."
        )
    return None


class _Largest(TorchDispatchMode):
    """Note how many numbers the largest tensor has that is made inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for x in result if isinstance(result, (list, tuple)) else [result]:
            if isinstance(x, Tensor):
                self.count = max(self.count, x.numel())
        return result


def _holds_all_pairs(answer: object, T: int = 512) -> bool:
    """Tell whether a table of T by T numbers is made on the way, in PyTorch or in NumPy."""
    q, k, v = _random(T, 4, seed=7).exp().float(), _random(T, 4, seed=8).exp().float(), torch.ones(T, 3)
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        call(answer, q.clone(), k.clone(), v.clone())
        grown = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not traced:
            tracemalloc.stop()
    with _Largest() as largest:
        call(answer, q, k, v)
    return largest.count >= T * T or grown >= 4 * T * T


def recurrence(answer: object) -> str | None:
    """Grade linear attention as a recurrence."""
    given = [_random(6, 4, seed=s).exp().float() for s in (4, 5)] + [_random(6, 3, seed=6).float()]
    q, k, v = (x.double() for x in given)
    scores = (q @ k.T).tril()
    right = linear_attention(q, k, v, causal=True, feature_map=lambda x: x)
    count = torch.arange(1, 7).double()[:, None]
    before = scores.tril(-1)
    shifted = before @ v / before.sum(-1, keepdim=True).clamp_min(1e-300)
    got = numbers(call(answer, *(x.clone() for x in given)))
    if got.shape == right.shape and close(got[1:], shifted[1:]):
        return "you read before you write: add the token's own key and value to the state first, then answer its query."
    wrong = compare(
        got,
        right,
        [
            (scores @ v, "divide by the sum of the weights: the query times the sum of the keys so far."),
            ((q @ k.T) @ v / (q @ k.T).sum(-1, keepdim=True), "every token sees the whole text; token t may use the state after t tokens only."),
            (scores @ v / count, "divide by the sum of the weights, not by their number."),
            (scores @ v / (q @ k.sum(0))[:, None], "you divide by the sum over all keys; the sum of keys belongs to the state, and grows with it."),
            (attention(q, k, v, causal=True, scale=1.0), "that is softmax attention: here a weight is the product of q and k itself."),
            (attention(q, k, v, causal=True), "that is softmax attention: here a weight is the product of q and k itself."),
            (v, "only the token's own key and value are used: the state has to be added up."),
            (right[-1], "that is the last output; collect one for every token, and stack them."),
        ],
    )  # fmt: skip
    if wrong is None and _holds_all_pairs(answer):
        return "right, but it makes a table of all pairs, T by T: go through the tokens, and keep a state of fixed size."
    return wrong


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
            "Multiply: 2, B, layers, Hkv, d / H, n, width.",
        ),
        cache,
        "The number of query heads matters only through the width of a head.",
    ),
    Exercise(
        "7.6", "How long a text fits", "medium", 6,
        (
            "What does one token take, in all layers?",
            "Divide, and round down: `//`.",
        ),
        longest,
        "Halving the key/value heads doubles the longest text.",
    ),
    Exercise(
        "7.7", "Pairs in a window", "medium", 6,
        (
            "The first query sees 1 key, the second 2, until the window is full.",
            "Sum `min(i + 1, window)` over the places i from 0 to n - 1.",
        ),
        window_pairs,
        "About n times the window: the cost is linear in n, as long as the window is not.",
    ),
    Exercise(
        "7.8", "Operations for a byte", "medium", 8,
        (
            "For one token in the cache: D numbers of its key and D of its value are read.",
            "Each query head of the group does 2 D operations with the key and 2 D with the value.",
            "Divide 4 D · group by 2 D · width.",
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
]  # fmt: skip
