"""The comparison and the count of stored outputs: each gate must be able to fail."""

import asyncio
import base64
import io
import json
from types import SimpleNamespace

import matplotlib.image
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbval.plugin import IPyNbCell

from attnlib import widgets
from tests.book import NOTEBOOKS, ROOT, nbval_report
from tests.book.nbval_report import KINDS, MEASURED, TRAINED
from tests.book.widget_states import ANYWHERE, state_difference
from tests.conformance.report import ran_in_full
from tools.execute_notebooks import RUN, execute

pytest_plugins = ["pytester"]

SANITIZER = ROOT / "tests/book/nbval_sanitize.cfg"
DRAW = """
import matplotlib.pyplot as plt
plt.plot([0, 1, 2], [0, 1, 4], color="{}")
plt.show()
"""
WIDGET = """
import ipywidgets
class Slider(ipywidgets.FloatSlider):
    def __repr__(self):
        return "a slider"
slider = Slider({})
slider
"""
ONE = new_output("stream", name="stdout", text="1\n")


def cell(source, *outputs, id=None, **metadata):
    made = new_code_cell(source, outputs=list(outputs), execution_count=1, metadata=metadata)
    made.id = id or made.id
    return made


@pytest.fixture
def folder(pytester):
    """A folder to run nbval and our plugin in, with a test beside the notebook."""
    addopts = f"-p tests.book.nbval_report --nbval --nbval-current-env --nbval-sanitize-with {SANITIZER} -q"
    pytester.makeini(f"[pytest]\ntestpaths = book\naddopts = {addopts}\n")
    (pytester.mkdir("book") / "test_beside.py").write_text("def test_beside():\n    pass\n")
    return pytester


def run(folder, notebook, *arguments):
    """Run nbval and our plugin on a notebook; return the exit code and what was said."""
    nbformat.write(notebook, folder.path / "book/small.ipynb")
    done = folder.runpytest_subprocess(*arguments)
    return done.ret, done.stdout.str()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A notebook with a text, a figure and a widget, as it is stored."""
    path = tmp_path_factory.mktemp("made") / "made.ipynb"
    sources = ["print(1)", DRAW.format("red"), WIDGET.format("value=0.5")]
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return nbformat.reads(execute(path), as_version=4)


def test_what_reproduces_is_counted_by_kind(folder, made):
    code, said = run(folder, made)
    assert code == 0, said
    assert "notebooks: 1 of 1 texts equal, 1 of 1 figures alike, 1 of 1 widgets in the same state" in said


def test_what_changed_is_seen(folder, made):
    text, figure, widget = made.cells
    timed = {"mystnb": {"figure": {"name": min(MEASURED)}}}
    gif = "from IPython.display import display\ndisplay({'image/gif': 'R0lGODlh'}, raw=True)"
    made = nbformat.from_dict(made)
    made.cells = [
        cell("print(2)", *text.outputs),
        cell(DRAW.format("blue"), *figure.outputs),
        cell(DRAW.format("red"), with_data(figure.outputs[0], "image/png", pixel())),
        cell(DRAW.format("red"), with_data(figure.outputs[0], "image/png", pixel()), **timed),
        cell(DRAW.format("green"), *figure.outputs, **timed),  # size and colours, which is all that is asked
        cell(DRAW.format("#7d4e9e"), *figure.outputs, **timed),
        cell(gif, new_output("display_data", {"image/gif": "R0lGODlh"})),
        cell(WIDGET.format("value=0.5, step=0.25"), *widget.outputs),
        cell(
            WIDGET.format("value=0.5").replace("\nslider\n", "\nslider.max = 7.0\nslider\n"), *widget.outputs
        ),
    ]
    code, said = run(folder, made)
    assert code == 1
    passed = [n for n in range(9) if f"FAILED book/small.ipynb::Cell {n} " not in said]
    assert passed == [4], said
    assert "pixels differ, between column" in said
    assert "the figure changed: 0 pixels had the colour #7d4e9e, and now " in said
    failures, _, _ = said.partition("short test summary")  # which repeats them where CI is set
    assert failures.count("the stored figure is 1 x 1 pixels, the new one ") == 2
    assert "there is no comparison of figures for image/gif" in said
    assert "a widget differs: step is stored as 0.1, and sent as 0.25" in said
    assert "a widget differs: max is stored as 100.0, and sent as 7.0" in said
    counts = ["0 of 1", "0 of 3", "1 of 3", "0 of 2"]
    words = zip(counts, list(KINDS.values())[:4], strict=True)
    assert "notebooks: " + ", ".join(f"{count} {kind}" for count, kind in words) in said


def with_data(output, mime, data):
    output = nbformat.from_dict(output)
    output.data[mime] = data
    return output


def pixel():
    file = io.BytesIO()
    matplotlib.image.imsave(file, np.ones((1, 1)), cmap="gray", format="png")
    return base64.b64encode(file.getvalue()).decode()


def test_a_widget_without_a_stored_state_fails(folder, made):
    bare = nbformat.from_dict(made)
    del bare.metadata["widgets"]
    code, said = run(folder, bare)
    assert code == 1
    assert "its state is not stored: make notebooks" in said


def test_an_output_that_is_not_compared_fails(folder):
    left = [cell("print(1)", ONE, tags=[tag]) for tag in ("nbval-ignore-output", "nbval-skip")]
    code, said = run(folder, new_notebook(cells=[cell("print(1)", ONE), *left]))
    assert code == 1
    assert "notebooks: 1 of 3 texts equal" in said
    assert "FAILED: 2 stored outputs not compared" in said


@pytest.mark.parametrize(
    "narrow",
    [
        ["-k", "beside"],
        ["-m", "not slow", "-k", "beside"],
        ["--deselect", "book/small.ipynb"],
        ["--ignore", "book/small.ipynb"],
        ["--collect-only"],
        ["--lf"],
        ["book/test_beside.py"],
        ["-n", "1", "-k", "beside"],
    ],
    ids=" ".join,
)
def test_what_was_not_asked_for_is_not_missed(folder, narrow):
    cache = folder.mkdir(".pytest_cache") / "v/cache"
    cache.mkdir(parents=True)
    (cache / "lastfailed").write_text(json.dumps({"book/test_beside.py::test_beside": True}))
    nbformat.write(new_notebook(cells=[cell("print(1)", ONE)]), folder.path / "book/small.ipynb")
    done = folder.runpytest_inprocess(*narrow)  # no kernel is started, so this will do, and is fast
    assert done.ret == 0
    assert "FAILED" not in done.stdout.str()


def test_a_run_that_only_sets_up_is_not_asked_for_outputs(folder):
    code, said = run(folder, new_notebook(cells=[cell("print(1)", ONE)]), "--setup-plan")
    assert code == 0, said


def test_a_part_of_a_notebook_is_counted_and_does_not_fail(folder):
    notebook = new_notebook(cells=[cell("print(1)", ONE), cell("print(1)", ONE)])
    code, said = run(folder, notebook, "book/small.ipynb::Cell 0")
    assert code == 0, said
    assert "notebooks: 1 of 2 texts equal" in said


def test_a_run_that_stops_at_a_failure_says_only_that(folder):
    code, said = run(folder, new_notebook(cells=[cell("print(2)", ONE), cell("print(1)", ONE)]), "-x")
    assert code == 1
    assert "notebooks: 0 of 2 texts equal" in said
    assert "not compared" not in said


def test_no_kernel_is_started_beside_a_running_event_loop():
    cell = object.__new__(IPyNbCell)

    async def beside():
        nbval_report.pytest_runtest_setup(cell)

    with pytest.raises(RuntimeError, match="close the browser before a notebook is tested"):
        asyncio.run(beside())
    nbval_report.pytest_runtest_setup(cell)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"a": 1.0, "b": [1, "x"]}, ""),
        ({"a": 1.0 + 1e-9, "b": [1, "x"]}, ""),
        ({"a": 1.1, "b": [1, "x"]}, "a is stored as 1.0, and sent as 1.1"),
        ({"a": 1.0, "b": [2, "x"]}, "b is stored as [1, 'x'], and sent as [2, 'x']"),
        ({"a": 1.0, "b": [1, "y"]}, "b is stored as [1, 'x'], and sent as [1, 'y']"),
        ({"a": 1.0, "b": [True, "x"]}, "b is stored as [1, 'x'], and sent as [True, 'x']"),
        ({"a": 1.0, "b": [1]}, "b is stored as [1, 'x'], and sent as [1]"),
        ({"a": 1.0}, "b is stored, and not sent"),
        ({"a": 1.0, "b": [1, "x"], "c": 1}, "c is not stored"),
    ],
)
def test_states_are_compared_with_all_that_they_hold(sent, said):
    stored = {"a": 1.0, "b": [1, "x"], "layout": "IPY_MODEL_1"}
    assert state_difference(stored, sent | {"layout": "IPY_MODEL_2"}) == said


def test_what_training_gave_elsewhere_is_compared_but_for_decimals():
    assert state_difference({"a": [1.0, 2.0], "b": 1}, {"a": [3.0, 4.0], "b": 1}, ANYWHERE) == ""
    assert state_difference({"a": [1.0, 2.0], "b": 1}, {"a": [3.0], "b": 1}, ANYWHERE)
    assert state_difference({"a": [1.0, 2.0], "b": 1}, {"a": [1.0, 2.0], "b": 2}, ANYWHERE)


def test_numbers_of_training_are_asked_for_where_sums_are_taken_in_the_same_order(monkeypatch):
    monkeypatch.setattr(nbval_report, "kernel_arithmetic", lambda: "ours")
    notebooks = {name: new_notebook(metadata={RUN: {"arithmetic": name}}) for name in ("ours", "theirs")}
    for name, elsewhere in (("fig-senses", True), (min(MEASURED), True), ("fig-apple-weights", False)):
        drawn = cell("", mystnb={"figure": {"name": name}})
        counted = [
            nbval_report.kind(nb, drawn, new_output("display_data", {"image/png": ""}))
            for nb in notebooks.values()
        ]
        own = "figure, own numbers"
        assert counted == [own if name in MEASURED else "figure", own if elsewhere else "figure"]


def test_what_is_measured_or_trained_is_in_the_book():
    notebooks = [nbformat.read(path, as_version=4) for path in NOTEBOOKS]
    cells = [cell for nb in notebooks for cell in nb.cells if cell.cell_type == "code"]
    named = {cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in cells}
    assert named | set(widgets.__all__) >= MEASURED | TRAINED


@pytest.mark.parametrize(
    ("asked", "options", "full"),
    [
        ("tests", {}, True),
        ("tests/conformance", {}, True),
        ("tests", {"ignore": ["tests/book"]}, True),
        ("tests/learn", {}, False),
        ("tests/conformance/test_pytorch.py::test_one", {}, False),
        ("tests", {"keyword": "rotary"}, False),
        ("tests", {"collectonly": True}, False),
        ("tests", {"deselect": ["tests/conformance"]}, False),
        ("tests", {"ignore": ["tests/conformance"]}, False),
        ("tests", {"ignore": ["tests/conformance/test_pytorch.py"]}, False),
    ],
)
def test_the_table_of_conformance_is_demanded_of_a_full_run_alone(asked, options, full):
    config = SimpleNamespace(
        option=SimpleNamespace(**options), args=[asked], invocation_params=SimpleNamespace(dir=ROOT)
    )
    assert ran_in_full(config) is full
