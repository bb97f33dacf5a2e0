"""The settings of the test run itself, in pyproject.toml."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BENCHMARK = "Benchmarks are automatically disabled because xdist plugin is active."


def run(folder, warning, *, when="pytest_configure(config)"):
    """Run one test under our settings, beside a plugin that warns while pytest starts, or at another time."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "warner.py").write_text(f"import warnings\n\ndef {when}:\n    warnings.warn({warning!r})\n")
    (folder / "test_one.py").write_text("def test_one():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "warner", "-q", "test_one.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_benchmark_plugin_that_is_installed_beside_does_not_stop_a_run_on_two_cores(tmp_path):
    done = run(tmp_path, BENCHMARK)
    assert done.returncode == 0, done.stdout + done.stderr


def test_any_other_warning_is_an_error(tmp_path):
    assert run(tmp_path, "something else", when="pytest_runtest_call(item)").returncode != 0
