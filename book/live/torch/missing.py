"""What does not run on the page says so in a sentence, and is noted for whoever runs the reader's code."""

from __future__ import annotations

from typing import NoReturn

NOTED: list[str] = []  # the sentences said since it was last emptied


class NotOnThePageError(AttributeError):
    """What was asked is in PyTorch but not here; its text names it and says where it runs."""


def refuse(what: str, why: str = "") -> NoReturn:
    """Say that something does not run on the page."""
    sentence = f"`{what}` does not run on the page{why}: open the notebook of this chapter"
    NOTED.append(sentence)
    raise NotOnThePageError(sentence)
