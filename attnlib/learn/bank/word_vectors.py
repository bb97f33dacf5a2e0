"""Exercises on word vectors."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib.learn.calling import AnswerError, call, explain
from attnlib.learn.grading import Exercise, by_cases, close, normal, numbers, scalar, single, unit

KING, MAN, QUEEN = (torch.tensor(x, dtype=torch.float64) for x in ([0, 4], [1, 0], [4, 4]))


def _cosines(x: Tensor, y: Tensor) -> Tensor:
    return unit(x) @ unit(y).T


def cosine_table(answer: object) -> str | None:
    """Grade a table of cosines between the rows of two matrices."""
    sizes = ((5, 7, 3), (2, 3, 11), (7, 2, 5))
    cases = [(2 * normal(N, D, seed=0), 3 * normal(M, D, seed=1)) for N, M, D in sizes]
    mistakes = [
        (lambda x, y: x @ y.T, "these are dot products; divide each by the lengths of its two rows."),
        (lambda x, y: unit(x) @ y.T, "the rows of x have length one, those of y do not yet."),
        (lambda x, y: x @ unit(y).T, "the rows of y have length one, those of x do not yet."),
        (lambda x, y: _cosines(x, y) / x.norm(dim=1)[:, None] / y.norm(dim=1), "you divide by the squared lengths; take the root."),
        (lambda x, y: _cosines(x, y) * (x.norm(dim=1)[:, None] * y.norm(dim=1)).sqrt(), "one root too many: divide by the lengths, not by their roots."),
        (lambda x, y: unit(x, 0) @ unit(y, 0).T, "you divide columns by their length; each word is a row: dim=-1."),
        (lambda x, y: x @ y.T / x.norm() / y.norm(), "you divide by the length of the whole table; each row has its own."),
        (lambda x, y: _cosines(y, x), "rows belong to x and columns to y; yours is turned round."),
        (lambda x, y: 1 - _cosines(x, y), "this is one minus the cosine, a distance; the cosine was asked for."),
    ]  # fmt: skip
    own = {"cosine_similarity"}, "it calls the ready-made function; write it with a product and lengths."
    return by_cases(answer, _cosines, cases, mistakes, ready_made=own)


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


def _analogy_case() -> tuple[Tensor, list[tuple[int, int, int]]]:
    vectors = normal(17, 3, seed=7) * torch.linspace(0.4, 2.5, 17)[:, None]
    vectors[:3] = torch.tensor([[2.0, 0.3, 0.0], [0.5, 0.0, 0.0], [2.0, -0.2, 0.1]])  # 0 - 1 + 2 points at 1
    generator = torch.Generator().manual_seed(1)
    drawn = [tuple(torch.randperm(17, generator=generator)[:3].tolist()) for _ in range(12)]
    return vectors, [*drawn, (0, 1, 2)]


def analogy_row(answer: object) -> str | None:
    """Grade an analogy among rows, with the inputs left out."""
    vectors, questions = _analogy_case()
    got = [round(single(call(answer, vectors.clone(), *q))) for q in questions]

    def all_of(rule: object, out: str = "abc", *, by_product: bool = False) -> list[int]:
        rows = []
        for q in questions:
            target = rule(*(vectors[i] for i in q))
            score = vectors @ target if by_product else F.cosine_similarity(vectors, target[None])
            score[[q["abc".index(name)] for name in out]] = -torch.inf
            rows.append(int(score.argmax()))
        return rows

    def right_sum(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return a - b + c

    one_left = "{} is not left out: none of the three inputs may be the answer."
    known = [
        (all_of(right_sum), None),
        (all_of(right_sum, ""), "the inputs are not left out, so one of them wins; that is what happens with real words too."),
        (all_of(right_sum, "a"), "only a is left out; b and c have to be left out as well."),
        (all_of(right_sum, "c"), "only c is left out; a and b have to be left out as well."),
        (all_of(right_sum, "ac"), one_left.format("b")),
        (all_of(right_sum, "ab"), one_left.format("c")),
        (all_of(right_sum, "bc"), one_left.format("a")),
        (all_of(lambda a, b, c: a + b - c), "the signs are wrong: a - b + c."),
        (all_of(lambda a, b, c: b - a + c), "the signs are wrong: a - b + c."),
        (all_of(right_sum, by_product=True), "this takes the largest dot product, which favours long vectors; compare by cosine."),
        (all_of(lambda a, b, c: a), "this is the word nearest to a; b and c take no part."),
        (all_of(lambda a, b, c: c), "this is the word nearest to c; a and b take no part."),
    ]  # fmt: skip
    for rows, words in known:
        if got == rows:
            return words
    n = next(i for i, (g, r) in enumerate(zip(got, known[0][0], strict=True)) if g != r)
    return f"for rows {questions[n]} another row than {got[n]} is nearest to a - b + c."


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


def cooccurrence(answer: object) -> str | None:
    """Grade a table of how often words stand near each other."""
    text = torch.tensor([0, 1, 2, 1, 1, 3, 0, 4, 4, 2, 0, 1, 2, 5])
    cases = [(text, 7, 2), (text, 6, 3), (text.flip(0)[:11], 11, 1)]
    mistakes = [
        (lambda *case: _count(*case, before=False), "you count what follows only; what stands before counts too."),
        (lambda *case: _count(*case, after=False), "you count what stands before only; what follows counts too."),
        (lambda ids, size, window: _count(ids, size, window - 1), "it does not reach far enough: window 2 reaches two words to each side."),
        (lambda ids, size, window: _count(ids, size, window // 2), "the window is counted to each side, not as a whole."),
        (lambda ids, size, window: _count(ids, size, window + 1), "it reaches too far: window 2 means two words to each side, not three."),
        (lambda *case: _count(*case, own=True), "each word is counted as its own neighbour: leave distance 0 out."),
        (lambda *case: _count(*case).fill_diagonal_(0), "a word near another copy of itself counts too; only a place is not its own neighbour."),
        (lambda *case: _count(*case).clamp(max=1), "each pair is counted once at most. `n[i, j] += 1` with tensors of rows and columns adds 1 once, however often a pair comes: use a loop, `index_put_(..., accumulate=True)` or `bincount`."),
        (lambda *case: _count(*case, wrap=True), "the end of the text is joined to its beginning: `roll` does that. A negative index does too. Cut the ends off."),
        (lambda *case: _count(*case, near=True), "nearer words count for more in yours; here each counts 1."),
        (lambda *case: 2 * _count(*case), "every pair is counted twice over."),
        (lambda *case: _count(*case) / 2, "every pair is counted half."),
    ]  # fmt: skip
    return by_cases(answer, _count, cases, mistakes)


def _pmi(n: Tensor, power: float = 1.0) -> Tensor:
    """Return the pointwise mutual information, 0 where nothing was counted."""
    common = n.sum(0) ** power
    return (n / n.sum(1, keepdim=True) / common * common.sum()).log().where(n > 0, 0)


def _finite(got: object) -> Tensor:
    got = numbers(got)
    if got.isnan().any():
        raise AnswerError("there is a NaN in it: 0 times infinity, or 0 divided by 0.")
    if got.isinf().any():
        raise AnswerError(
            "pairs that never come are minus infinity; the P stands for positive: everything below 0 becomes 0."
        )
    return got


def ppmi(answer: object) -> str | None:
    """Grade positive pointwise mutual information."""
    table = torch.tensor([[0.0, 8, 2, 0], [8, 0, 1, 3], [2, 1, 4, 1], [0, 3, 1, 0]])
    other = torch.tensor([[3.0, 1, 0], [1, 0, 5], [0, 5, 20]])
    zero = "everything is 0: the logarithm of a share is negative. The total is missing: count times total, divided by row and column sum."
    mistakes = [
        (_pmi, "negative values are still there; the P stands for positive: everything below 0 becomes 0."),
        (lambda n: _pmi(n).abs(), "you take the absolute value; negative ones become 0."),
        (lambda n: _pmi(n, 0.75).clamp(min=0), "this is the one with the power 3/4; here the column sums count as they are."),
        (lambda n: _pmi(n).clamp(min=0) / math.log(2), "this is the logarithm to base 2; the natural one was asked for."),
        (lambda n: _pmi(n).exp().where(n > 0, 0), "the logarithm is missing."),
        (lambda n: _pmi(n).exp().where(n > 0, 0).clamp(min=1), "the logarithm is missing."),
        (lambda n: (n * n.sum() / n.sum(1, keepdim=True)).log().clamp(min=0), "this compares with the row alone; how common the other word is matters too."),
        (torch.zeros_like, zero),
        (lambda n: (n + 1).log(), "this is the logarithm of the counts; compare them with what chance would give."),
        (lambda n: n.log().clamp(min=0), "this is the logarithm of the counts; compare them with what chance would give."),
    ]  # fmt: skip
    cases = [(table,), (other,), (torch.cat([table, table], 1).repeat(2, 1) + torch.eye(8),)]
    try:
        return by_cases(answer, lambda n: _pmi(n).clamp(min=0), cases, mistakes, read=_finite)
    except ValueError as error:
        return f"it stopped with `{explain(error)}`: math.log takes one number, and none that is 0; use `.log()`."


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


EXERCISES = [
    Exercise(
        "2.2", "A table of cosines", "easy", 6,
        (
            "Divide each row by its own length first; `x.norm(dim=-1, keepdim=True)` keeps the axis.",
            "Then one matrix product compares every row of x with every row of y: `x @ y.T`.",
        ),
        cosine_table,
        "After each row has length one, a cosine is a dot product: that is why searches store directions.",
    ),
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
        "2.5", "An analogy", "medium", 8,
        (
            "The target is `vectors[a] - vectors[b] + vectors[c]`: row a, moved by the step from b to c.",
            "Compare it with every row by cosine, with rows a, b and c at minus infinity, and take `argmax`.",
        ),
        analogy_row,
        "Three of the rows were never allowed to win. Remember that when you see an accuracy.",
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
]  # fmt: skip
