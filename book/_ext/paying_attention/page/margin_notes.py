"""A source or an aside stands in the margin beside its paragraph.

A block quote is a note to what stands before it. On a narrow page a note is a small fold below. The style of
the page decides, without script: the fold is a ``<details>`` that a wide page holds open.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, html_element, text
from paying_attention.page.proof import has_tag, is_cell

ANNOTATED = (
    nodes.paragraph,
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.math_block,
    nodes.container,
    nodes.table,
)


def has_class(node: nodes.Node | None, name: str) -> bool:
    """Tell whether a node is an element that an extension made, of this class."""
    return isinstance(node, html_element) and node["html"].get("class") == name


def note(quote: nodes.block_quote) -> html_element:
    """Return a block quote as a note that can be folded."""
    words = element("div", *quote.children, class_="pa-note-text")
    return element(
        "aside",
        element("details", element("summary", text("note")), words),
        class_="pa-note",
        role="note",
    )


def put_beside(neighbour: nodes.Element, made: html_element) -> None:
    """Put something into the margin beside its neighbour."""
    if not has_class(neighbour, "pa-noted"):
        noted = element("div", class_="pa-noted")
        neighbour.replace_self(noted)
        noted += element("div", neighbour, class_="pa-beside")
        neighbour = noted
    neighbour += made


def is_unseen(node: nodes.Node) -> bool:
    """Tell whether a node is a cell that shows nothing until its code is asked for."""
    return is_cell(node) and not any("cell_output" in child.get("classes", []) for child in node.children)


def before(node: nodes.Node) -> nodes.Node | None:
    """Return what a reader sees before a node, or None if it comes first."""
    seen = [
        n
        for n in node.parent.children[: node.parent.index(node)]
        if not is_unseen(n) or not has_tag(n, "proof")
    ]
    return seen[-1] if seen else None


class MarginNotes(SphinxPostTransform):
    """Put the block quotes of a page into its margin."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Put each beside what it belongs to, in the order of the page."""
        for quote in list(self.document.findall(nodes.block_quote)):
            neighbour = before(quote)
            if isinstance(neighbour, ANNOTATED) or has_class(neighbour, "pa-noted"):
                quote.parent.remove(quote)
                put_beside(neighbour, note(quote))
            else:
                quote.replace_self(note(quote))
