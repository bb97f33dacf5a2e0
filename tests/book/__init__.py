"""The book: its notebooks as they are stored, and its pages in a browser."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "book").glob("[0-9][0-9]_*.ipynb"))
SOLUTIONS = sorted((ROOT / "book/solutions").glob("*.ipynb"))
NOTEBOOKS = sorted((ROOT / "book").rglob("[!.]*.ipynb"))
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
