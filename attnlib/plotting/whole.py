"""A small model as a map: the road of each word from its vector to the next word, and what stands on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting._style import GRID, INK, KEY, MUTED, OUTPUT, QUERY, SERIES, VALUE, WEIGHT
from attnlib.plotting.drawing import SIZE, Drawing, text_width

EDGE, LAST, WIDE = 30, 256, 352  # the first road; the last one; how wide it all is
LINE, BOX = 21, 24  # of a line of text; of a word
LOOK, BETWEEN = 118, 18  # how much of a road a look takes, and what lies between two
HEAD = 116  # where the first look begins: below words, vectors and places
KEYS, MEET = 26, LOOK - 34  # in a look: where keys and query stand, and where what is heard arrives
LANE = 12  # of a plain vector, beside its road
MARK = 8  # the radius of the letter of a part


def whole_model(
    words: Mapping[str, int],
    looks: Sequence[Mapping[str, float]],
    answer: str,
    parts: Mapping[str, Sequence[tuple[str, str]]],
    *,
    matrices: Sequence[tuple[str, str, str]] = (),
) -> Drawing:
    """Draw the road of every word through the looks, down to the next word.

    The last word looks: a dashed line is where its query meets the keys. What it hears in all looks but
    the last is added to it, and its road is green from there on. What it hears in the last look is the
    answer: of each word the plain vector, which runs beside its road in green. The parts have letters where
    they work, and are listed below; a part that works in two looks has one letter.

    Args:
        words: Some words of a sentence, the last of which looks, each with its place.
        looks: For each look, how much it gives to some of the words before.
        answer: The next word.
        parts: What there is at ``"start"``, in each look (``"look 1"`` and so on), where what is heard there
            arrives (``"sum 1"`` and so on), and at ``"end"``: lines of two texts, a part and its chapter,
            which get a letter and are listed, or a heading and nothing, which stands beside the last road.
        matrices: For each look, what makes its keys, its query and its values, as the code calls them.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a look goes to a word that is not there.
    """
    names = list(words)
    for heard in (word for look in looks for word in look):
        if heard not in names[:-1]:
            raise ValueError(f"{heard!r} must be one of the words before the last, {names[:-1]}")
    apart = (LAST - EDGE) / max(1, len(names) - 1)
    at = {word: EDGE + apart * j for j, word in enumerate(names)}
    step = LOOK + BETWEEN
    bottom = HEAD + step * len(looks)
    listed = list(dict.fromkeys(line for lines in parts.values() for line in lines if line[1]))
    picture = Drawing(WIDE, bottom + 50 + (LINE * len(listed) + 10 if listed else 0))
    for n in range(len(looks)):  # a band for each look, below all else
        picture.rect(0, HEAD + step * n - 8, WIDE, LOOK, fill=WEIGHT, opacity=0.08, round=8)
    last = HEAD + step * (len(looks) - 1)
    for x in at.values():
        picture.line((x, 50), (x, last + KEYS), colour=GRID, thick=5)
    for word in names[:-1]:
        x = at[word] - LANE
        picture.line((x, 50), (x, last + KEYS), colour=VALUE, **_green(looks[-1].get(word, 0.0)))
    x = at[names[-1]]
    for n in range(len(looks) - 1):  # what was heard is on its road from now on
        ends = HEAD + step * n + MEET, HEAD + step * (n + 1) + (KEYS if n == len(looks) - 2 else MEET)
        picture.line(*((x, y) for y in ends), colour=VALUE, thick=5, opacity=0.55)
    for word, place in words.items():
        _start(picture, at[word], word, place, asks=word == names[-1])
    for n, look in enumerate(looks):
        top = HEAD + step * n
        made = matrices[n] if matrices else ("key", "query", "value") if n == 0 else None
        _look(picture, top, look, at, made, code=bool(matrices), last=n == len(looks) - 1)
        _beside(picture, top + KEYS, parts.get(f"look {n + 1}", ()))
    x, half = at[names[-1]], text_width(answer) / 2 + 8
    picture.arrow((x, bottom - BETWEEN - 24), (x, bottom + 8), colour=OUTPUT, thick=2.4)
    picture.rect(x - half, bottom + 10, 2 * half, BOX + 4, fill=OUTPUT, opacity=0.16, edge=OUTPUT, thick=1.8)
    picture.text(x, bottom + 10 + BOX / 2 + 2, answer, bold=True)
    _beside(picture, bottom + 12 + BOX / 2, parts.get("end", ()), start=x + half + 8)
    where = {"start": (LAST + 56, 78), "end": (x - half - 18, bottom + 12 + BOX / 2)}
    where |= {f"look {n + 1}": (LAST + 28, HEAD + step * n + KEYS + 26) for n in range(len(looks))}
    where |= {f"sum {n + 1}": (LAST - 22, HEAD + step * n + MEET - 22) for n in range(len(looks))}
    for n, (part, chapter) in enumerate(listed):
        y = bottom + 62 + LINE * n
        _letter(picture, EDGE - 12, y, n)
        picture.text(EDGE + 4, y, part, anchor="start")
        picture.text(WIDE - 8, y, chapter, anchor="end", colour=MUTED)
    for place, lines in parts.items():
        for along, line in enumerate(line for line in lines if line[1]):
            _letter(picture, where[place][0] + 24 * along, where[place][1], listed.index(line))
    return picture


def _green(share: float) -> dict[str, float]:
    """Return how a vector is drawn that counts so much."""
    return {"thick": 1.2 + 5 * share, "opacity": 0.35 + 0.65 * share}


def _letter(picture: Drawing, x: float, y: float, part: int) -> None:
    """Draw the letter of a part, in a ring: A for the first."""
    picture.circle(x, y, MARK, edge=MUTED)
    picture.text(x, y, chr(ord("A") + part))


def _start(picture: Drawing, x: float, word: str, place: int, *, asks: bool) -> None:
    """Draw a word, its vector, and where the vector of its place is added."""
    picture.text(x, 20, word, bold=True)
    for j, opacity in enumerate((0.5, 0.15, 0.35, 0.7) if asks else (0.2, 0.6, 0.4, 0.25)):
        picture.rect(x - 20 + 10 * j, 36, 10, 14, fill=SERIES[0], opacity=opacity + 0.2, round=0)
    picture.circle(x, 78, 9, edge=INK, thick=1.4)
    picture.text(x, 77.5, "+", bold=True)
    picture.text(x + 13, 78, str(place), anchor="start", colour=MUTED)


def _look(
    picture: Drawing,
    top: float,
    look: Mapping[str, float],
    at: Mapping[str, float],
    made: tuple[str, str, str] | None,
    *,
    code: bool,
    last: bool,
) -> None:
    """Draw a look of the last word: keys on the roads, a query, and what is brought, thick by weight."""
    names = list(at)
    asks, keys, meet = at[names[-1]], top + KEYS, top + MEET
    picture.line((at[names[0]], keys), (asks, keys), colour=QUERY, thick=1.2, dashed=True)
    for word in names[:-1]:
        share = look.get(word, 0.0)
        start, leaves = (at[word] - LANE, keys) if last else (at[word], keys + 16)
        picture.path(
            f"M{start:.1f} {leaves:.1f} C{start:.1f} {meet:.1f} {asks - 60:.1f} {meet:.1f} "
            f"{asks - 12:.1f} {meet:.1f}",
            colour=VALUE,
            **_green(share),
        )
        picture.circle(at[word], keys, 6, fill=KEY)
    picture.circle(asks, keys, 6, fill=QUERY)
    if made:
        (key, query, value), size = made, 12 if code else SIZE
        picture.text(at[names[0]] + 9, keys - 13, key, colour=KEY, anchor="start", code=code, size=size)
        picture.text(asks - 11, keys - 13, query, colour=QUERY, anchor="end", code=code, size=size)
        picture.text(asks + 16, meet, value, colour=VALUE, anchor="start", code=code, size=size)
    picture.circle(asks, meet, 10, edge=OUTPUT if last else VALUE, thick=1.8)
    if last:
        picture.circle(asks, meet, 4, fill=OUTPUT)
    else:
        picture.text(asks, meet - 0.5, "+", bold=True)


def _beside(
    picture: Drawing, y: float, lines: Sequence[tuple[str, str]], *, start: float = LAST + 16
) -> None:
    """Write the headings among the lines, beside the last road."""
    for n, (heading, _) in enumerate(line for line in lines if not line[1]):
        picture.text(start, y + LINE * n, heading, anchor="start", bold=True)
