import re

import pytest

from attnlib.experiments.bytepairs import PIECE, BytePairs, join, learn_merges

TEXT = "the cat sat on the mat, the end of the cat.\n    the mat is 12 long\fthe last page"


def slow_merges(text, count):
    """The definition, written as one would say it: count all pairs anew for each merge."""
    pieces = [list(piece.encode()) for piece in PIECE.findall(text)]
    merges = []
    for new in range(256, 256 + count):
        counts = {}
        for piece in pieces:
            for i in range(len(piece) - 1):
                pair = (piece[i], piece[i + 1])
                counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        for piece in pieces:
            i = 0
            while i < len(piece) - 1:
                if (piece[i], piece[i + 1]) == best:
                    piece[i : i + 2] = [new]
                i += 1
    return merges


def test_the_first_merges_by_hand():
    # of three pairs that come twice, the one with the lowest tokens is first: the space and c
    assert learn_merges("aab aab", 1) == [(97, 97)]
    assert learn_merges("ab ab ab cd cd", 3) == [(97, 98), (32, 99), (32, 256)]


@pytest.mark.parametrize("text", [TEXT, "aaaa aaa aa aaaaa", "größer größte Größe 日本 日本語", "", "a"])
def test_merges_are_those_of_the_slow_definition(text):
    assert learn_merges(text, 40) == slow_merges(text, 40)


def test_learning_stops_when_nothing_comes_twice():
    assert learn_merges("abc", 10) == []
    assert len(learn_merges("abab", 10)) == 1


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "",
        " ",
        "\n\n\n   x",
        "tab\tand\rreturn",
        "größer 日本語 🙂",
        "\x00\x7f",
        "a\u2003b\u00a0c\u2028d",
        "1_000.5e-3",
    ],
)
def test_any_text_comes_back(text):
    for merges in ([], learn_merges(TEXT * 3, 60)):
        pairs = BytePairs(merges)
        assert pairs.decode(pairs.encode(text)) == text
        assert "".join(PIECE.findall(text)) == text


def test_tokens_are_joined_in_the_order_learned():
    pairs = BytePairs([(98, 99), (97, 98)])  # bc before ab
    assert pairs.encode("abc") == [97, 256]
    assert pairs.encode("abab") == [257, 257]
    assert pairs.spelled[256:] == [b"bc", b"ab"]


def test_no_token_crosses_a_piece():
    pairs = BytePairs(learn_merges(TEXT * 5, 200))
    for token in pairs.spelled[256:]:
        assert re.fullmatch(PIECE, token.decode())
    assert pairs.encode("\f") == [12]
    assert pairs.encode("a\fb").count(12) == 1


def test_join_reads_from_left_to_right():
    assert join([1, 1, 1], (1, 1), 9) == [9, 1]
    assert join([], (1, 1), 9) == []


def test_half_a_letter_is_marked():
    assert BytePairs([]).decode("ö".encode()[:1]) == "\ufffd"


def test_bad_input_is_told():
    with pytest.raises(ValueError, match=r"merge 0 must join tokens below 256, got 97 and 256"):
        BytePairs([(97, 256)])
    with pytest.raises(ValueError, match=r"tokens must lie between 0 and 255, got 256"):
        BytePairs([]).decode([256])
    with pytest.raises(TypeError, match="text must be a str, got bytes"):
        BytePairs([]).encode(b"x")
    with pytest.raises(ValueError, match="count must be at least 0"):
        learn_merges("x", -1)
