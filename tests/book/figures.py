"""Whether two pictures of one figure show the same, though two machines drew them."""

import base64
import functools
import io

import numpy as np
from matplotlib.image import imread

# Drawn again on the same machine, every figure of the book is the same to the last bit. Another machine sums in another
# order: a trained curve ends a little higher, and a tick label that grew wider pushes all else aside. All texts that the
# notebooks print are equal on those machines, three decimals and all, so figures cannot move far: a curve that moves by
# 0.005 of its axis moves two pixels. So:
REACH = 2  # a pixel's colour may be found this many pixels away,
SHADE = 10  # and this much lighter or darker (of 255): a weight in a heat map may move by 0.04;
STRAY = 30  # and fewer pixels than the smallest dot has (37) may differ altogether.
# A line that is missing, moved by 0.01 of its axis or drawn in another of our colours differs in a thousand pixels.
ROOM = 0.1  # figures of times may be this much wider or higher: their labels are other numbers


def png_difference(stored: str, drawn: str) -> str:
    """Say how two PNG pictures, in base64, differ; an empty text means that they are alike."""
    before, after = decode(stored), decode(drawn)
    return size_difference(before, after, REACH) or pixel_difference(before, after)


def png_size_difference(stored: str, drawn: str) -> str:
    """Say how the sizes of two PNG pictures, in base64, differ; an empty text means that they are about the same."""
    before, after = decode(stored), decode(drawn)
    return size_difference(before, after, round(ROOM * max(before.shape)))


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
