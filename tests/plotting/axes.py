"""What stands on axes, and where, after the figure was drawn."""

import itertools


def box(text):
    """Return where a text stands, in pixels, after the figure was drawn."""
    text.figure.canvas.draw()
    return text.get_window_extent()


def middle(text):
    found = box(text)
    return (found.y0 + found.y1) / 2


def texts(ax):
    return [t.get_text() for t in ax.texts]


def labels(ax):
    return [t for t in ax.texts if t.get_text()]


def assert_readable(ax):
    """No label covers another, and none sticks out of the frame."""
    renderer = ax.figure.canvas.get_renderer()
    boxes = [t.get_window_extent(renderer) for t in labels(ax)]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    frame = ax.get_window_extent(renderer)
    assert all(frame.x0 - 1 < b.x0 and b.x1 < frame.x1 + 1 for b in boxes)
