"""Run what a change concerns: the tests and the notebooks that can have noticed it, and no others.

A change is what differs from the last commit that main has (origin/main, where there is one). A module
concerns what reaches it by imports, as `tools/imports.py` reads them; a data file, what names it; a pin,
everything. What opens the built book is left to `make test`; so is what starts a process, if no code
changed. Says what it runs and what it leaves.

python tools/changed.py [--list] [arguments for pytest]
"""

from __future__ import annotations

import ast
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

sys.path.append(str(Path(__file__).parents[1]))  # when run as a script

from tools.imports import Reach, modules, prefixes

ROOT = Path(__file__).parents[1]
PACKAGES = ("attnlib", "benchmarks", "book/_ext/paying_attention", "tests", "tools")
PINS = ("requirements.txt", "constraints.txt")
BANK = "attnlib/learn/bank/"
STORED = (BANK, "attnlib/data/", "attnlib/widgets/static/")  # what code names without its ending


def git(root: Path, *arguments: str) -> str | None:
    """Return what git says, or None if it refuses."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def last_on_main(root: Path) -> tuple[str, str]:
    """Return the commit from which this tree differs, and the name of the branch that has it."""
    for branch in ("origin/main", "main"):
        if commit := git(root, "merge-base", "HEAD", branch):
            return commit.strip(), branch
    return "HEAD", "HEAD"


def changed_files(root: Path, commit: str) -> list[str]:
    """Return the files that differ from a commit, those that git does not know yet included."""
    known = git(root, "diff", "--name-only", commit, "--") or ""
    new = git(root, "ls-files", "--others", "--exclude-standard") or ""
    return sorted({*known.splitlines(), *new.splitlines()})


class Change:
    """A set of changed files, and what they concern.

    Args:
        root: The folder of the project.
        files: What changed, seen from there.
        before: Returns the text that a file had, or None if it was not there.
    """

    def __init__(self, root: Path, files: list[str], before) -> None:
        """Read the imports of the project."""
        self.root, self.files, self.before = root, files, before
        self.paths = {}
        for package in PACKAGES:
            self.paths |= modules(root / package)
        self.reach = Reach(self.paths)

    @cached_property
    def pins(self) -> list[str]:
        """The changed files that say what is installed."""
        return [file for file in self.files if file in PINS]

    @cached_property
    def names(self) -> dict[str, str]:
        """The changed modules, by name."""
        here = {path.relative_to(self.root).as_posix(): name for name, path in self.paths.items()}
        return {here[file]: file for file in self.files if file in here}

    @cached_property
    def data(self) -> list[str]:
        """The changed files that are neither code nor notebooks nor pins: somebody may read them."""
        return [file for file in self.files if file not in PINS and not file.endswith(".py")]

    def concerns(self, tree: ast.AST, data: list[str]) -> str:
        """Return the first changed module that some code reaches, or of these data files that it reads."""
        reached = self.reach.of(tree)
        for name in sorted(reached & self.names.keys()):
            return self.names[name]
        own = [self._constants[name] for name in reached if not self.reach.hands_on(name)]
        texts = _texts(tree).union(*own)
        return next((file for file in data if reads(texts, file)), "")

    @cached_property
    def _constants(self) -> dict[str, set[str]]:
        return {name: _texts(tree) for name, tree in self.reach.trees.items()}

    def tests(self) -> dict[str, str]:
        """Return the files of tests that the change concerns, and by which file."""
        found = {}
        for name, path in self.paths.items():
            if path.name.startswith("test_"):
                file = path.relative_to(self.root).as_posix()
                if why := self._why_test(file, name):
                    found[file] = why
        return found

    def _why_test(self, file: str, name: str) -> str:
        if self.pins or file in self.files:
            return [*self.pins, file][0]
        # fixtures come without an import
        fixtures = [f"{folder}.conftest" for folder in prefixes(name.rpartition(".")[0])]
        for module in (name, *(one for one in fixtures if one in self.paths)):
            if module in self.names:
                return self.names[module]
            if why := self.concerns(self.reach.trees[module], self.data):
                return why
        return ""

    def notebooks(self) -> dict[str, str]:
        """Return the notebooks that the change concerns, and by which file."""
        files = [path.relative_to(self.root).as_posix() for path in self.all_notebooks]
        return {file: why for file in files if (why := self._why_notebook(file))}

    @cached_property
    def all_notebooks(self) -> list[Path]:
        """The notebooks of the book."""
        found = sorted((self.root / "book").rglob("[!.]*.ipynb"))
        return [path for path in found if ".ipynb_checkpoints" not in path.parts]

    def _why_notebook(self, file: str) -> str:
        """Return by which file; of the exercises, which every notebook can read, those of its own chapter."""
        if self.pins:
            return self.pins[0]
        now = run_of((self.root / file).read_text("utf8"))
        if file in self.files and now != run_of(self.before(file)):
            return file
        banks = {one for one in self.data if one.startswith(BANK)}
        own = [one for one in banks if Path(one).stem in file]
        code = ast.parse("\n".join(source for source, _ in now))
        return own[0] if own else self.concerns(code, [one for one in self.data if one not in banks])


def reads(texts: set[str], file: str) -> bool:
    """Tell whether some texts hold a file's name or a pattern of it; a stored file may lack its ending."""
    name, stem = Path(file).name, Path(file).stem
    if name in texts or (file.startswith(STORED) and stem in texts):
        return True
    return any(fnmatch(name, text) for text in texts if "*" in text and text.strip("*") not in ("", "."))


def run_of(text: str | None) -> list[tuple[str, str]]:
    """Return the code cells of a notebook as Python, each with what it stored."""
    if text is None:
        return []
    cells = [cell for cell in nbformat.reads(text, as_version=4).cells if cell.cell_type == "code"]
    plain = TransformerManager().transform_cell
    return [(plain(cell.source), str(cell.outputs)) for cell in cells]


@cache
def _texts(tree: ast.AST) -> set[str]:
    """Return the last parts of the texts in some code: a file's name, if it is one."""
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value.rpartition("/")[2] for value in found if isinstance(value, str) and "\n" not in value}


def main(arguments: list[str]) -> int:
    """Say what the change concerns, and run it."""
    commit, branch = last_on_main(ROOT)
    files = changed_files(ROOT, commit)
    print(f"{len(files)} files differ from {branch} ({commit[:7]})", flush=True)
    if not files:
        return 0
    change = Change(ROOT, files, lambda file: git(ROOT, "show", f"{commit}:{file}"))
    tests, notebooks = change.tests(), change.notebooks()
    # where no code changed, what starts a process would only say again what it said before
    left = ["built_pages"] if change.names or change.pins else ["built_pages", "starts_process"]
    for kind, found in (("notebooks", notebooks), ("files of tests", tests)):
        print(f"{len(found)} {kind}" + (":" if found else ""))
        for file, why in found.items():
            print(f"  {file}" + (f"  for {why}" if why != file else ""))
    all_tests = [name for name, path in change.paths.items() if path.name.startswith("test_")]
    others = (
        f"{len(change.all_notebooks) - len(notebooks)} notebooks, {len(all_tests) - len(tests)} test files"
    )
    print(f"left to `make test`: {others}, the marks {' and '.join(left)}, coverage and mutants", flush=True)
    if "--list" in arguments or not (tests or notebooks):
        return 0
    command = [sys.executable, "-m", "pytest", *arguments, "-m", " and ".join(f"not {mark}" for mark in left)]
    code = subprocess.run([*command, *notebooks, *tests], cwd=ROOT, check=False).returncode
    return 0 if code == 5 else code  # nothing left to run, once what opens the built book is out


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
