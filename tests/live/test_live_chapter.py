"""The live cells of chapter 3 in the built book, from the disk and without a network, with the page's own Python."""

import pytest

from tests.book import CHAPTERS
from tests.book.conftest import visits
from tests.live.test_live_cells import cells_of, run

FIRST, LATER = 120_000, 15_000  # ms, on a machine that does much else


@pytest.fixture
def chapter(chromium, address):
    """Chapter 3, opened from the disk."""
    with visits(chromium, address) as open_page:
        page = open_page("book/03_queries_keys_values", "file")
        if page.evaluate("pa.python.status") == "missing":
            pytest.skip(page.evaluate("pa.python.missing"))
        yield page


def own(page, n, timeout):
    """Run a cell, and return what it shows of its own run."""
    page.locator(".pa-cell-bar .pa-run").nth(n).click()
    output = page.locator(".pa-own").nth(n)
    output.locator("pre").wait_for(timeout=timeout)
    return output.locator("pre").inner_text()


def test_its_cells_run_from_the_last_to_the_first(chapter):
    told = [about for _, about in cells_of(CHAPTERS[2]) if about]
    sources = [source for about in told for source in (*about["setup"], about["source"])]
    expected = {source: text for source, (text, *_) in zip(sources, run(sources), strict=True)}
    last = len(told) - 1
    assert own(chapter, last, FIRST).strip() == expected[told[last]["source"]].strip()
    for n in range(last):
        assert own(chapter, n, LATER).strip() == expected[told[n]["source"]].strip()
    assert chapter.locator(".pa-own .pa-bad").count() == 0
    assert chapter.trouble == []
