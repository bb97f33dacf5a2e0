"""A small model as a map: the residual stream of each word, and what is done along it, to the next word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import SIZE, Drawing, text_width
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, OUTPUT, QUERY, SERIES, VALUE, WEIGHT

EDGE = 32  # from the left to the residual stream of the first token
LAST = 236  # and to that of the last
WIDE = 370  # the drawing
BESIDE = LAST + 31  # where it is written what is done at a level
LINE = 15  # a line of it
LAYER = 126  # the height of one attention
BETWEEN = 16  # between two of them
BOX = 28  # a word
HEAD = 118  # where the first attention begins: below words, vectors and positions
KEYS = 36  # within it, where keys and query stand
MEET = LAYER - 32  # within it, where the weighted values arrive
LANE = 14  # of a plain vector, beside the residual stream


def whole_model(
    words: Mapping[str, int],
    layers: Sequence[Mapping[str, float]],
    answer: str,
    parts: Mapping[str, Sequence[str]],
    *,
    matrices: Sequence[tuple[str, str, str]] = (),
    roles: Mapping[str, str] | None = None,
) -> Drawing:
    """Draw the residual stream of every word through the layers of attention, down to the next word.

    The last word attends: a dashed bow leads from its query to each key. What all layers but the last
    fetch is added to it, and its stream is green from there on. What the last layer fetches is the answer:
    of each word the plain vector, which runs beside its stream in green. What is done at each level stands
    to the right of it.

    Args:
        words: Some words of a sentence, the last of which attends, each with its position.
        layers: For each layer, the attention weights of some of the words before.
        answer: The next word.
        parts: What is done at ``"word"``, at ``"position"``, in each layer (``"layer 1"`` and so on), where
            what it fetches arrives (``"sum 1"`` and so on), and at ``"end"``: lines of text, the first of
            which is bold in a layer. The last, which may be empty, says in grey where that was told.
        matrices: For each layer, what makes its keys, its query and its values, as the code calls them.
        roles: What the keys of some words tell in the last layer, written above them there.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a weight belongs to a word that is not there, a word that is not there has a role, or a
            part has no place.
    """
    names, roles = list(words), roles or {}
    for named in (word for some in (*layers, roles) for word in some):
        if named not in names[:-1]:
            raise ValueError(f"{named!r} must be one of the words before the last, {names[:-1]}")
    apart = (LAST - EDGE) / max(1, len(names) - 1)
    at = {word: EDGE + apart * j for j, word in enumerate(names)}
    step = LAYER + BETWEEN
    bottom = HEAD + step * len(layers)
    tops = [HEAD + step * n for n in range(len(layers))]
    levels = {"word": 43.0, "position": 79.0, "end": bottom + 10 + BOX / 2}
    levels |= {f"layer {n}": top + KEYS - LINE / 2 for n, top in enumerate(tops, 1)}
    levels |= {f"sum {n}": top + MEET for n, top in enumerate(tops, 1)}
    if lost := set(parts) - set(levels):
        raise ValueError(f"parts must be of {', '.join(levels)}, got {', '.join(sorted(lost))}")
    picture = Drawing(WIDE, bottom + 48)
    for top in tops:  # a band for each layer, below all else
        picture.rect(0, top - 8, WIDE, LAYER, fill=WEIGHT, opacity=0.08, round=8)
    _streams(picture, at, tops, layers[-1])
    for word, position in words.items():
        _start(picture, at[word], word, position, last=word == names[-1])
    for n, layer in enumerate(layers):
        made = matrices[n] if matrices else ("key", "query", "value") if n == 0 else None
        _layer(picture, tops[n], layer, at, made, code=bool(matrices), last=n == len(layers) - 1)
    for word, role in roles.items():
        picture.text(at[word] + 7, tops[-1], role, colour=KEY, anchor="start", size=11)
    half = text_width(answer) / 2 + 8
    picture.arrow((LAST, tops[-1] + MEET + 12), (LAST, bottom + 8), colour=OUTPUT, thick=2.4)
    picture.rect(LAST - half, bottom + 10, 2 * half, BOX, fill=OUTPUT, opacity=0.16, edge=OUTPUT, thick=1.8)
    picture.text(LAST, levels["end"], answer, bold=True)
    for level, lines in parts.items():
        start = max(BESIDE, LAST + half + 8) if level == "end" else BESIDE
        _beside(picture, start, levels[level], lines, bold=level.startswith("layer"))
    return picture


def _green(share: float) -> dict[str, float]:
    """Return how a vector is drawn that counts so much."""
    return {"thick": 1.2 + 5 * share, "opacity": 0.35 + 0.65 * share}


def _streams(
    picture: Drawing, at: Mapping[str, float], tops: Sequence[float], weights: Mapping[str, float]
) -> None:
    """Draw the residual stream of each word, its plain vector beside it, and in green what was fetched."""
    ends = tops[-1] + KEYS
    for x in at.values():
        picture.line((x, 50), (x, ends), colour=GRID, thick=5)
    for word in list(at)[:-1]:
        x = at[word] - LANE
        picture.line((x, 50), (x, ends), colour=VALUE, **_green(weights.get(word, 0.0)))
    for n, top in enumerate(tops[:-1]):
        below = ends if n == len(tops) - 2 else tops[n + 1] + MEET
        picture.line((LAST, top + MEET), (LAST, below), colour=VALUE, thick=5, opacity=0.55)


def _start(picture: Drawing, x: float, word: str, position: int, *, last: bool) -> None:
    """Draw a word, its vector, and where the vector of its position is added."""
    picture.text(x, 20, word, bold=True)
    for j, opacity in enumerate((0.5, 0.15, 0.35, 0.7) if last else (0.2, 0.6, 0.4, 0.25)):
        picture.rect(x - 20 + 10 * j, 36, 10, 14, fill=SERIES[0], opacity=opacity + 0.2, round=0)
    picture.circle(x, 79, 9, edge=INK, thick=1.4)
    picture.text(x, 78.5, "+", bold=True)
    picture.text(x + 12, 79, str(position), anchor="start", colour=MUTED, size=11)


def _layer(
    picture: Drawing,
    top: float,
    weights: Mapping[str, float],
    at: Mapping[str, float],
    made: tuple[str, str, str] | None,
    *,
    code: bool,
    last: bool,
) -> None:
    """Draw one attention of the last word: a query, keys, and what is fetched, thick by weight."""
    names = list(at)
    query, keys, meet = at[names[-1]], top + KEYS, top + MEET
    for word in names[:-1]:
        share = weights.get(word, 0.0)
        start, leaves = (at[word] - LANE, keys) if last else (at[word], keys + 16)
        picture.path(
            f"M{start:.1f} {leaves:.1f} C{start:.1f} {meet:.1f} {query - 60:.1f} {meet:.1f} "
            f"{query - 12:.1f} {meet:.1f}",
            colour=VALUE,
            **_green(share),
        )
    for n, word in enumerate(names[:-1]):
        lift = keys - 14 - 22 * (len(names) - 2 - n) / max(1, len(names) - 2)
        picture.path(
            f"M{query:.1f} {keys:.1f} C{query - 16:.1f} {lift:.1f} {at[word] + 16:.1f} {lift:.1f} "
            f"{at[word]:.1f} {keys:.1f}",
            colour=QUERY,
            thick=1.2,
            dashed=True,
        )
        picture.circle(at[word], keys, 6, fill=KEY)
    picture.circle(query, keys, 6, fill=QUERY)
    if made:
        (of_key, of_query, of_value), size = made, 11 if code else SIZE
        picture.text(at[names[0]] + 4, keys + 12, of_key, colour=KEY, anchor="start", code=code, size=size)
        picture.text(query - 6, keys + 12, of_query, colour=QUERY, anchor="end", code=code, size=size)
        picture.text(query - 16, meet + 14, of_value, colour=VALUE, anchor="end", code=code, size=size)
    picture.circle(query, meet, 10, edge=OUTPUT if last else VALUE, thick=1.8)
    if last:
        picture.circle(query, meet, 4, fill=OUTPUT)
    else:
        picture.text(query, meet - 0.5, "+", bold=True)


def _beside(picture: Drawing, x: float, y: float, lines: Sequence[str], *, bold: bool) -> None:
    """Write what is done at a level, and in grey where it was told, the middle of its lines there."""
    *done, told = lines
    for n, line in enumerate([*done, told] if told else done):
        grey = told != "" and n == len(done)
        middle = y + LINE * (n - (len(done) - 1 + bool(told)) / 2)
        style = {"colour": MUTED, "size": 11} if grey else {"bold": bold and n == 0, "size": 12}
        picture.text(x, middle, line, anchor="start", **style)
