"""The numbers on the front pages: counted, and never typed."""

import ast
import re
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attnlib.learn import bank
from attnlib.widgets import AttentionPlane
from paying_attention.site.counts import (
    BELIEFS,
    MISTAKES,
    OF_A_PAGE,
    OF_THE_BOOK,
    CountError,
    beliefs,
    bugs,
    count,
    page,
)
from tests.book import CHAPTERS, ROOT
from tests.book.small_book import shown

STORED = ' <span class="pa-stored">in a stored run</span>'
MODEL = ' <span class="pa-stored">with a stored model</span>'
TOC = """
root: index
parts:
- chapters:
  - file: book/one
  - file: book/two
  - file: book/solutions/one
"""


@pytest.fixture
def root(tmp_path):
    """A book of two pages with three claims, one of them stored, and a solution with one."""
    (tmp_path / "book/solutions").mkdir(parents=True)
    (tmp_path / "_toc.yml").write_text(TOC, "utf8")
    cells = {
        "book/one": [shown(1, "It folds"), shown(2, f"It ran long{STORED}")],
        "book/two": [shown(1, f"So it is{MODEL}")],
        "book/solutions/one": [shown(1, f"Solved{STORED}")],
    }
    for name, outputs in cells.items():
        nb = new_notebook(cells=[new_code_cell("", outputs=outputs)])
        nbformat.write(nb, tmp_path / f"{name}.ipynb")
    return tmp_path


def asked(root, text):
    """What the role gives for a text on the page book/index, and on which files it then depends."""
    noted = []
    env = SimpleNamespace(
        srcdir=root,
        docname="book/index",
        found_docs={"book/one", "book/01_rnn_bottleneck"},
        note_dependency=noted.append,
        doc2path=lambda docname: root / f"{docname}.ipynb",
    )
    document = SimpleNamespace(settings=SimpleNamespace(env=env))
    (node,), _ = count("count", "", text, 1, SimpleNamespace(document=document))
    return node, noted


def test_claims_are_counted_without_those_of_solutions_and_the_stored_ones_apart(root):
    node, noted = asked(root, "claims")
    assert node.astext() == "3"
    assert len(noted) == 3  # a change in any notebook counts again
    assert asked(root, "stored claims")[0].astext() == "1"
    assert asked(root, "claims with a stored model")[0].astext() == "1"


def test_exercises_are_counted_for_the_book_and_for_a_page(root):
    assert int(asked(root, "exercises")[0].astext()) == len(bank.exercises())
    own = [one for id, one in bank.exercises().items() if id.startswith("1.")]
    assert int(asked(root, "exercises of 01_rnn_bottleneck")[0].astext()) == len(own)
    assert sum(OF_A_PAGE["exercises"](path.stem) for path in CHAPTERS) == len(bank.exercises())


def test_minutes_wait_until_the_page_is_read(root):
    node, noted = asked(root, "minutes of one")
    assert node["page"] == "book/one"
    assert noted == [str(root / "book/one.ipynb")]


@pytest.mark.parametrize("text", ["plums", "minutes", "plums of one", "minutes of nowhere"])
def test_what_nothing_counts_stops_the_build(root, text):
    with pytest.raises(CountError, match="nowhere" if "nowhere" in text else "is not counted; known are"):
        asked(root, text)


def test_beliefs_are_headings_or_beginnings_in_quotation_marks():
    texts = ["## “A”\n\nThen **“B”** further on.", "### “C”", "**“D.”** No.", "**Bold**", "#### “E”"]
    assert beliefs(new_notebook(cells=[new_markdown_cell(text) for text in texts])) == 3


def test_the_bugs_are_those_that_the_page_runs():
    nb = page(ROOT, MISTAKES)
    (source,) = [cell.source for cell in nb.cells if "LINES = {" in cell.source]
    (table,) = [n.value for n in ast.parse(source).body if ast.unparse(n).startswith("LINES =")]
    assert bugs(nb) == [key.value for key in table.keys if key.value != "nothing"]
    assert OF_THE_BOOK["bugs"](ROOT) == len(bugs(nb)) > 10
    assert OF_THE_BOOK["beliefs"](ROOT) > 5
    contents = (ROOT / "_toc.yml").read_text("utf8")
    assert MISTAKES in contents
    assert BELIEFS in contents


@pytest.mark.parametrize("page", ["book/index.md", "book/how_to_use.md", "README.md"])
def test_no_count_is_typed_on_a_front_page(page):
    text = (ROOT / page).read_text("utf8")
    assert re.findall(r"\b\d+ (?:claims?|exercises?|minutes;|bugs?|beliefs?|entries)\b", text) == []


def test_the_apple_of_the_landing_page_goes_where_the_page_says():
    fruit, technology = AttentionPlane().output()[AttentionPlane().query].tolist()
    assert "near $(1, 3)$" in (ROOT / "book/index.md").read_text("utf8")
    assert (fruit, technology) == pytest.approx((1, 3), abs=0.05)
