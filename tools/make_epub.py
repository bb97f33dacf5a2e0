"""Make an EPUB 3 of the built book: all pages in the order of `_toc.yml`, as XHTML that needs no script.

Chromium opens each built page and `epub_page.js` makes XHTML of its article: formulas as MathML, figures as
SVG, explorables as a picture of their first state. The same book gives the same file, byte for byte.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import unquote, urlsplit
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).parents[1]))  # when run as a script

from tools.built_book import ROOT, SITE, About, Part, launch, opened, read_about, read_parts

HERE = Path(__file__).parent
OUT = ROOT / "_build" / "paying-attention.epub"
CONVERT = (HERE / "epub_page.js").read_text("utf8")
FONTS = ("source-sans-3-latin-wght-normal.woff2", "jetbrains-mono-latin-wght-normal.woff2", "OFL.txt")
EXPLORABLES = ".static-widget:not(:has(.pa-quiz))"
PICTURE = "body { zoom: 1 !important } .static-widget { max-width: 38rem }"  # legible on a small reader
XHTML = "{http://www.w3.org/1999/xhtml}"
KINDS = {
    ".xhtml": "application/xhtml+xml",
    ".css": "text/css",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
}
COVER = Template((HERE / "epub_cover.html").read_text("utf8"))
TITLE = Template("""<section epub:type="titlepage"><h1>$title</h1><p>$subtitle</p><p>$author</p>
<p>Version $version, $date</p><p>$licence</p><p><a href="$address">$address</a></p></section>
""")
PAGE = Template("""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><title>$title</title><link rel="stylesheet" href="epub.css"/></head>
<body>$body</body>
</html>
""")
CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
PACKAGE = Template("""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:$identifier</dc:identifier>
<dc:title>$title: $subtitle</dc:title>
<dc:language>en</dc:language>
<dc:creator>$author</dc:creator>
<dc:date>$date</dc:date>
<dc:rights>$licence</dc:rights>
<dc:source>$address</dc:source>
$subjects
<meta property="dcterms:modified">${date}T00:00:00Z</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">structuralNavigation</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>
$items
</manifest>
<spine>
$spine
</spine>
</package>
""")


@dataclass
class Converted:
    """One page of the book as XHTML, and the pictures that go with it."""

    file: str
    body: str
    headings: list[dict]
    pictures: dict[str, bytes] = field(default_factory=dict)


def file_of(name: str) -> str:
    """Return the file of a page: ``book/solutions/01_x`` is ``solutions-01_x.xhtml``."""
    return name.removeprefix("book/").replace("/", "-") + ".xhtml"


def convert(browser: Browser, site: Path, name: str, names: list[str], about: About) -> Converted:
    """Convert one page of the built book."""
    file = file_of(name)
    addresses = {(site / f"{other}.html").as_uri(): file_of(other) for other in names}
    with opened(
        browser, site / f"{name}.html", viewport={"width": 1000, "height": 1400}, device_scale_factor=2
    ) as tab:
        tab.emulate_media(media="print")  # nothing to press
        tab.add_style_tag(content=PICTURE)
        drawn = [one.screenshot() for one in tab.locator(EXPLORABLES).all()]
        pictures = {f"images/{Path(file).stem}-{n}.png": picture for n, picture in enumerate(drawn, 1)}
        made = tab.evaluate(CONVERT, {"pages": addresses, "pictures": list(pictures), "live": about.address})
    for image in made["images"]:
        path = Path(unquote(urlsplit(image).path))
        pictures[f"images/{path.name}"] = path.read_bytes()
    return Converted(file, made["body"], made["headings"], pictures)


def places(page: ElementTree.Element) -> set[str]:
    """Return what a link can lead to on a page."""
    return {node.get("id") for node in page.iter() if node.get("id")}


def lost_links(pages: dict[str, str]) -> list[tuple[str, str]]:
    """Return the links to places that are not there, as (file, address)."""
    trees = {file: ElementTree.fromstring(text) for file, text in pages.items()}
    known = {file: places(tree) for file, tree in trees.items()}
    lost = []
    for file, tree in trees.items():
        for link in tree.iter(f"{XHTML}a"):
            to, _, place = link.get("href", "").partition("#")
            if ":" in to or not (to or place):
                continue
            if (to or file) not in known or (place and unquote(place) not in known[to or file]):
                lost.append((file, link.get("href")))
    return lost


def contents(parts: list[Part], converted: dict[str, Converted]) -> str:
    """Return the navigation: parts, their pages, and the sections of each."""

    def entry(page: Converted, heading: dict, inside: str = "") -> str:
        place = f"#{heading['place']}" if heading["level"] > 1 and heading["place"] else ""
        return f'<li><a href="{page.file}{place}">{escape(heading["words"])}</a>{inside}</li>'

    def listed(page: Converted) -> str:
        sections = "".join(entry(page, heading) for heading in page.headings if heading["level"] == 2)
        return entry(page, page.headings[0], f"<ol>{sections}</ol>" if sections else "")

    items = ""
    for part in parts:
        pages = "".join(listed(converted[name]) for name in part.pages)
        items += f"<li><span>{escape(part.caption)}</span><ol>{pages}</ol></li>" if part.caption else pages
    return f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{items}</ol></nav>'


def properties(file: str, content: bytes) -> str:
    """Return what the manifest has to say about a file."""
    known = {"nav.xhtml": "nav", "cover.png": "cover-image"}
    held = [known[file]] if file in known else []
    if file.endswith(".xhtml"):
        held += [name for name, tag in (("mathml", b"<math"), ("svg", b"<svg")) if tag in content]
    return f' properties="{" ".join(held)}"' if held else ""


def package(about: About, files: dict[str, bytes], order: list[str]) -> str:
    """Return the package document."""
    ids = {file: f"f{n}" for n, file in enumerate(files, 1)}
    kinds = {file: f'media-type="{KINDS[Path(file).suffix]}"' for file in files}
    items = [
        f'<item id="{ids[file]}" href="{file}" {kinds[file]}{properties(file, held)}/>'
        for file, held in files.items()
    ]
    return PACKAGE.substitute(
        about.markup(),
        identifier=uuid5(NAMESPACE_URL, f"{about.address}#{about.version}"),
        subjects="".join(f"<dc:subject>{escape(word)}</dc:subject>" for word in about.keywords),
        items="\n".join(items),
        spine="\n".join(f'<itemref idref="{ids[file]}"/>' for file in order),
    )


def draw_cover(browser: Browser, site: Path, about: About) -> bytes:
    """Return the cover as PNG: the mark and the name of the book."""
    page = site / "cover.html"  # in the site, whose style and fonts it uses
    page.write_text(COVER.substitute(about.markup()), "utf8")
    try:
        with opened(browser, page, viewport={"width": 1200, "height": 1800}) as tab:
            return tab.screenshot()
    finally:
        page.unlink()


def write(out: Path, files: dict[str, bytes]) -> None:
    """Write the archive; ``mimetype`` is its first file, and not compressed."""
    with ZipFile(out, "w") as archive:
        for name, content in files.items():
            how = ZIP_STORED if name == "mimetype" else ZIP_DEFLATED
            archive.writestr(ZipInfo(name), content, how)  # without a time of its own


def bind(about: About, parts: list[Part], converted: dict[str, Converted]) -> dict[str, bytes]:
    """Return the XHTML files in the order of reading, or stop at links that lead nowhere."""
    bodies = {"title.xhtml": (about.title, TITLE.substitute(about.markup()))}
    bodies["nav.xhtml"] = "Contents", contents(parts, converted)
    bodies |= {page.file: (page.headings[0]["words"], page.body) for page in converted.values()}
    pages = {file: PAGE.substitute(title=escape(title), body=body) for file, (title, body) in bodies.items()}
    lost = [f"  {file}: {to}" for file, to in lost_links(pages)]
    if lost:
        sys.exit("\n".join(["These links lead nowhere in the EPUB:", *lost]))
    return {file: text.encode() for file, text in pages.items()}


def make_epub(browser: Browser, site: Path, parts: list[Part], about: About, out: Path) -> None:
    """Make the EPUB of a built book."""
    names = [name for part in parts for name in part.pages]
    converted = {name: convert(browser, site, name, names, about) for name in names}
    files = bind(about, parts, converted)
    order = list(files)
    files["epub.css"] = (HERE / "epub.css").read_bytes()
    files["cover.png"] = draw_cover(browser, site, about)
    fonts = site / "_static" / "fonts"
    files |= {f"fonts/{font}": (fonts / font).read_bytes() for font in FONTS}
    files |= {name: picture for page in converted.values() for name, picture in page.pictures.items()}
    archive = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER.encode()}
    archive["book/package.opf"] = package(about, files, order).encode()
    write(out, archive | {f"book/{name}": content for name, content in files.items()})


def main() -> None:
    """Make it, and say how large it is."""
    started = time.perf_counter()
    with launch() as browser:
        make_epub(browser, SITE, read_parts(), read_about(), OUT)
    size, seconds = OUT.stat().st_size / 1e6, time.perf_counter() - started
    print(f"The EPUB: {OUT} ({size:.1f} MB, {seconds:.0f} s)")


if __name__ == "__main__":
    main()
