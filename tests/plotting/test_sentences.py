import pytest

from attnlib import plotting


def test_words_weights_and_arcs_are_drawn():
    drawn = plotting.sentences(["he is evil"], ["he"], [[0.2, 0.0, 0.8]])._repr_svg_()
    assert all(f">{word}<" in drawn for word in ("he", "is", "evil", "0.20", "0.80"))
    assert drawn.count("<path") == 1  # a weight of 0 has no arc, nor has the word that looks


def test_without_weights_every_word_has_a_thin_arc_itself_included():
    assert plotting.sentences(["who is he"], ["he"])._repr_svg_().count("stroke-dasharray") == 3


def test_a_word_must_be_in_its_sentence():
    with pytest.raises(ValueError, match="asks must be a word of its sentence, got 'she'"):
        plotting.sentences(["he is evil"], ["she"])


def test_every_word_needs_a_weight():
    with pytest.raises(ValueError, match="each of 3 words needs a weight, got 2"):
        plotting.sentences(["he is evil"], ["he"], [[0.5, 0.5]])


def test_a_label_stands_above_its_sentence_and_makes_room():
    texts, asks = ["he is evil"] * 2, ["he"] * 2
    plain, said = plotting.sentences(texts, asks), plotting.sentences(texts, asks, labels=["before", "after"])
    assert all(f">{label}<" in said._repr_svg_() for label in ("before", "after"))
    assert said.height > plain.height


def test_a_hidden_word_is_struck_out():
    texts, asks = ["he is evil"] * 2, ["he"] * 2
    drawn = plotting.sentences(texts, asks, [[0.0, 0.0, 1.0]] * 2, hidden=[None, "is"])._repr_svg_()
    assert drawn.count(f'stroke="{plotting.SERIES[3]}"') == 1
    with pytest.raises(ValueError, match="hidden must be a word of its sentence, got 'she'"):
        plotting.sentences(texts, asks, hidden=["she", None])


def test_the_farther_a_word_the_higher_its_arc_so_that_arcs_do_not_clot():
    near = plotting.sentences(["he is evil"], ["he"], [[0.0, 1.0, 0.0]])
    far = plotting.sentences(["he is evil"], ["he"], [[0.0, 0.0, 1.0]])
    assert far.height > near.height


def test_of_two_numbers_without_room_for_both_the_larger_is_written():
    drawn = plotting.sentences(["he is a b"], ["he"], [[0.0, 0.0, 0.7, 0.3]])._repr_svg_()
    assert ">0.70<" in drawn
    assert ">0.30<" not in drawn
    assert drawn.count("<path") == 2
