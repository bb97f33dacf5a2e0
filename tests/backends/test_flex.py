"""How FlexAttention is told of a rule. It needs CUDA; elsewhere the same runs without being compiled."""

import pytest
import torch

from attnlib import MaskRule, attention
from attnlib._plan import Plan
from attnlib.backends import flex
from tests import DEVICE, assert_close, randn
from tests.test_mask_rules import RULES, some_rule


@pytest.fixture
def plain_flex(monkeypatch):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    monkeypatch.setattr(flex, "_compiled", {"attend": flex_attention, "mask": create_block_mask})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*flex_attention called without torch.compile:UserWarning")
@pytest.mark.parametrize("lengths", [(130, 130), (5, 130)])
@pytest.mark.parametrize("name", RULES)
def test_flex_attention_is_told_of_every_rule(name, lengths, plain_flex):
    (T, S), rule = lengths, some_rule(name, lengths[1])
    plan = Plan(
        *(randn(2, h, n, 16, seed=i).float() for i, (h, n) in enumerate(((4, T), (2, S), (2, S)))), None, rule
    )
    assert_close(flex.run(plan), attention(*plan[:3], rule.table(T, S, device=DEVICE)), rtol=1e-4, atol=1e-5)
    kept = flex.block_mask(rule, 2, T, S, DEVICE)
    assert flex.block_mask(rule, 2, T, S, DEVICE) is kept
    assert flex.block_mask(rule, 2, S, S, DEVICE) is not flex.block_mask(rule, 2, T, S, DEVICE) or T == S


def test_it_takes_nothing_before_it_was_compiled():
    for x in (randn(2, 2, 7, 16), randn(2, 2, 7, 16).bfloat16()):
        assert not flex.can(Plan(x, x, x, None, MaskRule(causal=True, window=2)))


@pytest.mark.filterwarnings("ignore:.*flex_attention called without torch.compile:UserWarning")
def test_more_kinds_of_rules_than_eight_are_compiled(plain_flex, monkeypatch):
    limits, plain = [], dict(flex._compiled)

    def watched(name):
        def run(*args, **options):
            config = torch._dynamo.config
            limits.append((config.recompile_limit, config.accumulated_recompile_limit))
            return plain[name](*args, **options)

        return run

    before = torch._dynamo.config.recompile_limit
    monkeypatch.setattr(flex, "_compiled", {name: watched(name) for name in plain})
    x = randn(1, 2, 130, 16).float()
    with torch.no_grad():
        flex.run(Plan(x, x, x, None, MaskRule(causal=True, window=2)))
    assert limits == [(flex.KINDS, flex.KINDS)] * 2
    assert flex.KINDS > 100
    assert torch._dynamo.config.recompile_limit == before
