"""A probe for the scores: what stands before the softmax, and what the softmax makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from attnlib._check import require_tensor, shape
from attnlib.functional import attention_scores, masked_softmax
from attnlib.instruments.statistics import entropy
from attnlib.multihead import MultiHeadAttention

SATURATED = 0.99  # a row whose largest weight is above this counts as saturated


@dataclass(frozen=True)
class ScoreStatistics:
    """What one head's scores look like. Rows with fewer than two keys to choose from are left out.

    Attributes:
        module: Where the head is, by the path of its module.
        head: Its number.
        rows: How many rows of scores were seen, one for each query.
        mean: Mean of the scores.
        std: How far the scores of one query lie from each other: their standard deviation around their own
            mean, pooled over queries. What all scores of a row have in common moves no softmax.
        largest: The largest score.
        top: The largest weight of a row, averaged over rows.
        entropy: Entropy of a row's weights as a share of what equal weights would have: 1 for equal
            weights, 0 for a single key, averaged over rows.
        saturated: Share of the rows whose largest weight is above 0.99.
    """

    module: str
    head: int
    rows: int
    mean: float
    std: float
    largest: float
    top: float
    entropy: float
    saturated: float


def score_table(heads: list[ScoreStatistics]) -> str:
    """Write heads as a table, a line each.

    Args:
        heads: From `ScoreProbe.heads` or `score_statistics`.

    Returns:
        The text, with two decimals.
    """
    width = max([len("module"), *(len(h.module) for h in heads)])
    lines = [f"{'module':{width}} head   mean    std  largest   top  entropy  saturated"]
    lines += [
        f"{h.module:{width}} {h.head:4d} {round(h.mean, 2) + 0.0:6.2f} {h.std:6.2f} {h.largest:8.2f}"
        f" {h.top:5.2f} {h.entropy:8.2f} {h.saturated:10.2f}"
        for h in heads
    ]
    return "\n".join(lines)


def score_statistics(scores: Tensor, module: str = "scores") -> list[ScoreStatistics]:
    """Describe scores that you have computed yourself, head by head.

    Args:
        scores: ``(B, H, T, S)``, before the softmax; minus infinity where a key is not visible.
        module: What to call them.

    Returns:
        One entry for each head.

    Raises:
        ValueError: If the scores have another shape, or no row has two visible keys.

    Chapter 4 reads them.
    """
    sums = _Sums()
    sums.add(scores)
    return sums.heads(module)


class ScoreProbe:
    """Watch the scores of every `MultiHeadAttention` inside a module, while the module does its work.

    It looks where the softmax is taken, and so at the mask, bias, positions, cache and scale that were really
    used, whoever gave them: a subclass that brings its own mask, too. Outputs and gradients stay as they are,
    nothing is kept on the module, and the hooks are gone at the end of the ``with`` block, also after an
    error. Scores are computed a second time, so attach it to a few batches, not to a whole training::

        with ScoreProbe(model) as probe:
            model(batch)
        print(probe)

    Args:
        model: A `MultiHeadAttention`, or anything that holds some.

    Raises:
        TypeError: If it is no module.
        ValueError: If it holds no `MultiHeadAttention`.

    Chapter 4 shows what healthy looks like.
    """

    def __init__(self, model: nn.Module) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
        self._watched = {
            name or type(module).__name__: module
            for name, module in model.named_modules()
            if isinstance(module, MultiHeadAttention)
        }
        if not self._watched:
            raise ValueError(
                f"model must hold a MultiHeadAttention to watch, got none in {type(model).__name__}; "
                f"copy PyTorch's with MultiHeadAttention.from_torch, or give scores to score_statistics"
            )
        self._sums: dict[str, _Sums] = {}
        self._hooks: list[RemovableHandle] = []

    def __enter__(self) -> ScoreProbe:
        """Attach; what was seen before is kept."""
        for name, module in self._watched.items():
            sums = self._sums.setdefault(name, _Sums())
            hook = module.attend.register_forward_hook(_hook(sums), with_kwargs=True)
            self._hooks.append(hook)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the hooks away."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def heads(self) -> list[ScoreStatistics]:
        """Return what was seen so far: an entry for each head of each module, in the model's order.

        Raises:
            RuntimeError: If no module has run inside the ``with`` block.
        """
        seen = {name: sums for name, sums in self._sums.items() if sums.calls}
        if not seen:
            raise RuntimeError("nothing was seen: run the model inside `with ScoreProbe(model) as probe:`")
        return [head for name, sums in seen.items() for head in sums.heads(name)]

    def __str__(self) -> str:
        return score_table(self.heads())


def _hook(sums: _Sums) -> Callable[[nn.Module, tuple[Any, ...], dict[str, Any], object], None]:
    @torch.no_grad()
    def watch(attend: nn.Module, arguments: tuple[Any, ...], options: dict[str, Any], output: object) -> None:
        q, k, *_ = arguments
        options = {name: x for name, x in options.items() if name != "sink"}  # no score of a key
        sums.add(attention_scores(q, k, **options))  # (B, H, T, S)

    return watch


class _Sums:
    """Running sums for each head, in float64."""

    def __init__(self) -> None:
        self.calls = 0
        self.totals: Tensor | None = None  # (8, H)
        self.largest: Tensor | None = None  # (H,)

    def add(self, scores: Tensor) -> None:
        require_tensor("scores", scores)
        if scores.ndim != 4:
            raise ValueError(f"scores must be (B, H, T, S), got {shape(scores)}")
        if not scores.numel():
            return  # an empty batch has nothing to see
        scores = scores.detach().double()
        visible = scores != -math.inf
        n = visible.sum(-1)  # (B, H, T)
        choice = n > 1
        seen = scores.masked_fill(~visible | ~choice[..., None], 0.0)
        mean = seen.sum(-1) / n.clamp_min(1)
        apart = (seen - mean[..., None]).masked_fill(~visible | ~choice[..., None], 0.0)
        weights = masked_softmax(scores)
        top = weights.amax(-1)
        share = entropy(weights) / n.clamp_min(2).log()
        rows = [choice, n * choice, (n - 1) * choice, seen.sum(-1), apart.square().sum(-1)]
        rows += [top * choice, share * choice, (top > SATURATED) & choice]
        totals = torch.stack([r.double().sum((0, 2)) for r in rows]).cpu()  # (8, H)
        largest = scores.masked_fill(~choice[..., None], -math.inf).amax((0, 2, 3)).cpu()
        self.totals = totals if self.totals is None else self.totals + totals
        self.largest = largest if self.largest is None else self.largest.maximum(largest)
        self.calls += 1

    def heads(self, module: str) -> list[ScoreStatistics]:
        if self.totals is None or self.largest is None or not self.totals[0].all():
            raise ValueError(f"a head of {module} must have a row with two visible keys, got none")
        rows, n, free, total, squares, top, share, saturated = self.totals
        columns = (
            total / n,
            (squares / free).sqrt(),
            self.largest,
            top / rows,
            share / rows,
            saturated / rows,
        )
        return [
            ScoreStatistics(module, head, int(rows[head]), *(float(c[head]) for c in columns))
            for head in range(len(rows))
        ]
