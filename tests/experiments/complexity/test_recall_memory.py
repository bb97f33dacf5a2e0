import pytest
import torch

from attnlib.experiments.complexity.recall_memory import (
    DIGITS,
    WAYS,
    RecallModel,
    added,
    corrected,
    right_answers,
    stored,
    stored_pairs,
    stored_runs,
    train_recall,
    weights_by_letter,
    written_anew,
)
from attnlib.experiments.tasks import recall
from tests import assert_close

ways = pytest.mark.parametrize("way", WAYS)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def one_by_one(k, v, rate):
    """The delta rule as it is written: a loop."""
    state = torch.zeros(k.shape[-1], v.shape[-1], dtype=k.dtype)
    for key, value, share in zip(k, v, rate, strict=True):
        state = state + share * torch.outer(key, value - key @ state)
    return state


def test_the_delta_rule_at_once_is_the_delta_rule_one_by_one():
    k, v = torch.nn.functional.normalize(draw(7, 5), dim=-1), draw(7, 3, seed=1)
    rate = draw(7, 1, seed=2).sigmoid()
    assert_close(corrected(k, v, rate), one_by_one(k, v, rate))
    many = corrected(k.expand(2, 1, 7, 5), v.expand(2, 1, 7, 3), rate.expand(2, 1, 7, 1))
    assert_close(many[1, 0], corrected(k, v, rate))


def test_orthogonal_keys_give_back_their_values_exactly_and_nothing_needs_correcting():
    k, v = torch.linalg.qr(draw(5, 5)).Q, draw(5, 3, seed=1)
    assert_close(k @ added(k, v), v)
    assert_close(corrected(k, v, torch.ones(5, 1).double()), added(k, v))


def test_the_delta_rule_overwrites_where_adding_piles_up():
    k, v = torch.eye(3).double()[[0, 1, 0]], draw(3, 2)
    assert_close((k @ added(k, v))[0], v[0] + v[2])
    assert_close((k @ corrected(k, v, torch.ones(3, 1).double()))[0], v[2])


@ways
def test_a_model_learns_one_pair_in_any_way_and_gives_a_logit_for_each_digit(way):
    torch.manual_seed(0)
    model = train_recall(RecallModel(way, 4, 4, 4), steps=300, seed=0)
    steps, _ = recall(3, 2, keys=4, values=DIGITS)
    assert model(steps).shape == (3, DIGITS)
    one, four = right_answers(model, (1, 4), count=500)
    assert one > 0.9
    assert four > 2 / DIGITS


def test_a_window_attends_to_the_last_eight_pairs_and_no_more():
    torch.manual_seed(0)
    model = RecallModel("window", 16, 4, 4)
    steps, _ = recall(1, 12, keys=16, values=DIGITS, generator=torch.Generator().manual_seed(0))
    changed = steps.clone()
    changed[:, :4, 1] = (changed[:, :4, 1] + 1) % DIGITS
    assert_close(model(changed), model(steps))
    changed[:, 4, 1] = (changed[:, 4, 1] + 1) % DIGITS
    assert not torch.allclose(model(changed), model(steps))


def test_of_a_letter_written_twice_the_last_digit_counts():
    steps, answers = written_anew(200, 6, letters=3, generator=torch.Generator().manual_seed(0))
    assert steps.shape == (200, 7, 2)
    for sequence, answer in zip(steps.tolist(), answers.tolist(), strict=True):
        *pairs, (asked, mark) = sequence
        assert mark == DIGITS
        assert dict(map(tuple, pairs))[asked] == answer  # a dict keeps the last


def test_where_letters_are_written_anew_correcting_recalls_more_than_adding():
    found = {}
    for way in ("delta", "added"):
        torch.manual_seed(0)
        model = train_recall(RecallModel(way, 3, 3, 6), steps=300, anew=True)
        found[way] = right_answers(model, (8,), count=1000, anew=True)[0]
    assert found["delta"] > found["added"] + 0.05


def test_training_leaves_the_callers_random_numbers():
    torch.manual_seed(3)
    model = RecallModel("linear", 4, 2, 2)
    before = torch.get_rng_state()
    train_recall(model, steps=2)
    assert torch.equal(torch.get_rng_state(), before)


def test_another_way_or_size_is_refused():
    with pytest.raises(
        ValueError, match="way must be one of full, window, linear, added, delta, got 'gated'"
    ):
        RecallModel("gated", 4, 2, 2)
    with pytest.raises(ValueError, match="K"):
        RecallModel("full", 4, 0, 2)


@pytest.mark.parametrize("way", ["linear", "full"])
def test_weights_by_letter_sum_to_one(way):
    torch.manual_seed(0)
    table = weights_by_letter(RecallModel(way, 5, 3, 2), count=400)
    assert table.shape == (5, 5)
    assert_close(table.sum(1), torch.ones(5))


def test_weights_by_letter_of_full_attention_stand_on_the_letter_asked_for():
    torch.manual_seed(0)
    model = train_recall(RecallModel("full", 3, 3, 2), steps=150)
    table = weights_by_letter(model, count=400)
    assert right_answers(model, [3]) == [1.0]
    assert table.diagonal().min() > 2 / 3


def test_weights_by_letter_are_those_of_full_and_linear_attention_only():
    with pytest.raises(ValueError, match="only full and linear attention have these weights, got 'delta'"):
        weights_by_letter(RecallModel("delta", 5, 3, 2))


def test_what_is_stored_says_how_it_was_measured_and_has_every_run():
    found = stored()
    assert {"what", "code", "device", "torch", "date", "runs", "weights"} <= found.keys()
    assert len(stored_runs("linear", K=16)) >= 2
    assert all(len(run) == len(stored_pairs(8)) for run in stored_runs("linear", letters=8))
    assert len(stored_runs("delta", letters=8, steps=3000, anew=True)[0]) == len(stored_pairs())
    with pytest.raises(ValueError, match="no run is stored with"):
        stored_runs("linear", letters=7)
