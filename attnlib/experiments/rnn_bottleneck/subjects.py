"""Who is *he*? Sentences whose subject must be kept until it is needed, and an LSTM whose gates can be read.

Chapter 1 of the book measures what a trained one keeps.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

NAMES = ("goku", "vegeta", "freeza", "gohan", "piccolo", "krillin")
SENTENCE = (
    NAMES, ("throws", "aims", "hurls"), ("the",), ("spirit", "energy"), ("bomb", "ball"), ("at",), NAMES,
    ("because",), ("he",), ("is",), ("desperate", "angry", "tired", "proud"), (".",),
)  # fmt: skip
VOCABULARY = tuple(dict.fromkeys(word for choices in SENTENCE for word in choices))  # the names come first
HE = SENTENCE.index(("he",))


def tokens(text: str) -> Tensor:
    """Return the tokens of a text ``(1, T)``.

    Args:
        text: Words of `VOCABULARY`, with spaces between them.

    Returns:
        Their rows in the vocabulary.

    Raises:
        ValueError: If a word is not in the vocabulary.
    """
    unknown = [word for word in text.split() if word not in VOCABULARY]
    if unknown:
        raise ValueError(f"words must be among {' '.join(VOCABULARY)}, got {unknown[0]!r}")
    return torch.tensor([[VOCABULARY.index(word) for word in text.split()]])


CHOICES = tuple(tokens(" ".join(choices))[0] for choices in SENTENCE)  # the same as tokens, made once


def who_is_he(B: int, sentences: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Make texts of sentences such as "goku throws the spirit bomb at freeza because he is desperate".

    Args:
        B: How many texts.
        sentences: How many sentences in each.
        generator: Chooses the words.

    Returns:
        Tokens ``(B, T)``, and at each *he* the subject of its sentence, -100 elsewhere ``(B, T)``.
    """
    columns = [
        choices[torch.randint(len(choices), (B,), generator=generator)] for choices in CHOICES * sentences
    ]
    x = torch.stack(columns, 1)  # (B, T)
    answers = torch.full_like(x, -100)
    length = len(SENTENCE)
    answers[:, HE::length] = x[:, ::length]
    return x, answers


class SubjectModel(nn.Module):
    """An LSTM that says after each word who *he* would be.

    Args:
        width: Of embeddings and state.
    """

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.word = nn.Embedding(len(VOCABULARY), width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.name = nn.Linear(width, len(NAMES))
        self.facts = {"model": "LSTM", "width": width}

    def forward(self, x: Tensor) -> Tensor:
        """Return a score for each name after each word ``(B, T, 6)`` of ``x`` ``(B, T)``."""
        return self.name(self.lstm(self.word(x))[0])

    def watch(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Run over one text step by step, as the formulas say.

        Args:
            x: Tokens ``(1, T)``.

        Returns:
            Forget gates, cells and states after each word, ``(T, F)`` each.
        """
        lstm = self.lstm
        state = cell = torch.zeros(1, lstm.hidden_size, device=x.device)
        steps = []
        for word in self.word(x).unbind(1):
            from_word = word @ lstm.weight_ih_l0.T + lstm.bias_ih_l0
            from_state = state @ lstm.weight_hh_l0.T + lstm.bias_hh_l0
            write, forget, candidate, show = (from_word + from_state).chunk(4, -1)  # PyTorch's order
            cell = forget.sigmoid() * cell + write.sigmoid() * candidate.tanh()
            state = show.sigmoid() * cell.tanh()
            steps.append((forget.sigmoid()[0], cell[0], state[0]))
        gates, cells, states = (torch.stack(part) for part in zip(*steps, strict=True))
        return gates, cells, states
