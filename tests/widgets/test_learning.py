import torch

from attnlib.experiments.putting_it_together.two_layers import stored
from attnlib.widgets import LearningSteps


def test_it_has_the_stored_steps_and_both_lines():
    widget = LearningSteps(step=60, line=1)
    assert repr(widget) == "LearningSteps(step=60)"
    assert widget.steps == list(range(0, 151, 2))
    assert [words[-2:] for words in widget.lines] == [["afraid", "meaning"], ["cruel", "meaning"]]
    assert widget.lines[0][:6] == ["Michael", "throws", "the", "bottle", "at", "David"]
    kept, found = stored()["snapshots"]["60"], widget.numbers()
    torch.testing.assert_close(1000 * found["rows"], torch.tensor(kept["rows"][1]).double())
    assert found["loss"].item() == kept["loss"] / 1000


def test_the_second_layer_finds_names_before_either_reason_has_an_effect():
    def names(step, line):
        return LearningSteps(step=step, line=line).numbers()["rows"][1, [0, 5]]

    assert (names(20, 0) - names(20, 1)).abs().max() < 0.02
    assert names(20, 0).sum() > 0.7
    assert [int(names(150, line).argmax()) for line in (0, 1)] == [0, 1]
