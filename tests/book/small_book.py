"""A book of a few cells with every feature of a page, built with the settings of the real one."""

import base64
import os
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnlib.learn._show import line
from tests.book import CONFIG, ROOT

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
assert base64.b64decode(PIXEL)

CONF = """
import sys, yaml
sys.path.insert(0, {ext!r})
from paying_attention.order import AFTER_BUILD, BEFORE
from paying_attention.site import sharing, stored_run
BEFORE.remove(stored_run.refuse)  # nothing here was run
AFTER_BUILD.remove(sharing.take_cards)
book = yaml.safe_load(open({config!r}))["sphinx"]["config"]
globals().update({{name: value for name, value in book.items() if name != "extensions"}})
left_out = ("jupyter_book", "sphinx_external_toc", "sphinx_comments", "notfound.extension")
extensions = [name for name in book["extensions"] if name not in left_out]
html_theme, html_static_path = "sphinx_book_theme", [{static!r}]
html_theme_options.pop("logo")
html_theme_options["launch_buttons"] = {launch!r}
html_theme_options["repository_url"] = "https://github.com/authors/paying-attention"
references_file, nb_execution_mode = {bib!r}, "off"
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
suppress_warnings = ["toc.not_included"]
"""


def shown(number, text, measured=""):
    """Return the output of a claim, as `attnlib.learn.claim` leaves it."""
    label = f'<strong><a class="pa-number" href="#claim-{number}">Claim {number}.</a></strong>'
    rest = f' <span class="pa-measured">{measured}</span>' if measured else ""
    html = f'<div class="pa-line pa-good" id="claim-{number}"><span class="pa-mark">✓</span> {label} {text}{rest}</div>'
    return new_output("display_data", {"text/html": html, "text/plain": f"✓ Claim {number}. {text}"})


# the class first, or the build would wait for a front end to draw it
VIEW = '<script class="none" type="application/vnd.jupyter.widget-view+json">{}</script>'
EXPLORABLE = new_output("display_data", {"text/html": VIEW, "text/plain": "W"})
DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="403pt" height="200pt" viewBox="0 0 403 200">'
    """<rect width="403" height="200" style="fill: #ffffff"/>"""
    """<text x="20" y="50" style="font: 10px 'DejaVu Sans'; fill: #1f2730">letters</text></svg>"""
)
DRAWING = new_output("display_data", {"image/svg+xml": DRAWN, "text/plain": "<Drawing>"})
FIGURE = new_output("display_data", {"image/png": PIXEL, "text/plain": "<Figure>"})
CAPTION = {"mystnb": {"figure": {"caption": "A pixel", "name": "fig-pixel"}, "image": {"alt": "A red pixel"}}}


def code(source, *outputs, tags=(), **metadata):
    """Return a code cell."""
    return new_code_cell(
        source, outputs=list(outputs), execution_count=1, metadata={"tags": list(tags), **metadata}
    )


def text(source, *, tags=(), **metadata):
    """Return a markdown cell."""
    return new_markdown_cell(source, metadata={"tags": list(tags), **metadata})


CHOICES = (
    "**Guess.** Of what it read, it gives back ...\n\n- nearly everything\n- about half\n- about a quarter"
)
NUMBER = (
    "**Guess.** How many steps?\n\n<details><summary>Answer</summary>\n\nIt takes *forty-four*.\n\n</details>"
)
STEPS = {"answer": 44, "unit": "steps", "within": 3, "says": {"high": "It is *quicker* than that."}}
QUARTER = {
    "answer": "about a quarter",
    "says": {"about half": "Half is what `two` give back.", "about a quarter": "One in 4."},
}

CELLS = [
    text(
        "# Small\n\nIt began with [Elman (1990)](references.md#elman1990) and a [softmax](glossary.md#softmax)."
    ),
    code("import torch", tags=["setup"]),
    text("Nine words stand in this paragraph, which has notes.\n\n> Five seeds.\n\n> And ten."),
    code("train()", tags=["proof"]),
    code("draw()", FIGURE, tags=["proof"], **CAPTION),
    code(
        "measure()",
        shown(1, "It folds", "measured: 0.278; required: under 0.4"),
        shown(2, "So it is"),
        tags=["proof"],
        said=[None, "So it"],
    ),
    code("again()", shown(3, "Once more"), tags=["proof"]),
    text("Under load **it folds**. So it is, everywhere. Once more we fold."),
    code("draw_more()", DRAWING, tags=["proof"], mystnb={"image": {"alt": "Letters"}}),
    code("explore()", EXPLORABLE, tags=["proof"]),
    text("## A guess"),
    text(CHOICES, tags=["guess"], guess=QUARTER),
    code("answer()", shown(4, "A quarter it is"), tags=["proof", "answer"]),
    text("A quarter is not much.", tags=["answer"]),
    text(NUMBER, tags=["guess"], guess=STEPS),
    code("taught()\nin_sight()  # quiet", shown(5, "It was taught"), shown(6, "Twice")),
    text(r"$\color{#1d5c96}{Q} \color{#a3245e}{O}$, too, is in colour."),
    text(
        r"$$\begin{aligned} a &= b + c + d + e + f + g + h + i + j + k + l + m && \text{a note at the right} \end{aligned}$$"
    ),
    text("### Going deeper: Why a quarter?\n\nThese words are not counted either.\n\n> Nor is this note."),
    code("deep()", FIGURE, tags=["proof"]),
    code("deeper()", shown(7, "It goes deep"), tags=["proof"]),
    text("## Exercises\n\nNobody counts these words."),
]


def exercise(source, id, heading):
    """Return the cells of an exercise that nobody has attempted."""
    label = f"Exercise {id}."
    output = new_output(
        "display_data", {"text/html": line("todo", "○", label, "Not attempted yet."), "text/plain": label}
    )
    return [
        text(f"### {heading}\n\n*easy, 3 minutes.* How much?"),
        code(f'{source}\n\ncheck("{id}", answer)', output),
    ]


PRACTICE = [
    text("# 1. The RNN bottleneck\n\n## Exercises"),
    *exercise("def answer(x):\n    return ...", "1.1", "Exercise 1.1: A whole network"),
    *exercise("answer = [..., ...]", "1.8", "Exercise 1.8: Sixteen times as wide"),
    *exercise("answer = [..., ..., ...]", "3.1", "Exercise 3.1: The query behind the scores"),
    *exercise("answer = [...]", "4.8", "Exercise 4.8: One matrix for both"),
    *exercise("answer = {...}", "6.6", "Exercise 6.6: Which of them leak"),
    *exercise("answer = {...}", "1.5", "Exercise 1.5: Path lengths"),
    text("How far are you?"),
    text("## Quiz"),
]
PAGES = {
    "index.md": '# A book\n\n<p class="pa-start"><span class="pa-then">Nothing to install.</span></p>\n\n'
    "Begin. It takes {count}`minutes of small` minutes.\n\n```{toctree}\nsmall\nother\ntries\nsolutions/small\n01_rnn_bottleneck\nhow_to_use\nglossary\nreferences\n```\n",
    "how_to_use.md": "# How to\n\n## Run\n\nAt home.\n\n## Progress\n\n```{progress}\n```\n",
    "glossary.md": "# Glossary\n\n```{glossary}\nSoftmax\n  Numbers that sum to $1$.\n```\n",
    "tries.md": "# Tries\n\n```{explorable} GradientDecay\n```\n\nLet it grow: [a weight of 1.2](#explore=decay&weight=1.2&length=60).\n",
    "references.md": "# References\n\n```{references}\n```\n",
}


def build(folder, cells=None, more=()):
    """Build the book in a folder, with more notebooks, by name; return the exit code and what was said."""
    more = dict(more)
    notebooks = {
        "small": cells or CELLS,
        "other": [text("# Other"), code("fold_me()", shown(1, "One"), tags=["proof"])],
        "01_rnn_bottleneck": PRACTICE,
        "solutions/small": [
            text("# Solutions\n\nMeasured:"),
            code("solve()", shown(1, "It is four", "measured: 4.0"), tags=["proof"]),
        ],
    } | more
    for name, content in notebooks.items():
        (folder / name).parent.mkdir(exist_ok=True)
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(new_notebook(cells=content, metadata=metadata), folder / f"{name}.ipynb")
    index = PAGES["index.md"].replace("\nreferences\n", "\n".join(["\nreferences", *more, ""]))
    for name, content in (PAGES | {"index.md": index}).items():
        (folder / name).write_text(content, "utf8")
    settings = {
        "ext": str(ROOT / "book/_ext"),
        "config": str(ROOT / "_config.yml"),
        "static": str(ROOT / "book/_static"),
        "launch": CONFIG["launch_buttons"],
        "bib": str(ROOT / "book/references.bib"),
    }
    (folder / "conf.py").write_text(CONF.format(**settings), "utf8")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(folder), str(folder / "_build")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return done.returncode, done.stderr
