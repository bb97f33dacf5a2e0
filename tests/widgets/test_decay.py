import math

import pytest
import torch

from attnlib.widgets import GradientDecay


def test_the_gradient_of_a_straight_recurrence_is_a_power():
    decay = GradientDecay(weight=0.9, length=44)
    torch.testing.assert_close(decay.gradients(), 0.9 ** torch.arange(45, dtype=torch.float64))
    assert repr(decay) == "GradientDecay(weight=0.9, length=44, squash=False)"


def test_squashed_it_vanishes_even_with_a_weight_above_one():
    assert GradientDecay(weight=1.1, length=100).gradients()[-1] > 1e4
    squashed = GradientDecay(weight=1.1, length=100, squash=True).gradients()
    state = math.tanh(1.1 * 0.5)
    assert squashed[1].item() == pytest.approx(1.1 * (1 - state**2))
    assert squashed[-1] < 1e-6
