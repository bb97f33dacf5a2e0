"""Sphinx extension: a block quote is a margin note to what stands before it.

On a wide page the note stands in the margin beside its paragraph; on a narrow one it is a small fold below.
The style of the page decides, without script: the fold is a ``<details>`` that a wide page holds open.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from html_element import element, html_element, text

ANNOTATED = (
    nodes.paragraph,
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.math_block,
    nodes.container,
    nodes.table,
)


def note(quote: nodes.block_quote) -> html_element:
    """Return a block quote as a note that can be folded."""
    words = element("div", *quote.children, class_="pa-note-text")
    return element(
        "aside",
        element("details", element("summary", text("note")), words),
        class_="pa-note",
        role="note",
    )


class MarginNotes(SphinxPostTransform):
    """Turn the block quotes of a page into margin notes."""

    default_priority = 220
    formats = ("html",)

    def run(self, **_: object) -> None:
        """Put each note beside what stands before it."""
        for quote in list(self.document.findall(nodes.block_quote)):
            parent, at = quote.parent, quote.parent.index(quote)
            before = parent.children[at - 1] if at else None
            made = note(quote)
            if isinstance(before, html_element) and before["html"].get("class") == "pa-noted":
                before += made
                parent.remove(quote)
            elif isinstance(before, ANNOTATED):
                parent.remove(quote)
                parent.remove(before)
                parent.insert(
                    at - 1,
                    element("div", element("div", before, class_="pa-beside"), made, class_="pa-noted"),
                )
            else:
                quote.replace_self(made)


def setup(app) -> dict:
    """Register with Sphinx."""
    app.setup_extension("html_element")
    app.add_post_transform(MarginNotes)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
