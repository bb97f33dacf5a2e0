"""The Transformer block: attention, then a small network for each position, both around a residual stream."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Unpack

import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._check import require_bool, require_number, require_whole
from attnlib.cache import KVCache
from attnlib.mask_rules import MaskRule
from attnlib.multihead import LayerOptions, MultiHeadAttention, copy_parameters


class TransformerBlock(nn.Module):
    """Add to each position what attention brings from the others, then what a network makes of it.

    It normalises what each part reads: ``x + attention(norm(x))``, then ``x + network(norm(x))``. The block
    of 2017 normalised the sum: ``norm(x + attention(x))``, then ``norm(x + network(x))``. Many models of
    today are made of this one::

        TransformerBlock(C, H, norm="rms", gated=True, activation=F.silu, bias=False)

    With ``context=True`` a second attention stands between the two, from ``x`` to a context: the block of a
    decoder that reads what an encoder made, ``x + cross_attention(norm(x), context)``.

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
        eps: What each norm adds to the variance, or to the mean square, before the root.
        context: Whether the block also attends to a context.
        **layer: Of each `MultiHeadAttention`: ``head_dim``, ``scale``, ``softcap``, ``qk_norm``, ``sink``.

    Raises:
        TypeError: If a size is not an int, the activation is not a function, or a layer has no such argument.
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
        eps: float = 1e-5,
        context: bool = False,
        **layer: Unpack[LayerOptions],
    ) -> None:
        super().__init__()
        check_names(type(self), layer, LayerOptions)
        for name, switch in (("norm_first", norm_first), ("gated", gated), ("context", context)):
            require_bool(name, switch)

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(
                embed_dim,
                num_heads,
                num_kv_heads=num_kv_heads,
                bias=bias,
                dropout=dropout,
                **copy.deepcopy(layer),  # a scale that learns is not shared
            )

        self.attention = attention()
        embed_dim = self.attention.embed_dim  # which is an int now, also where one of NumPy was given
        self.cross_attention = attention() if context else None
        hidden_dim = 4 * embed_dim if hidden_dim is None else hidden_dim
        require_whole("hidden_dim", hidden_dim, 1)
        if not callable(activation) or isinstance(activation, type):
            got = activation.__name__ if isinstance(activation, type) else f"{activation!r}"
            raise TypeError(
                f"activation must be a function of a tensor, or a module, got {got}; "
                f"torch.nn.functional.gelu is one, nn.PReLU() another"
            )
        self.norm_first = norm_first
        self.attention_norm = make_norm(norm, embed_dim, bias=bias, eps=eps)
        self.cross_norm = make_norm(norm, embed_dim, bias=bias, eps=eps) if context else None
        self.network_norm = make_norm(norm, embed_dim, bias=bias, eps=eps)
        self.gate_proj = nn.Linear(embed_dim, hidden_dim, bias=bias) if gated else None
        self.up_proj = nn.Linear(embed_dim, hidden_dim, bias=bias)
        self.down_proj = nn.Linear(hidden_dim, embed_dim, bias=bias)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        mask: Tensor | MaskRule | None = None,
        causal: bool = False,
        bias: Tensor | None = None,
        rotary: Callable[[Tensor, Tensor], Tensor] | None = None,
        positions: Tensor | None = None,
        cache: KVCache | None = None,
        context_mask: Tensor | MaskRule | None = None,
    ) -> Tensor:
        """Run the block.

        Args:
            x: ``(B, T, C)``.
            context: What the block attends to besides, ``(B, S, C)``, if it was made with ``context=True``.
            mask: As in `MultiHeadAttention.forward` (padding as `padding_mask` makes it), like ``bias``,
                ``rotary`` and ``positions``. Of the attention to ``x`` itself, as all that follow but the
                last.
            causal: Also apply the causal mask.
            bias: Numbers added to the scores: `alibi_bias`, say.
            rotary: What turns queries and keys by their positions: `attnlib.rotary`, say.
            positions: Those that ``rotary`` turns by, if they are others than 0, 1, 2, ...
            cache: Keys and values of the positions before ``x``; those of ``x`` are added to it.
            context_mask: Boolean, True = may attend, of the attention to the context: `padding_mask`, say.

        Returns:
            ``(B, T, C)``.

        Raises:
            TypeError: If a dtype is wrong.
            ValueError: If a shape is wrong, the cache is full, or there is a context where the block was
                made without, or none where it was made with one.
        """
        self.attention.check_input("x", x)  # a norm would speak of its own shapes
        self._check_context(context, context_mask)

        def attend(x: Tensor) -> Tensor:
            out: Tensor = self.drop(
                self.attention(
                    x, mask=mask, causal=causal, bias=bias, rotary=rotary, positions=positions, cache=cache
                )
            )
            return out  # (B, T, C)

        x = self._add(x, attend, self.attention_norm)
        if self.cross_attention is not None and self.cross_norm is not None:
            cross = self.cross_attention
            x = self._add(x, lambda x: self.drop(cross(x, context, mask=context_mask)), self.cross_norm)
        return self._add(x, self._network, self.network_norm)

    def to_torch(self) -> nn.TransformerEncoderLayer | nn.TransformerDecoderLayer:
        """Return a `torch.nn.TransformerEncoderLayer`, ``batch_first``, with copies of all weights.

        A block that attends to a context becomes a `torch.nn.TransformerDecoderLayer`. Dropout, dtype,
        device, mode and what is frozen are kept.

        Returns:
            A layer that computes the same.

        Raises:
            ValueError: If the block has what that one has not: a gate, RMS norms, or an attention that
                `MultiHeadAttention.to_torch` refuses.
        """
        if self.gate_proj is not None or not isinstance(self.attention_norm, nn.LayerNorm):
            raise ValueError(
                "nn.TransformerEncoderLayer must compute the same, and knows no gate and no RMS norm"
            )
        kind = nn.TransformerEncoderLayer if self.cross_attention is None else nn.TransformerDecoderLayer
        layer = kind(
            self.attention.embed_dim,
            self.attention.num_heads,
            self.up_proj.out_features,
            self.drop.p,
            copy.deepcopy(self.activation),
            self.attention_norm.eps,
            batch_first=True,
            norm_first=self.norm_first,
            bias=self.up_proj.bias is not None,
        )
        layer.to(self.up_proj.weight)
        layer.self_attn = self.attention.to_torch()
        if self.cross_attention is not None:
            layer.multihead_attn = self.cross_attention.to_torch()
        for mine, theirs in self._names(self.cross_attention is not None).items():
            module, to = self.get_submodule(mine), layer.get_submodule(theirs)
            copy_parameters(module, to)
            if isinstance(module, nn.LayerNorm) and isinstance(to, nn.LayerNorm):
                to.eps = module.eps
        return layer.train(self.training)

    @staticmethod
    def _names(crosses: bool) -> dict[str, str]:
        """What PyTorch's layers call the parts beside attention."""
        names = {"attention_norm": "norm1", "up_proj": "linear1", "down_proj": "linear2"}
        return names | (
            {"cross_norm": "norm2", "network_norm": "norm3"} if crosses else {"network_norm": "norm2"}
        )

    @classmethod
    def from_torch(cls, layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) -> TransformerBlock:
        """Copy a layer of PyTorch's: weights, activation, dropout, dtype, device and mode.

        A `torch.nn.TransformerDecoderLayer` becomes a block that attends to a context.

        Weights that are frozen there, by ``requires_grad_(False)``, are frozen here.

        Args:
            layer: Of either ``norm_first`` and either ``batch_first``; the copy always takes ``(B, T, C)``.

        Returns:
            A block that computes the same.

        Raises:
            TypeError: If it is another kind of module.
        """
        if not isinstance(layer, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
            raise TypeError(
                f"layer must be a nn.TransformerEncoderLayer or a nn.TransformerDecoderLayer, "
                f"got {type(layer).__name__}"
            )
        attention, crosses = layer.self_attn, isinstance(layer, nn.TransformerDecoderLayer)
        block = cls(
            attention.embed_dim,
            attention.num_heads,
            hidden_dim=layer.linear1.out_features,
            activation=copy.deepcopy(layer.activation),  # one that learns is not shared
            dropout=layer.dropout.p,
            bias=layer.linear1.bias is not None,
            norm_first=layer.norm_first,
            context=crosses,
        )
        block.to(layer.linear1.weight)
        block.attention = MultiHeadAttention.from_torch(attention)
        if isinstance(layer, nn.TransformerDecoderLayer):
            block.cross_attention = MultiHeadAttention.from_torch(layer.multihead_attn)
        for mine, theirs in cls._names(crosses).items():
            module, to = layer.get_submodule(theirs), block.get_submodule(mine)
            copy_parameters(module, to)
            if isinstance(module, nn.LayerNorm) and isinstance(to, nn.LayerNorm):
                to.eps = module.eps
        return block.train(layer.training)

    def _add(self, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        """Add to x what a part makes of it; normalised is what the part reads, or the sum."""
        out: Tensor = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return out  # (B, T, C)

    def _check_context(self, context: Tensor | None, context_mask: Tensor | MaskRule | None) -> None:
        if self.cross_attention is None:
            for name, given in (("context", context), ("context_mask", context_mask)):
                if given is not None:
                    raise ValueError(
                        f"{name} is for a block that attends to one: make it with "
                        f"TransformerBlock(..., context=True)"
                    )
        elif context is None:
            raise ValueError("a block made with context=True attends to a context: give one, got none")

    def _network(self, x: Tensor) -> Tensor:
        up = self.up_proj(x)  # (B, T, hidden)
        hidden = self.activation(up) if self.gate_proj is None else self.activation(self.gate_proj(x)) * up
        out: Tensor = self.drop(self.down_proj(self.drop(hidden)))
        return out  # (B, T, C)


class BlockOptions(LayerOptions, total=False):
    """What a `Decoder` passes on to each `TransformerBlock`."""

    hidden_dim: int | None
    activation: Callable[[Tensor], Tensor]
    bias: bool
    norm: str
    norm_first: bool
    gated: bool
    eps: float


def check_names(owner: type, given: Mapping[str, object], known: Any) -> None:
    """Refuse an argument that is not known, in the name of the class that was called.

    Args:
        owner: That class.
        given: Arguments that are passed on.
        known: A `TypedDict` of those that may be.

    Raises:
        TypeError: If there is another, with the nearest name that there is.
    """
    for name in given.keys() - known.__annotations__.keys():
        from difflib import get_close_matches  # needed for a message only

        own = [*inspect.signature(owner).parameters, *known.__annotations__]
        close = get_close_matches(name, own, 1)
        meant = f"did you mean {close[0]!r}?" if close else f"it takes {', '.join(own)}"
        raise TypeError(f"{owner.__name__} has no argument {name!r}; {meant}")


def make_norm(norm: str, dim: int, *, bias: bool = True, eps: float = 1e-5) -> nn.LayerNorm | nn.RMSNorm:
    """Make what brings each position to a common size.

    Args:
        norm: ``"layer"`` or ``"rms"``, as in `TransformerBlock`.
        dim: Width C.
        bias: Whether a layer norm has a bias; an RMS norm never has.
        eps: What is added before the root: the same in every dtype, where PyTorch's own default for an RMS
            norm depends on it.

    Returns:
        The module, for ``(..., C)``.

    Raises:
        ValueError: If the norm is unknown, or ``eps`` is not a finite number of at least 0.
    """
    require_number("eps", eps)
    if not 0.0 <= eps < math.inf:
        raise ValueError(f"eps must be a finite number of at least 0, got {eps}")
    if norm == "layer":
        return nn.LayerNorm(dim, eps=eps, bias=bias)
    if norm == "rms":
        return nn.RMSNorm(dim, eps=eps)
    raise ValueError(f'norm must be "layer" or "rms", got {norm!r}')
