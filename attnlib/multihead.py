"""Multi-head attention as a module. Chapter 5 of the book builds it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, Literal, TypedDict, overload

import torch
from torch import Tensor, nn

from attnlib._check import (
    broadcasts,
    check_bias,
    check_causal,
    check_mask,
    check_rotary,
    plain,
    require_bool,
    require_number,
    require_same_kind,
    require_tensor,
    require_whole,
    shape,
)
from attnlib._modes import autocast_is_on, product_dtype
from attnlib._plan import Plan
from attnlib.backends.choose import attend
from attnlib.backends.dense import dense_attention
from attnlib.cache import KVCache
from attnlib.mask_rules import MaskRule
from attnlib.positions import check_own_positions


class MultiHeadAttention(nn.Module):
    """Attend with several small heads at once and mix what they found.

    Args:
        embed_dim: Model width C.
        num_heads: Query heads H.
        num_kv_heads: Key and value heads Hkv, which must divide H; H if not given. Fewer heads
            share keys and values between queries (grouped-query attention).
        head_dim: Width D of a head; ``C / H`` if not given, which H must then divide.
        bias: Whether the projections have a bias.
        dropout: Share of the weights dropped in training.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given (chapter 4). One that is learned is a
            `torch.nn.Parameter` of one number, or of one for each head, ``(H, 1, 1)``.
        softcap: Bound on the size of the scaled scores, ``c * tanh(s / c)``; learned as the scale is.
        qk_norm: Whether queries and keys are divided by the root of their mean square, head by head, times
            learned numbers, before they are turned and meet: their lengths no longer make scores large.
        sink: Whether each head has one more score, learned, which takes weight and brings no value: a head
            may then attend to nothing, and its weights sum to less than one.

    Raises:
        TypeError: If a size is not an int, a switch not a bool, or a number neither that nor a parameter.
        ValueError: If the sizes do not divide, the dropout is not in ``[0, 1)``, the scale is not finite, or
            the softcap not above zero.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        scale: float | nn.Parameter | None = None,
        softcap: float | nn.Parameter | None = None,
        qk_norm: bool = False,
        sink: bool = False,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        require_whole("embed_dim", embed_dim, 1)
        require_whole("num_heads", num_heads, 1)
        require_whole("num_kv_heads", num_kv_heads, 1)
        if head_dim is not None:
            require_whole("head_dim", head_dim, 1)
        elif embed_dim % num_heads:
            raise ValueError(
                f"num_heads must divide embed_dim, got embed_dim {embed_dim}, num_heads {num_heads}; "
                f"or give head_dim"
            )
        if num_heads % num_kv_heads:
            raise ValueError(f"num_kv_heads must divide num_heads, got {num_kv_heads} and {num_heads}")
        require_number("dropout", dropout)
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must be at least 0 and below 1, got {dropout}")
        _check_number("scale", scale, num_heads)
        _check_number("softcap", softcap, num_heads)
        if isinstance(scale, numbers.Real) and not math.isfinite(scale):
            raise ValueError(f"scale must be a finite number, got {scale}")
        if isinstance(softcap, numbers.Real) and not 0 < softcap < math.inf:
            raise ValueError(f"softcap must be a finite number above zero, got {softcap}")
        for name, switch in (("bias", bias), ("qk_norm", qk_norm), ("sink", sink)):
            require_bool(name, switch)
        self.embed_dim = plain(embed_dim)
        self.num_heads = plain(num_heads)
        self.num_kv_heads = plain(num_kv_heads)
        self.head_dim = self.embed_dim // self.num_heads if head_dim is None else plain(head_dim)
        self.dropout = dropout
        self.scale = scale
        self.softcap = softcap
        self.sink = nn.Parameter(torch.zeros(num_heads)) if sink else None
        q_dim, kv_dim = self.num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, q_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, kv_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, kv_dim, bias=bias)
        self.out_proj = nn.Linear(q_dim, embed_dim, bias=bias)
        self.q_norm = nn.RMSNorm(self.head_dim, eps=1e-5) if qk_norm else None
        self.k_norm = nn.RMSNorm(self.head_dim, eps=1e-5) if qk_norm else None
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            nn.init.xavier_uniform_(projection.weight)
            if bias:
                nn.init.zeros_(projection.bias)
        self.attend = Attend()

    @overload
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
        need_weights: Literal[False] = False,
        cache: KVCache | None = None,
    ) -> Tensor: ...

    @overload
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
        need_weights: Literal[True],
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor]: ...

    @overload
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
        need_weights: bool,
        cache: KVCache | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]: ...

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
        need_weights: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from ``x`` to ``context``, or to ``x`` itself if there is no context.

        Positions come in by ``bias`` or by ``rotary``, here for a decoder of each kind::

            layer(x, causal=True, bias=alibi_bias(H, T))  # with a cache: alibi_bias(H, T, S)
            layer(x, causal=True, rotary=rotary)
            layer(x, causal=True, rotary=functools.partial(rotary, base=500_000.0))

        Args:
            x: Where the queries come from, ``(B, T, C)``.
            context: Where the keys and values come from, ``(B, S, C)``.
            mask: Boolean, True = may attend: ``(T, S)``, or four axes that broadcast to
                ``(B, H, T, S)``. Padding ``(B, S)`` is given as ``mask[:, None, None, :]``, as `padding_mask`
                makes it: where B is T, two axes would be taken for ``(T, S)``. Or a `MaskRule`.
            causal: Also apply the causal mask.
            bias: Numbers added to the scores, broadcast to ``(B, H, T, S)``. Three axes are
                ``(H, T, S)``, as `alibi_bias` returns them; one bias a sequence is ``(B, 1, T, S)``.
            rotary: What turns queries and keys by their positions: `attnlib.rotary`, or any function of
                heads and their positions ``(T,)`` that returns the heads turned. It is called once, with
                all of them, ``(B, H + Hkv, T, D)``. Positions go on where a cache ends, and the cache
                keeps its keys turned.
            positions: Those that ``rotary`` turns by, if they are others: ``(T,)``, or ``(B, T)`` where each
                sequence has its own, which reach ``rotary`` as ``(B, 1, T)``.
            need_weights: Whether to return the weights too; they are those before dropout, so
                that their rows sum to one.
            cache: Keys and values of the positions before ``x``. Those of ``x`` are added to it, and
                S counts them all: it is ``cache.length_with(T)``. With ``causal``, a cached step equals the
                same rows of a full pass; with a window that rolls, of a pass in which each position sees
                the first ones and its window.

        Returns:
            Output ``(B, T, C)``, or a pair of it and the weights ``(B, H, T, S)``.

        Raises:
            TypeError: If a dtype is wrong. ``x`` has the layer's, except under autocast.
            ValueError: If a shape is wrong, the cache is full, or a context comes with a cache or with
                ``rotary``: between two sequences there is no distance to turn by.
        """
        self._check(x, context, causal, cache, rotary, positions)
        require_bool("need_weights", need_weights)
        context = x if context is None else context
        B, T, S = x.shape[0], x.shape[1], context.shape[1]
        S = S if cache is None else cache.length_with(T)
        self._check_scores(mask, bias, (B, self.num_heads, T, S), x)
        q = self._split(self.q_proj(x))  # (B, H, T, D)
        k = self._split(self.k_proj(context))  # (B, Hkv, S, D)
        v = self._split(self.v_proj(context))  # (B, Hkv, S, D)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = _normed(self.q_norm, q), _normed(self.k_norm, k)
        if rotary is not None:
            start = 0 if cache is None else cache.next_position
            q, k = _turn(rotary, q, k, _for_heads(positions, start, T, q.device))
        if cache is not None:
            mask = _within_window(mask, cache, T, causal)
            k, v = _keep(cache, k, v)  # (B, Hkv, S, D)
        dropout = self.dropout if self.training else 0.0
        options: dict[str, Any] = {"mask": mask, "causal": causal, "bias": bias, "scale": self.scale}
        options |= {} if self.softcap is None else {"softcap": self.softcap}
        options |= {} if self.sink is None else {"sink": self.sink}
        heads, weights = self.attend(q, k, v, dropout, need_weights, **options)  # (B, H, T, D), (B, H, T, S)
        out = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, T, C)
        return (out, weights) if need_weights else out

    def make_cache(
        self,
        batch_size: int,
        max_length: int,
        *,
        keep_first: int | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> KVCache:
        """Make an empty cache that fits this module, on its device and in the dtype of its keys.

        Under autocast that is autocast's. A cache that was made outside is used inside without loss; one that
        was made inside is too narrow for what comes outside, and says so. What was put in place of a
        projection, for quantised weights say, is given a row of zeros, to see what it returns.

        Args:
            batch_size: Sequences B.
            max_length: How many positions there is room for.
            keep_first: As in `KVCache`: how many of the first positions stay when the window rolls.
            dtype: What ``x`` will have; that of the layer's weights if not given.
            device: Where ``x`` will be; where the layer's weights are if not given.

        Returns:
            The cache.
        """
        keys = self._a_key(dtype, device)
        return KVCache(
            batch_size,
            self.num_kv_heads,
            max_length,
            self.head_dim,
            keep_first=keep_first,
            dtype=keys.dtype if type(self.k_proj) is not nn.Linear else product_dtype(keys),
            device=keys.device,
        )

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> MultiHeadAttention:
        """Copy a `torch.nn.MultiheadAttention`: its weights, dropout, dtype, device and mode.

        Weights that are frozen there, by ``requires_grad_(False)``, are frozen here.

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
                to.weight.copy_(weight).requires_grad_(module.in_proj_weight.requires_grad)
            copy_parameters(module.out_proj, new.out_proj)
            if bias:
                for to, b in zip(projections, module.in_proj_bias.chunk(3), strict=True):
                    to.bias.copy_(b).requires_grad_(module.in_proj_bias.requires_grad)
        return new

    def to_torch(self) -> nn.MultiheadAttention:
        """Return a `torch.nn.MultiheadAttention`, ``batch_first``, with copies of the weights.

        Dropout, dtype, device, mode and what is frozen are kept. It takes the same ``x`` as query, key and
        value, and masks as `attnlib.masks.to_torch_mha` makes them.

        Returns:
            A module that computes the same.

        Raises:
            ValueError: If this layer has what that one has not: fewer key heads, heads of another width, a
                scale, a softcap, a norm or a sink of its own, or projections that are frozen in part.
        """
        lacks = {
            "num_kv_heads": self.num_kv_heads != self.num_heads,
            "head_dim": self.head_dim * self.num_heads != self.embed_dim,
            "scale": self.scale is not None,
            "softcap": self.softcap is not None,
            "qk_norm": self.q_norm is not None,
            "sink": self.sink is not None,
        }
        if any(lacks.values()):
            own = ", ".join(name for name, lacking in lacks.items() if lacking)
            raise ValueError(f"nn.MultiheadAttention must compute the same, and knows no {own}")
        parts, bias = (self.q_proj, self.k_proj, self.v_proj), self.q_proj.bias is not None
        new = nn.MultiheadAttention(
            self.embed_dim, self.num_heads, dropout=self.dropout, bias=bias, batch_first=True
        )
        new.to(self.q_proj.weight).train(self.training)
        copy_parameters(self.out_proj, new.out_proj)
        with torch.no_grad():
            for name in ("weight", "bias") if bias else ("weight",):
                joined, own_parts = new.get_parameter(f"in_proj_{name}"), [getattr(p, name) for p in parts]
                learned = {part.requires_grad for part in own_parts}
                if len(learned) > 1:
                    raise ValueError(
                        f"q_proj, k_proj and v_proj must be frozen or learn together: nn.MultiheadAttention "
                        f"has one {name} for the three"
                    )
                joined.copy_(torch.cat(own_parts)).requires_grad_(learned.pop())
        return new

    def extra_repr(self) -> str:
        """Return the sizes, and what is not as usual, for printing."""
        text = f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, num_kv_heads={self.num_kv_heads}"
        text += f", head_dim={self.head_dim}" if self.head_dim * self.num_heads != self.embed_dim else ""
        text += f", dropout={self.dropout}" if self.dropout else ""
        for name, number in (("scale", self.scale), ("softcap", self.softcap)):
            if number is not None:
                text += f", {name}={'learned' if isinstance(number, Tensor) else number}"
        return f"{text}, sink=True" if self.sink is not None else text

    def _a_key(self, dtype: torch.dtype | None, device: torch.device | str | None) -> Tensor:
        """Return a tensor that is as the keys are, or as what they will be a product of."""
        if type(self.k_proj) is nn.Linear:
            weight = self.k_proj.weight
            return torch.empty(0, dtype=dtype or weight.dtype, device=device or weight.device)
        if dtype is None or device is None:
            held = [*self.parameters(), *self.buffers()]  # quantised weights are no parameters
            device = device or next((t.device for t in held), "cpu")
            dtype = dtype or next((t.dtype for t in held if t.is_floating_point()), None)
        with torch.no_grad():
            keys: Tensor = self.k_proj(torch.zeros(1, self.embed_dim, dtype=dtype, device=device))
        return keys  # (1, Hkv * D)

    def _split(self, x: Tensor) -> Tensor:
        heads: Tensor = x.unflatten(-1, (-1, self.head_dim))  # (B, T, H, D)
        return heads.transpose(1, 2)  # (B, H, T, D)

    def check_input(self, name: str, x: Tensor) -> None:
        """Refuse what is not ``(B, T, C)`` in the layer's dtype, under the name it was given by."""
        require_same_kind(**{name: x})
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(f"{name} must be (B, T, C) with C = {self.embed_dim}, got {shape(x)}")
        # a projection that was put in place of ours, for quantised weights say, knows itself what it takes
        weight = self.q_proj.weight if type(self.q_proj) is nn.Linear else x
        if product_dtype(x) != product_dtype(weight):
            raise TypeError(
                f"{name} must have the layer's dtype {weight.dtype}, got {x.dtype}; "
                f"convert {name}, or the layer, with .to(dtype)"
            )

    def _check(
        self,
        x: Tensor,
        context: Tensor | None,
        causal: bool,
        cache: KVCache | None,
        rotary: object,
        positions: Tensor | None,
    ) -> None:
        for name, t in (("x", x), ("context", context)):
            if t is not None:
                self.check_input(name, t)
        if context is not None:
            if x.device != context.device:
                raise ValueError(
                    f"x and context must be on the same device, got {x.device} and {context.device}; "
                    f"move one with .to(device)"
                )
            if x.shape[0] != context.shape[0]:
                raise ValueError(
                    f"x and context must have the same batch B, got x {shape(x)} and context {shape(context)}"
                )
            if cache is not None:
                raise ValueError("a cache is for self-attention: give either context or cache, got both")
            if rotary is not None:
                raise ValueError("rotary is for self-attention: give either context or rotary, got both")
        check_causal(causal)
        check_rotary(rotary)
        if positions is not None:
            if rotary is None:
                raise ValueError("positions are what rotary turns by: give both, got positions alone")
            check_own_positions(positions, x.shape[0], x.shape[1], x.device)
        if cache is not None:
            self._check_cache(x, cache)

    def _check_cache(self, x: Tensor, cache: KVCache) -> None:
        if not isinstance(cache, KVCache):
            raise TypeError(f"cache must be a KVCache, got {type(cache).__name__}; make_cache makes one")
        fits = (x.shape[0], self.num_kv_heads, cache.max_length, self.head_dim)
        if cache.shape != fits:
            raise ValueError(
                f"cache must be (B, Hkv, max_length, D) = {fits} for x {shape(x)}, got {cache.shape}; "
                f"make_cache({x.shape[0]}, {cache.max_length}) makes one"
            )

    def _check_scores(
        self, mask: Tensor | MaskRule | None, bias: Tensor | None, target: tuple[int, ...], x: Tensor
    ) -> None:
        if isinstance(mask, MaskRule):
            mask.check(target[-1], target, x.device)
        elif mask is not None:
            require_tensor("mask", mask)
            if mask.ndim == 3:
                raise ValueError(
                    f"mask must be (T, S) or (B, H, T, S), got {shape(mask)}; "
                    f"for one mask a batch element write mask[:, None]"
                )
            check_mask(mask, target, x.device)
        if bias is not None:
            require_tensor("bias", bias)
            if bias.ndim == 3 and bias.shape[0] not in (1, self.num_heads):
                raise ValueError(
                    f"bias of three axes must be (H, T, S) with H = {self.num_heads}, got {shape(bias)}; "
                    f"for one bias a batch element write bias[:, None]"
                )
            check_bias(bias, target, x.device)


class LayerOptions(TypedDict, total=False):
    """What a `TransformerBlock` passes on to its `MultiHeadAttention`."""

    head_dim: int | None
    scale: float | nn.Parameter | None
    softcap: float | nn.Parameter | None
    qk_norm: bool
    sink: bool


class Attend(nn.Module):
    """Attend in all heads at once: where a layer takes its softmax, so that a hook can see of what.

    `attnlib.instruments.probe` is such a hook. The keyword arguments are those of `attention_scores`.
    """

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, dropout: float, need_weights: bool, **options: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Return what the heads found, ``(B, H, T, D)``, and the weights ``(B, H, T, S)`` if needed."""
        plan = Plan.of(q, k, v, dropout=dropout, **options)
        if not need_weights:
            return attend(plan), None
        heads, weights = dense_attention(plan)
        return heads, weights.to(q.dtype)


def _check_number(name: str, x: object, num_heads: int) -> None:
    """Refuse a factor that is neither a number nor a parameter that fits all heads."""
    if isinstance(x, nn.Parameter):
        if not x.is_floating_point() or not broadcasts(x.shape, (num_heads, 1, 1)):
            raise ValueError(
                f"a learned {name} must be one floating-point number, or one for each head, "
                f"({num_heads}, 1, 1), got {shape(x)} of {x.dtype}"
            )
    elif x is not None and (isinstance(x, bool) or not isinstance(x, numbers.Real)):
        raise TypeError(
            f"{name} must be a number, or a torch.nn.Parameter to be learned, got {type(x).__name__}"
        )


def copy_parameters(source: nn.Module, to: nn.Module) -> None:
    """Copy the state of one module into another of the same names; what is frozen there is frozen here."""
    to.load_state_dict(source.state_dict())
    for mine, theirs in zip(to.parameters(), source.parameters(), strict=True):
        mine.requires_grad_(theirs.requires_grad)


def _normed(norm: nn.RMSNorm, x: Tensor) -> Tensor:
    """Norm heads in the dtype of the weights, which under autocast is wider, and round back."""
    normed: Tensor = norm(x.to(norm.weight.dtype))
    return normed.to(x.dtype)


def _for_heads(positions: Tensor | None, start: int, T: int, device: torch.device) -> Tensor:
    """Return positions that broadcast to heads ``(B, H, T)``: those from ``start`` on if none are given."""
    if positions is None:
        return torch.arange(start, start + T, device=device)  # (T,)
    return positions if positions.ndim == 1 else positions[:, None]  # (B, 1, T)


def _turn(
    rotary: Callable[[Tensor, Tensor], Tensor], q: Tensor, k: Tensor, positions: Tensor
) -> tuple[Tensor, Tensor]:
    """Turn queries and keys in one go, so that the angles are computed once."""
    heads = torch.cat([q, k], 1)  # (B, H + Hkv, T, D)
    turned = rotary(heads, positions)
    require_tensor("what rotary returns", turned)
    if shape(turned) != shape(heads) or turned.dtype != heads.dtype:
        raise ValueError(
            f"rotary must return the shape and dtype it is given, {shape(heads)} and {heads.dtype}, "
            f"got {shape(turned)} and {turned.dtype}"
        )
    q, k = turned.split([q.shape[1], k.shape[1]], 1)
    return q, k


def _within_window(
    mask: Tensor | MaskRule | None, cache: KVCache, T: int, causal: bool
) -> Tensor | MaskRule | None:
    """Return the mask of ``T`` positions that a cache is about to take, which may make its window roll."""
    window = cache.window_mask(T) if causal else None  # (T, S)
    if isinstance(mask, MaskRule):
        if window is None and not cache.has_gap:
            return mask
        if mask.documents is not None or mask.lengths is not None or mask.also:
            raise ValueError(
                "a rule with documents or lengths names every key from the first on, got a cache whose "
                "window rolls: give a mask for the keys that are kept"
            )
        keys = cache.positions_with(T)
        mask = mask.tile(keys[len(keys) - T :], keys)  # (T, S)
    if window is None:
        return mask
    return window if mask is None else mask & window  # (T, S) or (B, H, T, S)


def _keep(cache: KVCache, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Add keys and values to a cache; under autocast it may be wider than they are, and loses nothing."""
    wider = torch.promote_types(k.dtype, cache.dtype) == cache.dtype
    if not (wider and autocast_is_on(k.device)):
        return cache.append(k, v)
    keys, values = cache.append(k.to(cache.dtype), v.to(cache.dtype))
    return keys.to(k.dtype), values.to(v.dtype)
