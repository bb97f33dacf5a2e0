import math

import pytest

from attnlib import plotting
from tests.plotting.drawn import parts, texts


def test_a_larger_score_shrinks_the_bars_before_it():
    drawing = plotting.online_softmax([0, math.log(2), math.log(4), 0], [8, 4, 2, 0], 2)
    said = texts(drawing)
    assert [text for text in said if text.startswith("= ")] == [
        *("= 0.69", "= 0.5 + 1 = 1.5", "= 0.5×8 + 1×4 = 8"),
        *("= 1.39", "= 1.5×0.5 + 1 + 0.25 = 2", "= 8×0.5 + 1×2 + 0.25×0 = 6"),
    ]
    assert len([r for r in parts(drawing, "rect") if r.get("stroke-dasharray")]) == 2
    level = plotting.online_softmax([1, 0], [1, 2], 1)
    assert "= 1 + 0.37 = 1.37" in texts(level)  # nothing larger came: nothing shrinks
    with pytest.raises(ValueError, match="at most 4, and whole blocks of 2, got 3 and 3"):
        plotting.online_softmax([1, 2, 3], [1, 2, 3], 2)
