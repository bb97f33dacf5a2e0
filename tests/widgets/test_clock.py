import math

import pytest
import torch

from attnlib import alibi_bias, rotary, sinusoidal
from attnlib.widgets import PositionClock


def test_the_clock_by_hand():
    clock = PositionClock(place=2, distance=3)
    assert repr(clock) == "PositionClock('rotary', query at 5, key at 2, base=10000, back=0)"
    q, k = clock.hands()
    speeds = (1, 0.1, 0.01, 0.001)
    for n, arrows in ((5, q), (2, k)):
        expected = [[math.cos(n * speed), math.sin(n * speed)] for speed in speeds]
        torch.testing.assert_close(arrows, torch.tensor(expected, dtype=torch.float64))
    expected = [sum(math.cos(n * speed) for speed in speeds) for n in range(65)]
    assert clock.scores().tolist() == pytest.approx(expected)


def test_the_clock_scores_as_attnlibs_positions_do():
    up = torch.tensor([1.0, 0.0] * 4).expand(30, 8)
    turned = rotary(up, base=100.0, interleaved=True)
    clock = PositionClock(place=11, base=100)
    torch.testing.assert_close(clock.scores()[:19].float(), (turned @ turned.T)[11:, 11])
    added = torch.tensor([0.0, 1.0] * 4) + sinusoidal(30, 8, base=100.0)
    clock.kind = "sinusoid"
    torch.testing.assert_close(clock.scores()[:19].float(), (added @ added.T)[11:, 11])
    for head in (1, 8):
        clock = PositionClock(kind="alibi", place=11, head=head)
        expected = 4 + alibi_bias(8, 30)[head - 1, 11:, 11]
        torch.testing.assert_close(clock.scores()[:19].float(), expected)


@pytest.mark.parametrize(("kind", "stays"), [("sinusoid", False), ("rotary", True), ("alibi", True)])
def test_moving_both_tokens_leaves_the_score_of_rotary_and_alibi(kind, stays):
    low, high = PositionClock(kind=kind).band()
    assert ((high - low).max() < 1e-9).item() is stays


@pytest.mark.parametrize("base", [10, 10_000])
@pytest.mark.parametrize("back", [0, 6, 16])
def test_a_query_that_attends_back_scores_highest_there(base, back):
    clock = PositionClock(base=base, back=back)
    assert clock.scores().argmax() == back
    assert clock.scores()[back] == pytest.approx(4)
    assert PositionClock(kind="alibi", back=back).scores().argmax() == 0


@pytest.mark.parametrize(("state", "message"), [
    ({"place": 101}, "place must be from 0 to 100, got 101"),
    ({"distance": -1}, "distance must be from 0 to 64, got -1"),
    ({"head": 0}, "head must be from 1 to 8, got 0"),
    ({"back": 17}, "back must be from 0 to 16, got 17"),
    ({"base": 50}, "base must be one of 10, 30, 100"),
])  # fmt: skip
def test_a_clock_that_no_page_can_show_is_refused(state, message):
    for numbers in ("hands", "scores", "band"):
        with pytest.raises(ValueError, match=message):
            getattr(PositionClock(**state), numbers)()
