"""Numbers under the words of a sentence, and a sentence that is read twice."""

import re

import pytest

from attnlib import plotting


def said(drawing):
    return re.findall(r">([^<>]+)</text>", drawing._repr_svg_())


def test_every_number_stands_under_its_word_and_the_last_words_may_be_without():
    drawn = plotting.under_words(["he", "is", "evil"], {"score": ([-1.25, 0.0], plotting.KEY)}, asks="he")
    assert said(drawn) == ["he", "is", "evil", "score", "−1.25", "0"]
    assert drawn._repr_svg_().count("stroke-dasharray") == 1


def test_a_row_has_its_own_decimals():
    rows = {"a": ([0.25], plotting.KEY), "b": ([2.5], plotting.WEIGHT)}
    assert said(plotting.under_words(["he"], rows, digits=[2, 1])) == ["he", "a", "0.25", "b", "2.5"]


def test_a_row_may_be_without_numbers():
    drawn = plotting.under_words(["he", "is"], {"changed": ([0.0, 1.0], plotting.KEY)}, digits=[None])
    assert said(drawn) == ["he", "is", "changed"]
    assert f'fill="{plotting.KEY}" fill-opacity="0.5"' in drawn._repr_svg_()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"asks": "she"}, "asks must be one of the words, got 'she'"), ({}, "at most 1 numbers, got 2")],
)
def test_what_does_not_fit_the_words_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        plotting.under_words(["he"], {"a": ([0.25, 0.5], plotting.KEY)}, **options)


def test_the_second_look_carries_what_the_first_has_fetched():
    drawn = plotting.two_looks("Goku is evil, meaning", "evil,", ["Goku"], ("first", "second"))
    assert said(drawn).count("+ evil") == 1
    assert said(drawn).count("meaning") == 3  # in the sentence, and as the one who asks
    assert said(drawn).count("all") == said(drawn).count("?") == 1


def test_the_names_of_a_look_can_have_roles():
    roles = {"roles": ["throws", "is hit"]}
    drawn = plotting.two_looks("Goku at Frieza evil,", "evil,", ["Goku", "Frieza"], ("one", "two"), **roles)
    assert said(drawn)[-2:] == ["throws", "is hit"]
    with pytest.raises(ValueError, match="roles must be 1, one for each of Goku, got 2"):
        plotting.two_looks("Goku is evil,", "evil,", ["Goku"], ("one", "two"), **roles)


def test_a_look_finds_words_of_the_sentence():
    with pytest.raises(ValueError, match="'good' must be a word of 'Goku is evil'"):
        plotting.two_looks("Goku is evil", "good", ["Goku"], ("first", "second"))


def test_measured_looks_have_their_numbers_and_each_sentence_its_own():
    rows = [[0.01, 0.0, 0.99, 0.0], [0.75, 0.25, 0.0, 0.0]]
    texts = ["Goku is evil, meaning", "Goku is weak, meaning"]
    drawn = plotting.two_looks(texts, ["evil,", "weak,"], ["Goku"], ("first", "second"), weights=[rows] * 2)
    assert [said(drawn).count(part) for part in ("0.99", "0.75", "0.25", "0.01", "0.00")] == [2, 2, 0, 0, 0]
    assert said(drawn).count("+ evil") == said(drawn).count("+ weak") == 1
    assert not {"all", "?"} & set(said(drawn))
    with pytest.raises(ValueError, match=r"weights must be \(2, 4\) to fit the words, got \(1, 4\)"):
        plotting.two_looks(texts[0], "evil,", ["Goku"], ("first", "second"), weights=rows[:1])


def test_a_fork_says_what_is_common_once():
    drawn = plotting.forked(
        ["Goku hits Frieza", "because he is"], [("weak,", "meaning"), ("evil,", "meaning")]
    )
    assert said(drawn)[:2] == ["Goku hits Frieza", "because he is"]
    assert said(drawn)[2:] == ["weak,", "meaning", "?", "evil,", "meaning", "?"]
    with pytest.raises(ValueError, match="a line and at least two ends, got 1 and 1"):
        plotting.forked(["because he is"], [("weak,", "meaning")])


def map_of(**options):
    words = {"Goku": 1, "evil": 3, "meaning": 4}
    parts = {"word": ("a vector", "chapter 2"), "look 2": ("again", "softmax", ""), "end": ("next", "")}
    given = {"looks": [{"evil": 0.9}, {"Goku": 0.8}], "answer": "Goku", "parts": parts}
    return plotting.whole_model(words, **given | options)


def test_on_the_map_every_word_has_its_place_and_its_vector():
    drawn = map_of()
    assert said(drawn).count("+") == 3 + 1  # a place for each word; what the last look hears is not added
    assert {"a vector", "chapter 2", "again", "next"} <= set(said(drawn))


def test_on_the_map_what_is_done_stands_at_its_level_and_its_chapter_in_grey_below():
    found = re.findall(
        r'y="([0-9.]+)" fill="([^"]+)"[^>]*>(a vector|chapter 2|again|next)<', map_of()._repr_svg_()
    )
    where = {part: float(y) for y, _, part in found}
    assert where["a vector"] < where["chapter 2"] < where["again"] < where["next"]
    assert [part for _, colour, part in found if colour == plotting.MUTED] == ["chapter 2"]


def test_on_the_map_a_look_has_its_name_in_bold():
    bold = re.findall(r'font-weight="600"[^>]*>([^<]+)<', map_of()._repr_svg_())
    assert "again" in bold
    assert not {"a vector", "softmax", "next"} & set(bold)


def test_on_the_map_a_query_meets_each_key_in_every_look():
    dashed = (
        rf'd="M([0-9.]+ [0-9.]+) C[^"]+ [0-9.]+" fill="none" stroke="{plotting.QUERY}"[^>]+stroke-dasharray'
    )
    once = map_of(looks=[{"evil": 0.9}], parts={})
    two, one = (re.findall(dashed, drawn._repr_svg_()) for drawn in (map_of(), once))
    assert len(two) == 4
    assert len(set(two)) == 2  # all from the query of their look
    assert len(one) == 2


def test_on_the_map_a_look_is_as_thick_as_its_weight():
    bow = rf'C[^"]+" fill="none" stroke="{plotting.VALUE}" stroke-width="([0-9.]+)"'
    widths = re.findall(bow, map_of()._repr_svg_())
    assert [float(w) for w in widths] == [1.2, 5.7, 5.2, 1.2]


def test_on_the_map_the_last_look_brings_what_began_beside_each_road():
    svg = map_of()._repr_svg_()
    lanes = re.findall(rf'd="M([0-9.]+) 50 L\1 ([0-9.]+)" fill="none" stroke="{plotting.VALUE}"', svg)
    bows = re.findall(rf'd="M([0-9.]+) ([0-9.]+) C[^"]+" fill="none" stroke="{plotting.VALUE}"', svg)
    assert [tuple(map(float, lane)) for lane in lanes] == [tuple(map(float, bow)) for bow in bows[2:]]


def test_on_the_map_a_vector_is_as_thick_beside_its_road_as_where_it_is_brought():
    svg = map_of()._repr_svg_()
    lanes = re.findall(
        rf'd="M([0-9.]+) 50 L\1 [^"]+" fill="none" stroke="{plotting.VALUE}" stroke-width="([0-9.]+)"', svg
    )
    assert [float(width) for _, width in lanes] == [5.2, 1.2]


def test_on_the_map_the_first_look_names_its_query_its_keys_and_what_it_brings():
    assert [said(map_of()).count(part) for part in ("query", "key", "value")] == [1, 1, 1]


def test_on_the_map_a_role_stands_beside_its_road_above_the_key_of_the_last_look():
    svg = map_of(roles={"Goku": "thrower"})._repr_svg_()
    ((x, y),) = re.findall(rf'x="([0-9.]+)" y="([0-9.]+)" fill="{plotting.KEY}"[^>]*>thrower<', svg)
    keys = re.findall(rf'cx="([0-9.]+)" cy="([0-9.]+)" r="6" fill="{plotting.KEY}"', svg)
    key_x, key_y = min(keys[-2:], key=lambda key: float(key[0]))
    assert float(key_x) < float(x) < float(key_x) + 10
    assert float(key_y) - 40 < float(y) < float(key_y) - 20
    with pytest.raises(ValueError, match="'Vegeta' must be one of the words before the last"):
        map_of(roles={"Vegeta": "thrower"})


def test_on_the_map_matrices_have_the_names_of_the_code():
    drawn = map_of(matrices=[("w_k", "w_q", "w_v"), ("w_found", "w_ask", "x")])
    assert {"w_k", "w_q", "w_v", "w_found", "w_ask", "x"} <= set(said(drawn))
    assert "key" not in said(drawn)
    assert drawn._repr_svg_().count("DejaVu Sans Mono") == 6


def test_on_the_map_a_look_goes_to_an_earlier_word():
    with pytest.raises(ValueError, match="'meaning' must be one of the words before the last"):
        map_of(looks=[{"meaning": 1.0}])


def test_on_the_map_what_is_done_needs_a_level():
    with pytest.raises(ValueError, match=r"parts must be of word, place, end, look 1, .*, got look 3"):
        map_of(parts={"look 3": ("again", "")})
