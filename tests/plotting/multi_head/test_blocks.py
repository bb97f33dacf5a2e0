import pytest

from attnlib import plotting
from tests.plotting.drawn import WORDS, arrows, filled, texts


def test_in_a_block_attention_joins_all_tokens_and_each_has_an_mlp_of_its_own():
    drawing = plotting.block(WORDS)
    mixed = [line for line in arrows(drawing, plotting.WEIGHT) if line.get("fill") == "none"]
    assert len(mixed) == 3 * 3
    assert len(filled(drawing, plotting.SERIES[0])) == 3
    assert texts(drawing).count("+") == 2 * 3
    with pytest.raises(ValueError, match="at least one word, got none"):
        plotting.block([])


@pytest.mark.parametrize("kept", [8, 4, 2, 1])
def test_heads_that_share_are_drawn_with_as_many_keys_as_are_kept(kept):
    drawing = plotting.shared_heads(8, {"kind": kept})
    assert len(filled(drawing, plotting.QUERY)) == len(arrows(drawing, plotting.MUTED)) == 8
    assert len(filled(drawing, plotting.KEY)) == len(filled(drawing, plotting.VALUE)) == kept
    with pytest.raises(ValueError, match="kinds must divide 8 heads, got 3"):
        plotting.shared_heads(8, {"kind": 3})
