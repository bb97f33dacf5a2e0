"""The manuals that come with the package: what chapter 9's model has read, and what it has not.

``attnlib/data/README.md`` says whose they are, under which licences, and how they were gathered.
"""

from __future__ import annotations

import hashlib
import lzma
from importlib.resources import files
from typing import NamedTuple

PAGE_BREAK = "\f"  # stands between two documents
HELD = 50  # every so many-th document is not read, the first one too
CHOSEN = 86  # of those, so many were chosen to be held out: hardly anything in them stands elsewhere


class Manuals(NamedTuple):
    """Documents in plain ASCII, each paragraph one line.

    Attributes:
        train: What the model has read.
        held: What it has not, and what hardly shares a passage with the others.
        sha256: Of the whole text, so that a stored result can say what it was computed on.
    """

    train: list[str]
    held: list[str]
    sha256: str


class Copy(NamedTuple):
    """A passage of one text that stands in another, word for word.

    Attributes:
        start: Where it begins.
        length: How many letters it has.
        passage: The passage.
    """

    start: int
    length: int
    passage: str


def read_manuals() -> Manuals:
    """Read the manuals that come with the package.

    Returns:
        The documents to train on and those held out, in the stored order.
    """
    stored = lzma.decompress((files("attnlib") / "data/manuals.txt.xz").read_bytes())
    documents = stored.decode("ascii").split(PAGE_BREAK)
    train = [document for i, document in enumerate(documents) if i % HELD]
    return Manuals(train, documents[::HELD][:CHOSEN], hashlib.sha256(stored).hexdigest())


def as_one_text(documents: list[str]) -> str:
    """Join documents into one text, with a page break before each and one at the end.

    Args:
        documents: At least one.

    Returns:
        The text that models read.
    """
    return PAGE_BREAK + PAGE_BREAK.join(documents) + PAGE_BREAK


def longest_copy(text: str, source: str) -> Copy:
    """Find the longest passage of a text that stands in a source, letter for letter.

    Args:
        text: What was written.
        source: Where it may have been read, such as ``as_one_text(read_manuals().train)``.

    Returns:
        The first of the longest passages; of length 0 if not even a letter is shared.
    """
    best = length = start = 0
    while start + length < len(text):
        # whatever beats the best so far holds a passage one letter longer: nothing shorter need be looked for
        end = start + length + 1
        tail = end - max(1, 3 * (length + 1) // 4)
        if tail > start and text[tail:end] not in source:
            start = tail + 1  # nor does any passage that holds this tail
        elif text[start:end] in source:
            best, length = start, length + 1
        else:
            start += 1
    return Copy(best, length, text[best : best + length])
