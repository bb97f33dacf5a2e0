import pytest

from attnlib import plotting
from tests.plotting.drawn import texts


def test_a_key_without_a_row_of_its_own_spoils_the_answers_of_others():
    said = texts(plotting.written_state([("a", 3), ("b", 5), ("c", 6)], "a", shared={"c": (0.5, 0.5)}))
    assert said[-1] == "6 / 1.5 = 4"
    assert said.count("+3") == 3
    assert "key (0.5, 0.5)" in said


def test_a_sum_answers_with_the_mean_and_a_corrected_state_with_the_last():
    pairs = [("a", 3), ("b", 5), ("a", 7)]
    said = texts(plotting.written_state(pairs, "a", rules=("add", "correct")))
    assert [text for text in said if text[0] == "+"] == ["+3", "+5", "+7", "+3", "+5", "+4"]
    assert "10 / 2 = 5" in said
    assert said[-1] == "7"
    assert texts(plotting.written_state(pairs[:2], "b"))[-1] == "5 / 1 = 5"
    for pairs, ask, rules, wrong in (
        ([("a", 1)] * 4, "a", ("add",), "writes must be up to 3 pairs of at most 2 keys"),
        ([("a", 1)], "b", ("add",), r"ask must be one of the keys \['a'\], got 'b'"),
        ([("a", 1)], "a", ("forget",), r"rules must be from \['add', 'correct'\], got \['forget'\]"),
    ):
        with pytest.raises(ValueError, match=wrong):
            plotting.written_state(pairs, ask, rules=rules)
