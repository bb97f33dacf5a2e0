import json

import numpy as np
import pytest
import torch

from attnlib.experiments.manuals import Manuals
from tools import train_writer

MANUALS = Manuals(
    ["the list holds the items of the list " * 9, "the array holds numbers, one after the other " * 9],
    ["the list of numbers is an array " * 4],
    "of a small text",
)
SMALL = (
    "--batch 3 --every 2 --warmup 1 --orders 2 --vocab-size 270 --max-length 11 --embed-dim 8 --num-heads 2"
)
SMALL = [*SMALL.split(), "--num-layers", "1", "--hidden-dim", "5"]


@pytest.fixture(autouse=True)
def small_text(monkeypatch):
    monkeypatch.setattr(train_writer, "read_manuals", lambda: MANUALS)
    monkeypatch.setattr(train_writer, "pick_device", lambda: torch.device("cpu"))


def run(folder, *more):
    assert train_writer.main([str(folder), *SMALL, *more]) == 0
    return dict(np.load(folder / "writer.npz")), json.loads((folder / "writer.json").read_text("utf8"))


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_run_that_was_stopped_comes_to_the_same_weights(tmp_path, monkeypatch, optimizer):
    more = ["--steps", "5", "--optimizer", optimizer, "--dropout", "0.2"]
    whole, told = run(tmp_path / "whole", *more)
    take_step = train_writer.take_step

    def stopped(model, optimizers, tokens, step, settings):
        if step == 3:
            raise KeyboardInterrupt
        return take_step(model, optimizers, tokens, step, settings)

    monkeypatch.setattr(train_writer, "take_step", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", *more)
    assert not (tmp_path / "parts/writer.npz").exists()
    steps = []

    def counted(model, optimizers, tokens, step, settings):
        steps.append(step)
        return take_step(model, optimizers, tokens, step, settings)

    monkeypatch.setattr(train_writer, "take_step", counted)
    parts, told_parts = run(tmp_path / "parts", *more)
    assert steps == [2, 3, 4]
    assert whole.keys() == parts.keys()
    for name in whole:
        np.testing.assert_array_equal(whole[name], parts[name])
    assert told["held_out"] == told_parts["held_out"]


def test_other_settings_do_not_go_on(tmp_path):
    run(tmp_path, "--steps", "2")
    with pytest.raises(SystemExit, match="same settings to go on"):
        run(tmp_path, "--steps", "4")


def test_what_is_written_is_told(tmp_path):
    stored, told = run(tmp_path, "--steps", "4")
    assert stored.pop("merges").shape == (14, 2)
    assert {w.dtype for w in stored.values()} == {np.dtype(np.float16)}
    assert told["model"]["parameters"] == sum(w.size for w in stored.values())
    assert [line["step"] for line in told["history"]] == [2, 4]
    assert told["text"]["sha256"] == "of a small text"
    assert told["held_out"]["characters"] == len("\f" + MANUALS.held[0])
    assert 0 < told["held_out"]["nats_a_token"] < np.log(270) + 1
    assert list(told["ngrams"]) == ["1", "2"]


def test_training_lowers_the_loss(tmp_path):
    _, told = run(tmp_path, "--steps", "60", "--every", "20", "--dropout", "0", "--lr", "1e-2")
    first, *_, last = told["history"]
    assert last["train"] < first["train"] - 0.5


def test_the_rate_rises_and_falls():
    settings = {"lr": 1.0, "warmup": 4, "steps": 12}
    rates = [train_writer.rate(step, settings) for step in range(13)]
    assert rates[:5] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert rates[8] == pytest.approx(0.5)
    assert rates[12] == pytest.approx(0.0)


def test_what_was_trained_can_be_stored(tmp_path, monkeypatch, capsys):
    run(tmp_path / "run", "--steps", "2")
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(train_writer, "DATA", tmp_path / "data")
    assert train_writer.main([str(tmp_path / "run"), "--store"]) == 0
    for name in ("writer.npz", "writer.json"):
        assert (tmp_path / "data" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()
