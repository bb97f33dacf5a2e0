"""What the build is told, and the pages in their order."""

import yaml

from tests.book.places import ROOT

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
