from itertools import pairwise

import matplotlib.pyplot as plt
import torch

from attnlib import plotting
from tests.plotting.axes import box, texts


def test_curves_show_median_and_spread():
    ax = plotting.curves({"tied": torch.tensor([[3.0, 1.0], [5.0, 2.0], [4.0, 9.0]])})
    assert ax.lines[0].get_ydata().tolist() == [4.0, 2.0]
    box = ax.collections[0].get_paths()[0].get_extents()
    assert (box.y0, box.y1) == (1.0, 9.0)
    assert texts(ax) == ["tied"]


def test_lines_are_named_and_points_drawn():
    ax = plotting.lines([0, 1], {"narrow": [1, 2], "wide": [2, 3]}, points=([0, 1], [1, 3]), xlabel="hour")
    assert texts(ax) == ["narrow", "wide"]
    assert len(ax.lines) == 3
    assert ax.get_xlabel() == "hour"


def test_helpers_draw_where_they_are_told():
    _, ax = plt.subplots()
    assert plotting.heatmap(torch.eye(2), list("ab"), list("ab"), ax=ax) is ax
    assert plotting.lines([0], {"x": [1]}, ax=ax) is ax
    assert plotting.curves({"x": [1.0]}, ax=ax) is ax


def test_curves_over_given_places_with_a_level_and_names_that_do_not_overlap():
    runs = {"a": [[1.0, 0.5], [1.0, 0.4]], "b": [[1.0, 0.5], [1.0, 0.5]]}
    ax = plotting.curves(runs, x=[2, 4], level=(0.5, "chance"), ylabel="share")
    assert ax.lines[1].get_xdata().tolist() == [2, 4]
    assert sorted(texts(ax)) == ["a", "b", "chance"]
    boxes = sorted((box(text) for text in ax.texts), key=lambda found: found.y0)
    assert all(below.y1 < above.y0 for below, above in pairwise(boxes))
    assert plotting.curves({"a": [[1.0, 0.1]]}, log=True).get_yscale() == "log"


def test_more_lines_than_colours_change_their_dashes_and_none_is_lost():
    ax = plotting.lines([0, 1], {str(i): [i, i] for i in range(6)})
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.lines]
    assert len(set(looks)) == 6
    ax = plotting.curves({"q": [[1.0, 2.0]]}, colours=[plotting.QUERY])
    assert ax.lines[0].get_color() == plotting.QUERY
