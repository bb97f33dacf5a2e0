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


def test_doctor_holds_the_devices_against_thirty_cases(capsys, monkeypatch):
    monkeypatch.setenv("ATTNLIB_DEVICE", "cpu")
    assert main(["doctor", "--check"]) == 0
    assert "attention    30 of 30 cases right on cpu (" in capsys.readouterr().out


def test_doctor_names_what_a_device_computes_wrongly(capsys, monkeypatch):
    from attnlib.instruments import conformance

    monkeypatch.setenv("ATTNLIB_DEVICE", "cpu")
    right = conformance.attention
    monkeypatch.setattr(conformance, "attention", lambda *x, **o: right(*x, **o | {"causal": False}))
    assert main(["doctor", "--check"]) == 1
    out = capsys.readouterr().out
    assert "wrong on cpu: causal, float16: off by " in out
    assert "wrong on cpu: no mask" not in out
