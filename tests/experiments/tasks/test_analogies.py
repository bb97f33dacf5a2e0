import pytest

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.tasks import analogy_questions, word_pairs

PAIRS = word_pairs()


def test_every_word_has_a_vector_and_no_pair_comes_twice():
    glove = WordVectors.glove()
    for pairs in PAIRS.values():
        assert len(set(pairs)) == len(pairs) > 20
        assert all(word in glove for pair in pairs for word in pair)


@pytest.mark.parametrize("relation", PAIRS)
def test_within_a_relation_a_word_stands_in_one_place_only(relation):
    # otherwise a question could have two answers
    words = [word for pair in PAIRS[relation] for word in pair]
    assert len(set(words)) == len(words)


def test_as_b_is_to_c_so_is_a_to_the_answer():
    questions = analogy_questions()
    assert ("king", "man", "woman", "queen") in questions["gender"]
    assert ("italy", "france", "paris", "rome") in questions["capital"]
    assert ("go", "walk", "walked", "went") in questions["past"]


def test_every_pair_is_asked_about_every_other():
    for relation, questions in analogy_questions().items():
        n = len(PAIRS[relation])
        assert len(set(questions)) == len(questions) == n * (n - 1)
        assert all(len({a, b, c}) == 3 for a, b, c, _ in questions)
