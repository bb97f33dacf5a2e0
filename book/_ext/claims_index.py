"""Sphinx directive ``claims``: every claim of the book, read from the notebooks, with a link to its line."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import yaml
from docutils import nodes
from docutils.parsers.rst import Directive

CLAIM = re.compile(
    r'<div class="pa-line pa-good" id="(claim-(\d+))".*?</strong> (.*)</div>$',
    re.S,
)


def notebooks(root: Path) -> list[str]:
    """Return the notebooks of ``_toc.yml`` without their ending, in the order of the book."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [file for file in files if (root / f"{file}.ipynb").exists()]


def claims(path: Path) -> list[tuple[str, str, str]]:
    """Return the anchor, number and text (as HTML) of each claim in a notebook's stored outputs."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            match = CLAIM.match(output.get("data", {}).get("text/html", ""))
            if match:
                found.append(match.groups())
    return found


class Claims(Directive):
    """List the claims, a section for each notebook."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence with the count, then the lists."""
        env = self.state.document.settings.env
        root = Path(env.srcdir)
        here = env.docname.rpartition("/")[0]
        parts, total = [], 0
        for name in notebooks(root):
            path = root / f"{name}.ipynb"
            env.note_dependency(str(path))
            found = claims(path)
            if not found:
                continue
            total += len(found)
            title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].lstrip("# ")
            page = f"{name.removeprefix(here + '/')}.html"
            items = "".join(
                f'<li><a href="{page}#{anchor}">{number}</a> <span>{text}</span></li>'
                for anchor, number, text in found
            )
            section = nodes.section(ids=[nodes.make_id(name)])
            section += nodes.title("", title)
            section += nodes.raw("", f'<ul class="claims">{items}</ul>', format="html")
            parts.append(section)
        count = nodes.paragraph("", f"The book makes {total} claims so far.")
        return [count, *parts]


def setup(app) -> dict:
    """Register with Sphinx."""
    app.add_directive("claims", Claims)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
