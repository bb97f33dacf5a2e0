"""The settings of the test run itself, in pyproject.toml."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARK = "Benchmarks are automatically disabled because xdist plugin is active."


def run(folder, warning, *, when="pytest_configure(config)"):
    """Run one test under our settings, beside a plugin that warns while pytest starts, or at another time."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "warner.py").write_text(f"import warnings\n\ndef {when}:\n    warnings.warn({warning!r})\n")
    (folder / "test_one.py").write_text("def test_one():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "warner", "-q", "test_one.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.starts_process
def test_a_benchmark_plugin_that_is_installed_beside_does_not_stop_a_run_on_two_cores(tmp_path):
    done = run(tmp_path, BENCHMARK)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.starts_process
def test_any_other_warning_is_an_error(tmp_path):
    assert run(tmp_path, "something else", when="pytest_runtest_call(item)").returncode != 0


TWO = """import subprocess, sys

def test_that_starts():
    subprocess.run([sys.executable, "-c", ""], check=True)

def test_that_compiles():
    raise AssertionError
"""


@pytest.mark.starts_process
def test_a_quick_test_that_starts_a_process_fails_and_a_slow_one_is_left_out(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    plain = (ROOT / "conftest.py").read_text("utf8").replace("pytest_plugins", "_")
    (tmp_path / "conftest.py").write_text(plain, "utf8")
    (tmp_path / "test_two.py").write_text(TWO)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not starts_process and not slow", "test_two.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "must be marked starts_process" in done.stdout
    assert "1 passed, 1 deselected, 1 error" in done.stdout
