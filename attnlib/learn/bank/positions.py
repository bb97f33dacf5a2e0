"""Exercises on positions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.functional import attention
from attnlib.learn.calling import call
from attnlib.learn.grading import by_cases, name_number, normal, numbers, single
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
    tried = []

    def layer(given: Tensor) -> Tensor:
        if given.shape == x.shape:
            same = (given[:, None] == x).all(-1)
            order = same.double().argmax(-1).tolist()
            if same.any(-1).all() and order != sorted(order) and order not in tried:
                tried.append(order)
        return _blind(given)

    call(answer, layer, x.clone())
    return tried


def _shift(angle: Callable[[float, float], float]) -> Callable:
    def matrix(k: float, theta: float) -> Tensor:
        a = angle(k, theta)
        return torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]], dtype=torch.float64)

    return matrix


def shift_matrix(answer: object, says: dict[str, str]) -> str | None:
    """Grade the matrix that moves a sinusoid by k positions."""
    right = _shift(lambda k, theta: k * theta)
    mistakes = [
        (lambda k, t: right(k, t).mT, says["back"]),
        (_shift(lambda k, t: k), says["no_theta"]),
        (_shift(lambda k, t: t), says["no_k"]),
        (_shift(lambda k, t: math.radians(k * t)), says["converted"]),
        (lambda k, t: torch.eye(2), says["not_moved"]),
        (lambda k, t: right(k, t).abs(), says["no_minus"]),
        (lambda k, t: right(k, t) * torch.tensor([[1, 1], [-1, 1]]), says["no_minus"]),
        (lambda k, t: right(k, t).flip(0), says["rows_swapped"]),
        (lambda k, t: right(k, t).flip(1), says["columns_swapped"]),
        (lambda k, t: right(k, t) * torch.tensor([[1, -1], [1, 1]]), says["two_minuses"]),
        (_shift(lambda k, t: math.pi / 2 - k * t), says["sine_for_cosine"]),
        (lambda k, t: right(k, t).flatten(), says["flat"]),
        (lambda k, t: k * right(1, t), says["k_times"]),
        (lambda k, t: right(1, t) ** k, says["powers_of_numbers"]),
        (_shift(lambda k, t: k / t), says["divided"]),
        (_shift(lambda k, t: k + t), says["added"]),
        (_shift(lambda k, t: 2 * math.pi * k * t), says["two_pi"]),
        (lambda k, t: right(k, t)[:, 1], says["clock"]),
    ]
    return by_cases(answer, right, [(3, 0.5), (1, 2.0), (-2, 0.3), (7, 0.1)], mistakes)


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


def _at(x: Tensor, position: int, interleaved: bool = False) -> Tensor:
    return rotary(x, torch.tensor([position]), interleaved=interleaved)


def _step(
    *,
    query: int | None = 0,
    key: int | None = 0,
    again: bool = False,
    values: bool = False,
    interleaved: bool = False,
) -> Callable:
    """Return a cached step; ``query`` and ``key`` say how far off the new token is put, None for 0."""

    def step(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, kept: Tensor) -> Tensor:
        S = len(keys)
        q = _at(q, 0 if query is None else S + query, interleaved)
        k = _at(k, 0 if key is None else S + key, interleaved)
        keys = rotary(keys) if again else keys
        v = _at(v, S) if values else v
        return attention(q, torch.cat([keys, k]), torch.cat([kept, v]))

    return step


def _step_mistakes(says: dict[str, str]) -> list[tuple[Callable, str]]:
    """Return every mixture of the planted bugs, and the ways to count wrongly."""
    offsets = {
        (0, 0): "",
        (None, None): says["word_at_0"],
        (0, None): says["key_at_0"],
        (None, 0): says["query_at_0"],
        (-1, -1): says["word_too_early"],
        (1, 0): says["query_too_far"],
        (0, -1): says["key_too_early"],
        (1, 1): says["word_too_far"],
    }
    found = []
    for (query, key), again, values in itertools.product(offsets, (False, True), (False, True)):
        bugs = [offsets[query, key], again and says["keys_turned_again"], values and says["value_turned"]]
        said = [words for words in bugs if words]
        if said:
            words = said[0] if len(said) == 1 else says["more_than_one"].format(first=said[0])
            found.append((_step(query=query, key=key, again=again, values=values), words))
    return found


def _row(answer: object) -> Tensor:
    got = numbers(answer)
    return got[None] if got.ndim == 1 else got


def cached_turn(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of a step that keeps turned keys."""
    cases = []
    for S, D in ((6, 4), (1, 8), (11, 2)):
        q, k, v = (normal(1, D, seed=n) for n in (0, 1, 2))
        cases.append((q, k, v, rotary(normal(S, D, seed=3)), normal(S, D, seed=4)))

    def at_width(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, kept: Tensor) -> Tensor:
        off = keys.shape[1] - len(keys)
        return _step(query=off, key=off)(q, k, v, keys, kept)

    def value_first(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, kept: Tensor) -> Tensor:
        keys = torch.cat([keys, _at(k, len(keys))])
        return attention(_at(q, len(kept)), keys, torch.cat([v, kept]))

    mistakes = [
        *_step_mistakes(says),
        (lambda q, k, v, a, b: _step(values=True)(q, k, v, a, rotary(b)), says["values_turned"]),
        (lambda q, k, v, a, b: _step()(q * q.shape[1] ** 0.5, k, v, a, b), says["not_divided"]),
        (at_width, says["at_width"]),
        (_step(interleaved=True), says["neighbours"]),
        (lambda q, k, v, a, b: attention(_at(q, len(a)), a, b), says["not_itself"]),
        (value_first, says["value_first"]),
        (lambda q, k, v, a, b: b[:1], says["from_the_corner"]),
    ]
    return by_cases(answer, _step(), cases, mistakes, read=_row)


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
            ((turns - 1 / (2 * math.pi)) ** power, says["one_place_fewer"]),
            (turns ** (d / 2), says["half_of_d"]),
            (turns ** (d / (d + 2)), says["last_pair"]),
            (turns ** (64 / 62), says["d_unused"]),
        ]
        got, right = single(call(answer, context, d)), turns**power
        if not math.isclose(got, right, rel_tol=2e-3):  # a whole number will do
            return name_number(got, right, known, says["where"].format(context=context, d=d))
    return None
