"""The first explorable of chapter 5 on the page: an average cut by keyboard and mouse, with Python's numbers."""

import pytest

from attnlib.widgets import AverageLine
from tests.book.test_explorable_mount import dressed, host, mounted  # noqa: F401 (a fixture)

PAGE = "book/05_multi_head"
SHOWN = """root => ({
  averages: [0, 1, 2, 3].map((n) => +root.querySelector(`[data-family="${n}"]`).dataset.value),
  cuts: [...root.querySelectorAll(".pa-cut")].map((n) => +n.dataset.value),
})"""


def assert_numbers_are_pythons(root, weight, told):
    shown = root.evaluate(SHOWN)
    for name, value in AverageLine(weight=weight, told=told).numbers().items():
        assert shown[name] == pytest.approx(value, abs=1e-6), (weight, told, name)
    assert int(root.locator(".pa-verdict").get_attribute("data-cuts")) == len(shown["cuts"])


def test_every_weight_gives_pythons_numbers(host):  # noqa: F811
    page = mounted(host, "AverageLine")
    root = page.locator(".pa-averages")
    for told in (0, 1):
        for twentieths in range(21):
            page.evaluate(
                "([weight, told]) => { model.set('told', told); model.set('weight', weight); }",
                [twentieths / 20, told],
            )
            assert_numbers_are_pythons(root, twentieths / 20, told)
    assert page.trouble == []


def test_names_and_numbers_never_lie_over_each_other(host):  # noqa: F811
    """At weight 0 and 1 two families share a dot, and names stand above it and below."""
    widget = AverageLine()
    page = dressed(mounted(host, widget), widget, 390, "light")
    page.emulate_media(reduced_motion="reduce")  # nothing is on its way when it is measured
    for twentieths in range(21):
        page.evaluate("(weight) => model.set('weight', weight)", twentieths / 20)
        over = page.evaluate(
            """() => { // of each text its letters: a box has room for accents above them and tails below
            const boxes = [...document.querySelectorAll(".pa-averages svg text")].map((n) => {
              const { left, right, top, height } = n.getBoundingClientRect();
              return { said: n.textContent, left, right, top: top + 0.22 * height, bottom: top + 0.72 * height }; });
            return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
              .map((b) => `${a.said} over ${b.said}`)); }"""
        )
        assert over == [], twentieths / 20


def test_keyboard_alone_brings_two_families_together(visit):
    page = visit(PAGE, "file")
    root = page.locator(".pa-averages")
    assert_numbers_are_pythons(root, 0.7, 1)
    assert "3 cuts" in root.locator(".pa-verdict").inner_text()
    assert root.locator(".pa-half").count() == 0
    root.locator("input[type=range]").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    assert_numbers_are_pythons(root, 0.5, 1)
    assert root.locator(".pa-half").count() == 1
    assert "neither a cut nor anything else" in root.locator(".pa-verdict").inner_text()
    root.get_by_role("radio", name="Ann\u2019s age").check()
    assert root.locator(".pa-told").all_text_contents() == ["Ann 3", "Ann 3", "Ann 7", "Ann 7"]
    assert page.trouble == []
