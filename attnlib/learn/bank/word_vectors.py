"""Exercises on word vectors."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib.learn.calling import AnswerError, call, explain, spell_call
from attnlib.learn.grading import Exercise, by_cases, close, normal, numbers, scalar, unit

KING, MAN, QUEEN = (torch.tensor(x, dtype=torch.float64) for x in ([0, 4], [1, 0], [4, 4]))


def long_key(answer: object) -> str | None:
    """Grade a key that a query prefers by dot product, though it points elsewhere."""
    k, q = numbers(answer).squeeze(), torch.tensor([2.0, 1.0], dtype=torch.float64)
    if k.shape != (2,) or not k.isfinite().all():
        return f"k should be two finite numbers, yours has shape {tuple(k.shape)}."
    if not k.any():
        return "a vector of zeros has no direction; choose another."
    product, cosine = (q @ k).item(), (q @ k / q.norm() / k.norm()).item()
    if product <= 5 and cosine >= 0.5:
        return f"the product is {product:.3g}, not above 5, and the cosine {cosine:.3g}, not below 0.5: turn it away and make it longer."
    if product <= 5:
        much = (
            "not longer, since it points away: turn it back"
            if product <= 0
            else "make it longer; that leaves the cosine as it is"
        )
        return f"the cosine {cosine:.3g} is low enough, but the product is {product:.3g}: {much}."
    if cosine >= 0.5:
        return f"the product {product:.3g} is large enough, but the cosine is {cosine:.3g}: turn it further away from (2, 1)."
    return None


def nearest_rows(answer: object) -> str | None:
    """Grade a search for the rows with the highest cosine, some left out."""
    vectors, target = normal(11, 3, seed=5) * torch.linspace(0.3, 3, 11)[:, None], normal(3, seed=6)
    cosine = F.cosine_similarity(vectors, target[None])

    def best(score: Tensor, n: int, without: list[int]) -> list[int]:
        score = score.clone()
        score[without] = -torch.inf
        return score.topk(n).indices.tolist()

    ranking = best(cosine, 11, [])
    left_out = [ranking[0], ranking[4]]
    got = numbers(call(answer, vectors.clone(), target.clone(), 4, list(left_out)))
    got = [round(x) for x in got.flatten().tolist()]
    right = best(cosine, 4, left_out)
    if got == right:
        again = numbers(call(answer, vectors.clone(), target.clone(), 2, [])).flatten().tolist()
        return (
            None if again == best(cosine, 2, []) else "right with some left out, but not with an empty list."
        )
    known = [
        (best(cosine, 4, []), "the rows in `exclude` are still there: give them a score of minus infinity."),
        (best(vectors @ target, 4, left_out), "this ranks by dot product, which favours long vectors; divide by the lengths."),
        (best(vectors @ target, 4, []), "this ranks by dot product, and the rows in `exclude` are still there."),
        (best(-cosine, 4, left_out), "these are the farthest rows; sort the other way."),
        (best(-cosine, 4, []), "these are the farthest rows; sort the other way."),
        (best(-(vectors - target).norm(dim=1), 4, left_out), "this ranks by distance, which asks for the same length too; compare directions."),
        ([i for i in best(cosine, 4, []) if i not in left_out], "you left rows out after taking the best n, so there are too few; leave them out before."),
        (right[::-1], "the right rows, but the nearest should come first."),
        (sorted(right), "the right rows, but sorted by number; the nearest should come first."),
    ]  # fmt: skip
    for rows, words in known:
        if got == rows:
            return words
    if len(got) != 4:
        return f"four rows were asked for (n = 4), yours are {len(got)}: return row numbers, nearest first."
    stray = next((row for row in got if row not in right), None)
    if stray is None:
        return "the right rows, but in another order: the nearest should come first."
    return f"row {stray} is none of the four nearest by cosine."


def long_step(answer: object) -> str | None:
    """Grade a vector for *woman* with which king - man + woman leaves *king*."""
    c = numbers(answer).squeeze()
    if c.shape != (2,) or not c.isfinite().all():
        return f"woman should be two finite numbers, yours has shape {tuple(c.shape)}."
    target, step = KING - MAN + c, c - MAN
    if target.norm() < 1e-9:
        return "king - man + woman is then zero, and has no direction."

    def cosines(target: Tensor) -> list[float]:
        return [F.cosine_similarity(target, word, dim=0).item() for word in (KING, QUEEN)]

    to_king, to_queen = cosines(target)
    if to_queen > to_king:
        return None
    told = f"king - man + woman is ({target[0]:.3g}, {target[1]:.3g}): cosine {to_king:.3g} with king, {to_queen:.3g} with queen."
    if to_queen == to_king:
        return f"{told} A tie; a little further."
    level = cosines(KING + step * torch.tensor([1.0, 0.0]))
    if level[1] > level[0]:
        return f"{told} Your step from man to woman, ({step[0]:.3g}, {step[1]:.3g}), goes far enough to the side, but it is too steep: from king to queen it is (4, 0)."
    if F.cosine_similarity(step, QUEEN - KING, dim=0) < 0.9:
        return f"{told} From king to queen the step is (4, 0), yours from man to woman is ({step[0]:.3g}, {step[1]:.3g}): let it point the same way."
    return f"{told} The step from man to woman points where queen lies, but does not go far enough."


def _count(
    ids: Tensor, size: int, window: int,
    *, before: bool = True, after: bool = True, own: bool = False, wrap: bool = False, near: bool = False,
) -> Tensor:  # fmt: skip
    n = torch.zeros(size, size, dtype=torch.float64)
    for i in range(len(ids)):
        for d in range(0 if own else 1, window + 1):
            for j in {i - d, i + d} - ({i + d} if not after else set()) if before else {i + d}:
                if wrap or 0 <= j < len(ids):
                    n[ids[i], ids[j % len(ids)]] += 1 / max(d, 1) if near else 1
    return n


def _count_places(ids: Tensor, size: int, window: int, *, rule: str) -> Tensor:
    """Count place by place, with a mistake that depends on where a place lies or on what it sees."""
    n, T, words = torch.zeros(size, size, dtype=torch.float64), len(ids), ids.tolist()
    for i, word in enumerate(words):
        start, stop = max(0, i - window), min(T, i + window + 1)
        if rule == "whole windows" and (i < window or i + window >= T):
            continue
        places = range(i - window, stop) if rule == "from the end" else range(start, stop)
        heard = [words[j] for j in places if j != i]
        if rule == "last missing":
            heard = [words[j] for j in range(start, min(T, i + window)) if j != i]
        if rule == "farthest":
            heard = [words[j] for j in (i - window, i + window) if 0 <= j < T]
        for other in set(heard) if rule == "once" else heard:
            n[word, other] += 1
    return n


def _count_pairs(ids: Tensor, size: int, window: int, *, rule: str) -> Tensor:
    """Count pairs instead of places: once for each distance, or once for each window that holds them."""
    n = torch.zeros(size, size, dtype=torch.float64)
    if rule == "once a distance":
        for d in range(1, window + 1):
            n[ids[:-d], ids[d:]] += 1
        return n + n.T
    for row in ids.unfold(0, window + 1, 1).tolist():
        for one, other in itertools.permutations(row, 2):
            n[one, other] += 1
    return n


def _with_cell(words: str | None, cases: list[tuple], seen: list[Tensor], tell: Callable) -> str | None:
    """Add to a sentence about a number what can be checked by hand there; `seen` are the answers so far."""
    at = re.search(r"the number at \[(\d+), (\d+)\]", words or "")
    if at is None:
        return words
    i, j = map(int, at.groups())
    return f"{words} {tell(*cases[len(seen) - 1], i, j)} Yours is {seen[-1][i, j]:.4g}."


def _tell_places(ids: Tensor, size: int, window: int, i: int, j: int) -> str:
    text = " ".join(map(str, ids.tolist()))
    return f"The text is {text}: how often does {j} stand at most {window} from {i}?"


def cooccurrence(answer: object) -> str | None:
    """Grade a table of how often words stand near each other."""
    text = torch.tensor([0, 1, 2, 1, 1, 3, 0, 4, 4, 2, 0, 1, 2, 5])
    cases, seen = [(text, 7, 3), (text, 6, 2), (text.flip(0)[:11], 11, 1)], []
    mistakes = [
        (lambda *case: _count(*case, before=False), "you count what follows only. In the text 0 1, word 1 has word 0 before it: row 1, column 0 counts too."),
        (lambda *case: _count(*case, after=False), "you count what stands before only. In the text 0 1, word 0 has word 1 after it: row 0, column 1 counts too."),
        (lambda ids, size, window: _count(ids, size, window - 1), "the distance `window` itself is missing: `range(1, window)` ends one before it."),
        (lambda ids, size, window: _count(ids, size, window // 2), "you share the window between both sides: window 2 reaches two places before and two after."),
        (lambda ids, size, window: _count(ids, size, window + 1), "it reaches one place too far: with window 2 the third word before and after does not count."),
        (lambda *case: _count(*case, own=True), "each place is counted as its own neighbour: that adds to the diagonal how often each word comes. Leave distance 0 out."),
        (lambda *case: _count(*case).fill_diagonal_(0), "you leave the diagonal empty. In the text 4 4 the one 4 stands near the other: row 4, column 4 is 2. Compare places, not words."),
        (lambda *case: _count(*case) - _count(*case).diag().diag() / 2, "two copies of a word near each other count twice, once from each side; yours counts them once. In the text 4 4, row 4, column 4 is 2."),
        (lambda *case: _count(*case) + _count(*case).diag().diag(), "the diagonal is twice too large: two copies of a word near each other count once from each side, 2 in all."),
        (lambda *case: _count(*case).clamp(max=1), "each pair is counted once at most. `n[i, j] += 1` with tensors of rows and columns adds 1 once, however often a pair comes: use a loop, `index_put_(..., accumulate=True)` or `bincount`."),
        (lambda *case: _count_pairs(*case, rule="once a distance"), "a pair that comes several times at one distance is counted once. `n[i, j] += 1` with tensors of rows and columns forgets repeats: use a loop, `index_put_(..., accumulate=True)` or `bincount`."),
        (lambda *case: _count_pairs(*case, rule="windows"), "a pair counts once for every stretch of text that holds it; in which stretch does not matter, so near ones count too often. Go from place to place instead."),
        (lambda ids, size, window: _count(ids, int(ids.max()) + 1, window), "a table of `size` by `size` is asked; words that never come have a row and a column as well."),
        (lambda *case: _count_places(*case, rule="once"), "a word that stands twice within one window counts twice; a set, or `in`, counts it once."),
        (lambda *case: _count(*case, wrap=True), "the end of the text is joined to its beginning: `roll` does that, and so does `%`. Cut the ends off."),
        (lambda *case: _count_places(*case, rule="from the end"), "before the beginning you read the end of the text: `ids[-1]` is its last word. Begin at `max(0, i - window)`."),
        (lambda *case: _count_places(*case, rule="whole windows"), "the first and the last places of the text are skipped. They have fewer neighbours, but they have some."),
        (lambda *case: _count_places(*case, rule="last missing"), "the farthest word to the right is missing: a range that ends with `i + window` does not hold it."),
        (lambda *case: _count_places(*case, rule="farthest"), "you count the distance `window` only; the nearer ones count too."),
        (lambda *case: _count(*case, near=True), "nearer words count for more in yours; here each of them counts 1."),
        (lambda *case: _count(*case).triu() - _count(*case).diag().diag() / 2, "each pair is counted once, in the cell above the diagonal; it counts in row i, column j and in row j, column i."),
        (lambda *case: _count(*case).triu(), "the table is filled on one side of its diagonal only: whatever is in row i, column j is in row j, column i too."),
        (lambda *case: _count(*case) / _count(*case).sum(1, keepdim=True).clamp(min=1), "these are shares of each row; the counts themselves were asked for."),
        (lambda *case: 2 * _count(*case), "every count is twice too large: a loop over all places sees each pair from both sides already, so it needs no `+ n.T`."),
        (lambda *case: _count(*case) / 2, "every count is half as large as it should be: from i to j and from j to i are two counts, in two cells. Nothing has to be divided."),
    ]  # fmt: skip

    def read(result: object) -> Tensor:
        seen.append(numbers(result))
        return seen[-1]

    return _with_cell(by_cases(answer, _count, cases, mistakes, read=read), cases, seen, _tell_places)


def _pmi(n: Tensor, power: float = 1.0) -> Tensor:
    """Return the pointwise mutual information, 0 where nothing was counted."""
    common = n.sum(0) ** power
    return (n / n.sum(1, keepdim=True) / common * common.sum()).log().where(n > 0, 0)


def _chance(n: Tensor) -> Tensor:
    return n.sum(1, keepdim=True) * n.sum(0) / n.sum()


def _log(ratio: Tensor) -> Tensor:
    return ratio.log().nan_to_num(0, 0, 0).clamp(min=0)


def _finite(got: object) -> Tensor:
    got = numbers(got)
    if got.isnan().any():
        raise AnswerError("there is a NaN in it: 0 times infinity, or 0 divided by 0.")
    if (got == math.inf).any():
        raise AnswerError(
            "pairs that never come are infinite: you divide by the count; divide the count by what chance would give."
        )
    if (got < -1e30).any() and got.isfinite().all():
        raise AnswerError(
            "pairs that never come have become a huge negative number, as `nan_to_num` makes it of minus infinity; everything below 0 becomes 0."
        )
    if got.isinf().any():
        raise AnswerError(
            "pairs that never come are minus infinity; the P stands for positive: everything below 0 becomes 0."
        )
    return got


def _tell_chance(n: Tensor, i: int, j: int) -> str:
    return f"There the count is {n[i, j]:g}, its row sum {n[i].sum():g}, its column sum {n[:, j].sum():g} and the total {n.sum():g}."


def ppmi(answer: object) -> str | None:
    """Grade positive pointwise mutual information."""
    table = torch.tensor([[0.0, 8, 2, 0], [8, 0, 1, 3], [2, 1, 4, 1], [0, 3, 1, 0]])
    other = torch.tensor([[3.0, 1, 0], [1, 0, 5], [0, 5, 20]])
    zero = "everything is 0: each of your quotients is below 1, and its logarithm negative. Is the total missing? Chance is row sum times column sum, divided by the total."
    mistakes = [
        (_pmi, "the logarithms are right, but negative ones are still there; the P stands for positive: everything below 0 becomes 0."),
        (lambda n: _pmi(n).clamp(max=0), "the other way round: those below 0 become 0, and those above it stay."),
        (lambda n: _pmi(n).abs(), "you take the absolute value: rarer than chance becomes more often than chance. Negative ones become 0."),
        (lambda n: _pmi(n, 0.75).clamp(min=0), "this is the one with the power 3/4; here the column sums count as they are."),
        (lambda n: _pmi(n).clamp(min=0) / math.log(2), "this is the logarithm to base 2; the natural one, `log`, was asked for."),
        (lambda n: _pmi(n).clamp(min=0) / math.log(10), "this is the logarithm to base 10; the natural one, `log`, was asked for."),
        (lambda n: n / _chance(n), "these are the quotients, count divided by chance; the logarithm is missing. 1 means as often as chance, and its logarithm is 0."),
        (lambda n: (n / _chance(n)).clamp(min=1), "these are the quotients, count divided by chance, and 1 where they are below it; the logarithm is missing."),
        (lambda n: (n / _chance(n) - 1).clamp(min=0), "the logarithm is missing: you subtract 1 from the quotient instead."),
        (lambda n: (n / _chance(n)).log1p(), "you add 1 before the logarithm; as often as chance should give 0, and log(1 + 1) is not."),
        (lambda n: (n - _chance(n)).clamp(min=0), "you subtract what chance gives; divide by it, and take the logarithm."),
        (lambda n: _chance(n), "this is what chance would give; divide each count by it, and take the logarithm."),
        (lambda n: _log(n * n.sum() / n.sum(1, keepdim=True)), "this compares with the row alone; how common the other word is matters too: the column sum."),
        (lambda n: _log(n * n.sum() / n.sum(0)), "this compares with the column alone; how common the first word is matters too: the row sum."),
        (lambda n: _log(n * n.sum() / n.sum(0) ** 2), "row sums and column sums meet one by one, so each cell takes both of them from its column. `n.sum(1, keepdim=True)` keeps the row sums upright, and the product is a table."),
        (lambda n: _log(n * n.sum() / n.sum(1, keepdim=True) ** 2), "each cell takes both sums from its row; one belongs to its row, the other to its column."),
        (lambda n: _log(n * n.sum() ** 2 / n.sum(1, keepdim=True) / n.sum(0)), "the total counts once too often: if row and column sums become shares of the total, the count has to become one too."),
        (lambda n: _log((n + 1) * n.sum() / n.sum(1, keepdim=True) / n.sum(0)), "you add 1 to every count before you divide; a pair that never comes has to be 0."),
        (lambda n: _pmi(n).clamp(min=0) * n, "each logarithm is multiplied by its count; the logarithm alone was asked for."),
        (lambda n: _pmi(n).clamp(min=0) * n / n.sum(), "each logarithm is weighted by how often its pair comes; the logarithm alone was asked for."),
        (lambda n: _pmi(n).clamp(min=0).fill_diagonal_(0), "you empty the diagonal; a word near another copy of itself counts as any pair does."),
        (lambda n: -_pmi(n).clamp(max=0), "these are the pairs that come less often than chance: divide the count by chance, not chance by the count."),
        (lambda n: n / n.sum(1, keepdim=True), "these are the shares of each row; divide each count by what chance would give, and take the logarithm."),
        (lambda n: n / n.sum(), "these are the shares of the total; divide each count by what chance would give, and take the logarithm."),
        (lambda n: _log(n * n.sum() / (n.sum(1, keepdim=True) + n.sum(0))), "row sum and column sum are multiplied, not added."),
        (lambda n: _log(n / n.mean(1, keepdim=True) / n.mean(0)), "these are means of rows and columns; what chance gives is made of sums, and of the total."),
        (lambda n: _chance(n).log().clamp(min=0), "this is the logarithm of what chance would give; where is the count?"),
        (torch.zeros_like, zero),
        (lambda n: (n + 1).log(), "this is the logarithm of the counts; divide them by what chance would give first."),
        (lambda n: n.log().clamp(min=0), "this is the logarithm of the counts; divide them by what chance would give first."),
    ]  # fmt: skip
    cases = [(table,), (other,), (torch.cat([table, table], 1).repeat(2, 1) + torch.eye(8),)]
    seen: list[Tensor] = []

    def read(result: object) -> Tensor:
        seen.append(_finite(result))
        return seen[-1]

    try:
        words = by_cases(answer, lambda n: _pmi(n).clamp(min=0), cases, mistakes, read=read)
    except ValueError as error:
        return f"it stopped with `{explain(error)}`: math.log takes one number, and none that is 0; use `.log()`."
    return _with_cell(words, cases, seen, _tell_chance)


def _loss(x: Tensor, y: Tensor, n: Tensor, *, true: float = 1.0, false: float = -1.0) -> Tensor:
    """Return the loss of each example; the two factors turn the signs inside of the sigmoids."""
    negative = torch.einsum("bd,bkd->bk", x, n)
    return -F.logsigmoid(true * (x * y).sum(-1)) - F.logsigmoid(false * negative).sum(-1)


def _false(x: Tensor, n: Tensor) -> Tensor:
    return -F.logsigmoid(-torch.einsum("bd,bkd->bk", x, n))


def _true(x: Tensor, y: Tensor) -> Tensor:
    return -F.logsigmoid((x * y).sum(-1))


def negative_sampling(answer: object) -> str | None:
    """Grade the loss of skip-gram with negative sampling."""
    cases = [
        (normal(B, D, seed=0), normal(B, D, seed=1), normal(B, K, D, seed=2))
        for B, K, D in ((5, 7, 3), (2, 3, 11), (3, 2, 5))
    ]
    mistakes = [
        (lambda x, y, n: _loss(x, y, n, false=1.0).mean(), "the negatives are pulled closer as well: turn their sign round, log σ(-x · n)."),
        (lambda x, y, n: _loss(x, y, n, true=-1.0).mean(), "the true context is pushed away: no minus inside its σ."),
        (lambda x, y, n: -_loss(x, y, n).mean(), "this is to be made larger; a loss is to be made smaller: turn the sign round."),
        (lambda x, y, n: (_true(x, y) - _false(x, n).sum(-1)).mean(), "the two parts have different signs: both logarithms count with a minus."),
        (lambda x, y, n: (_true(x, y) + _false(x, n).mean(-1)).mean(), "you average over the negatives; add them up."),
        (lambda x, y, n: (_true(x, y) + 5 * _false(x, n).mean(-1)).mean(), "five times a mean stands for a sum in the chapter; here add the negatives up."),
        (lambda x, y, n: _loss(x, y, n.flatten(0, 1).expand(len(x), -1, -1)).mean(), "each example is compared with the negatives of all; it has negatives of its own, n[b]."),
        (lambda x, y, n: _loss(x, y, n).sum(), "this is the sum over the batch; take its mean."),
        (_loss, "one number for each example; take their mean."),
        (lambda x, y, n: _true(x, y).mean(), "the negatives take no part."),
        (lambda x, y, n: _false(x, n).sum(-1).mean(), "the true context takes no part."),
        (lambda x, y, n: -((-_true(x, y)).exp() + (-_false(x, n)).exp().sum(-1)).mean(), "the logarithm is missing."),
    ]  # fmt: skip
    wrong = by_cases(answer, lambda x, y, n: _loss(x, y, n).mean(), cases, mistakes, read=scalar)
    if wrong:
        return wrong
    x, y, n = cases[0]
    far = scalar(call(answer, x * 300, y.clone(), n.clone()))
    if not far.isfinite().all():
        return "right for small products, but large ones give infinity: σ underflows to 0, and log 0 is minus infinity. `F.logsigmoid` takes both in one step."
    if not close(far, _loss(x * 300, y, n).mean().double(), 1.0):
        return "right for small products, but not for large ones: do not cut them off."
    return None


PAIRS = ("man", "woman"), ("king", "queen"), ("prince", "princess")
LONGEST_TEXT = 16


def _read_text(answer: object) -> list[str]:
    """Read a text, as one string or as a list of words.

    Raises:
        AnswerError: If it is something else.
    """
    answer = answer.tolist() if isinstance(answer, np.ndarray) else answer
    parts = [answer] if isinstance(answer, str) else answer
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise AnswerError("write the text as one string, with spaces between its words.")
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
    return ", ".join(f"{word} {n:+d}".replace("-", "−") for word, n in step.items()) or "nothing"


def _times(step: dict[str, int], other: dict[str, int]) -> float | None:
    """Return how many times a step the other one is; None if they point elsewhere."""
    ratios = {other[word] / n for word, n in step.items() if word in other}
    return ratios.pop() if len(ratios) == 1 and step.keys() == other.keys() else None


def true_sum(answer: object) -> str | None:
    """Grade a text in which three pairs of words are the same step apart, in their counts of neighbours."""
    text, six = _read_text(answer), [word for pair in PAIRS for word in pair]
    missing = [word for word in six if word not in text]
    if missing:
        return f"{missing[0]} does not come in your text; all six words have to."
    if len(text) > LONGEST_TEXT:
        return f"your text has {len(text)} words; at most {LONGEST_TEXT} are allowed."
    for one, other in itertools.pairwise(text):
        if one in six and other in six:
            return (
                f"{one} and {other} stand side by side; between two of the six there has to be another word."
            )
    rows = _neighbours(text)
    return _uneven_steps(rows) or _same_direction(rows, six)


def _uneven_steps(rows: dict[str, Counter]) -> str | None:
    """Return what is wrong with the three steps; None if they are the same and not zero."""
    steps = {f"from {start} to {end}": _step(rows, start, end) for start, end in PAIRS}
    (where, step), *others = steps.items()
    for name, other in steps.items():
        if not other:
            return f"{name} nothing changes: both stand beside the same words, equally often."
    for name, other in others:
        if other == step:
            continue
        told = f"{where} the step is {_spell(step)}; {name} it is {_spell(other)}."
        times = _times(step, other)
        if times == -1:
            return f"{told} That is the same way back: change the places of the two."
        if times is not None:
            return f"{told} The direction is the same, but the length is not."
        return f"{told} They have to be equal, column by column."
    return None


def _same_direction(rows: dict[str, Counter], six: list[str]) -> str | None:
    """Return two words that a search cannot tell apart, one of them of the six; None if there are none."""
    columns = sorted(rows)
    vectors = torch.tensor([[rows[word][column] for column in columns] for word in columns]).double()
    cosines = unit(vectors) @ unit(vectors).T
    for word in six:
        for other in columns:
            if other != word and cosines[columns.index(word), columns.index(other)] > 1 - 1e-9:
                return f"the steps are equal, but {word} and {other} stand beside the same words, in the same shares: their cosine is 1, and a search cannot tell them apart."
    return None


def _share(
    vectors: Tensor, questions: Tensor,
    *, axis: int | None = -1, power: float = 1, out: str = "abc", fill: float = -math.inf,
    crossed: bool = False, first: int = 1, sums: Callable = lambda a, b, c: a - b + c,
) -> Tensor:  # fmt: skip
    """Return the share of analogies that a search finds; ``out`` are the inputs that each question leaves out.

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


def doubtful_accuracy(answer: object) -> str | None:
    """Grade the repair of an accuracy with three silent mistakes."""
    sizes = (127, 7, 53, 51), (139, 11, 61, 26), (113, 5, 47, 14)  # seeds with which mistakes differ
    cases = [*(_analogies(*size) for size in sizes), _turned_away()]
    axes = [
        (-1, ""),
        (0, "the columns have length one; a word is a row. What do you divide by, and along which axis?"),
        (None, "these are dot products, which favour long words; the nearest by cosine was asked for."),
    ]
    outs = [
        ("abc", ""),
        ("all", "a word that is an input of one question is left out of all the others too. Which rows does your index pick?"),
        ("", "the inputs are not left out any more."),
        ("a", "only a is left out; b and c have to be as well."),
        ("b", "only b is left out; a and c have to be as well."),
        ("c", "only c is left out; a and b have to be as well."),
        ("ab", "c is not left out; none of the three inputs may be the answer."),
        ("ac", "b is not left out; none of the three inputs may be the answer."),
        ("bc", "a is not left out; none of the three inputs may be the answer."),
        ("abcd", "nothing is ever right. Is the answer left out as well? Of the four columns of `questions` the first three are inputs. Or do those win that are left out? Or is it `all` instead of a mean?"),
    ]  # fmt: skip
    crosses = [
        (False, ""),
        (
            True,
            "look at the shape of what you average: every question's word is compared with the answers of all questions.",
        ),
    ]
    one, more = [], []
    for (axis, skew), (out, left), (crossed, table) in itertools.product(axes, outs, crosses):
        said = [words for words in (table, left, skew) if words]
        made = _variant(axis=axis, out=out, crossed=crossed)
        if len(said) == 1:
            one.append((made, said[0]))
        elif said:
            more.append((made, f"{len(said)} mistakes are in it, one of them: {said[0]}"))
    signs = "the sum has other signs: a - b + c."
    mistakes = [
        (_variant(fill=0.0), "an input that is left out with 0 or -1 still wins where every other word is turned away from the sum: their scores are far below that. What loses against any score?"),
        (_variant(axis=0, out="all", crossed=True), "it still does what it did. Three lines are wrong. Take three questions, and look at the shapes and at one row of `scores`."),
        *one,
        (_variant(sums=lambda a, b, c: a + b - c), signs),
        (_variant(sums=lambda a, b, c: b - a + c), signs),
        (_variant(sums=lambda a, b, c: a + c), "b is not taken away: a - b + c."),
        (_variant(sums=lambda a, b, c: unit(a) - unit(b) + unit(c)), "you add directions; the sum is one of the vectors as they are, and only the search is by cosine."),
        (_variant(sums=lambda a, b, c: unit(a - b + c, 0)), "the sums are divided along the wrong axis: each column of theirs by its own length."),
        (_nearest_by_distance, "this is the nearest by distance, which asks for the same length too; the nearest by cosine was asked for."),
        (_variant(power=2), "you divide by the squared lengths; take the root."),
        (_variant(power=0.5), "one root too many: divide by the lengths, not by their roots."),
        (_variant(first=5), "you look whether the answer is among the five best; it has to be the best."),
        (lambda vectors, questions: len(questions) * _share(vectors, questions, crossed=True), "look at the shape of what you add up: every question's word is compared with the answers of all questions."),
        (_variant(axis=0, sums=lambda a, b, c: unit(a - b + c, 0)), "the columns have length one, of the vectors and of the sums; a word is a row, and so is a sum."),
        (_variant(out="all", fill=0.0), "a word that is an input of one question is left out of all the others too."),
        (_answers_of_any, "you look whether the word found is the answer of any question; it has to be that of its own."),
        (lambda vectors, questions: 100 * _share(vectors, questions), "this is in percent; a share from 0 to 1 was asked for."),
        (lambda vectors, questions: len(questions) * _share(vectors, questions), "this is how many are right; divide by the number of questions."),
        (lambda vectors, questions: 1 - _share(vectors, questions), "this is the share of wrong answers."),
        (lambda vectors, questions: torch.tensor(1.0), "1 whatever is asked: `any` looks whether a single one is right; take the mean."),
        *more,
    ]  # fmt: skip
    got = [_one_share(call(answer, *(x.clone() for x in case))) for case in cases]
    right = [_share(*case) for case in cases]
    for wrong, words in [(_share, None), *mistakes]:  # one number says little: a mistake has to fit all cases
        if all(close(mine, wrong(*case).double()) for mine, case in zip(got, cases, strict=True)):
            return words
    n = next(n for n, (mine, share) in enumerate(zip(got, right, strict=True)) if not close(mine, share))
    side = "large" if got[n] > right[n] else "small"
    return f"for `{spell_call(answer, cases[n])}` the share is too {side}. Ask its questions one at a time, in a loop, and compare which words are found."


def _answers_of_any(vectors: Tensor, questions: Tensor) -> Tensor:
    a, b, c, answer = questions.T
    scores = (vectors[a] - vectors[b] + vectors[c]) @ unit(vectors).T
    found = scores.scatter(1, questions[:, :3], -math.inf).argmax(1)
    return torch.isin(found, answer).double().mean()


def _nearest_by_distance(vectors: Tensor, questions: Tensor) -> Tensor:
    a, b, c, answer = questions.T
    off = torch.cdist(vectors[a] - vectors[b] + vectors[c], vectors)
    return (off.scatter(1, questions[:, :3], math.inf).argmin(1) == answer).double().mean()


def _variant(**changes: object) -> Callable:
    return lambda vectors, questions: _share(vectors, questions, **changes)


def _one_share(result: object) -> Tensor:
    got = scalar(result)
    if got.ndim:
        raise AnswerError(
            f"one number is asked, the share that is right; yours has shape {tuple(got.shape)}."
        )
    return got


EXERCISES = [
    Exercise(
        "2.3", "Long against near", "easy", 5,
        (
            "The product is |q| |k| cosine. Choose a direction first, then make k as long as it takes.",
            "(0, 1) has cosine 1/√5 with (2, 1), below 0.5. How long must it be?",
        ),
        long_key,
        "A dot product can be raised by length alone. Attention uses that: a long key is loud.",
    ),
    Exercise(
        "2.4", "The nearest words", "medium", 8,
        (
            "Cosines of every row with the target: divide the products by the lengths of the rows.",
            "Before you take the best n, set the cosines of the rows in `exclude` to minus infinity.",
            "`cosines.topk(n).indices.tolist()` gives the best n, the nearest first.",
        ),
        nearest_rows,
        "Leaving out has to come before taking the best, or there are too few.",
    ),
    Exercise(
        "2.6", "A step that is long enough", "medium", 7,
        (
            "king - man + woman is king moved by the step from man to woman.",
            "From king to queen the step is (4, 0): let the one from man to woman point the same way.",
            "King points straight up, queen at 45 degrees. The sum has to come more than half way round.",
            "With woman = (5, 0) the step is (4, 0), exactly from king to queen. A shorter one does too; how short?",
        ),
        long_step,
        "In this small world a step can point straight from king to queen, and then it need only be long enough. In GloVe the step from man to woman is long enough, and points 63 degrees past queen.",
    ),
    Exercise(
        "2.7", "Counting neighbours", "medium", 10,
        (
            "For each distance d from 1 to the window, pair `ids[:-d]` with `ids[d:]`.",
            "Each pair counts in both directions: once in row i, column j, once in row j, column i.",
            "`n[i, j] += 1` inside a plain loop is right; with whole tensors of indices it forgets repeats.",
        ),
        cooccurrence,
        "This table is all that a counting method ever sees of a text.",
    ),
    Exercise(
        "2.8", "More often than chance", "medium", 10,
        (
            "Chance would give row sum times column sum, divided by the total.",
            "PMI is the logarithm of the count divided by that. Then everything below 0 becomes 0.",
            "`keepdim=True` keeps the row sums a column, so that row sums times column sums make a table. The log of 0 is minus infinity: `clamp` takes it, too.",
        ),
        ppmi,
        "Frequent words lose their advantage: what counts is company beyond chance.",
    ),
    Exercise(
        "2.9", "The loss of negative sampling", "hard", 12,
        (
            "Products: `(x * y).sum(-1)` is (B,), and `(n @ x[:, :, None])[..., 0]` is (B, K).",
            "The true context should score high, the negatives low: -log σ(x · y) - Σ log σ(-x · n).",
            "`torch.nn.functional.logsigmoid` does log and σ in one step, and does not underflow.",
        ),
        negative_sampling,
        "Without the second term, one direction for all words would be a perfect answer.",
    ),
    Exercise(
        "2.12", "A text in which the sum is true", "hard", 12,
        (
            "Begin with the rows, not with the text. Give man the row he 1 and woman the row she 1: which rows can king and queen have, so that the step is the same?",
            "Draw it: a dot for each word, a line for each time that two stand side by side. A text is a walk that takes every line once; two words may stand at its ends.",
            "A word that the walk passes has an even number of lines. Where the walk gets stuck, two of the words that are not among the six may stand side by side.",
        ),
        true_sum,
        "The sum is true where pairs differ in the same company, she for he, and share the rest, crown or heir. Then no input has to be left out of the search. A writer can arrange it; in real texts a queen differs from a king in much besides, and the steps open.",
    ),
    Exercise(
        "2.13", "An accuracy that nobody doubted", "hard", 10,
        (
            "All shapes are as the comments say, and that is the trouble. Take a `vectors` of (5, 2) and two questions, and print every line.",
            "Which lengths are one in `x`, those of its rows? And in the row of `scores` of the first question, how many are minus infinity?",
            "What shape has `best == answer`, if the one is (Q, 1) and the other (Q,)? It is averaged whatever it is.",
        ),
        doubtful_accuracy,
        "Nothing stopped, and king - man + woman gave queen. With a single question two of the three mistakes cannot be seen: no other question lends its inputs, and (1, 1) compares as (1,) does. Test with several, and with sizes that differ.",
    ),
]  # fmt: skip
