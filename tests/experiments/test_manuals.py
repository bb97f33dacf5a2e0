import json
import random
import re
from pathlib import Path

import pytest

import attnlib
from attnlib.experiments.manuals import as_one_text, longest_copy, read_manuals

DATA = Path(attnlib.__file__).parent / "data"


@pytest.fixture(scope="module")
def manuals():
    return read_manuals()


def test_the_text_is_the_one_whose_hash_is_told(manuals):
    assert manuals.sha256 in (DATA / "README.md").read_text("utf8")
    assert manuals.sha256 == json.loads((DATA / "writer.json").read_text("utf8"))["text"]["sha256"]
    assert (DATA / "manuals.txt.xz").stat().st_size < 2_500_000


def test_documents_are_plain_paragraphs(manuals):
    for document in manuals.train + manuals.held:
        assert len(document) >= 200
        assert re.fullmatch(r"(?:[!-~](?: ?[!-~])*\n?)+", document)  # ASCII, single spaces, no empty lines
        assert "\n>>>" not in document  # no line of an example
        assert "https://" not in document


def runs(document):
    words = document.lower().split()
    return {" ".join(words[i : i + 8]) for i in range(len(words) - 7)}


def test_a_fiftieth_of_the_documents_is_held_out_and_none_of_them_shares_a_tenth(manuals):
    assert len(manuals.train) == pytest.approx(49 * len(manuals.held), rel=0.1)
    own = [runs(document) for document in manuals.held]
    wanted = set().union(*own)
    known = set()
    for document in manuals.train:
        known |= runs(document) & wanted
    shares = [len(held & known) / max(1, len(held)) for held in own]
    assert max(shares) < 0.1
    assert sum(shares) / len(shares) < 0.011


def test_one_text_has_a_page_break_around_every_document():
    assert as_one_text(["a", "b"]) == "\fa\fb\f"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("xx the cat sat yy", (2, " the cat ")),
        ("the cat", (0, "the cat")),
        ("qo", (1, "o")),
        ("zzz", (0, "")),
        ("", (0, "")),
    ],
)
def test_the_longest_copy_by_hand(text, found):
    copy = longest_copy(text, "look, the cat on the mat; sa")
    assert (copy.start, copy.passage) == found
    assert copy.length == len(copy.passage)


def test_the_longest_copy_is_the_first_of_the_longest_in_any_text():
    draw = random.Random(0)
    for _ in range(200):
        text, source = ("".join(draw.choices("abc", k=k)) for k in (draw.randint(1, 24), 40))
        spans = [(i, j) for i in range(len(text)) for j in range(i + 1, len(text) + 1) if text[i:j] in source]
        start, end = max(spans, key=lambda span: (span[1] - span[0], -span[0]))
        assert longest_copy(text, source)[:2] == (start, end - start)


def test_the_longest_copy_is_the_longest_of_all_passages():
    text, source = "abcabdabcdabz", "abdab_bcda_abc"
    every = [text[i:j] for i in range(len(text)) for j in range(i, len(text) + 1)]
    longest = max(len(passage) for passage in every if passage in source)
    assert longest_copy(text, source).length == longest
