import pytest

from attnlib import plotting
from tests.plotting.drawn import said


def test_the_second_row_carries_what_the_first_has_fetched():
    drawn = plotting.two_attention_rows("Goku is evil, meaning", "evil,", ["Goku"], ("first", "second"))
    assert said(drawn).count("+ evil") == 1
    assert said(drawn).count("meaning") == 3  # in the sentence, and by its two queries
    assert said(drawn).count("all") == said(drawn).count("?") == 1


def test_the_names_of_a_row_can_have_roles():
    roles = {"roles": ["throws", "is hit"]}
    drawn = plotting.two_attention_rows(
        "Goku at Frieza evil,", "evil,", ["Goku", "Frieza"], ("one", "two"), **roles
    )
    assert said(drawn)[-2:] == ["throws", "is hit"]
    with pytest.raises(ValueError, match="roles must be 1, one for each of Goku, got 2"):
        plotting.two_attention_rows("Goku is evil,", "evil,", ["Goku"], ("one", "two"), **roles)


def test_a_row_finds_words_of_the_sentence():
    with pytest.raises(ValueError, match="'good' must be a word of 'Goku is evil'"):
        plotting.two_attention_rows("Goku is evil", "good", ["Goku"], ("first", "second"))


def test_measured_rows_have_their_numbers_and_each_sentence_its_own():
    rows = [[0.01, 0.0, 0.99, 0.0], [0.75, 0.25, 0.0, 0.0]]
    texts = ["Goku is evil, meaning", "Goku is weak, meaning"]
    drawn = plotting.two_attention_rows(
        texts, ["evil,", "weak,"], ["Goku"], ("first", "second"), weights=[rows] * 2
    )
    assert [said(drawn).count(part) for part in ("0.99", "0.75", "0.25", "0.01", "0.00")] == [2, 2, 0, 0, 0]
    assert said(drawn).count("+ evil") == said(drawn).count("+ weak") == 1
    assert not {"all", "?"} & set(said(drawn))
    with pytest.raises(ValueError, match=r"weights must be \(2, 4\) to fit the words, got \(1, 4\)"):
        plotting.two_attention_rows(texts[0], "evil,", ["Goku"], ("first", "second"), weights=rows[:1])
