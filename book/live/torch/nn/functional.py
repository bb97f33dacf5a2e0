"""The functions of ``torch.nn.functional`` that attention uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import creation, dtypes, elementwise, missing, products, reductions, shaping, storage
from torch.dispatch import FUNCTIONS, watched
from torch.dtypes import dtype
from torch.tensor import Tensor, flat, new

_NAMES: dict[str, Any] = {}
KNOWN: set[str] = set()  # what PyTorch's has


def _named(function: Callable) -> Callable:
    """Register under its own name."""
    name = function.__name__.rstrip("_")
    _NAMES[name] = watched(function, name)
    return function


def __getattr__(name: str) -> Any:
    if name in KNOWN:
        missing.refuse(f"torch.nn.functional.{name}")
    raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(_NAMES)


@_named
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Make weights that add up to one."""
    return reductions.softmax(input, _implied(input, dim), dtype)


@_named
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Take their logarithms."""
    return reductions.log_softmax(input, _implied(input, dim), dtype)


@_named
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Make weights that are largest for the smallest."""
    return reductions.softmax(elementwise.neg_kept(input), _implied(input, dim), dtype)


def _implied(input: Tensor, dim: int | None) -> int:
    return dim if dim is not None else 0 if input.ndim in (0, 1, 3) else 1


@_named
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return it above zero, else zero."""
    found = elementwise.relu(input)
    return elementwise.put(input, found) if inplace else found


for _name in ("sigmoid", "tanh"):
    _NAMES[_name] = FUNCTIONS[_name]


def _mapped(function: Callable[[float], float], input: Tensor, kernel: str = "kernel") -> Tensor:
    if input.dtype.kind != "f":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")
    return new(input.dtype.settle(list(map(function, flat(input)))), input.shape, input.dtype)


@_named
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return it above zero, else ``exp(x) - 1``."""
    return _mapped(lambda x: x if x > 0 else alpha * math.expm1(x), input, "elu_cpu")


@_named
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return it above zero, else a little of it."""
    return _mapped(lambda x: x if x > 0 else negative_slope * x, input)


@_named
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Multiply with its sigmoid."""
    return _mapped(lambda x: x * elementwise._sigmoid(x), input, "silu_cpu")


@_named
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Multiply with the chance that a normal number is smaller."""
    if approximate == "tanh":
        return _mapped(
            lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), input
        )
    return _mapped(lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), input, "GeluKernelImpl")


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x))) if x == x else x


@_named
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Take the logarithm of one more than its exponential."""
    return _mapped(lambda x: x if x * beta > threshold else _softplus(x * beta) / beta, input, "softplus_cpu")


@_named
def logsigmoid(input: Tensor) -> Tensor:
    """Take the logarithm of its sigmoid."""
    return _mapped(lambda x: -_softplus(-x), input, "log_sigmoid_cpu")


@_named
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply with a matrix from the right, turned."""
    found = products.matmul(input, shaping.t(weight))
    return found if bias is None else elementwise.add(found, bias)


@_named
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply from both sides."""
    found = products.einsum("...i,oij,...j->...o", input1, weight, input2)
    return found if bias is None else elementwise.add(found, bias)


@_named
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, **rest: Any) -> Tensor:
    """Look up rows."""
    if any(rest.values()):
        missing.refuse("torch.nn.functional.embedding", f" with {', '.join(rest)}")
    n = weight.shape[0]
    for i in flat(input):
        if not 0 <= i < n:
            raise IndexError("index out of range in self")
    found = shaping.taken(weight, 0, flat(input))
    return shaping.reshape(found, (*input.shape, *weight.shape[1:]))


@_named
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Write a one at the place that each number names."""
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    xs = flat(tensor)
    if any(x < 0 for x in xs):
        raise RuntimeError("Class values must be non-negative.")
    n = max(xs) + 1 if num_classes == -1 else num_classes
    if any(x >= n for x in xs):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return new([int(i == x) for x in xs for i in range(n)], (*tensor.shape, n), dtypes.int64)


@_named
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return it; leaving numbers out at random belongs to training."""
    if training and p:
        missing.refuse("torch.nn.functional.dropout", " while training")
    return input


@_named
def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Bring the last axes to mean zero and variance one."""
    axes = _last_axes("layer_norm", input, normalized_shape)
    if input.dtype.itemsize == 2:  # computed in float32
        x, w, b = (
            None if one is None else elementwise.to_dtype(one, dtypes.float32)
            for one in (input, weight, bias)
        )
        return elementwise.to_dtype(layer_norm(x, normalized_shape, w, b, eps), input.dtype)
    middle = reductions.mean(input, axes, True)
    variance = reductions.var(input, dim=axes, keepdim=True, correction=0)
    off = elementwise.sub(input, middle)
    found = elementwise.mul(off, elementwise.rsqrt(elementwise.add(variance, eps)))
    found = found if weight is None else elementwise.mul(found, weight)
    return found if bias is None else elementwise.add(found, bias)


def _last_axes(name: str, input: Tensor, normalized_shape: Any) -> list[int]:
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    if list(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [*, {', '.join(map(str, shape))}], but got "
            f"input of size{list(input.shape)}"
        )
    return list(range(-len(shape), 0))


@_named
def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Bring the last axes to a mean square of one."""
    axes = _last_axes("rms_norm", input, normalized_shape)
    eps = dtypes.finfo(input.dtype).eps if eps is None else eps
    if input.dtype.itemsize == 2:  # computed in float32
        x, w = (None if one is None else elementwise.to_dtype(one, dtypes.float32) for one in (input, weight))
        return elementwise.to_dtype(rms_norm(x, normalized_shape, w, eps), input.dtype)
    size = reductions.mean(elementwise.square(input), axes, True)
    found = elementwise.mul(input, elementwise.rsqrt(elementwise.add(size, eps)))
    return found if weight is None else elementwise.mul(found, weight)


@_named
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: None = None) -> Tensor:
    """Bring what lies along an axis to length one."""
    return elementwise.div(input, elementwise.clamp_min(reductions.norm(input, p, dim, True), eps))


@_named
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between what lies along an axis."""
    kind = elementwise.result_type(x1, x2)
    if kind.kind != "f":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {kind.title}")
    shape = storage.broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = elementwise.to_dtype(x1, kind), elementwise.to_dtype(x2, kind)
    one, two = shaping.expand(x1, shape), shaping.expand(x2, shape)
    one, two = (
        elementwise.div(x, elementwise.clamp_min(reductions.norm(x, 2, dim, True), eps)) for x in (one, two)
    )
    return reductions.sum_(elementwise.mul(one, two), dim)


@_named
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return how far rows lie apart."""
    return reductions.norm(elementwise.add(elementwise.sub(x1, x2), eps), p, -1, keepdim)


def _averaged(x: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return x
    if reduction in ("mean", "sum"):
        return (reductions.mean if reduction == "mean" else reductions.sum_)(x)
    raise ValueError(f"{reduction} is not a valid value for reduction")


@_named
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean", **rest: Any) -> Tensor:
    """Return the mean squared difference."""
    return _averaged(elementwise.square(elementwise.sub(input, target)), reduction)


@_named
def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", **rest: Any) -> Tensor:
    """Return the mean difference."""
    return _averaged(elementwise.abs_(elementwise.sub(input, target)), reduction)


@_named
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    **rest: Any,
) -> Tensor:
    """Return the mean of minus the numbers that the targets name."""
    if weight is not None or any(rest.values()):
        missing.refuse("torch.nn.functional.nll_loss", " with weights")
    axis = 1 if input.ndim > 1 else 0
    x = shaping.movedim(input, axis, -1)
    if target.shape != x.shape[:-1]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]})."
            if target.ndim and input.shape[0] != target.shape[0]
            else f"Expected target size {list(x.shape[:-1])}, got {list(target.shape)}"
        )
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.title}")
    xs, n, found, kept = flat(x), x.shape[-1], [], 0
    for row, place in enumerate(flat(target)):
        if place == ignore_index:
            found.append(0.0)
            continue
        if not 0 <= place < n:
            raise IndexError(f"Target {place} is out of bounds.")
        found.append(-xs[row * n + place])
        kept += 1
    losses = new(found, target.shape, input.dtype)
    if reduction == "mean":
        return elementwise.div(reductions.sum_(losses), kept)
    return _averaged(losses, reduction)


@_named
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Return the mean of minus the logarithms of the probabilities that the targets name."""
    if weight is not None or label_smoothing:
        missing.refuse("torch.nn.functional.cross_entropy", " with weights or smoothing")
    axis = 1 if input.ndim > 1 else 0
    logs = reductions.log_softmax(input, axis)
    if target.dtype.kind == "f":
        if target.shape != input.shape:
            raise RuntimeError(f"expected scalar type Long but found {target.dtype.title}")
        losses = elementwise.neg_kept(reductions.sum_(elementwise.mul(logs, target), axis))
        if reduction == "mean":
            return elementwise.div(reductions.sum_(losses), losses.numel())
        return _averaged(losses, reduction)
    return nll_loss(logs, target, None, ignore_index, reduction)


@_named
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return how far one distribution is from another."""
    if log_target:
        found = elementwise.mul(elementwise.exp(target), elementwise.sub(target, input))
    else:
        logs = elementwise.mul(target, elementwise.log(target))
        logs = elementwise.masked_fill(logs, elementwise.eq(target, 0), 0.0)
        found = elementwise.sub(logs, elementwise.mul(target, input))
    if reduction == "batchmean":
        return elementwise.div(reductions.sum_(found), input.shape[0])
    return _averaged(found, reduction)


@_named
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: None = None, reduction: str = "mean", **rest: Any
) -> Tensor:
    """Return the mean of minus the logarithms of the probabilities of truths."""
    soft = _mapped(_softplus, input)
    return _averaged(elementwise.sub(soft, elementwise.mul(input, target)), reduction)


@_named
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Put numbers around."""
    if mode != "constant":
        missing.refuse(f"torch.nn.functional.pad(mode='{mode}')")
    if len(pad) % 2 or len(pad) // 2 > input.ndim:
        raise RuntimeError(
            "Padding length must be divisible by 2 and at most twice the number of dimensions of the input"
        )
    x = input
    for n in range(len(pad) // 2):
        axis, (before, after) = x.ndim - 1 - n, (int(m) for m in pad[2 * n : 2 * n + 2])
        cut, end = max(-before, 0), max(-after, 0)
        x = shaping.narrow(x, axis, cut, x.shape[axis] - cut - end)
        parts = []
        for size in (before, after):
            shape = (*x.shape[:axis], max(size, 0), *x.shape[axis + 1 :])
            parts.append(creation.full(shape, 0 if value is None else value, dtype=x.dtype))
        x = shaping.cat([parts[0], x, parts[1]], axis)
    return x if x is not input else shaping.clone(x)


@_named
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Mix values by the softmax of scores."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"scaled_dot_product_attention(): argument '{name}' must be Tensor, not {type(x).__name__}"
            )
    if not (query.dtype is key.dtype is value.dtype):
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype.name} key.dtype: {key.dtype.name} and value.dtype: {value.dtype.name} instead."
        )
    if query.ndim < 2 or key.ndim < 2 or value.ndim < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if dropout_p:
        missing.refuse("scaled_dot_product_attention(dropout_p=...)")
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (shaping.repeat_interleave(x, groups, -3) for x in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = elementwise.mul(products.matmul(query, shaping.turned_last(key)), scale)
    if is_causal:
        T, S = scores.shape[-2:]
        hidden = elementwise.invert(shaping.tril(creation.ones(T, S, dtype=dtypes.bool_)))
        scores = elementwise.masked_fill(scores, hidden, -math.inf)
    if attn_mask is not None:
        if attn_mask.dtype is dtypes.bool_:
            scores = elementwise.masked_fill(scores, elementwise.invert(attn_mask), -math.inf)
        else:
            scores = elementwise.to_dtype(elementwise.add(scores, attn_mask), query.dtype)
    weights = reductions.softmax(scores, -1)
    if attn_mask is not None or is_causal:  # a row that sees nothing is zero
        empty = reductions.all_(elementwise.eq(scores, -math.inf), -1, True)
        weights = elementwise.masked_fill(weights, empty, 0.0)
    return products.matmul(weights, value)


globals().update(_NAMES)  # calls of them are watched
