"""Schematic drawings: text as text, the colours of the book, nothing outside the frame, legible on a phone."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from attnlib import plotting
from attnlib.plotting.kit.drawing import SIZE, WIDEST, Drawing, text_width
from attnlib.plotting.kit.style import GRID, KEY, OUTPUT, QUERY, SERIES, THEME, WEIGHT, WEIGHT_FILL

WORDS = ["I", "love", "Paris"]
LONG = ["The", "apple", "that", "fell", "was", "green", "and", "sweet"]
SENTENCE = ["The", "woman", "whom", "the", "children", "saw", "yesterday", "in", "town", "is", "here"]
WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
VALUES = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])

DRAWINGS = {
    "table": plotting.attention_table(WORDS, weights=WEIGHTS, values=VALUES, output=WEIGHTS @ VALUES, row=2),
    "large table": plotting.attention_table(
        LONG, scores=np.full((8, 8), -9.9), weights=np.eye(8), values=np.ones((8, 3)), digits=1
    ),
    "groupings": plotting.two_groupings(12, 4, 4),
    "network": plotting.unrolled_network(LONG),
    "long network": plotting.unrolled_network(LONG + LONG),
    "full network": plotting.unrolled_network(SENTENCE),
    "fading network": plotting.unrolled_network(
        SENTENCE, connect=("woman", "here"), full=[0.5**i for i in range(len(SENTENCE))]
    ),
    "one vector": plotting.encoder_decoder(WORDS, ["j'", "aime", "Paris"]),
    "uneven attention": plotting.encoder_decoder(WORDS, ["j'", "aime"], attention=True),
    "short attention": plotting.encoder_decoder(["Hello", "world"], ["Bonjour", "monde"], attention=True),
    "attention": plotting.encoder_decoder(WORDS, ["j'", "aime", "Paris"], attention=True),
    "gate": plotting.gate(),
    "lstm": plotting.lstm_cell(),
    "projections": plotting.project(WORDS, np.eye(3)[:, :2], *3 * [np.eye(2)]),
    "heads": plotting.split_and_merge(5, 2, 3, last="W_O"),
    "framed heads": plotting.split_and_merge(5, 2, 3, framed=True),
    "block": plotting.block(["Goku", "hits", "Frieza"]),
    "shared heads": plotting.shared_heads(8, {"one each": 8, "in groups": 2, "all one": 1}),
    "cache": plotting.kv_cache(LONG, 4),
    "tiles": plotting.tiles(4, 4, (1, 2)),
    "table_in_strips": plotting.table_in_strips(5, 2),
    "swap": plotting.swapped_answer(
        "the cat sat on the m", 9, "x", {"the masked model": "t", "its twin": "x"}
    ),
    "swap at the start": plotting.swapped_answer("the cat", 0, "q", {"a model of letters": " "}),
    "shared weights": plotting.shared_weights(
        ["The", "cat", "sat", "on", "the", "mat"],
        {"hidden before": [1, 2, 1], "zeroed after": [1, 2, 1, 4, 1, 1], "on louder": [1, 2, 1, 14, 1, 1]},
        seen=3,
        watch=1,
    ),
    "shares in view": plotting.shared_weights(
        ["t", "a", "k", "next"], {"next comes e": [1, 2, 1, 16], "next comes i": [1, 2, 1, 1]}, seen=3
    ),
    "questions": plotting.questions(["The", "cat", "sat", "on", "the", "mat"], 2),
    "small masks": plotting.small_masks(
        {"window": (np.eye(6), "j ≤ i and i − j < 1"), "open": (np.ones((6, 6)), "all")}
    ),
    "small masks with names": plotting.small_masks(
        {"window": (np.eye(6), "i − j < 1"), "open": (np.ones((6, 6)), "all")},
        words=["The", "cat", "sat", "on", "the", "mat"],
        columns=["The", "cat", "sat", "on", "the", "mat"],
    ),
    "five tests": plotting.five_tests(),
    "found by": plotting.found_by(
        {"a bug with a long name": [True, False] * 2 + [True], "none": [False] * 5}
    ),
    "rows of heads": plotting.head_rows({"one way": np.ones((2, 3)), "another": np.full((2, 3), 6)}),
    "blind rows": plotting.blind_rows(
        {"one way": ([0.25] * 4, [np.nan] * 4), "another, of two": ([0] * 4, [0] * 4)}
    ),
    "squares": plotting.score_squares((1000, 10_000, 100_000), (141e9, "memory of an H200")),
    "near squares": plotting.score_squares((50_000, 100_000), (141e9, "memory of an H200"), width=2),
    "bill": plotting.token_bill(768, (128, 768, 1536, 6144)),
    "fetching": plotting.fetch_bill([("one text", 13e9, 2e9), ("many texts, or more", 14e9, 69e9)], 4e12),
    "compared": plotting.scaled_bars(
        {"work": [("one", 3, "3 s"), ("another", 9, "9 s")], "time": [("one", 1, "1 s")]},
        {"one": plotting.SERIES[0], "another": plotting.SERIES[1]},
    ),
    "traffic": plotting.traffic(
        {
            "formula": (
                [("scores", "qk", "t"), ("softmax", "t", "t"), ("mix", "tv", "o")],
                "17 GB",
                4.3,
                (10.4, "10.4 ms"),
            ),
            "tiles": ([("all three", "qkv", "o")], "0.13 GB", 0.8, (1.2, "1.2 ms")),
        },
        "4.3 GB",
        parts={"formula": [(1.1, 1.3), (2.1, 8.0), (1.1, 1.1)]},
        needs={"formula": "bytes, at full speed", "tiles": "arithmetic, at full speed"},
    ),
    "memories": plotting.two_memories("141 GB", "0.2 MB"),
    "waiting": plotting.waits(8192, "LSTM", "attention"),
    "window": plotting.window_reach(10, 3, 3),
    "state": plotting.written_state([("a", 3), ("b", 5)], "a"),
    "shared state": plotting.written_state([("a", 3), ("b", 5), ("c", 6)], "a", shared={"c": (0.5, 0.5)}),
    "corrected state": plotting.written_state([("a", 3), ("b", 5), ("a", 7)], "a", rules=("add", "correct")),
    "running": plotting.online_softmax([0, math.log(2), math.log(4), 0], [8, 4, 2, 0], 2),
    "long run": plotting.online_softmax([-1.5, 0.25, 2.125], [8.5, 4, -2], 1),
    "short run": plotting.online_softmax([-1.5, 0.25], [12.25, -4.75], 1),
    "one key": plotting.online_softmax([0.5], [12.25], 1),
    "paths": plotting.paths(9, ends=("Goku", "he")),
    "most paths": plotting.paths(16),
    "hearing": plotting.hearing(["I love Paris"] * 3, ["love"] * 3, WEIGHTS, across=2),
    "named hearing": plotting.hearing(
        ["I love Paris"] * 2, ["love"] * 2, WEIGHTS[:2], names=["first", "then"]
    ),
    "hearing with a clue": plotting.hearing(["I love Paris"], ["love"], WEIGHTS[:1], clues=["Paris"]),
    "numbers under words": plotting.under_words(
        ["Goku", "hits", "him"],
        {"key": ([0.5, -0.25], KEY), "weight": ([0.75, 0.25, 0.0], WEIGHT)},
        asks="him",
    ),
    "two looks": plotting.two_looks("Goku hits him so hard", "so", ["Goku", "hits"], ("first", "second")),
    "two looks and roles": plotting.two_looks(
        "Goku hits him so hard", "so", ["Goku", "him"], ("first", "second"), roles=["hits", "is hit"]
    ),
    "two measured looks": plotting.two_looks(
        ["Goku hits him so hard", "Goku hits him too hard"],
        ["so", "too"],
        ["Goku"],
        ("first", "second"),
        weights=[[[0, 0, 0, 1, 0], [0.9, 0.1, 0, 0, 0]]] * 2,
    ),
    "fork": plotting.forked(
        ["Goku hits Frieza", "because he is"], [("weak,", "meaning"), ("evil,", "meaning")]
    ),
    "whole model": plotting.whole_model(
        {"Goku": 1, "Frieza": 7, "desperate": 11, "meaning": 12},
        [{"desperate": 1.0}, {"Goku": 1.0}],
        "Goku",
        {"word": ("word → vector", "chapter 2"), "look 1": ("first look", "softmax", "chapters 3, 4, 6")},
    ),
    "words alone": plotting.hearing([" ".join(LONG)], ["green"]),
    "cuts of a line": plotting.cut_averages((0.7, 0.3), ("Ann", "Ben"), (3, 7)),
    "jobs": plotting.pointing(["c5", "a1", "b7", "a4"], 3, {"previous": 2, "match": 1, "first": 0}),
    "stream": plotting.stream({"": "none"}),
    "three streams": plotting.stream({"before": "before", "after": "after", "none": "none"}, word="function"),
    "pieces": plotting.pieces({"letters": list("the set of"), "1 merge": ["th", "e", " set", "\n"]}),
    "readers and writers": plotting.readers_and_writers(),
    "many tokens read": plotting.readers_and_writers(5),
    "cuts of a matrix": plotting.head_cuts(512, (1, 8, 64)),
    "writing model": plotting.writing_model(["The", "list", "is"], {"a": 0.17, "the": 0.12, "an": 0.04}),
    "many tokens written": plotting.writing_model(["A", "function", "that", "is"], {"a": 0.1}, blocks=6),
}


def parts(drawing, tag):
    root = ElementTree.fromstring(drawing._repr_svg_())
    return [part for part in root.iter() if part.tag.endswith("}" + tag)]


def texts(drawing):
    return ["".join(part.itertext()) for part in parts(drawing, "text")]


def filled(drawing, colour):
    return [part for part in parts(drawing, "rect") if part.get("fill") == colour]


def _area(box):
    return float(box.get("width")) * float(box.get("height"))


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_uses_the_colours_of_the_book_alone(name):
    svg = DRAWINGS[name]._repr_svg_()
    assert set(re.findall(r"#[0-9a-f]{6}", svg)) <= set(THEME)
    assert 'id="' not in svg  # so two of them may stand on one page


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_can_be_read_on_a_phone(name):
    drawing = DRAWINGS[name]
    assert drawing.width <= WIDEST
    shown = min(1.0, 365 / drawing.width)  # what a screen of 390 px leaves
    assert SIZE * shown >= 8
    lowered = [float(part.get("font-size", "100%")[:-1]) / 100 for part in parts(drawing, "tspan")]
    assert all(SIZE * size * shown >= 7.9 for size in lowered)


@pytest.mark.parametrize("name", DRAWINGS)
def test_all_text_is_inside_the_frame(name):
    drawing = DRAWINGS[name]
    for part in parts(drawing, "text"):
        x, y = float(part.get("x")), float(part.get("y"))
        wide = text_width("".join(part.itertext())) * 0.85  # the width is an upper bound
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[part.get("text-anchor")]
        assert left >= -1, "".join(part.itertext())
        assert left + wide <= drawing.width + 1, "".join(part.itertext())
        assert SIZE * 0.7 <= y <= drawing.height, "".join(part.itertext())


@pytest.mark.parametrize("name", DRAWINGS)
def test_no_text_covers_another(name):
    boxes = []
    for part in parts(DRAWINGS[name], "text"):
        if part.get("transform"):  # a turned word covers none if its neighbours are turned alike
            continue
        x, y = float(part.get("x")), float(part.get("y"))
        wide = text_width("".join(part.itertext())) * 0.7
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[part.get("text-anchor")]
        boxes.append((left, y - 9, left + wide, y, "".join(part.itertext())))
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a[4], b[4])


def test_the_table_grows_with_what_is_given():
    empty = plotting.attention_table(WORDS)
    assert texts(empty) == ["keys", "queries", *WORDS, *WORDS, ""]
    assert texts(plotting.attention_table(WORDS, asking="heads"))[1] == "heads"
    scored = plotting.attention_table(WORDS, scores=[[1, 2, -np.inf]] * 3, digits=1)
    assert texts(scored)[8:11] == ["1.0", "2.0", "−∞"]
    assert texts(scored)[-1] == "scores"
    weighted = plotting.attention_table(WORDS, weights=WEIGHTS, values=VALUES)
    assert "values" in texts(weighted)
    assert "output" not in texts(weighted)
    whole = texts(plotting.attention_table(WORDS, weights=WEIGHTS, values=VALUES, output=WEIGHTS @ VALUES))
    assert whole[-6:] == ["0.90", "0.10", "0.00", "1.00", "1.25", "−0.25"]


def test_digits_on_a_dark_cell_are_not_muted():
    drawing = plotting.attention_table(WORDS, scores=np.zeros((3, 3)), weights=np.eye(3), row=1)
    dark = [p.get("fill") for p in parts(drawing, "text") if "".join(p.itertext()) in ("0.00", "1.00")]
    both_digits_of_dark_cells, other_weights_of_the_row = 3 * 2, 2
    assert dark.count(plotting.INK) == both_digits_of_dark_cells + other_weights_of_the_row


def test_a_weight_is_as_full_as_it_is_large():
    cells = filled(plotting.attention_table(WORDS, weights=WEIGHTS), WEIGHT_FILL)
    shown = [float(cell.get("fill-opacity", 1)) for cell in cells]
    assert shown == pytest.approx(WEIGHTS.flatten().tolist(), abs=1e-6)


def test_one_row_is_looked_at_and_its_weights_share_a_scale_with_the_others():
    table = plotting.attention_table(WORDS, weights=WEIGHTS, row=0)
    opacities = [float(cell.get("fill-opacity", 1)) for cell in filled(table, WEIGHT_FILL)]
    assert opacities == pytest.approx(WEIGHTS.flatten().tolist(), abs=1e-6)
    bold = [part.text for part in parts(table, "text") if part.get("font-weight")]
    assert bold == ["keys", "queries", "I", "0.70", "0.20", "0.10"]


def test_hidden_cells_have_no_number():
    table = plotting.attention_table(WORDS, weights=WEIGHTS, mask=torch.tril(torch.ones(3, 3)))
    assert texts(table)[8:-1] == ["0.70", "0.00", "1.00", "0.25", "0.25", "0.50"]


def test_keys_may_be_other_words_than_queries():
    table = plotting.attention_table(["aime"], keys=WORDS, weights=[[0.1, 0.8, 0.1]])
    assert texts(table)[:6] == ["keys", "queries", *WORDS, "aime"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"weights": np.eye(2)}, "weights must be (3, 3) to fit the words, got (2, 2)"),
        ({"values": [1.0, 2.0, 3.0]}, "values must be (3, any width) to fit the words, got (3,)"),
        ({"output": np.ones((2, 4))}, "output must be (3, any width) to fit the words, got (2, 4)"),
        ({"row": 3}, "row must be one of the 3 queries, from 0 to 2, got 3"),
        (
            {"keys": ["extraordinarily"] * 8},
            "the table has room for 4 keys as long as these, got 8: use fewer",
        ),
    ],
)
def test_the_table_says_what_does_not_fit(wrong, said):
    with pytest.raises(ValueError) as caught:
        plotting.attention_table(WORDS, **wrong)
    assert str(caught.value) == said


def test_a_network_is_unrolled_once_for_each_word_and_goes_on_in_a_second_row():
    assert texts(plotting.unrolled_network(WORDS, state="s")) == [
        "s0",
        "s1",
        "I",
        "s2",
        "love",
        "s3",
        "Paris",
    ]
    long = plotting.unrolled_network(LONG + LONG)
    assert texts(long)[-2:] == ["h16", "sweet"]
    assert texts(long).count("h8") == 2  # where the first row ends, the second begins
    with pytest.raises(ValueError, match="at least one word, got none"):
        plotting.unrolled_network([])


def test_a_sentence_of_eleven_words_is_unrolled_in_one_row_its_words_turned():
    drawing = plotting.unrolled_network(SENTENCE)
    heights = {box.get("y") for box in filled(drawing, plotting.SERIES[0])}
    assert len(heights) == 1
    turned = [part for part in parts(drawing, "text") if part.get("transform")]
    assert ["".join(part.itertext()) for part in turned] == SENTENCE
    apart = (float(turned[1].get("x")) - float(turned[0].get("x"))) * math.sin(math.radians(38))
    assert apart > 1.2 * SIZE  # from line to line of the turned words
    long_start = plotting.unrolled_network(["Extraordinarily", *SENTENCE[1:]])
    assert not [part for part in parts(long_start, "text") if part.get("transform")]


def test_connected_words_are_marked_and_states_are_as_dark_as_they_are_full():
    drawing = plotting.unrolled_network(WORDS, connect=("I", "Paris"), full=[1, 0.5, 0.25])
    dark = [float(box.get("fill-opacity")) for box in filled(drawing, plotting.SERIES[0])]
    assert dark == [0.8, 0.4, 0.2]
    marked = [part for part in parts(drawing, "text") if part.get("font-weight")]
    assert ["".join(part.itertext()) for part in marked] == ["2 steps apart", "I", "Paris"]
    alike = plotting.unrolled_network(WORDS, connect=("love", "Paris"))
    assert len({box.get("fill-opacity") for box in filled(alike, plotting.SERIES[0])}) == 1
    in_rows = plotting.unrolled_network(LONG + LONG, full=[i / 16 for i in range(1, 17)])
    dark = [float(box.get("fill-opacity")) for box in filled(in_rows, plotting.SERIES[0])]
    assert dark == sorted(dark)
    assert dark[-1] == 0.8
    said = plotting.unrolled_network(WORDS, full=[1, 0.5, 0.25], marks=["0.9", "0.4"])
    assert texts(said) == ["h0", "h1", "0.9", "I", "h2", "0.4", "love", "h3", "Paris"]
    assert said.height > plotting.unrolled_network(WORDS).height
    with pytest.raises(ValueError, match="at most one for each of 3 words, got 4"):
        plotting.unrolled_network(WORDS, marks=["1"] * 4)
    for wrong in ([0.5, 0.5], [0.5, 0.5, 1.5]):
        with pytest.raises(ValueError, match="a share from 0 to 1 for each of 3 words"):
            plotting.unrolled_network(WORDS, full=wrong)
    for wrong in (("Paris", "I"), ("I", "Rome")):
        with pytest.raises(ValueError, match="two of the words, the earlier first"):
            plotting.unrolled_network(WORDS, connect=wrong)
    with pytest.raises(ValueError, match="must stand in one row"):
        plotting.unrolled_network([*LONG, *SENTENCE], connect=("apple", "here"))


def test_attention_replaces_the_one_vector_by_a_line_to_every_state():
    without = plotting.encoder_decoder(WORDS, ["j'", "aime"])
    assert "one vector" in texts(without)
    looking = plotting.encoder_decoder(WORDS, ["j'", "aime"], attention=True)
    assert "one vector" not in texts(looking)
    assert "as before" in texts(looking)  # the last state is still handed over
    assert len([p for p in parts(looking, "path") if p.get("stroke") == plotting.WEIGHT]) == 3
    with pytest.raises(ValueError, match="must hold words, got 3 and 0"):
        plotting.encoder_decoder(WORDS, [])


def test_the_gate_adds_up():
    assert "0.9 = 0.8 · 1.0 + 0.2 · 0.5" in texts(plotting.gate())
    assert "0.7 = 0.8 · 1.0 + 0.2 · (−0.5)" in texts(plotting.gate(candidate=-0.5))
    assert "0.25 = 0.25 · 1.0 + 0.75 · 0.0" in texts(plotting.gate(0.25, 1.0, 0.0))
    with pytest.raises(ValueError, match=r"share must be between 0 and 1, got 1\.5"):
        plotting.gate(1.5)


def test_every_gate_of_a_cell_has_its_name():
    assert {"forget", "input", "candidate", "output"} <= set(texts(plotting.lstm_cell()))


def test_words_are_projected_three_times_each_in_its_colour():
    x = [[1, 0.5], [2, 2], [0, -4]]
    drawing = plotting.project(WORDS, x, [[-1], [1]], np.eye(2), np.zeros((2, 3)))
    said = [t for t in texts(drawing) if t not in WORDS]
    numbers = ["1", "0.5", "2", "2", "0", "−4"]
    assert said[:7] == ["X", *numbers]
    assert said[7:15] == ["WQ", "−1", "1", "Q", "what it asks", "−0.5", "0", "−4"]
    assert [t for t in said if t in ("WQ", "Q", "WK", "K", "WV", "V")] == ["WQ", "Q", "WK", "K", "WV", "V"]
    found = [len(filled(drawing, c)) for c in (plotting.QUERY, plotting.KEY, plotting.VALUE)]
    assert found == [(2 + 3) * 1, (2 + 3) * 2, (2 + 3) * 3]  # of the matrix, and of the three words
    assert [texts(drawing).count(word) for word in WORDS] == [4, 4, 4]  # beside X, Q, K and V
    followed = plotting.project(WORDS, x, [[-1], [1]], np.eye(2), np.zeros((2, 3)), row=1)
    assert followed._repr_svg_().count("<rect") == drawing._repr_svg_().count("<rect") + 4
    with pytest.raises(ValueError, match="row must be one of the 3 words, from 0 to 2, got 3"):
        plotting.project(WORDS, x, *3 * [np.eye(2)], row=3)
    with pytest.raises(ValueError, match="at least one word, got none"):
        plotting.project([], [], [], [], [])
    with pytest.raises(ValueError, match=r"a row for each of 3 words, got shape \(1, 2\)"):
        plotting.project(WORDS, [[1, 2]], *3 * [np.eye(2)])


def test_heads_split_with_q_k_and_v_told_apart():
    drawing = plotting.split_and_merge(5, 2, 3)
    shapes = [text for text in texts(drawing) if text.startswith(("(", "3 ×"))]
    assert shapes == ["(5, 6)", "3 × (5, 6)", "(2, 5, 5)", "(2, 5, 3)", "(5, 6)", "(5, 6)", "3 × (2, 5, 3)"]
    for colour in (plotting.QUERY, plotting.KEY, plotting.VALUE):
        assert len(filled(drawing, colour)) == 2 * 2  # in the projection, and in the lanes
    assert len(filled(drawing, WEIGHT_FILL)) == 2
    assert texts(plotting.split_and_merge(5, 2, 3, last="W_O")).count("O") == 1  # lowered


def test_framed_heads_have_one_way_each_from_the_projections():
    plain, framed = (plotting.split_and_merge(5, 2, 3, framed=framed) for framed in (False, True))
    for colour in (plotting.QUERY, plotting.KEY, plotting.VALUE):
        assert len(filled(framed, colour)) == len(filled(plain, colour))
        assert len(ways(plain, colour)) - len(ways(framed, colour)) == 2  # a way less to each head
    said = texts(framed)
    assert [said.count(text) for text in ("1", "2", "head 1", "head 2")] == [5, 5, 1, 1], (
        "the number of a head stands on its columns of Q, K and V, on what it mixed, and in the merge"
    )
    assert "1" not in texts(plain)
    assert [said.count(text) for text in ("A1", "A2")] == [1, 1]
    looks = [cell.get("x") for cell in filled(framed, WEIGHT_FILL) if not cell.get("fill-opacity")]
    assert len(looks) == 2 * 5  # one for each query
    assert looks[:5] != looks[5:], "each head looks elsewhere"
    banded = texts(plotting.split_and_merge(5, 2, 3, last="W_O", framed=True))
    assert [banded.count(text) for text in ("1", "2", "O")] == [6, 6, 1]  # and on its rows of the last matrix


def test_in_a_block_every_token_meets_every_other_and_then_has_a_network_to_itself():
    drawing = plotting.block(WORDS)
    mixed = [line for line in ways(drawing, plotting.WEIGHT) if line.get("fill") == "none"]
    assert len(mixed) == 3 * 3
    assert len(filled(drawing, plotting.SERIES[0])) == 3
    assert texts(drawing).count("+") == 2 * 3
    with pytest.raises(ValueError, match="at least one word, got none"):
        plotting.block([])


@pytest.mark.parametrize("kept", [8, 4, 2, 1])
def test_heads_that_share_are_drawn_with_as_many_keys_as_are_kept(kept):
    drawing = plotting.shared_heads(8, {"kind": kept})
    assert len(filled(drawing, plotting.QUERY)) == len(ways(drawing, plotting.MUTED)) == 8
    assert len(filled(drawing, plotting.KEY)) == len(filled(drawing, plotting.VALUE)) == kept
    with pytest.raises(ValueError, match="kinds must divide 8 heads, got 3"):
        plotting.shared_heads(8, {"kind": 3})


@pytest.mark.parametrize(("share", "told", "order"), [(0.7, "Ann", "4.2 5.8"), (0.3, "Ben", "5.8 4.2")])
def test_a_cut_tells_the_child_with_the_larger_weight(share, told, order):
    said = texts(plotting.cut_averages([share], ("Ann", "Ben"), (3, 7)))
    assert [text for text in said if text.endswith(("is 3", "is 7"))] == [f"{told} is 3", f"{told} is 7"]
    assert " ".join(text for text in said if "." in text and text[0].isdigit()) == order  # of 3, 7 and 7, 3
    with pytest.raises(ValueError, match="must not be one half"):
        plotting.cut_averages([0.5], ("Ann", "Ben"), (3, 7))


def test_a_token_names_the_digits_its_jobs_point_at():
    said = texts(plotting.pointing(["c5", "a1", "b7", "a4"], 3, {"previous": 2, "match": 1, "first": 0}))
    assert [text for text in said if text.startswith("says")] == ["says 7", "says 1", "says 5"]
    with pytest.raises(ValueError, match="places before 1, got 1"):
        plotting.pointing(["c5", "a1"], 1, {"next": 1})


def test_every_cut_of_a_matrix_is_a_head_and_every_head_has_a_table():
    drawing = plotting.head_cuts(512, (1, 8, 64))
    assert len(filled(drawing, WEIGHT_FILL)) == 1 + 8 + 64
    assert len(filled(drawing, QUERY)) == 1 + 8 + 64
    assert [text for text in texts(drawing) if "wide" in text] == ["512 wide", "each 64 wide", "each 8 wide"]
    with pytest.raises(ValueError, match="divisors of 512, up to 64, got 3"):
        plotting.head_cuts(512, [3])


def test_the_cache_holds_what_was_read_and_has_room_for_the_rest():
    drawing = plotting.kv_cache(LONG, 2)
    assert len(filled(drawing, plotting.KEY)) == len(filled(drawing, plotting.VALUE)) == 3
    assert len([r for r in parts(drawing, "rect") if r.get("stroke-dasharray")]) == 2 * 5
    assert "stored" in texts(drawing)
    assert "stored" not in texts(plotting.kv_cache(LONG, 0))
    with pytest.raises(ValueError, match="step must be from 0 to 7, a place of the words, got 8"):
        plotting.kv_cache(LONG, 8)


def test_tiles_before_the_present_one_are_done():
    drawing = plotting.tiles(3, 4, (1, 2))
    assert texts(drawing).count("✓") == 4 + 2
    assert texts(drawing).count("q2") == 2  # in its row, and in fast memory
    with pytest.raises(ValueError, match=r"at must be a tile of the 3 by 4, got \(3, 0\)"):
        plotting.tiles(3, 4, (3, 0))
    with pytest.raises(ValueError, match="rows must be 1 to 8 and columns 1 to 6, got 3 and 9"):
        plotting.tiles(3, 9, (0, 0))


def test_one_strip_is_there_and_those_before_it_are_done():
    drawing = plotting.table_in_strips(5, 2)
    assert texts(drawing).count("✓") == 2
    with pytest.raises(ValueError, match="rows must be 1 to 8 and at one of them, got 5 and 5"):
        plotting.table_in_strips(5, 5)


def test_tables_of_scores_are_squares_to_one_scale():
    drawing = plotting.score_squares((1000, 100_000), (160e9, "a memory"))
    frame, *squares = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
    assert squares == pytest.approx([frame / 2, frame / 200], abs=0.01)
    assert texts(drawing) == ["a memory", "160 GB", "100,000 tokens", "40 GB", "1,000 tokens", "4 MB"]
    with pytest.raises(ValueError, match="a table of 1,000 tokens must fit the memory of 3,000 bytes"):
        plotting.score_squares((1000,), (3000, "a small memory"))
    assert "64 bytes" in texts(plotting.score_squares((4,), (1000, "a tiny one")))


def test_a_token_pays_twice_the_width_and_the_length():
    drawing = plotting.token_bill(10, (20, 60))
    bars = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
    assert bars[0] == bars[1] == bars[2] == pytest.approx(bars[3] / 3, abs=0.01)
    assert [text for text in texts(drawing) if "%" in text] == ["50%", "75%"]
    assert [text for text in texts(drawing) if text.isdigit()] == ["20", "20", "20", "60"]  # 2d, n


def test_every_processor_has_fast_memory_and_all_share_one_road_to_the_slow():
    drawing = plotting.two_memories("9 GB", "3 kB")
    said = texts(drawing)
    assert said.count("processor") == said.count("fast memory") == said.count("3 kB") == 5
    assert said.count("slow memory") == said.count("slow road") == said.count("9 GB") == 1
    (slow,) = filled(drawing, GRID)
    boxes = [box for box in parts(drawing, "rect")[1:] if box.get("fill") == "none"]
    assert all(_area(slow) > 2 * _area(box) for box in boxes[1:])


def test_what_is_fetched_is_drawn_to_scale_and_in_milliseconds():
    drawing = plotting.fetch_bill([("one", 10e9, 2e9), ("many", 10e9, 40e9)], 4e12)
    bars = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
    assert bars == pytest.approx([bars[0], bars[0] / 5, bars[0], 4 * bars[0]], abs=0.01)
    assert [text for text in texts(drawing) if text.endswith("ms")] == ["3.0 ms", "12.5 ms"]


def test_bars_are_to_one_scale_or_each_group_to_its_own():
    groups = {"work": [("one", 2, "two"), ("another", 4, "four")], "time": [("one", 1, "a second")]}
    for own, times in ((False, 1), (True, 4)):
        drawing = plotting.scaled_bars(groups, dict.fromkeys(("one", "another"), KEY), own=own)
        one, another, second = [float(part.get("width")) for part in parts(drawing, "rect")][1:]
        assert another == pytest.approx(2 * one, abs=0.01)
        assert second == pytest.approx(times * one / 2, abs=0.02)
    assert texts(drawing) == ["work", "one", "two", "another", "four", "time", "one", "a second"]


def test_the_table_goes_to_and_fro_in_thick_arrows_and_time_is_to_scale():
    kernels = [("scores", "qk", "t"), ("softmax", "t", "t"), ("mix", "tv", "o")]
    ways = {
        "all": (kernels, "20 GB", 0.003, (0.009, "9")),
        "one": ([("all three, in one go", "q", "o")], "1 GB", 0.001, (0.002, "2 ms")),
    }
    drawing = plotting.traffic(ways, "5 GB")
    assert texts(drawing).count("5 GB") == 4
    took = [float(part.get("width")) for part in filled(drawing, SERIES[0])]
    assert took[1::2] == pytest.approx([took[0] / 3] * 3 + [took[6] / 2], abs=0.01)
    assert took[6] + 2 == pytest.approx((took[0] + 2) * 2 / 3, abs=0.01)  # with the gap after each
    cut = plotting.traffic(ways, "5 GB", parts={"all": [(0.001, 0.0015), (0.002, 0.006), (0.001, 0.0015)]})
    assert [text for text in texts(cut) if text.endswith(" ms")] == ["1.5 ms", "6.0 ms", "1.5 ms", "2 ms"]
    assert texts(cut).count("5 GB") == 2  # beside the wide one alone
    scores, _, softmax, *_ = (float(part.get("width")) for part in filled(cut, SERIES[0]))
    assert softmax + 2 == pytest.approx(4 * (scores + 2), abs=0.01)
    named = plotting.traffic(ways, "5 GB", needs={"all": "bytes", "one": "all the sums"})
    inside, behind = [
        float(part.get("x")) for part in parts(named, "text") if "".join(part.itertext()).startswith("← ")
    ]
    assert [inside, behind] == pytest.approx([8 + took[1] + 6, 8 + took[6] + 10], abs=1)
    with pytest.raises(ValueError, match="must be of q, k, v, o and t, got x"):
        plotting.traffic({"all": ([("scores", "x", "t")], "", 1, (2, ""))}, "5 GB")
    with pytest.raises(ValueError, match="the arrows of mix have no room: draw fewer kernels"):
        plotting.traffic({"all": (9 * [("mix", "tt", "t")], "", 1, (2, ""))}, "5 GB")
    with pytest.raises(ValueError, match="the name of a long one has no room: draw fewer kernels"):
        plotting.traffic({"all": (9 * [("a long one", "q", "o")], "", 1, (2, ""))}, "5 GB")


def test_steps_that_wait_stand_in_a_row_and_tokens_that_do_not_in_a_column():
    boxes = parts(plotting.waits(8192, "LSTM", "attention"), "rect")[1:]  # after the paper
    rows = [{box.get(side) for box in boxes if box.get("fill") == SERIES[n]} for n in (2, 1) for side in "xy"]
    assert [len(row) for row in rows] == [5, 1, 1, 5]
    with pytest.raises(ValueError, match="tokens must be more than 5, got 5"):
        plotting.waits(5, "LSTM", "attention")


def test_a_window_is_a_band_and_each_layer_reaches_one_window_further():
    drawing = plotting.window_reach(10, 3, 3)
    band = [part for part in parts(drawing, "rect") if part.get("fill") == WEIGHT_FILL]
    assert len(band) == 10 * 3 - 3
    assert [text for text in texts(drawing) if "tokens" in text] == ["7 tokens", "5 tokens", "3 tokens"]
    known = [part for part in parts(drawing, "circle") if part.get("fill") == KEY]
    assert len(known) == 7 + 5 + 3
    for wrong in ((11, 3, 3), (10, 3, 4), (10, 0, 1), (6, 3, 3)):
        with pytest.raises(ValueError, match="must"):
            plotting.window_reach(*wrong)


def test_the_table_grows_with_the_square_of_the_tokens_and_the_sum_not_at_all():
    def cells(n):
        drawn = plotting.two_groupings(n, F=3, D=2)._repr_svg_()
        return [drawn.count(f'fill="{colour}" fill-opacity') for colour in (WEIGHT, OUTPUT)]

    assert [cells(n) for n in (5, 10)] == [[25, 6], [100, 6]]
    with pytest.raises(ValueError, match="px wide"):
        plotting.two_groupings(40, 4, 4)


def test_a_key_without_a_row_of_its_own_spoils_the_answers_of_others():
    said = texts(plotting.written_state([("a", 3), ("b", 5), ("c", 6)], "a", shared={"c": (0.5, 0.5)}))
    assert said[-1] == "6 / 1.5 = 4"
    assert said.count("+3") == 3
    assert "key (0.5, 0.5)" in said


def test_a_sum_answers_with_the_mean_and_a_corrected_state_with_the_last():
    pairs = [("a", 3), ("b", 5), ("a", 7)]
    said = texts(plotting.written_state(pairs, "a", rules=("add", "correct")))
    assert [text for text in said if text[0] == "+"] == ["+3", "+5", "+7", "+3", "+5", "+4"]
    assert "10 / 2 = 5" in said
    assert said[-1] == "7"
    assert texts(plotting.written_state(pairs[:2], "b"))[-1] == "5 / 1 = 5"
    for pairs, ask, rules, wrong in (
        ([("a", 1)] * 4, "a", ("add",), "writes must be up to 3 pairs of at most 2 keys"),
        ([("a", 1)], "b", ("add",), r"ask must be one of the keys \['a'\], got 'b'"),
        ([("a", 1)], "a", ("forget",), r"rules must be from \['add', 'correct'\], got \['forget'\]"),
    ):
        with pytest.raises(ValueError, match=wrong):
            plotting.written_state(pairs, ask, rules=rules)


def test_a_larger_score_shrinks_the_bars_before_it():
    drawing = plotting.online_softmax([0, math.log(2), math.log(4), 0], [8, 4, 2, 0], 2)
    said = texts(drawing)
    assert [text for text in said if text.startswith("= ")] == [
        *("= 0.69", "= 0.5 + 1 = 1.5", "= 0.5×8 + 1×4 = 8"),
        *("= 1.39", "= 1.5×0.5 + 1 + 0.25 = 2", "= 8×0.5 + 1×2 + 0.25×0 = 6"),
    ]
    assert len([r for r in parts(drawing, "rect") if r.get("stroke-dasharray")]) == 2
    level = plotting.online_softmax([1, 0], [1, 2], 1)
    assert "= 1 + 0.37 = 1.37" in texts(level)  # nothing larger came: nothing shrinks
    with pytest.raises(ValueError, match="at most 4, and whole blocks of 2, got 3 and 3"):
        plotting.online_softmax([1, 2, 3], [1, 2, 3], 2)


def ways(drawing, colour):
    return [path for path in parts(drawing, "path") if path.get("stroke") == colour]


def test_a_message_takes_eight_steps_two_layers_or_one_step():
    drawing = plotting.paths(9)
    said = [text for text in texts(drawing) if not text.isdigit()]
    assert said == [
        "recurrence",
        "8 steps",
        "convolution",
        "2 layers",
        "8 = 2 + 6",
        "attention",
        "1 step",
    ]
    counts = [len(ways(drawing, plotting.SERIES[i])) for i in (0, 1, 3)]
    assert counts == [8, 2, 1]
    assert texts(drawing).count("9") == 3  # the same row three times


def test_the_first_word_and_the_last_are_named_in_each_row():
    drawing = plotting.paths(9, ends=("Goku", "he"))
    assert [texts(drawing).count(word) for word in ("Goku", "he")] == [3, 3]


@pytest.mark.parametrize("words", [2, 6, 8, 13, 16])
def test_the_jumps_of_a_convolution_lead_from_the_first_word_to_the_last(words):
    drawing = plotting.paths(words)
    ends = [re.findall(r"[\d.]+", path.get("d")) for path in ways(drawing, plotting.SERIES[1])]
    step = 420 / words
    jumps = [round((float(x1) - float(x0)) / step) for x0, _, x1, _ in ends]
    assert sum(jumps) == words - 1
    assert all(jump in (0, 3**layer, 2 * 3**layer) for layer, jump in enumerate(jumps))


@pytest.mark.parametrize("words", [1, 17])
def test_paths_need_two_words_and_have_room_for_sixteen(words):
    with pytest.raises(ValueError, match=f"words must be between 2 and 16, got {words}"):
        plotting.paths(words)


def test_a_drawing_has_no_address_in_its_name_and_escapes_its_text():
    drawing = Drawing(20, 10)
    drawing.text(3, 5, "a < b & c")
    assert repr(drawing) == "Drawing(20, 10)"
    assert "a &lt; b &amp; c</text>" in drawing._repr_svg_()
    with pytest.raises(ValueError, match="at most 580 px wide, got 600: draw fewer words"):
        Drawing(600, 10)


def test_a_table_says_that_rows_sum_to_one_only_if_they_do():
    assert "weights: each row sums to 1" in texts(plotting.attention_table(WORDS, weights=WEIGHTS))
    assert "weights" in texts(plotting.attention_table(WORDS, weights=WEIGHTS / 2))


def test_questions_stand_over_their_answers_and_one_arrow_leads_aside():
    drawing = plotting.questions(["a", "b", "c", "d"], 0)
    assert texts(drawing) == ["input", "answer", "a", "b", "b", "c", "c", "d", "asks", "tells"]
    with pytest.raises(ValueError, match="place must have a word after it that is read, got 2 of 4 words"):
        plotting.questions(["a", "b", "c", "d"], 2)


def test_a_hidden_exponential_lengthens_the_sum_and_leaves_the_others_as_they_are():
    rows = {"before": [1, 3], "after": [1, 3, 4], "louder": [1, 3, 16]}
    drawing = plotting.shared_weights(["a", "b", "c"], rows, seen=2, watch=1)
    thrown = "set to zero afterwards"
    said = ["weight of b", "before", "a", "b", "1", "3", "3/4 = 0.75"]
    said += ["after", "a", "b", "c", thrown, "1", "3", "4", "3/8 = 0.38"]
    said += ["louder", "a", "b", "c", thrown, "1", "3", "16", "3/20 = 0.15"]
    assert texts(drawing) == said
    widths = [float(part.get("width")) + 2 for part in filled(drawing, WEIGHT_FILL)]
    assert np.allclose(widths, 3 * [17, 51]), "the scale is that of the longest sum"
    assert drawing._repr_svg_().count("stroke-dasharray") == 2
    assert "4/8 = 0.50" in texts(plotting.shared_weights(["a", "b", "c"], {"after": [1, 3, 4]}, seen=2))
    crowded = plotting.shared_weights(["a", "b", "c"], {"louder": [1, 3, 96]}, seen=2, watch=1)
    assert "a" not in texts(crowded), "a part too small for a text has none"
    with pytest.raises(ValueError, match="before must have 2 to 3 exponentials, got 1"):
        plotting.shared_weights(["a", "b", "c"], {"before": [1]}, seen=2, watch=0)
    with pytest.raises(ValueError, match="names of rows must fit over bars of 340 px: shorten xxx"):
        plotting.shared_weights(["a"], {"x" * 60: [1]}, seen=1, watch=0)


def test_small_masks_tell_open_closed_and_future_apart():
    mask = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]])
    drawing = plotting.small_masks({"a mask": (mask, "its rule")})
    assert texts(drawing) == ["a mask", "its rule"]
    assert [len(filled(drawing, colour)) for colour in (WEIGHT_FILL, GRID)] == [6, 3]
    framed = f'stroke="{SERIES[3]}"'
    assert drawing._repr_svg_().count(framed) == 1, "the one open cell of the future"
    named = plotting.small_masks({"a mask": (mask, "its rule")}, words=["x", "y", "z"])
    assert texts(named) == ["x", "y", "z", "a mask", "its rule"]
    assert named.width > drawing.width
    both = plotting.small_masks({"a mask": (mask, "its rule")}, columns=["first", "2", "3"])
    assert texts(both) == ["a mask", "first", "2", "3", "its rule"]
    assert both.width > drawing.width
    assert both.height > drawing.height
    with pytest.raises(ValueError, match=r"flat must be a mask \(T, S\), got shape \(3,\)"):
        plotting.small_masks({"flat": (np.ones(3), "")})
    with pytest.raises(ValueError, match="each of 3 columns of a mask needs a name, got 1"):
        plotting.small_masks({"a mask": (mask, "its rule")}, columns=["first"])


def test_a_later_word_in_a_row_of_a_head_is_red():
    drawing = plotting.head_rows({"view": [[1, 1, 2], [2, 3, 3]]})
    assert texts(drawing)[-6:] == ["word 1", "word 1", "word 2", "word 2", "word 3", "word 3"]
    assert [len(filled(drawing, colour)) for colour in (plotting.SERIES[3], GRID)] == [2, 4]
    assert drawing._repr_svg_().count("stroke-dasharray") == 2  # an earlier word
    with pytest.raises(ValueError, match=r"all splits must be \(1, 2\) like the first, got others"):
        plotting.head_rows({"one": [[1, 2]], "other": [[1, 2, 3]]})


def test_a_test_that_finds_a_bug_has_a_red_cross():
    drawing = plotting.found_by({"a bug": [False, True, False, True, False]})
    assert texts(drawing)[-3:] == ["a bug", "×", "×"]
    assert [len(filled(drawing, colour)) for colour in (plotting.SERIES[3], GRID)] == [2, 3]
    assert drawing._repr_svg_().count('fill-opacity="0.4"') == 2  # no test finds it alone
    alone = plotting.found_by({"a bug": [True, *[False] * 4], "none": [False] * 5})
    assert alone._repr_svg_().count('fill-opacity="0.4"') == 0
    assert texts(alone)[-3:] == ["a bug", "×", "none"]  # an empty cell where a test finds nothing
    loud = plotting.found_by({"a bug": [True, "error", False, False, False]})
    assert texts(loud)[-3:] == ["a bug", "×", "error"]
    assert loud._repr_svg_().count('fill-opacity="0.4"') == 2
    grouped = plotting.found_by({"one": [False] * 5, "other": [True] * 5}, groups={"other": "bugs"})
    assert texts(grouped)[-7:-5] == ["bugs", "other"]
    with pytest.raises(ValueError, match=r"each bug must have 5 answers, got \[1\]"):
        plotting.found_by({"a bug": [True]})


def test_what_a_blind_row_gives_or_gets_is_red():
    drawing = plotting.blind_rows({"so": ([0.25, 0], [np.nan, 0])})
    assert texts(drawing)[-4:] == ["0.25", "0", "NaN", "0"]
    assert [len(filled(drawing, colour)) for colour in (plotting.SERIES[3], GRID)] == [2, 2]


def test_a_swap_shows_what_stood_there_what_does_and_who_says_what():
    said = texts(plotting.swapped_answer("ab d", 1, "x", {"one": "c", "other": "x"}))
    assert "was ␣, now x" in said
    assert said[:4] == ["a", "b", "x", "d"]
    assert said[-4:] == ["c", "says one", "x", "says other"]
    with pytest.raises(ValueError, match="place must be followed by a letter of the line, got 3 of 4"):
        plotting.swapped_answer("ab d", 3, "x", {})
    with pytest.raises(ValueError, match="line must have at most 21 letters, got 30: cut it"):
        plotting.swapped_answer("x" * 30, 3, "y", {})


def test_norms_stand_beside_the_road_or_on_it():
    road = plotting.stream({"before": "before", "after": "after", "none": "none"})
    assert texts(road).count("norm") == 9
    assert texts(road).count("attention") == texts(road).count("network") == 6
    heights = [float(part.get("y")) for part in parts(road, "text") if "".join(part.itertext()) == "norm"]
    sums = [float(part.get("y")) for part in parts(road, "text") if "".join(part.itertext()) == "+"]
    assert not set(heights[:4]) & set(sums[:4])
    assert abs(heights[4] - sums[0]) < 1  # the last norm of those before
    assert all(abs(y - sums[4]) < 1 for y in heights[5:])


@pytest.mark.parametrize(
    ("rows", "said"), [({}, "at least one place, got none"), ({"x": "inside"}, "one of .*, got 'inside'")]
)
def test_a_stream_needs_to_know_where_its_norms_are(rows, said):
    with pytest.raises(ValueError, match=said):
        plotting.stream(rows)


def test_new_tokens_stand_out_and_spaces_are_seen():
    drawn = plotting.pieces({"one": ["a", " b"], "two": ["a b"]}, new={"two": {"a b"}})
    assert texts(drawn) == ["one", "a", "␣b", "two", "a␣b"]
    assert len(filled(drawn, SERIES[0])) == 1
    with pytest.raises(ValueError, match="at least one row"):
        plotting.pieces({})


def test_a_decoder_hides_the_future_and_looks_at_all_that_was_read():
    drawn = plotting.readers_and_writers(3)
    assert len(filled(drawn, WEIGHT_FILL)) == 3 * 9 + 2 * 6  # two encoders, one look across, two triangles
    assert texts(drawn).count("what was read") == 1
    with pytest.raises(ValueError, match="between 2 and 5, got 6"):
        plotting.readers_and_writers(6)


def test_a_writing_model_looks_back_and_adds_to_every_road():
    drawn = plotting.writing_model(["The", "list", "is"], {"a": 0.25, "the": 0.125}, blocks=3)
    drawn_so = [part.get("d") for part in parts(drawn, "path") if part.get("stroke") == WEIGHT]
    assert sum("C" in path for path in drawn_so) == 3 + 2 + 1  # each token hears itself and those before
    assert sum("C" not in path for path in drawn_so) == 3 + 2  # into each road a head, from either side
    assert texts(drawn).count("+") == 2 * 3
    assert texts(drawn).count("norm") == 3 + 1  # on each road, and its name
    assert [text for text in texts(drawn) if text.startswith("block ")] == ["block 3", "block 2", "block 1"]
    assert [text for text in texts(drawn) if text.endswith("%")] == ["25%", "12%"]
    long = [float(bar.get("width")) for bar in filled(drawn, OUTPUT)]
    assert long[0] == pytest.approx(2 * long[1])


def test_a_writing_model_needs_tokens_and_blocks():
    with pytest.raises(ValueError, match="tokens and what may follow, got 0 and 1"):
        plotting.writing_model([], {"a": 0.5})
    with pytest.raises(ValueError, match="blocks must be at least 2, got 1"):
        plotting.writing_model(["a"], {"a": 0.5}, blocks=1)
