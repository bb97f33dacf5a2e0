"""The page's graders against the notebook's: for each stored answer the same verdict, word for word."""

import json
import os
import subprocess
import sys
import textwrap
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from attnlib.learn import bank, judging

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.starts_process, pytest.mark.slow]
FUNCTIONS = {
    spec["id"]: spec["name"]
    for table in judging.tables().values()
    for spec in table["exercise"]
    if spec["kind"] == "function"
}
# what an answer may ask for that the page does not have: it says so instead of grading
LACKING = {
    "Tensor.requires_grad_", "torch.autograd.functional", "torch.linalg.eig", "torch.nn.MultiheadAttention",
    "torch.nn.utils.rnn.pack_padded_sequence", "calling torch.nn.RNN", "Tensor.corrcoef",
}  # fmt: skip


@cache
def verdicts(topic, page):
    """Return for each stored answer of a topic the verdict, the seconds, and what was asked and is not there."""
    paths = [str(ROOT / "book" / "live")] * page + [str(ROOT)]
    run = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "live" / "verdicts.py"), topic],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    told = map(json.loads, run.stdout.splitlines())
    return {(kind, id, n): (verdict, took, noted) for _, kind, id, n, verdict, took, noted in told}


def lacks(noted):
    """Return what a sentence says is not on the page."""
    return noted[0].split("`")[1]


@pytest.mark.parametrize("topic", bank.CHAPTERS.values())
def test_verdicts_are_those_of_the_notebook(topic):
    notebook, page = verdicts(topic, False), verdicts(topic, True)
    assert notebook.keys() == page.keys()
    other, lacking = {}, Counter()
    for case, (verdict, _, noted) in page.items():
        if verdict == notebook[case][0]:
            continue
        if noted and verdict is not None:
            lacking[lacks(noted)] += 1
        else:
            other[case] = f"notebook: {notebook[case][0]}\npage: {verdict}"
    assert other == {}
    assert set(lacking) <= LACKING


def test_at_least_sixty_functions_can_be_asked_on_the_page_and_the_others_say_so_beforehand():
    done = {
        id
        for topic in bank.CHAPTERS.values()
        for (kind, id, _), (verdict, _, _) in verdicts(topic, True).items()
        if kind == "right" and verdict is None
    }
    told = tomllib.loads((ROOT / "book" / "live" / "cannot.toml").read_text("utf8"))
    assert {name for id, name in FUNCTIONS.items() if id not in done} == set(told)
    assert len(done & set(FUNCTIONS)) >= 60


def test_it_runs_without_numpy_and_filelock():
    paths = [ROOT / "book" / "live", ROOT, ROOT / "book" / "live" / "absent"]
    code = """
        from attnlib.learn import check
        import numpy, torch
        check("3.1", None)
        try:
            numpy.array([1.0])
        except torch.missing.NotOnThePageError as error:
            print(error)
    """
    run = subprocess.run(
        [sys.executable, "-S", "-c", textwrap.dedent(code)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONIOENCODING": "utf8"},
        capture_output=True, text=True, encoding="utf8", check=True,
    )  # fmt: skip
    assert "Not attempted yet" in run.stdout
    assert "`numpy.array` does not run on the page, which has no NumPy" in run.stdout
