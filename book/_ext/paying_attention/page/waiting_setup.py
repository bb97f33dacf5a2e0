"""The set-up of a page waits behind the first code that a reader sees.

The first cell tagged ``setup`` imports what a notebook needs, so it opens the notebook. On a page, where it
is folded (see ``proof``), it would stand between a question and its picture.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.page.deeper import inside_deeper
from paying_attention.page.proof import has_tag, is_cell

OUT_OF_SIGHT = ("proof", "setup", "hide-input", "hide-cell", "remove-input", "remove-cell")


def is_seen(cell: nodes.Element) -> bool:
    """Tell whether a cell shows its code on the main road."""
    return not any(has_tag(cell, tag) for tag in OUT_OF_SIGHT) and not inside_deeper(cell)


class WaitingSetup(SphinxPostTransform):
    """Move the first set-up of a page behind the first code in sight, if there is any."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Move it."""
        cells = list(self.document.findall(is_cell))
        setup = next((cell for cell in cells if has_tag(cell, "setup")), None)
        before = next(filter(is_seen, cells), None)
        if setup is None or before is None or cells.index(before) < cells.index(setup):
            return
        while not isinstance(before.parent, nodes.section):
            before = before.parent
        setup.parent.remove(setup)
        before.parent.insert(before.parent.index(before) + 1, setup)
