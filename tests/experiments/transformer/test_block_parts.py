import pytest
import torch

from attnlib import TransformerBlock, rotary
from attnlib.experiments import letters
from attnlib.experiments.transformer.block_parts import (
    NORMS,
    PARTS,
    PartialBlock,
    differences,
    held_out_loss,
    measure,
    partial_model,
    stored,
    stored_runs,
    train_parts,
)
from attnlib.instruments.counters import count_parameters
from tests import assert_close


@pytest.fixture(scope="module")
def text():
    data = torch.randint(5, (4000,), generator=torch.Generator().manual_seed(0)).cumsum(0) % 11
    return letters.Letters("abcdefghijk", data[:3600], data[3600:])


def draw(seed=0):
    return torch.randn(2, 3, 20, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("norm", "first"), [("before", True), ("after", False)])
def test_a_block_with_all_its_parts_is_that_of_the_library(norm, first):
    torch.manual_seed(0)
    ours, theirs = PartialBlock(20, 5, norm=norm), TransformerBlock(20, 5, norm_first=first)
    theirs.load_state_dict(ours.state_dict())
    assert_close(ours(draw(), causal=True), theirs(draw(), causal=True))


def test_without_norms_the_halves_are_added_as_they_are():
    block, x = PartialBlock(20, 5, norm="none"), draw()
    x1 = x + block.attention(x)
    hidden = torch.nn.functional.gelu(block.up_proj(x1))
    assert_close(block(x), x1 + block.down_proj(hidden))


def test_what_is_taken_out_is_not_asked():
    x = draw()
    no_network = PartialBlock(20, 5, without="network")
    assert_close(no_network(x), x + no_network.attention(no_network.attention_norm(x)))
    no_attention = PartialBlock(20, 5, without="attention")
    changed = x.clone()
    changed[:, 0] += 1
    assert torch.equal(no_attention(x)[:, 1:], no_attention(changed)[:, 1:])
    no_residual = PartialBlock(20, 5, without="residual")
    with torch.no_grad():
        no_residual.down_proj.weight.zero_()
        no_residual.down_proj.bias.zero_()
    assert no_residual(x).abs().max() == 0
    network_only = PartialBlock(20, 5, without=("attention", "residual"))
    assert_close(network_only(x), network_only._network(network_only.network_norm(x)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"norm": "inside"}, "norm must be one of"),
        ({"without": "head"}, "without must be"),
        ({"kind": "tomorrow"}, "kind must be one of plain, today"),
        ({"without": ("residual", "head")}, "without must be"),
    ],
)
def test_an_unknown_part_is_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        PartialBlock(20, 5, **wrong)


@pytest.mark.parametrize("norm", NORMS)
def test_models_of_one_seed_start_alike_and_only_norms_before_have_one_behind(text, norm):
    model, usual = partial_model(text, 2, norm=norm, seed=3), partial_model(text, 2, seed=3)
    assert torch.equal(model.blocks[1].up_proj.weight, usual.blocks[1].up_proj.weight)
    assert isinstance(model.norm, torch.nn.LayerNorm) == (norm == "before")


@pytest.mark.parametrize("norm", NORMS)
def test_blocks_of_today_are_those_of_the_writer_and_their_weights_are_counted(text, norm):
    model = partial_model(text, 2, norm=norm, kind="today")
    same = {"norm": "rms", "gated": True, "activation": torch.nn.functional.silu, "bias": False}
    theirs = TransformerBlock(64, 4, hidden_dim=172, **same)
    theirs.load_state_dict(model.blocks[0].state_dict())
    x = torch.randn(2, 3, 64, generator=torch.Generator().manual_seed(0))
    if norm == "before":
        assert_close(model.blocks[0](x, causal=True, rotary=rotary), theirs(x, causal=True, rotary=rotary))
    used = count_parameters(model) - (0 if norm != "none" else 4 * 64)  # norms that nobody asks
    assert model.facts["weights"] == used
    assert "rotary" in model.facts["model"]
    assert len(differences(model, text.lines()[:, :-1])) == 3


@pytest.mark.parametrize("without", [None, *PARTS])
def test_a_run_says_what_it_was_and_ends_below_chance(text, without):
    run = measure(text, layers=1, without=without, steps=60, lr=3e-3, seed=0)
    assert (run["layers"], run["without"], len(run["course"])) == (1, without, 20)
    assert run["course"][0] > run["course"][-1]
    assert run["held"] < torch.tensor(11.0).log()


def test_a_warm_up_begins_with_a_small_step(text):
    moved = []
    for warmup in (0, 99):
        model, start = partial_model(text, 1), partial_model(text, 1)
        train_parts(model, text, steps=1, warmup=warmup)
        moved.append((model.head.weight - start.head.weight).abs().max().item())
    assert moved[1] == pytest.approx(moved[0] / 100, rel=0.01)


def test_letters_that_are_all_alike_do_not_differ(text):
    model = partial_model(text, 2)
    lines = text.lines()[:, :-1]
    found = differences(model, lines)
    assert len(found) == 3
    assert all(0 < difference < 2 for difference in found)
    with torch.no_grad():
        model.position_embedding.weight.zero_()
    assert differences(model, lines[:, :1].expand(-1, 32)) == pytest.approx([0, 0, 0], abs=1e-6)


def test_a_step_of_ones_own_takes_the_place_of_the_block(text):
    model, lines = partial_model(text, 2), text.lines()[:, :-1]
    same = differences(model, lines, lambda block, x: block(x, causal=True))
    assert same == differences(model, lines)
    kept = differences(model, lines, lambda block, x: x)
    assert kept[0] == kept[1] == kept[2] == same[0] != same[1]


def test_the_held_out_loss_of_an_even_guess_is_that_of_chance(text):
    model = partial_model(text, 1)
    with torch.no_grad():
        model.head.weight.zero_()
    assert held_out_loss(model, text) == pytest.approx(torch.tensor(11.0).log().item())


def test_the_stored_runs_are_found_by_what_they_differ_in():
    usual, after = stored_runs(), stored_runs(norm="after")
    assert [run["seed"] for run in usual] == [run["seed"] for run in after] == [0, 1, 2, 3, 4]
    assert max(run["held"] for run in usual) < stored()["bigram"] < min(run["held"] for run in after)
    assert all(len(run["course"]) == 20 for run in stored()["runs"])
    with pytest.raises(ValueError, match=r"no run is stored with .*'layers': 3"):
        stored_runs(layers=3)
