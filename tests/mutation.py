"""Break the library in many small ways, one at a time, and list what no test notices: ``python -m tests.mutation``.

A mutant changes one operator, constant, condition, keyword argument or check. Torch is imported once; each mutant
is tried in a process forked from there, in a copy of the library and its tests.
"""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parents[1]
MODULES = ["functional", "fused", "masks", "multihead", "tiled"]
OTHERS = ["functional", "fused", "masks", "multihead", "tiled", "cache", "windowed", "properties"]
LIMIT = 300  # seconds: a mutant that never ends is noticed too
SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip

ALLOWED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # what is imported before the fork
STILL = ("annotation", "returns", "decorator_list")


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node could be by mistake."""
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                yield ast.Compare(left, [*ops[:i], SWAPS[type(op)](), *ops[i + 1 :]], comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(SWAPS[type(op)](), values)
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            yield ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.If(ast.Name() | ast.Call() as test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Call(func, args, keywords):
            for i in range(len(keywords)):
                yield ast.Call(func, args, [*keywords[:i], *keywords[i + 1 :]])
        case ast.Expr(ast.Call()):
            yield ast.Pass()


class Mutator(ast.NodeTransformer):
    """Make the mutant with a given number, counting them in the order of the source."""

    def __init__(self, number: int | None = None) -> None:
        self.number, self.seen, self.change = number, 0, ""

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the node, if its turn has come."""
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.arg):
            return node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            return node
        for new in variants(node):
            if self.seen == self.number:
                self.seen += 1
                self.change = f"{getattr(node, 'lineno', 0)}: {ast.unparse(node)}  ->  {ast.unparse(new)}"
                return ast.copy_location(new, node)
            self.seen += 1
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit the children that run: no annotations, no decorators."""
        still = {name: getattr(node, name) for name in STILL if getattr(node, name, None)}
        for name, value in still.items():
            setattr(node, name, [] if isinstance(value, list) else None)
        super().generic_visit(node)
        for name, value in still.items():
            setattr(node, name, value)
        return node


def mutate(source: str, number: int | None) -> tuple[str, Mutator]:
    """Return the source of a mutant, and the mutator that made it."""
    mutator = Mutator(number)
    tree = mutator.visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree)), mutator


def survives(folder: Path, module: str) -> bool:
    """Run the tests in a forked process, those of the module first, until one fails."""
    tests = [f"tests/test_{name}.py" for name in sorted(OTHERS, key=lambda name: name != module)]
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        sys.dont_write_bytecode = True  # a mutant of the same second and size would pass for the next one
        for name in [name for name in sys.modules if name.split(".")[0] in ("attnlib", "tests")]:
            del sys.modules[name]  # those of the parent are not the broken ones
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        code = 1
        with contextlib.suppress(BaseException):
            import pytest

            code = pytest.main(
                [
                    *tests,
                    "tests/conformance",
                    "-x",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    "-p",
                    "no:xdist",
                    *ALLOWED,
                ]
            )
        os._exit(int(code))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main() -> int:
    """Try every mutant and print a summary."""
    import hypothesis  # noqa: F401 - imported once, for every fork
    import nbval.plugin  # noqa: F401
    import onnx  # noqa: F401
    import pytest  # noqa: F401
    import torch

    torch.set_num_threads(1)
    folders: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory() as base:
        for i in range(os.cpu_count() or 1):
            folder = Path(base, str(i))
            for name in ("attnlib", "tests", "book/_conformance.md", "conftest.py", "pyproject.toml"):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, folder / name)
            folders.put(folder)

        def attempt(module: str, number: int) -> str:
            folder = folders.get()
            path = folder / "attnlib" / f"{module}.py"
            original = path.read_text("utf8")
            mutant, mutator = mutate(original, number)
            try:
                path.write_text(mutant, "utf8")
                alive = survives(folder, module)
            finally:
                path.write_text(original, "utf8")
                folders.put(folder)
            return f"{module}.py:{mutator.change}" if alive else ""

        if not survives(folder, MODULES[0]):
            print("the tests fail before anything is broken")
            return 2
        asked = sys.argv[1:] or MODULES
        jobs = []
        for module in asked:
            _, mutator = mutate((ROOT / "attnlib" / f"{module}.py").read_text("utf8"), None)
            jobs += [(module, number) for number in range(mutator.seen)]
        with ThreadPoolExecutor(folders.qsize()) as pool:
            results = list(pool.map(lambda job: attempt(*job), jobs))
    alive = [text for text in results if text]
    for module in asked:
        mine = [text for (name, _), text in zip(jobs, results, strict=True) if name == module]
        print(f"{module}: {len(mine) - sum(map(bool, mine))} of {len(mine)} noticed")
    print(f"all: {len(jobs) - len(alive)} of {len(jobs)} noticed, {1 - len(alive) / len(jobs):.1%}")
    print("\n".join(alive))
    return int(len(alive) > 0.1 * len(jobs))


if __name__ == "__main__":
    sys.exit(main())
