import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from attnlib import plotting
from tests.plotting.axes import assert_readable, labels


def test_crowded_words_keep_their_labels_apart():
    rng = np.random.default_rng(0)
    points = {f"word{i}": rng.normal(size=2) for i in range(25)}
    ax = plotting.word_map(points)
    assert {t.get_text() for t in labels(ax)} == set(points)
    assert_readable(ax)


def test_groups_get_a_colour_a_marker_and_a_name():
    points = {"mango": (0, 0), "pear": (0, 1), "car": (3, 0), "other": (2, 2)}
    ax = plotting.word_map(points, {"fruit": ["mango", "pear"], "vehicle": ["car"]})
    colours = {t.get_text(): to_hex(t.get_color()) for t in labels(ax)}
    assert colours["mango"] == colours["pear"] == colours["fruit"] == plotting.SERIES[0]
    assert colours["car"] == colours["vehicle"] == plotting.SERIES[1]
    assert colours["other"] == plotting.INK
    assert {t.get_text() for t in labels(ax) if t.get_weight() == "bold"} == {"other", "fruit", "vehicle"}


def test_a_word_of_no_group_has_a_colour_that_none_of_three_groups_has():
    points = {word: (i, i % 2) for i, word in enumerate(("pear", "car", "red", "other"))}
    ax = plotting.word_map(points, {"fruit": ["pear"], "vehicle": ["car"], "colour": ["red"]})
    drawn = {to_hex(line.get_color()) for line in ax.get_lines()}
    assert drawn == {plotting.SERIES[0], plotting.SERIES[1], plotting.SERIES[3], plotting.INK}


def test_the_name_of_a_group_stands_at_its_outer_side():
    points = {"red": (0, 5), "blue": (1, 6), "pear": (0, 1), "mango": (1, 0)}
    ax = plotting.word_map(points, {"colour": ["red", "blue"], "fruit": ["pear", "mango"]})
    renderer = ax.figure.canvas.get_renderer()
    at = {t.get_text(): t.get_window_extent(renderer) for t in labels(ax)}
    assert at["colour"].y0 > at["blue"].y1 > at["red"].y1
    assert at["fruit"].y1 < at["mango"].y0 < at["pear"].y0
    assert_readable(ax)


def test_a_label_can_be_put_beside_its_point_by_hand():
    ax = plotting.word_map({"red": (0, 0), "blue": (1, 1)}, beside={"red": (-6, 5)})
    assert {t.get_text(): t.xyann for t in labels(ax)} == {"red": (-6, 5), "blue": (6, 0)}


def test_two_steps_lie_in_their_plane_with_true_lengths_and_a_true_angle():
    taken, wanted = torch.tensor([0.0, 3.0, 0.0]), torch.tensor([0.0, 0.0, 4.0])
    ax = plotting.two_steps(taken, wanted, start="king", end="sum", answer="queen")
    [corner] = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "D"]
    assert corner == [[3.0, 0.0]]
    assert {t.get_text() for t in labels(ax)} == {"king", "sum", "queen", "3.0", "4.0", "5.0", "90°"}
    assert_readable(ax)


def test_two_steps_may_say_something_else_than_their_lengths():
    names = {"start": "king", "end": "sum", "answer": "queen"}
    ax = plotting.two_steps([3.4, 0.0], [2.0, 3.8], **names, sides=["one", "other", "missed"])
    assert {t.get_text() for t in labels(ax)} == {"king", "sum", "queen", "one", "other", "missed", "62°"}
    assert_readable(ax)
    with pytest.raises(ValueError, match="zip"):
        plotting.two_steps([3.4, 0.0], [2.0, 3.8], **names, sides=["one"])


def test_maps_draw_where_they_are_told():
    _, ax = plt.subplots()
    points = {"a": (0, 1), "b": (0, 0), "c": (1, 0)}
    assert plotting.word_map(points, ax=ax) is ax
    names = {"start": "a", "end": "b", "answer": "c"}
    assert plotting.two_steps([1.0, 0.0], [0.0, 1.0], **names, ax=ax) is ax
    assert plotting.dot_rows(["x"], {"n": [1]}, ax=ax) is ax
    assert plotting.against_chance([1, 2], {"x": 1}, ax=ax) is ax
