import pytest
import torch

from attnlib.experiments.positions import encodings as positions
from attnlib.experiments.positions.encodings import (
    ASKED,
    KINDS,
    OrderedModel,
    distance_buckets,
    interpolated,
    right_at,
    stored,
    stored_runs,
    stored_stretched,
    stretch,
    stretched_base,
    train_model,
)
from attnlib.positions import rotary
from tests import assert_close

kinds = pytest.mark.parametrize("kind", KINDS)


def model_of(kind, **sizes):
    torch.manual_seed(0)
    return OrderedModel(kind, 7, **{"width": 8, "heads": 2, "layers": 2, **sizes})


def test_near_distances_have_a_number_each_and_far_ones_share():
    buckets = distance_buckets(130)
    last = buckets[-1].flip(0)  # by distance
    assert last[:16].tolist() == list(range(16))
    assert (last.diff() >= 0).all()
    assert last[64:].unique().tolist() == [31]
    assert set(last[:64].tolist()) >= {16, 20, 31}
    assert (buckets.triu(1) == 0).all()


@kinds
def test_no_kind_sees_the_future(kind):
    model = model_of(kind)
    text = torch.tensor([[1, 2, 3, 4, 5]])
    other = torch.tensor([[1, 2, 3, 6, 0]])
    assert_close(model(text)[:, :3], model(other)[:, :3])


@kinds
def test_only_a_model_without_positions_reads_a_bag(kind):
    model = model_of(kind)
    if kind == "relative":
        torch.nn.init.normal_(model.by_distance)
    text, order = torch.tensor([[1, 2, 3, 4, 5]]), [3, 0, 4, 1, 2]
    there, back = model(text, causal=False)[:, order], model(text[:, order], causal=False)
    assert torch.allclose(there, back, atol=1e-5) == (kind == "none")


@pytest.mark.parametrize("kind", ["relative", "alibi", "rotary"])
def test_what_knows_distances_alone_answers_the_same_in_a_window_that_moves(kind):
    """Behind the same last token, the first layer's scores do not know where the text begins."""
    model = model_of(kind, layers=1)
    if kind == "relative":
        torch.nn.init.normal_(model.by_distance)
    attention = model.blocks[0].attention
    x = torch.randn(1, 5, 8)
    twice = torch.cat([x, x], 1)  # (1, 10, 8)
    mask = torch.zeros(10, 10, dtype=torch.bool)
    mask[:5, :5] = mask[5:, 5:] = torch.ones(5, 5).tril().bool()
    out = attention(twice, mask=mask, bias=model._bias(10, x.device), rotary=model.turn)
    assert_close(out[:, :5], out[:, 5:], atol=1e-5, rtol=1e-5)


def test_interpolated_by_one_is_rotary_and_by_two_has_half_the_angles():
    heads, places = torch.randn(2, 3, 5, 8), torch.arange(5)
    assert_close(interpolated(heads, places, factor=1), rotary(heads, places), atol=1e-5, rtol=1e-5)
    assert_close(interpolated(heads, 2 * places, factor=2), rotary(heads, places), atol=1e-5, rtol=1e-5)


def test_a_larger_base_slows_the_slowest_hand_by_the_factor_and_leaves_the_fastest():
    D, base = 16, stretched_base(4, 16)
    hands = [10000 ** (-2 * i / D) for i in range(D // 2)]
    slowed = [base ** (-2 * i / D) for i in range(D // 2)]
    assert slowed[0] == hands[0] == 1
    assert slowed[-1] == pytest.approx(hands[-1] / 4)


def test_a_stretched_model_is_itself_again_by_a_factor_of_one():
    model, text = model_of("rotary"), torch.tensor([[1, 2, 3, 4, 5]])
    before = model(text)
    for by in ("base", "positions"):
        stretch(model, 3, by=by)
        assert not torch.allclose(model(text), before)
        stretch(model, 1, by=by)
        assert_close(model(text), before, atol=1e-5, rtol=1e-5)


def test_training_teaches_the_token_two_places_back_and_asking_counts_it():
    model = train_model("rotary", "back", steps=120, lr=1e-2, layers=1, width=32, distance=2, batch=8)
    assert right_at(model, "back", [64], distance=2, count=8)[0] > 0.9


@pytest.mark.parametrize("task", ["back", "copy", "where"])
def test_a_seed_gives_the_same_start_and_the_same_batches(task):
    first, second = (train_model("none", task, steps=1, batch=2, width=8, layers=1) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_right_at_counts_the_copied_tokens():
    class Perfect(OrderedModel):
        def forward(self, text, *, causal=True):
            half = text.shape[1] // 2
            answer = torch.nn.functional.one_hot(text[:, :half], 257).float()
            return torch.cat([torch.zeros_like(answer), answer], 1)

    assert right_at(Perfect("none", 257, width=8), "copy", [16, 24], count=4) == [1.0, 1.0]


def test_every_stored_run_has_a_share_for_each_length():
    data = stored()
    assert data["asked"] == list(ASKED)
    assert all(len(run["right"]) == len(ASKED) for run in data["runs"])
    assert all(0 <= share <= 1 for run in data["runs"] for share in run["right"])


@kinds
@pytest.mark.parametrize("task", ["back", "copy"])
def test_three_seeds_or_more_are_stored_of_each_kind(kind, task):
    assert len(stored_runs(kind, task)) >= 3


@pytest.mark.parametrize("task", ["back", "copy"])
def test_what_a_slower_clock_buys_is_stored_for_three_seeds_or_more(task):
    for by, trained_on in (("base", False), ("positions", False), ("nothing", True), ("base", True)):
        runs = stored_stretched(task, by, trained_on=trained_on)
        assert len(runs) >= 3
        assert all(len(run) == len(ASKED) for run in runs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: OrderedModel("clock", 7), "kind must be one of none, .*, got 'clock'"),
        (lambda: OrderedModel("none", 0), "tokens"),
        (lambda: train_model("none", "sort", steps=1), "task must be one of back, copy, where, got 'sort'"),
        (lambda: stretch(model_of("alibi"), 2, by="base"), "model must be rotary .*, got 'alibi'"),
        (lambda: stretch(model_of("rotary"), 2, by="hand"), "by must be 'base' or 'positions', got 'hand'"),
        (lambda: stored_runs("rotary", "back", steps=3), "no run is stored with"),
        (lambda: stored_stretched("copy", "nothing"), "that is stretched by 'nothing'"),
        (lambda: stretched_base(2, 2), "D must be at least 4"),
    ],
)
def test_what_is_not_there_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_model_of_distances_needs_no_table_that_ends():
    assert max(ASKED) == positions.LONGEST
    with pytest.raises(RuntimeError):
        model_of("learned")(torch.zeros(1, positions.LONGEST + 1, dtype=torch.long))
    for kind in ("relative", "alibi", "rotary", "sinusoidal"):
        assert model_of(kind)(torch.zeros(1, 530, dtype=torch.long)).shape == (1, 530, 7)
