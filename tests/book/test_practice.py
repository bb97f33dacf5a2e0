"""Exercises on the page: the same verdicts as in the notebook, by keyboard; progress that is kept, exported and imported."""

import json
import random
import re

import pytest

from attnlib.learn import bank, judging, record
from attnlib.learn.calling import AnswerError
from tests.book.conftest import visits
from tests.book.test_page import PHONE, violations
from tests.learn.test_banks import RIGHT, WRONG
from tests.learn.test_judging import FIELDS

PAGE = "01_rnn_bottleneck"
CHOICE = {
    "id": "9.9",
    "name": "one-of-two",
    "kind": "choice",
    "fields": ["which"],
    "options": ["the first `x`", "the second"],
    "reads": ["choice"],
    "answer": ["the second"],
    "tolerance": 0,
    "relative": 0,
    "mistakes": [
        {"place": None, "answers": [["the first `x`"]], "tolerance": 0, "relative": 0, "says": "not `x`."}
    ],
    "otherwise": [""],
    "lesson": "So it is.",
}
SHAPES = CHOICE | {
    "kind": "named",
    "fields": ["weights", "output"],
    "options": [],
    "reads": ["shape", "shape"],
    "answer": [[5, 11], [5, 13]],
    "mistakes": [{"place": 0, "answers": [[11, 5]], "tolerance": 0, "relative": 0, "says": "turned round."}],
    "otherwise": ["", ""],
}
ALONE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>One</title><main><h1>One</h1>
<section class="pa-practice" aria-label="Exercise 9.9"><script type="application/json">{}</script><p class="pa-ask">?</p></section>
</main><script src="_static/page.js"></script><script src="_static/practice.js"></script></html>"""


@pytest.fixture
def read(chromium, small):
    """Open a page from the disk; pages opened in one way share what the browser keeps."""
    with visits(chromium, {"file": small.as_uri()}, shared=True) as open_page:
        yield lambda name=PAGE, **options: open_page(name, "file", **options)


@pytest.fixture(scope="module")
def chapter(chromium, small):
    """The page with the exercises, for tests that only add attempts to it."""
    with visits(chromium, {"file": small.as_uri()}) as open_page:
        yield open_page(PAGE, "file")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_HOME", str(tmp_path / "home"))


def block(page, id):
    return page.locator(f'[data-exercise="{id}"]')


def answer(page, id, *texts):
    """Fill in the fields of an exercise from the keyboard alone, and press Enter in the last."""
    fields = block(page, id).locator("input, select")
    assert fields.count() == len(texts)
    fields.first.focus()
    for n, text in enumerate(texts):
        if n:
            page.keyboard.press("Tab")
        for key in ("Home", "ControlOrMeta+A", "Delete"):  # the first of a list; an empty field
            page.keyboard.press(key)
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    return block(page, id).get_by_role("status").inner_text()


def kept(page):
    """What the browser keeps."""
    return json.loads(page.evaluate("localStorage.getItem('pa-progress')") or "{}")


def attempts(page, id):
    """How often an exercise was attempted, and whether with success."""
    entry = kept(page).get("exercises", {}).get(bank.exercises()[id].name, {"attempts": 0, "passed": False})
    return entry["attempts"], entry["passed"]


# The same verdicts as in Python


def test_fields_are_read_as_in_python(chapter):
    script = """cases => cases.map(({ text, reads }) => {
        try { return { value: pa.read(text, reads) }; } catch (error) { return { says: error.message }; }
    })"""
    found = chapter.evaluate(script, FIELDS)
    assert found == [{k: v for k, v in case.items() if k in ("value", "says")} for case in FIELDS]


def nearby(value, rules, place):
    """Values around one: at both sides of the tolerance, and as other mistakes would have it."""
    if isinstance(value, bool):
        return [True, False]
    if isinstance(value, list):
        return [value, value[::-1], value[:-1], [*value, 1], []]
    if isinstance(value, str):
        return [value]
    tolerance = rules["tolerance"]
    tolerance = tolerance[place] if isinstance(tolerance, list) else tolerance
    reach = max(tolerance, rules["relative"] * abs(value))
    return [value + f * reach for f in (-1.01, -0.99, 0, 0.99, 1.01)] + [-value, 2 * value, value + 1, 0.0]


def table(id):
    """Answers to a data exercise: all that Python's tests have, every known mistake, and mixtures of them."""
    rules = judging.page_spec(id)
    written = [a for i, a in RIGHT if i == id] + [a for i, a, _ in WRONG if i == id]
    answers = []
    for one in written:
        try:
            answers.append(judging.values(rules, one))
        except AnswerError:
            continue  # of a form that a page does not let one type
    places = [nearby(value, rules, place) for place, value in enumerate(rules["answer"])]
    for mistake in rules["mistakes"]:
        for wrong in mistake["answers"]:
            pairs = enumerate(wrong) if mistake["place"] is None else [(mistake["place"], wrong)]
            answers += [wrong] if mistake["place"] is None else []
            for place, value in pairs:
                places[place] += nearby(value, mistake, place)
    chosen = random.Random(id)
    answers += [[chosen.choice(values) for values in places] for _ in range(200)]
    for place, values in enumerate(places):
        answers += [[*rules["answer"][:place], value, *rules["answer"][place + 1 :]] for value in values]
    if rules["kind"] == "choice":
        answers = [[option] for option in rules["options"]]
    return rules, answers


def test_verdicts_are_those_of_python(chapter):
    for id in judging.read():
        rules, answers = table(id)
        here = chapter.evaluate("([spec, all]) => all.map((got) => pa.judge(spec, got))", [rules, answers])
        there = [judging.judge(rules, got) for got in answers]
        assert here == there, id
        assert None in there
        assert len(set(there)) > 2 or rules["kind"] == "choice", id


# By keyboard


@pytest.mark.parametrize(
    ("id", "texts", "said"),
    [
        ("1.8", ["0.58**8", "1.8"], "✓ Passed. Measured: 0.011 and 1.8."),
        ("1.8", ["0,011", "18/10"], "✓ Passed."),
        ("1.8", ["0.004", "2"], "✗ Not yet: share: that is what is left with 64 numbers."),
        ("1.8", ["0.03", "1.8"], "✗ Not yet: share: not that."),
        ("3.1", ["-2", "-1", "6"], "✗ Not yet: −1 and 6 are scores"),
        ("3.1", ["-2", "-5/2", ".2"], "✗ Not yet: second: not that."),
        ("1.5", ["99", "33", "1"], "✗ Not yet: convolution: the windows overlap"),
        ("1.5", ["99", "99", "7"], "✗ Not yet: attention: every word attends"),
        ("3.1", ["-2", "−2,5", "6/4"], "✓ Passed."),
        ("4.8", [".05", "3/4", "1", "3e-3", "0,003", "0.003"], "✓ Passed."),
        ("6.6", ["true", "false", "true", "false", "true", "false"], "✓ Passed."),
    ],
)
def test_an_answer_is_typed_and_judged_on_the_page(chapter, id, texts, said):
    before, passed = attempts(chapter, id)
    assert answer(chapter, id, *texts).startswith(said)
    passed = passed or said.startswith("✓")
    assert attempts(chapter, id) == (before + 1, passed)
    assert block(chapter, id).get_by_text("✓ solved").count() == passed
    assert chapter.trouble == []


def test_the_button_checks_too_and_the_next_attempt_counts(read):
    page = read()
    answer(page, "1.8", "0.004", "1.8")
    field = block(page, "1.8").get_by_label("share")
    field.fill("0.064")
    block(page, "1.8").get_by_role("button", name="Check").click()
    assert "each weight is smaller" in block(page, "1.8").get_by_role("status").inner_text()
    assert kept(page)["exercises"] == {"wider-rnn": {"attempts": 2, "passed": False}}
    answer(page, "1.8", "0.011", "1.8")
    answer(page, "1.8", "0.004", "1.8")  # what was solved stays solved
    assert kept(page)["exercises"] == {"wider-rnn": {"attempts": 4, "passed": True}}


@pytest.mark.parametrize(
    ("id", "texts", "said"),
    [
        ("1.8", ["a tenth", "1.8"], "share: This cannot be read as a number."),
        ("1.8", ["0.011", "180%"], "times: Write it without a per cent sign"),
        ("3.1", ["-2", "", "1.5"], "first: Nothing is written here yet."),
        ("6.6", ["true", "true", "", "true", "true", "true"], "c: Nothing is written here yet."),
    ],
)
def test_what_cannot_be_read_is_told_and_is_no_attempt(chapter, id, texts, said):
    before = attempts(chapter, id)
    assert answer(chapter, id, *texts).startswith(said)
    assert attempts(chapter, id) == before
    invalid = block(chapter, id).locator("[aria-invalid]")
    assert invalid.count() == 1
    assert invalid.evaluate("field => field === document.activeElement")
    described = invalid.get_attribute("aria-describedby")
    assert block(chapter, id).get_by_role("status").get_attribute("id") == described


def test_a_choice_is_made_by_keyboard(read, small):
    (small / "alone.html").write_text(ALONE.format(json.dumps(CHOICE)), "utf8")
    page = read("alone")
    status = page.get_by_role("status")
    page.get_by_role("button", name="Check").press("Enter")
    assert status.inner_text() == "Choose one first."
    page.get_by_label("the first x").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    assert status.inner_text() == "✗ Not yet: not x."
    assert status.locator("code").inner_text() == "x"
    page.get_by_label("the first x").press("ArrowDown")
    page.keyboard.press("Enter")
    assert status.inner_text() == "✓ Passed. So it is."
    assert kept(page)["exercises"] == {"one-of-two": {"attempts": 2, "passed": True}}


def test_a_shape_is_typed_as_people_write_it(read, small):
    (small / "shapes.html").write_text(ALONE.format(json.dumps(SHAPES)), "utf8")
    page = read("shapes")
    status = page.get_by_role("status")
    for weights, output, said in [
        ("5, 11", "2.5", "output: Write whole numbers"),
        ("[11 5]", "5,13", "✗ Not yet: turned round."),
        ("5, 11", "5", "✗ Not yet: output is not right."),
        ("(5, 11)", "5 13", "✓ Passed."),
    ]:
        page.get_by_label("weights").fill(weights)
        page.get_by_label("output").fill(output)
        page.get_by_label("output").press("Enter")
        assert status.inner_text().startswith(said)


def test_what_is_typed_is_shown_as_text(chapter):
    said = answer(chapter, "1.8", "<img src=x onerror=alert(1)>", "1.8")
    assert said.startswith("share: This cannot be read")
    assert chapter.locator("img[src=x]").count() == 0


# Functions


def test_a_function_says_that_it_runs_in_the_notebook_and_where(read):
    page = read()
    function = page.locator(".cell", has=block(page, "1.1"))
    assert function.locator("pre").first.is_visible()
    assert block(page, "1.1").get_by_text(re.compile("runs in the notebook")).last.is_visible()
    assert block(page, "1.1").locator("form").count() == 0
    page.locator(".pa-launch > summary").focus()
    page.keyboard.press("Enter")
    links = {link.inner_text(): link.get_attribute("href") for link in page.locator(".pa-launch a").all()}
    assert list(links) == ["Binder", "Colab", "JupyterLab, on your computer"]
    menu = page.locator(".dropdown-launch-buttons a").evaluate_all("links => links.map(a => a.href)")
    assert [links["Binder"], links["Colab"]] == menu
    assert links["JupyterLab, on your computer"] == "how_to_use.html#run"
    assert block(page, "1.1").locator("details summary", has_text="Hint").count() >= 2


def test_every_exercise_of_the_book_has_its_place(site):
    found = {}
    for page in sorted((site / "book/exercises").glob("0*.html")):
        blocks = re.findall(
            r'<section class="pa-practice"[^>]*data-exercise="([\d.]+)"[^>]*>(<script)?',
            page.read_text("utf8"),
        )
        found |= {id: bool(facts) for id, facts in blocks}
    assert found == {id: id in judging.read() for id in bank.exercises()}


# Progress


def test_progress_is_kept_and_counted_on_all_pages(read):
    page = read()
    total = len(bank.exercises())
    line = page.locator(".pa-record p")
    assert line.inner_text().startswith(f"Solved in this chapter: 0 of 11; in the book: 0 of {total}.")
    answer(page, "1.8", "0.011", "1.8")
    answer(page, "3.1", "-2", "-2.5", "1.5")
    assert line.inner_text().startswith(f"Solved in this chapter: 1 of 11; in the book: 2 of {total}.")
    page.reload()
    assert block(page, "1.8").get_by_text("✓ solved").is_visible()
    assert block(page, "1.5").get_by_text("✓ solved").count() == 0
    page.get_by_role("link", name="All chapters, export and import").click()
    page.locator(".pa-progress tbody tr").first.get_by_text(
        "1 of 11"
    ).wait_for()  # the script waits for the page
    rows = page.locator(".pa-progress tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == [
        f"{n}. {bank.quiz_data(n)['chapter']}" for n in bank.CHAPTERS
    ]
    assert rows[0].split("\t")[-2:] == ["1 of 11", "0 of 6"]
    page.locator(".pa-progress").get_by_role("link", name="1. The RNN bottleneck").click()
    page.wait_for_url(f"**/{PAGE}.html")


def test_another_tab_is_followed(read):
    one, other = read(), read("how_to_use")
    answer(one, "1.8", "0.011", "1.8")
    other.wait_for_function("document.querySelector('.pa-record').innerText.startsWith('Solved 1 of')")


def test_the_best_score_of_a_quiz_joins(read):
    page = read("how_to_use")
    right = [
        next(i for i, o in enumerate(q["option"]) if "right" in o) for q in bank.quiz_data("2")["question"]
    ]
    store = "answers => localStorage.setItem('paying-attention/quiz/2', JSON.stringify(answers))"
    page.evaluate(store, {str(n): option for n, option in enumerate(right[:4])})
    page.reload()
    assert "4 of 6" in page.locator(".pa-progress tr", has_text="2. Word vectors").inner_text()
    page.evaluate(store, {})  # started over: the best stays
    page.reload()
    assert "4 of 6" in page.locator(".pa-progress tr", has_text="2. Word vectors").inner_text()
    assert kept(page)["quizzes"] == {"2": 4}


def test_a_quiz_of_the_book_is_counted_as_it_is_answered(alone):
    page = alone("book/01_rnn_bottleneck")
    question = page.locator(".pa-quiz li").first
    question.get_by_role("radio").nth(1).check()
    question.get_by_role("button", name="Check").click()
    assert kept(page)["quizzes"] == {"1": 1}
    page.locator(".pa-quiz").get_by_role("button", name="Start over").click()
    assert kept(page)["quizzes"] == {"1": 1}
    assert page.trouble == []


def test_what_is_exported_is_read_by_python_and_back(read, tmp_path):
    page = read()
    answer(page, "1.8", "0.004", "1.8")
    answer(page, "1.8", "0.011", "1.8")
    answer(page, "1.5", "99", "33", "1")
    page.goto(page.url.replace(PAGE, "how_to_use"))
    with page.expect_download() as got:
        page.get_by_role("button", name="Export").press("Enter")
    assert got.value.suggested_filename == "progress.json"
    got.value.save_as(tmp_path / "progress.json")
    assert record.merge(tmp_path / "progress.json") == ""
    assert record.load() == kept(page)
    written = (record.home() / "progress.json").read_text()
    assert written == (tmp_path / "progress.json").read_text()

    record.save_attempt("path-lengths", passed=True)
    record.save_attempt("recurrent-network", passed=True)
    record.save_quiz("7", 3)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import").press("Enter")
    chooser.value.set_files(record.home() / "progress.json")
    page.get_by_text("progress.json was added").wait_for()
    assert kept(page) == record.load()
    assert "3 of 11" in page.locator(".pa-progress tr", has_text="1. The RNN").inner_text()
    page.goto(page.url.replace("how_to_use", PAGE))
    assert block(page, "1.1").get_by_text("✓ solved").is_visible()


FORMER = {
    "exercises": {
        "1.1": {"attempts": 5, "passed": True},  # was taken out long ago
        "1.7": {"attempts": 2, "passed": False},
        "1.10": {"attempts": 3, "passed": True},
        "6.14": {"attempts": 1, "passed": True},
    },
    "quizzes": {"7": 3},
}
BY_NAME = {
    "exercises": {
        "1.1": {"attempts": 5, "passed": True},
        "path-lengths": {"attempts": 2, "passed": False},
        "wider-rnn": {"attempts": 3, "passed": True},
        "hide-the-answer-alone": {"attempts": 1, "passed": True},
    },
    "format": 2,
    "quizzes": {"7": 3},
}
STORE = "data => localStorage.setItem('pa-progress', JSON.stringify(data))"


def test_what_the_browser_kept_by_number_moves_to_names_once(read):
    page = read()
    page.evaluate(STORE, FORMER)
    for _ in range(2):
        page.reload()
        assert kept(page) == BY_NAME
    assert page.locator('[data-name="wider-rnn"]').get_by_text("✓ solved").is_visible()
    assert page.locator('[data-name="path-lengths"]').get_by_text("✓ solved").count() == 0
    total = len(bank.exercises())
    assert f"in this chapter: 1 of 11; in the book: 2 of {total}" in page.locator(".pa-record").inner_text()


def test_a_file_by_number_is_imported_by_name_and_read_by_python_alike(read, tmp_path):
    (tmp_path / "progress.json").write_text(json.dumps(FORMER))
    assert record.merge(tmp_path / "progress.json") == ""
    page = read("how_to_use")
    page.locator("input[type=file]").set_input_files(tmp_path / "progress.json")
    page.get_by_text("progress.json was added").wait_for()
    assert kept(page) == record.load() == BY_NAME


def test_an_older_page_in_another_tab_is_understood_and_not_answered(read):
    page, older = read(), read("how_to_use")
    older.evaluate(STORE, FORMER)
    page.get_by_text("in the book: 2 of").wait_for()
    assert kept(page) == FORMER, "the older page would put its numbers back, and so on"
    answer(page, "3.1", "-2", "-2.5", "1.5")
    scores = {"query-behind-the-scores": {"attempts": 1, "passed": True}}
    assert kept(page) == BY_NAME | {"exercises": BY_NAME["exercises"] | scores}


def test_what_a_newer_page_has_kept_stays(read):
    page = read()
    newer = BY_NAME | {"format": 3}
    page.evaluate(STORE, newer)
    page.reload()
    assert answer(page, "3.1", "-2", "-2.5", "1.5").startswith("✓ Passed.")
    assert block(page, "3.1").get_by_text("✓ solved").is_visible()
    assert kept(page) == newer


def test_a_link_made_before_an_exercise_was_renumbered_finds_it_by_its_title(read):
    page = read()
    there = page.locator("section[id$='-which-of-them-leak']")
    for number in ("9-99", "9"):
        page.goto(page.url.partition("#")[0] + f"#exercise-{number}-which-of-them-leak")
        page.wait_for_function("scrollY > 0")
        assert abs(there.bounding_box()["y"]) < 200
        page.evaluate("scrollTo(0, 0)")
    page.goto(page.url.partition("#")[0] + "#exercise-9-99-that-never-was")
    assert page.trouble == []


def test_a_file_that_is_no_progress_changes_nothing(read, tmp_path):
    page = read()
    answer(page, "1.8", "0.011", "1.8")
    before = kept(page)
    page.goto(page.url.replace(PAGE, "how_to_use"))
    attempts = '{"exercises": {"path-lengths": {"attempts": "9", "passed": true}}, "quizzes": {}}'
    newer = '{"exercises": {}, "format": 3, "quizzes": {}}'
    for n, text in enumerate(["{", "[]", '{"exercises": {}}', attempts, newer]):
        (tmp_path / f"notes{n}.json").write_text(text)
        page.locator("input[type=file]").set_input_files(tmp_path / f"notes{n}.json")
        page.get_by_text(f"notes{n}.json is not a progress file; nothing was changed.").wait_for()
        assert kept(page) == before


def test_where_nothing_may_be_stored_an_answer_is_judged_all_the_same(read):
    page = read()
    page.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } });"
    )
    page.reload()
    assert answer(page, "1.8", "0.011", "1.8").startswith("✓ Passed.")
    assert block(page, "1.8").get_by_text("✓ solved").is_visible()


# Everyone


def test_the_code_is_folded_and_hints_are_folds(read):
    page = read()
    code = block(page, "1.8").locator("pre")
    assert not code.is_visible()
    block(page, "1.8").get_by_text("in the notebook").click()
    assert code.is_visible()
    hint = block(page, "1.8").get_by_text("A number of the new state is a sum")
    assert not hint.is_visible()
    block(page, "1.8").get_by_text("Hint 1").click()
    assert hint.is_visible()


def test_without_script_there_are_the_code_and_the_hints(chromium, small):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{small.as_uri()}/{PAGE}.html")
    exercise = block(page, "1.8")
    assert exercise.get_by_text("In the notebook, put your answer in place of").is_visible()
    assert exercise.locator("form, input").count() == 0
    for name, held in (("in the notebook", 'check("1.8"'), ("Hint 1", "A number of the new state")):
        exercise.get_by_text(name, exact=True).click()
        assert exercise.get_by_text(held).first.is_visible()
    page.locator(".pa-launch > summary").click()
    assert page.get_by_role("link", name="Binder").is_visible()
    context.close()


@pytest.mark.parametrize(("scheme", "options"), [("light", {}), ("dark", PHONE)], ids=["wide", "phone"])
def test_axe_finds_no_violation(read, scheme, options):
    page = read(color_scheme=scheme, **options)
    answer(page, "1.8", "0.011", "1.8")
    answer(page, "3.1", "-2", "-1", "6")
    answer(page, "1.5", "x", "1", "1")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.goto(page.url.replace(PAGE, "how_to_use"))
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
