import numpy as np
import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import GRID
from tests.plotting.drawn import filled, texts


def test_a_later_token_in_a_row_of_a_head_is_red():
    drawing = plotting.head_rows({"view": [[1, 1, 2], [2, 3, 3]]})
    assert texts(drawing)[-6:] == ["token 1", "token 1", "token 2", "token 2", "token 3", "token 3"]
    assert [len(filled(drawing, colour)) for colour in (plotting.SERIES[3], GRID)] == [2, 4]
    assert drawing._repr_svg_().count("stroke-dasharray") == 2  # an earlier token
    with pytest.raises(ValueError, match=r"all splits must be \(1, 2\) like the first, got others"):
        plotting.head_rows({"one": [[1, 2]], "other": [[1, 2, 3]]})


def test_a_test_that_finds_a_bug_has_a_red_cross():
    drawing = plotting.found_by({"a bug": [False, True, False, True, False]})
    assert texts(drawing)[-3:] == ["a bug", "×", "×"]
    assert [len(filled(drawing, colour)) for colour in (plotting.SERIES[3], GRID)] == [2, 3]
    assert drawing._repr_svg_().count('fill-opacity="0.4"') == 2  # no test finds it alone
    alone = plotting.found_by({"a bug": [True, *[False] * 4], "none": [False] * 5})
    assert alone._repr_svg_().count('fill-opacity="0.4"') == 0
    assert texts(alone)[-3:] == ["a bug", "×", "none"]  # an empty cell where a test finds nothing
    loud = plotting.found_by({"a bug": [True, "error", False, False, False]})
    assert texts(loud)[-3:] == ["a bug", "×", "error"]
    assert loud._repr_svg_().count('fill-opacity="0.4"') == 2
    grouped = plotting.found_by({"one": [False] * 5, "other": [True] * 5}, groups={"other": "bugs"})
    assert texts(grouped)[-7:-5] == ["bugs", "other"]
    with pytest.raises(ValueError, match=r"each bug must have 5 answers, got \[1\]"):
        plotting.found_by({"a bug": [True]})


def test_what_a_fully_masked_row_gives_or_gets_is_red():
    drawing = plotting.fully_masked_rows({"so": ([0.25, 0], [np.nan, 0])})
    assert texts(drawing)[-4:] == ["0.25", "0", "NaN", "0"]
    assert [len(filled(drawing, colour)) for colour in (plotting.SERIES[3], GRID)] == [2, 2]
