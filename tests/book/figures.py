"""Whether two pictures of one figure show the same, though two machines drew them."""

import base64
import functools
import io

import numpy as np
from matplotlib.image import imread

from attnlib.plotting.kit.style import KEY, OUTPUT, QUERY, SERIES, VALUE, WEIGHT

# Drawn again on the same machine, every figure of the book but that of its own times is the same to the last bit. On
# another machine formulas give numbers that are off in the seventh digit, so nothing moves that can be seen; we allow:
REACH = (
    2  # a pixel's colour may be found this many pixels away (a label that grew wider pushes all else aside),
)
SHADE = 10  # and this much lighter or darker (of 255): a weight in a heat map may move by 0.04;
STRAY = 30  # and fewer pixels than the smallest dot has (37) may differ altogether.
# A line that is missing, moved by 0.01 of its axis or drawn in another of our colours differs in a thousand pixels.

# Times, and training where sums are taken in another order, are another matter: with the products of PyTorch's other
# library, a median of chapter 4 moves by a fifth of its axis, while every claim about it holds. No tolerance takes that and
# still sees a changed curve. Of these we ask the gist:
ROOM = 0.1  # as large, but for a tenth (numbers at the axes differ),
INK = 100  # and each of our line colours there, in at least so many pixels, or not there,
TINT = 30  # each channel within so much: a heat map ends in one of them, and its darkest cell need not be at the end.
# the third of the series is left out: text is nearly as dark
NAMED = (*SERIES[:2], SERIES[3], QUERY, KEY, VALUE, WEIGHT, OUTPUT)
COLOURS = [tuple(bytes.fromhex(colour[1:])) for colour in NAMED]


def png_difference(stored: str, drawn: str) -> str:
    """Say how two PNG pictures, in base64, differ; an empty text means that they are alike."""
    before, after = decode(stored), decode(drawn)
    return size_difference(before, after, REACH) or pixel_difference(before, after)


def png_gist_difference(stored: str, drawn: str) -> str:
    """Say how two PNG pictures, in base64, differ in size or colours; an empty text means that they do not."""
    before, after = decode(stored), decode(drawn)
    return size_difference(before, after, round(ROOM * max(before.shape))) or colour_difference(before, after)


def size_difference(stored: np.ndarray, drawn: np.ndarray, room: int) -> str:
    """Say what the sizes of two pictures are if they differ by more than ``room`` pixels."""
    (height, width), (new_height, new_width) = stored.shape[:2], drawn.shape[:2]
    if abs(height - new_height) <= room and abs(width - new_width) <= room:
        return ""
    return f"the stored figure is {width} x {height} pixels, the new one {new_width} x {new_height}"


def pixel_difference(stored: np.ndarray, drawn: np.ndarray) -> str:
    """Say how many pixels of two pictures ``(height, width, 3)`` differ, and where; an empty text means: too few."""
    height, width = np.minimum(stored.shape[:2], drawn.shape[:2])
    stored, drawn = stored[:height, :width], drawn[:height, :width]
    strays = unexplained(stored, drawn) | unexplained(drawn, stored)
    if strays.sum() <= STRAY:
        return ""
    rows, columns = np.nonzero(strays)
    return (
        f"the figure changed: {strays.sum()} of {strays.size} pixels differ, between "
        f"column {columns.min()}, row {rows.min()} and column {columns.max()}, row {rows.max()}"
    )


def colour_difference(stored: np.ndarray, drawn: np.ndarray) -> str:
    """Say which of our line colours is in one picture ``(height, width, 3)`` and not in the other."""
    for colour in COLOURS:
        before, after = ((abs(picture - colour) <= TINT).all(-1).sum() for picture in (stored, drawn))
        if (before < INK) != (after < INK):
            name = "#{:02x}{:02x}{:02x}".format(*colour)
            return f"the figure changed: {before} pixels had the colour {name}, and now {after} have"
    return ""


def unexplained(picture: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Tell for each pixel whether its colour lies outside what the other picture shows around it."""
    lowest, highest = around(other, np.minimum), around(other, np.maximum)
    return ((picture < lowest - SHADE) | (picture > highest + SHADE)).any(-1)


def around(picture: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Return the lowest or highest of each channel within REACH of each pixel."""
    for axis in (0, 1):
        edges = [(REACH, REACH) if i == axis else (0, 0) for i in range(3)]
        padded = np.moveaxis(np.pad(picture, edges, mode="edge"), axis, 0)
        length = picture.shape[axis]
        shifted = [padded[i : i + length] for i in range(2 * REACH + 1)]
        picture = np.moveaxis(functools.reduce(extreme, shifted), 0, axis)
    return picture


def decode(png: str) -> np.ndarray:
    """Return a picture as (height, width, 3) numbers from 0 to 255, on white."""
    picture = imread(io.BytesIO(base64.b64decode(png)), format="png")
    if picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=-1)
    if picture.shape[-1] == 4:
        picture = picture[..., :3] * picture[..., 3:] + (1 - picture[..., 3:])
    return (255 * picture).round().astype(np.int16)
