"""The explorable of Common mistakes: each bug as the notebook measured it, hidden until its tests are run."""

import nbformat
import pytest

from tests.book import ROOT
from tests.book.widget_states import stored_states

PAGE = "book/common_mistakes"


@pytest.fixture(scope="module")
def stored():
    notebook = nbformat.read(ROOT / f"{PAGE}.ipynb", as_version=4)
    (state,) = [state for state in stored_states(notebook).values() if "bugs" in state]
    return state


def test_each_bug_shows_its_lines_its_table_and_its_verdicts(visit, stored):
    page = visit(PAGE)
    root = page.locator(".pa-bugs")
    chosen = root.locator("select")
    assert chosen.locator("option").all_text_contents() == [bug["name"] for bug in stored["bugs"]]
    for n, bug in enumerate(stored["bugs"]):
        chosen.select_option(str(n))
        assert root.locator(".pa-wrong code").text_content() == (bug["wrong"] or "\u2013")
        assert root.locator(".pa-right code").text_content() == bug["right"]
        lamps, said = root.locator(".pa-lamps li"), root.locator(".pa-verdict")
        assert lamps.locator("span").all_text_contents() == ["?"] * 5  # until the tests are run
        assert root.locator(".pa-unknown").count() == 36
        assert said.inner_text() == "Which tests find it?"
        root.get_by_role("button", name="Run the tests").click()
        assert lamps.evaluate_all("all => all.map((n) => n.dataset.value)") == bug["verdicts"]
        cells = root.locator(".pa-move").evaluate_all("all => all.map((n) => JSON.parse(n.dataset.value))")
        assert cells == [cell for row in bug["moved"] for cell in row]
        found = [i + 1 for i, verdict in enumerate(bug["verdicts"]) if verdict != "passes"]
        assert [i for i in range(1, 6) if str(i) in said.inner_text()] == found
        if not found:
            assert said.inner_text() == ("No test finds it." if bug["wrong"] else "Every test passes.")
    assert page.trouble == []


def test_keyboard_alone_steps_through_the_bugs(visit, stored):
    page = visit(PAGE, "file")
    root = page.locator(".pa-bugs")
    back, following = (root.get_by_role("button", name=name) for name in ("Back", "Next"))
    first = stored["bug"]
    following.focus()
    page.keyboard.press("Enter")
    assert root.locator("select").input_value() == str(first + 1)
    root.get_by_role("button", name="Run the tests").press("Enter")
    assert root.locator(".pa-unknown").count() == 0
    root.get_by_role("button", name="Hide the verdicts").press("Space")  # it keeps the focus
    assert root.locator(".pa-unknown").count() == 36
    root.locator("select").select_option("0")
    assert back.is_disabled()
    root.locator("select").select_option(str(len(stored["bugs"]) - 1))
    assert following.is_disabled()
    assert page.trouble == []
