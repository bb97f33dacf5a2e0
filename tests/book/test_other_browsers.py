"""The landing page, a chapter and every explorable in Firefox and in WebKit: over http, and from the disk."""

import functools
import http.server
import re
import shutil
import threading

import pytest

from tests.book import ROOT
from tests.book.conftest import Quiet
from tests.book.firefox import firefox
from tests.book.webkit import webkit
from tools.find_other_browsers import ADVICE, installable, installed

START = {"firefox": firefox, "webkit": webkit}
EXPLORABLES = {
    "book/index": {"plane", "writer"},
    "book/01_rnn_bottleneck": {"decay", "fixed", "quiz"},
    "book/02_word_vectors": {"analogy", "quiz"},
    "book/03_queries_keys_values": {"plane", "quiz"},
    "book/04_sqrt_dk": {"quiz", "scaling"},
    "book/05_multi_head": {"averages", "heads", "quiz"},
    "book/06_causal_masks": {"masks", "quiz"},
    "book/07_complexity": {"cost", "quiz", "tiles"},
    "book/08_positions": {"clock", "quiz"},
    "book/09_transformer": {"quiz", "writer"},
    "book/putting_it_together": {"layer", "learned", "learning"},
    "book/common_mistakes": {"bugs"},
}
WHOLE = ["book/index", "book/03_queries_keys_values"]
OTHERS = [name for name in EXPLORABLES if name not in WHOLE]

# stands first in every page: what goes wrong is noted alike in both browsers, one of which tells its driver nothing
WATCH = """<script>
window.trouble = [];
for (const kind of ["error", "warn"]) {
  const said = console[kind];
  console[kind] = (...words) => { trouble.push(words.join(" ")); said.apply(console, words); };
}
addEventListener("error", (event) => trouble.push(event.message ?? `not loaded: ${event.target.outerHTML}`), true);
addEventListener("unhandledrejection", (event) => trouble.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => trouble.push(`against the policy: ${event.blockedURI}`));
</script>"""
# for a page that is opened for its explorables alone: neither set nor drawn is what takes its time
FORMULAS = re.compile(r"<script[^>]* src=[^>]*/mathjax/[^>]*></script>")
BARE = """<style>
.cell_input, .pa-figure, article :is(p, li):not(.pa-widget *) { display: none !important; }
</style>"""
READY = """async () => {
  const waiting = () => [...document.querySelectorAll(".static-widget")].some((one) => one.dataset.widgetState !== "ready");
  for (let tries = 0; waiting() && tries < 200; tries++) await new Promise((later) => setTimeout(later, 50));
  await window.MathJax?.startup?.promise;
}"""


@pytest.fixture(scope="module")
def watched(site, tmp_path_factory):
    """The built book once more, each page watched from its first line; over http and from the disk."""
    copy = shutil.copytree(site, tmp_path_factory.mktemp("watched") / "html")
    for name in EXPLORABLES:
        page = copy / f"{name}.html"
        text = page.read_text("utf8")
        assert text.count("<head>") == 1
        if name in OTHERS:
            text = FORMULAS.sub("", text).replace("<head>", f"<head>{BARE}")
        page.write_text(text.replace("<head>", f"<head>{WATCH}"), "utf8")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=copy))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"http": f"http://127.0.0.1:{server.server_port}", "file": copy.as_uri()}
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session", params=START)
def browser(request):
    """A browser that is not Chromium. Where `make test` can install it, it must be there."""
    path = installed(request.param)
    if not path:
        (pytest.fail if installable() else pytest.skip)(ADVICE[request.param])
    with START[request.param](path) as started:
        started.resize(1280, 900)
        yield started


def opened(browser, watched, name, how):
    """A page whose explorables are awake and whose formulas are set."""
    browser.name, browser.home = name, watched[how]
    browser.go(f"{browser.home}/{name}.html")
    browser.run(READY)
    return browser


@pytest.fixture(
    scope="module", params=[(name, how) for name in WHOLE for how in ("http", "file")], ids="-".join
)
def page(request, browser, watched):
    """The landing page or a chapter; the tests that look at it share one visit."""
    return opened(browser, watched, *request.param)


def test_all_explorables_are_visited():
    parts = {"common", "halves", "sentence_field", "two_rows", "writer_model"}  # of front ends
    front_ends = {path.stem for path in (ROOT / "attnlib/widgets/static").glob("*.js")} - parts
    assert set.union(*EXPLORABLES.values()) == front_ends


# What an explorable shows besides its controls, as one text. A quiz shows what it says to an answer in a status.
SHOWN = """(name) => {
  const copy = document.querySelector(`.pa-${name}`).cloneNode(true);
  if (name !== "quiz") copy.querySelectorAll("label, [role=status]").forEach((one) => one.remove());
  return copy.textContent + [...copy.querySelectorAll("*")].map((one) => Object.values({ ...one.dataset }).join() + one.getAttribute("d")).join();
}"""
# The first control that can be changed gets the focus; the answer is the key that changes it.
FOCUS = """(name) => {
  const root = document.querySelector(`.pa-${name}`);
  const kinds = { "input[type=radio]:not(:checked)": () => "Space",
    "input[type=range]": (one) => (one.value === one.max ? "ArrowLeft" : "ArrowRight"), "input[type=checkbox]": () => "Space",
    "button:not([aria-expanded])": () => "Space" };   // one that only opens a list changes nothing else
  for (const [kind, key] of Object.entries(kinds)) {
    const control = [...root.querySelectorAll(kind)].find((one) => one.checkVisibility() && !one.disabled);
    if (!control) continue;
    control.focus();
    return key(control);
  }
}"""
# Where a button with these words is on the screen.
PLACE = """(name, words) => {
  const button = [...document.querySelectorAll(`.pa-${name} button`)].find((one) => one.textContent.trim() === words);
  button.scrollIntoView({ block: "center", behavior: "instant" });
  const box = button.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
KEYS = {"ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Space": " "}


def assert_explorables_answer(page):
    found = page.run(
        "() => [...document.querySelectorAll('.static-widget .pa-widget')].map((one) => one.classList[1])"
    )
    assert {name.removeprefix("pa-") for name in found} == EXPLORABLES[page.name]
    for name in EXPLORABLES[page.name]:
        before = page.run(SHOWN, name)
        page.press(KEYS[page.run(FOCUS, name)])
        if name == "quiz":
            page.click(*page.run(PLACE, name, "Check"))
        after = page.run(SHOWN, name)
        assert re.search(r"Right\.|Not quite\.", after) if name == "quiz" else after != before, name
        page.click(*page.run(PLACE, name, "Start over" if name == "quiz" else "Reset"))
        assert page.run(SHOWN, name) == before, name


def assert_no_complaint(page):
    asked = page.run("() => performance.getEntriesByType('resource').map((one) => one.name)")
    assert [url for url in asked if not url.startswith((page.home, "data:", "blob:"))] == []
    assert page.run("() => trouble") == []


def test_explorables_answer_to_keys_and_to_the_mouse(page):
    assert_explorables_answer(page)


@pytest.mark.parametrize("name", OTHERS)
def test_explorables_of_the_other_chapters_answer_from_the_disk(browser, watched, name):
    page = opened(browser, watched, name, "file")
    assert_explorables_answer(page)
    assert_no_complaint(page)


def test_names_of_choices_stand_beside_them(page):
    rows = page.run(
        """() => [...document.querySelectorAll(".pa-plane .pa-choice")].map((row) => {
          const name = document.createRange();
          name.selectNodeContents(row.querySelector("legend"));
          return [name.getBoundingClientRect().right, row.querySelector("label").getBoundingClientRect().left];
        })"""
    )
    assert len(rows) == 2
    assert all(right <= left for right, left in rows)


def test_heads_of_arrows_have_the_colour_of_their_lines(page):
    page.run(
        "() => [...document.querySelectorAll('.pa-plane .pa-switch input')].at(-1).click()"
    )  # turns the queries
    arrows = page.run(
        """() => ["step", "q"].map((kind) => [document.querySelector(`.pa-plane .pa-${kind}-head`), document.querySelector(`.pa-plane .pa-${kind}`)])
          .map(([head, line]) => [head.getBBox().width > 5 && getComputedStyle(head).fill, getComputedStyle(line).stroke])"""
    )
    assert all(head == line for head, line in arrows)


def test_formulas_are_set(page):
    unset = page.run(
        """() => [...document.querySelectorAll("article .math")].filter((one) => {
          const set = one.querySelector("mjx-container");   // in a closed fold it has no width yet
          return !set || (set.checkVisibility() && set.getBoundingClientRect().width === 0);
        }).map((one) => one.textContent)"""
    )
    assert unset == []
    assert not re.search(r"\\\(|\\\[", page.run("() => document.querySelector('article').innerText"))


def test_nothing_scrolls_sideways(page):
    page.run("() => scrollTo(500, 0)")
    assert page.run("() => [scrollX, document.documentElement.scrollWidth > innerWidth]") == [0, False]


def test_no_request_leaves_and_nothing_complains(page):
    assert_no_complaint(page)
