import math
import re

import pytest

from attnlib import plotting
from tests.plotting.drawn import said


def test_a_row_for_each_position_and_a_dial_for_each_hand():
    drawn = plotting.clock_rows([0, 8], [1.0, 0.1, 0.01])
    assert said(drawn) == ["positions for a whole turn", "6", "63", "628", "position 0", "position 8"]
    assert drawn._repr_svg_().count("<circle") == 6


def test_a_hand_points_up_at_position_0_and_right_after_a_quarter():
    drawn = plotting.clock_rows([0, 1], [math.pi / 2])._repr_svg_()
    (x0, y0), (x1, y1) = (map(float, tip) for tip in re.findall(r'd="M([\d.]+) ([\d.]+) L[^"]*Z"', drawn))
    centres = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert x0 == pytest.approx(centres[0][0])
    assert y0 < centres[0][1]
    assert x1 > centres[1][0]
    assert y1 == pytest.approx(centres[1][1])


def test_arrows_that_turn_together_keep_their_score_and_their_angle():
    drawn = plotting.turned_arrows((2, 0), (1, 0), math.pi / 6, [(0, 0), (3, 1), (7, 5)])
    shown = [text for text in said(drawn) if not text.isdigit()]
    assert shown[:3] == ["query at 0", "key at 0", "score 2.00"]
    assert shown[3:7] == ["query at 3", "key at 1", "60°", "score 1.00"]
    assert shown[7:] == ["query at 7", "key at 5", "60°", "score 1.00"]


def test_an_arrow_points_up_at_position_0_and_right_at_three_o_clock():
    drawn = plotting.turned_arrows((1, 0), (1, 0), math.pi / 6, [(3, 0)])._repr_svg_()
    (x0, y0), (x1, y1) = (map(float, tip) for tip in re.findall(r'd="M([\d.]+) ([\d.]+) L[^"]*Z"', drawn))
    x, y = map(float, re.search(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn).groups())
    assert (x0 > x, y0) == (True, pytest.approx(y))  # the query
    assert (x1, y1 < y) == (pytest.approx(x), True)  # the key


@pytest.mark.parametrize(("turn", "positions"), [(math.pi / 6, 12), (math.pi / 2, 4), (1.0, 0), (0.0, 0)])
def test_positions_stand_around_a_dial_that_they_fill(turn, positions):
    drawn = plotting.turned_arrows((2, 0), (1, 0), turn, [(1, 0)])
    assert [text for text in said(drawn) if text.isdigit()] == [
        str(position) for position in range(positions)
    ]


def test_hands_without_a_whole_turn_meet_new_angles():
    drawn = plotting.swept_dials([1.0, 0.1, 0.01, 0.0001], 63, 127)
    assert said(drawn)[:5] == ["10", "1.0", "0.10", "0.001", "turns at distance 63"]
    assert said(drawn)[5:] == ["every angle seen", "distances 64 to 127: new angles"]
    picture = drawn._repr_svg_()
    filled = [picture.count(f'fill="{colour}"') for colour in plotting.SERIES[:2]]
    assert filled == [2 + 2 + 2 + 1, 2 + 2 + 1]  # dials or sectors, numbers, and what is said of them


def test_a_hand_after_a_whole_turn_has_nothing_new():
    drawn = plotting.swept_dials([1.0], 63, 127)
    assert said(drawn)[-1] == "every angle seen"
    assert f'fill="{plotting.SERIES[1]}"' not in drawn._repr_svg_()
