"""The book: its notebooks as they are stored, and its pages in a browser."""

from tests.book.notebooks import CHAPTERS, EXERCISES, NOTEBOOKS, SOLUTIONS
from tests.book.places import ROOT
from tests.book.settings import CONFIG, PAGES, TOC

__all__ = ["CHAPTERS", "CONFIG", "EXERCISES", "NOTEBOOKS", "PAGES", "ROOT", "SOLUTIONS", "TOC"]
