"""The reader of imports: what a module runs, and how far some code reaches."""

import ast

import pytest

from tools.imports import Reach, imported, loaded, modules

TREE = {
    "lib/__init__.py": "from lib.core import add\n",
    "lib/core.py": "def add(a, b):\n    return a + b\n",
    "lib/draw/__init__.py": '"""Drawings."""\nfrom lib.draw.bars import bars\nfrom lib.draw.grids import cell, grid\n',
    "lib/draw/_style.py": "INK = 1\n",
    "lib/draw/bars.py": "from lib.draw._style import INK\n\ndef bars():\n    return INK\n",
    "lib/draw/grids.py": "def cell():\n    from lib.core import add\n    return add\n\ndef grid():\n    return cell\n",
    "lib/made.py": "import lib.draw.bars\n\nclass Made:\n    pass\n\nmade = Made()\n",
}


@pytest.fixture
def lib(tmp_path):
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return modules(tmp_path / "lib")


def reached(lib, code):
    return {name.removeprefix("lib.") for name in Reach(lib).of(ast.parse(code))}


def test_modules_are_called_as_they_are_imported(lib):
    assert set(lib) == {
        *("lib", "lib.core", "lib.made"),
        *("lib.draw", "lib.draw._style", "lib.draw.bars", "lib.draw.grids"),
    }


def test_importing_a_module_runs_the_packages_above_it(lib):
    assert set(loaded("lib.made", lib)) == {"lib.draw", "lib.draw.bars"}
    assert set(loaded("lib.draw.grids", lib)) == {"lib.core"}


def test_imports_by_dots_alone_are_refused():
    with pytest.raises(ValueError, match="written out in full"):
        list(imported(ast.walk(ast.parse("from . import core"))))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from lib import draw\ndraw.bars()", {"lib", "draw", "draw.bars", "draw._style"}),
        ("from lib import draw as d\nd.grid()", {"lib", "draw", "draw.grids", "core"}),
        ("import lib.draw\nlib.draw.bars()", {"lib", "draw", "draw.bars", "draw._style"}),
        ("from lib.draw import grid", {"lib", "draw", "draw.grids", "core"}),
        (
            "from lib import draw\nshow(draw)",
            {"lib", "draw", "draw.bars", "draw._style", "draw.grids", "core"},
        ),
        ("from lib.made import made\nmade.up()", {"lib", "made", "draw", "draw.bars", "draw._style"}),
        ("patch('lib.core.add', 1)", {"lib", "core"}),
        ("files('lib.draw')", set()),
        ("import os\nfrom lib.core import add", {"lib", "core"}),
    ],
)
def test_a_package_that_only_hands_on_is_looked_through(lib, code, found):
    assert reached(lib, code) == found
