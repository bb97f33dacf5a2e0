import re
import signal
from pathlib import Path

import pytest
import torch

from attnlib.learn import bank, check, exercises, hint, judging, record
from attnlib.learn.grading import Exercise


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path))
    monkeypatch.setattr(exercises, "_given", {})


def test_a_right_answer_passes_is_kept_and_teaches(capsys):
    check("3.1", [-2, -2.5, 1.5])
    assert capsys.readouterr().out.startswith("✓ Exercise 3.1 passed. apple is buy twice over")
    assert record.load()["exercises"] == {"query-behind-the-scores": {"attempts": 1, "passed": True}}


def test_a_wrong_answer_gets_its_mistake_and_counts_as_an_attempt(capsys):
    check("3.1", [-2, -1, 6])
    check("3.1", [-2, -2.5, 1.5])
    check("3.1", [0, 0, 0])
    assert "✗ Exercise 3.1 not yet: −1 and 6 are scores" in capsys.readouterr().out
    assert record.load()["exercises"] == {"query-behind-the-scores": {"attempts": 3, "passed": True}}


@pytest.mark.parametrize("blank", [..., None, [], [..., 8, 16], {"scores": ...}, {}, lambda *a: ...])
def test_a_blank_answer_is_not_an_attempt(blank, capsys):
    check("3.2", blank)
    assert "○ Exercise 3.2. Not attempted yet" in capsys.readouterr().out
    assert record.load()["exercises"] == {}


class Refusal(BaseException):
    """What no ``except Exception`` stops."""


class UnspeakableError(Exception):
    def __str__(self):
        raise Refusal


class Nameless(type):
    @property
    def __name__(cls):
        raise Refusal


class NamelessError(Exception, metaclass=Nameless):
    pass


def refuses(*methods, base=object):
    """An answer whose methods raise what no ``except Exception`` stops."""

    def refuse(*_, **__):
        raise Refusal

    kinds = {"__class__": property, "__torch_function__": classmethod}
    body = {name: kinds.get(name, lambda method: method)(refuse) for name in methods}
    return type("Contrary", (base,), {"__hash__": None} | body)()


def raises(error):
    def answer(*_):
        raise error

    return answer


def endless(*_):
    signal.raise_signal(signal.SIGINT)  # the learner presses the button
    while True:
        pass


def endless_list():
    answer = []
    answer.append(answer)
    return answer


STOPPED = {
    "it stopped in line 71, raise error, with ZeroDivisionError: boom.": ZeroDivisionError("boom"),
    "it stopped in line 71, raise error, with SystemExit.": SystemExit(),
    "it stopped in line 71, raise error, with GeneratorExit.": GeneratorExit(),
    "it stopped in line 71, raise error, with Refusal: no 'code'.": Refusal("no `code`."),
    "it stopped in line 71, raise error, with UnspeakableError.": UnspeakableError(),
    "it stopped in line 71, raise error, with Nameless.": NamelessError(),
}


@pytest.mark.parametrize(("sentence", "error"), STOPPED.items())
def test_whatever_an_answer_raises_is_told(sentence, error, capsys):
    check("3.2", raises(error))
    assert f"✗ Exercise 3.2 not yet: {sentence} Stuck?" in capsys.readouterr().out
    assert record.load()["exercises"] == {"softmax-without-overflow": {"attempts": 1, "passed": False}}


@pytest.fixture
def interruptible():
    """A process started in the background ignores the signal, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_endless_loop_can_be_interrupted_and_gets_a_sentence(capsys):
    check("3.2", endless)
    assert capsys.readouterr().out.startswith(
        "✗ Exercise 3.2 not yet: you interrupted it before it had an answer. "
        "If it would not have ended by itself, look for a loop that nothing stops."
    )


METHODS = [
    f"__{name}__"
    for name in ("repr", "str", "format", "eq", "len", "iter", "getitem", "float", "int", "bool", "index",
                 "array", "class", "call", "getattribute")
]  # fmt: skip
WILD = {
    "raises": raises(ZeroDivisionError("boom")),
    "refuses": raises(Refusal()),
    "leaves": raises(SystemExit()),
    "unspeakable": raises(UnspeakableError()),
    "unnamed": raises(NamelessError()),
    "endless": endless_list(),
    "object": object(),
    "text": "text",
    "nan": float("nan"),
    "complex": 1j,
    "no arguments": lambda: 1,
    "contrary result": lambda *_: refuses(*METHODS),
    "contrary list": refuses("__len__", "__iter__", "__getitem__", "__eq__", "__repr__", base=list),
    "contrary dict": refuses("values", "__len__", "__iter__", "__eq__", "__repr__", base=dict),
    "contrary number": refuses("__float__", "__eq__", "__sub__", "__repr__", "__str__", base=float),
    "contrary tensor": refuses("__torch_function__", "__repr__", base=torch.Tensor),
    **{f"contrary {name}": refuses(name) for name in METHODS},
}


@pytest.mark.parametrize("name", WILD)  # by name: pytest itself would trip over the answers
def test_it_never_raises(name, capsys):
    for id in bank.exercises():
        check(id, WILD[name], record=False)
    said = capsys.readouterr().out.rstrip().split("\n")
    assert len(said) == len(bank.exercises())
    assert all(line.startswith(("✗ Exercise", "○ Exercise")) for line in said)


def test_an_error_that_no_page_can_show_is_shown_without_it(monkeypatch, capsys):
    import IPython
    import IPython.display

    shown = []
    check("3.2", raises(ValueError("half a letter: \ud83d")))
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: shown.append(data))
    check("3.2", raises(ValueError("half a letter: \ud83d")))
    assert "half a letter: ?" in capsys.readouterr().out
    assert all("half a letter: ?" in text for text in shown[0].values())


def test_an_unknown_exercise_is_named_with_those_there_are(capsys):
    check("99.9", 1)
    hint("98.8")
    out = capsys.readouterr().out
    assert "There is no exercise 99.9. There are 1.1, " in out
    assert "There is no exercise 98.8. There are 1.1, " in out
    assert "3.1, 3.2" in out


@pytest.mark.parametrize(("gone", "now"), [("6.14", "6.12"), ("1.13", "1.11"), ("5.15", "5.13")])
def test_a_number_that_is_gone_is_told_with_the_one_that_stands_for_it(gone, now, capsys):
    check(gone, 1)
    hint(gone)
    sentence = f"✗ Not found. There is no exercise {gone} any more: it is {now} now.\n"
    assert capsys.readouterr().out == sentence * 2
    assert record.load()["exercises"] == {}


def test_every_former_number_leads_somewhere(capsys):
    here, names = bank.exercises(), {exercise.name for exercise in bank.exercises().values()}
    gone = {number: name for number, name in record.former_names().items() if number not in here}
    assert gone, "else nothing was renumbered"
    for number, name in gone.items():
        check(number, 1)
        said = capsys.readouterr().out
        assert ("any more: it is" in said) == (name in names), number


def test_the_exercises_of_a_chapter_are_numbered_from_one_without_gaps():
    numbers = {chapter: [] for chapter in bank.CHAPTERS}
    for id in bank.exercises():
        chapter, number = id.split(".")
        numbers[chapter].append(int(number))
    assert numbers == {chapter: [*range(1, len(own) + 1)] for chapter, own in numbers.items()}
    assert len(bank.exercises()) == sum(len(table["exercise"]) for table in judging.tables().values())


NOT_TEXT = {
    "float 6.1": 6.10,
    "int 3": 3,
    "int": 10**7919,  # longer than Python writes
    "NoneType": None,
    "list": ["3.1"],
    "Contrary": refuses(*METHODS),
    "Nameless": NamelessError(),
}


@pytest.mark.parametrize("came", NOT_TEXT)
def test_an_exercise_that_is_not_named_by_text_is_refused(came, capsys):
    check(NOT_TEXT[came], [4, 8, 16])
    hint(NOT_TEXT[came])
    sentence = (
        f'✗ Not found. The exercise must be text, like "6.10", got {came}. '
        "Put it in quotes: as numbers, 6.10 and 6.1 are the same.\n"
    )
    assert capsys.readouterr().out == sentence * 2
    assert record.load()["exercises"] == {}


def test_solutions_can_check_without_keeping(capsys):
    check("3.1", [-2, -2.5, 1.5], record=False)
    assert "passed" in capsys.readouterr().out
    assert record.load()["exercises"] == {}


def test_hints_come_one_at_a_time_and_end(capsys):
    for _ in range(3):
        hint("3.1")
    first, second, third = capsys.readouterr().out.strip().split("\n")
    assert first.startswith("○ Exercise 3.1, hint 1 of 2. A score is a dot product")
    assert second.startswith("○ Exercise 3.1, hint 2 of 2. Draw buy and apple.")
    assert second == third
    assert second.endswith("(The last hint; the solutions page has a worked answer.)")
    hint("98.8")
    assert "There is no exercise 98.8" in capsys.readouterr().out


def test_an_unusable_progress_file_is_told_and_kept(capsys, tmp_path):
    (tmp_path / "progress.json").write_text("{broken")
    check("3.1", [-2, -2.5, 1.5])
    out = capsys.readouterr().out
    assert "passed" in out
    assert "Progress was left alone" in out
    assert (tmp_path / "progress.json").read_text() == "{broken"


@pytest.mark.parametrize("topic", bank.CHAPTERS.values())
def test_a_file_has_the_sentences_that_its_graders_say_and_no_others(topic):
    code = Path(bank.__file__).with_name(f"{topic}.py").read_text("utf8")
    table = judging.tables()[topic]
    tables = [
        table.get("says", {}),
        *(spec["says"] for spec in table["exercise"] if spec["kind"] == "function"),
    ]
    told = {key for says in tables for key in says}
    assert set(re.findall(r"says\[[\"'](\w+)[\"']\]", code)) <= told
    assert {key for key in told if not re.search(rf"[\"']{key}[\"']", code)} == set()


@pytest.mark.parametrize("exercise", bank.exercises().values(), ids=bank.exercises())
def test_every_exercise_is_complete(exercise):
    assert isinstance(exercise, Exercise)
    assert exercise.difficulty in ("easy", "medium", "hard")
    assert 1 <= exercise.minutes <= 30
    assert len(exercise.hints) >= 2
    assert exercise.title
    assert exercise.lesson.endswith(".")
