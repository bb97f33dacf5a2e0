"""What every front end shares."""

from __future__ import annotations

from importlib import resources

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError(
        "the explorables need anywidget and ipywidgets: pip install 'attnlib[widgets]'"
    ) from error

__all__ = ["anywidget", "static", "traitlets"]


def static(*names: str) -> str:
    """Join files of ``static/`` into one text, since a front end cannot import another file."""
    folder = resources.files("attnlib.widgets") / "static"
    return "\n".join((folder / name).read_text("utf8") for name in names)
