import pytest
import torch

from attnlib.experiments.causal_masks.sinks import (
    CURES,
    LETTERS,
    NUMBERS,
    TOKENS,
    WIDTH,
    RequestHead,
    draw_requests,
    least_error,
    request_errors,
    spell_requests,
    train_head,
)
from attnlib.instruments.leaks import leaks
from attnlib.masks import causal_mask
from tests import assert_close

B = 5
cures = pytest.mark.parametrize("cure", CURES)


def draw(seed=0):
    return draw_requests(B, TOKENS, torch.Generator().manual_seed(seed))


def head(cure):
    torch.manual_seed(0)
    return RequestHead(cure)


def test_a_request_is_for_an_earlier_token_and_none_for_zeros():
    x, target, requesting = draw()
    assert x.shape == (B, TOKENS, WIDTH)
    assert not requesting[:, 0].any()
    assert not target[~requesting].any()
    own, named, numbers = x.split([LETTERS, LETTERS, NUMBERS], -1)
    assert torch.equal(named.sum(-1) == 1, requesting)
    chosen = named @ own.mT  # (B, T, T)
    assert not (chosen.bool() & ~causal_mask(TOKENS, offset=-1)).any()
    assert_close(target, chosen @ numbers)


def test_tokens_are_spelt_as_given():
    numbers = torch.arange(8.0).view(1, 2, 4)
    x, target = spell_requests(torch.tensor([[3, 5]]), torch.tensor([[-1, 0]]), numbers)
    assert x[0, 0, :LETTERS].argmax() == 3
    assert x[0, 1, LETTERS : 2 * LETTERS].argmax() == 3
    assert target[0].tolist() == [[0, 0, 0, 0], [0, 1, 2, 3]]


@cures
def test_no_cure_attends_ahead(cure):
    x = draw()[0]
    found = leaks(lambda x: head(cure)(x), x)
    assert torch.equal(found, causal_mask(TOKENS))


def test_weights_sum_to_one_unless_one_more_stands_below():
    x = draw()[0]
    for cure in ("none", "register", "gate"):
        assert_close(head(cure).weights(x).sum(-1), torch.ones(B, TOKENS))
    assert head("one more").weights(x).sum(-1).max() < 1


def test_one_more_in_the_denominator_is_a_register_of_zeros():
    x = draw()[0]
    one, register = head("one more"), head("register")
    register.load_state_dict(one.state_dict() | {"register": torch.zeros(1, 1, WIDTH)})
    for part in (one, register):
        torch.nn.init.zeros_(part.k.bias)
    assert_close(one(x), register(x))


def test_without_its_register_a_head_gives_it_no_weight():
    x = draw()[0]
    weights = head("register").weights(x, without_register=True)
    assert not weights[..., 0].any()
    assert_close(weights.sum(-1), torch.ones(B, TOKENS))


def test_the_least_error_is_that_of_even_weights_and_values_of_the_best_size():
    even = head("none")
    with torch.no_grad():
        for part in even.parameters():
            part.zero_()
        even.v.weight[:, -NUMBERS:] = torch.eye(NUMBERS)
        share = draw_requests(4000, TOKENS, torch.Generator().manual_seed(1))[2].double().mean().item()
        noise = (1 - share) * request_errors(even, count=4000).idle
        costs = [share * (1 - c) ** 2 + noise * c**2 for c in torch.linspace(0, 1, 201).tolist()]
    assert least_error(count=4000) == pytest.approx(min(costs), rel=0.02)


def test_training_learns_and_leaves_the_callers_random_numbers():
    state = torch.get_rng_state()
    trained = train_head("register", steps=60)
    assert torch.equal(torch.get_rng_state(), state)
    assert request_errors(trained, count=100).all < 0.8 * request_errors(head("register"), count=100).all


def test_an_unknown_cure_is_refused():
    with pytest.raises(ValueError, match="cure must be one of none, register, one more, gate, got 'hope'"):
        RequestHead("hope")
