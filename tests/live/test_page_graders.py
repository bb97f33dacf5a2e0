"""The stored answers, graded on a page: verdict and sentence are the notebook's.

All of them are graded under CPython with the page's torch, where it is quicker; here, in Chromium, one right answer
to each exercise and a fourth of all others, another fourth each day. What needs more than the page has is no
verdict; the sentence says so.
"""

from datetime import date

import pytest

from attnlib.learn import bank, judging
from tests.live.page_answers import cell_of, said, stored
from tests.live.test_page_python import folder, opened, where

__all__ = ["folder", "where"]
pytestmark = pytest.mark.starts_process

PARTS = 4
# of all that ask for a function, those that the page must be able to grade
CAN = 60
KEEP = """
import builtins
builtins.ANSWERS = ANSWERS
from attnlib.learn import calling
calling.SECONDS = 60.0
"""
# what Python itself says in the version of the page, and what it says in older ones
NEWER_WORDS = {"expected a positive input, got 0.0": "math domain error"}


@pytest.fixture(scope="module")
def page(chromium, where):
    """A page with time: a busy machine is no reason for another verdict."""
    with opened(chromium, where, "http") as page:
        page.evaluate("() => { Object.assign(pa.python.limits, { run: 60000, check: 120000 }); }")
        yield page


def taken(cases, day):
    """Return the first answer to each exercise, and a fourth of the rest, with their places."""
    first = {id: n for n, (id, _) in reversed([*enumerate(cases)])}
    return [(n, *case) for n, case in enumerate(cases) if n == first[case[0]] or n % PARTS == day % PARTS]


def in_older_words(text):
    """Return what is said without what differs from one Python to another."""
    for newer, older in NEWER_WORDS.items():
        text = text.replace(newer, older)
    return text


def test_verdicts_and_sentences_are_the_notebooks(page):
    differ, passed, asked = [], set(), set()
    day = date.today().toordinal()
    for chapter in bank.CHAPTERS:
        keep = f"{cell_of(chapter)}\n{KEEP}"
        run = page.evaluate(
            "([source, cell]) => pa.python.run(source, { cell })", [keep, f"answers {chapter}"]
        )
        assert run["error"] is None, run["error"]["text"]
        for n, id, answer in taken(stored(chapter), day):
            source = f'check("{id}", ANSWERS[{n}][1]())'
            got = page.evaluate("([id, source]) => pa.python.check(id, source)", [id, source])
            text, want = in_older_words(got["text"]), in_older_words(said(id, answer))
            asked.add(id)
            passed |= {id} if got["passed"] else set()
            if text != want and got["kind"] != "cannot":
                differ.append(f"{id}, answer {n} of chapter {chapter}, day {day}:\n  {text}\n  {want}")
    assert not differ, "\n".join(differ)
    assert asked == set(bank.exercises()) - set(judging.read())
    assert len(passed) >= CAN, f"graded: {sorted(passed)}, not: {sorted(asked - passed)}"
