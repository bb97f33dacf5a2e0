"""Which paragraphs have the colour of a mistake, and which that of what is true."""

import pytest
from docutils import nodes

from paying_attention.page.deeper import belief


@pytest.mark.parametrize(
    ("bold", "rest", "name"),
    [
        ("You may have written:", " a line", "pa-false"),
        ("You may have read:", " a sentence", "pa-false"),
        ("What is true:", " something else", "pa-true"),
        ("To copy.", " Every batch is new.", None),
    ],
)
def test_a_belief_is_known_by_its_first_words(bold, rest, name):
    assert belief(nodes.paragraph("", "", nodes.Text(""), nodes.strong("", bold), nodes.Text(rest))) == name


def test_words_further_on_do_not_make_a_belief():
    text = nodes.Text("A batch is padded. ")
    assert belief(nodes.paragraph("", "", text, nodes.strong("", "You may have written:"))) is None
    assert belief(nodes.paragraph()) is None


def test_the_built_page_tells_both_apart(site):
    page = (site / "book" / "common_mistakes.html").read_text("utf8")
    for name, words in (("pa-false", "You may have"), ("pa-true", "What is true")):
        assert page.count(f'<p class="{name}"><strong>{words}') == page.count(f"<strong>{words}") > 2
