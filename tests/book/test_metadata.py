"""What the built pages say of themselves, and what belongs to the site as a whole."""

import json
import re
import struct
from html import unescape
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from tests.book import CONFIG, PAGES

BASE = CONFIG["html"]["baseurl"]


@pytest.fixture(scope="module", params=PAGES)
def page(request, site):
    """The name of a page and its head."""
    return request.param, (site / f"{request.param}.html").read_text("utf8").partition("</head>")[0]


def content(head, name):
    (found,) = re.findall(rf'<meta (?:name|property)="{name}" content="([^"]*)"', head)
    return unescape(found)


def test_a_page_has_a_title_a_description_and_one_address(page):
    name, head = page
    assert re.search(r"<title>[^<]+</title>", head)
    assert 20 <= len(content(head, "description")) <= 210
    assert f'<link rel="canonical" href="{BASE}{name}.html" />' in head
    assert content(head, "og:url") == f"{BASE}{name}.html"
    assert content(head, "og:description") == content(head, "description")


def test_a_page_has_a_card_of_the_size_that_is_asked_for(page, site):
    name, head = page
    assert content(head, "og:image") == f"{BASE}{name}.png"
    card = (site / f"{name}.png").read_bytes()
    assert struct.unpack(">II", card[16:24]) == (1200, 630)


def test_structured_data_names_the_book_or_a_part_of_it(page):
    name, head = page
    data = json.loads(re.search(r'<script type="application/ld\+json">(.*?)</script>', head)[1])
    if name == PAGES[0]:
        assert data["@type"] == "Book"
    else:
        assert data["isPartOf"]["name"] == CONFIG["title"]
    if re.search(r"/0\d_", name) and "solutions" not in name:
        assert re.fullmatch(r"PT\d+M", data["timeRequired"])


def test_no_page_allows_another_host(page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page[1])[1]
    assert "http" not in policy
    assert "default-src 'self'" in policy


def test_the_sitemap_lists_every_page_once_and_robots_name_it(site):
    listed = [one.text for one in ElementTree.parse(site / "sitemap.xml").iter() if one.tag.endswith("loc")]
    assert sorted(listed) == sorted(f"{BASE}{name}.html" for name in PAGES)
    assert f"Sitemap: {BASE}sitemap.xml" in (site / "robots.txt").read_text("utf8")


def test_the_page_for_what_is_not_found_works_below_the_folder_of_the_site(site):
    text, folder = (site / "404.html").read_text("utf8"), urlsplit(BASE).path
    used = re.findall(r'(?:href|src)="(/[^"#?]*)', text)
    assert len(used) > 10
    for one in used:
        assert one.startswith(folder)
        assert (site / one.removeprefix(folder)).exists(), one
    here = re.findall(r'(?:href|src)="(?![/#]|https?:|data:|mailto:)([^"]*)', text)
    assert here == [], "addresses that depend on where they are read"


ASK_ELSEWHERE = """() => new Promise((done) => {
    addEventListener("securitypolicyviolation", (refused) => done(refused.blockedURI));
    new Image().src = "https://elsewhere.invalid/picture.png";
})"""


def test_every_page_keeps_its_own_policy(chromium, address):
    context = chromium.new_context()  # elsewhere the browser is told to let scripts of the tests through
    page, trouble = context.new_page(), []
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.goto(f"{address['file']}/{PAGES[0]}.html")
    assert page.evaluate(ASK_ELSEWHERE).startswith("https://elsewhere.invalid"), "no policy"
    trouble.clear()
    for name, how in [*((name, "file") for name in PAGES), (PAGES[0], "http"), (PAGES[5], "http")]:
        page.goto(f"{address[how]}/{name}.html", wait_until="load")
        for at in range(page.locator(".static-widget").count()):
            page.wait_for_selector(
                f":nth-match(.static-widget[data-widget-state=ready], {at + 1})", state="attached"
            )
    context.close()
    assert trouble == []
