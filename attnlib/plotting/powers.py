"""The name that chapter 4 still imports."""

from attnlib.plotting.kit.ticks import plain_powers

__all__ = ["plain_powers"]
