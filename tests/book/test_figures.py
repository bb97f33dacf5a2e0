"""The comparison of figures: it must see what a reader would see, and look past what a machine does."""

import base64
import io
import re

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from attnlib import plotting
from tests.book import figures
from tests.book.figures import png_difference, png_gist_difference
from tests.book.svg_comparison import svg_difference, svg_gist_difference

BLUE, ORANGE, GREEN, PURPLE = plotting.QUERY, plotting.KEY, plotting.VALUE, plotting.WEIGHT
BLUES = LinearSegmentedColormap.from_list("weights", ["white", BLUE])
X = np.linspace(0, 1, 11)


def drawing(draw, kind="png", **size):
    """Return what ``draw`` draws on axes in the style of the book, as a notebook stores it."""
    with matplotlib.rc_context():
        plotting.book_style()
        figure = Figure(**size)
        draw(figure.subplots())
        file = io.BytesIO()
        figure.savefig(
            file, format=kind, bbox_inches="tight", metadata={"Date": None} if kind == "svg" else None
        )
    return file.getvalue().decode() if kind == "svg" else base64.b64encode(file.getvalue()).decode()


def lines(curves, label="steps", dots=(), x=X, **size):
    def draw(ax):
        for colour, curve in curves.items():
            ax.plot(x, curve, color=colour)
        for dot in dots:
            ax.plot(*dot, ".", color=ORANGE, markersize=4)
        ax.set(ylim=(-0.05, 1.05), xlim=(0, 1), xlabel=label)

    return drawing(draw, **size)


def heat_map(weights):
    return drawing(lambda ax: ax.imshow(weights, vmin=0, vmax=1, cmap="Blues"))


def pictures(kind):
    """Return a figure as it is stored, and what may have become of it."""
    first, second, third = {BLUE: X}, {ORANGE: X**2}, {GREEN: 1 - X}
    stored = first | second | third

    def draw(curves, **more):
        return lines(curves, kind=kind, **more)

    return draw(stored), {
        "another curve": draw(first | {ORANGE: X**3} | third),
        "a curve moved by two hundredths": draw(first | {ORANGE: X**2 + 0.02} | third),
        "one point of a curve": draw(first | {ORANGE: X**2 + 0.05 * (X == 0.5)} | third),
        "a missing line": draw(first | second),
        "swapped colours": draw({GREEN: X} | second | {BLUE: 1 - X}),
        "another colour": draw({PURPLE: X} | second | third),
        "an empty axes": draw({}),
        "another label": draw(stored, label="tests"),
        "one dot more": draw(stored, dots=[(0.5, 0.9)]),
    }


STORED, CHANGES = pictures("png")
STORED_SVG, SVG_CHANGES = pictures("svg")


@pytest.mark.parametrize("change", CHANGES)
def test_a_picture_that_changed_is_seen_both_ways(change):
    assert "the figure changed" in png_difference(STORED, CHANGES[change])
    assert "the figure changed" in png_difference(CHANGES[change], STORED)


def test_one_pixel_is_not_a_figure():
    pixel = base64.b64encode(one_pixel()).decode()
    assert png_difference(STORED, pixel) == "the stored figure is 823 x 463 pixels, the new one 1 x 1"
    assert png_difference(pixel, STORED) == "the stored figure is 1 x 1 pixels, the new one 823 x 463"
    assert png_gist_difference(STORED, pixel)


def one_pixel():
    file = io.BytesIO()
    matplotlib.image.imsave(file, np.zeros((1, 1)), cmap="gray", format="png")
    return file.getvalue()


def test_the_same_drawing_has_the_same_bytes():
    assert lines({BLUE: X, ORANGE: X**2, GREEN: 1 - X}) == STORED
    assert png_difference(STORED, STORED) == ""


@pytest.mark.parametrize("off", [1e-6, 1e-4, 1e-3, 3e-3])
def test_a_curve_that_moved_as_machines_do_is_alike(off):
    moved = lines({BLUE: X + off, ORANGE: X**2 - off, GREEN: 1 - X + off})
    assert png_difference(STORED, moved) == ""


def test_a_picture_wider_by_a_pixel_is_alike_and_by_more_is_not():
    stored = figures.decode(STORED)
    for more, alike in ((1, True), (2, True), (3, False)):
        wider = np.pad(stored, ((0, 0), (more, 0), (0, 0)), mode="edge")
        assert (figures.size_difference(stored, wider, figures.REACH) == "") is alike
        if alike:
            assert figures.pixel_difference(stored, wider) == ""


def test_a_weight_in_a_heat_map_may_move_by_a_hundredth_and_not_by_a_tenth():
    weights = np.linspace(0, 1, 35).reshape(5, 7)
    for off, alike in ((0.01, True), (0.1, False)):
        moved = weights - off * (weights == weights[2, 3])
        assert (png_difference(heat_map(weights), heat_map(moved)) == "") is alike


def test_a_figure_of_times_is_compared_in_size_and_colours():
    assert png_gist_difference(STORED, lines({BLUE: X**3, ORANGE: X / 2, GREEN: X}, label="other")) == ""
    wide = lines({BLUE: X, ORANGE: X, GREEN: 1 - X}, figsize=(7, 3.1))
    assert "823 x 463 pixels, the new one" in png_gist_difference(STORED, wide)
    for change in ("a missing line", "another colour", "an empty axes"):
        assert "pixels had the colour #" in png_gist_difference(STORED, CHANGES[change])
        assert "pixels had the colour #" in png_gist_difference(CHANGES[change], STORED)


def test_the_darkest_cell_of_a_heat_map_may_be_a_little_lighter_elsewhere():
    cells = [np.full((5, 7), dark) for dark in (1.0, 0.95, 0.5)]
    full, nearly, half = (drawing(lambda ax, x=x: ax.imshow(x, vmin=0, vmax=1, cmap=BLUES)) for x in cells)
    assert png_gist_difference(full, nearly) == ""
    assert png_gist_difference(full, half)


def test_transparent_is_white():
    clear = np.zeros((3, 5, 4))
    file = io.BytesIO()
    matplotlib.image.imsave(file, clear, format="png")
    assert (figures.decode(base64.b64encode(file.getvalue()).decode()) == 255).all()


@pytest.mark.parametrize("change", SVG_CHANGES)
def test_an_svg_that_changed_is_seen_both_ways(change):
    assert "the figure changed" in svg_difference(STORED_SVG, SVG_CHANGES[change])
    assert "the figure changed" in svg_difference(SVG_CHANGES[change], STORED_SVG)


def test_the_same_svg_has_the_same_bytes():
    assert lines({BLUE: X, ORANGE: X**2, GREEN: 1 - X}, kind="svg") == STORED_SVG
    assert svg_difference(STORED_SVG, STORED_SVG) == ""


@pytest.mark.parametrize("off", [1e-7, 1e-5, 1e-3])
def test_an_svg_whose_numbers_are_off_as_on_another_machine_is_alike(off):
    moved = lines({BLUE: X + off, ORANGE: X**2 - off, GREEN: 1 - X + off}, kind="svg")
    assert moved != STORED_SVG
    assert svg_difference(STORED_SVG, moved) == ""


def test_other_ids_are_no_difference_and_another_marker_is():
    def dots(marker, width):
        return drawing(lambda ax: ax.plot(X, X, marker, color=BLUE), kind="svg", figsize=(width, 3))

    alike, other = dots("o", 4.0005), dots("s", 4)
    assert set(re.findall(r'id="p\w+"', alike)) != set(re.findall(r'id="p\w+"', dots("o", 4)))
    assert svg_difference(dots("o", 4), alike) == ""
    assert svg_difference(dots("o", 4), other)


def test_a_cell_of_an_svg_heat_map_may_be_off_by_a_hundredth_and_not_by_a_twentieth():
    weights = np.linspace(0, 1, 35).reshape(5, 7)
    names = list("abcdefg")

    def heat(x):
        return drawing(lambda ax: plotting.heatmap(x, names[:5], names, digits=0, ax=ax), kind="svg")

    for off, alike in ((0.01, True), (0.05, False)):
        moved = weights - off * (weights == weights[2, 3])
        assert (svg_difference(heat(weights), heat(moved)) == "") is alike


def test_pixels_inside_an_svg_are_compared_as_pixels():
    rng = np.random.default_rng(0)
    x, y = rng.random(400), rng.random(400)

    def clouds(x):
        return drawing(lambda ax: ax.plot(x, y, "o", rasterized=True), kind="svg")

    stored = clouds(x)
    assert "data:image/png" in stored
    assert svg_difference(stored, clouds(x + 1e-7)) == ""
    assert "pixels differ" in svg_difference(stored, clouds(x[::-1]))


def test_an_svg_of_times_is_compared_in_size_colours_and_words():
    other = lines({BLUE: X**3, ORANGE: X / 2, GREEN: X}, kind="svg")
    assert svg_difference(STORED_SVG, other)
    assert svg_gist_difference(STORED_SVG, other) == ""
    wide = lines({BLUE: X, ORANGE: X, GREEN: 1 - X}, kind="svg", figsize=(7, 3.1))
    assert "points, the new one" in svg_gist_difference(STORED_SVG, wide)
    for change in ("a missing line", "another colour", "an empty axes"):
        assert "of its colours" in svg_gist_difference(STORED_SVG, SVG_CHANGES[change])
        assert "of its colours" in svg_gist_difference(SVG_CHANGES[change], STORED_SVG)
    assert "of its texts ['steps'] are gone" in svg_gist_difference(STORED_SVG, SVG_CHANGES["another label"])


def test_numbers_at_the_axes_and_what_a_model_wrote_are_no_words():
    def written(text, reach):
        def draw(ax):
            ax.set_xlim(0, reach)
            ax.text(0, 0, text, family="monospace")
            ax.text(0, 0.5, f"$n^{{{reach / 10}}}$ as one says")
            ax.text(0, 0.7, f"LSTM, n{'¹·⁴' if reach > 10 else '⁰·⁹'}")

        return drawing(draw, kind="svg")

    assert svg_gist_difference(written("to be", 10), written("or not", 30)) == ""


def test_drawings_are_compared_too():
    stored, other, longer = (
        plotting.unrolled_network(words)._repr_svg_() for words in (["a", "b"], ["a", "c"], ["a", "b", "c"])
    )
    assert svg_difference(stored, stored) == ""
    assert "the text 'b|' is now 'c|'" in svg_difference(stored, other)
    assert svg_difference(stored, longer)
