"""Exercises on the RNN bottleneck."""

from __future__ import annotations

import math
from types import CodeType

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlib.learn.calling import call
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
    soft = _mentions(getattr(answer, "__code__", None), {"softmax", "exp"})
    for n in (4, 26):
        keys, values = torch.randperm(26, generator=g)[:n], torch.randint(10, (n,), generator=g)
        for at in range(n):
            with Calls() as calls:
                got = numbers(call(answer, keys.clone(), values.clone(), int(keys[at])))
            wrong = _wrong_shares(got, keys, values, at)
            if wrong:
                return f"with {n} pairs, asked for key {int(keys[at])}: {wrong}"
            soft |= bool(calls.names & {"softmax", "log_softmax", "exp"}) or bool(
                ((got > 0) & (got < 1)).any()
            )
    if not soft:
        return (
            "the digit is right, but it is looked up as in a dict: compute scores, and let a softmax choose."
        )
    return None


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
]  # fmt: skip
