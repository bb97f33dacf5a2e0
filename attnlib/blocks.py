"""The Transformer block: attention, then a small network for each position, both around a residual stream."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._validate import require_whole
from attnlib.cache import KVCache
from attnlib.multihead import MultiHeadAttention


class TransformerBlock(nn.Module):
    """Add to each position what attention brings from the others, then what a network makes of it.

    It is a pre-norm block: ``x + attention(norm(x))``, then ``x + network(norm(x))``.

    Args:
        embed_dim: Model width C.
        num_heads: Query heads H.
        num_kv_heads: Key and value heads Hkv; H if not given.
        hidden_dim: Width of the network, ``4 * C`` if not given.
        activation: What stands between the network's two layers.
        dropout: Share dropped in training, of the weights and of what is added.
        bias: Whether projections, network and norms have a bias.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If the sizes do not divide, or the dropout is not in ``[0, 1)``.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        hidden_dim: int | None = None,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(
            embed_dim, num_heads, num_kv_heads=num_kv_heads, bias=bias, dropout=dropout
        )
        hidden_dim = 4 * embed_dim if hidden_dim is None else hidden_dim
        require_whole("hidden_dim", hidden_dim, 1)
        self.attention_norm = nn.LayerNorm(embed_dim, bias=bias)
        self.network_norm = nn.LayerNorm(embed_dim, bias=bias)
        self.up_proj = nn.Linear(embed_dim, hidden_dim, bias=bias)
        self.down_proj = nn.Linear(hidden_dim, embed_dim, bias=bias)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        bias: Tensor | None = None,
        rotary: Callable[[Tensor, Tensor], Tensor] | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Run the block.

        Args:
            x: ``(B, T, C)``.
            mask: As in `MultiHeadAttention.forward`, like ``bias`` and ``rotary``.
            causal: Also apply the causal mask.
            bias: Numbers added to the scores: `alibi_bias`, say.
            rotary: What turns queries and keys by their positions: `attnlib.rotary`, say.
            cache: Keys and values of the positions before ``x``; those of ``x`` are added to it.

        Returns:
            ``(B, T, C)``.

        Raises:
            TypeError: If a dtype is wrong.
            ValueError: If a shape is wrong, or the cache is full.
        """
        found = self.attention(
            self.attention_norm(x), mask=mask, causal=causal, bias=bias, rotary=rotary, cache=cache
        )  # (B, T, C)
        x = x + self.drop(found)
        hidden = self.drop(self.activation(self.up_proj(self.network_norm(x))))  # (B, T, hidden)
        return x + self.drop(self.down_proj(hidden))

    @classmethod
    def from_torch(cls, layer: nn.TransformerEncoderLayer) -> TransformerBlock:
        """Copy a `torch.nn.TransformerEncoderLayer`: weights, activation, dropout, dtype, device and mode.

        Args:
            layer: With ``norm_first=True``, of either ``batch_first``; the copy always takes ``(B, T, C)``.

        Returns:
            A block that computes the same.

        Raises:
            TypeError: If it is another kind of module.
            ValueError: If the layer normalises after adding.
        """
        if not isinstance(layer, nn.TransformerEncoderLayer):
            raise TypeError(f"layer must be a nn.TransformerEncoderLayer, got {type(layer).__name__}")
        if not layer.norm_first:
            raise ValueError("layer must have norm_first=True, since the block is pre-norm, got False")
        attention = layer.self_attn
        block = cls(
            attention.embed_dim,
            attention.num_heads,
            hidden_dim=layer.linear1.out_features,
            activation=copy.deepcopy(layer.activation),  # one that learns is not shared
            dropout=layer.dropout.p,
            bias=layer.linear1.bias is not None,
        )
        block.to(layer.linear1.weight)
        block.attention = MultiHeadAttention.from_torch(attention)
        for name, module in (
            ("attention_norm", layer.norm1),
            ("network_norm", layer.norm2),
            ("up_proj", layer.linear1),
            ("down_proj", layer.linear2),
        ):
            getattr(block, name).load_state_dict(module.state_dict())
        block.attention_norm.eps, block.network_norm.eps = layer.norm1.eps, layer.norm2.eps
        return block.train(layer.training)
