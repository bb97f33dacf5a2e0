import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnlib import alibi_bias, causal_mask, rotary
from attnlib.blocks import TransformerBlock, make_norm
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


def test_with_the_norm_last_each_sum_is_normalised():
    made, x = block(norm_first=False), randn(B, T, C)
    y = made.attention_norm(x + made.attention(x))
    expected = made.network_norm(y + made.down_proj(nn.functional.gelu(made.up_proj(y))))
    assert_close(made(x), expected)
    out = made(x)
    assert_close(out.mean(-1), torch.zeros(B, T, device=DEVICE), atol=1e-5, rtol=0)
    assert_close(out.var(-1, unbiased=False), torch.ones(B, T, device=DEVICE), atol=1e-3, rtol=0)


def gated_network(x, weights):
    """down(silu(gate(x)) * up(x)) for one position, number by number."""
    hidden = []
    for gate_row, gate_bias, up_row, up_bias in zip(*weights["gate"], *weights["up"], strict=True):
        gate = sum(w * number for w, number in zip(gate_row, x, strict=True)) + gate_bias
        up = sum(w * number for w, number in zip(up_row, x, strict=True)) + up_bias
        hidden.append(gate / (1 + math.exp(-gate)) * up)
    rows, biases = weights["down"]
    return [
        sum(w * h for w, h in zip(row, hidden, strict=True)) + b for row, b in zip(rows, biases, strict=True)
    ]


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_gated_network_is_what_a_loop_over_its_numbers_gives(norm_first):
    made = block(gated=True, activation=F.silu, hidden_dim=7, norm_first=norm_first).double()
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.5)
    nn.init.zeros_(made.attention.out_proj.weight)
    nn.init.zeros_(made.attention.out_proj.bias)
    x = randn(B, T, C).double()
    weights = {
        part: [p.tolist() for p in (getattr(made, f"{part}_proj").weight, getattr(made, f"{part}_proj").bias)]
        for part in ("gate", "up", "down")
    }
    read = made.network_norm(x) if norm_first else made.attention_norm(x)
    added = torch.tensor(
        [[gated_network(position, weights) for position in row] for row in read.tolist()]
    ).to(x)
    assert_close(made(x), x + added if norm_first else made.network_norm(read + added), atol=1e-6, rtol=1e-6)


def test_the_gate_is_multiplied_in_and_without_one_there_is_none():
    made, x = block(gated=True), randn(B, T, C)
    y = x + made.attention(made.attention_norm(x))
    read = made.network_norm(y)
    expected = y + made.down_proj(F.gelu(made.gate_proj(read)) * made.up_proj(read))
    assert_close(made(x), expected)
    assert made.gate_proj.weight.shape == made.up_proj.weight.shape == (4 * C, C)
    assert block().gate_proj is None
    assert not any("gate" in name for name in block().state_dict())


def test_an_rms_norm_divides_by_the_root_of_the_mean_square():
    made, x = block(norm="rms"), 3 * randn(B, T, C)
    nn.init.normal_(made.attention_norm.weight)
    expected = x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * made.attention_norm.weight
    assert_close(made.attention_norm(x), expected)
    assert type(made.attention_norm) is type(made.network_norm) is nn.RMSNorm
    assert made.attention_norm is not made.network_norm


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_an_rms_norm_has_the_same_small_number_inside_in_every_dtype(dtype):
    made = make_norm("rms", 4).to(DEVICE, dtype)
    x = torch.full((1, 4), 2**-9, device=DEVICE, dtype=dtype)
    assert_close(
        made(x).double(), torch.full_like(x, 2**-9 / math.sqrt(2**-18 + 1e-5)).double(), rtol=0.01, atol=0
    )


TODAY = {"norm": "rms", "gated": True, "activation": F.silu, "bias": False}
KINDS = [TODAY, {"norm_first": False}, {**TODAY, "norm_first": False, "num_kv_heads": 1}]


@pytest.mark.parametrize("options", KINDS)
def test_every_parameter_of_every_kind_of_block_gets_a_gradient(options):
    made, x = block(**options), randn(B, T, C).requires_grad_()
    (made(x, causal=True) * randn(B, T, C, seed=1)).sum().backward()
    for name, tensor in [("x", x), *made.named_parameters()]:
        if not name.endswith("k_proj.bias"):  # which moves all scores of a query alike
            assert tensor.grad.abs().max() > 1e-6, name


@pytest.mark.parametrize("options", KINDS)
def test_a_block_comes_back_from_its_state(options):
    made, x = block(**options), randn(B, T, C)
    again = TransformerBlock(C, H, **options).to(DEVICE)
    assert not torch.allclose(again(x), made(x))
    again.load_state_dict(made.state_dict())
    assert torch.equal(again(x), made(x))
    assert torch.equal(copy.deepcopy(made)(x), made(x))


def test_a_block_without_options_has_the_names_it_always_had():
    layers = ("up_proj", "down_proj", "attention_norm", "network_norm")
    parts = [f"attention.{part}_proj" for part in ("q", "k", "v", "out")] + list(layers)
    assert sorted(block().state_dict()) == sorted(f"{p}.{kind}" for p in parts for kind in ("weight", "bias"))
    assert isinstance(block().attention_norm, nn.LayerNorm)


@pytest.mark.parametrize("options", [{}, *KINDS])
def test_dropped_are_what_attention_brings_the_hidden_layer_and_what_the_network_adds(options):
    made, widths = block(hidden_dim=7, dropout=0.5, **options), []
    made.drop.register_forward_hook(lambda module, given, out: widths.append(given[0].shape[-1]))
    made(randn(B, T, C))
    assert widths == [C, 7, C]
    made.eval()
    assert torch.equal(made(randn(B, T, C)), made(randn(B, T, C)))


def test_nothing_added_leaves_the_stream_alone():
    made, x = block(), randn(B, T, C)
    for projection in (made.attention.out_proj, made.down_proj):
        nn.init.zeros_(projection.weight)
        nn.init.zeros_(projection.bias)
    assert torch.equal(made(x), x)


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 1, "hidden_dim": 7, "bias": False}, *KINDS])
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
            "num_heads must divide embed_dim, got embed_dim 12, num_heads 5; or give head_dim",
        ),
        (lambda: TransformerBlock(12, 3, hidden_dim=0), ValueError, "hidden_dim must be at least 1, got 0"),
        (
            lambda: TransformerBlock(12, 3, activation="gelu"),
            TypeError,
            "activation must be a function of a tensor, or a module, got 'gelu'; "
            "torch.nn.functional.gelu is one, nn.PReLU() another",
        ),
        (
            lambda: TransformerBlock(12, 3, activation=nn.PReLU),
            TypeError,
            "activation must be a function of a tensor, or a module, got PReLU; "
            "torch.nn.functional.gelu is one, nn.PReLU() another",
        ),
        *(
            (lambda x=x, first=first: TransformerBlock(12, 3, norm_first=first)(x), error, message)
            for first in (True, False)
            for x, error, message in (
                (torch.zeros(2, 5, 7), ValueError, "x must be (B, T, C) with C = 12, got (2, 5, 7)"),
                (
                    torch.zeros(2, 5, 12).double(),
                    TypeError,
                    "x must have the layer's dtype torch.float32, got torch.float64; "
                    "convert x, or the layer, with .to(dtype)",
                ),
                ([[1.0]], TypeError, "x must be a torch.Tensor, got list; wrap it in torch.as_tensor"),
            )
        ),
        (
            lambda: TransformerBlock.from_torch(nn.Linear(1, 1)),
            TypeError,
            "layer must be a nn.TransformerEncoderLayer or a nn.TransformerDecoderLayer, got Linear",
        ),
        (
            lambda: TransformerBlock(12, 3, norm="batch"),
            ValueError,
            """norm must be "layer" or "rms", got 'batch'""",
        ),
        (lambda: TransformerBlock(12, 3, norm=None), ValueError, 'norm must be "layer" or "rms", got None'),
        *(
            (
                lambda name=name: TransformerBlock(12, 3, **{name: "no"}),
                TypeError,
                f"{name} must be True or False, got str",
            )
            for name in ("norm_first", "gated", "context", "bias")
        ),
        (lambda: TransformerBlock(12, 3, eps="small"), TypeError, "eps must be a number, got str ('small')"),
        (lambda: TransformerBlock(12, 3, dropout="0"), TypeError, "dropout must be a number, got str ('0')"),
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


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_the_attention_of_a_block_gets_its_dropout_and_its_bias(norm):
    made = block(dropout=0.3, bias=False, norm=norm, gated=True)
    assert made.attention.dropout == 0.3
    assert [name for name, _ in made.named_parameters() if "bias" in name] == []


@pytest.mark.parametrize(
    "frozen", ["self_attn.in_proj_weight", "self_attn.out_proj.bias", "linear1.weight", "norm2.bias"]
)
def test_what_is_frozen_in_the_original_is_frozen_in_the_copy(frozen):
    theirs = nn.TransformerEncoderLayer(12, 3, batch_first=True)
    theirs.get_parameter(frozen).requires_grad_(False)
    copied = TransformerBlock.from_torch(theirs)
    names = {
        "self_attn.in_proj_weight": {f"attention.{part}_proj.weight" for part in "qkv"},
        "self_attn.out_proj.bias": {"attention.out_proj.bias"},
        "linear1.weight": {"up_proj.weight"},
        "norm2.bias": {"network_norm.bias"},
    }
    assert {name for name, p in copied.named_parameters() if not p.requires_grad} == names[frozen]


# a block that attends to a context


def reader(**options):
    torch.manual_seed(0)
    return TransformerBlock(C, H, context=True, **options).to(DEVICE).eval()


def test_a_context_is_read_between_attention_and_network():
    made, x, context = reader(), randn(B, T, C), randn(B, 7, C, seed=1)
    mask = torch.arange(7, device=DEVICE) < torch.tensor([7, 3], device=DEVICE)[:, None, None, None]
    y = x + made.attention(made.attention_norm(x), causal=True)
    z = y + made.cross_attention(made.cross_norm(y), context, mask=mask)
    expected = z + made.down_proj(F.gelu(made.up_proj(made.network_norm(z))))
    assert_close(made(x, context, causal=True, context_mask=mask), expected)
    changed = context.clone()
    changed[1, 3:] += 1.0
    assert torch.equal(
        made(x, changed, causal=True, context_mask=mask), made(x, context, causal=True, context_mask=mask)
    )


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_it_computes_what_a_decoder_layer_of_pytorch_computes(norm_first, bias):
    torch.manual_seed(0)
    theirs = nn.TransformerDecoderLayer(
        C, H, 17, norm_first=norm_first, bias=bias, batch_first=True, layer_norm_eps=1e-3
    )
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    theirs.to(DEVICE).eval()
    theirs.norm3.weight.requires_grad_(False)
    ours = TransformerBlock.from_torch(theirs)
    x, context = randn(B, T, C), randn(B, 7, C, seed=1)
    hidden = ~causal_mask(T, device=DEVICE)
    expected = theirs(x, context, tgt_mask=hidden, tgt_is_causal=True)
    assert_close(ours(x, context, causal=True), expected, rtol=1e-4, atol=1e-5)
    assert ours.cross_norm.eps == 1e-3
    assert [name for name, p in ours.named_parameters() if not p.requires_grad] == ["network_norm.weight"]


def test_cached_steps_with_a_context_equal_one_causal_pass():
    made, x, context = reader(norm="rms", gated=True), randn(B, T, C), randn(B, 7, C, seed=1)
    cache = made.attention.make_cache(B, T)
    with torch.no_grad():
        steps = [made(part, context, causal=True, cache=cache) for part in x.split(1, 1)]
    assert_close(torch.cat(steps, 1), made(x, context, causal=True))


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"context": True}, {}, "a block made with context=True attends to a context: give one, got none"),
        (
            {},
            {"context": torch.zeros(1, 2, 12)},
            "context is for a block that attends to one: make it with TransformerBlock(..., context=True)",
        ),
        (
            {},
            {"context_mask": torch.ones(2, 2).bool()},
            "context_mask is for a block that attends to one: make it with TransformerBlock(..., context=True)",
        ),
    ],
)
def test_a_context_without_its_attention_or_the_reverse_gets_this_message(options, given, message):
    with pytest.raises(ValueError) as caught:
        TransformerBlock(12, 3, **options)(torch.zeros(1, 2, 12), **given)
    assert str(caught.value) == message


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_eps_is_that_of_every_norm(norm):
    made = reader(norm=norm, eps=0.25)
    assert {part.eps for part in (made.attention_norm, made.cross_norm, made.network_norm)} == {0.25}
    x = torch.tensor([[1.0, -1.0]])
    assert_close(make_norm(norm, 2, eps=0.25)(x), x / math.sqrt(1.25))


def test_a_block_turns_by_the_positions_it_is_given():
    made, x = block().eval(), randn(B, T, C)
    positions = torch.tensor([[0, 2, 3, 7, 8], [4, 5, 6, 7, 8]], device=DEVICE)
    turned = lambda heads, _: rotary(heads, positions[:, None])  # noqa: E731
    assert_close(
        made(x, causal=True, rotary=rotary, positions=positions), made(x, causal=True, rotary=turned)
    )
    with pytest.raises(
        ValueError, match="positions are what rotary turns by: give both, got positions alone"
    ):
        made(x, positions=positions)


@pytest.mark.parametrize("context", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_there_and_back_again_is_the_same_block(context, norm_first, bias):
    ours = block(
        context=context,
        norm_first=norm_first,
        bias=bias,
        eps=1e-3,
        dropout=0.25,
        hidden_dim=17,
        activation=nn.PReLU(),
    )
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.3)
    ours.down_proj.weight.requires_grad_(False)
    back = ours.eval().to_torch()
    x, memory, hidden = randn(B, T, C), randn(B, 7, C, seed=1), ~causal_mask(T, device=DEVICE)
    expected = back(x, memory, hidden, tgt_is_causal=True) if context else back(x, hidden, is_causal=True)
    assert_close(ours(x, memory if context else None, causal=True), expected, rtol=1e-4, atol=1e-5)
    state, again = ours.state_dict(), TransformerBlock.from_torch(back).state_dict()
    assert state.keys() == again.keys()
    assert all(torch.equal(state[name], again[name]) for name in state)
    assert not back.training
    assert [name for name, p in back.named_parameters() if not p.requires_grad] == ["linear2.weight"]


@pytest.mark.parametrize("options", [{"gated": True}, {"norm": "rms"}])
def test_a_block_that_pytorch_has_not_is_not_handed_to_it(options):
    with pytest.raises(ValueError, match="must compute the same, and knows no gate and no RMS norm"):
        TransformerBlock(12, 3, **options).to_torch()


@pytest.mark.parametrize("kind", [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer])
def test_each_norm_keeps_its_own_eps_there_and_back(kind):
    layer = kind(12, 3, 7, batch_first=True)
    names = [name for name in ("norm1", "norm2", "norm3") if hasattr(layer, name)]
    for i, name in enumerate(names):
        getattr(layer, name).eps = 10.0**-i
    back = TransformerBlock.from_torch(layer).to_torch()
    assert [getattr(back, name).eps for name in names] == [10.0**-i for i in range(len(names))]


def test_what_the_layers_have_besides_is_passed_on_and_not_shared():
    made = reader(head_dim=5, scale=nn.Parameter(torch.ones(())), softcap=2.0, qk_norm=True)
    for part in (made.attention, made.cross_attention):
        assert (part.head_dim, part.softcap) == (5, 2.0)
        assert part.q_norm is not None
    assert made.attention.scale is not made.cross_attention.scale
    assert made(randn(B, T, C), randn(B, 7, C)).shape == (B, T, C)
    with pytest.raises(TypeError, match=r"TransformerBlock has no argument 'gatd'; did you mean 'gated'\?"):
        TransformerBlock(12, 3, gatd=True)
