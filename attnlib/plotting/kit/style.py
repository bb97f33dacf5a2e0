"""The colours of the book, its figure style, and reading numbers.

On the page ``book/_ext/paying_attention/page/svg_figures.py`` turns each of these colours into a variable of
the theme, so a figure uses them as they are, pale ones by transparency, and never a mixed one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_rgba
except ImportError as error:
    raise ImportError("figures need matplotlib: pip install 'attnlib[plot]'") from error

# what each means is the same in every figure, explorable and formula of the book
QUERY = "#1d5c96"
KEY = "#a8450f"
VALUE = "#1e7152"
WEIGHT = "#7d4e9e"
OUTPUT = "#a3245e"
INK = "#1f2730"
MUTED = "#55606c"
GRID = "#dbd7cd"
PAPER = "#ffffff"
WEIGHT_FILL = "#ab8ec4"  # a weight of 1 as a filled cell: pale enough for a number in ink to stand on it
# curves of anything else: a colour-blind reader tells them apart, and from the paper
SERIES = ("#0089a0", "#a87400", "#34414d", "#b83232")

# for each colour the name of its variable on the page, and what it is in the dark
THEME = {
    QUERY: ("--pa-query", "#8cc0f2"),
    KEY: ("--pa-key", "#f2a26b"),
    VALUE: ("--pa-value", "#7fd1b0"),
    WEIGHT: ("--pa-weight", "#c9a6e8"),
    OUTPUT: ("--pa-output", "#f08fb4"),
    WEIGHT_FILL: ("--pa-weight-fill", "#7a55a0"),
    INK: ("--pa-ink", "#dfe4ea"),
    MUTED: ("--pa-muted", "#a3adb8"),
    GRID: ("--pa-grid", "#38414b"),
    PAPER: ("--pa-paper", "#15191e"),
    SERIES[0]: ("--pa-series-1", "#35b0c8"),
    SERIES[1]: ("--pa-series-2", "#d9a62e"),
    SERIES[2]: ("--pa-series-3", "#e3e8ee"),
    SERIES[3]: ("--pa-series-4", "#ff7b72"),
}


def fading(name: str, *ends: tuple[str, float]) -> LinearSegmentedColormap:
    """Return a colour map through colours of the theme, each with its opacity."""
    return LinearSegmentedColormap.from_list(name, [to_rgba(colour, opacity) for colour, opacity in ends])


WEIGHTS = fading("weights", (WEIGHT_FILL, 0), (WEIGHT_FILL, 1))
MASK = ListedColormap([to_rgba(GRID, 0.6), to_rgba(WEIGHT_FILL, 1)], "mask")

_STYLE = {
    "figure.figsize": (5.6, 3.1),
    "figure.dpi": 144,
    "savefig.dpi": 144,
    "figure.constrained_layout.use": True,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": plt.cycler("color", SERIES),
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    # 10 pt are 13 px on the page; the first font measures, since every matplotlib brings it, and is wide
    "font.size": 10,
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Source Sans 3", "Helvetica Neue", "Arial"],
    "path.simplify": False,  # or a last digit decides how many points a line has
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "paying attention",  # or ids are random
}
SAVING = {"bbox_inches": "tight", "pad_inches": 0.04, "metadata": {"Date": None, "Creator": None}}


def book_style() -> None:
    """Draw figures as the book does, from here on; in a notebook, as SVG whose text is text.

    The same code gives the same bytes each time it runs.
    """
    plt.rcParams.update(_STYLE)
    try:
        from IPython import get_ipython
        from matplotlib_inline.config import InlineBackend
    except ImportError:  # plain Python
        return
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return
    backend = InlineBackend.instance(parent=shell)
    backend.shell = shell
    backend.print_figure_kwargs = dict(SAVING)
    backend.figure_formats = {"svg"}


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return where to draw: the axes that are given, or those of a new figure, of this size in inches."""
    return plt.subplots(figsize=size)[1] if ax is None else ax


def array(x: Tensor | np.ndarray | Sequence) -> np.ndarray:
    """Read numbers from wherever they are."""
    return x.detach().cpu().double().numpy() if isinstance(x, Tensor) else np.asarray(x, dtype=float)
