"""Derivatives along a direction, which do not run on the page."""

_current_level = -1
