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

# what compiles, or waits for a kernel or a browser, takes twice as long when every line of Python is watched
UNWATCHED = ("tests/book/", "tests/tools/", "book/")
UNWATCHED_KINDS = ("compile", "export")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    """Watch no line of tests that reach none of the library which others do not.

    pytest-cov's own ``no_cover`` does it in one process alone: its workers have a second collector, which
    goes on where the first is stopped.
    """
    if not (item.nodeid.startswith(UNWATCHED) or any(kind in item.name for kind in UNWATCHED_KINDS)):
        return (yield)
    watched = sys.gettrace()
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(watched)
