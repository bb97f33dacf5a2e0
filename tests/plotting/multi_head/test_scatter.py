import pytest

from attnlib import plotting
from tests.plotting.axes import middle, texts


def test_scatter_shows_every_run():
    ax = plotting.scatter({1: [0.5, 0.7], 2: [0.9]}, level=(0.1, "chance"), xlabel="size")
    points = [list(line.get_ydata()) for line in ax.lines[1:3]]
    assert points == [[0.5, 0.7], [0.9]]
    assert list(ax.lines[0].get_ydata()) == [pytest.approx(0.6), 0.9]
    assert texts(ax) == ["chance"]
    assert middle(ax.texts[0]) == pytest.approx(ax.transData.transform((0, 0.1))[1], abs=1)
    assert plotting.scatter({1: [1.0]}, ax=ax) is ax
