"""A cell that measures shows what it found, and keeps its code one click away.

A code cell tagged ``proof`` becomes: its figures and texts, its claims as one block, a fold with its code.
While the fold is closed, a claim says what was measured and keeps its sentence, which the text says too.
Neighbours share a block as far as one figure and its claims go. The fold of what only prepares, or of a mere
figure or explorable, is hidden until all code is asked for. A cell tagged ``setup`` is folded too.
"""

from __future__ import annotations

import re
from itertools import groupby

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, text

WIDGET = "application/vnd.jupyter.widget-view+json"
CLAIM = re.compile(r'<div class="pa-line pa-good" id="claim-(\d+)"')
SETTING = re.compile(r' <span class="pa-setting">.*?</span>', re.DOTALL)
# label and sentence, what was measured, and what was required of it
FIGURES = re.compile(
    r'(<strong>.*?)( <span class="pa-measured">)(measured: )(.*?)(; required: .*?)?</span>', re.DOTALL
)


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
    return isinstance(node, nodes.figure) or bool(list(node.findall(nodes.image)))


def is_mere(outputs: list[nodes.Node], claims: list[nodes.Node]) -> bool:
    """Tell whether a block only prepares, or draws a figure or an explorable: its code proves nothing."""
    drawn = any(
        is_drawn(node) or any(WIDGET in raw.astext() for raw in node.findall(nodes.raw)) for node in outputs
    )
    return not claims and (drawn or not outputs)


def summary(outputs: list[nodes.Node], claims: list[nodes.Node]) -> str:
    """Return what the fold of a block is called."""
    if claims:
        return "how it was measured"
    return "how it was drawn" if any(is_drawn(node) for node in outputs) else "the code"


def fold(words: str, cells: list[nodes.Element], kind: str = "pa-how") -> nodes.Element:
    """Return a fold with the code of the cells."""
    sources = [node for cell in cells for node in part(cell, "cell_input")]
    code = [nodes.container("", source, classes=["cell_input"]) for source in sources]
    return element("details", element("summary", text(words)), *code, class_=kind)


def in_full(html: str) -> str:
    """Return a part of a claim that shows when its fold is open."""
    return f'<span class="pa-says">{html}</span>'


def figures_first(claim: nodes.raw) -> nodes.raw:
    """Return a claim that says what was measured; its sentence, which the text says too, is folded."""

    def parted(line: re.Match) -> str:
        sentence, begins, word, figures, required = line.groups(default="")
        return in_full(sentence) + begins + in_full(word) + figures + in_full(required) + "</span>"

    line = SETTING.sub(lambda found: in_full(found[0]), FIGURES.sub(parted, claim.astext()))
    return nodes.raw("", line, format="html")


def proved(claims: list[nodes.Node], code: nodes.Element) -> nodes.Element:
    """Return claims with the fold of their code: what a wide page shows in its margin."""
    lines = [figures_first(claim) for claim in claims]
    return element("div", element("div", *lines, class_="pa-claims"), code, class_="pa-proved")


def show_proof(cells: list[nodes.Element]) -> None:
    """Put a block of cells into the first of them: outputs, claims, code."""
    first = cells[0]
    outputs = [node for cell in cells for node in found(cell)]
    claims = [node for cell in cells for node in part(cell, "cell_output") if is_claim(node)]
    kind = "pa-how pa-mere" if is_mere(outputs, claims) else "pa-how"
    code = fold(summary(outputs, claims), cells, kind)
    shown = [nodes.container("", *outputs, classes=["cell_output"])] if outputs else []
    first["classes"] = list(dict.fromkeys(name for cell in cells for name in cell["classes"]))
    for cell in cells[1:]:
        cell.parent.remove(cell)
    first.children = []
    first += [*shown, proved(claims, code) if claims else code]


def gather_claims(output: nodes.Element) -> None:
    """Make one block of each run of claims among the outputs of a cell that is shown as it stands."""
    children = []
    for claims, run in groupby(output.children, is_claim):
        nodes_of_run = list(run)
        children += [element("div", *nodes_of_run, class_="pa-claims")] if claims else nodes_of_run
    output.children = []
    output += children


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
        for output in list(self.document.findall(nodes.container)):
            if "cell_output" in output["classes"]:
                gather_claims(output)
