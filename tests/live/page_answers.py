"""The stored answers of `tests/learn/answers` to what asks for a function, as one cell that a page can run.

The cell is executed here and there, so that both find the same answers in the same places.
"""

import ast
import linecache
import warnings
from importlib import import_module
from pathlib import Path

from attnlib.learn import bank, exercises, judging


def cell_of(chapter):
    """Return the source of a chapter's answers: ``ANSWERS`` has for each the exercise, and a function that makes it.

    Some are arrays of NumPy, which a page does not have.
    """
    path = Path(import_module(f"tests.learn.answers.{bank.CHAPTERS[chapter]}").__file__)
    kept, answers = [], []
    for step in ast.parse(path.read_text("utf8")).body:
        target = ast.unparse(step.targets[0]) if isinstance(step, ast.Assign) else ""
        if target == "RIGHT":
            for id, some in zip(step.value.keys, step.value.values, strict=True):
                answers += [(id, one) for one in some.elts]
        elif target == "WRONG":  # rows of cases that a loop makes are numbers
            answers += [case.elts[:2] for case in step.value.elts if isinstance(case, ast.Tuple)]
        else:
            kept.append(ast.unparse(step))
    answers = [(ast.literal_eval(id), one) for id, one in answers]
    made = [f"    {entry(id, one)}," for id, one in answers if id not in judging.read()]
    return "\n".join([*kept, "ANSWERS = [", *made, "]", ""])


def entry(id, answer):
    """Return the source of a pair, or of a row of them."""
    if isinstance(answer, ast.Starred):
        return f"*[({id!r}, lambda one=one: one) for one in {ast.unparse(answer.value)}]"
    return f"({id!r}, lambda: {ast.unparse(answer)})"


def stored(chapter):
    """Return the exercises and the answers, in the order in which the cell has them."""
    source, file, names = cell_of(chapter), f"<cell answers {chapter}>", {}
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return [(id, make()) for id, make in names["ANSWERS"]]


def said(id, answer):
    """Return what `attnlib.learn.check` shows as text."""
    lines, show = [], exercises.show
    exercises.show = lambda html, text: lines.append(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exercises.check(id, answer, record=False)
    finally:
        exercises.show = show
    return lines[-1]
