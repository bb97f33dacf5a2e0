"""The tool that breaks the library: what it breaks, in which order, and when it is content."""

import ast
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import mutants, mutate
from tests.mutation import FLOOR, MODULES, entering_tests, in_stages, shuffled, wanted

ROOT = Path(__file__).parents[1]
SOURCE = '''
"""Text stays 1."""
LIMIT = 3

class Layer:
    width = 5

    @decorated(7)
    def forward(self, x: "1 + 1", causal=True):
        def inner():
            return x < 2
        check(x)
        if not causal:
            raise ValueError("no" + "t")
        return join(x, device=x.device)
'''


def changes(source):
    return {mutant.change: mutant for mutant in mutants("layer", source)}


def test_mistakes_are_made_in_what_runs_and_nowhere_else():
    assert list(changes(SOURCE)) == [
        "3  ->  4",
        "5  ->  6",
        "True  ->  False",
        "x < 2  ->  x <= 2",
        "2  ->  3",
        "check(x)  ->  pass",
        "not causal  ->  causal",
        "join(x, device=x.device)  ->  join(x)",
    ]


def test_each_mutant_differs_from_the_source_in_its_own_change():
    for mutant in mutants("layer", SOURCE):
        before, after = mutant.change.split("  ->  ")
        original, broken = ast.unparse(ast.parse(SOURCE)), mutate(mutant, SOURCE)
        assert broken != original
        assert broken.count(after) == original.count(after) + 1 or broken.count(before) < original.count(
            before
        )


def test_a_mutant_knows_the_outermost_function_around_it():
    found = changes(SOURCE)
    assert found["x < 2  ->  x <= 2"].function == "Layer.forward"
    assert found["True  ->  False"].function == "Layer.forward"  # a default
    assert found["5  ->  6"].function == found["3  ->  4"].function == ""


def test_the_whole_core_is_broken():
    assert {
        "_heads",
        "_check",
        "backends/tiled",
        "functional",
        "masks",
        "model",
        "instruments/leaks",
    } <= set(MODULES)
    assert all((ROOT / "attnlib" / f"{module}.py").exists() for module in MODULES)


def test_every_beginning_of_the_order_is_spread_over_the_modules():
    large = mutants("large", "x = [" + ", ".join(map(str, range(70))) + "]")
    small = mutants("small", "x = [" + ", ".join(map(str, range(7))) + "]")
    first = [mutant.module for mutant in shuffled(large + small, seed=0)[:22]]
    assert first.count("small") == 2
    assert (
        shuffled(large + small, seed=0) == shuffled(small + large, seed=0) != shuffled(large + small, seed=1)
    )


def test_a_new_mutant_leaves_the_others_in_their_order():
    before, after = (mutants("m", f"x = [{start}3, 5, 7, 11, 13]") for start in ("", "2, "))
    texts = [mutant.change for mutant in shuffled(after, seed=0)]
    texts.remove("2  ->  3")
    assert texts == [mutant.change for mutant in shuffled(before, seed=0)]


def test_all_mutants_must_meet_the_floor_and_a_sample_may_be_as_unlucky_as_one_in_a_hundred():
    assert wanted(100, of=100) == 92
    for tried in (24, 60, 101):
        least = wanted(tried, of=1000)
        chances = [math.comb(tried, n) * FLOOR**n * (1 - FLOOR) ** (tried - n) for n in range(tried + 1)]
        assert sum(chances[:least]) <= 0.01 < sum(chances[: least + 1])
    assert wanted(24, of=1000) / 24 < wanted(101, of=1000) / 101 < FLOOR < wanted(1408, of=1422) / 1408 + 0.02


def test_a_mutant_meets_the_tests_that_enter_its_function_those_of_its_own_file_first():
    mutant = changes(SOURCE)["x < 2  ->  x <= 2"]
    noted = {
        "tests/test_a.py::test_1": (0.1, ["layer:Layer.forward", "other:f"]),
        "tests/test_a.py::test_2": (0.1, ["layer:Layer.forward"]),
        "tests/test_layer.py::test_3": (0.3, ["layer:Layer.forward"]),
        "tests/test_layer.py::test_4": (0.3, ["layer:Layer.other"]),
    }
    chosen = entering_tests(mutant, noted)
    assert [name[-1] for name in chosen] == ["1", "2", "3"]
    assert [files for files, _ in in_stages(mutant, chosen)] == [["tests/test_layer.py"], ["tests/test_a.py"]]
    at_import = changes(SOURCE)["3  ->  4"]
    assert len(entering_tests(at_import, noted)) == 4


@pytest.fixture
def project(tmp_path):
    """A library of two lines, with a test that looks at one of them, and the tool."""
    files = {
        "attnlib/__init__.py": "",
        "attnlib/masks.py": "def seen():\n    return 2\n\n\ndef unseen():\n    return 3\n",
        "tests/__init__.py": "",
        "tests/test_masks.py": "from attnlib.masks import seen, unseen\n\n\n"
        "def test_values():\n    assert seen() == 2\n    assert unseen()\n",
        "conftest.py": "",
        "pyproject.toml": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf8")
    for name in ("mutants.py", "mutation.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    return tmp_path


def run(project):
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutation", "--modules", "masks", "--jobs", "2"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.starts_process
def test_what_no_test_notices_is_listed_and_fails(project):
    code, said = run(project)
    assert code == 1, said
    assert "unnoticed: masks.py:6: 3 -> 4" in said
    assert "FAILED: mutation: 1 of 2 mutants noticed (50.0%); at least 2 (92%) must be" in said


@pytest.mark.starts_process
def test_it_refuses_to_start_from_tests_that_fail(project):
    (project / "tests/test_masks.py").write_text("def test_nothing():\n    assert False\n", "utf8")
    code, said = run(project)
    assert code == 2, said
    assert "pytest tests/test_masks.py fails before anything is broken" in said
