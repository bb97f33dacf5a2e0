"""Cells that run on the page: the bar, the editor, what is kept, by keyboard and by touch; Python here is a stand-in."""

import re

import pytest

from tests.book.conftest import visits
from tests.book.test_page import PHONE, violations
from tests.live.live_book import FAKE, OTHER, PAGE, TASK, TASKS, build_live

SETUP, FIRST = "ready = True", "a = 6 * 7\nprint(a)"
SECOND = "def twice(x):\n    return 2 * x\n\n\ntwice(a)"
TALL = 44


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """The small book with live cells."""
    folder = tmp_path_factory.mktemp("live")
    assert build_live(folder) == (0, "")
    return folder / "_build"


@pytest.fixture
def read(chromium, live):
    """Open a page of it from the disk, with a Python that is none; tabs share what the browser keeps."""
    with visits(chromium, {"file": live.as_uri()}, shared=True) as open_page:

        def take(name=PAGE, **options):
            page = open_page(name, "file", **options)
            page.set_default_timeout(8_000)
            page.evaluate(f"({FAKE})()")
            return page

        yield take


def sent(page):
    return [tuple(one) for one in page.evaluate("pa.python.sent")]


def bar(page, n):
    return page.locator(".pa-cell-bar").nth(n)


def press(page, n, name):
    bar(page, n).get_by_role("button", name=name, exact=True).click()


def edit(page, n=0, name="Edit"):
    """Open the editor of a cell, and wait until it can be written in."""
    press(page, n, name)
    page.wait_for_function("document.activeElement.matches('.cm-content')")


def shown(page, n):
    """Wait for what a cell has to show, and return it."""
    output = page.locator(".pa-own").nth(n)
    output.locator("*").first.wait_for()
    return lines(output)


def lines(place):
    """What stands somewhere, without empty lines."""
    return "\n".join(line for line in place.inner_text().splitlines() if line.strip())


def code(page, n=0):
    return page.locator(".pa-editor").nth(n).locator(".cm-content")


# A lesson


def test_a_page_on_which_nothing_is_pressed_reads_as_ever(read):
    page = read()
    assert page.locator(".pa-editor").count() == 0
    assert [b.inner_text() for b in page.locator(".pa-cell-bar button:visible").all()] == ["Run", "Edit"] * 2
    assert page.locator(".cell_input:visible").count() == 3
    assert not page.evaluate("[...document.scripts].some((one) => one.src.includes('editor.js'))")
    assert sent(page) == []


def test_run_shows_what_came_of_it_below_what_is_stored(read):
    page = read()
    press(page, 0, "Run")
    assert shown(page, 0) == "Your run\n42"
    assert lines(page.locator(".cell_output").first) == "42"
    assert sent(page) == [("set-up", SETUP), ("1", FIRST)]
    tops = [page.locator(s).first.bounding_box()["y"] for s in (".pa-editor", ".cell_output", ".pa-own")]
    assert tops == sorted(tops)


def test_what_stands_before_runs_first_and_once(read):
    page = read()
    press(page, 1, "Run")
    assert shown(page, 1) == "It ran, and shows nothing."
    press(page, 0, "Run")
    shown(page, 0)
    press(page, 1, "Run")
    page.wait_for_function("pa.python.sent.length === 5")
    first, second = ("1", FIRST), ("2", SECOND)
    assert sent(page) == [("set-up", SETUP), first, second, first, second]
    assert page.locator(".pa-own").first.inner_text() != ""


def test_a_cell_that_stopped_before_is_named_and_shown(read):
    page = read()
    edit(page, 0)
    page.keyboard.type("wrong\n")
    press(page, 1, "Run")
    assert shown(page, 1).startswith(
        "Cell 1 of this page, which this one needs, stopped.\nbefore\n✗ NameError on line 1"
    )
    assert ("2", SECOND) not in sent(page)


def test_by_keyboard_from_the_bar_into_the_editor_and_out(read):
    page = read()
    bar(page, 0).get_by_role("button", name="Edit").focus()
    page.keyboard.press("Enter")
    code(page).wait_for()
    assert page.evaluate("document.activeElement.matches('.cm-content')")
    page.keyboard.press("ControlOrMeta+Home")
    page.keyboard.press("Tab")
    assert code(page).inner_text().startswith("    a = 6 * 7")
    page.keyboard.press("Shift+Tab")
    assert code(page).inner_text().startswith("a = 6 * 7")
    for key in ("ControlOrMeta+Enter", "Shift+Enter"):
        page.keyboard.press(key)
    page.wait_for_function("pa.python.sent.length >= 2")
    assert page.evaluate("document.activeElement.matches('.cm-content')")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Run"
    assert code(page).inner_text() == FIRST


def test_all_keys_write_tab_aligns_to_four_and_return_keeps_the_indentation(read):
    page = read()
    edit(page, 1)
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("def f(x):\ny")
    page.keyboard.press("Tab")
    page.keyboard.type("= 1 / x")
    assert code(page).inner_text() == "def f(x):\n    y   = 1 / x"  # "/" does not open the search
    page.keyboard.press("ControlOrMeta+Z")
    assert code(page).inner_text() != "def f(x):\n    y   = 1 / x"


def test_how_the_editor_is_left_is_said(read):
    page = read()
    edit(page, 0)
    leave = page.locator(".pa-leave")
    assert leave.is_visible()
    assert code(page).get_attribute("aria-describedby") == leave.get_attribute("id")
    assert code(page).get_attribute("aria-label") == "Python, cell 1 of this page"
    assert "Escape, then Tab" in leave.inner_text()


def test_what_is_written_outlives_the_tab_until_reset(read):
    page = read()
    edit(page, 0)
    page.keyboard.type("b = 1\n")
    page.close()
    page = read()
    assert bar(page, 0).inner_text().split("\n") == ["Run", "Edit yours", "Reset"]
    press(page, 0, "Run")
    shown(page, 0)
    assert sent(page)[-1] == ("1", f"b = 1\n{FIRST}")
    press(page, 0, "Reset")
    assert page.locator(".pa-editor").count() == 0
    assert page.locator(".pa-own").first.inner_text() == ""
    assert page.locator(".cell_input").first.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Run"
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('pa-live'))") == []


def test_an_error_is_named_and_its_line_marked_until_the_text_changes(read):
    page = read()
    edit(page, 0)
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("\nwrong")
    page.keyboard.press("ControlOrMeta+Enter")
    assert "✗ NameError on line 3: as asked" in shown(page, 0)
    assert page.locator(".pa-own").first.get_attribute("aria-live") == "polite"
    assert page.locator(".pa-error-line").inner_text() == "wrong"
    page.locator(".pa-trace summary").first.click()
    assert "Traceback" in page.locator(".pa-trace").first.inner_text()
    code(page).focus()
    page.keyboard.type("x")
    assert page.locator(".pa-error-line").count() == 0


def test_what_is_wider_than_its_place_is_reached_by_the_keyboard(read):
    page = read(**PHONE)
    page.evaluate(
        "pa.python.run = async () => ({ parts: [{ type: 'text', data: '0123456789'.repeat(20) }], error: null })"
    )
    press(page, 0, "Run")
    shown(page, 0)
    page.wait_for_function("document.querySelector('.pa-own pre').tabIndex === 0")


def test_while_python_comes_a_bar_says_how_large_it_is(read):
    page = read()
    page.evaluate("() => { pa.python.wait = new Promise((go) => { pa.python.go = go; }); }")
    press(page, 0, "Run")
    loading = page.locator(".pa-loading")
    loading.wait_for()
    assert "5.0 of 11.0 MB" in loading.inner_text()
    assert loading.get_by_role("progressbar").get_attribute("aria-label") == "Python for this page"
    assert page.get_by_role("status").filter(has_text="Python is on its way to this page.").count() == 1
    page.evaluate("pa.python.go()")
    assert shown(page, 0) == "Your run\n42"
    assert loading.count() == 0


def test_what_runs_long_can_be_stopped(read):
    page = read()
    edit(page, 0)
    page.keyboard.type("while True: pass\n")
    page.keyboard.press("Shift+Enter")
    press(page, 0, "Stop")
    bar(page, 0).get_by_role("button", name="Run", exact=True).wait_for()


def test_without_python_a_sentence_says_what_is_missing(read):
    page = read()
    page.evaluate(
        "Object.assign(pa.python, { status: 'missing', missing: 'It was not there at the build.' })"
    )
    press(page, 0, "Run")
    assert shown(page, 0) == "It was not there at the build."
    page.evaluate("delete pa.python")
    press(page, 1, "Run")
    assert "runs in the notebook" in shown(page, 1)


# Exercises that ask for a function


def verdict(page, n=0):
    result = page.locator(".pa-live[data-live-exercise] > .pa-result").nth(n)
    result.locator("strong").wait_for()
    return result.inner_text()


def test_an_exercise_is_written_judged_and_kept_by_keyboard(read):
    page = read(TASKS)
    bar(page, 0).get_by_role("button", name="Write here").focus()
    page.keyboard.press("Enter")
    code(page).wait_for()
    assert code(page).inner_text() == "def answer(x):\n    return ..."
    page.keyboard.press("ControlOrMeta+Enter")
    assert "Not attempted yet." in verdict(page)
    assert page.evaluate("localStorage.getItem('pa-progress')") is None
    assert "Show a solution" not in bar(page, 0).inner_text()
    page.keyboard.press("ControlOrMeta+End")
    for _ in range(3):
        page.keyboard.press("Backspace")
    page.keyboard.type("x")
    page.keyboard.press("ControlOrMeta+Enter")
    page.get_by_text("Too small.").wait_for()
    page.keyboard.type(" + 1")
    page.keyboard.press("Shift+Enter")
    page.get_by_text("One more.").wait_for()
    assert page.locator(".pa-live > .pa-result").first.get_attribute("class") == "pa-result pa-good"
    name = page.locator(".pa-practice").first.get_attribute("data-name")
    progress = page.evaluate("JSON.parse(localStorage.getItem('pa-progress'))")
    assert progress["exercises"] == {name: {"attempts": 2, "passed": True}}
    assert "✓ solved" in page.locator(".pa-runs").first.inner_text()
    assert sent(page)[-1] == (TASK, f'def answer(x):\n    return x + 1\n\n\ncheck("{TASK}", answer)\n')
    page.close()
    again = read(TASKS)
    edit(again, 0, "Go on writing")
    assert code(again).inner_text() == "def answer(x):\n    return x + 1"


def test_the_code_itself_opens_the_editor(read):
    page = read(TASKS)
    page.locator(".pa-writable").first.click()
    code(page).wait_for()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type(" # mine")
    assert code(page).inner_text() == "def answer(x):\n    return ... # mine"


def test_a_verdict_does_not_name_a_call_where_there_is_a_button(read):
    page = read(TASKS)
    edit(page, 0, "Write here")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("def answer(x):\nreturn x")
    press(page, 0, "Check")
    assert verdict(page).endswith("Too small.")


def test_hints_come_one_at_a_time(read):
    page = read(TASKS)
    hints = page.locator(".pa-practice").first.locator(".pa-hints > details")
    count = hints.count()
    assert count >= 2
    assert not any(one.is_visible() for one in hints.all())
    for n in range(count):
        press(page, 0, "Hint" if n == 0 else f"Hint ({count - n} left)")
        assert [one.is_visible() for one in hints.all()] == [True] * (n + 1) + [False] * (count - n - 1)
        assert hints.nth(n).locator("p").is_visible()
    assert "Hint" not in bar(page, 0).inner_text()


def test_a_solution_is_shown_after_a_try(read):
    page = read(TASKS)
    assert "Show a solution" not in bar(page, 0).inner_text()
    edit(page, 0, "Write here")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("def answer(x):\nreturn x")
    press(page, 0, "Check")
    verdict(page)
    press(page, 0, "Show a solution")
    solution = page.locator(".pa-solution")
    assert solution.locator("pre").inner_text().strip() == "def answer(x):\n    return x + 1  # one more"
    assert page.evaluate("document.activeElement.matches('.pa-solution')")
    solution.get_by_role("link").click()
    page.wait_for_url("**/solutions/01_rnn_bottleneck.html#exercise-*")


def test_an_error_in_an_answer_is_marked_and_its_try_not_lost(read):
    page = read(TASKS)
    edit(page, 1, "Write here")
    page.keyboard.type("wrong = 1\nwrong\n")
    press(page, 1, "Check")
    assert "NameError on line 2: as asked" in verdict(page, 1)
    assert page.locator(".pa-error-line").inner_text() == "wrong"
    assert sent(page)[-1][0] == OTHER


# For everyone


def use_all(page, name):
    """Open an editor, run, and show an error."""
    edit(page, 0, "Edit" if name == PAGE else "Write here")
    page.keyboard.type("wrong\n")
    press(page, 0, "Run" if name == PAGE else "Check")
    page.locator(".pa-trace").first.wait_for()
    edit(page, 1, "Edit" if name == PAGE else "Write here")


@pytest.mark.parametrize("name", [PAGE, TASKS])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(read, name, theme):
    page = read(name, color_scheme=theme)
    use_all(page, name)
    assert violations(page) == []
    assert page.trouble == []


@pytest.mark.parametrize("name", [PAGE, TASKS])
def test_on_a_phone_all_fits_and_can_be_met_by_a_finger(read, name):
    page = read(name, **PHONE)
    buttons = page.locator(".pa-cell-bar button")
    page.locator(".pa-cell-bar").nth(0).get_by_role(
        "button", name="Edit" if name == PAGE else "Write here"
    ).tap()
    code(page).wait_for()
    page.keyboard.type("x = [" + "1234567890, " * 9 + "]\n")
    page.locator(".pa-cell-bar").nth(0).get_by_role("button").first.tap()
    page.wait_for_function("pa.python.sent.length")
    assert [
        b.inner_text() for b in buttons.all() if b.is_visible() and b.bounding_box()["height"] < TALL
    ] == []
    assert float(code(page).evaluate("(node) => parseFloat(getComputedStyle(node).fontSize)")) >= 16
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_on_paper_there_is_the_book_and_nothing_to_press(read):
    page = read()
    use_all(page, PAGE)
    page.emulate_media(media="print")
    assert page.locator(":is(.pa-cell-bar, .pa-editor, .pa-own):visible").count() == 0
    assert page.locator(".cell_input:visible").count() == 3
    tasks = read(TASKS)
    tasks.emulate_media(media="print")
    assert (
        tasks.locator(".pa-hints > details:visible").count() == tasks.locator(".pa-hints > details").count()
    )


def test_without_a_script_nothing_is_seen_of_it(live):
    for name, count in ((PAGE, 2), (TASKS, 2)):
        page = (live / f"{name}.html").read_text("utf8")
        places = re.findall(
            r'<div class="pa-live".*?</script>(.*?)</div>(?=<section|<div|</div>)', page, re.S
        )
        assert len(places) == count
        assert [one for one in places if one and not one.startswith("<template")] == []
