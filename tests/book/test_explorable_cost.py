"""The explorable of chapter 7 on the page: by keyboard and touch, with the numbers of `attnlib.instruments.cost`."""

import pytest

from attnlib.widgets import CostCalculator
from tests.book.test_site import PHONE

PAGE = "book/07_complexity"


def assert_numbers_are_attnlibs(page):
    box = page.locator(".pa-cost")
    shown = box.locator(".pa-slider output").all_text_contents()
    n, d_model, heads, kv_heads, layers = (int(text.replace(",", "")) for text in shown)
    widget = CostCalculator(
        n=n,
        d_model=d_model,
        heads=heads,
        kv_heads=kv_heads,
        layers=layers,
        width=(4, 2, 1)[int(box.locator("input[type=radio]:checked").get_attribute("value"))],
        network=box.locator("input[role=switch]").is_checked(),
    )
    expected = widget.numbers()
    total = expected["projections"] + expected["core"] + widget.network * expected["network"]
    cells = dict(box.locator("td").evaluate_all("all => all.map(n => [n.dataset.kind, +n.dataset.value])"))
    cross, share = box.locator(".pa-rule").evaluate("n => [+n.dataset.value, +n.dataset.share]")
    assert cross == pytest.approx(expected.pop("crossover"), rel=1e-6)
    assert share == pytest.approx(expected["core"] / total, rel=1e-6)
    held = box.locator(".pa-fits").evaluate("n => [+n.dataset.cache, +n.dataset.scores]")
    assert held == [expected.pop("cache"), expected.pop("scores")]
    assert cells == pytest.approx(expected, rel=1e-6)
    widget.named = box.locator("select").first.evaluate("n => n.selectedOptions[0].textContent")
    widget.gpu = int(
        box.locator("select").nth(1).evaluate("n => n.selectedOptions[0].textContent.match(/\\d+(?= GB)/)[0]")
    )
    held = box.locator(".pa-fits").evaluate(
        "n => [+n.dataset.weights, +n.dataset.room, +n.dataset.room_with_scores]"
    )
    assert held == list(widget.memory().values())
    return widget


def test_models_people_know_are_held_against_the_memory_of_a_gpu(visit):
    page = visit(PAGE)
    box = page.locator(".pa-cost")
    model, card = box.locator("select").all()
    for name in ("GPT-2 XL", "Llama 2 7B", "Mistral 7B v0.3", "Llama 3 8B", "Llama 3 70B"):
        model.select_option(label=name)
        assert assert_numbers_are_attnlibs(page).named == name
    assert "too much" not in box.locator(".pa-fits").inner_text()
    card.select_option(label="H100, 80 GB")
    assert "the weights alone do not fit the H100" in box.locator(".pa-fits").inner_text()
    box.locator("summary").first.click()
    box.locator("input[type=radio]").last.check()
    assert "of the H100" in box.locator(".pa-fits").inner_text()
    box.locator("[data-size=layers]").fill("79")
    assert assert_numbers_are_attnlibs(page).named == "your own"
    assert "weights not counted" in box.locator(".pa-fits").inner_text()
    assert page.trouble == []


def test_keyboard_alone_moves_the_sizes_and_the_numbers_follow(visit):
    page = visit(PAGE, "file")
    box = page.locator(".pa-cost")
    start = "CostCalculator(n=4096, d_model=4096, heads=32, kv_heads=32, layers=32, width=2)"
    assert repr(assert_numbers_are_attnlibs(page)) == start
    for fold in box.locator("summary").all():
        fold.press("Enter")
    box.locator("[data-size=n]").focus()
    page.keyboard.press("ArrowRight")
    assert assert_numbers_are_attnlibs(page).n == 6144
    assert "The core does 20% of the work" in box.locator(".pa-rule").inner_text()
    assert "not with the scores" not in box.locator(".pa-fits").inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert assert_numbers_are_attnlibs(page).n == 12288
    assert "fits the 24 GB of the RTX 4090, but not with the scores" in box.locator(".pa-fits").inner_text()
    assert box.locator(".pa-over").count() == 1
    card, scores = (box.locator(part).bounding_box() for part in (".pa-room", ".pa-scores"))
    assert card["x"] + card["width"] < scores["x"] + scores["width"] - 20  # what does not fit stands out
    box.locator("[data-size=kv_heads]").focus()
    page.keyboard.press("Home")
    assert assert_numbers_are_attnlibs(page).kv_heads == 1
    box.locator("input[role=switch]").focus()
    page.keyboard.press("Space")
    assert not assert_numbers_are_attnlibs(page).network
    box.locator("input[type=radio]:checked").focus()
    page.keyboard.press("ArrowRight")
    assert assert_numbers_are_attnlibs(page).width == 1
    box.locator("[data-size=heads]").focus()
    page.keyboard.press("ArrowRight")
    assert assert_numbers_are_attnlibs(page).heads == 64
    page.wait_for_timeout(600)
    assert "cache" in box.locator("[role=status]").text_content()
    width, length = box.locator("[data-size=d_model]"), box.locator("[data-size=n]")
    for place in (0, 4, 9):  # heads that do not divide the width are never shown
        width.fill(str(place))
        length.fill(str(2 * place))
        assert_numbers_are_attnlibs(page)
    box.locator("[data-size=heads]").fill("0")
    assert assert_numbers_are_attnlibs(page).kv_heads == 1
    assert page.trouble == []


def test_it_fits_a_phone_and_answers_a_finger(visit):
    page = visit(PAGE, **PHONE)
    box = page.locator(".pa-cost")
    box.scroll_into_view_if_needed()
    track = box.locator("[data-size=n]").bounding_box()
    page.touchscreen.tap(track["x"] + track["width"] - 3, track["y"] + track["height"] / 2)
    assert assert_numbers_are_attnlibs(page).n > 500_000
    assert box.evaluate("n => n.scrollWidth <= n.clientWidth")
