"""A training loop with a progress bar, and nothing else. Chapter by chapter, the book trains with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._check import require_whole
from attnlib.instruments.settings import Values, note
from attnlib.model import in_mode

T = TypeVar("T")
Batch = tuple[Tensor, Tensor]


def track(items: Iterable[T], label: str = "training") -> Iterable[T]:
    """Go through ``items`` with a progress bar that is gone when it is done.

    There is no bar if tqdm is not installed, or if ``ATTNLIB_PROGRESS`` is 0, as it is whenever outputs
    are stored or compared.

    Args:
        items: What to go through.
        label: What to write beside the bar.

    Returns:
        The same items.
    """
    if os.environ.get("ATTNLIB_PROGRESS") == "0":
        return items
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return items
    return tqdm(items, desc=label, leave=False)


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy over every position that has a target.

    Args:
        logits: ``(..., V)``.
        targets: ``(...)``; -100 where there is nothing to predict.

    Returns:
        A single number.
    """
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


def fit(
    model: nn.Module,
    batch: Callable[[torch.Generator], Batch],
    *,
    steps: int,
    lr: float = 1e-3,
    seed: int = 0,
    loss: Callable[[Tensor, Tensor], Tensor] = cross_entropy,
    max_norm: float | None = 1.0,
    optimizer: type[torch.optim.Optimizer] = torch.optim.Adam,
    label: str = "training",
) -> list[float]:
    """Train a model, in place: with Adam, unless told otherwise.

    Batches are drawn on the CPU, from a generator of their own, and moved to the model's device: the
    same seed gives the same batches everywhere, and the caller's random numbers are left as they were.

    Args:
        model: What to train. In training mode it is trained as it is, so that a part in eval mode stays
            frozen in it; in eval mode, all of it is put into training mode, and each part back at the end.
        batch: A function of a generator that returns inputs and targets.
        steps: How many batches.
        lr: Learning rate.
        seed: Of the batches, and of dropout.
        loss: A function of the model's outputs and the targets.
        max_norm: Gradients are shortened to this length, above 0; None leaves them.
        optimizer: How to take a step: `torch.optim.Adam`, `torch.optim.SGD` or another that can be fused.
        label: What to write beside the progress bar.

    Returns:
        The loss of each step, before the step was taken, with the ``setting`` that the model has from now on.

    Raises:
        TypeError: If the steps are not a whole number.
        ValueError: If the learning rate or the length is not above 0, or the model has no parameters.
    """
    require_whole("steps", steps, 0)
    if not 0 < lr < float("inf"):
        raise ValueError(f"lr must be a finite number above 0, got {lr}")
    if max_norm is not None and not max_norm > 0:
        raise ValueError(f"max_norm must be above 0, or None to leave gradients as they are, got {max_norm}")
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError("model must have parameters to train, got none that require a gradient")
    device = parameters[0].device
    generator = torch.Generator().manual_seed(seed)
    update = optimizer(parameters, lr=lr, fused=device.type in ("cpu", "cuda"))
    losses, batch_size = [], None
    mode = nullcontext() if model.training else in_mode(model, training=True)
    random = torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])
    with mode, random, small_products():
        torch.manual_seed(seed)
        for _ in track(range(steps), label):
            inputs, targets = (x.to(device) for x in batch(generator))
            batch_size = len(inputs)
            value = loss(model(inputs), targets)
            update.zero_grad()
            value.backward()
            if max_norm is not None:
                nn.utils.clip_grad_norm_(parameters, max_norm)
            update.step()
            losses.append(value.detach())  # a number would wait for the GPU at every step
    setting = note(
        model,
        optimizer=optimizer.__name__,
        rate=lr,
        clip=max_norm,
        batch=batch_size,
        steps=steps,
        seeds=(seed,),
    )
    return Values(torch.stack(losses).tolist() if losses else [], setting)


@contextmanager
def small_products() -> Iterator[None]:
    """Turn oneDNN off: to prepare a product takes it longer than a small product takes."""
    was_enabled = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = False
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = was_enabled
