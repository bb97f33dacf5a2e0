"""The explorable of chapter 8 on the page: by keyboard, mouse and touch, with the numbers of `attnlib.positions`."""

import pytest

from attnlib.widgets import PositionClock
from attnlib.widgets.clock import BASES, KINDS
from tests.book.test_site import PHONE

PAGE = "book/08_positions"


def assert_numbers_are_attnlibs(page):
    root = page.locator(".pa-clock")
    kind = KINDS[int(root.locator("input[type=radio]:checked").get_attribute("value"))]
    distance, place, base, back, head = (
        int(value) for value in root.locator("input[type=range]").evaluate_all("all => all.map(n => n.value)")
    )
    clock = PositionClock(kind=kind, distance=distance, place=place, base=BASES[base], back=back, head=head)
    q, k = clock.hands()
    shares = root.locator(".pa-share-name").evaluate_all("all => all.map(n => +n.dataset.value)")
    assert shares == pytest.approx((q * k).sum(-1).tolist(), abs=1e-6)
    curve = [float(x) for x in root.locator(".pa-curve").get_attribute("data-value").split()]
    assert curve == pytest.approx(clock.scores().tolist(), abs=1e-6)
    shown = root.locator(".pa-score").evaluate(
        "n => [+n.dataset.value, +n.dataset.lowest, +n.dataset.highest]"
    )
    expected = [clock.scores()[distance].item(), *clock.band()[:, distance].tolist()]
    assert shown == pytest.approx(expected, abs=1e-6)
    return clock


def slider(page, name):
    return page.locator(".pa-clock").get_by_role("slider", name=name)


def test_keyboard_alone_moves_the_tokens_and_the_numbers_follow(visit):
    page = visit(PAGE, "file")
    root = page.locator(".pa-clock")
    first = assert_numbers_are_attnlibs(page)
    assert repr(first) == "PositionClock('rotary', query at 8, key at 3, base=10000, back=0)"
    slider(page, "distance").focus()
    page.keyboard.press("ArrowRight")
    assert assert_numbers_are_attnlibs(page).distance == 6
    slider(page, "move both").focus()
    page.keyboard.press("End")
    assert assert_numbers_are_attnlibs(page).place == 100
    slider(page, "base").focus()
    page.keyboard.press("Home")
    assert assert_numbers_are_attnlibs(page).base == 10
    slider(page, "query attends").focus()
    page.keyboard.press("End")
    assert assert_numbers_are_attnlibs(page).back == 16
    root.locator("input[type=radio]:checked").focus()
    page.keyboard.press("ArrowRight")
    assert assert_numbers_are_attnlibs(page).kind == "alibi"
    assert slider(page, "base").count() == 0  # a clock that does not turn has no speed
    slider(page, "head").focus()
    page.keyboard.press("End")
    assert assert_numbers_are_attnlibs(page).head == 8
    page.wait_for_timeout(600)
    assert root.locator("[role=status]").text_content().startswith("Score 3.98.")
    assert page.trouble == []


def test_moving_both_tokens_changes_the_score_of_sinusoids_alone(visit):
    page = visit(PAGE)
    root = page.locator(".pa-clock")
    for name, stays in (("added sinusoids", False), ("rotary", True), ("ALiBi", True)):
        root.get_by_role("radio", name=name).check()
        seen = set()
        for place in ("0", "17", "60"):
            slider(page, "move both").fill(place)
            assert_numbers_are_attnlibs(page)
            seen.add(round(float(root.locator(".pa-score").get_attribute("data-value")), 9))
        assert (len(seen) == 1) is stays
        assert ("at all positions" in root.locator(".pa-verdict").inner_text()) is stays


def test_the_hands_lie_on_each_other_where_the_query_attends(visit):
    page = visit(PAGE)
    slider(page, "query attends").fill("9")
    slider(page, "distance").fill("9")
    shares = page.locator(".pa-clock .pa-share-name").all_text_contents()
    assert shares == ["1.00"] * 4
    assert assert_numbers_are_attnlibs(page).scores().argmax() == 9


def test_the_mouse_drags_the_tokens_and_the_dot(visit):
    page = visit(PAGE)
    root = page.locator(".pa-clock")
    for drawing, part in ((0, "place"), (2, "distance")):
        box = root.locator(".pa-canvas").nth(drawing)
        box.scroll_into_view_if_needed()
        box = box.bounding_box()
        x, y = box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 0.2 * box["width"], y, steps=4)
        page.mouse.up()
        page.mouse.move(x, y)  # let go, it stays
        assert getattr(assert_numbers_are_attnlibs(page), part) == pytest.approx(
            {"place": 3 + 36, "distance": 30}[part], abs=2
        )
    assert page.trouble == []


def test_it_fits_a_phone_and_answers_a_finger(visit):
    page = visit(PAGE, **PHONE)
    root = page.locator(".pa-clock")
    root.scroll_into_view_if_needed()
    root.locator(".pa-choice label").first.tap()
    assert assert_numbers_are_attnlibs(page).kind == "sinusoid"
    curve = root.locator(".pa-canvas").nth(2)
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    page.touchscreen.tap(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    assert assert_numbers_are_attnlibs(page).distance > 50
    assert root.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert page.trouble == []
