"""The browser and the site of the tests of the book."""

from tests.book.conftest import address, chromium, site

__all__ = ["address", "chromium", "site"]
