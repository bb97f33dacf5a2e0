"""Small mistakes that could be made in a source file, one at a time: what `tests.mutation` tries."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
STILL = ("annotation", "returns", "decorator_list")  # what does not run, or runs before the function does
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One mistake in one module.

    Attributes:
        module: The module's path inside the library, without its suffix, such as ``instruments/leaks``.
        number: Its place among the mutants of the module, in the order of the source.
        line: Where it is.
        change: What stood there, and what stands there now.
        function: The outermost function or method around it; empty for code that runs at the import.
    """

    module: str
    number: int
    line: int
    change: str
    function: str

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line}: {' '.join(self.change.split())}"


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
    """Walk over a module, list its mutants, and make the one with a given number."""

    def __init__(self, module: str, number: int | None = None) -> None:
        self.module, self.number = module, number
        self.found: list[Mutant] = []
        self.around: list[ast.AST] = []  # the classes and functions that the walk is in

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the node, if its turn has come."""
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.arg):
            return node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            return node
        made = None
        for new in variants(node):
            if len(self.found) == self.number:
                made = ast.copy_location(new, node)
            change = f"{ast.unparse(node)}  ->  {ast.unparse(new)}"
            self.found.append(Mutant(self.module, len(self.found), node.lineno, change, self._function()))
        return made or self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit the children that run: no annotations, no decorators."""
        still = {name: getattr(node, name) for name in STILL if getattr(node, name, None)}
        for name, value in still.items():
            setattr(node, name, [] if isinstance(value, list) else None)
        scope = isinstance(node, (*FUNCTIONS, ast.ClassDef))
        self.around += [node] if scope else []
        super().generic_visit(node)
        if scope:
            self.around.pop()
        for name, value in still.items():
            setattr(node, name, value)
        return node

    def _function(self) -> str:
        """Name the outermost function as Python does, such as ``Decoder.forward``."""
        for depth, node in enumerate(self.around, 1):
            if isinstance(node, FUNCTIONS):
                return ".".join(outer.name for outer in self.around[:depth])
        return ""


def mutants(module: str, source: str) -> list[Mutant]:
    """List every mutant of a module."""
    mutator = Mutator(module)
    mutator.visit(ast.parse(source))
    return mutator.found


def mutate(mutant: Mutant, source: str) -> str:
    """Return the source of the module with that one mistake in it."""
    tree = Mutator(mutant.module, mutant.number).visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree))
