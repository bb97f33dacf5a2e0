"""Clocks, arrows that turn, and the same words in two orders."""

import math
import re

import pytest
import torch

from attnlib import plotting


def said(drawing):
    return re.findall(r">([^<>]+)</text>", drawing._repr_svg_())


def test_a_row_for_each_place_and_a_dial_for_each_hand():
    drawn = plotting.clock_rows([0, 8], [1.0, 0.1, 0.01])
    assert said(drawn) == ["places for one round", "6", "63", "628", "place 0", "place 8"]
    assert drawn._repr_svg_().count("<circle") == 6


def test_a_hand_points_up_at_place_0_and_right_after_a_quarter():
    drawn = plotting.clock_rows([0, 1], [math.pi / 2])._repr_svg_()
    (x0, y0), (x1, y1) = (map(float, tip) for tip in re.findall(r'd="M([\d.]+) ([\d.]+) L[^"]*Z"', drawn))
    centres = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert x0 == pytest.approx(centres[0][0])
    assert y0 < centres[0][1]
    assert x1 > centres[1][0]
    assert y1 == pytest.approx(centres[1][1])


def test_arrows_that_turn_together_keep_their_score():
    drawn = plotting.turned_arrows((2, 0), (1, 0), math.pi / 6, [(0, 0), (3, 1), (7, 5)])
    assert said(drawn)[1::2] == ["score 2.00", "score 1.00", "score 1.00"]
    assert said(drawn)[0::2] == ["query at 0, key at 0", "query at 3, key at 1", "query at 7, key at 5"]


def test_a_line_joins_each_word_to_itself_where_its_vector_is_the_same():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    words = ["dog", "bites", "man"]
    drawn = plotting.two_orders(words, words[::-1], (x, x.flip(0)))
    assert drawn._repr_svg_().count("<path") == 3
    other = x.flip(0)
    other[0, 0] += 1
    assert plotting.two_orders(words, words[::-1], (x, other))._repr_svg_().count("<path") == 2


@pytest.mark.parametrize(
    ("second", "rows", "message"),
    [(["dog", "eats"], 2, "same words, each once"), (["bites", "dog"], 3, "must have a vector")],
)
def test_orders_of_other_words_are_refused(second, rows, message):
    x = torch.zeros(rows, 2)
    with pytest.raises(ValueError, match=message):
        plotting.two_orders(["dog", "bites"], second, (x, x))
