"""A browser with the network cut, and the built site over http and from the disk."""

import functools
import http.server
import os
import threading
from contextlib import contextmanager

import pytest
from filelock import FileLock
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
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # the network is cut
]
SOURCES = ["book", "attnlib", "_config.yml", "_toc.yml"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that keeps its connections and does not write to the terminal."""

    protocol_version = "HTTP/1.1"

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
    """The small book, built once, whoever of the workers comes first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "small"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            folder.mkdir()
            assert build(folder) == (0, "")
    return folder / "_build"


@pytest.fixture(scope="module")
def chromium():
    """The browser, which leaves with its module.

    While Playwright's event loop runs, Jupyter serves the kernel of a notebook from a second thread, which
    ZeroMQ's sockets are not made for; a worker that did both was aborted.
    """
    path = installed()
    assert path, ADVICE
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def visits(chromium, address, *, shared=False):
    """Give a function that opens a page; whatever tries to leave it, or complains, is noted in ``page.trouble``.

    If ``shared``, pages opened in the same way are tabs of one window: what they have in common is fetched and
    compiled once.
    """
    contexts = {}

    def window(options):
        key = repr(options) if shared else len(contexts)
        if key not in contexts:
            usual = {
                "viewport": {"width": 1280, "height": 900},
                "bypass_csp": True,
            }  # Playwright waits by eval
            contexts[key] = chromium.new_context(**(usual | options))
        return contexts[key]

    def open_page(name, how="http", **options):
        page = window(options).new_page()
        page.set_default_timeout(30_000)
        page.trouble = []
        inside = (address[how], "data:", "blob:")

        def note(request):
            if not request.url.startswith(inside):
                page.trouble.append(f"left the page: {request.url}")

        page.on("request", note)
        page.on("console", lambda m: page.trouble.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: page.trouble.append(str(error)))
        page.on("response", lambda r: page.trouble.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        page.goto(f"{address[how]}/{name}.html", wait_until="load")
        page.wait_for_function("!document.querySelector('[data-widget-state=loading]')")
        page.evaluate("() => document.fonts.ready.then(() => null)")  # texts have their final size
        return page

    yield open_page
    for context in contexts.values():
        context.close()


AS_OPENED = """() => {
    document.querySelectorAll(".pa-foot button").forEach((one) => one.textContent === "Reset" && one.click());
    history.replaceState(null, "", location.pathname);
    localStorage.clear();
    document.activeElement.blur();
    scrollTo(0, 0);
}"""


@pytest.fixture
def alone(chromium, address):
    """Open a page for this test alone."""
    with visits(chromium, address) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def kept(chromium, address):
    """How pages are opened, and those that ``visit`` has opened, by how they were asked for."""
    with visits(chromium, address) as open_page:
        yield open_page, {}


@pytest.fixture
def visit(kept):
    """Open a page, or take the one that an earlier test of the module left, its explorables reset."""
    open_page, pages = kept

    def take(name, how="http", **options):
        key = repr((name, how, options))
        if key in pages:
            pages[key].mouse.move(0, 0)
            pages[key].evaluate(AS_OPENED)
        else:
            pages[key] = open_page(name, how, **options)
        return pages[key]

    return take
