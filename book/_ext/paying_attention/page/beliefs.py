"""What one may have believed has the colour of a mistake, what is true that of a finding.

A paragraph that begins in bold with *You may have ...* or *What is true* gets a class, and so its colour.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform

BEGINNINGS = {"You may have": "pa-false", "What is true": "pa-true"}


def belief(paragraph: nodes.paragraph) -> str | None:
    """Return the class of a paragraph by its first words, or None."""
    said = [part for part in paragraph.children if part.astext()]  # MyST puts an empty text first
    first = said[0] if said else None
    if not isinstance(first, nodes.strong):
        return None
    return next((name for words, name in BEGINNINGS.items() if first.astext().startswith(words)), None)


class Beliefs(SphinxTransform):
    """Mark the paragraphs of a page that tell a belief or what is true."""

    def apply(self, **_: object) -> None:
        """Give each its class."""
        for paragraph in self.document.findall(nodes.paragraph):
            name = belief(paragraph)
            if name:
                paragraph["classes"].append(name)
