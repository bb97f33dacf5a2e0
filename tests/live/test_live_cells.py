"""The live cells of every chapter, run as on the page: with the page's host and its small torch."""

import json
import os
import subprocess
import sys

import nbformat
import pytest

from attnlib.learn import bank, judging
from paying_attention.page.live import LiveError, cannot_run, facts, page_source
from tests.book import CHAPTERS, ROOT

LIVE = ROOT / "book" / "live"
LEAST = 4
RUN = """
import json, sys, time
import host, torch
assert "book/live/torch" in torch.__file__
answers = []
for cell in json.loads(sys.stdin.read()):
    begun = time.process_time()
    told = host.run(cell)
    text = "".join(part["data"] for part in told["parts"])
    answers.append([text, (told["error"] or {}).get("text"), time.process_time() - begun])
print(json.dumps(answers))
"""
LESSONS = [path for path in CHAPTERS if path.stem[:2] <= "08"]


def cells_of(path):
    """The code cells of a notebook, each with what the page knows of it."""
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    told = [(set(cell.metadata.get("tags", [])), cell.source, cell.metadata) for cell in cells]
    return list(zip(cells, facts(told), strict=True))


def stored(cell):
    """What a cell printed when the notebook was run."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def run(sources):
    """Run cells as the page does; return for each its text, its error and its seconds."""
    paths = os.pathsep.join([str(LIVE), str(ROOT), str(LIVE / "absent")])
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.starts_process
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_live_cells_of_a_chapter_run_and_give_what_the_notebook_has(path):
    live = [(cell, about) for cell, about in cells_of(path) if about]
    assert len(live) >= LEAST
    sources = [source for _, about in live for source in (*about["setup"], about["source"])]
    answers = dict(zip(sources, run(sources), strict=True))
    for cell, about in live:
        text, error, seconds = answers[about["source"]]
        assert error is None, about["source"]
        assert text, f"a live cell shows something: {about['source'][:60]!r}"
        assert seconds < 1  # of computing; a browser is some times slower, and stops at five
        if about["source"].startswith(cell.source) and stored(cell):
            assert text.startswith(stored(cell)), about["source"]
    assert any(stored(cell) for cell, _ in live)


def test_most_live_cells_are_those_of_the_notebook():
    live = [(cell, about) for path in LESSONS for cell, about in cells_of(path) if about]
    same = [about for cell, about in live if about["source"].startswith(cell.source)]
    assert len(same) > 0.6 * len(live)


def test_exercises_that_cannot_run_on_the_page_are_functions_that_there_are():
    names = {one.name for id, one in bank.exercises().items() if id not in judging.read()}
    assert set(cannot_run()) <= names
    assert len(cannot_run()) <= len(names) - 60


def test_what_of_a_cell_runs_on_the_page():
    assert page_source("a", {}) == "a"
    assert page_source("a", {"live": {"then": ["", "b"]}}) == "a\n\nb"
    assert page_source("a", {"live": {"source": ["c", "d"], "then": ["b"]}}) == "c\nd\nb"


@pytest.mark.parametrize("said", ["b", {"after": ["b"]}, {"then": "b"}])
def test_metadata_that_say_something_else_are_refused(said):
    with pytest.raises(LiveError, match="live"):
        page_source("a", {"live": said})


def test_a_cell_brings_the_set_up_that_stands_before_it_and_was_not_brought():
    told = facts(
        [
            ({"live-setup", "setup"}, "import a", {}),
            ({"proof"}, "measure()", {}),
            ({"live"}, "a", {}),
            ({"live"}, "b", {}),
            ({"live"}, "b + 1", {}),
        ]
    )
    assert [about and (about["setup"], about["source"]) for about in told] == [
        None,
        None,
        (["import a"], "a"),
        ([], "b"),
        ([], "b + 1"),
    ]


@pytest.mark.parametrize("tag", ["proof", "setup", "hide-input"])
def test_a_live_cell_that_is_out_of_sight_is_refused(tag):
    with pytest.raises(LiveError, match=f"in sight, not tagged {tag}"):
        facts([({"live", tag}, "a", {})])
