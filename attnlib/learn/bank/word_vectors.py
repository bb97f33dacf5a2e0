"""Exercises on word vectors."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib.learn.calling import call, explain
from attnlib.learn.grading import Calls, Exercise, close, compare, numbers

U = torch.tensor([3.0, 4.0], dtype=torch.float64)
OTHERS = torch.tensor([[4.0, 3.0], [6.0, 8.0], [-4.0, 3.0]], dtype=torch.float64)
KING, MAN, QUEEN = (torch.tensor(x, dtype=torch.float64) for x in ([0, 4], [1, 0], [4, 4]))


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")


def cosine_table(answer: object) -> str | None:
    """Grade a table of cosines between the rows of two matrices."""
    x, y = 2 * _random(5, 3, seed=0), 3 * _random(7, 3, seed=1)
    with Calls() as calls:
        got = numbers(call(answer, x.clone(), y.clone()))
    products, a, b = x @ y.T, x.norm(dim=1)[:, None], y.norm(dim=1)
    right = (products / a / b).double()
    wrong = compare(
        got,
        right,
        [
            (products.double(), "these are dot products; divide each by the lengths of its two rows."),
            ((products / a).double(), "the rows of x have length one, those of y do not yet."),
            ((products / b).double(), "the rows of y have length one, those of x do not yet."),
            ((products / a**2 / b**2).double(), "you divide by the squared lengths; take the root."),
            ((products / (a * b).sqrt()).double(), "one root too many: divide by the lengths, not by their roots."),
            ((F.normalize(x, dim=0) @ F.normalize(y, dim=0).T).double(), "you divide columns by their length; each word is a row: dim=-1."),
            ((products / x.norm() / y.norm()).double(), "you divide by the length of the whole table; each row has its own."),
            (right.T, "rows belong to x and columns to y; yours is turned round."),
            (1 - right, "this is one minus the cosine, a distance; the cosine was asked for."),
        ],
    )  # fmt: skip
    if wrong:
        return wrong
    if "cosine_similarity" in calls.names:
        return "right, but it calls the ready-made function; write it with a product and lengths."
    return None


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
    vectors, target = _random(11, 3, seed=5) * torch.linspace(0.3, 3, 11)[:, None], _random(3, seed=6)
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
    return f"for one table the rows should be {right}, yours are {got}."


def analogy_row(answer: object) -> str | None:
    """Grade an analogy among rows, with the inputs left out."""
    vectors, questions = _analogy_case()

    def solve(target: Tensor, without: list[int], *, by_product: bool = False) -> int:
        score = vectors @ target if by_product else F.cosine_similarity(vectors, target[None])
        score[without] = -torch.inf
        return int(score.argmax())

    got = []
    for q in questions:
        rows = numbers(call(answer, vectors.clone(), *q)).flatten()
        if rows.numel() != 1:
            return f"one row number was asked for, yours are {rows.numel()}."
        got.append(round(rows.item()))

    def all_of(rule: object) -> list[int]:
        return [rule(*(vectors[i] for i in q), list(q)) for q in questions]

    known = [
        (all_of(lambda a, b, c, q: solve(a - b + c, q)), None),
        (all_of(lambda a, b, c, q: solve(a - b + c, [])), "the inputs are not left out, so one of them wins; that is what happens with real words too."),
        (all_of(lambda a, b, c, q: solve(a - b + c, q[:1])), "only a is left out; b and c have to be left out as well."),
        (all_of(lambda a, b, c, q: solve(a + b - c, q)), "the signs are wrong: a - b + c."),
        (all_of(lambda a, b, c, q: solve(b - a + c, q)), "the signs are wrong: a - b + c."),
        (all_of(lambda a, b, c, q: solve(a - b + c, q, by_product=True)), "this takes the largest dot product, which favours long vectors; compare by cosine."),
        (all_of(lambda a, b, c, q: solve(a, q)), "this is the word nearest to a; b and c take no part."),
        (all_of(lambda a, b, c, q: solve(c, q)), "this is the word nearest to c; a and b take no part."),
    ]  # fmt: skip
    for rows, words in known:
        if got == rows:
            return words
    n = next(i for i, (g, r) in enumerate(zip(got, known[0][0], strict=True)) if g != r)
    return f"for rows {questions[n]} the answer is row {known[0][0][n]}, yours is {got[n]}."


def _analogy_case() -> tuple[Tensor, list[tuple[int, int, int]]]:
    vectors = _random(17, 3, seed=7) * torch.linspace(0.4, 2.5, 17)[:, None]
    generator = torch.Generator().manual_seed(1)
    return vectors, [tuple(torch.randperm(17, generator=generator)[:3].tolist()) for _ in range(12)]


def long_step(answer: object) -> str | None:
    """Grade a vector for *woman* with which king - man + woman leaves *king*."""
    c = numbers(answer).squeeze()
    if c.shape != (2,) or not c.isfinite().all():
        return f"woman should be two finite numbers, yours has shape {tuple(c.shape)}."
    target = KING - MAN + c
    if target.norm() < 1e-9:
        return "king - man + woman is then zero, and has no direction."
    to_king, to_queen = (F.cosine_similarity(target, w, dim=0).item() for w in (KING, QUEEN))
    if to_queen > to_king:
        return None
    told = f"king - man + woman is ({target[0]:.3g}, {target[1]:.3g}): cosine {to_king:.3g} with king, {to_queen:.3g} with queen."
    if to_queen == to_king:
        return f"{told} A tie; a little further."
    step = c - MAN
    if F.cosine_similarity(step, QUEEN - KING, dim=0) < 0.9:
        return f"{told} From king to queen the step is (4, 0), yours from man to woman is ({step[0]:.3g}, {step[1]:.3g}): let it point the same way."
    return f"{told} The step from man to woman points where queen lies, but does not go far enough."


def cooccurrence(answer: object) -> str | None:
    """Grade a table of how often words stand near each other."""
    ids, size = torch.tensor([0, 1, 2, 1, 1, 3, 0, 4, 4, 2, 0, 1, 2, 5]), 7

    def count(
        window: int, *, two_sided: bool = True, own: bool = False, once: bool = False, wrap: bool = False
    ) -> Tensor:
        n = torch.zeros(size, size, dtype=torch.float64)
        for i in range(len(ids)):
            for d in range(0 if own else 1, window + 1):
                for j in {i - d, i + d} if two_sided else {i + d}:
                    if wrap or 0 <= j < len(ids):
                        n[ids[i], ids[j % len(ids)]] += 1
        return n.clamp(max=1) if once else n

    got = numbers(call(answer, ids.clone(), size, 2))
    wrong = compare(
        got,
        count(2),
        [
            (count(2, two_sided=False), "you count what follows only; what stands before counts too."),
            (count(2, two_sided=False).T, "you count what stands before only; what follows counts too."),
            (count(1), "only direct neighbours are counted; window 2 reaches two words to each side."),
            (count(3), "this reaches three words to each side; window 2 means two."),
            (count(2, own=True), "each word is counted as its own neighbour: leave distance 0 out."),
            (count(2, once=True), "each pair is counted once at most. `n[i, j] += 1` with tensors of rows and columns adds 1 once, however often a pair comes: use a loop, `index_put_(..., accumulate=True)` or `bincount`."),
            (count(2, wrap=True), "the end of the text is joined to its beginning: `roll` does that. Cut the ends off."),
            (2 * count(2), "every pair is counted twice over."),
        ],
    )  # fmt: skip
    if wrong:
        return wrong
    wrong = compare(numbers(call(answer, ids.clone(), size, 3)), count(3))
    return wrong and f"right for window 2, but not for window 3: {wrong}"


def ppmi(answer: object) -> str | None:
    """Grade positive pointwise mutual information."""
    n = torch.tensor([[0.0, 8, 2, 0], [8, 0, 1, 3], [2, 1, 4, 1], [0, 3, 1, 0]])
    total, row = n.sum(), n.sum(1, keepdim=True)
    pmi = (n * total / row / row.T).log().double()
    right = pmi.clamp(min=0)
    finite = n > 0
    try:
        got = numbers(call(answer, n.clone()))
    except ValueError as error:
        return f"it stopped with `{explain(error)}`: math.log takes one number, and none that is 0; use `.log()`."
    if got.shape == right.shape and got.isnan().any():
        return "there is a NaN in it: 0 times infinity, or 0 divided by 0."
    if got.shape == right.shape and got.isinf().any():
        return "pairs that never come are minus infinity; the P stands for positive: everything below 0 becomes 0."
    kept = pmi.where(finite, 0)
    mistakes = [
        (kept, "negative values are still there; the P stands for positive: everything below 0 becomes 0."),
        (kept.abs(), "you take the absolute value; negative ones become 0."),
        (right / math.log(2), "this is the logarithm to base 2; the natural one was asked for."),
        ((n * total / row / row.T).double(), "the logarithm is missing."),
        (kept.exp().where(finite, 0), "the logarithm is missing."),
        ((n * total / row).log().double().clamp(min=0), "this compares with the row alone; how common the other word is matters too."),
        (torch.zeros_like(right), "everything is 0: the logarithm of a share is negative. The total is missing: count times total, divided by row and column sum."),
        ((n + 1).log().double(), "this is the logarithm of the counts; compare them with what chance would give."),
    ]  # fmt: skip
    return compare(got, right, mistakes)


def negative_sampling(answer: object) -> str | None:
    """Grade the loss of skip-gram with negative sampling."""
    x, y, n = _random(5, 3, seed=0), _random(5, 3, seed=1), _random(5, 7, 3, seed=2)
    positive, negative = (x * y).sum(-1), torch.einsum("bd,bkd->bk", x, n)
    log = F.logsigmoid

    def total(p: Tensor, q: Tensor) -> Tensor:
        return -(log(p) + log(q).sum(-1)).mean().double()

    got = numbers(call(answer, x.clone(), y.clone(), n.clone()))
    got = got.reshape(()) if got.numel() == 1 else got
    right = total(positive, -negative)
    wrong = compare(
        got,
        right,
        [
            (total(positive, negative), "the negatives are pulled closer as well: turn their sign round, log σ(-x · n)."),
            (total(-positive, -negative), "the true context is pushed away: no minus inside its σ."),
            (-right, "this is to be made larger; a loss is to be made smaller: turn the sign round."),
            (-(log(positive).mean() + log(-negative).mean()).double(), "you average over the negatives; add them up."),
            (right * 5, "this is the sum over the batch; take its mean."),
            (-(log(positive) + log(-negative).sum(-1)).double(), "one number for each example; take their mean."),
            (-log(positive).mean().double(), "the negatives take no part."),
            (-log(-negative).sum(-1).mean().double(), "the true context takes no part."),
            (-(positive.sigmoid() + (-negative).sigmoid().sum(-1)).mean().double(), "the logarithm is missing."),
        ],
    )  # fmt: skip
    if wrong:
        return wrong
    far = numbers(call(answer, x * 300, y.clone(), n.clone())).reshape(-1)
    if not far.isfinite().all():
        return "right for small products, but large ones give infinity: σ underflows to 0, and log 0 is minus infinity. `F.logsigmoid` takes both in one step."
    return (
        None
        if close(far[0], -(log((x * 300 * y).sum(-1)) + log(-300 * negative).sum(-1)).mean().double(), 1.0)
        else "right for small products, but not for large ones: do not cut them off."
    )


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
            "`(n * n.sum() / n.sum(1, keepdim=True) / n.sum(0)).log().clamp(min=0)`: log 0 is minus infinity, and becomes 0.",
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
