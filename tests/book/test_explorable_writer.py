"""The model that writes, live: its numbers are attnlib's, its text is Python's, and nothing makes it hang."""

import base64
import re

import pytest
import torch
import torch.nn.functional as F
from axe_playwright_python.sync_playwright import Axe

from attnlib.experiments.bytepairs import BytePairs, learn_merges
from attnlib.experiments.manuals import read_manuals
from attnlib.experiments.writer import Writer as Model
from attnlib.experiments.writer import make_writer
from attnlib.widgets import Writer
from attnlib.widgets.writer import BEGINNINGS, LENGTH, START, chance, packed
from tests.book.test_explorable_layer import COLOURS, TAGS
from tests.book.test_explorable_mount import dressed, host, mounted  # noqa: F401 (a fixture)
from tests.book.test_explorable_share import SHOWN, SMALL, STATES
from tests.book.test_site import PHONE

PROMPTS = [
    *BEGINNINGS,
    "x",
    "def read(self, size=-1):\n    Read up to size bytes",
    "Größe, naïve, 日本 and 🙂",
    "   spaces   before, 3.14159 and 2026-11-16",
    "import torch\n\nThe tensor x has shape (2, 3, 5).",
    "If the list is empty, the list is empty, the list is empty, the list is empty, the list is empty,",
]
CLOSE = 1e-4


@pytest.fixture(scope="module")
def widget():
    """The explorable with the stored model."""
    return Writer()


def given(widget):
    """What Python or the page answers when the weights are asked for."""
    header, data = packed(widget.model, widget.tokens)
    return header, base64.b64encode(data).decode()


ANSWER = """([header, data]) => {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  model.answer = () => model.hear({ header }, [new DataView(bytes.buffer)]);
}"""


@pytest.fixture
def shown(host, widget):  # noqa: F811
    """Give a function that shows it with its style, at a width, light or dark; the weights come when asked for."""

    def show(*, width=1280, theme="light", asked=None, answers=True):
        page = dressed(mounted(host, widget, asked), widget, width, theme)
        page.emulate_media(reduced_motion="reduce")
        page.evaluate(ANSWER, given(widget))
        if answers:
            page.evaluate(
                "() => { model.send = (content) => { model.sent.push(content); setTimeout(model.answer); }; }"
            )
        return page

    return show


def written(page):
    """The tokens that the text shows, spelled as Python spells them."""
    return page.evaluate("[...el.querySelectorAll('.pa-text .pa-token')].map((n) => n.textContent)")


def at_rest(page):
    page.wait_for_function("document.querySelector('.pa-writer').dataset.writing === 'false'")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def spelled(widget, tokens):
    """Return tokens as the text shows them."""

    def one(token):
        letters = widget.tokens.spelled[token].decode("latin1")
        return re.sub(r"[^\n -~]", lambda byte: f"\\x{ord(byte[0]):02x}", letters).replace("\n", "\u21b5\n")

    return ["start", *(one(token) for token in tokens[1:])]


# Numbers

COMPUTE = """async ([source, header, data, text, used, causal]) => {
  const { bytePairs, decoder, unpacked } = await (globalThis.writerModule ??= import(URL.createObjectURL(new Blob([source], { type: "text/javascript" }))));
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  globalThis.writerModel ??= decoder(header.model, unpacked(header, new DataView(bytes.buffer)));
  const tokens = [12, ...bytePairs(header.merges).encode(text)];
  const { num_layers: L, num_heads: H } = header.model;
  const run = writerModel.begin({ used: Array.from({ length: L }, (_, l) => used.slice(l * H, (l + 1) * H)), causal });
  for (const part of [tokens.slice(0, 2), tokens.slice(2)]) for (const _ of run.read(part));    // the second part finds the first in the cache
  return [run.tokens, run.tokens.map((_, i) => [...run.logits(i)]), run.weights.map((layer) => layer.map((head) => head.map((row) => [...row])))];
}"""


def assert_same_numbers(page, widget, text, used, causal):
    widget.used, widget.causal = used, causal
    tokens, logits, weights = page.evaluate(COMPUTE, [widget._esm, *given(widget), text, used, causal])
    assert tokens == [START, *widget.tokens.encode(text)]
    expected, looks = widget.numbers(tokens)
    torch.testing.assert_close(torch.tensor(logits, dtype=torch.float64), expected, rtol=0, atol=CLOSE)
    T = len(tokens)
    assert {len(row) for row in weights[0][0]} == (set(range(1, T + 1)) if causal else {T})
    padded = [[[row + [0.0] * (T - len(row)) for row in head] for head in layer] for layer in weights]
    torch.testing.assert_close(torch.tensor(padded, dtype=torch.float64), looks, rtol=0, atol=CLOSE)
    widget.used, widget.causal = [True] * len(used), True


@pytest.fixture
def blank(chromium):
    """An empty page."""
    page = chromium.new_page()
    yield page
    page.close()


def test_logits_and_every_weight_are_attnlibs_for_ten_prompts(blank, widget):
    assert len(PROMPTS) == 10
    n = len(widget.used)
    for i, text in enumerate(PROMPTS):
        assert_same_numbers(blank, widget, text, [True] * n, True)
        assert_same_numbers(blank, widget, text, [(h * 7 + i) % 3 > 0 for h in range(n)], i % 2 == 0)
    assert_same_numbers(blank, widget, PROMPTS[0], [False] * n, False)


def test_a_model_of_other_sizes_has_attnlibs_numbers_too(blank):
    torch.manual_seed(3)
    tokens = BytePairs(learn_merges("the cat sat on the mat, the rat sat on that " * 9, 11))
    sizes = {
        "vocab_size": 267,
        "max_length": 41,
        "embed_dim": 30,
        "num_heads": 5,
        "num_layers": 2,
        "hidden_dim": 17,
    }
    model = make_writer(sizes)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_((2 * weight).half())
    small = Writer("the mat", writer=Model(model.eval(), tokens, {}), temperature=0.0)
    for used, causal in (([True] * 10, True), ([h % 2 == 0 for h in range(10)], False)):
        assert_same_numbers(blank, small, "that cat sat, ätt", used, causal)


def test_the_draw_is_pythons_and_spreads_evenly(blank, widget):
    pairs = [[seed, place] for seed in (1, 2, 999) for place in (1, 7, 255)]
    drawn = blank.evaluate(
        """async ([source, pairs]) => {
          const { chance } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
          return pairs.map(([seed, place]) => chance(seed, place));
        }""",
        [widget._esm, pairs],
    )
    assert drawn == [chance(*pair) for pair in pairs]
    many = torch.tensor([chance(seed, place) for seed in range(1, 41) for place in range(1, 257)])
    assert many.mean().item() == pytest.approx(0.5, abs=0.02)
    assert (torch.histc(many, 10, 0, 1) / len(many)).min() > 0.08


def test_without_the_mask_it_guesses_worse_what_it_sees(widget):
    """What the page says of the mask. The last token has nothing after it, and goes on nearly as before."""
    texts = [[START, *widget.tokens.encode(text)][:120] for text in read_manuals().held if len(text) > 900]
    losses = {}
    for widget.causal in (False, True):
        found = [(widget.numbers(tokens[:-1])[0], torch.tensor(tokens[1:])) for tokens in texts[:8]]
        losses[widget.causal] = [
            torch.stack([F.cross_entropy(logits[part], after[part]) for logits, after in found]).mean().item()
            for part in (slice(None), slice(-1, None))
        ]
    assert losses[False][0] > losses[True][0] + 0.7  # 1.5 measured
    assert abs(losses[False][1] - losses[True][1]) < 0.7


# The text


def test_the_first_text_is_there_without_weights_and_can_be_looked_at(shown, widget):
    page = shown()
    tokens = widget.write()
    assert len(tokens) <= 1 + len(widget.tokens.encode(widget.prompt)) + LENGTH
    assert written(page) == spelled(widget, tokens)
    logits, weights = widget.numbers(tokens)
    values = "[...el.querySelectorAll('.pa-text .pa-token')].map((n) => +n.dataset.value)"
    for layer, head, token in ((0, 0, len(tokens) - 1), (2, 3, 5), (3, 1, 1)):
        page.evaluate(
            "([layer, head, token]) => { for (const [name, value] of Object.entries({ layer, head, token })) model.set(name, value); }",
            [layer, head, token],
        )
        assert page.evaluate(values) == pytest.approx(weights[layer, head, token].tolist(), abs=CLOSE)
        following = (logits[token] / widget.temperature).softmax(-1).topk(6).values.tolist()
        shares = "[...el.querySelectorAll('[data-kind=next]')].map((n) => +n.dataset.value)"
        assert page.evaluate(shares) == pytest.approx(following, abs=CLOSE)
    assert page.evaluate("model.sent") == []
    assert page.trouble == []


def test_the_page_writes_what_python_writes_with_every_setting(shown, widget):
    page = shown()
    n = len(widget.used)
    first = {"prompt": BEGINNINGS[0], "temperature": 0.7, "seed": 1, "used": [True] * n, "causal": True}
    changes = [
        {"temperature": 0.0},
        {"temperature": 1.0, "seed": 5, "prompt": BEGINNINGS[1]},
        {"used": [h != 5 for h in range(n)]},
        {"causal": False, "prompt": BEGINNINGS[2]},
        {},
    ]
    press(page, "Start")
    for change in changes:
        page.evaluate("all => { for (const [k, v] of Object.entries(all)) model.set(k, v); }", first | change)
        page.evaluate("() => new Promise((go) => setTimeout(go))")
        at_rest(page)
        for name, value in (first | change).items():
            setattr(widget, name, value)
        tokens = widget.write()
        assert written(page) == spelled(widget, tokens), change
        weights = page.evaluate("[...el.querySelectorAll('.pa-text .pa-token')].map((n) => +n.dataset.value)")
        assert weights == pytest.approx(widget.numbers(tokens)[1][0, 0, -1].tolist(), abs=CLOSE)
    assert page.evaluate("model.sent") == [{"ask": "writer_weights"}]  # once is enough
    assert page.trouble == []


def test_one_token_and_more_go_on_where_the_text_ends(shown, widget):
    page = shown()
    first = widget.write()
    press(page, "One token")
    page.wait_for_function(f"el.querySelectorAll('.pa-text .pa-token').length === {len(first) + 1}")
    at_rest(page)
    press(page, "More")
    at_rest(page)
    expected = spelled(widget, widget.write(2 * LENGTH + 1))
    assert written(page) == expected
    assert page.trouble == []


def test_without_a_head_or_the_mask_the_text_is_another_and_the_page_says_why(shown, widget):
    page = shown()
    press(page, "Start")
    at_rest(page)
    before = written(page)
    page.get_by_role("switch", name="causal mask").press("Space")
    at_rest(page)
    assert written(page) != before
    assert "attend to later ones" in page.locator(".pa-note").inner_text()
    page.get_by_role("switch", name="causal mask").press("Space")
    at_rest(page)
    assert written(page) == before
    assert page.locator(".pa-note").inner_text() == ""
    page.get_by_role("switch", name="heads of layer 1 in use").press("Space")
    at_rest(page)
    assert written(page) != before
    assert page.evaluate("model.get('used')") == [h >= 4 for h in range(len(widget.used))]
    assert page.locator(".pa-thumb.pa-off").count() == 4
    assert "switched off" in page.locator(".pa-said").inner_text()


# By hand


def test_keyboard_alone_types_writes_chooses_and_switches_off(shown):
    page = shown()
    field = page.get_by_role("textbox", name="A beginning")
    field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("The function returns")
    page.keyboard.press("Enter")
    page.wait_for_function("model.sent.length === 1")
    at_rest(page)
    assert "".join(written(page)[1:]).startswith("The function returns")
    assert page.evaluate("model.get('prompt')") == "The function returns"
    text = page.locator(".pa-text")
    text.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert text.get_attribute("data-asks") == "2"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("model.get('token')") == 1
    page.locator(".pa-map input:checked").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[model.get('layer'), model.get('head')]") == [0, 1]
    assert page.locator(".pa-said").inner_text().startswith("Layer 1, head 2: ")
    page.get_by_role("switch", name="layer 1, head 2 in use").press("Space")
    at_rest(page)
    assert page.evaluate("model.get('used').indexOf(false)") == 1
    page.locator("input[type=range]").focus()
    page.keyboard.press("Home")
    at_rest(page)
    assert page.evaluate("model.get('temperature')") == 0
    assert page.get_by_role("button", name="Another").is_disabled()
    page.wait_for_timeout(600)
    assert "Written: " in page.locator("[role=status]").text_content()
    assert page.trouble == []


def test_pointing_shows_and_a_click_chooses(shown):
    page = shown()
    token = page.locator(".pa-text .pa-token").nth(4)
    token.hover()
    assert page.locator(".pa-text").get_attribute("data-asks") == "4"
    assert page.evaluate("model.get('token')") == -1
    page.locator(".pa-said").hover()
    assert page.locator(".pa-text").get_attribute("data-asks") != "4"
    token.click()
    assert page.evaluate("model.get('token')") == 4
    page.locator(".pa-map label").nth(6).click()
    assert page.evaluate("[model.get('layer'), model.get('head')]") == [1, 2]


def test_stop_stops_at_once_and_a_new_wish_replaces_the_old(shown):
    page = shown()
    press(page, "Start")
    page.wait_for_function(
        "el.querySelectorAll('.pa-text .pa-token').length > 3 && model.sent.length && el.querySelector('.pa-stop')"
    )
    press(page, "Stop")
    count = len(written(page))
    page.wait_for_timeout(400)
    assert len(written(page)) == count
    assert page.get_by_role("button", name="Write", exact=True).is_visible()
    page.evaluate("for (const seed of [2, 3, 4]) model.set('seed', seed)")
    page.evaluate("() => new Promise((go) => setTimeout(go))")
    at_rest(page)
    last = written(page)
    page.evaluate("model.set('seed', 9)")
    page.evaluate("model.set('seed', 4)")
    page.evaluate("() => new Promise((go) => setTimeout(go))")
    at_rest(page)
    assert written(page) == last


def test_the_page_answers_while_it_writes_without_a_mask(shown):
    """The dearest case: every token sends the whole text through the model again."""
    page = shown()
    page.evaluate("model.set('causal', false)")
    press(page, "Start")
    page.wait_for_function("el.querySelector('.pa-stop') && model.sent.length")
    gaps = page.evaluate(
        """async () => { const gaps = [], writes = () => el.querySelector('.pa-stop');
        for (let before = performance.now(); writes() && gaps.length < 15;) { await new Promise((go) => setTimeout(go, 10)); const now = performance.now(); gaps.push(now - before); before = now; }
        writes()?.click();
        return gaps; }"""
    )
    assert gaps, "it was written before the page could be asked"
    assert max(gaps) < 1000  # a slice is 30 ms; the rest is what a loaded machine takes
    page.wait_for_selector('.pa-writer[data-writing="false"]')


# Odd input


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Type a beginning"),
        ("   ", "Type a beginning"),
        ("x" * 1001, "A beginning has at most 1000 characters; this one has 1001."),
        ("?!" * 500, "The model has room for a beginning of 223 tokens; this one has "),
    ],
    ids=["empty", "blank", "characters", "tokens"],
)
def test_what_cannot_be_written_gets_a_sentence_and_stays_in_the_field(shown, typed, said):
    page = shown()
    before = written(page)
    field = page.get_by_role("textbox", name="A beginning")
    field.fill(typed)
    field.press("Enter")
    page.wait_for_function("el.querySelector('.pa-trouble').textContent")
    assert page.locator(".pa-trouble").inner_text().startswith(said)
    assert field.input_value() == typed
    assert field.get_attribute("aria-invalid") == "true"
    at_rest(page)
    assert written(page) == before
    press(page, "Reset")
    assert page.locator(".pa-trouble").inner_text() == ""
    assert field.input_value() == BEGINNINGS[0]
    assert page.trouble == []


def test_signs_it_has_never_read_are_named_and_come_as_bytes(shown):
    page = shown()
    field = page.get_by_role("textbox", name="A beginning")
    field.fill("Größe 🙂 <b>")
    field.press("Enter")
    page.wait_for_function("model.sent.length === 1")
    at_rest(page)
    assert "never read “ö”, “ß”, “🙂”" in page.locator(".pa-note").inner_text()
    assert "\\xc3" in "".join(written(page))
    assert page.locator(".pa-text b").count() == 0
    assert page.trouble == []


def test_weights_that_do_not_come_get_a_sentence_and_another_try(shown):
    page = shown(answers=False)
    press(page, "Start")
    assert "Fetching the model" in page.locator(".pa-note").inner_text()
    page.evaluate("model.hear({ missing: 'writer_weights' }, [])")
    page.wait_for_function("el.querySelector('.pa-trouble').textContent")
    assert "could not be fetched" in page.locator(".pa-trouble").inner_text()
    press(page, "Start")
    page.evaluate("model.answer()")
    page.wait_for_function("el.querySelector('.pa-stop')")
    at_rest(page)
    assert page.locator(".pa-trouble").inner_text() == ""
    assert page.trouble == []


def test_a_text_that_fills_all_places_ends_with_a_sentence(shown):
    page = shown()
    press(page, "Start")
    at_rest(page)
    for _ in range(12):
        if page.get_by_role("button", name="More").is_disabled():
            break
        press(page, "More")
        at_rest(page)
    assert page.get_by_role("button", name="More").is_disabled()
    said = page.locator(".pa-note").inner_text()
    assert said in (
        "Here the model ended its text.",
        "All 256 positions of the model are taken: it has no room to go on.",
    )
    assert page.trouble == []


def test_python_says_what_cannot_be_written(widget):
    widget.prompt = ""
    with pytest.raises(ValueError, match="the prompt must have at least one token, got none"):
        widget.write()
    widget.prompt = "?!" * 300
    with pytest.raises(ValueError, match=r"must fit 256 positions, got \d+ and 32; shorten the prompt"):
        widget.write()
    widget.prompt = BEGINNINGS[0]


# State and looks


def test_an_address_brings_its_state_and_asks_for_nothing_until_the_start(shown):
    page = shown(asked=STATES["writer"])
    assert page.get_by_role("textbox", name="A beginning").input_value() == "The attention"
    assert page.locator(".pa-note").inner_text() == "Press Start to write it this way."
    assert page.evaluate("model.sent") == []
    press(page, "Start")
    page.wait_for_function("model.sent.length === 1")
    at_rest(page)
    assert "".join(written(page)[1:]).startswith("The attention")
    page = shown(asked="prompt=" + "x" * 2000 + "&temperature=7&seed=0&used=1&token=999&layer=9&head=-3")
    state = "['prompt', 'temperature', 'seed', 'token', 'layer', 'head'].map((n) => model.get(n))"
    assert page.evaluate(state) == [BEGINNINGS[0], 1.5, 1, 255, 3, 0]
    assert page.trouble == []


def test_reset_brings_the_first_state_back(shown):
    page = shown()
    parts = ".pa-text, .pa-said, .pa-main"
    first = [part.evaluate(SHOWN) for part in page.locator(parts).all()]
    press(page, "Start")
    at_rest(page)
    press(page, "Another")
    page.get_by_role("switch", name="causal mask").press("Space")
    press(page, "Reset")
    page.evaluate("() => new Promise((go) => setTimeout(go))")
    assert [part.evaluate(SHOWN) for part in page.locator(parts).all()] == first


@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_holds_its_height_and_has_targets_for_a_finger(shown, width):
    page = shown(width=width)
    root, heights = page.locator(".pa-writer"), []
    heights.append(root.bounding_box()["height"])
    press(page, "Start")
    at_rest(page)
    heights.append(root.bounding_box()["height"])
    for change in ("token', 3", "layer', 2", "head', 1", "causal', false", "seed', 2"):
        page.evaluate(f"model.set('{change})")
        page.evaluate("() => new Promise((go) => setTimeout(go))")
        at_rest(page)
        heights.append(root.bounding_box()["height"])
        assert root.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert max(heights) - min(heights) <= 4, heights
    if width == 390:
        assert max(heights) <= 844
        assert root.evaluate(SMALL) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(shown, theme):
    page = shown(theme=theme)
    press(page, "Start")
    at_rest(page)
    page.evaluate("model.set('layer', 3)")
    found = Axe().run(page, {"include": [[".pa-writer"]]}, {"runOnly": TAGS, "resultTypes": ["violations"]})
    assert [(v["id"], v["nodes"][0]["html"]) for v in found.response["violations"]] == []
    colour = page.locator(".pa-writer").evaluate(
        "n => getComputedStyle(n).getPropertyValue('--pa-weight').trim()"
    )
    assert colour in COLOURS


def test_python_answers_with_the_weights_when_it_is_asked(widget, monkeypatch):
    sent = []
    monkeypatch.setattr(widget, "send", lambda content, buffers: sent.append((content, buffers)))
    widget._handle_custom_msg({"ask": "something else"}, [])
    assert sent == []
    widget._handle_custom_msg({"ask": "writer_weights"}, [])
    ((content, (data,)),) = sent
    assert len(data) == widget.sizes["bytes"] == 2 * sum(p.numel() for p in widget.model.parameters())
    assert content["header"]["model"]["vocab_size"] == len(widget.tokens)
    assert repr(widget) == f"Writer('{BEGINNINGS[0]}', temperature=0.7, seed=1)"


# On the built pages

PAGE = "book/index"


@pytest.mark.parametrize("how", ["http", "file"])
def test_a_page_fetches_the_weights_when_the_reader_starts_and_not_before(chromium, address, how):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})  # with the policy of the page
    page, asked, trouble = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(f"{address[how]}/{PAGE}.html")
    page.wait_for_selector("[data-widget-state=ready] .pa-writer")
    root = page.locator(".pa-writer")
    root.locator(".pa-text .pa-token").nth(3).click()
    root.locator(".pa-map label").nth(5).click()
    assert root.locator(".pa-said").inner_text().startswith("Layer 2, head 2: ")
    assert not [url for url in asked if "writer_weights" in url]
    first = root.locator(".pa-text .pa-token").all_text_contents()
    root.get_by_role("button", name="Start", exact=True).click()
    root.get_by_role("button", name="Write", exact=True).wait_for()
    assert root.locator(".pa-text .pa-token").all_text_contents() == first  # what Python wrote beforehand
    assert [url for url in asked if "writer_weights" in url] == [f"{address[how]}/_static/writer_weights.js"]
    assert all(url.startswith((address[how], "data:", "blob:")) for url in asked)
    assert trouble == []
    context.close()


def test_a_finger_starts_it_on_a_phone(alone, widget):
    page = alone(PAGE, "file", **PHONE)
    root = page.locator(".pa-writer")
    root.scroll_into_view_if_needed()
    root.locator(".pa-beginnings button").nth(1).tap()
    page.wait_for_function("document.querySelector('.pa-writer .pa-play').textContent === 'Write'")
    widget.prompt = BEGINNINGS[1]
    assert root.locator(".pa-text .pa-token").all_text_contents() == spelled(widget, widget.write())
    widget.prompt = BEGINNINGS[0]
    root.locator(".pa-text .pa-token").nth(4).tap()
    assert root.locator(".pa-text").get_attribute("data-asks") == "4"
    root.locator(".pa-map label").nth(9).tap()
    assert root.locator(".pa-said").inner_text().startswith("Layer 3, head 2: ")
    assert root.bounding_box()["height"] <= 844
    assert page.trouble == []


def test_a_beginning_that_was_typed_is_written_by_a_press_of_the_mouse_and_one_token_is_one(shown):
    page = shown()
    press(page, "Start")
    at_rest(page)
    field = page.get_by_role("textbox", name="A beginning")
    for words, name, added in (("Lemon trees", "Write", 8), ("Return the", "One token", 1)):
        field.click()
        page.keyboard.press("Control+A")
        page.keyboard.type(words)
        press(page, name)
        page.wait_for_function("(words) => model.get('prompt') === words", arg=words)
        page.wait_for_timeout(300)
        at_rest(page)
        given = page.locator(".pa-text .pa-given").count()
        assert "".join(written(page)[1:given]) == words
        assert len(written(page)) >= given + added if added > 1 else len(written(page)) == given + 1


def test_escape_stops(shown):
    page = shown()
    press(page, "Start")
    page.wait_for_function("model.sent.length && el.querySelectorAll('.pa-text .pa-token').length > 8")
    page.keyboard.press("Escape")
    assert page.evaluate("document.querySelector('.pa-writer').dataset.writing") == "false"
