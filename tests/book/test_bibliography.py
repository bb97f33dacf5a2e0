"""The bibliography, and the citations that lead to it."""

import re
from types import SimpleNamespace

import nbformat
import pytest

from paying_attention.links.bibliography import sources
from paying_attention.links.cards import CardError, source_card, term_card
from tests.book import NOTEBOOKS, ROOT

BIB = ROOT / "book/references.bib"
CITATION = re.compile(r"\[([^\[\]]+)\]\((?:\.\./)?references\.md#(\w+)\)")
PAGES = [*NOTEBOOKS, *sorted((ROOT / "book").glob("*.md"))]


def prose(path):
    if path.suffix == ".md":
        return path.read_text("utf8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_source_is_cited_by_its_name_in_the_bibliography(path):
    for said, key in CITATION.findall(prose(path)):
        assert said in (sources(BIB)[key].in_sentence, sources(BIB)[key].in_parentheses), key


def test_no_two_sources_are_cited_alike():
    names = [source.in_sentence for source in sources(BIB).values()]
    assert len(set(names)) == len(names)
    assert sources(BIB)["mikolov2013b"].in_sentence == "Mikolov et al. (2013b)"
    assert sources(BIB)["levy2014"].in_parentheses == "Levy and Goldberg, 2014"
    assert names == sorted(names, key=str.lower)


def test_every_source_has_an_address():
    assert [key for key, source in sources(BIB).items() if not source.links] == []


def test_every_source_is_cited_somewhere():
    cited = {key for path in PAGES for _, key in CITATION.findall(prose(path))}
    assert cited == set(sources(BIB))


def test_titles_keep_their_capitals_and_no_mark_of_tex_is_left():
    assert "Attention Is All You Need" in sources(BIB)["vaswani2017"].whole
    assert "Łukasz Kaiser" in sources(BIB)["vaswani2017"].whole
    assert "Łukasz" not in sources(BIB)["vaswani2017"].card  # eight authors are too many for a card
    for source in sources(BIB).values():
        assert not re.search(r"[${}\\]|others|bibtex", source.whole)


def test_an_unknown_key_or_another_name_is_refused():
    env = SimpleNamespace(srcdir=str(ROOT), config=SimpleNamespace(references_file="book/references.bib"))
    with pytest.raises(CardError, match=r"references\.md#elman1991: there is no such key"):
        source_card(env, "elman1991", "Elman (1991)")
    with pytest.raises(CardError, match=r"must be cited as 'Elman \(1990\)' or 'Elman, 1990', got 'Jeff'"):
        source_card(env, "elman1990", "Jeff")


def test_an_unknown_term_is_refused(monkeypatch):
    monkeypatch.setattr("paying_attention.links.cards.definitions", lambda *_: {})
    with pytest.raises(CardError, match=r"glossary\.md#hardmax: there is no such term"):
        term_card(None, "glossary", "hardmax")
