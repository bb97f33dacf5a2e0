"""The explorable that ends *Putting it together*: a line of yours, and a vector to exchange."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.putting_it_together.two_layers import load_two_layers, stored, stored_arrays
from attnlib.experiments.tasks import pronoun_sentences
from attnlib.widgets._base import anywidget, front_end, traitlets

LENGTHS = [10, 11, 13]  # words before meaning, in the lines of the training
LONGEST = LENGTHS[-1]
LAST = "meaning"  # stands after every line
NAMES = (
    "goku jack harry george william adam simon john peter paul david james robert michael thomas vegeta "
    "naruto homer hamlet arthur potter luke bond mark kevin"
)
SPELLED = {name: name.capitalize() for name in NAMES.split()} | {"freeza": "Frieza"}  # others as GloVe does
PRESETS = [
    "Goku throws the spirit bomb at Frieza because he is desperate",
    "Goku throws the spirit bomb at Frieza because he is evil",
    "Frieza throws the spirit bomb at Goku because he is desperate",
    "Michael throws the bottle at David because he is afraid",
    "then Simon points the rifle at George because he is guilty",
    "in the end Adam kicks the ball at Jack because he is excited",
]
OTHERS = [  # whose vector of meaning can be taken
    "Harry aims the sword at William because he is dangerous",
    "Harry aims the sword at William because he is worried",
    "Simon drops the stone at George because he is brutal",
    "Simon drops the stone at George because he is furious",
]


def vocabulary() -> list[str]:
    """Return the words that can be typed, as GloVe spells them: those of the training, then others."""
    unseen = {word for s in pronoun_sentences(1000, twist=True, unseen=True) for word in s.words}
    used = stored()["used"]
    return [*used, *sorted(unseen - {*used})]


def packed(numbers: np.ndarray) -> str:
    """Return numbers as base64 of little-endian float16."""
    return base64.b64encode(numbers.astype("<f2").tobytes()).decode()


class LearnedLayers(anywidget.AnyWidget):
    """The stored model of two layers on a line: attention weights, and the probability of each next word.

    *Meaning* stands after every line. Its vector after the first layer can be exchanged for the one that it
    has in another line.

    Args:
        line: Words of the vocabulary.
        state: Any of the attributes.

    Attributes:
        words: The line, without the *meaning* that follows.
        other: Another line, for the exchange.
        query: Whose attention weights are shown, by its position; -1 for that of *meaning*.
        exchange: Whether the exchange is in sight.
        handed: Whether *meaning* has its vector from the other line.
        vocabulary: All words; probabilities are over these.
        trained: How many of them, from the first on, were in the training.
        lengths: How many words the lines of the training had before *meaning*.
        vectors: Their GloVe vectors, ``(V, 100)``, as `packed` gives them.
        mean: That of all 10,000 GloVe vectors.
        weights: The arrays of the stored model by name, `packed`.
        presets: Lines to choose from.
        others: Other lines to choose from.
    """

    _esm, _css = front_end("learned", "halves", "sentence_field", "two_rows")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    other = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = traitlets.Int(-1).tag(sync=True)
    exchange = traitlets.Bool(False).tag(sync=True)
    handed = traitlets.Bool(False).tag(sync=True)
    vocabulary = traitlets.List(traitlets.Unicode()).tag(sync=True)
    trained = traitlets.Int(0).tag(sync=True)
    lengths = traitlets.List(traitlets.Int()).tag(sync=True)
    vectors = traitlets.Unicode().tag(sync=True)
    mean = traitlets.List(traitlets.Float()).tag(sync=True)
    weights = traitlets.Dict().tag(sync=True)
    presets = traitlets.List(traitlets.Unicode()).tag(sync=True)
    others = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, line: str = PRESETS[0], **state: Any) -> None:
        glove = WordVectors.glove("cpu")
        known = vocabulary()
        spelled = [SPELLED.get(word, word) for word in known]
        vectors = glove[known].double()
        self._model, self._mean = load_two_layers(), glove.vectors.double().mean(0)
        self._long = 4 * torch.nn.functional.normalize(vectors - self._mean, dim=-1)
        given = {
            "words": known_words(line, spelled),
            "other": OTHERS[0].split(),
            "vocabulary": spelled,
            "trained": len(stored()["used"]),
            "lengths": LENGTHS,
            "vectors": packed(vectors.numpy()),
            "mean": self._mean.tolist(),
            "weights": {name: packed(array) for name, array in stored_arrays().items()},
            "presets": PRESETS,
            "others": OTHERS,
        }
        super().__init__(**(given | state))

    def x(self, words: list[str]) -> Tensor:
        """Return a line and its *meaning* as the model gets them, ``(T, 100)`` in float64."""
        return self._long[[self.vocabulary.index(word) for word in [*words, LAST]]]

    def numbers(self) -> dict[str, Tensor]:
        """Return what `attnlib` computes for the state shown.

        Returns:
            ``weights``, ``(2, T, T)``, with the vector exchanged if it is; ``own`` and ``chances``, the
            probability of each word ``(V,)`` without and with the exchange.
        """
        model, x = self._model, self.x(self.words)
        hidden = model.first(x)
        own = (model.second(x, hidden) @ self._long.T).softmax(-1)
        if self.handed:
            hidden = torch.cat([hidden[:-1], model.first(self.x(self.other))[-1:]])
        chances = (model.second(x, hidden) @ self._long.T).softmax(-1)
        return {"weights": model.weights(x, hidden), "own": own, "chances": chances}

    def __repr__(self) -> str:
        return f"LearnedLayers({' '.join(self.words)!r}, handed={self.handed})"


def known_words(line: str, vocabulary: list[str]) -> list[str]:
    """Return the words of a line as the vocabulary spells them.

    Args:
        line: From 1 to 13 words; capitals, signs after a word and a *meaning* at the end do not matter.
        vocabulary: All words.

    Returns:
        The words.

    Raises:
        ValueError: If there are too many or none, or one has no vector.
    """
    spelling = {word.lower(): word for word in vocabulary}
    typed = [word.strip(".,;:!?").lower() for word in line.split()]
    typed = typed[:-1] if typed[-1:] == [LAST] else typed
    if not 1 <= len(typed) <= LONGEST:
        raise ValueError(f"the line must have from 1 to {LONGEST} words before meaning, got {len(typed)}")
    if unknown := [word for word in typed if word not in spelling]:
        raise ValueError(f"there is no vector for {', '.join(unknown)}; known are {', '.join(vocabulary)}")
    return [spelling[word] for word in typed]
