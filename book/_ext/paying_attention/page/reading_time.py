"""How long a page takes to read, counted, under its title.

130 words of prose a minute, eight seconds for each line of code in sight, a minute for each explorable and
each figure, up to the exercises and without what is folded under "Going deeper". Beside it stands the button
that shows all code of the page, drawn from the first, so that nothing moves when the script wakes it.
"""

from __future__ import annotations

import math
import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, text
from paying_attention.page.deeper import inside_deeper

READING = "reading_minutes"  # what the metadata of a page call it
WORDS_A_MINUTE = 130
SECONDS_A_LINE = 8
MINUTES_A_PICTURE = 1
WIDGET = "application/vnd.jupyter.widget-view+json"
FOLDED = {"tag_proof", "tag_setup", "tag_hide-input", "tag_hide-cell", "tag_remove-input"}


def lesson(document: nodes.document) -> list[nodes.Node]:
    """Return the parts of a page down to the exercises."""
    title = next(document.findall(nodes.section), document)
    parts = []
    for child in title.children:
        if isinstance(child, nodes.section) and child[0].astext() == "Exercises":
            break
        parts.append(child)
    return parts


def words(node: nodes.Node) -> int:
    """Count the words of the paragraphs, lists and captions in a node."""
    prose = [n for n in node.findall() if isinstance(n, (nodes.paragraph, nodes.caption, nodes.title))]
    return sum(len(n.astext().split()) for n in prose if not inside_output(n) and not inside_deeper(n))


def inside_output(node: nodes.Node) -> bool:
    """Tell whether a node is part of what a cell printed; captions of figures are not."""
    while node is not None and not isinstance(node, nodes.caption):
        if isinstance(node, nodes.container) and node.get("nb_element") == "mime_bundle":
            return True
        node = node.parent
    return False


def lines(node: nodes.Node) -> int:
    """Count the lines of code in sight in a node."""
    cells = [n for n in node.findall(nodes.container) if n.get("nb_element") == "cell_code"]
    shown = [cell for cell in cells if not FOLDED & set(cell["classes"]) and not inside_deeper(cell)]
    sources = [n for cell in shown for n in cell.children if "cell_input" in n["classes"]]
    return sum(len([line for line in n.astext().splitlines() if line.strip()]) for n in sources)


def pictures(node: nodes.Node) -> int:
    """Count the figures and explorables in sight in a node: the outputs that hold one, in any format."""
    bundles = [n for n in node.findall(nodes.container) if n.get("nb_element") == "mime_bundle"]
    return sum(is_picture(bundle) for bundle in bundles if not inside_deeper(bundle))


def is_picture(bundle: nodes.Element) -> bool:
    """Tell whether an output is a figure or an explorable."""
    kinds = [n.get("mime_type", "") for n in bundle.findall(nodes.container)]
    return any(kind == WIDGET or kind.startswith("image/") for kind in kinds)


def minutes(document: nodes.document) -> int:
    """Return the minutes that the lesson of a page takes."""
    parts = lesson(document)
    prose = sum(map(words, parts)) / WORDS_A_MINUTE
    code = sum(map(lines, parts)) * SECONDS_A_LINE / 60
    return max(1, math.ceil(prose + code + sum(map(pictures, parts)) * MINUTES_A_PICTURE))


def code_cells(document: nodes.document) -> list[nodes.Element]:
    """Return the code cells of a page; a page without any is no lesson."""
    return [n for n in document.findall(nodes.container) if n.get("nb_element") == "cell_code"]


def remember(app, document: nodes.document) -> None:
    """Note the minutes of a page where other pages find them."""
    docname = app.env.docname
    if code_cells(document) and not re.search(r"/(exercises|solutions)/", docname):
        app.env.metadata[docname][READING] = minutes(document)


class ReadingTime(SphinxPostTransform):
    """Write the time under the title of every notebook, before anything is rearranged."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Write it, and the button."""
        title = next(self.document.findall(nodes.title), None)
        if not code_cells(self.document) or title is None:
            return
        said = []
        count = self.env.metadata[self.env.docname].get(READING)
        if count is not None:
            said = [
                element(
                    "span", text(f"About {count} minute{'s' if count > 1 else ''} to read"), class_="pa-time"
                )
            ]
        button = element(
            "button",
            text("Show all code"),
            class_="pa-all-code",
            type="button",
            aria_pressed="false",
            disabled="",
        )
        title.parent.insert(1, element("div", *said, button, class_="pa-under-title"))
