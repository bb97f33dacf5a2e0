"""All exercises of a chapter, done on the built page from start to end, from the disk and without a network."""

import pytest

from attnlib.learn import bank, judging
from tests.book.conftest import visits

PAGE, CHAPTER = "book/exercises/03_queries_keys_values", "3"
FIRST, LATER = 120_000, 20_000  # ms, on a machine that does much else


@pytest.fixture
def opened(chromium, address):
    """A way to open the exercises of the chapter."""
    with visits(chromium, address) as open_page:

        def open_exercises(**options):
            page = open_page(PAGE, "file", **options)
            if page.evaluate("pa.python.status") == "missing":
                pytest.skip(page.evaluate("pa.python.missing"))
            return page

        yield open_exercises


def typed(value):
    """Return what a reader types for a value."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list) else repr(value)


def fill(block, id, act):
    """Answer an exercise that asks for numbers, shapes or truths."""
    fields = block.locator(".pa-form :is(input[type=text], select)").all()
    answer = judging.read()[id]["answer"]
    values = answer.values() if isinstance(answer, dict) else answer
    for field, value in zip(fields, values, strict=True):
        if field.evaluate("node => node.matches('select')"):
            field.select_option(typed(value))
        else:
            field.fill(typed(value))
    act(block.locator(".pa-form button[type=submit]"))
    block.locator(".pa-result.pa-good").wait_for()


def write(page, live, act, finish):
    """Answer an exercise that asks for code with its solution, typed into the editor."""
    solution = live.locator("template").evaluate("node => node.content.textContent")
    assert solution.strip()
    act(live.get_by_role("button", name="Write here"))
    page.locator(".cm-content:focus").wait_for()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(solution)
    finish(live)
    result = live.locator(".pa-result strong")
    result.wait_for(timeout=FIRST)
    assert "passed." in result.inner_text(), live.inner_text()


def by_keyboard(button):
    button.focus()
    button.page.keyboard.press("Enter")


@pytest.mark.parametrize("hand", ["keyboard", "finger"])
def test_a_chapter_is_done_from_start_to_end(opened, hand):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = opened(**({} if hand == "keyboard" else phone))
    page.set_default_timeout(LATER)
    ids = [id for id in bank.exercises() if id.startswith(f"{CHAPTER}.")]

    def finish(live):
        if hand == "keyboard":
            page.keyboard.press("ControlOrMeta+Enter")
        else:
            live.get_by_role("button", name="Check").tap()

    act = by_keyboard if hand == "keyboard" else lambda button: button.tap()
    for id in ids:
        live = page.locator(f'.pa-live[data-live-exercise="{id}"]')
        if live.count():
            write(page, live, act, finish)
        else:
            fill(page.locator(f'.pa-practice[data-exercise="{id}"]'), id, act)
    done = f"Solved in this chapter: {len(ids)} of {len(ids)};"
    assert page.locator(".pa-record p").inner_text().startswith(done)
    assert page.trouble == []
