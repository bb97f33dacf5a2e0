"""Measure Python on a page: ``python -m benchmarks.live``, after ``make book``.

How long a first cell takes, from the press to its answer, on a page served here and on one from the disk;
how long a later one takes; and how long until cells run again after one was ended. No network is slowed: over
one, the 7 MB of Pyodide come on top.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.pages import SITE, served
from tools.find_chromium import ADVICE, installed

PAGE = "book/03_queries_keys_values.html"
FIRST = "import torch\nprint(torch.tensor([0.0, 4.0, 0.0]).softmax(0))"
LATER = "q, k, v = torch.randn(3, 6, 8)\n(q @ k.mT / 8**0.5).softmax(-1) @ v"
ENDLESS = "while True: pass"


def seconds(what: Callable[[], object]) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    what()
    return time.perf_counter() - started


def run(page: Page, source: str) -> None:
    """Run a cell, which must not fail."""
    error = page.evaluate("async (source) => (await pa.python.run(source)).error", source)
    if error and error["name"] != "Stopped":
        raise RuntimeError(error["text"])


def stop(page: Page) -> None:
    """Run a loop without an end, and stop it."""
    page.evaluate(
        "(source) => { setTimeout(() => pa.python.stop(), 500); return pa.python.run(source); }", ENDLESS
    )


def measured(browser: Browser, address: str) -> tuple[float, float, float]:
    """Return the seconds of a first run, of a later one, and of one after a stop, in a fresh window."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/{PAGE}")
    first = seconds(lambda: run(page, FIRST))
    later = median(seconds(lambda: run(page, LATER)) for _ in range(9))
    stop(page)
    again = seconds(lambda: run(page, LATER))
    context.close()
    return first, later, again


def main() -> None:
    """Print a line for each way to open the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="how often; the median is told")
    times = parser.parse_args().times
    path = installed()
    if path is None:
        raise SystemExit(ADVICE)
    with served(SITE) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, where in (("over http", address), ("from the disk", SITE.as_uri())):
            rows = [measured(browser, where) for _ in range(times)]
            first, later, again = (median(column) for column in zip(*rows, strict=True))
            print(f"{name:14} first {first:6.1f} s   later {later:6.3f} s   after a stop {again:6.1f} s")
        browser.close()


if __name__ == "__main__":
    main()
