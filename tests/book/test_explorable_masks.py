"""The explorable of chapter 6 on the page: a mask painted by keyboard, mouse and touch, with attnlib's weights."""

import pytest
import torch

from attnlib.widgets import MaskPainter
from tests.book.test_site import PHONE

PAGE = "book/06_causal_masks"


def assert_numbers_are_attnlibs(page):
    painter = page.locator(".pa-masks")
    cells = painter.locator(".pa-cell").evaluate_all(
        "all => all.map(c => [c.getAttribute('aria-pressed') === 'true', +c.dataset.value, c.dataset.depends === 'true'])"
    )
    mask, weights, depends = (torch.tensor(column).view(6, 6) for column in zip(*cells, strict=True))
    widget = MaskPainter(
        mask=mask.tolist(),
        after=painter.locator("input[role=switch]").is_checked(),
        layers=int(painter.locator("input[type=range]").input_value()),
    )
    torch.testing.assert_close(weights.double(), widget.weights(), rtol=0, atol=1e-6)
    assert torch.equal(depends, widget.dependencies())
    assert int(painter.locator(".pa-verdict").get_attribute("data-leaks")) == widget.leaks().sum()
    sums = painter.locator(".pa-row-sum").evaluate_all("all => all.map(c => +c.dataset.value)")
    assert sums == pytest.approx(widget.weights().sum(-1).tolist(), abs=1e-6)
    return widget


def test_keyboard_alone_walks_and_paints(visit):
    page = visit(PAGE, "file")
    painter = page.locator(".pa-masks")
    assert repr(assert_numbers_are_attnlibs(page)).endswith("21 pairs, leaks=0)")
    assert "Causal: yes" in painter.locator(".pa-verdict").inner_text()
    painter.locator(".pa-cell[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "Space"):
        page.keyboard.press(key)
    assert assert_numbers_are_attnlibs(page).leaks().nonzero().tolist() == [[1, 3]]
    assert "cat (2) on on (4)" in painter.locator(".pa-verdict").inner_text()
    assert painter.locator(".pa-cell[tabindex='0']").count() == 1
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(
        "cat may attend to The"
    )
    painter.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    assert assert_numbers_are_attnlibs(page).leaks().sum() == 3
    painter.locator("input[role=switch]").focus()
    page.keyboard.press("Space")
    assert assert_numbers_are_attnlibs(page).leaks().sum() == 15
    page.wait_for_timeout(600)
    assert "Causal: no" in painter.locator("[role=status]").text_content()
    assert page.trouble == []


def test_every_preset_gives_attnlibs_numbers_and_a_mouse_paints_a_row(visit):
    page = visit(PAGE)
    painter = page.locator(".pa-masks")
    starts = painter.locator(".pa-choice input")
    assert starts.count() == 7
    for i in range(7):
        starts.nth(i).check()
        widget = assert_numbers_are_attnlibs(page)
        assert widget.mask == widget.presets[i]["mask"]
    assert painter.locator(".pa-row-sum").all_inner_texts() == ["masked"] * 6
    first, last = (painter.locator(".pa-cell").nth(n) for n in (6, 11))
    first.scroll_into_view_if_needed()
    a, b = first.bounding_box(), last.bounding_box()
    page.mouse.move(a["x"] + 5, a["y"] + 5)
    page.mouse.down()
    page.mouse.move(b["x"] + 5, b["y"] + 5, steps=20)
    page.mouse.up()
    assert assert_numbers_are_attnlibs(page).mask[1] == [True] * 6
    first.click()
    assert assert_numbers_are_attnlibs(page).mask[1] == [False] + [True] * 5
    assert page.trouble == []


def test_the_chosen_mask_is_marked_and_the_legend_says_why_a_closed_word_is_felt(visit):
    page = visit(PAGE)
    painter = page.locator(".pa-masks")
    chosen, legend = painter.locator(".pa-choice input:checked + span"), painter.locator(".pa-legend")
    assert chosen.inner_text() == "causal"
    assert legend.inner_text() == ""
    painter.get_by_label("window of 2").check()
    assert chosen.inner_text() == "window of 2"
    painter.locator("input[type=range]").fill("3")
    assert "through another word, a layer earlier" in legend.inner_text()
    painter.locator(".pa-cell").first.press("Space")
    assert chosen.count() == 0
    painter.locator("input[type=range]").fill("1")
    painter.locator("input[role=switch]").check()
    assert "in the sum by which the row was divided" in legend.inner_text()


def test_it_fits_a_phone_and_answers_a_finger(visit):
    page = visit(PAGE, **PHONE)
    painter = page.locator(".pa-masks")
    painter.locator(".pa-cell").nth(1).tap()
    assert assert_numbers_are_attnlibs(page).leaks().sum() == 1
    assert painter.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert painter.locator(".pa-cell").first.bounding_box()["width"] >= 44
