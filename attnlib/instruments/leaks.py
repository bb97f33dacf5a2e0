"""Which inputs reach which outputs: change one position at a time and see what moves.

Chapter 6 of the book uses it on right masks and on wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnlib._check import require_tensor, require_whole, shape
from attnlib.masks import causal_mask

SIZES = (1.0, 10.0, 100.0)  # a leak through a tiny weight shows only when what leaks is large


def leaks(
    fn: Callable[[Tensor], Tensor],
    x: Tensor,
    *,
    vocab_size: int | None = None,
    tries: int = 3,
    seed: int = 0,
) -> Tensor:
    """Find which inputs reach which outputs, by changing one position at a time.

    The outputs are compared bit for bit, so a right mask leaves no trace at all, and a wrong one no
    doubt. The result can be compared with a mask: ``(leaks(fn, x) & ~causal_mask(T)).any()`` is False
    for a causal model. In a batch, a position is changed in every sequence at once, and the
    table is the union over sequences: test one length at a time; leaks between sequences it cannot see.
    That nothing was seen is strong evidence and not a proof: a leak may need other inputs to show.

    Args:
        fn: Takes ``x`` and returns outputs whose sequence axis stands at the same place. It must give
            the same outputs when called twice, so a model has to be in eval mode.
        x: Vectors ``(..., S, C)``, or whole numbers ``(..., S)`` for a model that takes tokens.
        vocab_size: With tokens, how many there are; the last axis of the outputs if not given.
        tries: How many different changes to try at each position. Vectors get random numbers added,
            ten times larger at each of three tries; tokens are replaced by others.
        seed: Of the changes.

    Returns:
        Boolean ``(T, S)``: True in row i, column j means that output i depends on input j.

    Raises:
        TypeError: If ``x`` or what ``fn`` returns is not a tensor.
        ValueError: If there is no sequence axis, if ``fn`` returns other outputs when called again, or if
            they hold NaN.
    """
    require_tensor("x", x)
    require_whole("tries", tries, 1)
    tokens = not (x.is_floating_point() or x.is_complex())
    axis = x.ndim - (1 if tokens else 2)
    if axis < 0:
        raise ValueError(f"x must be vectors (..., S, C) or whole numbers (..., S), got shape {shape(x)}")
    with torch.no_grad():
        before = _reference(fn, x, axis)
        vocab_size = before.shape[-1] if vocab_size is None else vocab_size
        generator = torch.Generator("cpu").manual_seed(seed)
        found = torch.zeros(before.shape[axis], x.shape[axis], dtype=torch.bool, device="cpu")
        for j in range(x.shape[axis]):
            for n in range(tries):
                changed = x.clone()
                here = changed.select(axis, j)
                here.copy_(_other(here, tokens, vocab_size, SIZES[n % len(SIZES)], generator))
                found[:, j] |= _differs(before, fn(changed), axis)
        if _differs(before, fn(x.clone()), axis).any():
            raise ValueError(_UNSTABLE)
    return found.to(x.device)


def describe_leaks(found: Tensor, allowed: Tensor | None = None) -> str:
    """Say in words what `leaks` found beyond what is allowed.

    Args:
        found: What `leaks` returned, ``(T, S)``.
        allowed: Boolean, True = may depend; ``causal_mask(T, S)`` if not given.

    Returns:
        One line for each output that depends on what it must not, or a line that says there is none.

    Raises:
        TypeError: If ``found`` is not a tensor.
        ValueError: If the shapes do not fit.
    """
    require_tensor("found", found)
    allowed = causal_mask(*found.shape, device=found.device) if allowed is None else allowed
    if shape(allowed) != shape(found):
        raise ValueError(f"allowed must be (T, S) = {shape(found)}, got {shape(allowed)}")
    wrong = found & ~allowed
    lines = [
        f"output {i} depends on input{'s' * (len(where) > 1)} {', '.join(map(str, where))}"
        for i, row in enumerate(wrong)
        if (where := row.nonzero().flatten().tolist())
    ]
    return "\n".join(lines) or "no leak: every output depends on allowed inputs alone"


_UNSTABLE = (
    "fn must give the same outputs for the same input, got different ones when called again; "
    "put the model into eval mode with model.eval(), and let fn make a new cache at every call"
)


def _reference(fn: Callable[[Tensor], Tensor], x: Tensor, axis: int) -> Tensor:
    """Return the outputs before any change, after checking that something can be told from them."""
    before = fn(x.clone())
    if not isinstance(before, Tensor):
        raise TypeError(f"fn must return a tensor, got {type(before).__name__}; return the outputs alone")
    if before.ndim <= axis:
        raise ValueError(
            f"fn must return outputs with the sequence on axis {axis}, as in x {shape(x)}, "
            f"got {shape(before)}"
        )
    before = before.clone()  # fn may return its own memory, and fill it again
    if before.isnan().any():
        rows = _rows(before.isnan(), axis).any(1).nonzero().flatten().tolist()
        raise ValueError(
            f"fn(x) must not hold NaN, which hides what depends on what, got NaN at outputs {rows}; "
            f"a query that may attend to nothing makes it in a plain softmax: use attnlib.masked_softmax"
        )
    if _differs(before, fn(x.clone()), axis).any():
        raise ValueError(_UNSTABLE)
    return before


def _other(here: Tensor, tokens: bool, vocab_size: int, size: float, generator: torch.Generator) -> Tensor:
    """Return something else in place of one position."""
    if tokens:
        require_whole("vocab_size", vocab_size, 2)
        step = torch.randint(1, vocab_size, here.shape, generator=generator, device="cpu")
        return (here.cpu() + step) % vocab_size
    return here + (size * torch.randn(here.shape, generator=generator, device="cpu")).to(here)


def _differs(before: Tensor, after: Tensor, axis: int) -> Tensor:
    """Tell for each output whether a single bit of it changed, ``(T,)`` on the CPU."""
    if shape(before) != shape(after):
        raise ValueError(
            f"fn must return outputs of one shape for inputs of one shape, "
            f"got {shape(before)} and {shape(after)}"
        )
    same = (before == after) | (before.isnan() & after.isnan())
    return ~_rows(same, axis).all(1).cpu()


def _rows(x: Tensor, axis: int) -> Tensor:
    """Put the sequence first and everything else second."""
    return x.movedim(axis, 0)[..., None].flatten(1)
