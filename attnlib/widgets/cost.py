"""The explorable of chapter 7: what a model costs, given its sizes."""

from __future__ import annotations

import torch

from attnlib.instruments.cost import attention_flops, cache_bytes, projection_flops, score_bytes
from attnlib.widgets._base import anywidget, front_end, traitlets

DTYPES = {4: torch.float32, 2: torch.bfloat16, 1: torch.int8}


class CostCalculator(anywidget.AnyWidget):
    """Operations and bytes of a stack of Transformer blocks over one sequence, as `attnlib` predicts them.

    Embeddings, norms and the layer that names the next token are not in it.

    Attributes:
        n: Tokens.
        d_model: Width of the model.
        heads: Query heads; they divide the width.
        kv_heads: Key and value heads; they divide the query heads.
        layers: Blocks.
        width: Bytes of a number: 4, 2 or 1.
        network: Whether the network of each block is drawn too, four times as wide inside as the model.
    """

    _esm, _css = front_end("cost")

    n = traitlets.Int(1024).tag(sync=True)
    d_model = traitlets.Int(768).tag(sync=True)
    heads = traitlets.Int(12).tag(sync=True)
    kv_heads = traitlets.Int(12).tag(sync=True)
    layers = traitlets.Int(12).tag(sync=True)
    width = traitlets.Int(2).tag(sync=True)
    network = traitlets.Bool(False).tag(sync=True)

    def numbers(self) -> dict[str, int]:
        """Return what the page shows.

        Returns:
            Operations of one pass by ``projections``, ``core`` and ``network``, in all layers; bytes of the
            ``scores`` of one layer, if they are held, and of the ``cache`` of all; and the ``crossover``: the
            length at which the core does as many operations as what is drawn beside it.

        Raises:
            ValueError: If the sizes do not divide, or a number has neither 4, 2 nor 1 bytes.
        """
        C, H, Hkv, L = self.d_model, self.heads, self.kv_heads, self.layers
        if C % H or H % Hkv:
            raise ValueError(
                f"heads must divide d_model, and kv_heads must divide heads, "
                f"got d_model {C}, heads {H}, kv_heads {Hkv}"
            )
        if self.width not in DTYPES:
            raise ValueError(f"width must be 4, 2 or 1 bytes, got {self.width}")
        D, dtype = C // H, DTYPES[self.width]
        network = 16 * self.n * C * C
        beside = projection_flops(1, self.n, C, kv_dim=Hkv * D) + (network if self.network else 0)
        return {
            "projections": L * projection_flops(1, self.n, C, kv_dim=Hkv * D),
            "core": L * attention_flops(1, H, self.n, self.n, D),
            "network": L * network,
            "scores": score_bytes(1, H, self.n, self.n, dtype),
            "cache": cache_bytes(1, Hkv, self.n, D, layers=L, dtype=dtype),
            "crossover": beside // (4 * self.n * C),
        }

    def __repr__(self) -> str:
        return (
            f"CostCalculator(n={self.n}, d_model={self.d_model}, heads={self.heads}, "
            f"kv_heads={self.kv_heads}, layers={self.layers}, width={self.width})"
        )
