import builtins

import pytest

from attnlib.experiments.tasks import number_words


def test_numbers_are_spelt_in_both_languages():
    data = number_words()
    assert data.english[97] == ["ninety", "seven", "."]
    assert data.french[97] == ["<s>", "quatre", "vingt", "dix", "sept", "."]
    assert data.english[342] == ["three", "hundred", "forty", "two", "."]
    assert data.french[200] == ["<s>", "deux", "cents", "."]


def test_tokens_spell_the_words_again():
    data = number_words(313)
    for n in (0, 97, 312):
        real = data.source_mask[n, 0, 0]
        words = [data.english_vocabulary[t] for t in data.source[n][real].tolist()]
        assert words == data.english[n]
        known = data.target[n] >= 0
        target = [data.french_vocabulary[t] for t in data.target[n][known].tolist()]
        before = [data.french_vocabulary[t] for t in data.previous[n][known].tolist()]
        assert target == data.french[n][1:]
        assert before == data.french[n][:-1]
    assert data.source.shape == data.source_mask[:, 0, 0].shape
    assert data.previous.shape == data.target.shape


@pytest.mark.parametrize("count", [0, 1001])
def test_count_is_bounded(count):
    with pytest.raises(ValueError, match=f"count must lie between 1 and 1000, got {count}"):
        number_words(count)


def test_without_num2words_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "num2words":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'attnlib\[book\]'"):
        number_words(3)
