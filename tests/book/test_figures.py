"""The comparison of figures: it must see what a reader would see, and look past what a machine does."""

import base64
import io

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from tests.book import ROOT, figures
from tests.book.figures import png_difference, png_gist_difference

BLUE, ORANGE, GREEN, PURPLE = "#1d5c96", "#c2571a", "#2b8a6a", "#7d4e9e"
BLUES = LinearSegmentedColormap.from_list("weights", ["white", BLUE])
X = np.linspace(0, 1, 11)


def drawing(draw, **size):
    """Return what ``draw`` draws on axes in the style of the book, as a notebook stores it."""
    with matplotlib.rc_context(fname=ROOT / "book/matplotlibrc"):
        figure = Figure(**size)
        draw(figure.subplots())
        file = io.BytesIO()
        figure.savefig(file, bbox_inches="tight")
    return base64.b64encode(file.getvalue()).decode()


def lines(curves, label="steps", dots=(), **size):
    def draw(ax):
        for colour, curve in curves.items():
            ax.plot(X, curve, color=colour)
        for dot in dots:
            ax.plot(*dot, ".", color=ORANGE, markersize=4)
        ax.set(ylim=(-0.05, 1.05), xlim=(0, 1), xlabel=label)

    return drawing(draw, **size)


def heat_map(weights):
    return drawing(lambda ax: ax.imshow(weights, vmin=0, vmax=1, cmap="Blues"))


STORED = lines({BLUE: X, ORANGE: X**2, GREEN: 1 - X})
CHANGES = {
    "another curve": lines({BLUE: X, ORANGE: X**3, GREEN: 1 - X}),
    "a curve moved by two hundredths": lines({BLUE: X, ORANGE: X**2 + 0.02, GREEN: 1 - X}),
    "one point of a curve": lines({BLUE: X, ORANGE: X**2 + 0.05 * (X == 0.5), GREEN: 1 - X}),
    "a missing line": lines({BLUE: X, ORANGE: X**2}),
    "swapped colours": lines({GREEN: X, ORANGE: X**2, BLUE: 1 - X}),
    "another colour": lines({PURPLE: X, ORANGE: X**2, GREEN: 1 - X}),
    "an empty axes": lines({}),
    "another label": lines({BLUE: X, ORANGE: X**2, GREEN: 1 - X}, label="tests"),
    "one dot more": lines({BLUE: X, ORANGE: X**2, GREEN: 1 - X}, dots=[(0.5, 0.9)]),
}


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


def test_the_colours_are_those_of_the_book():
    with matplotlib.rc_context(fname=ROOT / "book/matplotlibrc"):
        cycle = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    assert ["#{:02x}{:02x}{:02x}".format(*colour) for colour in figures.COLOURS] == cycle


def test_transparent_is_white():
    clear = np.zeros((3, 5, 4))
    file = io.BytesIO()
    matplotlib.image.imsave(file, clear, format="png")
    assert (figures.decode(base64.b64encode(file.getvalue()).decode()) == 255).all()
