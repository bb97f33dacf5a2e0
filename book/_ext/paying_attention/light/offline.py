"""Repairs of what the theme writes into the pages."""

from __future__ import annotations

import re
from pathlib import Path

# accessibility: what axe-core finds in pages of sphinx-book-theme 1.3.0, myst-nb 1.4.0 and docutils 0.21
REPAIRS = [
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    # without script a page is light; the theme's script asks for another
    (r'(<html [^>]*)data-theme="auto"', r'\1data-theme="light"'),
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
    """Repair every page."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        old = new = page.read_text("utf8")
        for pattern, replacement in REPAIRS:
            new = re.sub(pattern, replacement, new)
        if new != old:
            page.write_text(new, "utf8")
