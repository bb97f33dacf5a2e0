import pytest

from attnlib.learn import bank, check, exercises, hint, record
from attnlib.learn.grading import Exercise


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path))
    monkeypatch.setattr(exercises, "_given", {})


def test_a_right_answer_passes_is_kept_and_teaches(capsys):
    check("3.1", [4, 8, 16])
    assert capsys.readouterr().out.startswith("✓ Exercise 3.1 passed. phone scores itself highest")
    assert record.load()["exercises"] == {"3.1": {"attempts": 1, "passed": True}}


def test_a_wrong_answer_gets_its_mistake_and_counts_as_an_attempt(capsys):
    check("3.1", [4, 8, 8])
    check("3.1", [4, 8, 16])
    check("3.1", [0, 0, 0])
    assert "✗ Exercise 3.1 not yet: these are the scores of apple" in capsys.readouterr().out
    assert record.load()["exercises"] == {"3.1": {"attempts": 3, "passed": True}}


@pytest.mark.parametrize("blank", [..., None, [], [..., 8, 16], {"scores": ...}, {}, lambda *a: ...])
def test_a_blank_answer_is_not_an_attempt(blank, capsys):
    check("3.2", blank)
    assert "○ Exercise 3.2. Not attempted yet" in capsys.readouterr().out
    assert record.load()["exercises"] == {}


def test_it_never_raises(capsys):
    def explodes(*_):
        raise ZeroDivisionError("boom")

    class UnspeakableError(Exception):
        def __str__(self):
            raise ValueError

    def unspeakable(*_):
        raise UnspeakableError

    def leaves(*_):
        raise SystemExit

    endless = []
    endless.append(endless)
    wild = (explodes, unspeakable, leaves, endless, object(), "text", float("nan"), 1j, lambda: 1)
    for answer in wild:
        for id in (*bank.exercises(), "9.9", 7, None):
            check(id, answer)
    out = capsys.readouterr().out
    assert "it stopped with ZeroDivisionError: boom." in out
    assert "it stopped with UnspeakableError." in out
    assert "There is no exercise 9.9. There are " in out
    assert "3.1, 3.2" in out


def test_solutions_can_check_without_keeping(capsys):
    check("3.1", [4, 8, 16], record=False)
    assert "passed" in capsys.readouterr().out
    assert record.load()["exercises"] == {}


def test_hints_come_one_at_a_time_and_end(capsys):
    for _ in range(3):
        hint("3.1")
    first, second, third = capsys.readouterr().out.strip().split("\n")
    assert first.startswith("○ Exercise 3.1, hint 1 of 2. A score is a dot product")
    assert second.startswith("○ Exercise 3.1, hint 2 of 2. phone is (0, 4)")
    assert second == third
    assert second.endswith("(The last hint; the solutions page has a worked answer.)")
    hint("8.8")
    assert "There is no exercise 8.8" in capsys.readouterr().out


def test_an_unusable_progress_file_is_told_and_kept(capsys, tmp_path):
    (tmp_path / "progress.json").write_text("{broken")
    check("3.1", [4, 8, 16])
    out = capsys.readouterr().out
    assert "passed" in out
    assert "Progress was left alone" in out
    assert (tmp_path / "progress.json").read_text() == "{broken"


@pytest.mark.parametrize("exercise", bank.exercises().values(), ids=bank.exercises())
def test_every_exercise_is_complete(exercise):
    assert isinstance(exercise, Exercise)
    assert exercise.difficulty in ("easy", "medium", "hard")
    assert 1 <= exercise.minutes <= 30
    assert len(exercise.hints) >= 2
    assert exercise.title
    assert exercise.lesson.endswith(".")
