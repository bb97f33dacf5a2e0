"""Texts as pictures: what a model wrote is not the same on every machine, and is not compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes

from attnlib.plotting.kit.style import INK, MUTED, SERIES, plt

WIDEST = 72  # letters of a line, which a phone can show
BETWEEN = 3  # letters of room between two columns
BLANK = "\N{NO-BREAK SPACE}"  # SVG makes one of several other spaces


def pages(
    given: Sequence[str],
    wrote: Mapping[str, Sequence[str]],
    *,
    strange: Callable[[str], bool] = lambda word: False,
    fitted: bool = False,
) -> Axes:
    """Draw beginnings of texts, and beside each how several writers went on, on a figure of its own.

    Args:
        given: The beginnings.
        wrote: By the name of a writer, how it went on from each.
        strange: Tells of a word whether it stands out, in red; the last of a line may be cut, and is grey.
        fitted: Whether the figure is only as wide as its lines, so that a phone shows them larger.

    Returns:
        The axes.

    Raises:
        ValueError: If a writer has not gone on from each beginning, or lines are too long.
    """
    columns = {"given": given, **wrote}
    starts, width = {}, 0
    for name, texts in columns.items():
        if len(texts) != len(given):
            raise ValueError(f"{name} must have {len(given)} texts, one for each given, got {len(texts)}")
        starts[name] = width
        width += max(map(len, texts)) + BETWEEN
    if width - BETWEEN > WIDEST:
        raise ValueError(f"lines must be at most {WIDEST} letters long, got {width - BETWEEN}")
    width = (width - BETWEEN if fitted else WIDEST) + 2  # letters are a point too narrow to fill it
    _, ax = plt.subplots(figsize=(6.2 * width / (WIDEST + 2), 0.3 + 0.23 * (len(given) + 1)))
    ax.set_axis_off()
    ax.set(xlim=(0, width), ylim=(len(given) + 1, -0.2))
    for name, texts in columns.items():
        ax.text(starts[name], 0.3, name, color=MUTED if texts is given else INK, weight="bold", va="center")
        for i, line in enumerate(texts):
            parts = [(line, MUTED)] if texts is given else _parts(line, strange)
            for part, colour in parts:
                shown = part.replace("$", r"\$").replace(" ", BLANK)  # or matplotlib reads a formula
                ax.text(starts[name], i + 1.5, shown, color=colour, family="monospace", va="center")
    return ax


def _parts(line: str, strange: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Return a line as texts of one colour that lie on each other, blank where others have their words."""
    words = re.split("( )", line)
    colours = [*(SERIES[3] if strange(word) else INK for word in words[:-1]), MUTED]
    parts = []
    for wanted in (INK, SERIES[3], MUTED):
        some = (word if now == wanted else " " * len(word) for word, now in zip(words, colours, strict=True))
        parts.append(("".join(some), wanted))
    return [(text, colour) for text, colour in parts if text.strip()]
