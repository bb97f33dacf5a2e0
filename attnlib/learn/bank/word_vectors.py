"""Exercises on word vectors."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib.learn.calling import AnswerError, call, explain, spell_call
from attnlib.learn.grading import by_cases, close, normal, numbers, scalar, unit

KING = torch.tensor([0, 4], dtype=torch.float64)
MAN = torch.tensor([1, 0], dtype=torch.float64)
QUEEN = torch.tensor([4, 4], dtype=torch.float64)


def _point(answer: object, name: str, says: dict[str, str]) -> Tensor:
    """Read two finite numbers, or say why the answer is something else."""
    got = numbers(answer).squeeze()
    if got.shape != (2,):
        raise AnswerError(says["not_two_numbers"].format(name=name, shape=tuple(got.shape)))
    if not got.isfinite().all():
        raise AnswerError(says["not_finite"].format(name=name))
    return got


def long_key(answer: object, says: dict[str, str]) -> str | None:
    """Grade a key that a query prefers by dot product, though it points elsewhere."""
    k, q = _point(answer, "k", says), torch.tensor([2.0, 1.0], dtype=torch.float64)
    if not k.any():
        return says["zeros"]
    product, cosine = (q @ k).item(), (q @ k / q.norm() / k.norm()).item()
    if product <= 5 and cosine >= 0.5:
        words = says["short_and_near"]
    elif abs(cosine) < 1e-9:
        words = says["right_angle"]
    elif product <= 0:
        words = says["turned_away"]
    elif product <= 5:
        words = says["short"]
    elif cosine >= 0.5:
        words = says["near"]
    else:
        return None
    return words.format(product=product, cosine=cosine)


def nearest_rows(answer: object, says: dict[str, str]) -> str | None:
    """Grade a search for the rows with the highest cosine, some left out."""
    vectors, target = normal(11, 3, seed=13) * torch.linspace(0.3, 3, 11)[:, None], normal(3, seed=15)
    cosine = F.cosine_similarity(vectors, target[None])

    def best(score: Tensor, n: int, without: list[int]) -> list[int]:
        score = score.clone()
        score[without] = -torch.inf
        return score.topk(n).indices.tolist()

    ranking = best(cosine, 11, [])
    left_out = [ranking[0], ranking[2]]
    got = numbers(call(answer, vectors.clone(), target.clone(), 4, list(left_out))).flatten().tolist()
    right = best(cosine, 4, left_out)
    if got == right:
        again = numbers(call(answer, vectors.clone(), target.clone(), 2, [])).flatten().tolist()
        return None if again == best(cosine, 2, []) else says["not_with_empty_list"]
    columns, kept = unit(vectors, dim=0) @ target, [row for row in range(11) if row not in left_out]
    known = [
        (best(cosine, 4, []), says["still_there"]),
        (best(vectors @ target, 4, left_out), says["dot_product"]),
        (best(vectors @ target, 4, []), says["dot_product_and_still_there"]),
        (best(columns, 4, left_out), says["wrong_axis"]),
        (best(columns, 4, []), says["wrong_axis_and_still_there"]),
        (best(cosine[kept], 4, []), says["numbers_shifted"]),
        (best(cosine.abs(), 4, left_out), says["absolute"]),
        (best(cosine.abs(), 4, []), says["absolute_and_still_there"]),
        *(([*right[:3], row], says["filled_with_0"].format(row=row)) for row in left_out),
        (best(-cosine, 4, left_out), says["farthest"]),
        (best(-cosine, 4, []), says["farthest"]),
        (best(-(vectors - target).norm(dim=1), 4, left_out), says["distance"]),
        ([i for i in best(cosine, 4, []) if i not in left_out], says["left_out_too_late"]),
        (right[::-1], says["nearest_last"]),
        (sorted(right), says["by_number"]),
    ]
    for rows, words in known:
        if got == rows:
            return words
    if len(got) != 4:
        return says["not_four"].format(count=len(got))
    if any(row % 1 != 0 for row in got):
        return says["not_whole"]
    stray = next((row for row in got if row not in right), None)
    if stray is None:
        return says["another_order" if set(got) == set(right) else "repeated"]
    return says["stray_left_out" if stray in left_out else "stray"].format(row=stray)


def long_step(answer: object, says: dict[str, str]) -> str | None:
    """Grade a vector for *woman* with which king - man + woman leaves *king*."""
    woman = _point(answer, "woman", says)
    target, step = KING - MAN + woman, woman - MAN
    if target.norm() < 1e-9:
        return says["sum_is_zero"]

    def cosines(target: Tensor) -> list[float]:
        return [F.cosine_similarity(target, word, dim=0).item() for word in (KING, QUEEN)]

    to_king, to_queen = cosines(target)
    if to_queen > to_king:
        return None
    level = cosines(KING + step * torch.tensor([1.0, 0.0]))
    if to_queen == to_king:
        words = says["tie"]
    elif level[1] > level[0]:
        words = says["too_steep"]
    elif F.cosine_similarity(step, QUEEN - KING, dim=0) < 0.9:
        words = says["another_way"]
    elif cosines(KING + woman)[1] > cosines(KING + woman)[0]:
        words = says["step_as_woman"]
    else:
        words = says["too_short"]
    told = says["where_it_lies"].format(target=target, king=to_king, queen=to_queen)
    return f"{told} {words.format(step=step, woman=woman)}"


def _count(
    ids: Tensor, size: int, window: int,
    *, before: bool = True, after: bool = True, own: bool = False, wrap: bool = False, near: bool = False,
) -> Tensor:  # fmt: skip
    n, T = torch.zeros(size, size, dtype=torch.float64), len(ids)
    for i, d in itertools.product(range(T), range(-window * before, window * after + 1)):
        if (d or own) and (wrap or 0 <= i + d < T):
            n[ids[i], ids[(i + d) % T]] += 1 / max(abs(d), 1) if near else 1
    return n


def _count_by_position(ids: Tensor, size: int, window: int, *, rule: str) -> Tensor:
    """Count position by position, with a mistake that depends on the position or on its window."""
    n, T, words = torch.zeros(size, size, dtype=torch.float64), len(ids), ids.tolist()
    for i, word in enumerate(words):
        start, stop = max(0, i - window), min(T, i + window + 1)
        if rule == "whole windows" and (i < window or i + window >= T):
            continue
        if rule == "empty slices" and i < window:
            continue
        window_of = range(i - window, stop) if rule == "from the end" else range(start, stop)
        near_by = [words[j] for j in window_of if j != i]
        if rule == "last missing":
            near_by = [words[j] for j in range(start, min(T, i + window)) if j != i]
        if rule == "farthest":
            near_by = [words[j] for j in (i - window, i + window) if 0 <= j < T]
        for other in set(near_by) if rule == "once" else near_by:
            n[word, other] += 1
    return n


def _count_pairs(ids: Tensor, size: int, window: int, *, rule: str) -> Tensor:
    """Count pairs instead of positions: once for each distance or direction, for each window, up to an end."""
    n = torch.zeros(size, size, dtype=torch.float64)
    if rule == "ends early":
        for i, d in itertools.product(range(len(ids) - window), range(1, window + 1)):
            n[ids[i], ids[i + d]] += 1
        return n + n.T
    if rule == "once a direction":
        for d in range(1, window + 1):
            n[ids[:-d], ids[d:]] = 1
        return n + n.T
    if rule == "once a distance":
        for d in range(1, window + 1):
            n[ids[:-d], ids[d:]] += 1
        return n + n.T
    for row in ids.unfold(0, window + 1, 1).tolist():
        for one, other in itertools.permutations(row, 2):
            n[one, other] += 1
    return n


def _by_cells(
    answer: object, reference: Callable, cases: list[tuple], mistakes: list[tuple[Callable, str]],
    *, tell: Callable, read: Callable = numbers,
) -> str | None:  # fmt: skip
    """Grade a function by cases; to a sentence about one number, add what can be checked by hand there."""
    seen = []

    def note(result: object) -> Tensor:
        seen.append(read(result))
        return seen[-1]

    words = by_cases(answer, reference, cases, mistakes, read=note)
    at = re.search(r"the number at \[(\d+), (\d+)\]", words or "")
    if at is None:
        return words
    i, j = map(int, at.groups())
    return f"{words} {tell(*cases[len(seen) - 1], i, j, seen[-1][i, j])}"


def cooccurrence(answer: object, says: dict[str, str]) -> str | None:
    """Grade a table of how often words stand near each other."""
    text = torch.tensor([0, 1, 2, 1, 1, 3, 0, 4, 4, 2, 0, 1, 2, 5])
    cases = [(text, 7, 8), (text, 7, 3), (text, 6, 2), (text.flip(0)[:11], 11, 1)]
    mistakes = [
        (partial(_count, before=False), says["after_only"]),
        (partial(_count, after=False), says["before_only"]),
        (lambda ids, size, window: _count(ids, size, window - 1), says["one_too_near"]),
        (lambda ids, size, window: _count(ids, size, window // 2), says["shared_window"]),
        *(
            (lambda ids, size, window, n=n: _count(ids, size, n), says["written_in"].format(n=n))
            for n in (1, 2, 3, 5)
        ),
        (lambda ids, size, window: _count(ids, size, window + 1), says["one_too_far"]),
        (partial(_count, own=True), says["own_neighbour"]),
        (lambda *case: _count(*case).fill_diagonal_(0), says["empty_diagonal"]),
        (lambda *case: _count(*case) - _count(*case).diag().diag() / 2, says["half_diagonal"]),
        (lambda *case: _count(*case) + _count(*case).diag().diag(), says["double_diagonal"]),
        (lambda *case: _count(*case).clamp(max=1), says["once_at_most"]),
        (partial(_count_pairs, rule="once a distance"), says["once_a_distance"]),
        (partial(_count_pairs, rule="once a direction"), says["once_at_most"]),
        (partial(_count_pairs, rule="windows"), says["once_a_stretch"]),
        (partial(_count_pairs, rule="ends early"), says["ends_early"]),
        (lambda ids, size, window: _count(ids, int(ids.max()) + 1, window), says["too_few_rows"]),
        (partial(_count_by_position, rule="once"), says["once_a_window"]),
        (partial(_count, wrap=True), says["joined_ends"]),
        (partial(_count_by_position, rule="from the end"), says["from_the_end"]),
        (partial(_count_by_position, rule="whole windows"), says["whole_windows"]),
        (partial(_count_by_position, rule="empty slices"), says["empty_slices"]),
        (partial(_count_by_position, rule="last missing"), says["last_missing"]),
        (partial(_count_by_position, rule="farthest"), says["farthest_only"]),
        (partial(_count, near=True), says["nearer_counts_more"]),
        (lambda *case: _count(*case).triu() - _count(*case).diag().diag() / 2, says["once_a_pair"]),
        (lambda *case: _count(*case).triu(), says["one_side"]),
        (lambda *case: _count(*case) / _count(*case).sum(1, keepdim=True).clamp(min=1), says["shares"]),
        (lambda *case: 2 * _count(*case), says["doubled"]),
        (lambda *case: _count(*case) / 2, says["halved"]),
    ]

    def tell(ids: Tensor, size: int, window: int, i: int, j: int, yours: Tensor) -> str:
        text = " ".join(map(str, ids.tolist()))
        return says["by_hand"].format(text=text, window=window, i=i, j=j, yours=yours)

    return _by_cells(answer, _count, cases, mistakes, tell=tell)


def _pmi(n: Tensor, power: float = 1.0) -> Tensor:
    """Return the pointwise mutual information, 0 where nothing was counted."""
    common = n.sum(0) ** power
    return (n / n.sum(1, keepdim=True) / common * common.sum()).log().where(n > 0, 0)


def _chance(n: Tensor) -> Tensor:
    return n.sum(1, keepdim=True) * n.sum(0) / n.sum()


def _log(ratio: Tensor) -> Tensor:
    return ratio.log().nan_to_num(0, 0, 0).clamp(min=0)


def _finite(result: object, says: dict[str, str]) -> Tensor:
    """Read numbers, or say why some of them are none."""
    got = numbers(result)
    if got.isnan().any():
        raise AnswerError(says["nan"])
    if (got == math.inf).any():
        raise AnswerError(says["infinite"])
    if (got < -1e30).any() and got.isfinite().all():
        raise AnswerError(says["hugely_negative"])
    if got.isinf().any():
        raise AnswerError(says["minus_infinity"])
    return got


def ppmi(answer: object, says: dict[str, str]) -> str | None:
    """Grade positive pointwise mutual information."""
    table = torch.tensor([[0.0, 8, 2, 0], [8, 0, 1, 3], [2, 1, 4, 1], [0, 3, 1, 0]])
    other = torch.tensor([[3.0, 1, 0], [1, 0, 5], [0, 5, 20]])
    cases = [(table,), (other,), (torch.cat([table, table], 1).repeat(2, 1) + torch.eye(8),)]

    def right(n: Tensor) -> Tensor:
        return _pmi(n).clamp(min=0)

    mistakes = [
        (_pmi, says["negative_ones"]),
        (lambda n: _pmi(n).clamp(max=0), says["other_way_round"]),
        (lambda n: _pmi(n).abs(), says["absolute"]),
        (lambda n: _pmi(n, 0.75).clamp(min=0), says["power"]),
        (lambda n: _log(n * n.sum() / (n.sum(0) ** 0.75 * n.sum(1, keepdim=True))), says["power"]),
        (lambda n: right(n) / math.log(2), says["base_2"]),
        (lambda n: right(n) / math.log(10), says["base_10"]),
        (lambda n: n / _chance(n), says["quotients"]),
        (lambda n: (n / _chance(n)).clamp(min=1), says["clamped_quotients"]),
        (lambda n: (n / _chance(n) - 1).clamp(min=0), says["quotients_minus_1"]),
        (lambda n: (n / _chance(n)).log1p(), says["quotients_plus_1"]),
        (lambda n: (n - _chance(n)).clamp(min=0), says["difference"]),
        (_chance, says["chance"]),
        (lambda n: _log(n * n.sum() / n.sum(1, keepdim=True)), says["row_alone"]),
        (lambda n: _log(n * n.sum() / n.sum(0)), says["column_alone"]),
        (lambda n: _log(n * n.sum() / n.sum(0) ** 2), says["column_twice"]),
        (lambda n: _log(n * n.sum() / n.sum(1, keepdim=True) ** 2), says["row_twice"]),
        (lambda n: _log(n * n.sum() / _chance(n)), says["total_once_too_often"]),
        (lambda n: _log((n + 1) / _chance(n)), says["counts_plus_1"]),
        (lambda n: right(n) * n, says["times_count"]),
        (lambda n: right(n) * n / n.sum(), says["weighted"]),
        (lambda n: right(n).fill_diagonal_(0), says["empty_diagonal"]),
        (lambda n: -_pmi(n).clamp(max=0), says["chance_by_count"]),
        (lambda n: n / n.sum(1, keepdim=True), says["shares_of_row"]),
        (lambda n: n / n.sum(), says["shares_of_total"]),
        (lambda n: _log(n * n.sum() / (n.sum(1, keepdim=True) + n.sum(0))), says["added"]),
        (lambda n: _log(n / n.mean(1, keepdim=True) / n.mean(0)), says["means"]),
        (lambda n: _chance(n).log().clamp(min=0), says["log_of_chance"]),
        (torch.zeros_like, says["all_zero"]),
        (lambda n: (n + 1).log(), says["log_of_counts"]),
        (lambda n: n.log().clamp(min=0), says["log_of_counts"]),
    ]

    def tell(n: Tensor, i: int, j: int, yours: Tensor) -> str:
        sums = {"row": n[i].sum(), "column": n[:, j].sum(), "total": n.sum()}
        return says["by_hand"].format(count=n[i, j], **sums, yours=yours)

    try:
        return _by_cells(answer, right, cases, mistakes, tell=tell, read=partial(_finite, says=says))
    except ValueError as error:
        return says["math_log"].format(error=explain(error))


def _loss(x: Tensor, y: Tensor, n: Tensor, *, true: float = 1.0, false: float = -1.0) -> Tensor:
    """Return the loss of each example; the two factors turn the signs inside of the sigmoids."""
    negative = torch.einsum("bd,bkd->bk", x, n)
    return -F.logsigmoid(true * (x * y).sum(-1)) - F.logsigmoid(false * negative).sum(-1)


def _false(x: Tensor, n: Tensor) -> Tensor:
    return -F.logsigmoid(-torch.einsum("bd,bkd->bk", x, n))


def _true(x: Tensor, y: Tensor) -> Tensor:
    return -F.logsigmoid((x * y).sum(-1))


def _scores(x: Tensor, y: Tensor, n: Tensor) -> Tensor:
    """Return the products of each word with its context and its negatives, side by side."""
    return torch.cat([(x * y).sum(-1, keepdim=True), torch.einsum("bd,bkd->bk", x, n)], -1)


def negative_sampling(answer: object, says: dict[str, str]) -> str | None:
    """Grade the loss of skip-gram with negative sampling."""
    cases = [
        (normal(B, D, seed=0), normal(B, D, seed=1), normal(B, K, D, seed=2))
        for B, K, D in ((5, 7, 3), (2, 3, 11), (3, 2, 5))
    ]
    mistakes = [
        (lambda x, y, n: _loss(x, y, n, false=1.0).mean(), says["negatives_pulled"]),
        (lambda x, y, n: _loss(x, y, n, true=-1.0).mean(), says["context_pushed"]),
        (lambda x, y, n: -_loss(x, y, n).mean(), says["to_be_larger"]),
        (lambda x, y, n: (_true(x, y) - _false(x, n).sum(-1)).mean(), says["different_signs"]),
        (lambda x, y, n: (_true(x, y) + _false(x, n).mean(-1)).mean(), says["mean_of_negatives"]),
        (lambda x, y, n: (_true(x, y) + 5 * _false(x, n).mean(-1)).mean(), says["five_times_mean"]),
        (lambda x, y, n: _loss(x, y, n.flatten(0, 1).expand(len(x), -1, -1)).mean(), says["all_negatives"]),
        (lambda x, y, n: (_true(x, y) + _false(y, n).sum(-1)).mean(), says["negatives_of_context"]),
        (lambda x, y, n: (_true(x[:, None], y) + _false(x, n).sum(-1)).mean(), says["all_contexts"]),
        (lambda x, y, n: (_true(x[:, None], y).sum(1) + _false(x, n).sum(-1)).mean(), says["all_contexts"]),
        (lambda x, y, n: _loss(x, y, n).sum(), says["sum_of_batch"]),
        (_loss, says["each_example"]),
        (lambda x, y, n: _true(x, y).mean(), says["no_negatives"]),
        (lambda x, y, n: _false(x, n).sum(-1).mean(), says["no_context"]),
        (lambda x, y, n: -((-_true(x, y)).exp() + (-_false(x, n)).exp().sum(-1)).mean(), says["no_log"]),
        (lambda x, y, n: _loss(x, y, n, true=-1.0, false=1.0).mean(), says["both_signs"]),
        (lambda x, y, n: (_true(x, y) + _false(x, -n).neg().sum(-1)).mean(), says["minus_outside"]),
        (
            lambda x, y, n: (_true(x, y) + _false(x, n.sum(1, keepdim=True)).sum(-1)).mean(),
            says["added_inside"],
        ),
        (lambda x, y, n: (_true(x, y) + _false(x, n)[:, 0]).mean(), says["first_negative"]),
        (lambda x, y, n: -_scores(x, y, n).log_softmax(-1)[:, 0].mean(), says["softmax"]),
        (lambda x, y, n: _loss(x, y, n).mean() / (1 + n.shape[1]), says["mean_of_products"]),
        (lambda x, y, n: _true(x, y).mean() + _false(x, n).sum(), says["negatives_of_batch"]),
        (lambda x, y, n: _loss(x, y, n).mean() / math.log(2), says["base_2"]),
        (lambda x, y, n: _loss(x, y, n).mean() / math.log(10), says["base_10"]),
        (lambda x, y, n: _loss(unit(x), unit(y), unit(n)).mean(), says["cosines"]),
        (lambda x, y, n: _loss(x / x.shape[1] ** 0.5, y, n).mean(), says["divided"]),
        (lambda x, y, n: _loss(x / x.shape[1], y, n).mean(), says["divided"]),
        (lambda x, y, n: (_scores(x, -y, n)).sum(-1).mean(), says["no_sigmoid"]),
        (
            lambda x, y, n: (
                -(F.logsigmoid(x * y).sum(-1) + F.logsigmoid(-x[:, None] * n).sum((-1, -2))).mean()
            ),
            says["not_added_up"],
        ),
    ]
    wrong = by_cases(answer, lambda x, y, n: _loss(x, y, n).mean(), cases, mistakes, read=scalar)
    if wrong:
        return wrong
    x, y, n = cases[0]
    far = scalar(call(answer, x * 300, y.clone(), n.clone()))
    if not far.isfinite().all():
        return says["underflow"]
    return None if close(far, _loss(x * 300, y, n).mean().double(), 1.0) else says["cut_off"]


PAIRS = ("man", "woman"), ("king", "queen"), ("prince", "princess")
LONGEST_TEXT = 16


def _read_text(answer: object, says: dict[str, str]) -> list[str]:
    """Read a text, as one string or as a list of words.

    Raises:
        AnswerError: If it is something else.
    """
    answer = answer.tolist() if isinstance(answer, np.ndarray) else answer
    parts = [answer] if isinstance(answer, str) else answer
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise AnswerError(says["no_text"])
    return re.findall(r"[^\W_]+", " ".join(parts).lower())


def _neighbours(text: list[str]) -> dict[str, Counter]:
    """Return the row of every word: how often each word stands directly before or after it."""
    rows = {word: Counter() for word in text}
    for one, other in itertools.pairwise(text):
        rows[one][other] += 1
        rows[other][one] += 1
    return rows


def _step(rows: dict[str, Counter], start: str, end: str) -> dict[str, int]:
    """Return what changes from one row to another, by column, zeros left out."""
    columns = sorted(rows[start] | rows[end])
    return {c: rows[end][c] - rows[start][c] for c in columns if rows[end][c] != rows[start][c]}


def _spell(step: dict[str, int]) -> str:
    return ", ".join(f"{word} {n:+d}".replace("-", "−") for word, n in step.items())


def _times(step: dict[str, int], other: dict[str, int]) -> float | None:
    """Return how many times a step the other one is; None if they point elsewhere."""
    ratios = {other[word] / n for word, n in step.items() if word in other}
    return ratios.pop() if len(ratios) == 1 and step.keys() == other.keys() else None


def true_sum(answer: object, says: dict[str, str]) -> str | None:
    """Grade a text in which three pairs of words are the same step apart, in their counts of neighbours."""
    text, six = _read_text(answer, says), [word for pair in PAIRS for word in pair]
    missing = [word for word in six if word not in text]
    if missing:
        return says["missing"].format(word=missing[0])
    if len(text) > LONGEST_TEXT:
        return says["too_long"].format(count=len(text), longest=LONGEST_TEXT)
    for one, other in itertools.pairwise(text):
        if one in six and other in six:
            return says["side_by_side"].format(one=one, other=other)
    rows = _neighbours(text)
    return _uneven_steps(rows, says) or _same_direction(rows, six, says)


def _uneven_steps(rows: dict[str, Counter], says: dict[str, str]) -> str | None:
    """Return what is wrong with the three steps; None if they are the same and not zero."""
    steps = {pair: _step(rows, *pair) for pair in PAIRS}
    first = steps[PAIRS[0]]
    for (start, end), step in steps.items():
        if not step:
            return says["no_step"].format(start=start, end=end)
    for (start, end), step in steps.items():
        if step == first:
            continue
        told = says["two_steps"].format(first=_spell(first), start=start, end=end, step=_spell(step))
        times = _times(first, step)
        if times is None:
            return f"{told} {says['not_equal']}"
        return f"{told} {says['way_back'] if times == -1 else says['other_length']}"
    return None


def _same_direction(rows: dict[str, Counter], six: list[str], says: dict[str, str]) -> str | None:
    """Return two words that a search cannot tell apart, one of them of the six; None if there are none."""
    columns = sorted(rows)
    vectors = torch.tensor([[rows[word][column] for column in columns] for word in columns]).double()
    cosines = unit(vectors) @ unit(vectors).T
    for word in six:
        for other in columns:
            if other != word and cosines[columns.index(word), columns.index(other)] > 1 - 1e-9:
                return says["same_direction"].format(word=word, other=other)
    return None


def _fraction(
    vectors: Tensor, questions: Tensor,
    *, axis: int | None = -1, power: float = 1, out: str = "abc", fill: float = -math.inf,
    crossed: bool = False, first: int = 1, sums: Callable = lambda a, b, c: a - b + c,
) -> Tensor:  # fmt: skip
    """Return the fraction of analogies that a search finds; ``out`` are the inputs that each question leaves out.

    With ``out="all"`` every question leaves out the inputs of all.
    """
    a, b, c, answer = questions.T
    x = vectors if axis is None else vectors / vectors.norm(dim=axis, keepdim=True) ** power
    scores = sums(vectors[a], vectors[b], vectors[c]) @ x.T
    if out == "all":
        scores[:, questions[:, :3].flatten()] = fill
    else:
        scores = scores.scatter(1, questions[:, ["abcd".index(name) for name in out]], fill)
    best = scores.topk(first).indices
    return (best == answer).double().mean() if crossed else (best == answer[:, None]).any(1).double().mean()


def _analogies(V: int, D: int, Q: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return vectors (V, D) and questions (Q, 4) whose answers are never inputs.

    In 3 of the questions the word nearest to the sum is a, in 5 it is b and in 7 it is c, so that each of them
    is missed if it is not left out. The others ask 12 pairs, a rough step apart, about 12 more.
    """
    draw = torch.Generator().manual_seed(seed)

    def some(*shape: int) -> Tensor:
        return torch.randn(shape, generator=draw)

    rows, asked = list(some(24, D) * torch.linspace(0.5, 2, 24)[:, None]), []
    step = some(D)
    rows += [row + step + 0.5 * some(D) for row in rows]
    for drawn in torch.randperm(144, generator=draw)[: Q - 15].tolist():
        shown, other = drawn // 12, 12 + drawn % 12
        asked.append([other, shown, shown + 24, other + 24])
    for nearest, count in (("a", 3), ("b", 5), ("c", 7)):
        for _ in range(count):
            u, side = some(D), some(D)
            a, b, c = {
                "a": (u, side, side + 0.2 * some(D)),
                "b": (2 * u + side, u / 2, 2 * u - side),
                "c": (side, side + 0.2 * some(D), u),
            }[nearest]
            asked.append(list(range(len(rows), len(rows) + 4)))
            rows += [a, b, c, u + 0.3 * some(D)]
    rows += list(2 * some(V - len(rows), D))
    places = torch.randperm(V, generator=draw)
    return torch.stack(rows)[places.argsort()], places[torch.tensor(asked)]


def _turned_away() -> tuple[Tensor, Tensor]:
    """Return a case in which every word but the inputs is turned away from the sum."""
    vectors = torch.tensor(
        [[5.0, 0.1, 0], [-4, 0, 0.1], [5, 0, -0.1], [-1, 2, 0], [-2, 1, 0], [-1, 0, 1], [-3, 1, 1]]
    )
    return vectors, torch.tensor([[0, 1, 2, 3], [2, 1, 0, 3], [0, 1, 2, 5]])


def doubtful_accuracy(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of an accuracy with three silent mistakes."""
    sizes = (127, 7, 53, 51), (139, 11, 61, 26), (113, 5, 47, 14)  # seeds with which mistakes differ
    cases = [*(_analogies(*size) for size in sizes), _turned_away()]
    axes = [(-1, ""), (0, says["columns"]), (None, says["dot_products"])]
    outs = [
        ("abc", ""),
        ("all", says["out_of_all"]),
        ("", says["none_out"]),
        ("a", says["one_out"].format(one="a", others="b and c")),
        ("b", says["one_out"].format(one="b", others="a and c")),
        ("c", says["one_out"].format(one="c", others="a and b")),
        ("ab", says["one_kept"].format(one="c")),
        ("ac", says["one_kept"].format(one="b")),
        ("bc", says["one_kept"].format(one="a")),
        ("abcd", says["never_right"]),
    ]
    crosses = [(False, ""), (True, says["crossed"])]
    one, more = [], []
    for (axis, skew), (out, left), (crossed, table) in itertools.product(axes, outs, crosses):
        said = [words for words in (table, left, skew) if words]
        made = partial(_fraction, axis=axis, out=out, crossed=crossed)
        if len(said) == 1:
            one.append((made, said[0]))
        elif said:
            more.append((made, says["several"].format(count=len(said), one=said[0])))
    mistakes = [
        (partial(_fraction, fill=0.0), says["filled_with_0"]),
        (partial(_fraction, axis=0, out="all", crossed=True), says["as_it_was"]),
        *one,
        (partial(_fraction, sums=lambda a, b, c: a + b - c), says["signs"]),
        (partial(_fraction, sums=lambda a, b, c: b - a + c), says["signs"]),
        (partial(_fraction, sums=lambda a, b, c: a + c), says["not_taken_away"]),
        (partial(_fraction, sums=lambda a, b, c: unit(a) - unit(b) + unit(c)), says["directions"]),
        (partial(_fraction, sums=lambda a, b, c: unit(a - b + c, 0)), says["columns_of_sums"]),
        (_nearest_by_distance, says["distance"]),
        (partial(_fraction, power=2), says["squared"]),
        (partial(_fraction, power=0.5), says["one_root_too_many"]),
        (partial(_fraction, first=5), says["among_five"]),
        (lambda *case: len(case[1]) * _fraction(*case, crossed=True), says["crossed_sum"]),
        (partial(_fraction, axis=0, sums=lambda a, b, c: unit(a - b + c, 0)), says["columns_of_both"]),
        (partial(_fraction, out="all", fill=0.0), says["out_of_all_with_0"]),
        (_answers_of_any, says["any_answer"]),
        (lambda *case: 100 * _fraction(*case), says["percent"]),
        (lambda *case: len(case[1]) * _fraction(*case), says["how_many"]),
        (lambda *case: 1 - _fraction(*case), says["share_of_wrong"]),
        (lambda *case: torch.tensor(1.0), says["any_right"]),
        *more,
    ]
    got = [_one_fraction(call(answer, *(x.clone() for x in case)), says) for case in cases]
    # one number says little: a mistake has to fit all cases
    for wrong, words in [(_fraction, None), *mistakes]:
        if all(close(mine, wrong(*case).double()) for mine, case in zip(got, cases, strict=True)):
            return words
    case, mine = next(
        (case, mine) for case, mine in zip(cases, got, strict=True) if not close(mine, _fraction(*case))
    )
    words = says["too_large"] if mine > _fraction(*case) else says["too_small"]
    return words.format(call=spell_call(answer, case))


def _answers_of_any(vectors: Tensor, questions: Tensor) -> Tensor:
    a, b, c, answer = questions.T
    scores = (vectors[a] - vectors[b] + vectors[c]) @ unit(vectors).T
    found = scores.scatter(1, questions[:, :3], -math.inf).argmax(1)
    return torch.isin(found, answer).double().mean()


def _nearest_by_distance(vectors: Tensor, questions: Tensor) -> Tensor:
    a, b, c, answer = questions.T
    off = torch.cdist(vectors[a] - vectors[b] + vectors[c], vectors)
    return (off.scatter(1, questions[:, :3], math.inf).argmin(1) == answer).double().mean()


def _one_fraction(result: object, says: dict[str, str]) -> Tensor:
    got = scalar(result)
    if got.ndim:
        raise AnswerError(says["not_one"].format(shape=tuple(got.shape)))
    return got
