"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from itertools import accumulate, count

import numpy as np
import torch
from torch.nn.functional import one_hot

from attnlib.experiments.recurrent import rnn_step


def network(step, *, start=False, before=False):
    def run(x, w_x, w_state, bias):
        state = torch.zeros(len(bias))
        states = [state] if start else []
        for row in x:
            if before:
                states.append(state)
            state = step(row, state, w_x, w_state, bias)
            if not before:
                states.append(state)
        return torch.stack(states)

    return run


def with_numpy(x, w_x, w_state, bias):
    x, w_x, w_state, bias = (t.numpy() for t in (x, w_x, w_state, bias))
    states, state = np.zeros((len(x), len(bias))), 0 * bias
    for t, row in enumerate(x):
        state = np.tanh(row @ w_x + state @ w_state + bias)
        states[t] = state
    return states


def ready_made(x, w_x, w_state, bias):
    net = torch.nn.RNN(*w_x.shape)
    with torch.no_grad():
        for to, value in zip(net.parameters(), (w_x.T, w_state.T, bias, 0 * bias), strict=True):
            to.copy_(value)
        return net(x)[0]


def accumulated(x, w_x, w_state, bias):
    def step(state, row):
        return rnn_step(row, state, w_x, w_state, bias)

    return list(accumulate(x, step, initial=torch.zeros(len(bias))))[1:]


def five_by_four(x, w_x, w_state, bias):
    states = torch.zeros(6, 4)
    for t in range(5):
        states[t + 1] = rnn_step(x[t], states[t], w_x, w_state, bias)
    return states[1:]


def loop_reach(weight, share):
    if weight >= 1:
        return math.inf
    left, n = 1.0, 0
    while left >= share:
        left, n = left * weight, n + 1
    return n


def first_below(weight, share):
    return math.inf if weight >= 1 else next(n for n in count() if weight**n < share)


def log_reach(weight, share):
    return math.inf if weight >= 1 else math.floor(math.log(share) / math.log(weight) + 1e-9) + 1


def with_infinity(f):
    return lambda weight, share: math.inf if weight >= 1 else f(math.log(share) / math.log(weight))


def radius_of(w):
    return torch.linalg.eigvals(w).abs().max()


def scaled_in_place(w, radius):
    w *= radius / radius_of(w)
    return w


def soft(sharp, *, values_as_numbers=False):
    def answer(keys, values, question):
        weights = (sharp * (keys == question).float()).softmax(-1)
        return (weights @ values.float()) if values_as_numbers else weights @ one_hot(values, 10).float()

    return answer


def hard(keys, values, question):
    return one_hot(values[keys == question][0], 10)


def soft_numpy(keys, values, question):
    e = np.exp(1000.0 * (keys.numpy() == question) - 1000.0)
    return e / e.sum() @ np.eye(10)[values.numpy()]


def below_zero(keys, values, question):
    shares = torch.full((10,), -0.001)
    shares[hard(keys, values, question).argmax()] = 1.009
    return shares


def first_value(keys, values, question):
    return one_hot(values[0], 10)


def lstm(C, F):
    return sum(p.numel() for p in torch.nn.LSTM(C, F).parameters())


PATHS = {"recurrence": 99, "convolution": 99, "attention": 1}

RIGHT = {
    "1.1": [[1, 0.5, 0.25], (1.0, 0.5, 0.25), np.array([1, 0.5, 0.25]), torch.tensor([[1.0, 0.5, 0.25]])],
    "1.2": [
        network(rnn_step),
        with_numpy,
        network(lambda r, s, a, b, c: torch.tanh(a.T @ r + b.T @ s + c)),
        accumulated,
    ],
    "1.3": [0.9**20, 0.1216, 0.122, torch.tensor(0.9) ** 20],
    "1.4": [loop_reach, log_reach, lambda w, s: torch.tensor(float(log_reach(w, s))), first_below],
    "1.5": [
        lambda w, r: w * (r / radius_of(w)),
        lambda w, r: r * w / np.abs(np.linalg.eigvals(w.numpy())).max(),
        lambda w, r: r * w / torch.linalg.eig(w).eigenvalues.abs().amax(),
        lambda w, r: (w.double() / (radius_of(w.double()) / r)).tolist(),
    ],
    "1.6": [
        lambda old, new, keep: keep * old + (1 - keep) * new,
        lambda old, new, keep: new + keep * (old - new),
        lambda old, new, keep: torch.lerp(new, old, keep),
        lambda old, new, keep: (old - (1 - keep) * (old - new)).numpy(),
    ],
    "1.7": [PATHS, *({n: kind(x) for n, x in PATHS.items()} for kind in (float, torch.tensor, np.int64))],
    "1.8": [soft(20.0), soft(1000.0), soft_numpy, lambda *a: soft(20.0)(*a)[None]],
    "1.9": [
        lambda C, F: 4 * F * (C + F + 2),
        lstm,
        lambda C, F: 4 * C * F + 4 * F**2 + 8 * F,
        lambda C, F: np.int64(4 * F) * (C + F + 2),
    ],
}

WRONG = [
    ("1.1", [1, 0, 0], "these are the inputs"),
    ("1.1", [1, 1, 1], "nothing fades here"),
    ("1.1", [0.5, 0.25, 0.125], "the input is not multiplied"),
    ("1.1", [1, 1.5, 1.75], "you add half of the first input again"),
    ("1.1", [0.25, 0.5, 1], "in the opposite order"),
    ("1.1", [0.762, 0.364, 0.180], "no tanh"),
    ("1.1", [1, 0.25, 0.0625], "state 2 is too small"),
    ("1.1", [1, 0.5], "the shape should be (3,), yours is (2,)"),
    ("1.2", network(lambda r, s, a, b, c: torch.tanh(r @ a + c)), "starts anew"),
    ("1.2", network(lambda r, s, a, b, c: r @ a + s @ b + c), "the tanh is missing"),
    ("1.2", network(lambda r, s, a, b, c: torch.tanh(r @ a + s @ b)), "the bias is missing"),
    ("1.2", network(lambda r, s, a, b, c: torch.tanh(r @ a + b @ s + c)), "transposed"),
    ("1.2", lambda *a: network(rnn_step)(*a)[-1], "this is the last state"),
    ("1.2", lambda *a: network(rnn_step)(*a)[-1:], "this is the last state"),
    ("1.2", lambda *a: network(rnn_step)(*a).flip(0), "in the opposite order"),
    ("1.2", network(rnn_step, start=True), "the zero state at the start"),
    ("1.2", network(rnn_step, before=True), "states before each step"),
    ("1.2", ready_made, "ready-made"),
    ("1.2", five_by_four, "right at first, but not for"),
    ("1.2", lambda x, a, b, c: ready_made(x, a, b.T, c), "transposed"),
    ("1.2", lambda x, a, b, c: [x], "the shape should be (5, 4), yours is (1, 5, 3)"),
    ("1.3", 18, "it is a power"),
    ("1.3", -1, "a tenth of what is left"),
    ("1.3", 0.9**19, "one step too few"),
    ("1.3", 0.9**21, "one step too many"),
    ("1.3", 1 - 0.9**20, "what was lost"),
    ("1.3", 0.1**20, "it keeps 0.9"),
    ("1.3", 12.16, "per cent"),
    ("1.3", 0.5, "it is too large"),
    ("1.4", with_infinity(lambda n: n), "there are whole steps only"),
    (
        "1.4",
        lambda w, s: next((n for n in range(100) if w**n < s), math.inf),
        "reach(0.999, 0.5) is not infinite",
    ),
    ("1.4", with_infinity(math.floor), "is left, which is not less than"),
    ("1.4", with_infinity(math.ceil), "exactly 0.25 is left, which is not less"),
    ("1.4", lambda w, s: math.inf if w >= 1 else loop_reach(w, s) + 1, "is left already"),
    ("1.4", with_infinity(lambda n: -n), "is negative"),
    ("1.4", lambda w, s: 7, "after 7 steps 0.478 is left"),
    ("1.4", lambda w, s: math.floor(math.log(s) / math.log(w) + 1e-9) + 1, "stops with an error"),
    ("1.4", lambda w, s: 10**6 if w >= 1 else loop_reach(w, s), "should be math.inf"),
    ("1.4", lambda w, s: "44", "must hold numbers, got str"),
    ("1.5", lambda w, r: w * r / torch.linalg.matrix_norm(w, 2), "largest singular value"),
    ("1.5", lambda w, r: w * r / w.norm(), "Frobenius"),
    ("1.5", lambda w, r: w * r / torch.linalg.eigvals(w).real.max(), "the largest real part"),
    ("1.5", lambda w, r: w * r, "a radius of its own"),
    ("1.5", lambda w, r: w / radius_of(w), "its radius is 1 now"),
    ("1.5", lambda w, r: w * r / w.abs().max(), "largest entry"),
    ("1.5", lambda w, r: w * r / torch.linalg.eigvals(w)[0].abs(), "you take the first eigenvalue"),
    ("1.5", lambda w, r: w * r / torch.linalg.eigvals(w).abs().mean(), "a mean of the eigenvalues"),
    ("1.5", scaled_in_place, "it changes `w`"),
    ("1.6", lambda old, new, keep: (1 - keep) * old + keep * new, "swapped"),
    ("1.6", lambda old, new, keep: keep * old + new, "comes in whole"),
    ("1.6", lambda old, new, keep: keep * (old + new), "keep weighs both"),
    ("1.6", lambda old, new, keep: old + keep * (old - new), "the wrong way"),
    ("1.6", lambda old, new, keep: torch.lerp(new, old, keep.sigmoid()), "no sigmoid"),
    ("1.6", lambda old, new, keep: keep * old, "the candidate is missing"),
    ("1.6", lambda old, new, keep: keep * old - (1 - keep) * new, "are added, not taken"),
    ("1.6", lambda old, new, keep: (old + new) / 2, "keep is not used"),
    ("1.6", lambda old, new, keep: keep * old + (1 - keep) * new.tanh(), "no tanh"),
    ("1.7", PATHS | {"recurrence": 100}, "one step less"),
    ("1.7", PATHS | {"recurrence": 1}, "one step leads from each state"),
    ("1.7", PATHS | {"convolution": 33}, "the windows overlap"),
    ("1.7", PATHS | {"convolution": 50}, "the window is centred"),
    ("1.7", PATHS | {"convolution": 7}, "count the places"),
    ("1.7", PATHS | {"attention": 99}, "directly"),
    ("1.7", PATHS | {"attention": 0}, "directly"),
    ("1.7", [99, 99, 1], "keep the dict"),
    ("1.8", hard, "looked up as in a dict"),
    ("1.8", below_zero, "a share is negative"),
    ("1.8", soft(1.0), "too close"),
    ("1.8", soft(5.0), "should get 0.99"),
    ("1.8", soft(20.0, values_as_numbers=True), "return ten shares"),
    ("1.8", lambda k, v, q: (20.0 * (k == q).float()).softmax(-1), "the shape should be (10,)"),
    ("1.8", lambda k, v, q: 2 * soft(20.0)(k, v, q), "should sum to one"),
    ("1.8", first_value, "the digit of another letter"),
    ("1.9", lambda C, F: 4 * F * (C + F + 1), "two biases for each gate"),
    ("1.9", lambda C, F: 4 * F * (C + F), "the biases are missing"),
    ("1.9", lambda C, F: F * (C + F + 2), "a plain network"),
    ("1.9", lambda C, F: 3 * F * (C + F + 2), "that is a GRU"),
    ("1.9", lambda C, F: 4 * (C * C + C * F + 2 * F), "F by F"),
    ("1.9", lambda C, F: 4 * F * (C + F) + 8 * C, "as long as the state"),
    ("1.9", lambda C, F: 4 * (C + F + 2), "for one number of the state"),
    ("1.9", lambda C, F: 8 * F * (C + F + 2), "eight of them"),
    ("1.9", lambda C, F: 1, "1 is too small"),
]
