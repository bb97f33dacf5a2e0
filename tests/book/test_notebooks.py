"""The form of the stored notebooks: what nbval does not look at."""

import json
import re

import nbformat
import pytest

from attnlib import widgets
from attnlib.learn import bank
from tests.book import CHAPTERS, CONFIG, EXERCISES, NOTEBOOKS, PAGES, ROOT, SOLUTIONS

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
EXERCISE = re.compile(r"^#{2,3} Exercise (\d+\.\d+): (.+)$", re.M)


def relative(path):
    return path.relative_to(ROOT).as_posix()


def read(path):
    return nbformat.read(path, as_version=4)


def code(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def prose(nb):
    return "\n\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")


def read_in_order(path):
    return "\n\n".join(cell.source for cell in read(path).cells)


every = pytest.mark.parametrize("path", NOTEBOOKS, ids=relative)
chapters = pytest.mark.parametrize("path", CHAPTERS, ids=relative)
practice = pytest.mark.parametrize("path", EXERCISES, ids=relative)


def test_there_are_notebooks():
    assert CHAPTERS
    assert [path.name for path in EXERCISES] == [path.name for path in CHAPTERS]
    assert [path.name for path in SOLUTIONS] == [path.name for path in CHAPTERS]


@every
def test_is_listed_in_the_table_of_contents(path):
    assert relative(path).removesuffix(".ipynb") in PAGES


@every
def test_every_cell_was_run_in_order(path):
    counts = [cell.execution_count for cell in code(read(path))]
    assert counts == list(range(1, len(counts) + 1))


@every
def test_nothing_is_left_out_of_the_comparison(path):
    for cell in code(read(path)):
        assert not any(tag.startswith("nbval") for tag in cell.metadata.get("tags", []))
        assert "NBVAL" not in cell.source


@every
def test_no_warnings_paths_versions_or_errors_are_stored(path):
    for cell in code(read(path)):
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr"
            assert not re.search(r"/(root|home|Users|tmp)/|\btensor\(|0x[0-9a-f]{6}", json.dumps(output))


@every
def test_what_a_cell_prints_is_one_output(path):
    # nbval joins what was printed before it compares, and would count fewer outputs than are stored
    for cell in code(read(path)):
        assert sum(output.output_type == "stream" for output in cell.outputs) <= 1, cell.source


@every
def test_no_cell_ends_in_a_semicolon(path):
    # nbval runs cells without history, so IPython does not see it and prints the value all the same
    for cell in code(read(path)):
        assert not cell.source.rstrip().endswith(";"), cell.source


@every
def test_every_figure_has_alt_text_and_a_caption_and_a_short_cell(path):
    for cell in code(read(path)):
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            mystnb = cell.metadata.get("mystnb", {})
            assert len(mystnb["image"]["alt"]) > 40, cell.source
            assert len(mystnb["figure"]["caption"]) > 40, cell.source
            assert mystnb["figure"]["name"].startswith("fig-")
            assert len(cell.source.splitlines()) <= 3, cell.source


@every
def test_every_widget_has_its_state_and_the_code_of_its_file(path):
    nb = read(path)
    state = nb.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    shown = [o.data[VIEW]["model_id"] for c in code(nb) for o in c.outputs if VIEW in o.get("data", {})]
    for model in shown:
        saved = state[model]["state"]
        current = getattr(widgets, saved["_anywidget_id"].rpartition(".")[2])
        assert saved["_esm"] == current._esm, "the front end changed: make notebooks"
        assert saved["_css"] == current._css, "the style changed: make notebooks"


@every
def test_links_between_notebooks_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+\.(?:ipynb|md))[^)]*\)", prose(read(path))):
        assert (path.parent / target).exists(), target


@every
def test_reads_as_plain_markdown_where_nothing_knows_roles(path):
    assert re.findall(r"\{[a-z:]+\}`", prose(read(path))) == []
    assert "\\softmax" not in prose(read(path)), "no private macros: write \\operatorname{softmax}"


@every
def test_no_cell_is_folded_in_the_book_and_open_in_jupyter(path):
    for cell in code(read(path)):
        proof = "proof" in cell.metadata.get("tags", [])
        assert cell.metadata.get("jupyter", {}).get("source_hidden", False) == proof, cell.source


@chapters
def test_has_the_anatomy_of_a_chapter(path):
    nb = read(path)
    title = nb.cells[0].source
    chapter = str(int(path.name[:2]))
    assert title.splitlines()[0] == f"# {chapter}. {bank.quiz_data(chapter)['chapter']}"
    assert re.search(r"^\*\*.+\?\*\*$", title, re.M), "the question"
    goals = title.partition("After this chapter you can")[2]
    assert goals.count("\n- ") == 3, "three goals"
    assert re.search(r"runs in .*minute", title)
    headings = re.findall(r"^## (.+)$", prose(nb), re.M)
    assert headings[-4:] == ["Summary", "Exercises", "Quiz", "Further reading"]
    assert 4 <= len(headings) - 4 <= 9
    assert any("guess" in cell.metadata.get("tags", []) for cell in nb.cells)
    assert re.search(r"^quiz\(\"\d+\"\)$", "\n".join(c.source for c in code(nb)), re.M)
    assert f"(exercises/{path.name})" in prose(nb)
    assert "](references.md#" in nb.cells[-1].source
    assert sum(VIEW in o.get("data", {}) for c in code(nb) for o in c.outputs) >= 2, "explorable and quiz"


@chapters
def test_a_lesson_carries_its_claims_and_no_exercise(path):
    nb = read(path)
    assert sum(cell.source.count("claim(") for cell in code(nb)) >= 10
    assert EXERCISE.findall(prose(nb)) == []


@practice
def test_a_page_of_exercises_has_those_of_its_chapter_and_leads_there(path):
    nb = read(path)
    title = nb.cells[0].source
    chapter = str(int(path.name[:2]))
    assert title.splitlines()[0] == f"# Exercises to chapter {chapter}"
    assert f"[{bank.quiz_data(chapter)['chapter']}](../{path.name})" in title
    ids = [id for id, _ in EXERCISE.findall(prose(nb))]
    assert len(ids) >= 8
    assert [id for id in bank.exercises() if id.split(".")[0] == chapter] == ids


@practice
def test_the_hint_shown_as_an_example_is_of_the_first_exercise(path):
    example = re.search(r"gives one hint|`hint\(\"(.+?)\"\)`", prose(read(path)))
    assert example[1] == EXERCISE.search(prose(read(path)))[1]


@every
def test_every_question_to_guess_is_a_card(path):
    asking = [cell for cell in read(path).cells if cell.source.startswith("**Guess.**")]
    assert all("guess" in cell.metadata.get("tags", []) for cell in asking)


@practice
def test_exercises_say_what_the_bank_says_and_link_both_ways(path):
    solutions = prose(read(ROOT / "book/solutions" / path.name))
    text = prose(read(path))
    checks = "\n".join(cell.source for cell in code(read(path)))
    solved = "\n".join(cell.source for cell in code(read(ROOT / "book/solutions" / path.name)))
    assert EXERCISE.findall(text) == EXERCISE.findall(solutions)
    for id, title in EXERCISE.findall(text):
        exercise = bank.exercises()[id]
        assert title == exercise.title
        assert f"*{exercise.difficulty}, {exercise.minutes} minutes.*" in text.partition(title)[2][:80]
        anchor = "#exercise-" + re.sub(r"[^a-z0-9 -]", "", f"{id}-{title}".lower()).replace(" ", "-")
        assert f"(../solutions/{path.name}{anchor})" in text
        assert f"(../exercises/{path.name}{anchor})" in solutions
        assert f'check("{id}", ' in checks
        assert re.search(rf'check\(\s*"{id}",.+?record=False,?\s*\)', solved, re.S)


@every
def test_the_first_cell_installs_on_colab_only(path):
    colab = code(read(path))[0]
    assert "remove-cell" in colab.metadata.tags
    assert 'if "google.colab" in sys.modules:' in colab.source
    assert f"git+{CONFIG['repository']['url']}" in colab.source
    [line] = [line for line in colab.source.splitlines() if "%pip" in line]
    assert line.endswith('"'), "a magic ends with its line: whatever goes on below it is not part of it"


@chapters
def test_the_second_cell_imports_and_seeds(path):
    imports = code(read(path))[1]
    assert "manual_seed" in imports.source
    assert not re.search(r"\bhint\b", imports.source), "hints are for exercises"
    for cell in code(read(path))[1:]:
        assert not re.search(r"%pip|!pip|import \*|filterwarnings|rcParams", cell.source)


@practice
def test_a_page_of_exercises_imports_what_gives_hints(path):
    imports = code(read(path))[1]
    assert re.search(r"from attnlib\.learn import .*\bhint\b", imports.source)
    assert "manual_seed" in imports.source


def test_each_common_mistake_and_belief_is_shown_to_fail():
    texts = [read_in_order(ROOT / f"book/{page}.ipynb") for page in ("common_mistakes", "beliefs")]
    _, *entries = re.split(r"^##+ ", "\n\n## The other page\n\n".join(texts), flags=re.M)
    beliefs = [entry for entry in entries if entry.startswith("“")]
    assert len(beliefs) >= 12
    for entry in beliefs:
        assert re.match(r"“.+”\n\n.", entry), "the belief comes first"
        shown, true = entry.find("claim("), entry.rfind("\n\n**")
        assert 0 < shown < true, "what is true comes last, after what was measured"
        assert re.search(r"\]\(0\d_\w+\.ipynb\)", entry[true:]), "a chapter tells more"


def test_the_whole_test_file_is_what_common_mistakes_runs():
    nb = read(ROOT / "book/common_mistakes.ipynb")
    fold = prose(nb).partition("The whole test file\n")[2].partition("\n## ")[0]
    whole = "\n".join(re.findall(r"```python\n(.+?)\n```", fold, re.S))
    tests = (
        "random_tokens",
        "change_one_token",
        "alone_or_batched",
        "cached_or_whole",
        "fully_masked_row",
        "failed",
    )
    for start in (*(f"def {test}(" for test in tests), "class Stock("):
        assert [cell.source in whole for cell in code(nb) if start in cell.source] == [True], start
    compile(whole, "whole", "exec")


def test_the_page_of_everything_draws_every_step():
    text = read_in_order(ROOT / "book/putting_it_together.ipynb")
    for section in text.split("\n## ")[1:-1]:  # the last one sends the reader off
        assert "plotting." in section or "The whole layer, live" in section, section
    assert [n for n in "234567" if f"[chapter {n}](0{n}_" not in text] == []
    assert text.count("claim(") >= 10
