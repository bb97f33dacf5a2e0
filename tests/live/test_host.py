"""What runs a reader's code, under any Python: what is shown, where an error is, and that graders are asked as they are."""

import importlib.util
import io
import json
import sys

import pytest

from attnlib.learn import bank, calling, exercises
from tests.book import ROOT


@pytest.fixture
def host(monkeypatch):
    """The module and the one it needs by themselves: beside them lies another torch, which must not be found here."""
    monkeypatch.setattr(exercises, "show", exercises.show)  # put back in the end
    for name in ("drawing", "host"):
        spec = importlib.util.spec_from_file_location(name, ROOT / f"book/live/{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    return module


def text(result):
    assert {part["type"] for part in result["parts"]} <= {"text"}
    return "".join(part["data"] for part in result["parts"])


def test_what_is_printed_comes_before_the_value_of_the_last_expression(host):
    result = host.run("print('first')\nx = 6\nx * 7")
    assert result == {"parts": [{"type": "text", "data": "first\n42\n"}], "error": None}


def test_nothing_and_none_are_not_shown_and_a_semicolon_hides(host):
    assert host.run("None")["parts"] == host.run("1 + 1;")["parts"] == host.run("")["parts"] == []
    assert text(host.run("'a;'")) == "'a;'\n"


def test_cells_share_their_names_until_they_are_reset(host):
    host.run("x = 3", "a")
    assert text(host.run("x", "b")) == "3\n"
    host.reset()
    assert host.run("x")["error"]["name"] == "NameError"


def test_a_request_is_text_and_so_is_its_answer(host):
    request = json.dumps({"do": "run", "source": "'✓'", "cell": "1"})
    assert json.loads(host.answer(request))["parts"][0]["data"] == "'✓'\n"
    assert json.loads(host.answer('{"do": "reset"}')) == {}


def test_drawings_stand_where_they_were_shown(host):
    host.namespace["Drawn"] = type("Drawn", (), {"_repr_svg_": lambda self: "<svg></svg>"})
    host.namespace["Table"] = type("Table", (), {"_repr_html_": lambda self: "<table></table>"})
    parts = host.run("print(1)\ndisplay(Drawn())\nprint(2)\nTable()")["parts"]
    assert [part["type"] for part in parts] == ["text", "svg", "text", "html"]


def test_weights_are_drawn_as_a_table(host):
    assert [part["type"] for part in host.run("show_weights([0.25, 0.75])")["parts"]] == ["html"]


def test_a_thing_that_cannot_be_shown_is_an_error_of_the_cell(host):
    error = host.run("class Odd:\n    def __repr__(self):\n        return 1 / 0\n\nOdd()")["error"]
    assert (error["name"], error["line"]) == ("ZeroDivisionError", 3)


def test_warnings_are_shown_too(host):
    assert "mind this" in text(host.run("import sys\nprint('mind this', file=sys.stderr)"))


def test_long_output_is_cut_and_says_by_how_much(host):
    *shown, said = host.run("for i in range(3000): print('x' * 9)")["parts"]
    assert len(shown[0]["data"]) == host.MOST
    assert said == {"type": "html", "data": "<p>10,000 more letters are not shown.</p>"}


def test_an_error_names_the_readers_lines_alone(host):
    host.run("def half(x):\n    return x / 0\n", "1")
    error = host.run("import json\n\ny = 2\nhalf(y)", "2")["error"]
    assert (error["name"], error["message"], error["line"]) == ("ZeroDivisionError", "division by zero", 4)
    assert (
        error["text"] == "line 4\n    half(y)\n"
        "line 2 of cell 1, in half\n    return x / 0\nZeroDivisionError: division by zero\n"
    )


def test_an_error_inside_a_library_is_told_at_the_line_that_called_it(host):
    error = host.run("import json\njson.loads('{')", "1")["error"]
    assert error["line"] == 2
    assert error["text"].splitlines()[:2] == ["line 2", "    json.loads('{')"]
    assert error["text"].splitlines()[2].startswith("json.decoder.JSONDecodeError")


def test_a_syntax_error_names_its_line_and_points(host):
    error = host.run("x = 1\nprint(x", "1")["error"]
    assert (error["name"], error["message"], error["line"]) == ("SyntaxError", "'(' was never closed", 2)
    assert error["text"].splitlines()[:3] == ["line 2", "    print(x", "         ^"]


@pytest.mark.parametrize("line", ["%pip install numpy", "!ls"])
def test_lines_of_jupyter_are_named(host, line):
    assert "Jupyter's own" in host.run(f"x = 1\n{line}")["error"]["text"]


def test_a_module_that_is_not_there_is_said_to_be_in_the_notebook(host):
    error = host.run("import nowhere_to_be_found")["error"]
    assert host.NOT_HERE in error["message"]
    assert host.NOT_HERE in error["text"]


def test_an_endless_recursion_is_told_briefly(host):
    error = host.run("def f(): return f()\nf()", "1")["error"]
    assert (error["name"], error["line"]) == ("RecursionError", 1)
    assert len(error["text"].splitlines()) < 30


@pytest.mark.parametrize("code", ["exit()", "raise SystemExit", "raise KeyboardInterrupt"])
def test_nothing_that_a_cell_raises_gets_out(host, code):
    assert host.run(code)["error"]["name"] in ("SystemExit", "KeyboardInterrupt", "NameError")


def test_nobody_can_answer_input(host, monkeypatch):
    before = input
    error = host.run("name = input('who? ')")["error"]
    assert "write the value into the cell" in error["message"]
    assert input is before


def test_output_goes_back_to_where_it_went(host, capsys):
    host.run("print('inside')")
    print("outside")
    assert capsys.readouterr().out == "outside\n"


# Exercises


@pytest.fixture
def known(host, monkeypatch):
    """The facts as the build reads them in the notebooks."""
    from paying_attention.site import python

    facts = python.exercises()
    monkeypatch.setattr(host, "facts", lambda: facts)
    return facts


def said_by_the_notebook(id, answer, monkeypatch):
    """What `attnlib.learn.check` shows, as text."""
    out = io.StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(exercises, "show", lambda html, text: out.write(text))
        exercises.check(id, answer, record=False)
    return out.getvalue()


SOFTMAX = next(id for id, one in bank.exercises().items() if one.name == "softmax-without-overflow")
RIGHT = "def softmax(scores):\n    e = (scores - scores.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)"
OVERFLOWS = "def softmax(scores):\n    return scores.exp() / scores.exp().sum(-1, keepdim=True)"
STOPS = "def softmax(scores):\n    e = scores.exp()\n    return e / missing"
EMPTY = "def softmax(scores):\n    return ..."


@pytest.mark.parametrize(
    ("source", "kind"), [(RIGHT, "good"), (OVERFLOWS, "bad"), (STOPS, "bad"), (EMPTY, "todo")]
)
def test_the_verdict_is_the_notebooks_word_for_word(host, known, monkeypatch, source, kind):
    result = host.check(SOFTMAX, f'{source}\n\n\ncheck("{SOFTMAX}", softmax)')
    answer = host.chapters["3"][0]["softmax"]
    assert result["text"] == said_by_the_notebook(SOFTMAX, answer, monkeypatch)
    assert (result["kind"], result["passed"], result["attempted"]) == (kind, kind == "good", kind != "todo")
    assert f'class="pa-line pa-{kind}"' in result["html"]


def test_the_line_of_an_error_in_an_answer_is_named(host, known):
    assert "it stopped in line 3, return e / missing," in host.check(SOFTMAX, STOPS)["text"]


def test_the_line_that_checks_may_be_left_out(host, known):
    assert host.check(SOFTMAX, RIGHT)["kind"] == "good"


def test_what_an_answer_prints_is_shown(host, known):
    parts = host.check(SOFTMAX, "print('here')\n" + RIGHT)["parts"]
    assert parts == [{"type": "text", "data": "here\n"}]


def test_an_answer_that_is_no_python_is_no_attempt(host, known):
    result = host.check(SOFTMAX, "def softmax(scores:\n    return 1")
    assert (result["kind"], result["attempted"], result["error"]["line"]) == ("bad", False, 1)
    assert "SyntaxError" in result["html"]


def test_the_set_up_of_the_chapter_is_there_and_names_stay_for_the_next_exercise(host, known):
    host.check(SOFTMAX, RIGHT + "\nfound = torch.ones(2)")
    assert host.check(SOFTMAX, "assert found.sum() == 2\n" + RIGHT)["kind"] == "good"
    assert host.run("softmax")["error"]["name"] == "NameError"


def test_a_name_of_the_set_up_that_the_page_lacks_sends_to_the_notebook(host, known, monkeypatch):
    refused = "import sys\nsys.modules['torch.missing'].NOTED.append('something else')\n"
    missing = type(sys)("torch.missing")
    missing.NOTED = []
    monkeypatch.setitem(sys.modules, "torch.missing", missing)
    known["setup"]["3"] = f"import torch\n{refused}from nowhere_to_be_found import glove"
    result = host.check(SOFTMAX, "def softmax(scores):\n    return glove[scores]")
    assert (result["kind"], result["attempted"]) == ("cannot", False)
    assert "glove is not on the page" in result["text"]
    assert host.check(SOFTMAX, RIGHT)["kind"] == "good"


def test_what_the_small_torch_refuses_sends_to_the_notebook(host, known, monkeypatch):
    missing = type(sys)("torch.missing")
    missing.NOTED = []
    monkeypatch.setitem(sys.modules, "torch.missing", missing)
    refuses = "import sys\n\ndef softmax(x):\n    sys.modules['torch.missing'].NOTED.append('`torch.fft` does not run on the page')\n"
    result = host.check(SOFTMAX, refuses + "    raise AttributeError")
    assert (result["kind"], result["attempted"]) == ("cannot", False)
    assert result["text"] == "torch.fft does not run on the page."
    assert result["html"] == "<p><code>torch.fft</code> does not run on the page.</p>"
    assert host.check(SOFTMAX, OVERFLOWS)["kind"] == "bad", "noted once, said once"


def test_an_answer_that_takes_too_long_may_only_be_slow_here(host, known, monkeypatch):
    monkeypatch.setattr(calling, "SECONDS", 0.2)
    result = host.check(SOFTMAX, "def softmax(x):\n    while True:\n        pass")
    assert (result["kind"], result["attempted"]) == ("bad", False)
    assert result["text"].endswith(host.SLOWER)
    assert result["html"].endswith(f"{host.SLOWER}</div>")


def test_an_exercise_without_a_function_is_not_graded_here(host, known):
    assert host.check("99.9", "x = 1")["kind"] == "cannot"


def test_hints_come_one_after_the_other(host, known, monkeypatch):
    monkeypatch.setattr(exercises, "_given", {})
    first, second = host.hint(SOFTMAX), host.hint(SOFTMAX)
    assert (first["kind"], first["attempted"]) == ("todo", False)
    assert "hint 1 of" in first["text"]
    assert "hint 2 of" in second["text"]


def test_every_exercise_that_asks_for_a_function_is_known(known):
    from attnlib.learn import judging

    assert set(known["exercises"]) == set(bank.exercises()) - set(judging.read())
    assert set(known["setup"]) == set(bank.CHAPTERS)
    for about in known["exercises"].values():
        compile(about["answer"], "answer", "eval")
