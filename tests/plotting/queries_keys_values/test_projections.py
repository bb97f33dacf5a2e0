import numpy as np
import pytest

from attnlib import plotting
from tests.plotting.drawn import WORDS, filled, texts


def test_words_are_projected_three_times_each_in_its_colour():
    x = [[1, 0.5], [2, 2], [0, -4]]
    drawing = plotting.project(WORDS, x, [[-1], [1]], np.eye(2), np.zeros((2, 3)))
    said = [t for t in texts(drawing) if t not in WORDS]
    numbers = ["1", "0.5", "2", "2", "0", "−4"]
    assert said[:7] == ["X", *numbers]
    assert said[7:15] == ["WQ", "−1", "1", "Q", "what it looks for", "−0.5", "0", "−4"]
    assert [t for t in said if t in ("WQ", "Q", "WK", "K", "WV", "V")] == ["WQ", "Q", "WK", "K", "WV", "V"]
    found = [len(filled(drawing, c)) for c in (plotting.QUERY, plotting.KEY, plotting.VALUE)]
    assert found == [(2 + 3) * 1, (2 + 3) * 2, (2 + 3) * 3]  # of the matrix, and of the three words
    assert [texts(drawing).count(word) for word in WORDS] == [4, 4, 4]  # beside X, Q, K and V
    followed = plotting.project(WORDS, x, [[-1], [1]], np.eye(2), np.zeros((2, 3)), row=1)
    assert followed._repr_svg_().count("<rect") == drawing._repr_svg_().count("<rect") + 4
    with pytest.raises(ValueError, match="row must be one of the 3 words, from 0 to 2, got 3"):
        plotting.project(WORDS, x, *3 * [np.eye(2)], row=3)
    with pytest.raises(ValueError, match="at least one word, got none"):
        plotting.project([], [], [], [], [])
    with pytest.raises(ValueError, match=r"a row for each of 3 words, got shape \(1, 2\)"):
        plotting.project(WORDS, [[1, 2]], *3 * [np.eye(2)])
