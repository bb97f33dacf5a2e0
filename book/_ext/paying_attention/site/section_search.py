"""A search by section, with an index of the book's prose and a script that ranks it.

Sphinx's own search finds pages, shows code and raw TeX in its excerpts, and puts its index before the first
line of every page. Pagefind was tried on the built book: symbols are found, but excerpts are TeX and code,
the glossary does not come first, ``sofmax`` is read as "so", and from ``file://`` a browser refuses to load
it, so that a second search would be needed there. So the index is ours: one script that ``search.js`` loads
when a reader begins to search, over http and from the disk alike.

An entry is a section, a term of the glossary, a name of the library, a source or a claim. It holds what is
read there: paragraphs, captions, lists and tables, with formulas on one line; no code, and no outputs but the
claims.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx import addnodes

from paying_attention.site.linear_tex import linear

FORMULA = "⟦{}⟧"  # as the script expects them
CODE = "`{}`"
OWN_ENTRY = (nodes.section, nodes.definition_list_item, addnodes.desc)
NOT_READ = (nodes.literal_block, nodes.raw, nodes.comment, nodes.title, addnodes.index, addnodes.toctree)
ONE_LINE = (
    nodes.paragraph,
    nodes.caption,
    nodes.row,
    nodes.term,
    nodes.field_name,
    nodes.line,
    nodes.attribution,
)
APPARATUS = ("Summary", "Exercises", "Quiz", "Further reading")
LISTS = ('<ul class="pa-references">', '<ul class="claims">')
PAGE = """
<section id="search">
<h1>Search</h1>
<noscript><p>The search of this book is a script, and scripts are switched off here. All pages stand in the
contents at the side; the <a href="{glossary}">glossary</a> has the terms, and the
<a href="genindex.html">index</a> the names of the library.</p></noscript>
<form class="bd-search pst-js-only" role="search">
<input type="search" class="form-control" name="q" autocomplete="off" autocapitalize="off" spellcheck="false"
placeholder="{label}" aria-label="{label}">
</form>
</section>
"""


class Entry(NamedTuple):
    """What can be found: where it stands, what it is called, what it is, and what is read there."""

    page: str
    anchor: str
    heading: str
    kind: str
    text: str


def inline(node: nodes.Node) -> str:
    """Return the words of a node on one line, with its formulas and its code marked."""
    if isinstance(node, nodes.math):
        return FORMULA.format(linear(node.astext()))
    if isinstance(node, nodes.literal):
        return CODE.format(node.astext())
    if isinstance(node, nodes.row):
        return " · ".join(filter(None, (inline(cell) for cell in node.children)))
    if isinstance(node, nodes.Text):
        return str(node)
    return "".join(inline(child) for child in node.children)


def lines(node: nodes.Node) -> Iterator[str]:
    """Yield the lines read in a node that belong to no entry below it, displayed formulas after a blank."""
    for child in node.children:
        if isinstance(child, nodes.math_block):
            yield f" {FORMULA.format(linear(child.astext()))}"
        elif isinstance(child, ONE_LINE):
            yield inline(child).strip()
        elif is_nested_name(child):
            yield inline(child[0][0])
            yield from lines(child)
        elif isinstance(child, nodes.Element) and not isinstance(child, (*OWN_ENTRY, *NOT_READ)):
            yield from lines(child)


def prose(parts: Iterable[str]) -> str:
    """Return lines as text, each a paragraph; one that begins with a blank ends the paragraph before it."""
    joined = ((" " if part[:1] == " " else "\n") + " ".join(part.split()) for part in parts if part)
    return "".join(joined).strip()


def is_nested_name(node: nodes.Node) -> bool:
    """Tell whether a node describes a part of a class: it is found with its class."""
    return isinstance(node, addnodes.desc) and isinstance(node.parent, addnodes.desc_content)


def is_term(node: nodes.Node) -> bool:
    """Tell whether a node is a term of the glossary with its meaning."""
    return isinstance(node, nodes.definition_list_item) and isinstance(node.parent.parent, addnodes.glossary)


def kind_of(page: str, heading: str, text: str) -> str:
    """Return what a section is."""
    if page.endswith("/notation"):
        return "notation"
    if heading.startswith("Exercise "):
        return "solution" if "/solutions/" in page else "exercise"
    return "apparatus" if heading in APPARATUS or not text else "section"


def section_entry(page: str, section: nodes.section) -> Entry:
    """Return the entry of a section."""
    heading, text = inline(section[0]), prose(lines(section))
    if isinstance(section.parent, nodes.document):
        return Entry(page, "", heading, "page", text)
    return Entry(page, section["ids"][0], heading, kind_of(page, heading, text), text)


def term_entry(page: str, item: nodes.definition_list_item) -> Entry:
    """Return the entry of a term of the glossary."""
    term = item[0]
    anchor = next((target["ids"][0] for target in term.findall(nodes.target)), term["ids"][0])
    return Entry(page, anchor, inline(term), "term", prose(lines(item[-1])))


def name_entry(page: str, described: addnodes.desc) -> Entry:
    """Return the entry of a function or class of the library."""
    signature = described[0]
    heading = CODE.format(signature["ids"][0].removeprefix("attnlib."))
    return Entry(page, signature["ids"][0], heading, "name", prose(lines(described[-1])))


def listed_entries(page: str, html: nodes.raw) -> Iterator[Entry]:
    """Yield the entries of a list of sources, which have anchors, or of claims, which lead to theirs."""
    if not html.astext().startswith(LISTS):
        return
    for item in BeautifulSoup(html.astext(), "html.parser").select("ul > li"):
        lead = item.find(["strong", "a"]).extract()
        for figure in item.select(".pa-measured, .pa-stored"):
            figure.decompose()
        words = " ".join(item.get_text().split())
        if item.get("id"):
            yield Entry(page, item["id"], lead.get_text(), "source", words)
        else:
            yield claim_entry(page, lead, words)


def claim_entry(page: str, link: Tag, words: str) -> Entry:
    """Return the entry of a claim, which stands on the page of its chapter."""
    address, _, anchor = link["href"].partition("#")
    there = f"{page.rpartition('/')[0]}/{address.removesuffix('.html')}".lstrip("/")
    return Entry(there, anchor, f"Claim {link.get_text()}", "claim", words)


def entries(page: str, doctree: nodes.document) -> Iterator[Entry]:
    """Yield the entries of a page, in its order."""
    for node in doctree.findall():
        if isinstance(node, nodes.section):
            yield section_entry(page, node)
        elif is_term(node):
            yield term_entry(page, node)
        elif isinstance(node, addnodes.desc) and not is_nested_name(node) and node[0]["ids"]:
            yield name_entry(page, node)
        elif isinstance(node, nodes.raw):
            yield from listed_entries(page, node)


def in_order(app) -> list[str]:
    """Return the pages of the book, in its order."""
    order = [app.config.root_doc]
    for page in order:
        order += [name for name in app.env.toctree_includes.get(page, []) if name not in order]
    return [*order, *sorted(set(app.env.found_docs) - set(order))]


def index_of(app) -> dict:
    """Return the index: pages by address and title, entries by the number of their page."""
    pages = in_order(app)
    number = {page: at for at, page in enumerate(pages)}
    found = {}
    for page in pages:
        for entry in entries(page, app.env.get_doctree(page)):
            found.setdefault((entry.page, entry.anchor), entry)
    return {
        "pages": [[app.builder.get_target_uri(p), inline(app.env.titles[p])] for p in pages],
        "entries": [[number[entry.page], *entry[1:]] for entry in found.values()],
    }


def search_page(app) -> Iterator[tuple[str, dict, str]]:
    """Yield the page of the search."""
    glossary = next((page for page in app.env.found_docs if page.endswith("glossary")), app.config.root_doc)
    label = app.config.html_theme_options.get("search_bar_text", "Search")
    body = PAGE.format(glossary=app.builder.get_target_uri(glossary), label=label)
    yield "search", {"title": "Search", "body": body}, "page.html"


def write_index(app, error) -> None:
    """Write the index as a script."""
    if error or app.builder.name != "html":
        return
    index = json.dumps(index_of(app), ensure_ascii=False, separators=(",", ":"))
    (Path(app.outdir) / "_static" / "search_index.js").write_text(
        f"window.paSearchIndex = {index};\n", "utf8"
    )


def replace_search(app) -> None:
    """Take the place of Sphinx's search where a site is built, as opposed to a book in one file."""
    if app.builder.name != "html":
        return
    app.builder.search = False
    app.add_js_file("search.js", loading_method="defer", priority=900)
    app.connect("html-collect-pages", search_page)
