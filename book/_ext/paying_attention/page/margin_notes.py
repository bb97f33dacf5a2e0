"""What qualifies or proves a paragraph stands in the margin beside it.

A block quote is a note to what stands before it. Claims belong to the output of their cell or, where it has
none, to what stands before it. On a narrow page a note is a small fold below, and claims follow in the text.
The style of the page decides, without script: the fold is a ``<details>`` that a wide page holds open.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, html_element, text

ANNOTATED = (
    nodes.paragraph,
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.math_block,
    nodes.container,
    nodes.table,
)


def has_class(node: nodes.Node, name: str) -> bool:
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


def put_after(node: nodes.Element, made: html_element) -> None:
    """Put what was made of a node beside what stands before the node, or else in its place."""
    at = node.parent.index(node)
    neighbour = node.parent.children[at - 1] if at else None
    if isinstance(neighbour, ANNOTATED) or has_class(neighbour, "pa-noted"):
        node.parent.remove(node)
        put_beside(neighbour, made)
    else:
        node.replace_self(made)


class MarginNotes(SphinxPostTransform):
    """Put the block quotes and the claims of a page into its margin."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Put each beside what it belongs to, in the order of the page."""
        for node in list(self.document.findall()):
            if isinstance(node, nodes.block_quote):
                put_after(node, note(node))
            elif has_class(node, "pa-proved"):
                cell = node.parent
                cell.remove(node)
                if cell.children:
                    put_beside(cell, node)
                else:
                    put_after(cell, node)
