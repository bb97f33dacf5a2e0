"""Models that look several things up at once, with one head or several, with an MLP or without.

Chapter 5 of the book trains them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from attnlib.experiments.runs import load
from attnlib.experiments.tasks import relations, several_lookups
from attnlib.experiments.training import cross_entropy, fit
from attnlib.instruments.counters import count_parameters
from attnlib.multihead import MultiHeadAttention

# of the look-ups
KEYS = 6
VALUES = 8
PAIRS = 4
# of the relations
LETTERS = 4
DIGITS = 8
POSITIONS = 8


class LookupModel(nn.Module):
    """A block and a linear output layer: the question attends to the pairs, once.

    It is a Transformer's block without its normalisations. Queries come from the question, keys and values
    from the pairs.

    Args:
        attend: The heads.
        questions: How many answers there are to give.
        hidden: Width of the MLP behind the heads, if there is one.
        again: Heads of a second layer, whose queries come from what the first has made of the question.
    """

    def __init__(
        self,
        attend: MultiHeadAttention,
        questions: int = 2,
        hidden: int | None = None,
        again: MultiHeadAttention | None = None,
    ) -> None:
        super().__init__()
        C = attend.embed_dim
        sizes = (KEYS + 1, VALUES + 1, *[KEYS + 1] * (questions - 1))
        self.tables = nn.ModuleList(nn.Embedding(size, C) for size in sizes)
        self.attend, self.again = attend, again
        self.mlp = None
        if hidden is not None:
            self.mlp = nn.Sequential(nn.Linear(C, hidden), nn.ReLU(), nn.Linear(hidden, C))
        self.answer = nn.Linear(C, questions * VALUES)
        self.facts = lookup_facts(attend.num_heads, C, questions, hidden, again is not None)

    def embed(self, steps: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors of the question ``(B, 1, C)`` and of the pairs ``(B, pairs, C)``."""
        x = sum(table(steps[..., n]) for n, table in enumerate(self.tables))
        return x[:, -1:], x[:, :-1]

    def forward(self, steps: Tensor) -> Tensor:
        """Return a logit for every answer to every question, ``(B, questions, VALUES)``."""
        question, pairs = self.embed(steps)
        x = question + self.attend(question, pairs)
        if self.mlp is not None:
            x = x + self.mlp(x)
        if self.again is not None:
            x = x + self.again(x, pairs)
        return self.answer(x[:, 0]).unflatten(-1, (-1, VALUES))

    def weights(self, steps: Tensor) -> Tensor:
        """Return each head's attention weights on the pairs, ``(B, H, pairs)``."""
        question, pairs = self.embed(steps)
        return self.attend(question, pairs, need_weights=True)[1][:, :, 0]


def lookup_facts(heads: int, width: int, questions: int, hidden: int | None, again: bool) -> dict:
    """Return what there is to say of a `LookupModel`."""
    return {
        "model": "attention, no norm, linear output layer" + (", two layers of attention" if again else ""),
        "width": width,
        "heads": heads,
        "hidden": hidden,
        "task": f"{questions} look-ups at once among {PAIRS} pairs",
    }


def tie(heads: MultiHeadAttention, *names: str) -> MultiHeadAttention:
    """Let every head take the first one's part of some matrices, in place.

    Args:
        heads: As many heads of keys as of queries.
        *names: Which matrices, of ``"q_proj"``, ``"k_proj"`` and ``"v_proj"``. If none is named, those of
            queries and keys: one attention pattern for all.

    Returns:
        The same heads.
    """
    for name in names or ("q_proj", "k_proj"):
        projection = getattr(heads, name)
        parametrize.register_parametrization(projection, "weight", _Tie(heads.num_heads))
    return heads


class _Tie(nn.Module):
    """Use the first head's rows of a matrix for all heads."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, weight: Tensor) -> Tensor:
        return weight.chunk(self.heads)[0].repeat(self.heads, 1)


def train_lookup(
    heads: int = 1,
    *,
    questions: int = 2,
    hidden: int | None = None,
    again: bool = False,
    width: int = 24,
    pairs: int = PAIRS,
    steps: int = 200,
    lr: float = 0.01,
    seed: int = 0,
    device: torch.device | None = None,
) -> tuple[LookupModel, Tensor]:
    """Train a model, and note how often it was right on the way.

    Args:
        heads: How many heads share the width.
        questions: How many things are looked up at once.
        hidden: Width of the MLP behind the heads, if there is one.
        again: Whether there is a second layer of as many heads.
        width: Of the model.
        pairs: Pairs in a sequence.
        steps: How many batches of 64 sequences.
        lr: Learning rate of Adam.
        seed: Of the start and the batches.
        device: Where to train; the CPU if not given.

    Returns:
        The model, and the share of right answers to each question in each batch, before it was learned from:
        ``(steps, questions)``. How it was trained stands in ``model.setting``.
    """

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return several_lookups(64, pairs, questions, keys=KEYS, values=VALUES, generator=generator)

    right = []

    def loss(logits: Tensor, answers: Tensor) -> Tensor:
        right.append((logits.argmax(-1) == answers).float().mean(0).detach())
        return cross_entropy(logits, answers)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        first, *second = (MultiHeadAttention(width, heads, bias=False) for _ in range(1 + again))
        model = LookupModel(first, questions, hidden, *second).to(device)
    fit(model, batch, steps=steps, lr=lr, seed=seed, loss=loss, label=f"{heads} heads, seed {seed}")
    return model.eval(), torch.stack(right).cpu()


@torch.no_grad()
def shares_right(model: LookupModel, *, pairs: int = PAIRS, count: int = 2000, seed: int = 99) -> list[float]:
    """Return the share of right answers to each question, on new sequences."""
    questions = len(model.tables) - 1
    drawn = several_lookups(
        count, pairs, questions, keys=KEYS, values=VALUES, generator=torch.Generator().manual_seed(seed)
    )
    steps, answers = (part.to(model.answer.weight.device) for part in drawn)
    return (model(steps).argmax(-1) == answers).double().mean(0).tolist()


def stored() -> dict:
    """Return what was measured in long trainings, where and how."""

    def facts(run: dict) -> dict:
        sizes = run["heads"], run["width"], run["questions"], run["hidden"], run["again"]
        with torch.random.fork_rng(devices=[]), torch.device("meta"):  # shapes alone
            parts = [
                MultiHeadAttention(run["width"], run["heads"], bias=False) for _ in range(1 + run["again"])
            ]
            model = LookupModel(parts[0], run["questions"], run["hidden"], *parts[1:])
        return {**lookup_facts(*sizes), "weights": count_parameters(model), "again": None}

    results = "right", "course", "at", "questions"
    return load(
        "many-heads",
        results=results,
        facts=facts,
        usual={"width": 24, "again": False},
        optimizer="Adam",
        clip=1.0,
        batch=64,
    )


class RelationModel(nn.Module):
    """Four heads and a linear output layer: every token names three digits that came before it.

    A token is the sum of the embeddings of its letter, its digit and its position. See `relations`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.letter, self.digit = nn.Embedding(LETTERS, 32), nn.Embedding(DIGITS, 32)
        self.position = nn.Embedding(POSITIONS, 32)
        self.attend = MultiHeadAttention(32, 4, bias=False)
        self.answer = nn.Linear(32, 3 * DIGITS)
        self.facts = {
            "model": "attention, no norm, linear output layer, learned positions",
            "width": 32,
            "heads": 4,
            "task": "three relations",
        }

    def embed(self, steps: Tensor) -> Tensor:
        """Return a vector for every token, ``(B, T, C)``."""
        return self.letter(steps[..., 0]) + self.digit(steps[..., 1]) + self.position.weight

    def forward(self, steps: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return a logit for every digit as previous, match and first, ``(B, T, 3, DIGITS)``."""
        x = self.attend(self.embed(steps), causal=True, mask=mask)
        return self.answer(x).unflatten(-1, (3, DIGITS))

    @torch.no_grad()
    def weights(self, steps: Tensor) -> Tensor:
        """Return the attention pattern of every head, ``(B, H, T, T)``."""
        return self.attend(self.embed(steps), causal=True, need_weights=True)[1]


def train_relations(seed: int, *, steps: int = 300, device: torch.device | None = None) -> RelationModel:
    """Train four heads to name the previous digit, the match's and the first.

    Args:
        seed: Of the start and the batches.
        steps: How many batches of 64 sequences of 8 tokens.
        device: Where to train; the CPU if not given.

    Returns:
        The model, trained.
    """

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return relations(64, POSITIONS, keys=LETTERS, values=DIGITS, generator=generator)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = RelationModel().to(device)
    fit(model, batch, steps=steps, lr=0.02, seed=seed, label=f"seed {seed}")
    return model


def without_heads(*heads: int, count: int = 4, device: torch.device | None = None) -> Tensor:
    """Return a mask ``(1, H, 1, 1)`` that hides every token from some heads, so that their output is zero."""
    mask = torch.ones(1, count, 1, 1, dtype=torch.bool, device=device)
    mask[:, list(heads)] = False
    return mask


@torch.no_grad()
def effects(model: RelationModel, steps: Tensor) -> Tensor:
    """Return how far the answers of each token move if one key is hidden from one head, ``(B, H, T, S)``.

    The softmax spreads the head's weight over the other keys. For each of the three answers, the absolute
    changes of the probabilities are added and halved, so that 1 means from certain of one digit to certain
    of another; the largest of the three counts.
    """
    B, T = steps.shape[:2]
    before = model(steps).softmax(-1)
    moved = torch.zeros(B, model.attend.num_heads, T, T, device=steps.device)
    for h in range(model.attend.num_heads):
        for j in range(T):
            mask = torch.ones(1, model.attend.num_heads, 1, T, dtype=torch.bool, device=steps.device)
            mask[:, h, :, j] = False
            change = (model(steps, mask).softmax(-1) - before).abs().sum(-1) / 2  # (B, T, 3)
            moved[:, h, :, j] = change.amax(-1)
    return moved
