"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import itertools
import math
from fractions import Fraction

import numpy as np
import torch
from torch import allclose, tensor

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


SLOPES = {"slope": 0.125, "distance": 37, "sixteen": 2**-1.5}
FADE = {"twin": 8.02, "far": 2.24, "spread": 0.99, "holds": False}


def position(clock, base, *, whole=torch.round, angles=None, start=None, last=0):
    if angles is None:
        angles = torch.atan2(clock[::2], clock[1::2]) % (2 * math.pi)
    found = ((angles[-1] + 0.5) % math.tau - 0.5) * base ** (1 - 2 / len(clock)) if start is None else start
    for i in range(len(clock) // 2 - 2, last - 1, -1):
        theta = base ** (-2 * i / len(clock))
        turns = whole((found * theta - angles[i]) / (2 * math.pi))
        found = (angles[i] + 2 * math.pi * turns) / theta
    return found


def turned_so_far(clock, base, whole=torch.floor):
    """Counts the turns of each hand without what it shows."""
    angles = torch.atan2(clock[::2], clock[1::2]) % (2 * math.pi)
    found = ((angles[-1] + 0.5) % math.tau - 0.5) * base ** (1 - 2 / len(clock))
    for i in range(len(clock) // 2 - 2, -1, -1):
        theta = base ** (-2 * i / len(clock))
        found = (angles[i] + 2 * math.pi * whole(found * theta / (2 * math.pi))) / theta
    return found


def position_by_brute_force(clock, base, *, limit=0.8, step=1.0):
    """Tries every turn of the fastest hand, up to so many turns of the slowest."""
    speeds = base ** (-torch.arange(0, len(clock), 2).double() / len(clock))
    m = torch.atan2(clock[0], clock[1]) + math.tau * torch.arange(-1, limit / speeds[-1] + 2).double()
    angles = m[m > -0.01, None] * speeds
    score = angles.sin() @ clock[::2] + angles.cos() @ clock[1::2]
    return m[m > -0.01][score.argmax()]


def signed_position(clock, base):
    angles = torch.atan2(clock[::2], clock[1::2])
    theta = base ** (-torch.arange(0, len(clock), 2) / len(clock))
    found = angles[-1] / theta[-1]
    for i in range(len(angles) - 2, -1, -1):
        turns = ((found * theta[i] - angles[i]) / math.tau).round()
        found = (angles[i] + math.tau * turns) / theta[i]
    return found


def from_the_fastest(clock, base):
    found = 0.0
    for i in range(0, len(clock), 2):
        theta, angle = base ** (-i / len(clock)), math.atan2(clock[i], clock[i + 1]) % math.tau
        found = (angle + math.tau * max(0, round((found * theta - angle) / math.tau))) / theta
    return found


def position_plainly(clock, base):
    clock, found = clock.tolist(), 0.0
    for i in reversed(range(0, len(clock), 2)):
        theta, angle = base ** (-i / len(clock)), math.atan2(clock[i], clock[i + 1])
        if i == len(clock) - 2:
            found = (angle + 2 * math.pi if angle < -0.1 else angle) / theta
        found = (angle + 2 * math.pi * round((found * theta - angle) / (2 * math.pi))) / theta
    return found


def position_by_complex(clock, base):
    d = len(clock)
    hands, m = torch.complex(clock[1::2], clock[::2]), 0.0
    for i in range(d // 2 - 1, -1, -1):
        theta = base ** (-2 * i / d)
        off = (
            (hands[i] * torch.exp(torch.tensor(-1j * m * theta))).angle().item()
        )  # what the hand still has to turn
        m = m + (off % math.tau if i == d // 2 - 1 and off < -0.1 else off) / theta
    return max(m, 0.0)


def position_by_search(clock, base):
    speeds = base ** (-torch.arange(0, len(clock), 2).double() / len(clock))
    where = torch.arange(0, 5 / speeds[-1], 0.25).double()
    for step in (0.25, 0.02, 0.002):
        angles = where[:, None] * speeds
        clocks = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
        best = where[(clocks @ clock).argmax()]
        where = best + torch.linspace(-step, step, 41).double()
    return best.clamp(min=0)


def whole_positions(clock, base):
    angles = torch.arange(2000).double()[:, None] * base ** (
        -torch.arange(0, len(clock), 2).double() / len(clock)
    )
    return (angles.sin() @ clock[::2] + angles.cos() @ clock[1::2]).argmax()


def looking_back(k, d, base):
    W = torch.zeros(d, d)
    for i in range(d // 2):
        a = k * base ** (-2 * i / d)
        W[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = tensor(
            [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]
        )
    return W


def looking_back_by_blocks(k, d, base):
    angles = k * base ** (-torch.arange(0, d, 2) / d)
    return torch.block_diag(*[tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles])


def looking_back_numpy(k, d, base):
    W = np.zeros((d, d))
    for n in range(0, d, 2):
        a = k * base ** (-n / d)
        W[n : n + 2, n : n + 2] = np.cos(a) * np.eye(2) + np.sin(a) * np.array([[0, 1], [-1, 0]])
    return W.tolist()


def whose(box):
    try:
        box(torch.zeros(65, 8))
    except IndexError:
        return "table"
    empty, equal = box(torch.zeros(9, 8)), box(torch.ones(9, 8))
    if empty.abs().max() > 1e-9:
        return "ALiBi" if allclose(empty[1:, 1:], empty[:-1, :-1]) else "sinusoids"
    return "none" if allclose(equal, equal[0, 0]) else "RoPE"


def whose_by_order(box):
    """Puts random tokens into another order, and looks at symmetry."""
    x, order = torch.randn(20, 8), torch.randperm(20)
    if allclose(box(x[order]), box(x)[order][:, order]):
        return "None"
    empty = box(0 * x)
    if not empty.any():
        return "rope"
    if allclose(empty, empty.T) and not empty.diagonal().any():
        return "alibi"
    try:
        box(torch.zeros(100, 8))
    except Exception:
        return " Table "
    return "sinusoids"


def whose_by_differences(box):
    def scores(*rows):
        return box(tensor(rows, dtype=torch.float64))

    one, other = [1.0] * 8, [0.5, -1.0, 2.0, 0.0, 1.0, 1.0, -2.0, 0.3]
    try:
        scores(*[one] * 70)
    except IndexError:
        return "table"
    empty = scores(*[[0.0] * 8] * 12)
    if empty.abs().sum() == 0:
        a, b = scores(one, other), scores(other, one)
        return "none" if abs(a[0, 1] - b[1, 0]) < 1e-9 else "RoPE"
    return "ALiBi" if abs(empty[2, 3] - empty[7, 8]) < 1e-9 else "sinusoids"


def whose_by_slope(box):
    names = {}
    try:
        empty = box(torch.zeros(65, 8)).numpy()
    except IndexError:
        return "table"
    names["ALiBi"] = np.allclose(np.diff(empty[0], 2), 0) and empty[0, 1] < 0
    names["RoPE"] = not empty.any() and float(box(torch.ones(30, 8)).std()) > 1e-9
    names["none"] = not empty.any() and not names["RoPE"]
    return next((name for name, it_is in names.items() if it_is), "sinusoids")


def renamed(old, new):
    return lambda box: new if whose(box) == old else whose(box)


def whose_without_the_end(box):
    empty, equal = box(torch.zeros(9, 8)), box(torch.ones(9, 8))
    if empty.abs().max() > 1e-9:
        return "ALiBi" if allclose(empty[1:, 1:], empty[:-1, :-1]) else "sinusoids"
    return "none" if allclose(equal, equal[0, 0]) else "RoPE"


def whose_too_coarse(box):
    name = whose(box)
    return "none" if name == "ALiBi" and box(torch.zeros(2, 8)).abs().max() < 0.01 else name


def whose_unprepared(box):
    box(torch.zeros(65, 8))
    return whose_without_the_end(box)


RIGHT = {
    "8.1": [
        KNOWS,
        {name: int(value) for name, value in KNOWS.items()},
        {name: np.bool_(value) for name, value in KNOWS.items()},
        {name: tensor(value) for name, value in KNOWS.items()},
    ],
    "8.2": [every_order, random_orders, swaps, by_matrix, swap_and_cycle, own_tokens],
    "8.3": [
        position,
        position_plainly,
        position_by_complex,
        position_by_search,
        position_by_brute_force,
    ],
    "8.4": [
        looking_back,
        looking_back_by_blocks,
        looking_back_numpy,
        lambda k, d, base: torch.block_diag(*[tensor(shift(k, base ** (-n / d))) for n in range(0, d, 2)]),
    ],
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
    "8.9": [
        whose,
        whose_by_order,
        whose_by_differences,
        whose_by_slope,
    ],
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
    (
        "8.3",
        lambda c, b: torch.atan2(c[-2], c[-1]) % math.tau * b ** ((len(c) - 2) / len(c)),
        "the slowest hand says alone",
    ),
    ("8.3", lambda c, b: torch.atan2(c[0], c[1]) % math.tau, "what the fastest hand shows"),
    ("8.3", lambda c, b: torch.atan2(c[0], c[1]), "what the fastest hand shows"),
    ("8.3", lambda c, b: position(c, b).round(), "it lies between two"),
    ("8.3", lambda c, b: int(position(c, b)), "it lies between two"),
    ("8.3", lambda c, b: position(c, b, whole=torch.floor), "Take the nearest"),
    ("8.3", whole_positions, "your answer is a whole position"),
    ("8.3", turned_so_far, "without what the hand shows"),
    ("8.3", lambda c, b: turned_so_far(c, b, torch.round), "without what the hand shows"),
    ("8.3", lambda c, b: position(c, b, last=1), "the fastest hand is not read"),
    (
        "8.3",
        lambda c, b: position(
            c, b, start=torch.atan2(c[-2], c[-1]) % math.tau * b ** ((len(c) - 2) / len(c))
        ),
        "a whole turn too many",
    ),
    ("8.3", lambda c, b: position(c, b, whole=lambda n: n.round().clamp(min=0)), "count -1 turns"),
    (
        "8.3",
        lambda c, b: position(c, b) + (math.tau * b**0.5 if len(c) == 4 and position(c, b) < 50 else 0),
        "the slowest hand has come round",
    ),
    ("8.3", lambda c, b: position(c, b, angles=torch.atan(c[::2] / c[1::2]) % math.tau), "half a turn only"),
    ("8.3", lambda c, b: position(c, b, angles=torch.atan2(c[1::2], c[::2]) % math.tau), "are swapped"),
    ("8.3", lambda c, b: position(c, b**0.5), "with the 2"),
    ("8.3", lambda c, b: position(c, 10_000.0), "10,000 is built in"),
    ("8.3", lambda c, b: position(c, b) + 1, "count from 0"),
    ("8.3", signed_position, "`atan2` is negative"),
    (
        "8.3",
        lambda c, b: (
            torch.atan2(c[::2], c[1::2]) % math.tau * b ** (torch.arange(0, len(c), 2) / len(c))
        ).mean(),
        "cannot be averaged",
    ),
    (
        "8.3",
        lambda c, b: torch.atan2(c[-2], c[-1]).rad2deg() % 360 * b ** ((len(c) - 2) / len(c)),
        "in degrees",
    ),
    ("8.3", lambda c, b: c, "shape"),
    ("8.3", lambda c, b: position(c.view(2, -1).T.flatten(), b), "all sines first, then all cosines"),
    ("8.3", lambda c, b: position(c.view(-1, 2).flip(0).flatten(), b), "the fastest comes first"),
    ("8.3", from_the_fastest, "begin with it, and let the faster hands"),
    ("8.4", lambda k, d, b: looking_back(k, d, b).T, "k positions ahead"),
    ("8.4", lambda k, d, b: looking_back(-k, d, b), "k positions ahead"),
    ("8.4", lambda k, d, b: torch.eye(d), "each position finds itself"),
    ("8.4", lambda k, d, b: looking_back(1, d, b), "`k` is not used"),
    ("8.4", lambda k, d, b: k * looking_back(1, d, b), "are not k times one move"),
    ("8.4", lambda k, d, b: looking_back(1, d, b) ** k, "the power of each number"),
    ("8.4", lambda k, d, b: looking_back(k, d, 1.0), "every hand is moved by k radians"),
    ("8.4", lambda k, d, b: looking_back(k, d, b**0.5), "with the 2"),
    ("8.4", lambda k, d, b: looking_back(k, d, 10_000), "10,000 is built in"),
    ("8.4", lambda k, d, b: looking_back(math.radians(k), d, b), "leave out the conversion"),
    ("8.4", lambda k, d, b: looking_back(math.tau * k, d, b), "leave out the 2 pi"),
    ("8.4", lambda k, d, b: looking_back(k, d, b).abs(), "one of the two sines has a minus"),
    ("8.4", lambda k, d, b: torch.diag(looking_back(k, d, b).diagonal()), "the cosines alone"),
    ("8.4", lambda k, d, b: shift(k, 1.0), "W is (d, d)"),
    ("8.4", lambda k, d, b: looking_back(k, d, b) / d**0.5, "no division is asked"),
    (
        "8.4",
        lambda k, d, b: looking_back(k, d, b)[[*range(0, d, 2), *range(1, d, 2)]][
            :, [*range(0, d, 2), *range(1, d, 2)]
        ],
        "all sines first",
    ),
    ("8.4", lambda k, d, b: torch.eye(d).roll(k, 1), "that moves features"),
    ("8.4", lambda k, d, b: looking_back(k, d, b).triu() + looking_back(k, d, b).triu(1).T, "has a minus"),
    ("8.4", lambda k, d, b: looking_back(k, d, b).tril() + looking_back(k, d, b).tril(-1).T, "has a minus"),
    (
        "8.4",
        lambda k, d, b: torch.block_diag(*[tensor(shift(k, b ** (-n / d))) for n in range(d - 2, -1, -2)]),
        "the fastest comes first",
    ),
    ("8.4", lambda k, d, b: looking_back(k, 8, 300.0), "right at first"),
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
    ("8.6", [-2, -1, 7, 7], "after two turns by 90"),
    ("8.6", [2, 1, 7, 7], "before it turns, or after four turns"),
    ("8.6", [1, -1, 7, 7], "second: so it is after two turns"),
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
    ("8.7", lambda x, m, t: turn(x, m, math.degrees(t)), "in radians already"),
    ("8.7", lambda x, m, t: turn(x, torch.ones(len(x)), t) * m[:, None], "m belongs into the angle"),
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
    ("8.9", lambda box: "RoPE", "says RoPE of every box"),
    ("8.9", lambda box: 3, "one of the five names, as text, got int 3"),
    ("8.9", lambda box: "rotary", "got 'rotary'"),
    ("8.9", lambda box: ["RoPE"], "got list"),
    ("8.9", renamed("none", "RoPE"), "This box knows no positions"),
    ("8.9", renamed("RoPE", "none"), "an arrow of length 0 stays 0"),
    ("8.9", renamed("table", "sinusoids"), "with 65 tokens"),
    ("8.9", renamed("sinusoids", "table"), "they go on at any length"),
    ("8.9", renamed("sinusoids", "ALiBi"), "the same at equal offsets"),
    ("8.9", renamed("ALiBi", "sinusoids"), "ALiBi is added to the scores"),
    ("8.9", whose_without_the_end, "with 65 tokens"),
    ("8.9", whose_too_coarse, "a slope may be small"),
    ("8.9", whose_unprepared, "the table has 64 rows"),
    ("8.9", lambda box: whose(lambda x: box(x[0])), "a box takes tokens (T, 8)"),
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
    ("8.11", lambda context, d: context ** (d / (d - 2)) / math.tau, "outside of the power"),
    ("8.11", lambda context, d: (context / math.tau) ** ((d - 1) / (d - 2)), "its exponent is -(d - 2) / d"),
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
