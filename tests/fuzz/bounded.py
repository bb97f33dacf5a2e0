"""Float64 arithmetic that knows how far the same computation may be off in a lower precision.

A bounded tensor has one more axis in front: ``x[0]`` holds the values, ``x[1]`` bounds on their errors. Every
operation adds the roundings that a computation in the lower precision makes to the errors that came in (a
running error analysis). Gradients are bounded tensors, too, so that a tolerance comes out of the roundings of
each case, forward and backward, and nobody has to choose one. It imports nothing from attnlib.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional as F

HUGE = 1e150  # an error that says nothing; its square is still a number
EXP = 20  # units in the last place by which PyTorch's fused kernels may miss an exponential (exp_u20)


def roundoff(dtype):
    """Return how far a number may move when it is rounded to the dtype, relative to its size."""
    return torch.finfo(dtype).eps / 2


class Kept(NamedTuple):
    """What happens to a number that is kept in a dtype."""

    roundoff: float
    smallest: float  # below it a number may be lost
    largest: float  # above it a number is infinite, and what follows may be anything


EXACTLY = Kept(0.0, 0.0, math.inf)


def kept_in(dtype):
    """Return what a dtype does to numbers: float16 keeps its subnormals, others may flush them to zero."""
    info = torch.finfo(dtype)
    return Kept(roundoff(dtype), 2.0**-24 if dtype == torch.float16 else info.tiny, info.max)


def bounded(value, error):
    return torch.stack([value, error.nan_to_num(nan=HUGE, posinf=HUGE).clamp(max=HUGE)])


def exact(value):
    value = value.detach().double().cpu()
    return bounded(value, torch.zeros_like(value))


class Curve(NamedTuple):
    """A function of one number and its derivative, with what bounds their errors.

    Attributes:
        f: The function.
        df: Its derivative.
        slope: A bound on the first derivative between v - e and v + e.
        bend: A bound on the second derivative there.
        size: The size of what is added up to make f, relative to which it is rounded; f itself if None.
        slope_size: Likewise for df.
    """

    f: Callable[[Tensor], Tensor]
    df: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]
    bend: Callable[[Tensor, Tensor], Tensor]
    size: Callable[[Tensor], Tensor] | None = None
    slope_size: Callable[[Tensor], Tensor] | None = None


def _gelu_slope(x):
    return 0.5 * (1 + torch.erf(x / 2**0.5)) + x * torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5


EXPONENTIAL = Curve(torch.exp, torch.exp, lambda v, e: torch.exp(v + e), lambda v, e: torch.exp(v + e))
ELU_PLUS_ONE = Curve(
    lambda x: torch.where(x > 0, x + 1, x.clamp(max=0).exp()),
    lambda x: x.clamp(max=0).exp(),
    lambda v, e: (v + e).clamp(max=0).exp(),
    lambda v, e: (v + e).clamp(max=0).exp(),
)
TANH = Curve(
    torch.tanh,
    lambda x: 1 - torch.tanh(x) ** 2,
    lambda v, e: 1 - torch.tanh((v.abs() - e).clamp(min=0)) ** 2,
    lambda v, e: 2 * (1 - torch.tanh((v.abs() - e).clamp(min=0)) ** 2),
    slope_size=torch.ones_like,  # 1 - tanh(x) ** 2
)
RECIPROCAL = Curve(  # of what is above zero
    lambda x: 1 / x,
    lambda x: -1 / x**2,
    lambda v, e: 1 / (v - e).clamp(min=1e-300) ** 2,
    lambda v, e: 2 / (v - e).clamp(min=1e-300) ** 3,
)
GELU = Curve(
    F.gelu,
    _gelu_slope,
    lambda v, e: torch.full_like(v, 1.13),
    lambda v, e: torch.full_like(v, 0.8),
    size=torch.abs,  # x / 2 * (1 + erf(x / sqrt(2)))
    slope_size=lambda x: 1 + x.abs(),
)


def inverse_root(eps):
    """Return the curve ``1 / sqrt(x + eps)`` for x of at least zero."""
    return Curve(
        lambda x: (x + eps) ** -0.5,
        lambda x: -0.5 * (x + eps) ** -1.5,
        lambda v, e: 0.5 * ((v - e).clamp(min=0) + eps) ** -1.5,
        lambda v, e: 0.75 * ((v - e).clamp(min=0) + eps) ** -2.5,
    )


class Arithmetic:
    """The operations, as PyTorch does them for tensors of a dtype: half precision is summed in float32.

    Args:
        dtype: Of the tensors that are kept between operations.
    """

    def __init__(self, dtype):
        half = dtype in (torch.float16, torch.bfloat16)
        self.work = roundoff(torch.float32 if half else dtype)
        self.kept = kept_in(dtype)

    def leaf(self, x, dtype):
        """Take a tensor as it is; its gradient is rounded when it is handed out."""
        return _Rounded.apply(x, EXACTLY, kept_in(dtype))

    def stored(self, x):
        """Round what is kept between operations, and its gradient."""
        return _Rounded.apply(x, self.kept, self.kept)

    def stored_gradient(self, x):
        """Take a tensor as it is; its gradient is rounded before it is added to those from elsewhere."""
        return _Rounded.apply(x, EXACTLY, self.kept)

    def matmul(self, a, b):
        return _MatMul.apply(a, b, self.work)

    def add(self, a, b):
        return _Add.apply(a, b, self.work)

    def multiply(self, a, b):
        return _Multiply.apply(a, b, self.work)

    def times(self, x, number):
        """Multiply with a plain number, which is rounded too."""
        return _Times.apply(x, number, self.work)

    def curve(self, x, curve, ulps=4, *, kept=False):
        """Apply a curve; a rounding of what is kept, where it is computed in a kernel of its own."""
        return _Along.apply(x, curve, ulps * self.work + kept * self.kept.roundoff)

    def spread(self, x, shape, *, kept=False):
        """Broadcast to a shape (without the axis of values and errors); the gradient is summed.

        With ``kept`` the sum is in the dtype of what is kept, as PyTorch's layer norm sums for its parameters.
        """
        x = x[(slice(None), *(None,) * (len(shape) - x.ndim + 1))]
        return _Spread.apply(x, (2, *shape), self.kept.roundoff if kept else self.work)

    def softmax(self, scores, visible):
        """Return weights ``(..., T, S)``: zero where a key is not visible."""
        return _Softmax.apply(scores, visible, self)

    def log_sum(self, scores, visible):
        """Return the logarithm of the sum of exponentials ``(..., T)``, in the precision of the work.

        Where nothing is visible it is zero: minus infinity has no gradient.
        """
        return _LogSum.apply(scores, visible, self)

    def attend(self, scores, v, visible):
        """Return ``softmax(scores) @ v``, stored, as a fused kernel computes it."""
        return _Attend.apply(scores, v, visible, self)


def _product(a, b, u):
    (A, ea), (B, eb) = a, b
    sizes = (A.abs() + ea, B.abs() + eb)
    error = ea @ sizes[1] + A.abs() @ eb + (A.shape[-1] + 1) * u * (sizes[0] @ sizes[1])
    return bounded(A @ B, error)


def _times_elementwise(a, b, u):
    (A, ea), (B, eb) = a, b
    return bounded(A * B, ea * (B.abs() + eb) + A.abs() * eb + u * (A * B).abs())


def _rounded(x, kept):
    value, error = x
    error = error + kept.roundoff * (value.abs() + error) + kept.smallest * ((value != 0) | (error > 0))
    return bounded(value, error.masked_fill(value.abs() + error > kept.largest, HUGE))


class _Rounded(Function):
    @staticmethod
    def forward(ctx, x, forward, backward):
        ctx.kept = backward
        return _rounded(x, forward)

    @staticmethod
    def backward(ctx, g):
        return _rounded(g, ctx.kept), None, None


class _MatMul(Function):
    @staticmethod
    def forward(ctx, a, b, u):
        ctx.save_for_backward(a, b)
        ctx.u = u
        return _product(a, b, u)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return _product(g, b.mT, ctx.u), _product(a.mT, g, ctx.u), None


class _Add(Function):
    @staticmethod
    def forward(ctx, a, b, u):
        value = a[0] + b[0]
        return bounded(value, a[1] + b[1] + u * value.abs())

    @staticmethod
    def backward(ctx, g):
        return g, g, None


class _Multiply(Function):
    @staticmethod
    def forward(ctx, a, b, u):
        ctx.save_for_backward(a, b)
        ctx.u = u
        return _times_elementwise(a, b, u)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return _times_elementwise(g, b, ctx.u), _times_elementwise(g, a, ctx.u), None


class _Times(Function):
    @staticmethod
    def forward(ctx, x, number, u):
        ctx.number, ctx.u = number, u
        value = x[0] * number
        return bounded(value, abs(number) * x[1] + 2 * u * value.abs())

    @staticmethod
    def backward(ctx, g):
        return _Times.forward(ctx, g, ctx.number, ctx.u), None, None


class _Along(Function):
    @staticmethod
    def forward(ctx, x, curve, u):
        ctx.save_for_backward(x)
        ctx.curve, ctx.u = curve, u
        value, error = x
        y = curve.f(value)
        size = y if curve.size is None else curve.size(value)
        return bounded(y, curve.slope(value, error) * error + u * size.abs())

    @staticmethod
    def backward(ctx, g):
        value, error = ctx.saved_tensors[0]
        curve, u = ctx.curve, ctx.u
        df = curve.df(value)
        size = df if curve.slope_size is None else curve.slope_size(value)
        slope = bounded(df, curve.bend(value, error) * error + u * size.abs())
        return _times_elementwise(g, slope, u), None, None


class _Spread(Function):
    @staticmethod
    def forward(ctx, x, shape, u):
        ctx.shape, ctx.u = x.shape, u
        return x.expand(shape)

    @staticmethod
    def backward(ctx, g):
        value, error = g[0].sum_to_size(ctx.shape[1:]), g[1].sum_to_size(ctx.shape[1:])
        count = max(1, g[0].numel() // max(1, value.numel()))
        size = g[0].abs().sum_to_size(ctx.shape[1:])
        return bounded(value, error + (count - 1) * ctx.u * size), None, None


def _weights(scores, visible, a):
    """Return weights and how far they may be off, if each score may be off by its error.

    A weight is largest when its own score is too high and all others are too low by their errors, and the
    other way round: the bound holds for large errors as well, where a first derivative says nothing.
    """
    s, off = scores[0].masked_fill(~visible, 0.0), scores[1]
    S = s.shape[-1]
    if S == 0:
        return s, s
    top = scores[0].masked_fill(~visible, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    off = off + 4 * a.work * (s.abs() + top.abs())  # the largest, or the logarithm of the sum, is subtracted
    gap = s[..., None, :] - s[..., :, None]  # (..., S, S): the score of another key less one's own
    gap = gap.masked_fill(~visible[..., None, :], -torch.inf)
    margin = (off[..., None, :] + off[..., :, None]) * (1 - torch.eye(S, dtype=s.dtype))
    w, low, high = (1 / torch.exp(x).sum(-1) for x in (gap, gap + margin, gap - margin))
    error = (
        torch.maximum(high - w, w - low)
        + w * ((2 * EXP + S + 3) * a.work + a.kept.roundoff)
        + a.kept.smallest
    )
    return w.masked_fill(~visible, 0.0), error.masked_fill(~visible, 0.0)


def _scores_gradient(w, e, dw, own, a):
    """Return the gradient of the scores, ``w * (dw - own)``, which kernels keep in the tensors' dtype."""
    t, te = dw[0] - own[0], dw[1] + own[1]
    te = te + a.work * t.abs()
    value = w * t
    error = e * (t.abs() + te) + w * te + a.work * value.abs()
    return _rounded(bounded(value, error), a.kept)


class _Softmax(Function):
    @staticmethod
    def forward(ctx, scores, visible, a):
        w, e = _weights(scores, visible, a)
        ctx.save_for_backward(w, e)
        ctx.a = a
        return bounded(w, e)

    @staticmethod
    def backward(ctx, g):
        w, e = ctx.saved_tensors
        dw, de = g
        own = (w * dw).sum(-1, keepdim=True)
        size = (w + e) * (dw.abs() + de)
        own_error = (e * dw.abs() + (w + e) * de + (w.shape[-1] + 1) * ctx.a.work * size).sum(
            -1, keepdim=True
        )
        return _scores_gradient(w, e, g, (own, own_error), ctx.a), None, None


class _LogSum(Function):
    @staticmethod
    def forward(ctx, scores, visible, a):
        w, e = _weights(scores, visible, a)
        ctx.save_for_backward(w, e)
        ctx.a = a
        s, empty = scores[0].masked_fill(~visible, -math.inf), ~visible.any(-1)
        value = s.masked_fill(empty[..., None], 0.0).logsumexp(-1).masked_fill(empty, 0.0)
        if not s.shape[-1]:
            return bounded(value, torch.zeros_like(value))
        top = s.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
        # each score may be off by its error, and by the rounding of what is subtracted from it
        off = scores[1] + 4 * a.work * (scores[0].abs() + top.abs())
        off = off.masked_fill(~visible, 0.0).amax(-1)
        error = off + a.work * (4 * value.abs() + 4 * top[..., 0].abs() + 2 * EXP + s.shape[-1] + 4)
        return bounded(value, error.masked_fill(empty, 0.0))

    @staticmethod
    def backward(ctx, g):
        w, e = ctx.saved_tensors
        return _times_elementwise(bounded(w, e), g[..., None], 8 * ctx.a.work), None, None


class _Attend(Function):
    @staticmethod
    def forward(ctx, scores, v, visible, a):
        weights = bounded(*_weights(scores, visible, a))
        out = _rounded(_product(weights, v, a.work), a.kept)
        log_sum = (
            scores[0].masked_fill(~visible, -math.inf).logsumexp(-1, keepdim=True).nan_to_num(neginf=0.0)
        )
        ctx.save_for_backward(weights, v, out, log_sum)
        ctx.a = a
        return out

    @staticmethod
    def backward(ctx, g):
        weights, v, out, log_sum = ctx.saved_tensors
        a = ctx.a
        # kernels compute the weights again as exp(score - logarithm of the sum), rounded relative to its size
        weights = bounded(weights[0], weights[1] + 4 * a.work * log_sum.abs() * weights[0])
        dw = _product(g, v.mT, a.work)
        # kernels take the sum of w * dw from the output, rounded as it was stored
        own = _times_elementwise(g, out, a.work)
        size = (own[0].abs() + own[1]).sum(-1, keepdim=True) * out.shape[-1] * a.work
        own = own[0].sum(-1, keepdim=True), own[1].sum(-1, keepdim=True) + size
        dscores = _scores_gradient(*weights, dw, own, a)
        return dscores, _rounded(_product(weights.mT, g, a.work), a.kept), None, None
