"""The exercises and quizzes, a module and a quiz file for each topic."""

from __future__ import annotations

import functools
import tomllib
from importlib import import_module, resources

from attnlib.learn.grading import Exercise, describe

CHAPTERS = {
    "1": "rnn_bottleneck",
    "2": "word_vectors",
    "3": "queries_keys_values",
    "4": "sqrt_dk",
    "5": "multi_head",
    "6": "causal_masks",
    "7": "complexity",
}


@functools.cache
def exercises() -> dict[str, Exercise]:
    """Return every exercise by its id, in the order of the book."""
    found = {}
    for topic in CHAPTERS.values():
        for exercise in import_module(f"{__name__}.{topic}").EXERCISES:
            found[exercise.id] = exercise
    return found


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
    file = resources.files(__name__) / f"{CHAPTERS[chapter]}.toml"
    return tomllib.loads(file.read_text("utf8"))
