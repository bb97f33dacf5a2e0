"""The cases of ONNX's LinearAttention operator with the rule ``linear``: no gates, no delta rule, no division."""

import pytest

from attnlib.linear import linear_attention, linear_attention_step
from tests import assert_close
from tests.conformance.onnx_cases import cases, merge, split

LINEAR = [c for c in cases("LinearAttention") if c.values[0].attributes.get("update_rule") == b"linear"]
RULE = {"feature_map": lambda x: x, "normalize": False}


def arguments(case):
    options = case.attributes
    q = split(case.inputs["query"], options["q_num_heads"])
    k, v = (split(case.inputs[name], options["kv_num_heads"]) for name in ("key", "value"))
    return q * options.get("scale", q.shape[-1] ** -0.5), k, v


@pytest.mark.parametrize("case", LINEAR)
def test_linear_attention_agrees(case, conformance):
    conformance("ONNX LinearAttention, rule linear", "`linear_attention`, `linear_attention_step`")
    q, k, v = arguments(case)
    parallel = linear_attention(q, k, v, causal=True, block_size=3, **RULE)
    assert_close(merge(parallel), case.outputs["output"], rtol=1e-5, atol=1e-5)
    state = None
    for i in range(q.shape[2]):
        out, state = linear_attention_step(q[:, :, i], k[:, :, i], v[:, :, i], state, **RULE)
        assert_close(out, parallel[:, :, i], rtol=1e-5, atol=1e-5)
    assert_close(state.kv, case.outputs["present_state"], rtol=1e-5, atol=1e-5)
