import numpy as np
import pytest

from attnlib import plotting


def test_pages_stand_beside_what_was_given_and_strange_words_in_red():
    given, wrote = ["the ", "a $ "], {"one": ["cat qat s", "qat"], "other": ["", "qat qat "]}
    ax = plotting.pages(given, wrote, strange=lambda word: word == "qat")
    seen = [
        (t.get_position()[0], t.get_text().replace("\N{NO-BREAK SPACE}", "."), t.get_color())
        for t in ax.texts
    ]
    ink, muted, red = plotting.INK, plotting.MUTED, plotting.SERIES[3]
    assert seen[:3] == [(0, "given", muted), (0, "the.", muted), (0, r"a.\$.", muted)]
    assert seen[3:6] == [(7, "one", ink), (7, "cat......", ink), (7, "....qat..", red)]
    assert seen[6:8] == [(7, "........s", muted), (7, "qat", muted)], "a last word may be cut"
    assert seen[8:] == [(19, "other", ink), (19, "qat.qat.", red)]
    ax.figure.canvas.draw()


def test_fitted_pages_are_as_wide_as_their_lines():
    wide, fitted = (plotting.pages(["a" * 10], {"one": ["b" * 20]}, fitted=fit) for fit in (False, True))
    assert [ax.get_xlim()[1] for ax in (wide, fitted)] == [74, 35]
    letters = [ax.figure.get_figwidth() / ax.get_xlim()[1] for ax in (wide, fitted)]
    assert np.isclose(*letters), "letters are as large in both"


def test_pages_check_sizes():
    with pytest.raises(ValueError, match="one must have 2 texts, one for each given, got 1"):
        plotting.pages(["a", "b"], {"one": ["c"]})
    with pytest.raises(ValueError, match="lines must be at most 72 letters long, got 84"):
        plotting.pages(["a"], {"one": ["c" * 80]})
