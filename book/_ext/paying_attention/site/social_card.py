"""The picture by which a page is shared: its title, its question, its first figure.

A headless Chromium opens each built page, puts the card in place of what it shows and takes a photograph,
beside the page and under its name (``book/index.png``). Without a Chromium there are no cards.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from sphinx.util import logging

from paying_attention import browser

logger = logging.getLogger(__name__)

SIZE = {"width": 1200, "height": 630}  # what the large services ask for
UNNEEDED = re.compile(r"^https?:|\.js(\?|$)|/fontawesome/")
CARD = (Path(__file__).parent / "social_card.js").read_text("utf8")


def finish(app, error) -> None:
    """Take a photograph of every page that has a source."""
    if error or app.builder.format != "html" or (chromium := browser.find()) is None:
        return
    started = time.perf_counter()
    pages = [Path(app.outdir) / app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
    take(pages, chromium, app.config.html_title)
    logger.info("social cards: %d in %.1f s", len(pages), time.perf_counter() - started)


def take(pages: list[Path], chromium: str, book: str) -> None:
    """Photograph the card of each page."""
    with browser.opened(chromium) as opened:
        context = opened.new_context(viewport=SIZE, color_scheme="light", bypass_csp=True)
        context.route(UNNEEDED, lambda route: route.abort())
        tab = context.new_page()
        for page in pages:
            tab.goto(page.as_uri(), wait_until="domcontentloaded")
            tab.evaluate(CARD, book)
            tab.screenshot(path=page.with_suffix(".png"))
