"""pytest plugin: compare the figures and widgets of the notebooks, and count all that was compared.

nbval compares texts. It passes over figures, widgets and what is tagged so, and says nothing of it.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter

import nbformat
import nbval.plugin
import pytest
from nbval.plugin import IPyNbCell

from tests.book.figures import png_difference, png_gist_difference
from tests.book.svg_comparison import svg_difference, svg_gist_difference
from tests.book.widget_states import ANYWHERE, CLOSE, VIEW, listen, state_difference, stored_states
from tests.whole_run import everything_was_asked_for
from tools.arithmetic import kernel_arithmetic

RUN = "stored_run"  # where a notebook's metadata keep what is known of its run, as book/_ext/paying_attention/site/stored_run.py has it

# how to compare two pictures, by type: of the same numbers, and of numbers that differ from machine to machine
FIGURES = {"image/svg+xml": svg_difference, "image/png": png_difference}
GISTS = {"image/svg+xml": svg_gist_difference, "image/png": png_gist_difference}

# figures of this machine's own numbers
MEASURED = {"fig-own-vectors"}  # trained on the manual of this Python, which differs from version to version
# what training gave, by the names of figures and the classes of widgets: the same where sums are taken in the same order
TRAINED = {"fig-who-learns", "fig-forget-gate", "fig-he-attends"}
TRAINED |= {
    "fig-lengths",
    "fig-senses",
    "fig-he-order",
    "fig-he-exchanged",
    "fig-he-looks",
    "fig-he-answer",
}
TRAINED |= {"fig-training-scalings", "fig-grown"}
TRAINED |= {"fig-two-lookups", "fig-head-scores", "HeadViewer"}
TRAINED |= {"fig-two-heads"}
TRAINED |= {"fig-losses", "fig-samples", "fig-swap", "fig-looks", "fig-three-losses"}
TRAINED |= {"fig-sink", "fig-drop"}
TRAINED |= {"fig-where", "fig-pressed"}
TRAINED |= {"fig-two-writers"}
TRAINED |= {"fig-mistakes-explain", "fig-mistakes-hidden"}
TRAINED |= {"fig-together-learning", "fig-together-pairs", "fig-together-answer"}

KINDS = {
    "text": "texts equal",
    "figure": "figures alike",
    "figure, own numbers": "figures of own times or trainings alike in size, colours and words",
    "widget": "widgets in the same state",
    "widget, own numbers": "widgets of own trainings in the same state but for decimals",
}


def pytest_configure(config):
    """Name nbval's sanitizer by a path that holds from any folder, and keep coverage out of the kernels.

    The floor is about what the tests of the library reach, and a kernel that is watched takes minutes more.
    """
    nbval.plugin.setup_coverage = nbval.plugin.teardown_coverage = lambda *_, **__: None
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(config.rootpath / "tests/book/nbval_sanitize.cfg")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Refuse to start a kernel where an event loop runs.

    Jupyter would serve it from a second thread, which ZeroMQ's sockets are not made for.
    """
    if isinstance(item, IPyNbCell) and _runs_a_loop():
        raise RuntimeError("an event loop runs in this thread: close the browser before a notebook is tested")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Let nbval compare figures and widgets too, and note what was compared, by kind."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    item.output_timeout = 60  # nbval gives up after 5 s, which a busy machine needs after a long cell
    notebook, compare_texts, compared = item.parent, item.compare_outputs, Counter()
    if not hasattr(notebook, "widget_states"):
        notebook.widget_states = {}
        notebook.get_kernel_message = listen(notebook.get_kernel_message, notebook.widget_states)

    def compare_all(test, ref, skip_compare=None):
        skip = (*(skip_compare or notebook.skip_compare), *FIGURES)
        own = has_own_numbers(notebook.nb, _figure_name(item.cell))
        if not compare_texts(
            _without_numbers(test) if own else test, _without_numbers(ref) if own else ref, skip
        ):
            warned = "".join(output["text"] for output in test if output.get("name") == "stderr")
            item.comparison_traceback += [warned] if warned else []  # nbval says only that there is some
            return False
        said = figure_difference(item, ref, test) or widget_difference(notebook, ref, test)
        if said:
            item.comparison_traceback.append(said)
            return False
        compared.update(kind(notebook.nb, item.cell, output) for output in ref)
        return True

    item.compare_outputs = compare_all
    result = yield
    item.user_properties.append(("outputs", dict(compared)))
    return result


def kind(notebook, cell, output) -> str:
    """Return what an output is counted as, one of KINDS."""
    data = output.get("data", {})
    if VIEW in data:
        name, counted = _widget_name(notebook, data[VIEW]["model_id"]), "widget"
    elif any(mime.startswith("image/") for mime in data):
        name, counted = _figure_name(cell), "figure"
    else:
        return "text"
    return f"{counted}, own numbers" if has_own_numbers(notebook, name) else counted


def has_own_numbers(notebook, name) -> bool:
    """Tell whether this machine cannot be asked for the stored numbers of a figure or widget: times, or training."""
    stored = notebook.metadata.get(RUN, {}).get("arithmetic")
    return name in MEASURED or (name in TRAINED and stored != kernel_arithmetic())


def _without_numbers(outputs) -> list:
    """Return outputs in which the caption and the alt text of a figure have # for each number."""
    plain = []
    for output in outputs:
        data = dict(output.get("data", {}))
        if any(mime.startswith("image/") for mime in data) and "text/plain" in data:
            data["text/plain"] = re.sub(r"\d[\d,.]*", "#", data["text/plain"])
        plain.append(type(output)({**output, "data": data}) if data else output)
    return plain


def figure_difference(item, stored, drawn) -> str:
    """Say how the figures of a cell differ from the stored ones; an empty text means that they are alike."""
    compare = GISTS if has_own_numbers(item.parent.nb, _figure_name(item.cell)) else FIGURES
    old, new = _pictures(stored), _pictures(drawn)
    if [mime for mime, _ in old] != [mime for mime, _ in new]:
        return f"{len(old)} figures are stored, {len(new)} were drawn, or of another type"
    for (mime, before), (_, after) in zip(old, new, strict=True):
        if mime not in compare:
            return f"there is no comparison of figures for {mime}: tests/book/nbval_report.py needs one"
        said = compare[mime](before, after)
        if said:
            return said
    return ""


def widget_difference(notebook, stored, shown) -> str:
    """Say how the widgets of a cell differ from the stored ones; an empty text means that they are alike."""
    old, new = (
        [output["data"][VIEW]["model_id"] for output in outputs if VIEW in output.get("data", {})]
        for outputs in (stored, shown)
    )
    if len(old) != len(new):
        return f"{len(old)} widgets are stored, {len(new)} were shown"
    states = stored_states(notebook.nb)
    for before, after in zip(old, new, strict=True):
        if before not in states:
            return f"widget {before} is shown, and its state is not stored: make notebooks"
        own = has_own_numbers(notebook.nb, _widget_name(notebook.nb, before))
        said = state_difference(states[before], notebook.widget_states[after], ANYWHERE if own else CLOSE)
        if said:
            return f"a widget differs: {said}"
    return ""


def pytest_terminal_summary(terminalreporter, config):
    """Say how many outputs were compared, of how many that the notebooks store."""
    compared, stored = _totals(terminalreporter)
    if stored:
        counts = [f"{compared[one]} of {stored[one]} {said}" for one, said in KINDS.items() if stored[one]]
        terminalreporter.write_line(f"notebooks: {', '.join(counts)}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Fail if all was asked for and an output went uncompared, or anything was expected to fail."""
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    if exitstatus != 0 or not everything_was_asked_for(config):
        return
    compared, stored = _totals(reporter)
    left = (stored - compared).total()
    expected = len(reporter.stats.get("xfailed", []))
    if left or expected:
        reporter.write_line("")
        reporter.write_line(f"FAILED: {left} stored outputs not compared, {expected} xfailed")
        session.exitstatus = 1


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _figure_name(cell) -> str:
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")


def _widget_name(notebook, model) -> str:
    return stored_states(notebook).get(model, {}).get("_anywidget_id", "").rpartition(".")[2]


def _pictures(outputs) -> list[tuple[str, str]]:
    """Return the type and the data of each picture."""
    return [
        (mime, data)
        for output in outputs
        for mime, data in sorted(output.get("data", {}).items())
        if mime.startswith("image/")
    ]


def _totals(reporter) -> tuple[Counter, Counter]:
    """Return how many outputs of each kind were compared, and how many the notebooks that ran store."""
    folder, compared, files = reporter.config.rootpath, Counter(), set()
    for reports in reporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) != "call":  # teardown repeats what the call noted
                continue
            for name, value in report.user_properties:
                if name == "outputs":
                    compared.update(value)
                    files.add(folder / report.nodeid.split("::")[0])
    if everything_was_asked_for(reporter.config):
        files = set(folder.glob("book/**/[!.]*.ipynb"))
    notebooks = [nbformat.read(file, as_version=4) for file in files]
    stored = Counter(
        kind(notebook, cell, output)
        for notebook in notebooks
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    return compared, stored
