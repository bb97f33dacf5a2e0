import math

import pytest
import torch

from attnlib.tasks import word_pairs
from attnlib.widgets import (
    EQUATIONS,
    SENTENCES,
    AnalogyMap,
    AttentionPlane,
    CostCalculator,
    GradientDecay,
    Quiz,
)
from attnlib.wordvectors import UnknownWordError, WordVectors


def test_the_plane_starts_as_the_chapter_does():
    plane = AttentionPlane()
    assert plane.words == ["buy", "apple", "phone"]
    assert [round(x, 3) for x in plane.weights()[1].tolist()] == [0.009, 0.495, 0.495]
    assert repr(plane) == "AttentionPlane('buy apple phone', query='apple')"


def test_scaling_divides_by_the_root_of_two():
    x = torch.tensor(SENTENCES[0]["points"], dtype=torch.float64)
    plane = AttentionPlane(scaled=True)
    expected = (x @ x.T / math.sqrt(2)).softmax(-1)
    torch.testing.assert_close(plane.weights(), expected)
    torch.testing.assert_close(plane.output(), expected @ x)


def test_a_projection_of_its_own_turns_the_query_counter_clockwise():
    plane = AttentionPlane(points=[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], separate=True, turn=90.0)
    q, k, v = plane.projections()
    torch.testing.assert_close(q[0], torch.tensor([0.0, 1.0], dtype=torch.float64))
    assert torch.equal(k, v)
    plane.separate = False
    assert torch.equal(plane.projections()[0], k)


def test_presets_can_be_given():
    preset = {"name": "one", "words": ["one"], "points": [[1.0, 1.0]], "query": 0}
    assert AttentionPlane([preset]).words == ["one"]


def test_the_gradient_of_a_straight_recurrence_is_a_power():
    decay = GradientDecay(weight=0.9, length=44)
    torch.testing.assert_close(decay.gradients(), 0.9 ** torch.arange(45, dtype=torch.float64))
    assert repr(decay) == "GradientDecay(weight=0.9, length=44, squash=False)"


def test_squashed_it_vanishes_even_with_a_weight_above_one():
    assert GradientDecay(weight=1.1, length=100).gradients()[-1] > 1e4
    squashed = GradientDecay(weight=1.1, length=100, squash=True).gradients()
    state = math.tanh(1.1 * 0.5)
    assert squashed[1].item() == pytest.approx(1.1 * (1 - state**2))
    assert squashed[-1] < 1e-6


@pytest.mark.parametrize(
    "widget", [AttentionPlane(), AnalogyMap(), CostCalculator(), GradientDecay(), Quiz()]
)
def test_the_front_end_asks_for_nothing_from_elsewhere(widget):
    assert "http" not in widget._esm.replace("http://www.w3.org/2000/svg", "")
    assert "import " not in widget._esm
    assert "http" not in widget._css


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
    assert len(widget.vectors) < 700_000
    assert torch.equal(table.vectors, glove[widget.words].double())
    assert all(word in table for words in EQUATIONS for word in words)
    assert all(word in table for pairs in word_pairs().values() for pair in pairs for word in pair)


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


def test_the_cost_of_a_model_by_hand():
    found = CostCalculator(n=3, d_model=8, heads=4, kv_heads=2, layers=5, width=2).numbers()
    projections, core = 2 * (3 * 8 * 8) * 2 + 2 * (3 * 8 * 4) * 2, 2 * (3 * 3 * 8) * 2
    assert found == {
        "projections": 5 * projections,
        "core": 5 * core,
        "network": 5 * (2 * (3 * 8 * 32) * 2),
        "scores": 4 * 9 * 2,
        "cache": 5 * 2 * (3 * 4) * 2,
        "crossover": 12,
    }
    assert CostCalculator(d_model=8, heads=4, kv_heads=4).numbers()["crossover"] == 16
    assert CostCalculator(d_model=8, heads=4, kv_heads=4, network=True).numbers()["crossover"] == 6 * 8


def test_the_cost_says_what_it_is_of():
    expected = "CostCalculator(n=1024, d_model=768, heads=12, kv_heads=12, layers=12, width=2)"
    assert repr(CostCalculator()) == expected


@pytest.mark.parametrize(("sizes", "message"), [
    ({"heads": 5}, "heads must divide d_model, and kv_heads must divide heads, got d_model 768, heads 5, kv_heads 12"),
    ({"kv_heads": 5}, "heads must divide d_model, and kv_heads must divide heads, got d_model 768, heads 12, kv_heads 5"),
    ({"width": 3}, "width must be 4, 2 or 1 bytes, got 3"),
])  # fmt: skip
def test_sizes_without_a_cost_are_refused(sizes, message):
    with pytest.raises(ValueError) as caught:
        CostCalculator(**sizes).numbers()
    assert str(caught.value) == message
