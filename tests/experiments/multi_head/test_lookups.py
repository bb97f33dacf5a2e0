import pytest
import torch

from attnlib import MultiHeadAttention
from attnlib.experiments.multi_head import lookups
from attnlib.experiments.multi_head.lookups import (
    DIGITS,
    POSITIONS,
    VALUES,
    LookupModel,
    RelationModel,
    effects,
    shares_right,
    tie,
    train_lookup,
    train_relations,
    without_heads,
)
from attnlib.experiments.tasks import relations, several_lookups
from tests import assert_close


def questions(count, asked):
    return several_lookups(count, 4, asked, keys=6, values=8, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("asked", [1, 2, 3])
@pytest.mark.parametrize("hidden", [None, 5])
def test_a_model_scores_every_answer_to_every_question(asked, hidden):
    model = LookupModel(MultiHeadAttention(12, 3), asked, hidden)
    steps, answers = questions(7, asked)
    assert model(steps).shape == (7, asked, VALUES)
    assert answers.shape == (7, asked)
    assert model.weights(steps).shape == (7, 3, 4)
    assert_close(model.weights(steps).sum(-1), torch.ones(7, 3))


def test_a_model_is_a_block_of_attention_and_mlp():
    torch.manual_seed(0)
    model = LookupModel(MultiHeadAttention(12, 3), 2, 5)
    steps, _ = questions(7, 2)
    question, pairs = model.embed(steps)
    x = question + model.attend(question, pairs)
    assert_close(model(steps).flatten(1), model.answer(x + model.mlp(x))[:, 0])


def test_the_queries_of_a_second_layer_come_from_what_the_first_has_made():
    model, _ = train_lookup(1, again=True, steps=5)
    steps, _ = questions(7, 2)
    question, pairs = model.embed(steps)
    x = question + model.attend(question, pairs)
    x = x + model.again(x, pairs)
    assert_close(model(steps).flatten(1), model.answer(x)[:, 0])
    assert train_lookup(1, steps=5)[0].again is None


def test_tied_heads_have_one_attention_pattern_and_values_of_their_own():
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
    model, right = train_lookup(2, steps=60, lr=0.02)
    assert torch.equal(torch.rand(3), expected)
    assert right.shape == (60, 2)
    assert not model.training
    assert right[-10:].mean() > right[:10].mean() + 0.2
    assert sum(shares_right(model)) / 2 > 0.35
    again, _ = train_lookup(2, steps=60, lr=0.02)
    assert shares_right(again) == shares_right(model)


def test_one_question_needs_one_head():
    model, _ = train_lookup(1, questions=1, steps=150, lr=0.02)
    assert shares_right(model) == [pytest.approx(1.0, abs=0.02)]


def test_long_runs_are_stored_with_where_they_come_from():
    kept = lookups.stored()
    assert {"what", "code", "device", "torch", "date", "runs"} == set(kept)
    for run in kept["runs"]:
        assert len(run["right"]) == run["questions"]
        assert len(run["at"]) == len(run["course"])
        assert run["at"][-1] <= run["steps"]


@pytest.fixture(scope="module")
def model():
    return train_relations(0, steps=40)


@pytest.fixture(scope="module")
def steps():
    return relations(5, POSITIONS, keys=4, values=DIGITS, generator=torch.Generator().manual_seed(1))[0]


def test_a_relation_model_names_three_digits_for_each_token(model, steps):
    assert model(steps).shape == (5, POSITIONS, 3, DIGITS)
    weights = model.weights(steps)
    assert weights.shape == (5, 4, POSITIONS, POSITIONS)
    assert_close(weights.triu(1), torch.zeros_like(weights))


def test_a_head_that_attends_to_nothing_adds_nothing(model, steps):
    attend = model.attend
    values = attend.v_proj(model.embed(steps)).unflatten(-1, (4, -1)).transpose(1, 2)
    heads = model.weights(steps) @ values  # (B, H, T, D)
    heads[:, [1, 3]] = 0.0
    expected = model.answer(attend.out_proj(heads.transpose(1, 2).flatten(2)))
    assert_close(model(steps, without_heads(1, 3)).flatten(2), expected, atol=1e-5, rtol=1e-4)
    assert_close(model(steps, without_heads()), model(steps))


def test_effects_by_hand(model, steps):
    moved = effects(model, steps)
    assert moved.shape == (5, 4, POSITIONS, POSITIONS)
    assert 0 <= moved.min() <= moved.max() <= 1
    assert_close(moved.triu(1), torch.zeros_like(moved))  # a key that may not be attended to moves nothing
    mask = torch.ones(1, 4, 1, POSITIONS, dtype=torch.bool)
    mask[:, 2, :, 3] = False
    with torch.no_grad():
        change = (model(steps, mask).softmax(-1) - model(steps).softmax(-1)).abs().sum(-1) / 2
    assert_close(moved[:, 2, :, 3], change.amax(-1))


def test_a_relation_model_is_the_same_from_the_same_seed(model):
    again = train_relations(0, steps=40)
    for a, b in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert isinstance(again, RelationModel)
