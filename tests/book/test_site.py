"""Every page of the built book, in Chromium: nothing leaves it, nothing breaks, everyone can use it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from attnlib.learn import bank
from tests.book import CHAPTERS, PAGES, ROOT
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


# Figures


SIZES = """() => [...document.querySelectorAll('svg.pa-figure')].map((svg) => {
  const letters = [...svg.querySelectorAll('text, tspan')].filter((one) =>
    [...one.childNodes].some((part) => part.nodeType === Node.TEXT_NODE && part.data.trim()));
  const to = svg.getScreenCTM();
  const size = (one) => parseFloat(getComputedStyle(one).fontSize) * Math.hypot(to.a, to.b);
  const sizes = letters.map(size);
  // what is raised or lowered is smaller than its line
  const lines = [...new Set(letters.map((one) => one.closest('text')))].map((line) =>
    Math.max(...letters.filter((one) => line.contains(one)).map(size)));
  const box = svg.parentElement.getBoundingClientRect();   // its frame, in which it may scroll
  const fonts = new Set(letters.map((one) => getComputedStyle(one).fontFamily.split(',')[0]));
  return {line: Math.min(...lines), smallest: Math.min(...sizes), largest: Math.max(...sizes), left: box.left, right: box.right,
    label: svg.getAttribute('aria-label'), fonts: [...fonts], ink: getComputedStyle(letters[0]).fill};
})"""


def test_figures_are_legible_wide_and_on_a_phone_and_follow_the_theme(dark):
    path = ROOT / dark.url[dark.url.index("/book/") + 1 :].replace(".html", ".ipynb")
    stored = path.exists() and "image/svg+xml" in path.read_text("utf8")
    at_night = dark.evaluate(SIZES)
    dark.set_viewport_size({"width": 390, "height": 844})
    phone = dark.evaluate(SIZES)
    dark.set_viewport_size({"width": 1280, "height": 900})
    dark.emulate_media(color_scheme="light")
    dark.wait_for_function("document.documentElement.dataset.theme === 'light'")
    wide = dark.evaluate(SIZES)
    assert len(wide) == len(at_night) == len(phone)
    assert bool(wide) == stored
    for figure in wide:
        assert 9 <= figure["smallest"] <= figure["largest"] <= 1.3 * 14, figure  # a wide page enlarges them
        assert figure["label"]
        assert all(font.startswith('"Book ') for font in figure["fonts"]), figure
    for lit, other in zip(wide, at_night, strict=True):
        assert lit["ink"] != other["ink"]
    for figure in [one for one in phone if one["right"] > one["left"]]:  # what is veiled has no size
        assert figure["line"] >= 10.95, figure
        assert figure["left"] >= 0
        assert figure["right"] <= 390


# Quizzes

# choose and check every option of every question, in the order given; what the page says to each
ANSWER = """(quiz, order) => order.map((options, i) => {
  const item = quiz.querySelectorAll("ol > li")[i];
  return options.map((j) => {
    item.querySelectorAll("input")[j].click();
    item.querySelector("button").click();
    return item.querySelector("[role=status]").innerText;
  });
})"""


def right_one(question):
    return [option.get("right", False) for option in question["option"]].index(True)


def total(quiz):
    return quiz.locator(".pa-total").inner_text()


def test_the_quiz_of_a_chapter_has_a_word_on_every_option_and_counts_first_answers(wide):
    quiz, chapter = wide.locator(".pa-quiz"), re.search(r"/book/0(\d)_", wide.url)
    if not chapter:
        assert quiz.count() == 0
        return
    questions = bank.quiz_data(chapter[1])["question"]
    assert quiz.locator("ol > li").count() == len(questions)
    assert total(quiz) == f"{len(questions)} questions."
    order = [sorted(range(len(q["option"])), key=lambda j, q=q: j != right_one(q)) for q in questions]
    said = quiz.evaluate(ANSWER, order)
    for question, options, words in zip(questions, order, said, strict=True):
        for j, word in zip(options, words, strict=True):
            assert word.startswith("Right." if j == right_one(question) else "Not quite.")
            assert question["option"][j]["feedback"].replace("`", "").replace("*", "") in word
    assert total(quiz) == f"{len(questions)} of {len(questions)} right at the first try."
    quiz.get_by_role("button", name="Start over").click()
    assert wide.trouble == []


def test_a_quiz_is_answered_by_keyboard_alone_remembers_first_answers_and_starts_over(alone):
    page, questions = alone("book/03_queries_keys_values", "file"), bank.quiz_data("3")["question"]
    quiz, n, right = page.locator(".pa-quiz"), len(questions), right_one(questions[-1])
    item = quiz.locator("ol > li").last
    button = item.get_by_role("button", name="Check")
    button.press("Enter")
    assert "Choose an answer first" in item.locator("[role=status]").inner_text()
    for option, word in ((int(right == 0), "Not quite."), (right, "Right.")):  # the first try counts
        item.locator("input").nth(option).press("Space")
        button.press("Enter")
        assert item.locator("[role=status]").inner_text().startswith(word)
    for again in (False, True):
        assert total(quiz) == f"0 of {n} right at the first try, {n - 1} to go."
        if not again:
            page.reload(wait_until="load")
            page.wait_for_selector(".pa-quiz .pa-wrong")
    quiz.get_by_role("button", name="Start over").click()
    assert total(quiz) == f"{n} questions."
    assert page.trouble == []


# Everyone can use it


OPENED = """() => {
    document.querySelectorAll("details").forEach((d) => (d.open = true));
    document.querySelectorAll(".pa-guess").forEach((c) => c.dispatchEvent(new Event("pa-open")));
}"""
# the colours of code are the theme's, thousands of words of it, and formulas are thousands of signs that only eyes
# see: one page stands for all; so do two entries of a section of the reference for the others, which one template makes
SHORTENED = """() => {
    document.querySelectorAll(".highlight pre").forEach((code) => (code.textContent = code.textContent));
    document.querySelectorAll("mjx-math").forEach((formula) => formula.replaceChildren());
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


def test_axe_finds_no_violation(wide):
    assert wide.evaluate("document.documentElement.dataset.theme") == "light"
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    assert violations(wide, runOnly=tags) == []


def test_axe_finds_no_low_contrast_in_the_dark(dark):
    assert dark.trouble == []
    assert dark.evaluate("document.documentElement.dataset.theme") == "dark"
    if "/solutions/" in dark.url:
        return  # of the same parts as the chapters
    rules = ["color-contrast", "link-in-text-block"]  # all else is as in the light
    assert violations(dark, runOnly={"type": "rule", "values": rules}) == []


def test_no_request_leaves_a_page_opened_from_the_disk(phone):
    assert phone.trouble == []
    assert phone.locator("article h1").count() == 1


CUT = """() => [...document.querySelectorAll("figure, .pa-drawn")].filter((drawn) => {
    const late = [...document.querySelectorAll("section")].find((one) =>
        getComputedStyle(one).contentVisibility === "auto" && one.contains(drawn));
    const [inner, outer] = [drawn, late ?? document.body].map((one) => one.getBoundingClientRect());
    return inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1);
}).length"""


def test_no_figure_is_cut_by_the_section_that_holds_it(phone):
    assert phone.evaluate(CUT) == 0


def test_no_comment_of_code_runs_out_of_sight_on_a_phone(phone):
    outside = """[...document.querySelectorAll(".highlight pre .c1")].filter((comment) => comment.checkVisibility()
        && comment.getBoundingClientRect().right > comment.closest("pre").getBoundingClientRect().right + 1)"""
    phone.wait_for_function(f"{outside}.length === 0")


def test_a_long_comment_stands_above_its_line_on_a_phone_and_behind_it_when_it_is_turned(alone):
    page = alone("book/06_causal_masks", "file", **PHONE)
    upright = "# row: (B, T), letters as numbers\\ndef write("
    begins = "[...document.querySelectorAll('pre')].some((pre) => pre.innerText.startsWith('{}'))"
    page.wait_for_function(begins.format(upright))
    page.set_viewport_size({"width": 844, "height": 390})
    turned = "def write(model, row, n):  # row: (B, T), letters as numbers\\n"
    page.wait_for_function(begins.format(turned))
    page.set_viewport_size(PHONE["viewport"])
    page.wait_for_function(begins.format(upright))


def test_nothing_scrolls_sideways_on_a_phone(phone):
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.evaluate("window.scrollTo(500, 0)")
    assert phone.evaluate("window.scrollX") == 0


def test_the_first_screen_has_a_live_explorable_and_a_button_to_begin(alone):
    page = alone(PAGES[0])
    box = page.locator(".pa-plane .pa-canvas").bounding_box()
    assert box["y"] + box["height"] < 900
    button = page.get_by_role("link", name="Start with chapter 1")
    assert button.bounding_box()["y"] < 400
    page.set_viewport_size(PHONE["viewport"])
    assert button.bounding_box()["y"] < 500
    button.click()
    assert "/book/01_" in page.url


def test_figures_count_by_chapter_in_the_order_of_their_page(wide):
    captions = wide.locator(".caption-number").all_text_contents()
    chapter = re.search(r"book/0?(\d+)_\w+\.html", wide.url)
    begin = f"Fig. {chapter[1]}." if chapter else "Fig. "
    numbers = [text.strip().removeprefix(begin) for text in captions]
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]


def test_a_page_leads_to_the_one_before_and_the_one_after_by_their_titles(wide, site):
    at = PAGES.index(re.search(r"/(book/.+)\.html", wide.url)[1])
    around = PAGES[max(at - 1, 0) : at] + PAGES[at + 1 : at + 2]
    links = wide.locator(".prev-next-area a").evaluate_all(
        "all => all.map((a) => [a.href, a.querySelector('.prev-next-title').innerText])"
    )
    assert [re.search(r"/(book/.+)\.html", to)[1] for to, _ in links] == around
    for page, (_, title) in zip(around, links, strict=True):
        heading = re.search(r"<h1>(.+?)<a class=.headerlink", (site / f"{page}.html").read_text("utf8"))
        assert title == heading[1]


def test_the_cards_say_the_minutes_of_their_pages_and_their_exercises(site):
    index = (site / "book/index.html").read_text("utf8")
    cards = re.findall(r'sd-card-footer[^>]*>(.*?)</div>.*?href="(\w+)\.html"', index, re.S)
    said = {page: re.sub(r"<[^>]+>|\s+", " ", text).split() for text, page in cards}
    assert len(said) == len(CHAPTERS) + 4  # and the pages without exercises
    for page, words in said.items():
        html = (site / "book" / f"{page}.html").read_text("utf8")
        assert re.search(r"About (\d+) minutes? to read", html)[1] == words[0], page
    for path in CHAPTERS:
        own = [one for id, one in bank.exercises().items() if id.split(".")[0] == path.name[1]]
        assert said[path.stem][2:4] == [str(len(own)), "exercises,"]
        assert said[path.stem][4:] == [str(sum(one.minutes for one in own)), "minutes"]


def test_the_map_leads_to_every_chapter_and_is_legible_on_a_phone(alone):
    page = alone("book/how_to_use", "file", **PHONE)
    links = page.locator("svg.pa-map a")
    to = links.evaluate_all("all => all.map((a) => a.href.baseVal.replace('.html', ''))")
    assert to == [path.stem for path in CHAPTERS]
    for size in page.locator("svg.pa-map text").evaluate_all(
        "all => all.map((t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a)"
    ):
        assert size >= 11
    for link in links.all():
        assert link.bounding_box()["x"] + link.bounding_box()["width"] <= 390
        assert link.bounding_box()["height"] >= 44


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
    there = set(wide.eval_on_selector_all("[id^=claim-]", "nodes => nodes.map(n => n.id)"))
    assert own == (set() if "/solutions/" in wide.url else there)  # answers are not given away
