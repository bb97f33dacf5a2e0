"""Sphinx extension: MathJax from a package instead of a CDN, without its menu; repairs of the theme.

The menu offers renderers and readers that are not shipped, and stores the choice: from then on no formula is
set. `enableMenu: false` in ``_config.yml`` hides it, but what a reader once stored is read all the same,
unless it is looked for under another name.
"""

from __future__ import annotations

import re
from importlib.metadata import files
from pathlib import Path
from shutil import copy2

# what tex-chtml.js needs at run time; the package carries 24 MB of other components
MATHJAX = (
    "tex-chtml.js",
    "output/chtml/fonts/woff-v2/",
    "input/tex/extensions/",
    "a11y/assistive-mml.js",
    "ui/safe.js",
)

FORGET_MENU = """
window.MathJax = { ...window.MathJax, startup: { ready() {
  MathJax._.ui.menu.Menu.Menu.MENU_STORAGE = "MathJax-without-menu";
  MathJax.startup.defaultReady();
} } };
"""

# accessibility: what axe-core finds in pages of sphinx-book-theme 1.3.0, myst-nb 1.4.0 and docutils 0.21
REPAIRS = [
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    (
        r'(<button class="btn search-button-field[^>]*?) aria-label="Search"',
        r"\1",
    ),
    (
        r'(<i class="theme-switch [^>]*?)\s+title="[^"]*"',
        r'\1 aria-hidden="true"',
    ),
    (
        r'<div id="pst-primary-sidebar" class=',
        r'<div id="pst-primary-sidebar" role="navigation" aria-label="Book" class=',
    ),
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    (r'(<div class="citation"[^>]*?) role="doc-biblioentry"', r"\1"),
]


def finish(app, error) -> None:
    """Copy MathJax into the site and repair every page."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for file in files("sphinx-mathjax-offline") or []:
        name = file.as_posix().partition("static/mathjax/")[2]
        if name.startswith(MATHJAX):
            to = out / "_static" / "mathjax" / name
            to.parent.mkdir(parents=True, exist_ok=True)
            copy2(file.locate(), to)
    for page in out.rglob("*.html"):
        old = new = page.read_text("utf8")
        for pattern, replacement in REPAIRS:
            new = re.sub(pattern, replacement, new)
        if new != old:
            page.write_text(new, "utf8")


def setup(app) -> dict:
    """Register with Sphinx."""
    app.connect("build-finished", finish)
    app.add_js_file(
        None, body=FORGET_MENU, priority=600
    )  # after the settings, before MathJax, which is deferred
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
