"""The leak test must find every leak that people build, and none where there is none."""

import pytest
import torch
import torch.nn.functional as F

from attnlib import (
    Decoder,
    MultiHeadAttention,
    attention,
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_attention,
    sliding_window_mask,
    tiled_attention,
)
from attnlib.instruments.leaks import describe_leaks, leaks
from tests import DEVICE

T, C = 7, 5
CAUSAL = causal_mask(T, device=DEVICE)
MASKS = {
    "causal": CAUSAL,
    "full": torch.ones(T, T, dtype=torch.bool, device=DEVICE),
    "one ahead": causal_mask(T, offset=1, device=DEVICE),
    "window": sliding_window_mask(T, window=3, device=DEVICE),
    "prefix": prefix_mask(T, prefix=3, device=DEVICE),
    "documents": document_mask(torch.tensor([0, 0, 0, 1, 1, 2, 2], device=DEVICE)),
}


@pytest.fixture
def x():
    return torch.randn(T, C, generator=torch.Generator().manual_seed(0)).to(DEVICE)


@pytest.mark.parametrize("name", MASKS)
def test_one_layer_leaks_exactly_what_its_mask_allows(x, name):
    found = leaks(lambda x: attention(x, x, x, MASKS[name]), x)
    assert found.dtype == torch.bool
    assert found.device == x.device
    assert torch.equal(found, MASKS[name])


def test_it_finds_the_same_on_a_batch_with_heads_and_in_half_precision(x):
    batch = torch.stack([x, x.flip(0)])
    assert torch.equal(leaks(lambda x: attention(x, x, x, causal=True), batch), CAUSAL)
    assert torch.equal(leaks(lambda x: attention(x, x, x, causal=True), batch[:, None]), CAUSAL)
    for dtype in (torch.bfloat16, torch.float64):
        assert torch.equal(leaks(lambda x: attention(x, x, x, causal=True), x.to(dtype)), CAUSAL)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: tiled_attention(x, x, x, causal=True, block_size=2),
        lambda x: attention(x, x, x, CAUSAL),
        lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
        lambda x: x.cumsum(0),
    ],
)
def test_causal_functions_do_not_leak(x, fn):
    assert not (leaks(fn, x) & ~CAUSAL).any()


def test_a_window_reaches_as_far_as_it_says(x):
    found = leaks(lambda x: sliding_window_attention(x, x, x, window=3), x)
    assert torch.equal(found, MASKS["window"])


def test_two_layers_of_a_window_reach_twice_as_far(x):
    mask = sliding_window_mask(T, window=3, device=DEVICE)

    def two(x):
        y = attention(x, x, x, mask)
        return attention(y, y, y, mask)

    assert torch.equal(leaks(two, x), sliding_window_mask(T, window=5, device=DEVICE))


def zero_after(x):
    return ((x @ x.T).softmax(-1) * CAUSAL) @ x


def over_the_sequence(x):
    normed = (x - x.mean(0)) / x.std(0)
    return attention(normed, normed, normed, causal=True)


def wrong_axis(x):
    return (x @ x.T).masked_fill(~CAUSAL, -torch.inf).softmax(0) @ x


def negative_number(x):
    return ((x @ x.T) + ~CAUSAL * -10.0).softmax(-1) @ x


def shifted(x):
    return attention(x, x.roll(-1, 0), x.roll(-1, 0), causal=True)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: attention(x, x, x),
        lambda x: attention(x, x, x, ~CAUSAL),
        lambda x: attention(x, x, x, causal_mask(T, offset=1, device=DEVICE)),
        lambda x: attention(x, x, x, CAUSAL.T),
        zero_after,
        over_the_sequence,
        negative_number,
        shifted,
    ],
)
def test_what_people_get_wrong_is_found(x, fn):
    assert (leaks(fn, x) & ~CAUSAL).any()


def test_softmax_over_the_queries_does_not_look_ahead_but_back_from_below(x):
    # weights of a key then depend on the queries after it: query i hears of query i + 1
    assert (leaks(wrong_axis, x) & ~CAUSAL).any()


def test_a_mask_used_only_in_training_is_found_in_eval_mode(x):
    class TrainOnly(torch.nn.Module):
        def forward(self, x):
            return attention(x, x, x, causal=self.training)

    assert not (leaks(TrainOnly().train(), x) & ~CAUSAL).any()
    assert (leaks(TrainOnly().eval(), x) & ~CAUSAL).any()


def test_a_leak_through_a_tiny_weight_is_found_by_a_large_change(x):
    def tiny(x):
        return attention(x, x, x, causal=True) + 1e-9 * x.sum(0)

    assert not leaks(tiny, x, tries=1).all()  # a small change is lost in rounding, mostly
    assert leaks(tiny, x).all()


def test_queries_of_a_cache_see_all_when_aligned_at_the_end_and_too_little_at_the_start(x):
    def last_two(offset):
        mask = causal_mask(2, T, offset=offset, device=DEVICE)
        return lambda x: attention(x[-2:], x, x, mask)

    assert torch.equal(leaks(last_two(None), x), causal_mask(2, T, device=DEVICE))
    top_left = leaks(last_two(0), x)
    assert top_left.sum() < 6  # queries at the end that hear the beginning, and themselves
    assert not top_left[0, 1]


def test_padding_does_not_reach_real_tokens_when_keys_are_masked():
    x = torch.randn(2, T, 4, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    torch.manual_seed(0)
    heads = MultiHeadAttention(4, 2).to(DEVICE)
    mask = padding_mask([5, 5], T).to(DEVICE)
    found = leaks(lambda x: heads(x, mask=mask), x)
    assert not found[:5, 5:].any()
    on_queries = leaks(lambda x: heads(x, mask=mask.mT), x)
    assert on_queries[:5, 5:].all()


def test_a_model_of_tokens_gets_other_tokens():
    torch.manual_seed(0)
    model = Decoder(11, 8, 8, 2, 2).to(DEVICE).eval()
    tokens = torch.randint(11, (3, T), generator=torch.Generator().manual_seed(0)).to(DEVICE)
    assert torch.equal(leaks(model, tokens), CAUSAL)
    assert torch.equal(leaks(lambda t: model(t[None])[0], tokens[0]), CAUSAL)
    seen = []
    leaks(lambda t: seen.append(t) or t[..., None].float(), tokens, vocab_size=11, tries=2)
    assert len(seen) == 2 + 2 * T + 1
    for j in range(T):
        for changed in seen[2 + 2 * j : 4 + 2 * j]:
            assert (changed[:, j] != tokens[:, j]).all()
            assert 0 <= changed.min() <= changed.max() < 11
            assert torch.equal(changed != tokens, torch.arange(T, device=DEVICE).expand(3, T) == j)


def test_one_number_an_output_is_enough_and_the_input_is_left_alone(x):
    before = x.clone()
    found = leaks(lambda x: x.mul_(2).cumsum(0).sum(-1), x)
    assert torch.equal(found, CAUSAL)
    assert torch.equal(x, before)


def test_the_changes_follow_the_seed_and_leave_the_callers_random_numbers(x):
    torch.manual_seed(5)
    leaks(lambda x: x, x)
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(after, torch.rand(1))


def test_dropout_is_told_from_a_leak():
    torch.manual_seed(0)
    model = Decoder(11, 8, 8, 2, 1, dropout=0.5).to(DEVICE)
    tokens = torch.zeros(1, T, dtype=torch.long, device=DEVICE)
    with pytest.raises(ValueError, match=r"the same outputs for the same input.*model\.eval\(\)"):
        leaks(model.train(), tokens)
    assert torch.equal(leaks(model.eval(), tokens), CAUSAL)


def test_a_function_that_remembers_is_found_out(x):
    calls = []

    def remembers(x):
        calls.append(1)
        return x + (len(calls) > 4)

    with pytest.raises(ValueError, match="got different ones when called again"):
        leaks(remembers, x)


def test_nan_is_an_error_that_says_where(x):
    def naive(x):
        blind = CAUSAL.clone()
        blind[2] = False
        return (x @ x.T).masked_fill(~blind, -torch.inf).softmax(-1) @ x

    with pytest.raises(ValueError, match=r"must not hold NaN.*got NaN at outputs \[2\].*masked_softmax"):
        leaks(naive, x)


def test_nan_that_a_change_makes_is_a_dependence(x):
    found = leaks(lambda x: torch.where(x.abs() > 20, torch.nan, 1.0), x)
    assert torch.equal(found, torch.eye(T, dtype=torch.bool, device=DEVICE))


def test_errors_say_what_must_hold(x):
    with pytest.raises(TypeError, match=r"x must be a torch\.Tensor, got list"):
        leaks(lambda x: x, [1.0])
    with pytest.raises(
        ValueError, match=r"vectors \(\.\.\., S, C\) or whole numbers \(\.\.\., S\), got shape \(5,\)"
    ):
        leaks(lambda x: x, x[0])
    with pytest.raises(TypeError, match="fn must return a tensor, got tuple; return the outputs alone"):
        leaks(lambda x: (x, x), x)
    with pytest.raises(ValueError, match=r"sequence on axis 1, as in x \(1, 7, 5\), got \(1,\)"):
        leaks(lambda x: x.sum((1, 2)), x[None])
    with pytest.raises(ValueError, match="tries must be at least 1, got 0"):
        leaks(lambda x: x, x, tries=0)
    with pytest.raises(ValueError, match="vocab_size must be at least 2, got 1"):
        leaks(lambda t: t[..., None].float(), torch.zeros(1, 3, dtype=torch.long))
    with pytest.raises(ValueError, match=r"outputs of one shape.*got \(7, 5\) and \(6, 5\)"):
        leaks(lambda y: y if torch.equal(x, y) else y[1:], x)


def test_leaks_are_described_in_words(x):
    assert describe_leaks(CAUSAL).startswith("no leak")
    found = leaks(lambda x: attention(x, x, x), x[:3])
    assert describe_leaks(found) == "output 0 depends on inputs 1, 2\noutput 1 depends on input 2"
    assert describe_leaks(found, torch.ones_like(found)).startswith("no leak")
    with pytest.raises(ValueError, match=r"allowed must be \(T, S\) = \(3, 3\), got \(2, 2\)"):
        describe_leaks(found, CAUSAL[:2, :2])
    with pytest.raises(TypeError, match=r"found must be a torch\.Tensor"):
        describe_leaks([True])


@pytest.mark.parametrize("vectors", [True, False])
def test_another_default_device_changes_nothing(vectors):
    x = torch.randn(1, 4, 2, device="cpu") if vectors else torch.arange(4, device="cpu")[None]
    fn = (
        (lambda x: x.cumsum(1))
        if vectors
        else (lambda x: x.cumsum(1)[..., None].float() * torch.ones(5, device="cpu"))
    )
    expected = leaks(fn, x)
    with torch.device("meta"):
        found = leaks(fn, x)
    assert found.device.type == "cpu"
    assert torch.equal(found, expected)
