import numpy as np
import pytest
import torch

from attnlib import plotting
from attnlib.plotting.kit.style import WEIGHT_FILL
from tests.plotting.drawn import VALUES, WEIGHTS, WORDS, filled, parts, texts


def test_the_table_grows_with_what_is_given():
    empty = plotting.attention_table(WORDS)
    assert texts(empty) == ["keys", "queries", *WORDS, *WORDS, ""]
    assert texts(plotting.attention_table(WORDS, asking="heads"))[1] == "heads"
    scored = plotting.attention_table(WORDS, scores=[[1, 2, -np.inf]] * 3, digits=1)
    assert texts(scored)[8:11] == ["1.0", "2.0", "−∞"]
    assert texts(scored)[-1] == "scores"
    weighted = plotting.attention_table(WORDS, weights=WEIGHTS, values=VALUES)
    assert "values" in texts(weighted)
    assert "output" not in texts(weighted)
    whole = texts(plotting.attention_table(WORDS, weights=WEIGHTS, values=VALUES, output=WEIGHTS @ VALUES))
    assert whole[-6:] == ["0.90", "0.10", "0.00", "1.00", "1.25", "−0.25"]


def test_digits_on_a_dark_cell_are_not_muted():
    drawing = plotting.attention_table(WORDS, scores=np.zeros((3, 3)), weights=np.eye(3), row=1)
    dark = [p.get("fill") for p in parts(drawing, "text") if "".join(p.itertext()) in ("0.00", "1.00")]
    both_digits_of_dark_cells, other_weights_of_the_row = 3 * 2, 2
    assert dark.count(plotting.INK) == both_digits_of_dark_cells + other_weights_of_the_row


def test_a_weight_is_as_full_as_it_is_large():
    cells = filled(plotting.attention_table(WORDS, weights=WEIGHTS), WEIGHT_FILL)
    shown = [float(cell.get("fill-opacity", 1)) for cell in cells]
    assert shown == pytest.approx(WEIGHTS.flatten().tolist(), abs=1e-6)


def test_one_row_is_looked_at_and_its_weights_share_a_scale_with_the_others():
    table = plotting.attention_table(WORDS, weights=WEIGHTS, row=0)
    opacities = [float(cell.get("fill-opacity", 1)) for cell in filled(table, WEIGHT_FILL)]
    assert opacities == pytest.approx(WEIGHTS.flatten().tolist(), abs=1e-6)
    bold = [part.text for part in parts(table, "text") if part.get("font-weight")]
    assert bold == ["keys", "queries", "I", "0.70", "0.20", "0.10"]


def test_hidden_cells_have_no_number():
    table = plotting.attention_table(WORDS, weights=WEIGHTS, mask=torch.tril(torch.ones(3, 3)))
    assert texts(table)[8:-1] == ["0.70", "0.00", "1.00", "0.25", "0.25", "0.50"]


def test_keys_may_be_other_words_than_queries():
    table = plotting.attention_table(["aime"], keys=WORDS, weights=[[0.1, 0.8, 0.1]])
    assert texts(table)[:6] == ["keys", "queries", *WORDS, "aime"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"weights": np.eye(2)}, "weights must be (3, 3) to fit the words, got (2, 2)"),
        ({"values": [1.0, 2.0, 3.0]}, "values must be (3, any width) to fit the words, got (3,)"),
        ({"output": np.ones((2, 4))}, "output must be (3, any width) to fit the words, got (2, 4)"),
        ({"row": 3}, "row must be one of the 3 queries, from 0 to 2, got 3"),
        (
            {"keys": ["extraordinarily"] * 8},
            "the table has room for 4 keys as long as these, got 8: use fewer",
        ),
    ],
)
def test_the_table_says_what_does_not_fit(wrong, said):
    with pytest.raises(ValueError) as caught:
        plotting.attention_table(WORDS, **wrong)
    assert str(caught.value) == said


def test_a_table_says_that_rows_sum_to_one_only_if_they_do():
    assert "weights: each row sums to 1" in texts(plotting.attention_table(WORDS, weights=WEIGHTS))
    assert "weights" in texts(plotting.attention_table(WORDS, weights=WEIGHTS / 2))
