"""The code cells of a notebook, and what of them is not executed."""

from __future__ import annotations

import json
import re

from attnlib.learn.calling import explain

INSTALLS = re.compile(
    r"^([ \t]*)[%!]{1,2}[ \t]*(?:(?:sudo|python3?|uv)\b[^\n]*?)?"
    r"\b(?:pip3?|conda|mamba|micromamba|apt|apt-get|brew)\b(?:\\\n|.)*$",
    re.MULTILINE,
)


def code_cells(text: bytes) -> list[str]:
    """Return the sources of a notebook's code cells.

    Raises:
        ValueError: If it is not a notebook of form 4 in Python; says so.
    """
    if not text:
        raise ValueError("not a notebook: an empty file")
    try:
        notebook = json.loads(text)
        form = notebook["nbformat"]
        cells = [
            cell["source"] for cell in (notebook["cells"] if form == 4 else []) if cell["cell_type"] == "code"
        ]
        sources = [source if isinstance(source, str) else "".join(source) for source in cells]
        kernel = (notebook.get("metadata") or {}).get("kernelspec") or {}
        language = str(kernel.get("language", "python"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a notebook: {explain(error)}") from None
    if form != 4:
        raise ValueError(f"nbformat must be 4, got {str(form)[:20]}: open it in JupyterLab and save it")
    if language.lower() not in ("python", "python3"):
        raise ValueError(f"written in {language}: only Python is run")
    return sources


def without_installs(source: str) -> str:
    """Leave out lines like ``%pip install``: no notebook changes the packages it is graded with."""
    return INSTALLS.sub(r"\1pass", source)


def first_line(source: str) -> str:
    """Return the line by which a reader knows a cell."""
    return next(filter(None, map(str.strip, source.splitlines())), "")
