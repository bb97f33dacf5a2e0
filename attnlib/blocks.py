"""The Transformer block: attention, then a small network for each position, both around a residual stream."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._check import require_whole
from attnlib.cache import KVCache
from attnlib.multihead import MultiHeadAttention, copy_parameters


class TransformerBlock(nn.Module):
    """Add to each position what attention brings from the others, then what a network makes of it.

    It normalises what each part reads: ``x + attention(norm(x))``, then ``x + network(norm(x))``. The block
    of 2017 normalised the sum: ``norm(x + attention(x))``, then ``norm(x + network(x))``. Many models of
    today are made of this one::

        TransformerBlock(C, H, norm="rms", gated=True, activation=F.silu, bias=False)

    Args:
        embed_dim: Model width C.
        num_heads: Query heads H.
        num_kv_heads: Key and value heads Hkv; H if not given.
        hidden_dim: Width of the network, ``4 * C`` if not given; with a gate,
            ``8 / 3 * C`` has as many weights.
        activation: What stands between the network's two layers: a function or a module.
        dropout: Share dropped in training, of the weights, of the hidden layer and of what is added.
        bias: Whether projections, network and norms have a bias; an RMS norm never has.
        norm: ``"layer"`` takes the mean away and divides by the standard deviation, ``"rms"`` divides by the
            root of the mean square.
        norm_first: Whether to normalise what each part reads; else the sum.
        gated: Whether a second projection is multiplied in, ``down(activation(gate(x)) * up(x))``: SwiGLU
            with ``activation=F.silu``.

    Raises:
        TypeError: If a size is not an int, or the activation is not a function.
        ValueError: If the sizes do not divide, the dropout is not in ``[0, 1)``, or the norm is unknown.
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
        norm: str = "layer",
        norm_first: bool = True,
        gated: bool = False,
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(
            embed_dim, num_heads, num_kv_heads=num_kv_heads, bias=bias, dropout=dropout
        )
        hidden_dim = 4 * embed_dim if hidden_dim is None else hidden_dim
        require_whole("hidden_dim", hidden_dim, 1)
        if not callable(activation) or isinstance(activation, type):
            got = activation.__name__ if isinstance(activation, type) else f"{activation!r}"
            raise TypeError(
                f"activation must be a function of a tensor, or a module, got {got}; "
                f"torch.nn.functional.gelu is one, nn.PReLU() another"
            )
        self.norm_first = norm_first
        self.attention_norm = make_norm(norm, embed_dim, bias=bias)
        self.network_norm = make_norm(norm, embed_dim, bias=bias)
        self.gate_proj = nn.Linear(embed_dim, hidden_dim, bias=bias) if gated else None
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
        options = {"mask": mask, "causal": causal, "bias": bias, "rotary": rotary, "cache": cache}
        self.attention.check_input("x", x)  # a norm would speak of its own shapes
        if self.norm_first:
            x = x + self.drop(self.attention(self.attention_norm(x), **options))  # (B, T, C)
            return x + self._network(self.network_norm(x))
        x = self.attention_norm(x + self.drop(self.attention(x, **options)))  # (B, T, C)
        return self.network_norm(x + self._network(x))

    @classmethod
    def from_torch(cls, layer: nn.TransformerEncoderLayer) -> TransformerBlock:
        """Copy a `torch.nn.TransformerEncoderLayer`: weights, activation, dropout, dtype, device and mode.

        Weights that are frozen there, by ``requires_grad_(False)``, are frozen here.

        Args:
            layer: Of either ``norm_first`` and either ``batch_first``; the copy always takes ``(B, T, C)``.

        Returns:
            A block that computes the same.

        Raises:
            TypeError: If it is another kind of module.
        """
        if not isinstance(layer, nn.TransformerEncoderLayer):
            raise TypeError(f"layer must be a nn.TransformerEncoderLayer, got {type(layer).__name__}")
        attention = layer.self_attn
        block = cls(
            attention.embed_dim,
            attention.num_heads,
            hidden_dim=layer.linear1.out_features,
            activation=copy.deepcopy(layer.activation),  # one that learns is not shared
            dropout=layer.dropout.p,
            bias=layer.linear1.bias is not None,
            norm_first=layer.norm_first,
        )
        block.to(layer.linear1.weight)
        block.attention = MultiHeadAttention.from_torch(attention)
        for name, module in (
            ("attention_norm", layer.norm1),
            ("network_norm", layer.norm2),
            ("up_proj", layer.linear1),
            ("down_proj", layer.linear2),
        ):
            copy_parameters(module, getattr(block, name))
        block.attention_norm.eps, block.network_norm.eps = layer.norm1.eps, layer.norm2.eps
        return block.train(layer.training)

    def _network(self, x: Tensor) -> Tensor:
        up = self.up_proj(x)  # (B, T, hidden)
        hidden = self.activation(up) if self.gate_proj is None else self.activation(self.gate_proj(x)) * up
        return self.drop(self.down_proj(self.drop(hidden)))  # (B, T, C)


def make_norm(norm: str, dim: int, *, bias: bool = True) -> nn.Module:
    """Make what brings each position to a common size.

    Args:
        norm: ``"layer"`` or ``"rms"``, as in `TransformerBlock`.
        dim: Width C.
        bias: Whether a layer norm has a bias; an RMS norm never has.

    Returns:
        The module, for ``(..., C)``.

    Raises:
        ValueError: If the norm is unknown.
    """
    if norm == "layer":
        return nn.LayerNorm(dim, bias=bias)
    if norm == "rms":
        return nn.RMSNorm(dim, eps=1e-5)  # as a layer norm has; PyTorch's own default depends on the dtype
    raise ValueError(f'norm must be "layer" or "rms", got {norm!r}')
