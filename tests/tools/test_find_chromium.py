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


def test_then_playwrights(bare, monkeypatch):
    monkeypatch.setattr(find_chromium, "_playwrights", lambda: "/cache/chromium")
    assert find_chromium.installed() == "/cache/chromium"


@pytest.mark.parametrize(("user", "tools"), [(0, ["apt-get", "apt-get"]), (1000, [])])
def test_root_on_debian_installs_debians_and_others_playwrights(bare, monkeypatch, user, tools):
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    find_chromium.install()
    assert [command[0] for command in bare[:-1]] == tools
    assert bare[-1] == [sys.executable, "-m", "playwright", "install", "chromium"]


def test_without_any_it_fails_and_says_what_to_do(bare, capsys):
    assert find_chromium.main() == 1
    assert "apt-get install chromium" in capsys.readouterr().out


def test_with_one_it_says_where(monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "/opt/mine")
    assert find_chromium.main() == 0
    assert "/opt/mine" in capsys.readouterr().out
