"""Recurrent networks, for comparison: all they know of a sequence is one state.

Chapter 1 of the book measures what that costs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlib._check import require_whole, shape
from attnlib.instruments.counters import count_parameters

KINDS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def rnn_step(x: Tensor, state: Tensor, w_x: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
    """Take one step of a plain recurrent network: ``tanh(x W_x + state W_state + bias)``.

    Args:
        x: The new input ``(..., C)``.
        state: The summary so far ``(..., F)``.
        w_x: ``(C, F)``.
        w_state: ``(F, F)``.
        bias: ``(F,)``.

    Returns:
        The new summary ``(..., F)``.
    """
    return torch.tanh(x @ w_x + state @ w_state + bias)


class Recurrent(nn.Module):
    """Read a sequence step by step and return the state after each.

    Args:
        kind: ``"rnn"``, ``"gru"`` or ``"lstm"``.
        input_dim: Width C of the inputs.
        state_dim: Width F of the state.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If there is no such kind, or a size is below 1.
    """

    def __init__(self, kind: str, input_dim: int, state_dim: int) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        require_whole("input_dim", input_dim, 1)
        require_whole("state_dim", state_dim, 1)
        self.kind = kind
        self.facts = {"model": {"rnn": "plain RNN"}.get(kind, kind.upper()), "width": state_dim}
        self.cells = KINDS[kind](input_dim, state_dim, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """Read.

        Args:
            x: ``(B, T, C)``.

        Returns:
            States ``(B, T, F)``; of an LSTM, the part that it shows.

        Raises:
            ValueError: If the shape is wrong.
        """
        if x.ndim != 3 or x.shape[-1] != self.cells.input_size:
            raise ValueError(f"x must be (B, T, C) with C = {self.cells.input_size}, got {shape(x)}")
        return self.cells(x)[0]

    @torch.no_grad()
    def set_radius(self, radius: float) -> Recurrent:
        """Scale the matrix from state to state of a plain network to a spectral radius.

        Args:
            radius: The largest size of an eigenvalue it shall have.

        Returns:
            This module.

        Raises:
            ValueError: If this is not a plain network.
        """
        if self.kind != "rnn":
            raise ValueError(f"only a plain rnn has one matrix from state to state, got {self.kind}")
        weight = self.cells.weight_hh_l0
        weight *= radius / torch.linalg.eigvals(weight.cpu()).abs().max().to(weight.device)
        return self


def widest(build: Callable[[int], nn.Module], parameters: int, *, step: int = 1) -> int:
    """Find the largest width at which a model has at most so many parameters.

    Args:
        build: A function that makes a model of a width.
        parameters: How many it may have.
        step: Widths to try: multiples of this number.

    Returns:
        The width.

    Raises:
        ValueError: If even the smallest model has more.
    """
    require_whole("step", step, 1)

    def fits(width: int) -> bool:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):  # shapes alone
            return count_parameters(build(width * step)) <= parameters

    if not fits(1):
        raise ValueError(f"even at width {step} the model has more than {parameters} parameters")
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low * step
