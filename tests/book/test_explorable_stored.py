"""What pages and notebooks hold of an explorable before any script runs: the drawing, and the present front end."""

import nbformat

from paying_attention import browser
from paying_attention.order import AFTER_BUILD
from paying_attention.page.first_state import END, MARK, draw_first_states, with_drawings
from tests.book import CHAPTERS, CONFIG
from tools.execute_notebooks import STATE
from tools.store_front_ends import present

VIEW = '<script type="application/vnd.jupyter.widget-view+json">{"model_id": "a"}</script>'


def test_a_drawing_stands_behind_its_view_once_however_often_it_is_made():
    page = f"<p>{VIEW}</p>{VIEW}"
    once = with_drawings(page, ["<b>one</b>", None])
    assert once == f"<p>{VIEW}{MARK}<b>one</b>{END}</p>{VIEW}"
    assert with_drawings(once, ["<b>one</b>", None]) == once


def test_where_there_is_no_chromium_pages_stay_as_they_are(tmp_path, monkeypatch):
    page = tmp_path / "a.html"
    page.write_text(VIEW)
    monkeypatch.setattr("paying_attention.browser.find", lambda: None)
    app = type("App", (), {"outdir": tmp_path, "builder": type("Builder", (), {"format": "html"})})
    draw_first_states(app, None)
    assert page.read_text() == VIEW
    monkeypatch.undo()
    assert browser.find()


def test_the_drawing_is_part_of_the_build():
    assert draw_first_states in AFTER_BUILD
    assert CONFIG["sphinx"]["local_extensions"] == {"paying_attention": "book/_ext"}


def test_notebooks_carry_the_front_ends_and_the_traits_that_the_library_has_now():
    for path in CHAPTERS:
        models = nbformat.read(path, as_version=4).metadata["widgets"][STATE]["state"]
        for model in models.values():
            assert present(model["state"]) == model["state"], f"{path.name}: tools/store_front_ends.py"
