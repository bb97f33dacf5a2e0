import math

import pytest

from attnlib import plotting
from attnlib.plotting.kit.drawing import SIZE
from tests.plotting.drawn import LONG, SENTENCE, WORDS, filled, parts, texts


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
    attending = plotting.encoder_decoder(WORDS, ["j'", "aime"], attention=True)
    assert "one vector" not in texts(attending)
    assert "as before" in texts(attending)  # the last state is still handed over
    assert len([p for p in parts(attending, "path") if p.get("stroke") == plotting.WEIGHT]) == 3
    with pytest.raises(ValueError, match="must hold words, got 3 and 0"):
        plotting.encoder_decoder(WORDS, [])
