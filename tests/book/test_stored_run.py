"""The gate of the build: notebooks whose stored claims are false, stale or never measured are refused."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from paying_attention.order import BEFORE
from paying_attention.site.stored_run import faults, refuse
from tests.book import CONFIG, NOTEBOOKS, ROOT
from tools.execute_notebooks import RUN, execute, fingerprint

IMPORT = "from attnlib.learn import claim"


def shown(*texts):
    return [
        new_output("display_data", {"text/plain": f"✓ Claim {n}. {text}", "text/html": "<div></div>"})
        for n, text in enumerate(texts, 1)
    ]


def notebook(*cells):
    """Return a notebook of (source, outputs), run in order."""
    made = [
        new_code_cell(source, outputs=outputs, execution_count=n)
        for n, (source, outputs) in enumerate(cells, 1)
    ]
    nb = new_notebook(cells=[new_markdown_cell("# Small"), *made])
    nb.metadata[RUN] = {"fingerprint": fingerprint(nb)}
    return nb


HONEST = [
    (IMPORT, []),
    ('claim("the sum is `one`", True)', shown("the sum is one")),
    ('claim("the sum is one", True, measured=1.0)', shown("the sum is one  measured: 1.000")),
    ('claim("the sum is one", True, 1.0, "1")', shown("the sum is one  measured: 1.000; required: 1")),
    (
        'claim("so it was", True, 1.0, setting=far)',
        shown("so it was  measured: 1.000  in a stored run  setting: 9 steps; H200"),
    ),
    ('for n in (2, 3):\n    claim(f"{n} is a prime", True)', shown("2 is a prime", "3 is a prime")),
    ("said = 'a' + 'b'\nclaim(said, True)", shown("ab")),
    ('learn.claim(text="one", ok=True)\nclaim("two", True)', shown("one", "two")),
    ("%matplotlib inline\n# claim('not this one')", []),
]


def test_a_notebook_that_was_run_as_it_stands_is_published():
    assert faults(notebook(*HONEST)) == []


def test_prose_and_captions_may_change_without_a_run():
    nb = notebook(*HONEST)
    nb.cells[0].source = "# Another title"
    nb.cells[1].metadata["tags"] = ["hide-input"]
    assert faults(nb) == []


@pytest.mark.parametrize(
    ("source", "outputs", "said"),
    [
        (
            'claim("the moon is made of cheese", False)',
            [],
            "makes a claim that was not measured: 'the moon is made of cheese'",
        ),
        (
            'claim("the sum is two", True)',
            shown("the sum is one"),
            "shows a claim that it does not make: the sum is one",
        ),
        (
            'for n in (2, 3):\n    claim(f"{n} is a prime", True)',
            shown("2 is a prime", "3 is odd"),
            "shows a claim that it does not make: 3 is odd",
        ),
        (
            'for n in (2, 3):\n    claim(f"{n} is a prime", True)',
            [],
            "makes a claim that was not measured: f'{n} is a prime'",
        ),
        ('claim("a", True)\nclaim("a", True)', shown("a"), "makes 2 claims and shows 1"),
        (
            'claim("the sum is one", True)',
            shown("the sum is one  and more"),
            "shows a claim that it does not make: the sum is one  and more",
        ),
        ("x = 1", shown("one more"), "shows a claim that it does not make: one more"),
        (
            'claim("the moon is made of cheese", False)',
            [
                new_output(
                    "error",
                    ename="ClaimError",
                    evalue="claim 1 is false: the moon is made of cheese",
                    traceback=[],
                )
            ],
            "stopped: ClaimError: claim 1 is false: the moon is made of cheese",
        ),
    ],
)
def test_a_claim_that_is_false_or_stale_is_refused_with_its_cell_and_sentence(source, outputs, said):
    nb = notebook(*HONEST, (source, outputs))
    assert f"code cell {len(HONEST) + 1} {said}" in faults(nb)


def test_a_condition_that_changed_after_the_run_is_refused():
    nb = notebook((IMPORT, []), ('claim("it holds", 1 < 2)', shown("it holds")))
    nb.cells[2].source = 'claim("it holds", 1 > 2)'
    assert faults(nb) == ["code or outputs were changed after the run"]


def test_an_output_that_changed_after_the_run_is_refused():
    nb = notebook((IMPORT, []), ('claim("it holds", True, 0.5)', shown("it holds  measured: 0.500")))
    nb.cells[2].outputs = shown("it holds  measured: 0.600")
    assert faults(nb) == ["code or outputs were changed after the run"]


def test_a_notebook_that_was_not_run_as_a_whole_is_refused():
    nb = notebook(*HONEST)
    del nb.metadata[RUN]
    assert faults(nb) == ["it was not run as a whole"]
    nb.cells.insert(2, new_code_cell("x = 1"))
    nb.cells[-1].execution_count = 29
    assert faults(nb) == [
        "code cell 2 was not run: x = 1",
        f"code cell {len(HONEST) + 1} was run as number 29, after number {len(HONEST) - 1}: %matplotlib inline",
    ]


def test_a_cell_that_is_no_python_or_no_claim_is_refused_with_a_sentence():
    assert "code cell 1 is not Python" in faults(notebook(("claim(", [])))[0]
    assert faults(notebook(("claim()", []))) == ["code cell 1 makes a claim that was not measured: ''"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_notebooks_of_the_book_are_published(path):
    assert faults(nbformat.read(path, as_version=4)) == [], "make notebooks"


def test_the_notebooks_of_the_book_were_run_on_one_arithmetic():
    # else figures of training in some of them are compared in size and colours alone, wherever the tests run
    runs = {
        path: nbformat.read(path, as_version=4).metadata.get(RUN, {}).get("arithmetic") for path in NOTEBOOKS
    }
    assert len(set(runs.values())) == 1, runs


def build(folder, nb):
    """Build a book of one notebook; return the exit code and what was said."""
    nbformat.write(nb, folder / "small.ipynb")
    (folder / "index.rst").write_text("Title\n=====\n")
    (folder / "_toc.yml").write_text("root: index\nparts: [{chapters: [{file: small}]}]\n")
    settings = ["-C", "-D", "extensions=paying_attention", "-b", "dummy", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *settings, str(folder), str(folder / "_build")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "book/_ext")},
    )
    return done.returncode, done.stderr


@pytest.mark.starts_process
def test_the_build_stops_at_a_false_claim_and_says_which(tmp_path):
    assert build(tmp_path, notebook(*HONEST)) == (0, "")
    moon = ('claim("the moon is made of cheese", False)', [])
    code, said = build(tmp_path, notebook(*HONEST, moon))
    assert code != 0
    assert (
        f"small.ipynb: code cell {len(HONEST) + 1} makes a claim that was not measured: 'the moon is made of cheese'"
        in said
    )
    assert "make notebooks" in said


def test_the_book_is_built_with_this_gate():
    assert refuse in BEFORE
    assert "paying_attention" in CONFIG["sphinx"]["config"]["extensions"]


@pytest.mark.starts_process
def test_a_run_leaves_a_notebook_that_is_published(tmp_path):
    path = tmp_path / "small.ipynb"
    cells = [new_code_cell(IMPORT), new_code_cell('claim("one is `one`", True, measured=1.0)')]
    nbformat.write(new_notebook(cells=cells), path)
    nb = nbformat.reads(execute(path), as_version=4)
    assert faults(nb) == []
    nbformat.write(nb, path)  # as an editor saves it
    assert faults(nbformat.read(path, as_version=4)) == []
