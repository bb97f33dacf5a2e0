"""What a user's type checker says of attnlib; `make lint` asks it of attnlib itself."""

import re
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[1]

USER = """
from typing import assert_type

import torch
from torch import Tensor

from attnlib import Decoder, MaskRule, MultiHeadAttention, TransformerBlock, attention
from attnlib.functional import attention_with_lse

x = torch.zeros(1, 2, 8)
layer, block, model = MultiHeadAttention(8, 2), TransformerBlock(8, 2), Decoder(5, 8, 8, 2, 1)
assert_type(attention(x, x, x, MaskRule(causal=True)), Tensor)
assert_type(attention_with_lse(x, x, x), tuple[Tensor, Tensor])
assert_type(layer.forward(x), Tensor)
assert_type(layer.forward(x, need_weights=False), Tensor)
assert_type(layer.forward(x, need_weights=True), tuple[Tensor, Tensor])
assert_type(block.forward(x), Tensor)
assert_type(model.forward(torch.zeros(1, 2, dtype=torch.int64)), Tensor)


def either(flag: bool) -> None:
    assert_type(layer.forward(x, need_weights=flag), Tensor | tuple[Tensor, Tensor])


layer.forward(x).shapes  # wrong: attr-defined
layer.forward(x, need_weights=True).shape  # wrong: attr-defined
attention(x, x, x, causal="no")  # wrong: arg-type
attention(x, x, x, causal=x)  # wrong: arg-type
Decoder(5, 8, 8, 2, 1, gatd=True)  # wrong: call-arg
"""


@pytest.mark.starts_process
def test_a_user_under_strict_gets_tensors_and_mistakes_are_found(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER, "utf8")
    cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
    said, errors, _ = api.run([str(file), "--config-file", str(ROOT / "pyproject.toml"), *cache])
    assert not errors
    found = [(int(n), kind) for n, kind in re.findall(r"user\.py:(\d+): error: .*\[([a-z-]+)\]", said)]
    lines = enumerate(USER.splitlines(), 1)
    assert found == [(n, line.split("# wrong: ")[1]) for n, line in lines if "# wrong: " in line], said
    assert said.count(": error:") == len(found), said  # none in attnlib
