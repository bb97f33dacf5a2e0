import pytest
import torch

from attnlib.experiments.rnn_bottleneck.subjects import (
    HE,
    NAMES,
    SENTENCE,
    VOCABULARY,
    SubjectModel,
    tokens,
    who_is_he,
)


def test_the_names_come_first_in_the_vocabulary():
    assert VOCABULARY[: len(NAMES)] == NAMES
    assert len(set(VOCABULARY)) == len(VOCABULARY)


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="got 'bulma'"):
        tokens("bulma throws")


def test_he_is_the_subject_of_his_own_sentence():
    x, answers = who_is_he(5, 2, torch.Generator().manual_seed(0))
    length = len(SENTENCE)
    assert x.shape == answers.shape == (5, 2 * length)
    assert (answers >= 0).sum(1).tolist() == [2] * 5
    for sentence in range(2):
        he = sentence * length + HE
        assert all(VOCABULARY[token] == "he" for token in x[:, he])
        assert torch.equal(answers[:, he], x[:, sentence * length])


def test_the_gates_watched_are_those_of_the_lstm():
    torch.manual_seed(0)
    reader = SubjectModel(7)
    x = tokens("goku throws the spirit bomb at freeza because he is proud .")
    gates, cells, states = reader.watch(x)
    expected, (_, cell) = reader.lstm(reader.word(x))
    torch.testing.assert_close(states, expected[0])
    torch.testing.assert_close(cells[-1], cell[0, 0])
    assert gates.shape == cells.shape
    assert gates.min() > 0
    assert gates.max() < 1
