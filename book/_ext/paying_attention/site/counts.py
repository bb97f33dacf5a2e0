"""A number on a front page, counted while the book is built: the role ``count``.

``{count}`claims``` counts the whole book, ``{count}`exercises of 02_word_vectors``` one page. No number is
typed, so none can fall behind: claims are those that the notebooks store, exercises those of the bank, bugs
those of the explorable of *Common mistakes*, beliefs those of their page, and minutes what stands under the
title of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
from attnlib.learn import bank
from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.links.claims_index import Claim, claims, is_solution, notebooks
from paying_attention.page.reading_time import READING

STORED = ">in a stored run<"  # of a claim that was read from a stored run
MODEL = ">with a stored model<"  # of one that was measured with a model trained before
MISTAKES = "book/common_mistakes"
BELIEFS = "book/beliefs"
BUGS = "attnlib.widgets.bugs.BugFinder"
STATE = "application/vnd.jupyter.widget-state+json"
SOUND = "no bug"  # what the explorable calls the layer without one
# a belief is a heading in quotation marks, or a bold beginning in them
BELIEF = re.compile(r"^(?:#{2,3} |\*\*)“", re.M)


class CountError(SphinxError):
    """A page asks for a number that nothing counts."""

    category = "Counts"


def all_claims(root: Path) -> list[Claim]:
    """Return the claims of the pages, without those of the solutions."""
    names = [name for name in notebooks(root) if not is_solution(name)]
    return [claim for name in names for claim in claims(root / f"{name}.ipynb")]


def bugs(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the names of the bugs in the explorable of a notebook."""
    states = [one["state"] for one in notebook.metadata["widgets"][STATE]["state"].values()]
    (found,) = [state["bugs"] for state in states if state.get("_anywidget_id") == BUGS]
    return [bug["name"] for bug in found if bug["name"] != SOUND]


def beliefs(notebook: nbformat.NotebookNode) -> int:
    """Return how many beliefs a page takes up."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return len(BELIEF.findall("\n\n".join(texts)))


def page(root: Path, name: str) -> nbformat.NotebookNode:
    """Return the notebook of a page."""
    return nbformat.read(root / f"{name}.ipynb", as_version=4)


def exercises_of(page: str) -> list:
    """Return the exercises of a chapter, by the name of its notebook."""
    number = str(int(page[:2]))
    return [one for id, one in bank.exercises().items() if id.split(".")[0] == number]


OF_THE_BOOK: dict[str, Callable[[Path], int]] = {
    "claims": lambda root: len(all_claims(root)),
    "stored claims": lambda root: sum(STORED in claim.text for claim in all_claims(root)),
    "claims with a stored model": lambda root: sum(MODEL in claim.text for claim in all_claims(root)),
    "exercises": lambda _: len(bank.exercises()),
    "bugs": lambda root: len(bugs(page(root, MISTAKES))),
    "beliefs": lambda root: beliefs(page(root, BELIEFS)),
}
OF_A_PAGE: dict[str, Callable[[str], int]] = {
    "exercises": lambda page: len(exercises_of(page)),
    "exercise minutes": lambda page: sum(one.minutes for one in exercises_of(page)),
}
MINUTES = "minutes"  # of a page are known once it is read


class pending_minutes(nodes.Inline, nodes.Element):  # noqa: N801  (docutils' way)
    """The place of the minutes of a page that may not have been read yet."""


def count(
    name: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: object,
    options: object = None,
    content: object = (),
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Return the number that the role asks for."""
    del name, rawtext, lineno, options, content
    env = inliner.document.settings.env
    what, _, page = text.partition(" of ")
    if not page:
        return [nodes.Text(str(of_the_book(env, what)))], []
    docname = f"{env.docname.rpartition('/')[0]}/{page}".strip("/")
    if docname not in env.found_docs:
        raise CountError(f"{env.docname}: {text!r} names a page that is not there: {docname}")
    env.note_dependency(str(env.doc2path(docname)))
    if what == MINUTES:
        return [pending_minutes(page=docname)], []
    return [nodes.Text(str(known(OF_A_PAGE, what, env.docname)(page)))], []


def of_the_book(env, what: str) -> int:
    """Return a number that is counted over all notebooks."""
    counted = known(OF_THE_BOOK, what, env.docname)
    root = Path(env.srcdir)
    for notebook in notebooks(root):
        env.note_dependency(str(root / f"{notebook}.ipynb"))
    return counted(root)


def known(counts: dict[str, Callable], what: str, docname: str) -> Callable:
    """Return what counts, or say that nothing does."""
    if what not in counts:
        raise CountError(f"{docname}: {what!r} is not counted; known are {', '.join(counts)}")
    return counts[what]


class Minutes(SphinxPostTransform):
    """Fill in the minutes, now that all pages are read."""

    def run(self, **_: object) -> None:
        """Fill in those that a page names."""
        for place in list(self.document.findall(pending_minutes)):
            read = self.env.metadata[place["page"]]
            if READING not in read:
                raise CountError(f"{self.env.docname}: {place['page']} has no reading time")
            place.replace_self(nodes.Text(str(read[READING])))
