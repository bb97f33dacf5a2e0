"""Exercises on causal masks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Calls, by_cases, close, compare, normal, numbers, scalar
from attnlib.masks import causal_mask, padding_mask


def _mask(answer: object, says: dict[str, str]) -> Tensor:
    """Read a boolean mask as numbers, or say why the answer is none."""
    got = torch.as_tensor(answer).detach().cpu()
    if got.dtype == torch.bool:
        return got.double()
    if got.is_floating_point() and got.isinf().any():
        raise AnswerError(says["mask_to_add"])
    raise AnswerError(says["mask_of_numbers"].format(dtype=got.dtype))


def _by_masks(
    answer: object, reference: Callable, cases: list, mistakes: list, says: dict[str, str]
) -> str | None:
    """Grade a function that returns a boolean mask; of a wrong pair, say whether it is open or closed."""
    called = says["the_pair"], says["is_open"], says["is_closed"]
    return by_cases(answer, reference, cases, mistakes, read=partial(_mask, says=says), called=called)


def causal_for_cache(answer: object, says: dict[str, str]) -> str | None:
    """Grade a causal mask aligned at the last key."""
    cases = [(5, 5), (2, 6), (1, 7), (4, 5)]
    mistakes = [
        (lambda T, S: ~causal_mask(T, S), says["inverted"]),
        (lambda T, S: causal_mask(T, S, offset=0), says["top_left"]),
        (lambda T, S: causal_mask(T, S, offset=S - T - 1), says["not_itself"]),
        (lambda T, S: causal_mask(T, S, offset=S - T + 1), says["one_too_many"]),
        (lambda T, S: ~causal_mask(T, S, offset=S - T - 1), says["upper"]),
        (lambda T, S: causal_mask(T, S).mT, says["turned"]),
        (lambda T, S: torch.ones(T, S), says["open"]),
    ]
    return _by_masks(answer, causal_mask, cases, mistakes, says)


def _real(lengths: Tensor, T: int) -> Tensor:
    """Return which keys are real if the padding stands at the start, (B, 1, 1, T)."""
    return (torch.arange(T) >= T - lengths[:, None])[:, None, None]


def _both(lengths: Tensor, T: int) -> Tensor:
    return _real(lengths, T) & causal_mask(T)


BATCHES = (
    ([3, 5, 1], 5),
    ([2, 7], 7),
    ([1, 3, 2, 3, 2], 3),
    ([2, 4, 1], 6),
)  # lengths, and T; in one none is full


def both_masks(answer: object, says: dict[str, str]) -> str | None:
    """Grade a causal mask combined with padding."""
    cases = [(torch.tensor(lengths), T) for lengths, T in BATCHES]
    mistakes = [
        (lambda n, T: _both(n, T)[:, 0], says["no_head_axis"]),
        (lambda n, T: causal_mask(T), says["lengths_unused"]),
        (lambda n, T: causal_mask(T).expand(len(n), 1, T, T), says["lengths_unused"]),
        (lambda n, T: _real(n, T) | causal_mask(T), says["either"]),
        (lambda n, T: _real(n, T).mT & causal_mask(T), says["as_queries"]),
        (lambda n, T: padding_mask(n, T) & causal_mask(T), says["end_hidden"]),
        (lambda n, T: ~_both(n, T), says["inverted"]),
        (lambda n, T: ~_real(n, T) & causal_mask(T), says["padding_inverted"]),
        (lambda n, T: _real(n, T) & ~causal_mask(T), says["causal_inverted"]),
        (_real, says["padding_alone"]),
        (lambda n, T: _real(n, T).expand(-1, -1, T, -1), says["padding_alone"]),
        (lambda n, T: _both(n + 1, T), says["one_open"]),
        (lambda n, T: _both(n - 1, T), says["one_hidden"]),
        (lambda n, T: _both(T - n, T), says["from_length_on"]),
        (lambda n, T: _both(n, int(n.max())), says["longest_for_T"]),
        (lambda n, T: _real(n - n.max() + T, T) & causal_mask(T), says["longest_for_T"]),
        (lambda n, T: _both(n, T) | torch.eye(T).bool(), says["padding_itself"]),
        (lambda n, T: _both(n, T) | ~_both(n, T).any(-1, keepdim=True), says["padding_itself"]),
        (lambda n, T: _both(n, T) | ~_real(n, T).mT & causal_mask(T), says["padding_itself"]),
    ]
    return _by_masks(answer, _both, cases, mistakes, says)


def _cells(rows: list[str]) -> Tensor:
    """Return a mask that is written as rows of ones and zeros."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


def _closed(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf)


def _safe(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    return _closed(scores, mask).softmax(dim).nan_to_num(0)


def _softmax_mistakes(scores: Tensor, mask: Tensor, says: dict[str, str]) -> list[tuple[Tensor, str]]:
    plain, multiplied = scores.softmax(-1), (scores * mask).softmax(-1)
    return [
        (scores.masked_fill(~mask, -1e9).softmax(-1), says["uniform"]),
        (plain * mask, says["zeroed_after"]),
        (plain, says["mask_unused"]),
        (_safe(scores, mask, dim=-2), says["over_queries"]),
        (_safe(scores, ~mask), says["hides_the_open"]),
        (torch.zeros_like(plain), says["vanished"]),
        (multiplied, says["score_of_zero"]),
        (multiplied * mask, says["score_of_zero"]),
        (multiplied.masked_fill(~mask.any(-1, keepdim=True), 0), says["score_of_zero"]),
    ]


def _extreme(got: Tensor, right: Tensor, says: dict[str, str], *, by_hand: bool) -> str:
    """Name what goes wrong with a hidden score of 200 (row 4), or visible ones of -200 and -3e9 (5, 6)."""
    if by_hand:
        return says["overflow"]
    if not close(got[4], right[4]):
        return says["hidden_large"]
    return says["visible_small"].format(near="-3e9" if close(got[5], right[5]) else "-200")


def _wrong_gradient(out: object, leaf: Tensor, says: dict[str, str]) -> str | None:
    if not isinstance(out, Tensor) or not out.requires_grad:
        return says["no_gradient"]
    (out * normal(*out.shape, seed=1)).sum().backward()
    return None if leaf.grad.isfinite().all() else says["gradient_nan"]


def safe_softmax(answer: object, says: dict[str, str]) -> str | None:
    """Grade a masked softmax that survives a row without keys, extreme scores, and its gradient."""
    scores = normal(7, 5, seed=0)
    scores[4, 2] = 200.0  # hidden, and far larger than what may be seen
    scores[5, :2] -= 200.0  # may be seen, and far smaller than what is hidden
    scores[6, 1:3] = -3e9
    mask = _cells(["11001", "00000", "11111", "00010", "11010", "11000", "01100"])
    right = _safe(scores, mask)
    leaf = scores.clone().requires_grad_()
    with Calls() as calls:
        out = call(answer, leaf, mask.clone())
    if "scaled_dot_product_attention" in calls.names:
        return says["ready_made"]
    got = numbers(out)
    if got.shape == right.shape and got[1].isnan().all():
        return says["masked_nan"]
    words = compare(got, right, _softmax_mistakes(scores, mask, says))
    if words and got.shape == right.shape and close(got[:4], right[:4]):
        words = _extreme(got, right, says, by_hand=not calls.names & {"softmax", "log_softmax"})
    others = [(normal(T, S, seed=2), normal(T, S, seed=3) > 0) for T, S in ((3, 3), (2, 11), (5, 7))]
    return words or _wrong_gradient(out, leaf, says) or by_cases(answer, _safe, others)


def _attend(change: Callable, dim: int = -1) -> Callable:
    """Return attention over scores that ``change(scores, mask)`` has masked."""
    return lambda q, k, v, mask: change(q @ k.T / q.shape[-1] ** 0.5, mask).softmax(dim) @ v


def _inverted(scores: Tensor, mask: Tensor) -> Tensor:
    return _closed(scores, ~mask)


def _zeroed(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return (q @ k.T / q.shape[-1] ** 0.5).softmax(-1) * mask


def _divided(q: Tensor, k: Tensor, mask: Tensor, least: float = 0.0) -> Tensor:
    return _zeroed(q, k, mask) / _zeroed(q, k, mask).sum(-1, keepdim=True).clamp(least)


def repaired(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of a masked attention with planted bugs."""
    masks = ["111000", "101010", "110101", "111111"], ["1001101", "0110111"]  # no triangle, no window
    cases = [
        (normal(T, D, seed=0), normal(S, D, seed=1), normal(S, Dv, seed=2), mask)
        for T, S, D, Dv, mask in (
            (4, 6, 3, 2, _cells(masks[0])),
            (2, 7, 5, 3, _cells(masks[1])),
            (5, 5, 11, 7, causal_mask(5)),
        )
    ]
    q, k, *_ = cases[0]
    q[0, 0] = 10.0  # the first query: scores near -69 for what it may see, and near 69 for a hidden key
    k[:, 0] = 12.0 * torch.tensor([-1.0, -1.0, -1.0, 0.0, 0.0, 1.0])
    mistakes = [
        (_attend(_inverted, 0), says["both_left"]),
        (_attend(_closed, 0), says["axis_left"]),
        (_attend(_inverted), says["inverted_left"]),
        (lambda *case: _attend(_inverted)(*case).nan_to_num(0), says["inverted_left"]),
        (lambda q, k, v, m: _zeroed(q, k, m) @ v, says["zeroed_after"]),
        (lambda q, k, v, m: _divided(q, k, m) @ v, says["divided"]),
        (lambda q, k, v, m: _divided(q, k, m, least=1e-9) @ v, says["divided"]),
        (_attend(lambda s, m: s * m), says["score_of_zero"]),
        (_attend(lambda s, m: s), says["mask_unused"]),
        *(
            (_attend(lambda s, m, o=o: _closed(s, causal_mask(*s.shape, offset=o))), says["causal_instead"])
            for o in (0, None)
        ),
        *(
            (_attend(lambda s, m, o=o: _closed(s, m & causal_mask(*s.shape, offset=o))), says["causal_too"])
            for o in (0, None)
        ),
        (lambda q, k, v, m: _closed(q @ k.T, m).softmax(-1) @ v, says["no_scale"]),
        (lambda q, k, v, m: _closed(q @ k.T / q.shape[-1], m).softmax(-1) @ v, says["no_root_of_d"]),
        (lambda q, k, v, m: _closed(q @ k.T * q.shape[-1] ** 0.5, m).softmax(-1) @ v, says["times_root"]),
        (
            lambda q, k, v, m: _closed(q @ k.T / v.shape[-1] ** 0.5, m).softmax(-1) @ v,
            says["scale_of_values"],
        ),
        (lambda q, k, v, m: _closed(q @ k.T / len(k) ** 0.5, m).softmax(-1) @ v, says["scale_of_keys"]),
    ]
    return by_cases(answer, _attend(_closed), cases, mistakes)


def _suspects(T: int, says: dict[str, str]) -> list[tuple[Callable[[Tensor], Tensor], str, str | None]]:
    """Return functions, each with its name and what is said of a missed leak; None for those without one."""

    def attend(mask: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda x: _closed(x @ x.mT, mask).softmax(-1) @ x

    mask = causal_mask(T)
    causal = attend(mask)

    def depends(i: int, j: int) -> Callable[[Tensor], Tensor]:
        def function(x: Tensor) -> Tensor:
            out = causal(x)
            out[i] += x[j]
            return out

        return function

    def centred(x: Tensor) -> Tensor:
        y = x - x.mean(-1, keepdim=True)
        y = y - y.round(decimals=4).sum(0) / T  # rounded: what is added to all features leaves no bit behind
        return causal(y)

    return [
        (causal, says["causal_attention"], None),
        (attend(torch.ones_like(mask)), says["without_mask"], says["missed"]),
        (lambda x: x.cumsum(0), says["running_sum"], None),
        (lambda x: 2 * x, says["no_neighbour"], None),
        (attend(causal_mask(T, offset=1)), says["off_by_one"], says["missed"]),
        (depends(0, -1), says["depends_on_last"], says["missed"]),
        (depends(2, 3), says["depends_on_next"], says["missed"]),
        *(
            (depends(j - 1, j), says["only_output"].format(i=j - 1, j=j, T=T), says["missed"])
            for j in range(1, T)
            if j != 3
        ),
        (lambda x: ((x @ x.mT).softmax(-1) * mask) @ x, says["zero_after"], says["missed"]),
        (lambda x: causal(x) + 1e-6 * x.sum(0), says["faint"], says["missed_faint"]),
        (lambda x: causal(x) + (3 + 3e-6 * x.sum(0)), says["faint_near_3"], says["missed_faint"]),
        (lambda x: x + x.round().sum(0), says["whole_steps"], says["missed"]),
        (centred, says["centred"], says["missed_centred"]),
        (lambda x: x + _of_next(x.sign()), says["sign_of_next"], says["missed_sign"]),
        (lambda x: x + _of_next(x.abs()), says["size_of_next"], says["missed_size"]),
        *(
            (
                lambda x, c=c: x + _of_next(x[:, c : c + 1]),
                says["one_column"].format(c=c),
                says["missed_column"],
            )
            for c in (1, 0, 2)
        ),
    ]


def _of_next(x: Tensor) -> Tensor:
    """Return what stands in the next row, and 0 in the last."""
    return torch.cat([x[1:], 0 * x[:1]])


def _on_other_rows(says: dict[str, str]) -> list[tuple[tuple, Tensor]]:
    """Return functions that leak, as `_suspects` has them, each with an x on which a change may not show."""
    x = normal(6, 4, seed=1)
    return [
        ((lambda x: x + _of_next(x), says["equal_rows"], says["missed_equal"]), x[:1].repeat(6, 1)),
        (
            (lambda x: x + _of_next((x > 0) * 1.0), says["positive_next"], says["missed_zeros"]),
            -0.1 - x.abs(),
        ),
    ]


class _Watched:
    """A function that notes how the inputs it is given differ from the first one."""

    def __init__(self, function: Callable[[Tensor], Tensor], x: Tensor, cut: str) -> None:
        self.function, self.x, self.cut = function, x.clone(), cut  # what is said of other numbers of rows
        self.change, self.finite = 0.0, True  # the largest change, and whether all numbers are finite
        self.others = False  # whether there are other numbers, or only the old ones in other rows

    def __call__(self, x: Tensor) -> Tensor:
        if x.ndim == 2 and len(x) != len(self.x):
            raise AnswerError(self.cut)
        if x.shape == self.x.shape:
            self.finite &= bool(x.isfinite().all())
            self.change = max(self.change, (x - self.x).abs().max().item())
            self.others |= bool((x.sort(0).values != self.x.sort(0).values).any())
        return self.function(x)


def _near_whole(T: int, C: int) -> Tensor:
    """Return numbers near whole ones, so that a small change rounds to the same."""
    x = normal(T, C, seed=0) / 2
    return x.round() + 0.4 * (x - x.round())


def _misjudged(answer: object, suspect: tuple, says: dict[str, str], x: Tensor) -> str | None:
    """Return what a test for leaks does wrong with one function; None if it is right about it."""
    function, name, missed = suspect
    watched = _Watched(function, x, says["cut"])
    given = x.clone()
    got = numbers(call(answer, watched, given))
    if not torch.equal(given, x):
        raise AnswerError(says["changes_x"])
    if got.numel() != 1:
        return says["not_one_bool"]
    if bool(got) == (missed is None):
        return None
    if not watched.finite:
        return says["not_finite"].format(name=name)
    if missed is None:
        return says["false_alarm"].format(name=name)
    if not watched.change and missed != says["missed_equal"]:
        return says["no_changes"].format(name=name)
    if 0 < watched.change < 0.5:
        return says["small_changes"].format(name=name, change=watched.change)
    return (missed if watched.others or not watched.change else says["rows_exchanged"]).format(name=name)


def own_leak_test(answer: object, says: dict[str, str]) -> str | None:
    """Grade a test for leaks, on right functions and wrong ones."""
    suspects, x = _suspects(6, says), _near_whole(6, 4)
    words = next(filter(None, (_misjudged(answer, suspect, says, x) for suspect in suspects)), None)
    if words and not any(
        _misjudged(lambda fn, x: ~numbers(answer(fn, x)).bool(), suspect, says, x) for suspect in suspects[:4]
    ):
        return says["wrong_way_round"]
    if words is None:  # a test that changes six rows only
        longer = [suspect for suspect in _suspects(9, says) if "9 rows" in suspect[1]]
        tried = [*((one, _near_whole(9, 3)) for one in longer), *_on_other_rows(says)]
        words = next(filter(None, (_misjudged(answer, one, says, x) for one, x in tried)), None)
    return words


def _one_cut(run: Callable, x: Tensor) -> tuple[str, dict] | None:
    """Change the second half at once, twenty times, and compare the first; None if that stays the same."""
    cut, changed, before = len(x) // 2, x.clone(), run(x)
    for n in range(20):
        changed[cut:] = normal(*x[cut:].shape, seed=n + 1)
        if not torch.equal(run(changed)[:cut], before[:cut]):
            return "one_cut", {}
    return None


def _small_steps(run: Callable, x: Tensor) -> tuple[str, dict] | None:
    """Change each row in turn by very little, and compare the outputs before it, to a tolerance."""
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j] += 0.001
        moved = (run(changed)[:j] - run(x)[:j]).abs().amax(-1)
        if moved.max() > 1e-4:
            return "small_steps", {"j": j, "i": int(moved.argmax()), "change": moved.max().item()}
    return None


def _doubled(run: Callable, x: Tensor) -> tuple[str, dict] | None:
    """Double all rows from each position on, and compare the outputs before it."""
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j:] *= 2
        moved = (run(changed)[:j] != run(x)[:j]).any(-1)
        if moved.any():
            return "doubled", {"j": j, "i": int(moved.int().argmax())}
    return None


def _leaks(run: Callable, x: Tensor) -> bool:
    """Put other numbers into each row in turn, and compare every output before it, bit for bit."""
    before = run(x)
    for j in range(1, len(x)):
        for n in range(8):
            changed = x.clone()
            changed[j] = (0.3, 2)[n % 2] * normal(x.shape[1], seed=10 * j + n)  # smaller ones, and larger
            if not torch.equal(run(changed)[:j], before[:j]):
                return True
    return False


SHAPES = (6, 4, 1.0), (9, 3, 0.3), (4, 2, 2.0), (5, 3, 0.5), (8, 5, 0.7), (7, 3, 1.0)  # rows, columns, size


def fool(answer: object, says: dict[str, str]) -> str | None:
    """Grade a function that leaks, and that three weak tests call causal."""
    for n, (T, C, size) in enumerate(SHAPES):
        x = size * normal(T, C, seed=n)
        x = x + 0.1 * x.sign()  # no number is nearer to 0 than 0.1, as the exercise says
        where = says["right_at_first"].format(shape=(T, C)) if n else ""

        def run(x: Tensor) -> Tensor:
            got = numbers(call(answer, x.clone()))
            if got.shape != x.shape:
                raise AnswerError(says["shape"].format(wanted=tuple(x.shape), shape=tuple(got.shape)))
            if not got.isfinite().all():
                raise AnswerError(says["not_finite"])
            return got

        before = run(x)
        if not all(torch.equal(run(x), before) for _ in range(12)):
            return where + says["two_outputs"]
        if not _leaks(run, x):
            return where + says["causal"]
        found = _one_cut(run, x) or _small_steps(run, x) or _doubled(run, x)
        if not all(torch.equal(run(x), before) for _ in range(12)):
            return where + says["two_outputs"]
        if found:
            name, told = found
            return where + says[name].format(**told)
    return None


def _reached(mask: Tensor, layers: int) -> Tensor:
    """Return what each word depends on after some layers with one boolean mask, (T, T)."""
    return torch.linalg.matrix_power(mask.double(), layers) > 0


def _enough(mask: Tensor, layers: int = 2) -> bool:
    """Tell whether each word depends, after some layers, on itself and all earlier words, and on no later one."""
    return torch.equal(_reached(mask, layers), causal_mask(7))


def _missing(mask: Tensor, says: dict[str, str]) -> str:
    """Say which earlier word has no path to a later one within two layers, and why."""
    itself, near = mask.diagonal(), mask.diagonal(-1)
    if not itself.all():
        return says["not_itself"].format(i=int(itself.int().argmin()))
    if not near.all():
        j = int(near.int().argmin())
        return says["not_neighbour"].format(i=j + 1, j=j)
    if mask[:, 0].all() and not mask[-1].all():
        words = says["first_for_all"]
    elif mask[-1].all() and not mask[:, 0].all():
        words = says["last_attends_to_all"]
    else:
        words = says["three_layers"] if _enough(mask, layers=3) else says["no_path"]
    missing = causal_mask(7) & ~_reached(mask, 2)
    i, j = missing.nonzero()[0].tolist()
    return words.format(count=int(missing.sum()), i=i, j=j)


def _too_open(mask: Tensor, says: dict[str, str]) -> str | None:
    """Say whether more cells are open than are needed, and whether one can simply be closed."""
    count = int(mask.sum())
    if count == 28:
        return says["triangle"]
    if count <= 17:
        return None
    for i, j in mask.nonzero().tolist():
        fewer = mask.clone()
        fewer[i, j] = False
        if _enough(fewer):
            return says["can_be_closed"].format(count=count)
    return says["none_can_be_closed"].format(count=count)


def few_cells(answer: object, says: dict[str, str]) -> str | None:
    """Grade a causal mask of 17 cells through which two layers reach everything."""
    if callable(answer):
        return says["function"]
    try:
        rows = isinstance(answer, (list, tuple)) and all(isinstance(row, Tensor) for row in answer)
        mask = _mask(torch.stack(tuple(answer)) if rows else answer, says).bool()
    except (TypeError, ValueError, RuntimeError):
        raise AnswerError(says["no_mask"]) from None
    if mask.shape != (7, 7):
        return says["shape"].format(shape=tuple(mask.shape))
    if _enough(~mask):
        return says["inverted"]
    if _enough(mask.mT):
        return says["swapped"]
    ahead = mask & ~causal_mask(7)
    if ahead.any():
        i, j = ahead.nonzero()[0].tolist()
        return says["future"].format(i=i, j=j)
    return _too_open(mask, says) if _enough(mask) else _missing(mask, says)


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
    """Return a loss over the positions ``asked(own)``, divided by ``total(asked(own))``."""

    def loss(logits: Tensor, tokens: Tensor, own: Tensor) -> Tensor:
        kept = asked(own)
        return (_losses(logits, tokens.roll(shift)) * kept).sum() / total(kept)

    return loss


def _questions(logits: Tensor, tokens: Tensor, own: Tensor) -> Tensor:
    return _losses(logits, tokens.roll(-1))[_asked(own)]


def _by_document(logits: Tensor, tokens: Tensor, own: Tensor) -> Tensor:
    losses, document = _questions(logits, tokens, own), own[_asked(own)]
    return torch.stack([losses[document == n].mean() for n in document.unique()]).mean()


def packed_loss(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of a loss for packed documents."""
    cases = []
    for V, lengths in (5, (4, 2, 5)), (3, (7,)), (7, (1, 6, 1, 5)), (11, (2, 3)), (2, (1, 1, 1, 2)):
        own = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
        tokens = torch.randint(V, own.shape, generator=torch.Generator().manual_seed(V))
        cases.append((normal(len(own), V, seed=V), tokens, own))
    mistakes = [
        (_packed(_next_is_own), says["round_to_end"]),
        (_packed(_last_is_own, len), says["all_planted"]),
        (_packed(_last_is_own), says["mean_right"]),
        (_packed(lambda own: _last_is_own(own) & _not_last(own)), says["mean_right"]),
        (_packed(lambda own: _last_is_own(own) & _not_last(own), len), says["compares_back"]),
        (_packed(_next_is_own, len), says["row_right"]),
        (_packed(_asked, len), says["questions_right"]),
        (_packed(_asked, lambda kept: len(kept) - 1), says["questions_right"]),
        (_packed(torch.ones_like), says["border_and_end"]),
        (_packed(_not_last), says["border"]),
        (_packed(_not_last, len), says["border"]),
        (_packed(torch.ones_like, shift=0), says["not_moved"]),
        (_packed(_asked, shift=0), says["not_moved"]),
        (_packed(_asked, shift=1), says["wrong_way"]),
        (_packed(_last_is_own, shift=1), says["wrong_way"]),
        (_packed(_last_is_own, shift=0), says["not_moved"]),
        (_packed(lambda own: ~_next_is_own(own)), says["only_across"]),
        (_packed(lambda own: ~_next_is_own(own) & _not_last(own)), says["only_across"]),
        (_packed(lambda own: ~_asked(own)), says["only_across"]),
        (_packed(lambda own: _asked(own) & (own == 0)), says["first_document"]),
        (_packed(lambda own: _asked(own) & _last_is_own(own)), says["first_word"]),
        (lambda x, t, own: _losses(x, t.roll(-1)).sum() / _asked(own).sum(), says["sum_of_all"]),
        (lambda *case: -_packed(_asked)(*case), says["sign"]),
        (lambda x, t, own: _losses(x[:-2], t[2:])[own[2:] == own[:-2]].mean(), says["moved_twice"]),
        (_packed(_asked, lambda kept: 1), says["sum"]),
        (_by_document, says["mean_of_means"]),
        (lambda x, t, own: F.cross_entropy(x, t.roll(-1) * _asked(own)), says["answer_zero"]),
        (
            lambda x, t, own: _losses(x, t.roll(-1))[_asked(own) & (t.roll(-1) != 0)].mean(),
            says["zero_ignored"],
        ),
        (lambda x, t, own: F.cross_entropy(x * _asked(own)[:, None], t.roll(-1)), says["logits_zero"]),
        (lambda x, t, own: _packed(_asked)(x.softmax(-1), t, own), says["softmax_twice"]),
        (_questions, says["no_mean"]),
        (lambda x, t, own: _losses(x, t.roll(-1)) * _asked(own), says["no_mean_of_positions"]),
        (lambda *case: -(-_questions(*case)).exp().mean().log(), says["log_of_mean"]),
    ]
    return by_cases(answer, _packed(_asked), cases, mistakes, read=scalar)
