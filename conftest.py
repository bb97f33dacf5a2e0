"""Settings for every test run."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

pytest_plugins = ["tests.conformance.report", "tests.book.nbval_report"]

# kernels inherit these: no progress bars in compared outputs, and nobody's own progress is touched
os.environ["ATTNLIB_PROGRESS"] = "0"
os.environ["ATTNLIB_HOME"] = tempfile.mkdtemp(prefix="attnlib-test-")
atexit.register(shutil.rmtree, os.environ["ATTNLIB_HOME"], ignore_errors=True)
# two workers with two threads each slow each other down fourfold; the models here are small anyway
os.environ.setdefault("OMP_NUM_THREADS", "1")
# a kernel runs in the folder of its notebook, where a relative PYTHONPATH leads nowhere
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# a test that asks for one of these starts a browser, Sphinx, pip or pytest; others are marked themselves
PROCESSES = {"archives", "chromium", "pytester", "site", "small"}
# what compiles, exports, differentiates by steps, trains or draws cases by the hundred; others are marked
COMPILED = ("compile", "export")
SLOW_KINDS = (*COMPILED, "finite_differences")
SLOW_FILES = ("tests/experiments/", "tests/test_fuzz.py")
QUICK = "not starts_process and not slow"  # what `make quick` selects
HARMLESS = {"fc-list", "ldconfig", "uname"}  # asked once by matplotlib, and by Python of its platform
started = []


def pytest_configure(config):
    """Watch for processes where none is to be started."""
    if config.option.markexpr == QUICK:
        sys.addaudithook(note_process)


def note_process(event, arguments):
    """Note a process that is started."""
    if event in ("os.fork", "os.posix_spawn", "subprocess.Popen"):
        name = Path(str(arguments[0])).name if arguments else event
        if name not in HARMLESS:
            started.append(name)


def pytest_collection_modifyitems(items):
    """Mark the tests that start a process, that take their time, and that open the built book."""
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        if asked & PROCESSES:
            item.add_marker("starts_process")
        if "site" in asked:
            item.add_marker("built_pages")
        if item.nodeid.startswith(SLOW_FILES) or any(kind in item.name for kind in SLOW_KINDS):
            item.add_marker("slow")


# what compiles, or waits for a kernel or a browser, takes twice as long when every line of Python is watched
UNWATCHED = ("tests/book/", "tests/tools/", "book/")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Count the processes that are started from here on."""
    started.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """Let a quick test fail that has started a process."""
    result = yield
    assert not started, f"a test that starts a process ({started[0]}) must be marked starts_process"
    return result


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    """Watch no line of tests that reach none of the library which others do not.

    pytest-cov's own ``no_cover`` does it in one process alone: its workers have a second collector, which
    goes on where the first is stopped.
    """
    if not (item.nodeid.startswith(UNWATCHED) or any(kind in item.name for kind in COMPILED)):
        return (yield)
    watched = sys.gettrace()
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(watched)
