import pytest

from attnlib import plotting
from tests.plotting.drawn import texts


def test_inputs_stand_over_their_targets_and_one_arrow_leads_aside():
    drawing = plotting.questions(["a", "b", "c", "d"], 0)
    assert texts(drawing) == ["input", "answer", "a", "b", "b", "c", "c", "d", "predicts", "tells"]
    with pytest.raises(ValueError, match="position must have a word after it that is read, got 2 of 4 words"):
        plotting.questions(["a", "b", "c", "d"], 2)
