import pytest
import torch

from attnlib import plotting


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
