"""A comma or a full stop after a formula stays on its line."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element

PUNCTUATION = re.compile(r"[.,;:?!)’”]+")


def after(formula: nodes.math) -> nodes.Text | None:
    """Return the text that follows a formula without a blank, if it does."""
    follows = formula.next_node(descend=False, siblings=True)
    return follows if isinstance(follows, nodes.Text) and PUNCTUATION.match(follows) else None


class Unbroken(SphinxPostTransform):
    """Keep each formula and the punctuation after it together."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Wrap them."""
        for formula in list(self.document.findall(nodes.math)):
            follows = after(formula)
            if follows is None:
                continue
            marks = PUNCTUATION.match(follows)[0]
            beside = follows.parent  # where equal texts may come before it
            place = next(i for i, node in enumerate(beside) if node is follows)
            beside[place] = nodes.Text(follows[len(marks) :])
            whole = element("span", formula.deepcopy(), nodes.Text(marks), class_="pa-unbroken")
            formula.parent.replace(formula, whole)
