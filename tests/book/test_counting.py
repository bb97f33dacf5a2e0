"""The count of compared outputs: it must be able to fail."""

import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.book import ROOT


def cell(source, text, **metadata):
    output = new_output("stream", name="stdout", text=text)
    return new_code_cell(source, outputs=[output], execution_count=1, metadata=metadata)


def run(folder, *cells):
    """Run nbval with our conftest on a notebook of these cells; return the exit code and what it said."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "tests/book").mkdir(parents=True)
    shutil.copy(ROOT / "tests/book/nbval_sanitize.cfg", folder / "tests/book")
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = book\naddopts = --nbval --nbval-current-env\n")
    (folder / "book").mkdir()
    nbformat.write(new_notebook(cells=list(cells)), folder / "book/small.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_outputs_that_reproduce_are_counted(tmp_path):
    code, said = run(tmp_path, cell("print(1)", "1\n"), cell("print(2)", "2\n"), new_code_cell("x = 1"))
    assert code == 0
    assert "notebooks: 2 of 2 stored outputs compared and equal" in said


def test_one_changed_digit_fails(tmp_path):
    code, said = run(tmp_path, cell("print(0.495)", "0.496\n"))
    assert code == 1
    assert "0 of 1 stored outputs" in said


@pytest.mark.parametrize("tag", ["nbval-ignore-output", "nbval-skip"])
def test_an_output_that_is_not_compared_fails(tmp_path, tag):
    code, said = run(tmp_path, cell("print(1)", "1\n"), cell("print(2)", "3\n", tags=[tag]))
    assert code == 1
    assert "FAILED: 1 stored outputs not compared" in said
