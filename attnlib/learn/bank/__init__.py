"""The exercises and quizzes: for each topic a file of all that is said, and a module of graders for functions."""

from __future__ import annotations

import functools
from importlib import import_module

from attnlib.learn import judging
from attnlib.learn.grading import Exercise, describe

CHAPTERS = {
    "1": "rnn_bottleneck",
    "2": "word_vectors",
    "3": "queries_keys_values",
    "4": "sqrt_dk",
    "5": "multi_head",
    "6": "causal_masks",
    "7": "complexity",
    "8": "positions",
    "9": "transformer",
}


@functools.cache
def exercises() -> dict[str, Exercise]:
    """Return every exercise by its id, in the order of the book."""
    found = []
    for topic in CHAPTERS.values():
        graders, table = import_module(f"{__name__}.{topic}"), judging.tables()[topic]
        for spec in table["exercise"]:
            if spec["kind"] == "function":
                says = table.get("says", {}) | spec["says"]  # what the topic's graders share, and its own
                grade = functools.partial(getattr(graders, spec["grader"]), says=says)
            else:
                grade = judging.grader(spec)
            found.append(judging.exercise(spec, grade))
    return {one.id: one for one in sorted(found, key=lambda one: tuple(map(int, one.id.split("."))))}


def quiz_data(chapter: str) -> dict:
    """Return the name of a chapter, and the title and questions of its quiz.

    Raises:
        TypeError: If the chapter is not text.
        ValueError: If there is no such chapter.
    """
    if type(chapter) is not str:
        raise TypeError(f'the chapter must be text, like "3", got {describe(chapter)}; put it in quotes')
    if chapter not in CHAPTERS:
        raise ValueError(f"there is no quiz {chapter!r}; there are {', '.join(CHAPTERS)}")
    table = judging.tables()[CHAPTERS[chapter]]
    return {key: table[key] for key in ("chapter", "title", "question")}
