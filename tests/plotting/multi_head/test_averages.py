import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import QUERY, WEIGHT_FILL
from tests.plotting.drawn import filled, texts


@pytest.mark.parametrize(("share", "told", "order"), [(0.7, "Ann", "4.2 5.8"), (0.3, "Ben", "5.8 4.2")])
def test_a_cut_gives_the_age_of_the_child_with_the_larger_weight(share, told, order):
    said = texts(plotting.cut_averages([share], ("Ann", "Ben"), (3, 7)))
    assert [text for text in said if text.endswith(("is 3", "is 7"))] == [f"{told} is 3", f"{told} is 7"]
    assert " ".join(text for text in said if "." in text and text[0].isdigit()) == order  # of 3, 7 and 7, 3
    with pytest.raises(ValueError, match="must not be one half"):
        plotting.cut_averages([0.5], ("Ann", "Ben"), (3, 7))


def test_a_token_answers_the_digits_its_relations_lead_to():
    said = texts(plotting.pointing(["c5", "a1", "b7", "a4"], 3, {"previous": 2, "match": 1, "first": 0}))
    assert [text for text in said if text.startswith("answer")] == ["answer 7", "answer 1", "answer 5"]
    with pytest.raises(ValueError, match="positions before 1, got 1"):
        plotting.pointing(["c5", "a1"], 1, {"next": 1})


def test_every_cut_of_a_matrix_is_a_head_and_every_head_has_a_pattern():
    drawing = plotting.head_cuts(512, (1, 8, 64))
    assert len(filled(drawing, WEIGHT_FILL)) == 1 + 8 + 64
    assert len(filled(drawing, QUERY)) == 1 + 8 + 64
    assert [text for text in texts(drawing) if "wide" in text] == ["512 wide", "each 64 wide", "each 8 wide"]
    with pytest.raises(ValueError, match="divisors of 512, up to 64, got 3"):
        plotting.head_cuts(512, [3])
