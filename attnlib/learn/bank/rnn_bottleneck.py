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
from attnlib.learn.grading import Calls, Exercise, by_cases, close, name_number, normal, numbers, single


def _states(
    x: Tensor, w_x: Tensor, w_state: Tensor, bias: Tensor, *, carry: float = 1.0, squash: bool = True
) -> Tensor:
    state, states = torch.zeros(len(bias)), []
    for row in x:
        state = row @ w_x + carry * (state @ w_state) + bias
        state = torch.tanh(state) if squash else state
        states.append(state)
    return torch.stack(states)


def _with_start(*case: Tensor) -> Tensor:
    states = _states(*case)
    return torch.cat([0 * states[:1], states])


def run_network(answer: object) -> str | None:
    """Grade a plain recurrent network over a whole sequence."""
    cases = [
        (normal(T, C, seed=0), normal(C, F, seed=1), normal(F, F, seed=2), normal(F, seed=3))
        for T, C, F in ((5, 3, 4), (2, 7, 3), (11, 2, 5), (1, 3, 2))
    ]
    last = "this is the last state; collect the state after every step, and stack them."
    mistakes = [
        (lambda *case: _states(*case, carry=0.0), "each state starts anew: the state of the step before has to go in."),
        (lambda *case: _states(*case, squash=False), "the tanh is missing."),
        (lambda x, a, b, c: _states(x, a, b, 0 * c), "the bias is missing."),
        (lambda x, a, b, c: _states(x, a, b.T, c), "the matrix from state to state is transposed: it is `state @ w_state`."),
        (lambda *case: _states(*case)[-1], last),
        (lambda *case: _states(*case)[-1:], last),
        (lambda *case: _states(*case).flip(0), "the states come in the opposite order: read from the first row to the last."),
        (_with_start, "the zero state at the start is not the state after a word; leave it out."),
        (lambda *case: _with_start(*case)[:-1], "these are the states before each step; append after the update."),
    ]  # fmt: skip
    own = {"rnn_tanh", "rnn_tanh_cell"}, "it calls a ready-made network; write the loop yourself."
    return by_cases(answer, _states, cases, mistakes, ready_made=own)


def reach(answer: object) -> str | None:
    """Grade the number of steps after which less than a share is left."""
    cases = [
        (0.9, 0.01, 44),
        (0.5, 0.3, 2),
        (0.99, 0.5, 69),
        (0.5, 0.25, 3),
        (0.2, 0.9, 1),
        (0.999, 0.5, 693),
    ]
    for weight, share, right in cases:
        got, where = single(call(answer, weight, share)), f"reach({weight}, {share})"
        if got == right:
            continue
        if math.isinf(got):
            return f"{where} is not infinite: with a weight below 1 every step leaves less, and in the end less than {share}."
        if got < 0:
            return f"{where} is negative: log(share) and log(weight) are both negative, and their quotient is not."
        if got != int(got):
            return f"{where} is {got:.2f} in yours: there are whole steps only; after which is less than {share} left?"
        if weight**got == share:
            return f"{where}: after {got:g} steps exactly {share} is left, which is not less."
        if got < right:
            return (
                f"{where}: after {got:g} steps {weight**got:.3g} is left, which is not less than {share} yet."
            )
        return f"{where}: before step {got:g} less than {share} is left already."
    for weight in (1.0, 1.2):
        try:
            got = single(call(answer, weight, 0.5))
        except (ZeroDivisionError, ValueError, OverflowError):
            return f"reach({weight}, 0.5) stops with an error: a weight of 1 or more never gets there, so return math.inf."
        if got != math.inf:
            return f"reach({weight}, 0.5) should be math.inf, yours is {got:g}: such a weight loses nothing."
    return None


def _by(size: object) -> object:
    """Return a function that scales a matrix by the radius asked for, divided by a size of the matrix."""
    return lambda w, radius: w * radius / size(w)


def set_radius(answer: object) -> str | None:
    """Grade the scaling of a matrix to a spectral radius."""
    turning = [[0.5, 2.0, 0.0], [-1.0, 0.5, 0.3], [0.2, 0.0, -0.4]]  # a complex pair is the largest
    shrinking = [[0.2, 1.0], [0.0, -1.5]]  # a negative number is, and it comes last
    cases = [
        (torch.tensor(turning, dtype=torch.float64), 0.8),
        (torch.tensor(shrinking, dtype=torch.float64), 1.1),
        (normal(7, 7, seed=3).double(), 0.5),
    ]
    values, drop = torch.linalg.eigvals, "the size of a complex number is its `abs()`."
    mistakes = [
        (_by(lambda w: torch.linalg.matrix_norm(w, 2)), "you divide by the largest singular value; the radius is about eigenvalues."),
        (_by(torch.linalg.matrix_norm), "you divide by the Frobenius norm; the radius is about eigenvalues."),
        (_by(lambda w: values(w)[0].abs()), "you take the first eigenvalue; they come in no order: take the largest."),
        (_by(lambda w: values(w)[-1].abs()), "you take the last eigenvalue; they come in no order: take the largest."),
        (_by(lambda w: values(w).real.max()), f"you take the largest real part; {drop}"),
        (_by(lambda w: values(w).real.abs().max()), f"you drop the imaginary parts; {drop}"),
        (_by(lambda w: values(w).abs().min()), "you take the smallest eigenvalue; the radius is the largest."),
        (_by(lambda w: values(w).abs().mean()), "you take a mean of the eigenvalues; the radius is the largest."),
        (_by(lambda w: 1.0), "the matrix has a radius of its own: divide by it first."),
        (lambda w, radius: w / values(w).abs().max(), "its radius is 1 now; multiply by the one asked for."),
        (_by(lambda w: w.abs().max()), "you divide by the largest entry; the radius is about eigenvalues."),
    ]  # fmt: skip
    return by_cases(answer, _by(lambda w: values(w).abs().max()), cases, mistakes)


def gate(answer: object) -> str | None:
    """Grade the update of a gated unit."""
    cases = [
        (normal(*shape, seed=0), normal(*shape, seed=1), normal(*shape, seed=2).sigmoid())
        for shape in ((2, 5), (7,), (3, 2, 11))
    ]
    both = "keep weighs both; the candidate gets 1 - keep."
    mistakes = [
        (lambda old, new, keep: (1 - keep) * old + keep * new, "keep and replace are swapped: where keep is 1, the old state stays."),
        (lambda old, new, keep: keep * old + new, "the candidate comes in whole: weigh it with what keep leaves over."),
        (lambda old, new, keep: keep * (old + new), both),
        (lambda old, new, keep: old + keep * (old - new), "the step goes the wrong way: from new towards old, keep of the way."),
        (lambda old, new, keep: torch.lerp(new, old, keep.sigmoid()), "keep is a share between 0 and 1 already; no sigmoid is needed."),
        (lambda old, new, keep: keep * old, "the candidate is missing: it gets the share that keep leaves over."),
        (lambda old, new, keep: keep * old - (1 - keep) * new, "the two shares are added, not taken from each other."),
        (lambda old, new, keep: (old + new) / 2, "keep is not used: it says how much of the old state stays."),
        (lambda old, new, keep: keep * old + (1 - keep) * new.tanh(), "the candidate comes ready; no tanh is needed."),
    ]  # fmt: skip
    return by_cases(answer, lambda old, new, keep: keep * old + (1 - keep) * new, cases, mistakes)


def look_up(answer: object) -> str | None:
    """Grade recall by attention, without training."""
    g = torch.Generator().manual_seed(0)
    called, between = False, False
    for n, digits in ((4, 10), (26, 10), (7, 6)):  # the last one knows no digit above 5
        keys, values = torch.randperm(26, generator=g)[:n], torch.randint(digits, (n,), generator=g)
        for at in range(n):
            with Calls() as calls:
                got = numbers(call(answer, keys.clone(), values.clone(), int(keys[at])))
            wrong = _wrong_shares(got, keys, values, at)
            if wrong:
                return f"with {n} pairs, asked for key {int(keys[at])}: {wrong}"
            called |= bool(calls.names & {"softmax", "log_softmax", "exp"})
            between |= bool(((got > 0) & (got < 1)).any())
    named = _mentions(getattr(answer, "__code__", None), {"softmax", "exp"})
    twice, never = _shares(answer, 2), _shares(answer, 17)  # a softmax shares, and bears what was not read
    halves = twice is not None and close(twice[[1, 5]], torch.full((2,), 0.5).double(), 1e-2)
    borne = never is not None and close(never.sum(), torch.tensor(1.0).double(), 1e-3)
    if not (called or (named and (between or halves)) or (halves and borne)):
        return (
            "the digit is right, but it is looked up as in a dict: compute scores, and let a softmax choose."
        )
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


def _wrong_shares(got: Tensor, keys: Tensor, values: Tensor, at: int) -> str | None:
    """Name what is wrong with ten shares."""
    right = int(values[at])
    if got.numel() == 1:
        return "return ten shares, one for each digit, and not the digit itself."
    if got.squeeze().shape != (10,):
        return f"the shape should be (10,), one share for each digit, yours is {tuple(got.shape)}."
    got = got.squeeze()
    if (got < 0).any():
        return "a share is negative; a softmax gives none below 0."
    if not close(got.sum(), torch.tensor(1.0).double(), 1e-3):
        return f"the shares should sum to one, yours sum to {got.sum():.3f}."
    flat = (keys == keys[at]).double().softmax(-1) @ one_hot(values, 10).double()
    if close(got, flat):
        return f"the right digit gets {got[right]:.3f}: scores of 1 and 0 are too close. Multiply them."
    if got.argmax() != right:
        return f"the largest share is on {int(got.argmax())}, the digit of another letter."
    if got[right] < 0.99:
        return f"the right digit gets {got[right]:.3f}, and should get 0.99. Multiply the scores."
    return None


def _mentions(code: CodeType | None, names: set[str]) -> bool:
    """Tell whether a function's code, or one inside it, uses one of the names."""
    if code is None:
        return False
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return bool(names & set(code.co_names)) or any(_mentions(one, names) for one in inner)


def lstm_size(answer: object) -> str | None:
    """Grade the number of parameters of an LSTM."""
    for C, F in ((3, 5), (16, 39), (11, 2)):
        known = [
            (4 * (C * F + F * F + F), "PyTorch's LSTM has two biases for each gate, one beside each matrix."),
            (4 * (C * F + F * F), "the biases are missing: two for each gate."),
            (C * F + F * F + 2 * F, "that is a plain network; an LSTM has four such sets, one for each gate and one for the candidate."),
            (3 * (C * F + F * F + 2 * F), "that is a GRU; an LSTM has one gate more."),
            (4 * (C * C + C * F + 2 * F), "the matrix from state to state is F by F."),
            (4 * F * (C + F) + 8 * C, "the biases are as long as the state: F, not C."),
            (4 * (C + F + 2), "that is for one number of the state; there are F."),
            (8 * F * (C + F + 2), "each set counts once; you have eight of them."),
        ]  # fmt: skip
        got = single(call(answer, C, F))
        wrong = name_number(got, 4 * (C * F + F * F + 2 * F), known, f"with C = {C} and F = {F}: ")
        if wrong:
            return wrong
    return None


NAMED, OTHER, STOP = "a name", "another word", "the full stop"


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
    _sentence(".", "www.", 0.1, 0.9, ".", "ww", -0.1, -0.9, "w.", 0.0, 1, -1, "ww.", 1, 25 * "w", -1, "..", -1, "w"),
    _sentence(*[n for hero in (-1, -0.6, 0.3, 1) for n in (hero, "w", -hero, "w", 1, -1, "ww.")]),
]  # fmt: skip


def _gate_weights(answer: object) -> tuple[Tensor, Tensor, Tensor]:
    """Read w (3,), u (2,) and b of a gate.

    Raises:
        AnswerError: If they have another form.
    """
    parts = list(answer.values()) if isinstance(answer, Mapping) else answer
    if not isinstance(parts, (list, tuple)) or len(parts) != 3:
        raise AnswerError("three things are asked in a list: w, three numbers; u, two; and b, one.")
    read = [numbers(part).flatten() for part in parts]
    for name, size, part in zip("wub", (3, 2, 1), read, strict=True):
        if part.numel() != size:
            raise AnswerError(
                f"{name} should have {size} number{'s' * (size > 1)}, yours has {part.numel()}."
            )
        if not part.isfinite().all():
            raise AnswerError(f"{name} should be finite: a sigmoid of 20 is 1 already, to eight digits.")
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


def gate_design(answer: object) -> str | None:
    """Grade the weights of a gate that keeps the first name of each sentence."""
    w, u, b = _gate_weights(answer)
    failure = _first_failure(w, u, b)
    if failure is None:
        return None
    if _first_failure(10 * w, 10 * u, 10 * b) is None:
        return f"the idea is right, but the numbers are too small: at {failure[1]} the gate stands at {failure[3]:.2g}, and what leaks adds up over thirty words."
    if _first_failure(-w, -u, -b) is None:
        return "every sign is turned round: the gate says what stays of the old state, not what comes in."
    if _first_failure(w[[1, 0, 2]], u, b) is None or _first_failure(w[[0, 2, 1]], u, b) is None:
        return (
            "it would be right with two numbers of w exchanged: a word is (value, is a name, is a full stop)."
        )
    if _first_failure(w, u.flip(0), b) is None:
        return "it would be right with the two numbers of u exchanged: the state is (value, place taken)."
    n, word, taken, keep, held, value = failure
    at = f"the gate stands at {keep:.2g}"
    if (word, taken) == (NAMED, False):
        if n >= 4:
            return f"after a full stop a name comes to a place that should be empty, and {at}; let the full stop clear it."
        return f"the first name does not come in: the place is empty, and {at}, where 0 would let it in."
    if (word, taken) == (OTHER, True):
        return f"the name fades: at a word that is no name {at}, and a sentence may have thirty words."
    if (word, taken) == (STOP, True):
        return f"the full stop does not clear the place: {at} there. The score has to get below 0 although the place is taken."
    if word == NAMED and n < 4 and abs(held - value) < 0.05:
        return (
            f"the second name takes the place of the first: {at}. It must matter whether the place is taken."
        )
    if word == NAMED and n < 4:
        return f"the second name mixes with the first: {at}, where 1 would keep it out."
    if word == NAMED:
        return f"some names in second place leak in: for {value:g} {at}. It should not matter who it is, nor how many came before."
    return f"at {word}, with the place empty, the state does not stay 0: {at}."


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


FORTH = {
    "": lambda states, n: states[n],
    "forth reads on through the filling: the summary of a short text is what is left after its last word.": lambda states, n: states[-1],
    "forth stops one word early: the last word of a text belongs to it.": lambda states, n: states[n - 1],
    "forth reads one place too far: of `n` words the last stands at `n - 1`.": lambda states, n: states[min(n + 1, len(states) - 1)],
    "a short text loses its summary: in the filling its state must stay, not become 0.": lambda states, n: states[n] * (n == len(states) - 1),
    "the mean of the states is something else than the state after the last word.": lambda states, n: states[1 : n + 1].mean(0),
    "the largest of the states is something else than the state after the last word.": lambda states, n: states[1 : n + 1].amax(0),
}  # fmt: skip
START = {
    "": lambda forward, n: None,
    "back does not start from zeros: it goes on from where forth ended.": lambda forward, n: forward[n],
    "back does not start from zeros: it goes on from forth's state at the end of the filling.": lambda forward, n: (
        forward[-1]
    ),
}
BACK = {
    "": lambda cell, x, n, start: _run(cell, x[:n].flip(0), start)[-1],
    "back begins in the filling: its first word should be the last of the text.": lambda cell, x, n, start: _run(cell, x.flip(0), start)[-1],
    "back takes as many places as the text has words, but from the end of the row, where the filling is: turn round the text alone.": lambda cell, x, n, start: _run(cell, x.flip(0)[:n], start)[-1],
    "back has read one word only: its state at the last word is its first, the one at the first word its last.": lambda cell, x, n, start: _run(cell, x[:n].flip(0), start)[1],
    "back reads from the first word to the last, as forth does.": lambda cell, x, n, start: _run(cell, x[:n], start)[-1],
    "back stops one word early: it has to read the first word too.": lambda cell, x, n, start: _run(cell, x[:n].flip(0), start)[-2],
    "back leaves out the last word of a text; of `n` words it stands at `n - 1`.": lambda cell, x, n, start: _run(cell, x[: n - 1].flip(0), start)[-1],
    "back begins one place too late, in the filling: of `n` words the last stands at `n - 1`.": lambda cell, x, n, start: _run(cell, x[: n + 1].flip(0), start)[-1],
}  # fmt: skip


def _encoder(ends: Callable, starts: Callable, reads: Callable, *, blank: bool = False) -> Callable:
    """Return an encoder that reads both ways, each text by itself."""

    def encode(x: Tensor, lengths: Tensor, forth: nn.RNNCell, back: nn.RNNCell) -> Tensor:
        rows = []
        for text, n in zip(x, lengths.tolist(), strict=True):
            if blank:
                text = torch.cat([text[:n], 0 * text[n:]])
            forward = _run(forth, text, None)
            rows.append(torch.cat([ends(forward, n), reads(back, text, n, starts(forward, n))]))
        return torch.stack(rows)

    return encode


def both_ways(answer: object) -> str | None:
    """Grade the repair of an encoder that reads texts of different lengths both ways."""
    cases = []
    for B, T, C, F, lengths in (
        (3, 7, 5, 2, [7, 3, 5]),
        (2, 5, 3, 7, [2, 4]),
        (5, 3, 2, 11, [1, 3, 2, 3, 1]),
    ):
        cells = _cell(C, F, 10), _cell(C, F, 20)
        cases.append((normal(B, T, C, seed=T), torch.tensor(lengths), *cells))
    mistakes = []
    for (first, ends), (second, starts), (third, reads) in product(
        FORTH.items(), START.items(), BACK.items()
    ):
        said = [words for words in (first, second, third) if words]
        if said:
            left = f"{len(said)} mistakes are in it, one of them: " if len(said) > 1 else ""
            mistakes.append((_encoder(ends, starts, reads), left + said[0]))
    right = _encoder(FORTH[""], START[""], BACK[""])
    through, begins = list(FORTH)[1], list(BACK)[1]
    found = [_encoder(FORTH[through], START[list(START)[n]], BACK[begins]) for n in (2, 0)]

    def halves(x: Tensor, lengths: Tensor, forth: nn.RNNCell, back: nn.RNNCell) -> tuple[Tensor, Tensor]:
        return right(x, lengths, forth, back).chunk(2, -1)

    def sorted_texts(x: Tensor, lengths: Tensor, forth: nn.RNNCell, back: nn.RNNCell) -> Tensor:
        order = lengths.argsort(descending=True)
        return right(x[order], lengths[order], forth, back)

    def only_filling(x: Tensor, lengths: Tensor, forth: nn.RNNCell, back: nn.RNNCell) -> Tensor:
        texts = [x[i, n:] for i, n in enumerate(lengths.tolist())]
        ends = [torch.cat([_run(forth, t, None)[-1], _run(back, t.flip(0), None)[-1]]) for t in texts]
        return torch.stack(ends)

    zeros = (
        "the filling became zeros, but a step at a word of zeros is a step all the same: the state changes."
    )
    mistakes = [
        (found[0], "it still does what it did. Encode a short text alone, then beside a longer one: its summary must not change."),
        (found[1], "back starts from zeros now, but both still read the filling: the summary of a short text changes with what stands behind it."),
        (lambda *case: torch.cat(halves(*case)[::-1], -1), "the two halves are exchanged: forth comes first."),
        (lambda *case: sum(halves(*case)), "the two summaries are added; they should stand side by side, (B, 2F)."),
        (lambda *case: torch.stack(halves(*case)), "the two summaries stand one behind the other; `torch.cat([...], -1)` puts them side by side."),
        (sorted_texts, "the texts come back in another order than they came: undo the sorting."),
        (lambda x, n, forth, back: right(x, n.min().expand_as(n), forth, back), "every text is cut to the length of the shortest; each has its own."),
        (only_filling, "the filling is read and the words are not: a text has words where `t < lengths`."),
        (lambda x, n, forth, back: torch.cat([forth(x[torch.arange(len(x)), n - 1]), back(x[:, 0])], -1), "each reader has read one word only: the state has to go from step to step."),
        (lambda *case: halves(*case)[0], "this is forth alone; back should stand beside it."),
        (lambda *case: halves(*case)[1], "this is back alone; forth should stand before it."),
        (lambda *case: torch.cat(halves(*case), 0), "the two summaries stand below each other; `torch.cat([...], -1)` puts them side by side."),
        (lambda x, n, forth, back: right(x, n, forth, forth), "both halves are read with forth; back has weights of its own."),
        (lambda x, n, forth, back: right(x, n, back, back), "both halves are read with back; forth has weights of its own."),
        (lambda x, n, forth, back: right(x, n, back, forth), "forth and back have exchanged their weights."),
        *((_encoder(ends, starts, reads, blank=True), zeros)
          for ends, starts, reads in product(list(FORTH.values())[:2], START.values(), list(BACK.values())[:2])
          if ends is not FORTH[""] or reads is not BACK[""]),
        *mistakes,
    ]  # fmt: skip
    return by_cases(answer, right, cases, mistakes, tolerance=1e-5)


EXERCISES = [
    Exercise(
        "1.2", "A recurrent network", "medium", 8,
        (
            "Start from `state = torch.zeros(len(bias))` and go through the rows of `x` with a loop.",
            "In each step: `state = torch.tanh(row @ w_x + state @ w_state + bias)`; append it to a list.",
            "`torch.stack` makes a tensor of the list.",
        ),
        run_network,
        "The loop cannot be taken apart: each step needs the one before.",
    ),
    Exercise(
        "1.4", "How far back", "medium", 8,
        (
            "You can multiply in a loop until less is left, and count.",
            "Or solve weight**n = share with logarithms, and go up to the next whole number that makes it less.",
            "If the weight is 1 or more, nothing is lost: return `math.inf` before you start.",
        ),
        reach,
        "The reach grows only with 1 / (1 - weight): ten times the reach needs a weight ten times nearer to 1.",
    ),
    Exercise(
        "1.5", "Set the radius", "medium", 8,
        (
            "`torch.linalg.eigvals(w)` gives the eigenvalues, as complex numbers.",
            "The size of a complex number is its `.abs()`; the radius is the largest of them.",
            "Multiplying a matrix by a number multiplies its eigenvalues by it.",
        ),
        set_radius,
        "The radius is what a matrix does to a vector in the long run, per step.",
    ),
    Exercise(
        "1.6", "Keep or replace", "easy", 5,
        (
            "A gate mixes: a share `keep` of the old state, the rest of the candidate.",
            "The two shares sum to one: `keep` and `1 - keep`.",
        ),
        gate,
        "Where keep is 1 the state is copied, and its gradient with it, untouched.",
    ),
    Exercise(
        "1.8", "Recall without training", "hard", 12,
        (
            "Turn keys into one-hot vectors: `one_hot(keys, 26)`; their dot product is 1 for the same key and 0 for others.",
            "A softmax over scores of 1 and 0 is too flat: multiply the scores first, by 20, say.",
            "What is mixed are the one-hot vectors of the values: `weights @ one_hot(values, 10)`, in floating point.",
        ),
        look_up,
        "Attention answers from the sequence itself, and keeps all of it. No state had to decide what to keep.",
    ),
    Exercise(
        "1.9", "Equal parameters", "medium", 6,
        (
            "An LSTM has four sets of weights: input, forget and output gate, and the candidate.",
            "Each set has a matrix from the input (C by F), one from the state (F by F), and in PyTorch two biases.",
        ),
        lstm_size,
        "At equal parameters an LSTM is about half as wide as a plain network: that is what the gates cost.",
    ),
    Exercise(
        "1.12", "Past another name", "hard", 12,
        (
            "Write down the four situations in which the gate matters, and whether it should be near 1 or near 0 in each: a name, and the place is empty; another word, and the place is taken; a name, and it is taken; the full stop, and it is taken.",
            "Then write down the score in each of the four. What tells the second name from the first is the second number of the state; who it is must not matter.",
            "Where two numbers pull in opposite directions, one has to overrule the other: at a second name that which keeps, at the full stop that which lets go. A sigmoid of 10 is near enough to 1, of −10 to 0.",
        ),
        gate_design,
        "A gate sees the state as well as the word, and so it keeps Goku past Frieza, and lets go at the full stop. That takes one number for the place being taken, and no training. Open gates keep; gates that look choose.",
    ),
    Exercise(
        "1.13", "Encoded in company", "hard", 12,
        (
            "Let a batch hold one text alone, and then the same text beside a longer one. What should be equal? Where does each of the two readers meet what is not of the text?",
            "A step at a place of filling must leave the state as it is: `torch.where` can choose, for each text, between the new state and the old one.",
            "And in which state does the second reader begin?",
        ),
        both_ways,
        "Nothing stopped, and training gets used to much. Encode a text alone and in company, and compare: that finds the filling, for a summary belongs to its text, not to its neighbours. The state that was carried over is found only by asking what each reader knows when it begins.",
    ),
]  # fmt: skip
