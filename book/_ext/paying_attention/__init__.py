"""The Sphinx extension of the book: what it adds to Sphinx, and in which order it runs.

The rooms: ``page`` makes a page of a notebook's cells, ``links`` leads from page to page, ``light`` makes the
pages small and quick, ``site`` speaks for the book as a whole. A module says what it does; when it does it is
said here alone. Numbers are computed: a step that comes later in a list runs later.
"""

from __future__ import annotations

import myst_nb.sphinx_
from myst_nb.sphinx_ import SphinxNbRenderer

from paying_attention.html_element import VISITORS, html_element
from paying_attention.light import fonts, formulas, light_page
from paying_attention.links import cards, chapter_map, claims_index
from paying_attention.links.bibliography import References
from paying_attention.links.cards import Cards
from paying_attention.page import (
    explorables,
    figure_numbers,
    first_state,
    guess,
    practice,
    reading_time,
    svg_figures,
)
from paying_attention.page.claim_cards import ClaimCards
from paying_attention.page.deeper import Beliefs, Deeper, WaitingSetup
from paying_attention.page.guess import Guesses
from paying_attention.page.margin_notes import MarginNotes
from paying_attention.page.practice import Practice, Progress
from paying_attention.page.proof import Proofs
from paying_attention.page.reading_time import ReadingTime
from paying_attention.page.svg_figures import InlineFigures
from paying_attention.site import address, counts, section_search, sharing, stored_run

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

# before anything is read; the configuration comes after the extensions that read it, so that ours is last
CONFIGURED = [sharing.where_nothing_is_found, address.leave_out_placeholder]
BEFORE = [
    stored_run.refuse,
    section_search.replace_search,
]

# while a page is read: each step by the number from which docutils counts
TRANSFORMS = {
    400: [Beliefs, explorables.TryThis],
    880: [InlineFigures],  # all else has been read, and no picture been gathered for copying
}
READ = [cards.name_terms, reading_time.remember]

# once all pages are read
NUMBERED = [figure_numbers.number_by_chapter]  # after Sphinx's own count

# while a page is written
POST_TRANSFORMS = {
    2: [counts.Minutes],
    3: [ReadingTime],  # the page as it was written: MyST-NB chooses from the stored outputs at 4
    8: [Cards],  # before MyST looks for headings of that name, at 9
    205: [  # outputs are chosen, and links resolved
        Guesses,
        Practice,
        WaitingSetup,  # answers are veiled, and cells not yet rearranged
        Proofs,
        ClaimCards,  # cells are rearranged, and answers veiled
        MarginNotes,
        formulas.Unbroken,
        Deeper,  # all inside is in its place
    ],
}
HEADS = [
    fonts.ask_early,
    sharing.describe_page,
    practice.fill_launch,  # after the theme has made its menu
    explorables.move_state,  # after MyST-NB has added the state
    explorables.check_tries,
]

# after the build, on the written files
AFTER_BUILD = [
    light_page.repair,
    sharing.describe_site,
    section_search.write_index,
    light_page.draw_icons,
    formulas.set_formulas,
    light_page.join_styles,  # nothing adds a style or a script to a page after this
    explorables.ship_weights,  # not looked into for the names of classes
    first_state.draw_first_states,  # the pages are as a browser shows them
    sharing.take_cards,  # with the first states
]

LATE = 900  # of an event: what Sphinx, the theme and other extensions do comes first
EVENTS = {
    "config-inited": CONFIGURED,
    "builder-inited": BEFORE,
    "doctree-read": READ,
    "env-get-updated": NUMBERED,
    "html-page-context": HEADS,
    "build-finished": AFTER_BUILD,
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
