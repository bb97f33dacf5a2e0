"""Show something: as HTML where there is a page, as text in a terminal."""

from __future__ import annotations

import html
import re
import sys

# in case a terminal cannot print them
PLAIN = str.maketrans({"✓": "[ok]", "✗": "[no]", "○": "[ ]", "█": "#", "░": "-"})


def show(markup: str, text: str) -> None:
    """Display ``markup`` in a notebook, or print ``text`` where there is none."""
    markup, text = (words.encode("utf8", "replace").decode("utf8") for words in (markup, text))
    if "IPython" in sys.modules:
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is not None:
            display({"text/html": markup, "text/plain": text}, raw=True)
            return
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = text.translate(PLAIN).encode("ascii", "replace").decode()
    print(text)


def inline(text: str) -> str:
    """Return ``text`` as HTML, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def plain(text: str) -> str:
    """Return ``text`` for a terminal, without the backticks."""
    return text.replace("`", "")


def line(kind: str, mark: str, label: str, body: str, *, id: str = "", rest: str = "") -> str:
    """Return one marked line as HTML: a coloured edge, a mark, a label and a sentence.

    With an ``id`` the label is a link to the line itself, so that it can be quoted.
    """
    colour = {"good": "#2b8a6a", "bad": "#c2571a", "todo": "#7c8794"}[kind]
    at = f' id="{id}"' if id else ""
    label = f'<a class="pa-number" href="#{id}">{label}</a>' if id else label
    return (
        f'<div class="pa-line pa-{kind}"{at} '
        f'style="border-left:3px solid {colour};padding:.15em .8em;margin:.35em 0">'
        f'<span class="pa-mark" aria-hidden="true">{mark}</span> <strong>{label}</strong> {body}{rest}</div>'
    )
