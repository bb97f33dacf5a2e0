"""The explorable of *Common mistakes*: choose a bug, read its line, and see which tests find it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from torch import Tensor

from attnlib.widgets._base import anywidget, front_end, traitlets

VERDICTS = ("passes", "fails", "error")


class Bug(TypedDict):
    """What was found out about a layer with one bug, or with none.

    Attributes:
        name: Of the bug.
        wrong: Its line; empty if there is none.
        right: The line as it should be.
        verdicts: Of each test, ``passes``, ``fails`` or ``error``.
        moved: ``(T, T)``, True where the output of a row moves when the token of a column is changed.
    """

    name: str
    wrong: str
    right: str
    verdicts: Sequence[str]
    moved: Tensor


class BugFinder(anywidget.AnyWidget):
    """Show bugs of a causal layer one at a time, as they were measured: nothing is computed here.

    Attributes:
        bug: Which is shown, by its index.
        run: Whether the tests were run on it: only then their verdicts, and what moves, are shown.
        bugs: What was found out about each.
        tests: The names of the tests.
    """

    _esm, _css = front_end("bugs")

    bug = traitlets.Int(0).tag(sync=True)
    run = traitlets.Bool(False).tag(sync=True)
    bugs = traitlets.List().tag(sync=True)
    tests = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, bugs: Sequence[Bug] = (), tests: Sequence[str] = (), **state: Any) -> None:
        for found in bugs:
            if len(found["verdicts"]) != len(tests) or not set(found["verdicts"]) <= set(VERDICTS):
                raise ValueError(
                    f"verdicts must say {', '.join(VERDICTS)} for each of {len(tests)} tests, "
                    f"got {list(found['verdicts'])} for {found['name']}"
                )
            if len(set(found["moved"].shape)) != 1:
                raise ValueError(
                    f"moved must be (T, T), got {tuple(found['moved'].shape)} for {found['name']}"
                )
        rows = [
            dict(b) | {"verdicts": list(b["verdicts"]), "moved": b["moved"].bool().tolist()} for b in bugs
        ]
        super().__init__(**({"bugs": rows, "tests": list(tests)} | state))

    def found_by(self) -> list[str]:
        """Return the names of the tests that find the bug shown."""
        verdicts = self.bugs[self.bug]["verdicts"] if self.bugs else []
        return [test for test, verdict in zip(self.tests, verdicts, strict=False) if verdict != "passes"]

    def __repr__(self) -> str:
        shown = self.bugs[self.bug]["name"] if self.bugs else "no bugs"
        return f"BugFinder({shown!r}, found by {len(self.found_by())} of {len(self.tests)} tests)"
