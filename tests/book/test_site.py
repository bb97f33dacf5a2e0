"""Every page of the built book, in Chromium: nothing leaves it, nothing breaks, everyone can use it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.book import CHAPTERS, PAGES

pages = pytest.mark.parametrize("name", PAGES)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pages
@pytest.mark.parametrize("how", ["http", "file"])
def test_no_request_leaves_and_no_error_is_logged(visit, name, how):
    page = visit(name, how)
    assert page.trouble == []
    assert page.locator("article h1").count() == 1


@pages
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = Axe().run(page, options={"runOnly": tags}).response["violations"]
    assert [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found] == []


@pages
def test_nothing_scrolls_sideways_on_a_phone(visit, name):
    page = visit(name, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("window.scrollTo(500, 0)")
    assert page.evaluate("window.scrollX") == 0


@pages
def test_formulas_are_set_and_widgets_live(visit, name):
    page = visit(name)
    text = page.locator("article").inner_text()
    assert not re.search(r"\\\(|\\\[|\{cite|\{doc\}", text)
    states = page.eval_on_selector_all(".static-widget", "nodes => nodes.map(n => n.dataset.widgetState)")
    assert set(states) <= {"ready"}


@pages
def test_the_source_stays_out_of_alt_texts(visit, name):
    page = visit(name)
    for alt in page.eval_on_selector_all("article img", "images => images.map(i => i.alt)"):
        assert alt
        assert "_images/" not in alt


def test_the_first_screen_has_a_live_explorable(visit):
    page = visit(PAGES[0])
    box = page.locator(".pa-plane .pa-canvas").bounding_box()
    assert box["y"] + box["height"] < 900


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_links_to_claims_arrive_at_them(visit, path):
    page = visit("book/claims")
    links = page.locator("ul.claims a").evaluate_all("links => links.map(a => a.href)")
    assert len(links) >= 10
    own = [link for link in links if f"/book/{path.stem}.html" in link]
    chapter = visit(f"book/{path.stem}")
    ids = set(chapter.eval_on_selector_all("[id^=claim-]", "nodes => nodes.map(n => n.id)"))
    assert {link.partition("#")[2] for link in own} == ids
