"""Python on the page: what a cell needs to run where it is read, as two archives beside the pages.

One is Pyodide, npm's own archive as it is (``tools/find_pyodide.py``); the other is the book's: ``attnlib``,
and of ``book/live`` the worker, ``host.py`` and a small torch. Each is written twice, as it is and as a
script with base64, which is all that a page opened from the disk may load. Its name holds its hash, so that a
page never gets that of another build. ``book/_static/python.js`` asks for them when a reader does, and not
before; a site without a page that has something to run has none of this.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path
from runpy import run_path

import nbformat
from attnlib.learn import bank, judging
from sphinx.util import logging

logger = logging.getLogger(__name__)

BOOK = Path(__file__).parents[3]
LIVE = BOOK / "live"
LIBRARY = BOOK.parent / "attnlib"
FINDER = BOOK.parent / "tools" / "find_pyodide.py"

FOLDER = "_static/python"
LEFT_OUT = ("plotting", "widgets", "data")  # of attnlib: what needs matplotlib, or Jupyter, or much room
MISSING = (
    "Python is not part of this copy of the book: it was built where it could not be fetched. "
    "Build it again with a network, or open the notebook."
)
FACTS = re.compile(r'<script type="application/json" id="pa-python">.*?</script>')
SCRIPT = re.compile(r'<script [^>]*src="([^"]*)_static/python\.js')
CHECKED = re.compile(r'^check\("([\d.]+)", (.+)\)$', re.M)


def pyodide() -> bytes | None:
    """Return the archive of Pyodide, or None where there is none."""
    archive = run_path(str(FINDER))["installed"]()
    return archive.read_bytes() if archive else None


def own() -> bytes:
    """Return the archive of what is the book's; the same for the same files."""
    files = {"exercises.json": json.dumps(exercises(), sort_keys=True).encode()}
    for path in [*LIVE.rglob("*.py"), *LIVE.rglob("*.txt"), LIVE / "worker.js"]:
        files[path.relative_to(LIVE).as_posix()] = path.read_bytes()
    for path in [*LIBRARY.rglob("*.py"), *LIBRARY.rglob("*.toml")]:
        if path.relative_to(LIBRARY).parts[0] not in LEFT_OUT:
            files[path.relative_to(LIBRARY.parent).as_posix()] = path.read_bytes()
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            about = tarfile.TarInfo(name)  # of no date and nobody's
            about.size = len(files[name])
            archive.addfile(about, io.BytesIO(files[name]))
    return gzip.compress(held.getvalue(), mtime=0)


def exercises() -> dict:
    """Return what the page needs to know of the exercises that ask for a function, for `host.facts`."""
    found, setup = {}, {}
    for chapter, topic in bank.CHAPTERS.items():
        notebook = nbformat.read(BOOK / "exercises" / f"{chapter:>02}_{topic}.ipynb", 4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        setup[chapter] = "\n".join(c.source for c in cells if "setup" in c.metadata.get("tags", []))
        for id, answer in CHECKED.findall("\n".join(cell.source for cell in cells)):
            if id not in judging.read():
                found[id] = {"chapter": chapter, "answer": answer}
    return {"exercises": found, "setup": setup}


def ship(folder: Path) -> dict:
    """Write both archives into a folder of the site.

    Returns:
        What ``python.js`` needs to know: of each archive its name for a reader, its file without a suffix,
        and its size; or ``missing``, a sentence.
    """
    python = pyodide()
    if python is None:
        return {"missing": MISSING}
    folder.mkdir(parents=True, exist_ok=True)
    archives = []
    for name, archive in (("pyodide", python), ("attnlib", own())):
        file = f"{name}-{hashlib.sha256(archive).hexdigest()[:12]}"
        (folder / f"{file}.bin").write_bytes(archive)
        text = base64.b64encode(archive).decode()
        (folder / f"{file}.js").write_text(f'window.pa.python.take("{file}", "{text}");\n', "utf8")
        archives.append({"name": name, "file": file, "bytes": len(archive)})
    return {"archives": archives}


def tell(text: str, facts: dict) -> str:
    """Return a page that knows where Python is; one that has nothing to run as it was."""
    script = SCRIPT.search(text)
    if script is None:
        return text
    held = json.dumps({"root": f"{script[1]}{FOLDER}/"} | facts, sort_keys=True)
    text = FACTS.sub("", text)
    at = SCRIPT.search(text).start()
    return f'{text[:at]}<script type="application/json" id="pa-python">{held}</script>{text[at:]}'


def ship_python(app, error) -> None:
    """Ship it, if a page has something to run."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    pages = {page: text for page in out.rglob("*.html") if SCRIPT.search(text := page.read_text("utf8"))}
    if not pages:
        return
    for old in (out / FOLDER).glob("*"):
        old.unlink()
    facts = ship(out / FOLDER)
    for page, text in pages.items():
        page.write_text(tell(text, facts), "utf8")
    size = sum(file.stat().st_size for file in (out / FOLDER).glob("*"))
    logger.info("Python on %d pages: %.1f MB%s", len(pages), size / 1e6, "" if size else ", none was found")
