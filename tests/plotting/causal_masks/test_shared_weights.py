import numpy as np
import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import WEIGHT_FILL
from tests.plotting.drawn import filled, texts


def test_a_hidden_exponential_lengthens_the_sum_and_leaves_the_others_as_they_are():
    rows = {"before": [1, 3], "after": [1, 3, 4], "larger": [1, 3, 16]}
    drawing = plotting.shared_weights(["a", "b", "c"], rows, seen=2, watch=1)
    thrown = "set to zero afterwards"
    said = ["weight of b", "before", "a", "b", "1", "3", "3/4 = 0.75"]
    said += ["after", "a", "b", "c", thrown, "1", "3", "4", "3/8 = 0.38"]
    said += ["larger", "a", "b", "c", thrown, "1", "3", "16", "3/20 = 0.15"]
    assert texts(drawing) == said
    widths = [float(part.get("width")) + 2 for part in filled(drawing, WEIGHT_FILL)]
    assert np.allclose(widths, 3 * [17, 51]), "the scale is that of the longest sum"
    assert drawing._repr_svg_().count("stroke-dasharray") == 2
    assert "4/8 = 0.50" in texts(plotting.shared_weights(["a", "b", "c"], {"after": [1, 3, 4]}, seen=2))
    crowded = plotting.shared_weights(["a", "b", "c"], {"larger": [1, 3, 96]}, seen=2, watch=1)
    assert "a" not in texts(crowded), "a part too small for a text has none"
    with pytest.raises(ValueError, match="before must have 2 to 3 exponentials, got 1"):
        plotting.shared_weights(["a", "b", "c"], {"before": [1]}, seen=2, watch=0)
    with pytest.raises(ValueError, match="names of rows must fit over bars of 340 px: shorten xxx"):
        plotting.shared_weights(["a"], {"x" * 60: [1]}, seen=1, watch=0)
