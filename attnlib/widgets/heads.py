"""The explorable of chapter 5: trained heads, what each attends to, and what breaks without it."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnlib.experiments.tasks import relation_masks, spell
from attnlib.functional import attention_weights
from attnlib.instruments.statistics import relation_share
from attnlib.multihead import MultiHeadAttention
from attnlib.widgets._base import anywidget, front_end, traitlets

LETTERS = [2, 0, 1, 0, 3, 1, 1, 2]
DIGITS = [5, 1, 7, 4, 0, 2, 6, 3]


class HeadViewer(anywidget.AnyWidget):
    """One layer of heads, trained on the task `relations`, on a sequence that can be changed.

    A token is the sum of the embeddings of its letter, its digit and its position. The tables hold that sum
    in parts, already projected: a row for each letter, then for each digit, then for each position.

    Attributes:
        letters: The letter of each token, as numbers.
        digits: The digit of each token.
        token: Which token attends.
        head: Which head is shown.
        used: For each head, whether it takes part in the answers.
        sizes: How many letters, digits, positions and heads there are.
        query_table: ``(rows, H * D)``.
        key_table: ``(rows, H * D)``.
        worth: ``(rows, H * 3 * digits)``: what a token adds to the logits of the answers if a head gives it
            weight 1.
        bias: ``(3 * digits,)``: the logits of the answers without any head.
    """

    _esm, _css = front_end("heads")

    letters = traitlets.List(traitlets.Int()).tag(sync=True)
    digits = traitlets.List(traitlets.Int()).tag(sync=True)
    token = traitlets.Int(5).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    used = traitlets.List(traitlets.Bool()).tag(sync=True)
    sizes = traitlets.List(traitlets.Int()).tag(sync=True)
    query_table = traitlets.List().tag(sync=True)
    key_table = traitlets.List().tag(sync=True)
    worth = traitlets.List().tag(sync=True)
    bias = traitlets.List().tag(sync=True)

    @classmethod
    @torch.no_grad()
    def of(
        cls,
        letter: nn.Embedding,
        digit: nn.Embedding,
        position: nn.Embedding,
        attend: MultiHeadAttention,
        answer: nn.Linear,
    ) -> HeadViewer:
        """Take the tables from a trained model of these parts, which adds the three embeddings.

        Args:
            letter: A vector for each letter.
            digit: A vector for each digit.
            position: A vector for each position.
            attend: The heads, without biases.
            answer: From the output of the heads to ``3 * digits`` logits.

        Returns:
            The explorable, with every number rounded to four decimals.

        Raises:
            ValueError: If the heads have biases or share keys, which the tables have no room for.
        """
        if attend.q_proj.bias is not None or attend.num_kv_heads != attend.num_heads:
            raise ValueError("attend must have no biases and as many key heads as query heads")
        rows = torch.cat([letter.weight, digit.weight, position.weight])  # (rows, C)
        values = attend.v_proj(rows).unflatten(-1, (attend.num_heads, -1))  # (rows, H, D)
        back = (answer.weight @ attend.out_proj.weight).unflatten(-1, (attend.num_heads, -1))  # (3V, H, D)
        worth = torch.einsum("rhd,ohd->rho", values, back).flatten(1)
        tables = {
            "query_table": attend.q_proj(rows),
            "key_table": attend.k_proj(rows),
            "worth": worth,
            "bias": answer.bias,
        }
        sizes = [*(table.num_embeddings for table in (letter, digit, position)), attend.num_heads]
        if sizes[0] < 4 or sizes[1] < 8 or sizes[2] != len(LETTERS):
            raise ValueError(f"there must be 4 letters, 8 digits and 8 positions, got {sizes[:3]}")
        numbers = {name: table.double().cpu().round(decimals=4).tolist() for name, table in tables.items()}
        return cls(letters=LETTERS, digits=DIGITS, used=[True] * sizes[3], sizes=sizes, **numbers)

    def _tokens(self, table: list) -> Tensor:
        """Return a table's sum for every token, ``(H, T, ...)`` in float64."""
        K, V, T, H = self.sizes
        rows = torch.tensor(table, dtype=torch.float64)
        letters, digits = torch.tensor(self.letters), torch.tensor(self.digits)
        return (rows[letters] + rows[K + digits] + rows[K + V :]).view(T, H, -1).transpose(0, 1)

    def weights(self) -> Tensor:
        """Return the weights of every head, ``(H, T, T)`` in float64, as `attnlib` computes them."""
        return attention_weights(self._tokens(self.query_table), self._tokens(self.key_table), causal=True)

    def scores(self) -> dict[str, list[float]]:
        """Return each head's weight where a relation leads, if the three lead apart; NaN if they never do."""
        masks, weights = relation_masks(torch.tensor([self.letters]), apart=True), self.weights()[None]
        nothing = [math.nan] * self.sizes[3]
        return {
            name: relation_share(weights, m).tolist() if m.any() else nothing for name, m in masks.items()
        }

    def answers(self) -> Tensor:
        """Return each token's answers with the heads in use: ``(T, 3, digits)``, probabilities in float64."""
        used = torch.tensor(self.used, dtype=torch.float64)
        summed = torch.einsum("h,hij,hjo->io", used, self.weights(), self._tokens(self.worth))
        logits = summed + torch.tensor(self.bias, dtype=torch.float64)
        return logits.unflatten(-1, (3, self.sizes[1])).softmax(-1)

    def __repr__(self) -> str:
        steps = torch.tensor([self.letters, self.digits]).T
        text = spell(steps, values=self.sizes[1])
        return f"HeadViewer('{text}', token={self.token + 1}, head={self.head + 1})"
