"""Every page of the built book, in Chromium: nothing leaves it, nothing breaks, everyone can use it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.book import PAGES
from tests.book.conftest import visits

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def tabs(chromium, address):
    """One window for each way to look at the book."""
    with visits(chromium, address, shared=True) as open_page:
        yield open_page


@pytest.fixture(scope="module", params=PAGES)
def wide(request, tabs):
    """Each page over http, wide and light; the tests that look at it share one visit."""
    page = tabs(request.param, color_scheme="light")
    yield page
    page.close()


@pytest.fixture
def dark(wide):
    """The same visit after nightfall."""
    for scheme in ("dark", "light"):
        wide.emulate_media(color_scheme=scheme)
        wide.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        wide.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")
        if scheme == "dark":
            yield wide


@pytest.fixture(scope="module", params=PAGES)
def phone(request, tabs):
    """Each page from the disk, on a phone."""
    page = tabs(request.param, "file", **PHONE)
    yield page
    page.close()


OPENED = """() => {
    document.querySelectorAll("details").forEach((d) => (d.open = true));
    document.querySelectorAll(".pa-guess").forEach((c) => c.dispatchEvent(new Event("pa-open")));
}"""
# the colours of code are the theme's, thousands of words of it: one page stands for all;
# so do two entries of a section of the reference for the others, which one template makes
SHORTENED = """() => {
    document.querySelectorAll(".highlight pre").forEach((code) => (code.textContent = code.textContent));
    document.querySelectorAll("section > dl.py:nth-of-type(n+3)").forEach((entry) => entry.remove());
}"""


def violations(page, **only):
    """What axe finds on a page with all folds and guesses open."""
    page.evaluate(OPENED)
    if "03_queries_keys_values" not in page.url:
        page.evaluate(SHORTENED)
    options = {**only, "resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, options=options).response["violations"]
    return [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found]


def test_no_request_leaves_and_no_error_is_logged(wide):
    assert wide.trouble == []
    assert wide.locator("article h1").count() == 1


def test_formulas_are_set_and_widgets_live(wide):
    text = wide.locator("article").inner_text()
    assert not re.search(r"\\\(|\\\[|\{cite|\{doc\}", text)
    states = wide.eval_on_selector_all(".static-widget", "nodes => nodes.map(n => n.dataset.widgetState)")
    assert set(states) <= {"ready"}


def test_the_source_stays_out_of_alt_texts(wide):
    for alt in wide.eval_on_selector_all("article img", "images => images.map(i => i.alt)"):
        assert alt
        assert "_images/" not in alt


def test_axe_finds_no_violation(wide):
    assert wide.evaluate("document.documentElement.dataset.theme") == "light"
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    assert violations(wide, runOnly=tags) == []


def test_axe_finds_no_low_contrast_in_the_dark(dark):
    assert dark.trouble == []
    assert dark.evaluate("document.documentElement.dataset.theme") == "dark"
    rules = ["color-contrast", "link-in-text-block"]  # all else is as in the light
    assert violations(dark, runOnly={"type": "rule", "values": rules}) == []


def test_no_request_leaves_a_page_opened_from_the_disk(phone):
    assert phone.trouble == []
    assert phone.locator("article h1").count() == 1


def test_nothing_scrolls_sideways_on_a_phone(phone):
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.evaluate("window.scrollTo(500, 0)")
    assert phone.evaluate("window.scrollX") == 0


def test_the_first_screen_has_a_live_explorable(visit):
    page = visit(PAGES[0])
    box = page.locator(".pa-plane .pa-canvas").bounding_box()
    assert box["y"] + box["height"] < 900


@pytest.fixture(scope="module")
def claim_links(tabs):
    """Where the list of all claims leads."""
    page = tabs("book/claims", color_scheme="light")
    links = page.locator("ul.claims a").evaluate_all("links => links.map(a => a.href)")
    page.close()
    assert len(links) >= 10
    return links


def test_links_to_claims_arrive_at_them(wide, claim_links):
    own = {link.partition("#")[2] for link in claim_links if link.partition("#")[0] == wide.url}
    assert own == set(wide.eval_on_selector_all("[id^=claim-]", "nodes => nodes.map(n => n.id)"))
