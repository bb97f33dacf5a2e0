"""The explorable of chapter 4 on the page: by keyboard and touch, with the numbers of Python."""

import pytest

from attnlib.widgets import ScalingLab
from tests.book.test_site import PHONE

PAGE = "book/04_sqrt_dk"
SCALINGS = ["none", "root", "full"]


def assert_numbers_are_pythons(page):
    root = page.locator(".pa-scaling")
    power, spread = (
        float(x) for x in root.locator("input[type=range]").evaluate_all("all => all.map(i => i.value)")
    )
    chosen = int(root.locator("input[type=radio]:checked").get_attribute("value"))
    draw = int(root.get_attribute("data-draw"))
    lab = ScalingLab(power=int(power), spread=spread, scaling=SCALINGS[chosen], draw=draw)
    shown = root.locator("tbody tr").evaluate_all(
        "all => Object.fromEntries(all.map(r => [r.dataset.row, +r.lastChild.dataset.value]))"
    )
    assert shown == pytest.approx(lab.numbers(), rel=1e-6, abs=1e-6)
    scores = root.locator(".pa-score").evaluate_all("all => all.map(b => +b.dataset.value)")
    assert scores == pytest.approx(lab.scores().tolist(), rel=1e-6, abs=1e-6)
    bars = root.locator(".pa-weight").evaluate_all("all => all.map(b => +b.dataset.value)")
    assert bars == pytest.approx(sorted(lab.weights().tolist()), abs=1e-6)  # as the dots lie
    return lab


def test_keyboard_alone_works_it_and_the_numbers_follow(visit):
    page = visit(PAGE, "file")
    root = page.locator(".pa-scaling")
    assert repr(assert_numbers_are_pythons(page)) == "ScalingLab(d=64, 'none', spread=1, draw=11)"
    width, spread = root.locator("input[type=range]").all()
    width.focus()
    page.keyboard.press("End")
    assert assert_numbers_are_pythons(page).power == 10
    root.locator("input[type=radio]:checked").focus()
    for scaling in ("root", "full"):
        page.keyboard.press("ArrowRight")
        assert assert_numbers_are_pythons(page).scaling == scaling
    spread.focus()
    page.keyboard.press("End")
    assert assert_numbers_are_pythons(page).spread == 3
    root.get_by_role("button", name="draw again").focus()
    page.keyboard.press("Enter")
    assert assert_numbers_are_pythons(page).draw == 12
    page.wait_for_timeout(600)
    assert "Width 1024" in root.locator("[role=status]").text_content()
    assert page.trouble == []


def test_it_fits_a_phone_and_answers_a_finger_with_pythons_numbers(visit):
    page = visit(PAGE, **PHONE)
    root = page.locator(".pa-scaling")
    root.scroll_into_view_if_needed()
    width, spread = root.locator("input[type=range]").all()
    for power in ("1", "5", "10"):
        width.fill(power)
        for i in range(3):
            root.locator(".pa-choice label").nth(i).tap()
            root.get_by_role("button", name="draw again").tap()
            assert assert_numbers_are_pythons(page).scaling == SCALINGS[i]
    spread.fill("2.5")
    assert assert_numbers_are_pythons(page).spread == 2.5
    assert root.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert page.trouble == []
