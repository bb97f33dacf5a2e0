"""What every explorable gets from ``common.js``, in a browser: state, redrawing, speech and clean-up."""

import base64

import pytest
import torch

from attnlib import MultiHeadAttention, causal_mask, widgets
from attnlib.widgets import BugFinder, HeadViewer
from tests.book import ROOT

COMMON = (ROOT / "attnlib/widgets/static/common.js").read_text("utf8")
FONT = base64.b64encode(
    (ROOT / "book/_static/fonts/source-sans-3-latin-wght-normal.woff2").read_bytes()
).decode()
PAPER = ("--pst-color-surface", "--pst-color-text-base", "--pst-color-text-muted")
THEMES = {
    "light": ("#fdfcf9", "#f5f3ed", "#1f2730", "#55606c"),
    "dark": ("#15191e", "#1e242b", "#dfe4ea", "#a3adb8"),
}
COUNTER = """
let draws = 0;
globalThis.drawn = () => draws;
function build({ update }) {
  const node = button("more", () => update({ n: 3, m: 5 }));
  return { parts: [node], help: "Press it.", draw({ n, m }) { draws++; node.dataset.sum = String(n + m); return `${n} and ${m}`; } };
}
export default explorable({ name: "counter", label: "A counter", state: ["n", "m"], build });
"""
# a model as JupyterLab's: it announces each change, and counts who listens
HOST = """
async ([source, state, asked]) => {
  const listeners = new Map();
  const at = (event) => listeners.get(event) ?? listeners.set(event, new Set()).get(event);
  const model = {
    saved: 0, get: (name) => state[name], save_changes() { model.saved++; },
    set(name, value) { state[name] = value; for (const run of [...at(`change:${name}`)]) run(); },
    on: (event, run) => at(event).add(run), off: (event, run) => at(event).delete(run),
    sent: [], send: (content) => model.sent.push(content), hear: (...answer) => { for (const run of [...at("msg:custom")]) run(...answer); },
    listening: () => [...listeners.values()].reduce((n, all) => n + all.size, 0),
  };
  const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  document.body.replaceChildren();
  const el = document.body.appendChild(document.createElement("div"));
  const page = asked && { asked: (name, run) => run(Object.fromEntries(new URLSearchParams(asked))), changed() {} };
  const remove = module.default.render({ model, el, page });
  Object.assign(globalThis, { model, el, remove });
}
"""


def heads():
    torch.manual_seed(0)
    tables = (torch.nn.Embedding(n, 6) for n in (4, 8, 8))
    return HeadViewer.of(*tables, MultiHeadAttention(6, 2, bias=False), torch.nn.Linear(6, 24))


def bugs():
    right = {"name": "no bug", "wrong": "", "right": "scores.softmax(-1)"}
    wrong = right | {"name": "wrong axis", "wrong": "scores.softmax(2)"}
    return BugFinder(
        [
            right | {"verdicts": ["passes", "passes"], "moved": causal_mask(3)},
            wrong | {"verdicts": ["fails", "error"], "moved": causal_mask(3).roll(1, 1)},
        ],
        ["change one word", "alone or batched"],
    )


MADE = {"HeadViewer": heads, "BugFinder": bugs}  # those that show what they are given
EXPLORABLES = [
    name for name in widgets.__all__ if isinstance(getattr(widgets, name), type) and name != "Quiz"
]


@pytest.fixture
def host(chromium):
    """Give a function that shows a front end on an empty page, with a model that changes at once."""
    page = chromium.new_page()
    page.trouble = []
    page.on("pageerror", lambda error: page.trouble.append(str(error)))

    def show(source, state, asked=None):
        page.evaluate(HOST, [source, state, asked])
        return page

    yield show
    page.close()


def mounted(host, name, asked=None):
    """Show a widget, or a new one of a class; ``asked`` is what an address asks of it."""
    widget = MADE.get(name, getattr(widgets, name))() if isinstance(name, str) else name
    state = {key: value for key, value in widget.get_state().items() if not key.startswith("_")}
    del state["layout"]
    return host(widget._esm, state, asked)


def dressed(page, widget, width, theme):
    """Give what is shown its style, the font of the book and a theme, at a width."""
    page.set_viewport_size({"width": width, "height": 844})
    page.add_style_tag(content=widget._css)
    ground, *paper = THEMES[theme]
    face = (
        f"@font-face {{ font-family: Book; src: url(data:font/woff2;base64,{FONT}); font-weight: 200 900; }}"
    )
    rules = f"--pst-font-family-base: Book; font-size: {17 if width > 600 else 16}px;"
    rules += "".join(f"{name}: {colour};" for name, colour in zip(PAPER, paper, strict=True))
    page.add_style_tag(content=f"{face} :root {{ {rules} }} body {{ margin: 8px; background: {ground}; }}")
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'; document.documentElement.lang = 'en'")
    page.evaluate(
        "Promise.all(['400', '650'].map((w) => document.fonts.load(`${w} 17px Book`))).then(() => null)"
    )
    return page


def test_several_changes_are_saved_once_and_drawn_once(host):
    page = host(COMMON + COUNTER, {"n": 2, "m": 2})
    assert page.evaluate("drawn()") == 1
    page.get_by_role("button", name="more").click()
    assert page.get_by_role("button", name="more").get_attribute("data-sum") == "8"
    assert page.evaluate("[drawn(), model.saved]") == [2, 1]


def test_the_frame_has_a_name_the_parts_the_help_and_a_place_for_speech(host):
    page = host(COMMON + COUNTER, {"n": 2, "m": 2})
    frame = page.get_by_role("group", name="A counter")
    assert frame.get_attribute("class") == "pa-widget pa-counter"
    assert frame.evaluate("n => [...n.children].map(c => c.className)") == [
        "",
        "pa-help",
        "pa-foot",
        "pa-hidden",
    ]
    assert frame.locator(".pa-help").inner_text() == "Press it."


def test_only_the_last_of_quick_changes_is_said(host):
    page = host(COMMON + COUNTER, {"n": 2, "m": 2})
    page.evaluate(
        """() => { globalThis.said = []; const node = el.querySelector("[role=status]");
        new MutationObserver(() => said.push(node.textContent)).observe(node, { childList: true });
        for (const n of [3, 5, 7]) setTimeout(() => model.set("n", n), 20 * n); }"""
    )
    page.wait_for_timeout(700)
    assert page.evaluate("said") == ["7 and 2"]


@pytest.mark.parametrize("name", EXPLORABLES)
def test_an_explorable_taken_away_listens_and_speaks_no_more(host, name):
    page = mounted(host, name)
    assert page.evaluate("model.listening()") > 0
    said = page.evaluate(  # a change, and gone before it is drawn
        """() => { const node = el.querySelector("input[type=checkbox], input[type=radio]:not(:checked)");
        if (node) node.click(); else model.set("n", 16);
        remove(); return el.querySelector("[role=status]").textContent; }"""
    )
    page.wait_for_timeout(600)
    assert page.evaluate("model.listening()") == 0
    assert page.locator("[role=status]").text_content() == said
    assert page.trouble == []


@pytest.mark.parametrize("name", EXPLORABLES)
def test_a_change_from_python_is_drawn(host, name):
    page = mounted(host, name)
    before = page.evaluate("el.innerHTML")
    change = {
        "AnalogyMap": ("exclude", False),
        "AttentionPlane": ("scaled", True),
        "AverageLine": ("weight", 0.3),
        "BugFinder": ("bug", 1),
        "CostCalculator": ("network", True),
        "FixedState": ("n", 16),
        "GradientDecay": ("length", 7),
        "HeadViewer": ("token", 2),
        "LearnedLayers": ("handed", True),
        "LearningSteps": ("step", 60),
        "MaskPainter": ("layers", 3),
        "PositionClock": ("distance", 9),
        "ScalingLab": ("power", 5),
        "WholeLayer": ("step", 4),
        "TileStepper": ("step", 5),
        "Writer": ("head", 2),
    }[name]
    page.evaluate("([name, value]) => model.set(name, value)", list(change))
    assert page.evaluate("el.innerHTML") != before
    assert page.trouble == []
