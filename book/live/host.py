"""What runs a reader's code on the page, and has it graded: `answer` takes a request and returns the answer.

It is plain Python: on the page inside Pyodide, called by ``worker.js``; in tests under any Python. A page has
one namespace, in which its cells run in the order they are sent. Exercises are graded by `attnlib.learn`,
whose words are passed on as they are; progress is kept by the page.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import linecache
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from types import CodeType

from drawing import show_weights

MOST = 20_000  # letters of text that a cell may show
HERE = "<cell "  # how the file names of cells begin
NO_INPUT = "input() waits for keys, and Python on the page gets none: write the value into the cell."
NOT_HERE = "The page has Python's own modules, a small torch and attnlib; all else is in the notebook."
SLOWER = " Python on the page is slower than in the notebook: if its loops do end, check it there."
JUPYTER = "A line that begins with % or ! is Jupyter's own: it works in the notebook only."

namespace: dict = {}
chapters: dict[str, tuple[dict, dict]] = {}  # of exercises: what their set-up gave, and what it could not


def answer(request: str) -> str:
    """Do what is asked, as JSON, and return what came of it, as JSON."""
    told = json.loads(request)
    return json.dumps(DOES[told.pop("do")](**told))


# Running a cell


class Shown(io.TextIOBase):
    """What a cell shows, in its order: text as it is printed, pictures and tables among it."""

    def __init__(self) -> None:
        self.parts: list[dict] = []
        self.letters = 0

    def write(self, text: str) -> int:
        """Add text, as long as there is room."""
        room = max(0, MOST - self.letters)
        self.letters += len(text)
        if room and text:
            if not self.parts or self.parts[-1]["type"] != "text":
                self.parts.append({"type": "text", "data": ""})
            self.parts[-1]["data"] += text[:room]
        return len(text)

    def add(self, kind: str, data: str) -> None:
        """Add ``html`` or ``svg``."""
        self.parts.append({"type": kind, "data": data})

    def value(self, thing: object) -> None:
        """Add a value, as a drawing if it can draw itself, else as Python writes it."""
        for kind in ("svg", "html"):
            draw = getattr(type(thing), f"_repr_{kind}_", None)
            if draw is not None:
                return self.add(kind, draw(thing))
        self.write(f"{thing!r}\n")
        return None

    def all(self) -> list[dict]:
        """Return the parts, and a sentence if some was cut."""
        left = self.letters - MOST
        if left > 0:
            self.add("html", f"<p>{left:,} more letters are not shown.</p>")
        return self.parts


shown = Shown()


def display(*things: object) -> None:
    """Show something among what is printed, as in Jupyter."""
    for thing in things:
        shown.value(thing)


def refuse_input(*_: object) -> None:
    """Say that nobody can answer."""
    raise RuntimeError(NO_INPUT)


@contextmanager
def showing() -> Iterator[Shown]:
    """Take all that is printed and drawn."""
    global shown
    before, shown = (shown, builtins.input), Shown()
    builtins.input = refuse_input
    try:
        with redirect_stdout(shown), redirect_stderr(shown):
            yield shown
    finally:
        shown, builtins.input = before


def run(source: str, cell: str = "") -> dict:
    """Run a cell in the namespace of the page; the value of a last expression is shown.

    Returns:
        ``parts``, what it showed, and ``error``: None, or its name, its message, its line and a text.
    """
    with showing() as out:
        error = execute(source, f"{HERE}{cell}>" if cell else "<cell>", namespace)
    return {"parts": out.all(), "error": error}


def execute(source: str, name: str, names: dict) -> dict | None:
    """Run source under the name of a file, and return its error."""
    linecache.cache[name] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        name,
    )
    try:
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            if value is not None and not source.rstrip().endswith(";"):
                shown.value(value)
    except BaseException as error:  # a reader's code may do anything
        return tell(error, name)
    return None


def tell(error: BaseException, name: str) -> dict:
    """Tell an error by the reader's own lines; ``line`` is the last of the cell that ran."""
    said, message = "".join(traceback.format_exception_only(error)), str(error)
    if isinstance(error, SyntaxError) and error.filename == name:
        line, message = error.lineno, error.msg
        said = said.partition("\n")[2]  # which file it was in, the reader knows
        where = f"line {line}\n"
    else:
        way = traceback.extract_tb(error.__traceback__)
        own = [step for step in way if step.filename.startswith("<cell")]
        line = next((step.lineno for step in reversed(own) if step.filename == name), None)
        where = "".join(f"{spot(step, name)}\n    {step.line}\n" for step in shortened(own))
    for advice in advised(error, linecache.getline(name, line or 0)):
        message, said = f"{message}. {advice}", f"{said}{advice}\n"
    return {"name": type(error).__name__, "message": message, "line": line, "text": where + said}


def advised(error: BaseException, source: str) -> Iterator[str]:
    """Return what helps with an error that only the page makes."""
    if isinstance(error, ModuleNotFoundError):
        yield NOT_HERE
    if isinstance(error, SyntaxError) and source.lstrip().startswith(("%", "!")):
        yield JUPYTER


def spot(step: traceback.FrameSummary, name: str) -> str:
    """Say where a line stands."""
    cell = "" if step.filename == name else f" of {step.filename.strip('<>')}"
    inside = "" if step.name == "<module>" else f", in {step.name}"
    return f"line {step.lineno}{cell}{inside}"


def shortened(steps: list) -> list:
    """Leave out the middle of a long way, as that of a recursion."""
    return steps if len(steps) <= 10 else [*steps[:5], *steps[-5:]]


def reset() -> dict:
    """Begin with an empty namespace."""
    namespace.clear()
    chapters.clear()
    namespace.update(given())
    return {}


def given() -> dict:
    """Return the names that a cell finds without an import."""
    return {"__name__": "__main__", "display": display, "show_weights": show_weights}


# Exercises


@cache
def facts() -> dict:
    """Return what the build has read in the notebooks.

    ``exercises``: for each its chapter and what its cell hands to `check`; ``setup``: that of each chapter.
    """
    return json.loads((Path(__file__).parent / "exercises.json").read_text("utf8"))


def prepare(exercises: bool) -> dict:
    """Import what cells, or graders, import anyway: it takes a while, which is no cell's own."""
    import_module("attnlib.learn" if exercises else "attnlib")
    if exercises:
        bank = import_module("attnlib.learn.bank")
        bank.exercises()
    return {}


def check(id: str, source: str) -> dict:
    """Run the cell of an exercise and return what `attnlib.learn.check` says of it.

    Returns:
        ``kind`` (good, bad, todo, or cannot), ``html`` and ``text``, word for word; ``attempted`` and
        ``passed``; ``parts``, what the cell showed.
    """
    with showing() as out:
        verdict = judge(id, source)
    return verdict | {"parts": out.all()}


def judge(id: str, source: str) -> dict:
    """Return the verdict on the cell of an exercise."""
    about = facts()["exercises"].get(id)
    if about is None:
        return cannot(f"Exercise {id} runs in the notebook.")
    names, absent = prepared(about["chapter"])
    noted = refused()
    asked: list = []  # the cell ends with a call of check; it is made here, or was left out
    names["check"] = lambda _, answer, **__: asked.append(answer)
    error = execute(source, f"{HERE}{id}>", names)
    if error is None and not asked:
        error = execute(f'check("{id}", {about["answer"]})', "<cell>", names)
    if error is None:
        verdict = speaking("check", id, asked[-1], record=False)
    else:
        verdict = told("bad", f"<pre>{escape(error['text'])}</pre>", error["text"])
        verdict |= {"attempted": False, "error": error}
    if verdict["kind"] != "bad":
        return verdict
    if " did not finish in " in verdict["text"]:  # the notebook's words, which may be wrong of a slow page
        html = verdict["html"].removesuffix("</div>") + f"{SLOWER}</div>"
        return told("bad", html, verdict["text"] + SLOWER) | {"attempted": False}
    if noted:
        return cannot(f"{noted[0]}.")
    lost = next(
        (name for name in absent if f"name '{name}' is not defined" in verdict["text"]),
        None,
    )
    if lost:
        return cannot(f"`{lost}` is not on the page ({absent[lost]}): open the notebook of this chapter.")
    return verdict


def hint(id: str) -> dict:
    """Return the next hint of `attnlib.learn.hint`."""
    return speaking("hint", id)


def speaking(what: str, *given: object, **named: object) -> dict:
    """Call a function of `attnlib.learn.exercises`, and return what it shows as a verdict."""
    from attnlib.learn import calling, exercises

    said: list[tuple[str, str]] = []
    exercises.show = lambda html, text: said.append((html, text))
    if sys.platform == "emscripten":  # a page has no threads
        calling.in_time = in_time
    getattr(exercises, what)(*given, **named)
    html, text = said[-1]
    kind = next(kind for kind in ("good", "bad", "todo") if f"pa-{kind}" in html.partition(">")[0])
    return told(kind, html, text)


def prepared(chapter: str) -> tuple[dict, dict[str, str]]:
    """Return the names that the exercises of a chapter find, and those that they miss, with a reason."""
    if chapter not in chapters:
        names, absent = given(), {}
        setup = facts()["setup"][chapter]
        linecache.cache[f"<set-up {chapter}>"] = (
            len(setup),
            None,
            setup.splitlines(keepends=True),
            "",
        )
        for step in ast.parse(setup).body:
            try:
                exec(
                    compile(ast.Module([step], []), f"<set-up {chapter}>", "exec"),
                    names,
                )
            except Exception as error:
                why = traceback.format_exception_only(error)[-1].strip()
                absent |= dict.fromkeys(bound(step), why)
        chapters[chapter] = names, absent
    return chapters[chapter]


def bound(step: ast.stmt) -> Iterator[str]:
    """Return the names that a statement would have given something to."""
    for node in ast.walk(step):
        if isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def refused() -> list[str]:
    """Return the list in which the small torch notes what it was asked and does not have, empty."""
    missing = sys.modules.get("torch.missing")
    noted = getattr(missing, "NOTED", [])
    noted.clear()
    return noted


def told(kind: str, html: str, text: str) -> dict:
    """Return a verdict."""
    passed = kind == "good"
    return {
        "kind": kind,
        "html": html,
        "text": text,
        "attempted": passed or kind == "bad",
        "passed": passed,
    }


def cannot(sentence: str) -> dict:
    """Return that an exercise is for the notebook, and why."""
    html = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence, quote=False))
    return told("cannot", f"<p>{html}</p>", sentence.replace("`", ""))


# A limit of time without threads


def in_time(seconds: float, function: Callable, arguments: tuple) -> object:
    """Call a learner's function, and return what it returns: what `attnlib.learn.calling.in_time` does.

    Python tells where a loop of the learner's own code turns, and where a function of theirs begins: there
    the clock is looked at.

    Raises:
        OutOfTimeError: If it did not end in time.
    """
    from attnlib.learn.calling import OutOfTimeError

    watch, end = sys.monitoring, time.monotonic() + seconds
    events = watch.events.JUMP | watch.events.PY_START

    def look(code: CodeType, *_: object) -> object:
        if not code.co_filename.startswith("<cell"):
            return watch.DISABLE  # this place is never asked again
        if time.monotonic() >= end:
            raise OutOfTimeError
        return None

    watch.use_tool_id(watch.DEBUGGER_ID, "limit of time")
    try:
        for event in (watch.events.JUMP, watch.events.PY_START):
            watch.register_callback(watch.DEBUGGER_ID, event, look)
        watch.set_events(watch.DEBUGGER_ID, events)
        return function(*arguments)
    finally:
        watch.set_events(watch.DEBUGGER_ID, 0)
        watch.free_tool_id(watch.DEBUGGER_ID)


DOES = {"prepare": prepare, "run": run, "check": check, "hint": hint, "reset": reset}
reset()
