"""The book is built from notebooks that were run to the end as they stand, or not at all.

A false claim stops the run of its notebook. So one that was run to the end, and not touched since, holds no
false claim. ``tools/execute_notebooks.py`` leaves a fingerprint of what it ran; here it is compared. Where
more can be said, it is: the cell, and the sentence that was not measured.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from pathlib import Path
from typing import NamedTuple

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from sphinx.errors import SphinxError

from paying_attention.links.claims_index import notebooks
from paying_attention.site.settings_said import unsaid, words_differ

RUN = "stored_run"  # where a notebook's metadata keep what is known of its run
STORED_CLAIM = re.compile(r"✓ Claim \d+\. (.*)", re.S)
# what may follow the text of a claim
NUMBERS = r"(  measured: [^\n]+)?(  in a stored run|  with a stored model)?(  setting: [^\n]+)?"


class StaleError(SphinxError):
    """Stored outputs that are not what their notebook gave."""

    category = "Stored outputs"


def code_cells(nb: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of a notebook."""
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def fingerprint(nb: NotebookNode) -> str:
    """Return a number for the code and the outputs of a notebook, and for nothing else in it."""
    run = [[cell.source, cell.execution_count, cell.outputs] for cell in code_cells(nb)]
    return hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()


def faults(nb: NotebookNode) -> list[str]:
    """Say why a notebook must not be published as it stands; an empty list means that it may."""
    found, before = [], 0
    for n, cell in enumerate(code_cells(nb), 1):
        found += [f"code cell {n} {said}" for said in cell_faults(cell, before)]
        before = cell.execution_count or before
    found += unsaid(code_cells(nb)) + words_differ(code_cells(nb))
    if not found and RUN not in nb.metadata:
        return ["it was not run as a whole"]
    if not found and nb.metadata[RUN].get("fingerprint") != fingerprint(nb):
        return ["code or outputs were changed after the run"]
    return found


def cell_faults(cell: NotebookNode, before: int) -> list[str]:
    """Say what is wrong with a code cell: not run right after number ``before``, stopped, or other claims."""
    begins, turn, found = cell.source.partition("\n")[0], cell.execution_count, []
    if turn is None:
        found = [f"was not run: {begins}"]
    elif turn != before + 1:
        found = [f"was run as number {turn}, after number {before}: {begins}"]
    errors = [output for output in cell.outputs if output.output_type == "error"]
    stopped = [f"stopped: {error.ename}: {error.evalue}" for error in errors]
    return found + (stopped or claim_faults(cell))


def claim_faults(cell: NotebookNode) -> list[str]:
    """Say which claims of a cell have no stored line, and which stored lines have no claim."""
    try:
        calls, lines = called_claims(cell.source), stored_claims(cell)
    except SyntaxError as error:
        return [f"is not Python: {error}"]
    unmet = [call.text for call in calls if not any(map(call.line.fullmatch, lines))]
    unasked = [line for line in lines if not any(call.line.fullmatch(line) for call in calls)]
    if unmet or unasked:
        return [f"makes a claim that was not measured: {text}" for text in unmet] + [
            f"shows a claim that it does not make: {line}" for line in unasked
        ]
    if len(calls) != len(lines) and not any(call.repeats for call in calls):
        return [f"makes {len(calls)} claims and shows {len(lines)}"]
    return []


def stored_claims(cell: NotebookNode) -> list[str]:
    """Return the text of each claim in a cell's outputs, with what was measured."""
    texts = (output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    return [match[1] for text in texts if (match := STORED_CLAIM.fullmatch(text))]


class Call(NamedTuple):
    """A call of ``claim``: its text, a pattern for the line it shows, and whether a loop may repeat it."""

    text: str
    line: re.Pattern
    repeats: bool


def called_claims(source: str) -> list[Call]:
    """Return the calls of ``claim`` in the source of a cell."""
    tree = ast.parse(TransformerManager().transform_cell(source))
    loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While))]
    repeated = {node for loop in loops for node in ast.walk(loop)}
    calls = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "claim":
            named = [keyword.value for keyword in node.keywords if keyword.arg == "text"]
            text = [*node.args, *named, ast.Constant("")][0]
            calls.append(Call(ast.unparse(text), line_pattern(text), node in repeated))
    return calls


def line_pattern(text: ast.expr) -> re.Pattern:
    """Return a pattern for the line of a claim: a text exactly, an f-string by its fixed parts."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    known = [_plain(part.value) if isinstance(part, ast.Constant) else ".*" for part in parts]
    return re.compile("".join(known) + NUMBERS, re.S)


def _plain(text: object) -> str:
    return re.escape(str(text).replace("`", ""))  # as a claim is stored: without the marks of code


def refuse(app) -> None:
    """Stop the build if a notebook of the book must not be published as it stands."""
    root = Path(app.srcdir)
    found = [
        f"{name}.ipynb: {said}"
        for name in notebooks(root)
        for said in faults(nbformat.read(root / f"{name}.ipynb", as_version=4))
    ]
    if found:
        raise StaleError("\n".join([*found, "run again what is stored: make notebooks"]))
