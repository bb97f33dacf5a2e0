from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from attnlib import causal_mask, plotting
from attnlib.instruments.roofline import stored_roofline
from attnlib.plotting.kit.labels import spread
from attnlib.plotting.kit.style import WEIGHT_FILL
from attnlib.plotting.kit.ticks import plain

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def box(text):
    """Return where a text stands, in pixels, after the figure was drawn."""
    text.figure.canvas.draw()
    return text.get_window_extent()


def middle(text):
    found = box(text)
    return (found.y0 + found.y1) / 2


def texts(ax):
    return [t.get_text() for t in ax.texts]


def test_heatmap_has_queries_as_rows_and_keys_as_columns():
    ax = plotting.heatmap(torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]), ["q1", "q2"], ["a", "b", "c"])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["q1", "q2"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")
    assert texts(ax) == ["0.25", "0.75", "0.00", "1.00", "0.00", "0.00"]
    assert ax.collections[0].get_clim() == (0, 1)
    assert ax.get_ylim() == (1.5, -0.5)


def test_heatmap_without_digits_and_with_long_labels_turned():
    ax = plotting.heatmap(np.eye(3), list("xyz"), ["a long label indeed"] * 3, digits=0)
    assert texts(ax) == []
    assert ax.get_xticklabels()[0].get_rotation() == 40


def test_labels_must_fit():
    with pytest.raises(ValueError, match=r"must be \(queries, keys\) = \(2, 2\), got \(3, 3\)"):
        plotting.heatmap(torch.eye(3), list("ab"), list("ab"))


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


def test_scatter_shows_every_run():
    ax = plotting.scatter({1: [0.5, 0.7], 2: [0.9]}, level=(0.1, "chance"), xlabel="size")
    points = [list(line.get_ydata()) for line in ax.lines[1:3]]
    assert points == [[0.5, 0.7], [0.9]]
    assert list(ax.lines[0].get_ydata()) == [pytest.approx(0.6), 0.9]
    assert texts(ax) == ["chance"]
    assert middle(ax.texts[0]) == pytest.approx(ax.transData.transform((0, 0.1))[1], abs=1)
    assert plotting.scatter({1: [1.0]}, ax=ax) is ax


def test_strips_show_every_run_in_the_row_of_its_group():
    ax = plotting.strips({"one": [0.5, 0.7], "two": [0.9]}, level=(0.1, "chance"), xlabel="share")
    assert [list(line.get_xdata()) for line in ax.lines[1:]] == [[0.5, 0.7], [0.9]]
    assert [list(line.get_ydata()) for line in ax.lines[1:]] == [[0, 0], [1]]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["one", "two"]
    assert ax.get_ylim() == (1.5, -0.5)
    assert texts(ax) == ["chance"]
    assert plotting.strips({"one": [1.0]}, ax=ax) is ax


def test_strips_show_equal_runs_apart_and_write_their_median():
    ax = plotting.strips({"one": [0.5, 0.5, 0.7], "two": [0.9]}, apart=0.1, medians=".2f")
    assert [list(line.get_ydata()) for line in ax.lines] == [pytest.approx([-0.1, 0, 0.1]), [1]]
    assert texts(ax) == ["0.50", "0.90"]
    assert [note.xy for note in ax.texts] == [(0.7, 0), (0.9, 1)]


def test_a_row_of_grids_has_its_names_above_and_its_labels_once():
    grids = {"seed 0": torch.eye(2), "seed 1": np.ones((2, 2)), "seed 2": np.ones((2, 2))}
    axes = plotting.grid_row(grids, ["1", "2"], ["a", "b"], colours={"seed 1": plotting.OUTPUT})
    assert [ax.get_subplotspec().colspan.start for ax in axes] == [0, 1, 0]  # two across at most
    axes = axes[:2]
    assert [texts(ax) for ax in axes] == [["1.0", "0.0", "0.0", "1.0"], ["1.0"] * 4]
    assert [ax.get_title() for ax in axes] == ["seed 0", "seed 1"]
    full = [mpl.colors.to_hex(ax.collections[0].get_cmap()(1.0)) for ax in axes]
    assert full == [WEIGHT_FILL, plotting.OUTPUT]
    assert [t.get_text() for t in axes[0].get_xticklabels()] == ["a", "b"]
    with pytest.raises(ValueError, match=r"must be \(queries, keys\) = \(2, 1\), got \(2, 2\)"):
        plotting.grid_row({"seed 0": torch.eye(2)}, ["1", "2"], ["a"])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1e-4, "10⁻⁴"),
        (0.01, "0.01"),
        (0.125, "0.125"),
        (1, "1"),
        (1000, "1,000"),
        (1e12, "10¹²"),
        (2e6, "2 × 10⁶"),
    ],
)
def test_powers_are_plain_text_at_full_size(value, said):
    assert plain(value) == said


def test_no_tick_of_a_logarithmic_axis_is_a_formula():
    decades = plotting.curves({"a": [[1.0, 1e-5]]}, log=True)
    narrow = plotting.curves({"a": [[1.0, 0.3]]}, log=True)
    roof = plotting.roofline(stored_roofline(), {"formula": "formula"})
    for ax in (decades, narrow, roof):
        ax.figure.canvas.draw()
        ticks = [*ax.get_xticklabels(which="both"), *ax.get_yticklabels(which="both")]
        assert not [tick.get_text() for tick in ticks if "$" in tick.get_text()]
    assert "10⁻⁴" in [tick.get_text() for tick in decades.get_yticklabels()]
    assert "0.4" in [tick.get_text() for tick in narrow.get_yticklabels(which="both")]


def test_the_roof_bends_at_the_ridge_and_every_kernel_is_named():
    roof = stored_roofline()
    ax = plotting.roofline(roof, {"formula": "formula", "fused": "tiles", "decoding": "writing"})
    x, y = ax.lines[0].get_data()
    assert x[1] == roof.ridge
    assert y[1] == y[2] == roof.peak_flops
    assert y[0] == pytest.approx(x[0] * roof.peak_bytes)
    longest = roof.named("formula")[8192]
    assert ax.lines[2].get_xydata().tolist() == [[longest.intensity, longest.speed]]
    assert {"formula", "tiles", "writing", "limit of the memory"} <= set(texts(ax))
    assert plotting.roofline(roof, {"fused": "tiles"}, ax=ax) is ax


def test_kernels_under_a_roof_share_a_length():
    roof = stored_roofline()
    apart = replace(roof, kernels=(roof.named("formula")[256], roof.named("fused")[512]))
    with pytest.raises(ValueError, match="must share a length, got 'formula', 'fused'"):
        plotting.roofline(apart, {"formula": "formula", "fused": "tiles"})


def test_mask_row_draws_masks_beside_each_other_and_crosses_what_is_not_allowed():
    masks = {"causal": causal_mask(3), "full": torch.ones(3, 3), "one ahead": causal_mask(3, offset=1)}
    axes = plotting.mask_row(masks, allowed=causal_mask(3), columns=3, keys=list("abc"))
    assert [ax.get_subplotspec().colspan.start for ax in axes] == [0, 1, 0]  # two across at most
    assert [ax.texts[0].get_text() for ax in axes] == list(masks)
    assert [len(ax.patches) for ax in axes] == [0, 3, 2]
    assert [t.get_text() for t in axes[0].get_xticklabels()] == ["a", "b", "c"]
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["0", "1", "2"]
    assert axes[0].get_ylabel() == "query"
    assert sum(ax.get_visible() for ax in axes[0].figure.axes) == 3


def test_names_of_masks_stand_above_them_where_one_row_would_be_taken_for_the_title_of_the_next():
    masks = {"causal": causal_mask(3), "full": torch.ones(3, 3), "one ahead": causal_mask(3, offset=1)}
    axes = plotting.mask_row(masks, labels=("output", "input"), above=True)
    assert [ax.get_title(loc="left") for ax in axes] == list(masks)
    assert [len(ax.texts) for ax in axes] == [0, 0, 0]
    assert {(ax.get_ylabel(), ax.get_xlabel()) for ax in axes} == {("output", "input")}


def test_mask_row_checks_sizes():
    with pytest.raises(ValueError, match=r"wide must be \(queries, keys\) = \(3, 3\), got \(3, 5\)"):
        plotting.mask_row({"causal": causal_mask(3), "wide": causal_mask(3, 5)})
    with pytest.raises(ValueError, match=r"allowed must be \(3, 3\) like the masks, got \(2, 2\)"):
        plotting.mask_row({"causal": causal_mask(3)}, allowed=causal_mask(2))


def test_pages_stand_beside_what_was_given_and_strange_words_in_red():
    given, wrote = ["the ", "a $ "], {"one": ["cat qat s", "qat"], "other": ["", "qat qat "]}
    ax = plotting.pages(given, wrote, strange=lambda word: word == "qat")
    seen = [
        (t.get_position()[0], t.get_text().replace("\N{NO-BREAK SPACE}", "."), t.get_color())
        for t in ax.texts
    ]
    ink, muted, red = plotting.INK, plotting.MUTED, plotting.SERIES[3]
    assert seen[:3] == [(0, "given", muted), (0, "the.", muted), (0, r"a.\$.", muted)]
    assert seen[3:6] == [(7, "one", ink), (7, "cat......", ink), (7, "....qat..", red)]
    assert seen[6:8] == [(7, "........s", muted), (7, "qat", muted)], "a last word may be cut"
    assert seen[8:] == [(19, "other", ink), (19, "qat.qat.", red)]
    ax.figure.canvas.draw()


def test_fitted_pages_are_as_wide_as_their_lines():
    wide, fitted = (plotting.pages(["a" * 10], {"one": ["b" * 20]}, fitted=fit) for fit in (False, True))
    assert [ax.get_xlim()[1] for ax in (wide, fitted)] == [74, 35]
    letters = [ax.figure.get_figwidth() / ax.get_xlim()[1] for ax in (wide, fitted)]
    assert np.isclose(*letters), "letters are as large in both"


def test_pages_check_sizes():
    with pytest.raises(ValueError, match="one must have 2 texts, one for each given, got 1"):
        plotting.pages(["a", "b"], {"one": ["c"]})
    with pytest.raises(ValueError, match="lines must be at most 72 letters long, got 84"):
        plotting.pages(["a"], {"one": ["c" * 80]})


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


def test_more_lines_than_colours_change_their_dashes_and_none_is_lost():
    ax = plotting.lines([0, 1], {str(i): [i, i] for i in range(6)})
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.lines]
    assert len(set(looks)) == 6
    ax = plotting.curves({"q": [[1.0, 2.0]]}, colours=[plotting.QUERY])
    assert ax.lines[0].get_color() == plotting.QUERY
