"""What a page does: folds, guesses, notes and cards, on a book of a few cells; and how calmly the real one loads."""

import docutils.utils
import pytest
from axe_playwright_python.sync_playwright import Axe
from docutils import nodes

from paying_attention.light.formulas import Unbroken
from paying_attention.page.guess import GuessError, facts, make_card
from tests.book.conftest import visits

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture
def read(chromium, small):
    """Open the page with everything, from the disk."""
    with visits(chromium, {"file": small.as_uri()}) as open_page:

        def open_small(name="small", **options):
            page = open_page(name, "file", **options)
            page.set_default_timeout(30_000)
            return page

        yield open_small


@pytest.fixture(scope="module")
def still(chromium, small):
    """The page with everything, for tests that change nothing on it."""
    with visits(chromium, {"file": small.as_uri()}) as open_page:
        yield open_page("small", "file")


def violations(page):
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    options = {"runOnly": ALL_RULES, "resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, None, options).response["violations"]
    return [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found]


def left(locator):
    return locator.bounding_box()["x"]


# Formulas


def test_a_comma_stays_on_the_line_of_its_formula(still):
    whole = still.locator(".pa-unbroken:has(mjx-mstyle)")
    assert whole.locator(".math").count() == 1
    assert whole.evaluate("span => span.lastChild.data") == ","
    assert whole.evaluate("span => getComputedStyle(span).whiteSpace") == "nowrap"
    assert whole.evaluate("span => span.nextSibling.data").startswith(" too, is in colour.")


def test_a_comma_is_taken_from_behind_its_formula_and_not_from_an_equal_one_before():
    page, comma = docutils.utils.new_document("page"), ", "
    parts = nodes.literal("", "q"), nodes.Text(comma), nodes.math("", "Q"), nodes.Text(comma)
    page += nodes.paragraph("", "", *parts)
    Unbroken(page).run()
    assert page[0][1] == comma
    assert page[0][2].children[-1] == ","
    assert page[0][3] == " "


# Proofs


def test_a_figure_its_claims_and_all_their_code_are_one_block(still):
    block = still.locator(".pa-noted:has(.pa-proved)").first
    order = block.locator(".cell_output, .pa-claims, .pa-how").evaluate_all(
        "all => all.map(e => e.className)"
    )
    assert [names.split()[0] for names in order] == ["cell_output", "pa-claims", "pa-how"]
    assert block.locator(".pa-claims .pa-line").count() == 3
    assert block.locator("summary").inner_text() == "how it was measured"
    assert [c.strip() for c in block.locator("pre").all_text_contents()] == [
        "train()",
        "draw()",
        "measure()",
        "again()",
    ]


def test_folds_are_named_after_what_they_hide(still):
    names = still.locator("details.pa-how > summary").all_text_contents()
    measured = "how it was measured"
    assert names == [measured, "how it was drawn", "the code", measured, "set-up", measured]


def test_the_set_up_waits_behind_the_first_code_in_sight(still):
    setup = still.locator(".cell", has=still.locator("summary", has_text="set-up"))
    assert "in_sight()" in setup.evaluate("cell => cell.previousElementSibling.innerText")


def test_the_code_of_a_mere_figure_or_explorable_shows_with_all_code_alone(read):
    page = read()
    folds = [page.locator("summary", has_text=name) for name in ("how it was drawn", "the code")]
    assert not any(fold.is_visible() for fold in folds)
    assert page.locator("summary", has_text="how it was measured").first.is_visible()
    page.get_by_role("button", name="Show all code").click()
    assert all(fold.is_visible() for fold in folds)
    for said in ("draw_more()", "explore()"):
        assert page.locator("pre", has_text=said).is_visible()
    page.get_by_role("button", name="Fold the code").click()
    assert not any(fold.is_visible() for fold in folds)


def test_a_claim_shows_what_was_measured_and_its_sentence_with_its_code(read):
    page = read()
    claim, code = page.locator("#claim-1"), page.locator("summary", has_text="how it was measured").first
    assert claim.inner_text().split() == ["✓", "0.278"]
    code.click()
    assert claim.inner_text() == "✓ Claim 1. It folds measured: 0.278; required: under 0.4"
    assert claim.locator("a").get_attribute("href") == "#claim-1"
    assert page.locator("a:visible", has_text="Claim 1.").count() == 1
    code.click()
    assert not claim.locator("a").is_visible()


def test_a_claim_without_a_figure_and_one_that_a_link_leads_to_show_their_sentence(read):
    page = read()
    assert "So it is" in page.locator("#claim-2").inner_text()
    page.goto(page.url + "#claim-1")
    assert "It folds" in page.locator("#claim-1").inner_text()


def test_on_paper_a_claim_shows_its_sentence(read):
    page = read()
    page.emulate_media(media="print")
    assert "It folds" in page.locator("#claim-1").inner_text()


def test_a_cell_that_teaches_is_in_sight_and_its_claims_are_one_block(still):
    cell = still.locator(".cell", has_text="in_sight()").last
    assert cell.locator(".cell_input").is_visible()
    assert cell.locator(".pa-claims").count() == 1


def test_code_unfolds_and_the_switch_stays_across_pages(read):
    page = read()
    code = page.locator("details.pa-how pre", has_text="train()")
    assert not code.is_visible()
    page.locator("summary", has_text="how it was measured").first.click()
    assert code.is_visible()

    switch = page.get_by_role("button", name="Show all code")
    assert switch.get_attribute("aria-pressed") == "false"
    switch.focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("button", pressed=True).inner_text() == "Fold the code"
    assert page.locator("pre", has_text="import torch").is_visible()

    page.goto(page.url.replace("small.html", "other.html"))
    assert page.locator("pre", has_text="fold_me()").is_visible()
    page.get_by_role("button", name="Fold the code").click()
    assert not page.locator("pre", has_text="fold_me()").is_visible()
    page.reload()
    assert not page.locator("pre", has_text="fold_me()").is_visible()


def test_the_landing_page_offers_to_go_on_where_one_left_off_and_nothing_moves(read):
    page = read("index")
    below = page.locator("article p", has_text="Begin.")
    first, before = page.locator(".pa-then").inner_text(), below.bounding_box()
    page.goto(page.url.replace("index.html", "small.html"))
    page.locator("#a-guess").evaluate("section => section.scrollIntoView()")
    page.goto(page.url.replace("small.html", "index.html"))
    assert first == "Nothing to install."
    assert page.locator(".pa-then").inner_text() == "Go on with Small: A guess"
    assert below.bounding_box() == before
    page.locator(".pa-then a").click()
    assert page.url.endswith("/small.html#a-guess")
    assert page.trouble == []


def test_where_nothing_may_be_stored_the_page_works_all_the_same(read):
    page = read()
    refuse = "Object.defineProperty(window, '{}', {{ get() {{ throw new DOMException('no'); }} }});"
    page.context.add_init_script("".join(refuse.format(kind) for kind in ("localStorage", "sessionStorage")))
    page.reload()
    page.trouble.clear()  # the theme's own complaint
    page.get_by_role("button", name="Show all code").click()
    assert page.locator("pre", has_text="import torch").is_visible()
    page.locator("#guess-1").get_by_role("button", name="Skip").click()
    assert page.locator("#claim-4").is_visible()
    assert page.trouble == []


def test_reading_time_stands_under_the_title_and_where_another_page_asks_for_it(read):
    # a minute for words and code, one for each of the two figures; none for what is folded
    assert read().locator(".pa-time").inner_text() == "About 3 minutes to read"
    assert read("index").get_by_text("It takes 3 minutes.").is_visible()


# What leads away from the main road


def test_going_deeper_is_a_fold_with_its_title_in_sight_and_opens_by_keyboard(read):
    page = read()
    fold = page.locator("details.pa-deeper")
    title = fold.get_by_role("heading", name="Going deeper: Why a quarter?", level=3)
    assert title.is_visible()
    assert not page.locator("#claim-7").is_visible()
    assert fold.locator("> summary .pa-inside").inner_text() == "✓ 1 claim"
    fold.locator("> summary").focus()
    page.keyboard.press("Enter")
    page.locator("#claim-7").wait_for()
    assert page.locator("#claim-7").bounding_box()["x"] > title.bounding_box()["x"] + 400  # in the margin


@pytest.mark.parametrize("link", ["claim-7", "going-deeper-why-a-quarter"])
def test_a_link_into_the_fold_opens_it(read, link):
    page = read()
    page.evaluate("link => { location.hash = link; }", link)
    page.locator("#claim-7").wait_for()


# Guess cards


def test_a_guess_is_made_by_keyboard_alone(read):
    page = read()
    card = page.locator("#guess-1")
    assert not page.locator("#claim-4").is_visible()
    card.get_by_label("nearly everything").focus()
    page.keyboard.press("ArrowDown")
    assert card.get_by_role("radio", checked=True).evaluate("i => i.parentElement.innerText") == "about half"
    page.keyboard.press("Enter")
    said = card.get_by_role("status")
    assert said.inner_text() == "You said about half. Measured: about a quarter."
    assert said.evaluate("node => node === document.activeElement")
    assert page.locator("#claim-4").is_visible()
    assert page.get_by_text("A quarter is not much.").is_visible()

    page.reload()  # within a session it is not veiled again
    assert page.locator("#claim-4").is_visible()
    assert card.get_by_role("status").inner_text() == "You said about half. Measured: about a quarter."
    assert card.get_by_role("radio", checked=True, disabled=True).count() == 1


def test_commit_without_a_choice_asks_for_one_and_skip_shows_the_answer(read):
    page = read()
    card = page.locator("#guess-1")
    card.get_by_role("button", name="Commit").click()
    assert card.get_by_role("status").inner_text() == "Choose one, or skip."
    assert not page.locator("#claim-4").is_visible()
    told = card.get_by_text("Until then, what was found is hidden.")
    assert told.is_visible()
    card.get_by_role("button", name="Skip").click()
    assert not told.is_visible()
    assert card.get_by_role("status").inner_text() == "Measured: about a quarter."
    assert page.locator("#claim-4").is_visible()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("44", "You said 44 steps, and that is right."),
        ("36", "You said 36 steps, which is near. Answer: 44 steps."),
        ("400", "You said 400 steps. Answer: 44 steps."),
    ],
)
def test_a_number_is_right_near_or_not_and_nothing_was_measured_where_no_claim_stands(read, typed, said):
    page = read()
    card = page.locator("#guess-2")
    assert not card.get_by_text("forty-four").is_visible()
    card.get_by_role("spinbutton").fill(typed)
    page.keyboard.press("Enter")
    assert card.get_by_role("status").inner_text() == said
    assert card.get_by_text("forty-four").is_visible()


def test_a_link_into_a_veil_opens_it(read):
    page = read()
    page.goto(page.url + "#claim-4")
    assert page.locator("#claim-4").is_visible()
    page.wait_for_function("document.querySelector('#claim-4').getBoundingClientRect().top < innerHeight")


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ({"answer": "two", "choices": ["one", "three"]}, r"one of the choices \['one', 'three'\], got 'two'"),
        ({"answer": "two", "choices": []}, "must have a number as answer, got 'two'"),
        ({"choices": []}, "must have a number as answer, got None"),
    ],
)
def test_a_guess_without_its_right_answer_is_refused(guess, said):
    with pytest.raises(GuessError, match=said):
        facts(guess)


def test_a_guess_with_nothing_veiled_is_refused():
    card = nodes.container("", nodes.paragraph("", "How many?"), guess={"answer": 3, "choices": []})
    nodes.section("", card, nodes.paragraph("", "What follows is no answer."))
    with pytest.raises(GuessError, match="there must be an answer; tag the next cells"):
        make_card(card, 1)


# Margin notes


def test_on_a_wide_page_notes_stand_beside_their_paragraph(still):
    paragraph = still.get_by_text("Nine words stand").bounding_box()
    first, second = (note.bounding_box() for note in still.locator(".pa-note-text").all()[:2])
    assert first["x"] > paragraph["x"] + paragraph["width"]
    assert abs(first["y"] - paragraph["y"]) < 20
    assert second["y"] >= first["y"] + first["height"]
    assert first["x"] + first["width"] < 1280
    assert not still.locator(".pa-note summary").first.is_visible()
    width = still.get_by_text("Nine words stand").evaluate("p => p.clientWidth / 17")
    assert 37 < width < 39  # the text column, in rem


def test_on_a_wide_page_claims_stand_beside_what_they_prove_and_in_the_column_once_opened(read):
    page = read()
    block = page.locator(".pa-noted:has(.pa-proved)").first
    shown, proved = block.locator(".cell_output").first, block.locator(".pa-proved")
    figure, beside = shown.bounding_box(), proved.bounding_box()
    assert beside["x"] > figure["x"] + figure["width"]
    assert beside["x"] + beside["width"] < 1280
    assert figure["y"] - 20 < beside["y"] < figure["y"] + figure["height"]
    proved.locator("summary").click()
    figure, below = shown.bounding_box(), proved.bounding_box()
    assert abs(below["x"] - figure["x"]) < 2
    assert below["y"] >= figure["y"] + figure["height"]
    assert abs(below["width"] - figure["width"]) < 2
    assert proved.locator("summary").evaluate("s => s.getBoundingClientRect().bottom <= innerHeight")


def test_at_390_px_claims_follow_in_the_text(read):
    page = read(**PHONE)
    block = page.locator(".pa-noted:has(.pa-proved)").first
    shown, proved = (
        block.locator(".cell_output").first.bounding_box(),
        block.locator(".pa-proved").bounding_box(),
    )
    assert abs(proved["x"] - shown["x"]) < 2
    assert proved["y"] >= shown["y"] + shown["height"]


def test_at_390_px_a_note_is_a_fold_in_the_text(read):
    page = read(**PHONE)
    note = page.locator(".pa-note").first
    assert not note.get_by_text("Five seeds.").is_visible()
    note.locator("summary").tap()
    assert note.get_by_text("Five seeds.").is_visible()
    assert abs(left(note) - left(page.get_by_text("Nine words stand"))) < 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.trouble == []


@pytest.mark.parametrize("width", [1280, 1440, 1600])
def test_the_list_of_contents_can_be_reached_and_hides_no_note(read, width):
    page = read(viewport={"width": width, "height": 900})
    link = page.locator(".bd-sidebar-secondary a", has_text="Exercises")
    link.focus()
    assert link.is_visible()
    box = link.bounding_box()
    assert 0 < box["x"] < box["x"] + box["width"] < width
    if width == 1600:
        note = page.locator(".pa-note-text").first.bounding_box()
        assert note["x"] + note["width"] < left(page.locator(".bd-sidebar-secondary"))


# Cards


@pytest.mark.parametrize(
    ("name", "said"), [("Elman (1990)", "Finding Structure in Time"), ("softmax", "sum to")]
)
def test_a_card_shows_on_focus_and_leaves_on_escape(read, name, said):
    page = read()
    link = page.get_by_role("link", name=name, exact=True).first
    card = page.locator(".pa-card", has_text=said)
    assert not card.is_visible()
    link.focus()
    card.wait_for(state="visible")
    line, box = link.bounding_box(), card.bounding_box()
    assert box["y"] >= line["y"] + line["height"] - 2, "it must not cover the link"
    assert link.get_attribute("aria-describedby") == card.get_attribute("id")
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    link.blur()
    link.hover()
    card.wait_for(state="visible")


def test_links_of_cards_arrive(read):
    page = read()
    page.get_by_role("link", name="Elman (1990)").click()
    assert page.locator("li:target").inner_text().startswith("Elman (1990)")
    page.go_back()
    page.get_by_role("link", name="softmax", exact=True).click()
    page.locator(":target").wait_for(state="attached")


# Without script, and on paper


def test_without_script_everything_is_a_plain_fold(chromium, small):
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{small.as_uri()}/small.html")
    assert page.locator("#claim-1").is_visible()
    assert page.get_by_text("about half").is_visible()
    assert not page.locator("#claim-4").is_visible()
    page.locator(".pa-veil > summary").first.click()
    assert page.locator("#claim-4").is_visible()
    page.locator(".pa-deeper > summary").click()
    assert page.locator("#claim-7").is_visible()
    page.locator(".pa-how > summary", has_text="set-up").click()
    assert page.locator("pre", has_text="import torch").is_visible()
    for name in ("how it was drawn", "the code"):  # no switch could show them
        assert page.locator("summary", has_text=name).is_visible()
    assert page.get_by_text("Five seeds.").is_visible()
    assert page.get_by_role("button", name="Show all code").count() == 0
    context.close()


def test_on_paper_claims_answers_and_notes_show_and_code_stays_folded(read):
    page = read()
    page.locator("#claim-1").wait_for()
    page.locator("#guess-1 summary", has_text="how it was measured").evaluate(
        "s => s.parentElement.open = true"
    )
    page.emulate_media(media="print")
    for said in (
        "It folds",
        "A quarter it is",
        "It takes forty-four",
        "Five seeds.",
        "about half",
        "It goes deep",
    ):
        assert page.get_by_text(said).first.is_visible(), said
    assert page.locator("pre", has_text="answer()").is_visible()  # it was opened
    for said in ("train()", "import torch"):
        assert not page.locator("pre", has_text=said).is_visible()
    for button in ("Commit", "Skip", "Show all code"):
        assert page.get_by_role("button", name=button).count() == 0


# Formulas


def test_stored_settings_of_mathjax_do_no_harm_and_there_is_no_menu(read):
    page = read()
    stored = '{"renderer": "SVG", "assistiveMml": false, "explorer": true, "collapsible": true}'
    page.evaluate(f"localStorage.setItem('MathJax-Menu-Settings', '{stored}')")
    page.reload()
    page.wait_for_selector("section > p > .pa-unbroken:has(mjx-mstyle) mjx-container[jax=CHTML]")
    assert page.locator("mjx-container mjx-assistive-mml").count() > 0
    page.locator("mjx-container").last.click(button="right")
    assert page.locator(".CtxtMenu_Menu, .CtxtMenu_MenuFrame").count() == 0
    assert page.trouble == []


def test_colours_of_formulas_follow_the_theme(read):
    page = read(color_scheme="light")
    letters = page.locator("mjx-container mjx-mstyle")
    colours = "nodes => nodes.map(n => getComputedStyle(n).color)"
    assert letters.evaluate_all(colours) == ["rgb(29, 92, 150)", "rgb(163, 36, 94)"]
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert letters.evaluate_all(colours) == ["rgb(140, 192, 242)", "rgb(240, 143, 180)"]


def test_at_390_px_formulas_and_code_are_smaller_and_the_page_does_not_scroll_sideways(read):
    page = read(**PHONE)
    sizes = page.evaluate(
        "[document.querySelector('mjx-container[display=true]'), document.querySelector('.cell_input pre')]"
        ".map((n) => parseFloat(getComputedStyle(n).fontSize))"
    )
    text = page.locator("section > p").first.evaluate("p => parseFloat(getComputedStyle(p).fontSize)")
    assert sizes[0] <= 0.9 * text
    assert sizes[1] == pytest.approx(0.64 * 16, abs=0.1)
    formula = page.locator("mjx-container[display=true]")
    assert formula.evaluate("n => n.scrollWidth > n.clientWidth")  # too wide even so
    assert "gradient" in formula.evaluate("n => getComputedStyle(n).backgroundImage")  # and it says so
    assert formula.get_attribute("tabindex") == "0"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# Everyone, calmly


@pytest.mark.parametrize(("scheme", "options"), [("light", {}), ("dark", PHONE)], ids=["wide", "phone"])
def test_axe_finds_no_violation_before_a_guess_and_after(read, scheme, options):
    page = read(color_scheme=scheme, **options)
    assert violations(page) == []
    for card in page.locator(".pa-guess").all():
        card.get_by_role("button", name="Skip").click()
    page.locator(".pa-ref a").first.focus()
    page.wait_for_timeout(400)
    assert violations(page) == []


@pytest.mark.parametrize("name", ["index", "01_rnn_bottleneck", "03_queries_keys_values"])
def test_nothing_moves_while_a_page_loads(chromium, address, name):
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=True)
    context.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => list.getEntries().forEach((e) => { window.moved += e.value; }))"
        ".observe({ type: 'layout-shift', buffered: true });"
    )
    page = context.new_page()
    page.goto(f"{address['http']}/book/{name}.html", wait_until="load")
    page.wait_for_function("!document.querySelector('[data-widget-state=loading]')")
    page.evaluate("() => window.MathJax?.startup?.promise?.then(() => null)")
    page.wait_for_timeout(500)
    assert page.evaluate("window.moved") < 0.05
    context.close()
