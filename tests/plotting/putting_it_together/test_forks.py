import pytest

from attnlib import plotting
from tests.plotting.drawn import said


def test_a_fork_says_what_is_common_once():
    drawn = plotting.forked(
        ["Goku hits Frieza", "because he is"], [("weak,", "meaning"), ("evil,", "meaning")]
    )
    assert said(drawn)[:2] == ["Goku hits Frieza", "because he is"]
    assert said(drawn)[2:] == ["weak,", "meaning", "?", "evil,", "meaning", "?"]
    with pytest.raises(ValueError, match="a line and at least two ends, got 1 and 1"):
        plotting.forked(["because he is"], [("weak,", "meaning")])
