import pytest

from attnlib.widgets import FixedState


def test_what_a_fixed_state_loses_by_hand():
    assert FixedState(d=1, n=2, noise=0.0).numbers() == {"linear": 0.5, "bound": 0.0, "attention": 0.0}
    assert FixedState(d=4, n=3, noise=0.0).numbers()["linear"] == 0
    bounds = [FixedState(d=4, n=n, noise=0.3).numbers()["bound"] for n in (4, 8, 16, 32)]
    assert bounds == pytest.approx([0.083, 0.287, 0.536, 0.732], abs=5e-4)
    assert FixedState(n=64, noise=0.5).numbers()["attention"] == pytest.approx(0.25 / 1.25)
    assert repr(FixedState()) == "FixedState(d=4, n=8, noise=0.3, 0 measured)"


def test_attention_that_was_measured_at_this_noise_is_shown_as_measured():
    flat = [
        {"d": 1, "n": n, "noise": 0.3, "lost": lost, "kind": "attention"} for n, lost in ((4, 0.1), (8, 0.2))
    ]
    assert FixedState(measured=flat).numbers()["attention"] == pytest.approx(0.15)
    assert FixedState(measured=flat, noise=1.0).numbers()["attention"] == 0.5


def test_a_measurement_without_its_noise_is_refused():
    with pytest.raises(ValueError, match=r"each measurement needs d, n, noise, lost, kind; .* has no noise"):
        FixedState(measured=[{"d": 4, "n": 8, "lost": 0.6, "kind": "GRU"}])
