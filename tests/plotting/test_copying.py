import pytest

from attnlib import plotting
from tests.plotting.drawn import said


def test_the_last_token_said_finds_what_followed_it():
    drawn = plotting.copy_steps("rftk", said=2)
    assert said(drawn)[:7] == ["r", "f", "t", "k", "|", "r", "f"]
    assert [text for text in said(drawn) if text.startswith("after")] == [
        "after r",
        "after f",
        "after t",
        "after f?",
    ]
    assert "4 back" in said(drawn)
    assert said(drawn)[-2:] == ["t", "says"]


def test_the_two_heads_that_copy_are_named_instead_of_distances():
    drawn = plotting.copy_steps(["moon", "fish", "tree"], said=2, sign="", heads=("first", "second"))
    told = said(drawn)
    assert told[:5] == ["moon", "fish", "tree", "moon", "fish"]
    assert [text for text in told if text[0].isdigit()] == ["1. first:", "2. second:"]
    assert told.count("after fish") == told.count("after fish?") == 1
    assert not any("distance" in text for text in told)
    assert told[-2:] == ["tree", "says"]


@pytest.mark.parametrize(
    ("tokens", "count", "message"),
    [("abca", 1, "all be different"), ("abc", 0, "at least 1 and below 3"), ("abc", 3, "got 3")],
)
def test_what_cannot_be_copied_is_refused(tokens, count, message):
    with pytest.raises(ValueError, match=message):
        plotting.copy_steps(tokens, said=count)
