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

__all__ = ["anywidget", "front_end", "traitlets"]


def front_end(name: str, *parts: str) -> tuple[str, str]:
    """Return the script and the style of a widget, as it carries them to the page.

    Args:
        name: Which: ``plane`` for ``static/plane.js`` and ``static/plane.css``.
        parts: What else it builds on, in order: ``sentence_field`` for ``static/sentence_field.js`` and, if
            there is one, ``static/sentence_field.css``.

    Returns:
        The two texts, each after what all widgets share, since a front end cannot import another file.
    """
    folder = resources.files("attnlib.widgets") / "static"

    def joined(kind: str) -> str:
        files = [folder / f"{stem}.{kind}" for stem in ("common", *parts, name)]
        return "\n".join(file.read_text("utf8") for file in files if file.is_file())

    return joined("js"), joined("css")
