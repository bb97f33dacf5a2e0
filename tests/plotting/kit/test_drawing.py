import pytest

from attnlib.plotting.kit.drawing import Drawing


def test_a_drawing_has_no_address_in_its_name_and_escapes_its_text():
    drawing = Drawing(20, 10)
    drawing.text(3, 5, "a < b & c")
    assert repr(drawing) == "Drawing(20, 10)"
    assert "a &lt; b &amp; c</text>" in drawing._repr_svg_()
    with pytest.raises(ValueError, match="at most 580 px wide, got 600: draw fewer words"):
        Drawing(600, 10)
