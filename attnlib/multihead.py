"""Multi-head attention as a module. Chapter 5 of the book builds it."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._heads import repeat_heads
from attnlib._validate import check_mask, require_same_kind, require_tensor, require_whole, shape
from attnlib.cache import KVCache
from attnlib.functional import attention_weights
from attnlib.fused import fused_attention


class MultiHeadAttention(nn.Module):
    """Attend with several small heads at once and mix what they found.

    Args:
        embed_dim: Model width C.
        num_heads: Query heads H; H must divide C, and each head is ``D = C / H`` wide.
        num_kv_heads: Key and value heads Hkv, which must divide H; H if not given. Fewer heads
            share keys and values between queries (grouped-query attention).
        bias: Whether the projections have a bias.
        dropout: Share of the weights dropped in training.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given (chapter 4).

    Raises:
        TypeError: If a size is not an int.
        ValueError: If the sizes do not divide, the dropout is not in ``[0, 1)``, or the scale is not finite.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        require_whole("embed_dim", embed_dim, 1)
        require_whole("num_heads", num_heads, 1)
        require_whole("num_kv_heads", num_kv_heads, 1)
        if embed_dim % num_heads:
            raise ValueError(
                f"num_heads must divide embed_dim, got embed_dim {embed_dim}, num_heads {num_heads}"
            )
        if num_heads % num_kv_heads:
            raise ValueError(f"num_kv_heads must divide num_heads, got {num_kv_heads} and {num_heads}")
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must be at least 0 and below 1, got {dropout}")
        if scale is not None and not math.isfinite(scale):
            raise ValueError(f"scale must be a finite number, got {scale}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.scale = scale
        kv_dim = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, kv_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, kv_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            nn.init.xavier_uniform_(projection.weight)
            if bias:
                nn.init.zeros_(projection.bias)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        need_weights: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from ``x`` to ``context``, or to ``x`` itself if there is no context.

        Args:
            x: Where the queries come from, ``(B, T, C)``.
            context: Where the keys and values come from, ``(B, S, C)``.
            mask: Boolean, True = may attend: ``(T, S)``, or four axes that broadcast to
                ``(B, H, T, S)``.
            causal: Also apply the causal mask.
            need_weights: Whether to return the weights too; they are those before dropout, so
                that their rows sum to one.
            cache: Keys and values of the positions before ``x``. Those of ``x`` are added to it, and
                S counts them all. With ``causal``, a cached step equals the same rows of a full pass.

        Returns:
            Output ``(B, T, C)``, or a pair of it and the weights ``(B, H, T, S)``.

        Raises:
            TypeError: If a dtype is wrong.
            ValueError: If a shape is wrong, the cache is full, or there is both a context and a cache.
        """
        if cache is not None and context is not None:
            raise ValueError("a cache is for self-attention: give either context or cache, got both")
        context = x if context is None else context
        self._check(x, context, mask, 0 if cache is None else cache.length)
        q = self._split(self.q_proj(x))  # (B, H, T, D)
        k = self._split(self.k_proj(context))  # (B, Hkv, S, D)
        v = self._split(self.v_proj(context))  # (B, Hkv, S, D)
        if cache is not None:
            k, v = cache.append(k, v)  # (B, Hkv, S, D), S now with what came before
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            weights = attention_weights(q, k, mask, causal=causal, scale=self.scale)  # (B, H, T, S)
            heads = F.dropout(weights, dropout) @ repeat_heads(v, self.num_heads // self.num_kv_heads)
        else:
            heads = fused_attention(q, k, v, mask, causal=causal, scale=self.scale, dropout=dropout)
        out = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, T, C)
        return (out, weights) if need_weights else out

    def make_cache(self, batch_size: int, max_length: int) -> KVCache:
        """Make an empty cache that fits this module, on its device and in its dtype.

        Args:
            batch_size: Sequences B.
            max_length: How many positions there is room for.

        Returns:
            The cache.
        """
        weight = self.k_proj.weight
        return KVCache(
            batch_size,
            self.num_kv_heads,
            max_length,
            self.head_dim,
            dtype=weight.dtype,
            device=weight.device,
        )

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> MultiHeadAttention:
        """Copy a `torch.nn.MultiheadAttention`: its weights, dropout, dtype, device and mode.

        Args:
            module: Of either ``batch_first``; the copy always takes ``(B, T, C)``.

        Returns:
            A module that computes the same.

        Raises:
            TypeError: If it is another kind of module.
            ValueError: If it has what this one has not: other widths for keys and values, biases
                appended to them, or an added zero.
        """
        if not isinstance(module, nn.MultiheadAttention):
            raise TypeError(f"module must be a nn.MultiheadAttention, got {type(module).__name__}")
        if module.in_proj_weight is None:
            raise ValueError(
                f"kdim and vdim must equal embed_dim = {module.embed_dim}, "
                f"got kdim {module.kdim} and vdim {module.vdim}"
            )
        if module.bias_k is not None or module.add_zero_attn:
            raise ValueError("add_bias_kv and add_zero_attn must be off, got one of them on")
        bias = module.in_proj_bias is not None
        new = cls(module.embed_dim, module.num_heads, bias=bias, dropout=module.dropout)
        new.to(module.in_proj_weight).train(module.training)
        projections = (new.q_proj, new.k_proj, new.v_proj)
        with torch.no_grad():
            for to, weight in zip(projections, module.in_proj_weight.chunk(3), strict=True):
                to.weight.copy_(weight)
            new.out_proj.weight.copy_(module.out_proj.weight)
            if bias:
                for to, b in zip(projections, module.in_proj_bias.chunk(3), strict=True):
                    to.bias.copy_(b)
                new.out_proj.bias.copy_(module.out_proj.bias)
        return new

    def extra_repr(self) -> str:
        """Return the sizes, for printing."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, num_kv_heads={self.num_kv_heads}"

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # (B, H, T, D)

    def _check(self, x: Tensor, context: Tensor, mask: Tensor | None, kept: int) -> None:
        for name, t in (("x", x), ("context", context)):
            require_tensor(name, t)
            if t.ndim != 3 or t.shape[-1] != self.embed_dim:
                raise ValueError(f"{name} must be (B, T, C) with C = {self.embed_dim}, got {shape(t)}")
        require_same_kind(x=x, context=context)
        if x.shape[0] != context.shape[0]:
            raise ValueError(
                f"x and context must have the same batch B, got x {shape(x)} and context {shape(context)}"
            )
        if mask is not None:
            if mask.ndim == 3:
                raise ValueError(
                    f"mask must be (T, S) or (B, H, T, S), got {shape(mask)}; "
                    f"for one mask a batch element write mask[:, None]"
                )
            target = (x.shape[0], self.num_heads, x.shape[1], kept + context.shape[1])
            check_mask(mask, target, x.device)
