"""What imports what, and what importing costs."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]

# a module may import from the lines above its own; a folder stands for all that is in it
LAYERS = [
    {"_heads", "_modes"},
    {"_check"},
    {"_validate"},
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


def modules():
    """Every module of the library by its dotted name; a folder's own code has the name of the folder."""
    for path in (ROOT / "attnlib").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


FILES = dict(modules())


def imports(name):
    """The modules of the library that a module runs when it is imported, or later inside a function.

    Importing ``a.b.c`` also runs the code of ``a`` and ``a.b``, unless the importer lives there itself.
    """
    for node in ast.walk(ast.parse(FILES[name].read_text("utf8"))):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: imports are written out in full"
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in found:
            parts = target.split(".")
            run = {".".join(parts[: i + 1]) for i in range(len(parts))} & set(FILES)
            yield from (module for module in run if not f"{name}.".startswith(f"{module}."))


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


def test_no_circle_anywhere():
    # static_order raises CycleError and names the modules of a circle
    list(TopologicalSorter({name: set(imports(name)) for name in FILES}).static_order())


def test_every_module_has_a_layer():
    own = {name.split(".")[1] for name in FILES if "." in name} - {"__main__"}
    assert own == set(LEVEL)


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_import_loads_torch_and_nothing_heavier():
    loaded = fresh(
        "import torch, sys; before = set(sys.modules); import attnlib;"
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    assert loaded.split() == ["attnlib"]


def test_learning_needs_neither_matplotlib_nor_widgets():
    loaded = fresh("import sys, attnlib.learn; print(*sys.modules)").split()
    assert not {"matplotlib", "ipywidgets", "anywidget", "IPython"} & set(loaded)
