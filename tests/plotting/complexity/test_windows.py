import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import KEY, WEIGHT_FILL
from tests.plotting.drawn import parts, texts


def test_a_window_is_a_band_and_each_layer_adds_a_window_less_one_to_the_receptive_field():
    drawing = plotting.receptive_field(10, 3, 3)
    band = [part for part in parts(drawing, "rect") if part.get("fill") == WEIGHT_FILL]
    assert len(band) == 10 * 3 - 3
    assert [text for text in texts(drawing) if "tokens" in text] == ["7 tokens", "5 tokens", "3 tokens"]
    inside = [part for part in parts(drawing, "circle") if part.get("fill") == KEY]
    assert len(inside) == 7 + 5 + 3
    for wrong in ((11, 3, 3), (10, 3, 4), (10, 0, 1), (6, 3, 3)):
        with pytest.raises(ValueError, match="must"):
            plotting.receptive_field(*wrong)
