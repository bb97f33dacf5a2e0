"""The notebooks as they are stored."""

from tests.book.places import ROOT

CHAPTERS = sorted((ROOT / "book").glob("[0-9][0-9]_*.ipynb"))
EXERCISES = sorted((ROOT / "book/exercises").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "book/solutions").glob("*.ipynb"))
NOTEBOOKS = sorted((ROOT / "book").rglob("[!.]*.ipynb"))
