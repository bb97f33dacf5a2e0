import builtins
import math

import pytest
import torch

from attnlib.experiments.training import cross_entropy, fit, track
from tests import DEVICE, assert_close


def test_items_come_through_with_a_bar_that_goes_away(monkeypatch, capsys):
    monkeypatch.delenv("ATTNLIB_PROGRESS", raising=False)
    assert list(track(range(3), "counting")) == [0, 1, 2]
    assert "counting" in capsys.readouterr().err


@pytest.mark.parametrize("why", ["switched off", "not installed"])
def test_no_bar_leaves_no_trace(monkeypatch, capsys, why):
    if why == "switched off":
        monkeypatch.setenv("ATTNLIB_PROGRESS", "0")
    else:
        monkeypatch.delenv("ATTNLIB_PROGRESS", raising=False)
        real = builtins.__import__

        def missing(name, *args, **kwargs):
            if name.startswith("tqdm"):
                raise ImportError(name)
            return real(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", missing)
    assert list(track(range(3))) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


# fit


def line(generator):
    """Points on the line y = 2 x + 1."""
    x = torch.randn(16, 1, generator=generator)
    return x, 2 * x + 1


def square_error(y, target):
    return (y - target).square().mean()


def fresh_line():
    torch.manual_seed(0)
    return torch.nn.Linear(1, 1).to(DEVICE)


def test_fit_learns_a_line_and_returns_the_loss_of_every_step():
    model = fresh_line()
    losses = fit(model, line, steps=300, lr=0.05, loss=square_error)
    assert len(losses) == 300
    assert all(isinstance(value, float) for value in losses)
    assert losses[-1] < 1e-3 < losses[0]
    assert model.weight.item() == pytest.approx(2.0, abs=0.05)
    assert model.bias.item() == pytest.approx(1.0, abs=0.05)


def test_fit_is_adam_on_clipped_gradients():
    ours, theirs = fresh_line(), fresh_line()
    losses = fit(ours, line, steps=3, lr=0.1, seed=7, loss=square_error, max_norm=0.5)
    optimizer, generator = torch.optim.Adam(theirs.parameters(), lr=0.1), torch.Generator().manual_seed(7)
    for expected in losses:
        x, y = (t.to(DEVICE) for t in line(generator))
        loss = square_error(theirs(x), y)
        assert loss.item() == pytest.approx(expected)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
        optimizer.step()
    assert_close(ours.weight, theirs.weight)


def test_the_same_seed_gives_the_same_history_with_dropout_too():
    def run(seed):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)).to(
            DEVICE
        )
        torch.rand(seed + 1)  # whatever was drawn before
        return fit(model, line, steps=5, seed=seed, loss=square_error, max_norm=None)

    assert run(0) == run(0)
    assert run(0) != run(1)


def test_fit_leaves_the_callers_random_numbers_and_the_mode():
    model = fresh_line().eval()
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    fit(model, line, steps=2, loss=square_error)
    assert torch.equal(torch.rand(1), expected)
    assert not model.training


def test_the_mode_comes_back_even_after_an_error():
    model = fresh_line().eval()
    with pytest.raises(ZeroDivisionError):
        fit(model, line, steps=1, loss=lambda *_: 1 / 0)
    assert not model.training


def two_parts():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(1, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1)).to(DEVICE)


def modes_of(model):
    return [part.training for part in model.modules()]


@pytest.mark.parametrize("loss", [square_error, lambda *_: 1 / 0])
@pytest.mark.parametrize("training", [True, False])
def test_every_part_gets_its_own_mode_back(training, loss):
    model = two_parts().train(training)
    model[1].train(not training)
    before = modes_of(model)
    try:
        fit(model, line, steps=2, loss=loss)
    except ZeroDivisionError:
        assert loss is not square_error
    assert modes_of(model) == before


def test_a_frozen_part_stays_frozen_while_the_rest_trains():
    model, seen = two_parts(), []
    model.register_forward_pre_hook(lambda *_: seen.append(modes_of(model)))
    model[1].eval()
    fit(model, line, steps=1, loss=square_error)
    model.eval()
    fit(model, line, steps=1, loss=square_error)
    assert seen == [[True, True, False, True], [True] * 4]


def test_after_an_error_random_numbers_and_settings_are_as_before():
    torch.manual_seed(3)
    expected, was_enabled = torch.rand(1), torch.backends.mkldnn.enabled
    model = fresh_line()
    torch.manual_seed(3)
    with pytest.raises(ZeroDivisionError):
        fit(model, line, steps=1, loss=lambda *_: 1 / 0)
    assert torch.equal(torch.rand(1), expected)
    assert torch.backends.mkldnn.enabled == was_enabled


def test_no_steps_change_nothing():
    model = fresh_line()
    before = model.weight.clone()
    assert fit(model, line, steps=0) == []
    assert torch.equal(model.weight, before)


def test_cross_entropy_by_hand():
    logits = torch.tensor([[[0.0, 0.0], [math.log(3.0), 0.0], [5.0, 5.0]]])
    targets = torch.tensor([[0, 0, -100]])
    assert cross_entropy(logits, targets).item() == pytest.approx((math.log(2) + math.log(4 / 3)) / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": -1}, "steps must be at least 0, got -1"),
        ({"steps": 1, "lr": 0.0}, "lr must be a finite number above 0, got 0.0"),
        ({"steps": 1, "lr": math.nan}, "lr must be a finite number above 0, got nan"),
        (
            {"steps": 1, "max_norm": -1.0},
            "max_norm must be above 0, or None to leave gradients as they are, got -1.0",
        ),
        (
            {"steps": 1, "max_norm": math.nan},
            "max_norm must be above 0, or None to leave gradients as they are, got nan",
        ),
    ],
)
def test_bad_input_gets_this_message(options, message):
    with pytest.raises(ValueError) as caught:
        fit(fresh_line(), line, **options)
    assert str(caught.value) == message


def test_a_model_without_parameters_cannot_be_trained():
    with pytest.raises(
        ValueError, match="model must have parameters to train, got none that require a gradient"
    ):
        fit(torch.nn.ReLU(), line, steps=1)


def test_another_optimizer_takes_its_own_steps():
    torch.manual_seed(0)
    model, by_hand = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    by_hand.load_state_dict(model.state_dict())
    x, y = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])
    fit(model, lambda g: (x, y), steps=1, lr=0.5, max_norm=None, optimizer=torch.optim.SGD)
    cross_entropy(by_hand(x), y).backward()
    torch.testing.assert_close(model.weight, by_hand.weight - 0.5 * by_hand.weight.grad)
