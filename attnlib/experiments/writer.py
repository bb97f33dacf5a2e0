"""A language model that has read the manuals its readers use: 4 layers, 128 wide, 0.9 M weights. Chapter 9.

``tools/train_writer.py`` trained it; what came of it lies in the package, and ``writer.json`` says how.
"""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._check import require_whole
from attnlib.experiments.bytepairs import BytePairs
from attnlib.experiments.manuals import PAGE_BREAK
from attnlib.instruments.settings import Setting, describe
from attnlib.model import Decoder, in_mode
from attnlib.positions import rotary

SIZES = {
    "vocab_size": 1024,
    "max_length": 256,
    "embed_dim": 128,
    "num_heads": 4,
    "num_layers": 4,
    "hidden_dim": 344,
}


class Writer(NamedTuple):
    """The stored model and what belongs to it.

    Attributes:
        model: In evaluation mode.
        tokens: What turns text into its tokens and back.
        made: How it was made: the text and its hash, steps, seed, losses, machine, date.
    """

    model: Decoder
    tokens: BytePairs
    made: dict

    @property
    def setting(self) -> Setting:
        """How the stored weights were trained."""
        return self.model.setting

    def complete(
        self,
        prompt: str,
        steps: int = 40,
        *,
        temperature: float = 0.0,
        top_k: int | None = None,
        seed: int = 0,
    ) -> str:
        """Go on with a text as if it began a document, up to the end of the document.

        Args:
            prompt: The beginning; it may be empty.
            steps: How many tokens to add at most.
            temperature: 0 takes the most likely token; above it, tokens are drawn (`Decoder.generate`).
            top_k: Draw among the k most likely tokens only.
            seed: Of the tokens drawn.

        Returns:
            What was added, without the prompt.

        Raises:
            TypeError: If the prompt is no text.
            ValueError: If prompt and steps need more positions than the model has.
        """
        start = self.tokens.encode(PAGE_BREAK + prompt)
        require_whole("steps", steps, 0)
        if len(start) + steps > self.model.max_length:
            raise ValueError(
                f"prompt and steps must fit {self.model.max_length} tokens, got {len(start)} (a page break "
                f"and the prompt) and {steps} steps; shorten the prompt or ask for fewer"
            )
        device = self.model.token_embedding.weight.device
        generator = torch.Generator().manual_seed(seed)
        done = self.model.generate(
            torch.tensor([start], device=device),
            steps,
            temperature=temperature,
            top_k=top_k,
            generator=generator,
        )
        return self.tokens.decode(done[0, len(start) :].tolist()).partition(PAGE_BREAK)[0]


def make_writer(sizes: dict[str, int] = SIZES, *, dropout: float = 0.0) -> Decoder:
    """Make a model of the writer's kind with random weights: today's block, rotary positions, tied weights.

    Args:
        sizes: Those of `Decoder`, and ``hidden_dim``.
        dropout: Share dropped in training.

    Returns:
        The model, in training mode.
    """
    return Decoder(
        **sizes,
        dropout=dropout,
        rotary=rotary,
        tied=True,
        norm="rms",
        gated=True,
        activation=F.silu,
        bias=False,
    )


def load_writer(device: torch.device | str | None = None) -> Writer:
    """Load the model that comes with the package, its tokens and its history.

    Args:
        device: Where to put it.

    Returns:
        The writer, with weights in float32, widened from the stored float16.
    """
    folder = files("attnlib") / "data"
    made = json.loads((folder / "writer.json").read_text("utf8"))
    with (folder / "writer.npz").open("rb") as file:
        stored = dict(np.load(file))
    tokens = BytePairs(stored.pop("merges").tolist())
    model = make_writer({name: made["model"][name] for name in SIZES})
    model.load_state_dict({name: torch.from_numpy(w.astype(np.float32)) for name, w in stored.items()})
    trained = made["training"]
    model.setting = describe(
        model,
        model="language model (RMS norms before, gated network)",
        layers=made["model"]["num_layers"],
        width=made["model"]["embed_dim"],
        heads=made["model"]["num_heads"],
        positions="rotary",
        optimizer=trained["optimizer"],
        rate=trained["lr"],
        warmup=trained["warmup"],
        batch=trained["batch"],
        steps=trained["steps"],
        seeds=(trained["seed"],),
        machine=made["machine"],
        date=made["date"],
    )
    return Writer(model.to(device).eval(), tokens, made)


def next_token_losses(model: Decoder, tokens: Tensor, *, batch: int = 16) -> Tensor:
    """Return the surprise at every token of a long text, which the model reads window by window.

    Windows have the model's whole length and follow each other: a token has at most that many before it, and
    the first of a window has only one.

    Args:
        model: What predicts.
        tokens: ``(T,)``, of any length above 1.
        batch: How many windows go through the model at a time.

    Returns:
        Losses in nats on the CPU, ``(T - 1,)``: the first token is given.

    Raises:
        ValueError: If the tokens are not one row of at least two.
    """
    if tokens.ndim != 1 or len(tokens) < 2:
        raise ValueError(f"tokens must be one row of at least two, got shape {tuple(tokens.shape)}")
    tokens, device = tokens.long(), model.token_embedding.weight.device
    inputs, targets = tokens[:-1], tokens[1:]
    missing = -len(inputs) % model.max_length
    inputs = F.pad(inputs, (0, missing)).view(-1, model.max_length)  # (windows, L)
    targets = F.pad(targets, (0, missing)).view(-1, model.max_length)
    losses = []
    with torch.no_grad(), in_mode(model, training=False):
        for x, y in zip(inputs.split(batch), targets.split(batch), strict=True):
            logits = model(x.to(device)).float()  # (B, L, V)
            losses.append(F.cross_entropy(logits.transpose(1, 2), y.to(device), reduction="none").cpu())
    return torch.cat(losses).flatten()[: len(tokens) - 1]


def bits_a_character(nats_a_token: float, tokens: int, characters: int) -> float:
    """Turn a loss per token into bits per character, which models with other tokens can be compared by.

    Args:
        nats_a_token: The mean loss.
        tokens: How many tokens were predicted.
        characters: How many characters they stand for.

    Returns:
        The mean number of bits that a character costs.
    """
    return nats_a_token * tokens / characters / math.log(2)
