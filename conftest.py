"""Settings for every test run, and the count of notebook outputs that nbval compared."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell

pytest_plugins = ["tests.conformance.report"]

# kernels inherit these: no progress bars in compared outputs, and nobody's own progress is touched
os.environ["ATTNLIB_PROGRESS"] = "0"
os.environ["ATTNLIB_HOME"] = tempfile.mkdtemp(prefix="attnlib-test-")
# two workers with two threads each slow each other down fourfold; the models here are small anyway
os.environ.setdefault("OMP_NUM_THREADS", "1")
# a kernel runs in the folder of its notebook, where a relative PYTHONPATH leads nowhere
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)


def pytest_configure(config):
    """Name nbval's sanitizer by a path that holds from any folder."""
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(config.rootpath / "tests/book/nbval_sanitize.cfg")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Note how many stored outputs of a cell were compared: nbval is silent when it compares none."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    item.output_timeout = 60  # nbval gives up after 5 s, which a busy machine needs after a long cell
    compare, compared = item.compare_outputs, []

    def counted(test, ref, skip_compare=None):
        same = compare(test, ref, skip_compare)
        if same:
            compared.extend(ref)
        return same

    item.compare_outputs = counted
    result = yield
    item.user_properties.append(("outputs", (len(compared), len(item.cell.get("outputs", [])))))
    return result


def pytest_terminal_summary(terminalreporter, config):
    """Say how many outputs were compared, of how many that the notebooks store."""
    compared, stored = _totals(terminalreporter)
    if stored or compared:
        terminalreporter.write_line(f"notebooks: {compared} of {stored} stored outputs compared and equal")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Fail if an output went uncompared, or if anything was expected to fail."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput"):
        return
    compared, stored = _totals(reporter)
    expected = len(reporter.stats.get("xfailed", []))
    if exitstatus == 0 and (compared < stored or expected):
        reporter.write_line("")
        reporter.write_line(f"FAILED: {stored - compared} stored outputs not compared, {expected} xfailed")
        session.exitstatus = 1


def _totals(reporter):
    """Return how many outputs were compared, and how many the notebooks that ran store."""
    compared, files = 0, set()
    for reports in reporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) != "call":  # teardown repeats what the call noted
                continue
            for name, value in report.user_properties:
                if name == "outputs":
                    compared += value[0]
                    files.add(report.nodeid.split("::")[0])
    if reporter.config.args_source is pytest.Config.ArgsSource.TESTPATHS:  # everything was asked for
        folder = reporter.config.rootpath
        files = {path.relative_to(folder) for path in folder.glob("book/**/[!.]*.ipynb")}
    stored = 0
    for file in files:
        notebook = json.loads((reporter.config.rootpath / file).read_text("utf8"))
        stored += sum(len(cell.get("outputs", [])) for cell in notebook["cells"])
    return compared, stored
