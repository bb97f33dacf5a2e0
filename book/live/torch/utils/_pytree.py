"""Going through nested containers."""

from __future__ import annotations

from typing import Any


def tree_leaves(tree: Any) -> list:
    """Return what is in lists, tuples and dicts."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for one in tree for leaf in tree_leaves(one)]
    return [tree]
