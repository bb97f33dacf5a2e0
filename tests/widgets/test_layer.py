import math

import pytest
import torch

from attnlib import causal_mask
from attnlib.widgets import WholeLayer


def test_the_layer_finds_who_is_meant_with_two_heads_and_not_with_the_same_weights_in_one():
    widget = WholeLayer()
    assert repr(widget) == (
        "WholeLayer('Goku throws the Spirit Bomb at Frieza because he is desperate', step='words', word='he')"
    )
    goku, frieza, he = (widget.words.index(word) for word in ("Goku", "Frieza", "he"))
    who, before = widget.numbers()["weights"][:, he]
    assert who.argmax() == goku
    assert who[goku] > 0.85
    assert before.argmax() == he - 1
    widget.heads = 1
    assert widget.numbers()["weights"][0, he].argmax() == frieza


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("heads", [1, 2])
def test_the_layer_by_hand_is_the_layer_of_attnlib(causal, heads):
    widget = WholeLayer("Bulma gives the radar to Goku", causal=causal, heads=heads)
    x, T, D = widget.x(), 6, 10 // heads
    tables = (torch.tensor(w, dtype=torch.float64) for w in (widget.w_q, widget.w_k, widget.w_v))
    q, k, v = ((x @ w).view(T, heads, D).transpose(0, 1) for w in tables)
    mask = causal_mask(T) if causal else torch.ones(T, T, dtype=torch.bool)
    weights = (q @ k.mT / math.sqrt(D)).masked_fill(~mask, -math.inf).softmax(-1)
    found = widget.numbers()
    torch.testing.assert_close(found["weights"], weights)
    merged = (weights @ v).transpose(0, 1).flatten(1)
    torch.testing.assert_close(found["output"], merged @ torch.tensor(widget.w_o, dtype=torch.float64))


@pytest.mark.parametrize(
    ("sentence", "asks", "meant"),
    [
        ("Frieza throws the Spirit Bomb at Goku because he is desperate", "he", "Frieza"),
        ("Goku fights Frieza and Bulma helps because she is brave", "she", "Bulma"),
        ("Bulma gives the radar to Goku because it is broken", "it", "radar"),
        ("the queen smiles because the king helps her", "her", "queen"),
    ],
)
def test_the_head_for_who_is_meant_asks_by_kind(sentence, asks, meant):
    widget = WholeLayer(sentence)
    weights = widget.numbers()["weights"][0, widget.words.index(asks)]
    assert widget.words[weights.argmax()] == meant
    assert widget.words[widget.word] == asks


def test_meaning_asks_for_someone_and_not_with_the_reason():
    start = "Goku throws the Spirit Bomb at Frieza because he is"
    layers = [WholeLayer(f"{start} {reason} meaning") for reason in ("desperate", "evil")]
    rows = [layer.numbers()["weights"][0, -1] for layer in layers]
    assert torch.equal(*rows)
    assert layers[0].words[rows[0].argmax()] == "Goku"


def test_the_layer_knows_its_words_and_says_which_it_does_not():
    widget = WholeLayer("GOKU, sees bulma!")
    assert widget.words == ["Goku", "sees", "Bulma"]
    assert 40 <= len(widget.vocabulary) <= 80
    assert all(set(sentence.split()) <= set(widget.vocabulary) for sentence in widget.presets)
    with pytest.raises(ValueError, match=r"there is no vector for gokuu, naruto; known are Goku, Gohan"):
        WholeLayer("Gokuu sees Naruto")
    with pytest.raises(ValueError, match="from 1 to 12 words, got 13"):
        WholeLayer("the " * 13)
