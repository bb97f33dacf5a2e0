"""Write `constraints.txt`: every package that comes along with `requirements.txt`, as pip chooses today.

No hashes, and no local part of a version: PyTorch's build differs from platform to platform. A package that
only another platform needs is not pinned.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAD = "# Every package that comes along with requirements.txt. Made by `make pins`; do not edit.\n"


def resolved() -> dict[str, str]:
    """Ask pip what it would install into an empty environment, and install nothing."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--quiet",
        "--report",
        "-",
    ]
    asked = subprocess.run(
        [*pip, "--requirement", "requirements.txt"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    found = (package["metadata"] for package in json.loads(asked.stdout)["install"])
    return {package["name"].lower().replace("_", "-"): package["version"] for package in found}


def lines(packages: dict[str, str]) -> str:
    """Spell them as constraints, without the project itself."""
    pins = (f"{name}=={version.partition('+')[0]}" for name, version in packages.items() if name != "attnlib")
    return HEAD + "".join(f"{pin}\n" for pin in sorted(pins))


if __name__ == "__main__":
    text = lines(resolved())
    (ROOT / "constraints.txt").write_text(text, "utf8")
    print(f"constraints.txt: {text.count('==')} packages")
