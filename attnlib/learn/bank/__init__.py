"""The exercises and quizzes: for each topic a module of graders, and a file of data and quiz."""

from __future__ import annotations

import functools
import tomllib
from importlib import import_module, resources

from attnlib.learn import data
from attnlib.learn.grading import Exercise, describe

CHAPTERS = {
    "1": "rnn_bottleneck",
    "2": "word_vectors",
    "3": "queries_keys_values",
    "4": "sqrt_dk",
    "5": "multi_head",
    "6": "causal_masks",
    "7": "complexity",
    "9": "transformer",
}


@functools.cache
def exercises() -> dict[str, Exercise]:
    """Return every exercise by its id, in the order of the book."""
    found = data.exercises()
    for topic in CHAPTERS.values():
        found += import_module(f"{__name__}.{topic}").EXERCISES
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
    file = resources.files(__name__) / f"{CHAPTERS[chapter]}.toml"
    table = tomllib.loads(file.read_text("utf8"))
    return {key: table[key] for key in ("chapter", "title", "question")}
