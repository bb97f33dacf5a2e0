import pytest

from attnlib import plotting
from tests.plotting.drawn import texts


def test_the_gate_adds_up():
    assert "0.9 = 0.8 · 1.0 + 0.2 · 0.5" in texts(plotting.gate())
    assert "0.7 = 0.8 · 1.0 + 0.2 · (−0.5)" in texts(plotting.gate(candidate=-0.5))
    assert "0.25 = 0.25 · 1.0 + 0.75 · 0.0" in texts(plotting.gate(0.25, 1.0, 0.0))
    with pytest.raises(ValueError, match=r"share must be between 0 and 1, got 1\.5"):
        plotting.gate(1.5)


def test_every_gate_of_a_cell_has_its_name():
    assert {"forget", "input", "candidate", "output"} <= set(texts(plotting.lstm_cell()))
