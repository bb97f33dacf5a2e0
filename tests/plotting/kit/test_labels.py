import numpy as np
import pytest

from attnlib import plotting
from attnlib.plotting.kit.labels import spread
from tests.plotting.axes import box, middle, texts


def test_a_name_stands_at_the_end_of_its_line_though_limits_are_set_later():
    ax = plotting.curves({"falls": [[3.0, 2.0, 1.0]], "rises": [[1.0, 2.0, 3.0]]})
    ax.set(xlim=(0, 4), ylim=(0, 10))
    for text, y in zip(ax.texts, (1.0, 3.0), strict=True):
        found, end = box(text), ax.transData.transform((2.0, y))
        assert middle(text) == pytest.approx(end[1], abs=1.5)
        assert 0 < found.x0 - end[0] < 15
    ax.set(yscale="log", ylim=(0.1, 10))
    assert middle(ax.texts[0]) == pytest.approx(ax.transData.transform((2.0, 1.0))[1], abs=1.5)


def test_the_name_of_a_line_that_leaves_the_frame_stays_at_the_frame():
    ax = plotting.lines([0, 1, 2], {"steep": [0, 5, 50]})
    ax.set(xlim=(0, 1), ylim=(0, 10))
    frame, found = ax.get_window_extent(), box(ax.texts[0])
    frame = ax.get_window_extent()
    assert middle(ax.texts[0]) == pytest.approx(frame.y1, abs=1.5)
    assert 0 < found.x0 - frame.x1 < 15


def test_names_do_not_reach_down_to_the_numbers_of_the_axis():
    ax = plotting.curves({"a": [[1.0, 0.0]], "b": [[1.0, 0.0]]})
    ax.set_ylim(0, 1)
    ax.figure.canvas.draw()
    assert min(box(text).y0 for text in ax.texts) >= ax.get_window_extent().y0 - 2


def test_names_that_would_overlap_move_apart_about_their_middle():
    moved = spread(np.array([5.0, 5.0, 20.0, 5.5]), 2.0)
    assert moved[2] == 20.0
    assert sorted(moved[[0, 1, 3]]) == pytest.approx([3.1667, 5.1667, 7.1667], abs=1e-3)


def test_a_region_that_cannot_be_entered_is_shaded_under_its_name():
    ax = plotting.curves({"GRU": [[0.3, 0.6]]}, x=[4, 8], region=([4, 6, 8], [0.1, 0.2, 0.3], "nobody"))
    shade = ax.collections[0].get_paths()[0].get_extents()
    assert (shade.x0, shade.x1, shade.y0, shade.y1) == (4, 8, 0, 0.3)
    assert "nobody" in texts(ax)
    assert ax.get_ylim()[0] == 0
    assert "nobody" in texts(plotting.lines([1, 2], {"a": [1, 2]}, region=([1, 2], [0.1, 0.2], "nobody")))
    with pytest.raises(ValueError, match=r"as many heights as x, got \(1,\) and \(2,\)"):
        plotting.curves({"a": [1.0]}, region=([1, 2], [0.1], "nobody"))
