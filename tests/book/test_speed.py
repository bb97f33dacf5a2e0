"""What was won for readers with slow networks, held by the built pages as files; no browser is needed."""

import gzip
import json
import re
from functools import cache
from html.parser import HTMLParser

import pytest

from paying_attention.light.light_page import used, words
from tests.book import CHAPTERS, PAGES

FORMULA = re.compile(r'class="(?:amsmath )?math notranslate')
MOST = 1_000_000
# hidden from a reader: what stands in closed parts of a page is still text, what a script reads is not
UNSEEN = re.compile(r"<(script|style|mjx-assistive-mml)\b.*?</\1>", re.DOTALL)


class Resources(HTMLParser):
    """Collect what a page fetches when it is opened, and the scripts that stop it."""

    def __init__(self, text):
        super().__init__()
        self.fetched, self.blocking = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in ("script", "img") and given.get("src"):
            self.fetched.add(given["src"])
            if tag == "script" and not {"async", "defer"} & given.keys():
                self.blocking.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.fetched.add(given["href"])


@pytest.fixture(scope="module")
def texts(site):
    """The pages of the book by name."""
    return {name: (site / f"{name}.html").read_text("utf8") for name in PAGES}


@cache
def compressed(path):
    body = path.read_bytes()
    return len(body) if path.suffix in (".woff", ".woff2", ".png") else len(gzip.compress(body, 6))


def weight(site, name, text):
    """What a first visit may fetch at most: the page, what it names, and all fonts that its styles name."""
    files = {site / f"{name}.html"}
    for link in Resources(text).fetched:
        if not link.startswith(("data:", "https:", "http:")):
            files.add((site / name).parent.joinpath(link.partition("?")[0]).resolve())
    for sheet in [f for f in files if f.suffix == ".css"]:
        named = re.findall(r'url\("?([^")]+\.woff2?)', sheet.read_text("utf8"))
        formulas = FORMULA.search(text)
        files |= {(sheet.parent / font).resolve() for font in named if formulas or "mathjax" not in font}
    return sum(compressed(file) for file in files)


def test_no_page_weighs_over_one_megabyte(site, texts):
    weights = {name: weight(site, name, text) for name, text in texts.items()}
    assert {name: size for name, size in weights.items() if size > MOST} == {}


def test_no_page_asks_for_mathjax_and_all_formulas_are_set(texts):
    for name, text in texts.items():
        assert "tex-chtml" not in text, name
        assert "window.MathJax" not in text, name
        for formula in re.findall(
            r'<(?:span|div) class="(?:amsmath )?math notranslate[^>]*>(.{20})', text, re.DOTALL
        ):
            assert formula.lstrip().startswith("<mjx-container"), (name, formula)
        assert not re.search(
            r"\\\(|\\\[", re.sub(r"<pre.*?</pre>", "", UNSEEN.sub("", text), flags=re.DOTALL)
        ), name


def test_formulas_have_mathml_for_those_who_hear_them(texts):
    for name, text in texts.items():
        assert text.count("<mjx-container") == text.count("<mjx-assistive-mml"), name


def test_no_icon_font_is_shipped_and_icons_are_drawn_in_the_page(site, texts):
    shipped = [file.name for file in site.rglob("*") if re.search("fontawesome|^fa-", file.name)]
    assert shipped == []
    for name, text in texts.items():
        assert not re.search(r'<(i|span) class="[^"]*\bfa-', text), name
        for icon in ("fa-bars", "fa-download", "fa-expand", "fa-moon", "fa-magnifying-glass"):
            assert re.search(rf'<svg class="svg-inline--fa [^"]*{icon}[ "][^>]*><path d="M', text), (
                name,
                icon,
            )
    assert not re.search(
        "[\uf000-\uf8ff]|Font Awesome[^;}]*woff", (site / "_static/pages.css").read_text("utf8")
    )


def test_one_style_sheet_and_no_script_that_stops_the_page(texts):
    for name, text in texts.items():
        found = Resources(text)
        assert found.blocking == [], name
        assert len([link for link in found.fetched if ".css" in link]) == 1, name


def test_what_no_page_asks_for_is_not_shipped(site):
    assert [file.name for file in (site / "_static").rglob("*.map")] == []
    assert not (site / "_static/mathjax/tex-chtml.js").exists()
    named = "".join(page.read_text("utf8") for page in site.rglob("*.html"))
    loaded_by_scripts = {"copybutton_funcs.js", "editor.js", "search_index.js", "writer_weights.js"}
    unused = [
        f.name
        for f in (site / "_static").rglob("*.js")
        if f.name not in named and f.name not in loaded_by_scripts and f.parent.name != "python"
    ]
    assert unused == []


def test_python_is_shipped_where_a_page_asks_for_it_and_not_loaded_with_it(site, texts):
    told = {name: re.search(r'id="pa-python">(.*?)</script>', text) for name, text in texts.items()}
    for name, text in texts.items():
        runs = re.search(r'class="[^"]*\bpa-live\b', text)
        assert bool(told[name]) == bool(runs) == ("_static/python.js" in text), name
        assert "_static/python/" not in " ".join(Resources(text).fetched), name
    facts = [json.loads(found[1]) for found in told.values() if found]
    files = {
        f"{archive['file']}{kind}" for one in facts for archive in one["archives"] for kind in (".bin", ".js")
    }
    assert files == {file.name for file in (site / "_static/python").iterdir()}
    assert len(files) == 4


def test_the_script_of_the_widgets_comes_first_where_there_is_one(texts):
    for name, text in texts.items():
        first = re.search(r'<script[^>]*src="([^"]*)"', text)[1]
        assert first.endswith("hydrate-widgets.js") == ("jupyter.widget-view+json" in text), name


def test_the_state_of_an_explorable_stands_behind_its_first_drawing(texts):
    for notebook in CHAPTERS:
        text = texts[f"book/{notebook.stem}"]
        parts = re.findall(r"jupyter\.widget-(view|state)\+json|(<!-- end of first) state", text)
        order = [view_or_state or drawn for view_or_state, drawn in parts]
        assert order == ["view", "<!-- end of first", "state"] * (len(order) // 3), notebook.stem
        assert len(order) >= 3, notebook.stem


def test_a_page_that_can_run_asks_for_little_before_anything_is_pressed(site, texts):
    scripts = {"live.js", "python.js"}
    assert sum(compressed(site / "_static" / name) for name in scripts) < 9_000
    for name, text in texts.items():
        asked = {link.partition("?")[0].rpartition("/")[2] for link in Resources(text).fetched}
        assert asked & scripts == (scripts if 'class="pa-live"' in text else set()), name
        assert "editor.js" not in asked, name
    assert 'class="pa-live"' in texts["book/03_queries_keys_values"]


# Which rules of a style sheet are kept


def test_a_rule_for_a_class_that_nobody_has_is_left_out():
    known = words('<p class="note bs-tooltip">'), words('node.className = "made-" + kind')
    css = ".note{a:1}.gone{b:2}.gone,.note p{c:3}.made-here{d:4}p{e:5}"
    assert used(css, known[0] | known[1]) == ".note{a:1}.note p{c:3}.made-here{d:4}p{e:5}"


def test_what_is_asked_in_brackets_and_what_is_no_rule_is_kept():
    css = "@media print{p:not(.gone){a:1}}@media screen{.gone{b:2}}@font-face{c:3}@keyframes k{0%{d:4}to{e:5}}.a\\:b{f:6}"
    assert (
        used(css, {"p"})
        == "@media print{p:not(.gone){a:1}}@font-face{c:3}@keyframes k{0%{d:4}to{e:5}}.a\\:b{f:6}"
    )


def test_what_an_explorable_can_do_without_at_first_comes_last(texts):
    page = texts["book/02_word_vectors"]
    early, late = page.split('<script type="application/vnd.pa.late-state+json">')
    assert '"late_vectors": ' not in early
    assert "<h2" not in late
    assert len(late.split("</script>")[0]) > 300_000
