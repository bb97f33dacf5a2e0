import numpy as np

from attnlib import plotting
from tests.plotting.axes import assert_readable


def test_named_numbers_stand_over_the_hill_of_chance_from_the_top():
    named = {"cat, dog": 0.9, "cat, car": 0.1}
    ax = plotting.against_chance(np.random.default_rng(0).normal(size=500) / 5, named, name="by chance")
    assert [t.get_text() for t in ax.texts] == ["by chance", "cat, dog  0.90", "cat, car  0.10"]
    (x, high), (other, low) = (line.get_xydata()[0] for line in ax.lines)
    assert (x, other) == (0.9, 0.1)
    assert high > low > 4
    assert_readable(ax)


def test_the_mean_of_chance_is_marked_if_it_is_given():
    ax = plotting.against_chance(np.random.default_rng(0).normal(size=500) / 5, {"x": 0.9}, mean=0.05)
    assert ax.texts[0].get_text() == "at random,\nmean 0.05"
    assert ax.collections[0].get_segments()[0][:, 0].tolist() == [0.05, 0.05]
    assert_readable(ax)
