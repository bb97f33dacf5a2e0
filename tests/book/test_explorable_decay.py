"""The explorable of chapter 1 on the page: by keyboard and touch, with the numbers of Python's own derivative."""

import pytest

from attnlib.widgets import GradientDecay
from tests.book.test_site import PHONE

PAGE = "book/01_rnn_bottleneck"


def assert_numbers_are_pythons(page):
    decay = page.locator(".pa-decay")
    weight, length = (
        float(x) for x in decay.locator("input[type=range]").evaluate_all("all => all.map(i => i.value)")
    )
    widget = GradientDecay(
        weight=weight, length=int(length), squash=decay.locator("input[role=switch]").is_checked()
    )
    gradients = widget.gradients()
    end = decay.locator(".pa-left-over").evaluate("n => +n.dataset.value")
    assert end == pytest.approx(gradients[-1].item(), rel=1e-6)
    below = (gradients < 0.01).nonzero().flatten().tolist()
    assert int(decay.locator(".pa-rule").get_attribute("data-value")) == (below[0] if below else -1)
    return widget


def test_keyboard_alone_moves_the_sliders_and_the_numbers_follow(visit):
    page = visit(PAGE, "file")
    decay = page.locator(".pa-decay")
    assert repr(assert_numbers_are_pythons(page)) == "GradientDecay(weight=0.8, length=40, squash=False)"
    assert "from step 21 on" in decay.locator(".pa-rule").inner_text()
    weight, length = decay.locator("input[type=range]").all()
    weight.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert assert_numbers_are_pythons(page).weight == pytest.approx(0.86)
    assert "from step 31 on" in decay.locator(".pa-rule").inner_text()
    length.focus()
    page.keyboard.press("End")
    assert assert_numbers_are_pythons(page).length == 100
    weight.focus()
    page.keyboard.press("End")
    assert assert_numbers_are_pythons(page).weight == pytest.approx(1.5)
    assert "It grows" in decay.locator(".pa-rule").inner_text()
    decay.locator("input[role=switch]").focus()
    page.keyboard.press("Space")
    assert assert_numbers_are_pythons(page).squash
    assert "from step 7 on" in decay.locator(".pa-rule").inner_text()
    page.wait_for_timeout(600)
    assert "is left after 100 steps" in decay.locator("[role=status]").text_content()
    assert page.trouble == []


def test_every_weight_and_some_lengths_give_pythons_numbers(visit):
    page = visit(PAGE)
    weight, length = page.locator(".pa-decay input[type=range]").all()
    for steps in (1, 20, 100):
        length.fill(str(steps))
        for value in ("0.05", "0.5", "1", "1.5"):
            weight.fill(value)
            assert_numbers_are_pythons(page)
    assert page.trouble == []


def test_a_line_that_leaves_the_axis_is_cut_with_an_arrow_and_its_value(visit):
    page = visit(PAGE, reduced_motion="reduce")
    decay = page.locator(".pa-decay")
    weight, length = decay.locator("input[type=range]").all()
    assert decay.locator(".pa-off").count() == 0
    for value, said in (
        ("1.5", "4.1 \u00d7 10\u00b9\u2077 at step 100"),
        ("0.5", "7.9 \u00d7 10\u207b\u00b3\u00b9 at step 100"),
    ):
        weight.fill(value)
        length.fill("100")
        assert decay.locator(".pa-off-value").text_content() == said
        assert decay.locator(".pa-off").count() == 1
        assert decay.locator(".pa-end").count() == 0
        # inside the frame the line has one slope: no plateau at the edge
        slopes = decay.locator(".pa-curve").evaluate(
            """n => { const p = n.getAttribute("d").slice(1).split("L").map((s) => s.split(" ").map(Number));
            return p.slice(1).map(([x, y], i) => [p[i][1], (y - p[i][1]) / (x - p[i][0])]).filter(([y]) => y > 14 && y < 240).map(([, s]) => s); }"""
        )
        assert max(slopes) - min(slopes) < 0.05


def test_it_fits_a_phone_and_answers_a_finger(visit):
    page = visit(PAGE, **PHONE)
    decay = page.locator(".pa-decay")
    decay.scroll_into_view_if_needed()
    box = decay.locator("input[type=range]").first.bounding_box()
    page.touchscreen.tap(box["x"] + 2, box["y"] + box["height"] / 2)
    assert assert_numbers_are_pythons(page).weight < 0.3
    assert decay.evaluate("n => n.scrollWidth <= n.clientWidth")
