"""The model of *Putting it together*: two layers of attention write a name; and the stored one.

The page has the same model and the same training in its own cells. Here they are once more for what is too
long for a page: the weights that its explorable takes, and what the model did after every second step.
``tools/train_two_layers.py`` stored them; ``two-layers.json`` says how.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._check import require_whole
from attnlib.experiments.glove import WordVectors
from attnlib.experiments.tasks import pronoun_sentences
from attnlib.functional import attention, attention_weights

STEPS = 150
SEED = 9  # of the model that the page calls m
WATCHED = [  # lines of which each second step is stored; they differ in the reason
    "michael throws the bottle at david because he is afraid meaning",
    "michael throws the bottle at david because he is cruel meaning",
]
NAMES = ["michael", "david"]
THOUSAND = 1000  # what is stored as whole numbers counts thousandths


def _matrix(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns) / 10)


class TwoLayers(nn.Module):
    """Two layers of attention over word vectors; the second averages the words as they are, so it copies.

    Attributes:
        position: A vector for each of 16 positions; training reaches 14.
        w_q1: Makes the queries of the first layer, ``(100, 16)`` for ``x @ w_q1``.
        w_k1: Its keys.
        w_q2: The queries of the second layer, ``(100, 16)``.
        w_k2: Its keys.
        w_v1: The values of the first layer, ``(100, 100)``; those of the second are the words.
    """

    def __init__(self) -> None:
        super().__init__()
        self.position = _matrix(16, 100)
        self.w_q1, self.w_k1 = _matrix(100, 16), _matrix(100, 16)
        self.w_q2, self.w_k2 = _matrix(100, 16), _matrix(100, 16)
        self.w_v1 = _matrix(100, 100)

    def first(self, x: Tensor) -> Tensor:
        """Return the hidden states after the first layer, ``(..., T, 100)``."""
        p = x + self.position[: x.shape[-2]]
        return p + attention(p @ self.w_q1, p @ self.w_k1, p @ self.w_v1, causal=True)

    def second(self, x: Tensor, hidden: Tensor) -> Tensor:
        """Return the weighted average of the words for the last one's query, ``(..., 100)``."""
        return attention(hidden @ self.w_q2, hidden @ self.w_k2, x, causal=True)[..., -1, :]

    def forward(self, x: Tensor) -> Tensor:
        """Return the average of words that stands for the next one, ``(..., 100)``."""
        return self.second(x, self.first(x))

    def weights(self, x: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Return the attention weights of both layers.

        Args:
            x: Words, ``(..., T, 100)``.
            hidden: What the second layer gets in place of the first layer's hidden states.

        Returns:
            ``(..., 2, T, T)``.
        """
        p = x + self.position[: x.shape[-2]]
        hidden = self.first(x) if hidden is None else hidden
        first = attention_weights(p @ self.w_q1, p @ self.w_k1, causal=True)
        second = attention_weights(hidden @ self.w_q2, hidden @ self.w_k2, causal=True)
        return torch.stack([first, second], -3)


def long_vectors(glove: WordVectors, words: list[str]) -> Tensor:
    """Return the vectors of words as the model gets them, ``(T, 100)``: centred, and of length four."""
    return 4 * F.normalize(glove[words] - glove.vectors.mean(0), dim=-1)


class Lesson:
    """The 1,500 sentences of the training, as vectors.

    Attributes:
        used: The 66 words that are in them, in order.
        known: Their vectors, ``(66, 100)``; the loss is over these.
        tables: For each length of a line, its vectors ``(N, T, 100)`` and which word comes next ``(N,)``.
    """

    def __init__(self, glove: WordVectors) -> None:
        seen = pronoun_sentences(1500, twist=True)
        self.used = sorted({"meaning", *(word for s in seen for word in s.words)})
        self.known = long_vectors(glove, self.used)
        self.tables = []
        for length in sorted({len(s.words) for s in seen}):
            same = [s for s in seen if len(s.words) == length]
            told = torch.stack([long_vectors(glove, [*s.words, "meaning"]) for s in same])
            self.tables.append((told, torch.tensor([self.used.index(s.words[s.answer]) for s in same])))

    def batches(self, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Draw 64 random lines of one length for each step."""
        for step in range(steps):
            told, answers = self.tables[step % len(self.tables)]
            some = torch.randint(len(told), (64,))
            yield told[some], answers[some]

    def loss(self, model: TwoLayers, count: int = 200) -> float:
        """Return the mean loss of a model on the first lines of each length."""
        with torch.no_grad():
            losses = [
                F.cross_entropy(model(told[:count]) @ self.known.T, answers[:count], reduction="none")
                for told, answers in self.tables
            ]
        return torch.cat(losses).mean().item()


def train_two_layers(
    lesson: Lesson,
    steps: int = STEPS,
    seed: int = SEED,
    watch: Callable[[int, TwoLayers], None] = lambda _step, _model: None,
) -> TwoLayers:
    """Train a model as the page does, on one core.

    Args:
        lesson: What to learn from.
        steps: How many batches.
        seed: Of the first weights and of the batches.
        watch: Called with the number of steps done and the model, before the first step and after each.

    Returns:
        The model.
    """
    require_whole("steps", steps, 1)
    torch.manual_seed(seed)
    model = TwoLayers()
    adam = torch.optim.Adam(model.parameters(), lr=0.005)
    watch(0, model)
    for step, (x, name) in enumerate(lesson.batches(steps), 1):
        loss = F.cross_entropy(model(x) @ lesson.known.T, name)
        adam.zero_grad()
        loss.backward()
        adam.step()
        watch(step, model)
    return model


def snapshot(model: TwoLayers, lesson: Lesson, glove: WordVectors) -> dict:
    """Return what a model does in its training, in whole thousandths.

    Returns:
        ``loss``, on 600 lines of the training; for each of `WATCHED`, ``rows``, the weights of its last word
        in both layers, and ``chances``, the probabilities of `NAMES` among the words of the training.
    """
    rows, chances = [], []
    with torch.no_grad():
        for line in WATCHED:
            x = long_vectors(glove, line.split())
            rows.append(model.weights(x)[:, -1])  # (2, T)
            of_words = (model(x) @ lesson.known.T).softmax(-1)
            chances.append(of_words[[lesson.used.index(name) for name in NAMES]])

    def whole(numbers: Tensor) -> list:
        return (THOUSAND * numbers).round().int().tolist()

    return {
        "loss": round(THOUSAND * lesson.loss(model)),
        "rows": [whole(row) for row in rows],
        "chances": [whole(chance) for chance in chances],
    }


@cache
def stored() -> dict:
    """Return ``two-layers.json``: how the stored model was trained, and its snapshots by step."""
    return json.loads((files("attnlib") / "data/two-layers.json").read_text("utf8"))


def stored_arrays() -> dict[str, np.ndarray]:
    """Return the weights of the stored model by name, in float16."""
    with (files("attnlib") / "data/two-layers.npz").open("rb") as file:
        return dict(np.load(file))


def load_two_layers() -> TwoLayers:
    """Return the stored model in float64, widened from float16."""
    model = TwoLayers().double()
    model.load_state_dict(
        {name: torch.from_numpy(w.astype(np.float64)) for name, w in stored_arrays().items()}
    )
    return model.requires_grad_(False)
