import pytest
import torch

from attnlib.scoring import additive_scores, bilinear_scores, dot_scores

B, T, S, Dq, Dk, D = 2, 3, 5, 7, 11, 13


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_apple_against_buy_apple_phone_by_hand():
    apple = torch.tensor([[2.0, 2.0]])
    words = torch.tensor([[1.0, 1.0], [2.0, 2.0], [0.0, 4.0]])
    assert dot_scores(apple, words).tolist() == [[4.0, 8.0, 8.0]]


def test_dot_scores_equal_the_loop():
    q, k = randn(B, T, D), randn(B, S, D, seed=1)
    loop = torch.tensor(
        [
            [[sum(a * b for a, b in zip(i, j, strict=True)) for j in kb] for i in qb]
            for qb, kb in zip(q.tolist(), k.tolist(), strict=True)
        ],
        dtype=torch.float64,
    )
    torch.testing.assert_close(dot_scores(q, k), loop)


def test_bilinear_is_a_dot_product_of_projections():
    q, k = randn(B, T, Dq), randn(B, S, Dk, seed=1)
    w_q, w_k = randn(Dq, D, seed=2), randn(Dk, D, seed=3)
    torch.testing.assert_close(bilinear_scores(q, k, w_q @ w_k.T), dot_scores(q @ w_q, k @ w_k))


def test_additive_equals_the_loop():
    q, k = randn(B, T, Dq), randn(B, S, Dk, seed=1)
    w_q, w_k, v = randn(Dq, D, seed=2), randn(Dk, D, seed=3), randn(D, seed=4)
    scores = additive_scores(q, k, w_q, w_k, v)
    assert scores.shape == (B, T, S)
    for b in range(B):
        for i in range(T):
            for j in range(S):
                expected = v @ torch.tanh(q[b, i] @ w_q + k[b, j] @ w_k)
                torch.testing.assert_close(scores[b, i, j], expected)


def test_gradients_by_finite_differences():
    q, k = randn(T, Dq).requires_grad_(), randn(S, Dk, seed=1).requires_grad_()
    w = randn(Dq, Dk, seed=2).requires_grad_()
    w_q, w_k = randn(Dq, D, seed=3).requires_grad_(), randn(Dk, D, seed=4).requires_grad_()
    v = randn(D, seed=5).requires_grad_()
    assert torch.autograd.gradcheck(bilinear_scores, (q, k, w))
    assert torch.autograd.gradcheck(additive_scores, (q, k, w_q, w_k, v))
    assert torch.autograd.gradcheck(dot_scores, (q, randn(S, Dq).requires_grad_()))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: dot_scores(randn(T, Dq), randn(S, Dk)),
            ValueError,
            "q and k must have the same width D, got q (3, 7) and k (5, 11); "
            "project one, or use bilinear_scores or additive_scores",
        ),
        (
            lambda: bilinear_scores(randn(T, Dq), randn(S, Dk), randn(Dk, Dq)),
            ValueError,
            "weight must be (Dq, Dk) = (7, 11), got (11, 7)",
        ),
        (
            lambda: bilinear_scores(randn(T, Dq), randn(S, Dk), randn(Dq, Dk).float()),
            TypeError,
            "q and weight must have the same dtype, got torch.float64 and torch.float32; "
            "convert one with .to(dtype)",
        ),
        (
            lambda: additive_scores(randn(T, Dq), randn(S, Dk), randn(Dq, D), randn(Dq, D), randn(D)),
            ValueError,
            "w_q must be (Dq, D), w_k (Dk, D) and u (D,) for q (3, 7) and k (5, 11), "
            "got w_q (7, 13), w_k (7, 13) and u (13,)",
        ),
        (
            lambda: additive_scores(randn(T, Dq), randn(S, Dk), randn(Dq, D), randn(Dk, D), randn(D, 1)),
            ValueError,
            "w_q must be (Dq, D), w_k (Dk, D) and u (D,) for q (3, 7) and k (5, 11), "
            "got w_q (7, 13), w_k (11, 13) and u (13, 1)",
        ),
        (
            lambda: bilinear_scores(randn(Dq), randn(S, Dk), randn(Dq, Dk)),
            ValueError,
            "q must have at least two axes (..., length, width), got shape (7,); a single vector is q[None]",
        ),
        (
            lambda: bilinear_scores(randn(T, Dq), randn(Dk), randn(Dq, Dk)),
            ValueError,
            "k must have at least two axes (..., length, width), got shape (11,); a single vector is k[None]",
        ),
        (
            lambda: bilinear_scores(randn(T, Dq), randn(S, Dk).float(), randn(Dq, Dk)),
            TypeError,
            "q and k must have the same dtype, got torch.float64 and torch.float32; "
            "convert one with .to(dtype)",
        ),
        (
            lambda: additive_scores(randn(Dq), randn(S, Dk), randn(Dq, D), randn(Dk, D), randn(D)),
            ValueError,
            "q must have at least two axes (..., length, width), got shape (7,); a single vector is q[None]",
        ),
        (
            lambda: additive_scores(randn(T, Dq), randn(Dk), randn(Dq, D), randn(Dk, D), randn(D)),
            ValueError,
            "k must have at least two axes (..., length, width), got shape (11,); a single vector is k[None]",
        ),
        *(
            (
                lambda wrong=wrong: additive_scores(
                    *(
                        x.float() if name == wrong else x
                        for name, x in {
                            "q": randn(T, Dq),
                            "k": randn(S, Dk),
                            "w_q": randn(Dq, D),
                            "w_k": randn(Dk, D),
                            "u": randn(D),
                        }.items()
                    )
                ),
                TypeError,
                f"q and {wrong} must have the same dtype, got torch.float64 and torch.float32; "
                "convert one with .to(dtype)",
            )
            for wrong in ("k", "w_q", "w_k", "u")
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_dot_scores_take_grouped_heads():
    q, k = randn(B, 6, T, D), randn(B, 2, S, D, seed=1)
    scores = dot_scores(q, k)
    assert scores.shape == (B, 6, T, S)
    torch.testing.assert_close(scores, q @ k.repeat_interleave(3, dim=1).mT)
