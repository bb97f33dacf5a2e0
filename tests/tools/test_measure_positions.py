import json

from tools import measure_positions as tool


def test_the_plan_names_no_run_twice_and_begins_with_three_seeds_of_every_kind():
    runs = tool.plan()
    assert len({json.dumps(run) for run in runs}) == len(runs)
    assert len(runs[:36]) == sum(run["seed"] < 3 and run["lr"] == 1e-3 for run in runs[:36])


def test_what_is_written_can_be_read_and_says_what_it_is(tmp_path):
    run = {**tool.plan()[0], "right": [1.0, 0.5]}
    tool.write(tmp_path / "x.json", [run, run], "a device")
    data = json.loads((tmp_path / "x.json").read_text("utf8"))
    assert data["runs"] == [run, run]
    assert data["device"] == "a device"
    assert data["usual"] == tool.USUAL


def test_a_rotary_run_is_also_stretched_and_trained_on(monkeypatch):
    monkeypatch.setattr(tool.positions, "ASKED", (64, 80))
    monkeypatch.setattr(tool, "USUAL", {**tool.USUAL, "steps": 1, "width": 16})
    monkeypatch.setattr(tool, "MORE", 1)
    monkeypatch.setattr(tool, "STRETCHED", 72)
    asked = tool.positions.right_at

    def few(model, task, lengths=(64, 80), **options):
        return asked(model, task, lengths, **{**options, "count": 2})

    monkeypatch.setattr(tool.positions, "right_at", few)
    result = tool.measure({"kind": "rotary", "task": "copy", **tool.USUAL, "seed": 0})
    assert set(result["stretched"]) == {"base", "positions"}
    assert set(result["trained on"]) == {"nothing", "base", "positions"}
    assert len(result["trained on"]["base"]) == 2
