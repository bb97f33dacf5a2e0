import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import WEIGHT_FILL
from tests.plotting.drawn import filled, texts


def test_a_decoder_hides_the_future_and_attends_to_all_that_was_read():
    drawn = plotting.encoders_and_decoders(3)
    assert (
        len(filled(drawn, WEIGHT_FILL)) == 3 * 9 + 2 * 6
    )  # two encoders, one cross-attention, two triangles
    assert texts(drawn).count("what was read") == 1
    with pytest.raises(ValueError, match="between 2 and 5, got 6"):
        plotting.encoders_and_decoders(6)
