"""Measure the built pages as a reader with a slow phone meets them: ``python -m benchmarks.pages``.

Each page is visited for the first time, over http from a server that compresses, with network and CPU slowed
by Chromium. In one visit nothing is touched: bytes and layout shift. In another the first explorable is
touched again and again from the start; the time is that of its first answer to be seen.
"""

from __future__ import annotations

import argparse
import gzip
import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from tools.find_chromium import ADVICE, installed

SITE = Path(__file__).parents[1] / "_build" / "html"
BYTES_PER_SECOND = 200_000  # 1.6 Mbit/s
LATENCY_MS = 150
CPU_SLOWED = 4
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE = {"viewport": {"width": 1280, "height": 900}}
COMPRESSED = {".html", ".css", ".js", ".svg", ".json", ".xml", ".txt"}

WATCH_SHIFT = """
window.shifted = 0;
new PerformanceObserver((list) => list.getEntries().forEach((one) => { window.shifted += one.value; }))
  .observe({ type: "layout-shift", buffered: true });
"""
# touch the first control that is awake, every 20 ms, until the drawing changes and the page is in sight
TOUCH = """
const awake = setInterval(() => {
  const root = document.querySelector(".static-widget[data-widget-state=ready] .pa-widget:not(.pa-quiz)");
  if (!root || getComputedStyle(document.body).opacity === "0") return;
  const one = root.querySelector("input:not(:checked), [role=slider]");
  const seen = new MutationObserver(() => { window.answered ??= performance.now(); clearInterval(awake); });
  seen.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  if (one.type === "range") {
    one.value = one.value === one.max ? one.min : one.max;
    one.dispatchEvent(new Event("input"));
  }
  else if (one.matches("input")) one.click();
  else one.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
}, 20);
"""


@cache
def compressed(path: Path) -> bytes:
    """Return a file as a server would send it."""
    body = path.read_bytes()
    return gzip.compress(body, 6, mtime=0) if path.suffix in COMPRESSED else body


class Compressing(BaseHTTPRequestHandler):
    """A file server that compresses, keeps its connections and does not write to the terminal."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the file that is asked for."""
        path = self.server.folder / self.path.partition("?")[0].lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        body = compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", mimetypes.guess_type(path)[0] or "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        if path.suffix in COMPRESSED:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder; give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Compressing)
    server.daemon_threads, server.folder = True, folder
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def visit(browser: Browser, options: dict, script: str) -> Iterator[tuple[Page, list[int]]]:
    """Give a page of a fresh window, slowed, with a script that runs first, and the bytes it fetches."""
    context = browser.new_context(**options, bypass_csp=True)
    page = context.new_page()
    page.add_init_script(script)
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    network = {"offline": False, "latency": LATENCY_MS, "uploadThroughput": BYTES_PER_SECOND}
    devtools.send("Network.emulateNetworkConditions", network | {"downloadThroughput": BYTES_PER_SECOND})
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": CPU_SLOWED})
    fetched: list[int] = []
    devtools.on("Network.loadingFinished", lambda event: fetched.append(event["encodedDataLength"]))
    yield page, fetched
    context.close()


def untouched(browser: Browser, address: str, options: dict) -> tuple[int, float]:
    """Return the bytes of a first visit and how far its layout shifted."""
    with visit(browser, options, WATCH_SHIFT) as (page, fetched):
        page.goto(address, wait_until="networkidle", timeout=60_000)
        return int(sum(fetched)), page.evaluate("window.shifted")


def answer(browser: Browser, address: str, runs: int) -> float | None:
    """Return the median of the seconds until the first explorable answers, None where there is none."""
    seconds = []
    for _ in range(runs):
        with visit(browser, PHONE, TOUCH) as (page, _fetched):
            page.goto(address, wait_until="domcontentloaded", timeout=60_000)
            if not page.locator('script[type="application/vnd.jupyter.widget-view+json"]').count():
                return None
            page.wait_for_function("window.answered", timeout=60_000)
            seconds.append(page.evaluate("window.answered") / 1000)
    return median(seconds)


def main() -> None:
    """Print one line for each page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="parts of names of pages; all without")
    parser.add_argument(
        "--runs", type=int, default=3, help="visits for each time, of which the median counts"
    )
    parser.add_argument("--site", type=Path, default=SITE, help="where the built book is")
    asked = parser.parse_args()
    path = installed()
    if path is None:
        raise SystemExit(ADVICE)
    names = [p.relative_to(asked.site).as_posix() for p in sorted(asked.site.glob("book/**/*.html"))]
    names = [name for name in names if not asked.pages or any(part in name for part in asked.pages)]
    print("| page | answers after | compressed | layout shift, phone | and wide |\n|---|---|---|---|---|")
    with sync_playwright() as playwright, served(asked.site) as address:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name in names:
            seconds = answer(browser, f"{address}/{name}", asked.runs)
            fetched, phone = untouched(browser, f"{address}/{name}", PHONE)
            _, wide = untouched(browser, f"{address}/{name}", WIDE)
            waited = "" if seconds is None else f"{seconds:.1f} s"
            print(f"| `{name}` | {waited} | {fetched / 1000:.0f} kB | {phone:.3f} | {wide:.3f} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
