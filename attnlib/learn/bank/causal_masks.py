"""Exercises on causal masks."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.learn.calling import call
from attnlib.learn.grading import Calls, Exercise, close, compare, numbers
from attnlib.masks import causal_mask, padding_mask


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")


def _mask(answer: object) -> Tensor | str:
    """Read a boolean mask, or say why the answer is none."""
    got = torch.as_tensor(answer).detach().cpu()
    if got.dtype == torch.bool:
        return got
    if got.is_floating_point() and got.isinf().any():
        return "this is a table to add to the scores; return a boolean mask, True = may attend."
    return f"a mask is boolean, True = may attend; yours is {got.dtype}. Compare instead of counting, or use .bool()."


def _named(got: Tensor, right: Tensor, mistakes: list[tuple[Tensor, str]]) -> str | None:
    """Compare boolean masks as numbers."""
    return compare(got.double(), right.double(), [(wrong.double(), words) for wrong, words in mistakes])


def causal_for_cache(answer: object) -> str | None:
    """Grade a causal mask aligned at the last key."""
    for T, S in ((5, 5), (2, 6), (1, 7), (4, 5)):
        right = causal_mask(T, S)
        got = _mask(call(answer, T, S))
        if isinstance(got, str):
            return got
        words = _named(
            got,
            right,
            [
                (~right, "it is inverted: True must mean may attend."),
                (
                    causal_mask(T, S, offset=0),
                    "it is aligned top-left: the last query must see the last key.",
                ),
                (
                    causal_mask(T, S, offset=S - T - 1),
                    "no query sees itself: the diagonal belongs to the mask.",
                ),
                (
                    causal_mask(T, S, offset=S - T + 1),
                    "each query sees one key too many, the one after itself.",
                ),
                (
                    ~causal_mask(T, S, offset=S - T - 1),
                    "this is the upper triangle: query i sees keys from i on.",
                ),
                (causal_mask(S, T, offset=0).mT.flip(0, 1), "this is the upper triangle, turned."),
                (right.mT, "rows and columns are swapped: queries are rows."),
                (torch.ones(T, S, dtype=torch.bool), "nothing is masked."),
            ],
        )
        if words:
            return f"with T = {T} and S = {S}: {words}"
    return None


def both_masks(answer: object) -> str | None:
    """Grade a causal mask combined with padding."""
    lengths, T = [3, 5, 1], 5
    count, causal = torch.tensor(lengths)[:, None], causal_mask(T)
    pad = (torch.arange(T) >= T - count)[:, None, None]  # (B, 1, 1, T)
    right = pad & causal
    got = _mask(call(answer, torch.tensor(lengths), T))
    if isinstance(got, str):
        return got
    if got.ndim == 4 and got.shape[1] == 1 and got.shape[2] == 1 and torch.equal(got, pad):
        return "this is the padding alone; combine it with `causal_mask(T)`."
    everywhere = torch.ones_like(right)
    return _named(
        got,
        right,
        [
            (right[:, 0], "the axis for the heads is missing: (B, 1, T, T), so that it fits scores (B, H, T, T)."),
            (causal, "the lengths are not used: hide the padding too."),
            (causal & everywhere, "the lengths are not used: hide the padding too."),
            (pad | causal, "you combined with |: a pair must be allowed by both masks, so it is &."),
            (pad.mT & causal, "the padding is hidden as queries (rows); it must be hidden as keys (columns)."),
            (padding_mask(lengths, T) & causal, "this hides the end of each sentence; the padding stands at the start."),
            (~right, "it is inverted: True must mean may attend."),
            (~pad & causal, "the padding is inverted: it keeps the padding and hides the words."),
            (pad & ~causal, "the causal mask is inverted: it shows the future."),
            (pad.expand(-1, -1, T, -1), "this is the padding alone; combine it with `causal_mask(T)`."),
            ((torch.arange(T) >= T - count - 1)[:, None, None] & causal,
             "one position of the padding is open: the last `length` keys are real."),
            ((torch.arange(T) > T - count)[:, None, None] & causal,
             "the first real word is hidden: the last `length` keys are real."),
        ],
    )  # fmt: skip


def other_convention(answer: object) -> str | None:
    """Grade the way from one convention to the other, with its shape."""
    keep = padding_mask([2, 4, 3], 4)  # (3, 1, 1, 4)
    ignore = ~keep[:, 0, 0]
    got = _mask(call(answer, ignore.clone()))
    if isinstance(got, str):
        return got
    return _named(
        got,
        keep,
        [
            (~keep, "the shape is right, but True still means ignore: turn it round with ~."),
            (keep[:, 0, 0], "turned round rightly, but (B, S) is read as (T, S); give it the axes of heads and queries."),
            (ignore, "this is the mask you were given: turn it round, and give it the axes of heads and queries."),
            (keep[:, 0], "one axis is missing: (B, 1, S) is read as (H, T, S), with the batch for heads."),
            (keep.mT, "the keys stand on the axis of the queries: (B, 1, 1, S), not (B, 1, S, 1)."),
            (keep[:, 0, 0, :, None, None], "the keys stand on the axis of the heads: (B, 1, 1, S)."),
            (keep[:, 0, 0, :, None], "the keys stand on the axis of the queries: (B, 1, 1, S)."),
            (keep[:, 0, 0][None, None], "the batch stands on the axis of the queries: (B, 1, 1, S)."),
        ],
    )  # fmt: skip


def _softmax_cases(scores: Tensor, mask: Tensor) -> list[tuple[Tensor, str]]:
    blind = ~mask.any(-1, keepdim=True)
    plain, uniform = scores.softmax(-1), scores.masked_fill(~mask, -1e9).softmax(-1)
    wrong_way = scores.masked_fill(~mask, -math.inf).softmax(-2).nan_to_num(0)
    inverted = scores.masked_fill(mask, -math.inf).softmax(-1).nan_to_num(0)
    multiplied = (scores * mask).softmax(-1)
    return [
        (uniform, "the blind row attends uniformly to keys it must not see: a large negative number is not minus infinity."),
        (plain * mask, "you set weights to zero after the softmax: the open rows no longer sum to one."),
        (plain, "the mask is not used."),
        (wrong_way, "the softmax runs over the queries; each row, over the keys, must sum to one: dim=-1."),
        (inverted, "the mask is inverted: it hides where it is True."),
        (torch.zeros_like(plain), "every weight has vanished: subtract in each row the largest score that may be seen, not the largest of all."),
        (multiplied, "a score of 0 is not minus infinity: its exponential is 1."),
        (multiplied.masked_fill(blind, 0), "a score of 0 is not minus infinity: its exponential is 1."),
    ]  # fmt: skip


def _extreme(got: Tensor, right: Tensor, *, by_hand: bool) -> str:
    """Name what goes wrong with a hidden score of 200 (row 4), or with visible ones of -200 (row 5)."""
    if by_hand:
        return "right for small scores, wrong near 200 or -200: there exponentials overflow or vanish. Subtract in each row the largest score that may be seen, or use PyTorch's softmax."
    if not close(got[4], right[4]):
        return "wrong where a hidden score is 200: zeroed after the softmax, the visible weights have vanished, and dividing by their sum does not bring them back. Hide scores before the softmax."
    return "wrong where visible scores are near -200: the number you fill in is larger, and takes the weight. Fill in minus infinity."


def safe_softmax(answer: object) -> str | None:
    """Grade a masked softmax that survives a row without keys, extreme scores, and its gradient."""
    scores = _random(6, 5, seed=0)
    scores[4, 2] = 200.0  # hidden, and far larger than what may be seen
    scores[5, :2] -= 200.0  # may be seen, and far smaller than what is hidden
    rows = ["11001", "00000", "11111", "00010", "11010", "11000"]
    mask = torch.tensor([[cell == "1" for cell in row] for row in rows])
    right = scores.masked_fill(~mask, -math.inf).softmax(-1).nan_to_num(0).double()
    leaf = scores.clone().requires_grad_()
    with Calls() as calls:
        out = call(answer, leaf, mask.clone())
    if calls.names & {"scaled_dot_product_attention"}:
        return "right or not, it calls ready-made attention; write it with masked_fill and softmax."
    got = numbers(out)
    if got.shape == right.shape and got[1].isnan().all():
        return "the blind row is NaN, 0/0. Give it any finite scores before the softmax, and set its weights to zero afterwards."
    words = compare(got, right, [(w.double(), m) for w, m in _softmax_cases(scores, mask)])
    if words and got.shape == right.shape and close(got[:4], right[:4]):
        words = _extreme(got, right, by_hand=not calls.names & {"softmax", "log_softmax"})
    if words:
        return words
    if not isinstance(out, Tensor) or not out.requires_grad:
        return (
            "the weights are right, but no gradient can flow: use tensor operations, without detach or NumPy."
        )
    (out * _random(6, 5, seed=1)).sum().backward()
    if not leaf.grad.isfinite().all():
        return "the weights are right, but the gradient is NaN: backward still passes through 0/0. Repair the scores before the softmax, not the weights after it."
    if not torch.equal(scores, leaf.detach()):
        return "it changes the scores it was given; use masked_fill without the underscore."
    return None


def repaired(answer: object) -> str | None:
    """Grade the repair of a masked attention with planted bugs."""
    T, S, D = 4, 6, 3
    q, k, v = _random(T, D, seed=0), _random(S, D, seed=1), _random(S, 2, seed=2)
    q[0, 0] = 10.0  # the first query: scores near -69 for what it may see, and near 69 for a hidden key
    k[:, 0] = 12.0 * torch.tensor([-1.0, -1.0, -1.0, 0.0, 0.0, 1.0])
    mask = causal_mask(T, S)
    scores = q @ k.T / D**0.5

    def out(masked: Tensor, dim: int = -1) -> Tensor:
        return (masked.softmax(dim).nan_to_num(0) @ v).double()

    closed = scores.masked_fill(~mask, -math.inf)
    got = numbers(call(answer, q.clone(), k.clone(), v.clone(), mask.clone()))
    usual = got.shape == (T, 2) and close(got[1:], out(closed)[1:])
    if usual and not got[0].nan_to_num(0).any():
        return "zero after the softmax, divided by the sum, fails where a hidden score is far larger: the visible weights have vanished. Fill the scores with minus infinity before it."
    return compare(
        got,
        out(closed),
        [
            (out(scores.masked_fill(mask, -math.inf), 0), "nothing is repaired yet: hand in the function after changing it."),
            (out(closed, 0), "one bug is left: the softmax must run over the keys, the last axis, not over the queries."),
            (out(scores.masked_fill(mask, -math.inf)), "one bug is left: masked_fill fills where its mask is True, so it hides what may be seen."),
            ((scores.softmax(-1) * mask @ v).double(), "zero after the softmax leaks: fill the scores with minus infinity before it."),
            (out(scores * mask), "a score of 0 is not minus infinity: its exponential is 1."),
            (out(scores), "the mask is not used any more."),
            (out((q @ k.T).masked_fill(~mask, -math.inf)), "the masking is right, but the scale is gone: divide by the root of the width of q."),
            (out((q @ k.T / S**0.5).masked_fill(~mask, -math.inf)), "the scale is the root of the width of q, not of the number of keys."),
        ],
    )  # fmt: skip


def _suspects(T: int) -> dict[str, tuple[Callable[[Tensor], Tensor], bool]]:
    mask = causal_mask(T)

    def attend(mask: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda x: (x @ x.mT).masked_fill(~mask, -math.inf).softmax(-1) @ x

    def only_last(x: Tensor) -> Tensor:
        out = attend(mask)(x).clone()
        out[0] = out[0] + x[-1]
        return out

    def only_next(x: Tensor) -> Tensor:
        out = attend(mask)(x).clone()
        out[2] = out[2] + x[3]
        return out

    def faint(x: Tensor) -> Tensor:
        return attend(mask)(x) + 1e-6 * x.sum(0)

    def faint_and_shifted(x: Tensor) -> Tensor:
        return attend(mask)(x) + (3 + 3e-6 * x.sum(0))

    def centred(x: Tensor) -> Tensor:
        y = x - x.mean(-1, keepdim=True)
        y = y - y.round(decimals=4).sum(0) / T  # rounded: what is added to all features leaves no bit behind
        return attend(mask)(y)

    return {
        "causal attention": (attend(mask), True),
        "attention without a mask": (attend(torch.ones(T, T, dtype=torch.bool)), False),
        "a running sum": (lambda x: x.cumsum(0), True),
        "a function that uses no neighbour at all": (lambda x: 2 * x, True),
        "a mask that is off by one": (attend(causal_mask(T, offset=1)), False),
        "a function whose first output hears only the last word": (only_last, False),
        "a function whose third output hears the fourth word and nothing else leaks": (only_next, False),
        "zero after the softmax": (lambda x: ((x @ x.mT).softmax(-1) * mask) @ x, False),
        "a leak of one part in a million": (faint, False),
        "a leak of a few parts in a million on outputs near 3": (faint_and_shifted, False),
        "a function that centres the features of each word first": (centred, False),
    }


def own_leak_test(answer: object) -> str | None:
    """Grade a test for leaks, on right functions and wrong ones."""
    x = _random(6, 4, seed=0) / 2
    for name, (fn, causal) in _suspects(6).items():
        given = x.clone()
        got = call(answer, fn, given)
        if isinstance(got, Tensor) and got.numel() != 1:
            return "return one bool: True if no output depends on a later input."
        if not torch.equal(given, x):
            return "it changes the x it was given; change a clone."
        if bool(got) == causal:
            continue
        if causal:
            return f"{name} does not leak, but your test says it does. Compare the outputs before the changed position only: those from it on may change."
        if "centres" in name:
            return f"{name} is missed: adding one number to all features of a word leaves no trace there. Change each feature by another amount."
        if "million" in name:
            return f"{name} is missed: compare bit for bit, with torch.equal, not to a tolerance."
        return f"{name} is missed: your test says it does not leak. Change every position in turn, and compare every output before it."
    return None


def cached_step(answer: object) -> str | None:
    """Grade one step of attention with kept keys and values."""
    S, D = 5, 3
    q, keys, values = _random(1, D, seed=0), _random(S, D, seed=1), _random(S, 2, seed=2)
    k, v = _random(1, D, seed=3), _random(1, 2, seed=4)

    def attend(q: Tensor, k: Tensor, v: Tensor, scale: float = D**-0.5) -> Tensor:
        return ((q @ k.mT * scale).softmax(-1) @ v).double()

    all_k, all_v = torch.cat([keys, k]), torch.cat([values, v])
    right = attend(q, all_k, all_v)
    kept = keys.clone(), values.clone()
    got = numbers(call(answer, q.clone(), k.clone(), v.clone(), *kept))
    if got.shape == (2,):
        got = got[None]
    if not (torch.equal(kept[0], keys) and torch.equal(kept[1], values)):
        return "it changes the tensors that were kept; make longer ones with torch.cat."
    whole = (
        (torch.cat([keys, q]) @ all_k.mT * D**-0.5).masked_fill(~causal_mask(S + 1), -math.inf).softmax(-1)
        @ all_v
    ).double()
    return compare(
        got,
        right,
        [
            (attend(q, keys, values), "the new key and value are missing: a word may attend to itself."),
            (v.double(), "only the new key is seen; attend to the kept ones too."),
            (values[:1].double(), "only the first key is seen: a causal mask aligned top-left. One new query sees every key."),
            (attend(q, all_k, all_v, 1.0), "the scale is missing: divide the scores by the root of D."),
            (attend(q, all_k, all_v, 1 / D), "you divided the scores by D; divide by its root."),
            (attend(k, all_k, all_v), "you asked with the key instead of the query."),
            (attend(q, torch.cat([k, keys]), all_v), "keys and values are in different order: append both at the end."),
            (attend(q, all_k, torch.cat([v, values])), "keys and values are in different order: append both at the end."),
            (whole, "only the new word asks: return one row, not one for each word."),
        ],
    )  # fmt: skip


EXERCISES = [
    Exercise(
        "6.3", "A mask for a cache", "medium", 8,
        (
            "Number the queries by their place in the whole text: query i stands at position i + S - T.",
            "It sees key j if j <= i + S - T. `torch.arange(T)[:, None]` is a column of i, `torch.arange(S)` a row of j.",
            "Or cut: the last T rows of the square mask for S words.",
        ),
        causal_for_cache,
        "The offset S - T is how many words were there before. With a square mask it is 0, and no one notices it is missing.",
    ),
    Exercise(
        "6.4", "Padding and future", "medium", 8,
        (
            "Key j of sentence b is real if j >= T - lengths[b]: a comparison of a row with a column gives (B, T).",
            "Give it two axes: `[:, None, None, :]` makes (B, 1, 1, T).",
            "Combine it with the (T, T) triangle by `&`; broadcasting makes (B, 1, T, T).",
        ),
        both_masks,
        "With padding at the end the triangle alone would keep real words from it; at the start it does not. And the rows of the padding are blind now.",
    ),
    Exercise(
        "6.5", "From the other convention", "easy", 5,
        (
            "`~` turns a boolean tensor round.",
            "The scores are (B, H, T, S): the batch must stand first and the keys last, with an axis of one for heads and for queries.",
        ),
        other_convention,
        "Two things change between the conventions: what True means, and the shape. Both are silent when wrong.",
    ),
    Exercise(
        "6.6", "A softmax that survives", "hard", 12,
        (
            "Find the blind rows first: `blind = ~mask.any(-1, keepdim=True)`.",
            "Fill forbidden scores with minus infinity; then fill the blind rows with 0, so that their softmax is finite.",
            "After the softmax, fill the blind rows with 0 again. `masked_fill` lets no gradient through where it fills.",
        ),
        safe_softmax,
        "Weights and gradients are finite. nan_to_num after the softmax does that with masked_fill, which stops the gradient; a repair before the softmax does it even where the mask is added.",
    ),
    Exercise(
        "6.7", "Repair it", "medium", 8,
        (
            "What does `masked_fill(mask, value)` fill: the cells where the mask is True, or where it is False?",
            "Each query needs weights that sum to one. Over which axis?",
        ),
        repaired,
        "Both bugs run without an error and give numbers of the right shape. Only a test tells.",
    ),
    Exercise(
        "6.9", "Your own leak test", "hard", 15,
        (
            "For each position j: clone x, change row j of the clone, run fn on it.",
            "Change the features by different amounts, at random for instance: a function may begin by subtracting their mean.",
            "Compare `fn(x)[:j]` with `fn(changed)[:j]`: all outputs before j.",
            "Use `torch.equal`: a leak may be faint.",
        ),
        own_leak_test,
        "Ten lines that every causal model can be run through before it is trained.",
    ),
    Exercise(
        "6.10", "One step with a cache", "medium", 8,
        (
            "Append the new key and value: `torch.cat([keys, k])`.",
            "One query, all keys: scores (1, S + 1), divided by the root of D, softmax, times the values. No mask is needed.",
        ),
        cached_step,
        "A single new query needs no mask at all: everything that is there is its past.",
    ),
]  # fmt: skip
