"""The stored table of what was measured, and how it is read."""

from attnlib import MaskRule
from attnlib.backends import choose, measured


def row(backend, seconds, **other):
    like = {"capability": [9, 0], "dtype": "bfloat16", "width": 128, "length": 2048, "kind": "causal window"}
    return like | {"backend": backend, "seconds": seconds, "forward": seconds / 4} | other


def test_the_fastest_of_what_was_measured_is_taken_and_nothing_else():
    rows = [
        row("table", 3.0),
        row("varlen", 1.0),
        row("blocks", 2.0),
        row("flex", 1.0, length=16384),
        row("varlen", 2.0, length=16384),
        row("flex", 0.1, kind="causal prefix"),
    ]
    asked = ((9, 0), "bfloat16", 128)
    assert measured.choose(rows, *asked, 2048, "causal window", back=True) == ["varlen", "blocks", "table"]
    assert measured.choose(rows, *asked, 9000, "causal window", back=True) == ["varlen", "blocks", "table"]
    assert measured.choose(rows, *asked, 16384, "causal window", back=True) == ["flex", "varlen"]
    assert measured.choose(rows, *asked, 16384, "causal prefix", back=True) == ["flex"]
    assert measured.choose(rows, *asked, 2047, "causal window", back=True) == []
    assert measured.choose(rows, *asked, 16384, "lengths", back=True) == []
    for other in (((8, 0), "bfloat16", 128), ((9, 0), "float16", 128), ((9, 0), "bfloat16", 64)):
        assert measured.choose(rows, *other, 16384, "causal window", back=True) == []
    rows.append(row("table", 9.0, forward=0.1))
    assert measured.choose(rows, *asked, 2048, "causal window", back=False)[0] == "table"


def test_rules_are_named_by_their_facts():
    assert measured.kind_of(MaskRule(causal=True, window=3)) == "causal window"
    assert measured.kind_of(MaskRule(lengths=[1], prefix=2)) == "prefix lengths"
    assert measured.kind_of(MaskRule(window=3, ahead=0)) == "window ahead"
    assert measured.kind_of(MaskRule(documents=[1], also=(MaskRule(),))) == "documents also"
    assert measured.kind_of(MaskRule()) == ""


def test_the_stored_table_has_what_is_read_of_it():
    for stored in measured.table():
        assert set(measured.Row.__annotations__) <= set(stored)
        assert stored["backend"] in {"table", "blocks", *choose.STRUCTURED}
        assert stored["seconds"] > stored["forward"] > 0
