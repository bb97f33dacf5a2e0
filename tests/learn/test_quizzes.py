import builtins
import sys
from itertools import chain
from pathlib import Path

import pytest

from attnlib.learn import bank, quiz, record

QUIZZES = {chapter: bank.quiz_data(chapter) for chapter in bank.CHAPTERS}
every_chapter = pytest.mark.parametrize("chapter", QUIZZES)


def sentences(chapter):
    """Everything a quiz says."""
    for question in QUIZZES[chapter]["question"]:
        yield question["text"]
        for option in question["option"]:
            yield from (option["text"], option["feedback"])


def test_every_file_of_questions_belongs_to_a_chapter():
    files = {path.stem for path in Path(bank.__file__).parent.glob("*.toml")}
    assert files == set(bank.CHAPTERS.values())


@every_chapter
def test_every_question_has_one_right_option_and_a_word_on_each(chapter):
    data = QUIZZES[chapter]
    assert data.keys() == {"chapter", "title", "question"}
    assert data["title"].startswith("Quiz: ")
    assert len(data["question"]) >= 5
    for question in data["question"]:
        assert question.keys() == {"text", "option"}
        assert question["text"].rstrip().endswith(("?", "."))
        assert len(question["option"]) >= 3
        assert [option["right"] for option in question["option"] if "right" in option] == [True]
        assert all(option.keys() - {"right"} == {"text", "feedback"} for option in question["option"])


@every_chapter
def test_nothing_is_empty_and_every_mark_is_closed(chapter):
    for text in sentences(chapter):
        assert text == text.strip() != ""
        assert text.count("`") % 2 == 0, text


@every_chapter
def test_no_option_and_no_feedback_is_given_twice(chapter):
    for question in QUIZZES[chapter]["question"]:
        for kind in ("text", "feedback"):
            said = [option[kind] for option in question["option"]]
            assert len(set(said)) == len(said), question["text"]


def test_no_title_and_no_question_is_asked_twice_in_the_book():
    for said in (
        [data["title"] for data in QUIZZES.values()],
        [question["text"] for question in chain(*(data["question"] for data in QUIZZES.values()))],
    ):
        assert len(set(said)) == len(said)


@every_chapter
def test_the_right_option_stands_at_every_place_and_is_never_the_longest(chapter):
    places = set()
    for question in QUIZZES[chapter]["question"]:
        lengths = [len(option["text"]) for option in question["option"]]
        right = [option.get("right", False) for option in question["option"]].index(True)
        assert max(lengths[:right] + lengths[right + 1 :]) >= lengths[right], question["text"]
        places.add(right)
    assert places == {0, 1, 2, 3}


@every_chapter
def test_the_widget_prints_the_same_everywhere_and_keeps_the_score(chapter, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path))
    data, widget = QUIZZES[chapter], quiz(chapter)
    assert widget.questions == data["question"]
    assert repr(widget) == f"Quiz({data['title']!r}, {len(data['question'])} questions)"
    widget.score = 4
    assert record.load()["quizzes"] == {chapter: 4}


def test_an_unknown_quiz_is_named():
    with pytest.raises(ValueError, match=r"there is no quiz '12'; there are 1, .*3"):
        quiz("12")


@pytest.mark.parametrize(
    ("chapter", "came"), [(3, "int 3"), (3.0, "float 3.0"), (None, "NoneType"), (["3"], "list")]
)
def test_a_quiz_that_is_not_named_by_text_is_refused(chapter, came):
    with pytest.raises(
        TypeError, match=f'^the chapter must be text, like "3", got {came}; put it in quotes$'
    ):
        quiz(chapter)


def test_without_the_widgets_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "anywidget":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.startswith("attnlib.widgets")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'attnlib\[widgets\]'"):
        quiz("3")
