"""Whether two SVG pictures of one figure show the same, though two machines drew them.

The same code gives the same bytes on one machine. On another, numbers are off in the seventh digit, and with them
the ids that matplotlib makes of what it draws. So we compare what is drawn: element by element, texts and colours
equal, and numbers to within what nobody can see.
"""

import re
from collections import Counter
from itertools import zip_longest
from xml.etree import ElementTree

from attnlib.plotting.kit.style import THEME
from tests.book.figures import png_difference, png_gist_difference

# half a point is 0.65 px on the page, less than half the width of a line; 0.02 of the smallest axis of the book are 2 points
PLACE = 0.5
SHADE = 0.02  # of an opacity: a weight in a heat map may be off by as much
FACTOR = 0.002  # of a scale or a turn
ROOM = (
    0.1  # where numbers differ from machine to machine, sizes may by a tenth: other numbers stand at the axes
)

NUMBER = re.compile(r"-?\d*\.?\d+(?:e[+-]?\d+)?")
RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹·]+")  # an exponent is a number too
PNG = "data:image/png;base64,"
NAMELESS = ("metadata", "style")  # neither shows anything


def svg_difference(stored: str, drawn: str) -> str:
    """Say how two SVG pictures differ; an empty text means that they show the same."""
    before, after = shown(stored), shown(drawn)
    for old, new in zip_longest(before, after):
        if old is None or new is None:
            return f"the figure changed: {len(before)} elements are stored, {len(after)} were drawn"
        said = element_difference(old, new)
        if said:
            return f"the figure changed: {said}"
    return ""


def svg_gist_difference(stored: str, drawn: str) -> str:
    """Say how two SVG pictures differ in size, colours or words; an empty text means that they do not."""
    (width, height), (new_width, new_height) = size(stored), size(drawn)
    room = ROOM * max(width, height)
    if abs(width - new_width) > room or abs(height - new_height) > room:
        return (
            f"the stored figure is {width:.0f} x {height:.0f} points, the new one "
            f"{new_width:.0f} x {new_height:.0f}"
        )
    before, after = shown(stored), shown(drawn)
    for what, found in (("colours", colours), ("texts", words)):
        old, new = found(before), found(after)
        if old != new:
            gone, come = sorted((old - new).elements()), sorted((new - old).elements())
            return f"the figure changed: of its {what} {gone} are gone, {come} are new"
    old, new = rasters(before), rasters(after)
    if len(old) != len(new):
        return f"the figure changed: {len(old)} pictures of pixels were inside, now {len(new)}"
    return next(filter(None, map(png_gist_difference, old, new)), "")


def shown(svg: str) -> list[ElementTree.Element]:
    """Return all elements of a picture in their order, those left out that show nothing."""
    root = ElementTree.fromstring(svg)
    hidden = {id(part) for one in root.iter() if tag(one) in NAMELESS for part in one.iter()}
    names = {}
    elements = [one for one in root.iter() if id(one) not in hidden]
    for one in elements:  # an id is as good as another if the same things refer to it
        if "id" in one.attrib:
            names.setdefault(one.attrib.pop("id"), f"#{len(names)}")
    for one in elements:
        for key, value in one.attrib.items():
            one.attrib[key] = re.sub(
                r"(?<=url\()#[^)]+|^#(?!\w{6}$).+", lambda m: names.get(m[0][1:], m[0]), value
            )
    return elements


def element_difference(old: ElementTree.Element, new: ElementTree.Element) -> str:
    """Say how two elements differ: in kind, text, an attribute; an empty text means that they do not."""
    if tag(old) != tag(new):
        return f"a {tag(old)} is stored where a {tag(new)} was drawn"
    if _text(old) != _text(new):
        return f"the text {_text(old)!r} is now {_text(new)!r}"
    if set(old.attrib) != set(new.attrib):
        return f"a {tag(old)} has {sorted(new.attrib)}, not {sorted(old.attrib)}"
    for key, before in old.attrib.items():
        after = new.attrib[key]
        if before.startswith(PNG) and after.startswith(PNG):
            said = png_difference(before[len(PNG) :], after[len(PNG) :])
        else:
            said = value_difference(key, before, after)
        if said:
            return f"{tag(old)}, {key.rpartition('}')[2]}: {said}"
    return ""


def value_difference(key: str, before: str, after: str) -> str:
    """Say how two values of an attribute differ: in what is no number, or in a number by too much."""
    if before == after:
        return ""
    if key == "style":
        old, new = _styles(before), _styles(after)
        if set(old) != set(new):
            return f"{after!r} instead of {before!r}"
        return next(filter(None, (value_difference(name, old[name], new[name]) for name in old)), "")
    if before.startswith("#") or NUMBER.sub("", before) != NUMBER.sub("", after):
        return f"{_short(after)} instead of {_short(before)}"
    numbers = [[float(x) for x in NUMBER.findall(value)] for value in (before, after)]
    allowed = SHADE if "opacity" in key else PLACE
    if "scale" in before:
        allowed = FACTOR
    far = max((abs(a - b) for a, b in zip(*numbers, strict=True)), default=0.0)
    return f"a number is off by {far:.3g}, {allowed:g} are allowed" if far > allowed else ""


def colours(elements: list[ElementTree.Element]) -> Counter:
    """Return which colours of the book the shapes have, text left aside."""
    found = {
        colour
        for one in elements
        if tag(one) not in ("text", "tspan")
        for value in one.attrib.values()
        for colour in re.findall(r"#[0-9a-f]{6}", value)
        if colour in THEME
    }
    return Counter(found)


def words(elements: list[ElementTree.Element]) -> Counter:
    """Return the texts with letters in them, numbers left out; what a model wrote stands in monospace, and is too."""
    found = Counter()
    for one in elements:
        if tag(one) == "text" and "Mono" not in one.get("style", ""):
            said = RAISED.sub("", NUMBER.sub("", "".join(one.itertext()).strip()))
            if re.search(r"[^\W\d_]", said):
                found[said] += 1
    return found


def rasters(elements: list[ElementTree.Element]) -> list[str]:
    """Return the pictures of pixels inside."""
    return [value[len(PNG) :] for one in elements for value in one.attrib.values() if value.startswith(PNG)]


def size(svg: str) -> tuple[float, float]:
    """Return width and height of a picture, in its own units."""
    *_, width, height = map(float, ElementTree.fromstring(svg).get("viewBox").split())
    return width, height


def tag(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _text(element: ElementTree.Element) -> str:
    return (element.text or "").strip() + "|" + (element.tail or "").strip()


def _styles(style: str) -> dict[str, str]:
    parts = (part.split(":", 1) for part in style.split(";") if ":" in part)
    return {name.strip(): value.strip() for name, value in parts}


def _short(value: str) -> str:
    return repr(value if len(value) < 60 else f"{value[:57]}...")
