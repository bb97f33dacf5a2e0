"""The explorable of *Putting it together*: one whole layer, step by step, on a sentence that can be typed."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from attnlib.multihead import MultiHeadAttention
from attnlib.widgets._base import anywidget, front_end, traitlets

LONGEST = 12  # words in a sentence
# what six of the ten numbers of a word say, two of them for its query alone; and what they say below zero
FEATURES = ["someone", "male", "good", "who (query)", "male (query)", "does"]
OPPOSITES = ["something", "female", "evil", "what (query)", "female (query)", "is so"]
# and the other four: two hands of a clock, which turn from word to word
HANDS = ["slow cos", "slow sin", "fast cos", "fast sin"]
TURNS = (math.pi / 10, math.pi / 2)
# what the numbers of a query and a key are, in each head; and those of a value, in both
MATCHED = [
    ["someone", "male", "early", "good", "whose"],
    ["slow cos", "slow sin", "fast cos", "fast sin", "unused"],
]
HANDED = ["someone", "male", "good", "does", "unused"]
JOBS = ["who is meant", "the word before"]
STEPS = ["words", "Q K V", "scores", "mask", "softmax", "average", "output"]

BEINGS = {  # someone, male, good
    "Goku": (1, 1, 1), "Gohan": (1, 0.9, 0.8), "Vegeta": (1, 1, 0.2), "Frieza": (1, 1, -1),
    "Cell": (0.9, 0.9, -0.8), "Bulma": (1, -1, 0.7), "Videl": (1, -0.9, 0.9), "king": (0.9, 1, 0.1),
    "queen": (0.9, -1, 0.1), "boy": (0.8, 0.9, 0.3), "girl": (0.8, -0.9, 0.3), "father": (0.9, 1, 0.5),
    "mother": (0.9, -1, 0.5), "Spirit": (-0.5, 0, 0.4), "Bomb": (-1, 0, 0), "ball": (-0.9, 0, 0.2),
    "radar": (-1, 0, 0.3), "ship": (-0.8, 0, 0.1), "planet": (-0.7, 0, 0.2), "door": (-1, 0, 0.1),
    "street": (-1, 0, -0.1), "apple": (-0.9, 0, 0.4), "phone": (-1, 0, 0.2), "cake": (-0.8, 0, 0.5),
    "letter": (-0.9, 0, 0), "animal": (-0.6, 0, 0.2),
}  # fmt: skip
PRONOUNS = {  # for the query: who, male; and meaning, after which a name is to follow
    "he": (1, 1), "she": (1, -1), "they": (1, 0), "him": (0.9, 1), "her": (0.9, -1), "it": (-1, 0),
    "meaning": (1, 0),
}  # fmt: skip
DEEDS = {  # good, does
    "throws": (0, 1), "fights": (-0.1, 1), "helps": (0.5, 0.9), "sees": (0, 0.6), "gives": (0.3, 0.9),
    "takes": (-0.2, 0.9), "eats": (0, 0.9), "buys": (0, 0.8), "finds": (0.1, 0.7), "breaks": (-0.4, 1),
    "repairs": (0.4, 1), "crosses": (0, 0.8), "opens": (0, 0.8), "smiles": (0.4, 0.5), "loses": (-0.1, 0.6),
    "desperate": (-0.1, -1), "strong": (0.2, -0.9), "brave": (0.8, -1), "evil": (-1, -1), "tired": (0, -0.8),
    "angry": (-0.4, -0.9), "happy": (0.4, -0.9), "hungry": (0, -0.8), "afraid": (-0.1, -0.9),
    "broken": (-0.2, -0.7), "green": (0, -0.5), "red": (0, -0.5), "big": (0, -0.6), "small": (0, -0.6),
}  # fmt: skip
PLAIN = ["the", "a", "at", "to", "for", "with", "and", "but", "because", "when", "so", "is", "was", "not"]
PRESETS = [
    "Goku throws the Spirit Bomb at Frieza because he is desperate",
    "Frieza throws the Spirit Bomb at Goku because he is desperate",
    "Goku fights Frieza and Bulma helps because she is brave",
    "Bulma gives the radar to Goku because it is broken",
    "Gohan buys a green apple and eats it",
    "the queen smiles because the king helps her",
]


def vocabulary() -> dict[str, list[float]]:
    """Return the six numbers of each word, in the order of `FEATURES`, made by hand."""
    beings = {word: [a, b, c, 0, 0, 0] for word, (a, b, c) in BEINGS.items()}
    pronouns = {word: [0, 0, 0, a, b, 0] for word, (a, b) in PRONOUNS.items()}
    deeds = {word: [0, 0, a, 0, 0, b] for word, (a, b) in DEEDS.items()}
    every = beings | pronouns | deeds | dict.fromkeys(PLAIN, [0] * 6)
    return {word: [float(x) for x in numbers] for word, numbers in every.items()}


def places() -> Tensor:
    """Return a vector for each position: two hands of a clock, a slow and a fast one, ``(12, 4)``."""
    angles = torch.arange(LONGEST)[:, None] * torch.tensor(TURNS, dtype=torch.float64)  # (12, 2)
    return torch.stack([angles.cos(), angles.sin()], -1).flatten(1).round(decimals=4)


def hand_set_weights() -> dict[str, Tensor]:
    """Return ``W_Q, W_K, W_V, W_O`` for ``x @ W``, each ``(10, 10)``: five columns a head.

    *Who is meant*: the queries of he, she, they and meaning fit someone of that kind, rather early in the
    sentence; that of it fits a thing, rather late. Qualities attend to who has them, deeds to what is done
    to; good attends to good. *The word before*: the query is the clock one word ago, the key is the clock.
    The values of both say what the word is, and the second counts a quarter.
    """
    W = {name: torch.zeros(10, 10, dtype=torch.float64) for name in ("q", "k", "v", "o")}
    someone, male, good, who, who_male, does = range(6)
    of_query = {(who, 0): 7, (who_male, 1): 4, (who, 2): 4, (does, 2): -2, (good, 3): 2, (does, 4): -4}
    of_key = {(someone, 0): 1, (male, 1): 1, (6, 2): 1, (good, 3): 1, (someone, 4): 1}
    for name, entries in (("q", of_query), ("k", of_key)):
        for at, much in entries.items():
            W[name][at] = much
    for hand, (turn, much) in enumerate(zip(TURNS, (7, 6), strict=True)):
        at, to = slice(6 + 2 * hand, 8 + 2 * hand), slice(5 + 2 * hand, 7 + 2 * hand)
        cos, sin = math.cos(turn), math.sin(turn)
        W["q"][at, to] = much * torch.tensor([[cos, -sin], [sin, cos]], dtype=torch.float64)  # one word back
        W["k"][at, to] = torch.eye(2, dtype=torch.float64)
    for first, share in ((0, 1.0), (5, 0.25)):
        for n, feature in enumerate((someone, male, good, does)):
            W["v"][feature, first + n] = 1
            W["o"][first + n, feature] = share
    return {name: w.round(decimals=4) for name, w in W.items()}


class WholeLayer(anywidget.AnyWidget):
    """One layer of attention on a sentence, in seven steps, with one word to follow through all of them.

    Vectors and weights are made by hand so that each number has a meaning. With one head the weights are the
    same, and only not cut in two.

    Attributes:
        words: The sentence, of words of the vocabulary.
        word: The word that is followed, by its position.
        step: Which of the seven steps is shown.
        causal: Whether later words are hidden.
        heads: How many heads there are, 1 or 2.
        head: Which of two heads is shown.
        whole: Whether all steps and heads can be chosen, or only the one shown, until a reader asks for more.
        vocabulary: All words.
        vectors: Six numbers for each.
        places: Four numbers for each position; a sentence has at most as many words.
        w_q: ``(10, 10)``, for ``x @ w_q``, like all that follow.
        w_k: From x to keys.
        w_v: From x to values.
        w_o: From the weighted averages of the heads to the output.
        features: What the ten numbers of a word stand for.
        opposites: What the first six stand for below zero.
        matched: What the numbers of queries and keys stand for, for each head.
        handed: What the numbers of values stand for.
        jobs: What each head is for.
        presets: Sentences to choose from.
    """

    _esm, _css = front_end("layer", "sentence_field")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    word = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    causal = traitlets.Bool(True).tag(sync=True)
    heads = traitlets.Int(2).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    whole = traitlets.Bool(True).tag(sync=True)
    vocabulary = traitlets.List(traitlets.Unicode()).tag(sync=True)
    vectors = traitlets.List().tag(sync=True)
    places = traitlets.List().tag(sync=True)
    w_q = traitlets.List().tag(sync=True)
    w_k = traitlets.List().tag(sync=True)
    w_v = traitlets.List().tag(sync=True)
    w_o = traitlets.List().tag(sync=True)
    features = traitlets.List(traitlets.Unicode()).tag(sync=True)
    opposites = traitlets.List(traitlets.Unicode()).tag(sync=True)
    matched = traitlets.List().tag(sync=True)
    handed = traitlets.List(traitlets.Unicode()).tag(sync=True)
    jobs = traitlets.List(traitlets.Unicode()).tag(sync=True)
    presets = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, sentence: str = PRESETS[0], **state: Any) -> None:
        table, weights = vocabulary(), hand_set_weights()
        given = {
            "words": known_words(sentence),
            "vocabulary": list(table),
            "vectors": list(table.values()),
            "places": places().tolist(),
            "features": FEATURES + HANDS,
            "opposites": OPPOSITES,
            "matched": MATCHED,
            "handed": HANDED,
            "jobs": JOBS,
            "presets": PRESETS,
        }
        given |= {f"w_{name}": weight.tolist() for name, weight in weights.items()}
        asking = [i for i, word in enumerate(given["words"]) if word in PRONOUNS]
        super().__init__(**(given | {"word": asking[0] if asking else 0} | state))

    def x(self) -> Tensor:
        """Return the sentence as the layer reads it, ``(T, 10)`` in float64: what each word is, and where."""
        rows = dict(zip(self.vocabulary, self.vectors, strict=True))
        return torch.tensor(
            [rows[word] + place for word, place in zip(self.words, self.places, strict=False)],
            dtype=torch.float64,
        )

    def layer(self) -> MultiHeadAttention:
        """Return the same layer as a module of `attnlib`, in float64."""
        layer = MultiHeadAttention(len(self.w_q), self.heads, bias=False).double()
        projections = (layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj)
        for to, w in zip(projections, (self.w_q, self.w_k, self.w_v, self.w_o), strict=True):
            to.weight = nn.Parameter(torch.tensor(w, dtype=torch.float64).T.contiguous(), requires_grad=False)
        return layer

    def numbers(self) -> dict[str, Tensor]:
        """Return what `attnlib` computes for the state shown.

        Returns:
            ``x`` and ``output``, ``(T, 10)``; ``weights``, ``(H, T, T)``.
        """
        x = self.x()
        output, weights = self.layer()(x[None], causal=self.causal, need_weights=True)
        return {"x": x, "weights": weights[0], "output": output[0]}

    def __repr__(self) -> str:
        return (
            f"WholeLayer({' '.join(self.words)!r}, step={STEPS[self.step]!r}, word={self.words[self.word]!r})"
        )


def known_words(sentence: str) -> list[str]:
    """Return the words of a sentence as the vocabulary spells them.

    Args:
        sentence: From 1 to 12 words; capitals and signs at the end of a word do not matter.

    Returns:
        The words.

    Raises:
        ValueError: If there are too many or none, or one has no vector.
    """
    spelling = {word.lower(): word for word in vocabulary()}
    typed = [word.strip(".,;:!?").lower() for word in sentence.split()]
    if not 1 <= len(typed) <= LONGEST:
        raise ValueError(f"the sentence must have from 1 to {LONGEST} words, got {len(typed)}")
    if unknown := [word for word in typed if word not in spelling]:
        raise ValueError(f"there is no vector for {', '.join(unknown)}; known are {', '.join(vocabulary())}")
    return [spelling[word] for word in typed]
