"""The name that chapters 2 and 6 still import."""

from attnlib.plotting.kit.labels import draw_level

__all__ = ["draw_level"]
