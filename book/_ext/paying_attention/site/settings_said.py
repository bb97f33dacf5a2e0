"""What a notebook says of its trainings and figures: who hides a setting, and whose words differ.

A claim or a figure that is made of what was trained has to say on what: ``setting=``. Which names of a
notebook hold something trained is read from its code: what a function of `attnlib.experiments` that trains
or reads a stored run returns or is given, what a loop with ``optimizer.step()`` touches, and all that
is computed from these.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

EXPERIMENTS = Path(__file__).parents[4] / "attnlib" / "experiments"
# a function trains, or hands out what was trained, if it calls one of these or a function that does
ROOTS = {"fit", "step", "load", "note", "describe"}
SAYING = {"claim", "show"}
WORDS = "paying_attention"  # of an output's metadata, as attnlib.plotting.kit.showing has it


@cache
def trainers() -> frozenset[str]:
    """Return the names of the functions of `attnlib.experiments` that train or read stored runs."""
    calls: dict[str, set[str]] = {}
    for path in EXPERIMENTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.FunctionDef):
                calls.setdefault(node.name, set()).update(_called(node))
    found, more = set(), {"fit"}
    while more:
        found |= more
        more = {name for name, called in calls.items() if called & (found | ROOTS)} - found
    return frozenset(name for name in found if not name.startswith("_"))


def unsaid(cells: list[NotebookNode]) -> list[str]:
    """Say which claims and figures of code cells are made of something trained and give no setting."""
    trained: set[str] = set()
    found = []
    for number, cell in enumerate(cells, 1):
        try:
            tree = ast.parse(TransformerManager().transform_cell(cell.source))
        except SyntaxError:
            continue  # stored_run says so
        for statement in tree.body:
            if _loaded(statement) & trained or _called(statement) & (trainers() | {"step"}):
                trained |= _given(statement)
            else:
                trained -= _given(statement)  # an old name for something else
            found += [
                f"code cell {number} has a {'figure' if name == 'show' else name} made of a training "
                f"({', '.join(sorted(made_of))}) and no setting: {said}"
                for name, made_of, said in _silent(statement, trained)
            ]
    return found


def words_differ(cells: list[NotebookNode]) -> list[str]:
    """Say in which code cells the caption, alt text or name is not what the cell itself has shown."""
    return [
        f"code cell {number} has another caption or alt text than the figure that it has shown"
        for number, cell in enumerate(cells, 1)
        if (shown := figure_words(cell)) and cell.metadata.get("mystnb") != page_words(shown)
    ]


def figure_words(cell: NotebookNode) -> dict[str, str] | None:
    """Return the words of the figure among a cell's outputs: caption, alt text, name and setting."""
    for output in cell.get("outputs", []):
        if output.get("metadata", {}).get(WORDS):
            return output.metadata[WORDS]
    return None


def page_words(words: dict[str, str]) -> dict:
    """Return a cell's metadata from which the page takes caption, alt text and name."""
    setting = f" [Setting: {words['setting']}.]{{.pa-setting}}" if words["setting"] else ""
    return {
        "image": {"alt": words["alt"]},
        "figure": {"caption": words["caption"] + setting, "name": words["name"]},
    }


def _called(node: ast.AST) -> set[str]:
    """Return the last names of all that is called: ``fit`` of ``training.fit(model)``."""
    funcs = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
    names = {func.id for func in funcs if isinstance(func, ast.Name)}
    # of methods, a step of an optimizer alone says that something is trained: many things load
    methods = {func.attr for func in funcs if isinstance(func, ast.Attribute)} - (ROOTS - {"step", "fit"})
    return names | methods


SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _loaded(node: ast.AST) -> set[str]:
    """Return the names that a piece of code reads from around it."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    inner = set().union(*map(_loaded, ast.iter_child_nodes(node)))
    return inner - _own(node) if isinstance(node, SCOPES) else inner


def _own(scope: ast.AST) -> set[str]:
    """Return the names that a function or a comprehension gives to things of its own."""
    stored = {n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in ast.walk(scope) if isinstance(n, ast.arg)}


def _stored(node: ast.AST) -> set[str]:
    """Return the names that a statement gives."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, SCOPES):
        return set()
    own = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
    return own.union(*map(_stored, ast.iter_child_nodes(node)))


def _given(statement: ast.stmt) -> set[str]:
    """Return the names that a statement gives, or lets hold more, or hands to what trains in place."""
    names = _stored(statement)
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return names
    for call in ast.walk(statement):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in trainers():  # it trains in place
            names |= {a.id for a in call.args if isinstance(a, ast.Name)}
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(base, ast.Name) and name in ("append", "extend", "update", "add"):
            names.add(base.id)
    return names


def _silent(statement: ast.stmt, trained: set[str]) -> list[tuple[str, set[str], str]]:
    """Return the calls of ``claim`` and ``show`` that load something trained and say no setting."""
    found = []
    for call in ast.walk(statement):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        made_of = _loaded(call) & trained or _called(call) & trainers()
        if name in SAYING and made_of and "setting" not in {k.arg for k in call.keywords}:
            found.append((name, made_of, ast.unparse(call)[:60]))
    return found
