import pytest
import torch

from attnlib.experiments.rnn_bottleneck.translators import (
    OneVector,
    WithAttention,
    number_lists,
    share_translated,
    stored,
    stored_alignment,
)
from attnlib.experiments.tasks import number_words

models = pytest.mark.parametrize("model", [OneVector, WithAttention])


@pytest.fixture(scope="module")
def numbers():
    return number_words()


def words(tokens, vocabulary):
    return " ".join(vocabulary[token] for token in tokens)


def make(model, numbers, width=7):
    torch.manual_seed(0)
    return model(len(numbers.english_vocabulary), len(numbers.french_vocabulary), width)


def test_numbers_stand_one_behind_the_other_in_both_languages(numbers):
    source, real, previous, target = number_lists(numbers, torch.tensor([[342, 77], [5, -1]]))
    assert (
        words(source[0][real[0]], numbers.english_vocabulary) == "three hundred forty two . seventy seven ."
    )
    assert words(source[1][real[1]], numbers.english_vocabulary) == "five ."
    assert words(target[1][target[1] >= 0], numbers.french_vocabulary) == "cinq ."
    assert words(previous[0], numbers.french_vocabulary) == "<s> trois cent quarante deux . soixante dix sept"
    assert torch.equal(previous[0, 1:], target[0, :-1])


@models
def test_padding_changes_nothing(model, numbers):
    translator = make(model, numbers)
    alone = translator(*number_lists(numbers, torch.tensor([[5]]))[:3])
    beside = translator(*number_lists(numbers, torch.tensor([[5, -1], [342, 77]]))[:3])
    torch.testing.assert_close(beside[:1, : alone.shape[1]], alone)


def test_one_vector_is_all_that_the_decoder_gets(numbers):
    source, real, previous, _ = number_lists(numbers, torch.tensor([[342, 77]]))
    for model, same in ((OneVector, True), (WithAttention, False)):
        translator = make(model, numbers)
        states, _ = translator.encoder(translator.read_word(source))
        writing = translator.decoder(translator.written_word(previous))[0]
        other = states.clone()
        other[:, 0] += 1.0
        contexts = [translator.context(writing, seen, real) for seen in (states, other)]
        assert torch.equal(*contexts) is same


@models
def test_a_text_counts_if_every_word_is_right(model, numbers):
    translator = make(model, numbers)
    which = torch.tensor([[7], [9]])
    source, real, previous, target = number_lists(numbers, which)
    right = translator(source, real, previous).argmax(-1) == target
    assert share_translated(translator, numbers, which) == right.all(1).double().mean().item()


def test_stored_shares_are_shares_of_eight_lengths():
    runs = stored()
    assert {run["model"] for run in runs} == {"OneVector", "WithAttention"}
    for run in runs:
        assert len(run["whole"]) == 8
        assert all(0 <= share <= 1 for share in run["whole"])


def test_the_weights_of_a_trained_one_are_a_row_for_each_word_it_wrote(numbers):
    source, target, weights = stored_alignment()
    assert source == [*numbers.english[342], *numbers.english[77], *numbers.english[5]]
    assert target == [*numbers.french[342][1:], *numbers.french[77][1:], *numbers.french[5][1:]]
    assert weights.shape == (len(target), len(source))
    torch.testing.assert_close(weights.sum(1), torch.ones(len(target)), atol=0.005, rtol=0)
