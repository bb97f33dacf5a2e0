import pytest
import torch

from attnlib.widgets import ScalingLab


def test_the_lab_scales_one_draw_and_keeps_its_vectors():
    lab = ScalingLab(power=8, scaling="none", draw=3)
    q, k = lab.vectors()
    assert (q.shape, k.shape) == ((1, 256), (16, 256))
    torch.testing.assert_close(lab.weights(), (q @ k.T)[0].softmax(-1))
    wide = lab.numbers()
    lab.scaling = "root"
    assert lab.numbers()["std"] == pytest.approx(wide["std"] / 16)
    lab.scaling, lab.spread = "full", 3.0
    assert lab.numbers()["std"] == pytest.approx(9 * wide["std"] / 256)
    torch.testing.assert_close(ScalingLab(power=2, draw=3).vectors()[1], k[:, :4])
    assert repr(lab) == "ScalingLab(d=256, 'full', spread=3, draw=3)"


def test_the_lab_draws_standard_normal_numbers():
    both = torch.cat([torch.cat(ScalingLab(power=10, draw=n).vectors()) for n in (1, 2, 3)])
    assert both.mean().item() == pytest.approx(0, abs=0.02)
    assert both.std().item() == pytest.approx(1, abs=0.02)
