"""A model that writes, whole: tokens, vectors, blocks along the residual streams, and the next token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing, text_width
from attnlib.plotting.kit.style import INK, MUTED, OUTPUT, PAPER, SERIES, WEIGHT

# in pixels, from left to right
TIE = 8  # the dashed line that ties the two tables
NAMES = 62  # names of blocks end here
FIRST = 88  # the residual stream of the first token
APART = 78  # from token to token
ROOM = 56  # right of the last token
SIDE = 158  # the text at the right
# and from the bottom up
TOKEN = 26  # a token
TABLE = 24  # a table
ATTENTION = 84  # the lower half of the first block
NETWORK = 84  # its upper half
OTHER = 24  # any other block
NORM = 44  # the last norm
GAP = 12  # between groups
LINE = 19  # a line of text
LOOKS = {"attention": WEIGHT, "MLP": SERIES[0], "norm": SERIES[1]}


def writing_model(tokens: Sequence[str], following: Mapping[str, float], *, blocks: int = 4) -> Drawing:
    """Draw a decoder from the bottom up: tokens, vectors, blocks along residual streams, the next token.

    The first block is drawn in full, with its norms before its parts; the others are like it.

    Args:
        tokens: What it reads; up to 4 short ones.
        following: The likeliest tokens to follow, each with its probability, the likeliest first.
        blocks: How many blocks there are, at least 2.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no token, nothing follows, there are too few blocks, or it would be too wide.
    """
    if not tokens or not following:
        raise ValueError(f"there must be tokens and what may follow, got {len(tokens)} and {len(following)}")
    if blocks < 2:
        raise ValueError(f"blocks must be at least 2, got {blocks}")
    streams = [FIRST + APART * i for i in range(len(tokens))]
    left, right = NAMES + 8, streams[-1] + ROOM
    top = 12 + LINE * len(following) + 18  # of the upper table
    ends = top + TABLE + NORM
    first = ends + OTHER * (blocks - 1) + GAP
    below = first + NETWORK + ATTENTION + GAP  # of the lower table
    picture = Drawing(right + SIDE, below + TABLE + GAP + TOKEN + 6)
    _tables(picture, (left, right), top, below)
    _blocks(picture, (left, right), ends, first, blocks)
    for x in streams:
        picture.arrow((x, below), (x, top + TABLE + 2), colour=INK, thick=3, head=9)
    _attention(picture, streams, first + NETWORK)
    for x, token in zip(streams, tokens, strict=True):
        _network(picture, x, first)
        _norm(picture, x, top + TABLE + NORM / 2 + 4, named=True)
        _token(picture, x, below + TABLE + GAP, token)
    _following(picture, streams[-1], top, following)
    picture.line((streams[-1] + 3, first - 8), (right + 8, first - 8), thick=1)  # to the name of a stream
    for y, part, said in (  # beside the drawing
        (LINE * len(following) / 2 + 6, "next token", "drawn by its probability"),
        (top + TABLE / 2, "the table again", "a logit for each token"),
        (top + TABLE + NORM / 2 + 5, "norm", "and in each small box"),
        (ends + OTHER * (blocks - 1) / 2 - 2, "more blocks", "like the first"),
        (first - 8, "residual streams", "parts read them, and add"),
        (first + NETWORK / 2 + 2, "MLP", "on each token alone"),
        (first + NETWORK + ATTENTION / 2 - 4, "attention", "to itself and those before"),
        (below + TABLE / 2, "embedding table", "a vector for each token"),
        (below + TABLE + GAP + TOKEN / 2, "tokens", ""),
    ):
        shift = 8 if said else 0
        picture.text(right + 12, y - shift, part, anchor="start", bold=True, colour=LOOKS.get(part, INK))
        picture.text(right + 12, y + shift, said, anchor="start", colour=MUTED)
    return picture


def _tables(picture: Drawing, sides: tuple[float, float], top: float, below: float) -> None:
    """Draw the table at both ends, joined by a dashed line: it is the same one."""
    left, right = sides
    for y in (top, below):
        picture.rect(left, y, right - left, TABLE, fill=INK, opacity=0.12)
    middle = TABLE / 2
    ends = (left, top + middle), (TIE, top + middle), (TIE, below + middle), (left, below + middle)
    picture.line(*ends, dashed=True)


def _blocks(picture: Drawing, sides: tuple[float, float], ends: float, first: float, blocks: int) -> None:
    """Draw what lies behind the residual streams: a strip for each block, and in the first its two parts."""
    left, right = sides
    for n in range(blocks, 1, -1):
        y = ends + OTHER * (blocks - n)
        picture.rect(left, y, right - left, OTHER - 4, fill=MUTED, opacity=0.16)
        picture.text(NAMES, y + OTHER / 2 - 2, f"block {n}", anchor="end")
    for y, part, high in (
        (first, "MLP", NETWORK),
        (first + NETWORK, "attention", ATTENTION),
    ):
        picture.rect(left, y, right - left, high - 4, fill=LOOKS[part], opacity=0.12)
    picture.text(NAMES, first + NETWORK - 2, "block 1", anchor="end")


def _attention(picture: Drawing, streams: Sequence[float], top: float) -> None:
    """Draw how each token attends back: arrows from the normalised copies to the sums of later tokens."""
    reads, adds = top + ATTENTION - 20, top + 16
    for i, start in enumerate(streams):
        x = start + 18  # of its norm
        for end in streams[i:]:
            near, far = (14, 26) if end == start else (-14, -34)  # a token comes to itself from the right
            bow = f"C{x} {adds + 26} {end + far} {adds} {end + near} {adds}"
            picture.path(f"M{x} {reads - 6} {bow}", colour=WEIGHT, thick=1.8)
        _reads(picture, start, reads)
    for n, x in enumerate(streams):
        for side in (14, -14) if n else (14,):  # nothing comes to the first from the left
            picture.arrow((x + side, adds), (x + side * 9 / 14, adds), colour=WEIGHT, thick=1.8, head=6)
        _sum(picture, x, adds)


def _network(picture: Drawing, x: float, top: float) -> None:
    """Draw the feed-forward network of one token beside its residual stream."""
    reads, adds, colour = top + NETWORK - 18, top + 16, LOOKS["MLP"]
    picture.arrow((x + 18, reads), (x + 18, top + 51), head=5)
    picture.rect(x + 8, top + 31, 34, 20, fill=colour, opacity=0.35, edge=colour)
    picture.arrow((x + 25, top + 31), (x + 25, adds), (x + 9, adds), colour=colour, thick=1.8, head=6)
    _reads(picture, x, reads)
    _sum(picture, x, adds)


def _reads(picture: Drawing, x: float, y: float) -> None:
    """Draw where a part reads from the residual stream, through a norm."""
    picture.circle(x, y, 3.5, fill=INK)
    picture.line((x, y), (x + 12, y))
    _norm(picture, x + 18, y)


def _norm(picture: Drawing, x: float, y: float, *, named: bool = False) -> None:
    """Draw a norm around a point, with its name where there is room."""
    wide, high = (40, 20) if named else (12, 12)
    place = x - wide / 2, y - high / 2, wide, high
    picture.rect(*place, fill=PAPER, edge=LOOKS["norm"], thick=1.6, round=3)
    picture.rect(*place, fill=LOOKS["norm"], opacity=0.3, round=3)
    if named:
        picture.text(x, y, "norm")


def _sum(picture: Drawing, x: float, y: float) -> None:
    """Draw where something is added to the residual stream."""
    picture.circle(x, y, 8, edge=INK, thick=1.6)
    picture.text(x, y - 0.5, "+", bold=True)


def _token(picture: Drawing, x: float, y: float, token: str) -> None:
    """Draw a token and the arrow from it to the table."""
    wide = text_width(token) + 12
    picture.arrow((x, y), (x, y - GAP + 1), head=6)
    picture.rect(x - wide / 2, y, wide, TOKEN, fill=PAPER, edge=MUTED)
    picture.text(x, y + TOKEN / 2, token)


def _following(picture: Drawing, x: float, top: float, following: Mapping[str, float]) -> None:
    """Draw what may follow the last token, with a bar for each probability."""
    start, most = FIRST + 42, max(following.values())
    picture.arrow((x, top), (x, top - 14), colour=OUTPUT, thick=2)
    for n, (token, chance) in enumerate(following.items()):
        y = 12 + LINE * n
        long = 96 * chance / most
        picture.text(start - 8, y, token, anchor="end")
        picture.rect(start, y - 6, long, 12, fill=OUTPUT, round=1)
        picture.text(start + long + 6, y, f"{100 * chance:.0f}%", anchor="start", colour=MUTED)
