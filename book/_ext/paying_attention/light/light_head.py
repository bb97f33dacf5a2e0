"""A page asks for one style sheet and the scripts it needs; none keeps the text waiting.

Sphinx, the theme and the extensions ask for a dozen style sheets and as many scripts, on every page alike,
and most of the scripts stop the page until all styles are there. Here the styles become one sheet, in their
order, without the rules that can apply to nothing in the book; a script that finds nothing to do on a page is
left out; the others wait until the page is read.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from paying_attention.light.used_styles import used, words

SHEET = re.compile(r'[ \t]*<link (?=[^>]*rel="stylesheet")[^>]*href="([^"]*?_static/)([^"?]*)[^>]*>\n?')
IMPORT = re.compile(r'@import "([^"]*)";')
ADDRESS = re.compile(r"url\((?!['\"]?(?:data:|#))['\"]?([^'\")]*)['\"]?\)")
SOURCE_MAP = re.compile(r"/\*# sourceMappingURL=.*?\*/|//# sourceMappingURL=.*")
WAITING = re.compile(r'<script (?:defer(?:="defer")? )?src="([^"]*)"></script>')

NOWHERE = r"(?!)"
# a script is asked for where its pattern is found; a pattern that is never found drops it everywhere
WHERE_FOUND = {
    "clipboard.min.js": r'<div class="highlight',
    "copybutton.js": r'<div class="highlight',
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


def finish(app, error) -> None:
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
