import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import SERIES
from tests.plotting.drawn import parts


def test_steps_that_wait_stand_in_a_row_and_tokens_that_do_not_in_a_column():
    boxes = parts(plotting.sequential_steps(8192, "LSTM", "attention"), "rect")[1:]  # after the paper
    rows = [{box.get(side) for box in boxes if box.get("fill") == SERIES[n]} for n in (2, 1) for side in "xy"]
    assert [len(row) for row in rows] == [5, 1, 1, 5]
    with pytest.raises(ValueError, match="tokens must be more than 5, got 5"):
        plotting.sequential_steps(5, "LSTM", "attention")
