import pytest
import torch

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.tasks.senses import SENSES, sense_anchors, sense_sentences


@pytest.mark.parametrize(("unseen", "count"), [(False, 784), (True, 400)])
def test_every_sentence_asks_twice_and_every_word_has_a_vector(unseen, count):
    glove, sentences = WordVectors.glove(), sense_sentences(unseen=unseen)
    assert len(sentences) == count
    for apple, bank in zip(sentences[::2], sentences[1::2], strict=True):
        assert apple.words == bank.words
        assert (apple.asks, bank.asks) == ("apple", "bank")
        assert all(word in glove for word in apple.words)


def test_senses_come_equally_often():
    counts = [sum(s.sense == i for s in sense_sentences()) for i in range(4)]
    assert len(set(counts)) == 1


def test_new_clues_are_new():
    known = {word for s in sense_sentences() for word in s.words}
    new = {word for s in sense_sentences(unseen=True) for word in s.words} - known
    assert len(new) >= 20
    assert {"chopped", "landed", "deposited"} <= new


def test_two_words_that_share_a_sentence_never_share_a_sense():
    # so that one vector for both can be right about one of them at most
    sentences = sense_sentences()
    assert all(a.sense != b.sense for a, b in zip(sentences[::2], sentences[1::2], strict=True))


def test_anchors_are_directions_nearest_to_their_own_words():
    glove = WordVectors.glove()
    anchors = sense_anchors(glove)
    assert torch.allclose(anchors.norm(dim=-1), torch.ones(4))
    assert SENSES[int((anchors @ glove["banana"]).argmax())] == "fruit"
    assert SENSES[int((anchors @ glove["lake"]).argmax())] == "river"
