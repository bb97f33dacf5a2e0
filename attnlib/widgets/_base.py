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
        parts: Further scripts that it builds on, in order: ``writer_model`` for ``static/writer_model.js``.

    Returns:
        The two texts, each after what all widgets share, since a front end cannot import another file.
    """
    folder = resources.files("attnlib.widgets") / "static"

    def joined(kind: str, *stems: str) -> str:
        return "\n".join((folder / f"{stem}.{kind}").read_text("utf8") for stem in stems)

    return joined("js", "common", *parts, name), joined("css", "common", name)
