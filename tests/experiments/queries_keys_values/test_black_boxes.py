"""The boxes that are attention are, and each of the others fails the probes that it should fail, and no other."""

import pytest
import torch

from attnlib import attention
from attnlib.experiments.queries_keys_values.black_boxes import BOXES, NEAR, WIDTH, _projections

QUERY_FACTORS = {"a": 1.0, "c": 0.0, "e": 40.0}


def tokens(count, seed=0):
    return torch.randn(count, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def ignores_order(box, count=2 * NEAR):
    x, p = tokens(count), torch.randperm(count, generator=torch.Generator().manual_seed(1))
    return torch.allclose(box(x[p]), box(x)[p])


def same_with_all_twice(box, count=2):
    x = tokens(count)
    return torch.allclose(box(x.repeat_interleave(2, 0))[::2], box(x))


def lies_between(box):
    x = tokens(2)
    one, other = box(x[:1])[0], box(x[1:])[0]
    for output in box(x):
        share = (output - one) @ (other - one) / (other - one).square().sum()
        if not (0 <= share <= 1 and torch.allclose(output, one + share * (other - one))):
            return False
    return True


@pytest.mark.parametrize("count", [1, 2, 7, 30])
@pytest.mark.parametrize("name", QUERY_FACTORS)
def test_three_are_attention_at_any_length(name, count):
    x = tokens(count)
    w_q, w_k, w_v = (w.double() for w in _projections(list(BOXES).index(name)))
    expected = attention(QUERY_FACTORS[name] * x @ w_q, x @ w_k, x @ w_v)
    assert torch.allclose(BOXES[name](x), expected)


PROBES = ignores_order, same_with_all_twice, lies_between
PASSED = {
    "a": (True, True, True),
    "b": (False, True, True),
    "c": (True, True, True),
    "d": (True, True, False),
    "e": (True, True, True),
    "f": (True, False, False),
    "g": (False, False, True),
}


@pytest.mark.parametrize("name", BOXES)
def test_each_box_passes_the_probes_that_it_should(name):
    assert tuple(probe(BOXES[name]) for probe in PROBES) == PASSED[name]


def test_one_knows_positions_only_in_long_inputs():
    assert ignores_order(BOXES["b"], NEAR + 1)
    assert not ignores_order(BOXES["b"], NEAR + 2)


def test_one_takes_nearly_a_single_value_and_the_soft_one_does_not():
    x = tokens(6)
    values = {name: x @ _projections(list(BOXES).index(name))[2].double() for name in "ae"}
    nearest = {name: torch.cdist(BOXES[name](x), values[name]).amin(1).median() for name in "ae"}
    assert nearest["e"] < 0.01 < 0.1 < nearest["a"]
