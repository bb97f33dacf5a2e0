"""What a page does: folds, guesses, notes and cards, on a book of a few cells; and how calmly the real one loads."""

from html import escape

import docutils.utils
import pytest
from axe_playwright_python.sync_playwright import Axe
from docutils import nodes

from paying_attention.light.formulas import Unbroken
from paying_attention.page.claim_cards import ClaimCardError, Near, pointed_at, sentences, split
from paying_attention.page.explorables import STATE, TryError, check_tries, script
from paying_attention.page.guess import GuessError, facts, make_card, replies
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


def test_a_figure_and_all_the_code_of_its_claims_are_one_block(still):
    block = still.locator(".cell:has(#code-of-claim-1)")
    order = block.locator(".cell_output, .pa-how").evaluate_all("all => all.map(e => e.className)")
    assert order == ["cell_output docutils container", "pa-how"]
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
    assert "in_sight()" in setup.evaluate("cell => cell.previousElementSibling.textContent")


def test_a_cell_that_teaches_is_in_sight_and_its_claims_are_not(still):
    cell = still.locator("#code-of-claim-5")
    assert cell.locator("pre").is_visible()
    assert "It was taught" not in cell.inner_text()


# The switch


def test_no_fold_is_in_sight_until_all_code_is_asked_for(read):
    page = read()
    folds = page.locator("details.pa-how")
    assert folds.count() == 6
    assert not any(fold.is_visible() for fold in folds.all())
    switch = page.get_by_role("button", name="Show all code", pressed=False)
    switch.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show all code", pressed=True).wait_for()
    page.locator("#guess-1").get_by_role("button", name="Skip").click()
    page.locator("details.pa-deeper > summary").click()
    assert all(fold.is_visible() for fold in folds.all())
    for said in ("train()", "import torch", "draw_more()", "explore()", "answer()", "deeper()"):
        assert page.locator("pre", has_text=said).first.is_visible()
    switch = page.get_by_role("button", name="Show all code")
    switch.focus()
    page.keyboard.press("Space")
    assert not any(fold.is_visible() for fold in folds.all())


def test_the_switch_holds_for_its_page_until_that_is_left(read):
    page = read()
    page.get_by_role("button", name="Show all code").click()
    assert page.locator("pre", has_text="import torch").is_visible()
    page.goto(page.url.replace("small.html", "other.html"))
    assert not page.locator("pre", has_text="fold_me()").is_visible()
    page.goto(page.url.replace("other.html", "small.html"))
    assert not page.locator("pre", has_text="import torch").is_visible()
    assert page.get_by_role("button", name="Show all code", pressed=False).is_visible()


# Claims


def sentence_of(page, number):
    """Return what stands before a tick, in its block."""
    return page.locator(f"#tick-{number}").evaluate("""tick => {
        const before = document.createRange();
        before.setStart(tick.closest("p"), 0);
        before.setEndBefore(tick);
        return before.toString().replaceAll("\u2713", "");
    }""")


def test_a_claim_is_a_tick_at_the_end_of_its_sentence_and_nothing_else(still):
    assert sentence_of(still, 1) == "Under load it folds."
    assert sentence_of(still, 2) == "Under load it folds. So it is, everywhere."  # as the metadata say
    assert sentence_of(still, 3) == "Under load it folds. So it is, everywhere. Once more we fold."
    assert still.locator("#tick-1").inner_text() == "\u2713"
    for said in ("0.278", "under 0.4", "Claim 1", "It was taught", "So it is\n"):
        assert said not in still.locator("article").inner_text(), said
    assert not any(card.is_visible() for card in still.locator(".pa-proof").all())


def test_claims_of_one_sentence_share_a_tick_and_one_in_a_veil_stays_there(still):
    assert still.locator("#tick-5").get_attribute("aria-label") == "Claims 5, 6"
    assert still.locator("[aria-describedby=card-of-claim-5]").count() == 1
    assert sentence_of(still, 4) == "A quarter is not much."
    assert still.locator("#guess-1 .pa-answer #tick-4").count() == 1


def test_among_the_solutions_a_claim_stands_in_full(read):
    page = read("solutions/small")
    assert page.locator("#claim-1").inner_text() == "\u2713 Claim 1. It is four measured: 4.0"
    assert page.locator(".pa-claimed, .pa-proof").count() == 0


def test_a_pointer_shows_the_card_and_takes_it_away(read):
    page = read()
    tick, card = page.locator("#tick-1"), page.locator("#card-of-claim-1")
    tick.hover()
    card.wait_for(state="visible")
    assert (
        " ".join(card.inner_text().split()) == "It folds measured 0.278 required under 0.4 the code Claim 1"
    )
    line, box = tick.bounding_box(), card.bounding_box()
    assert box["y"] >= line["y"] + line["height"] - 2, "it must not cover the tick"
    card.locator(".pa-says").hover()  # on the way to the code
    page.wait_for_timeout(500)
    assert card.is_visible()
    page.mouse.move(0, 0)
    card.wait_for(state="hidden")


def test_a_card_is_read_and_its_code_opened_by_keyboard_alone(read):
    page = read()
    tick, card = page.locator("#tick-1"), page.locator("#card-of-claim-1")
    page.locator(".pa-ref a").last.focus()
    page.keyboard.press("Tab")
    assert tick.evaluate("t => t === document.activeElement")
    card.wait_for(state="visible")
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    assert tick.evaluate("t => t === document.activeElement")
    page.keyboard.press("Enter")
    card.wait_for(state="visible")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "the code"
    page.keyboard.press("Escape")
    assert tick.evaluate("t => t === document.activeElement")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    card.wait_for(state="hidden")
    assert page.locator("pre", has_text="measure()").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "how it was measured"
    assert page.locator("details.pa-how:visible").count() == 1  # and no other code
    assert page.trouble == []


def test_the_code_of_a_claim_in_sight_is_its_cell(read):
    page = read()
    page.locator("#tick-5").click()
    page.locator("#card-of-claim-5").get_by_role("link", name="the code").first.click()
    assert page.evaluate("document.activeElement.id") == "code-of-claim-5"


def test_a_tap_opens_the_card_at_the_foot_of_a_phone_and_a_tap_elsewhere_closes_it(read):
    page = read(**PHONE)
    card = page.locator("#card-of-claim-1")
    page.locator("#tick-1").tap()
    card.wait_for(state="visible")
    box = card.bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    assert box["y"] + box["height"] == pytest.approx(844, abs=1)
    page.get_by_role("heading", level=1).tap()
    card.wait_for(state="hidden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_an_open_card(read, scheme):
    page = read(color_scheme=scheme)
    page.locator("#tick-1").click()
    page.locator("#card-of-claim-1").wait_for(state="visible")
    found = Axe().run(page, None, {"runOnly": ALL_RULES, "resultTypes": ["violations"], "preload": False})
    assert [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found.response["violations"]] == []


def test_on_paper_the_cards_are_notes_at_the_end_of_the_page(read):
    page = read()
    page.emulate_media(media="print")
    assert "It folds" in page.locator("#claim-1").inner_text()
    assert page.locator("#claim-1 .pa-claim-number").inner_text() == "1."
    assert not page.get_by_role("link", name="the code").first.is_visible()
    last = page.locator("article section", has_text="Nobody counts these words.").last.bounding_box()
    assert page.locator("#claim-1").bounding_box()["y"] >= last["y"] + last["height"]
    assert page.locator("#tick-5").evaluate("t => getComputedStyle(t, '::after').content") == '"5, 6"'
    tops = page.locator(".pa-proof .pa-line").evaluate_all(
        "all => all.map(n => [Number(n.id.slice(6)), n.getBoundingClientRect().top])"
    )
    assert [number for number, _ in sorted(tops, key=lambda one: one[1])] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("words", "times"), [("it was never said", 0), ("it", 2)], ids=["in none", "in more than one"]
)
def test_words_that_no_one_sentence_near_has_are_refused(words, times):
    section = nodes.section("", nodes.title("", "T"), nodes.paragraph("", "So it is. And it was."))
    blocks = [Near(section[1], 0, True)]
    with pytest.raises(
        ClaimCardError, match=f"{words!r} must stand in one sentence near .* but do in {times}"
    ):
        pointed_at(words, blocks)


def test_a_tick_stands_behind_its_own_text_where_an_equal_one_comes_before():
    block = nodes.paragraph(
        "", "", nodes.emphasis("", "a"), nodes.Text(". "), nodes.emphasis("", "b"), nodes.Text(". ")
    )
    made = nodes.inline()
    split(block, 5, made)
    assert block.astext() == "a. b. "
    assert block.children.index(made) == 4


def test_a_sentence_ends_with_its_stop_and_what_is_bold_ends_before_the_tick():
    paragraph = nodes.paragraph(
        "", "", nodes.Text("By e.g. "), nodes.math("", "1. A"), nodes.Text(" it holds. ")
    )
    paragraph += nodes.strong("", "", nodes.Text("And so."))
    assert [one.words.strip() for one in sentences(paragraph)] == ["By e.g. \ufffc it holds.", "And so."]
    split(paragraph, sentences(paragraph)[1].end, nodes.Text("!"))
    split(paragraph, sentences(paragraph)[0].end, nodes.Text("?"))
    assert paragraph.astext() == "By e.g. 1. A it holds.? And so.!"
    assert paragraph[-1].astext() == "!"


# Where one left off


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
    assert page.locator("#tick-4").is_visible()
    assert page.trouble == []


def test_reading_time_stands_under_the_title_and_where_another_page_asks_for_it(read):
    # a minute for words and code, one for each of the two figures; none for what is folded
    assert read().locator(".pa-time").inner_text() == "About 3 minutes to read"
    assert read("index").get_by_text("It takes 3 minutes.").is_visible()


# What leads away from the main road


def test_going_deeper_is_a_fold_with_its_title_in_sight_and_opens_by_keyboard(read):
    page = read()
    fold = page.locator("details.pa-deeper")
    assert fold.get_by_role("heading", name="Going deeper: Why a quarter?", level=3).is_visible()
    assert fold.locator("> summary").inner_text() == "Going deeper: Why a quarter?"
    assert not page.locator("#tick-7").is_visible()
    fold.locator("> summary").focus()
    page.keyboard.press("Enter")
    page.locator("#tick-7").wait_for()


@pytest.mark.parametrize("link", ["claim-7", "going-deeper-why-a-quarter"])
def test_a_link_into_the_fold_opens_it(read, link):
    page = read()
    page.evaluate("link => { location.hash = link; }", link)
    page.locator("#tick-7").wait_for()


# Guess cards

HALF = "You said about half. Half is what two give back. Measured: about a quarter."


def test_a_guess_is_made_by_keyboard_alone(read):
    page = read()
    card = page.locator("#guess-1")
    assert not page.locator("#tick-4").is_visible()
    card.get_by_label("nearly everything").focus()
    page.keyboard.press("ArrowDown")
    assert card.get_by_role("radio", checked=True).evaluate("i => i.parentElement.innerText") == "about half"
    page.keyboard.press("Enter")
    said = card.get_by_role("status")
    assert said.inner_text() == HALF
    assert said.evaluate("node => node === document.activeElement")
    assert page.locator("#tick-4").is_visible()
    assert page.get_by_text("A quarter is not much.").is_visible()

    page.reload()  # within a session it is not veiled again
    assert page.locator("#tick-4").is_visible()
    assert card.get_by_role("status").inner_text() == HALF
    assert card.get_by_role("radio", checked=True, disabled=True).count() == 1


def test_commit_without_a_choice_asks_for_one_and_skip_shows_the_answer(read):
    page = read()
    card = page.locator("#guess-1")
    card.get_by_role("button", name="Commit").click()
    assert card.get_by_role("status").inner_text() == "Choose one, or skip."
    assert not page.locator("#tick-4").is_visible()
    told = card.get_by_text("Until then, what was found is hidden.")
    assert told.is_visible()
    card.get_by_role("button", name="Skip").click()
    assert not told.is_visible()
    assert card.get_by_role("status").inner_text() == "Measured: about a quarter."
    assert page.locator("#tick-4").is_visible()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("44", "You said 44 steps, and that is right."),
        ("36", "You said 36 steps, which is near. Answer: 44 steps."),
        ("400", "You said 400 steps. It is quicker than that. Answer: 44 steps."),
        ("4", "You said 4 steps. Answer: 44 steps."),
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


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("nearly everything", "You said nearly everything. Measured: about a quarter."),
        ("about half", HALF),
        ("about a quarter", "You said about a quarter, and that is right. One in 4."),
    ],
)
def test_the_answer_answers_the_choice_that_was_made(read, choice, said):
    card = read().locator("#guess-1")
    card.get_by_label(choice).check()
    card.get_by_role("button", name="Commit").click()
    assert card.get_by_role("status").inner_text() == said
    assert not card.locator(".pa-replies").is_visible()


def test_on_paper_what_is_said_to_each_choice_follows_the_answer(read):
    page = read()
    page.emulate_media(media="print")
    told = page.locator("#guess-1 .pa-replies").inner_text().splitlines()
    assert told == ["about half: Half is what two give back.", "about a quarter: One in 4."]
    below = page.locator("#guess-1 .pa-replies").bounding_box()["y"]
    assert below > page.locator("#guess-1 .pa-answer").bounding_box()["y"]


def test_a_reply_names_its_choice_as_it_is_written_or_in_words():
    for written in ("the `mask` is *late*", "the mask is late"):
        (listed,) = replies({"answer": "no", "choices": ["no", "the mask is late"], "says": {written: "So."}})
        assert listed[0]["html"] == {"data-said": "1"}


def test_a_reply_to_no_choice_is_refused():
    with pytest.raises(GuessError, match=r"`says` must name some of \['one', 'two'\], got \['three'\]"):
        replies({"answer": "one", "choices": ["one", "two"], "says": {"three": "No."}})
    with pytest.raises(GuessError, match=r"`says` must name some of \['low', 'high'\], got \['44'\]"):
        replies({"answer": 44, "choices": [], "says": {"44": "Yes."}})


def test_a_link_into_a_veil_opens_it(read):
    page = read()
    page.goto(page.url + "#claim-4")
    page.locator("#claim-4").wait_for()
    assert page.locator("#tick-4").is_visible()
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


# What to try


def test_a_button_puts_the_explorable_where_it_says_and_glides(read):
    page = read("tries", viewport={"width": 1280, "height": 500})
    button = page.get_by_role("button", name="a weight of 1.2")
    assert button.evaluate("b => b.parentElement.innerText") == "Let it grow: a weight of 1.2."
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".pa-decay.pa-gliding")
    duration = "n => getComputedStyle(n.querySelector('.pa-curve')).transitionDuration"
    assert "0.8s" in page.locator(".pa-decay").evaluate(duration)
    assert [one.input_value() for one in page.locator(".pa-decay input[type=range]").all()] == ["1.2", "60"]
    assert page.locator(".pa-decay").evaluate("n => n.getBoundingClientRect().top >= 0")
    page.wait_for_selector(".pa-decay:not(.pa-gliding)")
    assert page.evaluate("location.hash") == "#explore=decay&weight=1.2&length=60&squash=0"
    assert button.evaluate("b => b === document.activeElement")
    assert page.trouble == []


def test_it_does_so_at_once_for_a_reader_who_asked_for_less_motion(read):
    page = read("tries", reduced_motion="reduce", **PHONE)
    button = page.get_by_role("button", name="a weight of 1.2")
    assert button.bounding_box()["height"] >= 43.9
    button.tap()
    page.wait_for_function("document.querySelector('.pa-decay input[type=range]').value === '1.2'")
    assert "0.8s" not in page.locator(".pa-decay .pa-curve").evaluate(
        "n => getComputedStyle(n).transitionDuration"
    )
    assert violations(page) == []


def test_on_paper_what_to_try_is_a_part_of_its_sentence(read):
    page = read("tries")
    page.emulate_media(media="print")
    look = page.locator(".pa-try").evaluate(
        "b => [getComputedStyle(b).borderTopWidth, getComputedStyle(b).display]"
    )
    assert look == ["0px", "inline"]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("explore=clock&place=2", r"must name an explorable of its page, one of \['decay'\]"),
        ("explore=decay&weigth=2", r"must name parts of the state of decay, got \['weigth'\]"),
    ],
)
def test_a_state_that_no_explorable_of_the_page_has_is_refused(state, said):
    record = {"a": {"state": {"_esm": 'export default explorable({ name: "decay" })', "weight": 0.9}}}
    body = f'<button class="pa-try" type="button" data-state="{escape(state)}">'
    context = {"body": script(STATE, {"state": record}) + body}
    with pytest.raises(TryError, match=said):
        check_tries(None, "page", None, context, None)


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
    page.locator("#tick-1").click()
    assert page.locator("#claim-1").is_visible()
    page.get_by_role("link", name="back to the text").click()
    assert not page.locator("#claim-1").is_visible()
    assert page.get_by_text("about half", exact=True).is_visible()
    assert not page.locator("#tick-4").is_visible()
    page.locator(".pa-veil > summary").first.click()
    assert page.locator("#tick-4").is_visible()
    page.locator(".pa-deeper > summary").click()
    assert page.locator("#tick-7").is_visible()
    for name in ("how it was measured", "how it was drawn", "the code"):  # no switch could show them
        assert page.locator("summary", has_text=name).first.is_visible()
    page.locator(".pa-how > summary", has_text="set-up").click()
    assert page.locator("pre", has_text="import torch").is_visible()
    assert page.get_by_text("Five seeds.").is_visible()
    assert page.get_by_role("button", name="Show all code").count() == 0
    context.close()


def test_on_paper_claims_answers_and_notes_show_and_code_stays_folded(read):
    page = read()
    page.locator("#code-of-claim-4").evaluate("fold => { fold.classList.add('pa-asked'); fold.open = true; }")
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
    assert sizes[1] == pytest.approx(0.7 * 16, abs=0.1)
    formula = page.locator("mjx-container[display=true]")
    assert formula.evaluate("n => n.scrollWidth > n.clientWidth")  # too wide even so
    assert "gradient" in formula.evaluate("n => getComputedStyle(n).backgroundImage")  # and it says so
    assert formula.get_attribute("tabindex") == "0"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# Room


LETTERS = "n => parseFloat(getComputedStyle(n).fontSize) * n.getScreenCTM().a"


def test_at_390_px_letters_of_a_figure_are_legible_and_it_scrolls_inside_its_frame(read):
    page = read(**PHONE)
    frame = page.locator(".pa-drawn")
    assert frame.locator("text").evaluate(LETTERS) >= 11
    assert frame.evaluate("n => n.scrollWidth > n.clientWidth && n.tabIndex === 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_wide_page_a_figure_uses_the_margin_unless_a_note_stands_there(read):
    page = read()
    figure = page.locator(".pa-drawn > svg")
    column = page.get_by_text("Under load it folds.").bounding_box()
    box = figure.bounding_box()
    assert figure.locator("text").evaluate(LETTERS) > 16
    assert box["x"] + box["width"] > column["x"] + column["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    note = page.locator(".pa-note").first
    note.evaluate("""n => {
        n.style.height = "300px";  // longer than its paragraph
        document.querySelector(".cell:has(.pa-drawn)").before(n.closest(".pa-noted"));
    }""")
    beside, moved = note.bounding_box(), figure.bounding_box()
    assert moved["y"] < beside["y"] + 300  # beside each other
    assert moved["x"] + moved["width"] <= column["x"] + column["width"] < beside["x"]
    note.evaluate("n => n.closest('.pa-noted').after(document.createElement('p'))")
    assert figure.bounding_box()["y"] >= beside["y"] + 300  # below it, and wide
    assert figure.bounding_box()["width"] == box["width"]


def test_code_has_14_px_beside_prose_of_18_and_its_comments_are_quiet_in_the_dark(read):
    page = read(color_scheme="dark")
    size = "n => parseFloat(getComputedStyle(n).fontSize)"
    assert page.get_by_text("Under load it folds.").evaluate(size) == pytest.approx(18, abs=0.5)
    code = page.locator("#code-of-claim-5 pre")
    assert code.evaluate(size) >= 14
    comment = code.locator(".c1").evaluate("n => getComputedStyle(n).color")
    muted = page.locator(".pa-under-title").evaluate("n => getComputedStyle(n).color")
    assert comment == muted != code.evaluate("n => getComputedStyle(n).color")


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
