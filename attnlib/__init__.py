"""attnlib: the attention mechanism, small and exact. The library behind the book *Paying Attention*.

`import attnlib` loads torch and nothing heavier. What draws (`attnlib.plotting`), what moves
(`attnlib.widgets`) and what teaches (`attnlib.learn`) is imported by name.
"""

from attnlib.device import pick_device
from attnlib.functional import attention, attention_weights, masked_softmax
from attnlib.masks import (
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
    to_torch_mha,
)
from attnlib.multihead import MultiHeadAttention
from attnlib.scoring import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores

__version__ = "0.1.0"

__all__ = [
    "MultiHeadAttention",
    "additive_scores",
    "attention",
    "attention_weights",
    "bilinear_scores",
    "causal_mask",
    "document_mask",
    "dot_scores",
    "masked_softmax",
    "padding_mask",
    "pick_device",
    "prefix_mask",
    "scaled_dot_scores",
    "sliding_window_mask",
    "to_torch_mha",
]
