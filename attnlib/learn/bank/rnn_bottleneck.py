"""Exercises on the RNN bottleneck."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlib.learn.calling import call
from attnlib.learn.grading import Calls, Exercise, close, compare, numbers


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")


def run_network(answer: object) -> str | None:
    """Grade a plain recurrent network over a whole sequence."""
    x, w_x, w_state, bias = (
        _random(5, 3, seed=0),
        _random(3, 4, seed=1),
        _random(4, 4, seed=2),
        _random(4, seed=3),
    )

    def run(
        *, carry: float = 1.0, squash: bool = True, with_bias: float = 1.0, w: Tensor = w_state
    ) -> Tensor:
        state, states = torch.zeros(4), []
        for row in x:
            state = row @ w_x + carry * (state @ w) + with_bias * bias
            state = torch.tanh(state) if squash else state
            states.append(state)
        return torch.stack(states).double()

    right = run()
    with Calls() as calls:
        got = numbers(call(answer, x.clone(), w_x.clone(), w_state.clone(), bias.clone()))
    if calls.names & {"rnn_tanh", "rnn_tanh_cell"}:
        return "right, but it calls a ready-made network; write the loop yourself."
    start = torch.cat([torch.zeros(1, 4).double(), right])
    return compare(
        got,
        right,
        [
            (run(carry=0.0), "each state starts anew: the state of the step before has to go in."),
            (run(squash=False), "the tanh is missing."),
            (run(with_bias=0.0), "the bias is missing."),
            (run(w=w_state.T), "the matrix from state to state is transposed: it is `state @ w_state`."),
            (right[-1], "this is the last state; collect the state after every step, and stack them."),
            (right[-1:], "this is the last state; collect the state after every step, and stack them."),
            (right.flip(0), "the states come in the opposite order: read from the first row to the last."),
            (start, "the zero state at the start is not the state after a word; leave it out."),
            (start[:-1], "these are the states before each step; append after the update."),
        ],
    )


def reach(answer: object) -> str | None:
    """Grade the number of steps after which less than a share is left."""
    cases = [(0.9, 0.01, 44), (0.5, 0.3, 2), (0.99, 0.5, 69), (0.5, 0.25, 3), (0.2, 0.9, 1)]
    for weight, share, right in cases:
        got = call(answer, weight, share)
        if isinstance(got, bool) or (not isinstance(got, (int, float)) and not hasattr(got, "item")):
            return f"return a number of steps, not {type(got).__name__}."
        got = got.item() if hasattr(got, "item") else got
        where = f"reach({weight}, {share})"
        if got == right:
            continue
        exact = math.log(share) / math.log(weight)
        if abs(got - exact) < 1e-6 and got != int(got):
            return f"{where} is {got:.2f}: there are whole steps only, and after {right} of them less than {share} is left."
        if weight**got == share:
            return f"{where}: after {got:g} steps exactly {share} is left, which is not less."
        if got == right - 1:
            return f"{where} should be {right}, yours is one too few: after {right - 1} steps {weight ** (right - 1):.3g} is left."
        if got == right + 1:
            return f"{where} should be {right}, yours is one too many: after {right} steps less than {share} is left already."
        if got < 0:
            return f"{where} is negative: log(share) and log(weight) are both negative, and their quotient is not."
        return f"{where} should be {right}, yours is {got:g}."
    for weight in (1.0, 1.2):
        try:
            got = float(call(answer, weight, 0.5))
        except (ZeroDivisionError, ValueError, OverflowError):
            return f"reach({weight}, 0.5) stops with an error: a weight of 1 or more never gets there, so return math.inf."
        if got != math.inf:
            return f"reach({weight}, 0.5) should be math.inf, yours is {got:g}: such a weight loses nothing."
    return None


def set_radius(answer: object) -> str | None:
    """Grade the scaling of a matrix to a spectral radius."""
    w, radius = torch.tensor([[0.5, 2.0, 0.0], [-1.0, 0.5, 0.3], [0.2, 0.0, -0.4]], dtype=torch.float64), 0.8
    eigenvalues = torch.linalg.eigvals(w)
    given = w.clone()
    got = numbers(call(answer, given, radius))
    wrong = compare(
        got,
        w * radius / eigenvalues.abs().max(),
        [
            (
                w * radius / torch.linalg.matrix_norm(w, 2),
                "you divide by the largest singular value; the radius is about eigenvalues.",
            ),
            (
                w * radius / torch.linalg.matrix_norm(w),
                "you divide by the Frobenius norm; the radius is about eigenvalues.",
            ),
            (
                w * radius / eigenvalues.real.max(),
                "you take the largest real part; the size of a complex number is its `abs()`.",
            ),
            (
                w * radius / eigenvalues.real.abs().max(),
                "you drop the imaginary parts; the size of a complex number is its `abs()`.",
            ),
            (w * radius, "the matrix has a radius of its own: divide by it first."),
            (w / eigenvalues.abs().max(), "its radius is 1 now; multiply by the one asked for."),
            (w * radius / w.abs().max(), "you divide by the largest entry; the radius is about eigenvalues."),
        ],
    )
    if wrong is None and not torch.equal(given, w):
        return "right, but it changes the matrix it was given: return a new one."
    return wrong


def gate(answer: object) -> str | None:
    """Grade the update of a gated unit."""
    old, new, keep = (
        _random(2, 5, seed=0),
        _random(2, 5, seed=1),
        torch.rand(2, 5, generator=torch.Generator().manual_seed(2)),
    )
    right = (keep * old + (1 - keep) * new).double()
    return compare(
        numbers(call(answer, old.clone(), new.clone(), keep.clone())),
        right,
        [
            (
                ((1 - keep) * old + keep * new).double(),
                "keep and replace are swapped: where keep is 1, the old state stays.",
            ),
            (
                (keep * old + new).double(),
                "the candidate comes in whole: weigh it with what keep leaves over.",
            ),
            ((keep * (old + new)).double(), "keep weighs both; the candidate gets 1 - keep."),
            ((keep * old + keep * new).double(), "keep weighs both; the candidate gets 1 - keep."),
            (
                (old + keep * (old - new)).double(),
                "the step goes the wrong way: from new towards old, keep of the way.",
            ),
            (
                (keep.sigmoid() * old + (1 - keep.sigmoid()) * new).double(),
                "keep is a share between 0 and 1 already; no sigmoid is needed.",
            ),
        ],
    )


def look_up(answer: object) -> str | None:
    """Grade recall by attention, without training."""
    g = torch.Generator().manual_seed(0)
    for n in (4, 26):
        keys, values = torch.randperm(26, generator=g)[:n], torch.randint(10, (n,), generator=g)
        for at in range(n):
            right = int(values[at])
            got = numbers(call(answer, keys.clone(), values.clone(), int(keys[at])))
            if got.numel() == 1:
                return "return ten shares, one for each value, and not the value itself."
            if got.shape != (10,):
                return f"the shape should be (10,), one share for each value, yours is {tuple(got.shape)}."
            if not close(got.sum(), torch.tensor(1.0).double(), 1e-3):
                return f"the shares should sum to one, yours sum to {got.sum():.3f}."
            scores = one_hot(keys, 26).double() @ one_hot(torch.tensor(int(keys[at])), 26).double()
            if close(got, scores.softmax(-1) @ one_hot(values, 10).double()):
                return f"with {n} pairs the right value gets {got[right]:.3f}: scores of 1 and 0 are too close. Multiply them."
            if got.argmax() != right:
                return f"asked for key {int(keys[at])} among {n} pairs, the largest share should be on {right}, yours is on {int(got.argmax())}."
            if got[right] < 0.99:
                return f"with {n} pairs the right value gets {got[right]:.3f}; it should get 0.99. Multiply the scores."
    return None


def lstm_size(answer: object) -> str | None:
    """Grade the number of parameters of an LSTM."""
    for C, F in ((3, 5), (16, 39)):
        right = 4 * (C * F + F * F + 2 * F)
        got = numbers(call(answer, C, F)).squeeze().item()
        known = {
            4 * (C * F + F * F + F): "PyTorch's LSTM has two biases for each gate, one beside each matrix.",
            4 * (C * F + F * F): "the biases are missing: two for each gate.",
            C * F
            + F * F
            + 2
            * F: "that is a plain network; an LSTM has four such sets, one for each gate and one for the candidate.",
            3 * (C * F + F * F + 2 * F): "that is a GRU; an LSTM has one gate more.",
            4 * (C * C + C * F + 2 * F): "the matrix from state to state is F by F.",
        }
        if got != right:
            return known.get(got, f"with C = {C} and F = {F} it should be {right}, yours is {got:g}.")
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
