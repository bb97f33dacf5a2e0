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

MIXES = "attention", "average"
LOOKS = *MIXES, "tied", "table"
PROJECTIONS = {"attention": 2, "tied": 1}  # of a look that compares words: queries and keys, or one for both
LONGEST = 16  # words of a sentence


def _require_one_of(name: str, chosen: str, kinds: Sequence[str]) -> None:
    if chosen not in kinds:
        raise ValueError(f"{name} must be one of {', '.join(kinds)}, got {chosen!r}")


def encode(vectors: WordVectors, sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return the places of all words in the vocabulary, ``(B, S)``, filled up with -1.

    Args:
        vectors: The vocabulary.
        sentences: Words, sentence by sentence.

    Returns:
        Whole numbers, on the CPU.
    """
    rows = [torch.tensor(vectors.place(words)) for words in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)


class Mix(nn.Module):
    """Score every word of a sentence for the one that asks.

    Args:
        kind: One of `MIXES`: scaled dot products, or all words alike.
        width: How many numbers a word has.
        head: How many numbers a query and a key have.

    Raises:
        ValueError: If there is no such kind.
    """

    def __init__(self, kind: str, width: int, head: int = 32) -> None:
        super().__init__()
        _require_one_of("kind", kind, MIXES)
        self.kind = kind
        if kind == "attention":
            self.w_q = nn.Parameter(0.3 * torch.randn(width, head) / width**0.5)
            self.w_k = nn.Parameter(0.3 * torch.randn(width, head) / width**0.5)

    def forward(self, asks: Tensor, x: Tensor) -> Tensor:
        """Score ``x`` ``(B, S, C)`` for ``asks`` ``(B, 1, C)``: ``(B, 1, S)``."""
        if self.kind == "average":
            return x.new_zeros(len(x), 1, x.shape[1])
        return self.w_q.shape[1] ** -0.5 * dot_scores(asks @ self.w_q, x @ self.w_k)


class SenseReader(nn.Module):
    """Give the word that asks a new vector: an average of its words' values, weighted by attention.

    Args:
        vectors: What the words are made of; they stay as they are.
        kind: How to mix, one of `MIXES`.
        head: How many numbers a query and a key have.
        keep: Whether the word's own vector is added to the mixture.
    """

    def __init__(
        self, vectors: WordVectors, kind: str = "attention", head: int = 32, *, keep: bool = False
    ) -> None:
        super().__init__()
        width = vectors.vectors.shape[1]
        self.register_buffer("vectors", vectors.vectors)
        self.register_buffer("anchors", sense_anchors(vectors))
        self.mix = Mix(kind, width, head)
        self.w_v = nn.Parameter(torch.eye(width))
        self.keep = keep
        self.facts = {
            "model": ("one head" if kind == "attention" else "average") + " over GloVe vectors",
            "width": width,
            "own vector added": keep or None,
        }

    def weights(self, ids: Tensor) -> Tensor:
        """Return how much of each word goes in.

        Args:
            ids: From `encode_senses`, ``(B, 1 + S)``.

        Returns:
            Weights ``(B, S)``.
        """
        x = self.vectors[ids]  # (B, 1 + S, C); what is filled up is hidden below
        return self.mix(x[:, :1], x[:, 1:])[:, 0].masked_fill(ids[:, 1:] < 0, -torch.inf).softmax(-1)

    def new_vectors(self, ids: Tensor) -> Tensor:
        """Return the new vector of each word that asks, ``(B, C)``."""
        heard = (self.weights(ids)[:, None] @ (self.vectors[ids[:, 1:]] @ self.w_v))[:, 0]
        return self.vectors[ids[:, 0]] + heard if self.keep else heard

    def forward(self, ids: Tensor) -> Tensor:
        """Return how far each new vector goes towards the four senses, ``(B, 4)``."""
        return self.new_vectors(ids) @ self.anchors.T


def encode_senses(vectors: WordVectors, sentences: Sequence[SenseSentence]) -> Tensor:
    """Return the word that asks and then the sentence, ``(B, 1 + S)``, as `encode` does."""
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
) -> tuple[SenseReader, list[float]]:
    """Train a mixture until *apple* and *bank* lie nearest to the sense they have in each sentence.

    Args:
        vectors: Word vectors.
        sentences: What to train on.
        kind: How to mix, one of `MIXES`.
        seed: Of the start and of the batches.
        steps: How many batches of 64 sentences.
        head: How many numbers a query and a key have.
        lr: Learning rate.
        keep: Whether the word's own vector is added to the mixture.

    Returns:
        The reader and the loss of every step.
    """
    ids, senses = encode_senses(vectors, sentences), torch.tensor([s.sense for s in sentences])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = SenseReader(vectors, kind, head, keep=keep).to(vectors.vectors.device)

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.randint(len(ids), (64,), generator=generator)
        return ids[chosen], senses[chosen]

    losses = fit(reader, batch, steps=steps, lr=lr, seed=seed, max_norm=None)
    return reader.eval(), losses


@torch.no_grad()
def senses_found(reader: nn.Module, vectors: WordVectors, sentences: Sequence[SenseSentence]) -> float:
    """Return the share of sentences after which the word that asks lies nearest to its sense, of four.

    Args:
        reader: A `SenseReader`.
        vectors: Word vectors.
        sentences: What to ask about.

    Returns:
        A number between 0 and 1.
    """
    nearest = reader(encode_senses(vectors, sentences).to(vectors.vectors.device)).argmax(-1).cpu()
    return (nearest == torch.tensor([s.sense for s in sentences])).double().mean().item()


@torch.no_grad()
def sense_weights(reader: SenseReader, vectors: WordVectors, text: str, asks: str) -> Tensor:
    """Return how much one word of a text takes from each, ``(S,)``."""
    return reader.weights(encode(vectors, [[asks, *text.split()]]).to(vectors.vectors.device))[0]


class PronounReader(nn.Module):
    """Score every word of a sentence for *he*, after one look or after several.

    In each layer but the last, every word adds the output of its attention to itself.

    Args:
        vectors: What the words are made of; they stay as they are.
        looks: Where the weights of each look come from, each of `LOOKS`: from queries and keys, from keys
            that are also the queries, from all words alike, or from a learned table, a score for each place
            that asks and each that is asked.
        places: Whether a learned vector for its place is added to each word.
        head: How many numbers a query and a key have.

    Raises:
        ValueError: If there is no look, or none of that kind.
    """

    def __init__(self, vectors: WordVectors, *, looks: Sequence[str], places: bool, head: int = 16) -> None:
        super().__init__()
        if not looks:
            raise ValueError("looks must hold at least one look, got none")
        for look in looks:
            _require_one_of("looks", look, LOOKS)
        width = vectors.vectors.shape[1]
        self.register_buffer("vectors", vectors.vectors)
        self.he = vectors.place("he")
        self.place = nn.Parameter(0.3 * torch.randn(LONGEST, width)) if places else None
        self.looks = tuple(looks)
        # drawn for every look, so that readers of one seed start alike; kept where a look compares words
        drawn = [torch.randn(2, width, head) / width**0.5 for _ in looks]
        self.w_qk = nn.ParameterDict(
            {str(n): drawn[n][-PROJECTIONS[look] :] for n, look in enumerate(looks) if look in PROJECTIONS}
        )
        self.w_v = nn.ParameterList(torch.randn(width, width) / (3 * width**0.5) for _ in looks[1:])
        self.table = nn.Parameter(torch.zeros(LONGEST, LONGEST)) if "table" in looks else None
        self.facts = {
            "model": f"GloVe vectors, {', then '.join(looks)}, no norm",
            "width": width,
            "positions": "learned" if places else "no",
        }
        if self.looks == ("table",):  # it reads no vectors at all
            self.place = None
            self.facts = {"model": "a table of scores by positions"}

    def forward(self, ids: Tensor) -> Tensor:
        """Return the last look's scores for *he*, ``(B, S)``; minus infinity where a sentence has ended."""
        return self.each_look(ids)[-1]

    def each_look(self, ids: Tensor) -> list[Tensor]:
        """Return the scores for *he* of every look, each ``(B, S)``."""
        return [scores[self._he(ids)] for _, scores in self._each(ids)]

    def last_halves(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the last look compares: the query of *he* ``(B, D)`` and all keys ``(B, S, D)``."""
        *_, (x, _) = self._each(ids)
        w_qk = self.w_qk[str(len(self.looks) - 1)]
        return (x @ w_qk[0])[self._he(ids)], x @ w_qk[-1]

    def _each(self, ids: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield for each look the words before it ``(B, S, C)`` and all its scores ``(B, S, S)``."""
        x = self.vectors[ids]
        if self.place is not None:
            x = x + self.place[: ids.shape[1]]
        hidden = (ids < 0)[:, None]
        for n, w_v in enumerate([*self.w_v, None]):
            scores = self._scores(n, x).masked_fill(hidden, -torch.inf)
            yield x, scores
            if w_v is not None:
                x = x + scores.softmax(-1) @ (x @ w_v)

    def _he(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return where *he* stands, as an index of rows and places."""
        return torch.arange(len(ids)), (ids == self.he).int().argmax(-1)

    def _scores(self, n: int, x: Tensor) -> Tensor:
        look, words = self.looks[n], x.shape[1]
        if look == "table":
            return self.table[:words, :words].expand(len(x), -1, -1)
        if look == "average":
            return x.new_zeros(len(x), words, words)
        w_qk = self.w_qk[str(n)]
        return dot_scores(x @ w_qk[0], x @ w_qk[-1]) / w_qk.shape[-1] ** 0.5


class Together(nn.Module):
    """Readers of one kind as one, for a training that costs little more than that of a single one.

    Args:
        readers: They differ in their parameters alone.
    """

    def __init__(self, readers: Sequence[PronounReader]) -> None:
        super().__init__()
        self.readers = readers
        parameters, _ = torch.func.stack_module_state(list(readers))
        self.names = list(parameters)
        self.stacked = nn.ParameterList(parameters.values())

    def forward(self, ids: Tensor) -> Tensor:
        """Return the scores of each reader ``(N, B, S)`` for sentences of its own ``(N, B, S)``."""

        def read(stacked: tuple[Tensor, ...], ids: Tensor) -> Tensor:
            named = dict(zip(self.names, stacked, strict=True))
            return torch.func.functional_call(self.readers[0], named, (ids,))

        return torch.func.vmap(read)(tuple(self.stacked), ids)

    @torch.no_grad()
    def part(self) -> None:
        """Give every reader what was learned for it."""
        for name, stacked in zip(self.names, self.stacked, strict=True):
            for reader, learned in zip(self.readers, stacked, strict=True):
                reader.get_parameter(name).copy_(learned)


def train_pronouns(
    vectors: WordVectors,
    sentences: Sequence[PronounSentence],
    *,
    looks: Sequence[str],
    places: bool,
    seeds: Sequence[int],
    steps: int = 150,
    lr: float = 0.005,
) -> list[PronounReader]:
    """Train *he* to attend to the name it stands for, from several starts at once.

    Args:
        vectors: Word vectors.
        sentences: What to train on; each has one *he*.
        looks: Where the weights of each look come from, as in `PronounReader`.
        places: Whether words know where they stand.
        seeds: One for each reader: of its start and of its batches.
        steps: How many batches of 16 sentences.
        lr: Learning rate.

    Returns:
        A reader for each seed.
    """
    ids = encode(vectors, [s.words for s in sentences])
    answers = torch.tensor([s.answer for s in sentences])
    readers = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(seed)
            readers.append(PronounReader(vectors, looks=looks, places=places).to(vectors.vectors.device))
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def batch(_: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.stack([torch.randint(len(ids), (16,), generator=g) for g in generators])
        return ids[chosen], answers[chosen]

    together = Together(readers)
    fit(together, batch, steps=steps, lr=lr, max_norm=None)
    together.part()
    for reader, seed in zip(readers, seeds, strict=True):
        note(reader, optimizer="Adam", rate=lr, batch=16, steps=steps, seeds=(seed,))
    return [reader.eval() for reader in readers]


@torch.no_grad()
def names_found(reader: PronounReader, vectors: WordVectors, sentences: Sequence[PronounSentence]) -> Tensor:
    """Tell for each sentence whether *he* gives the right name more weight than the other.

    Args:
        reader: What gives the weights.
        vectors: Word vectors.
        sentences: What to ask about.

    Returns:
        ``(B,)``, True where it does.
    """
    scores = reader(encode(vectors, [s.words for s in sentences]).to(reader.vectors.device))
    row = torch.arange(len(scores))
    return (scores[row, [s.answer for s in sentences]] > scores[row, [s.other for s in sentences]]).cpu()


@torch.no_grad()
def name_weights(
    reader: PronounReader, vectors: WordVectors, text: str, *, look: int = -1, of: str = "he"
) -> Tensor:
    """Return how much *he* gives to each word of a text, ``(S,)``.

    Args:
        reader: What gives the weights.
        vectors: Word vectors.
        text: Its words.
        look: Which of the looks, the last one if not said.
        of: Another word of the text that looks.

    Returns:
        Weights that sum to one.
    """
    ids = encode(vectors, [text.split()]).to(reader.vectors.device)
    looks = [scores[0] for _, scores in reader._each(ids)]
    return looks[look][text.split().index(of)].softmax(-1)


@torch.no_grad()
def exchanged_scores(reader: PronounReader, vectors: WordVectors, asks: str, is_found: str) -> Tensor:
    """Return the scores when *he* asks from one text and the words of another are found, ``(S,)``.

    Args:
        reader: Its last look compares queries and keys.
        vectors: Word vectors.
        asks: The text from which the query of *he* is taken.
        is_found: The text from which the keys are taken, of as many words.

    Returns:
        A score for each word of the second text.
    """
    ids = encode(vectors, [asks.split(), is_found.split()]).to(reader.vectors.device)
    queries, keys = reader.last_halves(ids)
    return keys[1] @ queries[0] / keys.shape[-1] ** 0.5
