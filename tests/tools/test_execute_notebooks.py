import sys

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from tools import execute_notebooks


@pytest.mark.starts_process
def test_twice_gives_the_same_bytes_and_a_change_is_noticed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path))  # main changes it; this puts it back
    path = tmp_path / "small.ipynb"
    widget = new_code_cell("from attnlib.widgets import AttentionPlane\nAttentionPlane()")
    nbformat.write(new_notebook(cells=[new_code_cell("print(6 * 7)"), widget]), path)
    monkeypatch.setattr(sys, "argv", ["execute", str(path)])
    assert execute_notebooks.main() == 0
    first = path.read_text("utf8")
    assert "42" in first
    assert "AttentionPlane" in first
    assert execute_notebooks.main() == 0
    assert path.read_text("utf8") == first
    monkeypatch.setattr(sys, "argv", ["execute", "--check", str(path)])
    assert execute_notebooks.main() == 0
    path.write_text(first.replace("42", "43"), "utf8")
    assert execute_notebooks.main() == 1
    assert "DIFFERS" in capsys.readouterr().out


@pytest.mark.starts_process
def test_a_false_claim_stops_the_run_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path))
    path = tmp_path / "small.ipynb"
    source = 'from attnlib.learn import claim\nclaim("the moon is made of cheese", False)'
    nbformat.write(new_notebook(cells=[new_code_cell(source)]), path)
    before = path.read_text("utf8")
    monkeypatch.setattr(sys, "argv", ["execute", str(path)])
    with pytest.raises(CellExecutionError, match="claim 1 is false: the moon is made of cheese"):
        execute_notebooks.main()
    assert path.read_text("utf8") == before
