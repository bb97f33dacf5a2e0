"""The map of the chapters and the glossary: true to the chapters."""

import re

import nbformat

from paying_attention.links.chapter_map import drawing, read
from tests.book import CHAPTERS, ROOT

GLOSSARY = (ROOT / "book/glossary.md").read_text("utf8")
TERMS = re.findall(r"^(\w.*)\n  ", GLOSSARY, re.M)


def test_the_map_has_every_chapter_and_an_arc_for_each_that_it_says_it_needs():
    chapters = read(ROOT)
    assert [chapter.docname for chapter in chapters] == [f"book/{path.stem}" for path in CHAPTERS]
    assert [chapters[number - 1].needs for number in (1, 4, 6, 7)] == [[], [3], [3], [1, 3, 6]]
    svg = drawing(chapters, ["#"] * len(chapters))
    assert len(re.findall(r"<path d=.M\d+ \d+C", svg)) == sum(len(chapter.needs) for chapter in chapters)
    assert 'aria-label="7. Complexity. What does attending to everything cost? Needs 1, 3 and 6."' in svg


def test_the_cards_of_the_landing_page_ask_the_questions_of_the_chapters():
    index = (ROOT / "book/index.md").read_text("utf8")
    for chapter in read(ROOT):
        card = index.partition(f"grid-item-card}} {chapter.title}\n")[2].partition("+++")[0]
        assert card.rstrip().endswith(chapter.question)


def test_terms_stand_in_their_order_once():
    assert sorted(set(TERMS), key=str.lower) == TERMS
    assert len(TERMS) >= 90


def test_a_term_that_a_chapter_sets_in_bold_is_explained():
    """Bold marks a sentence worth quoting, or a term where it is introduced."""
    words = {word for term in TERMS for word in (term.lower(), *term.lower().split())}
    words |= {"knows", "previous", "match", "first"}  # names for one page alone
    for path in CHAPTERS:
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        bold = re.findall(r"\*\*([a-z][\w-]+(?: [\w-]+)?)\*\*", text.partition("\n## Exercises")[0])
        assert [term for term in bold if not {term, term.removesuffix("s")} & words] == [], path.stem
