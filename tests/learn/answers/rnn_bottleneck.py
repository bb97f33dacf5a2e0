"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from itertools import accumulate, count

import numpy as np
import torch
from torch import nn
from torch.nn.functional import one_hot
from torch.nn.utils.rnn import pack_padded_sequence

from attnlib.experiments.rnn_bottleneck.recurrent import rnn_step


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


def same_tensor(x, w_x, w_state, bias):
    state, states = torch.zeros(len(bias)), []
    for row in x:
        state.copy_(torch.tanh(row @ w_x + state @ w_state + bias))
        states.append(state)
    return torch.stack(states)


def one_step_back(x, w_x, w_state, bias):
    alone = torch.tanh(x @ w_x + bias)
    return torch.stack(
        [torch.tanh(x[t] @ w_x + bias + (alone[t - 1] @ w_state if t else 0)) for t in range(len(x))]
    )


def by_growth(w, radius):
    v = torch.ones(len(w), dtype=w.dtype)
    for _ in range(100):
        v = w @ v / (w @ v).norm()
    return w * radius / (w @ v).norm()


def from_ones(x, w_x, w_state, bias):
    state, states = torch.ones(len(bias)), []
    for row in x:
        state = rnn_step(row, state, w_x, w_state, bias)
        states.append(state)
    return torch.stack(states)


def five_by_four(x, w_x, w_state, bias):
    states = torch.zeros(6, 4)
    for t in range(5):
        states[t + 1] = rnn_step(x[t], states[t], w_x, w_state, bias)
    return states[1:]


def loop_range(weight, share):
    if weight >= 1:
        return math.inf
    left, n = 1.0, 0
    while left >= share:
        left, n = left * weight, n + 1
    return n


def first_below(weight, share):
    return math.inf if weight >= 1 else next(n for n in count() if weight**n < share)


def log_range(weight, share):
    return math.inf if weight >= 1 else math.floor(math.log(share) / math.log(weight) + 1e-9) + 1


def lost_range(weight, share):
    if weight >= 1:
        return math.inf
    left, n = 1.0, 0
    while 1 - left <= share:
        left, n = left * weight, n + 1
    return n


def with_infinity(f):
    return lambda weight, share: math.inf if weight >= 1 else f(math.log(share) / math.log(weight))


def radius_of(w):
    return torch.linalg.eigvals(w).abs().max()


def without_abs(w, radius):
    e = torch.linalg.eigvals(w)
    return w * radius / e[e.abs().argmax()]


def without_abs_numpy(w, radius):
    e = np.linalg.eigvals(w.numpy())
    return w.numpy() * radius / e[np.abs(e).argmax()]


def scaled_in_place(w, radius):
    w *= radius / radius_of(w)
    return w


def soft(sharp, *, values_as_numbers=False):
    def answer(keys, values, question):
        weights = (sharp * (keys == question).float()).softmax(-1)
        return (weights @ values.float()) if values_as_numbers else weights @ one_hot(values, 10).float()

    return answer


def as_many_digits_as_were_read(keys, values, question):
    weights = (20.0 * (keys == question).float()).softmax(-1)
    return weights @ one_hot(values).float()


def scored(score):
    return lambda k, v, q: score(k, v, q).double().softmax(-1) @ one_hot(v, 10).double()


def overwritten(keys, values, question):
    out = torch.zeros(10)
    out[values.long()] = (20.0 * (keys == question).float()).softmax(-1)
    return out


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


def hard_numpy(keys, values, question):
    np.exp(1.0)  # a name alone is no softmax
    return np.eye(10)[values[keys == question][0]]


def smoothed(keys, values, question):
    return 0.99 * hard(keys, values, question) + 0.001


def normed_match(keys, values, question):
    match = (keys == question).double()
    return match / match.sum() @ one_hot(values, 10).double()


def index_then_exp(keys, values, question):
    scores = np.zeros(len(keys))
    scores[keys.tolist().index(question)] = 20.0
    return np.exp(scores) / np.exp(scores).sum() @ np.eye(10)[values.numpy()]


def over_digits_numpy(keys, values, question):
    scores = 800.0 * (keys == question).numpy() @ np.eye(10)[values.numpy()]
    e = np.exp(scores - scores.max())
    return e / e.sum()


def lstm(C, F):
    return sum(p.numel() for p in torch.nn.LSTM(C, F).parameters())


def encoder(*, forth="kept", start="zeros", back="kept"):
    """Return an encoder that reads a batch both ways, with what may be wrong at each of three points."""

    def read(x, lengths, cell, state, way, positions):
        for t in positions:
            new = cell(x[:, t], state)
            real = (t < lengths)[:, None]
            if way == "kept":
                state = torch.where(real, new, state)
            elif way == "cleared":
                state = new * real
            elif way == "late":
                state = torch.where((t <= lengths)[:, None], new, state)
            elif way == "early":
                state = torch.where((t < lengths - 1)[:, None], new, state)
            else:
                state = new
        return state

    def encode(x, lengths, first, second):
        (B, T, _), F = x.shape, first.hidden_size
        there = read(x, lengths, first, torch.zeros(B, F), forth, range(T))
        begin = torch.zeros(B, F) if start == "zeros" else there
        order = range(T) if back == "same way" else reversed(range(T))
        again = read(x, lengths, second, begin, "kept" if back == "same way" else back, order)
        return torch.cat([there, again], -1)

    return encode


def one_by_one(x, lengths, forth, back):
    rows = []
    for text, n in zip(x, lengths, strict=True):
        there = again = None
        for t in range(n):
            there, again = forth(text[t : t + 1], there), back(text[n - 1 - t : n - t], again)
        rows.append(torch.cat([there[0], again[0]]))
    return torch.stack(rows)


def packed(x, lengths, forth, back):
    net = torch.nn.RNN(x.shape[2], forth.hidden_size, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for to, value in zip(net.parameters(), [*forth.parameters(), *back.parameters()], strict=True):
            to.copy_(value)
        last = net(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))[1]
    return torch.cat([last[0], last[1]], -1)


def gathered(x, lengths, forth, back):
    def states(cell, words):
        state, kept = None, []
        for word in words.unbind(1):
            state = cell(word, state)
            kept.append(state)
        return torch.stack(kept, 1)[torch.arange(len(x)), lengths - 1]

    turned = torch.stack(
        [torch.cat([t[:n].flip(0), t[n:]]) for t, n in zip(x, lengths.tolist(), strict=True)]
    )
    return torch.cat([states(forth, x), states(back, turned)], dim=1)


def at_the_last_word(x, lengths, forth, back):
    """Both halves where the last word stands, as `out[:, lengths - 1]` has them."""
    ends = one_by_one(x, lengths, forth, back)[:, : forth.hidden_size]
    last = x[torch.arange(len(x)), lengths - 1]
    return torch.cat([ends, back(last)], -1)


def blanked(x, lengths, forth, back):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    return encoder(forth="", back="")(x * real[..., None], lengths, forth, back)


def in_place(x, lengths, forth, back):
    out = one_by_one(x, lengths, forth, back)
    for text, n in zip(x, lengths.tolist(), strict=True):
        text[n:] = 0
    return out


def means(x, lengths, forth, back):
    half = forth.hidden_size
    reads = [
        one_by_one(x, torch.full_like(lengths, n), forth, back)[:, :half] for n in range(1, x.shape[1] + 1)
    ]
    there = torch.stack([torch.stack(reads)[:n, i].mean(0) for i, n in enumerate(lengths.tolist())])
    return torch.cat([there, one_by_one(x, lengths, forth, back)[:, half:]], -1)


def from_the_end_of_the_row(x, lengths, forth, back):
    half = forth.hidden_size
    there, turned = one_by_one(x, lengths, forth, back), one_by_one(x.flip(1), lengths, back, forth)
    return torch.cat([there[:, :half], turned[:, :half]], -1)


def not_put_back(x, lengths, forth, back):
    order = lengths.argsort(descending=True)
    return one_by_one(x[order], lengths[order], forth, back)


def cut(x, lengths, forth, back):
    return one_by_one(x, torch.full_like(lengths, lengths.min()), forth, back)


def inverted(x, lengths, forth, back):
    """Keep the state where a word stands, and step where none does."""
    there = again = torch.zeros(len(x), forth.hidden_size)
    for t in range(x.shape[1]):
        there = torch.where((t < lengths)[:, None], there, forth(x[:, t], there))
    for t in reversed(range(x.shape[1])):
        again = torch.where((t < lengths)[:, None], again, back(x[:, t], again))
    return torch.cat([there, again], -1)


def exchanged(x, lengths, forth, back):
    return one_by_one(x, lengths, forth, back).roll(forth.hidden_size, -1)


OPEN = {"gradient": 0.882, "name": 0.124, "holds": False}
GATE = [[0.0, -20.0, -40.0], [0.0, 20.0], 10.0]
PATHS = {"recurrence": 99, "convolution": 99, "attention": 1}


def widest(size=lambda C, F: F * (C + F + 2), **sets):
    def search(cell, C, budget):
        each, width = ({"rnn": 1, "gru": 3, "lstm": 4} | sets)[cell], 1
        while each * size(C, width + 1) <= budget:
            width += 1
        return width

    return search


def by_formula(cell, C, budget):
    share = budget / {"rnn": 1, "gru": 3, "lstm": 4}[cell]
    return math.floor(math.sqrt(share + (C + 2) ** 2 / 4) - (C + 2) / 2 + 1e-9)


def rounded(cell, C, budget):
    width = widest()(cell, C, budget)
    each = {"rnn": 1, "gru": 3, "lstm": 4}[cell]
    return min((width, width + 1), key=lambda F: abs(each * F * (C + F + 2) - budget))


def by_building(cell, C, budget):
    kind, width = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell], 1
    while sum(p.numel() for p in kind(C, width + 1).parameters()) <= budget:
        width += 1
    return torch.tensor(width)


def by_halves(cell, C, budget):
    low, high = 1, budget
    while low < high:
        middle = (low + high + 1) // 2
        fits = {"rnn": 1, "gru": 3, "lstm": 4}[cell] * (C * middle + middle**2 + 2 * middle) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    return float(low)


RIGHT = {
    "1.1": [
        network(rnn_step),
        with_numpy,
        network(lambda r, s, a, b, c: torch.tanh(a.T @ r + b.T @ s + c)),
        accumulated,
    ],
    "1.2": [loop_range, log_range, lambda w, s: torch.tensor(float(log_range(w, s))), first_below],
    "1.3": [
        lambda w, r: w * (r / radius_of(w)),
        lambda w, r: r * w / np.abs(np.linalg.eigvals(w.numpy())).max(),
        lambda w, r: r * w / torch.linalg.eig(w).eigenvalues.abs().amax(),
        lambda w, r: (w.double() / (radius_of(w.double()) / r)).tolist(),
        lambda w, r: w.to(torch.complex128) * r / radius_of(w),
    ],
    "1.4": [
        lambda old, new, keep: keep * old + (1 - keep) * new,
        lambda old, new, keep: new + keep * (old - new),
        lambda old, new, keep: torch.lerp(new, old, keep),
        lambda old, new, keep: (old - (1 - keep) * (old - new)).numpy(),
    ],
    "1.5": [PATHS, *({n: kind(x) for n, x in PATHS.items()} for kind in (float, torch.tensor, np.int64))],
    "1.6": [
        soft(20.0),
        soft(1000.0),
        soft_numpy,
        lambda *a: soft(20.0)(*a)[None],
        index_then_exp,
        over_digits_numpy,
    ],
    "1.7": [
        widest(),
        lambda cell, C, budget: max(
            F for F in range(1, 500) if {"rnn": 1, "gru": 3, "lstm": 4}[cell] * F * (C + F + 2) <= budget
        ),
        by_formula,
        by_building,
        by_halves,
    ],
    "1.8": [
        [0.577**8, 3**0.5],
        (0.0111, 1.8),
        np.array([0.012, 1.75]),
        torch.tensor([[0.01, 1.85]]),
        {"share": 0.0123, "times": 1.7},
    ],
    "1.9": [
        OPEN,
        {"gradient": 0.88, "name": 0.12, "holds": 0},
        {"gradient": torch.tensor(0.8819), "name": np.float32(0.1238), "holds": np.bool_(False)},
        {"gradient": 0.9, "name": 0.125, "holds": torch.tensor(False)},
    ],
    "1.10": [
        GATE,
        [(0, -20, -40), (0, 20), 10],
        (torch.tensor([0.0, -16.0, -36.0]), np.array([0, 18]), torch.tensor(9.0)),
        {"w": [[0.0], [-200.0], [-900.0]], "u": [[0.0], [300.0]], "b": [100.0]},
        [[0, -2e4, -6e4], [0, 4e4], 1e4],
        [[0, -12, -40], [0, 24], 0],
        [[0, 0, -40], [0, 20], -10],  # an empty slot lets in whatever comes
        [
            [0, -14, -50],
            [
                0,
                15,
            ],
            7,
        ],
    ],
    "1.11": [encoder(), one_by_one, packed, gathered, encoder(back="cleared")],
}

WRONG = [
    ("1.1", network(lambda r, s, a, b, c: torch.tanh(r @ a + c)), "starts anew"),
    ("1.1", network(lambda r, s, a, b, c: r @ a + s @ b + c), "the tanh is missing"),
    ("1.1", network(lambda r, s, a, b, c: torch.tanh(r @ a + s @ b)), "the bias is missing"),
    ("1.1", network(lambda r, s, a, b, c: torch.tanh(r @ a + b @ s + c)), "transposed"),
    ("1.1", lambda *a: network(rnn_step)(*a)[-1], "this is the last state"),
    ("1.1", lambda *a: network(rnn_step)(*a)[-1:], "this is the last state"),
    ("1.1", lambda *a: network(rnn_step)(*a).flip(0), "in the opposite order"),
    ("1.1", network(rnn_step, start=True), "the zero state at the start"),
    ("1.1", network(rnn_step, before=True), "states before each step"),
    ("1.1", network(lambda r, s, a, b, c: torch.tanh(r @ a + s @ b) + c), "added after the tanh"),
    ("1.1", network(lambda r, s, a, b, c: torch.sigmoid(r @ a + s @ b + c)), "you take a sigmoid"),
    (
        "1.1",
        network(lambda r, s, a, b, c: torch.tanh(r @ a + c) + s @ b),
        "added after the tanh; it belongs inside",
    ),
    ("1.1", one_step_back, "knows only the step before"),
    ("1.1", from_ones, "it starts from ones"),
    ("1.1", same_tensor, "every row is the last state"),
    ("1.1", ready_made, "ready-made"),
    ("1.1", five_by_four, "right at first, but not for"),
    ("1.1", lambda x, a, b, c: ready_made(x, a, b.T, c), "transposed"),
    ("1.1", lambda x, a, b, c: [x], "the shape should be (5, 4), yours is (1, 5, 3)"),
    ("1.2", with_infinity(lambda n: n), "there are whole steps only"),
    (
        "1.2",
        lambda w, s: next((n for n in range(100) if w**n < s), math.inf),
        "effective_range(0.999, 0.5) is not infinite",
    ),
    ("1.2", with_infinity(math.floor), "is left, which is not less than"),
    ("1.2", with_infinity(math.ceil), "exactly 0.25 is left, which is not less"),
    ("1.2", lambda w, s: math.inf if w >= 1 else loop_range(w, s) + 1, "is left already"),
    ("1.2", with_infinity(lambda n: -n), "is negative"),
    ("1.2", lambda w, s: math.inf if w >= 1 else (1 - s) // (1 - w) + 1, "does not subtract"),
    ("1.2", lost_range, "after 3 steps more than 0.25 is lost"),
    ("1.2", lambda w, s: 1, "after 1 step 0.9 is left"),
    ("1.2", lambda w, s: 7, "after 7 steps 0.478 is left"),
    ("1.2", lambda w, s: math.floor(math.log(s) / math.log(w) + 1e-9) + 1, "stops with an error"),
    ("1.2", lambda w, s: 10**6 if w >= 1 else loop_range(w, s), "should be math.inf"),
    ("1.2", lambda w, s: "44", "must hold numbers, got str"),
    ("1.3", lambda w, r: w * r / torch.linalg.matrix_norm(w, 2), "largest singular value"),
    ("1.3", lambda w, r: w * r / w.norm(), "Frobenius"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvals(w).real.max(), "the largest real part"),
    ("1.3", lambda w, r: -w * r / radius_of(w), "every sign is turned round"),
    ("1.3", by_growth, "its growth never settles"),
    ("1.3", lambda w, r: w * r, "a radius of its own"),
    ("1.3", lambda w, r: w / radius_of(w), "its radius is 1 now"),
    ("1.3", lambda w, r: w * r / w.abs().max(), "largest entry"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvals(w)[0].abs(), "you take the first eigenvalue"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvals(w).abs().mean(), "a mean of the eigenvalues"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvals(w)[-1].abs(), "you take the last eigenvalue"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvals(w).abs().min(), "you take the smallest"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvals(w).real.abs().max(), "you drop the imaginary parts"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvalsh(w).abs().max(), "for symmetric matrices"),
    ("1.3", lambda w, r: w * r / torch.linalg.eigvalsh(w)[-1], "for symmetric matrices"),
    ("1.3", without_abs, "the result is complex"),
    ("1.3", without_abs_numpy, "the result is complex"),
    ("1.3", scaled_in_place, "it changes `w`"),
    ("1.4", lambda old, new, keep: (1 - keep) * old + keep * new, "swapped"),
    ("1.4", lambda old, new, keep: keep * old + new, "comes in whole"),
    ("1.4", lambda old, new, keep: keep * (old + new), "keep weighs both"),
    ("1.4", lambda old, new, keep: old + (1 - keep) * new, "the old state stays whole"),
    ("1.4", lambda old, new, keep: old + keep * (old - new), "the wrong way"),
    ("1.4", lambda old, new, keep: torch.lerp(new, old, keep.sigmoid()), "no sigmoid"),
    ("1.4", lambda old, new, keep: keep * old, "the candidate is missing"),
    ("1.4", lambda old, new, keep: keep * old - (1 - keep) * new, "are added, not taken"),
    ("1.4", lambda old, new, keep: (old + new) / 2, "keep is not used"),
    ("1.4", lambda old, new, keep: torch.where(keep > 0.5, old, new), "keep is a share: average the two"),
    ("1.4", lambda old, new, keep: keep * old + (1 - keep) * new.tanh(), "no tanh"),
    ("1.5", PATHS | {"recurrence": 100}, "one step less"),
    ("1.5", PATHS | {"recurrence": 1}, "one step leads from each state"),
    ("1.5", PATHS | {"convolution": 33}, "the windows overlap"),
    ("1.5", PATHS | {"convolution": 50}, "the window is centred"),
    ("1.5", PATHS | {"convolution": 7}, "count the positions"),
    ("1.5", PATHS | {"attention": 99}, "directly"),
    ("1.5", PATHS | {"attention": 0}, "directly"),
    ("1.5", [100, 99, 1], "one step less"),
    ("1.6", as_many_digits_as_were_read, "the shape should be (10,)"),
    ("1.6", hard, "read as from a dict"),
    ("1.6", hard_numpy, "read as from a dict"),
    ("1.6", smoothed, "read as from a dict"),
    ("1.6", normed_match, "read as from a dict"),
    ("1.6", below_zero, "a share is negative"),
    ("1.6", soft(1.0), "too close"),
    ("1.6", soft(5.0), "should get 0.99"),
    ("1.6", soft(20.0, values_as_numbers=True), "return ten shares"),
    ("1.6", lambda k, v, q: (20.0 * (k == q).float()).softmax(-1), "the shape should be (10,)"),
    ("1.6", lambda k, v, q: 2 * soft(20.0)(k, v, q), "should sum to one"),
    ("1.6", scored(lambda k, v, q: 20.0 * (v == q)), "all pairs weigh the same"),
    ("1.6", scored(lambda k, v, q: k * q), "the largest key wins"),
    ("1.6", scored(lambda k, v, q: 20.0 * k * q), "the largest key wins"),
    ("1.6", overwritten, "shares of the same digit add up"),
    ("1.6", lambda k, v, q: torch.zeros(10), "should sum to one"),
    ("1.6", first_value, "the digit of another letter"),
    ("1.7", widest(size=lambda C, F: F * (C + F + 1)), "each of your sets has one bias"),
    ("1.7", widest(size=lambda C, F: F * (C + F)), "the biases are missing"),
    ("1.7", widest(gru=1, lstm=1), "one set of weights whatever the cell is"),
    ("1.7", widest(gru=4), "two gates and a candidate"),
    ("1.7", widest(lstm=3), "one gate more than a GRU"),
    ("1.7", widest(gru=2, lstm=3), "the candidate has weights too"),
    ("1.7", widest(gru=4, lstm=3), "exchanged"),
    ("1.7", widest(rnn=2, gru=6, lstm=8), "you count it twice"),
    ("1.7", lambda cell, C, budget: widest()(cell, C, budget - 1), "met exactly"),
    ("1.7", lambda *case: widest()(*case) + 1, "all one too wide"),
    ("1.7", widest(size=lambda C, F: F * (F + 2)), "the matrices from the inputs"),
    ("1.7", widest(size=lambda C, F: F * (C + 2)), "the matrices from the old state"),
    ("1.7", widest(size=lambda C, F: C * (C + F) + 2 * F), "whatever C is"),
    ("1.7", widest(size=lambda C, F: F * (C + F) + 2 * C), "F, not C"),
    ("1.7", rounded, "it may be above it"),
    ("1.7", lambda *case: min(200, widest()(*case)), "your search stops at 200"),
    ("1.7", lambda *case: min(400, widest()(*case)), "your search stops at 400"),
    ("1.7", lambda *case: widest()(*case) + (case[2] > 2 * 10**5), "too wide"),
    (
        "1.7",
        lambda cell, C, budget: next(
            F for F in range(1, 500) if {"rnn": 1, "gru": 3, "lstm": 4}[cell] * F * (C + F + 2) >= budget
        ),
        "you round up",
    ),
    (
        "1.7",
        lambda cell, C, budget: math.ceil(
            (budget / {"rnn": 1, "gru": 3, "lstm": 4}[cell] + (C + 2) ** 2 / 4) ** 0.5 - (C + 2) / 2 - 1e-9
        ),
        "you round up",
    ),
    ("1.7", widest(rnn=4, gru=4), "four sets whatever the cell is"),
    ("1.7", widest(gru=2), "the candidate has weights too"),
    (
        "1.7",
        lambda cell, C, budget: int((budget / {"rnn": 1, "gru": 3, "lstm": 4}[cell]) ** 0.5),
        "F by F alone",
    ),
    (
        "1.7",
        lambda cell, C, F: {"rnn": 1, "gru": 3, "lstm": 4}[cell] * F * (C + F + 2),
        "the other way round",
    ),
    (
        "1.7",
        lambda cell, C, budget: (
            (budget / {"rnn": 1, "gru": 3, "lstm": 4}[cell] + (C + 2) ** 2 / 4) ** 0.5 - (C + 2) / 2 + 0.01
        ),
        "a width is a whole number",
    ),
    ("1.7", lambda *case: 0, "a width is at least 1"),
    ("1.7", lambda *case: 1, "1 is too narrow"),
    ("1.7", lambda cell, C, budget: budget, "is too wide"),
    ("1.7", lambda cell, C, budget: math.inf, "a width is a whole number"),
    ("1.7", lambda C, F: 4 * F * (C + F + 2), "TypeError"),
    ("1.8", [0.004, 1.8], "is left with 64 numbers"),
    ("1.8", [0.006, 1.8], "if the name is exchanged"),
    ("1.8", [0.5**8, 2], "is left with 64 numbers"),
    ("1.8", [0.064, 1.8], "each weight is smaller"),
    ("1.8", [0.016, 1.8], "a root of sixteen"),
    ("1.8", [0.001, 1.8], "sixteen times as many of them"),
    ("1.8", [(1 / 32) ** 8, 32], "1,024 of them meet"),
    ("1.8", [3**-8, 3], "which is its root"),
    ("1.8", [0.577, 1.73], "what one word keeps"),
    ("1.8", [1, 1], "more room is not more time"),
    ("1.8", [1.1, 1.8], "not per cents"),
    ("1.8", [0.03, 1.8], "how many words are there"),
    ("1.8", [0.011, 1], "with the weights as they are"),
    ("1.8", [0.011, 2], "with 2 it explodes"),
    ("1.8", [0.012, 3], "lengths go with the root"),
    ("1.8", [0.0111, 1 / 0.0111], "in one step"),
    ("1.8", [0.011, 16], "the width is not in it"),
    ("1.8", [0.011, 1.6], "a spectral radius"),
    ("1.8", [0.011, 0.577], "the other way round"),
    ("1.8", [0.011, 1.4], "times: not that"),
    ("1.8", 0.011, "one number each is asked for share, times"),
    ("1.9", OPEN | {"gradient": 0.0171, "name": 0.0078}, "with the gates as they were drawn"),
    ("1.9", OPEN | {"name": 0.0078}, "name: that is with the gates as they were drawn"),
    ("1.9", OPEN | {"gradient": 0.62, "name": 0.104}, "with 3 added"),
    ("1.9", OPEN | {"name": 0.104}, "name: that is with 3 added"),
    ("1.9", OPEN | {"gradient": 0.06, "name": 0.0175}, "gradient: those are other gates"),
    ("1.9", OPEN | {"gradient": 0.8616, "name": 0.0303}, "name: those are other gates"),
    ("1.9", OPEN | {"gradient": 1.132, "name": 0.151}, "another seed"),
    ("1.9", OPEN | {"name": 0.151}, "another seed"),
    ("1.9", OPEN | {"gradient": 1.0}, "that of “he” itself"),
    ("1.9", OPEN | {"gradient": 1.017, "name": 0.1475}, "an LSTM"),
    ("1.9", OPEN | {"gradient": 0.95, "name": 0.189}, "added twice"),
    ("1.9", OPEN | {"gradient": 0.0, "name": 0.0}, "do not subtract"),
    ("1.9", OPEN | {"name": 0.864}, "right after the name"),
    ("1.9", OPEN | {"name": 0.1019}, "a word beside"),
    ("1.9", OPEN | {"name": 12.4}, "not per cents"),
    ("1.9", OPEN | {"gradient": 88}, "not per cents"),
    ("1.9", OPEN | {"name": 0.0959}, "at the last word"),
    ("1.9", OPEN | {"name": 0.1433}, "divided by what it was"),
    ("1.9", OPEN | {"name": 0.3}, "swapped(network)[HE]"),
    ("1.9", OPEN | {"holds": True}, "holds: nearly all of the gradient is left"),
    ("1.10", [[0, -20, -40], [0, 0], 10], "replaces the first"),
    ("1.10", [[0, -20, -40], [0, 10], 10], "is averaged with the first"),
    ("1.10", [[0, -20, 0], [0, 20], 10], "the full stop does not clear"),
    ("1.10", [[0, -20, -20], [0, 20], 10], "the full stop does not clear"),
    ("1.10", [[0, -8, -16], [0, 4], 0], "the name fades"),
    ("1.10", [[0, -2, -8], [0, 4], 0], "the numbers are too small"),
    ("1.10", [[0, -5, -20], [0, 10], 0], "what leaks adds up"),
    ("1.10", [[0, -5, -40], [0, 20], 10], "the first name does not come in"),
    ("1.10", [[0, 20, 40], [0, -20], -10], "every sign is turned round"),
    ("1.10", [[-20, 0, -40], [0, 20], 10], "with two numbers of w exchanged"),
    ("1.10", [[0, -40, -20], [0, 20], 10], "with two numbers of w exchanged"),
    ("1.10", [[0, -20, -40], [20, 0], 10], "with the two numbers of u exchanged"),
    ("1.10", [[0, 0, 0], [0, 0], 0], "the first name does not come in"),
    ("1.10", [[0, 0, 0], [0, 0], -20], "the name fades"),
    ("1.10", [[6, -20, -50], [0, 20], 10], "the numbers are too small"),
    ("1.10", [[11, -20, -60], [0, 30], 0], "some second names leak in"),
    ("1.10", [[0, -20, -40, 0], [0, 20], 10], "w should have 3 numbers, yours has 4"),
    ("1.10", [0, -20, -40, 0, 20, 10], "three things are asked"),
    ("1.10", [[0, -math.inf, -40], [0, 20], 10], "w should be finite"),
    ("1.10", [*GATE[:2], [10, 10]], "b should have 1 number, yours has 2"),
    ("1.11", encoder(forth="", start="", back=""), "it still does what it did"),
    ("1.11", encoder(forth="", back=""), "back starts from zeros now"),
    ("1.11", encoder(forth=""), "forth reads on through the padding"),
    ("1.11", encoder(back=""), "back begins in the padding"),
    ("1.11", encoder(start=""), "it goes on from where forth ended"),
    ("1.11", encoder(forth="", start=""), "2 mistakes are in it"),
    ("1.11", encoder(forth="early"), "forth stops one word early"),
    ("1.11", encoder(forth="late"), "forth reads one position too far"),
    ("1.11", encoder(forth="cleared"), "a short text loses its summary"),
    ("1.11", encoder(back="late"), "back begins one position too late"),
    ("1.11", encoder(back="early"), "back leaves out the last word"),
    ("1.11", encoder(back="same way"), "back reads from the first word"),
    ("1.11", at_the_last_word, "back has read one word only"),
    ("1.11", blanked, "the padding became zeros"),
    ("1.11", means, "the mean of the states"),
    ("1.11", from_the_end_of_the_row, "turn round the text alone"),
    ("1.11", not_put_back, "undo the sorting"),
    ("1.11", cut, "the length of the shortest"),
    ("1.11", inverted, "the padding is read and the words are not"),
    ("1.11", lambda *case: torch.stack(one_by_one(*case).chunk(2, -1)), "one behind the other"),
    ("1.11", exchanged, "the two halves are exchanged"),
    ("1.11", in_place, "it changes `x`"),
    ("1.11", lambda x, n, f, b: one_by_one(x, n, f, f), "both halves are read with forth"),
    ("1.11", lambda x, n, f, b: one_by_one(x, n, b, f), "have exchanged their weights"),
    ("1.11", lambda x, n, f, b: one_by_one(x, n, f, b)[:, : f.hidden_size], "this is forth alone"),
    ("1.11", lambda x, n, f, b: one_by_one(x, n, f, b).T, "the shape should be (3, 4), yours is (4, 3)"),
]
