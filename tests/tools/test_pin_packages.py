import re
from pathlib import Path

from tools import pin_packages

ROOT = Path(__file__).parents[2]
PINS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf8"), re.M))


def test_every_direct_requirement_is_pinned_at_the_same_version():
    direct = re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.txt").read_text("utf8"), re.M)
    assert len(direct) > 20
    assert [(name, version) for name, version in direct if PINS.get(name) != version] == []


def test_a_local_build_and_the_project_itself_are_left_out():
    text = pin_packages.lines({"torch": "2.13.0+cpu", "attnlib": "0.2.0", "anyio": "4.0"})
    assert text == pin_packages.HEAD + "anyio==4.0\ntorch==2.13.0\n"
