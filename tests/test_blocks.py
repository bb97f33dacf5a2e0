import pytest
import torch
from torch import nn

from attnlib import alibi_bias, causal_mask, rotary
from attnlib.blocks import TransformerBlock
from tests import DEVICE, assert_close

B, T, C, H = 2, 5, 12, 3


def randn(*sizes, seed=0):
    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def block(**options):
    torch.manual_seed(0)
    return TransformerBlock(C, H, **options).to(DEVICE)


def test_it_is_two_residual_steps():
    made, x = block(), randn(B, T, C)
    y = x + made.attention(made.attention_norm(x))
    expected = y + made.down_proj(nn.functional.gelu(made.up_proj(made.network_norm(y))))
    assert_close(made(x), expected)
    assert made.up_proj.out_features == 4 * C


def test_nothing_added_leaves_the_stream_alone():
    made, x = block(), randn(B, T, C)
    for projection in (made.attention.out_proj, made.down_proj):
        nn.init.zeros_(projection.weight)
        nn.init.zeros_(projection.bias)
    assert torch.equal(made(x), x)


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 1, "hidden_dim": 7, "bias": False}])
def test_cached_steps_equal_one_causal_pass(options):
    made, x = block(**options).eval(), randn(B, T, C)
    full = made(x, causal=True)
    assert_close(made(x, mask=causal_mask(T, device=DEVICE)), full)
    cache = made.attention.make_cache(B, T)
    with torch.no_grad():
        steps = [made(x[:, t : t + 1], causal=True, cache=cache) for t in range(T)]
    assert_close(torch.cat(steps, 1), full)


def test_dropout_is_for_training():
    made, x = block(dropout=0.5), randn(B, T, C)
    assert not torch.equal(made(x), made(x))
    made.eval()
    assert torch.equal(made(x), made(x))


def test_bias_and_rotary_are_passed_on():
    made, x, bias = block().eval(), randn(B, T, C), alibi_bias(H, T, device=DEVICE)
    for options in ({"bias": bias}, {"rotary": rotary}, {"bias": bias, "rotary": rotary}):
        y = x + made.attention(made.attention_norm(x), causal=True, **options)
        expected = y + made.down_proj(nn.functional.gelu(made.up_proj(made.network_norm(y))))
        assert_close(made(x, causal=True, **options), expected)
        assert not torch.allclose(expected, made(x, causal=True), atol=1e-4)


def test_a_copy_does_not_share_an_activation_that_learns():
    layer = nn.TransformerEncoderLayer(C, H, activation=nn.PReLU(), norm_first=True, batch_first=True).eval()
    copied, x = TransformerBlock.from_torch(layer).train(), torch.randn(B, T, C)
    assert not layer.activation.training
    expected = layer(x)
    torch.testing.assert_close(copied.eval()(x), expected)
    nn.init.ones_(copied.activation.weight)
    torch.testing.assert_close(layer(x), expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: TransformerBlock(12, 5),
            ValueError,
            "num_heads must divide embed_dim, got embed_dim 12, num_heads 5",
        ),
        (lambda: TransformerBlock(12, 3, hidden_dim=0), ValueError, "hidden_dim must be at least 1, got 0"),
        (
            lambda: TransformerBlock.from_torch(nn.Linear(1, 1)),
            TypeError,
            "layer must be a nn.TransformerEncoderLayer, got Linear",
        ),
        (
            lambda: TransformerBlock.from_torch(nn.TransformerEncoderLayer(12, 3)),
            ValueError,
            "layer must have norm_first=True, since the block is pre-norm, got False",
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_from_torch_keeps_the_dropout_in_every_place():
    theirs = torch.nn.TransformerEncoderLayer(12, 3, dropout=0.25, norm_first=True, batch_first=True)
    block = TransformerBlock.from_torch(theirs)
    assert block.drop.p == block.attention.dropout == 0.25


def test_the_attention_of_a_block_gets_its_dropout_and_its_bias():
    made = block(dropout=0.3, bias=False)
    assert made.attention.dropout == 0.3
    assert [name for name, _ in made.named_parameters() if "bias" in name] == []
