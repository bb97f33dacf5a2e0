"""A folder of notebooks, some of them broken or hostile: each gets its own grades."""

import csv
import json
import sys

import pytest

from attnlib.__main__ import main
from attnlib.learn import bank
from attnlib.learn.classroom import code_cells, grade_folder, without_magics

START = "from attnlib.learn import check\n"
SOLVED = START + 'check("3.1", [4, 8, 16])'
WRONG = START + 'check("1.4", lambda old, new, keep: keep * new + (1 - keep) * old)'


def notebook(*sources):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    text = {"cell_type": "markdown", "metadata": {}, "source": "A text."}
    return json.dumps({"cells": [text, *cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def hostile(folder):
    """What happens in a class, by the name of the file."""
    others = f"""
from pathlib import Path
for path in Path({str(folder)!r}).glob("*.ipynb"):
    path.write_text("nothing is left")
"""
    return {
        "allocates": notebook(SOLVED, "import torch\nx = torch.ones(10 * 2**30, dtype=torch.uint8)", WRONG),
        "crashes": notebook(SOLVED, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", WRONG),
        "endless": notebook(SOLVED, "while True:\n    try:\n        pass\n    except Exception:\n        pass", WRONG),
        "leaves": notebook(SOLVED, "raise SystemExit", WRONG),
        "no_notebook": "Dear teacher, my dog ate it.",
        "overwrites": notebook(SOLVED, others, WRONG),
    }  # fmt: skip


@pytest.mark.starts_process
@pytest.mark.skipif(sys.platform == "win32", reason="memory is not limited there")
def test_thirty_notebooks_get_their_own_grades_whatever_the_others_do(tmp_path, capsys):
    folder = tmp_path / "class"
    folder.mkdir()
    texts = hostile(folder) | {f"pupil_{n:02}": notebook(SOLVED, WRONG) for n in range(24)}
    for name, text in texts.items():
        (folder / f"{name}.ipynb").write_text(text)
    options = ["--out", str(tmp_path), "--seconds", "10", "--memory", "8"]
    assert main(["grade", str(folder), *options]) == 0

    with open(tmp_path / "grades.csv", newline="") as file:
        rows = {row["notebook"].removesuffix(".ipynb"): row for row in csv.DictReader(file)}
    assert list(rows) == sorted(texts)
    both, first, none = ("1", "0"), ("1", ""), ("", "")
    expected = {"crashes": first, "endless": first, "no_notebook": none}
    for name, row in rows.items():
        assert (row["3.1"], row["1.4"]) == expected.get(name, both), (name, row["status"])
        assert {row[id] for id in bank.exercises()} <= {"", "0", "1"}
        assert int(row["passed"]) == (row["3.1"] == "1")
    said = {name: row["status"].partition(";")[0] for name, row in rows.items()}
    assert {said[name] for name in texts if name.startswith("pupil")} == {"ok"}
    assert said["allocates"] == said["leaves"] == "1 cell stopped with an error"
    assert said["crashes"] == "the process ended with code -9"
    assert said["endless"] == "out of time after 10 s"
    assert said["no_notebook"].startswith("not a notebook: JSONDecodeError")
    assert all((folder / f"{name}.ipynb").read_text() == text for name, text in texts.items())
    assert "was put back" in rows["pupil_07"]["status"]
    report = (tmp_path / "grades.md").read_text()
    assert "1 of 2 attempted exercises solved" in report
    assert "- 1.4: keep and replace are swapped" in report
    assert "pupil_23.ipynb: 1 of 2 attempted; ok" in capsys.readouterr().out


def test_a_folder_without_notebooks_is_told(tmp_path, capsys):
    assert main(["grade", str(tmp_path)]) == 2
    assert "there is no notebook" in capsys.readouterr().err
    assert main(["grade", str(tmp_path / "nowhere")]) == 2
    assert "must be a folder with notebooks" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no notebook"):
        grade_folder(tmp_path)


def test_what_only_a_notebook_understands_is_left_out():
    assert (
        without_magics("if True:\n    %pip install x\n!ls\ny = 5 % 3")
        == "if True:\n    pass\npass\ny = 5 % 3"
    )


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{}", b'{"cells": [1]}', b'{"cells": [{"cell_type": "code"}]}']
)
def test_what_is_no_notebook_is_refused(text):
    with pytest.raises(ValueError):
        code_cells(text)
