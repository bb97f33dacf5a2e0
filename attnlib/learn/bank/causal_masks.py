"""Exercises on causal masks."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Calls, Exercise, by_cases, close, compare, normal, numbers, scalar
from attnlib.masks import causal_mask, padding_mask


def _mask(answer: object) -> Tensor:
    """Read a boolean mask as numbers, or say why the answer is none."""
    got = torch.as_tensor(answer).detach().cpu()
    if got.dtype == torch.bool:
        return got.double()
    if got.is_floating_point() and got.isinf().any():
        raise AnswerError("this is a table to add to the scores; return a boolean mask, True = may attend.")
    raise AnswerError(
        f"a mask is boolean, True = may attend; yours is {got.dtype}. Compare instead of counting, or use .bool()."
    )


def causal_for_cache(answer: object) -> str | None:
    """Grade a causal mask aligned at the last key."""
    cases = [(5, 5), (2, 6), (1, 7), (4, 5)]
    mistakes = [
        (lambda T, S: ~causal_mask(T, S), "it is inverted: True must mean may attend."),
        (lambda T, S: causal_mask(T, S, offset=0), "it is aligned top-left: the last query must see the last key."),
        (lambda T, S: causal_mask(T, S, offset=S - T - 1), "no query sees itself: the diagonal belongs to the mask."),
        (lambda T, S: causal_mask(T, S, offset=S - T + 1), "each query sees one key too many, the one after itself."),
        (lambda T, S: ~causal_mask(T, S, offset=S - T - 1), "this is the upper triangle: query i sees keys from i on."),
        (lambda T, S: causal_mask(T, S).mT, "rows and columns are swapped: queries are rows."),
        (lambda T, S: torch.ones(T, S), "nothing is masked."),
    ]  # fmt: skip
    return by_cases(answer, causal_mask, cases, mistakes, read=_mask)


def _real(lengths: Tensor, T: int) -> Tensor:
    """Return which keys are real if the padding stands at the start, (B, 1, 1, T)."""
    return (torch.arange(T) >= T - lengths[:, None])[:, None, None]


def both_masks(answer: object) -> str | None:
    """Grade a causal mask combined with padding."""
    cases = [(torch.tensor(lengths), T) for lengths, T in (([3, 5, 1], 5), ([2, 7], 7), ([1, 3, 2, 3, 2], 3))]
    unused, alone = (
        "the lengths are not used: hide the padding too.",
        "this is the padding alone; combine it with `causal_mask(T)`.",
    )
    mistakes = [
        (lambda n, T: (_real(n, T) & causal_mask(T))[:, 0], "the axis for the heads is missing: (B, 1, T, T), so that it fits scores (B, H, T, T)."),
        (lambda n, T: causal_mask(T), unused),
        (lambda n, T: causal_mask(T).expand(len(n), 1, T, T), unused),
        (lambda n, T: _real(n, T) | causal_mask(T), "you combined with |: a pair must be allowed by both masks, so it is &."),
        (lambda n, T: _real(n, T).mT & causal_mask(T), "the padding is hidden as queries (rows); it must be hidden as keys (columns)."),
        (lambda n, T: padding_mask(n, T) & causal_mask(T), "this hides the end of each sentence; the padding stands at the start."),
        (lambda n, T: ~(_real(n, T) & causal_mask(T)), "it is inverted: True must mean may attend."),
        (lambda n, T: ~_real(n, T) & causal_mask(T), "the padding is inverted: it keeps the padding and hides the words."),
        (lambda n, T: _real(n, T) & ~causal_mask(T), "the causal mask is inverted: it shows the future."),
        (_real, alone),
        (lambda n, T: _real(n, T).expand(-1, -1, T, -1), alone),
        (lambda n, T: _real(n + 1, T) & causal_mask(T), "one position of the padding is open: the last `length` keys are real."),
        (lambda n, T: _real(n - 1, T) & causal_mask(T), "the first real word is hidden: the last `length` keys are real."),
    ]  # fmt: skip
    return by_cases(answer, lambda n, T: _real(n, T) & causal_mask(T), cases, mistakes, read=_mask)


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
    """Name what goes wrong with a hidden score of 200 (row 4), or with visible ones of -200 and -3e9 (5, 6)."""
    if by_hand:
        return "right for small scores, wrong near 200 or -200: there exponentials overflow or vanish. Subtract in each row the largest score that may be seen, or use PyTorch's softmax."
    if not close(got[4], right[4]):
        return "wrong where a hidden score is 200: zeroed after the softmax, the visible weights have vanished, and dividing by their sum does not bring them back. Hide scores before the softmax."
    near = "-3e9" if close(got[5], right[5]) else "-200"
    return f"wrong where visible scores are near {near}: the number you fill in is larger, and takes the weight. Fill in minus infinity."


def safe_softmax(answer: object) -> str | None:
    """Grade a masked softmax that survives a row without keys, extreme scores, and its gradient."""
    scores = normal(7, 5, seed=0)
    scores[4, 2] = 200.0  # hidden, and far larger than what may be seen
    scores[5, :2] -= 200.0  # may be seen, and far smaller than what is hidden
    scores[6, 1:3] = -3e9
    rows = ["11001", "00000", "11111", "00010", "11010", "11000", "01100"]
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
    return words or _wrong_gradient(out, leaf) or _other_sizes(answer)


def _wrong_gradient(out: object, leaf: Tensor) -> str | None:
    if not isinstance(out, Tensor) or not out.requires_grad:
        return (
            "the weights are right, but no gradient can flow: use tensor operations, without detach or NumPy."
        )
    (out * normal(*out.shape, seed=1)).sum().backward()
    if not leaf.grad.isfinite().all():
        return "the weights are right, but the gradient is NaN: backward still passes through 0/0. Repair the scores before the softmax, not the weights after it."
    return None


def _other_sizes(answer: object) -> str | None:
    cases = [(normal(T, S, seed=2), normal(T, S, seed=3) > 0) for T, S in ((3, 3), (2, 11), (5, 7))]
    return by_cases(answer, lambda s, m: s.masked_fill(~m, -math.inf).softmax(-1).nan_to_num(0), cases)


def _attend(change: Callable, dim: int = -1) -> Callable:
    """Return attention over scores that ``change(scores, mask)`` has masked."""
    return lambda q, k, v, mask: change(q @ k.T / q.shape[-1] ** 0.5, mask).softmax(dim) @ v


def _closed(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf)


def _inverted(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(mask, -math.inf)


def _zeroed(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return (q @ k.T / q.shape[-1] ** 0.5).softmax(-1) * mask


def repaired(answer: object) -> str | None:
    """Grade the repair of a masked attention with planted bugs."""
    cases = [
        (normal(T, D, seed=0), normal(S, D, seed=1), normal(S, Dv, seed=2), causal_mask(T, S))
        for T, S, D, Dv in ((4, 6, 3, 2), (2, 7, 5, 3), (5, 5, 11, 7))
    ]
    q, k, *_ = cases[0]
    q[0, 0] = 10.0  # the first query: scores near -69 for what it may see, and near 69 for a hidden key
    k[:, 0] = 12.0 * torch.tensor([-1.0, -1.0, -1.0, 0.0, 0.0, 1.0])
    divided = "zero after the softmax, divided by the sum, fails where a hidden score is far larger: the visible weights have vanished. Fill the scores with minus infinity before it."
    mistakes = [
        (_attend(_inverted, 0), "everything is NaN, as with both bugs: hand in the function after changing it."),
        (_attend(_closed, 0), "one bug is left: the softmax must run over the keys, the last axis, not over the queries."),
        (_attend(_inverted), "one bug is left: masked_fill fills where its mask is True, so it hides what may be seen."),
        (lambda q, k, v, m: _attend(_inverted)(q, k, v, m).nan_to_num(0), "one bug is left: masked_fill fills where its mask is True, so it hides what may be seen."),
        (lambda q, k, v, m: _zeroed(q, k, m) @ v, "zero after the softmax leaks: fill the scores with minus infinity before it."),
        (lambda q, k, v, m: _zeroed(q, k, m) / _zeroed(q, k, m).sum(-1, keepdim=True) @ v, divided),
        (lambda q, k, v, m: _zeroed(q, k, m) / _zeroed(q, k, m).sum(-1, keepdim=True).clamp(1e-9) @ v, divided),
        (_attend(lambda s, m: s * m), "a score of 0 is not minus infinity: its exponential is 1."),
        (_attend(lambda s, m: s), "the mask is not used any more."),
        (lambda q, k, v, m: _closed(q @ k.T, m).softmax(-1) @ v, "the masking is right, but the scale is gone: divide by the root of the width of q."),
        (lambda q, k, v, m: _closed(q @ k.T / len(k) ** 0.5, m).softmax(-1) @ v, "the scale is the root of the width of q, not of the number of keys."),
    ]  # fmt: skip
    return by_cases(answer, _attend(_closed), cases, mistakes)


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
        "a function that hears later words in whole steps": (lambda x: x + x.round().sum(0), False),
        "a function that centres the features of each word first": (centred, False),
    }


class _Watched:
    """A function that notes the largest change to the input it was first called with, and whether one is NaN."""

    def __init__(self, function: Callable[[Tensor], Tensor], x: Tensor) -> None:
        self.function, self.x = function, x.clone()
        self.change, self.finite = 0.0, True

    def __call__(self, x: Tensor) -> Tensor:
        if x.shape == self.x.shape:
            self.finite &= bool(x.isfinite().all())
            self.change = max(self.change, (x - self.x).abs().max().item())
        return self.function(x)


def own_leak_test(answer: object) -> str | None:
    """Grade a test for leaks, on right functions and wrong ones."""
    x = normal(6, 4, seed=0) / 2
    x = x.round() + 0.4 * (x - x.round())  # near whole numbers, so that a small change rounds to the same
    for name, (function, causal) in _suspects(6).items():
        watched = _Watched(function, x)
        given = x.clone()
        got = numbers(call(answer, watched, given))
        if not torch.equal(given, x):
            return "it changes the x it was given; change a clone."
        if got.numel() != 1:
            return "return one bool: True if no output depends on a later input."
        if bool(got) == causal:
            continue
        if not watched.finite:
            return f"it is wrong about {name}: you put NaN or infinity into x, and 0 times those is NaN, so what is hidden shows. Put in finite numbers."
        if causal:
            return f"{name} does not leak, but your test says it does. Compare the outputs before the changed position only: those from it on may change."
        if watched.change < 0.5:
            return f"{name} is missed: your changes are {watched.change:.2g} at most, too small to show in every function. Change the numbers by 1 or more."
        if "centres" in name:
            return f"{name} is missed: adding one number to all features of a word leaves no trace there. Change each feature by another amount."
        if "million" in name:
            return f"{name} is missed: compare bit for bit, with torch.equal, not to a tolerance."
        return f"{name} is missed: your test says it does not leak. Change every position in turn, and compare every output before it."
    return None


def _step(scale: Callable = lambda D: D**-0.5) -> Callable:
    def step(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        scores = q @ torch.cat([keys, k]).mT * scale(q.shape[-1])
        return scores.softmax(-1) @ torch.cat([values, v])

    return step


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1) @ v


def _every_row(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    all_k = torch.cat([keys, k])
    scores = _closed(torch.cat([keys, q]) @ all_k.mT * q.shape[-1] ** -0.5, causal_mask(len(all_k)))
    return scores.softmax(-1) @ torch.cat([values, v])


def _row(got: object) -> Tensor:
    got = numbers(got)
    return got[None] if got.ndim == 1 else got


def cached_step(answer: object) -> str | None:
    """Grade one step of attention with kept keys and values."""
    cases = [
        (
            normal(1, D, seed=0),
            normal(1, D, seed=3),
            normal(1, Dv, seed=4),
            normal(S, D, seed=1),
            normal(S, Dv, seed=2),
        )
        for S, D, Dv in ((5, 3, 2), (2, 7, 5), (11, 2, 3))
    ]
    order = "keys and values are in different order: append both at the end."
    mistakes = [
        (lambda q, k, v, a, b: _attention(q, a, b), "the new key and value are missing: a word may attend to itself."),
        (lambda q, k, v, a, b: v, "only the new key is seen; attend to the kept ones too."),
        (lambda q, k, v, a, b: b[:1], "only the first key is seen: a causal mask aligned top-left. One new query sees every key."),
        (_step(lambda D: 1.0), "the scale is missing: divide the scores by the root of D."),
        (_step(lambda D: 1 / D), "you divided the scores by D; divide by its root."),
        (lambda q, k, v, a, b: _step()(k, k, v, a, b), "you asked with the key instead of the query."),
        (lambda q, k, v, a, b: _attention(q, torch.cat([k, a]), torch.cat([b, v])), order),
        (lambda q, k, v, a, b: _attention(q, torch.cat([a, k]), torch.cat([v, b])), order),
        (_every_row, "only the new word asks: return one row, not one for each word."),
    ]  # fmt: skip
    return by_cases(answer, _step(), cases, mistakes, read=_row)


def _reached(mask: Tensor, layers: int) -> Tensor:
    """Return what each word depends on after some layers with one boolean mask, (T, T)."""
    return torch.linalg.matrix_power(mask.double(), layers) > 0


def _unheard(mask: Tensor) -> str | None:
    """Say which earlier word is not heard within two layers, and why."""
    missing = causal_mask(7) & ~_reached(mask, 2)
    if not missing.any():
        return None
    if not mask.diagonal().all():
        return f"word {mask.diagonal().int().argmin()}, counted from 0, does not hear itself: an earlier word cannot send it back, so every cell of the diagonal is needed."
    near = mask.diagonal(-1)
    if not near.all():
        i = int(near.int().argmin()) + 1
        return f"word {i}, counted from 0, never hears word {i - 1}: between neighbours stands no third word that could pass it on."
    i, j = missing.nonzero()[0].tolist()
    where = f"pairs not heard in two layers: {int(missing.sum())}. Word {i} does not hear word {j}, for one, counted from 0"
    if mask[:, 0].all() and not mask[-1].all():
        return f"{where}. All see the first word, but it is no messenger: it hears itself alone. Who passes words on must stand between."
    if mask[-1].all() and not mask[:, 0].all():
        return f"{where}. The last word hears all and tells nobody: no earlier word may see it. Who passes words on must stand between."
    if torch.equal(_reached(mask, 3), causal_mask(7)):
        return f"{where}: with three layers it would."
    return f"{where}: {i} must see a word that sees {j}."


def few_cells(answer: object) -> str | None:
    """Grade a causal mask of 17 cells through which two layers reach everything."""
    if callable(answer):
        return "hand in the mask itself, a boolean tensor (7, 7), not a function."
    try:
        rows = isinstance(answer, (list, tuple)) and all(isinstance(row, Tensor) for row in answer)
        mask = _mask(torch.stack(tuple(answer)) if rows else answer).bool()
    except (TypeError, ValueError, RuntimeError):
        raise AnswerError("the answer must be a boolean mask (7, 7), True = may attend.") from None
    if mask.shape != (7, 7):
        return f"the shape should be (7, 7), yours is {tuple(mask.shape)}."
    ahead = mask & ~causal_mask(7)
    for other, words in (
        (~mask, "it is inverted: True must mean may attend."),
        (mask.mT, "rows and columns are swapped: row i says what word i may see."),
    ):
        if ahead.any() and not (other & ~causal_mask(7)).any() and _unheard(other) is None:
            return words
    if ahead.any():
        i, j = ahead.nonzero()[0].tolist()
        return f"it shows the future: word {i} sees word {j}, counted from 0."
    return _unheard(mask) or _too_open(mask)


def _too_open(mask: Tensor) -> str | None:
    """Say whether more cells are open than are needed, and whether one can simply be closed."""
    count = int(mask.sum())
    if count == 28:
        return "this is the whole triangle, for which one layer is enough; with two, words can be passed on."
    if count <= 17:
        return None
    for i, j in mask.nonzero().tolist():
        fewer = mask.clone()
        fewer[i, j] = False
        if _unheard(fewer) is None:
            return f"everything is heard, but {count} cells are open. One at least can be closed at once: look for a pair that is heard in two ways."
    return f"everything is heard, but {count} cells are open. None can be closed alone: choose another word to pass things on."


def _losses(logits: Tensor, answers: Tensor) -> Tensor:
    return F.cross_entropy(logits, answers, reduction="none")


def _not_last(own: Tensor) -> Tensor:
    return torch.arange(len(own)) < len(own) - 1


def _next_is_own(own: Tensor) -> Tensor:
    return own == own.roll(-1)  # in a row of one document also at the end


def _last_is_own(own: Tensor) -> Tensor:
    return own == own.roll(1)


def _asked(own: Tensor) -> Tensor:
    return _next_is_own(own) & _not_last(own)


def _packed(asked: Callable, total: Callable = torch.sum, shift: int = -1) -> Callable:
    """Return a loss over the places ``asked(own)``, divided by ``total(asked(own))``."""

    def loss(logits: Tensor, tokens: Tensor, own: Tensor) -> Tensor:
        kept = asked(own)
        return (_losses(logits, tokens.roll(shift)) * kept).sum() / total(kept)

    return loss


def _by_document(logits: Tensor, tokens: Tensor, own: Tensor) -> Tensor:
    each, asked = _losses(logits, tokens.roll(-1)), _asked(own)
    means = [each[asked & (own == n)] for n in own.unique()]
    return torch.stack([one.mean() for one in means if len(one)]).mean()


def packed_loss(answer: object) -> str | None:
    """Grade the repair of a loss for packed documents."""
    cases = []
    for V, lengths in (5, (4, 2, 5)), (3, (7,)), (7, (1, 6, 1, 5)), (11, (2, 3)), (2, (1, 1, 1, 2)):
        own = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
        tokens = torch.randint(V, own.shape, generator=torch.Generator().manual_seed(V))
        cases.append((normal(len(own), V, seed=V), tokens, own))
    back = "`own.roll(1)` looks back: the first question of each document is left out, and the one across the border is asked."
    zeros = "what is left out still counts, as a zero: the more borders, the smaller the mean. Divide by the number of questions that are asked."
    border = (
        "the last word of a document is still asked for the first of the next, which its model cannot know."
    )
    unmoved = "the answers are not moved: each place is asked for the word it has just read."
    every = torch.ones_like
    mistakes = [
        (_packed(_next_is_own), "`roll` brings the first word round to the end; in a row of a single document the last word is asked for it."),
        (_packed(_last_is_own, len), "all that was planted is still there: which questions are left out, and by what is the sum divided?"),
        (_packed(_last_is_own), f"the mean is right now. But {back}"),
        (_packed(lambda own: _last_is_own(own) & _not_last(own)), f"the mean is right now. But {back}"),
        (_packed(lambda own: _last_is_own(own) & _not_last(own), len), back),
        (_packed(_next_is_own, len), f"the right questions are asked in this row. But {zeros}"),
        (_packed(_asked, len), f"the questions are right. But {zeros}"),
        (_packed(_asked, lambda kept: len(kept) - 1), f"the questions are right. But {zeros}"),
        (_packed(every), f"{border} And `roll` brings the first word round to the end."),
        (_packed(_not_last), border),
        (_packed(_not_last, len), border),
        (_packed(every, shift=0), unmoved),
        (_packed(_asked, shift=0), unmoved),
        (_packed(_asked, shift=1), "the answers are moved the wrong way: each place is asked for the word before it."),
        (_packed(_last_is_own, shift=1), "the answers are moved the wrong way: each place is asked for the word before it."),
        (_packed(_last_is_own, shift=0), unmoved),
        (_packed(lambda own: ~_next_is_own(own)), "the wrong way round: only the questions across a border are asked."),
        (_packed(lambda own: ~_next_is_own(own) & _not_last(own)), "the wrong way round: only the questions across a border are asked."),
        (_packed(lambda own: ~_asked(own)), "the wrong way round: only the questions that no document holds are asked."),
        (_packed(lambda own: _asked(own) & (own == 0)), "only the first document is asked."),
        (_packed(lambda own: _asked(own) & _last_is_own(own)), "the first word of each document asks too: only its last one has no answer."),
        (lambda x, t, own: _losses(x, t.roll(-1)).sum() / _asked(own).sum(), "the number of questions is right, but the sum holds all places: leave the others out of it too."),
        (lambda x, t, own: -_packed(_asked)(x, t, own), "the sign is turned round: a loss is minus the logarithm."),
        (lambda x, t, own: _losses(x[:-2], t[2:])[own[2:] == own[:-2]].mean(), "moved twice: each place is asked for the word after the next."),
        (_packed(_asked, lambda kept: 1), "this is the sum over the questions; their mean is asked."),
        (_by_document, "this is a mean of means, in which a question of a short document counts more: take one mean over all questions."),
        (lambda x, t, own: F.cross_entropy(x, t.roll(-1) * _asked(own)), "an answer of 0 is a word like any other: leave these places out."),
        (lambda x, t, own: F.cross_entropy(x * _asked(own)[:, None], t.roll(-1)), "logits of 0 still cost the logarithm of V: leave these places out."),
        (lambda x, t, own: _packed(_asked)(x.softmax(-1), t, own), "`cross_entropy` takes the softmax itself: give it the logits."),
        (lambda x, t, own: _losses(x, t.roll(-1))[_asked(own)], "these are the losses of the questions; their mean is asked."),
        (lambda x, t, own: _losses(x, t.roll(-1)) * _asked(own), "these are the losses of the places; the mean over the questions is asked."),
        (lambda x, t, own: x.softmax(-1).gather(1, t.roll(-1)[:, None])[_asked(own)].mean().log().neg(), "this is the logarithm of a mean; take the mean of the logarithms."),
    ]  # fmt: skip
    return by_cases(answer, _packed(_asked), cases, mistakes, read=scalar)


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
    Exercise(
        "6.11", "Two layers, seventeen cells", "hard", 12,
        (
            "Which cells can nothing replace? Ask it of a word and itself, and of two neighbours. There are 13 of them.",
            "For the rest you need a messenger: it sees earlier words, and later ones see it. Where must it stand to serve most pairs?",
            "Once one messenger serves all pairs on either side of it, two shorter texts remain, each with the same problem.",
        ),
        few_cells,
        "One messenger in the middle, one in each half, and so on: about T log T cells instead of half of T squared. A first word that all see passes nothing on.",
    ),
    Exercise(
        "6.13", "A loss that looks fine", "hard", 12,
        (
            "Write down own = 0, 0, 0, 1, 1 and, below each place, the answer it should get. Which places have none?",
            "At which places is `own == own.roll(1)` False? And at which for 0, 0, 0, with only one document?",
            "By how much does `.mean()` divide, and how many questions are asked?",
        ),
        packed_loss,
        "No leak test sees this: the mask was right, and the questions were wrong. And a mean over places that ask nothing depends on how the row was packed.",
    ),
]  # fmt: skip
