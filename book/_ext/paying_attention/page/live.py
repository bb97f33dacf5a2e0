"""Cells that run on the page: in a lesson those tagged ``live``, of exercises those that ask for a function.

A live cell is on the page as ever, source and stored output; behind the source stands what ``live.js`` needs
to put a bar with *Run* and *Edit* there. What a page's live cells need before them, imports say, comes from
cells tagged ``live-setup``, wherever those are shown. Not every import can run in a browser, and a cell that
only defines something has nothing to show, so a cell's metadata may say more: ``"live": {"source": [...]}``
is what runs on the page in the cell's stead, ``{"then": [...]}`` what follows it there, both lists of lines.

An exercise brings its solution, from the page of solutions, in a ``template`` that nothing shows unasked. One
that cannot run in a browser says so, with the reason that ``book/live/cannot.toml`` has for it.
"""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path

from attnlib.learn import bank
from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, html_element, text
from paying_attention.page.deeper import OUT_OF_SIGHT
from paying_attention.page.practice import embed, find_page
from paying_attention.page.proof import has_tag, is_cell, part

CANNOT = Path(__file__).parents[3] / "live" / "cannot.toml"
CHECK = re.compile(r'\n*^check\("[\d.]+", .*\)\n?\Z', re.M)


class LiveError(SphinxError):
    """A cell that cannot be live as it is marked."""

    category = "Live cells"


def page_source(source: str, metadata: dict) -> str:
    """Return what of a cell runs on the page.

    Args:
        source: As the notebook has it.
        metadata: Of the cell.
    """
    said = metadata.get("live", {})
    if not isinstance(said, dict) or not set(said) <= {"source", "then"}:
        raise LiveError(f"the metadata `live` of a cell know `source` and `then`, got {said!r}")
    if not all(isinstance(lines, list) for lines in said.values()):
        raise LiveError(f"what is said in the metadata `live` must be a list of lines, got {said!r}")
    return "\n".join([*said.get("source", [source]), *said.get("then", [])])


def facts(cells: list[tuple[set[str], str, dict]]) -> list[dict | None]:
    """Return for each code cell of a page what the script needs to know if it is live, else None.

    Args:
        cells: Tags, source and metadata of each, in the order of the notebook.
    """
    found, setup = [], []
    for tags, source, metadata in cells:
        about = None
        if "live-setup" in tags:
            setup.append(page_source(source, metadata))
        if "live" in tags:
            if hidden := tags & set(OUT_OF_SIGHT):
                raise LiveError(f"a live cell must be in sight, not tagged {min(hidden)}: {source[:60]!r}")
            runs = page_source(source, metadata)
            about = {"name": sha256(runs.encode()).hexdigest()[:8], "source": runs, "setup": setup}
            setup = []
        found.append(about)
    return found


def source_of(cell: nodes.Element) -> str:
    """Return the source of a code cell."""
    return "\n".join(node.astext() for node in part(cell, "cell_input"))


def place(facts: dict, *children: nodes.Node, **attributes: str) -> nodes.Element:
    """Return the place of a bar, with what the script needs; nothing is seen of it without."""
    return element("div", embed(facts), *children, class_="pa-live", **attributes)


class LiveCells(SphinxPostTransform):
    """Mark the live cells of a lesson, before any cell is moved."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Put a place for the bar behind the source of each."""
        cells = list(self.document.findall(is_cell))
        told = [
            (
                {tag for tag in ("live", "live-setup", *OUT_OF_SIGHT) if has_tag(cell, tag)},
                source_of(cell),
                cell.get("cell_metadata", {}),
            )
            for cell in cells
        ]
        for cell, about in zip(cells, facts(told), strict=True):
            if about:
                after_source(cell, place(about))


def after_source(cell: nodes.Element, *new: nodes.Node) -> None:
    """Insert nodes behind the source of a cell."""
    at = max(i for i, node in enumerate(cell.children) if "cell_input" in node.get("classes", []))
    cell.children[at + 1 : at + 1] = new
    for node in new:
        node.parent = cell


def is_function(node: nodes.Node) -> bool:
    """Tell whether a node is the block of an exercise that asks for a function."""
    if not isinstance(node, html_element) or node["html"].get("class") != "pa-practice":
        return False
    return any(isinstance(part, html_element) and part["html"].get("class") == "pa-runs" for part in node)


def asks(block: html_element) -> nodes.Element:
    """Return the sentence of an exercise's block that says where it runs."""
    found = block.findall(html_element)
    return next(node for node in found if node["html"].get("class") == "pa-ask")


@cache
def cannot_run() -> dict[str, str]:
    """Return why some exercises cannot run on the page, by their names."""
    return tomllib.loads(CANNOT.read_text("utf8"))


def judged(source: str) -> str:
    """Return what a cell hands to `check`, as it is written there: ``w_q`` of ``check("3.5", w_q)``."""
    calls = (line.value for line in ast.parse(source).body if isinstance(line, ast.Expr))
    call = next(x for x in calls if isinstance(x, ast.Call) and ast.unparse(x.func) == "check")
    return ast.get_source_segment(source, call.args[1]) or ""


def imports(document: nodes.document) -> dict[str, str]:
    """Return what the cells of a page import: name -> the statement that imports it alone."""
    found = {}
    for cell in document.findall(is_cell):
        try:
            lines = ast.parse(source_of(cell)).body
        except SyntaxError:  # a line for Jupyter
            continue
        for line in lines:
            if not isinstance(line, ast.Import | ast.ImportFrom):
                continue
            for name in line.names:
                alone = (
                    ast.Import([name])
                    if isinstance(line, ast.Import)
                    else ast.ImportFrom(line.module, [name], 0)
                )
                found[name.asname or name.name] = ast.unparse(alone)
    return found


def imports_of(code: str, there: dict[str, str], here: dict[str, str]) -> str:
    """Return the statements that a piece of code needs where it comes to, of those where it came from."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    return "\n".join(line for name, line in there.items() if name in used and name not in here)


def solution(document: nodes.document, id: str, asked: str) -> tuple[str, str] | None:
    """Return the code of an exercise's solution and the anchor of its section on a page, or None.

    Args:
        document: The page of solutions, as it was written.
        id: Of the exercise.
        asked: What the exercise hands to `check`: the name that the solution gives to what it hands over.
    """
    for section in document.findall(nodes.section):
        if not section[0].astext().startswith(f"Exercise {id}:"):
            continue
        sources = []
        for cell in section.findall(is_cell):
            sources.append(source_of(cell))
            if f'check("{id}"' in sources[-1]:
                code = CHECK.sub("", "\n\n\n".join(sources)).strip()
                answer = judged(sources[-1])
                named = "" if answer == asked else f"{asked} = {answer}"
                return "\n\n\n".join(filter(None, [code, named])), section["ids"][0]
    return None


class LiveExercises(SphinxPostTransform):
    """Give the exercises that ask for a function a place for their editor, once they are rearranged."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Put it behind the source of each, or say why there is none."""
        for block in list(self.document.findall(is_function)):
            id = block["html"]["data-exercise"]
            reason = cannot_run().get(bank.exercises()[id].name)
            if reason is None:
                self.mark(block.parent, id)
            else:
                asks(block).children = [text(f"This one runs in the notebook: {reason}.")]

    def mark(self, cell: nodes.Element, id: str) -> None:
        """Put a place for the bar behind the source of an exercise."""
        source = source_of(cell)
        call = CHECK.search(source)
        if not call:
            return
        about = {
            "id": id,
            "name": bank.exercises()[id].name,
            "source": source[: call.start()],
            "call": call[0].strip(),
        }
        after_source(cell, place(about, *self.solved(id, judged(source)), data_live_exercise=id))

    def solved(self, id: str, asked: str) -> list[nodes.Node]:
        """Return the solution of an exercise, if there is one, for a script to show."""
        name = self.env.docname.rpartition("/")[2]
        page = find_page(self.env, f"solutions/{name}")
        found = solution(self.env.get_doctree(page), id, asked) if page else None
        if found is None:
            return []
        code, anchor = found
        there, here = (imports(self.env.get_doctree(name)) for name in (page, self.env.docname))
        needs = imports_of(code, there, here)
        code = "\n\n\n".join(filter(None, [needs, code]))
        url = f"{self.app.builder.get_relative_uri(self.env.docname, page)}#{anchor}"
        shown = nodes.literal_block(code, code, language="python")
        return [element("template", shown, data_url=url)]
