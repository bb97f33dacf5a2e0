"""attnlib: the attention mechanism, small and exact. The library behind the book *Paying Attention*.

`import attnlib` loads torch and nothing heavier, and offers the 21 names below. The rest is imported
from where it lives: what one holds against a model (`attnlib.instruments`), what the chapters train
(`attnlib.experiments`), what draws (`attnlib.plotting`), moves (`attnlib.widgets`) and teaches
(`attnlib.learn`).
"""

from attnlib.blocks import TransformerBlock
from attnlib.cache import KVCache
from attnlib.device import pick_device
from attnlib.functional import (
    attention,
    attention_scores,
    attention_weights,
    masked_softmax,
    sliding_window_attention,
    tiled_attention,
)
from attnlib.linear import linear_attention
from attnlib.mask_rules import MaskRule
from attnlib.masks import causal_mask, document_mask, padding_mask, prefix_mask, sliding_window_mask
from attnlib.model import Decoder
from attnlib.multihead import MultiHeadAttention
from attnlib.positions import alibi_bias, rotary, sinusoidal

__version__ = "0.2.0"

__all__ = [
    "Decoder",
    "KVCache",
    "MaskRule",
    "MultiHeadAttention",
    "TransformerBlock",
    "alibi_bias",
    "attention",
    "attention_scores",
    "attention_weights",
    "causal_mask",
    "document_mask",
    "linear_attention",
    "masked_softmax",
    "padding_mask",
    "pick_device",
    "prefix_mask",
    "rotary",
    "sinusoidal",
    "sliding_window_attention",
    "sliding_window_mask",
    "tiled_attention",
]
