"""Formulas are set at build time; a page needs no MathJax, and shows them without script.

A headless Chromium sets every formula of the book once, with MathJax from a package, in the font of the text;
what it made, MathML for screen readers included, takes the place of the TeX in the pages. The site ships the
style sheet and the fonts for it. Without a Chromium, pages with a formula ask for MathJax, others do not.

There MathJax's menu offers renderers and readers that are not shipped, and stores the choice: from then on no
formula is set. `enableMenu: false` in ``_config.yml`` hides it, but what a reader once stored is read all the
same, unless it is looked for under another name.

A comma or a full stop after a formula stays on its line.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import files
from pathlib import Path
from shutil import copy2

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from paying_attention import browser
from paying_attention.html_element import element

logger = logging.getLogger(__name__)

# what tex-chtml.js needs at run time; the package carries 24 MB of other components
MATHJAX = (
    "tex-chtml.js",
    "output/chtml/fonts/woff-v2/",
    "input/tex/extensions/",
    "a11y/assistive-mml.js",
    "ui/safe.js",
)
MATHS = re.compile(r'(<(span|div) class="(?:amsmath )?math notranslate[^>]*>)(.*?)(</\2>)', re.DOTALL)
SCRIPTS = re.compile(
    r"\s*<script(?: [^>]*)?>\s*window\.MathJax = .*?</script>|\s*<script[^>]*/mathjax/[^>]*></script>",
    re.DOTALL,
)
FORGET_MENU = """
window.MathJax = { ...window.MathJax, startup: { ready() {
  MathJax._.ui.menu.Menu.Menu.MENU_STORAGE = "MathJax-without-menu";
  MathJax.startup.defaultReady();
} } };
"""
SHEET = "mathjax/formulas.css"
BLANK = """<!DOCTYPE html><meta charset="utf-8">
<style>{fonts}</style>
<script>window.MathJax = {settings};</script>
<script src="_static/mathjax/tex-chtml.js"></script>
<body style="font: 16px 'Book Serif', serif">{formulas}"""
SET = """async () => {
  await document.fonts.load('1em "Book Serif"');
  await MathJax.startup.promise;
  await MathJax.typesetPromise();
  await document.fonts.ready;
  const unused = [...document.fonts].filter((font) => font.status !== "loaded").map((font) => font.family);
  const styles = [...document.querySelectorAll("style[id^=MJX]")].flatMap((one) => [...one.sheet.cssRules]);
  return {
    formulas: [...document.querySelectorAll(".math")].map((one) => one.innerHTML),
    errors: [...document.querySelectorAll("mjx-merror")].map((one) => one.textContent),
    style: styles.filter((rule) => !unused.includes(rule.style?.fontFamily))
      .map((rule) => rule.cssText).join("\\n"),
  };
}"""


def ship(static: Path) -> None:
    """Copy MathJax into the site."""
    for file in files("sphinx-mathjax-offline") or []:
        name = file.as_posix().partition("static/mathjax/")[2]
        if name.startswith(MATHJAX):
            to = static / "mathjax" / name
            to.parent.mkdir(parents=True, exist_ok=True)
            copy2(file.locate(), to)


def ship_fonts_only(static: Path, style: str) -> None:
    """Write the style sheet, and leave nothing of what was copied but the fonts that it names."""
    for file in [one for one in (static / "mathjax").rglob("*") if one.is_file() and one.name not in style]:
        file.unlink()
    (static / SHEET).write_text(re.sub(r'url\("[^"]*/mathjax/', 'url("', style), "utf8")


def set_all(out: Path, inner: list[str], chromium: str, settings: dict) -> dict:
    """Set formulas, given as they stand in a page between its tags.

    Returns:
        The formulas in the same order, the errors of TeX, and the style sheet for all of them.
    """
    faces = re.findall(r"@font-face[^}]*}", (out / "_static/book.css").read_text("utf8"))
    blank = out / "formulas.html"
    settings = settings | {"startup": {"typeset": False}}
    formulas = "".join(f'<p><span class="math">{one}</span></p>' for one in inner)
    fonts = "".join(faces).replace("url(", "url(_static/")
    blank.write_text(BLANK.format(fonts=fonts, settings=json.dumps(settings), formulas=formulas), "utf8")
    try:
        with browser.opened(chromium) as opened:
            tab = opened.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(blank.as_uri())
            found = tab.evaluate(SET)
    finally:
        blank.unlink()
    return found


def with_tex(formula: str, tex: str) -> str:
    """Return a formula whose MathML says how it was written, for those who copy it or print it elsewhere."""
    written = tex.strip().removeprefix("\\(").removesuffix("\\)").strip().replace('"', "&quot;")
    return formula.replace("<math ", f'<math alttext="{written}" ', 1)


def set_formulas(app, error) -> None:
    """Set the formulas of all pages, or leave MathJax to those that have one."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    texts = {page: page.read_text("utf8") for page in sorted(out.rglob("*.html"))}
    inner = sorted(
        {found[3] for text in texts.values() for found in MATHS.finditer(text) if "<mjx-" not in found[3]}
    )
    chromium = browser.find() if inner else None
    done = {}
    ship(out / "_static")
    (out / "_static" / SHEET).touch()
    if chromium:
        found = set_all(out, inner, chromium, app.config.mathjax3_config)
        for wrong in found["errors"]:
            logger.warning("formulas: MathJax cannot set %s", wrong)
        done = {tex: with_tex(one, tex) for tex, one in zip(inner, found["formulas"], strict=True)}
        ship_fonts_only(out / "_static", found["style"])
        logger.info("formulas: %d different ones set", len(done))
    elif inner:
        logger.info("formulas: no Chromium, they are set when the page opens")
    for page, text in texts.items():
        if done or not MATHS.search(text):
            text = SCRIPTS.sub("", text)
        page.write_text(MATHS.sub(lambda m: m[1] + done.get(m[3], m[3]) + m[4], text), "utf8")


PUNCTUATION = re.compile(r"[.,;:?!)’”]+")


def after(formula: nodes.math) -> nodes.Text | None:
    """Return the text that follows a formula without a blank, if it does."""
    follows = formula.next_node(descend=False, siblings=True)
    return follows if isinstance(follows, nodes.Text) and PUNCTUATION.match(follows) else None


class Unbroken(SphinxPostTransform):
    """Keep each formula and the punctuation after it together."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Wrap them."""
        for formula in list(self.document.findall(nodes.math)):
            follows = after(formula)
            if follows is None:
                continue
            marks = PUNCTUATION.match(follows)[0]
            beside = follows.parent  # where equal texts may come before it
            place = next(i for i, node in enumerate(beside) if node is follows)
            beside[place] = nodes.Text(follows[len(marks) :])
            whole = element("span", formula.deepcopy(), nodes.Text(marks), class_="pa-unbroken")
            formula.parent.replace(formula, whole)
