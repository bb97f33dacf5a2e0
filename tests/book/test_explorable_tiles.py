"""The second explorable of chapter 7 on the page: tile by tile, with Python's numbers."""

import pytest

from attnlib.widgets import TileStepper
from tests.book.test_explorable_mount import host, mounted  # noqa: F401 (a fixture)
from tests.book.test_site import PHONE

PAGE = "book/07_complexity"
SHOWN = """root => ({
  ...Object.fromEntries(["m", "l", "o"].map((kind) => [kind, [...root.querySelectorAll(`td[data-kind=${kind}]`)].map((n) => +n.dataset.value)])),
  shrink: root.querySelector(".pa-repair").dataset.value.split(" ").filter(Boolean).map(Number),
  held: +root.querySelector(".pa-held").dataset.value,
  moved: +root.querySelector(".pa-moved").dataset.value,
  end: +root.querySelector(".pa-moved").dataset.end,
})"""


def assert_numbers_are_pythons(root, step, size):
    expected = TileStepper(step=step, size=size).numbers()
    done = expected.pop("done")
    shown = root.evaluate(SHOWN)
    assert shown.keys() == expected.keys()
    for name, value in expected.items():
        assert shown[name] == pytest.approx(value, abs=1e-6), (step, size, name)
    said = [text for text in root.locator(".pa-o-name").all_text_contents() if text.strip("\u2026")]
    assert said == [f"{x:.2f}" for x in done]


def test_every_step_of_every_size_gives_pythons_numbers(host):  # noqa: F811
    page = mounted(host, "TileStepper")
    root = page.locator(".pa-tiles")
    for size in (1, 2, 3, 6):
        page.evaluate("size => { model.set('step', 0); model.set('size', size); }", size)
        for step in range((6 // size) ** 2 + 1):
            assert_numbers_are_pythons(root, step, size)
            if step < (6 // size) ** 2:
                page.get_by_role("button", name="Step").click()
        assert page.get_by_role("button", name="Step").is_disabled()
    assert page.trouble == []


def test_keyboard_alone_steps_through_the_tiles(visit):
    page = visit(PAGE, "file")
    root = page.locator(".pa-tiles")
    assert_numbers_are_pythons(root, 1, 2)
    root.locator("input[type=range]").focus()
    for step in (2, 3, 4):
        page.keyboard.press("ArrowRight")
        assert_numbers_are_pythons(root, step, 2)
    assert root.locator(".pa-title").inner_text() == "Tile 4: queries 3 and 4 meet keys 1 and 2."
    root.get_by_role("button", name="Step").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert_numbers_are_pythons(root, 6, 2)
    page.wait_for_timeout(600)
    assert "queries 3 and 4 meet keys 5 and 6" in root.locator("[role=status]").text_content()
    root.locator("input[type=radio]:checked").focus()
    page.keyboard.press("ArrowRight")
    assert_numbers_are_pythons(root, 1, 3)
    root.get_by_role("button", name="Reset").click()
    assert_numbers_are_pythons(root, 1, 2)
    assert page.trouble == []


def test_it_fits_a_phone_and_answers_a_finger(visit):
    page = visit(PAGE, **PHONE)
    root = page.locator(".pa-tiles")
    root.scroll_into_view_if_needed()
    root.get_by_role("button", name="Step").tap()
    assert_numbers_are_pythons(root, 2, 2)
    root.locator("label", has_text="all").tap()
    assert_numbers_are_pythons(root, 1, 6)
    assert root.bounding_box()["height"] <= 844
    assert root.evaluate("n => n.scrollWidth <= n.clientWidth")
