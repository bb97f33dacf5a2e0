"""What leads away from the main road is folded under its title.

A section whose title begins with "Going deeper: " becomes a fold. Beside its title stands how many claims are
inside, so that none seems to be missing. In JupyterLab it is a section like any other; in print it is open.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, text
from paying_attention.page.proof import is_claim

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


def claims_inside(section: nodes.section) -> list[nodes.Node]:
    """Return a line that says how many claims a section has, or nothing if it has none."""
    count = sum(is_claim(node) for node in section.findall(nodes.raw))
    if not count:
        return []
    words = "✓ 1 claim" if count == 1 else f"✓ {count} claims"
    return [element("span", text(words), class_="pa-inside")]


def fold(section: nodes.section) -> None:
    """Put a section into a fold that has its title as summary."""
    title, *held = section.children
    heading = element(f"h{level(section)}", *title.children)
    inside = claims_inside(section)
    section.children = []
    section += element(
        "details",
        element("summary", heading, *inside),
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
