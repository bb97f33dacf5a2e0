"""A folder of notebooks, most of them broken or hostile: each gets its own line, and loses nothing it solved."""

import csv
import functools
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from pathlib import Path

import psutil
import pytest
import yaml

from attnlib.__main__ import main
from attnlib.learn import bank, check
from attnlib.learn.classroom import folder as folder_module
from attnlib.learn.classroom import grade as grade_module
from attnlib.learn.classroom import log, run
from attnlib.learn.classroom.cells import code_cells, first_line, without_installs
from attnlib.learn.classroom.folder import Folder, printable
from attnlib.learn.classroom.kernel import environment, keeper_of_streams, listener
from attnlib.learn.classroom.limits import Limits, gaps
from attnlib.learn.classroom.tables import Grades, csv_line, harmless, section
from attnlib.learn.classroom.watch import PAUSE, Watch, end_descendants, fits

ROOT = Path(__file__).parents[2]
IDS = {exercise.name: exercise.id for exercise in bank.exercises().values()}
FIRST, SECOND = IDS["query-behind-the-scores"], IDS["keep-or-replace"]
START = "from attnlib.learn import check\n"
SOLVED = f'{START}check("{FIRST}", [-2, -2.5, 1.5])'
WRONG = f'{START}check("{SECOND}", lambda old, new, keep: keep * new + (1 - keep) * old)'


def notebook(*sources, nbformat=4, language="python"):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    text = {"cell_type": "markdown", "metadata": {}, "source": "A text."}
    about = {"kernelspec": {"name": "x", "display_name": "x", "language": language}}
    return json.dumps({"cells": [text, *cells], "metadata": about, "nbformat": nbformat, "nbformat_minor": 5})


def between(source):
    """A solved exercise, what happens then, and an attempt at another after it."""
    return notebook(SOLVED, source, WRONG)


BOTH, ONE, NONE = ("1", "0"), ("1", ""), ("", "")

# by the name of the file: its text, its marks for the two exercises, and the form of its status
JUPYTER = """
import asyncio, io, sys
from IPython.display import display
display("shown")
await asyncio.sleep(0)
len?
!ls
%time 1 + 1
x = (5
     % 3)
print("no newline", end="")
"""
FORGED = json.dumps({"check": SECOND, "passed": True, "said": ""})
WRITES = f"""
import glob, os, tempfile
print("✓ Exercise {SECOND} passed. ")
line = b'0123456789abcdef0123456789abcdef {FORGED}\\n{FORGED}\\n'
for path in glob.glob(tempfile.gettempdir() + "/attnlib-marks*"):
    open(path, "ab").write(line)
for n in (1, 2):
    os.write(n, line)
open("marks", "wb").write(line)
"""


def runs(others, note):
    """Notebooks that run, each with the marks for both exercises and the status that it must get.

    Args:
        others: The folder of the class.
        note: A file in which processes leave their numbers.
    """
    stays = f"""
import subprocess, sys
code = "import os, time; open({str(note)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
subprocess.Popen([sys.executable, "-c", f"import subprocess; subprocess.Popen([{{sys.executable!r}}, '-c', {{code!r}}])"])
import time; time.sleep(1)
"""
    spoils = f"""
from pathlib import Path
for path in Path({str(others)!r}).glob("pupil_*.ipynb"):
    path.write_text("nothing is left")
Path({str(others)!r}, "renamed.ipynb").unlink()
"""
    error = "1 cell stopped with an error"

    def ended(why):
        return f"{why} in cell 2; run again without cell 2"

    return {
        "allocates": (between("import torch\nx = torch.ones(20 * 2**30, dtype=torch.uint8)"), BOTH, error),
        "background": (between("import threading, time\ndef go():\n    while True:\n        print(1); time.sleep(.01)\nthreading.Thread(target=go, daemon=True).start()"), BOTH, "ok"),
        "captured": (notebook("%%capture\n" + SOLVED, "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()):\n    pass\n" + WRONG), BOTH, "ok"),
        "children": (between(stays), BOTH, "ok"),
        "changes_folder": (between("import os\nos.mkdir('x'); os.chdir('x'); os.rmdir('../x')"), BOTH, "ok"),
        "deletes_all": (between("import shutil\nshutil.rmtree('..', ignore_errors=True)"), BOTH, "ok"),
        "driver": (between("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"), BOTH, ended("the process that ran it was killed")),
        "endless": (between("while True:\n    try:\n        pass\n    except BaseException:\n        pass"), BOTH, ended("out of time after 5 s")),
        "errors": (notebook("1 / 0", SOLVED, "nonsense nonsense", "raise ValueError('`x` <b>')", WRONG), BOTH, "3 cells stopped with an error"),
        "exits": (between("exit()"), BOTH, "ok"),
        "exits_at_once": (between("import os\nos._exit(0)"), BOTH, ended(r"the kernel ended \(code 0\)")),
        "exits_late": (notebook(SOLVED, WRONG, "import os\nos._exit(7)"), BOTH, r"the kernel ended \(code 7\) in cell 3"),
        "files": (between("open('big', 'wb').truncate(2**40)"), BOTH, error),
        "forks": (between("import os, time\nfor n in range(80):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)"), BOTH, ended("more than 64 processes")),
        "forms": (json.dumps({"cells": [{"cell_type": "raw", "source": "x"}, {"cell_type": "code", "source": []}, {"cell_type": "code", "source": SOLVED.splitlines(True)}, {"cell_type": "code", "source": WRONG}], "nbformat": 4}), BOTH, "ok"),
        "input": (between("input('name? ')"), BOTH, error),
        "installs": (between("%pip install nothing-of-this-name\n!pip install nothing-of-this-name"), BOTH, "ok"),
        "jupyter": (between(JUPYTER), BOTH, "ok"),
        "killed": (between("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"), BOTH, ended(r"the kernel ended \(signal 9\)")),
        "leaves": (between("import sys\nsys.exit(3)"), BOTH, error),
        "many_files": (between("for n in range(3):\n    open(str(n), 'wb').write(bytes(2**22))\nimport time; time.sleep(600)"), BOTH, ended("more than 8 MiB or 20000 files")),
        "mended_later": (notebook(SOLVED, WRONG, SOLVED.replace("16", "17")), BOTH, "ok"),
        "modules_gone": (notebook("import attnlib.learn, sys\nfor name in list(sys.modules):\n    if name.startswith('attnlib'):\n        del sys.modules[name]", SOLVED, WRONG), BOTH, "ok"),
        "own_check": (notebook(SOLVED, f"def check(id, answer):\n    print(f'✓ Exercise {{id}} passed. ')\ncheck('{SECOND}', 1)"), ONE, "ok"),
        "pool": (between("import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    assert pool.map(abs, [-1]) == [1]"), BOTH, "ok"),
        "prints": (between("import time\nprint('x' * 5_000_000)\ntime.sleep(600)"), BOTH, ended("more than 4 MiB of output")),
        "progress": (notebook("import os\nfor name in ('ATTNLIB_HOME', 'XDG_DATA_HOME'):\n    del os.environ[name]", SOLVED, WRONG), BOTH, "ok"),
        "segfault": (between("import ctypes\nctypes.string_at(0)"), BOTH, ended(r"the kernel ended \(signal 11\)")),
        "sleeps": (between("import time\ntime.sleep(600)"), BOTH, ended("out of time after 5 s")),
        "spoils": (between(spoils), BOTH, "ok"),
        "stdout_gone": (notebook("import sys\nsys.stdout.close()\nsys.stdout = sys.stderr = None", SOLVED, WRONG), BOTH, "ok"),
        "text": (between("'\ud800'"), BOTH, error),
        "twice": (notebook(SOLVED, "import os\nos._exit(1)", "1 + 1", "os._exit(2)", "import os\nos._exit(3)", "import os\nos._exit(4)", WRONG), ONE, r"the kernel ended \(code 1\) in cell 2; the kernel ended \(code 3\) in cell 5; the kernel ended \(code 4\) in cell 6; run again without cells 2 and 5; 1 cell stopped with an error"),
        "writes": (notebook(SOLVED, WRITES), ONE, "ok"),
    }  # fmt: skip


BROKEN = {
    "array": (b"[]", "not a notebook: TypeError"),
    "deep": (b'{"cells": ' + b"[" * 100_000, "not a notebook: RecursionError"),
    "empty": (b"", "not a notebook: an empty file"),
    "form_3": (notebook(SOLVED, nbformat=3).encode(), "nbformat must be 4, got 3: open it"),
    "no_notebook": (b"Dear teacher, my dog ate it.", "not a notebook: JSONDecodeError"),
    "other_language": (notebook(SOLVED, language="R").encode(), "written in R: only Python is run"),
    "torn": (notebook(SOLVED)[:-40].encode(), "not a notebook: JSONDecodeError"),
}


def broken_ones(folder):
    """Lay out what cannot be run; return the status of each by its name."""
    for name, (text, _) in BROKEN.items():
        (folder / f"{name}.ipynb").write_bytes(text)
    (folder / "folder.ipynb").mkdir()
    (folder / "leads_nowhere.ipynb").symlink_to("nowhere.ipynb")
    os.mkfifo(folder / "pipe.ipynb")
    with open(folder / "huge.ipynb", "wb") as file:
        file.truncate(folder_module.NOTEBOOK + 1)
    return {name: status for name, (_, status) in BROKEN.items()} | {
        "folder": "a folder, not a notebook",
        "leads_nowhere": "a link that leads nowhere",
        "pipe": "not a file",
        "huge": "longer than 64 MiB",
    }


def lay_out(folder, note):
    """Write a class; return for each line its marks and the form of its status."""
    folder.mkdir()
    expected = {name: (NONE, re.escape(status) + ".*") for name, status in broken_ones(folder).items()}
    for name, (text, marks, status) in runs(folder, note).items():
        (folder / f"{name}.ipynb").write_text(text)
        expected[name] = marks, status
    beside = notebook(SOLVED, "import helper\nassert open('data/x.csv').read() == helper.X", WRONG)
    plain = notebook(SOLVED, WRONG)
    for path, text in {
        "anna/homework.ipynb": beside, "anna/helper.py": "X = 'a,b'", "anna/data/x.csv": "a,b",
        "bert/homework.ipynb": plain, "bert/torch.py": "1 / 0", "bert/random.py": "1 / 0",
        "pupil_1.ipynb": plain, "pupil_2.ipynb": plain, "renamed.ipynb": plain,
        "=cmd|' /C calc'!A0.ipynb": plain, "two\nlines.ipynb": plain,
    }.items():  # fmt: skip
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    strange = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.ipynb"))
    strange.write_text(plain)
    good = ("anna/homework", "bert/homework", "pupil_1", "pupil_2", "renamed", "'=cmd|' /C calc'!A0")
    return expected | dict.fromkeys([*good, "two\\nlines", "caf\\xe9"], (BOTH, "ok"))


def rows_of(path):
    with open(path, newline="", encoding="utf8") as file:
        return {row["notebook"].removesuffix(".ipynb"): row for row in csv.DictReader(file)}


def is_zombie(number):
    try:
        return psutil.Process(number).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def gone(numbers, seconds=20):
    """Whether processes end."""
    end = time.monotonic() + seconds
    while left := [n for n in numbers if psutil.pid_exists(n) and not is_zombie(n)]:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return not left


@pytest.mark.starts_process
@pytest.mark.skipif(sys.platform != "linux", reason="not all that is laid out here exists elsewhere")
def test_fifty_notebooks_get_their_own_lines_whatever_the_others_do(tmp_path, capfd, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("ATTNLIB_HOME", str(home))
    folder, note = tmp_path / "class", tmp_path / "numbers"
    expected = lay_out(folder, note)
    monkeypatch.setattr(grade_module, "Limits", functools.partial(Limits, output=2**22, files=2**23))
    before = {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "huge.ipynb"
    }
    options = ["--out", str(tmp_path), "--seconds", "5", "--memory", "8", "--jobs", "6"]
    assert main(["grade", str(folder), *options]) == 0

    rows = rows_of(tmp_path / "grades.csv")
    assert set(rows) == set(expected)
    wrong = []
    for name, (marks, status) in expected.items():
        row = rows[name]
        found = re.sub("(; |^)while it ran, .*", "", row["status"]) or "ok"  # what another did at that time
        if (row[FIRST], row[SECOND]) != marks or not re.fullmatch(status, found):
            wrong.append(f"{name}: {row[FIRST]!r} {row[SECOND]!r} {row['status']}")
        assert int(row["passed"]) == (row[FIRST] == "1")
    assert not wrong, "\n".join(wrong)
    spoilt = "while it ran, 3 files of the folder were changed or deleted, and put back"
    assert rows["spoils"]["status"] == spoilt
    assert sum("while it ran" in row["status"] for row in rows.values()) <= 6  # who ran at the same time
    assert {path: path.read_bytes() for path in before} == before
    assert not home.exists()
    numbers = [int(n) for n in note.read_text().split()]
    assert len(numbers) == 2
    assert gone(numbers)

    report = (tmp_path / "grades.md").read_text()
    assert "- cell 2, `import os`: the kernel ended (code 0)" in report
    assert "- cell 4, `raise ValueError(''x' <b>')`: ValueError: `x` \\<b>" in report
    assert "keep and replace are swapped" in report
    out, err = capfd.readouterr()
    assert "pupil_2.ipynb: 1 of 2 attempted; ok\n" in out
    assert "xxx" not in out + err
    assert "Traceback" not in err


def wait_for(happened, seconds=120):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """A class whose first notebook is well, and whose second starts processes and never ends."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    folder, note = tmp_path / "class", tmp_path / "numbers"
    folder.mkdir()
    (tmp_path / "t").mkdir()
    endless = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open({str(note)!r}, "w").write(f"{{os.getpid()}} {{os.getppid()}} {{child.pid}} ")
time.sleep(600)
"""
    (folder / "a.ipynb").write_text(notebook(SOLVED, WRONG))
    (folder / "b.ipynb").write_text(notebook(SOLVED, endless))
    yield ["grade", str(folder), "--out", str(tmp_path / "out"), "--jobs", "1"], note
    assert gone([int(n) for n in note.read_text().split()])
    assert rows_of(tmp_path / "out/grades.csv")["a"][FIRST] == "1"
    assert "## a.ipynb" in (tmp_path / "out/grades.md").read_text()
    wait_for(lambda: not list((tmp_path / "t").glob("attnlib-*")), 20)
    tempfile.tempdir = None


@pytest.mark.starts_process
@pytest.mark.skipif(sys.platform == "win32", reason="its signals are others")
def test_nothing_is_lost_or_left_when_the_tool_is_killed(interrupted):
    arguments, note = interrupted
    with subprocess.Popen([sys.executable, "-m", "attnlib", *arguments], cwd=ROOT) as tool:
        wait_for(lambda: note.exists() and len(note.read_text().split()) == 3)
        tool.kill()


@pytest.mark.starts_process
@pytest.mark.skipif(sys.platform == "win32", reason="its signals are others")
def test_nothing_is_lost_or_left_when_the_tool_is_interrupted(interrupted, capsys):
    arguments, note = interrupted

    def interrupt():
        wait_for(lambda: note.exists() and len(note.read_text().split()) == 3)
        os.kill(os.getpid(), signal.SIGINT)

    presses = threading.Thread(target=interrupt)
    presses.start()
    assert main(arguments) == 130
    presses.join()
    assert "Interrupted. What was graded until then" in capsys.readouterr().err


@pytest.mark.starts_process
@pytest.mark.skipif(sys.platform != "linux", reason="memory is not limited by the system elsewhere")
def test_a_kernel_that_cannot_start_is_told(tmp_path, capsys):
    (tmp_path / "a.ipynb").write_text(notebook(SOLVED))
    assert main(["grade", str(tmp_path), "--out", str(tmp_path), "--memory", "0.1"]) == 0
    assert "0 of 0 attempted; the kernel did not start (Kernel died" in capsys.readouterr().out


@pytest.fixture
def sleeper(monkeypatch):
    """A process that stands for a kernel, and is all that this one has started."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        known = psutil.Process(child.pid)
        monkeypatch.setattr(psutil.Process, "children", lambda self, recursive=False: [known])
        monkeypatch.setattr(os, "killpg", lambda *_: None, raising=False)  # it is in the group of the tests
        yield child
        child.kill()


@pytest.mark.starts_process
@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(seconds=0.05), "out of time after 0.05 s"),
        (Limits(memory=1e-4), "more than 0.0001 GiB of memory"),
        (Limits(processes=0), "more than 0 processes"),
        (Limits(output=10), "more than 0 MiB of output"),
        (Limits(files=4), "more than 0 MiB or 20000 files"),
    ],
    ids=["seconds", "memory", "processes", "output", "files"],
)
def test_what_takes_too_much_is_ended_and_it_is_said_why(limits, why, sleeper, tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    watch = Watch(limits, tmp_path, sleeper.pid)
    watch.begin()
    watch.count_output(11)
    watch.start()
    sleeper.wait(20)
    watch.end()
    assert watch.why == why


@pytest.mark.starts_process
def test_what_takes_little_is_left_alone_until_it_is_over(sleeper, tmp_path):
    watch = Watch(Limits(), tmp_path, sleeper.pid)
    watch.begin()
    watch.start()
    time.sleep(3 * PAUSE)
    assert sleeper.poll() is None
    watch.end()
    assert sleeper.wait(20) is not None
    assert watch.why == ""


@pytest.mark.starts_process
def test_all_that_a_process_has_started_is_ended(sleeper):
    end_descendants(os.getpid(), None)
    assert sleeper.wait(20) is not None
    end_descendants(sleeper.pid, sleeper.pid)  # once more, where nothing is left


def test_shared_memory_is_counted_once_where_the_system_tells(monkeypatch, tmp_path):
    watch = Watch(Limits(), tmp_path, os.getpid())
    monkeypatch.setattr(psutil.Process, "children", lambda *_, **__: [])
    own = psutil.Process().memory_info().rss
    assert 0 < watch._own_memory() < 2 * own

    def refuse(self):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "memory_full_info", refuse)
    assert 0.5 * own < watch._own_memory() < 2 * own


def test_a_listener_writes_each_mark_once(tmp_path):
    (tmp_path / "log").touch()
    marks = log.Log(str(tmp_path / "log"), "w")
    hear = listener(marks)
    for _ in range(3):
        hear("attnlib.check", ("1.1", True, ""))
    hear("open", ("x",))
    hear("attnlib.check", ("1.1", False, "é"))
    with open(tmp_path / "log", "rb") as file:
        told = list(log.read(file, "w"))
    assert [(one["check"], one["passed"], one["said"]) for one in told] == [
        ("1.1", True, ""),
        ("1.1", False, "é"),
    ]
    os.close(marks._file)
    hear("attnlib.check", ("1.2", True, ""))  # nowhere to write: the notebook goes on


def test_check_is_heard_whatever_it_says(capsys):
    heard, on = [], [True]
    sys.addaudithook(lambda event, said: heard.append(said) if on and event == "attnlib.check" else None)
    check(FIRST, [-2, -2.5, 1.5], record=False)
    check(FIRST, [-2, -2.5, 2], record=False)
    check(FIRST, ...)
    on.clear()  # a hook cannot be taken away
    assert [one[:2] for one in heard] == [(FIRST, True), (FIRST, False)]
    assert heard[0][2] == ""
    assert heard[1][2] in capsys.readouterr().out


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_a_notebook_has_a_home_of_its_own(system, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("XDG_CACHE_HOME", "/mine")
    found = environment(Path("/run"))
    assert found["XDG_CACHE_HOME"] == "/mine"
    homes = ("ATTNLIB_HOME", "HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME", "IPYTHONDIR")
    assert {found[name] for name in homes} == {str(Path("/run/home"))}
    assert ("MPLCONFIGDIR" in found) == (system != "linux")


def test_a_kernel_gets_its_output_back(monkeypatch):
    streams = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    give_back = keeper_of_streams()
    sys.stdout.close()
    sys.stdout = sys.stderr = None
    give_back(None)
    assert (sys.stdout, sys.stderr) == streams
    assert not streams[0].closed
    sys.stderr = streams[0]  # on purpose
    give_back(None)
    assert sys.stderr is streams[0]


def test_how_a_kernel_or_a_cell_ended_is_put_in_words():
    assert [run._code(code) for code in (None, -9, 3)] == ["", " (signal 9)", " (code 3)"]
    assert run._words({"ename": "ValueError", "evalue": "two\nlines"}) == "ValueError: two lines"
    assert run._words({"evalue": "x" * 500}) == "Error: " + "x" * 153 + " ..."


def test_a_run_speaks_through_a_socket_of_its_own_where_its_path_is_short(tmp_path):
    for length, ways in ((9, {"ipc", "tcp"}), (run.SOCKET, {"tcp"})):
        base = tmp_path / ("x" * length)
        base.mkdir()
        way = json.loads(Path(run._connection(base)).read_text())["transport"]
        assert way in ways
        assert (way == "ipc") == (len(str(base)) < run.SOCKET and sys.platform != "win32")


def test_files_come_along_and_what_is_gone_meanwhile_stops_nothing(tmp_path):
    (tmp_path / "x").write_text("here")
    (tmp_path / "work").mkdir()
    run._copy([(str(tmp_path / "x"), "a/x"), (str(tmp_path / "y"), "y")], tmp_path / "work")
    assert (tmp_path / "work/a/x").read_text() == "here"
    assert not (tmp_path / "work/y").exists()


def test_what_cannot_be_done_is_said_before_anything_runs(tmp_path, capsys, monkeypatch):
    def refused(*arguments):
        assert main(["grade", *map(str, arguments)]) == 2
        return capsys.readouterr().err

    assert "there is no notebook" in refused(tmp_path)
    assert "must be a folder with notebooks" in refused(tmp_path / "nowhere")
    (tmp_path / "a.ipynb").write_text(notebook(SOLVED))
    (tmp_path / "file").write_text("mine")
    assert "--out must be a folder that can be written" in refused(tmp_path, "--out", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "out/grades.md").mkdir(parents=True)
    assert "Is a directory" in refused(tmp_path, "--out", tmp_path / "out")
    assert "--need must name exercises, got '77.1'" in refused(tmp_path, "--need", "77.1")
    assert "--seconds and --memory must be above 0, got 0 and 8" in refused(tmp_path, "--seconds", "0")
    monkeypatch.setattr(grade_module, "find_spec", lambda name: None if name == "nbclient" else name)
    assert refused(tmp_path) == "grading needs nbclient: pip install 'attnlib[class]'\n"


def test_what_is_needed_decides_how_the_command_ends(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.ipynb").write_text(notebook(SOLVED))
    found = Grades("a.ipynb", passed={FIRST: True, SECOND: False}, said={SECOND: "no"})
    monkeypatch.setattr(grade_module, "grade", lambda *_: (one for one in [found]))
    asked = ["grade", str(tmp_path), "--out", str(tmp_path), "--need", FIRST]
    assert main(asked) == 0
    assert main([*asked, SECOND]) == 1
    assert f"Not solved: {SECOND}\n" == capsys.readouterr().err


def test_a_table_that_can_no_longer_be_written_is_told(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.ipynb").write_text(notebook(SOLVED))

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(grade_module.Tables, "add", full)
    monkeypatch.setattr(grade_module, "grade", lambda *_: (one for one in [Grades("a.ipynb")]))
    assert main(["grade", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "can no longer be written: No space left" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", [*(text for text, _ in BROKEN.values()), b"{}", b'{"cells": [1], "nbformat": 4}']
)
def test_what_is_no_notebook_is_refused(text):
    with pytest.raises(ValueError):
        code_cells(text)


def test_code_is_taken_as_it_stands_but_for_what_installs():
    assert code_cells(notebook(SOLVED, "").encode()) == [SOLVED, ""]
    for line in (
        "%pip install x",
        "!pip3 install x \\\n  y",
        "! python -m pip install x",
        "%conda install x",
        "!uv pip install x",
        "!sudo apt-get install x",
    ):
        assert without_installs(f"if True:\n    {line}\nx = 1") == "if True:\n    pass\nx = 1", line
    for line in ("!ls pipes", "x = 5 % pip", "%matplotlib inline", "# %pip install x", "!echo pipe"):
        assert without_installs(f"{line}\nx") == f"{line}\nx"
    assert first_line("\n\n  a = 1\nb") == "a = 1"


def test_only_what_a_run_has_written_is_a_mark(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b'right {"cell": 1\nwrong {"cell": 2}\n\xff\n{"cell": 3}\nright [4]\n')
    end = log.Log(str(path), "right")
    end.write(cell=5, text="é")
    os.close(end._file)
    with open(path, "rb") as file:
        assert list(log.read(file, "right")) == [{"cell": 5, "text": "é"}]


def test_files_that_a_notebook_may_need_lie_beside_it(tmp_path, monkeypatch):
    for name in (
        "a.ipynb",
        "sub/b.ipynb",
        "x.csv",
        "data/deep/y.csv",
        ".secret",
        ".git/c.ipynb",
        "grades.csv",
        "sub/z.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(notebook(SOLVED) if name.endswith("ipynb") else "12345")
    (tmp_path / "lost.csv").symlink_to("nowhere")
    found = {one.name: one for one in Folder(tmp_path, [tmp_path / "grades.csv"]).notebooks}
    assert set(found) == {"a.ipynb", "sub/b.ipynb"}
    names = {name: sorted(inner for _, inner in one.beside) for name, one in found.items()}
    assert names == {"a.ipynb": ["data/deep/y.csv", "x.csv"], "sub/b.ipynb": ["z.py"]}
    assert found["a.ipynb"].note == "1 files beside it could not be copied"
    monkeypatch.setattr(folder_module, "BESIDE", 12)
    assert sum(len(one.beside) for one in Folder(tmp_path).notebooks) == 2


def test_what_was_changed_is_put_back_and_no_link_is_followed(tmp_path):
    top, outside = tmp_path / "class", tmp_path / "outside"
    for name in ("a.ipynb", "b.ipynb", "anna/c.ipynb", "bert/d.ipynb", "e.ipynb"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(notebook(SOLVED))
    outside.mkdir()
    (outside / "own").write_text("the teacher's")
    homework = Folder(top)
    assert homework.put_back() == ""
    (top / "a.ipynb").unlink()
    (top / "a.ipynb").symlink_to(outside / "own")
    (top / "b.ipynb").unlink()
    (top / "b.ipynb").mkdir()
    for name in ("anna/c.ipynb", "bert/d.ipynb"):
        (top / name).unlink()
        (top / name).parent.rmdir()
    (top / "anna").symlink_to(outside)
    (top / "bert").write_text("a file")
    (top / "e.ipynb").write_text("x")
    assert homework.put_back() == "while it ran, 5 files of the folder were changed or deleted, and put back"
    assert {path.read_text() for path in top.rglob("*.ipynb")} == {notebook(SOLVED)}
    assert len([path for path in top.rglob("*.ipynb") if not path.is_symlink()]) == 5
    assert [path.name for path in outside.iterdir()] == ["own"]
    assert (outside / "own").read_text() == "the teacher's"
    assert homework.put_back() == ""


def test_no_cell_of_the_table_becomes_a_formula():
    for begin in ("=", "+", "-", "@", "\t", "\r"):
        assert harmless(f"{begin}1") == f"'{begin}1"
        cells = next(csv.reader([csv_line(Grades(f"{begin}1", f"{begin}2"))]))
        assert cells[:2] == [f"'{begin}1", f"'{begin}2"]
    assert harmless("a=1") == "a=1"
    assert harmless(0) == 0


def test_a_report_stays_text():
    one = Grades("x", "ok", {SECOND: False}, {SECOND: "first\n# <script>"}, [(1, "a`b\ud800", "E: <b>")])
    assert section(one).splitlines()[4:] == [
        "- cell 1, `a'b\\ud800`: E: \\<b>",
        f"- {SECOND}: first # \\<script>",
        "",
    ]
    assert printable("a\nb\x1b[2Jé") == "a\\nb\\x1b[2Jé"


def test_each_system_says_which_limits_it_lacks(tmp_path):
    assert gaps("linux") == ""
    for system in ("win32", "darwin", "freebsd14"):
        assert "Memory is not limited by the system here but watched" in gaps(system)
        assert "may stay" in gaps(system)


def test_files_of_a_run_are_counted(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_bytes(b"12345")
    assert fits(tmp_path, 5)
    assert not fits(tmp_path, 4)
    assert fits(tmp_path / "nowhere", 4)
    assert Limits().files > 5


@pytest.fixture(scope="module")
def recipe():
    """The workflow that the page for teachers offers."""
    return re.search(r"```yaml\n(.*?)```", (ROOT / "book/teaching.md").read_text("utf8"), re.DOTALL)[1]


@pytest.mark.starts_process
def test_the_workflow_for_classes_has_the_form_that_github_reads(recipe, tmp_path):
    path = tmp_path / ".github/workflows/classroom.yml"
    path.parent.mkdir(parents=True)
    tools = Path(sys.executable).parent
    for text, right in ((recipe, True), (recipe.replace("outputs.result }}", "outputs"), False)):
        path.write_text(text)
        command = [tools / "actionlint", "-no-color", path]
        assert (subprocess.run(command, capture_output=True, check=False).returncode == 0) == right
    for text, right in ((recipe, True), (recipe.replace("runs-on:", "runs-at:"), False)):
        path.write_text(text)
        command = [tools / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", path]
        assert (subprocess.run(command, capture_output=True, check=False).returncode == 0) == right


def test_the_workflow_for_classes_asks_for_what_there_is(recipe, tmp_path, monkeypatch):
    job = yaml.safe_load(recipe)["jobs"]["grade"]
    graded = {step["id"]: step["with"] for step in job["steps"] if "command-grader" in step.get("uses", "")}
    told = job["steps"][-1]
    assert told["with"]["runners"].split(",") == list(graded)
    assert [name.removesuffix("_RESULTS").lower() for name in told["env"]] == list(graded)
    page = (ROOT / "book/teaching.md").read_text("utf8")
    to_assign = re.search(r"a function is asked for \((.*?)\)", page)[1].split(", ")
    (tmp_path / "a.ipynb").write_text(notebook(SOLVED))
    monkeypatch.chdir(tmp_path)
    for one in graded.values():
        words = one["command"].replace("/tmp/grades", str(tmp_path)).split()
        assert words[:3] == ["python", "-m", "attnlib"]
        assert words[-2:-1] == ["--need"]
        assert words[-1] in to_assign
        passed = {words[-1]: True}
        monkeypatch.setattr(
            grade_module,
            "grade",
            lambda *_, passed=passed: (Grades("a.ipynb", passed=one) for one in [passed]),
        )
        assert main(words[3:]) == 0
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["optional-dependencies"]
    assert set(re.search(r"attnlib\[(.*?)\] @", recipe)[1].split(",")) <= set(extras)
    assert {declared.split(">=")[0] for declared in extras["class"]} == set(grade_module.NEEDED)
