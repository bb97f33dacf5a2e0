"""SVG figures in the page: their ids, colours, fonts and sizes, what a reader without eyes hears, cells with several."""

import io
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from attnlib import plotting
from paying_attention.page.svg_figures import FigureError, InlineFigures, figure_context, inline

STORED = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="400pt" height="200pt" viewBox="0 0 400 200"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata><rdf>matplotlib</rdf></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1"><path id="m1" d="M 0 0" style="fill: #ffffff; stroke: #1D5C96"/></g>
 <g clip-path="url(#p1)"><use xlink:href="#m1" style="fill: #123456"/></g>
 <clipPath id="p1"/>
 <text style="font: 10px 'DejaVu Sans', 'Source Sans 3', 'Arial', sans-serif; text-anchor: end; fill: #1f2730">a</text>
 <text style="font: 10px 'DejaVu Sans Mono', monospace; fill: #1f2730">b</text>
</svg>"""


@pytest.fixture(scope="module")
def page():
    return inline(STORED, "fig3", 'a "line"\nrises')


def test_ids_are_unique_on_the_page_and_those_of_no_use_are_gone(page):
    assert set(re.findall(r' id="([^"]+)"', page)) == {"fig3-m1", "fig3-p1"}
    assert "url(#fig3-p1)" in page
    assert 'href="#fig3-m1"' in page


def test_colours_follow_the_theme_and_foreign_ones_stay(page):
    assert "fill: var(--pa-paper, #ffffff); stroke: var(--pa-query, #1d5c96)" in page
    assert "fill: #123456" in page


def test_text_is_set_in_the_fonts_of_the_page(page):
    assert "font: 10px var(--pst-font-family-base, sans-serif); text-anchor: end" in page
    assert "font: 10px var(--pst-font-family-monospace, monospace); fill" in page
    drawing = inline(plotting.lstm_cell()._repr_svg_(), "fig1", "an LSTM")
    assert 'font-family="var(--book-serif, serif)"' in drawing
    assert "Source" not in drawing


def test_ten_points_are_thirteen_pixels_and_a_drawing_is_as_it_is(page):
    assert '<svg class="pa-figure" width="520.0" height="260.0"' in page
    assert '<svg class="pa-figure" width="480.0"' in inline(plotting.lstm_cell()._repr_svg_(), "fig1", "")


def test_a_screen_reader_hears_the_alt_text(page):
    assert 'role="img" aria-label="a &quot;line&quot; rises">' in page


def test_nothing_of_the_file_is_left_that_would_change_the_page(page):
    assert page.startswith("<svg")
    assert not re.search(r"<style|<metadata|<\?xml|<!DOCTYPE|xmlns", page)


def test_what_is_no_figure_is_refused():
    with pytest.raises(FigureError, match="must hold an <svg> element, got 'nothing'"):
        inline("nothing", "fig1", "")
    with pytest.raises(FigureError, match=r"fig1 must not be drawn in black.*use plotting\.INK"):
        inline('<svg viewBox="0 0 9 9"><path style="stroke: #000000"/></svg>', "fig1", "")
    with pytest.raises(FigureError, match="must have a viewBox"):
        inline("<svg></svg>", "fig1", "")


def picture(colour):
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect fill="{colour}"/></svg>'
    return new_output("display_data", {"image/svg+xml": svg, "text/plain": "Figure"})


def html_of(tmp_path, cells):
    """Return the page of a book with one small notebook, and what the build complained of."""
    nb = new_notebook(cells=[new_markdown_cell("# Small\n\n{numref}`fig-one`"), *cells])
    nb.metadata["language_info"] = {"name": "python"}
    nbformat.write(nb, tmp_path / "index.ipynb")
    settings = {
        "extensions": ["myst_nb"],
        "nb_execution_mode": "off",
        "numfig": True,
        "html_static_path": [],
    }
    said = io.StringIO()
    with docutils_namespace(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("myst_nb.sphinx_.create_figure_context", figure_context)
        patch.setattr(InlineFigures, "default_priority", 880)
        folders = tmp_path, None, tmp_path / "out", tmp_path / "doc"
        app = Sphinx(*folders, "html", settings, warning=said, status=None)
        app.add_transform(InlineFigures)
        app.build()
    return (tmp_path / "out" / "index.html").read_text(), said.getvalue()


def test_two_pictures_of_one_cell_share_a_caption_and_claims_stay_outside(tmp_path):
    figure = {"figure": {"caption": "What to see.", "name": "fig-one"}, "image": {"alt": "two squares"}}
    claim = new_output("display_data", {"text/html": "<div>A claim</div>", "text/plain": "claim"})
    cell = new_code_cell(
        "show()", execution_count=1, metadata={"mystnb": figure, "tags": ["two-across"]},
        outputs=[claim, picture(plotting.QUERY), picture(plotting.KEY), claim],
    )  # fmt: skip
    html, said = html_of(tmp_path, [cell])
    assert said == ""
    assert html.count("<figure") == html.count("<figcaption") == 1
    inside = html[html.index("<figure") : html.index("</figure>")]
    assert inside.count("<svg") == 2
    assert inside.index("--pa-query") < inside.index("--pa-key") < inside.index("<figcaption")
    assert "A claim" not in inside
    assert html.count("A claim") == 2
    assert "tag_two-across" in html
    assert re.search(r'<span class="std std-numref">Fig. 1</span>', html)
    assert html.count('aria-label="two squares"') == 2


def test_two_cells_with_one_name_are_still_complained_of(tmp_path):
    figure = {"figure": {"caption": "What to see.", "name": "fig-one"}, "image": {"alt": "a square"}}
    cells = [
        new_code_cell("x", execution_count=n, metadata={"mystnb": figure}, outputs=[picture(plotting.KEY)])
        for n in (1, 2)
    ]
    _, said = html_of(tmp_path, cells)
    assert "Duplicate explicit target name" in said
