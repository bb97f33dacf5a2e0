"""Which function each case is of, and how it is drawn."""

import random

import attnlib
from attnlib.functional import attention_with_lse, key_mass, merge
from attnlib.linear import linear_attention_step
from attnlib.masks import to_torch_mha
from attnlib.scoring import additive_scores, bilinear_scores, dot_scores
from tests.fuzz.attention import attention_case, merge_case, scores_case, softmax_case
from tests.fuzz.backends import attention_by_formula, attention_in_blocks
from tests.fuzz.draw import Draw
from tests.fuzz.linear import linear_case, step_case
from tests.fuzz.masks import mask_case
from tests.fuzz.modules import block_case, cache_case, decoder_case, multihead_case, torch_mha_case
from tests.fuzz.positions import alibi_case, rotary_case, sinusoidal_case
from tests.fuzz.rules import rule_case

FUNCTIONS = {
    function.__name__: function
    for function in (
        attnlib.attention,
        attention_by_formula,
        attention_in_blocks,
        attention_with_lse,
        merge,
        key_mass,
        attnlib.attention_weights,
        attnlib.attention_scores,
        attnlib.masked_softmax,
        attnlib.tiled_attention,
        attnlib.sliding_window_attention,
        attnlib.linear_attention,
        linear_attention_step,
        attnlib.rotary,
        attnlib.sinusoidal,
        attnlib.alibi_bias,
        attnlib.MaskRule,
        attnlib.causal_mask,
        attnlib.sliding_window_mask,
        attnlib.prefix_mask,
        attnlib.padding_mask,
        attnlib.document_mask,
        to_torch_mha,
        dot_scores,
        bilinear_scores,
        additive_scores,
        attnlib.KVCache,
        attnlib.MultiHeadAttention,
        attnlib.TransformerBlock,
        attnlib.Decoder,
    )
}


HOW_OFTEN = {  # of a hundred cases
    "attention": 18,
    "attention_by_formula": 3,
    "attention_in_blocks": 8,
    "tiled_attention": 11,
    "attention_with_lse": 4,
    "merge": 3,
    "key_mass": 2,
    "attention_weights": 7,
    "attention_scores": 3,
    "masked_softmax": 3,
    "sliding_window_attention": 5,
    "linear_attention": 6,
    "linear_attention_step": 2,
    "rotary": 4,
    "sinusoidal": 1,
    "alibi_bias": 1,
    "MaskRule": 1,
    "causal_mask": 1,
    "sliding_window_mask": 1,
    "prefix_mask": 1,
    "padding_mask": 1,
    "document_mask": 1,
    "to_torch_mha": 2,
    "dot_scores": 1,
    "bilinear_scores": 1,
    "additive_scores": 1,
    "MultiHeadAttention": 4,
    "KVCache": 1,
    "TransformerBlock": 2,
    "Decoder": 1,
}
SCHEDULE = [name for name, times in HOW_OFTEN.items() for _ in range(times)]
random.Random("schedule").shuffle(SCHEDULE)
DRAWN_BY = {
    "masked_softmax": softmax_case,
    "merge": merge_case,
    "MaskRule": rule_case,
    "linear_attention": linear_case,
    "linear_attention_step": step_case,
    "rotary": rotary_case,
    "sinusoidal": sinusoidal_case,
    "alibi_bias": alibi_case,
    "to_torch_mha": torch_mha_case,
    "MultiHeadAttention": multihead_case,
    "KVCache": cache_case,
    "TransformerBlock": block_case,
    "Decoder": decoder_case,
}


def make_case(seed, number):
    """Draw a case; the numbers go through the functions in a fixed order, so that none is left out."""
    draw, name = Draw(seed, number), SCHEDULE[number % len(SCHEDULE)]
    if name in DRAWN_BY:
        case = DRAWN_BY[name](draw)
    elif name.endswith("_mask"):
        case = mask_case(draw, name)
    elif name in ("dot_scores", "bilinear_scores", "additive_scores"):
        case = scores_case(draw, name)
    else:
        case = attention_case(draw, name)
    case.text += f", gradients of {', '.join(case.needs)}" if case.needs else ""
    return case, draw
