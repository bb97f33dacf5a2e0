import numpy as np
import pytest
import torch

from attnlib import plotting


def test_scores_stand_over_the_weights_they_make():
    scores = torch.tensor([[0.0, 0.0, 100.0], [100.0, 0.0, 0.0]])
    narrow, wide, soft, sharp = plotting.scores_over_weights(
        {"d = 1": scores / 1e9, "d = 2": scores}, edge=50
    )
    assert [bar.get_height() for bar in sharp.patches] == pytest.approx([0, 0, 1])
    assert [bar.get_height() for bar in soft.patches] == pytest.approx([1 / 3] * 3)
    assert narrow.get_xlim() == wide.get_xlim() == (-50, 50)
    assert wide.texts[0].get_text() == "d = 2\nstd 47"
    assert "1/3" in [text.get_text() for text in sharp.texts]


def test_weights_are_drawn_largest_last_whatever_the_order_of_keys():
    scores = np.log(np.array([[0.2, 0.5, 0.3], [0.5, 0.3, 0.2]]))
    _, weights = plotting.scores_over_weights({"a": scores}, edge=3)
    assert [bar.get_height() for bar in weights.patches] == pytest.approx([0.2, 0.3, 0.5])


def test_product_tables_print_their_cells_and_their_sum():
    drawn = plotting.product_tables({"one\nthing": torch.eye(2), "other": 3 * torch.ones(2, 2)})._repr_svg_()
    assert drawn.count(">1<") == 2
    assert drawn.count(">0<") == 0  # a zero is an empty cell
    assert drawn.count(">3<") == 4
    assert "sum 2" in drawn
    assert "sum 12" in drawn
    assert ">thing<" in drawn


def test_product_tables_stand_in_as_many_lines_as_they_need():
    tables = {name: torch.eye(2) for name in "abc"}
    in_two, in_one = plotting.product_tables(tables), plotting.product_tables(tables, across=3)
    assert in_two.width < in_one.width
    assert in_two.height > 2 * in_one.height


def test_product_tables_of_ones_alone_have_a_colour():
    assert "nan" not in plotting.product_tables({"one": torch.eye(2)})._repr_svg_()


def test_product_tables_must_be_square_and_of_whole_numbers():
    with pytest.raises(ValueError, match=r"a must be a square table, got \(2, 3\)"):
        plotting.product_tables({"a": torch.zeros(2, 3)})
    with pytest.raises(ValueError, match=r"a must hold whole numbers, got 0\.500"):
        plotting.product_tables({"a": torch.full((2, 2), 0.5)})
