"""Exercises on positions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.functional import attention
from attnlib.learn.calling import call
from attnlib.learn.grading import Exercise, by_cases, name_number, normal, numbers, single
from attnlib.masks import causal_mask
from attnlib.positions import alibi_bias, rotary, sinusoidal


def _blind(x: Tensor) -> Tensor:
    return attention(x, x, x)


def _handed_on(x: Tensor) -> Tensor:
    return x.roll(1, 0)


def _one_pair(x: Tensor) -> Tensor:
    """Return the words, the third of which has also heard the fourth."""
    out = x.clone()
    out[2] = x[2] + 0.5 * x[3]
    return out


def _ring(T: int) -> Tensor:
    """Return a bias by the distance round a ring, which turning and reversing leave as it is."""
    apart = (torch.arange(T)[:, None] - torch.arange(T)).abs()
    return -torch.minimum(apart, T - apart).double()


def _orders(T: int) -> dict[str, tuple[Callable[[Tensor], Tensor], bool]]:
    """Return functions of T words by name, each with whether it sees their order."""
    places = sinusoidal(T, 4).double()
    return {
        "a layer that treats each word by itself": (torch.tanh, False),
        "attention without positions": (_blind, False),
        "the mean of all words, given to each": (lambda x: x.mean(0).expand_as(x), False),
        "a layer that adds the sum of all sizes to each word": (lambda x: x + sum(x.abs()), False),
        "causal attention": (lambda x: attention(x, x, x, causal_mask(T)), True),
        "attention with sinusoids added": (lambda x: _blind(x + places), True),
        "attention with queries and keys turned": (lambda x: attention(rotary(x), rotary(x), x), True),
        "a layer in which the third word hears the fourth": (_one_pair, True),
        "ALiBi to both sides": (lambda x: attention(x, x, x, bias=alibi_bias(8, T)[0].double()), True),
        "a layer that knows distances round a ring": (lambda x: attention(x, x, x, bias=_ring(T)), True),
        "a layer that hands each word to the next place": (_handed_on, True),
        "attention with faint sinusoids": (lambda x: _blind(x + places / 1000), True),
    }


def order_test(answer: object) -> str | None:
    """Grade a test that tells whether a function sees the order of its words."""
    x = normal(6, 4, seed=0).double()
    said = {}
    for name, (function, _) in _orders(6).items():
        got = numbers(call(answer, function, x.clone()))
        if got.numel() != 1:
            return "return one bool: True if the order of the words matters to the function."
        said[name] = bool(got)
    if all(said[name] != sees for name, (_, sees) in _orders(6).items()):
        return "True and False are the other way round: True means that the order matters."
    if len(set(said.values())) == 1:
        return f"your test says {said[name]} of every function, also of those that it should not."
    for name, (_, sees) in _orders(6).items():
        if said[name] == sees:
            continue
        if "by itself" in name:
            return f"{name} does not see the order, but your test says it does. When the words change places its outputs change places with them, and nothing else happens: compare with the old outputs in the new order."
        if not sees:
            return f"{name} does not see the order, but your test says it does: a sum taken in another order rounds differently. Compare to a tolerance, with torch.allclose."
        if "faint" in name:
            return (
                f"{name} is missed: the outputs differ by a thousandth or less. Your tolerance is too wide."
            )
        return f"{name} is missed: your test says it does not see the order. {_which_order(name)}"
    return None


def _which_order(name: str) -> str:
    if "both sides" in name:
        return "Turned round as a whole, every distance stays as it was: try other orders too."
    if "ring" in name:
        return "Moved round as a whole, every distance stays as it was: try other orders too."
    if "third" in name:
        return "Words that this order leaves in place may be the ones that matter: try several orders."
    if "next place" in name:
        return "Its outputs are the same words in other places: compare them place by place, not their sum."
    return "Try a new order of the words, and compare place by place."


def _shift(angle: Callable[[float, float], float]) -> Callable:
    def matrix(k: float, theta: float) -> Tensor:
        a = angle(k, theta)
        return torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]], dtype=torch.float64)

    return matrix


def shift_matrix(answer: object) -> str | None:
    """Grade the matrix that moves a sinusoid by k places."""
    right = _shift(lambda k, theta: k * theta)
    mistakes = [
        (lambda k, t: right(k, t).mT, "it moves by k places back: is its transpose the one for (cos, sin) in this order?"),
        (_shift(lambda k, t: k), "the speed of the hand is missing: it turns by theta at each place."),
        (_shift(lambda k, t: t), "this moves by one place; k is not used."),
        (_shift(lambda k, t: math.radians(k * t)), "k times theta is in radians already: leave out the conversion."),
        (lambda k, t: torch.eye(2), "this leaves the clock where it is."),
        (lambda k, t: right(k, t).abs(), "one of the sines has a minus: write down sin(a + b) and cos(a + b)."),
        (lambda k, t: right(k, t) * torch.tensor([[1, 1], [-1, 1]]), "one of the sines has a minus: write down sin(a + b) and cos(a + b)."),
        (lambda k, t: right(k, t).flip(0), "the rows are swapped: the first must give the sine, which stands first."),
        (lambda k, t: right(k, t).flip(1), "the columns are swapped: the first is multiplied with the sine, which stands first."),
        (lambda k, t: right(k, t) * torch.tensor([[1, -1], [1, 1]]), "one of the sines has a minus, and not the other: write down sin(a + b) and cos(a + b)."),
        (_shift(lambda k, t: math.pi / 2 - k * t), "sine and cosine are swapped: with k = 0 nothing must move."),
        (lambda k, t: right(k, t).flatten(), "these are the four numbers; put them into two rows."),
        (lambda k, t: k * right(1, t), "k moves are not k times one move: the angle is k times theta."),
        (lambda k, t: right(1, t) ** k, "`**` takes the power of each number; k moves are k times the angle."),
        (_shift(lambda k, t: k / t), "you divide by theta: the angle is k times theta."),
        (_shift(lambda k, t: k + t), "you add k and theta: the angle is k times theta."),
        (_shift(lambda k, t: 2 * math.pi * k * t), "theta is in radians already: leave out the 2 pi."),
        (lambda k, t: right(k, t) @ torch.tensor([0.0, 1.0], dtype=torch.float64), "this is the clock at place k; asked is the matrix (2, 2) that moves any place by k."),
    ]  # fmt: skip
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


def turned_pair(answer: object) -> str | None:
    """Grade the turn of one pair of features by position."""
    cases = [
        (normal(5, 2, seed=0), torch.tensor([3, 1, 4, 1, 9]), 0.5),
        (normal(3, 2, seed=1), torch.tensor([0, 1, 2]), 2.0),
        (normal(1, 2, seed=2), torch.tensor([700]), 0.01),
    ]
    mistakes = [
        (_turn(lambda m, t: -m * t), "you turn the wrong way: the minus belongs to the sine in the first line."),
        (_turn(lambda m, t: torch.arange(len(m)).double() * t), "you number the rows 0, 1, 2, ...; their positions are in `m`."),
        (_turn(lambda m, t: torch.full_like(m, t)), "every word is turned by theta; the one at position m turns by m times theta."),
        (_turn(lambda m, t: m), "theta is not used: the angle is m times theta."),
        (_turn(lambda m, t: (m + 1) * t), "you begin to count at 1: position 0 is not turned."),
        (_turn(lambda m, t: (m * t).deg2rad()), "the angle is in radians already: leave out the conversion."),
        (_turn(lambda m, t: m / t), "you divide by theta: the angle is m times theta."),
        (_chained, "the second line uses the first feature after it was turned: keep the old one until both are computed."),
        (lambda x, m, t: torch.stack([x[:, 0] * (m * t).cos(), x[:, 1] * (m * t).sin()], -1), "each new feature needs both old ones: this only shrinks them."),
        (lambda x, m, t: _turn()(x, m, t).flip(-1), "the two new features are swapped."),
        (lambda x, m, t: x + torch.stack([(m * t).cos(), (m * t).sin()], -1), "this adds the clock to the pair; asked is the pair itself, turned."),
        (lambda x, m, t: (_turn()(x, m, t) + _turn()(x, m, t).new_tensor([2.0, 0.0]) * (x[:, 1] * (m * t).sin())[:, None]), "the minus is missing: the new first feature is first · cos - second · sin."),
        (_turn(lambda m, t: math.pi / 2 - m * t), "sine and cosine are swapped: at position 0 nothing must be turned."),
        (_turn(lambda m, t: m[:1] * t), "every word is turned by the angle of the first; each has its own position."),
        (lambda x, m, t: x, "nothing is turned."),
        (lambda x, m, t: x + torch.stack([(m * t).sin(), (m * t).cos()], -1), "this adds the clock to the pair; asked is the pair itself, turned."),
        (lambda x, m, t: _turn()(x, m, t).mT, "these are the two features as rows: `torch.stack([...], -1)` makes columns of them."),
        (lambda x, m, t: _turn()(x, m, t).mT.reshape(-1, 2), "the features are stacked as rows and then cut anew, which mixes the words: `torch.stack([...], -1)`."),
        (lambda x, m, t: _turn()(x, m, t) - 2 * torch.stack([0 * m, x[:, 1] * (m * t).cos()], -1), "one minus too many: the new second feature is first · sin + second · cos."),
        (_turn(lambda m, t: 2 * math.pi * m * t), "the angle is in radians already: leave out the 2 pi."),
    ]  # fmt: skip
    return by_cases(answer, _turn(), cases, mistakes)


def _evens_first(d: int) -> list[int]:
    return [*range(0, d, 2), *range(1, d, 2)]


def regrouped(answer: object) -> str | None:
    """Grade the order of features that turns neighbouring pairs into pairs of halves."""
    back = "this is the way back, from halves to neighbours. In the new order, place j takes feature order[j] of the old."
    mistakes = [
        (lambda d: torch.tensor(_evens_first(d)).argsort(), back),
        (range, "nothing is moved: then feature 0 is paired with feature d/2."),
        (lambda d: [*range(1, d, 2), *range(0, d, 2)], "each pair is there, but its two features are swapped: the hands turn the other way."),
        (lambda d: _evens_first(d)[::-1], "the order is reversed: the fast pair must stay first, and even before odd."),
        (lambda d: [*range(0, d, 2), *range(d - 1, 0, -2)], "the second half runs backwards: pair i is made of places i and i + d/2."),
        (lambda d: [*range(d // 2, d), *range(d // 2)], "the halves are swapped; the old pairs are neighbours and still are not together."),
        (lambda d: range(d)[::-1], "reversing leaves neighbours neighbours."),
        (lambda d: [i ^ 1 for i in range(d)], "this swaps the two of each pair, and leaves them neighbours."),
        (lambda d: [*range(0, d, 2)][::-1] + [*range(1, d, 2)][::-1], "the pairs are right, but the slowest comes first: the fastest pair must stay first."),
        (lambda d: [[*range(0, d, 2)], [*range(1, d, 2)]], "these are the two halves; return one list of d whole numbers."),
        (lambda d: range(0, d, 2), "half of the features are missing: the odd ones have to stand somewhere."),
        (lambda d: [*range(0, d, 2), *range(0, d, 2)], "each feature must stand at one place: the odd ones are missing."),
        (lambda d: [i + 1 for i in _evens_first(d)], "features are counted from 0."),
        (lambda d: torch.eye(d)[_evens_first(d)], "this is the order as a matrix; return the list of whole numbers."),
        (lambda d: [[i, i + 1] for i in range(0, d, 2)], "these are the pairs; return one list of d whole numbers."),
    ]  # fmt: skip
    made = [(lambda d, f=f: list(f(d)) if isinstance(f(d), range) else f(d), words) for f, words in mistakes]
    return by_cases(answer, _evens_first, [(8,), (12,), (4,), (2,)], made, read=_listed)


def _listed(answer: object) -> Tensor:
    return numbers(list(answer) if isinstance(answer, range) else answer)


def _at(x: Tensor, position: int) -> Tensor:
    return rotary(x, torch.tensor([position]))


def _paired(x: Tensor, position: int) -> Tensor:
    return rotary(x, torch.tensor([position]), interleaved=True)


def _step(*, query: int = 0, key: int = 0, again: bool = False, values: bool = False) -> Callable:
    """Return a cached step; ``query`` and ``key`` say how far from its place the new word is put, None for 0."""

    def step(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, kept: Tensor) -> Tensor:
        S = len(keys)
        q = _at(q, 0 if query is None else S + query)
        k = _at(k, 0 if key is None else S + key)
        keys = rotary(keys) if again else keys
        v = _at(v, S) if values else v
        return attention(q, torch.cat([keys, k]), torch.cat([kept, v]))

    return step


def _step_mistakes() -> list[tuple[Callable, str]]:
    """Return every mixture of the planted bugs, and the ways to count wrongly."""
    places = {
        (0, 0): "",
        (None, None): "the new word is put at position 0, as if not turned: it stands after the kept ones.",
        (0, None): "the query stands where it should, but its own key is put at position 0, or not turned.",
        (None, 0): "the key stands where it should, but the query is put at position 0, or not turned.",
        (-1, -1): "the new word is put where the last kept one stands: positions are counted from 0.",
        (1, 0): "the query is put one place too far: it stands where its own key stands.",
        (0, -1): "the key is put one place too early: it stands where its own query stands.",
        (1, 1): "the new word is put one place too far: positions are counted from 0.",
    }
    found = []
    for ((query, key), where), again, values in itertools.product(
        places.items(), (False, True), (False, True)
    ):
        said = [where] if where else []
        said += ["the kept keys were turned when they came; you turn them once more."] if again else []
        said += ["the value is turned too: it is mixed, not compared, and nothing turns it back."] * values
        if said:
            words = said[0] if len(said) == 1 else f"more than one thing is wrong. One is this: {said[0]}"
            found.append((_step(query=query, key=key, again=again, values=values), words))
    return found


def cached_turn(answer: object) -> str | None:
    """Grade the repair of a step that keeps turned keys."""
    cases = []
    for S, D in ((6, 4), (1, 8), (11, 2)):
        q, k, v = (normal(1, D, seed=n) for n in (0, 1, 2))
        cases.append((q, k, v, rotary(normal(S, D, seed=3)), normal(S, D, seed=4)))
    mistakes = [
        *_step_mistakes(),
        (lambda q, k, v, a, b: attention(_at(q, len(a)), torch.cat([a, _at(k, len(a))]), rotary(torch.cat([b, v]))), "the values are turned too: they are mixed, not compared, and nothing turns them back."),
        (lambda q, k, v, a, b: attention(_at(q, len(a)), torch.cat([a, _at(k, len(a))]), torch.cat([b, v]), scale=1.0), "the scores are not divided by the root of D."),
        (lambda q, k, v, a, b: _step(query=a.shape[1] - len(a), key=a.shape[1] - len(a))(q, k, v, a, b), "the new word is put at position D, the width: it stands after the kept ones, of which there are `len(keys)`."),
        (lambda q, k, v, a, b: attention(_paired(q, len(a)), torch.cat([a, _paired(k, len(a))]), torch.cat([b, v])), "the kept keys were turned with halves as pairs; you turn neighbours: leave `interleaved` out."),
        (lambda q, k, v, a, b: attention(_at(q, len(a)), a, b), "the new key and value are missing: a word may attend to itself."),
    ]  # fmt: skip
    return by_cases(answer, _step(), cases, mistakes, read=_row)


def _row(answer: object) -> Tensor:
    got = numbers(answer)
    return got[None] if got.ndim == 1 else got


def chosen_base(answer: object) -> str | None:
    """Grade the base at which the slowest hand makes one turn in a context."""
    for context, d in ((4096, 64), (131072, 128), (1000, 8), (600, 4)):
        turns = context / (2 * math.pi)
        known = [
            (turns, "the slowest hand is not that slow: its speed is base^(-(d - 2) / d), not 1 / base."),
            (context ** (d / (d - 2)), "then the slowest hand turns by one radian in the context; a whole turn is 2 pi of them."),
            (context, "a whole turn is 2 pi radians, and the slowest hand has the speed base^(-(d - 2) / d)."),
            (turns ** ((d - 2) / d), "the exponent is upside down: solve context · base^(-(d - 2) / d) = 2 pi for the base."),
            ((2 * turns) ** (d / (d - 2)), "that is half a turn; a whole one is asked."),
            ((turns * 4 * math.pi**2) ** (d / (d - 2)), "you multiply by 2 pi: the context divided by it is the number of places for a radian."),
            (turns ** (d / (d - 1)), "the last pair has i = d/2 - 1, so its exponent is -(d - 2) / d."),
            (turns ** (2 * d / (d - 2)), "the exponent of pair i is 2 i / d, with the 2."),
            (turns ** -(d / (d - 2)), "a minus too many: a larger base makes slower hands."),
            ((context / 2 * math.pi) ** (d / (d - 2)), "`context / 2 * pi` divides by 2 and multiplies by pi: put 2 pi into brackets."),
            (2 * math.pi / context, "that is the speed of the slowest hand; which base gives it?"),
            (2 * math.pi * context ** ((d - 2) / d), "that is how long the slowest hand takes if the base is `context`; here the time is given and the base asked."),
            ((context / 360) ** (d / (d - 2)), "speeds are in radians: a whole turn is 2 pi, not 360."),
            (2 * math.pi * context ** (d / (d - 2)), "you multiply by 2 pi: the context divided by it is the number of places for a radian."),
            (10_000 * turns ** (d / (d - 2)), "that is a multiple of 10,000; the base itself is asked, whatever it was before."),
            ((turns - 1 / (2 * math.pi)) ** (d / (d - 2)), "the turn takes `context` places, not one fewer."),
            (turns ** (d / 2), "the exponent is not d/2: solve context · base^(-(d - 2) / d) = 2 pi for the base."),
            (turns ** (d / (d + 2)), "the last pair has i = d/2 - 1, so its exponent is -(d - 2) / d."),
        ]  # fmt: skip
        got, right = single(call(answer, context, d)), turns ** (d / (d - 2))
        if math.isclose(got, right, rel_tol=2e-3):  # a whole number will do
            continue
        return name_number(got, right, known, f"for {context} places and d = {d}: ")
    return None


EXERCISES = [
    Exercise(
        "8.2", "A test for order", "hard", 12,
        (
            "Put the words into a new order, `x[order]`, and run the function on them.",
            "If it does not see the order, its outputs are the old ones in the new order: `fn(x)[order]`.",
            "One order is not enough: a text turned round as a whole keeps all its distances. Try several random ones, and compare with torch.allclose.",
        ),
        order_test,
        "Four lines tell whether a layer reads a text or a bag. A single order would have passed ALiBi to both sides, which a mirror does not change.",
    ),
    Exercise(
        "8.4", "Move the clock", "medium", 8,
        (
            "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a sin b. Here a is m theta and b is k theta.",
            "Read both lines as a matrix times (sin a, cos a): what stands before sin a, what before cos a?",
        ),
        shift_matrix,
        "The matrix depends on k and not on m: one linear map moves every place by the same distance. So a projection can learn to look k places back.",
    ),
    Exercise(
        "8.7", "Turn a pair", "medium", 6,
        (
            "The angle of each row is `m * theta`, a tensor (T,).",
            "With a column of cosines and one of sines: the new first feature is first · cos - second · sin.",
            "The new second feature is first · sin + second · cos, with the old first one. `torch.stack([...], -1)` puts them together.",
        ),
        turned_pair,
        "That is rotary: this, for each pair of features with a speed of its own.",
    ),
    Exercise(
        "8.8", "Two ways to pair", "medium", 8,
        (
            "With halves, pair i is made of places i and i + d/2. With neighbours, it is made of features 2i and 2i + 1.",
            "So place i must take feature 2i, and place i + d/2 feature 2i + 1.",
        ),
        regrouped,
        "Weights trained with one pairing give wrong scores with the other, and no error. The rows of the query and key projections, put into this order, cure it once and for all.",
    ),
    Exercise(
        "8.9", "A cache that loses count", "medium", 10,
        (
            "How many words are kept? That is the position of the new one. `rotary` takes positions as its second argument, a tensor of whole numbers.",
            "Which of the tensors were turned before they came here?",
            "At position 0 nothing is turned: a mistake can hide there until another is mended. What are values for?",
        ),
        cached_turn,
        "Each of these runs, with the right shape, and even the first word comes out right. Compare a cached model with one that reads the whole text.",
    ),
    Exercise(
        "8.11", "A base for a context", "medium", 8,
        (
            "The slowest hand is that of the last pair, i = d/2 - 1: its speed is base^(-(d - 2) / d).",
            "After `context` places it stands at context · base^(-(d - 2) / d). One turn is 2 pi.",
            "Solve for the base: both sides to the power d / (d - 2).",
        ),
        chosen_base,
        "With 128 features and 131,072 places that is a base of about 24,000: with 10,000 the slowest hand has come round more than twice. Models for long texts take much larger bases still.",
    ),
]  # fmt: skip
