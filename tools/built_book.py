"""The built book as `make pdf` and `make epub` take it: its name, its pages in order, each in a browser."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path

import yaml
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Page as Tab

sys.path.insert(0, str(Path(__file__).parents[1]))  # when run as a script

from tools.find_chromium import ADVICE, installed

ROOT = Path(__file__).parents[1]
SITE = ROOT / "_build" / "html"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SETTLED = "() => Promise.all([document.fonts.ready, window.MathJax?.startup?.promise]).then(() => null)"


@dataclass(frozen=True)
class Part:
    """Some pages under one caption, each by its path below the site, without ``.html``."""

    caption: str
    pages: tuple[str, ...]


@dataclass(frozen=True)
class About:
    """What the title page and the metadata say."""

    title: str
    subtitle: str
    author: str
    version: str
    date: str
    licence: str
    address: str
    keywords: tuple[str, ...]

    def markup(self) -> dict[str, str]:
        """Return what a template may name, fit for HTML."""
        return {name: escape(str(value)) for name, value in vars(self).items()}


def read_parts(path: Path = ROOT / "_toc.yml") -> list[Part]:
    """Return the parts of the book, the landing page first, under no caption."""
    toc = yaml.safe_load(path.read_text("utf8"))
    parts = [Part(part["caption"], tuple(page["file"] for page in part["chapters"])) for part in toc["parts"]]
    return [Part("", (toc["root"],)), *parts]


def read_about(root: Path = ROOT) -> About:
    """Return what ``CITATION.cff`` and ``_config.yml`` say about the book."""
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf8"))
    config = yaml.safe_load((root / "_config.yml").read_text("utf8"))
    title, _, subtitle = cited["title"].partition(": ")
    return About(
        title=title,
        subtitle=subtitle[:1].upper() + subtitle[1:],
        author=", ".join(author["name"] for author in cited["authors"]),
        version=str(cited["version"]),
        date=str(cited["date-released"]),
        licence=config["html"]["extra_footer"],
        address=cited["repository-code"],
        keywords=tuple(cited["keywords"]),
    )


@contextmanager
def launch() -> Iterator[Browser]:
    """Give a headless Chromium."""
    path = installed()
    if path is None:
        sys.exit(ADVICE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, page: Path, **options) -> Iterator[Tab]:
    """Give a built page with its formulas set and its explorables as the build drew them."""
    if not page.exists():
        sys.exit(f"{page} is not there: make book")
    tab = browser.new_page(
        **({"color_scheme": "light", "reduced_motion": "reduce", "bypass_csp": True} | options)
    )
    tab.route(re.compile("hydrate-widgets"), lambda route: route.abort())
    tab.goto(page.as_uri())
    tab.evaluate(SETTLED)
    yield tab
    tab.close()
