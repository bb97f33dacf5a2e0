from attnlib import plotting
from attnlib.plotting.kit.style import WEIGHT_FILL
from tests.plotting.drawn import arrows, filled, texts


def test_heads_split_with_q_k_and_v_told_apart():
    drawing = plotting.split_and_merge(5, 2, 3)
    shapes = [text for text in texts(drawing) if text.startswith(("(", "3 ×"))]
    assert shapes == ["(5, 6)", "3 × (5, 6)", "(2, 5, 5)", "(2, 5, 3)", "(5, 6)", "(5, 6)", "3 × (2, 5, 3)"]
    for colour in (plotting.QUERY, plotting.KEY, plotting.VALUE):
        assert len(filled(drawing, colour)) == 2 * 2  # in the projection, and in the lanes
    assert len(filled(drawing, WEIGHT_FILL)) == 2
    assert texts(plotting.split_and_merge(5, 2, 3, last="W_O")).count("O") == 1  # lowered


def test_framed_heads_have_one_way_each_from_the_projections():
    plain, framed = (plotting.split_and_merge(5, 2, 3, framed=framed) for framed in (False, True))
    for colour in (plotting.QUERY, plotting.KEY, plotting.VALUE):
        assert len(filled(framed, colour)) == len(filled(plain, colour))
        assert len(arrows(plain, colour)) - len(arrows(framed, colour)) == 2  # a way less to each head
    said = texts(framed)
    assert [said.count(text) for text in ("1", "2", "head 1", "head 2")] == [5, 5, 1, 1], (
        "the number of a head stands on its columns of Q, K and V, on its average, and in the merge"
    )
    assert "1" not in texts(plain)
    assert [said.count(text) for text in ("A1", "A2")] == [1, 1]
    cells = [cell.get("x") for cell in filled(framed, WEIGHT_FILL) if not cell.get("fill-opacity")]
    assert len(cells) == 2 * 5  # one for each query
    assert cells[:5] != cells[5:], "each head has a pattern of its own"
    banded = texts(plotting.split_and_merge(5, 2, 3, last="W_O", framed=True))
    assert [banded.count(text) for text in ("1", "2", "O")] == [6, 6, 1]  # and on its rows of the last matrix
