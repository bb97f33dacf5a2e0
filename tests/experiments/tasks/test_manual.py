import sysconfig

import pytest

from attnlib.experiments.tasks import python_manual, words_of
from attnlib.experiments.tasks.manual import _docstrings


def test_words_are_runs_of_letters():
    assert words_of("The list's 2 items, a_b: É!") == ["the", "list", "s", "items", "a", "b"]
    assert words_of("") == []


def test_the_manual_is_english_about_python_and_the_same_again():
    text = python_manual(docstrings=False)
    words = words_of(text)
    assert len(words) > 50_000
    assert {"the", "list", "tuple", "iterator"} <= set(words)
    assert python_manual(docstrings=False) == text


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A standard library of three files, one of them broken, and one folder of tests."""
    (tmp_path / "test").mkdir()
    (tmp_path / "one.py").write_text(
        '"""About one."""\n\nasync def f():\n    """About f."""\n\nclass A:\n    pass\n', "utf8"
    )
    (tmp_path / "broken.py").write_text("def f(:\n", "utf8")
    (tmp_path / "latin.py").write_bytes(b'"""\xe9"""')
    (tmp_path / "test" / "two.py").write_text('"""A test."""', "utf8")
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(tmp_path)})
    return tmp_path


def test_docstrings_are_added_except_of_tests_and_of_files_that_do_not_parse(library):
    manual, alone = python_manual(), python_manual(docstrings=False)
    assert manual == alone + "\n\nAbout one.\n\nAbout f."
    assert _docstrings(library / "broken.py") == []
