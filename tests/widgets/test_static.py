from collections import defaultdict
from importlib import resources

import pytest

from attnlib import widgets

WIDGETS = [getattr(widgets, name) for name in widgets.__all__ if not name.isupper()]


@pytest.mark.parametrize("widget", WIDGETS)
def test_the_front_end_asks_for_nothing_from_elsewhere(widget):
    assert "http" not in widget._esm.replace("http://www.w3.org/2000/svg", "")
    assert "import " not in widget._esm
    assert "http" not in widget._css


def test_what_two_front_ends_share_stands_in_the_common_file():
    static, places = resources.files("attnlib.widgets") / "static", defaultdict(set)
    for file in static.iterdir():
        lines = [line.strip() for line in file.read_text("utf8").splitlines() if len(line.strip()) > 3]
        for run in zip(lines, lines[1:], lines[2:], strict=False):
            places[run].add(file.name)
    assert [(run, names) for run, names in places.items() if len(names) > 1] == []
