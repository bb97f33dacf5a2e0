"""The editor of the pages is what its sources and its lock file say."""

import gzip
import json
import re

from tools.bundle_editor import MADE, MOST, SOURCES, header, parts

LOCK = json.loads((SOURCES / "package-lock.json").read_text("utf8"))
ASKED = json.loads((SOURCES / "package.json").read_text("utf8"))


def test_the_bundle_names_the_versions_of_its_lock_file():
    assert MADE.read_text("utf8").partition("\n")[0] == header(LOCK)
    assert len(parts(LOCK)) > 5


def test_every_version_is_exact_and_locked_by_its_hash():
    wanted = ASKED["dependencies"] | ASKED["devDependencies"]
    assert [version for version in wanted.values() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    locked = {name.removeprefix("node_modules/"): about for name, about in LOCK["packages"].items() if name}
    assert {name: locked[name]["version"] for name in wanted} == wanted
    assert [name for name, about in locked.items() if not about["integrity"].startswith("sha512-")] == []


def test_the_lock_file_names_no_host_that_serves_it():
    assert [name for name, about in LOCK["packages"].items() if "resolved" in about] == []


def test_the_tools_that_bundle_are_not_in_the_bundle():
    assert not any("esbuild" in one for one in parts(LOCK))


def test_the_bundle_is_small():
    assert len(gzip.compress(MADE.read_bytes(), 9)) < MOST
