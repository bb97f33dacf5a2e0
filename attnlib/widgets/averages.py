"""The first explorable of chapter 5: what the average of two ages still holds, and how many cuts it takes."""

from __future__ import annotations

from itertools import pairwise, product

from attnlib.widgets._base import anywidget, front_end, traitlets

NAMES = "Ann", "Ben"
AGES = 3, 7
FAMILIES = list(product(AGES, repeat=2))


class AverageLine(anywidget.AnyWidget):
    """A head attends to two children with fixed weights: its average is a point on a line with cuts.

    Attributes:
        weight: Of the first child, from 0 to 1; the second has the rest.
        told: Whose age the cuts give, 0 or 1.
        names: Of the children.
        ages: Which each of them may have.
    """

    _esm, _css = front_end("averages")

    weight = traitlets.Float(0.7).tag(sync=True)
    told = traitlets.Int(0).tag(sync=True)
    names = traitlets.List(traitlets.Unicode(), default_value=list(NAMES)).tag(sync=True)
    ages = traitlets.List(traitlets.Int(), default_value=list(AGES)).tag(sync=True)

    def numbers(self) -> dict[str, list[float]]:
        """Return what the page shows for this state.

        Returns:
            ``averages``, one for each of the families (3, 3), (3, 7), (7, 3) and (7, 7); ``cuts``, half way
            between neighbours on the line of which the told child has different ages. Where families of both
            ages share an average, no cut tells them apart.
        """
        averages = [round(self.weight * a + (1 - self.weight) * b, 9) for a, b in FAMILIES]
        dots: dict[float, set[int]] = {}
        for average, family in zip(averages, FAMILIES, strict=True):
            dots.setdefault(average, set()).add(family[self.told])
        line = sorted(dots.items())
        cuts = [(x + y) / 2 for (x, before), (y, after) in pairwise(line) if before != after]
        return {"averages": averages, "cuts": cuts}

    def __repr__(self) -> str:
        return f"AverageLine(weight={self.weight:g}, told={self.names[self.told]!r})"
