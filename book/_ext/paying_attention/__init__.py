"""The Sphinx extension of the book: what it adds to Sphinx; in which order it runs is told in ``order``.

The rooms: ``page`` makes a page of a notebook's cells, ``links`` leads from page to page, ``light`` makes the
pages small and quick, ``site`` speaks for the book as a whole. A module says what it does, and not when.
"""

from __future__ import annotations

import myst_nb.sphinx_
from myst_nb.sphinx_ import SphinxNbRenderer

from paying_attention.html_element import VISITORS, html_element
from paying_attention.light import formulas
from paying_attention.links import chapter_map, claims_index
from paying_attention.links.bibliography import References
from paying_attention.order import EVENTS, LATE, POST_TRANSFORMS, TRANSFORMS
from paying_attention.page import explorables, guess, svg_figures
from paying_attention.page.practice import Progress
from paying_attention.site import counts

DIRECTIVES = {
    "chapter-map": chapter_map.ChapterMap,
    "claim": claims_index.OneClaim,
    "claims": claims_index.Claims,
    "explorable": explorables.Explorable,
    "progress": Progress,
    "references": References,
}

ROLES = {"count": counts.count}

NODES = {
    html_element: VISITORS,
    chapter_map.chapter_map: chapter_map.VISITORS,
}


def setup(app) -> dict:
    """Register all with Sphinx."""
    app.add_config_value("references_file", "book/references.bib", "env")
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
    for name, role in ROLES.items():
        app.add_role(name, role)
    for node, visitors in NODES.items():
        app.add_node(node, **visitors)
    SphinxNbRenderer.render_nb_cell_markdown = guess.render_markdown_cell
    myst_nb.sphinx_.create_figure_context = svg_figures.figure_context
    for start, steps in TRANSFORMS.items():
        for step in _numbered(start, steps):
            app.add_transform(step)
    for start, steps in POST_TRANSFORMS.items():
        for step in _numbered(start, steps):
            app.add_post_transform(step)
    for event, handlers in EVENTS.items():
        for priority, handler in enumerate(handlers, LATE):
            app.connect(event, handler, priority=priority)
    for sheet in ("colours.css", "figures.css", formulas.SHEET):
        app.add_css_file(sheet)
    # after the settings, before MathJax, which is deferred
    app.add_js_file(None, body=formulas.FORGET_MENU, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _numbered(start: int, steps: list[type]) -> list[type]:
    """Give each step of a list the number by which docutils runs it."""
    for number, step in enumerate(steps, start):
        step.default_priority = number
    return steps
