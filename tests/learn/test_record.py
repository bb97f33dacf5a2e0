import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from attnlib.__main__ import main
from attnlib.learn import bank, check, progress, record


@pytest.fixture
def file(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path / "new"))
    return tmp_path / "new" / "progress.json"


@pytest.fixture
def homeless(monkeypatch, tmp_path):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("ATTNLIB_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)  # a tilde taken for a folder shall not be made in the house
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does where nothing is known


def kept(folder):
    """The files of a folder but the lock's own, which stays where others may wait for it."""
    return [name for name in os.listdir(folder) if not name.endswith(".json.lock")]


def attempts(file):
    return {id: entry["attempts"] for id, entry in json.loads(file.read_text())["exercises"].items()}


def test_attempts_and_best_scores_are_kept(file):
    assert record.save_attempt("scores-by-hand", passed=False) == ""
    record.save_attempt("scores-by-hand", passed=True)
    record.save_attempt("scores-by-hand", passed=False)
    record.save_quiz("3", 4)
    record.save_quiz("3", 2)
    assert json.loads(file.read_text()) == {
        "format": 2,
        "exercises": {"scores-by-hand": {"attempts": 3, "passed": True}},
        "quizzes": {"3": 4},
    }
    assert kept(file.parent) == ["progress.json"]


# a process with the record alone: the packages around it would load torch, which takes seconds
ALONE = f"""
import sys, types
for name, folder in ("attnlib", ""), ("attnlib.learn", "learn"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [{str(Path(record.__file__).parents[1])!r} + "/" + folder]
from attnlib.learn import record
"""
WRITER = """
print("ready", flush=True)
sys.stdin.readline()
print(*{record.save_attempt("scores-by-hand", passed=False) for _ in range(100)})
"""


@pytest.mark.starts_process
def test_three_processes_at_once_lose_no_attempt(file):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([sys.executable, "-c", ALONE + WRITER], **pipes) for _ in range(3)]
    assert [writer.stdout.readline() for writer in writers] == ["ready\n"] * 3
    for writer in writers:  # all are there: go
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert [writer.communicate()[0] for writer in writers] == ["\n"] * 3
    assert attempts(file) == {"scores-by-hand": 300}
    assert kept(file.parent) == ["progress.json"]


def test_threads_at_once_lose_no_attempt(file):
    start, said = threading.Barrier(5), []

    def write(name):
        start.wait()
        said.extend(record.save_attempt(name, passed=True) for _ in range(60))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcde"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(said) == {""}
    assert attempts(file) == dict.fromkeys("abcde", 60)
    assert kept(file.parent) == ["progress.json"]


def test_a_link_stays_a_link_and_its_target_is_written(file, tmp_path):
    target = tmp_path / "synchronised" / "mine.json"
    target.parent.mkdir()
    file.parent.mkdir()
    file.symlink_to(target)
    for _ in range(2):  # the target is made, then changed
        assert record.save_attempt("scores-by-hand", passed=True) == ""
    assert file.is_symlink()
    assert attempts(target) == {"scores-by-hand": 2}
    assert kept(target.parent) == ["mine.json"]
    assert kept(file.parent) == ["progress.json"]


@pytest.mark.parametrize("target", ["progress.json", "away/progress.json"], ids=["circle", "no folder"])
def test_a_link_that_leads_nowhere_is_told_and_kept(file, target):
    file.parent.mkdir()
    file.symlink_to(target)
    assert "Progress was left alone" in record.save_attempt("scores-by-hand", passed=True)
    assert os.readlink(file) == target
    assert kept(file.parent) == ["progress.json"]


def test_the_home_folder_can_be_written_as_a_tilde(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("ATTNLIB_HOME", "~/course")
    monkeypatch.chdir(tmp_path)
    assert record.save_attempt("scores-by-hand", passed=True) == ""
    assert attempts(tmp_path / "course" / "progress.json") == {"scores-by-hand": 1}
    assert os.listdir(tmp_path) == ["course"]


@pytest.mark.parametrize("variable", [None, "~", "~nobody/course"])
def test_without_a_home_folder_the_page_goes_on_and_says_what_to_set(homeless, monkeypatch, capsys, variable):
    if variable:
        monkeypatch.setenv("ATTNLIB_HOME", variable)
    check("3.1", [-2, -2.5, 1.5])
    progress()
    main(["doctor"])
    passed, *table, doctor = capsys.readouterr().out.rstrip().split("\n")
    assert "passed" in passed
    assert any("0 of 11" in row for row in table)
    for line in (passed, table[1 + len(bank.CHAPTERS)], doctor):
        assert "no home folder was found" in line
        assert "set ATTNLIB_HOME" in line


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_error_while_writing_leaves_the_record_as_it_was(file, monkeypatch, error):
    record.save_attempt("scores-by-hand", passed=True)
    before = file.read_bytes()

    def fails(*_):
        raise error

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fails)
            assert "Progress was left alone" in record.save_attempt("scores-by-hand", passed=True)
        assert file.read_bytes() == before
        assert kept(file.parent) == ["progress.json"]
    assert record.save_attempt("scores-by-hand", passed=True) == ""


def test_what_a_killed_process_left_is_cleared_away(file):
    file.parent.mkdir()
    (file.parent / "progress.json.0f.tmp").write_text("{")
    (file.parent / "progress.json.lock").write_text("")
    assert record.save_attempt("scores-by-hand", passed=True) == ""
    assert kept(file.parent) == ["progress.json"]


HOLDER = """
with record.FileLock(record.home() / "progress.json.lock", timeout=1):
    print("held", flush=True)
    input()
"""


@pytest.mark.starts_process
def test_a_record_held_by_another_is_told_after_a_while_and_free_when_it_dies(file, monkeypatch):
    monkeypatch.setattr(record, "PATIENCE", 0.05)
    file.parent.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", ALONE + HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        assert record.save_attempt("scores-by-hand", passed=True) == (
            f"(Progress was left alone: another program has held {file}.lock for 0.05 seconds. "
            "Run the cell again.)"
        )
        holder.kill()
    assert record.save_attempt("scores-by-hand", passed=True) == ""
    assert attempts(file) == {"scores-by-hand": 1}
    assert kept(file.parent) == ["progress.json"]


def test_a_record_held_by_another_thread_is_told_after_a_while(file, monkeypatch):
    monkeypatch.setattr(record, "PATIENCE", 0.05)
    file.parent.mkdir()
    with record.FileLock(file.parent / "progress.json.lock"):
        assert "another program has held" in record.save_attempt("scores-by-hand", passed=True)
    assert record.save_attempt("scores-by-hand", passed=True) == ""


def test_a_file_that_windows_does_not_let_go_is_replaced_when_it_does(file, monkeypatch):
    refusals, replace = iter([PermissionError(13, "in use"), PermissionError(13, "in use")]), os.replace

    def busy(new, path):
        if error := next(refusals, None):
            raise error
        replace(new, path)

    file.parent.mkdir()
    monkeypatch.setattr(os, "replace", busy)
    monkeypatch.setattr(sys, "platform", "win32")
    assert record.save_attempt("scores-by-hand", passed=True) == ""
    assert next(refusals, None) is None
    assert attempts(file) == {"scores-by-hand": 1}


def test_the_table_counts_by_chapter(file, capsys):
    record.save_attempt("query-behind-the-scores", passed=True)
    record.save_attempt("softmax-without-overflow", passed=False)
    record.save_quiz("3", 5)
    progress()
    head, *rows = capsys.readouterr().out.rstrip().split("\n")
    [row] = [row for row in rows if "3. Queries, keys and values" in row]
    assert head.split() == ["chapter", "exercises", "quiz"]
    own = [id for id in bank.exercises() if id.startswith("3.")]
    assert f"1 of {len(own)}" in row
    assert "5 of 6" in row


def test_an_exercise_that_was_replaced_keeps_its_progress_and_counts_for_no_other(file, capsys):
    replaced = "scores-by-hand", "cosines-by-hand", "count-lstm-parameters"
    for name in replaced:
        record.save_attempt(name, passed=True)
    record.save_attempt("softmax-without-overflow", passed=True)
    assert record.load()["exercises"].keys() == {*replaced, "softmax-without-overflow"}
    assert not {one.name for one in bank.exercises().values()} & {*replaced}
    progress()
    solved = re.findall(r"(\d+) of \d+ ", capsys.readouterr().out)
    assert sum(map(int, solved)) == 1


def file_of_numbers(path, numbers, **more):
    """Write a file as it was when progress knew exercises by their numbers; each has attempts of its own."""
    exercises = {id: {"attempts": n, "passed": n % 2 == 0} for n, id in enumerate(numbers, 1)}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"exercises": exercises, "quizzes": {"3": 4}} | more))
    return exercises


def test_every_exercise_has_a_name_that_is_its_own_and_no_number():
    names = [exercise.name for exercise in bank.exercises().values()]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch("[a-z]+(-[a-z]+)*", name)] == []


def test_former_numbers_lead_to_one_name_each():
    numbers, names = zip(*record.former_names().items(), strict=True)
    assert len(numbers) == 103
    assert len(set(names)) == len(names)
    assert [number for number in numbers if not re.fullmatch(r"[1-9]\.[1-9][0-9]?", number)] == []
    assert set(names) & set(numbers) == set(), "a name that is a number would be moved twice"


def test_an_older_file_moves_to_the_same_exercises_and_loses_nothing(file):
    gone = ["1.1", "2.5", "99.9"]  # taken out long ago, or somebody else's
    before = file_of_numbers(file, [*record.former_names(), *gone], notes=["mine"])
    assert record.save_quiz("3", 2) == ""
    written = json.loads(file.read_text())
    assert written == record.load()
    assert written["format"] == 2
    assert written["quizzes"] == {"3": 4}
    assert written["notes"] == ["mine"]
    moved = written["exercises"]
    assert {id: moved[name] for id, name in record.former_names().items()} | {
        id: moved[id] for id in gone
    } == before
    assert len(moved) == len(before)


# under these numbers these questions stood; the table is written by hand, and so is this
@pytest.mark.parametrize(
    ("number", "title"),
    [("1.2", "A recurrent network"), ("2.13", "An accuracy that nobody doubted"), ("3.4", "A soft dictionary"),
     ("4.5", "The right divisor"), ("5.11", "A head for the previous token"), ("6.14", "Hide the answer alone"),
     ("7.9", "Merge two blocks"), ("8.8", "Two ways to pair"), ("9.10", "A model of a million")],
)  # fmt: skip
def test_a_former_number_leads_to_the_question_that_stood_there(number, title):
    [found] = [one for one in bank.exercises().values() if one.name == record.former_names()[number]]
    assert found.title == title


def test_a_file_that_was_moved_is_not_moved_again(file):
    file_of_numbers(file, ["6.2", "6.3", "6.14"])
    record.save_quiz("3", 4)
    once = file.read_bytes()
    for _ in range(2):
        assert record.save_quiz("3", 4) == ""
        assert file.read_bytes() == once


def test_what_an_older_program_adds_to_a_moved_file_moves_too(file):
    record.save_attempt("hide-the-answer-alone", passed=False)
    data = json.loads(file.read_text())
    data["exercises"] |= {"6.14": {"attempts": 3, "passed": True}, "6.2": {"attempts": 1, "passed": False}}
    file.write_text(json.dumps(data))
    assert record.save_attempt("hide-the-answer-alone", passed=False) == ""
    assert json.loads(file.read_text())["exercises"] == {
        "count-open-cells": {"attempts": 1, "passed": False},
        "hide-the-answer-alone": {"attempts": 4, "passed": True},
    }


def test_an_older_file_can_be_merged(file, tmp_path):
    record.save_attempt("soft-dictionary", passed=True)
    file_of_numbers(tmp_path / "page.json", ["3.4", "3.5"])
    assert record.merge(tmp_path / "page.json") == ""
    assert record.load() == {
        "format": 2,
        "exercises": {
            "soft-dictionary": {"attempts": 1, "passed": True},
            "write-attention": {"attempts": 2, "passed": True},
        },
        "quizzes": {"3": 4},
    }


def test_a_file_of_a_newer_format_is_left_alone(file):
    file_of_numbers(file, ["3.4"], format=3)
    before = file.read_bytes()
    said = record.save_attempt("soft-dictionary", passed=True)
    assert said.endswith("was written by a newer attnlib (format 3). Update yours.)")
    assert file.read_bytes() == before


@pytest.mark.starts_process
def test_programs_at_once_move_a_file_once(file):
    file_of_numbers(file, ["3.1", "3.4"])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([sys.executable, "-c", ALONE + WRITER], **pipes) for _ in range(2)]
    assert [writer.communicate("\n")[0] for writer in writers] == ["ready\n\n"] * 2
    assert attempts(file) == {"scores-by-hand": 201, "soft-dictionary": 2}


NESTED = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "content",
    ["{broken", "[]", "{}", '{"exercises": {"3.1": 1}, "quizzes": {}}',
     '{"exercises": {}, "quizzes": {"3": "x"}}', '{"format": "2", "exercises": {}, "quizzes": {}}', '{"exercises": [], "quizzes": {}}', b"\xff\xfe", NESTED],
    ids=lambda content: str(content[:40]),
)  # fmt: skip
def test_a_corrupt_file_is_never_overwritten(file, content, capsys):
    file.parent.mkdir()
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = file.read_bytes()
    assert "Progress was left alone" in record.save_attempt("scores-by-hand", passed=True)
    assert "Move it away to start afresh" in record.save_quiz("3", 1)
    progress()
    out = capsys.readouterr().out
    assert "0 of 11" in out
    assert str(file) in out
    assert file.read_bytes() == before
    assert kept(file.parent) == ["progress.json"]


def test_what_others_added_to_the_file_stays(file):
    file.parent.mkdir()
    file.write_text('{"exercises": {}, "quizzes": {}, "notes": ["mine"]}')
    assert record.save_attempt("scores-by-hand", passed=True) == ""
    assert json.loads(file.read_text())["notes"] == ["mine"]
    assert attempts(file) == {"scores-by-hand": 1}


def test_what_can_be_read_but_not_written_back_stays(file):
    file.parent.mkdir()
    largest = "9" * sys.get_int_max_str_digits()  # Python writes no longer numbers
    before = f'{{"exercises": {{"3.1": {{"attempts": {largest}, "passed": true}}}}, "quizzes": {{}}}}'
    file.write_text(before)
    assert "cannot be written back" in record.save_attempt("scores-by-hand", passed=True)
    assert file.read_text() == before
    assert kept(file.parent) == ["progress.json"]


def test_an_unwritable_folder_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path / "file" / "below"))
    assert "Progress was left alone" in record.save_attempt("scores-by-hand", passed=True)


def test_the_folder_is_the_users_own(monkeypatch, tmp_path):
    monkeypatch.delenv("ATTNLIB_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    for platform, folder in (
        ("linux", tmp_path / "xdg" / "attnlib"),
        ("win32", tmp_path / "local" / "attnlib"),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        assert record.home() == folder
    monkeypatch.setattr(sys, "platform", "darwin")
    assert record.home().parts[-3:] == ("Library", "Application Support", "attnlib")


def test_from_the_command_line(file, capsys):
    record.save_attempt("query-behind-the-scores", passed=True)
    main(["progress"])
    own = [id for id in bank.exercises() if id.startswith("3.")]
    assert f"1 of {len(own)}" in capsys.readouterr().out


EXPORTED = {
    "format": 2,
    "exercises": {
        "effective-range": {"attempts": 4, "passed": False},
        "scores-by-hand": {"attempts": 1, "passed": True},
    },
    "quizzes": {"1": 5, "3": 2},
}


def test_a_file_from_elsewhere_is_merged_and_nothing_is_lost(file, tmp_path, capsys):
    record.save_attempt("effective-range", passed=True)
    record.save_attempt("softmax-without-overflow", passed=False)
    record.save_quiz("3", 4)
    (tmp_path / "page.json").write_text(json.dumps(EXPORTED))
    assert main(["progress", "--import", str(tmp_path / "page.json")]) == 0
    own = [id for id in bank.exercises() if id.startswith("1.")]
    assert f"1 of {len(own)}" in capsys.readouterr().out
    assert record.load() == {
        "format": 2,
        "exercises": {
            "effective-range": {"attempts": 4, "passed": True},
            "scores-by-hand": {"attempts": 1, "passed": True},
            "softmax-without-overflow": {"attempts": 1, "passed": False},
        },
        "quizzes": {"1": 5, "3": 4},
    }
    before = record.load()
    assert record.merge(tmp_path / "page.json") == ""
    assert record.load() == before, "once more adds nothing"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no file"),
        ("{broken", "cannot be read"),
        ('{"exercises": 3}', "is not a progress file"),
    ],
)
def test_what_cannot_be_merged_is_told_and_changes_nothing(file, tmp_path, capsys, content, said):
    record.save_attempt("scores-by-hand", passed=True)
    before = file.read_text()
    if content is not None:
        (tmp_path / "page.json").write_text(content)
    assert main(["progress", "--import", str(tmp_path / "page.json")]) == 1
    told = capsys.readouterr()
    assert "Progress was left alone" in told.err
    assert said in told.err
    assert told.out == ""
    assert file.read_text() == before


def test_what_is_exported_can_be_merged(file, tmp_path, monkeypatch, capsys):
    record.save_attempt("scores-by-hand", passed=True)
    record.save_quiz("3", 4)
    known = record.load()
    assert main(["progress", "--export", str(tmp_path / "mine.json")]) == 0
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path / "other"))
    assert record.merge(tmp_path / "mine.json") == ""
    assert record.load() == known
    assert main(["progress", "--export", str(tmp_path / "nowhere" / "mine.json")]) == 1
    assert "Nothing was written" in capsys.readouterr().err


def test_in_a_notebook_it_is_a_table(file, monkeypatch):
    import IPython
    import IPython.display

    monkeypatch.setenv("ATTNLIB_HOME", str(file.parent / "<broken>"))
    file.parent.mkdir()
    (file.parent / "<broken>").write_text("")
    shown = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: shown.append(data))
    progress()
    assert shown[0]["text/html"].startswith("<table")
    assert "Progress was left alone" in shown[0]["text/html"]
    assert "&lt;broken" in shown[0]["text/html"]
