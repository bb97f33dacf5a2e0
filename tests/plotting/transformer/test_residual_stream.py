import pytest

from attnlib import plotting
from tests.plotting.drawn import parts, texts


def test_norms_stand_beside_the_stream_or_on_it():
    stream = plotting.stream({"before": "before", "after": "after", "none": "none"})
    assert texts(stream).count("norm") == 9
    assert texts(stream).count("attention") == texts(stream).count("MLP") == 6
    heights = [float(part.get("y")) for part in parts(stream, "text") if "".join(part.itertext()) == "norm"]
    sums = [float(part.get("y")) for part in parts(stream, "text") if "".join(part.itertext()) == "+"]
    assert not set(heights[:4]) & set(sums[:4])
    assert abs(heights[4] - sums[0]) < 1  # the last norm of those before
    assert all(abs(y - sums[4]) < 1 for y in heights[5:])


@pytest.mark.parametrize(
    ("rows", "said"), [({}, "at least one place, got none"), ({"x": "inside"}, "one of .*, got 'inside'")]
)
def test_a_stream_needs_to_know_where_its_norms_are(rows, said):
    with pytest.raises(ValueError, match=said):
        plotting.stream(rows)
