"""Figures are shown with a caption and an alt text, made where they are drawn."""

import matplotlib.pyplot as plt
import pytest

from attnlib import plotting
from attnlib.instruments.settings import Setting
from attnlib.plotting.kit import showing

WORDS = {"caption": "What to see.", "alt": "What is there.", "name": "fig-one"}


@pytest.fixture
def notebook(monkeypatch):
    """Return what a notebook would be given to show."""
    import IPython.display

    given = []
    monkeypatch.setattr(showing, "_in_notebook", lambda: True)
    monkeypatch.setattr(
        IPython.display,
        "display",
        lambda data, metadata, raw: given.append((data, metadata.get(showing.KEY))),
    )
    return given


def test_axes_and_drawings_become_svg_with_their_words_as_text(notebook):
    ax = plt.subplots()[1]
    plotting.show(ax, **WORDS)
    plotting.show(plotting.unrolled_network(["a", "b"]), **WORDS, setting=Setting(steps=200))
    (first, words), (second, more) = notebook
    assert "<svg" in first["image/svg+xml"]
    assert first["text/plain"] == "What to see.\nWhat is there."
    assert words == WORDS | {"setting": ""}
    assert second["text/plain"] == "What to see.\nWhat is there.\nSetting: 200 steps"
    assert more["setting"] == "200 steps"


def test_several_pictures_share_one_caption(notebook):
    plotting.show(*[plt.subplots()[1] for _ in range(2)], **WORDS)
    assert [words is None for _, words in notebook] == [False, True]


def test_a_figure_that_was_shown_is_closed(notebook):
    ax = plt.subplots()[1]
    plotting.show(ax, **WORDS)
    assert not plt.fignum_exists(ax.figure.number)


def test_without_a_notebook_the_words_are_printed(capsys):
    plotting.show(plt.subplots()[1], **WORDS)
    assert capsys.readouterr().out == "What to see.\nWhat is there.\n"


def test_what_cannot_be_shown_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="show needs a picture, got none"):
        plotting.show(**WORDS)
    with pytest.raises(TypeError, match="a picture must be axes, a figure or a drawing, got int"):
        plotting.show(3, **WORDS)
    with pytest.raises(ValueError, match="alt must be a text, got ''"):
        plotting.show(plt.subplots()[1], **WORDS | {"alt": ""})
    with pytest.raises(TypeError, match="a result must carry its setting, got float"):
        plotting.show(plt.subplots()[1], **WORDS, setting=0.5)


def test_small_numbers_are_spelled():
    assert [plotting.spell(n) for n in (0, 1, 12, 13, 4000)] == ["no", "one", "twelve", "13", "4,000"]
