"""Which backend was measured to be the fastest for a rule, on which card: a stored table, and nothing else.

``python -m benchmarks --rules`` measures it again, on the card that is there.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TypedDict

import torch

from attnlib._modes import product_dtype
from attnlib._plan import Plan
from attnlib.mask_rules import MaskRule

NAME = "mask-rules.json"


class Row(TypedDict):
    """One measurement: seconds of a backend forward, and with backward, checked against the rule's table."""

    capability: list[int]
    dtype: str
    width: int
    length: int
    kind: str
    backend: str
    forward: float
    seconds: float


def kind_of(rule: MaskRule) -> str:
    """Name the facts that a rule holds, as the table does: ``causal window``, say."""
    facts = ("causal", "window", "ahead", "prefix", "documents", "lengths", "also")
    given = ((name, getattr(rule, name)) for name in facts)
    # no keys ahead is a fact, and no keys in front is none
    return " ".join(n for n, x in given if (bool(x) if n in ("causal", "prefix", "also") else x is not None))


def order(plan: Plan) -> list[str]:
    """Return the backends for a plan's rule, the fastest first, none where nothing like it was measured."""
    assert plan.rule is not None
    card = torch.cuda.get_device_capability(plan.device)
    dtype = str(product_dtype(plan.q)).removeprefix("torch.")
    back = plan.needs_gradient()
    return _order(card, dtype, plan.q.shape[-1], min(plan.T, plan.S), kind_of(plan.rule), back)


@functools.lru_cache(maxsize=256)
def _order(card: tuple[int, int], dtype: str, width: int, length: int, kind: str, back: bool) -> list[str]:
    return choose(table(), card, dtype, width, length, kind, back=back)


def choose(
    rows: list[Row], card: tuple[int, int], dtype: str, width: int, length: int, kind: str, *, back: bool
) -> list[str]:
    """Take the measurements of the greatest length that is not greater, and order their backends by time."""
    like = [
        row
        for row in rows
        if (tuple(row["capability"]), row["dtype"], row["width"], row["kind"]) == (card, dtype, width, kind)
        and row["length"] <= length
    ]
    longest = max((row["length"] for row in like), default=0)
    times = {
        row["backend"]: row["seconds"] if back else row["forward"] for row in like if row["length"] == longest
    }
    return sorted(times, key=lambda name: times[name])


@functools.cache
def table() -> list[Row]:
    """Read the stored table; empty if there is none."""
    file = resources.files("attnlib") / "data" / NAME
    return json.loads(file.read_text("utf8"))["rows"] if file.is_file() else []
