"""A page asks for one style sheet and the scripts it needs; none keeps the text waiting.

First, what the theme writes is repaired. Then icons: the theme ships 1.8 MB for the twenty icons that a page
shows. Their outlines stand in its own script, from where they are taken, and drawn inside the page. What the
theme's styles write with a letter of the font becomes a small picture.

In the end, styles and scripts: Sphinx, the theme and the extensions ask for a dozen style sheets and as many
scripts, on every page alike, and most of the scripts stop the page until all styles are there. Here the
styles become one sheet, in their order, without the rules whose selectors all ask for a class that no page
and no script has a word for; a script that finds nothing to do on a page is left out; the others wait until
the page is read.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import quote

# accessibility: what axe-core finds in pages of sphinx-book-theme 1.3.0, myst-nb 1.4.0 and docutils 0.21
REPAIRS = [
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    # without script a page is light; the theme's script asks for another
    (r'(<html [^>]*)data-theme="auto"', r'\1data-theme="light"'),
    (
        r'(<button class="btn search-button-field[^>]*?) aria-label="Search"',
        r"\1",
    ),
    (
        r'(<i class="theme-switch [^>]*?)\s+title="[^"]*"',
        r'\1 aria-hidden="true"',
    ),
    (
        r'<div id="pst-primary-sidebar" class=',
        r'<div id="pst-primary-sidebar" role="navigation" aria-label="Book" class=',
    ),
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    (r'(<div class="citation"[^>]*?) role="doc-biblioentry"', r"\1"),
]


def repair(app, error) -> None:
    """Repair every page."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        old = new = page.read_text("utf8")
        for pattern, replacement in REPAIRS:
            new = re.sub(pattern, replacement, new)
        if new != old:
            page.write_text(new, "utf8")


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


def draw_icons(app, error) -> None:
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


COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)
RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
EMPTY = re.compile(r"@(?:media|supports)[^{};]*\{\s*\}")
WORD = re.compile(r"-?[A-Za-z_][\w-]*")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
INSIDE = re.compile(r"\([^()]*\)|\[[^\]]*\]")
COMMA = re.compile(r",(?![^()]*\))")


def words(text: str) -> set[str]:
    """Return all words of pages or scripts that could be the name of a class, or the beginning of one."""
    return set(WORD.findall(text))


def can_apply(selector: str, known: set[str]) -> bool:
    """Return whether all classes of a selector are known; what is asked in brackets is not looked at."""
    if "\\" in selector:
        return True
    plain = INSIDE.sub("", INSIDE.sub("", selector))

    def is_known(name: str) -> bool:
        beginnings = (name[: i + 1] for i, letter in enumerate(name) if letter == "-")
        return name in known or any(one in known for one in beginnings)  # a script may put names together

    return all(is_known(name) for name in CLASS.findall(plain))


def used(css: str, known: set[str]) -> str:
    """Return a style sheet without the rules, and without the selectors, that can apply to nothing."""

    def kept(rule: re.Match) -> str:
        head, body = rule[1], rule[2]
        if "@" in head or "/*" in head:
            return rule[0]
        left = [one for one in COMMA.split(head) if can_apply(one, known)]
        return f"{','.join(left)}{{{body}}}" if left else ""

    return EMPTY.sub("", RULE.sub(kept, COMMENT.sub("", css)))


SHEET = re.compile(r'[ \t]*<link (?=[^>]*rel="stylesheet")[^>]*href="([^"]*?_static/)([^"?]*)[^>]*>\n?')
IMPORT = re.compile(r'@import "([^"]*)";')
ADDRESS = re.compile(r"url\((?!['\"]?(?:data:|#))['\"]?([^'\")]*)['\"]?\)")
SOURCE_MAP = re.compile(r"/\*# sourceMappingURL=.*?\*/|//# sourceMappingURL=.*")
WAITING = re.compile(r'<script (?:defer(?:="defer")? )?src="([^"]*)"></script>')

NOWHERE = r"(?!)"
# a script is asked for where its pattern is found; a pattern that is never found drops it everywhere
WHERE_FOUND = {
    "live.js": r'class="pa-live"',
    "clipboard.min.js": r'<div class="highlight',
    "copybutton.js": r'<div class="highlight',
    "python.js": r'class="[^"]*\bpa-live\b',  # something to run
    "design-tabs.js": r'class="[^"]*\bsd-tab-',
    "sphinx_highlight.js": NOWHERE,  # the book has a search of its own
    "searchtools.js": NOWHERE,
    "language_data.js": NOWHERE,
    "searchindex.js": NOWHERE,
}
EAGER = re.compile(r'\s*<link rel="preload" as="script"[^>]*>')  # nothing is in a hurry that only waits
# needs DOCUMENTATION_OPTIONS at once; what it sets is asked for by nothing that is here
SETTINGS = re.compile(r"\s*<script>DOCUMENTATION_OPTIONS\.(?:pagename|search_as_you_type) = [^<]*</script>")


def sheets_of(text: str) -> list[str]:
    """Return the names of the style sheets that a page asks for, each once, where it is asked for last."""
    found = [name for _, name in SHEET.findall(text)]
    return [name for i, name in enumerate(found) if name not in found[i + 1 :]]


def read(sheet: Path, static: Path) -> str:
    """Return a style sheet with what it imports, its addresses seen from ``static``."""
    text = SOURCE_MAP.sub("", sheet.read_text("utf8")).replace('@charset "UTF-8";', "")
    text = IMPORT.sub(lambda other: read((sheet.parent / other[1]).resolve(), static), text)
    here = sheet.parent.resolve().relative_to(static.resolve())
    return ADDRESS.sub(lambda to: f'url("{(here / to[1]).as_posix()}")', text)


def lightened(text: str) -> str:
    """Return a page whose scripts wait, without those that would find nothing to do."""
    body = text.partition("<body")[2]

    def waiting(script: re.Match) -> str:
        name = script[1].partition("?")[0].rpartition("/")[2]
        if not re.search(WHERE_FOUND.get(name, ""), body):
            return ""
        return f'<script defer src="{script[1]}"></script>'

    return WAITING.sub(waiting, EAGER.sub("", SETTINGS.sub("", text)))


def join_styles(app, error) -> None:
    """Join the styles, lighten every page, and ship nothing that went into the joined sheet."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    for file in [*static.rglob("*.map"), *static.rglob("*.html")]:  # for developers of the theme
        file.unlink()
    texts = {page: page.read_text("utf8") for page in sorted(out.rglob("*.html"))}
    names = next((names for text in texts.values() if len(names := sheets_of(text)) > 1), [])
    known = words(
        "\n".join([*texts.values(), *(script.read_text("utf8") for script in static.rglob("*.js"))])
    )
    joined = used("\n".join(read(static / name, static) for name in names), known)
    stamp = sha256(joined.encode()).hexdigest()[:8]
    for page, text in texts.items():
        if names and sheets_of(text) == names:
            root = SHEET.search(text)[1]
            link = f'  <link rel="stylesheet" href="{root}pages.css?v={stamp}" />\n'
            at = SHEET.search(text).start()
            text = text[:at] + link + SHEET.sub("", text[at:])
        texts[page] = lightened(text)
        page.write_text(texts[page], "utf8")
    for name in WHERE_FOUND:
        if not any(name in text for text in texts.values()):
            (static / name).unlink(missing_ok=True)
    if names:
        (static / "pages.css").write_text(f'@charset "UTF-8";\n{joined}', "utf8")
    for name in [*names, "basic.css"]:
        (static / name).unlink(missing_ok=True)
