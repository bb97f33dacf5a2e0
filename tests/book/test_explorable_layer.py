"""The whole layer, live: by keyboard, mouse and touch, with the numbers of attnlib, wherever it is shown."""

import math

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from attnlib.widgets import WholeLayer
from tests.book import ROOT
from tests.book.conftest import visits  # noqa: F401 (the browser's fixtures)
from tests.book.test_explorable_mount import dressed, host, mounted  # noqa: F401 (a fixture)
from tests.book.test_explorable_share import SHOWN, SMALL

STEPS = ["words", "Q K V", "scores", "mask", "softmax", "average", "output"]
SENTENCES = [
    "Goku throws the Spirit Bomb at Frieza because he is desperate",
    "Bulma gives the radar to Goku because it is broken",
    "the queen smiles because the king helps her",
    "he",
    "Videl opens a door and sees a big animal at the street",
]
COLOURS = (ROOT / "book/_static/colours.css").read_text("utf8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture
def shown(host):  # noqa: F811
    """Give a function that shows it with its style, at a width, light or dark."""

    def show(sentence=SENTENCES[0], *, width=1280, theme="light", asked=None, **state):
        widget = WholeLayer(sentence, **state)
        return dressed(mounted(host, widget, asked), widget, width, theme)

    return show


GATHER = """async () => {
  const found = {}, T = model.get("words").length;
  for (let step = 0; step < 7; step++) for (let head = 0; head < model.get("heads"); head++) for (let word = 0; word < (step === 5 ? T : 1); word++) {
    for (const [name, value] of Object.entries({ step, head, word })) model.set(name, value);
    await null;
    for (const cell of el.querySelectorAll(".pa-panel td[data-kind]")) (found[[step, head, word, cell.dataset.kind]] ??= []).push(cell.dataset.value);
  }
  return found;
}"""


def numbers(texts):
    return torch.tensor([float(x.replace("Infinity", "inf")) for x in texts], dtype=torch.float64)


def values(page, kind):
    """Return the exact numbers of one kind, in the order of the page."""
    cells = page.locator(f".pa-panel td[data-kind={kind}]")
    return numbers(cells.evaluate_all("all => all.map((n) => n.dataset.value)"))


def same(got, expected):
    torch.testing.assert_close(got, expected.flatten(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_number_is_that_of_attnlibs_layer(shown, sentence):
    page = shown(sentence)
    settings = [(True, 2), (False, 1)] if sentence == SENTENCES[0] else [(True, 1), (False, 2)]
    for causal, heads in settings:
        page.evaluate(
            "([causal, heads]) => { model.set('causal', causal); model.set('heads', heads); }",
            [causal, heads],
        )
        assert_numbers_are_attnlibs(page.evaluate(GATHER), WholeLayer(sentence, causal=causal, heads=heads))
    assert page.trouble == []


def assert_numbers_are_attnlibs(texts, widget):
    x, T, H, layer = widget.x(), len(widget.words), widget.heads, widget.layer()
    output, weights = layer(x[None], causal=widget.causal, need_weights=True)
    q, k, v = (p(x).view(T, H, -1).transpose(0, 1) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    scores, mixed = q @ k.mT / math.sqrt(10 // H), weights[0] @ v
    found = {key: numbers(list_of) for key, list_of in texts.items()}
    for h in range(H):
        same(found[f"0,{h},0,x"], x)
        for kind, table in (("query", q), ("key", k), ("value", v)):
            same(found[f"1,{h},0,{kind}"], table[h])
        same(found[f"2,{h},0,score"], scores[h])
        seen = found[f"3,{h},0,score"].isfinite()
        assert torch.equal(seen, weights[0, h].flatten() > 0)
        same(found[f"3,{h},0,score"][seen], scores[h].flatten()[seen])
        same(found[f"4,{h},0,weight"], weights[0, h])
        for word in range(T):
            same(found[f"5,{h},{word},weight"], weights[0, h, word])
            same(found[f"5,{h},{word},value"], v[h].T)
            same(found[f"5,{h},{word},output"], mixed[h, word])
        same(found[f"6,{h},0,output"], output[0])


def step_of(page):
    return page.locator(".pa-trail input").evaluate_all("all => all.findIndex((n) => n.checked)")


def test_each_step_says_in_one_sentence_what_happens_and_screen_readers_hear_it(shown):
    page = shown()
    told = []
    for step, name in enumerate(STEPS):
        page.evaluate(f"model.set('step', {step})")
        page.wait_for_timeout(450)
        said = page.locator(".pa-said").inner_text()
        assert said.endswith(".")
        assert len(said) < 140
        spoken = page.locator("[role=status]").text_content()
        assert spoken.startswith(f"Step {step + 1} of 7, {name}. {said}")
        told.append(said)
    assert told[2] == "The query of he, times each word’s key, gives its scores."
    assert told[3] == "he may not attend ahead: 2 later words are hidden."
    assert "gives most, 0.90, to Goku" in told[4]
    assert told[6].endswith("the output for he is most like Goku.")
    page.evaluate("model.set('heads', 1)")
    assert page.locator(".pa-said").inner_text().endswith("that for he is most like Frieza.")


def test_buttons_and_arrow_keys_step_and_the_ends_hold(shown):
    page = shown()
    back, forth = (page.get_by_role("button", name=name, exact=True) for name in ("Back", "Next"))
    assert back.is_disabled()
    forth.click()
    forth.click()
    assert step_of(page) == 2
    back.press("Enter")
    assert step_of(page) == 1
    panel = page.locator(".pa-panel")
    panel.focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert step_of(page) == 6
    assert forth.is_disabled()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert step_of(page) == 5
    assert page.evaluate("[model.get('step'), model.get('word')]") == [5, 7]
    page.locator(".pa-trail input:checked").focus()
    page.keyboard.press("ArrowLeft")
    assert step_of(page) == 4
    page.locator(".pa-strip input:checked").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("model.get('word')") == 8
    assert page.trouble == []


def test_play_goes_through_all_steps_stops_at_the_end_and_when_a_hand_steps(shown):
    page = shown()
    page.clock.install()
    play = page.locator(".pa-play")
    play.click()
    assert play.inner_text() == "Pause"
    page.clock.run_for(2 * 2600 + 100)
    assert step_of(page) == 2
    page.get_by_role("button", name="Back").click()
    assert play.inner_text() == "Play"
    page.clock.run_for(6000)
    assert step_of(page) == 1
    play.click()
    page.clock.run_for(30_000)
    assert step_of(page) == 6
    assert play.inner_text() == "Play"
    play.click()
    assert step_of(page) == 0
    play.click()
    page.clock.run_for(6000)
    assert step_of(page) == 0


def test_who_asks_for_less_motion_sees_the_steps_change_and_nothing_fly(shown):
    page = shown()
    for motion, flies in (("reduce", False), ("no-preference", True)):
        page.emulate_media(reduced_motion=motion)
        page.wait_for_function(f"matchMedia('(prefers-reduced-motion: {motion})').matches")
        page.wait_for_function("!document.getAnimations().length")  # those of its first showing are over
        page.get_by_role("button", name="Next").click()
        assert bool(page.evaluate("document.getAnimations().length")) is flies


def test_a_word_is_followed_through_every_panel(shown):
    page = shown()
    for step in range(7):
        page.evaluate(f"model.set('step', {step})")
        if step != 5:
            assert page.locator(".pa-followed > th").inner_text() == "he"
        if step in (2, 3, 4):
            column = page.locator("td.pa-column").evaluate_all("all => all.map((n) => n.dataset.key)")
            assert column == ["8"] * 11
        marks = page.locator(".pa-trail .pa-mark")
        assert marks.count() == step + 1 - (
            step >= 5
        )  # in each step so far, but for the average, which is all of it
    page.evaluate("model.set('step', 4)")
    page.locator("tr[data-word='10'] th").hover()  # pointing shows, and chooses nothing
    assert page.locator(".pa-followed > th").inner_text() == "desperate"
    assert "desperate gives most" in page.locator(".pa-said").inner_text()
    assert page.evaluate("model.get('word')") == 8
    page.locator(".pa-said").hover()
    assert page.locator(".pa-followed > th").inner_text() == "he"
    page.locator("tr[data-word='10'] th").click()
    assert page.evaluate("model.get('word')") == 10
    page.evaluate("model.set('step', 2)")
    page.locator("tr[data-word='8'] td[data-key='6']").hover()
    assert page.locator(".pa-lens").inner_text().startswith("he · Frieza: ")


def type_in(page, text):
    page.locator(".pa-sentence input").fill(text)
    page.keyboard.press("Enter")


def test_a_sentence_is_typed_in_any_case_and_with_its_full_stop(shown):
    page = shown()
    type_in(page, "  the QUEEN sees goku, and he smiles. ")
    assert page.evaluate("model.get('words')") == ["the", "queen", "sees", "Goku", "and", "he", "smiles"]
    assert page.evaluate("model.get('word')") == 5  # the word that asks
    assert page.locator(".pa-strip label").all_inner_texts() == page.evaluate("model.get('words')")
    assert page.locator(".pa-trouble").is_hidden()


def test_an_unknown_word_is_named_with_the_nearest_words_and_nothing_is_lost(shown):
    page = shown(step=4)
    before = values(page, "weight")
    type_in(page, "Gokuu sees Naruto")
    trouble, field = page.locator(".pa-trouble"), page.locator(".pa-sentence input")
    assert "no vector for “Gokuu”" in trouble.inner_text()
    assert "no vector for “Naruto”" in trouble.inner_text()
    assert "Nearest words: " in trouble.inner_text()
    assert "Nothing near it is here; take, say: " in trouble.inner_text()
    assert trouble.locator("button").all_inner_texts()[0] == "Goku"
    assert field.input_value() == "Gokuu sees Naruto"
    assert field.get_attribute("aria-invalid") == "true"
    same(values(page, "weight"), before)
    trouble.get_by_role("button", name="Goku", exact=True).first.press("Enter")
    assert field.input_value() == "Goku sees Naruto"
    trouble.get_by_role("button").first.click()
    assert trouble.is_hidden()
    assert field.get_attribute("aria-invalid") is None
    assert page.evaluate("model.get('words').slice(0, 2)") == ["Goku", "sees"]
    type_in(page, "the " * 13)
    assert "At most 12 words fit here; these are 13." in trouble.inner_text()
    type_in(page, "")
    assert "Type a word" in trouble.inner_text()
    assert len(page.evaluate("model.get('words')")) == 3
    page.get_by_role("button", name="Reset").click()
    assert field.input_value() == SENTENCES[0]
    assert trouble.is_hidden()
    assert page.trouble == []


def test_examples_and_the_list_of_words_write_sentences(shown):
    page = shown()
    page.locator(".pa-menu select").select_option("3")
    assert page.evaluate("model.get('words')[0]") == "Bulma"
    page.get_by_role("button", name="76 words").click()
    page.locator(".pa-list").get_by_role("button", name="and", exact=True).click()
    assert page.evaluate("model.get('words').at(-1)") == "and"
    assert page.locator(".pa-sentence input").input_value().endswith("broken and")


def test_one_head_or_two_and_the_mask_by_keyboard(shown):
    page = shown(step=4)
    page.locator(".pa-bar fieldset input").first.focus()
    for heads, head in ((2, 1), (1, 1), (2, 0)):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("[model.get('heads'), model.get('head')]") == [heads, head]
    assert page.locator("td.pa-gone").count() == 55
    page.get_by_role("switch").press("Space")
    assert page.locator("td.pa-gone").count() == 0
    assert page.evaluate("model.get('causal')") is False


ADDRESS = "words=the+queen+helps+him&word=3&step=4&causal=0&heads=1&head=1"


def test_an_address_brings_its_state_and_an_impossible_one_is_mended(shown):
    page = shown(asked=ADDRESS)
    assert page.evaluate("model.get('words')") == ["the", "queen", "helps", "him"]
    assert step_of(page) == 4
    assert page.locator(".pa-sentence input").input_value() == "the queen helps him"
    page = shown(asked="words=the+queen&word=11&step=99&heads=7&head=-1")
    assert page.evaluate("['word', 'step', 'heads', 'head'].map((n) => model.get(n))") == [1, 6, 2, 0]
    page = shown(asked="words=the+%3Cb%3E&word=x")
    assert page.evaluate("[model.get('words').length, model.get('word')]") == [11, 8]
    page = shown(asked="words=" + "+".join(["the"] * 14))
    assert page.evaluate("model.get('words').length") == 12
    assert page.trouble == []


def test_reset_brings_the_first_state_back(shown):
    page = shown()
    first = page.locator(".pa-layer").evaluate(SHOWN)
    type_in(page, "she helps the king")
    page.get_by_role("button", name="Next").press("Enter")
    page.get_by_role("switch").press("Space")
    page.get_by_role("button", name="Reset").press("Enter")  # a mouse would lie on a word, and follow it
    assert page.locator(".pa-layer").evaluate(SHOWN) == first


SIZES = """async () => {
  const found = [], root = el.querySelector(".pa-layer");
  for (let step = 0; step < 7; step++) for (let word = 0; word < model.get("words").length; word++) {
    model.set("step", step);
    model.set("word", word);
    await null;
    const wide = [root, root.querySelector(".pa-panel")].every((one) => one.scrollWidth <= one.clientWidth);
    found.push([step, word, root.getBoundingClientRect().height, wide]);
  }
  return found;
}"""


@pytest.mark.parametrize(("width", "heads"), [(1280, 2), (390, 1), (390, 2)])
def test_every_step_fits_with_targets_for_a_finger_and_holds_its_height(shown, width, heads):
    page = shown(width=width, heads=heads)
    page.emulate_media(reduced_motion="reduce")
    for sentence in (SENTENCES[0], SENTENCES[4]):
        type_in(page, sentence)
        sizes = page.evaluate(SIZES)
        assert [size for size in sizes if not size[3]] == []
        lowest = min(height for _, _, height, _ in sizes)
        jumps = [size for size in sizes if size[2] > lowest + 4]
        assert jumps == []  # what is pressed stays under the finger
        if width == 390:
            assert lowest <= 840
            assert page.locator(".pa-layer").evaluate(SMALL) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_step(shown, theme):
    page = shown(theme=theme, word=0)
    page.emulate_media(reduced_motion="reduce")  # colours do not glide
    for step in range(7):
        page.evaluate(f"model.set('step', {step})")
        rules = TAGS if theme == "light" else {"type": "rule", "values": ["color-contrast"]}  # else alike
        found = Axe().run(
            page, {"include": [[".pa-layer"]]}, {"runOnly": rules, "resultTypes": ["violations"]}
        )
        assert [(v["id"], v["nodes"][0]["html"]) for v in found.response["violations"]] == []


def test_it_has_the_five_colours_of_the_book(shown):
    for theme, weight in (("light", "#7d4e9e"), ("dark", "#c9a6e8")):
        page = shown(theme=theme)
        style = "n => getComputedStyle(n).getPropertyValue('--pa-weight').trim()"
        assert page.locator(".pa-layer").evaluate(style) == weight
        assert weight in COLOURS
