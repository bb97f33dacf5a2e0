"""The table of weights that a cell on the page can draw."""

import importlib.util
import re

import pytest
import torch

from tests.book import ROOT

spec = importlib.util.spec_from_file_location("drawing_of_the_page", ROOT / "book/live/drawing.py")
drawing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(drawing)
show_weights = drawing.show_weights


def texts(table):
    return re.findall(r"<t[hd](?: [^>]*)?>([^<]*)<", table._repr_html_())


def test_rows_and_columns_have_the_same_words_where_there_are_as_many():
    table = show_weights(torch.tensor([[0.25, 0.75], [1.0, 0.0]]), ["he", "she"])
    assert texts(table) == ["", "he", "she", "he", "0.25", "0.75", "she", "1.00", "0.00"]
    assert repr(table) == "0.25  0.75\n1.00  0.00"


def test_a_single_row_needs_no_name():
    assert texts(show_weights([0.5, 0.5], columns=["a", "b"])) == ["", "a", "b", "", "0.50", "0.50"]


def test_a_weight_is_mixed_into_the_paper_by_its_size():
    shares = re.findall(r"fill\) (\d+)%", show_weights([0.0, 0.25, 1.0, -3.0, 9.0])._repr_html_())
    assert shares == ["0", "25", "100", "0", "100"]


def test_a_label_is_text_and_no_markup():
    assert "<b>" not in show_weights([[1.0]], ["<b>"])._repr_html_()


@pytest.mark.parametrize(
    ("weights", "labels", "words"),
    [
        (torch.ones(2, 2, 2), {}, "index what has more axes"),
        ([[1.0], [1.0, 2.0]], {}, "rows of one length"),
        (torch.ones(25, 3), {}, "at most 24 rows and columns are drawn, got 25 and 3"),
        ([[1.0, 0.0]], {"columns": ["a"]}, "a label for each of 2, got 1"),
    ],
)
def test_what_cannot_be_drawn_says_what_must_hold(weights, labels, words):
    with pytest.raises(ValueError, match=words):
        show_weights(weights, **labels)
