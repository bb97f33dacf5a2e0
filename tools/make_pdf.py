"""Make one PDF of the built book: title page, contents, all pages in the order of `_toc.yml`, bookmarks.

Chromium prints each page with the book's own print style; pypdf joins them. The pages of the front have Roman
numbers, those of the book run through. A link to a place in the book leads there inside the PDF. From an
exercise to its solution, and back, it names the sheet as well: pages are printed twice, first to see where
all of them lie.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from io import BytesIO
from pathlib import Path
from string import Template
from urllib.parse import unquote

from playwright.sync_api import Browser
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, Fit, FloatObject, NameObject, NullObject, TextStringObject

sys.path.insert(0, str(Path(__file__).parents[1]))  # when run as a script

from tools.built_book import ROOT, SITE, About, Part, launch, opened, read_about, read_parts

OUT = ROOT / "_build" / "paying-attention.pdf"
INSIDE = "book:"  # begins the links that lead to a place in the book, until they are joined
SMALL = 'font: 8.5pt "Book Sans", sans-serif; color: #55606c'
FRONT = Template((Path(__file__).parent / "pdf_front.html").read_text("utf8"))
PAPER = {"prefer_css_page_size": True, "print_background": True}

UNKNOWN = 888  # a sheet, until it is known: as wide as the numbers of most

# Chromium names only those places that a link of the same page leads to
MARK = """([site, inside, sheets, unknown]) => {
  const article = document.querySelector(".bd-article");
  for (const link of article.querySelectorAll("a[href]")) {
    const to = new URL(link.getAttribute("href"), document.baseURI).href;  // a drawing has no link.href
    if (!to.startsWith(site)) continue;
    const place = to.slice(site.length);
    link.setAttribute("href", inside + place);
    const numbered = ["solution", "back to the exercise"].includes(link.textContent);
    if (numbered) link.append(`, page ${sheets[place] ?? unknown}`);
  }
  for (const fold of article.querySelectorAll("details.pa-deeper")) {  // or its title leaves its text
    const section = document.createElement("div");
    section.className = fold.className;
    section.append(fold.querySelector("h2, h3, h4"), fold.querySelector(".pa-deep"));
    fold.replaceWith(section);
  }
  const places = [...article.querySelectorAll("[id]:not(svg *)")].map((place) => place.id);
  for (const place of new Set(places)) {
    const link = document.createElement("a");
    link.href = "#" + place;
    document.body.append(link);
  }
  return [...article.querySelectorAll("h1, h2, h3")].map((heading) => {
    const words = heading.cloneNode(true);
    words.querySelectorAll(".headerlink").forEach((node) => node.remove());
    const said = words.textContent.replace(/\\s+/g, " ").trim();
    const place = heading.closest("section[id]")?.id ?? "";
    return { level: Number(heading.tagName[1]), words: said, place };
  });
}"""


@dataclass
class Printed:
    """One page of the book on paper."""

    name: str
    reader: PdfReader
    headings: list[dict]
    start: int  # the number of its first sheet

    @cached_property
    def places(self) -> dict[str, tuple[int, float]]:
        """Where each place is: the sheet, counted from this page's first, and the height on it."""
        found = self.reader.named_destinations.items()
        sheet = self.reader.get_destination_page_number
        return {name.removeprefix("/"): (sheet(place), float(place.top)) for name, place in found}

    def place(self, name: str) -> tuple[int, float]:
        """Return where a place is; what has no name is the top of the page."""
        return self.places.get(unquote(name), (0, float(self.reader.pages[0].mediabox.top)))


def print_page(browser: Browser, site: Path, name: str, start: int, sheets: Mapping[str, int]) -> Printed:
    """Print one page of the book, numbered from ``start``; ``sheets`` says on which sheet a place lies."""
    with opened(browser, site / f"{name}.html") as tab:
        headings = tab.evaluate(MARK, [f"{site.as_uri()}/", INSIDE, sheets, UNKNOWN])
        title = json.dumps(headings[0]["words"], ensure_ascii=False)  # CSS reads \u221a as other letters
        head = f"@page {{ @top-center {{ content: {title}; {SMALL} }} }}"
        first = "@page :first { @top-center { content: none } }"
        tab.add_style_tag(content=f"{head} {first} html {{ counter-reset: page {start - 1} }}")
        return Printed(name, PdfReader(BytesIO(tab.pdf(**PAPER))), headings, start)


def print_pages(browser: Browser, site: Path, names: list[str], sheets: Mapping[str, int]) -> list[Printed]:
    """Print pages one after the other, numbered from 1."""
    printed: list[Printed] = []
    start = 1
    for name in names:
        printed.append(print_page(browser, site, name, start, sheets))
        start += len(printed[-1].reader.pages)
    return printed


def sheets_of(printed: list[Printed]) -> dict[str, int]:
    """Return the sheet of every place of these pages, by the address that links to it."""
    return {
        f"{page.name}.html#{place}": page.start + within
        for page in printed
        for place, (within, _) in page.places.items()
    }


def numbered(browser: Browser, site: Path, names: list[str]) -> list[Printed]:
    """Print pages until every number of a sheet that they name is right."""
    seen: dict[str, int] = {}
    for _ in range(5):  # two rounds are enough, unless a narrower number lets a line move up
        pages = print_pages(browser, site, names, seen)
        seen, before = sheets_of(pages), seen
        if seen == before:
            return pages
    raise RuntimeError("the sheets must settle, but moved in each of five rounds; leave out their numbers")


def contents(parts: list[Part], printed: dict[str, Printed]) -> Iterator[str]:
    """Give the lines of the table of contents: parts, pages and, but for the solutions, their sections."""

    def line(kind: str, page: Printed, heading: dict) -> str:
        to = f"{INSIDE}{page.name}.html#{heading['place']}"
        number = page.start + page.place(heading["place"])[0]
        return f'<a class="{kind}" href="{to}" data-page="{number}">{escape(heading["words"])}<i></i></a>'

    for part in parts:
        if part.caption:
            yield f"<h3>{escape(part.caption)}</h3>"
        for name in part.pages:
            page = printed[name]
            yield line("page", page, page.headings[0])
            if "solutions/" not in name:
                yield from (line("section", page, h) for h in page.headings if h["level"] == 2)


def print_front(
    browser: Browser, site: Path, about: About, parts: list[Part], printed: dict[str, Printed]
) -> PdfReader:
    """Print the title page and the table of contents."""
    lines = "".join(contents(parts, printed))
    page = site / "front.html"  # in the site, whose style and fonts it uses
    page.write_text(FRONT.substitute(about.markup(), lines=lines), "utf8")
    try:
        with opened(browser, page) as tab:
            return PdfReader(BytesIO(tab.pdf(**PAPER)))
    finally:
        page.unlink()


def join(front: PdfReader, parts: list[Part], printed: dict[str, Printed], about: About) -> PdfWriter:
    """Put everything behind each other, with bookmarks, page numbers, working links and metadata."""
    writer = PdfWriter()
    for reader in [front, *(printed[name].reader for part in parts for name in part.pages)]:
        for sheet in reader.pages:
            writer.add_page(sheet)
    shift = len(front.pages) - 1  # from the number of a sheet to its index
    lead_inside(writer, printed, shift)
    add_bookmarks(writer, parts, printed, shift)
    writer.set_page_label(0, shift, style="/r")
    writer.set_page_label(shift + 1, len(writer.pages) - 1, style="/D", start=1)
    writer.add_metadata(
        {
            "/Title": f"{about.title}: {about.subtitle}",
            "/Author": about.author,
            "/Subject": f"Version {about.version}, {about.date}. {about.licence}",
            "/Keywords": ", ".join(about.keywords),
        }
    )
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    writer.page_mode = "/UseOutlines"
    writer.create_viewer_preferences().display_doctitle = True
    writer.compress_identical_objects(remove_duplicates=True, remove_unreferenced=True)
    return writer


def lead_inside(writer: PdfWriter, printed: dict[str, Printed], shift: int) -> None:
    """Let every link to a place in the book lead to its sheet; one to what is not in the PDF is no link."""
    for sheet in writer.pages:
        kept = ArrayObject()
        for reference in sheet.get("/Annots", ArrayObject()):
            link = reference.get_object()
            to = str(link.get("/A", {}).get("/URI", ""))
            name, _, place = to.removeprefix(INSIDE).partition("#")
            page = printed.get(name.removesuffix(".html"))
            if to.startswith(INSIDE) and page is None:
                continue
            if page is not None:
                within, top = page.place(place)
                goal = writer.pages[page.start + shift + within].indirect_reference
                where = [goal, NameObject("/XYZ"), NullObject(), FloatObject(top), NullObject()]
                link[NameObject("/Dest")] = ArrayObject(where)
                del link["/A"]
            kept.append(reference)
        if kept:
            sheet[NameObject("/Annots")] = kept
        elif "/Annots" in sheet:
            del sheet["/Annots"]


def add_bookmarks(writer: PdfWriter, parts: list[Part], printed: dict[str, Printed], shift: int) -> None:
    """Add a bookmark for each part, page and heading."""
    for part in parts:
        first = printed[part.pages[0]].start + shift
        above = (
            [writer.add_outline_item(part.caption, first, bold=True, is_open=True)] if part.caption else []
        )
        for page in (printed[name] for name in part.pages):
            path = list(above)  # from the outermost bookmark to the last one
            for heading in page.headings:
                within, top = page.place(heading["place"])
                del path[len(above) + heading["level"] - 1 :]
                where = page.start + shift + within
                path.append(
                    writer.add_outline_item(
                        heading["words"],
                        where,
                        parent=path[-1] if path else None,
                        fit=Fit.xyz(top=top),
                        is_open=False,
                    )
                )


def make_pdf(browser: Browser, site: Path, parts: list[Part], about: About, out: Path) -> int:
    """Make the PDF of a built book; return the number of its sheets."""
    names = [name for part in parts for name in part.pages]
    pages = numbered(browser, site, names)
    printed = {page.name: page for page in pages}
    front = print_front(browser, site, about, parts, printed)
    writer = join(front, parts, printed, about)
    writer.write(out)
    return len(writer.pages)


def main() -> None:
    """Make it, and say how large it is."""
    started = time.perf_counter()
    with launch() as browser:
        sheets = make_pdf(browser, SITE, read_parts(), read_about(), OUT)
    size, seconds = OUT.stat().st_size / 1e6, time.perf_counter() - started
    print(f"The PDF: {OUT} ({sheets} pages, {size:.1f} MB, {seconds:.0f} s)")


if __name__ == "__main__":
    main()
