import pytest
import torch

from attnlib import MultiHeadAttention
from attnlib.experiments.sqrt_dk.recall_head import (
    RecallModel,
    batches_needed,
    normalise_queries_and_keys,
    questions,
    stored,
    train_recall,
    weight_on_pair,
)
from attnlib.instruments.probe import ScoreProbe


def new_model(**options):
    torch.manual_seed(0)
    return RecallModel(32, **options)


def head(model, steps):
    with torch.no_grad(), ScoreProbe(model) as probe:
        model(steps)
    return probe.heads()[0]


def test_the_scale_is_all_that_differs_at_the_start():
    steps = questions(50)
    spreads = [head(new_model(scale=scale), steps).std for scale in (1.0, None, 1 / 32)]
    assert spreads == pytest.approx([spreads[0], spreads[0] / 32**0.5, spreads[0] / 32], rel=1e-4)
    assert 0.7 < spreads[1] < 1.4


def test_questions_are_always_the_same_and_ask_for_a_letter_of_the_pairs():
    steps = questions(7, pairs=5, letters=11)
    assert steps.shape == (7, 6, 2)
    assert torch.equal(steps, questions(7, pairs=5, letters=11))
    assert (steps[:, :-1, 0] == steps[:, -1:, 0]).sum(1).tolist() == [1] * 7
    assert steps[..., 0].max() < 11


def test_normed_queries_and_keys_forget_how_large_their_projections_are():
    found = []
    for size in (1.0, 7.0):
        model = new_model()
        with torch.no_grad():
            model.attend.q_proj.weight *= size
        normalise_queries_and_keys(model.attend)
        found.append(model(questions(3)))
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)


def test_a_normed_score_is_at_most_the_root_of_the_width():
    model = new_model()
    with torch.no_grad():
        model.attend.k_proj.weight *= 100
    assert head(model, questions(50)).largest > 32**0.5
    normalise_queries_and_keys(model.attend)
    assert head(model, questions(50)).largest <= 32**0.5 + 1e-4


def test_several_heads_would_need_a_norm_each():
    with pytest.raises(ValueError, match="layer must have one head, got 2"):
        normalise_queries_and_keys(MultiHeadAttention(6, 2))


def test_the_weight_on_the_pair_is_found_wherever_it_stands():
    model, steps = new_model(scale=0.0), questions(5, pairs=3)  # all keys alike: three pairs and the question
    torch.testing.assert_close(weight_on_pair(model, steps), torch.full((5,), 0.25))
    train_recall(model := new_model(), steps=80, lr=3e-3)
    assert weight_on_pair(model, questions(50)).mean() > 0.4


def test_training_lowers_the_loss_and_watches_from_before_the_first_batch():
    model = new_model()
    before = model.letter.weight.clone()
    run = train_recall(model, steps=60, lr=3e-3, every=20, watch=lambda r: r.letter.weight.detach().clone())
    assert len(run.losses) == 60
    assert len(run.seen) == 3
    assert torch.equal(run.seen[0], before)
    assert not torch.equal(run.seen[1], before)
    assert sum(run.losses[-10:]) < sum(run.losses[:10])


def test_batches_are_counted_until_the_mean_is_below_the_level():
    assert batches_needed([1.0] * 5 + [0.0] * 10, level=0.15) == 14  # nine zeros and a one are 0.1
    assert batches_needed([0.0] * 10) == 10
    assert batches_needed([1.0] * 20) is None


def test_stored_runs_say_what_was_measured_where():
    found = stored()
    for part in (found, found["starts"], found["readers"]):
        assert {"what", "code", "device", "torch", "date", "runs"} <= set(part)
    assert {run["reader"] for run in found["runs"]} == {"by √d", "QK-norm"}
    assert {run["width"] for run in found["starts"]["runs"]} == {64, 256}
    assert {run["start"] for run in found["readers"]["runs"]} == {"scaled", "smaller", "PyTorch"}


def test_a_setting_says_what_the_scores_were_divided_by_and_whether_there_was_a_norm():
    said = [train_recall(RecallModel(32, scale=scale), steps=1).setting for scale in (None, 1.0, 1 / 32, 0.5)]
    assert [one["scores"] for one in said] == ["divided by √d", "undivided", "divided by d", "times 0.5"]
    assert {one["model"] for one in said} == {"one head of attention, no norm"}
    normed = new_model()
    normalise_queries_and_keys(normed.attend)
    assert train_recall(normed, steps=1).setting["model"] == "one head of attention, QK-norm"


def test_a_stored_run_has_the_setting_of_the_same_run_made_now():
    runs = stored()["runs"]
    for name in ("by √d", "QK-norm"):
        kept = next(run for run in runs if (run["reader"], run["lr"], run["size"]) == (name, 0.001, 1))
        model = RecallModel(128)
        if name == "QK-norm":
            normalise_queries_and_keys(model.attend)
        now = train_recall(model, steps=1).setting
        assert {**now, "steps": kept["steps"], "seeds": (kept["seed"],)}.items() <= kept.setting.items()


def test_gradient_descent_at_a_low_rate_is_far_from_done_when_adam_is():
    """The quiz of chapter 4 says so of scores divided by d."""

    def needed(rate, optimizer):
        torch.manual_seed(0)
        model = RecallModel(128, scale=1 / 128)
        losses = train_recall(model, lr=rate, optimizer=optimizer).losses
        return batches_needed(losses), sum(losses[-10:]) / 10

    (slow, loss), (quick, _) = (needed(rate, torch.optim.SGD) for rate in (0.1, 0.5))
    assert slow is None
    assert loss > 1.4
    assert quick <= 120
    assert needed(0.001, torch.optim.Adam)[0] <= 120
