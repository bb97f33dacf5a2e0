import pytest

from attnlib import plotting
from tests.plotting.drawn import said


def test_every_number_stands_under_its_word_and_the_last_words_may_be_without():
    drawn = plotting.under_words(["he", "is", "evil"], {"score": ([-1.25, 0.0], plotting.KEY)}, query="he")
    assert said(drawn) == ["he", "is", "evil", "score", "−1.25", "0"]
    assert drawn._repr_svg_().count("stroke-dasharray") == 1


def test_a_row_has_its_own_decimals():
    rows = {"a": ([0.25], plotting.KEY), "b": ([2.5], plotting.WEIGHT)}
    assert said(plotting.under_words(["he"], rows, digits=[2, 1])) == ["he", "a", "0.25", "b", "2.5"]


def test_a_row_may_be_without_numbers():
    drawn = plotting.under_words(["he", "is"], {"changed": ([0.0, 1.0], plotting.KEY)}, digits=[None])
    assert said(drawn) == ["he", "is", "changed"]
    assert f'fill="{plotting.KEY}" fill-opacity="0.5"' in drawn._repr_svg_()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"query": "she"}, "query must be one of the words, got 'she'"), ({}, "at most 1 numbers, got 2")],
)
def test_what_does_not_fit_the_words_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        plotting.under_words(["he"], {"a": ([0.25, 0.5], plotting.KEY)}, **options)
