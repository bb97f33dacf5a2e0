"""In which order all runs: while a page is read, while it is written, and after the build.

A step that comes later in a list runs later; their numbers are computed from that.
"""

from __future__ import annotations

from paying_attention.light import fonts, formulas, light_page
from paying_attention.links import cards
from paying_attention.links.cards import Cards
from paying_attention.page import explorables, figure_numbers, first_state, practice, reading_time
from paying_attention.page.claim_cards import ClaimCards
from paying_attention.page.deeper import Beliefs, Deeper, WaitingSetup
from paying_attention.page.guess import Guesses
from paying_attention.page.live import LiveCells, LiveExercises
from paying_attention.page.margin_notes import MarginNotes
from paying_attention.page.practice import Practice
from paying_attention.page.proof import Proofs
from paying_attention.page.reading_time import ReadingTime
from paying_attention.page.svg_figures import InlineFigures
from paying_attention.site import address, counts, python, section_search, sharing, stored_run

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
        LiveCells,  # cells stand in the order of the notebook
        Guesses,
        Practice,
        LiveExercises,
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
    python.ship_python,  # nor this; knows which pages have a script that asks for it
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
