"""What is handed out: the wheel, the source archive, and what they say of themselves."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import attnlib

ROOT = Path(__file__).parents[1]
BUILT = shutil.ignore_patterns(
    "__pycache__", "_build", "build", "dist", "*.egg-info", "[.]*", "*-checkpoint.ipynb"
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the project without what was built or installed in it."""
    return shutil.copytree(ROOT, tmp_path_factory.mktemp("project") / "source", ignore=BUILT)


@pytest.fixture(scope="module")
def archives(source, tmp_path_factory):
    """The wheel and the source archive, unpacked, as pip would build them but without fetching anything."""
    folder = tmp_path_factory.mktemp("archives")
    present = files(source)
    for kind in ("wheel", "sdist"):
        build = f"import setuptools.build_meta as b; b.build_{kind}({str(folder)!r})"
        subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    zipfile.ZipFile(wheel).extractall(folder / "wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "sdist", filter="data")
    (unpacked,) = (folder / "sdist").iterdir()
    return present, folder / "wheel", unpacked


def test_the_wheel_holds_every_file_of_the_library_and_no_other(archives):
    present, wheel, _ = archives
    held = {name for name in files(wheel) if ".dist-info/" not in name}
    assert held == {name for name in present if name.startswith("attnlib/")}
    assert {"attnlib/py.typed", "attnlib/widgets/static/common.js"} <= held


def test_the_wheel_needs_torch_and_numpy_and_nothing_else(archives):
    (metadata,) = archives[1].glob("*.dist-info/METADATA")
    needed = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata.read_text("utf8"), re.M)
    assert sorted(needed) == ["numpy", "torch"]
    assert f"\nVersion: {attnlib.__version__}\n" in metadata.read_text("utf8")


def test_the_source_archive_holds_every_file_of_the_project(archives):
    present, _, sdist = archives
    assert present - files(sdist) == set()


def test_tests_run_from_the_source_archive(archives):
    sdist = archives[2]
    asked = ["tests/backends/test_blocks.py", "tests/learn/test_record.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *asked, "-q", "-p", "no:cacheprovider"],
        cwd=sdist,
        env=os.environ | {"PYTHONPATH": str(sdist)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_version_is_one_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert "version" in PROJECT["dynamic"]  # read from the library
    assert str(citation["version"]) == attnlib.__version__
    assert json.loads((ROOT / ".zenodo.json").read_text("utf8"))["version"] == attnlib.__version__
    latest = re.search(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text("utf8"), re.M)
    assert latest[1] == attnlib.__version__


def test_addresses_are_those_of_the_book():
    book = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]["url"]
    assert PROJECT["urls"]
    assert all(url == book or url.startswith(f"{book}/") for url in PROJECT["urls"].values())
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))["repository-code"] == book
    assert f"git clone {book}\n" in (ROOT / "book/how_to_use.md").read_text("utf8")


def test_the_workflow_tests_the_lowest_versions_that_are_declared():
    workflow = (ROOT / ".github/workflows/test.yml").read_text("utf8")
    for declared in PROJECT["dependencies"]:
        name, lowest = declared.split(">=")
        assert re.search(rf"{name}=={re.escape(lowest)}\.\d+", workflow)


def test_what_the_library_locks_with_comes_with_torch():
    assert any(re.match(r"filelock\b(?!.*extra)", needed) for needed in metadata.requires("torch"))


def test_binder_gets_what_the_notebooks_need_at_the_versions_that_are_declared():
    binder = yaml.safe_load((ROOT / "binder/environment.yml").read_text("utf8"))["dependencies"]
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *extras["plot"], *extras["widgets"], *extras["book"][1:]]
    conda = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}  # its names for them
    for declared in needed:
        name, lowest = declared.split(">=")
        if name != "traitlets":  # comes with ipywidgets
            assert f"{conda.get(name, name)}>={lowest}" in binder
