"""Figures are numbered chapter by chapter; those in a fold have letters instead.

So the numbers of an open page have no gaps, and printed, where the folds are open, each still has its own.
Sphinx itself would number all figures through the whole book.
"""

from __future__ import annotations

import itertools
import re
import string

from docutils import nodes

from paying_attention.page.deeper import is_deeper

CHAPTER = re.compile(r"\b(\d\d)_\w+$")


def folded_figures(doctree: nodes.document) -> set[str]:
    """Return the ids of a page's figures that stand in a fold."""
    folds = doctree.findall(is_deeper)
    return {id for fold in folds for figure in fold.findall(nodes.figure) for id in figure["ids"]}


def number_by_chapter(app, env) -> list[str]:
    """Number the figures of every page anew; on a page that is no chapter they only count."""
    for page, kinds in env.toc_fignumbers.items():
        chapter = [int(number) for number in CHAPTER.findall(page)]
        folded = folded_figures(env.get_doctree(page))
        numbers, letters = itertools.count(1), iter(string.ascii_uppercase)
        figures = kinds.get("figure", {})
        for id in figures:
            figures[id] = (*chapter, next(letters if id in folded else numbers))
    return []
