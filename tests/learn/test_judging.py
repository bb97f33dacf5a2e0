"""Exercises as data: reading answers and fields, the order of judgement, sentences that keep the answer."""

import copy
import json
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from attnlib.learn import judging
from attnlib.learn.calling import AnswerError

FIELDS = json.loads(Path(__file__).with_name("fields.json").read_text("utf8"))  # the page reads these too
BASE = 'id = "9.1"\ntitle = "t"\ndifficulty = "easy"\nminutes = 1\nhints = ["a", "b"]\nlesson = "l."\n'
NAMED = """
kind = "named"
fields = ["share", "shape", "larger"]
answer = { share = 0.5, shape = [2, 3], larger = true }
tolerance = 0.01
otherwise = { shape = "shape: two axes." }
[[mistake]]
field = "larger"
answer = false
says = "larger: it is."
[[mistake]]
answer = { share = 2, shape = [3, 2], larger = false }
says = "all turned round."
[[mistake]]
field = "share"
any = [0.25, 0.75]
says = "share: a quarter off."
"""


def spec(text):
    return tomllib.loads(BASE + text)


def says(text, answer):
    return judging.grader(spec(text))(answer)


@pytest.mark.parametrize("case", FIELDS, ids=lambda case: repr(case["text"]))
def test_a_field_is_read_as_people_write_numbers(case):
    read = judging.read_field
    reads = case.get("reads", "number")
    if "value" in case:
        assert read(case["text"], reads) == case["value"]
    else:
        with pytest.raises(AnswerError) as error:
            read(case["text"], reads)
        assert str(error.value) == case["says"]


@pytest.mark.parametrize(
    "half",
    [
        0.5,
        Fraction(1, 2),
        Decimal("0.5"),
        np.float32(0.5),
        np.array([[0.5]]),
        torch.tensor(0.5),
        [0.5],
        (0.5,),
    ],
    ids=repr,
)
def test_any_container_of_the_right_number_is_right(half):
    assert says('kind = "number"\nanswer = 0.5', half) is None
    good = {"share": half, "shape": (2, 3), "larger": np.bool_(True)}
    assert says(NAMED, good) is None
    assert says(NAMED, list(good.values())) is None
    assert says(NAMED, tuple(good.values())) is None


def test_a_dict_is_judged_whole_first_then_by_field_then_otherwise():
    good = {"share": 0.5, "shape": (2, 3), "larger": True}
    assert says(NAMED, good | {"shape": torch.Size([2, 3]), "larger": torch.tensor(True)}) is None
    assert says(NAMED, {"share": 2, "shape": (3, 2), "larger": False}) == "all turned round."
    assert says(NAMED, good | {"share": 0.25, "larger": False}) == "share: a quarter off."
    assert says(NAMED, good | {"share": 9, "larger": False}) == "larger: it is."
    assert says(NAMED, good | {"shape": (2, 3, 1)}) == "shape: two axes."
    assert says(NAMED, good | {"share": 9}) == "share is too large."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"share": 0.5}, "keep the dict with its keys share, shape and larger."),
        ([0.5, (2, 3)], "keep the dict"),
        (torch.tensor(0.5), "keep the dict"),
        (np.array(0.5), "keep the dict"),
        ({"share": [1, 2], "shape": (2, 3), "larger": True}, "share: one number is asked, yours are 2."),
        ({"share": 0.5, "shape": (2.0, 3), "larger": True}, "shape: write the shape as a tuple"),
        ({"share": 0.5, "shape": 6, "larger": True}, "shape: write the shape as a tuple"),
        ({"share": 0.5, "shape": (2, 3), "larger": 2}, "larger: write True or False."),
    ],
)
def test_a_dict_of_another_form_is_told(answer, words):
    with pytest.raises(AnswerError, match=words):
        says(NAMED, answer)


def test_numbers_and_matrices_are_judged_by_place():
    row = 'kind = "numbers"\nfields = ["a", "b"]\nanswer = [1, 2]\n[[mistake]]\nfield = 1\nanswer = 4\nsays = "b!"'
    assert says(row, torch.tensor([[1, 2]])) is None
    assert says(row, [9, 4]) == "b!"
    assert says(row, [1, 1]) == "b is too small."
    assert says(row, [1, float("nan")]) == "b is not a number."
    table = 'kind = "matrix"\nanswer = [[1, 2], [3, 4]]\n[[mistake]]\nfield = [1, 0]\nanswer = 0\nsays = "3!"'
    assert says(table, np.array([[1, 2], [3, 4]])) is None
    assert says(table, [[1, 9], [0, 4]]) == "3!"
    assert says(table, [[1, 9], [3, 4]]) == "row 1, column 2 is too large."
    with pytest.raises(AnswerError, match=r"the shape should be \(2, 2\), yours is \(4,\)"):
        says(table, [1, 2, 3, 4])
    with pytest.raises(AnswerError, match="one number is asked, yours are 2"):
        says('kind = "number"\nanswer = 0.5', [1, 2])


def test_a_relative_tolerance_is_a_share_of_the_right_number():
    large = 'kind = "number"\nrelative = 0.01\nanswer = 1000'
    assert says(large, 1009) is None
    assert says(large, 1011) == "it is too large."


def test_a_choice_is_one_of_its_options():
    text = (
        'kind = "choice"\noptions = ["yes", "no"]\nanswer = "no"\n[[mistake]]\nanswer = "yes"\nsays = "why?"'
    )
    assert says(text, "no") is None
    assert says(text, "yes") == "why?"
    assert says(text, np.str_(" No ")) is None
    with pytest.raises(AnswerError, match="choose one of these: yes; no"):
        says(text, "perhaps")


@pytest.mark.parametrize("id", judging.read())
class TestEachDataExercise:
    def test_goes_to_the_page_as_json(self, id):
        page = judging.page_spec(id)
        assert json.loads(json.dumps(page)) == page
        assert len(page["fields"]) == len(page["reads"]) == len(page["otherwise"]) == len(page["answer"])
        assert judging.judge(page, page["answer"]) is None

    def test_names_every_mistake_it_knows(self, id):
        page = judging.page_spec(id)
        assert len(page["mistakes"]) >= 2
        for mistake in page["mistakes"]:
            assert mistake["answers"]
            for wrong in mistake["answers"]:
                got = copy.copy(page["answer"])
                if mistake["place"] is None:
                    got = wrong
                else:
                    got[mistake["place"]] = wrong
                assert judging.judge(page, got) == mistake["says"]

    def test_every_sentence_ends(self, id):
        page = judging.page_spec(id)
        said = [m["says"] for m in page["mistakes"]] + [s for s in page["otherwise"] if s]
        assert all(s.endswith((".", "?")) for s in said)
