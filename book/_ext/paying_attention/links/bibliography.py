"""Sphinx directive ``references``: the bibliography, by key, with each entry named as the text cites it."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

from docutils import nodes
from docutils.parsers.rst import Directive
from pybtex.backends.html import Backend
from pybtex.database import Entry, Person, parse_file
from pybtex.richtext import Text
from pybtex.style.formatting.unsrt import Style
from pybtex.style.template import field, join, sentence


class Source(NamedTuple):
    """One entry: who and when, as cited, and as HTML the whole reference, one for a card, and its links."""

    authors: str
    year: str
    whole: str
    card: str
    links: str

    @property
    def in_sentence(self) -> str:
        """Return "Elman (1990)"."""
        return f"{self.authors} ({self.year})"

    @property
    def in_parentheses(self) -> str:
        """Return "Elman, 1990"."""
        return f"{self.authors}, {self.year}"


class AsWritten(Style):
    """pybtex's plain style, with titles as they are written and links left to us."""

    def format_title(self, e, which_field, as_sentence=True):
        """Return a title with its own capitals."""
        title = field(which_field)
        return sentence[title] if as_sentence else title

    def format_web_refs(self, e):
        """Leave out what stands in ``links``."""
        return join[""]


def who(entry: Entry) -> str:
    """Return the authors as cited: one, two, or the first "et al."."""
    names = [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]]
    names = [str(Text.from_latex(name)) for name in names]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def addresses(entry: Entry) -> str:
    """Return where an entry can be found, as HTML links."""
    fields, found = entry.fields, []
    if "doi" in fields:
        found.append((f"https://doi.org/{fields['doi']}", f"doi:{fields['doi']}"))
    if "eprint" in fields:
        found.append((f"https://arxiv.org/abs/{fields['eprint']}", f"arXiv:{fields['eprint']}"))
    if "url" in fields:
        found.append((fields["url"], fields["url"].split("/")[2]))
    links = [f'<a class="reference external" href="{escape(to)}">{escape(name)}</a>' for to, name in found]
    return ", ".join(links)


@cache
def printer() -> tuple[Style, Backend]:
    """Return style and backend; pybtex searches all installed packages each time it makes them."""
    return AsWritten(), Backend("utf8")


def reference(entry: Entry, most: int | None = None) -> str:
    """Return a reference as HTML, with at most so many authors."""
    people = entry.persons["author"]
    if most and len(people) > most:
        people = [*people[:most], Person("others")]
    style, backend = printer()
    (made,) = style.format_entries([Entry(entry.type, entry.fields, {"author": people})])
    said = re.sub(r"</?span[^>]*>", "", made.text.render(backend))
    return said.replace(", and others.", " et al.")


@cache
def sources(path: Path) -> dict[str, Source]:
    """Return the entries of a ``.bib`` file by key, sorted by author and year.

    Those with the same authors and year are told apart by letters, in the order of the file.
    """
    entries = parse_file(str(path), bib_format="bibtex").entries
    cited = [(who(entry), entry.fields["year"]) for entry in entries.values()]
    made = {}
    for at, (key, entry) in enumerate(entries.items()):
        authors, year = cited[at]
        letter = ascii_lowercase[cited[:at].count(cited[at])] if cited.count(cited[at]) > 1 else ""
        made[key] = Source(
            authors, year + letter, reference(entry), reference(entry, most=4), addresses(entry)
        )
    return dict(sorted(made.items(), key=lambda item: (item[1].authors.lower(), item[1].year)))


def bibliography(env) -> dict[str, Source]:
    """Return the sources of the book that is built."""
    return sources(Path(env.srcdir) / env.config.references_file)


class References(Directive):
    """List every entry."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        env = self.state.document.settings.env
        env.note_dependency(str(Path(env.srcdir) / env.config.references_file))
        items = "".join(
            f'<li id="{key}"><strong>{escape(source.in_sentence)}</strong> {source.whole} {source.links}</li>'
            for key, source in bibliography(env).items()
        )
        return [nodes.raw("", f'<ul class="pa-references">{items}</ul>', format="html")]
