"""Sphinx directive ``chapter-map``: the chapters in their order, and arcs from each to those that need it.

What a chapter needs is what its first cell says ("It needs chapters 1 and 3"), so the drawing cannot disagree
with the pages. Text is text, titles are links, colours come from the theme.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

import nbformat
from docutils import nodes
from docutils.parsers.rst import Directive

from paying_attention.links.claims_index import notebooks

NUMBERED = re.compile(r"book/(\d\d)_")
NEEDS = re.compile(r"It needs (.+?)\.\s")
ADDRESS = re.compile(r"\(\S+\)")
ROW = 54  # its height
LEFT = 76  # where the titles begin
WIDTH = 358  # what a phone has room for


class Chapter(NamedTuple):
    """What the map says of a chapter."""

    number: int
    docname: str
    title: str
    question: str
    needs: list[int]  # by their numbers


def read(root: Path) -> list[Chapter]:
    """Return the numbered chapters of the book."""
    found = []
    for name in notebooks(root):
        if match := NUMBERED.match(name):
            opening = nbformat.read(root / f"{name}.ipynb", as_version=4).cells[0].source
            title, question = re.match(r"# (.+)\n\n\*\*(.+)\*\*", opening).groups()
            said = " ".join(NEEDS.findall(f"{opening} "))
            needs = [int(number) for number in re.findall(r"\b\d+\b", ADDRESS.sub("", said))]
            found.append(Chapter(int(match[1]), name, title, question, needs))
    return found


class chapter_map(nodes.General, nodes.Element):  # noqa: N801 (docutils names visitors after it)
    """The drawing; its links are known when a page is written."""


def arc(start: int, end: int) -> str:
    """Return an arc from one chapter to a later one, left of the titles, wider the further it reaches."""
    x, top, bottom = LEFT - 12, ROW * start - 26, ROW * end - 36
    out = x - 6 - 11 * (end - start)
    return f'<path d="M{x} {top}C{out} {top} {out} {bottom} {x - 1} {bottom}"/>'


def entry(chapter: Chapter, address: str) -> str:
    """Return a chapter's dot, title and question, as a link."""
    y = ROW * chapter.number
    *others, last = map(str, chapter.needs or [""])
    said = " and ".join(filter(None, [", ".join(others), last]))
    label = f"{chapter.title}. {chapter.question}" + (f" Needs {said}." if said else "")
    return (
        f'<a href="{escape(address)}" aria-label="{escape(label)}">'
        f'<rect x="{LEFT - 8}" y="{y - 52}" width="{WIDTH - LEFT + 8}" height="{ROW - 4}" rx="6"/>'
        f'<circle cx="{LEFT - 6}" cy="{y - 31}" r="4"/>'
        f'<text class="pa-title" x="{LEFT + 6}" y="{y - 30}">{escape(chapter.title)}</text>'
        f'<text class="pa-asks" x="{LEFT + 6}" y="{y - 12}">{escape(chapter.question)}</text></a>'
    )


def drawing(chapters: list[Chapter], addresses: list[str]) -> str:
    """Return the map as SVG."""
    arcs = "".join(arc(start, chapter.number) for chapter in chapters for start in chapter.needs)
    entries = "".join(entry(*both) for both in zip(chapters, addresses, strict=True))
    tip = (
        '<defs><marker id="pa-map-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
    )
    return (
        f'<svg class="pa-map" viewBox="0 0 {WIDTH} {ROW * len(chapters)}" role="group"'
        ' aria-label="The chapters. An arc leads from a chapter to one that needs it.">'
        f'{tip}<g class="pa-arcs" aria-hidden="true">{arcs}</g>{entries}</svg>'
    )


def _visit(self, node: chapter_map) -> None:
    here = self.builder.current_docname
    addresses = [self.builder.get_relative_uri(here, chapter.docname) for chapter in node["chapters"]]
    self.body.append(drawing(node["chapters"], addresses))
    raise nodes.SkipNode


def _skip(self, node: chapter_map) -> None:
    raise nodes.SkipNode


VISITORS = {
    "html": (_visit, None),
    **dict.fromkeys(("latex", "text", "man", "texinfo"), (_skip, None)),
}


class ChapterMap(Directive):
    """Draw the map."""

    def run(self) -> list[nodes.Node]:
        """Return the drawing of the chapters as they are now."""
        env = self.state.document.settings.env
        chapters = read(Path(env.srcdir))
        for chapter in chapters:
            env.note_dependency(str(Path(env.srcdir) / f"{chapter.docname}.ipynb"))
        return [chapter_map("", chapters=chapters)]
