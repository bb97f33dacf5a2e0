"""Attention as two functions: the weights, readable, and the output, as fast as PyTorch.

Chapter 3 of the book builds both from nothing.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlib._check import check_mask, require_same_kind, require_whole, shape
from attnlib._hidden import softmax_or_zero
from attnlib._plan import Options, Plan, check
from attnlib.backends.choose import at_once, attend, attend_with_lse
from attnlib.backends.dense import dense_scores, dense_weights
from attnlib.backends.tiled import MaskFunction, tiled, tiled_mass
from attnlib.mask_rules import MaskRule


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights: each row sums to one, or to zero if it may attend to nothing.

    Args:
        scores: ``(..., T, S)``, after scaling and bias.
        mask: Boolean, True = may attend, broadcast to ``(..., T, S)``.

    Returns:
        Weights ``(..., T, S)``. A row with nothing to attend to is zero, and its gradient too.

    Raises:
        TypeError: If the scores are not floating, or the mask is not boolean.
        ValueError: If the mask does not fit the scores.

    Chapter 3 builds it, chapter 6 explains the empty rows.
    """
    require_same_kind(scores=scores)
    if mask is not None:
        check_mask(mask, shape(scores), scores.device)
        scores = scores.masked_fill(~mask, -math.inf)
    return softmax_or_zero(scores)


def attention_scores(
    q: Tensor,
    k: Tensor,
    mask: Tensor | MaskRule | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
) -> Tensor:
    """Compute what the softmax of `attention_weights` is taken of.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        mask: As in `attention_weights`, like all that follow.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given; a tensor, ``()`` or ``(H, 1, 1)``, can be
            learned.
        softcap: Bound on the size of the scaled scores, a number or a tensor like ``scale``.

    Returns:
        Scores ``(..., H, T, S)`` in the dtype of ``q``; minus infinity where the mask forbids to attend.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.

    Chapter 4 watches them.
    """
    return dense_scores(
        check(Plan.of(q, k, k, mask, causal=causal, bias=bias, scale=scale, softcap=softcap))
    ).to(q.dtype)


def attention_weights(
    q: Tensor,
    k: Tensor,
    mask: Tensor | MaskRule | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
    sink: Tensor | None = None,
) -> Tensor:
    """Compute how much each query takes from each key.

    The order is: scores ``q @ k.T``, times scale, softcap ``c * tanh(s / c)``, plus bias, mask, softmax.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``; padding ``(B, S)`` is given as
            ``mask[:, None, None, :]``, as `padding_mask` makes it. Or a `MaskRule`.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores, broadcast to ``(..., H, T, S)``.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given; a tensor, ``()`` or ``(H, 1, 1)``, can be
            learned.
        softcap: Bound on the size of the scaled scores, a number or a tensor like ``scale``.
        sink: A score for each head ``(H,)`` that stands beside the scores of the keys and brings no value: it
            takes the weight that no key deserves. It may be learned.

    Returns:
        Weights ``(..., H, T, S)`` in the dtype of ``q``. Each row sums to one, or to zero if the
            query may attend to nothing, or to what a sink leaves. In half precision they are computed in
            float32, rounded once.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.

    Chapter 3 builds it, chapter 4 explains the scale, chapter 6 the mask.
    """
    return dense_weights(
        check(Plan.of(q, k, k, mask, causal=causal, bias=bias, scale=scale, softcap=softcap, sink=sink))
    ).to(q.dtype)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | MaskRule | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
    sink: Tensor | None = None,
) -> Tensor:
    """Mix the values, each query with its own weights: ``attention_weights(...) @ v``.

    Runs PyTorch's fused kernel, which holds no ``(T, S)`` matrix; with a `MaskRule`, keys that the rule hides
    from a block of queries are not read. On CUDA in half precision a rule goes to the backend that was
    measured as the fastest for it; FlexAttention is one after `attnlib.backends.flex.compile_flex`.

    PyTorch holds the matrix where a bias needs a gradient, where a layer drops weights and, on a GPU, where
    keys and values have other widths. The formula, which holds it too, computes what no kernel does: a
    softcap, a scale that is not above zero, forward derivatives. A bias that is wider than ``q`` is not
    rounded: all is computed in its dtype, which takes a GPU longer.

    ``causal`` aligns the last query with the last key, as a cache wants it; ``is_causal`` of PyTorch's
    `scaled_dot_product_attention` aligns the first with the first. For T = S they are the same.

    What a mask hides changes nothing, not even a NaN or an infinity: on the CPU they are found, in the output
    or, where a gradient is asked for, in keys and values. Two cases are not looked at, since that takes long:
    a mask on a GPU, and ``causal=True`` alone, for which PyTorch's kernel may multiply a hidden NaN by zero.
    There put zeros first, ``k.masked_fill(hidden, 0)`` and the same for ``v``, or on the CPU give
    ``mask=causal_mask(T, S)``.

    Backward, PyTorch's kernels find the weights again from a rounded logarithm. On the CPU scores are looked
    at when a gradient is asked for, and large ones go to the formula. On a GPU nothing looks: in float32
    gradients are rough from scores of a million on, and can be NaN from 1e9 on. `tiled_attention` is right
    for both. There are first derivatives only; for second ones differentiate ``attention_weights(...) @ v``.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, S, Dv)``.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``; padding ``(B, S)`` is given as
            ``mask[:, None, None, :]``, as `padding_mask` makes it. Or a `MaskRule`.
        causal: Also apply `causal_mask` ``(T, S)``; the fused kernel is told instead of given it.
        bias: Numbers added to the scores, broadcast to ``(..., H, T, S)``.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given; a tensor, ``()`` or ``(H, 1, 1)``, can be
            learned.
        softcap: Bound on the size of the scaled scores, a number or a tensor like ``scale``.
        sink: A score for each head ``(H,)`` that stands beside the scores of the keys and brings no value: it
            takes the weight that no key deserves. It may be learned.

    Returns:
        Output ``(..., H, T, Dv)``. A query that may attend to nothing gets zeros.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.

    Chapter 3 builds it, chapter 7 counts its cost.
    """
    if bias is scale is softcap is sink is None:
        out = at_once(q, k, v, mask, causal)
        if out is not None:
            return out
    return attend(
        check(Plan.of(q, k, v, mask, causal=causal, bias=bias, scale=scale, softcap=softcap, sink=sink))
    )


def attention_with_lse(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | MaskRule | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
    sink: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute `attention`, and what is needed to `merge` it with attention to other keys.

    Computes in tiles, as `tiled_attention` does, and both results have gradients.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, S, Dv)``.
        mask: As in `attention`, like all that follow.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores.
        scale: Factor on the scores.
        softcap: Bound on the size of the scaled scores.
        sink: A score for each head that brings no value. It is counted in ``lse``: give it for one part only.

    Returns:
        Output ``(..., H, T, Dv)``, and ``lse`` ``(..., H, T)`` in float32 or better: the logarithm of the sum
        of the exponentials of each query's scores, minus infinity for a query that may attend to nothing.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.
    """
    options: Options = {"bias": bias, "scale": scale, "softcap": softcap, "sink": sink}
    return attend_with_lse(check(Plan.of(q, k, v, mask, causal=causal, **options)))


def merge(out: Tensor, lse: Tensor, other: Tensor, other_lse: Tensor) -> tuple[Tensor, Tensor]:
    """Join attention to some keys and attention to other keys into attention to all of them.

    Args:
        out: From `attention_with_lse` over some keys, ``(..., T, Dv)``.
        lse: Likewise ``(..., T)``.
        other: Over the other keys, with the same queries.
        other_lse: Likewise.

    Returns:
        Output and ``lse`` of all keys, as `attention_with_lse` over both would return them.

    Raises:
        TypeError: If one is no floating-point tensor.
        ValueError: If the shapes do not fit.
    """
    require_same_kind(out=out, other=other)
    require_same_kind(lse=lse, other_lse=other_lse)
    if not shape(out)[:-1] == shape(other)[:-1] == shape(lse) == shape(other_lse):
        raise ValueError(
            f"out and other must be (..., T, Dv) and both lse (..., T), got out {shape(out)}, "
            f"lse {shape(lse)}, other {shape(other)} and other_lse {shape(other_lse)}"
        )
    pair = torch.stack([lse, other_lse], -1)  # (..., T, 2)
    weights = softmax_or_zero(pair)[..., None, :]  # (..., T, 1, 2): how much each part counts
    joined = (torch.stack([out, other], -1) * weights).sum(-1)  # (..., T, Dv)
    empty = (pair == -math.inf).all(-1)  # (..., T)
    total = pair.masked_fill(empty[..., None], 0.0).logsumexp(-1).masked_fill(empty, -math.inf)
    return joined.to(out.dtype), total


def key_mass(
    q: Tensor,
    k: Tensor,
    mask: Tensor | MaskRule | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
    sink: Tensor | None = None,
    block_size: int = 512,
) -> Tensor:
    """Count how much weight each key gets from all queries together, without holding the weights.

    Equals ``attention_weights(...).sum(-2)``, from tiles. There are no gradients.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        mask: As in `attention`, like all that follow.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores.
        scale: Factor on the scores.
        softcap: Bound on the size of the scaled scores.
        sink: A score for each head that brings no value.
        block_size: Rows and columns of a tile.

    Returns:
        ``(..., H, S)`` in float32 or better. Each head's numbers sum to T, or to less by what a sink took
        and by the queries that may attend to nothing.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.
    """
    require_whole("block_size", block_size, 1)
    options: Options = {"bias": bias, "scale": scale, "softcap": softcap, "sink": sink}
    return tiled_mass(check(Plan.of(q, k, k, mask, causal=causal, **options)), block_size)


def tiled_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | MaskRule | MaskFunction | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
    sink: Tensor | None = None,
    block_size: int = 512,
) -> Tensor:
    """Compute `attention` in tiles, with memory that grows with T + S and not with T * S.

    Forward and backward go through the tiles one at a time; backward computes the weights again
    instead of having kept them, so it has first derivatives only: differentiate
    ``attention_weights(...) @ v`` twice. Tiles that a mask hides entirely are skipped.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, S, Dv)``.
        mask: A mask or a rule, as in `attention`; or a function of the positions of queries ``(n, 1)`` and
            of keys ``(m,)`` that returns a boolean ``(n, m)``, which costs nothing to hold. Backward asks the
            function again, and it must answer the same.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores, broadcast to ``(..., H, T, S)``.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given; a tensor, ``()`` or ``(H, 1, 1)``, can be
            learned.
        softcap: Bound on the size of the scaled scores, a number or a tensor like ``scale``.
        sink: A score for each head ``(H,)`` that brings no value, as in `attention`.
        block_size: Rows and columns of a tile.

    Returns:
        Output ``(..., H, T, Dv)``. A query that may attend to nothing gets zeros.

    Raises:
        TypeError: If a dtype is wrong, or the mask function returns no boolean tensor.
        ValueError: If shapes, devices or numbers do not fit.
    """
    require_whole("block_size", block_size, 1)
    function: MaskFunction | None = None
    if not (mask is None or isinstance(mask, (Tensor, MaskRule))):
        if not callable(mask):
            raise TypeError(
                f"mask must be a tensor, a rule or a function of positions, got {type(mask).__name__}"
            )
        function, mask = mask, None
    options: Options = {"bias": bias, "scale": scale, "softcap": softcap, "sink": sink}
    return tiled(check(Plan.of(q, k, v, mask, causal=causal, **options)), block_size, function)[0]


def sliding_window_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | MaskRule | None = None,
    *,
    window: int,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
    sink: Tensor | None = None,
) -> Tensor:
    """Let each query attend to the last ``window`` keys up to its own position, itself included.

    A name for `attention` with ``MaskRule(causal=True, window=window)``. Its cost grows with ``T * window``.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast. The last query is at the
            position of the last key.
        v: Values ``(..., Hkv, S, Dv)``.
        mask: What holds beside the window; as in `attention`, like all but the window.
        window: How many keys a query sees at most.
        bias: Numbers added to the scores.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given.
        softcap: Bound on the size of the scaled scores.
        sink: A score for each head that brings no value.

    Returns:
        Output ``(..., H, T, Dv)``. A query that may attend to nothing gets zeros.

    Raises:
        TypeError: If a dtype is wrong, or the window is not an int.
        ValueError: If shapes do not fit, the window is below 1, or the scale is not finite.
    """
    rule = MaskRule(causal=True, window=window)
    options: Options = {"bias": bias, "scale": scale, "softcap": softcap, "sink": sink}
    plan = Plan.of(q, k, v, mask, **options)
    return attend(check(plan._replace(rule=rule if plan.rule is None else plan.rule & rule)))
