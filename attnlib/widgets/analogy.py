"""The explorable of chapter 2: arithmetic with words."""

from __future__ import annotations

import base64
import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.tasks import word_pairs
from attnlib.widgets._base import anywidget, front_end, traitlets

EQUATIONS = [
    ["king", "man", "woman"],
    ["paris", "france", "italy"],
    ["walked", "walk", "go"],
    ["brother", "man", "woman"],
    ["doctor", "man", "woman"],
]
SHOWN = 8  # words in the table of answers
_MORE = """mango strawberry banana pear fruit bicycle truck nurse physician surgeon programmer teacher
    engineer apple microsoft google phone bank river credit loan shore lake yellow pink purple monarch throne
    cats dogs milan naples venice rome swimming swam guitar piano pizza wine kitchen"""


@functools.cache
def _vocabulary(frequent: int) -> tuple[list[str], int]:
    """Return the words to choose from, and how many of them are enough for the ready equations.

    Those come first: the answers to a ready equation are the same among them as among all words.
    """
    glove = WordVectors.glove("cpu")
    wanted = {word for pairs in word_pairs().values() for pair in pairs for word in pair}
    wanted |= {word for words in EQUATIONS for word in words} | {*_MORE.split()} | {*glove.words[:frequent]}
    words = [word for word in glove.words if word in wanted]
    table = WordVectors(words, glove[words].double())
    nearest = {word for e in EQUATIONS for word, _ in table.analogy(*e, SHOWN + 3, exclude_inputs=False)}
    early = nearest | {word for words in EQUATIONS for word in words}
    return sorted(words, key=lambda word: word not in early), len(early)


def _packed(words: list[str]) -> str:
    """Return the vectors of words as base64 of little-endian float16."""
    return base64.b64encode(WordVectors.glove("cpu")[words].numpy().astype("<f2").tobytes()).decode()


class AnalogyMap(anywidget.AnyWidget):
    """Choose ``a - b + c`` and see the nearest words, and where they lie.

    The vocabulary is what fits on a page: some two thousand of the words in
    `attnlib.experiments.glove.WordVectors.glove`, with the same vectors.

    Attributes:
        words: The words to choose from.
        vectors: The vectors of the first of them, 100 numbers each, as base64 of little-endian float16: as
            many as the ready equations need.
        late_vectors: Those of the others. On a page they come last, and nobody has to wait for them.
        a: The word to start from.
        b: What to take away.
        c: What to add.
        exclude: Whether to leave out a, b and c from the answers.
        presets: Three words each, to start from.
    """

    _esm, _css = front_end("analogy", "halves")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    vectors = traitlets.Unicode().tag(sync=True)
    late_vectors = traitlets.Unicode().tag(sync=True)
    a = traitlets.Unicode("king").tag(sync=True)
    b = traitlets.Unicode("man").tag(sync=True)
    c = traitlets.Unicode("woman").tag(sync=True)
    exclude = traitlets.Bool(True).tag(sync=True)
    presets = traitlets.List().tag(sync=True)

    def __init__(self, **state: Any) -> None:
        words, early = _vocabulary(1900)
        packed = {"vectors": _packed(words[:early]), "late_vectors": _packed(words[early:])}
        super().__init__(**({"words": words, "presets": EQUATIONS} | packed | state))

    def table(self) -> WordVectors:
        """Return the vocabulary as the front end has it, in float64."""
        both = base64.b64decode(self.vectors) + base64.b64decode(self.late_vectors)
        halves = np.frombuffer(both, dtype="<f2")
        numbers = halves.reshape(len(self.words), -1).astype(np.float64)
        return WordVectors(self.words, torch.from_numpy(numbers))

    def nearest(self, n: int = SHOWN) -> list[tuple[str, float]]:
        """Return the ``n`` nearest words to ``a - b + c`` with their cosines, as `attnlib` finds them.

        Args:
            n: How many words.

        Returns:
            Pairs of a word and its cosine, the nearest first.
        """
        return self.table().analogy(self.a, self.b, self.c, n, exclude_inputs=self.exclude)

    def positions(self, words: list[str]) -> Tensor:
        """Return where words lie in the plane through a, b and c.

        The origin is b. The first axis leads from b to c; the second lies in the plane at a right angle to
        it, on the side of a. A word off the plane is projected onto it.

        Args:
            words: Which words.

        Returns:
            ``(len(words), 2)`` in float64.
        """
        table = self.table()
        a, b, c = table[[self.a, self.b, self.c]]
        first = _unit(c - b)
        second = _unit((a - b) - (a - b) @ first * first)
        return (table[words] - b) @ torch.stack([first, second], dim=1)

    def __repr__(self) -> str:
        inputs = "left out" if self.exclude else "not left out"
        return f"AnalogyMap('{self.a} - {self.b} + {self.c}', inputs {inputs})"


def _unit(x: Tensor) -> Tensor:
    """Return a vector at length one, and one of no length as it is."""
    length = x.norm()
    return x / length if length > 1e-9 else torch.zeros_like(x)
