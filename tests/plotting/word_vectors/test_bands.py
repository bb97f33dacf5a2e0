import re

import pytest

from attnlib import plotting


def test_the_bands_are_as_broad_as_the_weights():
    drawn = plotting.attention_bands(["buy green apple"], ["apple"], [[0.1, 0.2, 0.7]])._repr_svg_()
    broad = [float(h) for h in re.findall(r" h([\d.]+) C", drawn)]
    assert broad[1] == pytest.approx(2 * broad[0], abs=0.02)
    assert broad[2] == pytest.approx(7 * broad[0], abs=0.05)
    assert all(f">{weight}<" in drawn for weight in ("0.10", "0.20", "0.70"))


def test_a_word_that_gets_nothing_is_grey():
    drawn = plotting.attention_bands(["buy green apple"], ["apple"], [[0.5, 0.5, 0.0]])._repr_svg_()
    colours = re.findall(r'fill="(#\w+)" text-anchor="middle">(?:buy|green|apple)<', drawn)
    assert colours == [plotting.KEY, plotting.KEY, plotting.MUTED]
    assert ">0.00<" not in drawn


def test_the_query_is_framed_and_without_weights_the_words_stand_alone():
    drawn = plotting.attention_bands(["who is he"], ["he"])._repr_svg_()
    assert drawn.count("<rect") == plotting.Drawing(10, 10)._repr_svg_().count("<rect") + 1
    assert 'font-weight="600">he<' in drawn


def test_two_sentences_fit_side_by_side():
    texts, queries = ["buy green apple", "buy apple phone"], ["apple", "apple"]
    below = plotting.attention_bands(texts, queries)
    beside = plotting.attention_bands(texts, queries, across=2)
    assert beside.width > 2 * below.width
    assert beside.height < below.height


def test_a_query_must_be_in_its_sentence():
    with pytest.raises(ValueError, match="queries must be words of their sentences, got 'she'"):
        plotting.attention_bands(["he is evil"], ["she"])


def test_every_word_needs_a_weight():
    with pytest.raises(ValueError, match="each of 3 words needs a weight, got 2"):
        plotting.attention_bands(["he is evil"], ["he"], [[0.5, 0.5]])


def test_a_name_says_what_the_weights_are():
    drawn = plotting.attention_bands(
        ["he is evil"] * 2, ["he"] * 2, [[0.0, 0.0, 1.0]] * 2, names=["first", "second"]
    )
    assert all(f">{name}<" in drawn._repr_svg_() for name in ("first", "second"))


def test_a_head_stands_once_above_its_column():
    one = ["he is evil"] * 4, ["he"] * 4, [[0.0, 0.0, 1.0]] * 4
    plain, headed = (
        plotting.attention_bands(*one, across=2, heads=heads) for heads in (None, ["left", "right"])
    )
    assert all(headed._repr_svg_().count(f">{head}<") == 1 for head in ("left", "right"))
    assert headed.height > plain.height
    with pytest.raises(ValueError, match="each of 2 columns needs a head, got 1"):
        plotting.attention_bands(*one, across=2, heads=["left"])


def test_a_long_sentence_stands_closer():
    usual, long = (
        plotting.attention_bands([text], ["he"], [[0.0] * len(text.split())])
        for text in ("he is", "he " * 17)
    )
    assert long.width - 16 < 17 * (usual.width - 16) / 2


def test_a_clue_is_underlined_and_named_and_must_be_in_its_sentence():
    one = ["buy green apple"], ["apple"], [[0.1, 0.2, 0.7]]
    plain, marked = (plotting.attention_bands(*one, clues=clues)._repr_svg_() for clues in (None, ["green"]))
    assert ">clue<" not in plain
    assert marked.count(">clue<") == 1
    assert marked.count("<path") == plain.count("<path") + 1
    with pytest.raises(ValueError, match="clues must be words of their sentences, got 'red'"):
        plotting.attention_bands(*one, clues=["red"])
