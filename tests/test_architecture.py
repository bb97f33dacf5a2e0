"""What imports what, what importing costs, and that nothing is written twice."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tools.imports import loaded, modules

ROOT = Path(__file__).parents[1]

# a module may import from the lines above its own; a folder stands for all that is in it
LAYERS = [
    {"_heads", "_modes"},
    {"_check", "_hidden"},
    {"masks", "mask_rules", "scoring", "positions", "cache"},
    {"_plan"},
    {"backends"},
    {"functional", "linear"},
    {"multihead"},
    {"blocks"},
    {"model"},
    {"instruments"},
    {"device"},
    {"experiments", "plotting"},
    {"widgets"},
    {"learn"},
]
# these have a folder for each page; a folder of another name is shared
BY_PAGE = {"experiments": {"tasks"}, "plotting": {"kit"}}
PAGES = {re.sub(r"^\d+_", "", path.stem) for path in (ROOT / "book").glob("*.ipynb")}
LEVEL = {name: i for i, names in enumerate(LAYERS) for name in names}


FILES = modules(ROOT / "attnlib")
BOOK = modules(ROOT / "book/_ext/paying_attention")
# of the extension of the book: a room may import from the lines above its own, and within itself
ROOMS = [{"html_element", "browser"}, {"page", "links", "light"}, {"site"}, {"order"}]


@cache
def imports(name):
    """The modules that a module runs when it is imported, or later inside a function."""
    return tuple(loaded(name, FILES if name in FILES else BOOK))


def test_imports_go_one_way():
    wrong = []
    for name in FILES:
        own = name.split(".")[1:2]
        for target in imports(name) if own and own != ["__main__"] else ():
            room = target.split(".")[1]
            if room != own[0] and LEVEL[room] >= LEVEL[own[0]]:
                wrong.append(f"{name} imports {target}")
    assert not wrong


def test_a_folder_has_the_name_of_a_page_or_is_shared():
    for room, shared in BY_PAGE.items():
        folders = {path.parent.name for path in (ROOT / "attnlib" / room).glob("*/__init__.py")}
        assert shared < folders
        assert folders <= shared | PAGES


def test_a_page_imports_what_is_shared_and_nothing_of_another_page():
    wrong = []
    for name in FILES:
        _, room, own, *_ = f"{name}..".split(".")
        for target in imports(name) if room in BY_PAGE and own else ():
            _, there, other, *_ = f"{target}..".split(".")
            if there == room and other not in ("", own) and (other in PAGES or own == "kit"):
                wrong.append(f"{name} imports {target}")
    assert not wrong


def test_backends_import_what_is_common_and_not_each_other():
    backends = {name for name in FILES if name.startswith("attnlib.backends.")} - {"attnlib.backends.choose"}
    wrong = [f"{name} imports {x}" for name in backends for x in imports(name) if x in backends]
    assert len(backends) > 5
    assert not wrong


def test_rooms_of_the_book_import_one_way():
    level = {name: i for i, names in enumerate(ROOMS) for name in names}
    rooms = {name: name.split(".")[1] for name in BOOK if "." in name}
    assert set(rooms.values()) == set(level)
    wrong = []
    for name, room in rooms.items():
        for target in imports(name):
            there = rooms.get(target, room)
            if there != room and level[there] >= level[room]:
                wrong.append(f"{name} imports {target}")
    assert not wrong


@pytest.mark.parametrize("files", [FILES, BOOK], ids=["attnlib", "book"])
def test_no_circle_anywhere(files):
    # static_order raises CycleError and names the modules of a circle
    list(TopologicalSorter({name: set(imports(name)) for name in files}).static_order())


def test_every_module_has_a_layer():
    own = {name.split(".")[1] for name in FILES if "." in name} - {"__main__"}
    assert own == set(LEVEL)


def code(path):
    """The lines of a file that compute: no signatures, texts that document, imports, remarks or mere brackets."""
    text = path.read_text("utf8")
    left = set()
    for node in ast.walk(ast.parse(text)) if path.suffix == ".py" else ():
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            left.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            left.update(range(node.lineno, node.body[0].lineno))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            left.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if number not in left and any(map(str.isalnum, line)) and not line.startswith(("#", "//", "*")):
            yield number, line


def test_no_six_lines_of_code_stand_twice():
    found = {}
    for folder in ("attnlib", "book/_ext"):
        for path in (one for ending in ("py", "js", "css") for one in (ROOT / folder).rglob(f"*.{ending}")):
            lines = list(code(path))
            for i in range(len(lines) - 5):
                numbers, six = zip(*lines[i : i + 6], strict=True)
                found.setdefault(six, []).append(f"{path.relative_to(ROOT)}:{numbers[0]}")
    assert len(found) > 5_000
    assert not [places for places in found.values() if len(places) > 1]


def fresh(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.starts_process
def test_import_loads_torch_and_nothing_heavier():
    loaded = fresh(
        "import torch, sys; before = set(sys.modules); import attnlib;"
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    assert loaded.split() == ["attnlib"]


@pytest.mark.starts_process
def test_learning_needs_neither_matplotlib_nor_widgets():
    loaded = fresh("import sys, attnlib.learn; print(*sys.modules)").split()
    assert not {"matplotlib", "ipywidgets", "anywidget", "IPython"} & set(loaded)
