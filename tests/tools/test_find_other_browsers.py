import os
import shutil
import subprocess

import pytest

from tools import find_other_browsers
from tools.find_other_browsers import FIREFOX, PACKAGES, WEBKIT, installed


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine with neither, whose user is not root; what gets run is noted."""
    ran = []
    for name in ("FIREFOX", "MINIBROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(find_other_browsers, "FIREFOX_ELSEWHERE", ())
    monkeypatch.setattr(find_other_browsers, "LIBRARIES", (tmp_path,))
    monkeypatch.setattr(subprocess, "run", lambda command, **options: ran.append(command))
    return ran


def test_a_variable_comes_first_and_then_the_systems(bare, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert installed(FIREFOX) == "/usr/bin/firefox-esr"
    monkeypatch.setenv("FIREFOX", "/opt/fox")
    monkeypatch.setenv("MINIBROWSER", "/opt/kit")
    assert (installed(FIREFOX), installed(WEBKIT)) == ("/opt/fox", "/opt/kit")


def test_webkit_is_its_newest_browser_where_driver_and_screen_are_there_too(bare, monkeypatch, tmp_path):
    for version in ("4.0", "4.1"):
        folder = tmp_path / "some-machine" / f"webkit2gtk-{version}"
        folder.mkdir(parents=True)
        (folder / "MiniBrowser").touch()
    for here, found in (
        ({"WebKitWebDriver"}, None),
        ({"WebKitWebDriver", "Xvfb"}, str(folder / "MiniBrowser")),
    ):
        monkeypatch.setattr(shutil, "which", lambda name, here=here: name if name in here else None)
        assert installed(WEBKIT) == found


def test_root_on_debian_installs_what_is_missing_and_fails_if_it_does_not_come(bare, monkeypatch):
    monkeypatch.setenv("FIREFOX", "/opt/fox")
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "apt-get" else None)
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert find_other_browsers.main() == 1
    assert [command[1] for command in bare] == ["update", "install"]
    assert bare[-1][-2:] == PACKAGES[WEBKIT]


def test_others_are_told_what_to_do_and_that_tests_are_skipped(bare, capsys):
    assert find_other_browsers.main() == 0
    assert bare == []
    said = capsys.readouterr().out
    assert "apt-get install firefox-esr" in said
    assert "apt-get install webkit2gtk-driver xvfb" in said
    assert said.count("skipped") == 2
