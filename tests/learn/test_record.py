import json
import os
import sys

import pytest

from attnlib.__main__ import main
from attnlib.learn import progress, record


@pytest.fixture
def file(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path / "new"))
    return tmp_path / "new" / "progress.json"


def test_attempts_and_best_scores_are_kept(file):
    assert record.save_attempt("3.1", passed=False) == ""
    record.save_attempt("3.1", passed=True)
    record.save_attempt("3.1", passed=False)
    record.save_quiz("3", 4)
    record.save_quiz("3", 2)
    assert json.loads(file.read_text()) == {
        "exercises": {"3.1": {"attempts": 3, "passed": True}},
        "quizzes": {"3": 4},
    }
    assert os.listdir(file.parent) == ["progress.json"]


def test_the_table_counts_by_chapter(file, capsys):
    record.save_attempt("3.1", passed=True)
    record.save_attempt("3.2", passed=False)
    record.save_quiz("3", 5)
    progress()
    head, *rows = capsys.readouterr().out.rstrip().split("\n")
    [row] = [row for row in rows if "3. queries keys values" in row]
    assert head.split() == ["chapter", "exercises", "quiz"]
    assert "1 of 9" in row
    assert "5 of 6" in row


@pytest.mark.parametrize(
    "content",
    ["{broken", "[]", "{}", '{"exercises": {"3.1": 1}, "quizzes": {}}',
     '{"exercises": {}, "quizzes": {"3": "x"}}', '{"exercises": [], "quizzes": {}}', b"\xff\xfe"],
)  # fmt: skip
def test_a_corrupt_file_is_never_overwritten(file, content, capsys):
    file.parent.mkdir()
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = file.read_bytes()
    assert "Progress was left alone" in record.save_attempt("3.1", passed=True)
    assert "Move it away to start afresh" in record.save_quiz("3", 1)
    progress()
    out = capsys.readouterr().out
    assert "0 of 9" in out
    assert str(file) in out
    assert file.read_bytes() == before


def test_an_unwritable_folder_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path / "file" / "below"))
    assert "Progress was left alone" in record.save_attempt("3.1", passed=True)


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
    record.save_attempt("3.1", passed=True)
    main(["progress"])
    assert "1 of 9" in capsys.readouterr().out


def test_in_a_notebook_it_is_a_table(file, monkeypatch):
    import IPython
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: shown.append(data))
    progress()
    assert shown[0]["text/html"].startswith("<table")
