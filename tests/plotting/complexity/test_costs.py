import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import KEY
from tests.plotting.drawn import parts, texts


def test_tables_of_scores_are_squares_to_one_scale():
    drawing = plotting.score_squares((1000, 100_000), (160e9, "a memory"))
    frame, *squares = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
    assert squares == pytest.approx([frame / 2, frame / 200], abs=0.01)
    assert texts(drawing) == ["a memory", "160 GB", "100,000 tokens", "40 GB", "1,000 tokens", "4 MB"]
    with pytest.raises(ValueError, match="a table of 1,000 tokens must fit the memory of 3,000 bytes"):
        plotting.score_squares((1000,), (3000, "a small memory"))
    assert "64 bytes" in texts(plotting.score_squares((4,), (1000, "a tiny one")))


def test_a_token_pays_twice_the_width_and_the_length():
    drawing = plotting.token_bill(10, (20, 60))
    bars = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
    assert bars[0] == bars[1] == bars[2] == pytest.approx(bars[3] / 3, abs=0.01)
    assert [text for text in texts(drawing) if "%" in text] == ["50%", "75%"]
    assert [text for text in texts(drawing) if text.isdigit()] == ["20", "20", "20", "60"]  # 2d, n


def test_what_is_fetched_is_drawn_to_scale_and_in_milliseconds():
    drawing = plotting.fetch_bill([("one", 10e9, 2e9), ("many", 10e9, 40e9)], 4e12)
    bars = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
    assert bars == pytest.approx([bars[0], bars[0] / 5, bars[0], 4 * bars[0]], abs=0.01)
    assert [text for text in texts(drawing) if text.endswith("ms")] == ["3.0 ms", "12.5 ms"]


def test_bars_are_to_one_scale_or_each_group_to_its_own():
    groups = {"work": [("one", 2, "two"), ("another", 4, "four")], "time": [("one", 1, "a second")]}
    for own, times in ((False, 1), (True, 4)):
        drawing = plotting.scaled_bars(groups, dict.fromkeys(("one", "another"), KEY), own=own)
        one, another, second = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
        assert another == pytest.approx(2 * one, abs=0.01)
        assert second == pytest.approx(times * one / 2, abs=0.02)
    assert texts(drawing) == ["work", "one", "two", "another", "four", "time", "one", "a second"]
