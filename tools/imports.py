"""What imports what, read from the code: for the test of the architecture, and for `tools/changed.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

THROUGH = " (handed on)"


def modules(folder: Path) -> dict[str, Path]:
    """Return every module of a package by its dotted name; a folder's own code has the name of the folder."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = (folder.name, *path.relative_to(folder).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield what the nodes of some code import: its dotted name, and what it is called there.

    Raises:
        ValueError: The code imports by dots alone.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"imports are written out in full, got {ast.unparse(node)!r}")
            for alias in node.names:
                yield f"{node.module}.{alias.name}", alias.asname or alias.name


def loaded(name: str, files: dict[str, Path]) -> Iterator[str]:
    """Yield the modules whose code runs when a module is imported, or later inside a function.

    Importing ``a.b.c`` also runs the code of ``a`` and ``a.b``, unless the importer lives there itself.
    """
    for target, _ in imported(ast.walk(ast.parse(files[name].read_text("utf8")))):
        for module in prefixes(target):
            if module in files and not f"{name}.".startswith(f"{module}."):
                yield module


class Reach:
    """How far code reaches: the modules that it uses, and those that they use.

    A package that only hands names on is looked through: who takes ``plotting.tiles`` needs the file in which
    it is written and the package's own, and not the files of all other drawings.
    """

    def __init__(self, files: dict[str, Path]) -> None:
        """Know the modules by their names."""
        self.files = files
        self._used: dict[ast.AST, set[str]] = {}

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """The code of each module."""
        return {name: ast.parse(path.read_text("utf8")) for name, path in self.files.items()}

    def of(self, tree: ast.AST) -> set[str]:
        """Return the modules that some code uses, directly or not."""
        found, open_ = set(), list(self.used(tree))
        while open_:
            name = open_.pop()
            if name not in found:
                found.add(name)
                open_ += self._uses(name)
        return {name.removesuffix(THROUGH) for name in found}

    def _uses(self, name: str) -> set[str]:
        return set() if name.endswith(THROUGH) else self.used(self.trees[name])

    def used(self, tree: ast.AST) -> set[str]:
        """Return the modules that code uses directly: by import, by attribute, or by a name in a string."""
        if tree not in self._used:
            self._used[tree] = self._read(tree)
        return self._used[tree]

    def _read(self, tree: ast.AST) -> set[str]:
        nodes = list(ast.walk(tree))
        called: dict[str, set[str]] = {}
        dotted: set[str] = set()
        for target, alias in imported(nodes):
            if not self.hands_on(target):
                dotted.add(target)
            called.setdefault(alias, set()).add(alias if target.startswith(f"{alias}.") else target)
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in inner:
                base, *rest = _chain(node)
                dotted |= {".".join([target, *rest]) for target in called.get(base, ())}
            elif self._is_name(node):
                dotted.add(node.value)
        return set().union(*map(self.makers, dotted))

    def makers(self, dotted: str) -> set[str]:
        """Return the module in which a dotted name is made, and those that only hand it on, so marked."""
        module = next((name for name in reversed(prefixes(dotted)) if name in self.files), None)
        if module is None:
            return set()
        first, *rest = dotted[len(module) + 1 :].split(".")
        further = self._tops[module].get(first)
        above = {one + THROUGH for one in prefixes(module)[:-1] if one in self.files}
        if further and self.hands_on(module) and further.partition(".")[0] in self.files:
            return above | {module + THROUGH} | self.makers(".".join([further, *rest]))
        return above | {module}

    def _is_name(self, node: ast.AST) -> bool:
        """Tell whether a node is a text with dots in it; that of a mere package says where data stand."""
        text = node.value if isinstance(node, ast.Constant) else None
        return isinstance(text, str) and "." in text and not self.hands_on(text)

    @cached_property
    def _tops(self) -> dict[str, dict[str, str]]:
        """Of each module what it imports at its top, by the name that it has there."""
        return {
            name: {alias: target for target, alias in imported(tree.body)}
            for name, tree in self.trees.items()
        }

    def hands_on(self, name: str) -> bool:
        """Tell whether a name is that of a package which makes nothing itself."""
        return name in self.files and all(map(_is_plain, self.trees[name].body))


def _is_plain(node: ast.stmt) -> bool:
    """Tell whether a statement imports, tells, or sets a name like ``__all__``."""
    if isinstance(node, ast.Assign):
        return all(isinstance(to, ast.Name) and to.id.startswith("__") for to in node.targets)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr))


def prefixes(dotted: str) -> list[str]:
    """Return ``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``."""
    parts = dotted.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def _chain(node: ast.AST) -> list[str]:
    """Return the names of ``a.b.c``; what is called or subscripted begins anew."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else [""]), *reversed(names)]
