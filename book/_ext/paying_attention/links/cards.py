"""Links to a reference or a term of the glossary carry a card with what is there.

``[Elman (1990)](references.md#elman1990)`` and ``[softmax](glossary.md#softmax)`` are plain Markdown links,
so that they read well in JupyterLab too. On the page the card shows on hover and focus. A key or term that
does not exist stops the build, and so does a citation that names its source otherwise than the bibliography.
"""

from __future__ import annotations

from functools import cache

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import SphinxError
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element
from paying_attention.links.bibliography import bibliography

REFERENCES = "references"
GLOSSARY = "glossary"


class CardError(SphinxError):
    """A link to a source or a term that is not there."""

    category = "Links"


def slug(term: str) -> str:
    """Return the anchor of a term: lower case, hyphens for spaces."""
    return term.lower().replace(" ", "-")


def name_terms(app, doctree: nodes.document) -> None:
    """Give every term of the glossary its short anchor."""
    for term in doctree.findall(nodes.term):
        if isinstance(term.parent.parent.parent, addnodes.glossary):
            term.insert(0, nodes.target(ids=[slug(term.astext())]))


@cache
def definitions(env, docname: str) -> dict[str, tuple[str, nodes.Element]]:
    """Return the terms of the glossary and what they mean, by anchor."""
    found = {}
    for item in env.get_doctree(docname).findall(nodes.definition_list_item):
        name, meaning = item.children[0].astext(), item.children[-1]
        found[slug(name)] = name, meaning.children[0]
    return found


def source_card(env, key: str, said: str) -> list[nodes.Node]:
    """Return what the card of a citation shows, or say why there is none."""
    known = bibliography(env)
    if key not in known:
        raise CardError(f"references.md#{key}: there is no such key; see {env.config.references_file}")
    names = known[key].in_sentence, known[key].in_parentheses
    if said not in names:
        raise CardError(f"references.md#{key} must be cited as {names[0]!r} or {names[1]!r}, got {said!r}")
    return [nodes.raw("", known[key].card, format="html")]


def term_card(env, docname: str, key: str) -> list[nodes.Node]:
    """Return what the card of a term shows, or say why there is none."""
    known = definitions(env, docname)
    if key not in known:
        raise CardError(f"glossary.md#{key}: there is no such term; add it to the glossary or mend the link")
    name, meaning = known[key]
    return [element("strong", nodes.Text(f"{name}. ")), *(node.deepcopy() for node in meaning.children)]


class Cards(SphinxPostTransform):
    """Resolve the links to references and glossary, before MyST looks for headings of that name."""

    def run(self, **_: object) -> None:
        """Resolve those of a page."""
        number = 0
        for link in list(self.document.findall(addnodes.pending_xref)):
            target, key = link.get("reftarget", ""), link.get("reftargetid")
            page = target.rpartition("/")[2]
            if link.get("refdomain") != "doc" or not key or page not in (REFERENCES, GLOSSARY):
                continue
            number += 1
            try:
                card = (
                    source_card(self.env, key, link.astext())
                    if page == REFERENCES
                    else term_card(self.env, target, key)
                )
            except CardError as error:
                raise CardError(f"{self.env.docname}: {error}") from error
            link.replace_self(self.make_link(link, f"{target}#{key}", card, number))

    def make_link(self, link: nodes.Element, to: str, card: list[nodes.Node], number: int) -> nodes.Element:
        """Return the link with its card beside it."""
        page, _, key = to.partition("#")
        address = self.app.builder.get_relative_uri(self.env.docname, page)
        kind = "cite" if page.endswith(REFERENCES) else "term"
        said = element(
            "a",
            *link[0].children,
            class_=f"reference internal pa-{kind}",
            href=f"{address}#{key}",
            aria_describedby=f"card-{number}",
        )
        shown = element("span", *card, class_="pa-card", role="tooltip", id=f"card-{number}")
        return element("span", said, shown, class_="pa-ref")
