import pytest

from attnlib import causal_mask
from attnlib.widgets import BugFinder


def bug(verdicts, moved):
    return {"name": "crossed", "wrong": "a", "right": "b", "verdicts": verdicts, "moved": moved}


def test_bugs_are_shown_as_they_were_found():
    finder = BugFinder([bug(["passes", "error"], causal_mask(2))], ["first", "second"])
    assert finder.bugs[0]["moved"] == [[True, False], [True, True]]
    assert finder.found_by() == ["second"]
    assert repr(finder) == "BugFinder('crossed', found by 1 of 2 tests)"
    assert repr(BugFinder()) == "BugFinder('no bugs', found by 0 of 0 tests)"


@pytest.mark.parametrize("verdicts", [["passes"], ["passes", "perhaps"]])
def test_a_bug_needs_a_verdict_of_each_test(verdicts):
    told = r"verdicts must say passes, fails, error for each of 2 tests, got \[.*\] for crossed"
    with pytest.raises(ValueError, match=told):
        BugFinder([bug(verdicts, causal_mask(2))], ["first", "second"])


def test_what_moves_is_a_square():
    with pytest.raises(ValueError, match=r"moved must be \(T, T\), got \(2, 3\) for crossed"):
        BugFinder([bug(["passes"], causal_mask(2, 3))], ["first"])
