"""The explorable of Common mistakes: each bug as the notebook measured it, chosen by keyboard and mouse."""

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
        lamps = root.locator(".pa-lamps li")
        assert lamps.evaluate_all("all => all.map((n) => n.dataset.value)") == bug["verdicts"]
        cells = root.locator(".pa-move").evaluate_all("all => all.map((n) => JSON.parse(n.dataset.value))")
        assert cells == [cell for row in bug["moved"] for cell in row]
        found = [i + 1 for i, verdict in enumerate(bug["verdicts"]) if verdict != "passes"]
        said = root.locator(".pa-verdict").inner_text()
        assert [i for i in range(1, 6) if str(i) in said] == found
        if not found:
            assert said == ("No test finds it." if bug["wrong"] else "Every test passes.")
    assert page.trouble == []


def test_keyboard_alone_steps_through_the_bugs(visit, stored):
    page = visit(PAGE, "file")
    root = page.locator(".pa-bugs")
    back, following = (root.get_by_role("button", name=name) for name in ("Back", "Next"))
    first = stored["bug"]
    following.focus()
    page.keyboard.press("Enter")
    assert root.locator("select").input_value() == str(first + 1)
    root.locator("select").select_option("0")
    assert back.is_disabled()
    root.locator("select").select_option(str(len(stored["bugs"]) - 1))
    assert following.is_disabled()
    assert page.trouble == []
