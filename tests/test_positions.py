import cmath
import math
from functools import partial

import pytest
import torch
from torch._subclasses import FakeTensorMode

from attnlib import alibi_bias, positions, rotary, sinusoidal
from attnlib.positions import check_turned_width, rotate
from tests import DEVICE, assert_close

T, D = 5, 6


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(DEVICE)


def test_sinusoidal_by_the_formula():
    table = sinusoidal(T, D)
    for t in range(T):
        for i in range(0, D, 2):
            angle = t / 10000 ** (i / D)
            assert table[t, i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[t, i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dim", [None, 4, 2])
def test_rotary_turns_pairs_as_complex_numbers(interleaved, dim):
    x = randn(2, 3, T, D)
    got, n = rotary(x, dim=dim, interleaved=interleaved).cpu(), (dim or D) // 2
    for t in range(T):
        for i in range(n):
            a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + n)
            turn = cmath.exp(1j * t / 10000 ** (2 * i / (2 * n)))
            z = complex(x[1, 2, t, a], x[1, 2, t, b]) * turn
            assert (got[1, 2, t, a].item(), got[1, 2, t, b].item()) == pytest.approx(
                (z.real, z.imag), abs=1e-6
            )
    assert torch.equal(got[..., 2 * n :], x.cpu()[..., 2 * n :])
    assert got.dtype == x.dtype


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotated_products_depend_on_the_distance_alone(interleaved):
    q, k = randn(1, D), randn(1, D, seed=1)
    at = lambda x, p: rotary(x, torch.tensor([p], device=DEVICE), interleaved=interleaved)  # noqa: E731
    assert_close(at(q, 3) @ at(k, 1).T, at(q, 12) @ at(k, 10).T, rtol=1e-4, atol=1e-4)
    assert_close(at(q, 7).norm(), q.norm(), rtol=1e-5, atol=1e-5)


def test_positions_of_a_cached_step_give_the_same_rows():
    x = randn(2, T, D)
    later = rotary(x[:, 3:], torch.arange(3, T, device=DEVICE))
    assert_close(later, rotary(x)[:, 3:])


def test_half_precision_comes_back_as_it_came():
    assert rotary(randn(T, D).half()).dtype == torch.float16


def test_alibi_falls_with_distance_by_a_slope_for_each_head():
    bias = alibi_bias(8, 3)
    assert bias.shape == (8, 3, 3)
    assert bias[0].tolist() == [[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]]
    assert [-b[1, 0].item() for b in bias] == [2**-h for h in range(1, 9)]
    assert alibi_bias(1, 2, 4)[0].tolist()[1] == [-3 / 256, -2 / 256, -1 / 256, 0]


def test_alibi_slopes_for_heads_that_are_no_power_of_two():
    slopes = [-b[1, 0].item() for b in alibi_bias(6, 2)]
    assert slopes == pytest.approx([2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sinusoidal(3, 5),
            ValueError,
            "dim must be even, since features are turned in pairs, got 5",
        ),
        (lambda: sinusoidal(-1, 4), ValueError, "T must be at least 0, got -1"),
        (lambda: rotary(torch.zeros(3, 4), dim=6), ValueError, "dim must be at most the width D = 4, got 6"),
        (
            lambda: rotary(torch.zeros(3, 5)),
            ValueError,
            "dim must be even, since features are turned in pairs, got 5",
        ),
        (
            lambda: rotary(torch.zeros(3, 4, dtype=torch.int64)),
            TypeError,
            "x must be a floating-point tensor, got torch.int64; use .float()",
        ),
        (
            lambda: rotary(torch.zeros(4)),
            ValueError,
            "x must have at least two axes (..., T, D), got shape (4,)",
        ),
        (
            lambda: rotary(torch.zeros(3, 4), torch.zeros(3)),
            TypeError,
            "positions must be whole numbers, got torch.float32",
        ),
        (lambda: alibi_bias(0, 3), ValueError, "num_heads must be at least 1, got 0"),
        *(
            (make, ValueError, f"base must be a finite number above zero, got {base}")
            for base in (0, 0.0, -10000.0, math.nan, math.inf)
            for make in (
                lambda base=base: sinusoidal(3, 4, base=base),
                lambda base=base: rotary(torch.zeros(3, 4), base=base),
            )
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_in_float64_has_the_gradients_and_angles_of_float64(interleaved):
    x = torch.randn(3, 5, 6, dtype=torch.float64).to(DEVICE).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: rotary(x, interleaved=interleaved), (x,))
    far = torch.tensor([100_003], device=DEVICE)
    turned = rotary(torch.tensor([[1.0, 0.0]], dtype=torch.float64, device=DEVICE), far)
    expected = torch.tensor([[math.cos(100_003), math.sin(100_003)]], dtype=torch.float64)
    assert_close(turned, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        ([0, 1], TypeError, "positions must be a torch.Tensor, got list; wrap it in torch.as_tensor"),
        (torch.tensor([True, False]), TypeError, "positions must be whole numbers, got torch.bool"),
        (
            torch.zeros(2).to(torch.complex64),
            TypeError,
            "positions must be whole numbers, got torch.complex64",
        ),
        (torch.arange(3), ValueError, "positions must broadcast to (..., T) = (5, 2), got (3,)"),
        (
            torch.zeros(7, 5, 2).long(),
            ValueError,
            "positions must broadcast to (..., T) = (5, 2), got (7, 5, 2)",
        ),
    ],
)
def test_positions_that_do_not_fit_get_this_message(positions, error, message):
    positions = positions.to(DEVICE) if isinstance(positions, torch.Tensor) else positions
    with pytest.raises(error) as caught:
        rotary(torch.zeros(5, 2, 4, device=DEVICE), positions)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: alibi_bias(2, -1, 3), ValueError, "T must be at least 0, got -1"),
        (lambda: alibi_bias(2, 3, -1), ValueError, "S must be at least 0, got -1"),
        (lambda: alibi_bias(2, 3, 4.0), TypeError, "S must be an int, got float (4.0)"),
        (lambda: rotary([[1.0, 0.0]]), TypeError, "x must be a torch.Tensor, got list; wrap it in torch.as_tensor"),
        (lambda: rotary(torch.zeros(3, 4), dim=0), ValueError, "dim must be at least 2, got 0"),
        (lambda: sinusoidal(3, 1), ValueError, "dim must be at least 2, got 1"),
    ],
)  # fmt: skip
def test_sizes_that_make_no_sense_get_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_positions_of_two_axes_are_refused_for_heads_where_they_could_be_of_sequences_or_of_heads():
    x, positions = randn(3, 3, T, D), torch.stack([torch.arange(T) + i for i in range(3)]).to(DEVICE)
    message = (
        r"positions must be \(T,\) or have one axis for each of \(..., T\) = \(3, 3, 5\), got \(3, 5\); "
        r"for heads \(B, H, T, D\), positions \(B, T\) are positions\[:, None\]"
    )
    with pytest.raises(ValueError, match=message):
        rotary(x, positions)
    each = torch.stack([rotary(row, own) for row, own in zip(x, positions, strict=True)])
    assert_close(rotary(x, positions[:, None]), each)
    assert_close(rotary(x, positions[:1]), rotary(x))
    assert_close(rotary(x[0], positions), each_head(x[0], positions))


def each_head(x, positions):
    return torch.stack([rotary(head, own) for head, own in zip(x, positions, strict=True)])


@pytest.mark.parametrize(
    "turn", [rotary, partial(rotary, base=7.0), partial(partial(rotary, dim=None), base=7.0)]
)
def test_odd_widths_are_refused_before_there_is_anything_to_turn(turn):
    with pytest.raises(
        ValueError, match=r"of even width for rotary.* got 5; .*dim=4\) turns all but the last"
    ):
        check_turned_width(turn, 5)
    with pytest.raises(ValueError, match=r"of even width for rotary, .* got 1$"):
        check_turned_width(turn, 1)
    check_turned_width(turn, 6)


def test_what_turns_a_part_and_what_is_not_ours_may_take_any_width():
    check_turned_width(partial(partial(rotary, dim=6), dim=4), 5)
    check_turned_width(lambda x, positions: x, 5)
    check_turned_width(None, 5)
    with pytest.raises(ValueError, match="dim of rotary must be at most the width D = 5 of a head, got 6"):
        check_turned_width(partial(rotary, dim=6), 5)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dim", [6, 4])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_rotary_is_rotate_by_its_angles_to_the_last_bit(dtype, dim, interleaved):
    x, wide = randn(2, 3, T, 6).to(dtype), torch.float64 if dtype == torch.float64 else torch.float32
    frequencies = 50.0 ** (-torch.arange(0, dim, 2, dtype=wide, device=DEVICE) / dim)
    angles = torch.arange(T, device=DEVICE)[:, None] * frequencies
    expected = rotate(x, angles.cos(), angles.sin(), interleaved=interleaved)
    for _ in range(2):  # the second time frequencies are known
        assert torch.equal(rotary(x, dim=dim, base=50.0, interleaved=interleaved), expected)


def test_frequencies_are_kept_for_one_kind_only_and_from_nowhere_else():
    x, kept = torch.randn(3, 4), positions._KEPT
    kept.clear()
    with torch.inference_mode():
        first = rotary(x)
    y = x.clone().requires_grad_()
    rotary(y).sum().backward()  # what inference mode made would be refused here
    assert torch.equal(rotary(x), first)
    assert len(kept) == 1
    assert not torch.equal(rotary(x, base=7.0), first)
    assert not torch.equal(rotary(x, interleaved=True), first)
    rotary(x.double())
    assert len(kept) == 4
    kept.clear()
    torch.func.vmap(rotary)(torch.randn(2, 3, 4))
    torch.func.grad(lambda x: rotary(x).sum())(x)
    with FakeTensorMode() as mode:
        rotary(mode.from_tensor(x))
    torch.compile(rotary, fullgraph=True, backend="eager")(x)
    assert not kept
    for n in range(100):
        rotary(x, base=float(n + 1))
    assert len(kept) <= 64
    with pytest.raises(TypeError, match="dim must be an int, got float"):
        rotary(torch.zeros(3, 4), dim=4.0)
