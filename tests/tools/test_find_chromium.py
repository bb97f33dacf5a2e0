import os
import shutil
import subprocess
import sys

import pytest

from tools import find_chromium


@pytest.fixture
def bare(monkeypatch):
    """A machine with no browser on it; what gets run is noted."""
    ran = []
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(find_chromium, "_playwrights", lambda: None)
    monkeypatch.setattr(find_chromium, "MAC", find_chromium.Path("/nowhere"))
    monkeypatch.setattr(subprocess, "run", lambda command, **options: ran.append(command))
    return ran


def test_the_variable_comes_first(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/opt/mine")
    assert find_chromium.installed() == "/opt/mine"


def test_then_the_systems(bare, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/chromium" if name == "chromium" else None)
    assert find_chromium.installed() == "/usr/bin/chromium"


def test_of_the_systems_the_headless_shell_comes_first(bare, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert find_chromium.installed() == "/usr/bin/chromium-headless-shell"


def test_then_playwrights(bare, monkeypatch):
    monkeypatch.setattr(find_chromium, "_playwrights", lambda: "/cache/chromium")
    assert find_chromium.installed() == "/cache/chromium"


def debian(monkeypatch, user, *names):
    """Let it be a Debian, used by root (0) or another, with these programs."""
    monkeypatch.setattr(
        shutil, "which", lambda name: f"/usr/bin/{name}" if name in ("apt-get", *names) else None
    )
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)


@pytest.mark.parametrize(("user", "packages"), [(0, ["chromium-headless-shell", "chromium"]), (1000, [])])
def test_root_on_debian_installs_debians_and_others_playwrights(bare, monkeypatch, user, packages):
    debian(monkeypatch, user)
    find_chromium.install()
    assert [command[-1] for command in bare if command[:2] == ["apt-get", "install"]] == packages
    assert bare[-1] == [sys.executable, "-m", "playwright", "install", "chromium"]


def test_root_with_a_whole_browser_gets_the_shell_too_and_keeps_the_browser_if_there_is_none(
    bare, monkeypatch
):
    debian(monkeypatch, 0, "chromium")
    assert find_chromium.main() == 0
    assert bare == [["apt-get", "update", "-q"], ["apt-get", "install", "-qy", "chromium-headless-shell"]]


@pytest.mark.parametrize(("user", "names"), [(1000, ["chromium"]), (0, ["chromium-headless-shell"])])
def test_nothing_is_installed_where_nothing_better_can_be(bare, monkeypatch, user, names):
    debian(monkeypatch, user, *names)
    assert find_chromium.main() == 0
    assert bare == []


def test_without_any_it_fails_and_says_what_to_do(bare, capsys):
    assert find_chromium.main() == 1
    assert "apt-get install chromium-headless-shell" in capsys.readouterr().out


def test_with_one_it_says_where(monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "/opt/mine")
    assert find_chromium.main() == 0
    assert "/opt/mine" in capsys.readouterr().out
