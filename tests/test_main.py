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
    assert "widgets      no: pip install anywidget ipywidgets" in out
    assert "figures      no: pip install matplotlib" in out
    assert "device       none: ATTNLIB_DEVICE must be" in out


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["dance"])
    assert "invalid choice" in capsys.readouterr().err
