import pytest
import torch

from attnlib.experiments.finishers import (
    CUE,
    Finisher,
    encode_beginnings,
    finished_rightly,
)
from attnlib.experiments.listeners import encode
from attnlib.experiments.tasks import pronoun_sentences
from attnlib.experiments.wordvectors import WordVectors

GLOVE = WordVectors.glove()
TEXT = "goku kicks freeza because he is desperate meaning"


def untrained(looks=2):
    torch.manual_seed(0)
    return Finisher(GLOVE, looks=looks)


def test_the_cue_is_the_last_word_of_every_sentence():
    sentences = pronoun_sentences(7, twist=True)
    for ids, sentence in zip(encode_beginnings(GLOVE, sentences), sentences, strict=True):
        words = [GLOVE.words[i] for i in ids.tolist() if i >= 0]
        assert words == [*sentence.words, CUE]


def test_weights_sum_to_one_and_leave_the_filling_out():
    ids = encode(GLOVE, [TEXT.split(), TEXT.split()[2:]])
    weights = untrained().weights(ids)
    assert torch.allclose(weights.sum(-1), torch.ones(2))
    assert not weights[ids < 0].any()


def test_what_stands_behind_a_sentence_does_not_reach_it():
    short, long = TEXT.split()[2:], TEXT.split()
    model = untrained()
    alone, beside = model(encode(GLOVE, [short])), model(encode(GLOVE, [short, long]))
    assert torch.allclose(alone[0], beside[0], atol=1e-5)


def test_no_word_hears_a_later_one():
    ids = encode(GLOVE, [TEXT.split(), TEXT.replace("desperate", "evil").split()])
    desperate, evil = untrained().read(ids)
    assert torch.equal(desperate[:6], evil[:6])
    assert not torch.allclose(desperate[7], evil[7])


def test_all_weight_on_a_word_writes_that_word():
    model = untrained(looks=1)
    ids = encode(GLOVE, [TEXT.split()])
    model.weights = lambda ids: torch.eye(8)[2:3]
    assert GLOVE.words[model.likeness(model(ids))[0].argmax()] == "freeza"


def test_a_name_is_right_if_it_is_the_one_that_is_meant():
    sentences = pronoun_sentences(6, twist=True)
    model = untrained()
    model.weights = lambda ids: torch.eye(ids.shape[1])[[s.answer for s in sentences]]
    assert finished_rightly(model, GLOVE, sentences) == [True] * 6
    model.weights = lambda ids: torch.eye(ids.shape[1])[[s.other for s in sentences]]
    assert finished_rightly(model, GLOVE, sentences) == [False] * 6


def test_there_must_be_a_look():
    with pytest.raises(ValueError, match="looks"):
        Finisher(GLOVE, looks=0)
