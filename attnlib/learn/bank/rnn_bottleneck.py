"""Exercises on the RNN bottleneck."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from itertools import product
from types import CodeType

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Calls, by_cases, close, normal, numbers, single


def _states(
    x: Tensor,
    w_x: Tensor,
    w_state: Tensor,
    bias: Tensor,
    *,
    squash: Callable = torch.tanh,
    start: float = 0.0,
) -> Tensor:
    state, states = torch.full((len(bias),), start), []
    for row in x:
        state = squash(row @ w_x + state @ w_state + bias)
        states.append(state)
    return torch.stack(states)


def _bias_outside(x: Tensor, w_x: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
    return _states(x, w_x, w_state, 0 * bias, squash=lambda state: state.tanh() + bias)


def _state_outside(x: Tensor, w_x: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
    state, states = torch.zeros(len(bias)), []
    for row in x:
        state = torch.tanh(row @ w_x + bias) + state @ w_state
        states.append(state)
    return torch.stack(states)


def _one_step_back(x: Tensor, w_x: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
    alone = torch.tanh(x @ w_x + bias)
    before = torch.cat([torch.zeros_like(alone[:1]), alone[:-1]])
    return torch.tanh(x @ w_x + before @ w_state + bias)


def _with_start(*case: Tensor) -> Tensor:
    states = _states(*case)
    return torch.cat([0 * states[:1], states])


def run_network(answer: object, says: dict[str, str]) -> str | None:
    """Grade a plain recurrent network over a whole sequence."""
    cases = [
        (normal(T, C, seed=0), normal(C, F, seed=1), normal(F, F, seed=2), normal(F, seed=3))
        for T, C, F in ((5, 3, 4), (2, 7, 3), (11, 2, 5), (1, 3, 2))
    ]
    mistakes = [
        (lambda x, a, b, c: _states(x, a, 0 * b, c), says["starts_anew"]),
        (lambda *case: _states(*case, squash=lambda state: state), says["no_tanh"]),
        (lambda *case: _states(*case, squash=torch.sigmoid), says["sigmoid"]),
        (lambda x, a, b, c: _states(x, a, b, 0 * c), says["no_bias"]),
        (_bias_outside, says["bias_outside"]),
        (_state_outside, says["state_outside"]),
        (_one_step_back, says["one_step_back"]),
        (lambda *case: _states(*case, start=1.0), says["from_ones"]),
        (lambda x, a, b, c: _states(x, a, b.T, c), says["transposed"]),
        (lambda *case: _states(*case)[-1], says["last_state"]),
        (lambda *case: _states(*case)[-1:], says["last_state"]),
        (lambda x, *case: _states(x, *case)[-1].expand(len(x), -1), says["same_rows"]),
        (lambda *case: _states(*case).flip(0), says["opposite_order"]),
        (_with_start, says["zero_state"]),
        (lambda *case: _with_start(*case)[:-1], says["before_each_step"]),
    ]
    ready_made = {"rnn_tanh", "rnn_tanh_cell"}, says["ready_made"]
    return by_cases(answer, _states, cases, mistakes, ready_made=ready_made)


def effective_range(answer: object, says: dict[str, str]) -> str | None:
    """Grade the number of steps after which less than a share is left."""
    cases = [
        (0.9, 0.25, 14),  # known mistakes give different numbers here
        (0.9, 0.01, 44),
        (0.5, 0.3, 2),
        (0.99, 0.5, 69),
        (0.5, 0.25, 3),
        (0.2, 0.9, 1),
        (0.999, 0.5, 693),
    ]
    for weight, share, right in cases:
        got = single(call(answer, weight, share))
        case = {"weight": weight, "share": share, "got": got, "s": "" if got == 1 else "s"}
        if got == right:
            continue
        if math.isinf(got):
            return says["infinite"].format(**case)
        if got < 0:
            return says["negative"].format(**case)
        if got != int(got):
            return says["not_whole"].format(**case)
        if weight**got == share:
            return says["exactly"].format(**case)
        if got == math.floor(math.log(1 - share) / math.log(weight)) + 1 != 1:
            return says["lost"].format(**case)
        if got == math.floor((1 - share) / (1 - weight)) + 1 != 1:
            return says["subtracted"].format(**case)
        if got < right:
            return says["too_early"].format(**case, left=weight**got)
        return says["too_late"].format(**case)
    for weight in (1.0, 1.2):
        try:
            got = single(call(answer, weight, 0.5))
        except (ZeroDivisionError, ValueError, OverflowError):
            return says["never_stops"].format(weight=weight)
        if got != math.inf:
            return says["never"].format(weight=weight, got=got)
    return None


def _by(size: Callable) -> Callable:
    """Return a function that scales a matrix by the radius asked for, divided by a size of the matrix."""
    return lambda w, radius: w * radius / size(w)


def set_radius(answer: object, says: dict[str, str]) -> str | None:
    """Grade the scaling of a matrix to a spectral radius."""
    turning = normal(7, 7, seed=2578)  # a complex pair leads, and no two mistakes divide by the same number
    shrinking = [[0.2, 1.0], [0.0, -1.5]]  # a negative number does, the last
    cases = [
        (turning.double(), 0.8),
        (torch.tensor(shrinking, dtype=torch.float64), 1.1),
        (normal(4, 4, seed=3).double(), 0.5),
    ]

    seen = []

    def real(result: object) -> Tensor:
        if "complex" in str(getattr(result, "dtype", "")):  # of PyTorch or NumPy
            if abs(result.imag).max() > 1e-6:
                raise AnswerError(says["complex"])
            result = result.real
        seen.append(numbers(result))
        return seen[-1]

    values = torch.linalg.eigvals
    mistakes = [
        (_by(lambda w: torch.linalg.matrix_norm(w, 2)), says["singular_value"]),
        (_by(torch.linalg.matrix_norm), says["frobenius"]),
        (_by(lambda w: values(w)[0].abs()), says["first"]),
        (_by(lambda w: values(w)[-1].abs()), says["last"]),
        (_by(lambda w: values(w).real.max()), says["real_part"]),
        (_by(lambda w: values(w).real.abs().max()), says["imaginary_dropped"]),
        (_by(lambda w: values(w).abs().min()), says["smallest"]),
        (_by(lambda w: values(w).abs().mean()), says["mean"]),
        (_by(lambda w: torch.linalg.eigvalsh(w).abs().max()), says["symmetric"]),
        (_by(lambda w: torch.linalg.eigvalsh(w).max()), says["symmetric"]),
        (_by(lambda w: 1.0), says["not_divided"]),
        (lambda w, radius: w / values(w).abs().max(), says["radius_one"]),
        (_by(lambda w: w.abs().max()), says["largest_entry"]),
    ]
    words = by_cases(answer, _by(lambda w: values(w).abs().max()), cases, mistakes, read=real)
    if not words or "the shape is right, but" not in words:
        return words
    w, radius = cases[len(seen) - 1]
    factor = (seen[-1] * w).sum() / w.square().sum()
    if not factor.isfinite() or not close(seen[-1], factor * w):
        return words
    start = words[: words.index("the shape is right")]
    found = abs(factor) * values(w).abs().max()
    if factor < 0 and abs(found - radius) < 1e-4:
        return start + says["negative_factor"]
    return start + says["other_radius"].format(factor=factor, found=found, radius=radius)


def gate(answer: object, says: dict[str, str]) -> str | None:
    """Grade the update of a gated unit."""
    cases = [
        (normal(*shape, seed=0), normal(*shape, seed=1), normal(*shape, seed=2).sigmoid())
        for shape in ((2, 5), (7,), (3, 2, 11))
    ]
    mistakes = [
        (lambda old, new, keep: (1 - keep) * old + keep * new, says["swapped"]),
        (lambda old, new, keep: keep * old + new, says["new_whole"]),
        (lambda old, new, keep: keep * (old + new), says["both_weighed"]),
        (lambda old, new, keep: old + (1 - keep) * new, says["old_whole"]),
        (lambda old, new, keep: old + keep * (old - new), says["wrong_way"]),
        (lambda old, new, keep: torch.lerp(new, old, keep.sigmoid()), says["sigmoid"]),
        (lambda old, new, keep: keep * old, says["new_missing"]),
        (lambda old, new, keep: keep * old - (1 - keep) * new, says["subtracted"]),
        (lambda old, new, keep: (old + new) / 2, says["keep_unused"]),
        (lambda old, new, keep: torch.where(keep > 0.5, old, new), says["hard"]),
        (lambda old, new, keep: keep * old + (1 - keep) * new.tanh(), says["tanh"]),
    ]
    return by_cases(answer, lambda old, new, keep: keep * old + (1 - keep) * new, cases, mistakes)


def look_up(answer: object, says: dict[str, str]) -> str | None:
    """Grade recall by attention, without training."""
    g = torch.Generator().manual_seed(968)  # first four different digits, and no letter that could be one
    called = between = False
    for n, digits in ((4, 10), (26, 10), (7, 6)):  # the last one knows no digit above 5
        keys, values = torch.randperm(26, generator=g)[:n], torch.randint(digits, (n,), generator=g)
        for at in range(n):
            with Calls() as calls:
                got = numbers(call(answer, keys.clone(), values.clone(), int(keys[at])))
            wrong = _wrong_shares(got, keys, values, at, says)
            if wrong:
                return says["asked"].format(pairs=n, key=int(keys[at]), wrong=wrong)
            called |= bool(calls.names & {"softmax", "log_softmax", "exp"})
            between |= bool(((got > 0) & (got < 1)).any())
    named = _mentions(getattr(answer, "__code__", None), {"softmax", "exp"})
    twice, never = _shares(answer, 2), _shares(answer, 17)  # a softmax shares, and bears what was not read
    halves = twice is not None and close(twice[[1, 5]], torch.full((2,), 0.5).double(), 1e-2)
    borne = never is not None and close(never.sum(), torch.tensor(1.0).double(), 1e-3)
    if not (called or (named and (between or halves)) or (halves and borne)):
        return says["dict"]
    return None


def _shares(answer: object, question: int) -> Tensor | None:
    """Return the shares of the ten digits where one letter was read twice, None if there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may divide zero by zero here
        try:
            got = numbers(call(answer, torch.tensor([2, 7, 2, 11]), torch.tensor([1, 3, 5, 8]), question))
        except Exception:
            return None
    return got.squeeze() if got.squeeze().shape == (10,) else None


def _wrong_shares(got: Tensor, keys: Tensor, values: Tensor, at: int, says: dict[str, str]) -> str | None:
    """Name what is wrong with ten shares."""
    right = int(values[at])
    if got.numel() == 1:
        return says["digit"]
    if got.squeeze().shape != (10,):
        return says["shape"].format(shape=tuple(got.shape))
    got = got.squeeze()
    if (got < 0).any():
        return says["negative"]
    if got.max() < 0.01 and right in values[at + 1 :]:
        return says["overwritten"].format(digit=right)
    if not close(got.sum(), torch.tensor(1.0).double(), 1e-3):
        return says["sum"].format(sum=got.sum())
    flat = (keys == keys[at]).double().softmax(-1) @ one_hot(values, 10).double()
    if close(got, flat):
        return says["flat"].format(share=got[right])
    if close(got, one_hot(values, 10).double().mean(0)):
        return says["all_the_same"]
    if got.argmax() != right:
        by_product = (keys * keys[at]).double().softmax(-1) @ one_hot(values, 10).double()
        words = says["product"] if close(got, by_product) else says["other_letter"]
        return words.format(digit=int(got.argmax()))
    if got[right] < 0.99:
        return says["too_little"].format(share=got[right])
    return None


def _mentions(code: CodeType | None, names: set[str]) -> bool:
    """Tell whether a function's code, or one inside it, uses one of the names."""
    if code is None:
        return False
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return bool(names & set(code.co_names)) or any(_mentions(one, names) for one in inner)


SETS = {"rnn": 1, "gru": 3, "lstm": 4}


def _parameters(cell: str, C: int, F: int) -> int:
    return SETS[cell] * (C * F + F * F + 2 * F)


def _widest(
    cell: str, C: int, budget: int, count: Callable = _parameters, fits: Callable = int.__le__
) -> int:
    """Return the largest width whose count fits the budget; a width of 1 is taken to fit."""
    width = 1
    while fits(count(cell, C, width + 1), budget):
        width += 1
    return width


def _with_sets(**sets: int) -> Callable:
    """Return a search for the widest state, with other numbers of sets for some cells."""
    return lambda *case: _widest(*case, lambda cell, C, F: (SETS | sets)[cell] * _parameters("rnn", C, F))


def _with_size(size: Callable) -> Callable:
    """Return a search for the widest state, with another size of a set: ``size(C, F)``."""
    return lambda *case: _widest(*case, lambda cell, C, F: SETS[cell] * size(C, F))


def _rounded_up(cell: str, C: int, budget: int) -> int:
    width = _widest(cell, C, budget)
    return width + (_parameters(cell, C, width) < budget)


def _nearest(cell: str, C: int, budget: int) -> int:
    width = _widest(cell, C, budget)
    over, left = _parameters(cell, C, width + 1) - budget, budget - _parameters(cell, C, width)
    return width + (over < left)


def _wide_enough(answer: object, says: dict[str, str]) -> str | None:
    """Name a search that stops too early; the mistakes of smaller widths do not come as far as this."""
    case = "rnn", 2, _parameters("rnn", 2, 479) + 5
    got, width = single(call(answer, *case)), 479
    if got == width:
        return None
    words = says["stops" if got < width else "too_wide"].format(got=got)
    return says["for_it"].format(cell=case[0], C=case[1], budget=case[2], wrong=words)


def widest_state(answer: object, says: dict[str, str]) -> str | None:
    """Grade a search for the widest state within a budget; a mistake is known by the widths of all cases."""
    cases = [
        (cell, C, _parameters(cell, C, F) + more)
        for cell, C, F, more in (
            *(("lstm", 3, 11, 0), ("gru", 5, 13, 0), ("rnn", 7, 17, 0)),  # met exactly
            *(("lstm", 2, 23, -1), ("gru", 3, 19, -1), ("rnn", 2, 29, -1)),  # missed by one
            *(("lstm", 31, 7, 60), ("gru", 29, 5, 90), ("rnn", 40, 12, 20)),
            *(("lstm", 1, 40, -50), ("gru", 1, 37, -50), ("rnn", 1, 41, -50)),
        )
    ]
    mistakes = [
        (_with_size(lambda C, F: C * F + F * F + F), says["one_bias"]),
        (_with_size(lambda C, F: C * F + F * F), says["no_biases"]),
        (_with_sets(gru=1, lstm=1), says["one_set"]),
        (_with_sets(gru=2, lstm=3), says["no_candidate"]),
        (_with_sets(gru=4, lstm=3), says["exchanged_cells"]),
        (_with_sets(gru=4), says["gru_as_lstm"]),
        (_with_sets(lstm=3), says["lstm_as_gru"]),
        (_with_sets(rnn=2, gru=6, lstm=8), says["eight_sets"]),
        (lambda *case: _widest(*case, fits=int.__lt__), says["below"]),
        (lambda *case: _widest(*case) + 1, says["one_too_wide"]),
        (_with_size(lambda C, F: F * F + 2 * F), says["no_inputs"]),
        (_with_size(lambda C, F: C * F + 2 * F), says["no_state"]),
        (_with_size(lambda C, F: C * F + C * C + 2 * F), says["state_by_inputs"]),
        (_with_size(lambda C, F: C * F + F * F + 2 * C), says["long_biases"]),
        (_nearest, says["nearest"]),
        (_rounded_up, says["rounded_up"]),
        (_with_sets(rnn=4, gru=4), says["four_sets"]),
        (_with_sets(gru=2), says["no_candidate"]),
        (_with_size(lambda C, F: F * F), says["square_alone"]),
        (lambda cell, C, budget: int((budget / SETS[cell]) ** 0.5), says["square_alone"]),
        (lambda cell, C, budget: _parameters(cell, C, budget), says["count"]),
    ]
    got = [single(call(answer, *case)) for case in cases]
    right = [_widest(*case) for case in cases]
    if got == right:
        return _wide_enough(answer, says)
    for wrong, words in mistakes:
        if got == [wrong(*case) for case in cases]:
            return words
    case, yours, width = next(one for one in zip(cases, got, right, strict=True) if one[1] != one[2])
    if yours != int(yours) if math.isfinite(yours) else True:
        words = says["not_whole"]
    elif yours < 1:
        words = says["not_positive"]
    else:
        words = says["too_wide" if yours > width else "too_narrow"]
    cell, C, budget = case
    return says["for_it"].format(cell=cell, C=C, budget=budget, wrong=words.format(got=yours))


# as `says` spells them
NAMED = "a_name"
OTHER = "another_word"
STOP = "the_full_stop"


def _sentence(*words: object) -> list[tuple[str, float]]:
    """Return words as pairs: a number is a name, "." the full stop, ``n * "w"`` so many other words."""
    read = []
    for word in words:
        if isinstance(word, str):
            read += [(STOP if letter == "." else OTHER, 0.0) for letter in word]
        else:
            read.append((NAMED, float(word)))
    return read


TEXTS = [
    _sentence(0.8),
    _sentence(0.5, 28 * "w"),
    _sentence(0.8, "www", -0.4, "www"),
    _sentence("w", -0.8, "wwww", 0.4, "www."),
    _sentence(0.8, "www", -0.4, "wwww.", -0.4, "www", 0.8, "www."),
    _sentence(1, "w", -1, "w", 1, "w", -1, -1, "w", -1, 20 * "w"),
    _sentence(-1, "w", 1, "w", -1, "w", 1, 1, "w", 1, 20 * "w"),
    _sentence(
        ".", "www.", 0.1, 0.9, ".", "ww", -0.1, -0.9, "w.", 0.0, 1, -1, "ww.", 1, 25 * "w", -1, "..", -1, "w"
    ),
    _sentence(*[n for hero in (-1, -0.6, 0.3, 1) for n in (hero, "w", -hero, "w", 1, -1, "ww.")]),
]


def _gate_weights(answer: object, says: dict[str, str]) -> tuple[Tensor, Tensor, Tensor]:
    """Read w (3,), u (2,) and b of a gate.

    Raises:
        AnswerError: If they have another form.
    """
    parts = list(answer.values()) if isinstance(answer, Mapping) else answer
    if not isinstance(parts, (list, tuple)) or len(parts) != 3:
        raise AnswerError(says["three_things"])
    read = [numbers(part).flatten() for part in parts]
    for name, size, part in zip("wub", (3, 2, 1), read, strict=True):
        if part.numel() != size:
            words = says["one_number"] if size == 1 else says["so_many_numbers"]
            raise AnswerError(words.format(name=name, size=size, got=part.numel()))
        if not part.isfinite().all():
            raise AnswerError(says["not_finite"].format(name=name))
    return read[0], read[1], read[2][0]


def _first_failure(w: Tensor, u: Tensor, b: Tensor) -> tuple[int, str, bool, float, float, float] | None:
    """Read the texts; where the state first leaves the hero, tell all about that word, else return None."""
    for n, text in enumerate(TEXTS):
        state, hero = torch.zeros(2, dtype=torch.float64), None
        for word, value in text:
            x = torch.tensor([value, word == NAMED, word == STOP], dtype=torch.float64)
            keep = (x @ w + state @ u + b).sigmoid()
            state, taken = keep * state + (1 - keep) * x[:2], hero is not None
            hero = None if word == STOP else value if word == NAMED and not taken else hero
            if not abs(state[0].item() - (hero or 0.0)) <= 0.05:
                return n, word, taken, keep.item(), state[0].item(), value
    return None


def _holds(w: Tensor, u: Tensor, b: Tensor) -> bool:
    """Tell whether the state holds the hero in all texts."""
    return _first_failure(w, u, b) is None


def gate_design(answer: object, says: dict[str, str]) -> str | None:
    """Grade the weights of a gate that keeps the first name of each sentence."""
    w, u, b = _gate_weights(answer, says)
    failure = _first_failure(w, u, b)
    if failure is None:
        return None
    n, word, taken, keep, held, value = failure
    if _holds(10 * w, 10 * u, 10 * b):
        words = says["too_small"]
    elif _holds(-w, -u, -b):
        words = says["signs_turned"]
    elif _holds(w[[1, 0, 2]], u, b) or _holds(w[[0, 2, 1]], u, b):
        words = says["w_exchanged"]
    elif _holds(w, u.flip(0), b):
        words = says["u_exchanged"]
    elif word == NAMED and not taken:
        words = says["slot_not_cleared"] if n >= 4 else says["first_kept_out"]
    elif word == OTHER:
        words = says["fades"]
    elif word == STOP:
        words = says["stop_does_not_clear"]
    elif n >= 4:
        words = says["some_leak_in"]
    elif abs(held - value) < 0.05:
        words = says["second_takes_over"]
    else:
        words = says["second_mixes"]
    return words.format(word=says[word], keep=keep, value=value)


def _cell(C: int, F: int, seed: int) -> nn.RNNCell:
    """Return a cell that turns its state and adds little, so that what a word left does not fade in a text."""
    cell = nn.utils.skip_init(nn.RNNCell, C, F)  # no numbers of the learner's generator
    with torch.no_grad():
        for n, weight in enumerate(cell.parameters()):
            weight.copy_(normal(*weight.shape, seed=seed + n) / (2 * C**0.5))
        cell.weight_hh.copy_(torch.linalg.qr(normal(F, F, seed=seed))[0])
    return cell


def _run(cell: nn.RNNCell, words: Tensor, state: Tensor | None) -> Tensor:
    """Return the states of one text, (T, F), the state it starts from first."""
    states = [torch.zeros(cell.hidden_size) if state is None else state]
    for word in words:
        states.append(cell(word[None], states[-1][None])[0])
    return torch.stack(states)


def _readers(says: dict[str, str]) -> tuple[list, list, list]:
    """Return how forth can end, how back can start, and what it can read: first what is right."""
    ends = [
        (lambda states, n: states[n], ""),
        (lambda states, n: states[-1], says["forth_in_padding"]),
        (lambda states, n: states[n - 1], says["forth_too_short"]),
        (lambda states, n: states[min(n + 1, len(states) - 1)], says["forth_too_far"]),
        (lambda states, n: states[n] * (n == len(states) - 1), says["summary_lost"]),
        (lambda states, n: states[1 : n + 1].mean(0), says["mean"]),
        (lambda states, n: states[1 : n + 1].amax(0), says["largest"]),
    ]
    starts = [
        (lambda forward, n: None, ""),
        (lambda forward, n: forward[n], says["carried_over"]),
        (lambda forward, n: forward[-1], says["carried_from_padding"]),
    ]
    reads = [
        (lambda cell, x, n, start: _run(cell, x[:n].flip(0), start)[-1], ""),
        (lambda cell, x, n, start: _run(cell, x.flip(0), start)[-1], says["back_in_padding"]),
        (lambda cell, x, n, start: _run(cell, x.flip(0)[:n], start)[-1], says["back_from_end_of_row"]),
        (lambda cell, x, n, start: _run(cell, x[:n].flip(0), start)[1], says["back_one_word"]),
        (lambda cell, x, n, start: _run(cell, x[:n], start)[-1], says["back_reads_forth"]),
        (lambda cell, x, n, start: _run(cell, x[:n].flip(0), start)[-2], says["back_too_short"]),
        (lambda cell, x, n, start: _run(cell, x[: n - 1].flip(0), start)[-1], says["back_without_last"]),
        (lambda cell, x, n, start: _run(cell, x[: n + 1].flip(0), start)[-1], says["back_too_late"]),
    ]
    return ends, starts, reads


def _encoder(end: Callable, start: Callable, read: Callable, *, blank: bool = False) -> Callable:
    """Return an encoder that reads both ways, each text by itself."""

    def encode(x: Tensor, lengths: Tensor, forth: nn.RNNCell, back: nn.RNNCell) -> Tensor:
        rows = []
        for text, n in zip(x, lengths.tolist(), strict=True):
            if blank:
                text = torch.cat([text[:n], 0 * text[n:]])
            forward = _run(forth, text, None)
            rows.append(torch.cat([end(forward, n), read(back, text, n, start(forward, n))]))
        return torch.stack(rows)

    return encode


def both_ways(answer: object, says: dict[str, str]) -> str | None:
    """Grade the repair of an encoder that reads texts of different lengths both ways."""
    cases = [
        (normal(len(lengths), T, C, seed=T), torch.tensor(lengths), _cell(C, F, 10), _cell(C, F, 20))
        for T, C, F, lengths in ((7, 5, 2, [7, 3, 5]), (5, 3, 7, [2, 4]), (3, 2, 11, [1, 3, 2, 3, 1]))
    ]
    ends, starts, reads = _readers(says)
    right = _encoder(ends[0][0], starts[0][0], reads[0][0])
    as_before = _encoder(ends[1][0], starts[2][0], reads[1][0])
    from_zeros = _encoder(ends[1][0], starts[0][0], reads[1][0])

    def halves(*case: object) -> tuple[Tensor, Tensor]:
        return right(*case).chunk(2, -1)

    def sorted_texts(x: Tensor, lengths: Tensor, *cells: nn.RNNCell) -> Tensor:
        order = lengths.argsort(descending=True)
        return right(x[order], lengths[order], *cells)

    def only_padding(x: Tensor, lengths: Tensor, forth: nn.RNNCell, back: nn.RNNCell) -> Tensor:
        texts = [text[n:] for text, n in zip(x, lengths.tolist(), strict=True)]
        ends = [torch.cat([_run(forth, t, None)[-1], _run(back, t.flip(0), None)[-1]]) for t in texts]
        return torch.stack(ends)

    def one_word(x: Tensor, lengths: Tensor, forth: nn.RNNCell, back: nn.RNNCell) -> Tensor:
        return torch.cat([forth(x[torch.arange(len(x)), lengths - 1]), back(x[:, 0])], -1)

    mistakes = [
        (as_before, says["as_before"]),
        (from_zeros, says["both_in_padding"]),
        (lambda *case: torch.cat(halves(*case)[::-1], -1), says["halves_exchanged"]),
        (lambda *case: sum(halves(*case)), says["added"]),
        (lambda *case: torch.stack(halves(*case)), says["stacked"]),
        (sorted_texts, says["sorted"]),
        (lambda x, n, *cells: right(x, n.min().expand_as(n), *cells), says["shortest"]),
        (only_padding, says["only_padding"]),
        (one_word, says["one_word"]),
        (lambda *case: halves(*case)[0], says["forth_alone"]),
        (lambda *case: halves(*case)[1], says["back_alone"]),
        (lambda *case: torch.cat(halves(*case), 0), says["below"]),
        (lambda x, n, forth, back: right(x, n, forth, forth), says["both_forth"]),
        (lambda x, n, forth, back: right(x, n, back, back), says["both_back"]),
        (lambda x, n, forth, back: right(x, n, back, forth), says["weights_exchanged"]),
    ]
    for (end, first), (start, _), (read, third) in product(ends[:2], starts, reads[:2]):
        if first or third:
            mistakes.append((_encoder(end, start, read, blank=True), says["zeros"]))
    for (end, first), (start, second), (read, third) in product(ends, starts, reads):
        said = [words for words in (first, second, third) if words]
        if len(said) > 1:
            said[0] = says["several"].format(count=len(said), one=said[0])
        if said:
            mistakes.append((_encoder(end, start, read), said[0]))
    return by_cases(answer, right, cases, mistakes, tolerance=1e-5)
