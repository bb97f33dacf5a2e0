"""What imports what, and what importing costs."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {p.relative_to(ROOT).with_suffix(""): p for p in (ROOT / "attnlib").rglob("*.py")}

# a module may import from the lines above its own
LAYERS = [
    {"_validate", "device", "cost", "counters"},
    {
        "_heads",
        "masks",
        "scoring",
        "positions",
        "cache",
        "tasks",
        "training",
        "measure",
        "recurrent",
        "timing",
        "wordvectors",
    },
    {"fused", "leakage"},
    {"functional"},
    {"multihead", "tiled", "linear", "local"},
    {"blocks", "probe", "roofline"},
    {"model"},
    {"plotting", "widgets"},
    {"learn"},
]
LEVEL = {name: i for i, names in enumerate(LAYERS) for name in names}


def imports(path, *, top_level_only=False):
    tree = ast.parse(path.read_text("utf8"))
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_imports_go_one_way():
    wrong = []
    for name, path in FILES.items():
        if name.name in ("__init__", "__main__") and len(name.parts) == 2:
            continue
        own = name.parts[1]
        for module in imports(path):
            parts = module.split(".")
            if parts[0] == "attnlib" and len(parts) > 1 and LEVEL[parts[1]] >= LEVEL[own] and parts[1] != own:
                wrong.append(f"{own} imports {parts[1]}")
    assert not wrong


def test_every_module_has_a_layer():
    own = {name.parts[1] for name in FILES} - {"__init__", "__main__"}
    assert own == set(LEVEL)


def test_modules_and_functions_stay_small():
    for name, path in FILES.items():
        text = path.read_text("utf8")
        # a bank of exercises is as long as its exercises are many
        assert len(text.splitlines()) <= 250 or "bank" in name.parts, path.name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                assert not body or body[-1].end_lineno - body[0].lineno < 45, node.name


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
