import pytest

from attnlib import plotting
from attnlib.instruments.roofline import stored_roofline
from attnlib.plotting.kit.ticks import plain


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1e-4, "10⁻⁴"),
        (0.01, "0.01"),
        (0.125, "0.125"),
        (1, "1"),
        (1000, "1,000"),
        (1e12, "10¹²"),
        (2e6, "2 × 10⁶"),
    ],
)
def test_powers_are_plain_text_at_full_size(value, said):
    assert plain(value) == said


def test_no_tick_of_a_logarithmic_axis_is_a_formula():
    decades = plotting.curves({"a": [[1.0, 1e-5]]}, log=True)
    narrow = plotting.curves({"a": [[1.0, 0.3]]}, log=True)
    roof = plotting.roofline(stored_roofline(), {"formula": "formula"})
    for ax in (decades, narrow, roof):
        ax.figure.canvas.draw()
        ticks = [*ax.get_xticklabels(which="both"), *ax.get_yticklabels(which="both")]
        assert not [tick.get_text() for tick in ticks if "$" in tick.get_text()]
    assert "10⁻⁴" in [tick.get_text() for tick in decades.get_yticklabels()]
    assert "0.4" in [tick.get_text() for tick in narrow.get_yticklabels(which="both")]
