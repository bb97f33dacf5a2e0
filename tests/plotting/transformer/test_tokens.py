import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import SERIES
from tests.plotting.drawn import filled, texts


def test_new_tokens_stand_out_and_spaces_are_seen():
    drawn = plotting.pieces({"one": ["a", " b"], "two": ["a b"]}, new={"two": {"a b"}})
    assert texts(drawn) == ["one", "a", "␣b", "two", "a␣b"]
    assert len(filled(drawn, SERIES[0])) == 1
    with pytest.raises(ValueError, match="at least one row"):
        plotting.pieces({})
