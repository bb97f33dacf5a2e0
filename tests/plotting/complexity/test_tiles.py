import pytest

from attnlib import plotting
from tests.plotting.drawn import texts


def test_tiles_before_the_present_one_are_done():
    drawing = plotting.tiles(3, 4, (1, 2))
    assert texts(drawing).count("✓") == 4 + 2
    assert texts(drawing).count("q2") == 2  # in its row, and in fast memory
    with pytest.raises(ValueError, match=r"at must be a tile of the 3 by 4, got \(3, 0\)"):
        plotting.tiles(3, 4, (3, 0))
    with pytest.raises(ValueError, match="rows must be 1 to 8 and columns 1 to 6, got 3 and 9"):
        plotting.tiles(3, 9, (0, 0))


def test_one_strip_is_there_and_those_before_it_are_done():
    drawing = plotting.table_in_strips(5, 2)
    assert texts(drawing).count("✓") == 2
    with pytest.raises(ValueError, match="rows must be 1 to 8 and at one of them, got 5 and 5"):
        plotting.table_in_strips(5, 5)
