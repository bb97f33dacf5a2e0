import json
import math

import numpy as np
import pytest
import torch

from attnlib.experiments.manuals import as_one_text, longest_copy, read_manuals
from attnlib.experiments.ngrams import NGrams
from attnlib.experiments.writer import (
    SIZES,
    bits_a_character,
    load_writer,
    make_writer,
    next_token_losses,
)

PROMPTS = ["If the list is empty,", "The attention", "Return a new array", ""]


@pytest.fixture(scope="module")
def writer():
    return load_writer()


@pytest.fixture(scope="module")
def manuals():
    return read_manuals()


def test_what_is_stored_is_what_is_told_of_it(writer):
    told = writer.made["model"]
    assert sum(p.numel() for p in writer.model.parameters()) == told["parameters"]
    assert {name: told[name] for name in SIZES} == SIZES
    assert told["eps"] == writer.model.norm.eps
    assert len(writer.tokens) == writer.model.vocab_size == 1024
    assert not writer.model.training
    assert {p.dtype for p in writer.model.parameters()} == {torch.float32}
    for p in writer.model.parameters():  # widened from float16
        assert torch.equal(p, p.half().float())


def test_the_held_out_loss_is_the_stored_one_and_beats_counting(writer, manuals):
    told = writer.made["held_out"]
    text = as_one_text(manuals.held)
    tokens = torch.tensor(writer.tokens.encode(text))
    losses = next_token_losses(writer.model, tokens)
    assert (len(losses), len(text) - 1) == (told["tokens"], told["characters"])
    loss = losses.double().mean().item()
    assert loss == pytest.approx(told["nats_a_token"], abs=2e-3)
    bits = bits_a_character(loss, len(losses), len(text) - 1)
    assert bits == pytest.approx(told["bits_a_character"], abs=2e-3)
    rivals = writer.made["ngrams"]
    assert list(rivals) == ["1", "2", "3", "4", "5"]
    assert loss < 0.9 * min(rivals.values())


def test_the_rivals_that_are_told_are_those_counted(writer, manuals):
    train = np.array(writer.tokens.encode(as_one_text(manuals.train)))
    held = np.array(writer.tokens.encode(as_one_text(manuals.held)))
    for order in (1, 3):
        loss = NGrams(train, order, len(writer.tokens)).loss(held)
        assert loss == pytest.approx(writer.made["ngrams"][str(order)], abs=1e-4)


def test_tokens_of_the_manuals_come_back(writer, manuals):
    text = as_one_text(manuals.held[:20])
    assert writer.tokens.decode(writer.tokens.encode(text)) == text


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_text_is_the_same_each_time_with_cache_and_without(writer, prompt):
    text = writer.complete(prompt, 24)
    assert text == writer.complete(prompt, 24, seed=7)
    start = torch.tensor([writer.tokens.encode("\f" + prompt)])
    slow = writer.model.generate(start, 24, use_cache=False)[0, start.shape[1] :]
    assert writer.tokens.decode(slow.tolist()).partition("\f")[0] == text
    assert prompt == "" or len(text.split()) > 3


def test_drawn_text_depends_on_the_seed_alone(writer):
    drawn = [writer.complete("The array", 24, temperature=1.0, top_k=50, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_it_is_not_a_copy_machine(writer, manuals):
    read = as_one_text(manuals.train)
    text = writer.complete("The attention", 60, temperature=0.8, seed=1)
    assert len(text) > 100
    assert longest_copy(text, read).length < 0.7 * len(text)


def test_too_long_a_prompt_is_told(writer):
    with pytest.raises(
        ValueError, match=r"must fit 256 tokens, got \d+ \(a page break and the prompt\) and 40 steps"
    ):
        writer.complete("word " * 300)
    with pytest.raises(ValueError, match="steps must be at least 0"):
        writer.complete("x", -1)


def tiny():
    torch.manual_seed(0)
    sizes = {
        "vocab_size": 13,
        "max_length": 7,
        "embed_dim": 8,
        "num_heads": 2,
        "num_layers": 2,
        "hidden_dim": 11,
    }
    return make_writer(sizes)


@pytest.mark.parametrize("length", [2, 7, 8, 9, 30])
def test_losses_are_those_of_each_window_by_itself(length):
    model = tiny().eval()
    tokens = torch.randint(13, (length,))
    losses = next_token_losses(model, tokens, batch=2)
    want = []
    for start in range(0, length - 1, 7):
        window = tokens[start : start + 8]
        logits = model(window[None, :-1])[0].double()
        want += [-logits[i].log_softmax(0)[window[i + 1]].item() for i in range(len(window) - 1)]
    assert losses.shape == (length - 1,)
    torch.testing.assert_close(losses.double(), torch.tensor(want, dtype=torch.float64), atol=1e-5, rtol=0)


def test_measuring_leaves_the_mode_as_it_was():
    model = tiny().train()
    next_token_losses(model, torch.arange(9))
    assert model.training


def test_one_row_of_tokens_is_asked_for():
    with pytest.raises(ValueError, match=r"one row of at least two, got shape \(1, 9\)"):
        next_token_losses(tiny(), torch.arange(9)[None])
    with pytest.raises(ValueError, match=r"one row of at least two, got shape \(1,\)"):
        next_token_losses(tiny(), torch.arange(1))


def test_bits_by_hand():
    assert bits_a_character(2 * math.log(2), 10, 40) == pytest.approx(0.5)


def test_the_history_says_where_and_how(writer):
    made = json.loads(json.dumps(writer.made))
    assert {"text", "training", "history", "machine", "torch", "python", "date"} <= set(made)
    assert made["history"][-1]["step"] == made["training"]["steps"]
    assert set(made["text"]["licences"].values()) >= {"PSF-2.0", "BSD-3-Clause"}
