"""The colours and the style of the book: seen on both papers, told apart, and the same bytes each time."""

import io
import itertools
import re
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import THEME
from tests.book import ROOT

mpl.use("Agg")

FIVE = [plotting.QUERY, plotting.KEY, plotting.VALUE, plotting.WEIGHT, plotting.OUTPUT]
# how a red- and a green-blind eye sees linear light (Machado, Oliveira and Fernandes 2009, severity 1)
BLIND = {
    "red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
}


def light(colour):
    """Return the linear light of a colour."""
    part = np.array(list(bytes.fromhex(colour[1:]))) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    """Return the contrast of two colours as WCAG counts it."""
    low, high = sorted(light(colour) @ [0.2126, 0.7152, 0.0722] for colour in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(linear):
    """Return linear light as lightness and two hues, in which distances are what an eye sees."""
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
    x, y, z = np.cbrt(np.array(to_xyz) @ np.clip(linear, 0, 1) / [0.95047, 1, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("colour", [*FIVE, *plotting.SERIES, plotting.INK, plotting.MUTED])
def test_every_colour_is_seen_on_light_and_on_dark_paper(colour):
    assert contrast(colour, "#fdfcf9") >= 3
    assert contrast(THEME[colour][1], "#15191e") >= 3


def test_a_number_can_be_read_on_the_fullest_cell():
    fill, ink = "#ab8ec4", plotting.INK
    assert contrast(fill, ink) >= 4.5
    assert contrast(THEME[fill][1], THEME[ink][1]) >= 4.5


@pytest.mark.parametrize("blind", BLIND)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_colour_blind_reader_tells_the_series_apart(blind, theme):
    shown = [colour if theme == "light" else THEME[colour][1] for colour in plotting.SERIES]
    seen = [lab(np.array(BLIND[blind]) @ light(colour)) for colour in shown]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 15


def test_the_style_sheet_of_the_page_has_the_same_colours():
    css = (ROOT / "book/_static/colours.css").read_text()
    lit, dark, printed = re.split(r'html\[data-theme="dark"\]|@media print', css)
    for colour, (name, at_night) in THEME.items():
        if colour != plotting.PAPER:
            assert f"{name}: {colour};" in lit
            assert f"{name}: {at_night};" in dark
            assert f"{name}: {colour};" in printed


def drawn_svg():
    with mpl.rc_context():
        plotting.book_style()
        ax = plotting.curves({"tied": [[3.0, 1.0], [2.0, 1.5]]}, level=(1.2, "chance"))
        file = io.StringIO()
        ax.figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close("all")
    return file.getvalue()


def test_a_figure_drawn_twice_has_the_same_bytes_and_its_text_is_text():
    first = drawn_svg()
    assert first == drawn_svg()
    for text in ("tied", "chance", "loss", "step"):
        assert f">{text}</text>" in first


def test_labels_are_ten_points():
    with mpl.rc_context():
        plotting.book_style()
        sizes = ("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
        assert {mpl.rcParams[name] for name in sizes} == {10}


def test_no_helper_sets_smaller_text():
    for file in (ROOT / "attnlib/plotting").rglob("*.py"):
        assert not re.search(r"fontsize=|labelsize=[\d.]+\)|markersize=0", file.read_text()), file.name


@pytest.mark.starts_process
def test_in_a_notebook_figures_are_stored_as_svg_without_a_date():
    code = (
        "import matplotlib.pyplot as plt\n"
        "from attnlib import plotting\n"
        "plotting.book_style()\n"
        "plotting.lines([0, 1], {'line': [0, 1]})\n"
        "plt.show()"
    )
    outputs = [run_cells(code) for _ in range(2)]
    assert outputs[0] == outputs[1]
    (picture,) = outputs[0]
    assert set(picture) == {"image/svg+xml", "text/plain"}
    assert "<dc:date>" not in picture["image/svg+xml"]
    assert "Matplotlib v" not in picture["image/svg+xml"]


def run_cells(*cells):
    """Return the data of the outputs of a notebook with these cells."""
    import nbformat
    from nbclient import NotebookClient

    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(nb, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    return [output.data for cell in nb.cells for output in cell.outputs]


@pytest.mark.starts_process
def test_without_a_notebook_the_style_only_sets_the_style():
    code = (
        "import sys\n"
        "sys.modules['matplotlib_inline'] = sys.modules['IPython'] = None\n"
        "import matplotlib; matplotlib.use('Agg')\n"
        "from attnlib import plotting; plotting.book_style()\n"
        "print(matplotlib.rcParams['svg.fonttype'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "none"
