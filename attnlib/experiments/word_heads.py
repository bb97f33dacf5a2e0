"""One word of a sentence attends to the others: heads over word vectors, trained in chapter 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.tasks.pronouns import PronounSentence
from attnlib.experiments.tasks.senses import SenseSentence, sense_anchors
from attnlib.experiments.training import fit
from attnlib.instruments.settings import note
from attnlib.scoring import dot_scores

KINDS = "attention", "average"
LAYERS = *KINDS, "tied", "table"
PROJECTIONS = {"attention": 2, "tied": 1}  # of a layer that compares words: queries and keys, or one for both
LONGEST = 16  # words of a sentence


def _require_one_of(name: str, chosen: str, kinds: Sequence[str]) -> None:
    if chosen not in kinds:
        raise ValueError(f"{name} must be one of {', '.join(kinds)}, got {chosen!r}")


def encode(vectors: WordVectors, sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return the index of each word in the vocabulary, ``(B, S)``, filled up with -1.

    Args:
        vectors: The vocabulary.
        sentences: Words, sentence by sentence.

    Returns:
        Whole numbers, on the CPU.
    """
    rows = [torch.tensor(vectors.place(words)) for words in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)


class WordScores(nn.Module):
    """Score every word of a sentence for the one that attends.

    Args:
        kind: One of `KINDS`: scaled dot products, or all words alike.
        width: How many numbers a word has.
        head: How many numbers a query and a key have.

    Raises:
        ValueError: If there is no such kind.
    """

    def __init__(self, kind: str, width: int, head: int = 32) -> None:
        super().__init__()
        _require_one_of("kind", kind, KINDS)
        self.kind = kind
        if kind == "attention":
            self.w_q = nn.Parameter(0.3 * torch.randn(width, head) / width**0.5)
            self.w_k = nn.Parameter(0.3 * torch.randn(width, head) / width**0.5)

    def forward(self, word: Tensor, x: Tensor) -> Tensor:
        """Score ``x`` ``(B, S, C)`` for ``word`` ``(B, 1, C)``: ``(B, 1, S)``."""
        if self.kind == "average":
            return x.new_zeros(len(x), 1, x.shape[1])
        return self.w_q.shape[1] ** -0.5 * dot_scores(word @ self.w_q, x @ self.w_k)


class SenseModel(nn.Module):
    """Give the word that attends a new vector: an average of its sentence's values, weighted by attention.

    Args:
        vectors: What the words are made of; they stay as they are.
        kind: How to weigh the words, one of `KINDS`.
        head: How many numbers a query and a key have.
        keep: Whether the word's own vector is added to the weighted average.
    """

    def __init__(
        self, vectors: WordVectors, kind: str = "attention", head: int = 32, *, keep: bool = False
    ) -> None:
        super().__init__()
        width = vectors.vectors.shape[1]
        self.register_buffer("vectors", vectors.vectors)
        self.register_buffer("anchors", sense_anchors(vectors))
        self.scores = WordScores(kind, width, head)
        self.w_v = nn.Parameter(torch.eye(width))
        self.keep = keep
        self.facts = {
            "model": ("one head" if kind == "attention" else "average") + " over GloVe vectors",
            "width": width,
            "own vector added": keep or None,
        }

    def weights(self, ids: Tensor) -> Tensor:
        """Return the attention weight of each word.

        Args:
            ids: From `encode_senses`, ``(B, 1 + S)``.

        Returns:
            Weights ``(B, S)``.
        """
        x = self.vectors[ids]  # (B, 1 + S, C); what is filled up is hidden below
        return self.scores(x[:, :1], x[:, 1:])[:, 0].masked_fill(ids[:, 1:] < 0, -torch.inf).softmax(-1)

    def new_vectors(self, ids: Tensor) -> Tensor:
        """Return the new vector of each word that attends, ``(B, C)``."""
        average = (self.weights(ids)[:, None] @ (self.vectors[ids[:, 1:]] @ self.w_v))[:, 0]
        return self.vectors[ids[:, 0]] + average if self.keep else average

    def forward(self, ids: Tensor) -> Tensor:
        """Return the dot products of each new vector with the four senses, ``(B, 4)``."""
        return self.new_vectors(ids) @ self.anchors.T


def encode_senses(vectors: WordVectors, sentences: Sequence[SenseSentence]) -> Tensor:
    """Return the word that attends and then the sentence, ``(B, 1 + S)``, as `encode` does."""
    return encode(vectors, [[s.asks, *s.words] for s in sentences])


def train_senses(
    vectors: WordVectors,
    sentences: Sequence[SenseSentence],
    kind: str = "attention",
    *,
    seed: int,
    steps: int = 200,
    head: int = 32,
    lr: float = 0.003,
    keep: bool = False,
) -> tuple[SenseModel, list[float]]:
    """Train weighted averages until *apple* and *bank* lie nearest to the sense they have in each sentence.

    Args:
        vectors: Word vectors.
        sentences: What to train on.
        kind: How to weigh the words, one of `KINDS`.
        seed: Of the start and of the batches.
        steps: How many batches of 64 sentences.
        head: How many numbers a query and a key have.
        lr: Learning rate.
        keep: Whether the word's own vector is added to the weighted average.

    Returns:
        The model and the loss of every step.
    """
    ids, senses = encode_senses(vectors, sentences), torch.tensor([s.sense for s in sentences])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SenseModel(vectors, kind, head, keep=keep).to(vectors.vectors.device)

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.randint(len(ids), (64,), generator=generator)
        return ids[chosen], senses[chosen]

    losses = fit(model, batch, steps=steps, lr=lr, seed=seed, max_norm=None)
    return model.eval(), losses


@torch.no_grad()
def senses_found(model: nn.Module, vectors: WordVectors, sentences: Sequence[SenseSentence]) -> float:
    """Return the share of sentences in which the new vector is nearest to the right sense, of four.

    Args:
        model: A `SenseModel`.
        vectors: Word vectors.
        sentences: What to test on.

    Returns:
        A number between 0 and 1.
    """
    nearest = model(encode_senses(vectors, sentences).to(vectors.vectors.device)).argmax(-1).cpu()
    return (nearest == torch.tensor([s.sense for s in sentences])).double().mean().item()


class PronounModel(nn.Module):
    """Score every word of a sentence for *he*, in one layer of attention or after several.

    In each layer but the last, the output of attention is added to every word.

    Args:
        vectors: What the words are made of; they stay as they are.
        layers: Where the weights of each layer come from, each of `LAYERS`: from queries and keys, from keys
            that are also the queries, from all words alike, or from a learned table, a score for each
            position of a query and each of a key.
        positions: Whether a learned vector for its position is added to each word.
        head: How many numbers a query and a key have.

    Raises:
        ValueError: If there is no layer, or none of that kind.
    """

    def __init__(
        self, vectors: WordVectors, *, layers: Sequence[str], positions: bool, head: int = 16
    ) -> None:
        super().__init__()
        if not layers:
            raise ValueError("layers must hold at least one layer, got none")
        for layer in layers:
            _require_one_of("layers", layer, LAYERS)
        width = vectors.vectors.shape[1]
        self.register_buffer("vectors", vectors.vectors)
        self.he = vectors.place("he")
        self.position = nn.Parameter(0.3 * torch.randn(LONGEST, width)) if positions else None
        self.layers = tuple(layers)
        # drawn for every layer, so that models of one seed start alike; kept where a layer compares words
        drawn = [torch.randn(2, width, head) / width**0.5 for _ in layers]
        self.w_qk = nn.ParameterDict(
            {str(n): drawn[n][-PROJECTIONS[kind] :] for n, kind in enumerate(layers) if kind in PROJECTIONS}
        )
        self.w_v = nn.ParameterList(torch.randn(width, width) / (3 * width**0.5) for _ in layers[1:])
        self.table = nn.Parameter(torch.zeros(LONGEST, LONGEST)) if "table" in layers else None
        self.facts = {
            "model": f"GloVe vectors, {', then '.join(layers)}, no norm",
            "width": width,
            "positions": "learned" if positions else "no",
        }
        if self.layers == ("table",):  # it uses no vectors at all
            self.position = None
            self.facts = {"model": "a table of scores by positions"}

    def forward(self, ids: Tensor) -> Tensor:
        """Return the last layer's scores for *he*, ``(B, S)``; minus infinity where a sentence has ended."""
        return self.each_layer(ids)[-1]

    def each_layer(self, ids: Tensor) -> list[Tensor]:
        """Return the scores for *he* of every layer, each ``(B, S)``."""
        return [scores[self._he(ids)] for _, scores in self._each(ids)]

    def last_halves(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the last layer compares: the query of *he* ``(B, D)`` and all keys ``(B, S, D)``."""
        *_, (x, _) = self._each(ids)
        w_qk = self.w_qk[str(len(self.layers) - 1)]
        return (x @ w_qk[0])[self._he(ids)], x @ w_qk[-1]

    def _each(self, ids: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield for each layer the words before it ``(B, S, C)`` and all its scores ``(B, S, S)``."""
        x = self.vectors[ids]
        if self.position is not None:
            x = x + self.position[: ids.shape[1]]
        hidden = (ids < 0)[:, None]
        for n, w_v in enumerate([*self.w_v, None]):
            scores = self._scores(n, x).masked_fill(hidden, -torch.inf)
            yield x, scores
            if w_v is not None:
                x = x + scores.softmax(-1) @ (x @ w_v)

    def _he(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the positions of *he*, as an index of rows and columns."""
        return torch.arange(len(ids)), (ids == self.he).int().argmax(-1)

    def _scores(self, n: int, x: Tensor) -> Tensor:
        kind, words = self.layers[n], x.shape[1]
        if kind == "table":
            return self.table[:words, :words].expand(len(x), -1, -1)
        if kind == "average":
            return x.new_zeros(len(x), words, words)
        w_qk = self.w_qk[str(n)]
        return dot_scores(x @ w_qk[0], x @ w_qk[-1]) / w_qk.shape[-1] ** 0.5


class Together(nn.Module):
    """Models of one kind as one, for a training that costs little more than that of a single one.

    Args:
        models: They differ in their parameters alone.
    """

    def __init__(self, models: Sequence[PronounModel]) -> None:
        super().__init__()
        self.models = models
        parameters, _ = torch.func.stack_module_state(list(models))
        self.names = list(parameters)
        self.stacked = nn.ParameterList(parameters.values())

    def forward(self, ids: Tensor) -> Tensor:
        """Return the scores of each model ``(N, B, S)`` for sentences of its own ``(N, B, S)``."""

        def read(stacked: tuple[Tensor, ...], ids: Tensor) -> Tensor:
            named = dict(zip(self.names, stacked, strict=True))
            return torch.func.functional_call(self.models[0], named, (ids,))

        return torch.func.vmap(read)(tuple(self.stacked), ids)

    @torch.no_grad()
    def part(self) -> None:
        """Give every model what was learned for it."""
        for name, stacked in zip(self.names, self.stacked, strict=True):
            for model, learned in zip(self.models, stacked, strict=True):
                model.get_parameter(name).copy_(learned)


def train_pronouns(
    vectors: WordVectors,
    sentences: Sequence[PronounSentence],
    *,
    layers: Sequence[str],
    positions: bool,
    seeds: Sequence[int],
    steps: int = 150,
    lr: float = 0.005,
) -> list[PronounModel]:
    """Train *he* to attend to the name it stands for, from several starts at once.

    Args:
        vectors: Word vectors.
        sentences: What to train on; each has one *he*.
        layers: Where the weights of each layer come from, as in `PronounModel`.
        positions: Whether a vector for its position is added to each word.
        seeds: One for each model: of its start and of its batches.
        steps: How many batches of 16 sentences.
        lr: Learning rate.

    Returns:
        A model for each seed.
    """
    ids = encode(vectors, [s.words for s in sentences])
    answers = torch.tensor([s.answer for s in sentences])
    models = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(seed)
            models.append(
                PronounModel(vectors, layers=layers, positions=positions).to(vectors.vectors.device)
            )
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def batch(_: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.stack([torch.randint(len(ids), (16,), generator=g) for g in generators])
        return ids[chosen], answers[chosen]

    together = Together(models)
    fit(together, batch, steps=steps, lr=lr, max_norm=None)
    together.part()
    for model, seed in zip(models, seeds, strict=True):
        note(model, optimizer="Adam", rate=lr, batch=16, steps=steps, seeds=(seed,))
    return [model.eval() for model in models]


@torch.no_grad()
def names_found(model: PronounModel, vectors: WordVectors, sentences: Sequence[PronounSentence]) -> Tensor:
    """Tell for each sentence whether *he* gives the right name more weight than the other.

    Args:
        model: What gives the weights.
        vectors: Word vectors.
        sentences: What to test on.

    Returns:
        ``(B,)``, True where it does.
    """
    scores = model(encode(vectors, [s.words for s in sentences]).to(model.vectors.device))
    row = torch.arange(len(scores))
    return (scores[row, [s.answer for s in sentences]] > scores[row, [s.other for s in sentences]]).cpu()


@torch.no_grad()
def name_weights(
    model: PronounModel, vectors: WordVectors, text: str, *, layer: int = -1, of: str = "he"
) -> Tensor:
    """Return the attention weights of *he* on the words of a text, ``(S,)``.

    Args:
        model: What gives the weights.
        vectors: Word vectors.
        text: Its words.
        layer: Which of the layers, the last one if not said.
        of: Another word of the text that attends.

    Returns:
        Weights that sum to one.
    """
    ids = encode(vectors, [text.split()]).to(model.vectors.device)
    layers = [scores[0] for _, scores in model._each(ids)]
    return layers[layer][text.split().index(of)].softmax(-1)


@torch.no_grad()
def exchanged_scores(model: PronounModel, vectors: WordVectors, query_text: str, key_text: str) -> Tensor:
    """Return the scores of *he* in one text with the words of another, ``(S,)``.

    Args:
        model: Its last layer compares queries and keys.
        vectors: Word vectors.
        query_text: The text from which the query of *he* is taken.
        key_text: The text from which the keys are taken, of as many words.

    Returns:
        A score for each word of the second text.
    """
    ids = encode(vectors, [query_text.split(), key_text.split()]).to(model.vectors.device)
    queries, keys = model.last_halves(ids)
    return keys[1] @ queries[0] / keys.shape[-1] ** 0.5
