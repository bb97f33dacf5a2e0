import pytest
import torch
from torch import nn

from attnlib.experiments.rnn_bottleneck.recurrent import KINDS, Recurrent, rnn_step, widest
from attnlib.instruments.counters import count_parameters
from attnlib.instruments.statistics import decay_rate, gradient_by_distance
from tests import DEVICE, assert_close

B, T, C, F = 2, 5, 3, 7
kinds = pytest.mark.parametrize("kind", KINDS)


def sequence(length=T):
    return torch.randn(B, length, C, generator=torch.Generator().manual_seed(0)).to(DEVICE)


def test_a_step_by_hand():
    one = torch.ones(1)
    got = rnn_step(one, 2 * one, one[None], 0.5 * one[None], -one)
    assert_close(got, torch.tanh(torch.tensor([1.0 + 2.0 * 0.5 - 1.0])))


def test_the_plain_network_is_the_step_repeated():
    net, x = Recurrent("rnn", C, F).to(DEVICE), sequence()
    cells, state = net.cells, torch.zeros(B, F, device=DEVICE)
    for t, expected in enumerate(net(x).unbind(1)):
        bias = cells.bias_ih_l0 + cells.bias_hh_l0
        state = rnn_step(x[:, t], state, cells.weight_ih_l0.T, cells.weight_hh_l0.T, bias)
        assert_close(state, expected)


@kinds
def test_a_state_knows_nothing_of_the_future(kind):
    net, x = Recurrent(kind, C, F).to(DEVICE), sequence()
    changed = x.clone()
    changed[:, 3:] = 9.0
    assert net(x).shape == (B, T, F)
    assert_close(net(changed)[:, :3], net(x)[:, :3])
    assert not torch.equal(net(changed)[:, 3], net(x)[:, 3])


def straight(radius):
    """A plain network without biases: for tiny inputs its tanh is a straight line."""
    torch.manual_seed(0)
    net = Recurrent("rnn", C, 32).set_radius(radius).to(DEVICE)
    for bias in (net.cells.bias_ih_l0, net.cells.bias_hh_l0):
        nn.init.zeros_(bias)
    return net


@pytest.mark.parametrize("radius", [0.5, 0.9, 1.3])
def test_gradients_vanish_or_explode_at_the_rate_of_the_spectral_radius(radius):
    net = straight(radius)
    weight = net.cells.weight_hh_l0.detach().cpu()
    assert torch.linalg.eigvals(weight).abs().max().item() == pytest.approx(radius, rel=1e-4)
    rate = decay_rate(gradient_by_distance(net, 1e-7 * sequence(40)))
    assert rate == pytest.approx(radius, rel=0.05)


@kinds
@pytest.mark.parametrize("step", [1, 4])
def test_widest_is_the_last_that_fits(kind, step):
    build = lambda width: Recurrent(kind, C, width)  # noqa: E731
    width = widest(build, 2000, step=step)
    assert width % step == 0
    assert count_parameters(build(width)) <= 2000 < count_parameters(build(width + step))


def test_looking_for_a_width_draws_no_random_numbers():
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    widest(lambda width: Recurrent("gru", C, width), 1000)
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Recurrent("cnn", C, F), "kind must be one of rnn, gru, lstm, got 'cnn'"),
        (lambda: Recurrent("rnn", 0, F), "input_dim must be at least 1, got 0"),
        (lambda: Recurrent("rnn", C, 0), "state_dim must be at least 1, got 0"),
        (
            lambda: Recurrent("rnn", C, F)(torch.zeros(B, T, C + 1)),
            "x must be (B, T, C) with C = 3, got (2, 5, 4)",
        ),
        (
            lambda: Recurrent("lstm", C, F).set_radius(1.0),
            "only a plain rnn has one matrix from state to state, got lstm",
        ),
        (
            lambda: widest(lambda width: Recurrent("rnn", C, width), 3),
            "even at width 1 the model has more than 3 parameters",
        ),
    ],
)
def test_bad_input_gets_this_message(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message
