"""What a machine can do, and how near attention comes: operations a second against bytes a second.

A kernel that does ``flops`` operations on ``bytes`` moved between memory and processor takes at least
``max(flops / peak_flops, bytes / peak_bytes)`` seconds. Chapter 7 of the book draws it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import resources
from typing import Any

import torch
from torch import nn

from attnlib._check import require_whole
from attnlib.functional import attention
from attnlib.instruments.cost import attention_flops, score_bytes
from attnlib.instruments.settings import Setting
from attnlib.instruments.timing import seconds
from attnlib.multihead import MultiHeadAttention

B = 2  # sequences in what is measured
H = 16  # heads
D = 64  # their width
READERS = 32  # sequences that a model continues at once, a token each
Work = Callable[[], object]


@dataclass(frozen=True)
class Kernel:
    """One measurement.

    Attributes:
        name: Of what ran.
        length: Keys n.
        flops: Operations it does.
        bytes: Bytes it must move, at least.
        seconds: How long it took.
        setting: On what it was measured.
    """

    name: str
    length: int
    flops: int
    bytes: int
    seconds: float
    setting: Setting = field(default_factory=Setting)

    @property
    def intensity(self) -> float:
        """Operations for each byte moved."""
        return self.flops / self.bytes

    @property
    def speed(self) -> float:
        """Operations a second."""
        return self.flops / self.seconds


@dataclass(frozen=True)
class Roofline:
    """What a machine did.

    Attributes:
        machine: Its name.
        torch: The version of PyTorch.
        dtype: Of every number, where the setting of a kernel says no other.
        peak_flops: Operations a second of a large matrix product.
        peak_bytes: Bytes a second of a large copy, read and written. Reading alone can be a little faster.
        kernels: What was measured.
        card: Which of several machines of that name; None if there was one.
        date: When; None if just now.
        again: Kernels among these that were measured a second time, on another card, in three figures.
    """

    machine: str
    torch: str
    dtype: str
    peak_flops: float
    peak_bytes: float
    kernels: tuple[Kernel, ...]
    card: str | None = None
    date: str | None = None
    again: tuple[Kernel, ...] = ()

    @property
    def setting(self) -> Setting:
        """On what the two peaks were measured, and every kernel that says no other."""
        where = {"machine": self.machine, "card": self.card} if self.date else {}
        return Setting(PyTorch=self.torch, dtype=self.dtype, **where, date=self.date)

    @property
    def ridge(self) -> float:
        """Operations a byte from which on the processor limits, and no longer the memory."""
        return self.peak_flops / self.peak_bytes

    def ceiling(self, intensity: float) -> float:
        """Return the most operations a second at so many operations a byte."""
        return min(self.peak_flops, intensity * self.peak_bytes)

    def named(self, name: str) -> dict[int, Kernel]:
        """Return the measurements of that name by their length.

        Raises:
            ValueError: If there are none.
        """
        found = {kernel.length: kernel for kernel in self.kernels if kernel.name == name}
        if not found:
            names = ", ".join(dict.fromkeys(kernel.name for kernel in self.kernels))
            raise ValueError(f"name must be one of {names}, got {name!r}")
        return found

    def dump(self) -> str:
        """Write it as JSON, as `stored_roofline` reads it."""
        named = ("machine", "card", "date", "torch", "dtype", "peak_flops", "peak_bytes")
        kept = {name: getattr(self, name) for name in named}
        kernels = {name: list(map(self._stored, getattr(self, name))) for name in ("kernels", "again")}
        return json.dumps(kept | kernels, indent=1) + "\n"

    def _stored(self, kernel: Kernel) -> dict[str, Any]:
        """Return a kernel as it is stored: of its setting only what differs from the machine's."""
        own = {name: fact for name, fact in kernel.setting.items() if self.setting.get(name) != fact}
        return {k: v for k, v in vars(kernel).items() if k != "setting"} | ({"setting": own} if own else {})


def stored_roofline() -> Roofline:
    """Return what was measured on NVIDIA H200s; ``attnlib/data/README.md`` says how.

    Returns:
        The measurements. Each kernel's setting says on which card, and when.
    """
    text = (resources.files("attnlib") / "data" / "roofline-h200.json").read_text("utf8")
    fields = json.loads(text)
    kernels, again = fields.pop("kernels"), fields.pop("again")
    roof = Roofline(**fields, kernels=())

    def loaded(kernels: list[dict[str, Any]]) -> tuple[Kernel, ...]:
        return tuple(Kernel(**k | {"setting": roof.setting | k.get("setting", {})}) for k in kernels)

    return replace(roof, kernels=loaded(kernels), again=loaded(again))


@torch.no_grad()
def measure_roofline(
    device: torch.device,
    *,
    lengths: tuple[int, ...] = (256, 512, 1024, 2048, 4096, 8192),
    size: int = 8192,
    dtype: torch.dtype = torch.bfloat16,
) -> Roofline:
    """Measure the roof of a GPU, and attention under it.

    ``formula`` writes the scores and the weights to memory and reads them again, and ``formula: scores``,
    ``formula: softmax`` and ``formula: mix`` are its three kernels alone; ``fused`` is `attention`,
    which moves queries, keys, values and the output alone; ``decoding`` is `attention` of a single query for
    each of 32 sequences against its keys, ``decoding, grouped`` the same with a quarter of the key heads;
    ``layer`` and ``LSTM`` read two sequences of width 1024 (the LSTM in
    float16 where bfloat16 is asked for).

    Args:
        device: A GPU. A CPU works, but is slow at these sizes: give smaller ones.
        lengths: Keys n.
        size: Width of the square matrices of the large product, and of the large copy.
        dtype: Of every number.

    Returns:
        The measurements.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.
    """
    for n in (*lengths, size):
        require_whole("lengths and size", n, 1)
    a, b = (torch.randn(size, size).to(device, dtype) for _ in range(2))
    product, copy = seconds(lambda: a @ b, device), seconds(lambda: a.copy_(b), device)
    roof = Roofline(
        machine=torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        torch=torch.__version__.split("+")[0],
        dtype=_name(dtype),
        peak_flops=2 * size**3 / product,
        peak_bytes=2 * a.nbytes / copy,
        kernels=(),
    )

    def measured(n: int, name: str, flops: int, moved: int, work: Work) -> Kernel:
        kind = _lstm_dtype(dtype) if name == "LSTM" else dtype
        return Kernel(name, n, flops, moved, seconds(work, device), roof.setting | {"dtype": _name(kind)})

    return replace(
        roof, kernels=tuple(measured(n, *work) for n in lengths for work in _works(n, device, dtype))
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _lstm_dtype(dtype: torch.dtype) -> torch.dtype:
    """Return what an LSTM is measured in: for bfloat16 a GPU does not lay out its weights in one piece."""
    return torch.float16 if dtype == torch.bfloat16 else dtype


def _formula_parts(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Iterator[tuple[str, int, int, Work]]:
    """Yield the three kernels of the formula one by one, like `_works`; a softmax counts no operations."""
    table = (q * D**-0.5) @ k.mT  # scores, then weights
    half = attention_flops(B, H, q.shape[-2], k.shape[-2], D) // 2
    yield "formula: scores", half, 2 * q.nbytes + table.nbytes, lambda: (q * D**-0.5) @ k.mT
    yield "formula: softmax", 0, 2 * table.nbytes, lambda: table.softmax(-1)
    table = table.softmax(-1)
    yield "formula: mix", half, 2 * v.nbytes + table.nbytes, lambda: table @ v


def _works(n: int, device: torch.device, dtype: torch.dtype) -> Iterator[tuple[str, int, int, Work]]:
    """Yield the name, operations, bytes and function of everything that is measured at a length."""

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device=device, dtype=dtype)

    q, k, v = draw(3, B, H, n, D)
    flops, ends, scores = attention_flops(B, H, n, n, D), 4 * q.nbytes, score_bytes(B, H, n, n, dtype)
    yield "formula", flops, ends + 4 * scores, lambda: ((q * D**-0.5) @ k.mT).softmax(-1) @ v
    yield from _formula_parts(q, k, v)
    yield "fused", flops, ends, lambda: attention(q, k, v)
    for name, Hkv in (("decoding", H), ("decoding, grouped", H // 4)):
        one, keys, values = draw(READERS, H, 1, D), *draw(2, READERS, Hkv, n, D)
        yield (
            name,
            attention_flops(READERS, H, 1, n, D),
            2 * one.nbytes + 2 * keys.nbytes,
            partial(attention, one, keys, values),
        )
    C = H * D
    x, weights = draw(B, n, C), 2 * B * n * C * C
    layer = MultiHeadAttention(C, H).to(device, dtype)
    yield "layer", 4 * weights + flops, 2 * x.nbytes + 4 * C * C * dtype.itemsize, lambda: layer(x)
    kind = _lstm_dtype(dtype)
    lstm, y = nn.LSTM(C, C, batch_first=True, device=device, dtype=kind), x.to(kind)
    yield "LSTM", 8 * weights, 2 * x.nbytes + 8 * C * C * dtype.itemsize, lambda: lstm(y)
