import re

import pytest

from attnlib import plotting
from tests.plotting.drawn import said


def map_of(**options):
    words = {"Goku": 1, "evil": 3, "meaning": 4}
    parts = {"word": ("a vector", "chapter 2"), "layer 2": ("again", "softmax", ""), "end": ("next", "")}
    given = {"layers": [{"evil": 0.9}, {"Goku": 0.8}], "answer": "Goku", "parts": parts}
    return plotting.whole_model(words, **given | options)


def test_on_the_map_every_word_has_its_position_and_its_vector():
    drawn = map_of()
    assert (
        said(drawn).count("+") == 3 + 1
    )  # a position for each word; what the last layer fetches is not added
    assert {"a vector", "chapter 2", "again", "next"} <= set(said(drawn))


def test_on_the_map_what_is_done_stands_at_its_level_and_its_chapter_in_grey_below():
    found = re.findall(
        r'y="([0-9.]+)" fill="([^"]+)"[^>]*>(a vector|chapter 2|again|next)<', map_of()._repr_svg_()
    )
    where = {part: float(y) for y, _, part in found}
    assert where["a vector"] < where["chapter 2"] < where["again"] < where["next"]
    assert [part for _, colour, part in found if colour == plotting.MUTED] == ["chapter 2"]


def test_on_the_map_a_layer_has_its_name_in_bold():
    bold = re.findall(r'font-weight="600"[^>]*>([^<]+)<', map_of()._repr_svg_())
    assert "again" in bold
    assert not {"a vector", "softmax", "next"} & set(bold)


def test_on_the_map_a_query_meets_each_key_in_every_layer():
    dashed = (
        rf'd="M([0-9.]+ [0-9.]+) C[^"]+ [0-9.]+" fill="none" stroke="{plotting.QUERY}"[^>]+stroke-dasharray'
    )
    once = map_of(layers=[{"evil": 0.9}], parts={})
    two, one = (re.findall(dashed, drawn._repr_svg_()) for drawn in (map_of(), once))
    assert len(two) == 4
    assert len(set(two)) == 2  # all from the query of their layer
    assert len(one) == 2


def test_on_the_map_a_bow_is_as_thick_as_its_weight():
    bow = rf'C[^"]+" fill="none" stroke="{plotting.VALUE}" stroke-width="([0-9.]+)"'
    widths = re.findall(bow, map_of()._repr_svg_())
    assert [float(w) for w in widths] == [1.2, 5.7, 5.2, 1.2]


def test_on_the_map_the_last_layer_brings_what_began_beside_each_stream():
    svg = map_of()._repr_svg_()
    lanes = re.findall(rf'd="M([0-9.]+) 50 L\1 ([0-9.]+)" fill="none" stroke="{plotting.VALUE}"', svg)
    bows = re.findall(rf'd="M([0-9.]+) ([0-9.]+) C[^"]+" fill="none" stroke="{plotting.VALUE}"', svg)
    assert [tuple(map(float, lane)) for lane in lanes] == [tuple(map(float, bow)) for bow in bows[2:]]


def test_on_the_map_a_vector_is_as_thick_beside_its_stream_as_where_it_is_brought():
    svg = map_of()._repr_svg_()
    lanes = re.findall(
        rf'd="M([0-9.]+) 50 L\1 [^"]+" fill="none" stroke="{plotting.VALUE}" stroke-width="([0-9.]+)"', svg
    )
    assert [float(width) for _, width in lanes] == [5.2, 1.2]


def test_on_the_map_the_first_layer_names_its_query_its_keys_and_what_it_brings():
    assert [said(map_of()).count(part) for part in ("query", "key", "value")] == [1, 1, 1]


def test_on_the_map_a_role_stands_beside_its_stream_above_the_key_of_the_last_layer():
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


def test_on_the_map_a_layer_attends_to_an_earlier_word():
    with pytest.raises(ValueError, match="'meaning' must be one of the words before the last"):
        map_of(layers=[{"meaning": 1.0}])


def test_on_the_map_what_is_done_needs_a_level():
    with pytest.raises(ValueError, match=r"parts must be of word, position, end, layer 1, .*, got layer 3"):
        map_of(parts={"layer 3": ("again", "")})
