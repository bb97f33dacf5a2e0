import pytest
import torch

from attnlib import MultiHeadAttention
from attnlib.experiments.multi_head import lookups
from attnlib.experiments.multi_head.lookups import (
    DIGITS,
    PLACES,
    VALUES,
    Lookup,
    Teller,
    effects,
    shares_right,
    tie,
    train_lookup,
    train_teller,
    without_heads,
)
from attnlib.experiments.tasks import relations, several_lookups
from tests import assert_close


def questions(count, asked):
    return several_lookups(count, 4, asked, keys=6, values=8, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("asked", [1, 2, 3])
@pytest.mark.parametrize("hidden", [None, 5])
def test_a_reader_scores_every_answer_to_every_question(asked, hidden):
    reader = Lookup(MultiHeadAttention(12, 3), asked, hidden)
    steps, answers = questions(7, asked)
    assert reader(steps).shape == (7, asked, VALUES)
    assert answers.shape == (7, asked)
    assert reader.weights(steps).shape == (7, 3, 4)
    assert_close(reader.weights(steps).sum(-1), torch.ones(7, 3))


def test_a_reader_is_a_block_of_attention_and_network():
    torch.manual_seed(0)
    reader = Lookup(MultiHeadAttention(12, 3), 2, 5)
    steps, _ = questions(7, 2)
    question, pairs = reader.embed(steps)
    x = question + reader.attend(question, pairs)
    assert_close(reader(steps).flatten(1), reader.read(x + reader.network(x))[:, 0])


def test_a_reader_may_look_again_knowing_what_it_was_brought():
    reader, _ = train_lookup(1, again=True, steps=5)
    steps, _ = questions(7, 2)
    question, pairs = reader.embed(steps)
    x = question + reader.attend(question, pairs)
    x = x + reader.again(x, pairs)
    assert_close(reader(steps).flatten(1), reader.read(x)[:, 0])
    assert train_lookup(1, steps=5)[0].again is None


def test_tied_heads_have_one_table_of_weights_and_values_of_their_own():
    torch.manual_seed(0)
    heads = tie(MultiHeadAttention(12, 3, bias=False))
    x = torch.randn(2, 5, 12)
    weights = heads(x, need_weights=True)[1]
    for h in (1, 2):
        assert torch.equal(weights[:, 0], weights[:, h])
    first, *others = heads.v_proj.weight.chunk(3)
    assert not any(torch.equal(first, other) for other in others)


def test_heads_are_tied_in_what_is_named_and_nothing_else():
    heads = tie(MultiHeadAttention(12, 3, bias=False), "q_proj", "v_proj")
    for name, shared in (("q_proj", True), ("k_proj", False), ("v_proj", True), ("out_proj", False)):
        first, *others = getattr(heads, name).weight.chunk(3)
        assert [torch.equal(first, other) for other in others] == [shared] * 2


def test_training_is_watched_and_leaves_the_callers_random_numbers():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    reader, right = train_lookup(2, steps=60, lr=0.02)
    assert torch.equal(torch.rand(3), expected)
    assert right.shape == (60, 2)
    assert not reader.training
    assert right[-10:].mean() > right[:10].mean() + 0.2
    assert sum(shares_right(reader)) / 2 > 0.35
    again, _ = train_lookup(2, steps=60, lr=0.02)
    assert shares_right(again) == shares_right(reader)


def test_one_question_needs_one_head():
    reader, _ = train_lookup(1, questions=1, steps=150, lr=0.02)
    assert shares_right(reader) == [pytest.approx(1.0, abs=0.02)]


def test_long_runs_are_stored_with_where_they_come_from():
    kept = lookups.stored()
    assert {"what", "code", "device", "torch", "date", "runs"} == set(kept)
    for run in kept["runs"]:
        assert len(run["right"]) == run["questions"]
        assert len(run["at"]) == len(run["course"])
        assert run["at"][-1] <= run["steps"]


@pytest.fixture(scope="module")
def teller():
    return train_teller(0, steps=40)


@pytest.fixture(scope="module")
def steps():
    return relations(5, PLACES, keys=4, values=DIGITS, generator=torch.Generator().manual_seed(1))[0]


def test_a_teller_names_three_digits_for_each_token(teller, steps):
    assert teller(steps).shape == (5, PLACES, 3, DIGITS)
    weights = teller.weights(steps)
    assert weights.shape == (5, 4, PLACES, PLACES)
    assert_close(weights.triu(1), torch.zeros_like(weights))


def test_a_head_that_sees_nothing_brings_nothing(teller, steps):
    attend = teller.attend
    values = attend.v_proj(teller.embed(steps)).unflatten(-1, (4, -1)).transpose(1, 2)
    heads = teller.weights(steps) @ values  # (B, H, T, D)
    heads[:, [1, 3]] = 0.0
    expected = teller.read(attend.out_proj(heads.transpose(1, 2).flatten(2)))
    assert_close(teller(steps, without_heads(1, 3)).flatten(2), expected, atol=1e-5, rtol=1e-4)
    assert_close(teller(steps, without_heads()), teller(steps))


def test_effects_by_hand(teller, steps):
    moved = effects(teller, steps)
    assert moved.shape == (5, 4, PLACES, PLACES)
    assert 0 <= moved.min() <= moved.max() <= 1
    assert_close(moved.triu(1), torch.zeros_like(moved))  # a key that is not seen moves nothing
    mask = torch.ones(1, 4, 1, PLACES, dtype=torch.bool)
    mask[:, 2, :, 3] = False
    with torch.no_grad():
        change = (teller(steps, mask).softmax(-1) - teller(steps).softmax(-1)).abs().sum(-1) / 2
    assert_close(moved[:, 2, :, 3], change.amax(-1))


def test_a_teller_is_the_same_from_the_same_seed(teller):
    again = train_teller(0, steps=40)
    for a, b in zip(teller.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert isinstance(again, Teller)
