import pytest
import torch

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.putting_it_together.two_layers import Lesson, load_two_layers, long_vectors
from attnlib.widgets import LearnedLayers
from attnlib.widgets.learned import LENGTHS, OTHERS, PRESETS, vocabulary


def next_word(widget):
    return widget.vocabulary[widget.numbers()["chances"].argmax()]


def test_it_knows_the_words_of_the_training_and_others_and_says_which_it_does_not():
    widget = LearnedLayers("GOKU kicks the ball at john, because he is tired, meaning")
    assert widget.words == ["Goku", "kicks", "the", "ball", "at", "John", "because", "he", "is", "tired"]
    assert repr(widget) == "LearnedLayers('Goku kicks the ball at John because he is tired', handed=False)"
    lesson = Lesson(WordVectors.glove())
    assert vocabulary()[: widget.trained] == lesson.used
    assert [told.shape[1] - 1 for told, _ in lesson.tables] == LENGTHS
    assert [word.lower() for word in widget.vocabulary[:66]] == lesson.used
    assert all({*line.split()} <= {*widget.vocabulary} for line in PRESETS + OTHERS)
    with pytest.raises(ValueError, match=r"there is no vector for krillin; known are afraid, aims"):
        LearnedLayers("Krillin throws the ball")
    with pytest.raises(ValueError, match="from 1 to 13 words before meaning, got 14"):
        LearnedLayers("the " * 14)


def test_its_numbers_are_those_of_the_stored_model_on_glove():
    widget = LearnedLayers(PRESETS[1])
    told = [
        "goku",
        "throws",
        "the",
        "spirit",
        "bomb",
        "at",
        "freeza",
        "because",
        "he",
        "is",
        "evil",
        "meaning",
    ]
    x = long_vectors(WordVectors.glove(), told).double()
    found = widget.numbers()
    torch.testing.assert_close(found["weights"], load_two_layers().weights(x), rtol=0, atol=1e-5)
    torch.testing.assert_close(found["chances"].sum(), torch.tensor(1.0, dtype=torch.float64))
    assert torch.equal(found["own"], found["chances"])


def test_it_follows_the_reason_and_the_names():
    assert [next_word(LearnedLayers(line)) for line in PRESETS] == [
        "Goku", "Frieza", "Frieza", "Michael", "George", "Adam",
    ]  # fmt: skip


@pytest.mark.parametrize("line", PRESETS[:2])
def test_the_exchange_gives_the_name_that_the_other_line_asks_for_and_the_control_keeps_it(line):
    own = LearnedLayers(line).numbers()
    for other, name in zip(OTHERS, ["Frieza", "Goku"] * 2, strict=True):
        widget = LearnedLayers(line, other=other.split(), handed=True)
        assert next_word(widget) == name
        assert torch.equal(widget.numbers()["own"], own["own"])
        assert torch.equal(widget.numbers()["weights"][0], own["weights"][0])
