"""Sphinx directives ``claims``, every claim that the notebooks store, and ``claim``, one of them."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import SphinxError

CLAIM = re.compile(
    r'<div class="pa-line pa-good" id="(claim-(\d+))".*?</strong> (.*)</div>$',
    re.S,
)


def notebooks(root: Path) -> list[str]:
    """Return the notebooks of ``_toc.yml`` without their ending, in the order of the book."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [file for file in files if (root / f"{file}.ipynb").exists()]


def is_solution(name: str) -> bool:
    """Tell whether a notebook has answers, which a list should not give away."""
    return "solutions" in Path(name).parts


class Claim(NamedTuple):
    """A claim as it stands in a notebook's stored outputs."""

    anchor: str
    number: str
    text: str  # HTML
    starred: bool  # its cell has the tag: a reader may have believed the opposite


def claims(path: Path) -> list[Claim]:
    """Return the claims in a notebook's stored outputs."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        starred = "starred" in cell.metadata.get("tags", [])
        for output in cell.get("outputs", []):
            match = CLAIM.match(output.get("data", {}).get("text/html", ""))
            if match:
                found.append(Claim(*match.groups(), starred))
    return found


class NoSuchClaimError(SphinxError):
    """What a page shows as a sample is not, or no longer, a claim of the book."""

    category = "Claims"


def the_one(found: list[Claim], words: str) -> Claim:
    """Return the claim that has these words."""
    having = [claim for claim in found if words in claim.text]
    if len(having) != 1:
        raise NoSuchClaimError(f"{words!r} must stand in one claim of that page, but does in {len(having)}")
    return having[0]


def as_list(found: list[tuple[str, Claim]]) -> nodes.raw:
    """Return the claims of a page, each with its address, as a list of links."""
    items = "".join(
        f'<li><a href="{page}#{one.anchor}">{one.number}</a> <span>{one.text}</span></li>'
        for page, one in found
    )
    return nodes.raw("", f'<ul class="claims">{items}</ul>', format="html")


def as_mixed_list(found: list[tuple[str, str, Claim]]) -> nodes.raw:
    """Return claims of several pages as a list, each with its page's title as the link."""
    items = "".join(
        f'<li><span>{one.text} <a href="{page}#{one.anchor}">{escape(title)}</a></span></li>'
        for title, page, one in found
    )
    return nodes.raw("", f'<ul class="claims">{items}</ul>', format="html")


def section(id: str, title: str, *children: nodes.Node) -> nodes.section:
    """Return a section with a title."""
    made = nodes.section(ids=[id])
    made += nodes.title("", title)
    made.extend(children)
    return made


class Claims(Directive):
    """List the claims: the starred ones, then a section for each page; the solutions' are only counted."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence with the counts, then the lists."""
        env = self.state.document.settings.env
        root, here = Path(env.srcdir), env.docname.rpartition("/")[0]
        parts, starred, count, in_solutions = [], [], 0, 0
        for name in notebooks(root):
            path = root / f"{name}.ipynb"
            env.note_dependency(str(path))
            page = f"{name.removeprefix(here + '/')}.html"
            found = claims(path)
            if is_solution(name):
                in_solutions += len(found)
            elif found:
                title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].lstrip("# ")
                parts.append(section(nodes.make_id(name), title, as_list([(page, claim) for claim in found])))
                starred += [(title, page, claim) for claim in found if claim.starred]
                count += len(found)
        if starred:
            lead = nodes.paragraph("", "Each goes against what is often said, or what one would guess.")
            title = "You may have believed the opposite"
            parts.insert(0, section("starred", title, lead, as_mixed_list(starred)))
        said = f"The book makes {count} claims, and {in_solutions} more in the solutions, where they stand."
        return [nodes.paragraph("", said), *parts]


class OneClaim(Directive):
    """Show a claim on another page as it stands on its own: ``claim`` with the page and some of its words."""

    required_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the line, with a link to its place."""
        env = self.state.document.settings.env
        page, words = self.arguments
        path = Path(env.doc2path(env.docname)).parent / f"{page}.ipynb"
        env.note_dependency(str(path))
        claim = the_one(claims(path), words)
        link = f'<a class="pa-number" href="{page}.html#{claim.anchor}">Claim {claim.number}.</a>'
        html = (
            '<div class="pa-line pa-good"><span class="pa-mark" aria-hidden="true">✓</span>'
            f" <strong>{link}</strong> {claim.text}</div>"
        )
        return [nodes.raw("", html, format="html")]
