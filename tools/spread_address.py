"""Write the repository's address, which stands in `_config.yml`, wherever else it has to stand.

Afterwards run `make notebooks`: the cells for Colab are among the places.
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def places(root: Path = ROOT) -> list[Path]:
    """Return the files that repeat the address."""
    notebooks = sorted(root.glob("book/**/*.ipynb"))
    return [
        *(
            root / name
            for name in ("CITATION.cff", "pyproject.toml", "book/how_to_use.md", "book/teaching.md")
        ),
        *notebooks,
    ]


def spread(root: Path = ROOT) -> list[Path]:
    """Put the address of `_config.yml` in place of the one that `CITATION.cff` has; return what changed."""
    new = yaml.safe_load((root / "_config.yml").read_text("utf8"))["repository"]["url"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf8"))
    old = re.compile(re.escape(citation["repository-code"]) + r"(?![\w.-])")
    changed = []
    for path in places(root):
        text = path.read_text("utf8")
        moved = old.sub(lambda _: new, text)
        if moved != text:
            path.write_text(moved, "utf8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    for path in spread():
        print(path.relative_to(ROOT))
