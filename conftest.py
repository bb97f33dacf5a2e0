"""Settings for every test run."""

import os
import tempfile
from pathlib import Path

pytest_plugins = ["tests.conformance.report", "tests.book.nbval_report"]

# kernels inherit these: no progress bars in compared outputs, and nobody's own progress is touched
os.environ["ATTNLIB_PROGRESS"] = "0"
os.environ["ATTNLIB_HOME"] = tempfile.mkdtemp(prefix="attnlib-test-")
# two workers with two threads each slow each other down fourfold; the models here are small anyway
os.environ.setdefault("OMP_NUM_THREADS", "1")
# a kernel runs in the folder of its notebook, where a relative PYTHONPATH leads nowhere
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)
