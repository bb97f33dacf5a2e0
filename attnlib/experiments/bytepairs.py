"""Byte-pair tokens: join the two neighbours that come together most often, and again. Chapter 9 builds them.

A text is first cut into pieces, each a word, a number or a run of signs with the space before it, a line
break with the indent after it, a page break, or a run of spaces. Pairs are joined inside pieces only. The
rule is written without classes that differ between languages, so that the page's JavaScript cuts alike.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from attnlib._check import require_whole

PIECE = re.compile(r" ?[A-Za-z]+| ?[0-9]+| ?[^A-Za-z0-9 \n\f]+|\n+ *|\f| +")

Pair = tuple[int, int]


class BytePairs:
    """Turn text into tokens and back. Tokens 0 to 255 are bytes, of UTF-8; token 256 + i joins ``merges[i]``.

    Args:
        merges: Pairs of tokens, each made of tokens that were there before it.

    Raises:
        ValueError: If a pair joins a token that is not there yet.
    """

    def __init__(self, merges: Iterable[Sequence[int]]) -> None:
        self.merges: list[Pair] = [(int(a), int(b)) for a, b in merges]
        self.spelled = [bytes([byte]) for byte in range(256)]
        for a, b in self.merges:
            if not (0 <= a < len(self.spelled) and 0 <= b < len(self.spelled)):
                raise ValueError(
                    f"merge {len(self.spelled) - 256} must join tokens below {len(self.spelled)}, "
                    f"got {a} and {b}; give the merges in the order they were learned"
                )
            self.spelled.append(self.spelled[a] + self.spelled[b])
        self._rank = {pair: i for i, pair in enumerate(self.merges)}
        self._known: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self.spelled)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text.

        Args:
            text: Any text that UTF-8 can write.

        Returns:
            Tokens that `decode` turns into the same text.

        Raises:
            TypeError: If it is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, got {type(text).__name__}")
        known, tokens = self._known, []
        for piece in PIECE.findall(text):
            if piece not in known:
                known[piece] = self._merge(list(piece.encode()))
            tokens.extend(known[piece])
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """Return tokens as text; bytes that are no UTF-8, as of half a letter, become the mark of a fault.

        Args:
            tokens: Whole numbers below ``len(self)``.

        Returns:
            The text.

        Raises:
            ValueError: If a token is out of range.
        """
        tokens = [int(token) for token in tokens]
        wrong = [token for token in tokens if not 0 <= token < len(self)]
        if wrong:
            raise ValueError(f"tokens must lie between 0 and {len(self) - 1}, got {wrong[0]}")
        return b"".join(self.spelled[token] for token in tokens).decode("utf8", "replace")

    def _merge(self, tokens: list[int]) -> list[int]:
        """Join pairs in the order in which they were learned, until none is left."""
        while len(tokens) > 1:
            best = min(pairwise(tokens), key=lambda pair: self._rank.get(pair, len(self)))
            if best not in self._rank:
                break
            tokens = join(tokens, best, 256 + self._rank[best])
        return tokens


def join(tokens: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Write ``new`` for every occurrence of a pair, from left to right.

    Args:
        tokens: What to read.
        pair: Two neighbours.
        new: What to write for both.

    Returns:
        The tokens, shorter by one for each occurrence.
    """
    done, i = [], 0
    while i < len(tokens):
        if tuple(tokens[i : i + 2]) == pair:
            done.append(new)
            i += 2
        else:
            done.append(tokens[i])
            i += 1
    return done


def learn_merges(text: str, count: int) -> list[Pair]:
    """Learn which pairs to join: always the most frequent one, and of equals the one with the lowest tokens.

    Equal pieces are counted once and weigh as often as they come, and after a join only the pieces that held
    the pair are read again: that makes megabytes a matter of seconds.

    Args:
        text: What to learn from.
        count: How many pairs; fewer come back if the text has no more that come twice.

    Returns:
        The pairs, the first learned first: what `BytePairs` takes.

    Raises:
        TypeError: If the count is not a whole number.
        ValueError: If it is below 0.
    """
    require_whole("count", count, 0)
    weights = Counter(PIECE.findall(text))
    pieces = [list(piece.encode()) for piece in weights]
    times = list(weights.values())
    counts: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)

    def add(i: int, sign: int) -> set[Pair]:
        pairs = list(pairwise(pieces[i]))
        for pair in pairs:
            counts[pair] += sign * times[i]
            places[pair].add(i)
        return set(pairs)

    for i in range(len(pieces)):
        add(i, 1)
    waiting = [(-number, pair) for pair, number in counts.items()]
    heapq.heapify(waiting)
    merges: list[Pair] = []
    while waiting and len(merges) < count:
        number, best = heapq.heappop(waiting)
        if -number != counts[best]:  # an old entry: the pair was counted anew since
            continue
        if -number < 2:
            break
        changed = set()
        for i in places.pop(best):
            changed |= add(i, -1)
            pieces[i] = join(pieces[i], best, 256 + len(merges))
            changed |= add(i, 1)
        merges.append(best)
        for pair in changed:
            heapq.heappush(waiting, (-counts[pair], pair))
    return merges
