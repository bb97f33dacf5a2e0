"""The search by section: what is in its index, what is found first, and how one gets there."""

import json
import re
from functools import cache

import pytest
from axe_playwright_python.sync_playwright import Axe

from paying_attention.site.linear_tex import linear
from tests.book.conftest import visits

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CHAPTER_4 = "book/04_sqrt_dk.html"

FIRST = {  # what is typed, and how the address of the first hit begins
    "softmax": "book/glossary.html#softmax",
    "sofmax": "book/glossary.html#softmax",
    "soft max": "book/glossary.html#softmax",
    "embeddings": "book/glossary.html#embedding",
    "queries": "book/glossary.html#query",
    "what is attention": "book/what_attention_is.html#",
    "bottelneck": "book/glossary.html#bottleneck",
    "grouped query": "book/glossary.html#grouped-query-attention",
    "KV": "book/glossary.html#kv-cache",
    "KVCache": "book/library.html#attnlib.KVCache",
    "causal masks": "book/06_causal_masks.html#",
    "causal_mask": "book/library.html#attnlib.causal_mask",
    "sqrt(d_k)": f"{CHAPTER_4}#",
    "√d": f"{CHAPTER_4}#",
    "why divide by the root of d": f"{CHAPTER_4}#",
    "W_Q": "book/notation.html#",
    "H_kv": "book/notation.html#",
    "king - man + woman": "book/02_word_vectors.html#",
    "exercise 4.3": "book/exercises/04_sqrt_dk.html#exercise-4-3-",
    "attention is all you need": "book/references.html#vaswani2017",
}

ADDRESSES = """async (queries) => {
  const first = async (query) => (await window.pa.search(query))[0]?.entry;
  const found = await Promise.all(queries.map(first));
  return found.map((entry) => entry && `${entry.page[0]}#${entry.anchor}`);
}"""


def index_in(folder):
    """The index of a built book: pages, and entries as dictionaries."""
    script = (folder / "_static" / "search_index.js").read_text("utf8")
    index = json.loads(script.removeprefix("window.paSearchIndex = ").removesuffix(";\n"))
    pages = [address for address, _ in index["pages"]]
    names = ("page", "anchor", "heading", "kind", "text")
    return [dict(zip(names, [pages[at], *rest], strict=True)) for at, *rest in index["entries"]]


def entry_of(small, heading):
    return next(entry for entry in index_in(small) if entry["heading"] == heading)


# The index


@pytest.mark.parametrize(
    ("tex", "line"),
    [
        (r"\sqrt{d_k}", "√d_{k}"),
        (r"\sqrt{24^2 + 7^2}", "√(24^{2} + 7^{2})"),
        (r"\frac{{\color{#1d5c96}{q}} \cdot k}{\sqrt d}", "(q · k)/√d"),
        (r"\operatorname{softmax}\!\left(QK^{\mathsf{T}}\right)\,V", "softmax(QK^{T}) V"),
        (r"\tfrac12\log_2\lVert x\rVert", "1/2 log_{2}‖x‖"),
        (r"x_\text{man} \approx \sigma, \Delta", "x_{man} ≈ σ, Δ"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "1 2 ; 3 4"),
    ],
)
def test_a_formula_is_readable_on_one_line(tex, line):
    assert linear(tex) == line


def test_the_index_holds_what_is_read_and_neither_code_nor_outputs(small):
    said = " ".join(entry["text"] for entry in index_in(small))
    for read in (
        "Nine words stand",
        "Five seeds",
        "A pixel",
        "A quarter is not much",
        "forty-four",
        "How much?",
    ):
        assert read in said, read
    for hidden in ("train()", "import torch", "draw()", "check(", "A red pixel", "Not attempted", "<", "\\"):
        assert hidden not in said, hidden


def test_sections_terms_and_sources_are_entries_with_their_own_words(small):
    assert entry_of(small, "Small")["anchor"] == ""
    assert entry_of(small, "Softmax") == {
        "page": "glossary.html",
        "anchor": "softmax",
        "heading": "Softmax",
        "kind": "term",
        "text": "Numbers that sum to ⟦1⟧.",
    }
    deeper = entry_of(small, "Going deeper: Why a quarter?")
    assert deeper["text"] == "These words are not counted either.\nNor is this note."
    assert "not counted either" not in entry_of(small, "A guess")["text"]
    assert "⟦Q O⟧, too, is in colour." in entry_of(small, "A guess")["text"]
    source = entry_of(small, "Elman (1990)")
    assert source["kind"] == "source"
    assert "Finding Structure in Time" in source["text"]


def test_every_entry_leads_to_a_place_of_its_page(site):
    @cache
    def ids(page):
        return set(re.findall(r'\bid="([^"]+)"', (site / page).read_text("utf8")))

    entries = index_in(site)
    assert {entry["kind"] for entry in entries} >= {
        "page",
        "section",
        "exercise",
        "term",
        "name",
        "source",
        "claim",
    }
    lost = [
        e["page"] + "#" + e["anchor"] for e in entries if e["anchor"] and e["anchor"] not in ids(e["page"])
    ]
    assert lost == []


def test_no_page_carries_an_index(small):
    for page in small.rglob("*.html"):
        assert not re.search(r"searchtools|searchindex|search_index|sphinx_highlight", page.read_text("utf8"))
    assert not (small / "searchindex.js").exists()


# What is found


def test_twenty_queries_find_first_what_was_meant(visit):
    page = visit("search", "file")
    found = dict(zip(FIRST, page.evaluate(ADDRESSES, list(FIRST)), strict=True))
    assert {query: at for query, at in found.items() if not (at or "").startswith(FIRST[query])} == {}
    assert page.trouble == []


# How one gets there


@pytest.fixture
def read(chromium, small):
    """Open a page of the small book, from the disk."""
    with visits(chromium, {"file": small.as_uri()}) as open_page:
        yield lambda name="small", **options: open_page(name, "file", **options)


def ask(page, words):
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").fill(words)
    page.locator(".pa-hits a").first.wait_for()


def go(page, words):
    """Search and take the first hit."""
    ask(page, words)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.locator(".pa-found").first.wait_for(state="attached")


def axe(page):
    options = {"runOnly": ALL_RULES, "resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, None, options).response["violations"]
    return [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found]


def test_results_come_while_typing_and_are_reached_by_keyboard_alone(read):
    page = read("other")
    button = page.locator(".search-button__button").locator("visible=true").first
    button.focus()
    assert page.evaluate("window.paSearchIndex") is None
    ask(page, "quarter")
    field, links = page.locator("#pst-search-dialog input"), page.locator(".pa-hits a")
    status = page.locator("#pst-search-dialog [role=status]")
    page.wait_for_function("document.querySelector('[role=status].pa-count').textContent")
    assert status.inner_text() == f"{links.count()} places found."
    assert links.count() > 1
    assert links.first.locator("mark").count() > 0

    for pressed, at in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0)):
        page.keyboard.press(pressed)
        assert links.nth(at).evaluate("link => link === document.activeElement")
    page.keyboard.press("ArrowUp")
    assert field.evaluate("input => input === document.activeElement")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("x")
    assert field.input_value() == "quarterx"

    field.fill("zzzzz")
    page.wait_for_function("document.querySelector('.pa-count').textContent.startsWith('Nothing')")
    assert links.count() == 0
    page.keyboard.press("Escape")
    assert not field.is_visible()
    assert button.evaluate("node => node === document.activeElement")
    assert page.trouble == []


def test_excerpts_set_formulas_and_everyone_can_use_the_dialog(read):
    page = read("small", color_scheme="light")
    ask(page, "sum softmax")
    hit = page.locator(".pa-hits a").first
    assert hit.locator(".pa-hit-title").inner_text() == "Softmax"
    assert hit.locator(".pa-formula").inner_text() == "1"
    assert "⟦" not in page.locator(".pa-hits").inner_text()
    assert axe(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert axe(page) == []


def test_one_arrives_at_the_marked_words_in_what_was_folded(read):
    page = read()
    for words, marked in (
        ("counted either", ["counted", "either"]),  # in a section that is folded
        ("forty-four", ["forty", "four"]),  # in the answer to a guess
        ("five seeds", ["Five", "seeds"]),  # in a note in the margin
        ("nearly everything", ["nearly", "everything"]),  # in a choice of a guess
    ):
        go(page, words)
        assert page.locator("mark.pa-found").all_inner_texts() == marked
        assert page.locator("mark.pa-found").first.is_visible()
        assert page.evaluate(
            "() => { const box = document.querySelector('.pa-found').getBoundingClientRect();"
            " return box.top >= 0 && box.bottom <= innerHeight }"
        )
        assert "found=" not in page.url
        page.keyboard.press("Escape")
        assert page.locator("mark.pa-found").count() == 0
    assert page.locator(".pa-asking").count() == 2  # what is asked may be found, and stays a question
    go(page, "a whole network")
    assert page.url.endswith("01_rnn_bottleneck.html#exercise-1-1-a-whole-network")
    go(page, "elman structure")
    assert page.url.endswith("references.html#elman1990")
    assert page.trouble == []


def test_the_dialog_fits_a_phone(read):
    page = read("small", **PHONE)
    page.locator(".search-button__button").locator("visible=true").first.tap()
    page.locator("#pst-search-dialog input").fill("quarter")
    page.locator(".pa-hits a").first.wait_for()
    box = page.locator(".pa-search").locator("visible=true").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.locator(".pa-hits a").first.bounding_box()["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_page_of_the_search_answers_an_address_and_says_what_it_needs(read, chromium, small):
    page = read("search")
    page.goto(f"{small.as_uri()}/search.html?q=quarter")
    page.locator("main .pa-hits a").first.wait_for()
    assert page.locator("main input").input_value() == "quarter"
    assert axe(page) == []
    plain = chromium.new_page(java_script_enabled=False)
    plain.goto(f"{small.as_uri()}/search.html")
    assert "scripts are switched off" in plain.locator("main").inner_text()
    assert not plain.locator("main form").is_visible()
    plain.close()
