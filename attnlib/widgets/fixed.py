"""The explorable of chapter 1: the error of a state of fixed size."""

from __future__ import annotations

from typing import Any

from attnlib.widgets._base import anywidget, front_end, traitlets

FIELDS = ("d", "n", "noise", "lost", "kind")


def linear_error(d: int, n: int) -> float:
    """Return the least mean squared error for ``n`` random numbers, ``d`` kept and answers linear."""
    return max(0.0, 1.0 - d / n)


def lowest_error(d: int, n: int, noise: float) -> float:
    """Return the least mean squared error for ``n`` random numbers, ``d`` kept with noise (Shannon).

    Args:
        d: How many numbers the state has, each of mean square at most 1.
        n: How many numbers were read: independent, normal, of mean square 1.
        noise: Standard deviation of the noise on each number of the state.

    Returns:
        The mean squared error, between 0 and 1, that no encoder, decoder or training gets below. Without
        noise it is 0: a single number has digits enough for all.
    """
    return (1.0 + noise**-2) ** (-d / n) if noise else 0.0


class FixedState(anywidget.AnyWidget):
    """Read ``n`` numbers, keep ``d``, answer for one: the least error, and those of trained models.

    The line of linear answers is shown without noise alone: it is about exact numbers.

    Attributes:
        d: How many numbers the state has, from 1 to 16.
        n: How many numbers are read, from 1 to 64.
        noise: Standard deviation of the noise on each number of the state, from 0 to 1.
        measured: The errors of trained networks, each with ``d``, ``n``, ``noise``, ``lost`` (the error) and
            ``kind``: the name to show, such as ``GRU``. Those of kind ``attention`` keep all ``n`` numbers;
            their ``d`` is not used.
    """

    _esm, _css = front_end("fixed")

    d = traitlets.Int(4).tag(sync=True)
    n = traitlets.Int(8).tag(sync=True)
    noise = traitlets.Float(0.3).tag(sync=True)
    measured = traitlets.List().tag(sync=True)

    def __init__(self, measured: list[dict] | None = None, **state: Any) -> None:
        for point in measured or []:
            if missing := [field for field in FIELDS if field not in point]:
                raise ValueError(f"each measurement needs {', '.join(FIELDS)}; {point} has no {missing[0]}")
        super().__init__(measured=[{field: p[field] for field in FIELDS} for p in measured or []], **state)

    def numbers(self) -> dict[str, float]:
        """Return what the page shows for this state.

        Returns:
            The errors: ``linear``, the line; ``bound``, below which no state of this size gets; and
            ``attention``: the mean of what was measured at this noise, or, where nothing was, the bound of
            a memory with a number for each number read.
        """
        flat = [p["lost"] for p in self.measured if p["kind"] == "attention" and p["noise"] == self.noise]
        return {
            "linear": linear_error(self.d, self.n),
            "bound": lowest_error(self.d, self.n, self.noise),
            "attention": sum(flat) / len(flat) if flat else lowest_error(1, 1, self.noise),
        }

    def __repr__(self) -> str:
        return f"FixedState(d={self.d}, n={self.n}, noise={self.noise:g}, {len(self.measured)} measured)"
