import hashlib
import subprocess
import sys

import pytest

from tools import find_pyodide

GENUINE = b"the package"


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine with an empty cache, no network and no npm; the package is a short text."""
    digest = find_pyodide.base64.b64encode(hashlib.sha512(GENUINE).digest()).decode()
    monkeypatch.setattr(find_pyodide, "INTEGRITY", f"sha512-{digest}")
    monkeypatch.setattr(find_pyodide, "cache", lambda: tmp_path / "cache")
    monkeypatch.delenv("PYODIDE", raising=False)
    monkeypatch.setattr(find_pyodide.shutil, "which", lambda name: None)

    monkeypatch.setattr(find_pyodide, "root_has_apt", lambda: False)
    return tmp_path


def online(monkeypatch, body):
    """Give the machine an npm that brings this."""
    monkeypatch.setattr(find_pyodide.shutil, "which", lambda name: "/usr/bin/npm" if name == "npm" else None)

    def npm(command, **options):
        assert command[:2] == ["/usr/bin/npm", "pack"]
        assert f"pyodide@{find_pyodide.VERSION}" in command
        (find_pyodide.Path(command[-1]) / find_pyodide.NAME).write_bytes(body)

    monkeypatch.setattr(subprocess, "run", npm)


def test_it_is_fetched_once_and_kept(bare, monkeypatch, capsys):
    online(monkeypatch, GENUINE)
    assert find_pyodide.main() == 0
    monkeypatch.setattr(find_pyodide, "install", lambda: pytest.fail("fetched twice"))
    assert find_pyodide.main() == 0
    assert [file.name for file in (bare / "cache").iterdir()] == [find_pyodide.NAME]
    assert str(bare / "cache" / find_pyodide.NAME) in capsys.readouterr().out


def test_another_archive_of_its_name_is_not_taken(bare, monkeypatch):
    online(monkeypatch, GENUINE + b", changed on its way")
    assert find_pyodide.main() == 1
    assert list((bare / "cache").iterdir()) == []


def test_one_that_was_damaged_in_the_cache_is_fetched_again(bare, monkeypatch):
    (bare / "cache").mkdir()
    (bare / "cache" / find_pyodide.NAME).write_bytes(b"half of")
    online(monkeypatch, GENUINE)
    assert find_pyodide.main() == 0
    assert find_pyodide.installed().read_bytes() == GENUINE


def test_the_variable_comes_first_and_is_held_to_the_hash_too(bare, monkeypatch):
    mine = bare / "mine.tgz"
    monkeypatch.setenv("PYODIDE", str(mine))
    assert find_pyodide.main() == 1
    mine.write_bytes(GENUINE)
    assert find_pyodide.installed() == mine
    mine.write_bytes(b"another")
    assert find_pyodide.installed() is None


def test_npm_itself_is_installed_where_root_lacks_it(bare, monkeypatch):
    here = []
    monkeypatch.setattr(find_pyodide.shutil, "which", lambda name: "/usr/bin/npm" if here else None)
    monkeypatch.setattr(find_pyodide, "root_has_apt", lambda: True)

    def run(command, **options):
        if "install" in command:
            assert command[-1] == "npm"
            here.append(command)
        elif "pack" in command:
            (find_pyodide.Path(command[-1]) / find_pyodide.NAME).write_bytes(GENUINE)

    monkeypatch.setattr(subprocess, "run", run)
    assert find_pyodide.main() == 0


def test_an_npm_that_hangs_stops_nothing(bare, monkeypatch, capsys):
    online(monkeypatch, GENUINE)

    def hangs(command, **options):
        raise subprocess.TimeoutExpired(command, 300)

    monkeypatch.setattr(subprocess, "run", hangs)
    assert find_pyodide.main() == 1
    told = capsys.readouterr()
    assert "timed out" in told.err
    assert "set PYODIDE" in told.out


def test_without_a_network_it_says_what_to_do(bare, capsys):
    assert find_pyodide.main() == 1
    told = capsys.readouterr()
    assert f"npm pack pyodide@{find_pyodide.VERSION}" in told.out
    assert "set PYODIDE" in told.out


def test_a_folder_that_cannot_be_written_stops_nothing(bare, capsys):
    (bare / "cache").write_text("a file stands in its place")
    assert find_pyodide.main() == 1
    assert "set PYODIDE" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")
def test_the_cache_is_the_users(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(find_pyodide.cache()) == "/somewhere/paying-attention"


def test_version_and_hash_stand_in_one_place():
    root = find_pyodide.Path(find_pyodide.__file__).parents[1]
    files = [
        *root.glob("*.*"),
        *(f for name in ("book", "tools", ".github") for f in (root / name).rglob("*.*")),
    ]
    text = (
        f for f in files if f.is_file() and f.suffix in (".py", ".js", ".md", ".yml", ".json", ".toml", "")
    )
    holding = [f.name for f in text if find_pyodide.INTEGRITY in f.read_text("utf8", "replace")]
    assert holding == ["find_pyodide.py"]
