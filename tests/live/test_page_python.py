"""Python on the page, in browsers: cells from a server and from the disk, what stops, what is missing, and the graders."""

import functools
import http.server
import json
import shutil
import threading
from contextlib import contextmanager

import pytest

from attnlib.learn import bank
from paying_attention.site import python, sharing
from tests.book import ROOT
from tests.book.conftest import Quiet
from tests.book.firefox import firefox
from tools.find_other_browsers import ADVICE, installable, installed

pytestmark = pytest.mark.starts_process

SOFTMAX = next(id for id, one in bank.exercises().items() if one.name == "softmax-without-overflow")
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Python</title>
<meta http-equiv="Content-Security-Policy" content="{sharing.POLICY}">
<script defer src="_static/python.js"></script></head><body></body></html>"""


def write_page(folder, name, facts):
    (folder / name).write_text(python.tell(PAGE, facts), "utf8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A site of one page that has something to run, and one that lacks what it needs, with the policy of the book."""
    made = tmp_path_factory.mktemp("site")
    facts = python.ship(made / python.FOLDER)
    assert "missing" not in facts, "python tools/find_pyodide.py"
    shutil.copy(ROOT / "book/_static/python.js", made / "_static")
    write_page(made, "page.html", facts)
    write_page(made, "missing.html", {"missing": python.MISSING})
    gone = [archive | {"file": f"gone-{archive['file']}"} for archive in facts["archives"]]
    write_page(made, "gone.html", {"archives": gone})
    return made


@pytest.fixture(scope="module")
def where(folder):
    """Its addresses."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"http": f"http://127.0.0.1:{server.server_port}", "file": folder.as_uri()}
    server.shutdown()
    server.server_close()


@contextmanager
def opened(chromium, where, how, name="page"):
    """A page under its own policy; what it asks for, and what it complains of, is noted."""
    context = chromium.new_context()
    page = context.new_page()
    page.asked, page.trouble = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda m: page.trouble.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.goto(f"{where[how]}/{name}.html", wait_until="load")
    yield page
    context.close()


def run(page, source, cell="1"):
    return page.evaluate("([source, cell]) => pa.python.run(source, { cell })", [source, cell])


def shown(page, source, cell="1"):
    result = run(page, source, cell)
    assert result["error"] is None, result["error"]["text"]
    return "".join(part["data"] for part in result["parts"])


@pytest.fixture(scope="module")
def served(chromium, where):
    """The page over http; most tests share it."""
    with opened(chromium, where, "http") as page:
        yield page


@pytest.fixture
def page(served):
    """The shared page with an empty namespace, and no complaint in the end."""
    served.evaluate("() => pa.python.reset()")
    yield served
    assert served.trouble == []


def test_nothing_is_loaded_before_it_is_asked_for(chromium, where):
    with opened(chromium, where, "http") as page:
        assert page.evaluate("() => pa.python.status") == "idle"
        assert [one.rpartition("/")[2] for one in page.asked] == ["page.html", "python.js"]


LOAD = """async () => {
  const told = [], before = pa.python.status, loading = pa.python.load((one) => told.push(one)), during = pa.python.status;
  await loading;
  return { told, status: [before, during, pa.python.status] };
}"""


@pytest.fixture(scope="module", params=["http", "file"])
def first(request, chromium, where):
    """What was told while Python was loaded, and the page."""
    with opened(chromium, where, request.param) as page:
        yield request.param, page, page.evaluate(LOAD)


def test_it_tells_how_far_it_is_in_bytes(first):
    _, _, loaded = first
    assert loaded["status"] == ["idle", "loading", "ready"]
    by_part = {}
    for one in loaded["told"]:
        by_part.setdefault(one["part"], []).append((one["done"], one["total"]))
    assert list(by_part) == ["pyodide", "attnlib", "start"] or list(by_part) == [
        "attnlib",
        "pyodide",
        "start",
    ]
    for name in ("pyodide", "attnlib"):
        done = [one for one, _ in by_part[name]]
        total = by_part[name][0][1]
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, total)
    assert loaded["told"][-1] == {"part": "start", "done": 0, "total": 0}


def test_cells_run_under_the_policy_of_the_book_and_nothing_leaves(first, where):
    how, page, _ = first
    assert shown(page, "x = 6\nprint('a')\nx * 7") == "a\n42\n"
    assert run(page, "def f():\n    return 1 / 0\n\nf()", "2")["error"]["line"] == 2
    inside = (where[how], "blob:", "data:")
    assert [one[:80] for one in page.asked if not one.startswith(inside)] == []
    assert page.trouble == []


def test_the_small_torch_is_there_and_no_other(page):
    assert "(2, 3)" in shown(page, "import torch\ntuple((torch.ones(2, 2) @ torch.ones(2, 3)).shape)")
    assert shown(page, "print(torch.tensor([[1.0, 2.0]]).softmax(-1))") == "tensor([[0.2689, 0.7311]])\n"
    assert shown(page, "torch.__file__.startswith('/book/')") == "True\n"


def test_attnlib_is_there(page):
    code = "import torch\nfrom attnlib import attention, causal_mask\nattention(*torch.ones(3, 2, 4), causal_mask(2)).tolist()"
    assert shown(page, code) == f"{[[1.0] * 4] * 2}\n"


def test_two_that_are_asked_at_once_run_one_after_the_other(page):
    both = "async () => { const run = pa.python.run; return Promise.all([run('x = 1'), run('x += 1'), run('x')]); }"
    assert page.evaluate(both)[-1]["parts"] == [{"type": "text", "data": "2\n"}]


TICKS = """async (source) => {
  let ticks = 0;
  const clock = setInterval(() => { ticks += 1; }, 50), started = performance.now();
  const result = await pa.python.run(source, { cell: "1" });
  clearInterval(clock);
  return { result, ticks, ms: performance.now() - started };
}"""


def test_an_endless_loop_is_ended_after_five_seconds_the_page_lives_and_cells_are_run_again(page):
    run(page, "x = 3\nprint('once')")
    run(page, "raise ValueError")
    looped = page.evaluate(TICKS, "x = 4\nwhile True: pass")
    assert looped["result"]["error"]["name"] == "TooLong"
    assert "5 seconds" in looped["result"]["error"]["message"]
    assert 5000 <= looped["ms"] < 8000
    assert looped["ticks"] > 40, "the page stood still"
    assert shown(page, "x") == "3\n", "what had succeeded was run again, the rest was not"


ENDLESS = """def softmax(scores):
    total = 0
    while True:
        try:
            total += 1
        except Exception:
            pass
"""


def test_an_answer_that_does_not_end_gets_the_notebooks_sentence_and_one_on_the_page(page):
    result = page.evaluate("([id, source]) => pa.python.check(id, source)", [SOFTMAX, ENDLESS])
    assert (result["kind"], result["attempted"], result["passed"]) == ("bad", False, False)
    assert "did not finish in 5 s: look for a loop that nothing stops." in result["text"]
    assert "slower" in result["html"]
    empty = page.evaluate(
        "([id, source]) => pa.python.check(id, source)", [SOFTMAX, "def softmax(x):\n    return ..."]
    )
    assert (empty["kind"], empty["attempted"]) == ("todo", False)


def test_stop_ends_what_runs_and_what_waits(page):
    stopped = page.evaluate(
        """async () => {
          const all = [pa.python.run("while True: pass"), pa.python.run("x = 1")];
          setTimeout(() => pa.python.stop(), 300);
          return (await Promise.all(all)).map((one) => one.error.name);
        }"""
    )
    assert stopped == ["Stopped", "Stopped"]
    assert run(page, "x")["error"]["name"] == "NameError"
    page.evaluate("() => pa.python.stop()")
    assert shown(page, "1 + 1") == "2\n", "nothing ran, nothing was stopped"


def test_reset_forgets_names_and_what_would_be_run_again(page):
    run(page, "x = 1")
    page.evaluate("() => pa.python.reset()")
    run(page, "y = 2")
    page.evaluate(
        "() => { const looping = pa.python.run('while True: pass'); setTimeout(() => pa.python.stop(), 300); return looping; }"
    )
    assert run(page, "x")["error"]["name"] == "NameError"
    assert shown(page, "y") == "2\n"


def test_a_page_that_was_left_while_something_ran_leaves_nothing(chromium, where):
    with opened(chromium, where, "http") as page:
        page.evaluate("() => { pa.python.run('while True: pass'); }")
        page.goto(f"{where['http']}/missing.html")
        assert page.evaluate("() => pa.python.status") == "missing"


def test_without_python_in_the_site_a_sentence_says_what_to_do(chromium, where):
    with opened(chromium, where, "http", "missing") as page:
        assert page.evaluate("() => [pa.python.status, pa.python.missing]") == ["missing", python.MISSING]
        assert run(page, "1")["error"]["message"] == python.MISSING
        assert page.evaluate("() => pa.python.load().catch((error) => error.message)") == python.MISSING
        assert page.evaluate("() => pa.python.check('3.2', '')")["kind"] == "cannot"


@pytest.mark.parametrize("how", ["http", "file"])
def test_archives_that_are_gone_are_told_and_asked_for_again(chromium, where, how):
    with opened(chromium, where, how, "gone") as page:
        for _ in range(2):
            assert "Reload the page" in run(page, "1")["error"]["message"]
        assert page.evaluate("() => pa.python.status") == "idle"
        assert len([one for one in page.asked if "gone-pyodide" in one]) == 2


def test_in_firefox(where):
    path = installed("firefox")
    if not path:
        (pytest.fail if installable() else pytest.skip)(ADVICE["firefox"])
    with firefox(path) as browser:
        for how in ("http", "file"):
            browser.go(f"{where[how]}/page.html")
            browser.run("() => { window.begun = pa.python.load(); }")
            code = "import torch\nprint(torch.ones(2).softmax(0).tolist())"
            while not browser.run("() => pa.python.status === 'ready'"):
                pass
            result = browser.run("(source) => pa.python.run(source)", code)
            assert result["parts"] == [{"type": "text", "data": "[0.5, 0.5]\n"}], json.dumps(result)
