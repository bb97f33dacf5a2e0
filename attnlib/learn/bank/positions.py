"""Exercises on positions."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.functional import attention
from attnlib.learn.calling import call
from attnlib.learn.grading import by_cases, describe, fresh, name_number, normal, numbers, scalar, single
from attnlib.masks import causal_mask
from attnlib.positions import alibi_bias, rotary, sinusoidal


def _blind(x: Tensor) -> Tensor:
    return attention(x, x, x)


def _one_pair(x: Tensor) -> Tensor:
    """Return the tokens, the third with the fourth added."""
    out = x.clone()
    out[2] = x[2] + 0.5 * x[3]
    return out


def _ring(T: int) -> Tensor:
    """Return a bias by the distance round a ring, which turning and reversing leave as it is."""
    apart = (torch.arange(T)[:, None] - torch.arange(T)).abs()
    return -torch.minimum(apart, T - apart).double()


def _suspects(T: int, says: dict[str, str]) -> list[tuple[Callable[[Tensor], Tensor], bool, str]]:
    """Return functions of T tokens: whether each sees their order, and what is said of a test that errs."""
    positions = sinusoidal(T, 4).double()
    return [
        (torch.tanh, False, says["word_by_word"]),
        (_blind, False, says["no_positions"]),
        (lambda x: x.mean(0).expand_as(x), False, says["mean_of_all"]),
        (lambda x: x + sum(x.abs()), False, says["sum_of_sizes"]),
        (lambda x: attention(x, x, x, causal_mask(T)), True, says["causal"]),
        (lambda x: _blind(x + positions), True, says["sinusoids"]),
        (lambda x: attention(rotary(x), rotary(x), x), True, says["turned"]),
        (_one_pair, True, says["one_pair"]),
        (lambda x: attention(x, x, x, bias=alibi_bias(8, T)[0].double()), True, says["both_sides"]),
        (lambda x: attention(x, x, x, bias=_ring(T)), True, says["ring"]),
        (lambda x: x.roll(1, 0), True, says["next_place"]),
        (lambda x: _blind(x + positions / 1000), True, says["faint"]),
    ]


def order_test(answer: object, says: dict[str, str]) -> str | None:
    """Grade a test that tells whether a function sees the order of its tokens."""
    x = normal(6, 4, seed=0).double()
    found, errs, blind = [], [], False
    for function, sees, words in _suspects(6, says):
        got = numbers(call(answer, function, x.clone()))
        if got.numel() != 1:
            return says["not_one_bool"]
        found.append(bool(got))
        if bool(got) != sees:
            errs.append(words)
            blind |= not sees
    if len(set(found)) == 1:
        return says["always_the_same"].format(found=found[0])
    if blind and len(errs) > len(found) / 2:  # also where one order shows too little
        return says["inverted"]
    return errs[0] if errs else _too_few_orders(answer, x, says)


def _too_few_orders(answer: Callable, x: Tensor, says: dict[str, str]) -> str | None:
    """Note the orders that a test tries, and give it a layer that sees the order but treats those alike."""
    orders = _tried_orders(answer, x)
    if len(orders) == 1:
        return says["one_order"].format(order=orders[0])
    alike = torch.arange(len(x) ** 2).reshape(len(x), -1)  # pairs of tokens with one number are treated alike
    for _ in alike.flatten():
        for order in orders:
            alike = torch.minimum(alike, alike[order][:, order])
    others = ~torch.eye(len(x)).bool()
    if not orders or len(alike[others].unique()) == 1:
        return None  # no layer can treat their orders alike and not all
    bias = torch.sin(alike.double())
    seen = numbers(call(answer, lambda x: attention(x, x, x, bias=bias), x.clone()))
    return None if bool(seen) else says["few_orders"].format(number=len(orders))


def _tried_orders(answer: Callable, x: Tensor) -> list[list[int]]:
    """Return the orders in which a test gives the tokens to a layer that sees none; what else it gives is left out."""
    row_of, tried = {tuple(row): n for n, row in enumerate(x.tolist())}, {}

    def layer(given: Tensor) -> Tensor:
        order = [row_of.get(tuple(row)) for row in given.tolist()] if given.ndim == 2 else []
        if len(order) == len(x) and set(order) == set(range(len(x))) and order != sorted(order):
            tried[tuple(order)] = order
        return given.clone()

    call(answer, layer, x.clone())
    return list(tried.values())


def _angles(clock: Tensor) -> Tensor:
    """Return where each hand of a clock points, from 0 to a whole turn; sines come first."""
    return torch.atan2(clock[0::2], clock[1::2]) % math.tau


def _frequencies(clock: Tensor, base: float) -> Tensor:
    return base ** (-torch.arange(0, len(clock), 2).double() / len(clock))


def _turns(shown: Tensor, angle: Tensor) -> Tensor:
    """Return how often a hand came round that should have turned by about ``shown`` and stands at ``angle``."""
    return torch.round((shown - angle) / math.tau)


def _read_time(
    clock: Tensor, base: float, turns: Callable = _turns, *, below: float = 1.0, fastest: int = 0
) -> Tensor:
    """Read the slowest hand, then let each faster one say it better, up to that numbered ``fastest``.

    The slowest may stand a little ``below`` 0, where its error has put it.
    """
    angles, speeds = _angles(clock), _frequencies(clock, base)
    found = ((angles[-1] + below) % math.tau - below) / speeds[-1]
    for angle, speed in list(zip(angles, speeds, strict=True))[fastest:-1][::-1]:
        found = (angle + math.tau * turns(found * speed, angle)) / speed
    return found


def _clocks() -> list[tuple[Tensor, float]]:
    """Return clocks that are a little off, and their bases; the first shows a position where no two mistakes meet.

    The last show positions near 0, near whole turns of the fastest hand, and one that the slowest does not tell alone.
    """
    times = (
        (4321.37, 8, 10_000.0),
        (137.5, 4, 900.0),
        (2.25, 16, 10_000.0),
        (1800.81, 12, 3000.0),
        (0.5, 6, 500.0),
    )
    cases = []
    for n, (m, d, base) in enumerate((*times, (5200.62, 32, 2000.0))):
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        clock = torch.stack([(m * speeds).sin(), (m * speeds).cos()], -1).flatten()
        cases.append((clock + 0.0005 * normal(d, seed=n).double().tanh(), base))
    for m, d, base, sine in (
        (100.3, 4, 900.0, 1),
        (40 * math.pi + 0.001, 16, 10_000.0, -1),
        (1.9, 4, 900.0, 1),
        (12.3, 8, 10_000.0, -1),
        (0.0, 8, 10_000.0, -1),
        (3.0, 64, 10_000.0, -1),
    ):
        angles, off = m * base ** (-torch.arange(0, d, 2).double() / d), 0.0005 * sine
        cases.append((torch.stack([angles.sin() + off, angles.cos() - off], -1).flatten(), base))
    return cases


def read_time(answer: object, says: dict[str, str]) -> str | None:
    """Grade the reading of a position, not a whole one, off the hands of a clock."""

    def slowest(clock: Tensor, base: float) -> Tensor:
        return _angles(clock)[-1] / _frequencies(clock, base)[-1]

    def half_turns(clock: Tensor) -> Tensor:  # as math.atan has them
        return torch.stack(
            [torch.atan(clock[0::2] / clock[1::2]).sin(), torch.atan(clock[0::2] / clock[1::2]).cos()], -1
        ).flatten()

    def signed(clock: Tensor, base: float) -> Tensor:
        angles, speeds = torch.atan2(clock[0::2], clock[1::2]), _frequencies(clock, base)
        found = angles[-1] / speeds[-1]
        for angle, speed in zip(angles.flip(0)[1:], speeds.flip(0)[1:], strict=True):
            found = (angle + math.tau * torch.round((found * speed - angle) / math.tau)) / speed
        return found

    def other_speeds(clock: Tensor, base: float, power: float) -> Tensor:
        return _read_time(clock, base**power)

    mistakes = [
        (lambda c, b: _read_time(c, b, fastest=1), says["fastest_left_out"]),
        (slowest, says["slowest_alone"]),
        (lambda c, b: torch.atan2(c[-2], c[-1]) / _frequencies(c, b)[-1], says["slowest_alone"]),
        (lambda c, b: _angles(c)[0], says["fastest_alone"]),
        (lambda c, b: torch.atan2(c[0], c[1]), says["fastest_alone"]),
        (signed, says["negative_angle"]),
        (lambda c, b: torch.round(_read_time(c, b)), says["whole"]),
        (lambda c, b: torch.floor(_read_time(c, b)), says["whole"]),
        (lambda c, b: torch.ceil(_read_time(c, b)), says["whole"]),
        (lambda c, b: _read_time(half_turns(c), b), says["half_turns"]),
        (lambda c, b: _read_time(c.reshape(-1, 2).flip(-1).flatten(), b), says["sine_for_cosine"]),
        (lambda c, b: _read_time(c.reshape(2, -1).mT.flatten(), b), says["halves"]),
        (lambda c, b: _read_time(c.reshape(-1, 2).flip(0).flatten(), b), says["slowest_first"]),
        (
            lambda c, b: _read_time(c, b, lambda shown, a: ((shown - a) / math.tau).floor()),
            says["rounded_down"],
        ),
        (lambda c, b: _read_time(c, b, lambda shown, a: (shown / math.tau).floor()), says["turns_so_far"]),
        (lambda c, b: _read_time(c, b, lambda shown, a: (shown / math.tau).round()), says["turns_so_far"]),
        (lambda c, b: _read_time(c, b, below=0.0), says["just_below_0"]),
        (lambda c, b: _read_time(c, b, lambda *at: _turns(*at).clamp(min=0)), says["just_below_0"]),
        *(
            (
                lambda c, b, n=n: _read_time(c, b) + n * math.tau / _frequencies(c, b)[-1],
                says["a_turn_too_many"],
            )
            for n in (1, 2, 3)
        ),
        (lambda c, b: (_angles(c) / _frequencies(c, b)).mean(), says["mean_of_hands"]),
        (lambda c, b: (_angles(c) / _frequencies(c, b)).sum(), says["mean_of_hands"]),
        (lambda c, b: other_speeds(c, b, 0.5), says["no_2"]),
        (lambda c, b: other_speeds(c, 10_000.0, math.log(b, 10_000) ** 0), says["base_unused"]),
        (lambda c, b: _read_time(c, b) + 1, says["from_one"]),
        (lambda c, b: torch.rad2deg(_angles(c)[-1]) / _frequencies(c, b)[-1], says["degrees"]),
    ]
    cases = _clocks()
    wrong = by_cases(answer, _read_time, cases, mistakes, read=scalar, tolerance=0.01)
    if wrong and wrong.startswith("the number is"):  # at the first clock, and none of the known mistakes
        got = scalar(call(answer, *map(fresh, cases[0])))
        return says["whole_tried"] if (got == got.round()).all() else wrong
    return wrong


def _looking_back(
    k: int, d: int, base: float, angle: Callable[[float, float], float] = lambda k, speed: k * speed
) -> Tensor:
    """Return the matrix that moves every hand of a clock by k positions."""
    table = torch.zeros(d, d).double()
    for n in range(0, d, 2):
        a = angle(k, base ** (-n / d))
        table[n, n] = table[n + 1, n + 1] = math.cos(a)
        table[n, n + 1], table[n + 1, n] = math.sin(a), -math.sin(a)
    return table


def _in_halves(table: Tensor) -> Tensor:
    """Return a matrix for clocks that have all sines first, then all cosines."""
    order = _evens_first(len(table))
    return table[order][:, order]


def looking_back(answer: object, says: dict[str, str]) -> str | None:
    """Grade the matrix with which a head attends k positions back, by a clock of many hands."""
    right = _looking_back
    mistakes = [
        (lambda k, d, b: right(k, d, b).mT, says["ahead"]),
        (lambda k, d, b: right(k, d, b, lambda k, speed: k), says["no_theta"]),
        (lambda k, d, b: right(k, d, b, lambda k, speed: k / speed), says["divided"]),
        (lambda k, d, b: right(k, d, b).mT.mT * 0 + torch.eye(d), says["not_moved"]),
        (lambda k, d, b: right(1, d, b), says["no_k"]),
        (lambda k, d, b: k * right(1, d, b), says["k_times"]),
        (lambda k, d, b: right(1, d, b) ** k, says["powers_of_numbers"]),
        (lambda k, d, b: right(k, d, b**0.5), says["no_2"]),
        (lambda k, d, b: right(k, d, b**2), says["twice_2"]),
        (lambda k, d, b: right(k, d, 10_000.0), says["base_unused"]),
        (lambda k, d, b: right(k, d, b, lambda k, speed: math.radians(k * speed)), says["converted"]),
        (lambda k, d, b: right(k, d, b, lambda k, speed: math.tau * k * speed), says["two_pi"]),
        (lambda k, d, b: right(k, d, b).abs(), says["no_minus"]),
        (lambda k, d, b: _same_sines(right(k, d, b)), says["no_minus"]),
        (lambda k, d, b: _same_sines(right(k, d, b).mT), says["no_minus"]),
        (lambda k, d, b: _pairs_reversed(right(k, d, b)), says["slowest_first"]),
        (lambda k, d, b: _pairs_reversed(right(k, d, b)).mT, says["slowest_first"]),
        (lambda k, d, b: right(k, d, b) * (1 - 2 * torch.ones(d, d).triu(1).double()), says["two_minuses"]),
        (lambda k, d, b: right(k, d, b) * torch.eye(d).double(), says["diagonal"]),
        (lambda k, d, b: _in_halves(right(k, d, b)), says["halves"]),
        (lambda k, d, b: _in_halves(right(k, d, b)).mT, says["halves"]),
        (lambda k, d, b: _first_hand(right(k, d, b)), says["first_hand"]),
        (lambda k, d, b: right(k, 2, b), says["one_hand"]),
        (
            lambda k, d, b: right(k, d, b)[range(d - 1, -1, -1)][:, range(d - 1, -1, -1)],
            says["slowest_first"],
        ),
        (lambda k, d, b: right(k, d, b)[:, [n ^ 1 for n in range(d)]], says["columns_swapped"]),
        (lambda k, d, b: right(k, d, b) / (d / 2), says["scaled"]),
        (lambda k, d, b: right(k, d, b) / d**0.5, says["scaled"]),
        (lambda k, d, b: right(k, d, b) * d**0.5, says["scaled"]),
        (lambda k, d, b: torch.eye(d).roll(k, 0), says["features_moved"]),
        (lambda k, d, b: torch.eye(d).roll(-k, 0), says["features_moved"]),
    ]
    cases = [
        (3, 8, 300.0),
        (1, 4, 10_000.0),
        (7, 6, 50.0),
        (0, 4, 1000.0),
        (25, 16, 10_000.0),
        (5, 2, 10_000.0),
    ]
    return by_cases(answer, right, cases, mistakes)


def _same_sines(table: Tensor) -> Tensor:
    """Give the sine below each diagonal the sign of that above it."""
    return table.triu() + table.triu(1).mT


def _pairs_reversed(table: Tensor) -> Tensor:
    """Return a matrix for clocks with the slowest hand first."""
    order = [n ^ 1 for n in range(len(table) - 1, -1, -1)]
    return table[order][:, order]


def _first_hand(table: Tensor) -> Tensor:
    """Leave the first hand's numbers alone, and no others."""
    first = torch.zeros_like(table)
    first[:2, :2] = table[:2, :2]
    return first


def _turn(angle: Callable = lambda m, theta: m * theta) -> Callable:
    def turn(x: Tensor, m: Tensor, theta: float) -> Tensor:
        a = angle(m.double(), theta)
        first, second = x.double().unbind(-1)
        return torch.stack([first * a.cos() - second * a.sin(), first * a.sin() + second * a.cos()], -1)

    return turn


def _chained(x: Tensor, m: Tensor, theta: float) -> Tensor:
    """Turn, with the second feature computed from the first that is turned already."""
    a = m.double() * theta
    first, second = x.double().unbind(-1)
    first = first * a.cos() - second * a.sin()
    return torch.stack([first, first * a.sin() + second * a.cos()], -1)


def turned_pair(answer: object, says: dict[str, str]) -> str | None:
    """Grade the turn of one pair of features by position."""
    cases = [
        (normal(5, 2, seed=0), torch.tensor([3, 1, 4, 1, 9]), 0.5),
        (normal(3, 2, seed=1), torch.tensor([0, 1, 2]), 2.0),
        (normal(1, 2, seed=2), torch.tensor([700]), 0.01),
    ]
    right = _turn()
    mistakes = [
        (_turn(lambda m, t: -m * t), says["wrong_way"]),
        (_turn(lambda m, t: torch.arange(len(m)).double() * t), says["rows_numbered"]),
        (_turn(lambda m, t: torch.full_like(m, t)), says["no_m"]),
        (_turn(lambda m, t: m), says["no_theta"]),
        (_turn(lambda m, t: (m + 1) * t), says["counted_from_1"]),
        (_turn(lambda m, t: (m * t).deg2rad()), says["converted"]),
        (_turn(lambda m, t: (m * t).rad2deg()), says["converted"]),
        (lambda x, m, t: m[:, None] * _turn(lambda m, t: torch.full_like(m, t))(x, m, t), says["m_outside"]),
        (_turn(lambda m, t: m / t), says["divided"]),
        (_chained, says["chained"]),
        (lambda x, m, t: torch.stack([x[:, 0] * (m * t).cos(), x[:, 1] * (m * t).sin()], -1), says["shrunk"]),
        (lambda x, m, t: right(x, m, t).flip(-1), says["swapped"]),
        (lambda x, m, t: x + torch.stack([(m * t).cos(), (m * t).sin()], -1), says["clock_added"]),
        (
            lambda x, m, t: right(x, m, t) + 2 * torch.stack([x[:, 1] * (m * t).sin(), 0 * m], -1),
            says["no_minus"],
        ),
        (_turn(lambda m, t: math.pi / 2 - m * t), says["sine_for_cosine"]),
        (_turn(lambda m, t: m[:1] * t), says["all_as_first"]),
        (lambda x, m, t: x, says["not_turned"]),
        (lambda x, m, t: x + torch.stack([(m * t).sin(), (m * t).cos()], -1), says["clock_added"]),
        (lambda x, m, t: right(x, m, t).mT, says["features_as_rows"]),
        (lambda x, m, t: right(x, m, t).mT.reshape(-1, 2), says["cut_anew"]),
        (
            lambda x, m, t: right(x, m, t) - 2 * torch.stack([0 * m, x[:, 1] * (m * t).cos()], -1),
            says["two_minuses"],
        ),
        (_turn(lambda m, t: 2 * math.pi * m * t), says["two_pi"]),
        (_turn(lambda m, t: m + t), says["added"]),
    ]
    return by_cases(answer, right, cases, mistakes)


def _evens_first(d: int) -> list[int]:
    return [*range(0, d, 2), *range(1, d, 2)]


def _listed(answer: object) -> Tensor:
    return numbers(list(answer) if isinstance(answer, range) else answer)


def regrouped(answer: object, says: dict[str, str]) -> str | None:
    """Grade the order of features that turns neighbouring pairs into pairs of halves."""
    mistakes = [
        (lambda d: torch.tensor(_evens_first(d)).argsort(), says["way_back"]),
        (lambda d: [*range(d)], says["not_moved"]),
        (lambda d: [*range(1, d, 2), *range(0, d, 2)], says["odds_first"]),
        (lambda d: _evens_first(d)[::-1], says["reversed"]),
        (lambda d: [*range(0, d, 2), *range(d - 1, 0, -2)], says["second_half_backwards"]),
        (lambda d: [*range(d // 2, d), *range(d // 2)], says["halves_swapped"]),
        (lambda d: [*range(d)][::-1], says["all_backwards"]),
        (lambda d: [i ^ 1 for i in range(d)], says["neighbours_swapped"]),
        (lambda d: [*range(0, d, 2)][::-1] + [*range(1, d, 2)][::-1], says["slowest_first"]),
        (lambda d: [[*range(0, d, 2)], [*range(1, d, 2)]], says["two_halves"]),
        (lambda d: [*range(0, d, 2)], says["odds_missing"]),
        (lambda d: [*range(0, d, 2), *range(0, d, 2)], says["evens_twice"]),
        (lambda d: [i + 1 for i in _evens_first(d)], says["counted_from_1"]),
        (lambda d: torch.eye(d)[_evens_first(d)], says["matrix"]),
        (lambda d: [[i, i + 1] for i in range(0, d, 2)], says["pairs"]),
    ]
    return by_cases(answer, _evens_first, [(8,), (12,), (4,), (2,)], mistakes, read=_listed)


BOXES = ("none", "table", "sinusoids", "ALiBi", "RoPE")
ROWS = 64  # of a learned table
WIDTH = 8


def _box(kind: str, seed: int) -> Callable[[Tensor], Tensor]:
    """Return a head with weights of its own that gives the scores of tokens, with one positional encoding."""
    w_q, w_k, table = (
        normal(n, WIDTH, seed=3 * seed + m).double() for m, n in enumerate((WIDTH, WIDTH, ROWS))
    )

    def box(x: Tensor) -> Tensor:
        if x.ndim != 2 or x.shape[1] != WIDTH:
            raise ValueError(f"a box takes tokens (T, {WIDTH}), got {tuple(x.shape)}")
        x, T = x.double(), len(x)
        if kind == "table" and T > ROWS:
            raise IndexError(f"position {ROWS} is out of range: the table has {ROWS} rows")
        added = {
            "table": lambda: table[:T],
            "sinusoids": lambda: sinusoidal(T, WIDTH).double() / (1 + 2 * seed),
        }
        x = x + added[kind]() if kind in added else x
        q, k = x @ w_q, x @ w_k
        if kind == "RoPE":
            q, k = (rotary(one, base=(10_000.0, 100.0, 500.0)[seed], interleaved=seed == 1) for one in (q, k))
        scores = q @ k.mT / WIDTH**0.5
        return scores + alibi_bias(8, T)[(0, 4, 7)[seed]].double() if kind == "ALiBi" else scores

    return box


def whose_positions(answer: object, says: dict[str, str]) -> str | None:
    """Grade a function that tells from its scores which positional encoding a head has."""
    names, said, wrong = {name.lower(): name for name in BOXES}, [], []
    order = [(kind, seed) for seed in range(3) for kind in BOXES]
    for kind, seed in (*order[3:], *order[:3]):
        name = call(answer, _box(kind, seed))
        if not isinstance(name, str) or name.strip().lower() not in names:
            return says["not_a_name"].format(got=repr(name) if isinstance(name, str) else describe(name))
        said.append(names[name.strip().lower()])
        if said[-1] != kind:
            wrong.append((kind, said[-1]))
    if not wrong:
        return None
    if len(set(said)) == 1:
        return says["always_the_same"].format(name=said[0])
    (kind, name), advice = (
        wrong[0],
        {
            "none": says["no_positions_in_it"],
            "table": says["table_ends"],
            "sinusoids": says["clocks_added"],
            "ALiBi": says["distance_alone"],
            "RoPE": says["arrows_turned"],
        },
    )
    return says["in_this_box"].format(kind=kind, name=name, number=len(wrong)) + advice[kind]


def chosen_base(answer: object, says: dict[str, str]) -> str | None:
    """Grade the base at which the slowest hand makes one turn in a context."""
    for context, d in ((4096, 64), (131072, 128), (1000, 8), (600, 4)):
        turns, power = context / (2 * math.pi), d / (d - 2)
        known = [
            (turns, says["not_that_slow"]),
            (context**power, says["one_radian"]),
            (context, says["neither"]),
            (turns ** (1 / power), says["upside_down"]),
            ((2 * turns) ** power, says["half_a_turn"]),
            ((turns * 4 * math.pi**2) ** power, says["times_2_pi"]),
            (turns ** (d / (d - 1)), says["last_pair"]),
            (turns ** (2 * power), says["no_2"]),
            (turns**-power, says["minus"]),
            ((context / 2 * math.pi) ** power, says["no_brackets"]),
            (2 * math.pi / context, says["speed"]),
            (2 * math.pi * context ** (1 / power), says["time"]),
            ((context / 360) ** power, says["degrees"]),
            (2 * math.pi * context**power, says["times_2_pi"]),
            (10_000 * turns**power, says["multiple"]),
            (context**power / (2 * math.pi), says["two_pi_outside"]),
            (turns ** ((d - 1) / (d - 2)), says["last_pair"]),
            ((turns - 1 / (2 * math.pi)) ** power, says["one_place_fewer"]),
            (turns ** (d / 2), says["half_of_d"]),
            (turns ** (d / (d + 2)), says["last_pair"]),
            (turns ** (64 / 62), says["d_unused"]),
        ]
        got, right = single(call(answer, context, d)), turns**power
        if not math.isclose(got, right, rel_tol=2e-3):  # a whole number will do
            return name_number(got, right, known, says["where"].format(context=context, d=d))
    return None
