import pytest
import torch

from attnlib import attention_weights, causal_mask, masked_softmax, sliding_window_mask
from attnlib.instruments.leaks import leaks
from attnlib.widgets import MaskPainter


def test_the_painter_starts_causal_and_gives_attnlibs_weights():
    painter = MaskPainter()
    assert repr(painter) == "MaskPainter('The cat sat on the mat', 21 pairs, leaks=0)"
    scores = torch.tensor(painter.scores, dtype=torch.float64)
    expected = attention_weights(scores, torch.eye(6).double(), causal=True, scale=1.0)
    torch.testing.assert_close(painter.weights(), expected)
    painter.mask = [[False] * 6, *painter.mask[1:]]
    assert painter.weights()[0].tolist() == [0] * 6


def test_zero_after_the_softmax_leaves_sums_below_one_and_leaks_everywhere():
    painter = MaskPainter(after=True)
    sums = painter.weights().sum(-1)
    assert (sums[:-1] < 0.9).all()
    assert sums[-1].item() == pytest.approx(1)
    assert painter.leaks().sum() == 15


@pytest.mark.parametrize(
    "preset", ["full", "causal", "window of 2", "prefix of 3", "two documents", "padding"]
)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("after", [False, True])
def test_the_reach_is_what_the_leak_test_finds(preset, layers, after):
    painter = MaskPainter(preset, layers=layers, after=after)
    mask = torch.tensor(painter.mask)

    def stack(x):
        for _ in range(layers):
            weights = masked_softmax(x @ x.T / 8) * mask if after else masked_softmax(x @ x.T / 8, mask)
            x = x + weights @ x
        return x

    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.equal(painter.dependencies(), leaks(stack, x, tries=1))


def test_layers_of_a_window_reach_further():
    assert torch.equal(MaskPainter("window of 2", layers=3).dependencies(), sliding_window_mask(6, window=4))
    assert torch.equal(MaskPainter("full").leaks(), ~causal_mask(6))


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match=r"preset must be one of full, causal, .* got 'diagonal'"):
        MaskPainter("diagonal")
