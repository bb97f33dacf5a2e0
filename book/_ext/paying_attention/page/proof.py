"""A cell that measures shows what it found; its code waits until it is asked for.

A code cell tagged ``proof`` becomes its figures and texts, and a fold with its code, which shows when all
code does, or when the card of a claim asks for it. Where its claims were, `claim_cards` finds a place.
Neighbours share a block as far as one figure and its claims go. A cell tagged ``setup`` is folded too.
"""

from __future__ import annotations

import re
from itertools import groupby

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, text

CLAIM = re.compile(r'<div class="pa-line pa-good" id="claim-(\d+)"')


def is_cell(node: nodes.Node) -> bool:
    """Tell whether a node is a code cell."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def has_tag(node: nodes.Node, tag: str) -> bool:
    """Tell whether a node is a cell with this tag."""
    return isinstance(node, nodes.Element) and f"tag_{tag}" in node["classes"]


def claim_number(node: nodes.Node) -> str | None:
    """Return the number of the claim whose line an output is."""
    line = CLAIM.match(node.astext()) if isinstance(node, nodes.raw) else None
    return line[1] if line else None


def is_claim(node: nodes.Node) -> bool:
    """Tell whether an output is the line of a claim."""
    return claim_number(node) is not None


def part(cell: nodes.Element, kind: str) -> list[nodes.Node]:
    """Return the children of a cell's source ("cell_input") or outputs ("cell_output")."""
    return [child for node in cell.children if kind in node.get("classes", []) for child in node.children]


def found(cell: nodes.Element) -> list[nodes.Node]:
    """Return the outputs of a cell that are no claims."""
    return [node for node in part(cell, "cell_output") if not is_claim(node)]


def blocks(cells: list[nodes.Element]) -> list[list[nodes.Element]]:
    """Part neighbouring proof cells into blocks: silent ones, one that shows, and the claims that follow."""
    made: list[list[nodes.Element]] = []
    for cell in cells:
        begun = made and any(part(before, "cell_output") for before in made[-1])
        if not made or (begun and found(cell)):
            made.append([])
        made[-1].append(cell)
    return made


def runs(parent: nodes.Element, tag: str) -> list[list[nodes.Element]]:
    """Return the runs of neighbouring code cells with a tag among the children of a node."""
    grouped = groupby(parent.children, lambda node: is_cell(node) and has_tag(node, tag))
    return [list(cells) for tagged, cells in grouped if tagged]


def is_drawn(node: nodes.Node) -> bool:
    """Tell whether an output is a figure."""
    if isinstance(node, nodes.figure) or any(node.findall(nodes.image)):
        return True
    return any('class="pa-figure"' in raw.astext() for raw in node.findall(nodes.raw))


def summary(outputs: list[nodes.Node], claims: list[nodes.Node]) -> str:
    """Return what the fold of a block is called."""
    if claims:
        return "how it was measured"
    return "how it was drawn" if any(is_drawn(node) for node in outputs) else "the code"


def fold(words: str, cells: list[nodes.Element], kind: str = "pa-how", **attributes: str) -> nodes.Element:
    """Return a fold with the code of the cells."""
    sources = [node for cell in cells for node in part(cell, "cell_input")]
    code = [nodes.container("", source, classes=["cell_input"]) for source in sources]
    return element("details", element("summary", text(words)), *code, class_=kind, **attributes)


class claimed(nodes.General, nodes.Element):  # noqa: N801 (docutils names visitors after it)
    """Where claims were made, until `claim_cards` knows which sentence says each."""


def place_of(claims: list[nodes.Node], said: list[str | None]) -> claimed:
    """Return the place of some claims: their numbers and lines, the code, and words of the sentences."""
    lines = [(claim_number(claim), claim.astext()) for claim in claims]
    return claimed(claims=lines, code=f"code-of-claim-{lines[0][0]}", said=said)


def said_in(cells: list[nodes.Element]) -> list[str | None]:
    """Return what the metadata of cells say about the sentences of their claims, one for each claim."""
    told = []
    for cell in cells:
        claims = [node for node in part(cell, "cell_output") if is_claim(node)]
        words = cell.get("cell_metadata", {}).get("said", [])[: len(claims)]
        told += words + [None] * (len(claims) - len(words))
    return told


def show_proof(cells: list[nodes.Element]) -> None:
    """Put a block of cells into the first of them: outputs, the place of its claims, code."""
    first = cells[0]
    outputs = [node for cell in cells for node in found(cell)]
    claims = [node for cell in cells for node in part(cell, "cell_output") if is_claim(node)]
    places = [place_of(claims, said_in(cells))] if claims else []
    code = fold(summary(outputs, claims), cells, **({"id": places[0]["code"]} if places else {}))
    shown = [nodes.container("", *outputs, classes=["cell_output"])] if outputs else []
    first["classes"] = list(dict.fromkeys(name for cell in cells for name in cell["classes"]))
    for cell in cells[1:]:
        cell.parent.remove(cell)
    first.children = []
    first += [*shown, code]
    first.parent.insert(first.parent.index(first) + 1, places)


def take_claims(cell: nodes.Element) -> None:
    """Take the claims out of a cell that is shown as it stands; their place is behind it."""
    claims = [node for node in part(cell, "cell_output") if is_claim(node)]
    if not claims:
        return
    place = place_of(claims, said_in([cell]))
    for claim in claims:
        claim.parent.remove(claim)
    for output in [node for node in cell.children if "cell_output" in node["classes"] and not node.children]:
        cell.remove(output)
    cell["ids"].append(place["code"])
    cell.parent.insert(cell.parent.index(cell) + 1, place)


class Proofs(SphinxPostTransform):
    """Rearrange the cells of a page, once figures and claims are chosen from what the notebook stored."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Rearrange them."""
        for parent in {id(cell.parent): cell.parent for cell in self.document.findall(is_cell)}.values():
            for cells in runs(parent, "proof"):
                for block in blocks(cells):
                    show_proof(block)
            for cells in runs(parent, "setup"):
                for cell in cells:
                    outputs = [node for node in cell.children if "cell_output" in node["classes"]]
                    code = fold("set-up", [cell])
                    cell.children = []
                    cell += [code, *outputs]
        for cell in list(self.document.findall(is_cell)):
            take_claims(cell)
