"""The explorable of chapter 5 on the page: by keyboard, mouse and touch, with the numbers of attnlib."""

import math

import nbformat
import pytest
import torch

from attnlib.experiments.tasks import relation_masks
from attnlib.widgets import HeadViewer
from tests.book import ROOT
from tests.book.test_explorable_mount import dressed, host, mounted  # noqa: F401 (a fixture)
from tests.book.test_site import PHONE

PAGE = "book/05_multi_head"
STATE = ["letters", "digits", "token", "head", "used", "sizes", "query_table", "key_table", "worth", "bias"]


@pytest.fixture
def widget():
    """The explorable as the notebook stores it, a new one for each test: they change it."""
    nb = nbformat.read(ROOT / f"{PAGE}.ipynb", as_version=4)
    saved = nb.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    (state,) = (
        m["state"] for m in saved.values() if m["state"].get("_anywidget_id", "").endswith("HeadViewer")
    )
    return HeadViewer(**{name: state[name] for name in STATE})


def test_the_answers_below_it_are_those_of_what_is_stored(widget):
    """The text says what goes with heads 3 and 4."""

    def wrong(*off):
        widget.used = [head not in off for head in (1, 2, 3, 4)]
        letters, digits = torch.tensor(widget.letters), torch.tensor(widget.digits)
        points = torch.cat(list(relation_masks(letters[None]).values()), 1)[0].transpose(0, 1)  # (T, 3, T)
        missed = (widget.answers().argmax(-1) != (points * digits).sum(-1)) & points.any(-1)
        return missed.sum(0).tolist()

    assert wrong() == wrong(4) == [0, 0, 0]
    assert wrong(3)[:2] == wrong(3, 4)[:2] == [0, 0]
    assert wrong(3)[2] < 3 < wrong(3, 4)[2]
    widget.used = [True] * 4


def values(locator):
    return [float(x) for x in locator.evaluate_all("all => all.map(n => n.dataset.value)")]


def assert_numbers_are_pythons(page, widget):
    heads = page.locator(".pa-heads")
    shown = heads.locator("fieldset").evaluate_all(
        "all => all.map(f => [...f.querySelectorAll('input')].findIndex(i => i.checked))"
    )
    widget.head, widget.token = shown[:2]
    names = heads.locator(".pa-tokens label span").all_inner_texts()
    widget.letters, widget.digits = [ord(n[0]) - 97 for n in names], [int(n[1:]) for n in names]
    widget.used = heads.locator("input[role=switch]").evaluate_all("all => all.map(i => i.checked)")
    asks = widget.token
    assert values(heads.locator(".pa-beam")) == pytest.approx(
        widget.weights()[widget.head, asks, : asks + 1].tolist(), abs=1e-6
    )
    scores = [score for row in zip(*widget.scores().values(), strict=True) for score in row]
    assert values(heads.locator("[data-kind=score]")) == pytest.approx(scores, abs=1e-6)
    sure = widget.answers()[asks].amax(-1).tolist()
    for got, expected in zip(values(heads.locator("[data-kind=sure]")), sure, strict=True):
        assert math.isnan(got) or got == pytest.approx(expected, abs=1e-6)


def test_keyboard_alone_picks_heads_and_tokens_and_switches_heads_off(visit, widget):
    page = visit(PAGE, "file")
    heads = page.locator(".pa-heads")
    assert_numbers_are_pythons(page, widget)
    before = int(heads.locator(".pa-total").get_attribute("data-value"))
    assert heads.locator(".pa-total").inner_text() == "All tokens: 18 of 18 right."
    heads.locator("summary").click()
    head, token, letter = heads.locator("fieldset").all()
    for group, key in ((head, "ArrowRight"), (token, "ArrowLeft"), (letter, "ArrowRight")):
        group.locator("input:checked").focus()
        page.keyboard.press(key)
        assert_numbers_are_pythons(page, widget)
    assert (widget.head, widget.token) == (3, 1)
    digit = heads.locator("input[type=range]")
    digit.focus()
    page.keyboard.press("End")
    assert_numbers_are_pythons(page, widget)
    assert widget.digits[1] == 7
    for n, box in enumerate(heads.locator("input[role=switch]").all()):
        box.focus()
        page.keyboard.press("Space")
        assert_numbers_are_pythons(page, widget)
        assert widget.used[n] is False
    assert int(heads.locator(".pa-total").get_attribute("data-value")) < before - 3
    page.wait_for_timeout(600)
    assert " of 18 right" in heads.locator("[role=status]").text_content()
    assert page.trouble == []


def test_a_head_that_is_switched_off_is_drawn_so_and_said_so(host, widget):  # noqa: F811
    page = dressed(mounted(host, widget), widget, 720, "light")
    heads, drawing = page.locator(".pa-heads"), page.locator(".pa-heads .pa-canvas")
    stroke = "n => getComputedStyle(n).stroke + getComputedStyle(n).strokeDasharray"
    on = heads.locator(".pa-beam").first.evaluate(stroke)
    other = (widget.head + 1) % 4
    heads.locator("input[role=switch]").nth(other).click()
    assert heads.locator(".pa-beam").first.evaluate(stroke) == on  # another one is off, this one is shown
    assert "switched off" not in drawing.get_attribute("aria-label")
    heads.locator("input[role=switch]").nth(widget.head).click()
    assert heads.locator(".pa-beam").first.evaluate(stroke) != on
    assert "switched off" in drawing.get_attribute("aria-label")
    off = heads.locator(".pa-scores tbody tr").evaluate_all(
        "all => all.map(n => n.classList.contains('pa-off'))"
    )
    assert [n for n, is_off in enumerate(off) if is_off] == sorted([widget.head, other])
    assert page.trouble == []


def test_hovering_shows_and_only_a_click_chooses(visit, widget):
    page = visit(PAGE)
    heads = page.locator(".pa-heads")
    heads.scroll_into_view_if_needed()
    told = heads.locator(".pa-answers caption").inner_text()
    heads.locator("g[data-token='5']").last.hover()
    assert heads.locator(".pa-canvas").get_attribute("data-token") == "5"
    assert heads.locator(".pa-beam").count() == 6
    assert heads.locator(".pa-answers caption").inner_text() == told
    heads.locator(".pa-total").hover()
    assert heads.locator(".pa-canvas").get_attribute("data-token") == "2"
    assert_numbers_are_pythons(page, widget)
    assert widget.token == 2
    heads.locator("g[data-token='5']").last.click()
    assert_numbers_are_pythons(page, widget)
    assert widget.token == 5
    assert page.trouble == []


def test_a_finger_chooses_the_token_and_it_fits_a_phone(visit, widget):
    page = visit(PAGE, **PHONE)
    heads = page.locator(".pa-heads")
    heads.scroll_into_view_if_needed()
    heads.locator("g[data-token='7']").last.tap()
    assert_numbers_are_pythons(page, widget)
    assert widget.token == 7
    assert heads.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert page.trouble == []
