"""The book on paper, as one PDF and as an EPUB: the small book printed and joined, and pages made by hand."""

import re
from itertools import pairwise
from xml.etree import ElementTree
from zipfile import ZIP_STORED, ZipFile

import pytest
from pypdf import PdfReader

from tests.book import ROOT
from tests.book.conftest import visits
from tools.built_book import About, Part, read_about, read_parts
from tools.make_epub import convert, lost_links, make_epub, write
from tools.make_pdf import make_pdf, numbered, print_page

PARTS = [
    Part("", ("index",)),
    Part("Chapters", ("small", "01_rnn_bottleneck")),
    Part("Reference", ("glossary", "references", "how_to_use")),
]
ABOUT = About(
    "A book",
    "On two & three things",
    "Nobody",
    "0.1",
    "2026-01-31",
    "CC BY 4.0",
    "https://example.org",
    ("maths",),
)
LINK = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p id="here"/><a href="{}">to</a></body></html>'


@pytest.fixture(scope="module")
def pdf(chromium, small, tmp_path_factory):
    """The small book as PDF."""
    out = tmp_path_factory.mktemp("pdf") / "small.pdf"
    sheets = make_pdf(chromium, small, PARTS, ABOUT, out)
    reader = PdfReader(out)
    assert len(reader.pages) == sheets
    return reader


@pytest.fixture(scope="module")
def epub(chromium, small, tmp_path_factory):
    """The small book as EPUB, its files by name."""
    out = tmp_path_factory.mktemp("epub") / "small.epub"
    make_epub(chromium, small, PARTS, ABOUT, out)
    with ZipFile(out) as archive:
        return {one.filename: archive.read(one) for one in archive.infolist()}


def words(sheet):
    return " ".join(sheet.extract_text().split())


def bookmarks(items, depth=0):
    for item in items:
        if isinstance(item, list):
            yield from bookmarks(item, depth + 1)
        else:
            yield depth, item


# The print style


def test_paper_is_light_for_a_reader_in_the_dark_and_the_screen_is_dark_again(chromium, small):
    look = """() => ["html", ".highlight .kn", ".pa-question"].map((one) => {
        const { color, backgroundColor } = getComputedStyle(document.querySelector(one));
        return [color, backgroundColor];
    })"""
    with visits(chromium, {"file": small.as_uri()}) as open_page:
        light, dark = (open_page("small", "file", color_scheme=scheme) for scheme in ("light", "dark"))
        before = dark.evaluate(look)
        for page in (light, dark):
            page.emulate_media(media="print")
            page.wait_for_selector("html[data-theme=light]")
        assert dark.evaluate(look) == light.evaluate(look) != before
        assert light.evaluate(look)[0][1] == "rgb(255, 255, 255)"
        dark.emulate_media(media="screen")
        dark.wait_for_selector("html[data-theme=dark]")
        assert dark.evaluate(look) == before


def test_the_print_style_is_in_the_sheet_of_all_pages(small):
    assert "@page" in (small / "_static/pages.css").read_text("utf8")


# PDF


def test_all_that_is_told_is_on_paper_and_nothing_to_press(pdf):
    text = " ".join(words(sheet) for sheet in pdf.pages)
    for said in (
        "It folds",
        "A quarter it is",
        "It takes forty-four",
        "Five seeds.",
        "It goes deep",
        "Hint 1",
    ):
        assert said in text, said
    for pressed in ("Commit", "Skip", "Show all code", "Open the notebook", "train()", "On this page"):
        assert pressed not in text, pressed


def test_the_front_has_roman_numbers_and_those_of_the_book_run_through(pdf):
    front = pdf.page_labels.index("1")
    assert pdf.page_labels[:front] == ["i", "ii"]
    assert pdf.page_labels[front:] == [str(n) for n in range(1, len(pdf.pages) - front + 1)]
    for label, sheet in list(zip(pdf.page_labels, pdf.pages, strict=True))[1:]:
        assert label in sheet.extract_text().split(), label


def test_contents_name_the_sheet_on_which_a_page_begins(pdf):
    contents = pdf.pages[1].extract_text()
    for title in ("Small", "A guess", "Exercises", "Glossary", "References"):
        number = re.search(rf"^{title}\s*(\d+)$", contents, re.M)[1]
        assert title in words(pdf.pages[pdf.page_labels.index(number)]), title


def test_bookmarks_are_parts_pages_and_sections_in_order(pdf):
    found = list(bookmarks(pdf.outline))
    assert [(depth, item.title) for depth, item in found][:4] == [
        (0, "A book"),
        (0, "Chapters"),
        (1, "Small"),
        (2, "A guess"),
    ]
    sheets = [pdf.get_destination_page_number(item) for _, item in found]
    assert sheets == sorted(sheets)
    guess = next(item for _, item in found if item.title == "A guess")
    assert "A guess" in words(pdf.pages[pdf.get_destination_page_number(guess)])


def test_links_inside_the_book_lead_there_and_none_to_the_disk(pdf):
    links = [link.get_object() for sheet in pdf.pages for link in sheet.get("/Annots", [])]
    outside = {str(link["/A"]["/URI"]) for link in links if "/A" in link}
    assert outside
    assert all(uri.startswith("https://") for uri in outside)
    places = {sheet.indirect_reference.idnum: n for n, sheet in enumerate(pdf.pages)}
    goals = {places[link["/Dest"][0].idnum] for link in links if "/Dest" in link}
    assert any("Numbers that sum to" in words(pdf.pages[goal]) for goal in goals)


def test_the_pdf_says_what_it_is(pdf):
    assert pdf.metadata.title == "A book: On two & three things"
    assert pdf.metadata.author == "Nobody"
    assert "On two & three things" in words(pdf.pages[0])


# EPUB


def test_the_archive_is_an_epub_without_times(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / name, {"mimetype": b"application/epub+zip", "text": b"text"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    first = ZipFile(tmp_path / "one").infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", ZIP_STORED)


def test_every_file_is_well_formed_listed_and_no_link_is_lost(epub):
    pages = {
        name.removeprefix("book/"): text.decode() for name, text in epub.items() if name.endswith("xhtml")
    }
    assert lost_links(pages) == []  # which parses them
    package = ElementTree.fromstring(epub["book/package.opf"])
    items = {item.get("href"): item for item in package.iter("{http://www.idpf.org/2007/opf}item")}
    assert {f"book/{href}" for href in items} | {
        "mimetype",
        "META-INF/container.xml",
        "book/package.opf",
    } == set(epub)
    assert items["small.xhtml"].get("properties") == "mathml svg"
    assert items["nav.xhtml"].get("properties") == "nav"


def test_a_lost_link_is_found():
    pages = {"a": LINK.format("#here"), "b": LINK.format("a#there"), "c": LINK.format("https://a.org#x")}
    assert lost_links(pages) == [("b", "a#there")]


def test_all_that_is_told_is_in_the_epub_and_nothing_to_press(epub):
    page = ElementTree.fromstring(epub["book/small.xhtml"])
    text = " ".join("".join(page.itertext()).split())
    for said in ("It folds", "A quarter it is", "It takes forty-four", "Five seeds.", "It goes deep"):
        assert said in text, said
    for pressed in ("Commit", "Skip", "Show all code"):
        assert pressed not in text, pressed
    assert {node.tag.rpartition("}")[2] for node in page.iter()}.isdisjoint({"script", "button", "input"})


def test_formulas_are_mathml_in_colour_with_their_tex(epub):
    text = epub["book/small.xhtml"].decode()
    assert 'mathcolor="#1d5c96"' in text
    assert r'alttext="\(\color{#1d5c96}{Q}' in text or r'alttext="\color{#1d5c96}{Q}' in text
    assert 'display="block"' in text


def test_contents_of_the_epub_are_nested(epub):
    nav = epub["book/nav.xhtml"].decode()
    order = ["index.xhtml", "Chapters", "small.xhtml", "small.xhtml#a-guess", "Reference"]
    at = [nav.index(name) for name in order]
    assert all(a < b for a, b in pairwise(at))


PAGE = """<!doctype html><html style="--pa-ink: #123456"><body><article class="bd-article"><section id="top">
<h1>Page<a class="headerlink" href="#top">#</a></h1>
<svg width="9" height="9"><rect fill="var(--pa-ink, #000)" width="9" height="9"/></svg>
<div class="static-widget"><div class="pa-widget" aria-label="A plane" style="height: 50px">words</div></div>
<div class="static-widget"><div class="pa-widget pa-quiz"><fieldset><legend>Why?</legend>
<label><input type="radio"><span>So</span></label></fieldset><button>Check</button></div></div>
<a href="gone.html">gone</a></section></article></body></html>"""


def test_an_explorable_is_a_picture_a_quiz_a_list_and_colours_are_settled(chromium, tmp_path):
    (tmp_path / "page.html").write_text(PAGE, "utf8")
    made = convert(chromium, tmp_path, "page", ["page"], ABOUT)
    page = ElementTree.fromstring(made.body)
    picture = page.find(".//{*}figure/{*}img")
    assert picture.get("alt") == "A plane"
    assert made.pictures[picture.get("src")].startswith(b"\x89PNG")
    assert [item.text for item in page.findall(".//{*}div[@class='quiz']//{*}li")] == ["So"]
    assert page.find(".//{*}rect").get("fill") == "#123456"
    assert [link.get("href") for link in page.iter("{http://www.w3.org/1999/xhtml}a")] == [ABOUT.address]
    assert made.headings == [{"level": 1, "words": "Page", "place": "top"}]


def test_the_running_head_is_the_title_letter_for_letter(chromium, tmp_path):
    tall = PAGE.replace("<h1>Page<", "<h1>Why √d<").replace("height: 50px", "height: 3000px")
    (tmp_path / "page.html").write_text(tall, "utf8")
    sheets = print_page(chromium, tmp_path, "page", start=1, sheets={}).reader.pages
    assert [sheet.extract_text().count("Why √d") for sheet in sheets[:2]] == [
        1,
        1,
    ]  # the title, then the head


def test_an_exercise_names_the_sheet_of_its_solution_and_the_solution_that_of_the_exercise(
    chromium, tmp_path
):
    frame = '<html><body><article class="bd-article"><section id="top"><h1>Page</h1>{}</section></article></body></html>'
    far = '<div style="height: 3000px"></div><section id="{}"><h2>{}</h2>(<a href="{}">{}</a>)</section>'
    pages = {
        "exercises": far.format("one", "Exercise", "solutions.html#answer", "solution"),
        "solutions": far.format("answer", "Answer", "exercises.html#one", "back to the exercise"),
    }
    for name, body in pages.items():
        (tmp_path / f"{name}.html").write_text(frame.format(body), "utf8")
    exercises, solutions = numbered(chromium, tmp_path, list(pages))
    there, back = (
        words(exercises.reader.pages[exercises.place("one")[0]]),
        words(solutions.reader.pages[solutions.place("answer")[0]]),
    )
    assert f"(solution, page {solutions.start + solutions.place('answer')[0]})" in there
    assert f"(back to the exercise, page {exercises.start + exercises.place('one')[0]})" in back


# What both take


def test_parts_are_those_of_the_contents_with_every_solution():
    parts = read_parts()
    assert parts[0] == Part("", ("book/index",))
    solutions = next(part for part in parts if part.caption == "Solutions")
    assert len(solutions.pages) == len(list((ROOT / "book/solutions").glob("*.ipynb")))
    assert parts.index(solutions) > parts.index(next(part for part in parts if part.caption == "Chapters"))


def test_what_the_book_says_about_itself_is_what_it_is_cited_by():
    about = read_about()
    assert about.title == "Paying Attention"
    assert about.markup()["title"] == "Paying Attention"
    assert about.version in (ROOT / "CITATION.cff").read_text("utf8")
