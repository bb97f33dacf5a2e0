"""The largest few: which of equals come first is PyTorch's, on Linux, whose library of C++ it takes them by."""

from __future__ import annotations

from collections.abc import Callable


def largest(places: list[int], k: int, before: Callable[[int, int], bool]) -> list[int]:
    """Return the first k places by ``before``, which tells whether one comes before another."""
    xs = list(places)
    if not k:
        return []
    if k * 64 <= len(xs):
        return _in_turn(xs, k, before)
    first, last = 0, len(xs)
    while last - first > 3:
        cut = _cut(xs, first, last, before)
        if cut <= k - 1:
            first = cut
        else:
            last = cut
    _insertion(xs, first, last, before)
    _sort(xs, 0, k - 1, before)
    return xs[:k]


def _in_turn(xs: list[int], k: int, before: Callable[[int, int], bool]) -> list[int]:
    """Take the best again and again; of equals the earliest."""
    found = []
    for _ in range(k):
        best = xs[0]
        for x in xs[1:]:
            if before(x, best):
                best = x
        xs.remove(best)
        found.append(best)
    return found


def _cut(xs: list[int], first: int, last: int, before: Callable[[int, int], bool]) -> int:
    """Put what comes before a middle element in front, and return where the rest begins."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    if before(xs[a], xs[b]):
        middle = b if before(xs[b], xs[c]) else c if before(xs[a], xs[c]) else a
    else:
        middle = a if before(xs[a], xs[c]) else c if before(xs[b], xs[c]) else b
    xs[first], xs[middle] = xs[middle], xs[first]
    pivot, i, j = xs[first], first + 1, last
    while True:
        while before(xs[i], pivot):
            i += 1
        j -= 1
        while before(pivot, xs[j]):
            j -= 1
        if i >= j:
            return i
        xs[i], xs[j] = xs[j], xs[i]
        i += 1


def _insertion(xs: list[int], first: int, last: int, before: Callable[[int, int], bool]) -> None:
    for i in range(first + 1, last):
        x, j = xs[i], i
        while j > first and before(x, xs[j - 1]):
            xs[j] = xs[j - 1]
            j -= 1
        xs[j] = x


def _sort(xs: list[int], first: int, last: int, before: Callable[[int, int], bool]) -> None:
    end = last
    while end - first > 16:
        cut = _cut(xs, first, end, before)
        _sort_loop(xs, cut, end, before)
        end = cut
    _insertion(xs, first, last, before)


def _sort_loop(xs: list[int], first: int, last: int, before: Callable[[int, int], bool]) -> None:
    while last - first > 16:
        cut = _cut(xs, first, last, before)
        _sort_loop(xs, cut, last, before)
        last = cut
