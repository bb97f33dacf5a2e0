import builtins
import sys

import pytest

from attnlib.learn import bank, quiz, record


@pytest.mark.parametrize("chapter", bank.CHAPTERS)
def test_every_question_has_one_right_option_and_a_word_on_each(chapter):
    questions = bank.quiz_data(chapter)["question"]
    assert len(questions) >= 5
    for question in questions:
        assert question["text"].rstrip().endswith(("?", "."))
        assert len(question["option"]) >= 3
        assert sum(option.get("right", False) for option in question["option"]) == 1
        assert all(option["text"] and option["feedback"] for option in question["option"])


def test_the_right_option_is_not_always_in_one_place():
    places = {
        [o.get("right", False) for o in q["option"]].index(True) for q in bank.quiz_data("3")["question"]
    }
    assert len(places) > 1


def test_the_widget_prints_the_same_everywhere_and_keeps_the_score(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path))
    widget = quiz("3")
    assert repr(widget) == "Quiz('Quiz: queries, keys and values', 6 questions)"
    widget.score = 4
    assert record.load()["quizzes"] == {"3": 4}


def test_an_unknown_quiz_is_named():
    with pytest.raises(ValueError, match=r"there is no quiz '12'; there are .*3"):
        quiz("12")


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
