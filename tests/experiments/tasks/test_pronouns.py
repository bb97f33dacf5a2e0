import pytest

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.tasks.pronouns import pronoun_sentences


@pytest.mark.parametrize("unseen", [False, True])
def test_answer_and_other_are_the_two_names_around_the_verb(unseen):
    glove = WordVectors.glove()
    for s in pronoun_sentences(50, twist=True, unseen=unseen):
        first, second = sorted((s.answer, s.other))
        assert s.words.count("he") == 1
        assert s.words[second - 1] == "at"
        assert s.words[second + 1 :][:3] == ["because", "he", "is"]
        assert s.words[first + 2] == "the"
        assert all(word in glove for word in s.words)


def test_without_a_twist_he_is_the_first():
    assert all(s.answer < s.other for s in pronoun_sentences(50, twist=False))


def test_with_a_twist_the_adjective_alone_decides():
    first, second = set(), set()
    for s in pronoun_sentences(400, twist=True):
        (first if s.answer < s.other else second).add(s.words[-1])
    assert "tired" in first
    assert "cruel" in second
    assert not first & second


def test_twins_differ_in_their_last_word_and_in_who_he_is():
    sentences = pronoun_sentences(20, twist=True, twins=True)
    assert len(sentences) == 20
    for one, other in zip(sentences[::2], sentences[1::2], strict=True):
        assert one.words[:-1] == other.words[:-1]
        assert one.words[-1] != other.words[-1]
        assert (one.answer, one.other) == (other.other, other.answer)


@pytest.mark.parametrize(("count", "twist"), [(3, True), (4, False)])
def test_twins_need_a_twist_and_an_even_count(count, twist):
    with pytest.raises(ValueError, match="even count"):
        pronoun_sentences(count, twist=twist, twins=True)


def test_new_sentences_have_new_names_and_adjectives():
    seen = {word for s in pronoun_sentences(400, twist=True) for word in s.words}
    new = {word for s in pronoun_sentences(400, twist=True, unseen=True) for word in s.words}
    assert {"goku", "freeza", "desperate", "evil"} <= new - seen


def test_same_seed_gives_the_same_sentences():
    assert pronoun_sentences(5, twist=True, seed=3) == pronoun_sentences(5, twist=True, seed=3)
    assert pronoun_sentences(5, twist=True, seed=3) != pronoun_sentences(5, twist=True, seed=4)


def test_count_must_be_at_least_one():
    with pytest.raises(ValueError, match="count"):
        pronoun_sentences(0, twist=True)
