"""Build the wheel and the source archive, install each into an empty environment, and try it there."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIAL = """
import attnlib, torch
q, k, v = torch.randn(3, 2, 4, 7, 16)
ours = attnlib.attention(q, k, v, causal=True)
theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
assert torch.allclose(ours, theirs, atol=1e-5)
assert attnlib.MultiHeadAttention(32, 4)(torch.randn(2, 5, 32)).shape == (2, 5, 32)
from attnlib.learn import check
check("3.1", None, record=False)
print("attnlib", attnlib.__version__, "from", attnlib.__file__)
"""


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command, and stop here if it fails."""
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def archives(folder: Path) -> list[Path]:
    """Build both into the folder, with the build back end that pyproject.toml names."""
    pip = (sys.executable, "-m", "pip", "--quiet")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]


def attempt(archive: Path, folder: Path) -> None:
    """Install one archive into an empty environment in the folder, and use it from outside the project."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(
        python,
        "-m",
        "pip",
        "--quiet",
        "install",
        archive,
        "--constraint",
        ROOT / "constraints.txt",
        cwd=folder,
    )
    run(python, "-c", TRIAL, cwd=folder)
    run(python, "-m", "attnlib", "doctor", cwd=folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "archives").mkdir()
        for archive in archives(Path(place) / "archives"):
            print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB", flush=True)
            attempt(archive, Path(place) / archive.suffix.strip("."))
