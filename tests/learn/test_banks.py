"""Each grader on right answers written differently, and on the wrong ones people give (``answers/``)."""

from collections import Counter
from importlib import import_module

import pytest

from attnlib.learn import bank
from attnlib.learn.exercises import NOT_ATTEMPTED, _grade

ANSWERS = {n: import_module(f"tests.learn.answers.{topic}") for n, topic in bank.CHAPTERS.items()}
RIGHT = [
    (id, answer) for module in ANSWERS.values() for id, right in module.RIGHT.items() for answer in right
]
WRONG = [case for module in ANSWERS.values() for case in module.WRONG]
FUNCTIONS = sorted({id for id, answer in RIGHT if callable(answer)})


def grade(id, answer):
    return _grade(bank.exercises()[id], answer)


@pytest.mark.parametrize(("id", "answer"), RIGHT)
def test_right_answers_pass_however_they_are_written(id, answer):
    assert grade(id, answer) is None


@pytest.mark.parametrize(("id", "answer", "words"), WRONG)
def test_wrong_answers_get_their_mistake_named(id, answer, words):
    assert words in grade(id, answer)


@pytest.mark.parametrize("chapter", ANSWERS)
def test_every_exercise_is_tested_both_ways(chapter):
    answers = ANSWERS[chapter]
    ids = {id for id in bank.exercises() if id.split(".")[0] == chapter}
    wrong = Counter(id for id, *_ in answers.WRONG)
    assert set(answers.RIGHT) == set(wrong) == ids
    assert {id: len(right) for id, right in answers.RIGHT.items() if len(right) < 4} == {}
    assert {id: n for id, n in wrong.items() if n < 8} == {}


@pytest.mark.parametrize("id", FUNCTIONS)
def test_an_empty_function_counts_as_not_attempted(id):
    def not_written(*arguments):
        raise NotImplementedError

    assert grade(id, lambda *arguments: ...) is NOT_ATTEMPTED
    assert grade(id, not_written) is NOT_ATTEMPTED
