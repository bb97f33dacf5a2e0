import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import SERIES
from tests.plotting.drawn import filled, parts, texts


def test_the_table_goes_to_and_fro_in_thick_arrows_and_time_is_to_scale():
    kernels = [("scores", "qk", "t"), ("softmax", "t", "t"), ("output", "tv", "o")]
    ways = {
        "all": (kernels, "20 GB", 0.003, (0.009, "9")),
        "one": ([("all three, in one go", "q", "o")], "1 GB", 0.001, (0.002, "2 ms")),
    }
    drawing = plotting.traffic(ways, "5 GB")
    assert texts(drawing).count("5 GB") == 4
    took = [float(part.get("width")) for part in filled(drawing, SERIES[0])]
    assert took[1::2] == pytest.approx([took[0] / 3] * 3 + [took[6] / 2], abs=0.01)
    assert took[6] + 2 == pytest.approx((took[0] + 2) * 2 / 3, abs=0.01)  # with the gap after each
    cut = plotting.traffic(ways, "5 GB", parts={"all": [(0.001, 0.0015), (0.002, 0.006), (0.001, 0.0015)]})
    assert [text for text in texts(cut) if text.endswith(" ms")] == ["1.5 ms", "6.0 ms", "1.5 ms", "2 ms"]
    assert texts(cut).count("5 GB") == 2  # beside the wide one alone
    scores, _, softmax, *_ = (float(part.get("width")) for part in filled(cut, SERIES[0]))
    assert softmax + 2 == pytest.approx(4 * (scores + 2), abs=0.01)
    named = plotting.traffic(ways, "5 GB", needs={"all": "bytes", "one": "all the sums"})
    inside, behind = [
        float(part.get("x")) for part in parts(named, "text") if "".join(part.itertext()).startswith("← ")
    ]
    assert [inside, behind] == pytest.approx([8 + took[1] + 6, 8 + took[6] + 10], abs=1)
    with pytest.raises(ValueError, match="must be of q, k, v, o and t, got x"):
        plotting.traffic({"all": ([("scores", "x", "t")], "", 1, (2, ""))}, "5 GB")
    with pytest.raises(ValueError, match="the arrows of output have no room: draw fewer kernels"):
        plotting.traffic({"all": (9 * [("output", "tt", "t")], "", 1, (2, ""))}, "5 GB")
    with pytest.raises(ValueError, match="the name of a long one has no room: draw fewer kernels"):
        plotting.traffic({"all": (9 * [("a long one", "q", "o")], "", 1, (2, ""))}, "5 GB")
