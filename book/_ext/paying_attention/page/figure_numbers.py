"""Figures are numbered chapter by chapter, in the order of the page.

Sphinx itself would number all figures through the whole book.
"""

from __future__ import annotations

import re

CHAPTER = re.compile(r"\b(\d\d)_\w+$")


def number_by_chapter(app, env) -> list[str]:
    """Number the figures of every page anew; on a page that is no chapter they only count."""
    for page, kinds in env.toc_fignumbers.items():
        chapter = [int(number) for number in CHAPTER.findall(page)]
        figures = kinds.get("figure", {})
        for number, id in enumerate(figures, 1):
            figures[id] = (*chapter, number)
    return []
