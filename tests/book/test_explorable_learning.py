"""Training, step by step: by slider and keyboard, with the numbers that are stored."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from attnlib.widgets import LearningSteps
from tests.book.test_explorable_layer import TAGS
from tests.book.test_explorable_mount import dressed, host, mounted  # noqa: F401 (a fixture)
from tests.book.test_explorable_share import SMALL


@pytest.fixture
def shown(host):  # noqa: F811
    """Give a function that shows it with its style, at a width, light or dark."""

    def show(*, width=1280, theme="light", asked=None, **state):
        widget = LearningSteps(**state)
        return dressed(mounted(host, widget, asked), widget, width, theme)

    return show


GATHER = """async () => {
  const found = [];
  for (const line of [0, 1]) for (const step of model.get("steps")) {
    for (const [name, value] of Object.entries({ step, line })) model.set(name, value);
    await null;
    const of = (all) => [...el.querySelectorAll(all)].map((n) => Number(n.dataset.value));
    found.push([of(".pa-told")[0], of(".pa-two td[data-kind]"), of(".pa-chances td"), el.querySelector("circle").cy.baseVal.value]);
  }
  return found;
}"""


def test_every_step_shows_what_is_stored(shown):
    page = shown()
    states = [(line, step) for line in (0, 1) for step in LearningSteps().steps]
    heights = set()
    for (line, step), (loss, rows, chances, height) in zip(states, page.evaluate(GATHER), strict=True):
        kept = LearningSteps(step=step, line=line).numbers()
        assert loss == kept["loss"].item()
        assert rows == kept["rows"].flatten().tolist()
        assert chances == kept["chances"].tolist()
        heights.add((loss, height))
    falls = sorted(heights)
    assert [y for _, y in falls] == sorted((y for _, y in falls), reverse=True)  # the less loss, the lower
    assert page.trouble == []


def test_the_slider_and_the_reason_by_keyboard(shown):
    page = shown()
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("model.get('step')") == 22
    page.keyboard.press("End")
    assert page.evaluate("model.get('step')") == 150
    assert slider.get_attribute("aria-valuetext") == "150"
    assert "the second gives Michael 1.00 and David 0.00." in page.locator(".pa-told").inner_text()
    page.locator(".pa-choice input:checked").focus()
    page.keyboard.press("ArrowRight")
    assert "the second gives Michael 0.00 and David 1.00." in page.locator(".pa-told").inner_text()
    assert page.locator("svg[role=img]").get_attribute("aria-label").endswith("after 150 it is 0.03.")
    page.wait_for_timeout(450)
    assert page.locator("[role=status]").text_content() == page.locator(".pa-told").inner_text()
    assert page.trouble == []


def test_an_address_takes_the_nearest_step_that_is_stored(shown):
    page = shown(asked="step=61&line=9")
    assert page.evaluate("model.get('line')") == 1
    assert page.get_by_role("slider").get_attribute("aria-valuetext") in ("60", "62")
    assert page.trouble == []


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (390, "dark"), (1280, "light")])
def test_it_fits_holds_its_height_and_axe_finds_nothing(shown, width, theme):
    page = shown(width=width, theme=theme)
    root = page.locator(".pa-learning")
    heights = set()
    for step in (0, 20, 150):
        page.evaluate(f"model.set('step', {step})")
        heights.add(root.bounding_box()["height"])
        assert root.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert len(heights) == 1
    if width == 390:
        assert root.evaluate(SMALL) == []
        assert heights.pop() <= 844
    page.emulate_media(reduced_motion="reduce")
    found = Axe().run(page, {"include": [[".pa-learning"]]}, {"runOnly": TAGS, "resultTypes": ["violations"]})
    assert [(v["id"], v["nodes"][0]["html"]) for v in found.response["violations"]] == []
