"""The plane on the page: by keyboard, mouse and touch, with the numbers of attnlib."""

import pytest
import torch

from attnlib.widgets import AttentionPlane
from tests.book.test_site import PHONE

WHERE = [
    ("book/index", "http"),
    ("book/03_queries_keys_values", "http"),
    ("book/03_queries_keys_values", "file"),
]
where = pytest.mark.parametrize(("name", "how"), WHERE)


def shown(page):
    """What the page shows: the state it is in, and the numbers it computed."""
    plane = page.locator(".pa-plane").first
    words = plane.locator(".pa-word")
    state = {
        "words": words.locator("text").all_text_contents(),
        "points": words.evaluate_all("nodes => nodes.map(n => [+n.dataset.x, +n.dataset.y])"),
        "query": words.evaluate_all("nodes => nodes.findIndex(n => n.classList.contains('pa-query'))"),
        "scaled": plane.locator("input[role=switch]").nth(0).is_checked(),
        "separate": plane.locator("input[role=switch]").nth(1).is_checked(),
        "turn": float(plane.locator("input[type=range]").input_value()),
    }
    values = "nodes => nodes.map(n => +n.dataset.value)"
    numbers = {
        kind: plane.locator(f"td[data-kind={kind}]").evaluate_all(values)
        for kind in ("score", "grown", "weight")
    }
    numbers["new"] = plane.locator(".pa-sum").evaluate("n => [+n.dataset.x, +n.dataset.y]")
    return state, numbers


def assert_numbers_are_attnlibs(page):
    state, numbers = shown(page)
    widget = AttentionPlane(**state)
    q, k, _ = widget.projections()
    scores = q @ k.T / (2**0.5 if state["scaled"] else 1)
    i = state["query"]
    expected = {
        "score": scores[i],
        "grown": scores[i].exp(),
        "weight": widget.weights()[i],
        "new": widget.output()[i],
    }
    for kind, value in expected.items():
        got = torch.tensor(numbers[kind], dtype=torch.float64)
        torch.testing.assert_close(got, value, rtol=1e-9 if kind == "grown" else 0, atol=1e-6)
    return state


@where
def test_keyboard_alone_moves_a_word_and_the_numbers_follow(visit, name, how):
    page = visit(name, how)
    plane = page.locator(".pa-plane").first
    before = assert_numbers_are_attnlibs(page)
    assert before["words"] == ["buy", "apple", "phone"]
    plane.locator(".pa-word").nth(2).focus()
    for key in ["ArrowDown"] * 7 + ["Shift+ArrowRight"] * 2 + ["ArrowLeft", "ArrowUp"]:
        page.keyboard.press(key)
    state = assert_numbers_are_attnlibs(page)
    assert state["points"][2] == pytest.approx([0.9, 3.4])
    page.keyboard.press("Enter")
    assert assert_numbers_are_attnlibs(page)["query"] == 2
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "phone, query"
    assert page.trouble == []


def test_every_switch_and_sentence_gives_attnlibs_numbers(visit):
    page = visit("book/index")
    plane = page.locator(".pa-plane").first
    switches = plane.locator("input[role=switch]")
    for sentence in range(3):
        plane.locator(".pa-sentences input").nth(sentence).focus()
        page.keyboard.press("Space")
        for word in range(3):
            plane.locator(".pa-queries input").nth(word).focus()
            page.keyboard.press("Space")
            for switch in (0, 1, 0, 1):
                switches.nth(switch).focus()
                page.keyboard.press("Space")
                state = assert_numbers_are_attnlibs(page)
                assert state["query"] == word
    assert page.trouble == []


def test_a_projection_of_its_own_makes_scores_one_sided(visit):
    page = visit("book/03_queries_keys_values")
    plane = page.locator(".pa-plane")
    assert (
        plane.locator(".pa-symmetry").inner_text() == "apple scores phone 8.00, and phone scores apple 8.00."
    )
    assert plane.locator(".pa-slider").is_hidden()
    plane.locator("input[role=switch]").nth(1).focus()
    page.keyboard.press("Space")
    plane.locator("input[type=range]").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    state = assert_numbers_are_attnlibs(page)
    assert state["turn"] == 90
    said = plane.locator(".pa-symmetry").inner_text()
    assert said == "apple scores phone 8.00, but phone scores apple \u22128.00."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_word_can_be_dragged(visit, scheme):
    page = visit("book/03_queries_keys_values", color_scheme=scheme)
    word = page.locator(".pa-plane .pa-word").nth(1)
    word.scroll_into_view_if_needed()
    start = word.locator("circle").nth(1).bounding_box()
    unit = page.locator(".pa-plane .pa-canvas").bounding_box()["width"] / 8
    x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + unit, y - unit, steps=5)
    page.mouse.up()
    state = assert_numbers_are_attnlibs(page)
    assert state["points"][1] == pytest.approx([3, 3], abs=0.06)
    assert state["query"] == 1


def test_a_click_that_trembles_chooses_and_moves_nothing(visit):
    page = visit("book/03_queries_keys_values")
    word = page.locator(".pa-plane .pa-word").nth(2)
    word.scroll_into_view_if_needed()
    box = word.locator("circle").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 2, y + 2)
    page.mouse.up()
    state = assert_numbers_are_attnlibs(page)
    assert (state["query"], state["points"][2]) == (2, [0, 4])
    page.locator(".pa-plane .pa-queries input").nth(1).press("Space")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 6, y)
    page.mouse.up()
    state = assert_numbers_are_attnlibs(page)
    assert state["query"] == 1
    assert state["points"][2][0] > 0.1


def test_the_axes_have_numbers_and_no_label_leaves_the_frame(visit):
    page = visit("book/03_queries_keys_values", reduced_motion="reduce")
    plane = page.locator(".pa-plane")
    names = plane.locator(".pa-axis-name").all_text_contents()
    assert {"\u22122", "2", "4"} <= set(names)
    plane.locator("input[role=switch]").nth(1).press("Space")
    for corner in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
        plane.locator(".pa-word").nth(1).focus()
        for _ in range(17):
            page.keyboard.press(f"Shift+{corner}")
        out = plane.locator(".pa-canvas").evaluate(
            """svg => { const frame = svg.getBoundingClientRect(); return [...svg.querySelectorAll("text")].filter((text) => {
            const box = text.getBoundingClientRect();
            return box.left < frame.left || box.right > frame.right || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
            }).map((text) => text.textContent); }"""
        )
        assert out == []


def test_a_finger_chooses_and_drags_a_word(visit):
    page = visit("book/03_queries_keys_values", **PHONE)
    word = page.locator(".pa-plane .pa-word").nth(0)
    word.scroll_into_view_if_needed()
    box = word.locator("circle").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.touchscreen.tap(x, y)
    assert assert_numbers_are_attnlibs(page)["query"] == 0
    session = page.context.new_cdp_session(page)
    scrolled = page.evaluate("scrollY")
    for kind, dx in (("touchStart", 0), ("touchMove", 20), ("touchMove", 60), ("touchEnd", None)):
        points = [] if dx is None else [{"x": x + dx, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(50)
    assert assert_numbers_are_attnlibs(page)["points"][0][0] > 2
    assert page.evaluate("scrollY") == scrolled


def test_what_changes_is_announced(visit):
    page = visit("book/03_queries_keys_values")
    page.locator(".pa-plane .pa-word").nth(2).focus()
    page.keyboard.press("ArrowDown")
    status = page.locator(".pa-plane [role=status]")
    page.wait_for_timeout(600)
    assert status.text_content().startswith("new apple = ")
