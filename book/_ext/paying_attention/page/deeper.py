"""What leads away from the line of a page is folded, its set-up waits, and its beliefs have colours.

A section whose title begins with "Going deeper: " becomes a fold. In JupyterLab it is a section like any
other; in print it is open.

The first cell tagged ``setup`` imports what a notebook needs, so it opens the notebook. On a page, where it
is folded (see ``proof``), it would stand between a question and its picture: it moves behind the first code
that a reader sees.

A paragraph that begins in bold with *You may have ...* or *What is true* gets a class, and so the colour of a
mistake or of a finding.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element
from paying_attention.page.proof import has_tag, is_cell

MARK = "Going deeper: "


def is_deeper(node: nodes.Node) -> bool:
    """Tell whether a node is a section that leads away from the main road."""
    return isinstance(node, nodes.section) and node[0].astext().startswith(MARK)


def inside_deeper(node: nodes.Node) -> bool:
    """Tell whether a node stands in such a section."""
    while node is not None and not is_deeper(node):
        node = node.parent
    return node is not None


def level(section: nodes.section) -> int:
    """Return which heading the title of a section is: 1 for that of the page."""
    depth = 0
    node = section
    while node is not None:
        depth += isinstance(node, nodes.section)
        node = node.parent
    return depth


def fold(section: nodes.section) -> None:
    """Put a section into a fold that has its title as summary."""
    title, *held = section.children
    heading = element(f"h{level(section)}", *title.children)
    section.children = []
    section += element(
        "details",
        element("summary", heading),
        element("div", *held, class_="pa-deep"),
        class_="pa-deeper",
    )


class Deeper(SphinxPostTransform):
    """Fold the sections that lead away, once all inside them is in its place."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Fold those of a page."""
        for section in list(self.document.findall(is_deeper)):
            fold(section)


OUT_OF_SIGHT = ("proof", "setup", "hide-input", "hide-cell", "remove-input", "remove-cell")


def is_seen(cell: nodes.Element) -> bool:
    """Tell whether a cell shows its code on the main road."""
    return not any(has_tag(cell, tag) for tag in OUT_OF_SIGHT) and not inside_deeper(cell)


class WaitingSetup(SphinxPostTransform):
    """Move the first set-up of a page behind the first code in sight, if there is any."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Move it."""
        cells = list(self.document.findall(is_cell))
        setup = next((cell for cell in cells if has_tag(cell, "setup")), None)
        before = next(filter(is_seen, cells), None)
        if setup is None or before is None or cells.index(before) < cells.index(setup):
            return
        while not isinstance(before.parent, nodes.section):
            before = before.parent
        setup.parent.remove(setup)
        before.parent.insert(before.parent.index(before) + 1, setup)


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
