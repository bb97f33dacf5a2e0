"""Rebuild ``attnlib/data/manuals.txt.xz``: the manuals that chapter 9's model has read, as plain paragraphs.

``python -m tools.build_manuals`` gathers the docstrings of Python's standard library, NumPy, Matplotlib and
PyTorch as they are installed, and Python's own manual from Debian's ``python3.11-doc``, which apt fetches.
"""

import ast
import hashlib
import lzma
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tools.plain_manual import paragraphs

TARGET = Path(__file__).parents[1] / "attnlib/data/manuals.txt.xz"
SHA256 = "886a9b568ec197c81f9b4fea3b3961041cf310cc8da022c317900bfb7085653b"
DEBIAN = "python3.11-doc"
MADE_WITH = {
    "python": "3.11.7",
    "numpy": "2.4.6",
    "matplotlib": "3.11.2",
    "torch": "2.13.0",
    DEBIAN: "3.11.2-6+deb12u9",
}
PACKAGES = ("numpy", "matplotlib", "mpl_toolkits", "torch")
SKIPPED = {"test", "tests", "testing", "idlelib", "lib2to3", "site-packages", "turtledemo", "ensurepip"}
NOT_READ = {"whatsnew", "license", "copyright", "about", "contents", "index"}  # of Python's manual
ADDS_A_DOCSTRING = {"add_docstr", "_add_docstr", "add_newdoc", "add_docstr_all", "add_newdoc_ufunc"}
PAGE = 3000  # letters after which a new document begins
HELD = 50  # every so many-th document is held out
SAME = 8  # so many words in a row that stand elsewhere too count as copied


def main() -> int:
    """Rebuild the file and compare it with the one we know."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [list(manual_pages(Path(folder))), *map(list, library_pages())]
    text = "\f".join(arrange(sources))
    found = hashlib.sha256(text.encode()).hexdigest()
    TARGET.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(text):,} letters, {text.count(chr(12)) + 1:,} documents, {TARGET.stat().st_size:,} bytes")
    print(f"{TARGET.name}: text has sha256 {found}, {'as' if found == SHA256 else 'NOT as'} expected")
    print(f"made with {versions()}; what is stored was made with {MADE_WITH}")
    return int(found != SHA256)


def versions() -> dict[str, str]:
    """Return the versions that are installed here."""
    here = {name: version(name).partition("+")[0] for name in ("numpy", "matplotlib", "torch")}
    return {"python": sysconfig.get_config_var("py_version"), **here}


def manual_pages(folder: Path) -> Iterator[list[str]]:
    """Fetch Python's manual and yield the paragraphs of each of its pages."""
    subprocess.run(["apt-get", "download", DEBIAN], cwd=folder, check=True, capture_output=True)
    (package,) = folder.glob("*.deb")
    subprocess.run(["dpkg", "-x", package.name, "unpacked"], cwd=folder, check=True)
    for path in sorted(folder.glob("unpacked/usr/share/doc/python3.11/html/_sources/**/*.rst.txt")):
        if not NOT_READ.intersection((path.parent.name, path.name.partition(".")[0])):
            yield paragraphs(path.read_text("utf8"))


def library_pages() -> Iterator[Iterator[list[str]]]:
    """Yield, for the standard library and for each package, the paragraphs of each of its files."""
    places = sysconfig.get_paths()
    for root in (Path(places["stdlib"]), *(Path(places["purelib"]) / name for name in PACKAGES)):
        wanted = [path for path in sorted(root.rglob("*.py")) if is_wanted(path.relative_to(root))]
        yield map(file_paragraphs, wanted)


def is_wanted(path: Path) -> bool:
    """Whether a file belongs to what is documented: not to tests, private parts or what others wrote."""
    private = any(part.startswith("_") and part != "_core" for part in path.parts[:-1])
    return not (private or SKIPPED.intersection(path.parts) or path.name.startswith("test_"))


def file_paragraphs(path: Path) -> list[str]:
    """Return the paragraphs of all docstrings of a file, in order."""
    return [line for text in docstrings(path) for line in paragraphs(text)]


def docstrings(path: Path) -> Iterator[str]:
    """Yield the docstrings of a file, also those that are added to functions written in C."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes that a newer Python no longer likes
        try:
            tree = ast.parse(path.read_text("utf8"))
        except (SyntaxError, UnicodeDecodeError):  # templates
            return
    for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ADDS_A_DOCSTRING:
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and "\n" in part.value:
                    yield part.value


def arrange(sources: list[list[list[str]]]) -> list[str]:
    """Return the documents: each paragraph once, every `HELD`-th document held out, none of those copied."""
    seen, train, held = set(), [], []
    for files in sources:
        pages = [pages for file in files if (pages := cut(drop_seen(file, seen)))]
        chosen = held_files(pages)
        for i, documents in enumerate(pages):
            (held if i in chosen else train).extend(documents)
    known = {run for document in train for run in runs(document)}
    held = [document for document in held if copied(document, known) < 0.1]
    held = held[: len(train) // (HELD - 1)]
    rest = iter(train)
    woven = [page for document in held for page in (document, *(next(rest) for _ in range(HELD - 1)))]
    return woven + list(rest)  # every `HELD`-th of these is neither read nor measured on


def drop_seen(lines: list[str], seen: set[str]) -> list[str]:
    """Leave out long paragraphs that came before, here or in another file."""
    kept = []
    for line in lines:
        if line not in seen:
            kept.append(line)
        if len(line) > 40:
            seen.add(line)
    return kept


def cut(lines: list[str]) -> list[str]:
    """Cut the paragraphs of a file into documents of about `PAGE` letters; what is very short is left out."""
    pages, page = [], []
    for line in lines:
        page.append(line)
        if sum(map(len, page)) >= PAGE:
            pages.append("\n".join(page))
            page = []
    pages.append("\n".join(page))
    return [page for page in pages if len(page) >= 200]


def held_files(pages: list[list[str]]) -> set[int]:
    """Choose whole files to hold out, a fiftieth of the documents, spread by a hash of what is in them."""
    order = sorted(range(len(pages)), key=lambda i: hashlib.sha256(pages[i][0].encode()).hexdigest())
    room, chosen = 1.15 * sum(map(len, pages)) / HELD, set()
    for i in order:
        if len(pages[i]) <= max(1, room / 4):
            chosen.add(i)
            room -= len(pages[i])
        if room < 1:
            break
    return chosen


def runs(document: str) -> set[tuple[str, ...]]:
    """Return every run of `SAME` words of a document."""
    words = document.lower().split()
    return {tuple(words[i : i + SAME]) for i in range(len(words) - SAME + 1)}


def copied(document: str, known: set[tuple[str, ...]]) -> float:
    """Return the share of a document's runs of words that stand in the other documents too."""
    own = runs(document)
    return len(own & known) / max(1, len(own))


if __name__ == "__main__":
    sys.exit(main())
