"""The SVG figures of the notebooks stand inside the page.

So their text is set in the page's font and can be searched, and their colours are variables of the theme,
which ``_static/colours.css`` gives for light and dark. Each knows how wide it is, and how wide it must be for
its smallest letters to be legible: a wide page enlarges it, a narrow one lets it scroll (``figures.css``). A
cell may show claims beside its figure, or two figures under one caption.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

import myst_nb.sphinx_
from attnlib.plotting.kit.style import THEME
from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.transforms import SphinxTransform

POINT = 1.3  # pixels: 10 pt in a figure are 13 px on the page
FONTS = (
    (r"'?(?:DejaVu Sans Mono|monospace)'?[^;\"]*", "var(--pst-font-family-monospace, monospace)"),
    (r"'?(?:DejaVu Sans|Source Sans 3)'?[^;\"]*", "var(--pst-font-family-base, sans-serif)"),
    (r"'Source Serif 4'[^;\"]*", "var(--book-serif, serif)"),
)
LEGIBLE = 11  # pixels: no letters on a phone are smaller
LETTERS = 13  # where a drawing does not say
SIZED = re.compile(r"<(?:svg|g|text)\b[^>]*>")
SIZE = re.compile(r"font(?:-size)?(?:=\"|:\s*)[^;\"]*?([\d.]+)(?:px)?(?=[\s;\"])")
COLOUR = re.compile(r"((?:fill|stroke|color)(?:=\"|:\s*))(#[0-9a-fA-F]{6})\b")
# a style in the page would hold for all of it
UNUSED = (r"<metadata>.*?</metadata>", r"<style[^>]*>.*?</style>", r"<!--.*?-->", r"<defs>\s*</defs>")
TEXT_STYLE = re.compile(r"<(?:svg|text|tspan)\b[^>]*>")


class FigureError(SphinxError):
    """A stored figure that cannot stand in the page."""

    category = "Figures"


def inline(svg: str, name: str, alt: str) -> str:
    """Return a stored SVG as it stands in the page.

    Args:
        svg: As a notebook stores it.
        name: Begins its ids, so that they are unique on the page.
        alt: What the picture shows.
    """
    start = svg.find("<svg")
    if start < 0:
        raise FigureError(f"a stored figure must hold an <svg> element, got {svg[:60]!r}")
    if "#000000" in svg:
        raise FigureError(f"{name} must not be drawn in black, which the dark hides; use plotting.INK")
    svg = svg[start:].strip()
    for unused in UNUSED:
        svg = re.sub(unused, "", svg, flags=re.S)
    svg = TEXT_STYLE.sub(lambda tag: _fonts(tag[0]), _colours(_ids(svg, name)))
    opening = svg[: svg.index(">") + 1]
    return _opening(opening, alt) + re.sub(r">\s*\n\s*<", ">\n<", svg[len(opening) :])


def _ids(svg: str, name: str) -> str:
    """Drop ids that nothing refers to; let the others begin with the name of the figure."""
    used = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", svg))
    svg = re.sub(r'\sid="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", svg)
    return re.sub(r"(url\(|href=\")#", rf"\1#{name}-", svg)


def _colours(svg: str) -> str:
    """Let every colour of the book follow the theme; the others stay as they are."""

    def themed(match: re.Match) -> str:
        colour = match[2].lower()
        return match[1] + (f"var({THEME[colour][0]}, {colour})" if colour in THEME else match[2])

    return COLOUR.sub(themed, svg)


def _fonts(tag: str) -> str:
    """Set text in the fonts of the page."""
    for stored, shown in FONTS:
        found = re.search(stored, tag)
        if found:
            return tag[: found.start()] + shown + tag[found.end() :]
    return tag


def _opening(tag: str, alt: str) -> str:
    """Return the opening tag with the size in pixels, and what a screen reader says."""
    size = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', tag)
    if not size:
        raise FigureError(f"a stored figure must have a viewBox, got {tag}")
    scale = POINT if re.search(r'\swidth="[\d.]+pt"', tag) else 1.0
    width, height = (f"{scale * float(part):.1f}" for part in size.groups())
    kept = re.sub(r'\s(?:width|height|xmlns\S*|version)="[^"]*"', "", tag)
    kept = kept.replace("<svg", f'<svg class="pa-figure" width="{width}" height="{height}"', 1)
    label = escape(" ".join(alt.split()), quote=True)
    return kept.replace(">", f' role="img" aria-label="{label}">', 1)


def framed(svg: str) -> str:
    """Return an SVG of the page in a frame that knows its width, and the least at which it can be read.

    What is raised or lowered, a ``tspan``, is smaller than its line and does not count.
    """
    letters = [float(size) for tag in SIZED.findall(svg) for size in SIZE.findall(tag)]
    natural, across = (
        float(re.search(rule, svg)[1]) for rule in (r'width="([\d.]+)"', r'viewBox="\S+ \S+ (\S+)')
    )
    legible = math.ceil(across * LEGIBLE / min(letters, default=LETTERS))
    return f'<div class="pa-drawn" style="--natural: {natural:g}px; --legible: {legible}px">{svg}</div>'


class InlineFigures(SphinxTransform):
    """Put the SVG pictures of a notebook into its page."""

    def apply(self, **_) -> None:
        """Replace every picture that is an SVG made by a notebook."""
        pictures = [
            image
            for image in self.document.findall(nodes.image)
            if image["uri"].endswith(".svg") and "jupyter_execute" in image["uri"]
        ]
        for n, image in enumerate(pictures, 1):
            svg = Path(self.env.srcdir, image["uri"].lstrip("/")).read_text("utf8")
            page = framed(inline(svg, f"fig{n}", image.get("alt", "")))
            image.replace_self(nodes.raw("", page, format="html"))


original = myst_nb.sphinx_.create_figure_context


@contextmanager
def figure_context(self, options: dict | None, line: int) -> Iterator[None]:
    """Make a figure of the first picture of a cell, put the next ones into it, and leave all else outside."""
    held = nodes.Element()
    with self.current_node_context(held):
        yield
    if not options or not any(held.findall(nodes.image)):
        self.current_node.extend(held.children)
        return
    name = nodes.fully_normalize_name(str(options.get("name", "")))
    figure = self.document.ids.get(self.document.nameids.get(name))
    if figure is not None and figure.line == line:  # another picture of the same cell
        last = max(i for i, child in enumerate(figure.children) if not isinstance(child, nodes.caption))
        figure.children[last + 1 : last + 1] = held.children
        for child in held.children:
            child.parent = figure
        figure["classes"].append("pa-several")
        return
    with original(self, options, line):
        self.current_node.extend(held.children)
