"""What a page says of itself to search engines, to those who share it, and to browsers.

Each page gets a description, Open Graph tags, structured data, a Content-Security-Policy and a picture by
which it is shared: its title, its question, its first figure. A headless Chromium opens each built page, puts
that card in place of what it shows and takes a photograph, beside the page and under its name
(``book/index.png``); without a Chromium there are no cards. The site gets a sitemap and a robots.txt. The
address of the site is `html.baseurl` in `_config.yml` and stands nowhere else; the page for what is not
found takes its folder from there.
"""

from __future__ import annotations

import json
import re
import time
from html import escape, unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx.util import logging

from paying_attention import browser
from paying_attention.page.reading_time import minutes

logger = logging.getLogger(__name__)

LONGEST = 200
# all comes from the book itself; scripts of notebooks and theme stand in the pages, explorables in blobs, as
# does what runs Python, which is compiled from WebAssembly
POLICY = (
    "default-src 'self' data: blob: 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'"
)
SUBJECT = "an executable book on the attention mechanism"
LICENCE = "https://creativecommons.org/licenses/by/4.0/"
SIZE = {"width": 1200, "height": 630}  # what the large services ask for
UNNEEDED = re.compile(r"^https?:|\.js(\?|$)|/fontawesome/")
CARD = (Path(__file__).parent / "social_card.js").read_text("utf8")


def description(doctree: nodes.document) -> str:
    """Return the first paragraphs of a page, a chapter's question first, cut between two words."""
    said = []
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            said.append(" ".join(paragraph.astext().split()))
        if len(" ".join(said)) > LONGEST:
            break
    text = " ".join(said)
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rpartition(" ")[0].rstrip(",;:.") + " ..."


def about(app, page: str, title: str, said: str, doctree: nodes.document) -> dict:
    """Return the structured data of a page: the book itself, or a part of it."""
    book = {
        "@type": "Book",
        "name": app.config.html_title,
        "url": address(app, app.config.root_doc),
        "author": {"@type": "Organization", "name": app.config.author},
        "license": LICENCE,
        "inLanguage": app.config.language,
        "isAccessibleForFree": True,
    }
    if page == app.config.root_doc:
        return {"@context": "https://schema.org", **book, "description": said}
    part = {
        "@type": ["LearningResource", "Chapter"],
        "name": title,
        "description": said,
        "url": address(app, page),
        "license": LICENCE,
        "inLanguage": app.config.language,
        "isPartOf": book,
    }
    if any(node.get("nb_element") == "cell_code" for node in doctree.findall(nodes.container)):
        part |= {"learningResourceType": "executable notebook", "timeRequired": f"PT{minutes(doctree)}M"}
    return {"@context": "https://schema.org", **part}


def address(app, page: str) -> str:
    """Return where a page will stand."""
    return urljoin(app.config.html_baseurl, app.builder.get_target_uri(page))


def describe_page(app, page: str, template: str, context: dict, resolved: nodes.document | None) -> None:
    """Write the head of a page."""
    head = [f'<meta http-equiv="Content-Security-Policy" content="{POLICY}" />']
    if resolved is not None:
        doctree = app.env.get_doctree(page)  # as it was written: no cards, folds or buttons in it
        title = unescape(re.sub(r"<[^>]*>", "", context["title"]))
        said = description(doctree) or f"{title} of {app.config.html_title}, {SUBJECT}."
        graph = {
            "og:title": title,
            "og:description": said,
            "og:url": address(app, page),
            "og:site_name": app.config.html_title,
            "og:type": "website" if page == app.config.root_doc else "article",
            "og:image": address(app, page).removesuffix(".html") + ".png",
            "og:image:alt": f"{title}: a picture from the page",
        }
        head.append(f'<meta name="description" content="{escape(said)}" />')
        head.append('<meta name="twitter:card" content="summary_large_image" />')
        head += [f'<meta property="{name}" content="{escape(value)}" />' for name, value in graph.items()]
        data = json.dumps(about(app, page, title, said, doctree), ensure_ascii=False).replace("<", "\\u003c")
        head.append(f'<script type="application/ld+json">{data}</script>')
    context["metatags"] = "\n".join([*head, context.get("metatags", "")])


def sitemap(addresses: list[str]) -> str:
    """Spell a sitemap."""
    listed = "".join(f"<url><loc>{escape(one)}</loc></url>\n" for one in addresses)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{space}">\n{listed}</urlset>\n'


def describe_site(app, error) -> None:
    """Write what belongs to the site as a whole."""
    if error or app.builder.format != "html":
        return
    out, base = Path(app.outdir), app.config.html_baseurl
    pages = [app.config.root_doc, *sorted(app.env.found_docs - {app.config.root_doc})]
    (out / "sitemap.xml").write_text(sitemap([address(app, page) for page in pages]), "utf8")
    (out / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n", "utf8")


def where_nothing_is_found(app, config) -> None:
    """Give the page for what is not found the folder of the site: it is served below any address."""
    config.notfound_urls_prefix = urlsplit(config.html_baseurl).path


def take_cards(app, error) -> None:
    """Take a photograph of every page that has a source."""
    if error or app.builder.format != "html" or (chromium := browser.find()) is None:
        return
    started = time.perf_counter()
    pages = [Path(app.outdir) / app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
    take(pages, chromium, app.config.html_title)
    logger.info("social cards: %d in %.1f s", len(pages), time.perf_counter() - started)


def take(pages: list[Path], chromium: str, book: str) -> None:
    """Photograph the card of each page."""
    with browser.opened(chromium) as opened:
        context = opened.new_context(viewport=SIZE, color_scheme="light", bypass_csp=True)
        context.route(UNNEEDED, lambda route: route.abort())
        tab = context.new_page()
        for page in pages:
            tab.goto(page.as_uri(), wait_until="domcontentloaded")
            tab.evaluate(CARD, book)
            tab.screenshot(path=page.with_suffix(".png"))
