"""The explorable of chapter 7: what a model costs, given its sizes."""

from __future__ import annotations

import math

import torch

from attnlib.instruments.cost import attention_flops, cache_bytes, projection_flops, score_bytes
from attnlib.widgets._base import anywidget, front_end, traitlets

# as published: arXiv 2307.09288 (Llama 2), 2407.21783 (Llama 3), and the configurations of the others
MODELS = [
    dict(zip(("name", "layers", "d_model", "heads", "kv_heads", "context", "parameters"), sizes, strict=True))
    for sizes in (
        ("GPT-2 small", 12, 768, 12, 12, 1024, 124_439_808),
        ("GPT-2 XL", 48, 1600, 25, 25, 1024, 1_557_611_200),
        ("Llama 2 7B", 32, 4096, 32, 32, 4096, 6_738_415_616),
        ("Mistral 7B v0.3", 32, 4096, 32, 8, 32768, 7_248_023_552),
        ("Llama 3 8B", 32, 4096, 32, 8, 8192, 8_030_261_248),
        ("Llama 3 70B", 80, 8192, 64, 8, 8192, 70_553_706_496),
    )
]
CARDS = [
    {"name": "RTX 4090", "gigabytes": 24},
    {"name": "H100", "gigabytes": 80},
    {"name": "H200", "gigabytes": 141},
]
DTYPES = {4: torch.float32, 2: torch.bfloat16, 1: torch.int8}


class CostCalculator(anywidget.AnyWidget):
    """Operations and bytes of a stack of Transformer blocks over one sequence, as `attnlib` predicts them.

    Embeddings, norms and the layer that computes the logits are not in it.

    Attributes:
        n: Tokens.
        d_model: Width of the model.
        heads: Query heads; they divide the width.
        kv_heads: Key and value heads; they divide the query heads.
        layers: Blocks.
        width: Bytes of a number: 4, 2 or 1.
        network: Whether the MLP of each block is counted too, four times as wide inside as the model.
        gpu: Memory to hold weights, cache and scores against, in GB of 10^9 bytes, as data sheets say.
        named: The model chosen by name; its weights are counted as long as the sizes are its own.
        models: Sizes of models people know, as published.
        cards: GPUs to choose from.
    """

    _esm, _css = front_end("cost")

    n = traitlets.Int(1024).tag(sync=True)
    d_model = traitlets.Int(768).tag(sync=True)
    heads = traitlets.Int(12).tag(sync=True)
    kv_heads = traitlets.Int(12).tag(sync=True)
    layers = traitlets.Int(12).tag(sync=True)
    width = traitlets.Int(2).tag(sync=True)
    network = traitlets.Bool(False).tag(sync=True)
    gpu = traitlets.Int(80).tag(sync=True)
    named = traitlets.Unicode("GPT-2 small").tag(sync=True)
    models = traitlets.List(MODELS).tag(sync=True)
    cards = traitlets.List(CARDS).tag(sync=True)

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

    def memory(self) -> dict[str, int]:
        """Return bytes of the ``weights``, and the ``room``: how many tokens of cache fill the rest.

        ``room_with_scores`` is the same where the scores of one layer are held too. The weights are those of
        the model ``named``; if the sizes are not its own, they count as none.
        """
        sizes = ("layers", "d_model", "heads", "kv_heads")
        named = [m for m in self.models if m["name"] == self.named]
        alike = [m for m in named if all(m[name] == getattr(self, name) for name in sizes)]
        weights = alike[0]["parameters"] * self.width if alike else 0
        held = self.numbers()
        token, pair = held["cache"] // self.n, held["scores"] // self.n**2  # bytes for each
        free = max(0, self.gpu * 10**9 - weights)
        both = (math.isqrt(token**2 + 4 * pair * free) - token) // (2 * pair)  # pair n² + token n = free
        return {"weights": weights, "room": free // token, "room_with_scores": both}

    def __repr__(self) -> str:
        return (
            f"CostCalculator(n={self.n}, d_model={self.d_model}, heads={self.heads}, "
            f"kv_heads={self.kv_heads}, layers={self.layers}, width={self.width})"
        )
