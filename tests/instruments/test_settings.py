"""A setting says on what a result was measured, and where two results differ."""

import copy

import pytest
import torch
from torch import nn

from attnlib.experiments.training import fit
from attnlib.instruments.settings import Setting, Several, Values, describe, note, setting_of


def batch(generator):
    x = torch.randn(5, 3, generator=generator)
    return x, x.sum(1, keepdim=True)


def trained(seed=0, width=2, **options):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, width), nn.Linear(width, 1))
    options = {"steps": 4, "lr": 0.01, "loss": nn.functional.mse_loss, "seed": seed} | options
    return model, fit(model, batch, **options)


def test_facts_are_said_in_one_order_whatever_order_they_came_in():
    one = Setting(seeds=(0, 1), rate=0.001, width=64, model="LSTM", weights=12345)
    other = Setting(model="LSTM", width=64, weights=12345, rate=0.001, seeds=(0, 1))
    assert str(one) == str(other) == "LSTM; 64 wide; 12,345 weights; learning rate 0.001; 2 seeds"


def test_what_does_not_apply_is_not_said_and_one_is_not_said_as_many():
    assert (
        str(Setting(layers=1, heads=1, norm=None, seeds=(3,), steps=1)) == "1 block; 1 head; 1 step; seed 3"
    )
    assert str(Setting(noise=0.3, cached=True)) == "noise 0.3; cached"


def test_its_code_makes_it_again():
    setting = Setting(width=64, rate=0.01, seeds=(0, 1))
    assert eval(repr(setting)) == setting
    assert setting != Setting(width=65, rate=0.01, seeds=(0, 1))


def test_results_that_differ_say_in_what():
    runs = [
        Setting(width=16, norm=norm, steps=200, seeds=(seed,))
        for norm in ("before", "none")
        for seed in (0, 1)
    ]
    assert str(setting_of(runs)) == "16 wide; 200 steps; 2 seeds; they differ in norm: before / none"


def test_a_fact_that_only_one_result_has_differs():
    assert setting_of(Setting(width=3), Setting(width=3, hidden=7))["hidden"] == Several((None, 7))
    assert str(setting_of(Setting(width=3), Setting(width=3, hidden=7))).endswith(
        "they differ in hidden: none / 7"
    )


def test_settings_that_were_put_together_can_be_put_together_again():
    a, b, c = (Setting(width=width, seeds=(width,)) for width in (2, 3, 5))
    assert setting_of(setting_of(a, b), c) == setting_of(a, b, c)
    assert setting_of(a, b, c)["seeds"] == (2, 3, 5)


def test_it_is_found_in_lists_and_dicts_of_results():
    model, losses = trained()
    both = setting_of({"one": [model, losses], "two": (Values([1.0], Setting(steps=4)),)})
    assert both["steps"] == 4
    with pytest.raises(
        TypeError, match="a result must carry its setting, got float without one; give the trained"
    ):
        setting_of([0.5])


def test_what_is_trained_carries_its_sizes_and_its_training():
    model, losses = trained(seed=7)
    assert losses.setting == model.setting
    assert str(model.setting) == (
        "Sequential; 11 weights; Adam; learning rate 0.01; gradients clipped to length 1; batches of 5; 4 steps; seed 7"
    )


def test_another_training_changes_the_setting():
    plain = trained()[0].setting
    for change in ({"steps": 5}, {"lr": 0.02}, {"max_norm": None}, {"seed": 1}, {"width": 3},
                   {"optimizer": torch.optim.SGD}):  # fmt: skip
        assert trained(**change)[0].setting != plain, change


def test_a_training_that_goes_on_adds_its_steps_and_another_one_is_told_apart():
    model, _ = trained()
    fit(model, batch, steps=3, lr=0.01, loss=nn.functional.mse_loss)
    assert model.setting["steps"] == 7
    fit(model, batch, steps=3, lr=0.5, loss=nn.functional.mse_loss)
    assert (model.setting["rate"], model.setting["before"]) == (0.5, "learning rate 0.01; 7 steps")


def test_a_copy_of_a_model_keeps_its_setting():
    model, _ = trained()
    assert copy.deepcopy(model).setting == model.setting


def test_a_model_adds_its_own_facts_and_a_training_may_correct_them():
    model = nn.Linear(2, 3)
    model.facts = {"model": "plain", "width": 2}
    assert str(describe(model)) == "plain; 2 wide; 9 weights"
    assert str(note(model, width=5, steps=2)) == "plain; 5 wide; 9 weights; 2 steps"
    model.facts["weights"] = "about ten weights"  # where the text that was read decides how many
    assert str(describe(model)) == "plain; 2 wide; about ten weights"


def test_stored_is_what_was_measured_elsewhere():
    assert Setting(width=3).stored == ""
    assert Setting(width=3, machine="H200", date="2026-11-15").stored == "H200, 2026-11-15"
