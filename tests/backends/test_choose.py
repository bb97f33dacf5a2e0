"""Which backend computes a rule."""

import pytest
import torch

from attnlib import MaskRule
from attnlib._plan import Plan
from attnlib.backends import choose, measured
from tests import randn


@pytest.mark.parametrize(
    ("change", "structured"),
    [
        ({}, True),
        ({"mask": torch.ones(7, 7, dtype=torch.bool)}, False),
        ({"bias": torch.ones(7, 7)}, False),
        ({"softcap": 2.0}, False),
        ({"sink": torch.ones(2)}, False),
        ({"dropout": 0.1}, False),
        ({"scale": -1.0}, False),
        ({"scale": 1e7}, False),
        ({"scale": 0.5}, True),
        ({"v": torch.ones(2, 1, 7, 16)}, False),
    ],
)
def test_a_plan_with_more_than_a_rule_goes_another_way(change, structured):
    x = torch.ones(2, 2, 7, 16)
    plan = Plan(x, x, x, None, MaskRule(causal=True, window=2))._replace(**change)
    assert choose._structured(plan) == structured
    assert not torch.vmap(lambda q: torch.tensor(choose._structured(plan._replace(q=q))))(
        torch.ones(3, 2, 2, 7, 16)
    ).any()


@pytest.mark.parametrize(
    ("order", "computes"),
    [
        (["varlen", "table"], "varlen"),
        (["flex", "varlen", "blocks"], "varlen"),  # which was not compiled
        (["blocks", "varlen"], "blocks"),
        (["table", "varlen", "blocks"], "table"),
        (["flex", "table", "blocks"], "table"),
        (["flex"], "blocks"),
        ([], "blocks"),
    ],
)
def test_the_backend_that_was_measured_as_fastest_computes(order, computes, monkeypatch):
    calls = []

    class OnCuda(Plan):
        device = torch.device("cuda")

        def seen(self):
            return None

    class Structured:
        def __init__(self, name):
            self.can = lambda plan: name == "varlen"
            self.run = lambda plan: calls.append(name) or plan.q

    monkeypatch.setattr(measured, "order", lambda plan: order)
    monkeypatch.setattr(choose, "STRUCTURED", {name: Structured(name) for name in ("varlen", "flex")})
    monkeypatch.setattr(choose, "in_blocks", lambda plan, compute: calls.append("blocks") or plan.q)
    monkeypatch.setattr(choose, "compute", lambda plan: calls.append("table") or plan.q)
    x = randn(1, 1, 2048, 16).bfloat16()
    choose.attend(OnCuda(x, x, x, None, MaskRule(causal=True, window=64)))
    assert calls == [computes]
