import json

from attnlib.experiments.transformer.block_parts import USUAL, stored
from tools.measure_block_parts import grid, run_one, wanted, write


def test_a_grid_has_every_combination():
    assert grid(seed=[0, 1], norm=["after"]) == [{"seed": 0, "norm": "after"}, {"seed": 1, "norm": "after"}]


def test_what_is_wanted_is_what_is_stored_each_once():
    def names(runs):
        found = {"held", "course", "date"}  # what a run says besides
        return [tuple(sorted((name, run[name]) for name in run if name not in found)) for run in runs]

    assert len({str(name) for name in names(wanted())}) == len(wanted())
    assert names(wanted()) == names(stored()["runs"])


def test_when_the_time_is_over_nothing_is_begun():
    assert run_one({"seed": 0}, "cpu", end=0.0) is None


def test_what_is_written_says_how_it_was_made(tmp_path):
    target = tmp_path / "parts.json"
    write(target, [{"seed": 0, "held": 2.0, "course": [3.0, 2.0]}], "cpu")
    found = json.loads(target.read_text("utf8"))
    assert found["usual"] == USUAL
    assert found["unigram"] > found["bigram"] > 2
    assert found["runs"] == [{"seed": 0, "held": 2.0, "course": [3.0, 2.0]}]
