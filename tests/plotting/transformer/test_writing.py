import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import OUTPUT, WEIGHT
from tests.plotting.drawn import filled, parts, texts


def test_a_writing_model_attends_back_and_adds_to_every_stream():
    drawn = plotting.writing_model(["The", "list", "is"], {"a": 0.25, "the": 0.125}, blocks=3)
    drawn_so = [part.get("d") for part in parts(drawn, "path") if part.get("stroke") == WEIGHT]
    assert sum("C" in path for path in drawn_so) == 3 + 2 + 1  # each token attends to itself and those before
    assert (
        sum("C" not in path for path in drawn_so) == 3 + 2
    )  # into each stream an arrowhead, from either side
    assert texts(drawn).count("+") == 2 * 3
    assert texts(drawn).count("norm") == 3 + 1  # on each stream, and its name
    assert [text for text in texts(drawn) if text.startswith("block ")] == ["block 3", "block 2", "block 1"]
    assert [text for text in texts(drawn) if text.endswith("%")] == ["25%", "12%"]
    long = [float(bar.get("width")) for bar in filled(drawn, OUTPUT)]
    assert long[0] == pytest.approx(2 * long[1])


def test_a_writing_model_needs_tokens_and_blocks():
    with pytest.raises(ValueError, match="tokens and what may follow, got 0 and 1"):
        plotting.writing_model([], {"a": 0.5})
    with pytest.raises(ValueError, match="blocks must be at least 2, got 1"):
        plotting.writing_model(["a"], {"a": 0.5}, blocks=1)
