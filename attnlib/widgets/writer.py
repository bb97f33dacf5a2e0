"""The explorable of chapter 9: the stored model writes; every head can be watched and switched off."""

from __future__ import annotations

import base64
import copy
from typing import Any

import torch
from torch import Tensor, nn

from attnlib.experiments.bytepairs import BytePairs
from attnlib.experiments.writer import Writer as StoredWriter
from attnlib.experiments.writer import load_writer
from attnlib.masks import causal_mask
from attnlib.model import Decoder
from attnlib.widgets._base import anywidget, front_end, traitlets

BEGINNINGS = [
    "If the list is empty,",
    "Return a new array",
    "The attention",
    "Raises an error if",
]
START = 12  # the page break that stands before every text
LENGTH = 32  # how many tokens are written at a go
SETTINGS = ("prompt", "temperature", "seed", "used", "causal")  # what the text depends on
SHOWN = 6  # of the tokens that may come next


class Writer(anywidget.AnyWidget):
    """The stored model continues a beginning; see how each head attends, and switch heads or the mask off.

    The front end has the model's arithmetic in JavaScript. It starts with a text that was written here, and
    asks for the weights, 1.8 MB, when the reader first lets it write: of the published page, or of Python.

    Args:
        prompt: The beginning.
        writer: Another model of the same kind and its tokens, in place of the stored ones.
        state: Any of the attributes.

    Attributes:
        prompt: The beginning.
        temperature: 0 takes the likeliest token; above it, tokens are drawn.
        seed: Which of the texts that may be drawn.
        used: For each head, layer by layer, whether it takes part.
        causal: Whether positions are hidden from those before them.
        token: Whose attention weights are shown, counted from the page break in front; -1 for the last.
        layer: Of the head that is shown.
        head: Which head of that layer is shown.
        sizes: Layers, heads, positions, how many tokens are written at a go, and the bytes of the weights.
        beginnings: To choose from.
        sample: The text of the first state: the ``settings`` it was written with; ``ids`` of its tokens and
            the ``tokens`` themselves; how many are ``given``; ``next``, the likeliest after each with
            their probabilities; ``weights`` of all heads, each row as far as the mask lets it, as base64 of
            little-endian uint16.
    """

    _esm, _css = front_end("writer", "writer_model")

    prompt = traitlets.Unicode(BEGINNINGS[0]).tag(sync=True)
    temperature = traitlets.Float(0.7).tag(sync=True)
    seed = traitlets.Int(1).tag(sync=True)
    used = traitlets.List(traitlets.Bool()).tag(sync=True)
    causal = traitlets.Bool(True).tag(sync=True)
    token = traitlets.Int(-1).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    sizes = traitlets.Dict().tag(sync=True)
    beginnings = traitlets.List(traitlets.Unicode()).tag(sync=True)
    sample = traitlets.Dict().tag(sync=True)

    def __init__(
        self, prompt: str = BEGINNINGS[0], *, writer: StoredWriter | None = None, **state: Any
    ) -> None:
        writer = load_writer() if writer is None else writer
        self.model, self.tokens = copy.deepcopy(writer.model).cpu().double(), writer.tokens
        sizes = {
            "layers": len(self.model.blocks),
            "heads": self.model.blocks[0].attention.num_heads,
            "positions": self.model.max_length,
            "length": LENGTH,
            "bytes": len(packed(self.model, self.tokens)[1]),
        }
        used = [True] * (sizes["layers"] * sizes["heads"])
        super().__init__(
            **({"prompt": prompt, "sizes": sizes, "used": used, "beginnings": BEGINNINGS} | state)
        )
        self.sample = self._sample()
        self.on_msg(self._answer)

    def write(self, length: int = LENGTH) -> list[int]:
        """Continue the prompt, with the numbers of `attnlib` and the random numbers of the front end.

        Args:
            length: How many tokens to write at most; a page break ends the text before.

        Returns:
            All tokens, from the page break before the prompt on.

        Raises:
            ValueError: If the prompt is empty, or it and what is to be written do not fit.
        """
        tokens = [START, *self.tokens.encode(self.prompt)]
        if len(tokens) == 1:
            raise ValueError("the prompt must have at least one token, got none; type a beginning")
        if len(tokens) + length > self.model.max_length:
            raise ValueError(
                f"prompt and text must fit {self.model.max_length} positions, got {len(tokens)} and "
                f"{length}; shorten the prompt"
            )
        for place in range(len(tokens), len(tokens) + length):
            logits, _ = self.numbers(tokens)
            new = choose(logits[-1], self.temperature, self.seed, place)
            if new == START:
                break
            tokens.append(new)
        return tokens

    @torch.no_grad()
    def numbers(self, tokens: list[int]) -> tuple[Tensor, Tensor]:
        """Return logits and attention weights of a text, with the heads in use and the mask as it is set.

        Args:
            tokens: The text, T of them.

        Returns:
            Logits ``(T, V)`` and weights ``(L, H, T, T)``, in float64.
        """
        model, weights = self._with_used_heads(), []
        x = model.token_embedding(torch.tensor([tokens]))  # (1, T, C)
        how = {"causal": self.causal, "rotary": model.rotary}
        for block in model.blocks:
            weights.append(block.attention(block.attention_norm(x), **how, need_weights=True)[1][0])
            x = block(x, **how)
        logits = nn.functional.linear(model.norm(x), model.token_embedding.weight)  # (1, T, V)
        return logits[0], torch.stack(weights)

    def _with_used_heads(self) -> Decoder:
        """Return the model; the output of a head that is switched off is multiplied by zero."""
        if all(self.used):
            return self.model
        model, H = copy.deepcopy(self.model), self.sizes["heads"]
        for n, used in enumerate(self.used):
            attention = model.blocks[n // H].attention
            attention.out_proj.weight.unflatten(1, (H, -1))[:, n % H].mul_(used)
        return model

    def _sample(self) -> dict:
        """Return the text of the first state and the attention weights of every head."""
        tokens = self.write()
        logits, weights = self.numbers(tokens)
        T = len(tokens)
        seen = weights[..., causal_mask(T)] if self.causal else weights  # (L, H, ...)
        top = shares(logits, self.temperature).topk(SHOWN)
        following = [
            [[self._text(token), round(share, 4)] for token, share in zip(*row, strict=True)]
            for row in zip(top.indices.tolist(), top.values.tolist(), strict=True)
        ]
        halves = (seen.flatten() * 65535).round().numpy().astype("<u2").tobytes()
        return {
            "settings": {name: getattr(self, name) for name in SETTINGS},
            "ids": tokens,
            "tokens": [self._text(token) for token in tokens],
            "given": 1 + len(self.tokens.encode(self.prompt)),
            "next": following,
            "weights": base64.b64encode(halves).decode(),
        }

    def _text(self, token: int) -> str:
        """Return the bytes of a token as characters, one for each."""
        return self.tokens.spelled[token].decode("latin1")

    def _answer(self, _: Any, content: dict, buffers: list) -> None:
        """Send the weights when the front end asks for them."""
        if content.get("ask") == "writer_weights":
            header, data = packed(self.model, self.tokens)
            self.send({"header": header}, [data])

    def __repr__(self) -> str:
        return f"Writer({self.prompt!r}, temperature={self.temperature:g}, seed={self.seed})"


def packed(model: Decoder, tokens: BytePairs) -> tuple[dict, bytes]:
    """Return the weights of a model as the front end takes them.

    Args:
        model: An `attnlib.Decoder` with RMSNorm, a gated MLP, rotary positions and tied embeddings.
        tokens: Its tokens.

    Returns:
        The header, with sizes, merges, and the name and shape of each array, and the numbers of all
        arrays one after the other, as bytes of little-endian float16.
    """
    arrays, block = model.state_dict(), model.blocks[0]
    sizes = {
        "vocab_size": model.vocab_size,
        "max_length": model.max_length,
        "embed_dim": block.attention.embed_dim,
        "num_heads": block.attention.num_heads,
        "num_layers": len(model.blocks),
        "hidden_dim": block.up_proj.out_features,
        "eps": model.norm.eps,
        "base": getattr(model.rotary, "keywords", {}).get("base", 10000.0),
    }
    shapes = [[name, list(array.shape)] for name, array in arrays.items()]
    header = {"model": sizes, "merges": tokens.merges, "arrays": shapes}
    return header, b"".join(array.cpu().numpy().astype("<f2").tobytes() for array in arrays.values())


def shares(logits: Tensor, temperature: float) -> Tensor:
    """Return the probabilities that tokens are drawn with; 0, where none is drawn, counts as 1."""
    return (logits / (temperature or 1.0)).softmax(-1)


def chance(seed: int, place: int) -> float:
    """Return a number between 0 and 1 for a seed and a position in the text, the same as the front end's."""
    t = (seed * 0x9E3779B1 + place * 0x85EBCA77) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        t = ((t ^ (t >> shift)) * factor) & 0xFFFFFFFF
    return ((t ^ (t >> 16)) + 0.5) / 2**32


def choose(logits: Tensor, temperature: float, seed: int, place: int) -> int:
    """Return the token that comes next: the likeliest at temperature 0, else one that is drawn.

    Args:
        logits: ``(V,)``.
        temperature: Above 0, higher evens the probabilities out.
        seed: Which of the texts that may be drawn.
        place: How many tokens there are before it.

    Returns:
        The token.
    """
    if temperature == 0:
        return int(logits.argmax())
    reached = shares(logits, temperature).cumsum(-1)
    return min(int((reached <= chance(seed, place)).sum()), len(logits) - 1)
