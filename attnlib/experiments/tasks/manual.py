"""A text to train on that is already there: the manual that comes with every Python.

It differs a little from one version of Python to the next.
"""

from __future__ import annotations

import ast
import re
import sysconfig
import warnings
from pathlib import Path

SKIPPED = {
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "site-packages",
    "dist-packages",
    "turtledemo",
    "pydoc_data",
}


def python_manual(*, docstrings: bool = True) -> str:
    """Return the reference manual of this Python, and the docstrings of its standard library.

    Args:
        docstrings: Whether to add the docstrings, about four fifths of it all; it takes some seconds.

    Returns:
        About 2 MB of English, the same at every call.

    Chapters 2 and 6 train on it.
    """
    from pydoc_data.topics import topics

    parts = [topics[name] for name in sorted(topics)]
    if docstrings:
        library = Path(sysconfig.get_paths()["stdlib"])
        for path in sorted(library.rglob("*.py")):
            if not SKIPPED.intersection(path.relative_to(library).parts):
                parts.extend(_docstrings(path))
    return "\n\n".join(parts)


def _docstrings(path: Path) -> list[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that a newer Python no longer likes
            tree = ast.parse(path.read_text("utf8"))
    except (SyntaxError, UnicodeDecodeError, ValueError):  # templates, and files that are broken on purpose
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds))
    return [text for text in found if text]


def words_of(text: str) -> list[str]:
    """Split a text into its words, in lower case: runs of the letters a to z.

    Args:
        text: Any text.

    Returns:
        The words, in order.
    """
    return re.findall("[a-z]+", text.lower())
