import subprocess
import sys

import numpy as np
import pytest
import torch

from attnlib.instruments.settings import Setting
from attnlib.learn import ClaimError, claim, claims


@pytest.fixture(autouse=True)
def _fresh_numbers(monkeypatch):
    monkeypatch.setattr(claims, "_numbers", {})


def test_a_claim_that_holds_is_a_numbered_line(capsys):
    claim("`softmax` sums to one", True, measured=1.0)
    claim("and so on", torch.tensor(True))
    assert capsys.readouterr().out == (
        "✓ Claim 1. softmax sums to one  measured: 1.000\n✓ Claim 2. and so on\n"
    )


def test_what_was_asked_and_the_setting_stand_beside_what_was_measured(capsys):
    far = Setting(steps=40_000, machine="H200")
    claim("it folds", True, measured=0.278, asked="under 0.4", setting=Setting(steps=200))
    claim("long runs fold more", True, 0.31, "under 0.33", setting=far)
    claim("the card was an H200", True, setting=[far, far])
    assert capsys.readouterr().out == (
        "✓ Claim 1. it folds  measured: 0.278; required: under 0.4  setting: 200 steps\n"
        "✓ Claim 2. long runs fold more  measured: 0.310; required: under 0.33  in a stored run  "
        "setting: 40,000 steps; H200\n"
        "✓ Claim 3. the card was an H200  in a stored run  setting: 40,000 steps; H200\n"
    )


def test_what_carries_no_setting_is_refused():
    with pytest.raises(TypeError, match="a result must carry its setting, got float"):
        claim("it folds", True, setting=0.5)


def test_asked_without_measured_is_refused():
    with pytest.raises(ValueError, match=r"asked needs a number beside it, got asked='under 0\.4'"):
        claim("it folds", True, asked="under 0.4")


def test_a_cell_run_again_keeps_its_number(capsys):
    for _ in range(2):
        claim("once", True)
    claim("twice", True)
    assert capsys.readouterr().out.split("\n")[1:3] == ["✓ Claim 1. once", "✓ Claim 2. twice"]


def test_a_false_claim_raises_with_its_text():
    said = r"^claim 1 is false: the moon is cheese \(measured: 0.000; required: over 1\)$"
    with pytest.raises(ClaimError, match=said):
        claim("the moon is `cheese`", False, measured=0.0, asked="over 1")


@pytest.mark.parametrize("ok", [np.True_, np.array([True]), torch.tensor([True]), True])
def test_one_bool_of_any_kind_will_do(ok):
    claim("fine", ok)


@pytest.mark.parametrize("ok", [1, 0.5, "yes", None, torch.tensor(1.0), torch.tensor([True, True])])
def test_anything_else_is_refused(ok):
    with pytest.raises(TypeError, match="ok must be True or False"):
        claim("fine", ok)


@pytest.mark.parametrize(
    ("measured", "shown"),
    [
        (0.12345, "0.123"),
        (7, "7"),
        ("seven", "seven"),
        (torch.tensor(0.5), "0.500"),
        (np.float32(0.5), "0.500"),
        ([0.1, 0.2], "0.100, 0.200"),
    ],
)
def test_what_was_measured_is_shown(measured, shown, capsys):
    claim("text", True, measured=measured)
    assert f"  measured: {shown}" in capsys.readouterr().out


def test_in_a_notebook_it_is_html_with_a_link_to_itself(monkeypatch):
    import IPython
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: shown.append(data))
    claim("`a < b` & so on", True, measured=2, asked="< 3", setting=Setting(steps=9, machine="H200"))
    (shown,) = shown
    assert 'id="claim-1"' in shown["text/html"]
    assert '<a class="pa-number" href="#claim-1">Claim 1.</a>' in shown["text/html"]
    assert "<code>a &lt; b</code> &amp; so on" in shown["text/html"]
    assert '<span class="pa-measured">measured: 2; required: &lt; 3</span>' in shown["text/html"]
    assert '<span class="pa-stored">in a stored run</span>' in shown["text/html"]
    assert '<span class="pa-setting">setting: 9 steps; H200</span>' in shown["text/html"]
    assert (
        shown["text/plain"] == "✓ Claim 1. a < b & so on  measured: 2; required: < 3  in a stored run  "
        "setting: 9 steps; H200"
    )


def test_a_model_that_was_trained_before_and_is_measured_now_is_no_stored_run(capsys):
    model = torch.nn.Linear(1, 1)
    model.setting = Setting(steps=9, machine="H200")
    claim("it is a line", True, setting=model)
    claim("so were both", True, setting=[model, model])
    claim("one of both was read", True, setting=[model, model.setting])
    marks = [said.split("  ")[1] for said in capsys.readouterr().out.splitlines()]
    assert marks == ["with a stored model", "with a stored model", "in a stored run"]


@pytest.mark.starts_process
def test_a_terminal_that_cannot_print_the_mark_gets_plain_text():
    done = subprocess.run(
        [sys.executable, "-c", "from attnlib.learn import claim; claim('it holds', True)"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert done.stdout.decode().strip() == "[ok] Claim 1. it holds"
