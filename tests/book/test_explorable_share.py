"""What makes an explorable worth sending: reset, its state in the address, embedding, and the drawing made at build time."""

import re
from html import unescape
from urllib.parse import parse_qsl

import nbformat
import pytest

from attnlib.widgets import FixedState
from tests.book import ROOT
from tests.book.conftest import visits
from tests.book.test_explorable_mount import host, mounted  # noqa: F401 (a fixture)
from tests.book.test_site import PHONE

DECAY = "book/01_rnn_bottleneck"
WHERE = {
    "plane": "book/03_queries_keys_values",
    "decay": DECAY,
    "analogy": "book/02_word_vectors",
    "scaling": "book/04_sqrt_dk",
    "averages": "book/05_multi_head",
    "heads": "book/05_multi_head",
    "masks": "book/06_causal_masks",
    "cost": "book/07_complexity",
    "tiles": "book/07_complexity",
    "clock": "book/08_positions",
    "layer": "book/putting_it_together",
    "learned": "book/putting_it_together",
    "learning": "book/putting_it_together",
    "bugs": "book/common_mistakes",
    "writer": "book/index",
}
# each another state than the first, as an address spells it
STATES = {
    "plane": "words=buy%2Cgreen%2Capple&points=1_1__2_-0.5__3_2&query=2&scaled=1&separate=1&turn=90",
    "decay": "weight=1.2&length=33&squash=1",
    "analogy": "a=paris&b=france&c=italy&exclude=0",
    "scaling": "power=7&scaling=root&spread=1.5&draw=3",
    "averages": "weight=0.35&told=0",
    "heads": "letters=2_0_1_0_3_1_0_2&digits=5_1_7_4_0_2_6_1&token=7&head=1&used=1101",
    "masks": "mask=100000-110000-111000-111100-111110-111110&after=1&layers=2",
    "cost": "n=8192&d_model=4096&heads=32&kv_heads=8&layers=32&width=1&network=1&named=Llama+3+8B&gpu=24",
    "tiles": "step=3&size=3",
    "clock": "kind=sinusoid&place=20&distance=9&base=300&back=4&head=5",
    "layer": "words=the+queen+helps+him&word=3&step=4&causal=0&heads=1&head=1&whole=1",
    "learned": "words=then+Simon+points+the+rifle+at+George+because+he+is+guilty&other=Harry+aims+the+sword+at+William+because+he+is+worried&query=6&exchange=1&handed=1",
    "learning": "step=60&line=1",
    "bugs": "bug=4&run=1",
    "writer": "prompt=The+attention&temperature=0&seed=3&used=1111011111111111&causal=1&token=3&layer=1&head=0",
}
SMALL = """root => [...root.querySelectorAll("button, input, select, [role=slider]")].filter((node) => node.checkVisibility())
  .map((node) => [node, (node.closest("label") ?? node).getBoundingClientRect()])
  .filter(([, box]) => box.width < 43.9 || box.height < 43.9).map(([node]) => node.outerHTML.slice(0, 100))"""

GLIDES = (
    "root => getComputedStyle(root.querySelector('.pa-canvas path, .pa-share, .pa-cell')).transitionDuration"
)
# on a phone what is far away is not laid out, so the first way there is a guess: come nearer until there is something
APPROACH = (
    "name => { const root = document.querySelector(name); root.scrollIntoView(); return root.innerText; }"
)
SHOWN = """root => [...[...root.children].filter((node) => node.role !== "status").map((node) => node.innerText),
  ...[...root.querySelectorAll("[data-value]")].map((node) => node.dataset.value)]"""


@pytest.fixture(scope="module", params=WHERE)
def sent(request, chromium, address):
    """Each explorable on a phone, opened by a link that holds another state."""
    name = request.param
    with visits(chromium, address) as open_page:
        page = open_page(WHERE[name], reduced_motion="reduce", **PHONE)
        page.wait_for_function(APPROACH, arg=f".pa-{name}")
        first = page.locator(f".pa-{name}").evaluate(SHOWN)
        page.evaluate("hash => { location.hash = hash; }", f"explore={name}&{STATES[name]}")
        page.wait_for_timeout(350)
        yield name, page, page.locator(f".pa-{name}"), first


def test_a_link_brings_the_state_it_holds_and_writes_the_same_again(sent):
    name, page, root, _ = sent
    assert root.evaluate(
        "n => { const box = n.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; }"
    )
    assert page.evaluate("location.hash") == f"#explore={name}&{STATES[name]}"
    root.get_by_role("button", name="Embed").tap()
    snippet = root.locator("textarea").input_value()
    assert f"{WHERE[name]}.html?embed={name}#explore={name}&{STATES[name]}".replace("&", "&amp;") in snippet
    root.get_by_role("button", name="Embed").tap()
    assert root.locator("textarea").is_hidden()
    assert page.trouble == []


def test_on_a_phone_targets_are_44_px_and_the_whole_fits_its_screen(sent):
    _, page, root, _ = sent
    assert root.evaluate(SMALL) == []
    assert root.evaluate(GLIDES) in ("0s", "none")  # this reader asked for less motion
    assert root.bounding_box()["height"] <= 844
    assert root.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_reset_brings_the_first_state_back_and_clears_the_address(sent):
    _, page, root, first = sent
    root.get_by_role("button", name="Reset").tap()
    page.wait_for_timeout(500)
    assert page.evaluate("location.hash") == ""
    assert root.evaluate(SHOWN) == first


def test_what_is_changed_by_hand_is_written_a_moment_later(alone):
    page = alone(DECAY, "file")
    page.evaluate("location.hash = '#claim-3'")
    page.locator(".pa-decay input[type=range]").first.fill("1.2")
    assert page.evaluate("location.hash") == "#claim-3"
    page.wait_for_timeout(400)
    assert page.evaluate("location.hash") == "#explore=decay&weight=1.2&length=40&squash=0"
    page.reload(wait_until="load")
    page.wait_for_selector(".pa-decay .pa-curve")
    assert page.locator(".pa-decay input[type=range]").first.input_value() == "1.2"
    assert page.locator(".pa-decay").evaluate("n => n.getBoundingClientRect().top < innerHeight")
    assert "0.2s" in page.locator(".pa-decay").evaluate(GLIDES)
    assert page.trouble == []


TRYING = sorted(
    str(path.relative_to(ROOT).with_suffix(""))
    for path in (ROOT / "book").rglob("*.ipynb")
    if any("](#explore=" in c.source for c in nbformat.read(path, 4).cells if c.cell_type == "markdown")
)


@pytest.mark.parametrize("name", TRYING)
def test_what_a_sentence_says_to_try_is_a_state_that_its_explorable_takes(alone, name):
    page = alone(name, "file", reduced_motion="reduce")
    buttons = page.locator("button.pa-try").all()
    assert buttons
    for button in buttons:
        asked = dict(parse_qsl(button.get_attribute("data-state")))
        button.dispatch_event("click")
        page.wait_for_timeout(200)
        root = page.locator(f".pa-{asked['explore']}").first
        root.get_by_role("button", name="Embed").dispatch_event("click")
        snippet = unescape(root.locator(".pa-snippet").input_value())
        root.get_by_role("button", name="Embed").dispatch_event("click")
        taken = dict(parse_qsl(re.search(r'#([^"]+)"', snippet)[1]))
        assert asked.items() <= taken.items()
    assert page.trouble == []


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("weight=7&length=1000&squash=1", ["1.5", "100", True]),
        ("weight=x&length=2.5&squash=yes", ["0.9", "50", False]),
        ("weight=%3Cb%3E&other=1", ["0.9", "50", False]),
    ],
    ids=["clamped", "ignored", "no markup"],
)
def test_an_address_with_impossible_values_is_clamped_or_ignored(host, asked, read):  # noqa: F811
    page = mounted(host, "GradientDecay", asked)
    got = page.evaluate(
        "[...el.querySelectorAll('input')].map((n) => (n.type === 'range' ? n.value : n.checked))"
    )
    assert got == read
    assert page.trouble == []


def test_sizes_that_do_not_go_together_are_mended(host):  # noqa: F811
    page = mounted(host, "CostCalculator", "d_model=768&heads=25&kv_heads=48")
    assert page.evaluate("[model.get('heads'), model.get('kv_heads')]") == [24, 24]
    page = mounted(host, "TileStepper", "step=30&size=3")
    assert page.evaluate("[model.get('step'), model.get('size')]") == [4, 3]
    page = mounted(host, "AttentionPlane", "points=1_1__2_2&query=9")
    assert page.evaluate("[model.get('points').length, model.get('query')]") == [3, 2]


def test_the_link_is_copied(alone):
    page = alone(DECAY, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".pa-decay").get_by_role("button", name="Copy link").click()
    page.wait_for_timeout(100)
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith("/book/01_rnn_bottleneck.html#explore=decay&weight=0.8&length=40&squash=0")
    assert page.locator(".pa-decay").get_by_role("button", name="Copied").is_visible()


def test_a_page_that_is_asked_for_one_explorable_shows_it_alone(alone):
    page = alone(DECAY, viewport={"width": 800, "height": 400})
    page.goto(f"{page.url}?embed=decay#explore=decay&weight=0.5&length=9&squash=0", wait_until="load")
    page.wait_for_selector(".pa-credit")
    shown = page.evaluate("document.body.innerText")
    assert "is left after 9 steps" in shown
    assert page.locator("article h1").is_hidden()
    assert page.locator(".pa-credit a").get_attribute("href").endswith("/book/01_rnn_bottleneck.html")
    box = page.locator(".pa-decay").bounding_box()
    assert box["x"] < 20
    assert box["y"] < 20
    assert page.evaluate("document.documentElement.scrollHeight") <= box["height"] + 60
    page.locator(".pa-decay input[type=range]").first.fill("0.6")
    page.wait_for_timeout(400)
    assert page.url.endswith("?embed=decay#explore=decay&weight=0.6&length=9&squash=0")
    assert page.trouble == []


@pytest.mark.parametrize("name", ["plane", "cost"])
def test_without_a_script_the_first_state_is_there_and_nothing_to_press(chromium, address, name):
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{address['http']}/{WHERE[name]}.html")
    root = page.locator(f".pa-{name}")
    assert root.is_visible()
    for fold in root.locator("details > summary:visible").all():  # a fold needs no script
        fold.click()
    assert root.locator("svg.pa-canvas").last.bounding_box()["height"] > 200
    assert root.locator("table").bounding_box()["height"] > 100
    assert (
        root.locator(
            "input[type=range]:visible, .pa-foot:visible, .pa-bar input[role=switch]:visible"
        ).count()
        == 0
    )
    assert root.locator("button:not(:disabled), input:not(:disabled), [tabindex]").count() == 0
    context.close()


def test_on_paper_it_says_which_values_it_shows_and_offers_no_button(alone):
    page = alone(DECAY)
    page.emulate_media(media="print")
    root = page.locator(".pa-decay")
    assert root.locator(".pa-curve").is_visible()
    assert "recurrent weight" in root.inner_text()
    assert "0.80" in root.inner_text()
    assert root.locator("input:visible, button:visible").count() == 0


@pytest.mark.parametrize("name", ["plane", "heads", "analogy"])
def test_what_was_drawn_at_build_time_has_the_size_of_what_takes_its_place(chromium, address, name):
    page, held = chromium.new_page(), []
    page.route("**/hydrate-widgets.js*", lambda route: held.append(route))
    page.goto(f"{address['http']}/{WHERE[name]}.html", wait_until="commit")
    page.wait_for_selector(f".static-widget[data-widget-state=drawn] .pa-{name}")
    page.evaluate("document.fonts.ready.then(() => null)")
    before = page.locator(f".pa-{name}").bounding_box()
    held[0].continue_()
    page.wait_for_selector(f".static-widget[data-widget-state=ready] .pa-{name}")
    after = page.locator(f".pa-{name}").bounding_box()
    assert after["height"] == pytest.approx(before["height"], abs=1)
    assert after["width"] == before["width"]
    assert page.locator(f".pa-{name}").count() == 1
    page.close()


MEASURED = [
    {"d": 4, "n": n, "noise": 0.3, "lost": lost, "kind": "GRU"}
    for n, lost in ((4, 0.24), (8, 0.6), (16, 0.79))
] + [{"d": 1, "n": 8, "noise": 0.3, "lost": 0.09, "kind": "attention"}]


def test_what_a_fixed_state_loses_is_pythons_number_wherever_it_is_moved(host):  # noqa: F811
    page = mounted(host, FixedState(measured=MEASURED))
    d, n, noise = page.locator("input[type=range]").all()
    for keep, read, blur in (
        ("4", "5", "0.3"),
        ("1", "11", "1"),
        ("16", "0", "0"),
        ("9", "7", "0.05"),
        ("4", "5", "0.3"),
    ):
        d.fill(keep)
        n.fill(read)
        noise.fill(blur)
        now = page.evaluate("({ d: model.get('d'), n: model.get('n'), noise: model.get('noise') })")
        expected = FixedState(measured=MEASURED, **now).numbers()
        shown = page.evaluate(
            "Object.fromEntries([...el.querySelectorAll('li')].map((n) => [n.dataset.kind, +n.dataset.value]))"
        )
        assert shown["attention"] == pytest.approx(expected["attention"], abs=1e-9)
        if now["noise"]:
            assert shown["bound"] == pytest.approx(expected["bound"], abs=1e-9)
        else:
            assert shown["linear"] == pytest.approx(expected["linear"], abs=1e-9)
        assert page.locator("li[data-kind=linear]").is_visible() is (not now["noise"])
    assert now == {"d": 4, "n": 8, "noise": 0.3}
    assert shown["network"] == 0.6
    assert page.locator(".pa-spot").count() == 4
    d.fill("5")  # nothing was measured there, and nothing is drawn as if it were
    assert page.locator(".pa-spot.pa-network").count() == 0
    assert "No network was trained" in page.locator("li[data-kind=network]").inner_text()
    page.locator("input[type=radio]").first.check()
    assert page.locator(".pa-spot.pa-network").count() == 3
    box = page.locator("svg").bounding_box()
    page.mouse.click(box["x"] + 0.97 * box["width"], box["y"] + 40)
    assert page.evaluate("model.get('n')") == 64
    assert page.trouble == []


TRIALS = [
    {"d": d, "n": n, "noise": noise, "lost": min(1, 0.1 + max(0, 1 - d / n)), "kind": kind}
    for noise in (0.0, 0.1, 0.3, 1.0)
    for d in (1, 2, 4, 8)
    for n in (1, 2, 4, 8, 16, 32)
    for kind in ("GRU", *(("GRU, 7 times the training", "free encoder") if (d, noise) == (4, 0.3) else ()))
] + [{"d": 1, "n": 8, "noise": noise, "lost": 0.8 * noise, "kind": "attention"} for noise in (0.1, 0.3, 1.0)]


def fixed_state(host, **state):  # noqa: F811
    """Mount it with its style."""
    widget = FixedState(measured=TRIALS, **state)
    page = mounted(host, widget)
    page.add_style_tag(content=widget._css)
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_names_in_the_picture_overlap_nowhere_and_stay_inside_the_frame(host, width):  # noqa: F811
    page = fixed_state(host)
    page.set_viewport_size({"width": width, "height": 900})
    for d in (1, 2, 4, 8, 16):
        for noise in (0.0, 0.1, 0.3, 1.0):
            page.evaluate("([d, noise]) => { model.set('d', d); model.set('noise', noise); }", [d, noise])
            names = page.evaluate(
                "[...el.querySelectorAll('.pa-name')].filter((n) => n.textContent).map((n) => [n.textContent, n.getBBox()])"
                ".map(([name, b]) => [name, b.x, b.y, b.x + b.width, b.y + b.height])"
            )
            for i, (name, x0, y0, x1, y1) in enumerate(names):
                assert x0 >= 46, (d, noise, name)
                assert x1 <= 545, (d, noise, name)
                assert y0 >= 30 - 4, (d, noise, name)  # the box of a font is taller than its letters
                assert y1 <= 256 + 4, (d, noise, name)
                for other, u0, v0, u1, v1 in names[:i]:
                    apart = x1 <= u0 or u1 <= x0 or y1 <= v0 + 5 or v1 <= y0 + 5
                    assert apart, (d, noise, name, other)
            assert [name for name, *_ in names if name == "attention"] == ["attention"]
            assert ("answered linearly" in [name for name, *_ in names]) is (not noise)


def test_every_kind_has_its_mark_and_its_name_once(host):  # noqa: F811
    page = fixed_state(host, d=4, n=8, noise=0.3)
    kinds = ["GRU", "GRU, 7 times the training", "free encoder"]
    shown = page.evaluate("[...el.querySelectorAll('.pa-name')].map((n) => n.textContent)")
    assert [shown.count(kind) for kind in kinds] == [1, 1, 1]
    said = page.locator("li[data-kind^=network]").all_inner_texts()
    assert [text.split(":")[0] for text in said] == kinds
    shapes = {
        page.locator(f".pa-network-{i}[data-n='8']").get_attribute("d").lstrip("M0123456789. -")
        for i in (1, 2, 3)
    }
    assert len(shapes) == 3
    page.evaluate("model.set('d', 2)")
    assert page.locator("li[data-kind^=network]:visible").all_inner_texts() == ["GRU: error 0.85 in one run."]


@pytest.mark.parametrize(
    ("theme", "gru", "attention"),
    [
        ("light", "rgb(0, 137, 160)", "rgb(184, 50, 50)"),
        ("dark", "rgb(53, 176, 200)", "rgb(255, 123, 114)"),
    ],
)
def test_networks_and_attention_have_the_colours_of_the_figures(host, theme, gru, attention):  # noqa: F811
    page = fixed_state(host)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    fill = "n => getComputedStyle(n).fill"
    assert page.locator(".pa-network-1").first.evaluate(fill) == gru
    assert page.locator(".pa-flat").first.evaluate(fill) == attention


def test_few_settings_are_offered_at_a_time_in_one_row(host):  # noqa: F811
    page = fixed_state(host)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for noise, said in ((0.0, "Measured without noise"), (0.35, "Measured at noise 0.3")):
            page.evaluate(f"model.set('noise', {noise})")
            chips = page.locator(".pa-choice label:visible")
            assert chips.all_inner_texts() == ["d = 1", "d = 2", "d = 4", "d = 8"]
            assert len({chip.bounding_box()["y"] for chip in chips.all()}) == 1
            assert page.locator(".pa-choice legend").inner_text() == said
