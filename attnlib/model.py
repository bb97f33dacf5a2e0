"""A decoder: a language model small enough to read in one sitting. Chapter 6 of the book trains one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Unpack, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._check import (
    check_rotary,
    plain,
    require_bool,
    require_number,
    require_tensor,
    require_whole,
    shape,
)
from attnlib._modes import truth
from attnlib.blocks import BlockOptions, TransformerBlock, check_names
from attnlib.cache import KVCache
from attnlib.mask_rules import MaskRule
from attnlib.positions import alibi_between, check_own_positions, check_turned_width


class Decoder(nn.Module):
    """Predict the next token of a sequence from those before it.

    With nothing but sizes it is the model of 2018. Most of today's are closer to::

        today = {"norm": "rms", "gated": True, "activation": F.silu, "bias": False}
        Decoder(V, max_length, C, H, layers, rotary=rotary, tied=True, **today)

    Args:
        vocab_size: How many tokens V there are.
        max_length: The longest sequence; each position has a learned vector, unless there is ``rotary`` or
            ``alibi``.
        embed_dim: Model width C.
        num_heads: Query heads H of each block.
        num_layers: Blocks.
        num_kv_heads: Key and value heads Hkv; H if not given.
        dropout: Share dropped in training, of the embeddings and in each block.
        rotary: What turns queries and keys by their positions, instead of a learned vector for each:
            `attnlib.rotary`, or any function that `MultiHeadAttention.forward` takes.
        alibi: Whether each score is lowered by a slope times the distance, as in `alibi_bias`, instead of a
            vector for each position.
        tied: Whether the token embedding also serves as the output weights: ``head`` is then None.
        **block: Of each `TransformerBlock`: ``hidden_dim``, ``activation``, ``bias``, ``norm``,
            ``norm_first``, ``gated``, ``eps``, and of its attention ``head_dim``, ``scale``, ``softcap``,
            ``qk_norm``, ``sink``. Each block gets a copy, so that an activation that learns is not shared.
            The last norm is of the same kind; with ``norm_first=False`` there is none, since the last block
            ends in its own.

    Raises:
        TypeError: If a size is not an int, ``rotary`` is not a function, or a block has no such argument.
        ValueError: If a size is below 1, the sizes do not divide, the norm is unknown, or the heads are of
            a width that `attnlib.rotary` cannot turn.
    """

    def __init__(
        self,
        vocab_size: int,
        max_length: int,
        embed_dim: int,
        num_heads: int,
        num_layers: int,
        *,
        num_kv_heads: int | None = None,
        dropout: float = 0.0,
        rotary: Callable[[Tensor, Tensor], Tensor] | None = None,
        alibi: bool = False,
        tied: bool = False,
        **block: Unpack[BlockOptions],
    ) -> None:
        super().__init__()
        check_names(type(self), block, BlockOptions)
        for name, size in (
            ("vocab_size", vocab_size),
            ("max_length", max_length),
            ("num_layers", num_layers),
        ):
            require_whole(name, size, 1)
        require_bool("alibi", alibi)
        require_bool("tied", tied)
        check_rotary(rotary)
        if rotary is not None and alibi:
            raise ValueError("rotary and alibi both tell positions: give either, got both")
        self.max_length = plain(max_length)
        self.vocab_size = plain(vocab_size)
        self.rotary = rotary
        self.alibi = alibi
        self.blocks = nn.ModuleList(
            TransformerBlock(
                embed_dim, num_heads, num_kv_heads=num_kv_heads, dropout=dropout, **copy.deepcopy(block)
            )
            for _ in range(num_layers)
        )
        check_turned_width(rotary, self._each()[0].attention.head_dim)
        self.token_embedding = nn.Embedding(vocab_size, embed_dim)
        self.position_embedding = None if rotary is not None or alibi else nn.Embedding(max_length, embed_dim)
        self.drop = nn.Dropout(dropout)
        last = self._each()[-1]
        self.norm = copy.deepcopy(last.network_norm) if last.norm_first else nn.Identity()
        # tied weights are used, not shared: a second name for them is lost on the way to meta and back
        self.head = None if tied else nn.Linear(embed_dim, vocab_size, bias=False)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        if self.position_embedding is not None:
            nn.init.normal_(self.position_embedding.weight, std=0.02)

    def forward(
        self,
        tokens: Tensor,
        *,
        mask: Tensor | MaskRule | None = None,
        positions: Tensor | None = None,
        caches: list[KVCache] | None = None,
        last_only: bool = False,
    ) -> Tensor:
        """Score every token as the next one, at every position at once.

        Nothing is read back from the device: the model can be compiled and exported whole, and a GPU does
        not wait. What is out of the vocabulary is therefore named on a CPU only; a GPU stops by itself.
        With ``rotary`` or ``alibi`` on a GPU, PyTorch 2.11 exports it for the sizes it is shown only.

        Several documents in a row, and rows of different lengths with padding on the left, are told by
        ``mask`` and ``positions``; each then gets what it gets alone::

            model(tokens, mask=MaskRule(documents=documents), positions=positions)  # 0, 1, 2, 0, 1, ...
            real = tokens != padding  # (B, T)
            model(tokens, mask=real[:, None, None], positions=(real.cumsum(1) - 1).clamp(min=0))

        Args:
            tokens: ``(B, T)``, whole numbers of any integer dtype.
            mask: Boolean, True = may attend, beside the causal mask: ``(T, S)``, or four axes that broadcast
                to ``(B, H, T, S)``, as `padding_mask` makes them. With caches, S counts what they hold, too.
                Or a `MaskRule`.
            positions: Those of the tokens, ``(T,)``, or ``(B, T)`` where each row has its own; if not given,
                they are counted on from what is cached. With them T may exceed ``max_length``.
            caches: One for each block, from `make_caches`, holding the positions before ``tokens``; those of
                ``tokens`` are added.
            last_only: Whether to score after the last position only: before a text is continued, nobody reads
                the other logits, and for a large vocabulary they are most of the memory.

        Returns:
            Logits ``(B, T, V)``, or ``(B, 1, V)`` of the last position.

        Raises:
            TypeError: If tokens or positions are not whole numbers, or the mask is not boolean.
            ValueError: If tokens, mask or positions have another shape, tokens or positions are not in their
                table, or too many with what is cached, if the caches are not those of this model, or if
                positions come with both caches and ``alibi``, which counts distances to what is cached.
        """
        require_bool("last_only", last_only)
        start, endless = self._check_caches(caches)
        self._check(tokens, start, endless or positions is not None)
        if positions is not None:
            check_own_positions(positions, tokens.shape[0], tokens.shape[1], tokens.device)
        x = self.drop(self._embed(tokens, start, positions))  # (B, T, C)
        bias = self._bias(tokens, caches, positions)  # (H, T, S) or (B, H, T, S)
        turned = None if self.rotary is None else positions
        for i, block in enumerate(self._each()):
            cache = None if caches is None else caches[i]
            x = block(x, mask=mask, causal=True, bias=bias, rotary=self.rotary, positions=turned, cache=cache)
        x = self.norm(x[:, -1:] if last_only else x)  # (B, T, C)
        logits: Tensor = F.linear(x, self.token_embedding.weight) if self.head is None else self.head(x)
        return logits  # (B, T, V)

    @torch.no_grad()
    def generate(
        self,
        tokens: Tensor,
        steps: int,
        *,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        eos: int | None = None,
        on_token: Callable[[Tensor], object] | None = None,
        mask: Tensor | None = None,
        use_cache: bool = True,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Continue sequences token by token, as in evaluation, whatever the mode of the model.

        Args:
            tokens: The beginning, ``(B, T)``, at least one token long, of any integer dtype.
            steps: How many tokens to add.
            temperature: 0 takes the most likely token (greedy); above it, tokens are drawn with their
                probabilities, which a higher temperature evens out.
            top_k: Draw among the k most likely tokens only, for a temperature above 0.
            top_p: Draw among the fewest most likely tokens whose probabilities sum to it (nucleus sampling),
                for a temperature above 0, after ``top_k``.
            eos: The token that ends a sequence. One that has ended is filled up with it, and when all have,
                no more are added.
            on_token: Called after each step with the new tokens ``(B,)``, to show a text while it grows.
            mask: Boolean ``(B, T)``, False = padding on the left of a shorter beginning, so that each row is
                continued as it is alone.
            use_cache: Keep keys and values instead of computing them again. The logits are the same but for
                rounding, and so are the tokens wherever the choice is wider than that: nearly always in
                float32, less often in half precision, where near ties are common.
            generator: Of the random numbers, on the CPU, so that one seed draws the same on every device.

        Returns:
            Tokens ``(B, T + steps)`` in int64; fewer if all sequences ended before.

        Raises:
            TypeError: If tokens or numbers are not whole, the mask is not boolean, or ``on_token`` is not a
                function.
            ValueError: If the mask hides anything but the beginning of a row, the result would be longer than
                ``max_length``, a number is out of range, or the logits hold a NaN.
        """
        self._check(tokens, 0)
        require_whole("steps", steps, 0)
        require_bool("use_cache", use_cache)
        self._check_sampling(tokens, steps, temperature, top_k, top_p, eos)
        _check_generator(generator)
        if on_token is not None and not callable(on_token):
            raise TypeError(f"on_token must be a function of the new tokens, got {type(on_token).__name__}")
        tokens = new = tokens.long()
        self._check_vocabulary(tokens)
        real = None if mask is None else self._check_padding(mask, tokens)  # (B, T)
        with in_mode(self, training=False):
            caches = self.make_caches(tokens.shape[0], tokens.shape[1] + steps) if use_cache else None
            ended = torch.zeros_like(tokens[:, :1], dtype=torch.bool)  # (B, 1)
            for _ in range(steps):
                read = new if use_cache else tokens
                options = {} if real is None else self._of_padding(real, read.shape[1], use_cache)
                logits = self(read, caches=caches, last_only=True, **options)[:, -1]  # (B, V)
                new = choose(logits, temperature, top_k, generator, top_p=top_p)[:, None]  # (B, 1)
                new = new if eos is None else new.masked_fill(ended, eos)
                tokens = torch.cat([tokens, new], 1)
                real = None if real is None else F.pad(real, (0, 1), value=True)
                if on_token is not None:
                    on_token(new[:, 0])
                if eos is not None:
                    ended = new == eos
                    if bool(ended.all()):
                        break
        return tokens

    def make_caches(
        self, batch_size: int, max_length: int | None = None, *, keep_first: int | None = None
    ) -> list[KVCache]:
        """Make empty caches for `forward`, one for each block.

        Args:
            batch_size: Sequences B.
            max_length: How many positions there is room for; the model's own ``max_length`` if not given.
            keep_first: As in `KVCache`: how many of the first positions stay when the window rolls. Without a
                table of positions, a text may then be longer than the model's ``max_length``.

        Returns:
            The caches.
        """
        room = self.max_length if max_length is None else max_length
        x = self.token_embedding.weight
        layers = [block.attention for block in self._each()]
        return [
            # only a projection of ours tells by its weights what it returns
            layer.make_cache(batch_size, room, keep_first=keep_first)
            if type(layer.k_proj) is nn.Linear or not isinstance(x, Tensor)
            else layer.make_cache(batch_size, room, keep_first=keep_first, dtype=x.dtype, device=x.device)
            for layer in layers
        ]

    def _check(self, tokens: Tensor, start: int, endless: bool = False) -> None:
        require_tensor("tokens", tokens)
        if tokens.is_floating_point() or tokens.is_complex() or tokens.dtype == torch.bool:
            raise TypeError(f"tokens must be whole numbers, got {tokens.dtype}")
        if tokens.ndim != 2:
            raise ValueError(f"tokens must be (B, T), got {shape(tokens)}; a single sequence is tokens[None]")
        if not endless and start + tokens.shape[1] > self.max_length:
            raise ValueError(
                f"there are positions for max_length = {self.max_length} tokens, "
                f"got {tokens.shape[1]} after {start}; cut the tokens, or make a longer model"
            )

    def _check_vocabulary(self, tokens: Tensor) -> None:
        low, high = (int(token) for token in tokens.aminmax()) if tokens.numel() else (0, 0)
        if low < 0 or high >= self.vocab_size:
            raise ValueError(f"tokens must lie between 0 and {self.vocab_size - 1}, got {low} to {high}")

    def _check_padding(self, mask: Tensor, tokens: Tensor) -> Tensor:
        require_tensor("mask", mask)
        if mask.dtype != torch.bool:
            raise TypeError(f"mask must be boolean, False = padding, got {mask.dtype}")
        if shape(mask) != shape(tokens):
            raise ValueError(f"mask must be (B, T) = {shape(tokens)}, got {shape(mask)}")
        if mask.device != tokens.device:
            raise ValueError(f"mask must be on the device of tokens, {tokens.device}, got {mask.device}")
        if bool((mask[:, :-1] & ~mask[:, 1:]).any()) or not bool(mask[:, -1].all()):
            raise ValueError(
                "mask must be False on the left of a row only, got padding behind or between tokens"
            )
        return mask

    def _of_padding(self, real: Tensor, T: int, cached: bool) -> dict[str, Tensor]:
        """Return mask and positions of the last ``T`` of real tokens and padding ``(B, S)``."""
        options = {"mask": real[:, None, None]}  # (B, 1, 1, S)
        if self.alibi and cached:
            return options
        return options | {"positions": (real.cumsum(1) - 1).clamp(min=0)[:, real.shape[1] - T :]}

    def _check_caches(self, caches: list[KVCache] | None) -> tuple[int, bool]:
        """Return the next position, and whether there may be one after the last."""
        if caches is None:
            return 0, False
        if not isinstance(caches, list | tuple) or len(caches) != len(self.blocks):
            got = f"{len(caches)}" if isinstance(caches, list | tuple) else f"a {type(caches).__name__}"
            raise ValueError(
                f"caches must be a list of {len(self.blocks)}, one for each block, got {got}; "
                f"make_caches makes them"
            )
        if len(set(map(id, caches))) < len(caches):
            raise ValueError(
                f"each block must have a cache of its own, got the same one more than once among "
                f"{len(caches)}; make_caches makes them"
            )
        lengths = [cache.next_position for cache in caches]
        if any(length != lengths[0] for length in lengths):  # a set would tie a compiled program to each
            raise ValueError(
                f"caches must hold equally many positions, got {lengths}; after an error, reset them all"
            )
        return lengths[0], self.position_embedding is None and caches[0].keep_first is not None

    def _embed(self, tokens: Tensor, start: int, positions: Tensor | None) -> Tensor:
        tokens = tokens.long()
        # the kernel for CPUs looks at every token anyway: only when it complains is there something to say
        try:
            x: Tensor = self.token_embedding(tokens)  # (B, T, C)
        except IndexError:
            self._check_vocabulary(tokens)
            raise
        if self.position_embedding is None:
            return x
        if positions is None:
            positions = torch.arange(start, start + tokens.shape[1], device=tokens.device)
        try:
            places: Tensor = self.position_embedding(positions.long())  # (T, C) or (B, T, C)
        except IndexError:
            low, high = (int(position) for position in positions.aminmax())
            raise ValueError(
                f"positions must lie between 0 and {self.max_length - 1}, got {low} to {high}"
            ) from None
        return x + places

    def _each(self) -> list[TransformerBlock]:
        return cast("list[TransformerBlock]", list(self.blocks))

    def _bias(self, tokens: Tensor, caches: list[KVCache] | None, positions: Tensor | None) -> Tensor | None:
        """Return what ALiBi adds to the scores of every block."""
        if not self.alibi:
            return None
        T = tokens.shape[1]
        if caches is None:
            keys = torch.arange(T, device=tokens.device) if positions is None else positions
        elif positions is None:
            keys = caches[0].positions_with(T)
        else:
            raise ValueError(
                "with alibi and caches distances are counted from what is cached: leave positions out; "
                "padding on the left and packed documents change no distance"
            )
        queries = keys[..., keys.shape[-1] - T :]
        return alibi_between(self._each()[0].attention.num_heads, queries, keys)

    def _check_sampling(
        self,
        tokens: Tensor,
        steps: int,
        temperature: float,
        top_k: int | None,
        top_p: float | None,
        eos: int | None,
    ) -> None:
        if tokens.shape[1] == 0:
            raise ValueError("generate needs at least one token to start from, got none")
        if tokens.shape[1] + steps > self.max_length:
            raise ValueError(
                f"there are positions for max_length = {self.max_length} tokens, "
                f"got {tokens.shape[1]} and {steps} steps; ask for fewer"
            )
        _check_drawing(temperature, top_k, top_p)
        if eos is not None:
            require_whole("eos", eos, 0)
            if eos >= self.vocab_size:
                raise ValueError(f"eos must lie between 0 and {self.vocab_size - 1}, got {eos}")


def _check_generator(generator: object) -> None:
    """Refuse what is no source of random numbers on the CPU, where tokens are drawn."""
    if generator is None:
        return
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator, got {type(generator).__name__}")
    if generator.device.type != "cpu":
        raise ValueError(f"generator must be one of the CPU, where tokens are drawn, got {generator.device}")


def _check_drawing(temperature: float, top_k: int | None, top_p: float | None) -> None:
    require_number("temperature", temperature)
    if not 0.0 <= temperature < float("inf"):
        raise ValueError(f"temperature must be a finite number of at least 0, got {temperature}")
    if top_k is not None:
        require_whole("top_k", top_k, 1)
    if top_p is not None:
        require_number("top_p", top_p)
    if top_p is not None and not 0.0 < top_p <= 1.0:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    for name, limit in (("top_k", top_k), ("top_p", top_p)):
        if temperature == 0.0 and limit is not None:
            raise ValueError(
                f"{name} is for drawing, and temperature 0 draws nothing: it takes the most likely token; "
                f"give a temperature above 0 beside {name} {limit}"
            )


@contextmanager
def in_mode(model: nn.Module, *, training: bool) -> Iterator[None]:
    """Put a model and all its parts into one mode, and give each part its own back at the end.

    Args:
        model: Any module; a part of it may be in another mode than the rest, as frozen parts are.
        training: The mode.
    """
    modes = [(part, part.training) for part in model.modules()]
    try:
        model.train(training)
        yield
    finally:
        for part, was_training in modes:
            part.training = was_training


def choose(
    logits: Tensor,
    temperature: float = 0.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
    *,
    top_p: float | None = None,
) -> Tensor:
    """Choose one token for each row of logits; the arguments are those of `Decoder.generate`.

    Args:
        logits: ``(B, V)``.
        temperature: 0 takes the largest.
        top_k: Draw among the k largest only.
        generator: Of the random numbers, on the CPU.
        top_p: Draw among the fewest largest whose probabilities sum to it, after ``top_k``.

    Returns:
        Tokens ``(B,)``.

    Raises:
        TypeError: If ``top_k`` is not an int, or something else is not what it is said to be.
        ValueError: If a number is out of range, or the largest logit of a row is no finite number.
    """
    _check_drawing(temperature, top_k, top_p)
    _check_generator(generator)
    largest, best = logits.max(-1)  # a NaN is larger than any number
    if truth((~largest.isfinite()).any()):
        rows = (~largest.isfinite()).nonzero()[:, 0].tolist()
        raise ValueError(
            f"the largest logit of each row must be a finite number, got {largest[rows[0]].item()} in rows "
            f"{rows}; look for NaN or infinity in the weights or in what the model computes from them"
        )
    if temperature == 0.0:
        return best
    device, logits = logits.device, logits.float().cpu()
    # relative to the largest, and in float64, no temperature is too low to divide by
    logits = ((logits - logits.amax(-1, keepdim=True)).double() / temperature).float()
    if top_k is not None and top_k < logits.shape[-1]:
        top = logits.topk(top_k, -1)  # among equal logits it decides which ones belong
        logits = torch.full_like(logits, -torch.inf).scatter(-1, top.indices, top.values)
    probabilities = logits.softmax(-1)  # (B, V)
    if top_p is not None and top_p < 1.0:
        falling, order = probabilities.sort(-1, descending=True)
        before = falling.cumsum(-1) - falling  # what the more likely ones sum to: nothing, for the first
        probabilities = torch.zeros_like(falling).scatter(
            -1, order, falling.masked_fill(before >= top_p, 0.0)
        )
    return torch.multinomial(probabilities, 1, generator=generator)[:, 0].to(device)
