"""What a change concerns: tests and notebooks by imports, data by name, everything by pins."""

import subprocess

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.changed import Change, changed_files, last_on_main, reads

TREE = {
    "attnlib/__init__.py": "",
    "attnlib/core.py": "def add(a, b):\n    return a + b\n",
    "attnlib/runs.py": "def load():\n    return open('data/positions.json')\n",
    "attnlib/learn/bank/__init__.py": "TOPICS = ['adding', 'looking']\n",
    "tests/__init__.py": "",
    "tests/test_core.py": "from attnlib.core import add\n",
    "tests/test_runs.py": "from attnlib.runs import load\n",
    "tests/book/conftest.py": "from attnlib.core import add\n",
    "tests/book/test_front.py": "from tests.book import ROOT\nTEXT = ROOT / 'book/index.md'\n",
    "tests/book/__init__.py": "from tests.book.stored import NOTEBOOKS\nfrom tests.book.places import ROOT\n",
    "tests/book/places.py": "ROOT = 'here'\n",
    "tests/book/stored.py": "NOTEBOOKS = sorted(ROOT.glob('*.ipynb'))\n",
    "tests/book/test_forms.py": "from tests.book import NOTEBOOKS\nNOTEBOOKS[0]\n",
}


def notebook(code, prose="# A page"):
    cells = [new_markdown_cell(prose, id="a"), new_code_cell(code, id="b")]
    return nbformat.writes(new_notebook(cells=cells))


NOTEBOOKS = {
    "book/01_adding.ipynb": notebook("from attnlib.core import add\nadd(1, 2)"),
    "book/02_looking.ipynb": notebook("%matplotlib inline\nfrom attnlib import runs\nruns.load()"),
}


@pytest.fixture
def project(tmp_path):
    for name, text in (TREE | NOTEBOOKS).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for package in ("benchmarks", "tools", "book/_ext/paying_attention"):
        (tmp_path / package).mkdir(parents=True)
    return tmp_path


def concerned(project, *files):
    change = Change(project, list(files), (TREE | NOTEBOOKS).get)
    return {*change.tests(), *change.notebooks()}


FRONT, FORMS = "tests/book/test_front.py", "tests/book/test_forms.py"


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("attnlib/core.py", {"tests/test_core.py", FRONT, FORMS, "book/01_adding.ipynb"}),
        ("attnlib/runs.py", {"tests/test_runs.py", "book/02_looking.ipynb"}),
        ("attnlib/data/positions.json", {"tests/test_runs.py", "book/02_looking.ipynb"}),
        ("attnlib/data/others.json", set()),
        ("attnlib/learn/bank/looking.toml", {"book/02_looking.ipynb"}),
        ("tests/test_core.py", {"tests/test_core.py"}),
        ("tests/book/conftest.py", {FRONT, FORMS}),
        ("book/index.md", {FRONT}),
        ("README.md", set()),
    ],
)
def test_a_file_concerns_what_reaches_or_reads_it(project, file, found):
    assert concerned(project, file) == found


def test_a_pin_concerns_everything(project):
    tests = {name for name in TREE if "/test_" in name}
    assert concerned(project, "constraints.txt") == tests | set(NOTEBOOKS)


def test_a_notebook_is_run_again_for_its_code_and_not_for_its_prose(project):
    page = project / "book/01_adding.ipynb"
    page.write_text(notebook("from attnlib.core import add\nadd(1, 2)", prose="# Another title"))
    assert concerned(project, "book/01_adding.ipynb") == {FORMS}
    page.write_text(notebook("from attnlib.core import add\nadd(1, 3)"))
    assert concerned(project, "book/01_adding.ipynb") == {FORMS, "book/01_adding.ipynb"}


def test_a_new_notebook_is_run(project):
    (project / "book/03_new.ipynb").write_text(notebook("1 + 1"))
    assert "book/03_new.ipynb" in concerned(project, "book/03_new.ipynb")


@pytest.mark.parametrize(
    ("text", "file", "found"),
    [
        ("cost", "attnlib/widgets/static/cost.js", True),
        ("cost", "book/cost.md", False),
        ("*.md", "book/cost.md", True),
        ("*", "book/cost.md", False),
    ],
)
def test_a_file_is_read_by_its_name_or_a_pattern(text, file, found):
    assert reads({text}, file) is found


@pytest.mark.starts_process
def test_what_differs_from_main_counts_committed_or_not(project):
    def git(*arguments):
        settings = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", *settings, *arguments], cwd=project, check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "all")
    git("checkout", "-b", "work")
    (project / "attnlib/core.py").write_text("def add(a, b):\n    return b + a\n")
    git("commit", "-am", "changed")
    (project / "attnlib/runs.py").write_text("")
    (project / "attnlib/new.py").write_text("")
    commit, branch = last_on_main(project)
    assert branch == "main"
    assert changed_files(project, commit) == ["attnlib/core.py", "attnlib/new.py", "attnlib/runs.py"]
