import json
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
        assert ">>>" not in document
        assert "://" not in document


def test_a_fiftieth_of_the_documents_is_held_out_and_none_is_copied(manuals):
    assert len(manuals.train) == pytest.approx(49 * len(manuals.held), rel=0.05)
    read = as_one_text(manuals.train)
    shares = []
    for document in manuals.held:
        lines = [line for line in document.split("\n") if len(line) > 60]
        shares.append(sum(line in read for line in lines) / max(1, len(lines)))
    assert max(shares) < 0.2
    assert sum(shares) / len(shares) < 0.02


def test_one_text_has_a_page_break_around_every_document():
    assert as_one_text(["a", "b"]) == "\fa\fb\f"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("xx the cat sat yy", (2, " the cat ")),
        ("the cat", (0, "the cat")),
        ("no", (1, "o")),
        ("zzz", (0, "")),
        ("", (0, "")),
    ],
)
def test_the_longest_copy_by_hand(text, found):
    copy = longest_copy(text, "look, the cat on the mat; sa")
    assert (copy.start, copy.passage) == found
    assert copy.length == len(copy.passage)


def test_the_longest_copy_is_the_longest_of_all_passages():
    text, source = "abcabdabcdabz", "abdab_bcda_abc"
    every = [text[i:j] for i in range(len(text)) for j in range(i, len(text) + 1)]
    longest = max(len(passage) for passage in every if passage in source)
    assert longest_copy(text, source).length == longest
