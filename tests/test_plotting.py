from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from attnlib import causal_mask, plotting

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(ax):
    return [t.get_text() for t in ax.texts]


def test_heatmap_has_queries_as_rows_and_keys_as_columns():
    ax = plotting.heatmap(torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]), ["q1", "q2"], ["a", "b", "c"])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["q1", "q2"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")
    assert texts(ax) == ["0.25", "0.75", "0.00", "1.00", "0.00", "0.00"]
    assert ax.images[0].get_clim() == (0, 1)


def test_heatmap_without_digits_and_with_long_labels_turned():
    ax = plotting.heatmap(np.eye(3), list("xyz"), ["a long label indeed"] * 3, digits=0)
    assert texts(ax) == []
    assert ax.get_xticklabels()[0].get_rotation() == 40


def test_mask_grid_has_two_colours():
    ax = plotting.mask_grid(causal_mask(3), list("abc"), list("abc"))
    assert ax.images[0].get_cmap().N == 2
    assert ax.images[0].get_array().tolist() == causal_mask(3).float().tolist()


@pytest.mark.parametrize("draw", [plotting.heatmap, plotting.mask_grid])
def test_labels_must_fit(draw):
    with pytest.raises(ValueError, match=r"must be \(queries, keys\) = \(2, 2\), got \(3, 3\)"):
        draw(torch.eye(3), list("ab"), list("ab"))


def test_plane_names_words_and_where_they_go():
    ax = plotting.plane({"apple": (2, 2), "phone": (0, 4)}, {"apple": (1, 3)})
    assert set(texts(ax)) == {"apple", "phone", "", "new apple"}
    assert ax.get_aspect() == 1.0
    plotting.plane({"apple": (2, 2)}, ax=ax)


def test_curves_show_median_and_spread():
    ax = plotting.curves({"tied": torch.tensor([[3.0, 1.0], [5.0, 2.0], [4.0, 9.0]])})
    assert ax.lines[0].get_ydata().tolist() == [4.0, 2.0]
    box = ax.collections[0].get_paths()[0].get_extents()
    assert (box.y0, box.y1) == (1.0, 9.0)
    assert texts(ax) == ["tied"]


def test_lines_are_named_and_points_drawn():
    ax = plotting.lines([0, 1], {"narrow": [1, 2], "wide": [2, 3]}, points=([0, 1], [1, 3]), xlabel="hour")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["narrow", "wide"]
    assert len(ax.lines) == 3
    assert ax.get_xlabel() == "hour"


@pytest.mark.parametrize("draw", [plotting.heatmap, plotting.mask_grid])
def test_helpers_draw_where_they_are_told(draw):
    _, ax = plt.subplots()
    assert draw(torch.eye(2), list("ab"), list("ab"), ax=ax) is ax
    assert plotting.lines([0], {"x": [1]}, ax=ax) is ax
    assert plotting.curves({"x": [1.0]}, ax=ax) is ax


def test_curves_over_given_places_with_a_level_and_names_that_do_not_overlap():
    runs = {"a": [[1.0, 0.5], [1.0, 0.4]], "b": [[1.0, 0.5], [1.0, 0.5]]}
    ax = plotting.curves(runs, x=[2, 4], level=(0.5, "chance"), ylabel="share")
    assert ax.lines[1].get_xdata().tolist() == [2, 4]
    heights = sorted(t.xy[1] for t in ax.texts)
    assert sorted(texts(ax)) == ["a", "b", "chance"]
    assert min(b - a for a, b in pairwise(heights)) > 0.07
    assert plotting.curves({"a": [[1.0, 0.1]]}, log=True).get_yscale() == "log"


def test_scatter_shows_every_run():
    ax = plotting.scatter({1: [0.5, 0.7], 2: [0.9]}, level=(0.1, "chance"), xlabel="size")
    points = [list(line.get_ydata()) for line in ax.lines[1:3]]
    assert points == [[0.5, 0.7], [0.9]]
    assert list(ax.lines[0].get_ydata()) == [pytest.approx(0.6), 0.9]
    assert texts(ax) == ["chance"]
    assert 0 < ax.texts[0].xy[1] < 0.2
    assert plotting.scatter({1: [1.0]}, ax=ax) is ax


def test_matrices_stand_under_their_names_in_one_scale():
    left, right, below = plotting.matrices(
        {"a": [[1.0, -3.0]], "b": [[0.0, 0.5]], "c": [[2.0, -np.inf]]}, ["row"], ["x", "y"]
    )
    assert [ax.get_xlabel() for ax in (left, right, below)] == ["a", "b", "c"]
    assert [t.get_text() for t in left.get_yticklabels()] == ["row"]
    assert [t.get_text() for t in below.get_xticklabels()] == ["x", "y"]
    assert {ax.images[0].get_clim() for ax in (left, right, below)} == {(-3, 3)}
    assert len([ax for ax in left.figure.axes if ax.get_visible()]) == 3
    (only,) = plotting.matrices({"weights": torch.tensor([[0.25, 0.75]])}, ["row"], across=1, signed=False)
    assert only.images[0].get_clim() == (0, 1)


def test_matrices_must_fit_their_labels():
    with pytest.raises(ValueError) as caught:
        plotting.matrices({"a": [[1.0, 2.0]]}, ["row"], ["x", "y", "z"])
    assert str(caught.value) == "a must be (rows, columns) = (1, 3), got (1, 2)"
