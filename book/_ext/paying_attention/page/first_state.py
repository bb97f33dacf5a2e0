"""Explorables and quizzes are drawn at build time, in their first state, into the page.

The page then has its full height before any script runs, and shows the drawing without a script and on paper.
A headless Chromium opens the built page; what the front ends drew is written behind each view.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from sphinx.util import logging

from paying_attention import browser

logger = logging.getLogger(__name__)

VIEW = re.compile(r'<script type="application/vnd\.jupyter\.widget-view\+json">.*?</script>', re.DOTALL)
MARK = "<!-- first state -->"
END = "<!-- end of first state -->"
DRAWN = re.compile(f"{MARK}.*?{END}", re.DOTALL)
UNNEEDED = r"^https?:|\.(png|svg)|/(mathjax|fontawesome)|/_static/(?!hydrate-widgets).*\.js"
TAKE = (Path(__file__).parent / "first_state.js").read_text("utf8")


def draw_first_states(app, error) -> None:
    """Draw the first state into every page that has a view."""
    if error or app.builder.format != "html":
        return
    pages = [page for page in sorted(Path(app.outdir).rglob("*.html")) if VIEW.search(page.read_text("utf8"))]
    if not pages:
        return
    path = browser.find()
    if path is None:
        logger.info("first state: no Chromium, explorables are drawn when the page opens")
        return
    started = time.perf_counter()
    draw(pages, path)
    logger.info("first state: drawn into %d pages in %.1f s", len(pages), time.perf_counter() - started)


def draw(pages: list[Path], chromium: str) -> None:
    """Open each page in one browser, and write into it what its front ends drew."""
    with browser.opened(chromium) as opened:
        how = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        context = opened.new_context(**how, bypass_csp=True)  # waiting for the page is a script, too
        context.route(re.compile(UNNEEDED), lambda route: route.abort())
        tab = context.new_page()
        for page in pages:
            text = DRAWN.sub("", page.read_text("utf8"))
            page.write_text(text, "utf8")  # what an earlier build drew is not drawn on
            tab.goto(page.as_uri(), wait_until="domcontentloaded")
            tab.wait_for_function(
                "document.fonts.status === 'loaded' && document.querySelector('.static-widget')"
                " && !document.querySelector('[data-widget-state=loading]')"
            )
            page.write_text(with_drawings(text, tab.evaluate(TAKE)), "utf8")


def with_drawings(text: str, drawings: list[str | None]) -> str:
    """Return the page with each drawing behind its view.

    Args:
        text: The page.
        drawings: One for each view, in order; None for a view that could not be drawn.

    Returns:
        The page, the same for the same drawings however often it is done.
    """
    rest = iter(drawings)

    def behind(view: re.Match) -> str:
        drawing = next(rest, None)
        return view[0] if drawing is None else f"{view[0]}{MARK}{drawing}{END}"

    return VIEW.sub(behind, DRAWN.sub("", text))
