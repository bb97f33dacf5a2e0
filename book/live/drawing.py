"""What a cell on the page can draw: a table of weights in the book's colour, since there is no Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

MOST = 24  # rows and columns: more are not legible on a page


def show_weights(weights: object, rows: Sequence | None = None, columns: Sequence | None = None) -> Weights:
    """Return a drawing of weights, a cell of the table for each, the darker the larger.

    Args:
        weights: Numbers from 0 to 1: a row or several, as lists or as a tensor.
        rows: What stands before each row; the numbers of the rows if not given.
        columns: What stands over each column; what stands before the rows if there are as many.

    Raises:
        ValueError: If they are no rows of one length, too many, or labelled by another number of words.
    """
    table = weights.tolist() if hasattr(weights, "tolist") else [*weights]
    table = table if table and isinstance(table[0], (list, tuple)) else [table]
    if len({len(row) for row in table}) != 1 or any(isinstance(one, list) for row in table for one in row):
        raise ValueError("weights must be a row of numbers, or rows of one length: index what has more axes")
    height, width = len(table), len(table[0])
    if max(height, width) > MOST:
        raise ValueError(f"at most {MOST} rows and columns are drawn, got {height} and {width}: show a part")
    rows = [*rows] if rows is not None else [*range(height)] if height > 1 else [""]
    columns = [*columns] if columns is not None else rows if len(rows) == width else [*range(width)]
    for name, labels, size in (("rows", rows, height), ("columns", columns, width)):
        if len(labels) != size:
            raise ValueError(f"{name} must have a label for each of {size}, got {len(labels)}")
    return Weights(table, rows, columns)


class Weights:
    """A table that a page can show."""

    def __init__(self, table: list[list[float]], rows: list, columns: list) -> None:
        self.table, self.rows, self.columns = table, rows, columns

    def __repr__(self) -> str:
        """Return the numbers as text."""
        return "\n".join("  ".join(f"{one:.2f}" for one in row) for row in self.table)

    def _repr_html_(self) -> str:
        """Return the table."""
        head = "".join(f'<th scope="col">{escape(str(label))}</th>' for label in self.columns)
        body = "".join(
            f'<tr><th scope="row">{escape(str(label))}</th>{"".join(map(cell, row))}</tr>'
            for label, row in zip(self.rows, self.table, strict=True)
        )
        return (
            f'<table class="pa-weights"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>'
        )


def cell(weight: float) -> str:
    """Return a cell: the colour of weights is mixed into the paper's, and the number is ink on it."""
    share = round(100 * min(1.0, max(0.0, weight)))
    colour = f"color-mix(in srgb, var(--pa-weight-fill) {share}%, var(--pa-paper))"
    return f'<td style="background: {colour}; color: var(--pa-ink)">{weight:.2f}</td>'
