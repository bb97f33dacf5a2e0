"""Small tasks that the chapters train on, made on the spot: nothing is downloaded."""

from attnlib.experiments.tasks.analogies import analogy_questions, word_pairs
from attnlib.experiments.tasks.lookup import (
    MISSING,
    recall,
    relation_masks,
    relations,
    several_lookups,
    spell,
    two_lookups,
)
from attnlib.experiments.tasks.manual import python_manual, words_of
from attnlib.experiments.tasks.order import copies, own_position, tokens_back
from attnlib.experiments.tasks.pronouns import PronounSentence, pronoun_sentences
from attnlib.experiments.tasks.senses import SenseSentence, sense_sentences
from attnlib.experiments.tasks.translation import NumberWords, number_words

__all__ = [
    "MISSING",
    "NumberWords",
    "PronounSentence",
    "SenseSentence",
    "analogy_questions",
    "copies",
    "number_words",
    "own_position",
    "pronoun_sentences",
    "python_manual",
    "recall",
    "relation_masks",
    "relations",
    "sense_sentences",
    "several_lookups",
    "spell",
    "tokens_back",
    "two_lookups",
    "word_pairs",
    "words_of",
]
