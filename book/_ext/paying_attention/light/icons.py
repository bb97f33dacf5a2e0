"""Icons as drawings inside the page, instead of the fonts and the script of Font Awesome.

The theme ships 1.8 MB for the twenty icons that a page shows. Their outlines stand in its own script, from
where they are taken. What the theme's styles write with a letter of the font becomes a small picture.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import quote

THEME = "_static/styles"
SCRIPT = "_static/scripts/fontawesome.js"
SHIPPED = ("_static/vendor/fontawesome", SCRIPT, f"{SCRIPT}.map", f"{SCRIPT}.LICENSE.txt")
ICON = re.compile(r'<(i|span) class="([^"]*\bfa-[^"]*)"([^>]*)>\s*</\1>')
FONTS = {"fa", "fas", "fab", "far", "fa-solid", "fa-brands", "fa-regular"}  # a drawing needs none
SIZES = {"fa-lg", "fa-fw"}
OUTLINE = r'[{{,]"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"{code}","([^"]+)"\]'
FONT_RULES = re.compile(
    r'@font-face\{[^{}]*Font Awesome[^{}]*\}|(?:\.fa-[\w-]+:before,?)+\{content:"[^"]*"\}', re.IGNORECASE
)
LETTER = re.compile(r'"(?:\\(f[0-9a-f]{3})|([\uf000-\uf8ff]))"')
MIDDLE = "#7a7a7a"  # a picture has no colour of its own: this one is seen by day and by night


@cache
def outlines(script: Path) -> str:
    """Return the text of the script that has them."""
    return script.read_text("utf8")


def outline(script: Path, name: str = "[a-z0-9-]+", code: str = "[0-9a-f]+") -> tuple[str, str, str]:
    """Return width, height and path of an icon, by its name or by the code of its letter.

    Raises:
        LookupError: The script has none such.
    """
    found = re.search(OUTLINE.format(name=name, code=code), outlines(script))
    if found is None:
        raise LookupError(f"Font Awesome has no icon called {name} with the code {code}")
    return found[1], found[2], found[3]


def drawn(script: Path, classes: str, attributes: str) -> str:
    """Return the drawing that takes the place of ``<i class="classes" attributes></i>``."""
    name = next(c for c in classes.split() if c.startswith("fa-") and c not in FONTS | SIZES)
    width, height, path = outline(script, name.removeprefix("fa-"))
    hidden = "" if "aria-" in attributes else ' aria-hidden="true"'
    names = escape(" ".join(c for c in classes.split() if c not in FONTS))
    return (
        f'<svg class="svg-inline--fa {names}"{attributes}{hidden} fill="currentColor"'
        f' viewBox="0 0 {width} {height}"><path d="{path}"/></svg>'
    )


def picture(script: Path, code: str) -> str:
    """Return the CSS for a picture of the icon whose letter has this code."""
    width, height, path = outline(script, code=code)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="14" height="14" viewBox="0 0 {width} {height}">'
        f'<path fill="{MIDDLE}" d="{path}"/></svg>'
    )
    return f"url({json.dumps('data:image/svg+xml,' + quote(svg, safe=' =/:'))})"


def finish(app, error) -> None:
    """Draw the icons into every page, and ship neither font nor script."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    script = out / SCRIPT
    if not script.exists():  # what an earlier build has left is done
        return
    for page in out.rglob("*.html"):
        old = page.read_text("utf8")
        new = ICON.sub(lambda icon: drawn(script, icon[2], icon[3]), old)
        page.write_text(re.sub(r"<script[^>]*fontawesome\.js[^>]*></script>", "", new), "utf8")
    for sheet in (out / THEME).glob("*.css"):
        text = FONT_RULES.sub("", sheet.read_text("utf8"))
        sheet.write_text(LETTER.sub(lambda one: picture(script, one[1] or f"{ord(one[2]):x}"), text), "utf8")
    for name in SHIPPED:
        shutil.rmtree(out / name) if (out / name).is_dir() else (out / name).unlink(missing_ok=True)
