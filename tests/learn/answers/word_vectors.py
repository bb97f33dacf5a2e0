"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def ranked(score, n, exclude=()):
    score = score.clone()
    score[list(exclude)] = -torch.inf
    return score.topk(n).indices.tolist()


def zeroed(x, exclude):
    x = x.clone()
    x[list(exclude)] = 0
    return x


def cosines(vectors, target):
    return unit(vectors) @ unit(target)


def loop_nearest(vectors, target, n, exclude):
    c = cosines(vectors, target).tolist()
    rows = sorted((i for i in range(len(c)) if i not in exclude), key=lambda i: -c[i])
    return rows[:n]


def loop_counts(ids, size, window):
    n = torch.zeros(size, size)
    for i, word in enumerate(ids.tolist()):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if j != i:
                n[word, ids[j]] += 1
    return n


def bincounts(ids, size, window):
    n = torch.zeros(size * size, dtype=torch.long)
    for d in range(1, window + 1):
        n += torch.bincount(ids[:-d] * size + ids[d:], minlength=size * size)
    n = n.view(size, size)
    return n + n.T


def one_sided(ids, size, window):
    n = np.zeros((size, size))
    for d in range(1, window + 1):
        np.add.at(n, (ids[:-d].numpy(), ids[d:].numpy()), 1)
    return n


def counter(ids, size, window):
    words = ids.tolist()
    pairs = Counter(p for d in range(1, window + 1) for p in zip(words, words[d:], strict=False))
    return [[pairs[i, j] + pairs[j, i] for j in range(size)] for i in range(size)]


def rolled(ids, size, window):
    n = torch.zeros(size, size)
    for d in range(1, window + 1):
        for other in (ids.roll(d), ids.roll(-d)):
            n.index_put_((ids, other), torch.ones(len(ids)), accumulate=True)
    return n


def forgetful(ids, size, window):
    n = torch.zeros(size, size)
    for d in range(1, window + 1):
        n[ids[:-d], ids[d:]] = 1
        n[ids[d:], ids[:-d]] = 1
    return n


def weighed(ids, size, window):
    return sum(
        loop_counts(ids, size, d) / d - loop_counts(ids, size, d - 1) / d for d in range(1, window + 1)
    )


def with_itself(ids, size, window):
    return loop_counts(ids, size, window) + torch.diag(torch.bincount(ids, minlength=size).float())


def expected(n):
    return n.sum(1, keepdim=True) * n.sum(0) / n.sum()


def beyond_chance(n):
    common = n.sum(0) ** 0.75
    chance = n.sum(1, keepdim=True) * common / common.sum()
    return (n / chance).log().nan_to_num(0, 0, 0).clamp(min=0)


def loop_ppmi(n):
    out = torch.zeros_like(n)
    for i in range(len(n)):
        for j in range(len(n)):
            if n[i, j] > 0:
                out[i, j] = max(0.0, math.log(n[i, j] * n.sum() / n[i].sum() / n[:, j].sum()))
    return out


def log_of(f):
    return lambda n: torch.where(n > 0, f(n).log(), torch.zeros(())).clamp(min=0)


def products(x, y, n):
    return (x * y).sum(-1), (n @ x[:, :, None]).squeeze(-1)


def loss(change):
    return lambda x, y, n: change(*products(x, y, n))


def by_position(ids, size, window, *, first=None, last=None, at=None, once=False):
    """Count position by position, as a loop with a mistake in its range would."""
    n, words = torch.zeros(size, size), ids.tolist()
    for i in range(len(words)) if at is None else at(len(words), window):
        begin = max(0, i - window) if first is None else first(i, window)
        end = min(len(words), i + window + 1) if last is None else last(i, window, len(words))
        near = [words[j] for j in range(begin, end) if j != i]
        for other in set(near) if once else near:
            n[words[i], other] += 1
    return n


def forgets(ids, size, window):
    n = torch.zeros(size, size)
    for d in range(1, window + 1):
        n[ids[:-d], ids[d:]] += 1
        n[ids[d:], ids[:-d]] += 1
    return n


def stretches(ids, size, window):
    n = torch.zeros(size, size)
    for row in ids.unfold(0, window + 1, 1):
        for i in range(window + 1):
            for j in range(window + 1):
                n[row[i], row[j]] += i != j
    return n


def above(ids, size, window):
    n, words = torch.zeros(size, size), ids.tolist()
    for i, one in enumerate(words):
        for other in words[i + 1 : i + window + 1]:
            n[min(one, other), max(one, other)] += 1
    return n


def both_cells(ids, size, window):
    n = torch.zeros(size, size)
    for i in range(len(ids) - window):
        for d in range(1, window + 1):
            n[ids[i], ids[i + d]] += 1
            n[ids[i + d], ids[i]] += 1
    return n


def once_each_way(ids, size, window):
    n = torch.zeros(size, size)
    n[
        torch.cat([ids[:-d] for d in range(1, window + 1)]),
        torch.cat([ids[d:] for d in range(1, window + 1)]),
    ] += 1
    return n + n.T


def farthest(ids, size, window):
    return loop_counts(ids, size, window) - loop_counts(ids, size, window - 1)


def nested(ids, size, window):
    n = [[0] * size for _ in range(size)]
    words = ids.tolist()
    for i, one in enumerate(words):
        for j, other in enumerate(words):
            n[one][other] += 0 < abs(i - j) <= window
    return n


TRUE = "man he king crown queen she he prince heir princess she woman"


def asked(questions):
    return [q.tolist() for q in questions]


def accuracy(
    vectors,
    questions,
    *,
    length=lambda v: v.norm(dim=1, keepdim=True),
    sums=lambda v, a, b, c: v[a] - v[b] + v[c],
    out=lambda scores, questions: scores.scatter(1, questions[:, :3], -torch.inf),
    end=lambda best, answer: (best[:, 0] == answer).double().mean(),
):
    """Do what is asked, line by line as the page has it, with one or the other line changed."""
    a, b, c, answer = questions.T
    scores = sums(vectors, a, b, c) @ (vectors / length(vectors)).T
    return end(out(scores, questions).topk(1).indices, answer)


def changed(**lines):
    return lambda vectors, questions: accuracy(vectors, questions, **lines)


def columns(v):
    return v.norm(dim=0)


def for_all(scores, questions):
    scores[:, questions[:, :3]] = -torch.inf
    return scores


def crossed(best, answer):
    return (best == answer).float().mean()


def fill(columns, value=-torch.inf):
    return lambda scores, questions: scores.scatter(1, questions[:, columns], value)


def loop_accuracy(vectors, questions):
    right = 0
    for a, b, c, answer in asked(questions):
        target = vectors[a] - vectors[b] + vectors[c]
        cosine = {
            i: float(F.cosine_similarity(vectors[i], target, dim=0))
            for i in range(len(vectors))
            if i not in (a, b, c)
        }
        right += max(cosine, key=cosine.get) == answer
    return right / len(questions)


def numpy_accuracy(vectors, questions):
    v, q = vectors.numpy().astype(np.float64), questions.numpy()
    scores = (v[q[:, 0]] - v[q[:, 1]] + v[q[:, 2]]) @ (v / np.linalg.norm(v, axis=1)[:, None]).T
    for row, three in zip(scores, q[:, :3], strict=True):
        row[three] = -np.inf
    return np.mean(scores.argmax(1) == q[:, 3])


def indexed_accuracy(vectors, questions):
    a, b, c, answer = questions.T
    scores = F.cosine_similarity((vectors[a] - vectors[b] + vectors[c])[:, None], vectors[None], dim=-1)
    rows = torch.arange(len(questions))
    scores[rows, a] = scores[rows, b] = scores[rows, c] = -2
    return (scores.argmax(-1) == answer).float().mean().item()


def distance_accuracy(vectors, questions):
    a, b, c, answer = questions.T
    near = -torch.cdist(vectors[a] - vectors[b] + vectors[c], vectors)
    return (near.scatter(1, questions[:, :3], -torch.inf).argmax(1) == answer).double().mean()


def found_accuracy(vectors, questions):
    a, b, c, answer = questions.T
    sums = vectors[a] - vectors[b] + vectors[c]
    x = vectors / vectors.norm(dim=0)
    scores = sums @ x.T
    scores[:, questions[:, :3]] = -torch.inf
    best = scores.topk(1).indices
    return (best == answer).float().mean()


RIGHT = {
    "2.1": [
        [0, 0.96],
        (0.8 * 0.6 - 0.6 * 0.8, 24 / 25),
        {"smallest": 0.0, "largest": 0.96},
        np.cos(np.arccos(0.8) + np.array([1, -1]) * np.arccos(0.6)),
        torch.tensor([[0.0, 0.96]]),
    ],
    "2.2": [[0, 6], (-1.0, 8.0), torch.tensor([4.0, -2.9]), np.array([0.0, 5.1])],
    "2.3": [
        lambda v, t, n, exclude: ranked(cosines(v, t), n, exclude),
        loop_nearest,
        lambda v, t, n, exclude: torch.tensor(loop_nearest(v, t, n, exclude)),
        lambda v, t, n, exclude: ranked(v @ t / v.norm(dim=1), n, exclude),  # the target's length does not matter
    ],
    "2.4": [[5, 0], (3.0, 0.0), np.array([9, 1]), torch.tensor([6.0, -6.0])],
    "2.5": [loop_counts, bincounts, lambda *a: one_sided(*a) + one_sided(*a).T, counter, nested],
    "2.6": [
        lambda n: (n / expected(n)).log().clamp(min=0),
        loop_ppmi,
        lambda n: torch.relu(torch.log(n) + n.sum().log() - n.sum(1, keepdim=True).log() - n.sum(0).log()),
        lambda n: np.log(np.maximum((n / expected(n)).numpy(), 1)),
    ],
    "2.7": [
        loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean()),
        loss(lambda p, q: F.softplus(-p).mean() + F.softplus(q).sum(-1).mean()),
        loss(lambda p, q: (F.softplus(-p).sum() + F.softplus(q).sum()).item() / len(p)),
        loss(lambda p, q: torch.logaddexp(torch.zeros(()), torch.cat([-p[:, None], q], 1)).sum(1).mean()),
    ],
    "2.8": ["0.36, buy", np.str_("0.36, buy"), "0.36,buy", " 0.36, Buy"],
    "2.9": [
        {"statement": False, "times": 1.5, "percent": 52, "out": 1},
        {"out": 1.0, "percent": 52.02, "times": 3 / 2, "statement": 0},
        {"statement": np.bool_(False), "times": np.float64(1.5), "percent": torch.tensor(51.9), "out": torch.tensor(1)},
        {"statement": torch.tensor(False), "times": [1.5], "percent": 51.2, "out": np.array([1])},
    ],
    "2.10": [
        TRUE,
        TRUE.split()[::-1],
        "x man he king crown queen she princess heir prince he she woman x",
        ("Woman", "She", "Princess", "Heir", "Prince", "He", "and", "She", "Queen", "Crown", "King", "He", "Man"),
        "Man, he king a queen she. He prince b princess she woman!",
    ],
    "2.11": [accuracy, loop_accuracy, numpy_accuracy, indexed_accuracy],
}  # fmt: skip

WRONG = [
    ("2.1", [0.96, 0], "in the opposite order"),
    ("2.1", [0.48, 0.48], "a and c can lie in two ways"),
    ("2.1", [16.26, 90], "these are angles"),
    ("2.1", [1.5708, 0.2838], "these are angles"),
    ("2.1", [0.2, 1.4], "angles are"),
    ("2.1", [1, 0.28], "these are the sines"),
    ("2.1", [-1, 1], "which leaves it two places"),
    ("2.1", [0, 1], "have the same cosine with b"),
    ("2.1", [-0.96, 0.96], "along b, are above 0"),
    ("2.1", [0.48, 0.96], "which sign has its product"),
    ("2.1", [0.6, 0.96], "further apart than either is from b"),
    ("2.1", [0.4, 0.96], "no length that can be added up"),
    ("2.1", [-0.48, 0.96], "those along b have a product too"),
    ("2.1", [0.28, 1], "these are the sines"),
    ("2.1", [0.28, 0.96], "the same cosine twice"),
    ("2.1", [-1, 0.96], "in opposite directions"),
    ("2.1", [0.3, 0.96], "smallest: not that"),
    ("2.1", [0, 0.48], "on one side of b their product counts"),
    ("2.1", [0, 0.8], "nearer to each other than either is to b"),
    ("2.1", [0, 1.4], "never above 1"),
    ("2.1", [0, 0.98], "no root and no square"),
    ("2.1", [0, 0.5], "largest: not that"),
    ("2.1", [0.96], "the shape should be (2,)"),
    ("2.1", "0.96", "must hold numbers"),
    ("2.2", [2, 1], "make it longer"),
    ("2.2", [0, 1], "make it longer; that leaves the cosine as it is"),
    ("2.2", [-5, -5], "it points away"),
    ("2.2", [4, 2], "turn it further away"),
    ("2.2", [5, -1], "the cosine is 0.789: turn it further away"),
    ("2.2", [-1, 2], "it stands at a right angle"),
    ("2.2", [-(0.2**0.5), 0.8**0.5], "it stands at a right angle"),
    ("2.2", [0, 0], "no direction"),
    ("2.2", [1, 2, 3], "two numbers"),
    ("2.2", [float("inf"), 0], "two finite numbers"),
    ("2.3", lambda v, t, n, exclude: ranked(cosines(v, t), n), "are still there"),
    ("2.3", lambda v, t, n, exclude: ranked(v @ t, n, exclude), "ranks by dot product, which"),
    ("2.3", lambda v, t, n, exclude: ranked(v @ t, n), "by dot product, and the rows"),
    ("2.3", lambda v, t, n, exclude: ranked(-cosines(v, t), n, exclude), "farthest"),
    ("2.3", lambda v, t, n, exclude: ranked(-(v - t).norm(dim=1), n, exclude), "ranks by distance"),
    ("2.3", lambda v, t, n, exclude: [i for i in ranked(cosines(v, t), n) if i not in exclude], "too few"),
    ("2.3", lambda v, t, n, exclude: loop_nearest(v, t, n, exclude)[::-1], "the nearest should come first"),
    ("2.3", lambda v, t, n, exclude: sorted(loop_nearest(v, t, n, exclude)), "sorted by number"),
    ("2.3", lambda v, t, n, exclude: cosines(v, t), "four rows were asked for"),
    ("2.3", lambda v, t, n, exclude: list(range(n)), "row 0 is none of the four nearest"),
    ("2.3", lambda v, t, n, exclude: cosines(v, t).index_fill(0, torch.tensor(exclude), -torch.inf).topk(n).values, "not whole numbers"),
    ("2.3", lambda v, t, n, exclude: ranked(v / v.norm(dim=0) @ t, n, exclude), "divide along the wrong axis, each column by its own length; a word"),
    ("2.3", lambda v, t, n, exclude: ranked(v / v.norm(dim=0) @ t, n), "each column by its own length, and the rows"),
    ("2.3", lambda v, t, n, exclude: ranked(zeroed(cosines(v, t), exclude), n), "does it have a score of 0?"),
    ("2.3", lambda v, t, n, exclude: sorted(range(len(v)), key=lambda i: -zeroed(cosines(v, t), exclude)[i])[:n], "does it have a score of 0?"),
    ("2.3", lambda v, t, n, exclude: ranked(cosines(zeroed(v, exclude), t), n), "is in `exclude`, and must not come"),
    ("2.3", lambda v, t, n, exclude: ranked(cosines(v, t), n, exclude[1:]), "is in `exclude`, and must not come"),
    ("2.3", lambda v, t, n, exclude: ranked(cosines(v[[i for i in range(len(v)) if i not in exclude]], t), n), "all later rows move up"),
    ("2.3", lambda v, t, n, exclude: ranked(cosines(v, t).abs(), n, exclude), "a row that points away counts as near; leave"),
    ("2.3", lambda v, t, n, exclude: ranked(cosines(v, t).abs(), n), "counts as near; and the rows"),
    ("2.3", lambda v, t, n, exclude: loop_nearest(v, t, 1, exclude) * n, "should come once"),
    ("2.3", lambda v, t, n, exclude: loop_nearest(v, t, n, exclude) if exclude else [0, 0], "an empty list"),
    ("2.4", [1.5, 0], "points where queen lies, but does not go far enough"),
    ("2.4", [1.657, 0], "(1.657, 0) would be long enough; but the step is woman - man"),
    ("2.4", [1, 0], "yours from man to woman is (0, 0): let it point the same way"),
    ("2.4", [-4, 0], "yours from man to woman is (-5, 0): let it point the same way"),
    ("2.4", [3, 9], "it is too steep"),
    ("2.4", [3, 0.9], "too steep"),
    ("2.4", [1, -4], "has no direction"),
    ("2.4", [0, 4], "yours from man to woman is (-1, 4): let it point the same way"),
    ("2.4", [1, 2, 3], "should be two"),
    ("2.5", one_sided, "what follows only"),
    ("2.5", lambda *a: one_sided(*a).T, "what stands before only"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, window - 1), "`range(1, window)` ends one before it"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, window + 1), "one position too far"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, window) / 2, "half as large as it should be"),
    ("2.5", lambda *a: loop_counts(*a).fill_diagonal_(0), "Compare positions, not words"),
    ("2.5", weighed, "nearer words count for more"),
    ("2.5", with_itself, "its own neighbour"),
    ("2.5", forgetful, "1 has to be added each time"),
    ("2.5", once_each_way, "1 has to be added each time"),
    ("2.5", both_cells, "pairs near the end of the text are missing"),
    ("2.5", lambda *a: by_position(*a, at=lambda T, w: range(w, T)), "below 0, is empty"),
    ("2.5", rolled, "`roll` does that"),
    ("2.5", lambda *a: 2 * loop_counts(*a), "neither a second cell for each pair nor `+ n.T`"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, window // 2), "share the window"),
    ("2.5", lambda *a: loop_counts(*a) - loop_counts(*a).diag().diag() / 2, "yours counts them once"),
    ("2.5", lambda *a: loop_counts(*a) + loop_counts(*a).diag().diag(), "the diagonal is twice too large"),
    ("2.5", lambda *a: by_position(*a, once=True), "a set, or `in`, counts it once"),
    ("2.5", lambda *a: by_position(*a, first=lambda i, w: i - w), "`ids[-1]` is its last word"),
    ("2.5", lambda *a: by_position(*a, at=lambda T, w: range(w, T - w)), "the first and the last positions"),
    ("2.5", lambda *a: by_position(*a, last=lambda i, w, T: min(T, i + w)), "the farthest word to the right"),
    ("2.5", forgets, "at one distance is counted once"),
    ("2.5", stretches, "for every stretch of text"),
    ("2.5", lambda ids, size, window: loop_counts(ids, ids.max() + 1, window), "words that never come have a row"),
    ("2.5", above, "in the cell above the diagonal"),
    ("2.5", farthest, "the nearer ones count too"),
    ("2.5", lambda *a: loop_counts(*a).triu(), "on one side of its diagonal"),
    ("2.5", lambda *a: F.normalize(loop_counts(*a), p=1, dim=1), "shares of each row"),
    ("2.5", lambda *a: loop_counts(*a) + torch.ones(()), "Yours is"),
    ("2.5", lambda *a: loop_counts(*a).cumsum(0), "how often does"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, 8), "right at first, but not for"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, 1), "as if `window` were always 1"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, 2), "as if `window` were always 2"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size, 3), "as if `window` were always 3"),
    ("2.5", lambda ids, size, window: loop_counts(ids, size + 1, window), "the shape should be (7, 7)"),
    ("2.6", lambda n: torch.where(n > 0, (n / expected(n)).log(), torch.zeros(())), "negative ones are still there"),
    ("2.6", beyond_chance, "the power 3/4"),
    ("2.6", lambda n: (n / expected(n)).log(), "minus infinity"),
    ("2.6", log_of(lambda n: n * n.sum() / (n.sum(1, keepdim=True) * n.sum(0) ** 0.75)), "the power 3/4"),
    ("2.6", lambda n: n / n * loop_ppmi(n), "NaN"),
    ("2.6", lambda n: torch.where(n > 0, (n / expected(n)).log().abs(), torch.zeros(())), "absolute value"),
    ("2.6", lambda n: (n / expected(n)).log2().clamp(min=0), "base 2"),
    ("2.6", lambda n: n / expected(n), "the logarithm is missing"),
    ("2.6", lambda n: (expected(n) / n).log().clamp(min=0), "you divide by the count"),
    ("2.6", lambda n: np.nan_to_num((n / expected(n)).log().numpy()), "a huge negative number"),
    ("2.6", lambda n: (n / expected(n)).log().nan_to_num(neginf=0).clamp(max=0), "the other way round"),
    ("2.6", lambda n: n / n.sum(1, keepdim=True), "the shares of each row"),
    ("2.6", lambda n: n / n.sum(), "the shares of the total"),
    ("2.6", log_of(lambda n: n * n.sum() / (n.sum(1, keepdim=True) + n.sum(0))), "multiplied, not added"),
    ("2.6", log_of(lambda n: n / n.mean(1, keepdim=True) / n.mean(0)), "these are means"),
    ("2.6", lambda n: expected(n).log().clamp(min=0), "where is the count?"),
    ("2.6", lambda n: (n / expected(n)).clamp(min=1), "1 where they are below it"),
    ("2.6", lambda n: (n / expected(n) - 1).clamp(min=0), "you subtract 1"),
    ("2.6", lambda n: (n / expected(n) + 1).log(), "you add 1 before the logarithm"),
    ("2.6", lambda n: torch.relu(n - expected(n)), "you subtract what chance gives"),
    ("2.6", expected, "this is what chance would give"),
    ("2.6", log_of(lambda n: n * n.sum() / n.sum(0)), "the column alone"),
    ("2.6", log_of(lambda n: n / (n.sum(1) * n.sum(0) / n.sum())), "keeps the row sums upright"),
    ("2.6", log_of(lambda n: n / (n.sum(1) ** 2)[:, None] * n.sum()), "both sums from its row"),
    ("2.6", log_of(lambda n: n / (n.sum(1, keepdim=True) / n.sum()) / (n.sum(0) / n.sum())), "once too often"),
    ("2.6", lambda n: ((n + 1) / expected(n)).log().clamp(min=0), "you add 1 to every count"),
    ("2.6", lambda n: n * loop_ppmi(n), "multiplied by its count"),
    ("2.6", lambda n: n / n.sum() * loop_ppmi(n), "weighted by how often"),
    ("2.6", lambda n: loop_ppmi(n).fill_diagonal_(0), "you empty the diagonal"),
    ("2.6", lambda n: torch.where(n > 0, (expected(n) / n).log(), torch.zeros(())).clamp(min=0), "not chance by the count"),
    ("2.6", lambda n: (n / expected(n)).log10().clamp(min=0), "base 10"),
    ("2.6", lambda n: (n / n.mean()).log().clamp(min=0), "There the count is"),
    ("2.6", log_of(lambda n: n * n.sum() / n.sum(1, keepdim=True)), "compares with the row alone"),
    ("2.6", log_of(lambda n: n / n.sum(1, keepdim=True) / n.sum(0)), "Is the total missing?"),
    ("2.6", log_of(lambda n: n / n.sum()), "each of your quotients is below 1"),
    ("2.6", lambda n: (n + 1).log(), "the logarithm of the counts"),
    ("2.6", lambda n: [math.log(x) for x in n.flatten().tolist()], "math.log takes one number"),
    ("2.7", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(q).sum(-1)).mean()), "turn their sign round"),
    ("2.7", loss(lambda p, q: -(F.logsigmoid(-p) + F.logsigmoid(-q).sum(-1)).mean()), "pushed away"),
    ("2.7", loss(lambda p, q: (F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean()), "to be made larger"),
    ("2.7", loss(lambda p, q: -F.logsigmoid(p).mean() - F.logsigmoid(-q).mean()), "average over the negatives"),
    ("2.7", loss(lambda p, q: -F.logsigmoid(p).mean() - 5 * F.logsigmoid(-q).mean()), "five times a mean"),
    ("2.7", loss(lambda p, q: -F.logsigmoid(p).mean() + F.logsigmoid(-q).sum(-1).mean()), "different signs"),
    ("2.7", lambda x, y, n: loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean())(x, y, n.flatten(0, 1).expand(len(x), -1, -1)), "the negatives of all"),
    ("2.7", lambda x, y, n: -(F.logsigmoid((x * y).sum(-1)) + F.logsigmoid(-(n @ y[:, :, None]).squeeze(-1)).sum(-1)).mean(), "compared with y"),
    ("2.7", lambda x, y, n: -(F.logsigmoid(x @ y.T) + F.logsigmoid(-(n @ x[:, :, None]).squeeze(-1)).sum(-1)).mean(), "the contexts of all examples"),
    ("2.7", lambda x, y, n: -(F.logsigmoid(x @ y.T).sum(-1) + F.logsigmoid(-(n @ x[:, :, None]).squeeze(-1)).sum(-1)).mean(), "the contexts of all examples"),
    ("2.7", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).sum()), "sum over the batch"),
    ("2.7", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1))), "one number for each example"),
    ("2.7", loss(lambda p, q: -F.logsigmoid(p).mean()), "the negatives take no part"),
    ("2.7", loss(lambda p, q: (F.softplus(p) + F.softplus(-q).sum(-1)).mean()), "both signs"),
    ("2.7", loss(lambda p, q: -(F.logsigmoid(p) - F.logsigmoid(q).sum(-1)).mean()), "Put it inside of the σ"),
    ("2.7", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q.sum(-1))).mean()), "each goes through both by itself"),
    ("2.7", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q[:, 0])).mean()), "all K count"),
    ("2.7", loss(lambda p, q: F.cross_entropy(torch.cat([p[:, None], q], 1), torch.zeros(len(p)).long())), "a softmax over the context"),
    ("2.7", loss(lambda p, q: -torch.cat([F.logsigmoid(p)[:, None], F.logsigmoid(-q)], 1).mean()), "1 + K of them"),
    ("2.7", loss(lambda p, q: -F.logsigmoid(p).mean() - F.logsigmoid(-q).sum()), "over the whole batch"),
    ("2.7", loss(lambda p, q: -(p.sigmoid().log2() + (-q).sigmoid().log2().sum(-1)).mean()), "base 2"),
    ("2.7", loss(lambda p, q: -(p.sigmoid().log10() + (-q).sigmoid().log10().sum(-1)).mean()), "base 10"),
    ("2.7", lambda x, y, n: loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean())(unit(x), unit(y), unit(n)), "these are cosines"),
    ("2.7", lambda x, y, n: loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean())(x / x.shape[1] ** 0.5, y, n), "divided by D or its root"),
    ("2.7", loss(lambda p, q: -(p - q.sum(-1)).mean()), "σ and the logarithm are missing"),
    ("2.7", lambda x, y, n: -(F.logsigmoid(x * y).sum(-1) + F.logsigmoid(-x[:, None] * n).sum((1, 2))).mean(), "x · y is one number"),
    ("2.7", loss(lambda p, q: -((p.sigmoid() + 1e-9).log() + ((-q).sigmoid() + 1e-9).log().sum(-1)).mean()), "something is added inside of the logarithm"),
    ("2.7", loss(lambda p, q: -F.logsigmoid(-q).sum(-1).mean()), "the true context takes no part"),
    ("2.7", loss(lambda p, q: -(p.sigmoid() + (-q).sigmoid().sum(-1)).mean()), "the logarithm is missing"),
    ("2.7", loss(lambda p, q: -(p.sigmoid().log() + (-q).sigmoid().log().sum(-1)).mean()), "underflows"),
    ("2.7", loss(lambda p, q: F.softplus(-p.clamp(-20, 20)).mean() + F.softplus(q.clamp(-20, 20)).sum(-1).mean()), "where products are cut off"),
    ("2.8", "0.80, itself", "which do not see a length"),
    ("2.8", "0.80, buy", "not all by the same factor"),
    ("2.8", "0.58, itself", "on both sides. And what wins"),
    ("2.8", "0.58, buy", "as the query and as a key"),
    ("2.8", "0.40, itself", "what happens to each of the three scores"),
    ("2.8", "0.40, buy", "scores the other two lower"),
    ("2.8", "0.36, itself", "Which of the three scores falls fastest"),
    ("2.8", "0.36, green", "choose one of these"),
    ("2.8", 0.36, "choose one of these"),
    ("2.9", {"statement": True, "times": 1, "percent": 41, "out": 1}, "run `percent_right` with the other lengths"),
    ("2.9", {"statement": True, "times": 1.5, "percent": 52, "out": 1}, "Compare the two largest"),
    ("2.9", {"statement": False, "times": 1, "percent": 52, "out": 1}, "a longer step finds more"),
    ("2.9", {"statement": False, "times": 0.5, "percent": 52, "out": 1}, "hardly any answer is found"),
    ("2.9", {"statement": False, "times": 2, "percent": 47, "out": 1}, "a length between them"),
    ("2.9", {"statement": False, "times": 3, "percent": 52, "out": 1}, "goes past"),
    ("2.9", {"statement": False, "times": 1.4, "percent": 52, "out": 1}, "one of the six lengths"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 41, "out": 1}, "that is the plain step"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 46.6, "out": 1}, "too long a step"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 68, "out": 1}, "the second number"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 0.52, "out": 1}, "write it as a percentage"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 60, "out": 1}, "take the first number"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 52, "out": 1.5}, "best length with nothing left out"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 52, "out": 2}, "finds fewer, not more"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 52, "out": 0.5}, "half a step finds much"),
    ("2.9", {"statement": False, "times": 1.5, "percent": 52, "out": 0}, "one of the six lengths"),
    ("2.10", "man he king crown queen she woman", "prince does not come"),
    ("2.10", TRUE + " and so they lived on", "your text has 17 words"),
    ("2.10", "man king he crown queen she prince heir princess woman", "man and king stand side by side"),
    ("2.10", "man he king crown queen she prince heir princess he woman", "from man to woman nothing changes"),
    ("2.10", "man he king crown queen she prince heir princess she woman", "from prince to princess nothing changes"),
    ("2.10", "man he king crown queen she prince heir princess woman".replace("princess", "princess x"), "from man to woman the step is he −1, x +1; from king to queen it is he −1, she +1. They"),
    ("2.10", "man he queen crown king she he prince heir princess she woman", "the same way back"),
    ("2.10", "man he king crown queen she prince heir princess he she woman", "from prince to princess it is he +1, she −1. That is the same way back"),
    ("2.10", "man he king he queen she prince she princess x she woman", "have to be equal, column by column"),
    ("2.10", "he man he king crown queen she he prince heir princess she woman she", "the length is not"),
    ("2.10", "man he king crown queen she he prince crown princess she woman", "king and prince stand beside the same words"),
    ("2.10", "a man a king a queen a woman a prince a princess a", "nothing changes"),
    ("2.10", 7, "write the text as one string"),
    ("2.10", [["man", "he"]], "write the text as one string"),
    ("2.10", "", "man does not come"),
    ("2.11", found_accuracy, "it still does what it did"),
    ("2.11", changed(length=columns), "a word is a row"),
    ("2.11", changed(out=for_all), "left out of all the others too"),
    ("2.11", changed(end=crossed), "the answers of all questions"),
    ("2.11", changed(length=columns, out=for_all), "2 mistakes are in it, one of them: a word that is an input"),
    ("2.11", changed(length=columns, end=crossed), "2 mistakes are in it, one of them: look at the shape"),
    ("2.11", changed(out=for_all, end=crossed), "2 mistakes are in it, one of them: look at the shape"),
    ("2.11", changed(length=lambda v: 1), "these are dot products"),
    ("2.11", changed(out=lambda scores, questions: scores), "not left out any more"),
    ("2.11", changed(out=fill([0])), "only a is left out"),
    ("2.11", changed(out=fill([0, 1])), "c is not left out"),
    ("2.11", changed(out=fill([1, 2])), "a is not left out"),
    ("2.11", changed(out=fill([0, 2])), "b is not left out"),
    ("2.11", changed(out=fill([0, 1, 2, 3])), "Is the answer left out as well?"),
    ("2.11", changed(out=fill([0, 1, 2], 0.0)), "What loses against any score"),
    ("2.11", changed(out=fill([0, 1, 2], -1.0)), "What loses against any score"),
    ("2.11", changed(sums=lambda v, a, b, c: v[a] + v[b] - v[c]), "a - b + c"),
    ("2.11", changed(sums=lambda v, a, b, c: v[b] - v[a] + v[c]), "a - b + c"),
    ("2.11", changed(sums=lambda v, a, b, c: v[a] + v[c]), "b is not taken away"),
    ("2.11", changed(sums=lambda v, a, b, c: unit(v)[a] - unit(v)[b] + unit(v)[c]), "you add directions"),
    ("2.11", changed(end=lambda best, answer: 100 * (best[:, 0] == answer).double().mean()), "in percent"),
    ("2.11", changed(end=lambda best, answer: (best[:, 0] == answer).sum()), "how many are right"),
    ("2.11", changed(end=lambda best, answer: (best[:, 0] != answer).double().mean()), "wrong answers"),
    ("2.11", changed(end=lambda best, answer: best[:, 0] == answer), "one number is asked"),
    ("2.11", lambda v, q: v / v.norm(dim=1), "keepdim"),
    ("2.11", distance_accuracy, "nearest by distance"),
    ("2.11", changed(length=lambda v: v.square().sum(1, keepdim=True)), "squared lengths"),
    ("2.11", changed(length=lambda v: v.norm(dim=1, keepdim=True).sqrt()), "one root too many"),
    ("2.11", changed(length=lambda v: v.norm()), "these are dot products"),
    ("2.11", changed(out=lambda scores, q: scores.scatter(1, q[:, :3], torch.inf)), "Or do those win"),
    ("2.11", changed(end=lambda best, answer: (best[:, 0] == answer).all()), "`all` instead of a mean"),
    ("2.11", changed(end=lambda best, answer: (best[:, 0] == answer).any()), "`any` tests"),
    ("2.11", changed(end=lambda best, answer: (best == answer).sum() / len(answer)), "what you add up"),
    ("2.11", changed(out=lambda scores, q: scores.index_fill(1, q[0, :3], -torch.inf)), "in a loop, and compare"),
    ("2.11", changed(length=lambda v: v.abs().sum(1, keepdim=True)), "in a loop, and compare"),
    ("2.11", changed(end=lambda best, answer: (best == answer).any(1).double().mean()), "it has to be that of its own"),
    ("2.11", changed(length=columns, sums=lambda v, a, b, c: F.normalize(v[a] - v[b] + v[c], dim=0)), "and so is a sum"),
]  # fmt: skip
