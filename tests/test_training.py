import builtins

import pytest

from attnlib.training import track


def test_items_come_through_with_a_bar_that_goes_away(monkeypatch, capsys):
    monkeypatch.delenv("ATTNLIB_PROGRESS", raising=False)
    assert list(track(range(3), "counting")) == [0, 1, 2]
    assert "counting" in capsys.readouterr().err


@pytest.mark.parametrize("why", ["switched off", "not installed"])
def test_no_bar_leaves_no_trace(monkeypatch, capsys, why):
    if why == "switched off":
        monkeypatch.setenv("ATTNLIB_PROGRESS", "0")
    else:
        monkeypatch.delenv("ATTNLIB_PROGRESS", raising=False)
        real = builtins.__import__

        def missing(name, *args, **kwargs):
            if name.startswith("tqdm"):
                raise ImportError(name)
            return real(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", missing)
    assert list(track(range(3))) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")
