"""What a page says of its experiments: settings, computed captions, what was required, and the sources' ideas."""

import ast
import re
import tomllib

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from paying_attention.site.settings_said import page_words, trainers, unsaid, words_differ
from tests.book import NOTEBOOKS, ROOT

LESSONS = [path for path in NOTEBOOKS if path.parent.name == "book"]
TABLES = sorted((ROOT / "tests/book/sources").glob("*.toml"))
NUMBER = re.compile(r"(?<![\w.])\d|\b(three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|"
                    r"seventy|eighty|ninety|hundreds?|thousands?|percent|dozen)\b", re.I)  # fmt: skip
# names and years are no measured numbers
NAMES = re.compile(
    r"chapters? \d+|exercise \d+\.\d+|\(?\b(19|20)\d\d\b\)?|Llama \d 7B|Fig(ure|\.) [\d.]+", re.I
)


def code(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def parsed(source):
    """The code of a cell; a line of IPython's own, as ``%pip``, does nothing."""
    return ast.parse(re.sub(r"^( *)%.*$", r"\1pass", source, flags=re.M))


def calls(source, name):
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name:
            yield node


def argument(call, name):
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def typed(node):
    """The parts of a text that stand in the code as they are: all of a string, an f-string without its fields."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "…".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    return "".join(typed(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


lessons = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@lessons
def test_every_claim_and_figure_of_a_training_says_its_setting(path):
    assert unsaid(code(path)) == []


@lessons
def test_every_figure_has_the_words_that_its_cell_has_shown(path):
    cells = code(path)
    assert words_differ(cells) == []
    for cell in cells:
        if any("image/svg+xml" in output.get("data", {}) for output in cell.outputs):
            words = cell.metadata["mystnb"]
            assert len(words["image"]["alt"]) > 40, cell.source
            assert len(words["figure"]["caption"]) > 40, cell.source
            assert words["figure"]["name"].startswith("fig-")


@lessons
def test_no_number_is_typed_in_a_caption_or_an_alt_text(path):
    found = [
        (NUMBER.search(text)[0], text)
        for cell in code(path)
        for call in calls(cell.source, "show")
        for name in ("caption", "alt")
        if (value := argument(call, name)) is not None and NUMBER.search(text := NAMES.sub("", typed(value)))
    ]
    assert found == []


@lessons
def test_every_claim_says_what_was_measured_and_what_was_required(path):
    silent = [
        ast.unparse(call)[:80]
        for cell in code(path)
        for call in calls(cell.source, "claim")
        if argument(call, "measured") is None or argument(call, "asked") is None
    ]
    assert silent == []


@lessons
def test_the_numbers_that_are_required_are_those_that_are_compared(path):
    for cell in code(path):
        constants = {
            float(node.value)
            for node in ast.walk(parsed(cell.source))
            if isinstance(node, ast.Constant) and type(node.value) in (int, float)
        }
        for call in calls(cell.source, "claim"):
            asked = argument(call, "asked")
            for number, percent in re.findall(r"(\d[\d,]*\.?\d*)(%?)", typed(asked)) if asked else ():
                value = float(number.replace(",", "")) / (100 if percent else 1)
                assert any(abs(value - one) < 1e-9 for one in constants), (typed(asked), cell.source)


def shown(caption="what to see here, in a sentence of its own"):
    words = {"caption": caption, "alt": "what is there", "name": "fig-one", "setting": "64 wide"}
    return words, new_output(
        "display_data", {"image/svg+xml": "<svg/>"}, metadata={"paying_attention": words}
    )


def test_a_claim_made_of_a_training_without_a_setting_is_found():
    lines = "model = make()", "losses = fit(model, batch, steps=9)", "best = min(losses)"
    cells = [new_code_cell(line) for line in lines]
    assert unsaid([*cells, new_code_cell('claim("it fell", best < 1, setting=losses)')]) == []
    (said,) = unsaid([*cells, new_code_cell('claim("it fell", best < 1)')])
    assert said.startswith(
        "code cell 4 has a claim made of a training (best) and no setting: claim('it fell'"
    )
    (said,) = unsaid([*cells, new_code_cell("plotting.show(draw(model))")])
    assert "has a figure made of a training (model)" in said
    assert unsaid([*cells, new_code_cell('claim("one is one", one == 1)')]) == []


def test_a_loop_of_the_page_that_trains_is_found_too():
    own = "def train():\n    loss = model(x)\n    loss.backward()\n    optimizer.step()\n    return loss\nlast = train()"
    (said,) = unsaid([new_code_cell(own), new_code_cell('claim("it fell", last < 1)')])
    assert "(last)" in said


def test_what_trains_is_read_from_the_experiments():
    assert {"fit", "train_lookup", "stored_runs", "load_writer"} <= trainers()
    assert not {"manual_letters", "relation_masks", "spell"} & trainers()


def test_a_caption_that_was_changed_by_hand_is_found():
    words, output = shown()
    cell = new_code_cell("plotting.show()", outputs=[output], metadata={"mystnb": page_words(words)})
    assert words_differ([cell]) == []
    cell.metadata["mystnb"]["figure"]["caption"] += " And more."
    assert words_differ([cell]) == [
        "code cell 1 has another caption or alt text than the figure that it has shown"
    ]


def indented(code):
    """Move code to the right, so that a comment at the edge is no heading."""
    return re.sub(r"^", " ", code, flags=re.M)


def in_sight(path):
    """Return the text of each section of a page, without what stands in a fold, in one line."""
    cells = nbformat.read(path, as_version=4).cells if path.suffix == ".ipynb" else None
    texts = [cell.source if cell.cell_type == "markdown" else indented(cell.source) for cell in cells or ()]
    whole = "\n\n".join(texts) if cells else path.read_text("utf8")
    whole = re.sub(r"^```.*?^```", lambda block: indented(block[0]), whole, flags=re.M | re.S)
    whole = re.sub(r"<details>.*?</details>", "", whole, flags=re.S)
    parts = re.split(r"^#{1,3} (.+)$", whole, flags=re.M)
    sections = dict.fromkeys(parts[1::2], "")
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        sections[title] += " ".join(text.split())
    return sections


def rows():
    for table in TABLES:
        for row in tomllib.loads(table.read_text("utf8"))["idea"]:
            yield pytest.param(table.stem, row, id=f"{table.stem}-{row['of']}")


@pytest.mark.parametrize(("page", "row"), list(rows()))
def test_an_idea_of_the_sources_stands_on_its_page_in_sight(page, row):
    (path,) = [p for p in (ROOT / "book").glob(f"{page}.*") if p.suffix in (".ipynb", ".md")]
    sections = in_sight(path)
    assert row["section"] in sections, sorted(sections)
    assert not row["section"].startswith("Going deeper"), "not in a fold"
    assert " ".join(row["says"].split()) in sections[row["section"]]


def test_no_idea_of_the_sources_is_left_out():
    assert len(list(rows())) >= 60
