import math
import re

import numpy as np
import pytest

from attnlib import plotting
from attnlib.plotting.kit.drawing import SIZE, WIDEST, text_width
from attnlib.plotting.kit.style import KEY, THEME, WEIGHT
from tests.plotting.drawn import LONG, SENTENCE, VALUES, WEIGHTS, WORDS, parts

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
    "fully masked rows": plotting.fully_masked_rows(
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
    "sequential steps": plotting.sequential_steps(8192, "LSTM", "attention"),
    "window": plotting.receptive_field(10, 3, 3),
    "state": plotting.written_state([("a", 3), ("b", 5)], "a"),
    "shared state": plotting.written_state([("a", 3), ("b", 5), ("c", 6)], "a", shared={"c": (0.5, 0.5)}),
    "corrected state": plotting.written_state([("a", 3), ("b", 5), ("a", 7)], "a", rules=("add", "correct")),
    "running": plotting.online_softmax([0, math.log(2), math.log(4), 0], [8, 4, 2, 0], 2),
    "long run": plotting.online_softmax([-1.5, 0.25, 2.125], [8.5, 4, -2], 1),
    "short run": plotting.online_softmax([-1.5, 0.25], [12.25, -4.75], 1),
    "one key": plotting.online_softmax([0.5], [12.25], 1),
    "paths": plotting.paths(9, ends=("Goku", "he")),
    "most paths": plotting.paths(16),
    "bands": plotting.attention_bands(["I love Paris"] * 3, ["love"] * 3, WEIGHTS, across=2),
    "named bands": plotting.attention_bands(
        ["I love Paris"] * 2, ["love"] * 2, WEIGHTS[:2], names=["first", "then"]
    ),
    "bands with a clue": plotting.attention_bands(["I love Paris"], ["love"], WEIGHTS[:1], clues=["Paris"]),
    "numbers under words": plotting.under_words(
        ["Goku", "hits", "him"],
        {"key": ([0.5, -0.25], KEY), "weight": ([0.75, 0.25, 0.0], WEIGHT)},
        query="him",
    ),
    "two rows": plotting.two_attention_rows(
        "Goku hits him so hard", "so", ["Goku", "hits"], ("first", "second")
    ),
    "two rows and roles": plotting.two_attention_rows(
        "Goku hits him so hard", "so", ["Goku", "him"], ("first", "second"), roles=["hits", "is hit"]
    ),
    "two measured rows": plotting.two_attention_rows(
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
        {"word": ("word → vector", "chapter 2"), "layer 1": ("first layer", "softmax", "chapters 3, 4, 6")},
    ),
    "words alone": plotting.attention_bands([" ".join(LONG)], ["green"]),
    "cuts of a line": plotting.cut_averages((0.7, 0.3), ("Ann", "Ben"), (3, 7)),
    "jobs": plotting.pointing(["c5", "a1", "b7", "a4"], 3, {"previous": 2, "match": 1, "first": 0}),
    "stream": plotting.stream({"": "none"}),
    "three streams": plotting.stream({"before": "before", "after": "after", "none": "none"}, word="function"),
    "pieces": plotting.pieces({"letters": list("the set of"), "1 merge": ["th", "e", " set", "\n"]}),
    "encoders and decoders": plotting.encoders_and_decoders(),
    "many tokens read": plotting.encoders_and_decoders(5),
    "cuts of a matrix": plotting.head_cuts(512, (1, 8, 64)),
    "writing model": plotting.writing_model(["The", "list", "is"], {"a": 0.17, "the": 0.12, "an": 0.04}),
    "many tokens written": plotting.writing_model(["A", "function", "that", "is"], {"a": 0.1}, blocks=6),
}


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
