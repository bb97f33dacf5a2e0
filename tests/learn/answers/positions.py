"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import itertools
import math
from fractions import Fraction

import numpy as np
import torch
from torch import allclose, tensor

from attnlib import attention, causal_mask, rotary

KNOWS = {"a": False, "b": False, "c": True, "d": False, "e": True, "f": False, "g": True}


def every_order(fn, x):
    return not all(allclose(fn(x[list(p)]), fn(x)[list(p)]) for p in itertools.permutations(range(len(x))))


def random_orders(fn, x):
    for _ in range(20):
        order = torch.randperm(len(x))
        if not allclose(fn(x[order]), fn(x)[order]):
            return True
    return False


def swaps(fn, x):
    before, found = fn(x).numpy(), False
    for i in range(len(x) - 1):
        order = np.arange(len(x))
        order[[i, i + 1]] = i + 1, i
        found |= np.abs(fn(x[order]).numpy() - before[order]).max() > 1e-9
    return np.bool_(found)


def by_matrix(fn, x):
    tables = [torch.eye(len(x)).double()[torch.randperm(len(x))] for _ in range(20)]
    return max((fn(p @ x) - p @ fn(x)).abs().max() for p in tables) > 1e-8


def swap_and_cycle(fn, x):
    """Two orders from which all others come."""
    turned, moved = [1, 0, *range(2, len(x))], [*range(1, len(x)), 0]
    return any(not allclose(fn(x[order]), fn(x)[order]) for order in (turned, moved))


def own_tokens(fn, x):
    orders = [torch.randperm(len(x)) for _ in range(20)]
    other = torch.randn_like(x)
    return any(not allclose(fn(other[order]), fn(other)[order]) for order in orders)


def several_orders(*orders):
    orders = [list(order) for order in orders]
    return lambda fn, x: any(not allclose(fn(x[order]), fn(x)[order]) for order in orders)


def one_random_order(fn, x):
    order = torch.randperm(len(x))
    while min((order[1:] - order[:-1]) % len(x)) == max((order[1:] - order[:-1]) % len(x)) or order[2] == 2:
        order = torch.randperm(len(x))  # not one that another sentence is for
    return not allclose(fn(x[order]), fn(x)[order])


def one_order(order, same=allclose):
    return lambda fn, x: not same(fn(x[order]), fn(x)[order])


def unmoved(fn, x):
    order = torch.tensor([1, 0, 2, 3, 4, 5])
    return not allclose(fn(x[order]), fn(x))


def twice_moved(fn, x):
    order = torch.tensor([1, 2, 3, 4, 5, 0])
    return not allclose(fn(x[order])[order], fn(x))


def exact(fn, x):
    orders = [torch.randperm(len(x)) for _ in range(20)]
    return any(not torch.equal(fn(x[order]), fn(x)[order]) for order in orders)


def coarse(fn, x):
    orders = [torch.randperm(len(x)) for _ in range(20)]
    return any(not allclose(fn(x[order]), fn(x)[order], atol=0.05) for order in orders)


def summed(fn, x):
    orders = [torch.randperm(len(x)) for _ in range(20)]
    return any(not allclose(fn(x[order]).sum(0), fn(x).sum(0)) for order in orders)


def shift(k, theta):
    c, s = math.cos(k * theta), math.sin(k * theta)
    return [[c, s], [-s, c]]


def shift_by_numpy(k, theta):
    return np.array(
        [[np.cos(k * theta), np.sin(k * theta)], [np.cos(k * theta + np.pi / 2), np.cos(k * theta)]]
    )


def shift_by_powers(k, theta):
    one = tensor(shift(1, theta), dtype=torch.float64)
    return torch.linalg.matrix_power(one, k)


def shift_by_solving(k, theta):
    def clock(m):
        return tensor([[math.sin(m * theta)], [math.cos(m * theta)]], dtype=torch.float64)

    two = torch.cat([clock(0), clock(1)], 1)
    return torch.cat([clock(k), clock(k + 1)], 1) @ two.inverse()


def turn(x, m, theta):
    a = m * theta
    c, s = a.cos(), a.sin()
    return torch.stack([x[:, 0] * c - x[:, 1] * s, x[:, 0] * s + x[:, 1] * c], dim=1)


def turn_by_complex(x, m, theta):
    return torch.view_as_real(torch.view_as_complex(x) * torch.polar(torch.ones(len(m)), m * theta))


def turn_by_loop(x, m, theta):
    rows = []
    for (a, b), n in zip(x.tolist(), m.tolist(), strict=True):
        c, s = math.cos(n * theta), math.sin(n * theta)
        rows.append([a * c - b * s, a * s + b * c])
    return rows


def turn_by_matrices(x, m, theta):
    a = (m * theta).numpy()
    tables = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return np.einsum("ijt,tj->ti", tables, x.numpy())


def turn_in_place(x, m, theta):
    first = x[:, 0].clone()
    a = m * theta
    x[:, 0] = first * a.cos() - x[:, 1] * a.sin()
    x[:, 1] = first * a.sin() + x[:, 1] * a.cos()
    return x


def overwritten(x, m, theta):
    out, a = x.clone(), m * theta
    out[:, 0] = out[:, 0] * a.cos() - out[:, 1] * a.sin()
    out[:, 1] = out[:, 0] * a.sin() + out[:, 1] * a.cos()
    return out


def plus(x, m, theta):
    c, s = (m * theta).cos(), (m * theta).sin()
    return torch.stack([x[:, 0] * c + x[:, 1] * s, x[:, 0] * s + x[:, 1] * c], 1)


def step(at=len, key=len, again=False, values=False):
    """The step with the new query at ``at(keys)`` and the new key at ``key(keys)``."""

    def fn(q, k, v, keys, kept):
        q, k = rotary(q, tensor([at(keys)])), rotary(k, tensor([key(keys)]))
        v = rotary(v, tensor([len(keys)])) if values else v
        keys = rotary(keys) if again else keys
        return attention(q, torch.cat([keys, k]), torch.cat([kept, v]))

    return fn


def planted(q, k, v, keys, values):
    q, k, v = rotary(q), rotary(k), rotary(v)
    keys = torch.cat([rotary(keys), k])
    values = torch.cat([values, v])
    return attention(q, keys, values)


def all_rows(q, k, v, keys, values):
    """Put the new word into a row of its place, and turn the whole."""
    S = len(keys)
    q, k = (rotary(torch.cat([torch.zeros_like(keys), x]))[S:] for x in (q, k))
    return attention(q, torch.cat([keys, k]), torch.cat([values, v]))


def by_softmax(q, k, v, keys, values):
    at = torch.full((1,), keys.shape[0])
    keys, values = torch.vstack([keys, rotary(k, at)]), torch.vstack([values, v])
    scores = (keys @ rotary(q, at)[0]) / q.shape[1] ** 0.5
    return (scores.softmax(0)[:, None] * values).sum(0)


def turned_back(q, k, v, keys, values):
    """Bring the kept keys back to position 0, and turn everything anew."""
    S = len(keys)
    keys = torch.cat([rotary(keys, -torch.arange(S)), k])
    return attention(rotary(q, tensor([S])), rotary(keys), torch.cat([values, v]))


def value_first(q, k, v, keys, values):
    at = tensor([len(keys)])
    return attention(rotary(q, at), torch.cat([keys, rotary(k, at)]), torch.cat([v, values]))


def from_the_corner(q, k, v, keys, values):
    at = tensor([len(keys)])
    keys, values = torch.cat([keys, rotary(k, at)]), torch.cat([values, v])
    return attention(rotary(q, at), keys, values, causal_mask(1, len(keys), offset=0))


def zero(keys):
    return 0


def base(context, d):
    return (context / (2 * math.pi)) ** (d / (d - 2))


def base_by_search(context, d):
    low, high = 1.0, 1e12
    for _ in range(200):
        middle = math.sqrt(low * high)
        if context * middle ** (-(d - 2) / d) > 2 * math.pi:
            low = middle
        else:
            high = middle
    return low


CLOCK = {"angle": 3, "turn": 628.3, "slowest": 47117}
SLOPES = {"slope": 0.125, "distance": 37, "sixteen": 2**-1.5}
FADE = {"twin": 8.02, "far": 2.24, "spread": 0.99, "holds": False}

RIGHT = {
    "8.1": [
        KNOWS,
        {name: int(value) for name, value in KNOWS.items()},
        {name: np.bool_(value) for name, value in KNOWS.items()},
        {name: tensor(value) for name, value in KNOWS.items()},
    ],
    "8.2": [every_order, random_orders, swaps, by_matrix, swap_and_cycle, own_tokens],
    "8.3": [
        CLOCK,
        {"angle": 3.0, "turn": 200 * math.pi, "slowest": 2 * math.pi * 10000 ** (62 / 64)},
        {"angle": tensor(3), "turn": np.float32(628), "slowest": 47000},
        {"angle": Fraction(3), "turn": 630, "slowest": tensor(47117.2)},
    ],
    "8.4": [shift, shift_by_numpy, shift_by_powers, shift_by_solving],
    "8.5": [
        SLOPES,
        {"slope": Fraction(1, 8), "distance": 37.0, "sixteen": 0.354},
        {"slope": tensor(0.125), "distance": tensor(37), "sixteen": 1 / math.sqrt(8)},
        {"slope": 2**-3, "distance": np.int64(37), "sixteen": np.float64(0.3536)},
    ],
    "8.6": [
        [1, -2, 7, 7],
        [[1, -2], 7, 7],
        (1.0, -2.0, 7.0, 7.0),
        tensor([1, -2, 7, 7]),
        np.array([1, -2, 7, 7]),
    ],
    "8.7": [turn, turn_by_complex, turn_by_loop, turn_by_matrices],
    "8.8": [
        lambda d: [*range(0, d, 2), *range(1, d, 2)],
        lambda d: torch.arange(d).view(-1, 2).T.flatten(),
        lambda d: np.arange(d).reshape(d // 2, 2).T.ravel(),
        lambda d: sorted(range(d), key=lambda i: (i % 2, i)),
    ],
    "8.9": [step(), all_rows, by_softmax, turned_back],
    "8.10": [
        FADE,
        {"twin": tensor(7.97), "far": tensor(2.18), "spread": tensor(1.01), "holds": tensor(False)},
        {"twin": np.float32(8), "far": 2.2, "spread": 1, "holds": 0},
        {"twin": Fraction(8), "far": 2.3, "spread": Fraction(1), "holds": np.bool_(False)},
    ],
    "8.11": [
        base,
        base_by_search,
        lambda context, d: round(base(context, d)),
        lambda context, d: math.exp(math.log(context / math.tau) * d / (d - 2)),
        lambda context, d: tensor(context / math.tau, dtype=torch.float64) ** (1 / (1 - 2 / d)),
    ],
}

WRONG = [
    ("8.1", {name: not value for name, value in KNOWS.items()}, "the other way round"),
    *(
        ("8.1", KNOWS | {name: not KNOWS[name]}, f"{name}: {words}")
        for name, words in zip(
            "abcdefg",
            (
                "the query of the last token",
                "the last token may attend to all",
                "the first layer gives other outputs",
                "an average of equal values",
                "each token attends to the first one",
                "to both sides",
                "one of the two is turned forwards",
            ),
            strict=True,
        )
    ),
    ("8.2", unmoved, "compare with the old outputs in the new order"),
    ("8.2", twice_moved, "compare with the old outputs in the new order"),
    ("8.2", exact, "rounds differently"),
    ("8.2", coarse, "is missed"),
    ("8.2", one_order([5, 4, 3, 2, 1, 0]), "Turned round as a whole"),
    ("8.2", one_order([1, 2, 3, 4, 5, 0]), "Moved round as a whole"),
    ("8.2", one_order([1, 0, 2, 3, 4, 5]), "may be the ones that matter"),
    ("8.2", summed, "row by row, not their sum"),
    ("8.2", one_order([5, 0, 4, 1, 3, 2]), "one order only, [5, 0, 4, 1, 3, 2]"),
    ("8.2", one_order([3, 5, 1, 0, 2, 4]), "one order only"),
    ("8.2", one_random_order, "one order only"),
    ("8.2", several_orders([5, 4, 3, 2, 1, 0], [1, 2, 3, 4, 5, 0]), "distances round a ring"),
    ("8.2", several_orders([1, 0, 3, 2, 5, 4], [2, 3, 4, 5, 0, 1]), "your test tries 2 orders"),
    ("8.2", several_orders([1, 2, 0, 3, 4, 5], [0, 1, 2, 4, 5, 3], [1, 0, 2, 4, 3, 5]), "is missed"),
    ("8.2", lambda fn, x: False, "says False of every function"),
    ("8.2", lambda fn, x: True, "says True of every function"),
    ("8.2", lambda fn, x: not every_order(fn, x), "the other way round"),
    ("8.2", lambda fn, x: not one_order([5, 4, 3, 2, 1, 0])(fn, x), "the other way round"),
    ("8.2", lambda fn, x: not one_order([1, 0, 2, 3, 4, 5])(fn, x), "the other way round"),
    ("8.2", lambda fn, x: not exact(fn, x), "the other way round"),
    ("8.2", lambda fn, x: not unmoved(fn, x), "the other way round"),
    ("8.2", one_order([1, 0, 2, 3, 4, 5], lambda a, b: allclose(a, b, atol=1)), "is missed"),
    ("8.2", lambda fn, x: (fn(x.flip(0)) - fn(x).flip(0)).abs() > 1e-9, "return one bool"),
    ("8.2", one_order([5, 0, 4, 1, 3, 2], lambda a, b: allclose(a, b, atol=0.01)), "tolerance is too wide"),
    ("8.3", CLOCK | {"angle": 30}, "that is hand 0"),
    ("8.3", CLOCK | {"angle": 0.3}, "that is hand 2"),
    ("8.3", CLOCK | {"angle": math.degrees(3)}, "in degrees"),
    ("8.3", CLOCK | {"angle": 300}, "slower than hand 0"),
    ("8.3", CLOCK | {"angle": 30 * 10000 ** (-1 / 8)}, "with the 2"),
    ("8.3", CLOCK | {"angle": 1}, "the position times the frequency"),
    ("8.3", CLOCK | {"angle": 0.1}, "multiply by the position"),
    ("8.3", CLOCK | {"angle": 2.9}, "counted from 0"),
    ("8.3", CLOCK | {"angle": math.sin(3)}, "its sine or cosine"),
    ("8.3", CLOCK | {"turn": 0.01}, "that is its frequency"),
    ("8.3", CLOCK | {"turn": 0.01 / math.tau}, "how many positions make a turn"),
    ("8.3", CLOCK | {"turn": 20 * math.pi}, "that is hand 1"),
    ("8.3", CLOCK | {"turn": 2000 * math.pi}, "that is hand 3"),
    ("8.3", CLOCK | {"turn": 100}, "one radian"),
    ("8.3", CLOCK | {"turn": 36000}, "not 360"),
    ("8.3", CLOCK | {"slowest": 20000 * math.pi}, "never quite reaches"),
    ("8.3", CLOCK | {"slowest": 10000 ** (62 / 64)}, "that is one radian"),
    ("8.3", CLOCK | {"slowest": 2 * math.pi * 10000 ** (31 / 64)}, "with the 2"),
    ("8.3", CLOCK | {"slowest": 6283}, "that is for d = 8"),
    ("8.3", CLOCK | {"slowest": 12}, "which pair is the last"),
    ("8.4", lambda k, t: np.transpose(shift(k, t)), "the matrix for (cos, sin) in this order"),
    ("8.4", lambda k, t: shift(-k, t), "k positions back"),
    ("8.4", lambda k, t: shift(k, 1), "the frequency of the hand is missing"),
    ("8.4", lambda k, t: shift(1, t), "k is not used"),
    ("8.4", lambda k, t: shift(math.radians(k), t), "in radians already"),
    ("8.4", lambda k, t: torch.eye(2), "does not move the clock"),
    ("8.4", lambda k, t: [[math.cos(k * t), math.sin(k * t)]] * 2, "is too"),
    (
        "8.4",
        lambda k, t: [[math.cos(k * t), math.sin(k * t)], [math.sin(k * t), math.cos(k * t)]],
        "has a minus",
    ),
    ("8.4", lambda k, t: shift(k, t)[::-1], "the rows are swapped"),
    ("8.4", lambda k, t: np.ravel(shift(k, t)), "put them into two rows"),
    ("8.4", lambda k, t: k * tensor(shift(1, t)), "the angle is k times theta"),
    ("8.4", lambda k, t: tensor(shift(1, t)) ** k, "the power of each number"),
    ("8.4", lambda k, t: shift(k, math.tau * t), "leave out the 2 pi"),
    ("8.4", lambda k, t: shift(1, k + t), "you add k and theta"),
    ("8.4", lambda k, t: [row[::-1] for row in shift(k, t)], "the columns are swapped"),
    ("8.4", lambda k, t: [math.sin(k * t), math.cos(k * t)], "the clock at position k"),
    ("8.5", SLOPES | {"slope": -0.125}, "itself is positive"),
    ("8.5", SLOPES | {"slope": 2**-4}, "so head 3 is h = 3"),
    ("8.5", SLOPES | {"slope": 0.25}, "the first head has h = 1"),
    ("8.5", SLOPES | {"slope": 3 / 8}, "is a power"),
    ("8.5", SLOPES | {"distance": 36.84}, "the first whole distance"),
    ("8.5", SLOPES | {"distance": 36}, "a little more than a hundredth"),
    ("8.5", SLOPES | {"distance": 16}, "natural logarithm"),
    ("8.5", SLOPES | {"distance": 54}, "powers of e"),
    ("8.5", SLOPES | {"distance": 792}, "by its exponential"),
    ("8.5", SLOPES | {"distance": 4.605}, "divide by the slope"),
    ("8.5", SLOPES | {"sixteen": 0.125}, "closer together"),
    ("8.5", SLOPES | {"sixteen": 2**-6}, "smaller, not larger"),
    ("8.5", SLOPES | {"slope": -3}, "that is the exponent"),
    ("8.5", SLOPES | {"distance": 38}, "one position before already"),
    ("8.5", SLOPES | {"distance": 8}, "does not fall in a line"),
    ("8.5", SLOPES | {"distance": 19}, "that is a tenth"),
    ("8.5", SLOPES | {"sixteen": 3 / 16}, "is a power"),
    ("8.6", [-1, 2, -7, -7], "you turn the wrong way"),
    ("8.6", [2, 1, 6, 6], "nothing is turned yet"),
    ("8.6", [-1, -2, 7, 7], "turn the page"),
    ("8.6", [-2, -1, 7, 7], "turned three times by 90"),
    ("8.6", [1, 2, 7, 7], "mind the sign"),
    ("8.6", [1, -2, 6, 6], "the arrows as they are"),
    ("8.6", [1, -2, -7, -7], "the wrong way"),
    ("8.6", [1, -2, -6, -6], "a distance of two positions"),
    ("8.6", [[1, -2], 6, 6], "the arrows as they are"),
    ("8.6", [1, -2, 7 / 2**0.5, 7], "nothing is divided"),
    ("8.6", [1, -2, 7, 707], "cannot grow with the position"),
    ("8.6", [1, -2, -9, 7], "both of its numbers change sign"),
    ("8.6", [1, -2, 7, -7], "what is the distance"),
    ("8.6", [1, -2, 7], "one number each is asked"),
    ("8.7", lambda x, m, t: turn(x, -m, t), "wrong way"),
    ("8.7", lambda x, m, t: turn(x, torch.arange(len(x)), t), "their positions are in `m`"),
    ("8.7", lambda x, m, t: turn(x, torch.ones(len(x)), t), "every row is turned by theta"),
    ("8.7", lambda x, m, t: turn(x, m, 1.0), "theta is not used"),
    ("8.7", lambda x, m, t: turn(x, m + 1, t), "count at 1"),
    ("8.7", lambda x, m, t: turn(x, m, math.radians(t)), "in radians already"),
    ("8.7", overwritten, "keep the old one"),
    ("8.7", lambda x, m, t: x * torch.stack([(m * t).cos(), (m * t).sin()], 1), "only shrinks them"),
    ("8.7", lambda x, m, t: turn(x, m, t).flip(1), "the two new features are swapped"),
    ("8.7", plus, "the minus is missing"),
    ("8.7", lambda x, m, t: turn(x, math.pi / 2 / t - m, t), "sine and cosine are swapped"),
    ("8.7", lambda x, m, t: x + torch.stack([(m * t).cos(), (m * t).sin()], 1), "adds the clock"),
    ("8.7", lambda x, m, t: x, "nothing is turned"),
    ("8.7", lambda x, m, t: turn(x, m, t).T, "as rows"),
    ("8.7", lambda x, m, t: turn(x, m, t).T.reshape(-1, 2), "mixes the tokens"),
    ("8.7", lambda x, m, t: turn(x, m[:1], t), "by the angle of the first"),
    ("8.7", lambda x, m, t: turn(x, m, math.tau * t), "leave out the 2 pi"),
    ("8.7", lambda x, m, t: turn(x, m + t, 1.0), "you add m and theta"),
    ("8.7", turn_in_place, "it changes `x`"),
    ("8.8", list, "it stopped"),
    ("8.8", lambda d: list(range(d)), "nothing is moved"),
    ("8.8", lambda d: torch.arange(d).view(2, -1).T.flatten(), "the way back"),
    ("8.8", lambda d: [*range(1, d, 2), *range(0, d, 2)], "turn the other way"),
    ("8.8", lambda d: [*range(0, d, 2), *range(1, d, 2)][::-1], "the order is reversed"),
    ("8.8", lambda d: [*range(0, d, 2), *range(1, d, 2)[::-1]], "runs backwards"),
    ("8.8", lambda d: [*range(d // 2, d), *range(d // 2)], "the halves are swapped"),
    ("8.8", lambda d: torch.arange(d).flip(0), "reversing leaves"),
    ("8.8", lambda d: [i + 1 if i % 2 == 0 else i - 1 for i in range(d)], "leaves them neighbours"),
    ("8.8", lambda d: [*range(d - 2, -1, -2), *range(d - 1, 0, -2)], "the slowest comes first"),
    ("8.8", lambda d: [range(0, d, 2), range(1, d, 2)], "the two halves"),
    ("8.8", lambda d: range(0, d, 2), "half of the features"),
    ("8.8", lambda d: [2 * i % d for i in range(d)], "the odd ones are missing"),
    ("8.8", lambda d: [*range(1, d + 1, 2), *range(2, d + 1, 2)], "counted from 0"),
    ("8.8", lambda d: torch.eye(d)[[*range(0, d, 2), *range(1, d, 2)]], "as a matrix"),
    ("8.8", lambda d: [(i, i + 1) for i in range(0, d, 2)], "these are the pairs"),
    ("8.8", lambda d: [0, 2, 4, 6, 1, 3, 5, 7], "right at first"),
    ("8.9", planted, "more than one thing is wrong. One is this: the new token is put at position 0"),
    ("8.9", step(zero, zero), "the new token is put at position 0"),
    ("8.9", step(zero), "the query is put at position 0"),
    ("8.9", step(key=zero), "its own key is put at position 0"),
    (
        "8.9",
        step(lambda keys: len(keys) - 1, lambda keys: len(keys) - 1),
        "at the position of the last cached one",
    ),
    ("8.9", step(lambda keys: len(keys) + 1, lambda keys: len(keys) + 1), "one position too far"),
    ("8.9", step(lambda keys: len(keys) + 1), "the query is put one position too far"),
    ("8.9", step(key=lambda keys: len(keys) - 1), "the key is put one position too early"),
    ("8.9", step(lambda keys: keys.shape[1], lambda keys: keys.shape[1]), "position D, the width"),
    ("8.9", lambda q, k, v, a, b: step()(q * q.shape[-1] ** 0.5, k, v, a, b), "not divided by the root"),
    ("8.9", step(again=True), "you turn them once more"),
    ("8.9", step(values=True), "the value is turned too"),
    ("8.9", step(again=True, values=True), "more than one thing is wrong"),
    (
        "8.9",
        lambda q, k, v, a, b: attention(q, torch.cat([a, k]), torch.cat([b, v])),
        "as if not turned",
    ),
    (
        "8.9",
        lambda q, k, v, a, b: attention(rotary(q, tensor([len(a)])), a, b),
        "the new key and value are missing",
    ),
    (
        "8.9",
        lambda q, k, v, a, b: step()(q, k, v, a, b.mul_(1.5)) * 0 + step()(q, k, v, a, b / 1.5),
        "it changes `b`",
    ),
    ("8.9", value_first, "its value first"),
    ("8.9", from_the_corner, "begins in the corner"),
    ("8.10", FADE | {"twin": 64}, "not divided by √d"),
    ("8.10", FADE | {"twin": 1}, "not by 64"),
    ("8.10", FADE | {"twin": 0.01}, "unrelated pairs"),
    ("8.10", FADE | {"twin": 5}, "the score with themselves"),
    ("8.10", FADE | {"far": 8}, "as at distance 0"),
    ("8.10", FADE | {"far": 17.7}, "not divided by √d"),
    ("8.10", FADE | {"far": -0.02}, "unrelated pairs"),
    ("8.10", FADE | {"spread": 0.02}, "is that the mean"),
    ("8.10", FADE | {"spread": 7.9}, "not divided by √d"),
    ("8.10", FADE | {"far": -2.2}, "has a minus come in"),
    ("8.10", FADE | {"far": 4.5}, "at distance 100"),
    ("8.10", FADE | {"spread": 0.125}, "not by 64"),
    ("8.10", FADE | {"spread": 0.28, "holds": True}, "shrunk as a twin's score is"),
    ("8.10", FADE | {"spread": 0.176}, "not by 64"),
    ("8.10", FADE | {"spread": 1.4}, "Draw keys of their own"),
    ("8.10", FADE | {"spread": 2.2}, "a key like its query"),
    ("8.10", FADE | {"holds": True}, "that has nothing to do with it"),
    ("8.11", lambda context, d: context / (2 * math.pi), "not that slow"),
    ("8.11", lambda context, d: context ** (d / (d - 2)), "one radian in the context"),
    ("8.11", lambda context, d: context, "2 pi radians"),
    ("8.11", lambda context, d: (context / math.tau) ** ((d - 2) / d), "upside down"),
    ("8.11", lambda context, d: (context / math.pi) ** (d / (d - 2)), "half a turn"),
    ("8.11", lambda context, d: (context * math.tau) ** (d / (d - 2)), "you multiply by 2 pi"),
    ("8.11", lambda context, d: (context / math.tau) ** (2 * d / (d - 2)), "with the 2"),
    ("8.11", lambda context, d: base(context, d) ** -1, "a minus too many"),
    ("8.11", lambda context, d: (context / 360) ** (d / (d - 2)), "not 360"),
    ("8.11", lambda context, d: (context / 2 * math.pi) ** (d / (d - 2)), "into brackets"),
    ("8.11", lambda context, d: math.tau / context, "the frequency of the slowest hand"),
    ("8.11", lambda context, d: 10000 * base(context, d), "a multiple of 10,000"),
    ("8.11", lambda context, d: base(context - 1, d), "not one fewer"),
    ("8.11", lambda context, d: (context / math.tau) ** (d / 2), "is not d/2"),
    ("8.11", lambda context, d: 10000, "is too small" if base(4096, 64) > 10000 else "is too large"),
    ("8.11", lambda context, d: base(context, 64), "for 131072 positions"),
    ("8.11", lambda context, d: (context / math.tau) ** (64 / 62), "`d` is not used"),
]
