import pytest

from attnlib import plotting
from tests.plotting.drawn import texts


def test_a_swap_shows_what_stood_there_what_does_and_who_predicts_what():
    said = texts(plotting.swapped_answer("ab d", 1, "x", {"one": "c", "other": "x"}))
    assert "was ␣, now x" in said
    assert said[:4] == ["a", "b", "x", "d"]
    assert said[-4:] == ["c", "predicted by one", "x", "predicted by other"]
    with pytest.raises(ValueError, match="position must be followed by a letter of the line, got 3 of 4"):
        plotting.swapped_answer("ab d", 3, "x", {})
    with pytest.raises(ValueError, match="line must have at most 21 letters, got 30: cut it"):
        plotting.swapped_answer("x" * 30, 3, "y", {})
