"""Every case of ONNX's Attention operator that states values, through `attention` and through its kin."""

import math

import pytest
import torch
import torch.nn.functional as F

from attnlib import (
    KVCache,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    padding_mask,
    sliding_window_mask,
    tiled_attention,
)
from attnlib.masks import both
from tests import DEVICE, assert_close
from tests.conformance.onnx_cases import cases, merge, split

CASES = cases("Attention")
# ONNX takes every step in half precision and we round once, at the end: two roundings may lie between
TOLERANCE = {
    torch.float32: {"rtol": 1e-5, "atol": 1e-6},
    torch.float16: {"rtol": 2 * 2**-10, "atol": 1e-6},
    torch.bfloat16: {"rtol": 2 * 2**-7, "atol": 1e-6},
}


def arguments(case):
    """Translate a case into q, k, v and the options of `attention`."""
    given, options = case.inputs, case.attributes
    q, k, v = given["Q"], given["K"], given["V"]
    if q.ndim == 3:
        q, k, v = (split(x, options[f"{name}_num_heads"]) for x, name in ((q, "q"), (k, "kv"), (v, "kv")))
    past = 0
    if "past_key" in given:
        past = given["past_key"].shape[2]
        k, v = with_past(given["past_key"], given["past_value"], k, v)
    lengths = given.get("nonpad_kv_seqlen")
    mask, bias = masks_of(given.get("attn_mask"), q, k)
    if lengths is not None:
        mask = both(mask, padding_mask(lengths, k.shape[2]))
    mask = positions_of(mask, options, q.shape[2], k.shape[2], past, lengths)
    scale, softcap = options.get("scale"), options.get("softcap")
    return (q, k, v), {"mask": mask, "bias": bias, "scale": scale, "softcap": softcap}


def with_past(past_k, past_v, k, v):
    """Append to what came before: in our cache where it has one width, as a model does, else by hand."""
    if past_k.shape != past_v.shape:
        return torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
    B, H, P, D = past_k.shape
    cache = KVCache(B, H, P + k.shape[2], D, dtype=k.dtype, device=k.device)
    cache.append(past_k, past_v)
    return cache.append(k, v)


def masks_of(given, q, k):
    """Return a boolean mask or a bias; keys beyond those that a mask names are hidden."""
    if given is None:
        return None, None
    hidden = False if given.dtype == torch.bool else -math.inf
    given = F.pad(given, (0, k.shape[2] - given.shape[-1]), value=hidden)
    return (given, None) if given.dtype == torch.bool else (None, given)


def positions_of(mask, options, T, S, past, lengths):
    """Add what depends on positions. ONNX aligns with the first key, the cache's end, or each sequence's end."""
    offsets = [past] if lengths is None else [n - T for n in lengths.tolist()]
    left, right = options.get("left_window_size", -1), options.get("right_window_size", -1)
    parts = []
    if options.get("is_causal"):
        parts.append([causal_mask(T, S, offset=o, device=DEVICE) for o in offsets])
    if left >= 0 or right >= 0:
        window = {"window": left + 1 if left >= 0 else T + S, "ahead": right if right >= 0 else T + S}
        parts.append([sliding_window_mask(T, S, offset=o, device=DEVICE, **window) for o in offsets])
    for part in parts:
        mask = both(mask, part[0] if len(part) == 1 else torch.stack(part)[:, None])  # (B, 1, T, S)
    return mask


def scores_of(case, q, k, options):
    """Return the scores at the stage that a case asks for: raw, capped, biased, or after the softmax."""
    mode = case.attributes.get("qk_matmul_output_mode", 0)
    if mode == 3:
        return attention_weights(q, k, **options)
    stages = [("scale",), ("scale", "softcap"), ("scale", "softcap", "bias", "mask")]
    return attention_scores(q, k, **{name: options[name] for name in stages[mode]})


def agree(got, expected):
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    assert_close(got, expected, **TOLERANCE[got.dtype])


@pytest.mark.parametrize("case", CASES)
def test_attention_agrees(case, conformance):
    conformance("ONNX Attention", "`attention`, `attention_weights`, `attention_scores`, `KVCache`")
    (q, k, v), options = arguments(case)
    out = attention(q, k, v, **options)
    agree(merge(out) if case.inputs["Q"].ndim == 3 else out, case.outputs["Y"])
    for name, kept in (("present_key", k), ("present_value", v)):
        if name in case.outputs:
            agree(kept, case.outputs[name])
    if "qk_matmul_output" in case.outputs:
        agree(scores_of(case, q, k, options), case.outputs["qk_matmul_output"])


@pytest.mark.parametrize("case", [c for c in CASES if "softcap" not in c.values[0].attributes])
def test_tiled_attention_agrees(case, conformance):
    conformance("ONNX Attention, those without a soft cap", "`tiled_attention`")
    (q, k, v), options = arguments(case)
    del options["softcap"]
    out = tiled_attention(q, k, v, **options, block_size=3)
    agree(merge(out) if case.inputs["Q"].ndim == 3 else out, case.outputs["Y"])
