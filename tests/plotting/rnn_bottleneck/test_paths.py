import re

import pytest

from attnlib import plotting
from tests.plotting.drawn import arrows, texts


def test_a_path_takes_eight_steps_two_layers_or_one_step():
    drawing = plotting.paths(9)
    said = [text for text in texts(drawing) if not text.isdigit()]
    assert said == [
        "recurrence",
        "8 steps",
        "convolution",
        "2 layers",
        "8 = 2 + 6",
        "attention",
        "1 step",
    ]
    counts = [len(arrows(drawing, plotting.SERIES[i])) for i in (0, 1, 3)]
    assert counts == [8, 2, 1]
    assert texts(drawing).count("9") == 3  # the same row three times


def test_the_first_word_and_the_last_are_named_in_each_row():
    drawing = plotting.paths(9, ends=("Goku", "he"))
    assert [texts(drawing).count(word) for word in ("Goku", "he")] == [3, 3]


@pytest.mark.parametrize("words", [2, 6, 8, 13, 16])
def test_the_jumps_of_a_convolution_lead_from_the_first_word_to_the_last(words):
    drawing = plotting.paths(words)
    ends = [re.findall(r"[\d.]+", path.get("d")) for path in arrows(drawing, plotting.SERIES[1])]
    step = 420 / words
    jumps = [round((float(x1) - float(x0)) / step) for x0, _, x1, _ in ends]
    assert sum(jumps) == words - 1
    assert all(jump in (0, 3**layer, 2 * 3**layer) for layer, jump in enumerate(jumps))


@pytest.mark.parametrize("words", [1, 17])
def test_paths_need_two_words_and_have_room_for_sixteen(words):
    with pytest.raises(ValueError, match=f"words must be between 2 and 16, got {words}"):
        plotting.paths(words)
