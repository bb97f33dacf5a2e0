"""Measure the model that writes in the page: ``python -m benchmarks.writing`` (after ``make book``).

The landing page is opened from the disk. The time of the first token is that from the press on Start until it
stands in the text, with all that happens in between: the weights are fetched, widened and used. Then the same
text is asked for once more, and again without the mask, where every token sends the whole text through the
model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tools.find_chromium import ADVICE, installed

SITE = Path(__file__).parents[1] / "_build" / "html"
# when the text has how many tokens, in milliseconds after the press
WATCH = """() => {
  const root = document.querySelector(".pa-writer"), text = root.querySelector(".pa-text");
  const many = () => text.querySelectorAll(".pa-token").length;
  const began = performance.now(), seen = [];
  const look = () => { if (seen.at(-1)?.[1] !== many()) seen.push([performance.now() - began, many()]); };
  new MutationObserver(look).observe(text, { childList: true });
  window.seen = seen;
  root.querySelector(".pa-play").click();
}"""
DONE = "document.querySelector('.pa-writer').dataset.writing === 'false'"


def written(page: Page) -> tuple[float, float]:
    """Let it write; return the milliseconds until the first token, and the tokens a second from there on."""
    page.evaluate(WATCH)
    page.wait_for_function(f"window.seen.length > 2 && {DONE}", timeout=120_000)
    seen = page.evaluate("window.seen")
    first = min(seen, key=lambda one: one[1])  # the text begins anew
    (start, few), (end, many) = first, seen[-1]
    return start, 1000 * (many - few) / (end - start)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=SITE, help="where the built book is")
    asked = parser.parse_args()
    path = installed()
    if path is None:
        raise SystemExit(ADVICE)
    print("| what | first token | tokens a second |\n|---|---|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(bypass_csp=True)  # it waits by eval
        page.goto((asked.site / "book" / "index.html").as_uri(), wait_until="load")
        page.wait_for_selector(".static-widget[data-widget-state=ready] .pa-writer")
        for what in ("first press, weights fetched", "again", "without the mask"):
            if what == "without the mask":
                page.get_by_role("switch", name="causal mask").press("Space")
                page.wait_for_function(DONE, timeout=120_000)
            first, speed = written(page)
            print(f"| {what} | {first:.0f} ms | {speed:.0f} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
