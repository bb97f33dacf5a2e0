import pytest

from attnlib import plotting
from tests.plotting.drawn import LONG, filled, parts, texts


def test_the_cache_holds_what_was_read_and_has_room_for_the_rest():
    drawing = plotting.kv_cache(LONG, 2)
    assert len(filled(drawing, plotting.KEY)) == len(filled(drawing, plotting.VALUE)) == 3
    assert len([r for r in parts(drawing, "rect") if r.get("stroke-dasharray")]) == 2 * 5
    assert "stored" in texts(drawing)
    assert "stored" not in texts(plotting.kv_cache(LONG, 0))
    with pytest.raises(ValueError, match="step must be from 0 to 7, a position of the words, got 8"):
        plotting.kv_cache(LONG, 8)
