import base64

import pytest
import torch

from attnlib.experiments.glove import UnknownWordError, WordVectors
from attnlib.experiments.tasks import word_pairs
from attnlib.widgets import EQUATIONS, AnalogyMap


def test_the_analogy_starts_as_the_chapter_does():
    widget = AnalogyMap()
    assert repr(widget) == "AnalogyMap('king - man + woman', inputs left out)"
    assert widget.nearest(1)[0][0] == "queen"
    widget.exclude = False
    assert [word for word, _ in widget.nearest(2)] == ["king", "queen"]
    assert repr(widget) == "AnalogyMap('king - man + woman', inputs not left out)"


def test_the_analogy_ships_gloves_own_numbers_in_less_than_a_megabyte():
    widget, glove = AnalogyMap(), WordVectors.glove("cpu")
    table = widget.table()
    assert 2000 <= len(table) <= 2500
    assert len(widget.vectors + widget.late_vectors) < 700_000
    assert torch.equal(table.vectors, glove[widget.words].double())
    assert all(word in table for words in EQUATIONS for word in words)
    assert all(word in table for pairs in word_pairs().values() for pair in pairs for word in pair)


@pytest.mark.parametrize("exclude", [True, False])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_the_ready_equations_need_only_the_vectors_that_come_first(equation, exclude):
    a, b, c = equation
    whole = AnalogyMap(a=a, b=b, c=c, exclude=exclude)
    early = whole.words[: len(base64.b64decode(whole.vectors)) // 200]
    part = AnalogyMap(a=a, b=b, c=c, exclude=exclude, words=early, late_vectors="")
    assert len(early) < 100
    assert part.nearest() == whole.nearest()


def test_the_map_has_b_at_the_origin_and_a_right_angle_of_axes():
    widget = AnalogyMap()
    table = widget.table()
    king, man, woman, queen = widget.positions(["king", "man", "woman", "queen"])
    torch.testing.assert_close(man, torch.zeros(2, dtype=torch.float64))
    assert woman[0] == pytest.approx((table["woman"] - table["man"]).norm().item())
    assert woman[1] == pytest.approx(0, abs=1e-12)
    assert king[1] > 0
    assert (king - man).norm() == pytest.approx((table["king"] - table["man"]).norm().item())
    assert queen.norm() < (table["queen"] - table["man"]).norm()  # it lies off the plane


def test_words_that_leave_no_plane_still_have_a_place():
    assert AnalogyMap(a="man", b="man", c="man").positions(["king"]).tolist() == [[0, 0]]
    line = AnalogyMap(a="king", b="man", c="king").positions(["king"])[0]
    assert line[1] == pytest.approx(0, abs=1e-9)


def test_an_unknown_word_is_named_with_close_spellings():
    with pytest.raises(UnknownWordError, match=r"closest spellings: .*king"):
        AnalogyMap(a="kingg").nearest()
