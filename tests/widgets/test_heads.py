import math

import pytest
import torch

from attnlib import MultiHeadAttention
from attnlib.experiments.tasks import relation_masks
from attnlib.instruments.statistics import relation_share
from attnlib.widgets import HeadViewer


def parts(width=16, heads=2, **options):
    torch.manual_seed(0)
    tables = (torch.nn.Embedding(n, width) for n in (4, 8, 8))
    return *tables, MultiHeadAttention(width, heads, **{"bias": False} | options), torch.nn.Linear(width, 24)


def test_the_viewer_computes_what_the_model_does():
    letter, digit, position, attend, answer = parts()
    widget = HeadViewer.of(letter, digit, position, attend, answer)
    x = letter(torch.tensor([widget.letters])) + digit(torch.tensor([widget.digits])) + position.weight
    out, weights = attend(x, causal=True, need_weights=True)
    expected = answer(out).unflatten(-1, (3, 8)).softmax(-1)[0]
    torch.testing.assert_close(widget.weights(), weights[0].double(), atol=1e-3, rtol=0)
    torch.testing.assert_close(widget.answers(), expected.double(), atol=1e-3, rtol=0)
    for name, mask in relation_masks(torch.tensor([widget.letters]), apart=True).items():
        assert widget.scores()[name] == pytest.approx(relation_share(weights, mask).tolist(), abs=1e-3)
    assert repr(widget) == "HeadViewer('c5 a1 b7 a4 d0 b2 b6 c3', token=6, head=1)"


def test_a_head_that_is_not_used_adds_nothing():
    letter, digit, position, attend, answer = parts()
    widget = HeadViewer.of(letter, digit, position, attend, answer)
    widget.used = [False, True]
    with torch.no_grad():
        attend.out_proj.weight[:, :8] = 0
    torch.testing.assert_close(
        widget.answers(), HeadViewer.of(letter, digit, position, attend, answer).answers(), atol=1e-3, rtol=0
    )


def test_heads_are_scored_where_the_relations_lead_to_three_tokens():
    widget = HeadViewer.of(*parts())
    seen = widget.weights()[:, [3, 5]]  # of c5 a1 b7 a4 d0 b2 b6 c3, a4 and b2
    for name, keys in {"previous": [2, 4], "match": [1, 2], "first": [0, 0]}.items():
        assert widget.scores()[name] == pytest.approx(seen[:, [0, 1], keys].mean(1).tolist())
    widget.letters = [0] * 8  # the match is always the previous token
    assert all(map(math.isnan, widget.scores()["first"]))


def test_the_viewer_says_which_models_it_cannot_show():
    with pytest.raises(ValueError, match="must have no biases"):
        HeadViewer.of(*parts(bias=True))
    with pytest.raises(ValueError, match="as many key heads as query heads"):
        HeadViewer.of(*parts(num_kv_heads=1))
    letter, digit, _, attend, read = parts()
    with pytest.raises(ValueError, match=r"4 letters, 8 digits and 8 positions, got \[4, 8, 4\]"):
        HeadViewer.of(letter, digit, letter, attend, read)
