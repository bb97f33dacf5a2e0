import pytest

from attnlib.__main__ import main


def test_doctor_prints_versions_device_and_widgets(capsys, monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", "cpu")
    main(["doctor"])
    out = capsys.readouterr().out
    for line in ("attnlib      ", "torch        ", "device       cpu", "widgets      will work"):
        assert line in out


def test_doctor_says_what_is_missing(capsys, monkeypatch):
    import attnlib.__main__ as module

    def version(name):
        raise module.PackageNotFoundError(name)

    monkeypatch.setattr(module, "version", version)
    monkeypatch.setenv("ATTNLIB_DEVICE", "abacus")
    main(["doctor"])
    out = capsys.readouterr().out
    assert "widgets      no anywidget, ipywidgets: pip install anywidget ipywidgets" in out
    assert "figures      no matplotlib: pip install matplotlib" in out
    assert "book         no jupyter-book, myst-nb," in out
    assert "torch        not installed" in out
    assert "device       none: ATTNLIB_DEVICE must be" in out


def test_doctor_names_the_browser_or_its_lack(capsys, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/opt/mine")
    main(["doctor"])
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setattr("shutil.which", lambda name: None)
    main(["doctor"])
    out = capsys.readouterr().out
    assert "browser      /opt/mine\n" in out
    assert "browser      none found: set CHROMIUM" in out


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["dance"])
    assert "invalid choice" in capsys.readouterr().err
