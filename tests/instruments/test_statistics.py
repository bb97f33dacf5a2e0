import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib import attention, attention_weights
from attnlib.instruments.statistics import (
    decay_rate,
    entropy,
    exponent,
    gradient_by_distance,
    jacobian_norm,
    relation_share,
    softmax_jacobian,
)
from tests import DEVICE, assert_close

B, H, T, S, C = 2, 3, 5, 7, 11


def randn(*sizes, seed=0):
    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(DEVICE)


# gradients against distance


def test_a_sum_with_fading_memory_by_hand():
    fade = torch.tensor([0.5**d for d in range(T)], dtype=torch.float64, device=DEVICE).flip(0)
    norms = gradient_by_distance(lambda x: (x * fade[:, None]).sum(1), randn(B, T, C))
    expected = [math.sqrt(C) * 0.5**d for d in range(T)]  # the Jacobian is a multiple of the identity
    assert_close(norms, torch.tensor(expected, dtype=torch.float64))
    assert decay_rate(norms) == pytest.approx(0.5)


def test_only_the_last_output_of_a_sequence_counts():
    norms = gradient_by_distance(lambda x: x * 3, randn(B, T, C))
    assert_close(norms, torch.tensor([3 * math.sqrt(C), 0, 0, 0, 0], dtype=torch.float64))


def test_equals_the_full_jacobian():
    x = randn(1, T, C)
    f = lambda x: attention(x, x, x)  # noqa: E731
    full = torch.autograd.functional.jacobian(lambda x: f(x)[0, -1], x)[:, 0]  # (C, T, C)
    assert_close(gradient_by_distance(f, x), full.square().sum((0, 2)).sqrt().flip(0))


def test_inputs_are_left_alone():
    x = randn(B, T, C)
    gradient_by_distance(lambda x: x, x)
    assert not x.requires_grad


def test_attention_does_not_care_for_distance():
    x = randn(64, 9, C)
    norms = gradient_by_distance(lambda x: attention(x, x, x), x)[1:]
    assert norms.max() < 2 * norms.min()


# fits


@given(st.floats(0.1, 3.0), st.floats(0.01, 100.0))
@settings(max_examples=20, deadline=None)
def test_fits_find_what_was_put_in(rate, constant):
    d = torch.arange(1.0, 9.0, dtype=torch.float64)
    assert decay_rate(constant * rate**d) == pytest.approx(rate)
    assert exponent(d, constant * d**rate) == pytest.approx(rate)


def test_zeros_are_left_out_of_a_rate():
    assert decay_rate(torch.tensor([4.0, 0.0, 1.0])) == pytest.approx(0.5)


def test_exponent_takes_lists():
    assert exponent([1, 2, 4], [3, 12, 48]) == pytest.approx(2.0)


# how sharp weights are


def test_entropy_by_hand():
    weights = torch.tensor([[1.0, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0], [0, 0, 0, 0]])
    assert_close(entropy(weights), torch.tensor([0.0, math.log(4), math.log(2), 0.0]))


def test_jacobian_is_softmaxs_own():
    scores = randn(S)
    exact = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    assert_close(softmax_jacobian(scores.softmax(-1)), exact)


@given(st.integers(0, 10**6), st.floats(0.01, 50.0))
@settings(max_examples=30, deadline=None)
def test_norm_is_the_matrixs_norm(seed, size):
    weights = (size * randn(B, H, S, seed=seed)).softmax(-1)
    norm = torch.linalg.matrix_norm(softmax_jacobian(weights))
    assert_close(jacobian_norm(weights), norm, rtol=1e-5, atol=1e-7)


def test_one_weight_alone_lets_no_gradient_through():
    assert jacobian_norm(torch.tensor([0.0, 1.0, 0.0])).item() == 0.0


# heads


def test_head_scores_by_hand():
    weights = torch.tensor([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [1.0, 0.0]]])[None]  # (1, 2, 2, 2)
    previous = torch.tensor([[False, False], [True, False]])
    assert_close(relation_share(weights, previous), torch.tensor([0.2, 1.0]))
    both = torch.tensor([[True, False], [False, True]])
    assert_close(relation_share(weights, both), torch.tensor([0.85, 0.25]))


def test_every_relation_together_scores_one():
    q, k = randn(B, H, T, C), randn(B, H, S, C)
    weights = attention_weights(q, k)
    every = torch.ones(B, 1, T, S, dtype=torch.bool, device=DEVICE)
    assert_close(relation_share(weights, every), torch.ones(H, dtype=torch.float64))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: gradient_by_distance(lambda x: x, randn(T, C)),
            ValueError,
            "x must be (B, T, C), got (5, 11)",
        ),
        (
            lambda: gradient_by_distance(lambda x: x.sum((1, 2)), randn(B, T, C)),
            ValueError,
            "reads must return (B, T, F) or (B, F) with B = 2, got (2,)",
        ),
        (
            lambda: decay_rate(torch.tensor([1.0, 0.0])),
            ValueError,
            "norms must have two numbers above zero to fit a rate, got 1",
        ),
        (lambda: exponent([1.0], [1.0]), ValueError, "x and y must be two or more pairs, got (1,) and (1,)"),
        (
            lambda: exponent([1.0, 2.0], [1.0, 0.0]),
            ValueError,
            "x and y must be above zero to have logarithms, got one that is not",
        ),
        (
            lambda: relation_share(torch.zeros(B, H, T, S), torch.zeros(T, S)),
            TypeError,
            "relation must be boolean, got torch.float32",
        ),
        (
            lambda: relation_share(torch.zeros(H, T, S), torch.zeros(T, S).bool()),
            ValueError,
            "weights must be (B, H, T, S), got (3, 5, 7)",
        ),
        (
            lambda: relation_share(torch.zeros(B, H, T, S), torch.zeros(S, T).bool()),
            ValueError,
            "relation must broadcast to the scores' shape (..., T, S) = (2, 1, 5, 7), got (7, 5)",
        ),
        (
            lambda: relation_share(torch.zeros(B, H, T, S), torch.zeros(T, S).bool()),
            ValueError,
            "relation must point somewhere, got no True at all",
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
