"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from attnlib import attention, causal_mask, masked_softmax, padding_mask, sliding_window_mask
from attnlib.instruments.leaks import leaks

INF = -math.inf


def loop_mask(T, S):
    return [[j <= i + S - T for j in range(S)] for i in range(T)]


def padded(lengths, T):
    return (torch.arange(T) >= T - lengths[:, None])[:, None, None, :]


def loop_both(lengths, T):
    rows = [[[[j <= i and j >= T - n for j in range(T)] for i in range(T)]] for n in lengths.tolist()]
    return torch.tensor(rows)


def safe(scores, mask):
    blind = ~mask.any(-1, keepdim=True)
    return scores.masked_fill(~mask, INF).masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0)


def by_exponentials(scores, mask, largest=None):
    largest = scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True) if largest is None else largest
    e = (scores - largest).masked_fill(~mask, INF).exp()
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total > 0, total, 1)


def zeroed_and_divided(scores, mask):
    weights = scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True).clamp(1e-9)


def raw_exponentials(scores, mask):
    e = scores.exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(1e-9)


def patched(scores, mask):
    return scores.masked_fill(~mask, INF).softmax(-1).nan_to_num(0)


def added(scores, mask):
    return (scores + torch.zeros_like(scores).masked_fill(~mask, INF)).softmax(-1).nan_to_num(0)


def filled_in_place(scores, mask):
    with torch.no_grad():
        scores[:] = scores.masked_fill(~mask, -50.0)
    return safe(scores, mask)


def repair(fill=None, dim=-1, scale=None):
    def fn(q, k, v, mask):
        scores = q @ k.T / (q.shape[-1] ** 0.5 if scale is None else scale(k))
        scores = scores.masked_fill(~mask, INF) if fill is None else fill(scores, mask)
        return scores.softmax(dim).nan_to_num(0) @ v

    return fn


def planted(q, k, v, mask, dim=0):
    scores = q @ k.T / q.shape[-1] ** 0.5
    scores = scores.masked_fill(mask, -torch.inf)
    weights = scores.softmax(dim)
    return weights @ v


def with_numpy(q, k, v, mask):
    q, k, v, mask = (t.numpy() for t in (q, k, v, mask))
    e = np.exp(q @ k.T / math.sqrt(q.shape[1])) * mask
    return e / e.sum(-1, keepdims=True) @ v


def loop_repair(q, k, v, mask):
    rows = []
    for query, seen in zip(q, mask, strict=True):
        weights = (k[seen] @ query / len(query) ** 0.5).softmax(0)
        rows.append(weights @ v[seen])
    return torch.stack(rows)


LEAKS = {"a": True, "b": False, "c": True, "d": False, "e": True, "f": False}


def leak_test(same, *, positions=None, sizes=1.0, until=0, copy=True, spread=True):
    def is_causal(fn, x):
        before = fn(x)
        for j in range(len(x)) if positions is None else positions:
            changed = x.clone() if copy else x
            changed[j] += sizes * torch.linspace(1, 2, x.shape[1]) if spread else sizes
            if not same(before[: j + until], fn(changed)[: j + until]):
                return False
        return True

    return is_causal


def one_cut(where):
    def is_causal(fn, x):
        cut, changed = where(len(x)), x.clone()
        changed[cut:] += torch.linspace(1, 2, x.shape[1])
        return torch.equal(fn(x)[:cut], fn(changed)[:cut])

    return is_causal


def random_leak_test(fn, x):
    for j in range(len(x)):
        changed = torch.cat([x[:j], torch.randn(1, x.shape[1]), x[j + 1 :]])
        if (fn(x) != fn(changed)).any(-1)[:j].any():
            return torch.tensor(False)
    return torch.tensor(True)


def zeroing_leak_test(fn, x):
    keep = 1 - torch.eye(len(x))[:, :, None]
    return all(torch.equal(fn(x)[:j], fn(x * keep[j])[:j]) for j in range(len(x)))


def future_at_once(fn, x):
    return all(torch.equal(fn(x)[:j], fn(torch.cat([x[:j], x[j:] * 2 + 1]))[:j]) for j in range(len(x)))


def changing(change, same=torch.equal):
    def is_causal(fn, x):
        for j in range(len(x)):
            changed = x.clone()
            change(changed, j)
            if not same(fn(x)[:j], fn(changed)[:j]):
                return False
        return True

    return is_causal


def double_later(x, j):
    x[j:] *= 2


def flip_later(x, j):
    x[j:] = x[j:].flip(0)


def replace_row(x, j):
    x[j] = torch.linspace(3, -3, x.shape[1])


def turned_round(x, j):
    x[j] = -x[j]


def row_before(x, j):
    x[j] = x[j - 1]


def one_column_by_random(c):
    def change(x, j):
        x[j, c] += 3 * torch.randn(())

    return change


def by_derivatives(fn, x):
    table = torch.autograd.functional.jacobian(fn, x).abs().sum((1, 3))
    return not table.triu(1).any()


def into_the_first(what, at=1):
    """Add something of a later row to the first output."""

    def leaking(x):
        return torch.cat([x[:1] + what(x[at]), x[1:]])

    return leaking


def centred_to_length_1(row):
    return (row - row.mean()) / (row - row.mean()).norm()


def in_place_leak(x):
    x[0] += x[1].sign()
    return x


class Counting:
    """Add up how often it was called, each time or every so many."""

    def __init__(self, every=1):
        self.calls, self.every = 0, every

    def __call__(self, x):
        self.calls += 1
        return x + (self.calls % self.every == 0) * self.calls


def from_next_sign(i):
    def leaking(x):
        out = x.clone()
        out[i] += x[i + 1, 0].sign()
        return out

    return leaking


def opened(*cells, near=True):
    mask = torch.eye(7).bool()
    if near:
        mask |= torch.eye(7).roll(1, 0).tril().bool()
    for i, j in cells:
        mask[i, j] = True
    return mask


def by_messengers(T):
    mask = torch.eye(T, dtype=torch.bool)

    def join(start, stop):
        middle = (start + stop) // 2
        if start < stop:
            mask[middle, start:middle] = True
            mask[middle:stop, middle] = True
            join(start, middle)
            join(middle + 1, stop)

    join(0, T)
    return mask


MIDDLE = opened((3, 0), (3, 1), (5, 3), (6, 3))
OTHER = opened((3, 0), (4, 2), (5, 1), (6, 3))


def packed(asked, total=None, answers=lambda t: t.roll(-1)):
    def loss(logits, tokens, own):
        kept = asked(own)
        each = F.cross_entropy(logits, answers(tokens), reduction="none")
        return (each * kept).sum() / (kept.sum() if total is None else total(kept))

    return loss


def sliced(logits, tokens, own):
    kept = own[1:] == own[:-1]
    return F.cross_entropy(logits[:-1][kept], tokens[1:][kept])


def ignored(logits, tokens, own):
    answers = tokens.roll(-1)
    answers[own != own.roll(-1)] = -100
    answers[-1] = -100
    return F.cross_entropy(logits, answers)


def ignored_in_place(logits, tokens, own):
    tokens[1:][own.diff() != 0] = -100
    return F.cross_entropy(logits[:-1], tokens[1:])


def loop_loss(logits, tokens, own):
    each = []
    for i in range(len(own) - 1):
        if own[i] == own[i + 1]:
            row = [math.exp(x) for x in logits[i].tolist()]
            each.append(-math.log(row[tokens[i + 1]] / sum(row)))
    return sum(each) / len(each)


def numpy_loss(logits, tokens, own):
    x, t, own = logits.double().numpy(), tokens.numpy(), own.numpy()
    logs = x - np.log(np.exp(x).sum(-1, keepdims=True))
    places = np.flatnonzero(np.diff(own) == 0)
    return -logs[places, t[places + 1]].mean()


def document_by_document(logits, tokens, own, mean=False):
    means, counts = [], []
    for n in own.unique():
        x, t = logits[own == n][:-1], tokens[own == n][1:]
        if len(t):
            means.append(F.cross_entropy(x, t))
            counts.append(1 if mean else len(t))
    return sum(m * c for m, c in zip(means, counts, strict=True)) / sum(counts)


def ends(own):
    return own == own.roll(-1)


def starts(own):
    return own == own.roll(1)


def inner(own):
    return ends(own) & (torch.arange(len(own)) < len(own) - 1)


def zero_answers(logits, tokens, own):
    return F.cross_entropy(logits, tokens.roll(-1).masked_fill(~inner(own), 0))


def zero_logits(logits, tokens, own):
    return F.cross_entropy(logits.masked_fill(~inner(own)[:, None], 0), tokens.roll(-1))


LAYERS = {"short": 5, "long": 8, "window": 10}
AROUND = {"one": 0, "two": 15, "loss": 1.44, "holds": False}
OPEN = {"causal": 55, "window": 27, "cache": 34}

RIGHT = {
    "6.1": [OPEN, *({k: kind(v) for k, v in OPEN.items()} for kind in (float, torch.tensor, Fraction))],
    "6.2": [
        causal_mask,
        loop_mask,
        lambda T, S: torch.ones(T, S).tril(S - T).bool(),
        lambda T, S: torch.tril(torch.ones(S, S, dtype=torch.bool))[-T:],
        lambda T, S: np.arange(S) <= np.arange(T)[:, None] + S - T,
    ],
    "6.3": [
        lambda n, T: padding_mask(n, T).flip(-1) & causal_mask(T),
        lambda n, T: padded(n, T) & torch.ones(T, T).tril().bool(),
        loop_both,
        lambda n, T: (np.arange(T) >= T - n.numpy()[:, None, None, None]) & np.tri(T, dtype=bool),
    ],
    "6.4": [
        safe,
        by_exponentials,
        masked_softmax,
        patched,
        lambda s, m: s.masked_fill(~m, torch.finfo(s.dtype).min).softmax(-1) * m,
    ],
    "6.5": [repair(), with_numpy, lambda q, k, v, m: safe(q @ k.mT / q.shape[1] ** 0.5, m) @ v, loop_repair],
    "6.6": [
        LEAKS,
        {k: int(v) for k, v in LEAKS.items()},
        {k: torch.tensor(v) for k, v in LEAKS.items()},
        {k: np.bool_(v) for k, v in LEAKS.items()},
    ],
    "6.7": [
        leak_test(torch.equal),
        random_leak_test,
        future_at_once,
        changing(lambda x, j: x[j:].copy_(torch.randn(x[j:].shape))),
        changing(replace_row),
        lambda fn, x: not (leaks(fn, x) & ~causal_mask(len(x))).any(),
    ],
    "6.8": [
        into_the_first(lambda row: row.sign()),
        into_the_first(lambda row: (row > 0).sum()),
        into_the_first(lambda row: row.argmax()),
        into_the_first(lambda row: row.argsort()),
        into_the_first(centred_to_length_1),
        lambda x: torch.cat([x[:1] * (1 if x[1, 0] > x[1, 1] else -1), x[1:]]),
        lambda x: torch.cat([x[:-2], x[-2:-1] + x[-1:].sign(), x[-1:]]).tolist(),
    ],
    "6.9": [MIDDLE, OTHER, MIDDLE.tolist(), MIDDLE.numpy(), by_messengers(7), list(MIDDLE)],
    "6.10": [LAYERS, *({k: kind(v) for k, v in LAYERS.items()} for kind in (float, torch.tensor, Fraction))],
    "6.12": [
        AROUND,
        {"one": 0.0, "two": 15.0, "loss": 1.55, "holds": np.bool_(False)},
        {
            "one": torch.tensor(0),
            "two": torch.tensor(15),
            "loss": np.float32(1.45),
            "holds": torch.tensor(False),
        },
        {"one": np.int64(0), "two": Fraction(15), "loss": torch.tensor(1.5), "holds": False},
    ],
    "6.11": [packed(inner), sliced, ignored, loop_loss, numpy_loss, document_by_document],
}

WRONG = [
    ("6.1", OPEN | {"causal": 100}, "every pair"),
    ("6.1", OPEN | {"causal": 45}, "the diagonal is missing"),
    ("6.1", OPEN | {"causal": 50}, "more than half"),
    ("6.1", OPEN | {"window": 30}, "fewer than three keys"),
    ("6.1", OPEN | {"window": 34}, "counts the word itself"),
    ("6.1", OPEN | {"window": 44}, "does not reach ahead"),
    ("6.1", OPEN | {"cache": 10}, "top-left"),
    ("6.1", OPEN | {"cache": 40}, "the three words after it"),
    ("6.1", OPEN | {"cache": 30}, "its own key"),
    ("6.1", OPEN | {"cache": 24}, "the six kept words alone"),
    ("6.1", OPEN | {"cache": 55}, "the whole triangle"),
    ("6.1", OPEN | {"window": 12}, "count row by row"),
    ("6.2", lambda T, S: ~causal_mask(T, S), "inverted"),
    ("6.2", lambda T, S: causal_mask(T, S, offset=0), "top-left"),
    ("6.2", lambda T, S: causal_mask(T, S, offset=S - T - 1), "no query attends to itself"),
    ("6.2", lambda T, S: causal_mask(T, S, offset=S - T + 1), "one key too many"),
    ("6.2", lambda T, S: torch.ones(T, S).triu(S - T).bool(), "upper triangle"),
    ("6.2", lambda T, S: causal_mask(T, S).mT, "upper triangle"),
    ("6.2", lambda T, S: causal_mask(T, S).mT if T < S else causal_mask(T), "rows and columns are swapped"),
    ("6.2", lambda T, S: torch.ones(T, S).bool(), "nothing is masked"),
    ("6.2", lambda T, S: causal_mask(T, S, offset=S - T + 2), "is open and should be closed"),
    ("6.2", lambda T, S: causal_mask(T, S, offset=S - T - 2), "is closed and should be open"),
    ("6.2", lambda T, S: torch.ones(T, S).tril(S - T), "a mask is boolean"),
    ("6.2", lambda T, S: torch.full((T, S), INF).triu(1), "a table to add"),
    ("6.3", lambda n, T: (padded(n, T) & causal_mask(T))[:, 0], "the axis for the heads is missing"),
    ("6.3", lambda n, T: causal_mask(T), "the lengths are not used"),
    ("6.3", lambda n, T: causal_mask(T).expand(3, 1, T, T), "the lengths are not used"),
    ("6.3", lambda n, T: padded(n, T) | causal_mask(T), "combined with |"),
    ("6.3", lambda n, T: padded(n, T).mT & causal_mask(T), "as queries (rows)"),
    ("6.3", lambda n, T: padding_mask(n, T) & causal_mask(T), "stands at the start"),
    ("6.3", lambda n, T: padded(n - 1, T) & causal_mask(T), "the first real word is hidden"),
    ("6.3", lambda n, T: ~(padded(n, T) & causal_mask(T)), "True must mean may attend"),
    ("6.3", lambda n, T: ~padded(n, T) & causal_mask(T), "the padding is inverted"),
    ("6.3", lambda n, T: padded(n, T) & ~causal_mask(T), "the causal mask is inverted"),
    ("6.3", padded, "the padding alone"),
    ("6.3", lambda n, T: padded(n, T).expand(-1, -1, T, -1), "the padding alone"),
    ("6.3", lambda n, T: padded(n + 1, T) & causal_mask(T), "one position of the padding"),
    ("6.3", lambda n, T: (padded(n, T) & causal_mask(T)) | torch.eye(T).bool(), "from itself too"),
    ("6.3", lambda n, T: (padded(n, T) | ~padded(n, T).mT) & causal_mask(T), "from itself too"),
    ("6.3", lambda n, T: padded(T - n, T) & causal_mask(T), "compare with `T - length`"),
    ("6.3", lambda n, T: padded(n + 2, T) & causal_mask(T), "is open and should be closed"),
    ("6.3", lambda n, T: padded(n, n.max()) & causal_mask(n.max()), "the longest sentence stands for T"),
    ("6.3", lambda n, T: padded(n + T - n.max(), T) & causal_mask(T), "the longest sentence stands for T"),
    ("6.4", lambda s, m: s.masked_fill(~m, INF).softmax(-1), "the fully masked row is NaN"),
    ("6.4", lambda s, m: s.masked_fill(~m, -1e9).softmax(-1), "attends uniformly"),
    ("6.4", lambda s, m: s.softmax(-1) * m, "zero after the softmax"),
    ("6.4", lambda s, m: s.softmax(-1), "the mask is not used"),
    ("6.4", lambda s, m: s.masked_fill(~m, INF).softmax(0).nan_to_num(0), "over the queries"),
    ("6.4", lambda s, m: s.masked_fill(m, INF).softmax(-1).nan_to_num(0), "inverted"),
    ("6.4", lambda s, m: (s * m).softmax(-1), "its exponential is 1"),
    ("6.4", lambda s, m: s.masked_fill(~m, 0).softmax(-1) * m, "its exponential is 1"),
    ("6.4", zeroed_and_divided, "where a hidden score is 200"),
    ("6.4", lambda s, m: s.masked_fill(~m, -50.0).softmax(-1) * m, "near -200"),
    ("6.4", lambda s, m: s.masked_fill(~m, -1000.0).softmax(-1) * m, "near -3e9"),
    ("6.4", lambda s, m: s.masked_fill(~m, -1e9).softmax(-1) * m, "near -3e9"),
    ("6.4", raw_exponentials, "overflow or vanish"),
    ("6.4", lambda s, m: raw_exponentials(s.clamp(-80, 80), m), "a clamp would make different scores alike"),
    ("6.4", lambda s, m: by_exponentials(s, m, s.max()), "not the largest of all"),
    ("6.4", added, "the gradient is NaN"),
    ("6.4", lambda s, m: safe(s.detach(), m), "no gradient can flow"),
    ("6.4", filled_in_place, "it changes `scores`"),
    ("6.4", lambda s, m: (s - 100.0 * ~m).softmax(-1) * m, "lowered by too little"),
    ("6.5", planted, "everything is NaN, as with both bugs"),
    ("6.5", lambda q, k, v, m: planted(q, k, v, ~m), "not over the queries"),
    ("6.5", lambda q, k, v, m: planted(q, k, v, m, -1), "hides what may be attended to"),
    ("6.5", repair(dim=0), "not over the queries"),
    ("6.5", repair(lambda s, m: s.masked_fill(m, INF)), "hides what may be attended to"),
    ("6.5", lambda q, k, v, m: ((q @ k.T / 3**0.5).softmax(-1) * m) @ v, "zero after the softmax"),
    (
        "6.5",
        lambda q, k, v, m: zeroed_and_divided(q @ k.T / 3**0.5, m) @ v,
        "zero after the exponential fails",
    ),
    ("6.5", repair(lambda s, m: s * m), "its exponential is 1"),
    ("6.5", repair(lambda s, m: s), "not used any more"),
    ("6.5", repair(scale=lambda k: 1.0), "the scale is gone"),
    ("6.5", lambda q, k, v, m: attention(q, k, v, causal=True), "a causal mask stands in its place"),
    (
        "6.5",
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "a causal mask stands in its place",
    ),
    ("6.5", lambda q, k, v, m: attention(q, k, v, m & causal_mask(*m.shape)), "laid over `mask`"),
    ("6.5", repair(scale=lambda k: k.shape[1]), "divide by its root"),
    ("6.5", repair(scale=lambda k: k.shape[1] ** -0.5), "you multiply by the root"),
    (
        "6.5",
        lambda q, k, v, m: repair(scale=lambda k: v.shape[1] ** 0.5)(q, k, v, m),
        "not of the width of v",
    ),
    ("6.5", repair(scale=lambda k: len(k) ** 0.5), "not of the number of keys"),
    ("6.6", {k: not v for k, v in LEAKS.items()}, "the other way round"),
    *(
        ("6.6", LEAKS | {name: not LEAKS[name]}, f"{name}: {words}")
        for name, words in zip(
            "abcdef",
            (
                "the weight of the future",
                "minus infinity",
                "the norm",
                "a window",
                "masked_fill",
                "a running sum",
            ),
            strict=True,
        )
    ),
    ("6.6", LEAKS | {"a": "yes"}, "a: the answer must hold numbers"),
    ("6.7", leak_test(torch.equal, until=1), "those from it on may change"),
    ("6.7", lambda fn, x: True, "attention without a mask is missed"),
    ("6.7", lambda fn, x: False, "does not leak, but your test says it does"),
    ("6.7", leak_test(torch.equal, positions=[5]), "third output depends on the fourth word"),
    ("6.7", one_cut(lambda T: T // 2), "only output 0 depends on a later row, row 1"),
    ("6.7", one_cut(lambda T: T - 1), "third output depends on the fourth word"),
    ("6.7", one_cut(lambda T: 3), "only output 0 depends on a later row, row 1"),
    ("6.7", leak_test(torch.equal, positions=[1, 3, 5]), "only output 1 depends on a later row, row 2"),
    (
        "6.7",
        leak_test(torch.equal, positions=[1, 2, 3, 4]),
        "a function whose first output depends only on the last word is missed",
    ),
    ("6.7", leak_test(torch.equal, positions=range(6)), "a function of 9 rows"),
    ("6.7", leak_test(torch.equal, positions=[1, 2, 5]), "third output depends on the fourth word"),
    ("6.7", leak_test(lambda a, b: torch.allclose(a, b, atol=1e-4)), "bit for bit"),
    ("6.7", leak_test(torch.allclose), "bit for bit"),
    ("6.7", leak_test(torch.equal, spread=False), "by another amount"),
    ("6.7", leak_test(torch.equal, copy=False), "change a clone"),
    ("6.7", leak_test(torch.equal, sizes=0.1), "your changes are 0.2 at most"),
    ("6.7", leak_test(torch.equal, sizes=1e-4), "your changes are 0.0002 at most"),
    ("6.7", leak_test(torch.equal, sizes=math.nan), "you put NaN or infinity into x"),
    ("6.7", leak_test(torch.equal, sizes=math.inf), "you put NaN or infinity into x"),
    ("6.7", lambda fn, x: leaks(fn, x), "return one bool"),
    ("6.7", changing(double_later), "your changes keep every sign"),
    ("6.7", changing(flip_later), "only exchange rows"),
    ("6.7", changing(replace_row, torch.allclose), "bit for bit"),
    ("6.7", lambda fn, x: not random_leak_test(fn, x), "the wrong way round"),
    ("6.7", lambda fn, x: not leak_test(torch.allclose)(fn, x), "the wrong way round"),
    ("6.7", by_derivatives, "A derivative does not see every leak"),
    ("6.7", zeroing_leak_test, "where all in x are negative, is missed"),
    ("6.7", changing(turned_round), "your changes keep every size"),
    ("6.7", changing(one_column_by_random(0)), "change all numbers of a row"),
    ("6.7", changing(one_column_by_random(-1)), "change all numbers of a row"),
    ("6.7", changing(row_before), "Put in numbers of your own"),
    ("6.7", lambda fn, x: all(torch.equal(fn(x[:j]), fn(x)[:j]) for j in range(1, 6)), "do not cut them off"),
    ("6.8", lambda x: 2 * x, "this does not leak"),
    ("6.8", lambda x: x.cumsum(0), "this does not leak"),
    ("6.8", lambda x: masked_softmax(x @ x.T, causal_mask(len(x))) @ x, "this does not leak"),
    ("6.8", into_the_first(lambda row: (row > 100).sum()), "this does not leak"),
    ("6.8", lambda x: x.flip(0), "`one_cut` finds it"),
    ("6.8", lambda x: (x @ x.T).softmax(-1) @ x, "`one_cut` finds it"),
    ("6.8", lambda x: x + x.mean(0), "`one_cut` finds it"),
    ("6.8", into_the_first(lambda row: row.sign(), at=-1), "`one_cut` finds it"),
    ("6.8", lambda x: x + torch.cat([x[1:].sign(), 0 * x[:1]]), "`one_cut` finds it"),
    (
        "6.8",
        into_the_first(lambda row: row),
        "`small_steps` finds it: 0.001 more in row 1 moves output 0, counted from 0, by 0.001",
    ),
    ("6.8", into_the_first(lambda row: row / row.norm()), "`small_steps` finds it"),
    ("6.8", into_the_first(lambda row: row.sum().exp()), "`small_steps` finds it"),
    ("6.8", into_the_first(lambda row: 1e-3 * row), "`doubled` finds it"),
    ("6.8", into_the_first(lambda row: (row * 3).round()), "`doubled` finds it"),
    (
        "6.8",
        into_the_first(lambda row: row - row.mean()),
        "`doubled` finds it: output 0 changes when the rows from 1 on",
    ),
    ("6.8", into_the_first(lambda row: row.abs().max() > 1), "finds it"),
    ("6.8", lambda x: x + torch.rand(1), "the same x gives two different outputs"),
    ("6.8", Counting(), "the same x gives two different outputs"),
    ("6.8", Counting(every=7), "the same x gives two different outputs"),
    ("6.8", from_next_sign(2), "`one_cut` finds it"),
    ("6.8", from_next_sign(1), "`one_cut` finds it"),
    ("6.8", lambda x: x.sign()[0], "the shape of x, (6, 4); yours have (4,)"),
    ("6.8", lambda x: x / 0, "NaN or infinity"),
    ("6.8", in_place_leak, "it changes `x`"),
    (
        "6.8",
        lambda x: into_the_first(lambda row: row.sign())(x) if len(x) == 6 else x,
        "right at first, but not for an x of shape (9, 3)",
    ),
    ("6.9", causal_mask(7), "the whole triangle"),
    ("6.9", MIDDLE.mT, "rows and columns are swapped"),
    ("6.9", ~MIDDLE, "inverted"),
    ("6.9", opened((3, 0), (3, 1), (5, 3), (6, 3), (2, 4)), "word 2 attends to word 4"),
    ("6.9", torch.ones(7, 7).bool(), "word 0 attends to word 1"),
    ("6.9", opened((3, 0), (3, 1), (5, 3)), "without a path in two layers: 3"),
    ("6.9", opened((3, 0), (3, 1), (5, 3), (6, 3), near=False), "between neighbours"),
    ("6.9", MIDDLE & ~torch.eye(7).bool(), "does not depend on itself"),
    ("6.9", opened(*((i, 0) for i in range(7))), "it can pass nothing on"),
    ("6.9", opened(*((6, j) for j in range(7))), "passes nothing on: no earlier"),
    ("6.9", opened(), "Word 3 does not depend on word 0"),
    ("6.9", opened((3, 0), (3, 1), (5, 3), (6, 3), (6, 0)), "can be closed at once"),
    ("6.9", opened((2, 0), (4, 2), (5, 2), (6, 2), (6, 4)), "choose another word"),
    ("6.9", sliding_window_mask(7, window=3), "with three layers it would"),
    ("6.9", sliding_window_mask(7, window=4), "can be closed at once"),
    ("6.9", MIDDLE.float(), "a mask is boolean"),
    ("6.9", MIDDLE[:6, :6], "the shape should be (7, 7)"),
    ("6.9", by_messengers, "not a function"),
    ("6.9", "MIDDLE", "must be a boolean mask (7, 7)"),
    ("6.10", LAYERS | {"short": 1}, "only as one of 32"),
    ("6.10", LAYERS | {"short": 2}, "about an eighth"),
    ("6.10", LAYERS | {"short": 4}, "less than half"),
    ("6.10", LAYERS | {"short": 6}, "but was so earlier"),
    ("6.10", LAYERS | {"short": 16}, "a word or two"),
    ("6.10", LAYERS | {"short": 0}, "multiply the table"),
    ("6.10", LAYERS | {"long": 160}, "each divides the way back"),
    ("6.10", LAYERS | {"long": 7}, "less than half"),
    ("6.10", LAYERS | {"long": 9}, "but was so earlier"),
    ("6.10", LAYERS | {"window": 5}, "begins to depend on the first word"),
    ("6.10", LAYERS | {"long": 5}, "not yet"),
    ("6.10", LAYERS | {"window": 3}, "not even depend on the first word"),
    ("6.10", LAYERS | {"window": 9}, "eight before it?"),
    ("6.10", LAYERS | {"window": 8}, "not yet"),
    ("6.10", LAYERS | {"window": 32}, "three and a half"),
    ("6.10", LAYERS | {"window": 11}, "seven before it"),
    ("6.10", LAYERS | {"window": 1000}, "it does happen"),
    ("6.12", AROUND | {"one": 105}, "right after it"),
    ("6.12", AROUND | {"one": 15}, "no position can hand the answer on"),
    ("6.12", AROUND | {"one": 241}, "that counts every pair, the past too"),
    ("6.12", AROUND | {"one": 3}, "with one layer, at how many positions"),
    ("6.12", AROUND | {"two": 0}, "the positions that it attends to"),
    ("6.12", AROUND | {"two": 16}, "the last has no letter after it"),
    ("6.12", AROUND | {"two": 120}, "that counts all later letters"),
    ("6.12", AROUND | {"two": 240}, "that counts every pair"),
    ("6.12", AROUND | {"loss": 0.08}, "without any mask"),
    ("6.12", AROUND | {"loss": 1.821}, "a causal model"),
    ("6.12", AROUND | {"loss": 2.111}, "all 600 losses"),
    ("6.12", AROUND | {"loss": 2.304}, "after 300 steps"),
    ("6.12", AROUND | {"loss": 0.18}, "with two layers"),
    ("6.12", AROUND | {"loss": 2.169}, "in bits"),
    ("6.12", AROUND | {"one": 15, "two": 0}, "the count for two layers"),
    ("6.12", AROUND | {"loss": 4.5}, "its exponential"),
    ("6.12", AROUND | {"loss": 3.3}, "hardly begun"),
    ("6.12", AROUND | {"loss": 1.2}, "the last 20 losses"),
    ("6.12", AROUND | {"holds": True}, "And in two layers?"),
    ("6.11", packed(starts, len), "all that was planted"),
    ("6.11", packed(starts), "compares with the word before"),
    ("6.11", packed(ends, len), "as a zero"),
    ("6.11", packed(inner, len), "as a zero"),
    ("6.11", packed(ends), "in a row of a single document"),
    ("6.11", lambda x, t, own: F.cross_entropy(x, t.roll(-1)), "And `roll` brings"),
    ("6.11", lambda x, t, own: F.cross_entropy(x[:-1], t[1:]), "still has the first of the next as target"),
    ("6.11", lambda x, t, own: F.cross_entropy(x, t), "not shifted"),
    ("6.11", packed(inner, answers=lambda t: t), "not shifted"),
    ("6.11", packed(inner, answers=lambda t: t.roll(1)), "the wrong way"),
    ("6.11", packed(inner, lambda kept: 1), "this is the sum"),
    ("6.11", lambda x, t, own: document_by_document(x, t, own, mean=True), "a mean of means"),
    ("6.11", zero_answers, "a word like any other"),
    ("6.11", zero_logits, "the logarithm of V"),
    (
        "6.11",
        lambda x, t, own: F.cross_entropy(x, t.roll(-1).masked_fill(~inner(own), 0), ignore_index=0),
        "every target that is word 0",
    ),
    ("6.11", lambda x, t, own: packed(inner)(x.softmax(-1), t, own), "takes the softmax itself"),
    ("6.11", lambda x, t, own: F.cross_entropy(x, t.roll(-1), reduction="none")[inner(own)], "their mean"),
    ("6.11", packed(starts, answers=lambda t: t), "not shifted"),
    ("6.11", packed(lambda own: ~ends(own)), "across a border count"),
    ("6.11", packed(lambda own: ~inner(own)), "the wrong way round"),
    (
        "6.11",
        lambda x, t, own: F.cross_entropy(x[:-1][own.diff() > 0], t[1:][own.diff() > 0]),
        "across a border count",
    ),
    ("6.11", packed(lambda own: inner(own) & (own == own[0])), "only the first document"),
    ("6.11", packed(lambda own: ends(own) & starts(own)), "the first word of each document counts too"),
    ("6.11", lambda x, t, own: -sliced(x, t, own), "the sign"),
    (
        "6.11",
        lambda x, t, own: F.cross_entropy(x, t.roll(-1), reduction="sum") / inner(own).sum(),
        "all positions",
    ),
    ("6.11", lambda x, t, own: sliced(x[:-1], t[1:], own[1:]), "is too"),
    ("6.11", ignored_in_place, "it changes `tokens`"),
]
