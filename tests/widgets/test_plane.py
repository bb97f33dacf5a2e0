import math

import torch

from attnlib.widgets import SENTENCES, AttentionPlane


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
