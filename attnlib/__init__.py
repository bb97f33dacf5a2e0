"""attnlib: the attention mechanism, small and exact. The library behind the book *Paying Attention*.

`import attnlib` loads torch and nothing heavier. What draws (`attnlib.plotting`), what moves
(`attnlib.widgets`) and what teaches (`attnlib.learn`) is imported by name.
"""

from attnlib.blocks import TransformerBlock
from attnlib.cache import KVCache
from attnlib.device import pick_device
from attnlib.functional import attention, attention_scores, attention_weights, masked_softmax
from attnlib.leakage import leaks
from attnlib.linear import linear_attention, linear_attention_step
from attnlib.local import sliding_window_attention
from attnlib.masks import (
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
    to_torch_mha,
)
from attnlib.model import Decoder
from attnlib.multihead import MultiHeadAttention
from attnlib.positions import alibi_bias, rotary, sinusoidal
from attnlib.scoring import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from attnlib.tiled import tiled_attention

__version__ = "0.1.0"

__all__ = [
    "Decoder",
    "KVCache",
    "MultiHeadAttention",
    "TransformerBlock",
    "additive_scores",
    "alibi_bias",
    "attention",
    "attention_scores",
    "attention_weights",
    "bilinear_scores",
    "causal_mask",
    "document_mask",
    "dot_scores",
    "leaks",
    "linear_attention",
    "linear_attention_step",
    "masked_softmax",
    "padding_mask",
    "pick_device",
    "prefix_mask",
    "rotary",
    "scaled_dot_scores",
    "sinusoidal",
    "sliding_window_attention",
    "sliding_window_mask",
    "tiled_attention",
    "to_torch_mha",
]
