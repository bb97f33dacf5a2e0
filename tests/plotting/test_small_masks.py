import numpy as np
import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import GRID, SERIES, WEIGHT_FILL
from tests.plotting.drawn import filled, texts


def test_small_masks_tell_open_closed_and_future_apart():
    mask = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]])
    drawing = plotting.small_masks({"a mask": (mask, "its rule")})
    assert texts(drawing) == ["a mask", "its rule"]
    assert [len(filled(drawing, colour)) for colour in (WEIGHT_FILL, GRID)] == [6, 3]
    framed = f'stroke="{SERIES[3]}"'
    assert drawing._repr_svg_().count(framed) == 1, "the one open cell of the future"
    named = plotting.small_masks({"a mask": (mask, "its rule")}, words=["x", "y", "z"])
    assert texts(named) == ["x", "y", "z", "a mask", "its rule"]
    assert named.width > drawing.width
    both = plotting.small_masks({"a mask": (mask, "its rule")}, columns=["first", "2", "3"])
    assert texts(both) == ["a mask", "first", "2", "3", "its rule"]
    assert both.width > drawing.width
    assert both.height > drawing.height
    with pytest.raises(ValueError, match=r"flat must be a mask \(T, S\), got shape \(3,\)"):
        plotting.small_masks({"flat": (np.ones(3), "")})
    with pytest.raises(ValueError, match="each of 3 columns of a mask needs a name, got 1"):
        plotting.small_masks({"a mask": (mask, "its rule")}, columns=["first"])
