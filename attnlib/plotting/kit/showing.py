"""Show a figure with its caption and its alt text, both made by the cell that draws.

A number in a caption is computed where the figure is, so neither can speak of another experiment. In a
notebook the words are stored with the picture: the book prints them, and the tests compare them.
"""

from __future__ import annotations

import sys

from attnlib.instruments.settings import setting_of
from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import SAVING, plt

KEY = "paying_attention"  # of an output's metadata, where the words stand
SPELLED = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip


def show(
    *pictures: object,
    caption: str,
    alt: str,
    name: str,
    setting: object = None,
) -> None:
    """Show one figure, or several under one caption.

    Args:
        *pictures: Axes, matplotlib's figures, or drawings of `attnlib.plotting`.
        caption: What to see.
        alt: What is there, for whoever does not see it.
        name: By which the text refers to it, ``"fig-..."``.
        setting: What was trained, or what an experiment returned: it carries the setting that stands under
            the caption. What is drawn from a training has one.

    Raises:
        TypeError: If a picture is none, or the setting is none.
        ValueError: If there is no picture, or a text is missing.
    """
    if not pictures:
        raise ValueError("show needs a picture, got none; give it axes or a drawing")
    for given, text in (("caption", caption), ("alt", alt), ("name", name)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{given} must be a text, got {text!r}")
    said = "" if setting is None else str(setting_of(setting))
    words = {"caption": caption, "alt": alt, "name": name, "setting": said}
    text = "\n".join([caption, alt, *([f"Setting: {said}"] if said else [])])
    for place, svg in enumerate([_svg(picture) for picture in pictures]):
        _display(svg, text if place == 0 else "", words if place == 0 else {})


def spell(number: int) -> str:
    """Return a small whole number as a word, a larger one in digits: ``"three"``, ``"1,024"``."""
    return SPELLED[number] if 0 <= number < len(SPELLED) else f"{number:,}"


def _svg(picture: object) -> str | None:
    """Return a picture as SVG; None outside of a notebook, where nothing shows it."""
    if isinstance(picture, Drawing):
        return picture._repr_svg_()
    figure = getattr(picture, "figure", None)
    if not isinstance(figure, plt.Figure):
        raise TypeError(f"a picture must be axes, a figure or a drawing, got {type(picture).__name__}")
    plt.close(figure)  # or it would be shown a second time when the cell ends
    if not _in_notebook():
        return None
    from IPython.core.pylabtools import print_figure

    return print_figure(figure, "svg", **SAVING)


def _display(svg: str | None, text: str, words: dict) -> None:
    if svg is None or not _in_notebook():
        print(text)
        return
    from IPython.display import display

    display({"image/svg+xml": svg, "text/plain": text}, metadata={KEY: words} if words else {}, raw=True)


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return get_ipython() is not None
