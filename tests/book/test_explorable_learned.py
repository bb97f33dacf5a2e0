"""The trained model, live: a line that is typed, and a vector that is dragged; with the numbers of attnlib."""

import random

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from attnlib.widgets import LearnedLayers
from attnlib.widgets.learned import OTHERS, PRESETS
from tests.book.test_explorable_layer import TAGS, type_in
from tests.book.test_explorable_mount import dressed, host, mounted  # noqa: F401 (a fixture)
from tests.book.test_explorable_share import SHOWN, SMALL
from tests.book.test_site import PHONE

CLOSE = 1e-4
ROWS = ".pa-two td[data-kind=weight]"


@pytest.fixture
def shown(host):  # noqa: F811
    """Give a function that shows it with its style, at a width, light or dark."""

    def show(line=PRESETS[0], *, width=1280, theme="light", asked=None, **state):
        widget = LearnedLayers(line, **state)
        return dressed(mounted(host, widget, asked), widget, width, theme)

    return show


GATHER = """async (lines) => {
  const found = [];
  for (const { words, other, query, handed } of lines) {
    for (const [name, value] of Object.entries({ words, other, query, handed })) model.set(name, value);
    await null;
    const of = (all) => [...el.querySelectorAll(all)].map((n) => Number(n.dataset.value));
    const names = [...el.querySelectorAll(".pa-chances tbody th")].map((n) => n.textContent);
    found.push({ weights: of(".pa-two td[data-kind=weight]"), names, chances: of(".pa-chances td[data-kind=chance]"), next: el.querySelector(".pa-told").dataset.value });
  }
  return found;
}"""


def test_weights_and_probabilities_of_random_lines_are_those_of_attnlib(shown):
    page, widget, draw = shown(), LearnedLayers(), random.Random(0)

    def line():
        return draw.choices(widget.vocabulary, k=draw.randint(1, 13))

    lines = [
        {"words": line(), "other": line(), "query": -1, "handed": draw.random() < 0.5} for _ in range(60)
    ]
    for one in lines[::3]:  # the row of another word
        one["query"] = draw.randrange(len(one["words"]))
    for one, found in zip(lines, page.evaluate(GATHER, lines), strict=True):
        for name, value in one.items():
            setattr(widget, name, value)
        expected = widget.numbers()
        rows = expected["weights"][:, one["query"]].flatten()
        assert found["weights"] == pytest.approx(rows.tolist(), abs=CLOSE)
        places = [widget.vocabulary.index(name) for name in found["names"]]
        both = [expected["own"], expected["chances"]] if one["handed"] else [expected["own"]]
        wanted = torch.stack([p[places] for p in both], -1).flatten()
        assert found["chances"] == pytest.approx(wanted.tolist(), abs=CLOSE)
        assert found["next"] == widget.vocabulary[expected["chances"].argmax()]
        least = torch.stack(both).max(0).values
        assert sorted(least[places].tolist()) == sorted(least.topk(3).values.tolist())  # those with the most
    assert page.trouble == []


def test_a_line_is_typed_and_meaning_follows_by_itself(shown):
    page = shown()
    assert page.locator(".pa-told").inner_text() == "The next word: Goku 0.95."
    type_in(page, " goku throws the spirit bomb at FRIEZA, because he is evil, meaning. ")
    assert page.locator(".pa-told").get_attribute("data-value") == "Frieza"
    assert page.evaluate("model.get('words').length") == 11
    assert page.locator(".pa-two thead th").last.inner_text() == "meaning"
    assert page.locator(".pa-note").inner_text() == "Not in its training: Goku, spirit, bomb, Frieza, evil."
    type_in(page, "John kicks the ball")
    assert page.locator(".pa-note").inner_text() == "No line of its training had 4 words before meaning."
    page.locator(".pa-typed select").select_option("3")
    assert page.locator(".pa-told").get_attribute("data-value") == "Michael"
    assert page.locator(".pa-note").inner_text() == ""
    assert page.trouble == []


def test_an_unknown_word_is_named_with_what_can_be_typed(shown):
    page = shown()
    before = page.locator(".pa-told").inner_text()
    type_in(page, "Krillin throws the bal at Goku because he is tired")
    trouble = page.locator(".pa-trouble")
    assert "no vector for “Krillin”" in trouble.inner_text()
    assert "no vector for “bal”. Nearest words: " in trouble.inner_text()
    assert page.locator(".pa-told").inner_text() == before
    trouble.get_by_role("button", name="ball", exact=True).click()
    assert "“bal”" not in trouble.inner_text()
    page.get_by_role("button", name="88 words").click()
    assert page.locator(".pa-list button").all_inner_texts() == LearnedLayers().vocabulary


def test_the_row_of_another_word_is_shown_and_the_answer_stays(shown):
    page = shown()
    before = page.locator(".pa-told").inner_text()
    page.get_by_label("Attention weights of").select_option("6")
    assert page.evaluate("model.get('query')") == 6
    assert page.locator("td.pa-gone").count() == 2 * 5  # later words, in both layers
    assert page.locator(".pa-told").inner_text() == before


def first_button(page):
    return page.locator(".pa-there:not(.pa-ghost)")


def test_the_vector_is_dragged_and_only_a_drop_on_the_other_counts(shown):
    page = shown(exchange=True)
    rows = page.locator(ROWS).evaluate_all("all => all.map((n) => n.dataset.value)")
    there, here = first_button(page).bounding_box(), page.locator(".pa-here").bounding_box()
    middle = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (there, here)]
    page.mouse.move(*middle[0])
    page.mouse.down()
    page.mouse.move(middle[0][0] + 20, middle[0][1] - 60, steps=3)
    assert page.locator(".pa-ghost").count() == 1
    page.mouse.up()  # beside it
    assert page.locator(".pa-ghost").count() == 0
    assert page.evaluate("model.get('handed')") is False
    assert first_button(page).get_attribute("aria-pressed") != "true"
    page.mouse.move(*middle[0])
    page.mouse.down()
    page.mouse.move(*middle[1], steps=4)
    assert page.locator(".pa-over").count() == 1
    page.mouse.up()
    assert page.evaluate("model.get('handed')") is True
    assert "becomes Frieza 0.96; it was Goku." in page.locator(".pa-told").inner_text()
    assert page.locator(".pa-chances thead").inner_text().strip().split("\t") == [
        "next word", "before", "after the exchange",
    ]  # fmt: skip
    after = page.locator(ROWS).evaluate_all("all => all.map((n) => n.dataset.value)")
    assert after[:12] == rows[:12]  # the first layer is as it was
    assert after[12:] != rows[12:]
    page.get_by_role("button", name="Give meaning its own vector back").click()
    assert page.locator(".pa-told").inner_text() == "The next word: Goku 0.95."
    assert page.trouble == []


def test_it_is_exchanged_by_keyboard_too_and_escape_lets_go(shown):
    page = shown()
    assert page.locator(".pa-exchange").is_hidden()
    page.get_by_role("button", name="Exchange the vector of meaning").press("Enter")
    first_button(page).focus()
    page.keyboard.press("Enter")
    assert first_button(page).get_attribute("aria-pressed") == "true"
    assert page.locator(".pa-here").evaluate("n => n === document.activeElement")
    page.keyboard.press("Escape")
    assert first_button(page).get_attribute("aria-pressed") == "false"
    assert first_button(page).evaluate("n => n === document.activeElement")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("model.get('handed')") is True
    page.get_by_label("Take it from").select_option("1")  # the control
    assert "stays Goku 0.96." in page.locator(".pa-told").inner_text()
    assert page.trouble == []


def test_by_two_taps_too_and_the_second_alone_says_what_to_do(shown):
    page = shown(exchange=True, width=390)
    page.locator(".pa-here").click()
    assert page.locator(".pa-hint").inner_text() == "Pick up the upper vector first."
    first_button(page).click()
    assert page.locator(".pa-hint").inner_text().startswith("Picked up.")
    page.locator(".pa-here").click()
    assert page.evaluate("model.get('handed')") is True


def test_an_address_brings_its_state_and_an_impossible_one_is_mended(shown):
    page = shown(asked="words=John+kicks+the+ball&handed=1&query=9")
    assert page.evaluate("['handed', 'exchange', 'query'].map((n) => model.get(n))") == [True, True, -1]
    assert page.locator(".pa-sentence input").input_value() == "John kicks the ball"
    page = shown(asked="words=the+%3Cb%3E&other=" + "+".join(["the"] * 20))
    assert page.evaluate("model.get('words').length") == 11
    assert page.evaluate("model.get('other').length") == 13
    assert page.trouble == []


def test_reset_brings_the_first_state_back(shown):
    page = shown()
    first = page.locator(".pa-learned").evaluate(SHOWN)
    type_in(page, "John kicks the ball")
    page.evaluate("for (const [k, v] of Object.entries({ exchange: true, handed: true })) model.set(k, v)")
    page.get_by_role("button", name="Reset").click()
    assert page.locator(".pa-learned").evaluate(SHOWN) == first


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_all_fits_and_axe_finds_nothing(shown, theme):
    page = shown(PRESETS[-1], theme=theme, width=390, exchange=True, handed=True, other=OTHERS[1].split())
    root = page.locator(".pa-learned")
    assert root.evaluate(SMALL) == []
    assert root.bounding_box()["height"] <= 844
    assert root.evaluate("n => n.scrollWidth <= n.clientWidth")
    page.emulate_media(reduced_motion="reduce")
    found = Axe().run(page, {"include": [[".pa-learned"]]}, {"runOnly": TAGS, "resultTypes": ["violations"]})
    assert [(v["id"], v["nodes"][0]["html"]) for v in found.response["violations"]] == []


def test_without_a_kernel_from_the_disk_a_finger_drags_the_vector(alone):
    page = alone("book/putting_it_together", "file", **PHONE, reduced_motion="reduce")
    page.evaluate("location.hash = '#explore=learned&exchange=1'")
    page.wait_for_timeout(500)
    root = page.locator(".pa-learned")
    there, here = (root.locator(name).bounding_box() for name in (".pa-there", ".pa-here"))
    start, end = ((box["x"] + 60, box["y"] + box["height"] / 2) for box in (there, here))
    touch = page.context.new_cdp_session(page)

    def send(kind, *points):
        at = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    scrolled = page.evaluate("scrollY")
    send("touchStart", start)
    for share in (0.3, 0.7, 1):
        send("touchMove", (start[0], start[1] + share * (end[1] - start[1])))
    send("touchEnd")
    page.wait_for_timeout(100)
    assert "becomes Frieza" in root.locator(".pa-told").inner_text()
    assert page.evaluate("scrollY") == scrolled
    assert page.trouble == []
