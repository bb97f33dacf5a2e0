import pytest
import torch

from attnlib import plotting
from tests.plotting.axes import texts


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


def test_rows_of_dots_are_joined_from_the_first_to_the_second_and_have_a_column_beside():
    series = {"with": torch.tensor([10.0, 20.0]), "without": [5, 6], "neither": [1, 2]}
    ax = plotting.dot_rows(["x", "y"], series, beside=("agree", ["0.8", "0.1"]), xlabel="%")
    assert [t.get_text() for t in ax.get_yticklabels()] == ["x", "y"]
    assert [line.get_xdata().tolist() for line in ax.lines] == [[10, 20], [5, 6], [1, 2]]
    assert [path.tolist() for path in ax.collections[0].get_segments()] == [
        [[10, 0], [5, 0]],
        [[20, 1], [6, 1]],
    ]
    assert [t.get_text() for t in ax.texts] == ["agree", "0.8", "0.1"]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(series)
    assert ax.yaxis_inverted()


def test_rows_of_dots_need_an_entry_for_each_label():
    with pytest.raises(ValueError, match=r"n must have one entry for each of 2 labels, got \(1,\)"):
        plotting.dot_rows(["x", "y"], {"n": [1]})
    with pytest.raises(ValueError, match=r"agree must have one entry for each of 2 labels, got \(3,\)"):
        plotting.dot_rows(["x", "y"], {"n": [1, 2]}, beside=("agree", ["a", "b", "c"]))
