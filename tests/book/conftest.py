"""A browser with the network cut, and the built site over http and from the disk."""

import functools
import http.server
import threading
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from tests.book import ROOT
from tests.book.small_book import build
from tools.find_chromium import ADVICE, installed

SITE = ROOT / "_build" / "html"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SOURCES = ["book", "attnlib", "_config.yml", "_toc.yml"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write to the terminal."""

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture(scope="session")
def site():
    """The built book; stale or missing, it fails rather than being skipped."""
    index = SITE / "book" / "index.html"
    assert index.exists(), "the book is not built: make book (or jupyter-book build . -W -n --keep-going)"
    suffixes = (".md", ".ipynb", ".py", ".js", ".css", ".toml", ".yml")
    files = [
        f for name in SOURCES for f in ([ROOT / name] if name.endswith(".yml") else (ROOT / name).rglob("*"))
    ]
    stale = [f for f in files if f.suffix in suffixes and f.stat().st_mtime > index.stat().st_mtime]
    assert not stale, f"the book is older than {stale[0].relative_to(ROOT)}: make book"
    return SITE


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served, over http and from the disk."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"http": f"http://127.0.0.1:{server.server_port}", "file": site.as_uri()}
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The small book, built once."""
    folder = tmp_path_factory.mktemp("small")
    assert build(folder) == (0, "")
    return folder / "_build"


@pytest.fixture(scope="session")
def chromium():
    """The browser."""
    path = installed()
    assert path, ADVICE
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def visits(chromium, address, *, shared=False, maths=True):
    """Give a function that opens a page; whatever tries to leave it, or complains, is noted in ``page.trouble``.

    If ``shared``, pages opened in the same way are tabs of one window: what they have in common is fetched once.
    Without ``maths`` formulas are not set, which is nearly half of a visit.
    """
    contexts = {}

    def window(options):
        key = repr(options) if shared else len(contexts)
        if key not in contexts:
            contexts[key] = chromium.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        return contexts[key]

    def open_page(name, how="http", **options):
        page = window(options).new_page()
        page.set_default_timeout(30_000)
        page.trouble = []
        inside = (address[how], "data:", "blob:")

        def route(request):
            if not maths and "/mathjax/" in request.request.url:
                request.fulfill(body="", content_type="text/javascript")
            elif request.request.url.startswith(inside):
                request.continue_()
            else:
                page.trouble.append(f"left the page: {request.request.url}")
                request.abort()

        page.route("**/*", route)
        page.on("console", lambda m: page.trouble.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: page.trouble.append(str(error)))
        page.on("response", lambda r: page.trouble.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        page.goto(f"{address[how]}/{name}.html", wait_until="load")
        page.wait_for_function("!document.querySelector('[data-widget-state=loading]')")
        page.evaluate("() => window.MathJax?.startup?.promise?.then(() => null)")
        return page

    yield open_page
    for context in contexts.values():
        context.close()


@pytest.fixture
def visit(request, chromium, address):
    """Open a page for this test alone; a module about something else than text says ``MATHS = False``."""
    with visits(chromium, address, maths=getattr(request.module, "MATHS", True)) as open_page:
        yield open_page
