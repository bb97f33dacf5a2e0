"""Every case of ONNX's RotaryEmbedding operator, through `rotate`."""

import pytest

from attnlib.positions import rotate
from tests import assert_close
from tests.conformance.onnx_cases import cases, merge, split


@pytest.mark.parametrize("case", cases("RotaryEmbedding"))
def test_rotate_agrees(case, conformance):
    conformance("ONNX RotaryEmbedding", "`rotate`, which `rotary` is made of")
    x, cos, sin = (case.inputs[name] for name in ("input", "cos_cache", "sin_cache"))
    if "position_ids" in case.inputs:
        cos, sin = (table[case.inputs["position_ids"]] for table in (cos, sin))  # (B, T, n)
    heads = case.attributes.get("num_heads")
    x = split(x, heads) if x.ndim == 3 else x  # (B, H, T, D)
    interleaved = bool(case.attributes.get("interleaved"))
    out = rotate(x, cos[:, None], sin[:, None], interleaved=interleaved)
    assert_close(merge(out) if heads else out, case.outputs["output"])
