"""Arithmetic with words on the page: by keyboard, mouse and touch, with the numbers of attnlib."""

import torch

from attnlib.widgets import EQUATIONS, AnalogyMap
from tests.book.test_explorable_mount import host, mounted  # noqa: F401
from tests.book.test_site import PHONE

PAGE = "book/02_word_vectors"


def shown(page):
    """What the page shows: the state it is in, and the numbers it computed."""
    root = page.locator(".pa-analogy")
    state = {name: root.locator(f"input[data-name={name}]").input_value() for name in "abc"}
    state["exclude"] = root.locator("input[role=switch]").is_checked()
    rows = root.locator("tbody tr")
    answers = rows.evaluate_all(
        "rows => rows.map(r => [r.querySelector('th').textContent, +r.querySelector('td').dataset.value])"
    )
    places = root.locator(".pa-dot").evaluate_all(
        "dots => dots.map(d => [d.dataset.word, +d.dataset.x, +d.dataset.y])"
    )
    return state, answers, places


def assert_numbers_are_attnlibs(page):
    state, answers, places = shown(page)
    widget = AnalogyMap(**state)
    expected = widget.nearest(8)
    assert [word for word, _ in answers] == [word for word, _ in expected]
    got = torch.tensor([c for _, c in answers], dtype=torch.float64)
    torch.testing.assert_close(
        got, torch.tensor([c for _, c in expected], dtype=torch.float64), rtol=0, atol=1e-6
    )
    words = [word for word, *_ in places]
    assert {state["a"], state["b"], state["c"]} <= set(words)
    got = torch.tensor([[x, y] for _, x, y in places], dtype=torch.float64)
    torch.testing.assert_close(got, widget.positions(words), rtol=0, atol=1e-6)
    return state, [word for word, _ in answers]


def field(page, name):
    return page.locator(f".pa-analogy input[data-name={name}]")


def put(page, name, word):
    field(page, name).focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Backspace")
    page.keyboard.type(word)
    page.keyboard.press("Enter")


def test_every_preset_gives_attnlibs_numbers_with_and_without_the_inputs(visit):
    page = visit(PAGE)
    choices, switch = page.locator(".pa-presets input"), page.locator(".pa-analogy input[role=switch]")
    for i, words in enumerate(EQUATIONS):
        choices.nth(i).focus()
        page.keyboard.press("Space")
        for exclude in (False, True):
            switch.focus()
            page.keyboard.press("Space")
            state, _ = assert_numbers_are_attnlibs(page)
            assert state == {"a": words[0], "b": words[1], "c": words[2], "exclude": exclude}
    assert page.trouble == []


def test_keyboard_alone_asks_for_other_words(visit):
    page = visit(PAGE, "file")
    _, answers = assert_numbers_are_attnlibs(page)
    assert answers[0] == "queen"
    for name, word in zip("abc", ("Berlin", "germany", " france "), strict=True):
        put(page, name, word)
    state, answers = assert_numbers_are_attnlibs(page)
    assert (state["a"], state["c"]) == ("berlin", "france")
    assert answers[0] == "paris"
    assert page.evaluate("document.activeElement.dataset.name") == "c"
    assert page.trouble == []


def test_with_the_inputs_in_king_is_nearest_to_its_own_sum(visit):
    page = visit(PAGE)
    page.locator(".pa-analogy .pa-switch").click()
    _, answers = assert_numbers_are_attnlibs(page)
    assert answers[:2] == ["king", "queen"]


def test_an_unknown_word_is_answered_with_close_spellings_and_nothing_is_lost(visit):
    page = visit(PAGE)
    before = shown(page)[1]
    put(page, "a", "qeen")
    trouble = page.locator(".pa-analogy .pa-trouble")
    assert "no vector here for “qeen”" in trouble.inner_text()
    assert field(page, "a").input_value() == "qeen"
    assert field(page, "a").get_attribute("aria-invalid") == "true"
    assert shown(page)[1] == before
    put(page, "c", "girl")  # another field can be changed meanwhile
    assert field(page, "a").input_value() == "qeen"
    trouble.get_by_role("button", name="queen").press("Enter")
    assert trouble.is_hidden()
    assert field(page, "a").get_attribute("aria-invalid") is None
    state, _ = assert_numbers_are_attnlibs(page)
    assert state["a"] == "queen"
    put(page, "b", "")
    assert "Type a word" in trouble.inner_text()
    assert page.trouble == []


def test_a_word_that_resembles_none_gets_no_suggestion(visit):
    page = visit(PAGE)
    put(page, "b", "zzzzzzzzzzzzzzzzzzzz")
    trouble = page.locator(".pa-analogy .pa-trouble")
    assert "no vector" in trouble.inner_text()
    assert trouble.locator("button").count() == 0


def test_the_same_word_three_times_draws_a_point(visit):
    page = visit(PAGE)
    for name in "abc":
        put(page, name, "king")
    assert_numbers_are_attnlibs(page)
    assert page.trouble == []


def test_a_finger_chooses_a_preset_on_a_phone_and_nothing_scrolls_sideways(visit):
    page = visit(PAGE, **PHONE)
    page.locator(".pa-presets label").nth(1).scroll_into_view_if_needed()
    page.locator(".pa-presets label").nth(1).tap()
    _, answers = assert_numbers_are_attnlibs(page)
    assert answers[0] == "rome"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".pa-analogy .pa-canvas").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_labels_stay_on_the_map_and_apart(visit):
    page = visit(PAGE)
    for i in range(len(EQUATIONS)):
        page.locator(".pa-presets input").nth(i).focus()
        page.keyboard.press("Space")
        page.wait_for_timeout(500)  # the words are on their way
        frame = page.locator(".pa-analogy .pa-canvas").bounding_box()
        boxes = [label.bounding_box() for label in page.locator(".pa-analogy .pa-name").all()]
        for n, box in enumerate(boxes):
            assert box["x"] >= frame["x"] - 1
            assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
            for other in boxes[n + 1 :]:
                across = min(box["x"] + box["width"], other["x"] + other["width"]) - max(box["x"], other["x"])
                down = min(box["y"] + box["height"], other["y"] + other["height"]) - max(box["y"], other["y"])
                share = box["height"] / 23  # the drawing grows with its page; letters fill half of a box
                assert across <= 5 * share or down <= 10 * share


def test_what_changes_is_announced(visit):
    page = visit(PAGE)
    put(page, "a", "prince")
    page.wait_for_timeout(600)
    assert (
        page.locator(".pa-analogy [role=status]")
        .text_content()
        .startswith("Nearest to prince − man + woman: ")
    )


def test_ready_equations_answer_before_all_vectors_have_come_and_other_words_wait_for_theirs(host):  # noqa: F811
    whole = AnalogyMap()
    page = mounted(host, AnalogyMap(late_vectors=""), None)
    assert [word for word, _ in shown(page)[1]] == [word for word, _ in whole.nearest()]
    put(page, "a", "guitar")
    assert page.locator(".pa-trouble").inner_text().strip() == "The vector of “guitar” is still on its way."
    page.evaluate("(late) => model.set('late_vectors', late)", whole.late_vectors)
    page.wait_for_function("model.get('a') === 'guitar'")
    page.wait_for_timeout(100)
    assert page.locator(".pa-trouble").inner_text() == ""
    assert_numbers_are_attnlibs(page)
