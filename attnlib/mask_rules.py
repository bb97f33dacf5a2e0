"""What may be attended to, as facts instead of a table: a window is one number, not T times S.

A `MaskRule` says the same as a mask of `attnlib.masks`, and every backend can read it: as a boolean table,
as the range of keys that a block of queries can see, and FlexAttention takes the rule itself, since calling
it is a ``mask_mod``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import cast

import torch
from torch import Tensor

from attnlib._check import broadcasts, require_bool, require_whole, shape, whole_numbers
from attnlib._modes import truth


@dataclass(frozen=True, eq=False, repr=False)
class MaskRule:
    """Facts about which query may attend to which key; all that are given must hold.

    Query i and key j are positions, counted from the start of the sequence. Where there are fewer queries
    than keys, because some keys came earlier, the last query stands at the position of the last key. Rules
    combine with ``&``, and the docstrings of `causal_mask`, `sliding_window_mask`, `prefix_mask`,
    `document_mask` and `padding_mask` draw what each fact says::

        MaskRule(causal=True)                         # causal_mask(T)
        MaskRule(causal=True, window=1024)            # sliding_window_mask(T, window=1024)
        MaskRule(causal=True, window=1024, prefix=4)  # and the first four keys always
        MaskRule(causal=True, documents=documents)    # document_mask(documents) & causal_mask(T)
        MaskRule(lengths=lengths)                     # padding_mask(lengths, S)

    Args:
        causal: A query sees the keys up to its own position.
        window: It sees at most so many keys up to its own position, itself included.
        ahead: It sees at most so many keys beyond its own position.
        prefix: Every query sees the first ``prefix`` keys, whatever ``causal``, ``window`` and ``ahead`` say.
        documents: The document of each key, ``(S,)`` or ``(B, S)``; a query sees its own document only.
        lengths: How many keys of each sequence are real, ``(B,)``; the padding behind them is hidden.
        also: More rules, which must hold too: what ``&`` makes of facts that are not one fact.

    Raises:
        TypeError: If a number is not an int, or documents or lengths are not whole numbers.
        ValueError: If a number is too small, or documents or lengths have the wrong number of axes.
    """

    causal: bool = False
    window: int | None = None
    ahead: int | None = None
    prefix: int = 0
    documents: Tensor | None = None
    lengths: Tensor | None = None
    also: tuple[MaskRule, ...] = ()

    def __post_init__(self) -> None:
        require_bool("causal", self.causal)
        if self.window is not None:
            require_whole("window", self.window, 1)
        if self.ahead is not None:
            require_whole("ahead", self.ahead, 0)
        require_whole("prefix", self.prefix, 0)
        for name, axes in (("documents", (1, 2)), ("lengths", (1,))):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, whole_numbers(name, given, axes))

    def __call__(self, b: Tensor | int, h: Tensor | int, i: Tensor | int, j: Tensor | int) -> Tensor:
        """Tell whether query i of sequence b sees key j, in every head h: FlexAttention's ``mask_mod``.

        Args:
            b: Sequences, whole numbers; what broadcasts may be given, here as below.
            h: Heads, of which nothing depends.
            i: Positions of queries.
            j: Positions of keys.

        Returns:
            Boolean, broadcast from all of them.
        """
        seen = cast(Tensor, j <= i if self.causal else j >= 0)
        if self.window is not None:
            seen = seen & (i < j + self.window)
        if self.ahead is not None:
            seen = seen & (j <= i + self.ahead)
        if self.prefix and self._is_local:
            seen = seen | ((j >= 0) & (j < self.prefix))
        if self.documents is not None:
            d = self.documents
            d, own = (d, ()) if d.ndim == 1 else (d[0], ()) if len(d) == 1 else (d, (b,))
            seen = seen & (d[(*own, i)] == d[(*own, j)])
        if self.lengths is not None:
            seen = seen & (j < self.lengths[0 if len(self.lengths) == 1 else b])
        for rule in self.also:
            seen = seen & rule(b, h, i, j)
        return seen

    def __and__(self, other: MaskRule) -> MaskRule:
        """Return the rule that says both; facts of two rules that are not one fact stand side by side."""
        if not isinstance(other, MaskRule):
            raise TypeError(
                f"& joins rules, got {type(other).__name__}; with a mask write rule.table(T, S) & mask"
            )
        mine, theirs = (replace(rule, also=()) for rule in (self, other))
        also = self.also + other.also
        if mine._is_local and theirs._is_local and mine.prefix != theirs.prefix:
            return replace(mine, also=(theirs, *also))
        joined = MaskRule(
            causal=mine.causal or theirs.causal,
            window=_least(mine.window, theirs.window),
            ahead=_least(mine.ahead, theirs.ahead),
            prefix=mine.prefix if mine._is_local else theirs.prefix,
            documents=mine.documents if theirs.documents is None else theirs.documents,
            lengths=mine.lengths if theirs.lengths is None else theirs.lengths,
        )
        if mine.documents is not None and theirs.documents is not None:
            also = (MaskRule(documents=mine.documents), *also)
        if mine.lengths is not None and theirs.lengths is not None:
            also = (MaskRule(lengths=mine.lengths), *also)
        return replace(joined, also=also)

    def __repr__(self) -> str:
        said = [(f.name, getattr(self, f.name)) for f in fields(self)]
        said = [
            (n, x)
            for n, x in said
            if x is not None and x is not False and not (n in ("prefix", "also") and not x)
        ]
        return f"MaskRule({', '.join(f'{n}={shape(x) if isinstance(x, Tensor) else x}' for n, x in said)})"

    def table(self, T: int, S: int | None = None, *, device: torch.device | str | None = None) -> Tensor:
        """Return the rule as a boolean mask, True = may attend.

        Args:
            T: Number of queries.
            S: Number of keys, ``T`` if not given; the last query is aligned with the last key.
            device: Where to put it; where the documents or lengths are, if there are some.

        Returns:
            ``(T, S)``, or ``(B, 1, T, S)`` if documents or lengths differ from sequence to sequence.

        Raises:
            TypeError: If a size is not an int.
            ValueError: If a size is negative, or documents or lengths do not fit ``S``.
        """
        require_whole("T", T, 0)
        S = T if S is None else S
        require_whole("S", S, 0)
        self.check(S)
        device = next((x.device for x in self.tensors()), device)
        seen = self.tile(torch.arange(T, device=device) + (S - T), torch.arange(S, device=device))
        return seen.expand(*seen.shape[:-2], T, S)

    def tile(self, i: Tensor, j: Tensor) -> Tensor:
        """Return a piece of `table`: for queries at positions ``(n,)`` and keys at positions ``(m,)``.

        Args:
            i: Positions of queries.
            j: Positions of keys.

        Returns:
            What broadcasts to ``(n, m)``, or to ``(B, 1, n, m)``.
        """
        batch = self._sequences()
        b = 0 if batch is None else torch.arange(batch, device=j.device)[:, None, None, None]
        if not any(rule.documents is not None for rule in (self, *self.also)):
            return self(b, 0, i[:, None], j)
        if not len(j):
            return i[:, None] >= j
        seen = self(b, 0, i.clamp_min(0)[:, None], j)  # a query before the first key has no document
        return seen & (i >= 0)[:, None]

    def keys_of(self, first: int, last: int, S: int) -> tuple[int, int]:
        """Return the range of keys outside of which no query of a block sees anything.

        Args:
            first: Position of the first query.
            last: Position after the last query.
            S: Number of keys.

        Returns:
            The first key, and the one after the last; equal ones if nothing is seen.
        """
        spans = self.spans(first, last, S)
        return (spans[0][0], spans[-1][1]) if spans else (0, 0)

    def spans(self, first: int, last: int, S: int) -> list[tuple[int, int]]:
        """Return the ranges of keys that a block of queries sees: the prefix may lie apart from the rest.

        Args:
            first: Position of the first query.
            last: Position after the last query.
            S: Number of keys.

        Returns:
            Pairs as from `keys_of`, in order, none of them empty.
        """
        start, end = 0, S
        if self.causal:
            end = min(end, last)
        elif self.ahead is not None:
            end = min(end, last + self.ahead)
        if self.window is not None:
            start = max(0, first - self.window + 1)
        spans = [(start, end)]
        if self.prefix and self._is_local and start < end:
            prefix = min(self.prefix, S)
            spans = [(0, max(prefix, end))] if start <= prefix else [(0, prefix), (start, end)]
        elif self.prefix and self._is_local:
            spans = [(0, min(self.prefix, S))]
        for lower, upper in self._limits(first, last, S):
            spans = [(max(a, lower), min(b, upper)) for a, b in spans]
        for rule in self.also:
            lower, upper = rule.keys_of(first, last, S)
            spans = [(max(a, lower), min(b, upper)) for a, b in spans]
        return [(a, b) for a, b in spans if a < b]

    def mask_mod(self, T: int, S: int) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
        """Return what FlexAttention takes for T queries and S keys, which counts queries from zero.

        Args:
            T: Number of queries.
            S: Number of keys.

        Returns:
            The rule itself for as many queries as keys, else the rule for later queries.
        """
        return self if T == S else lambda b, h, i, j: self(b, h, i + (S - T), j)

    def check(self, S: int, target: tuple[int, ...] | None = None, place: torch.device | None = None) -> None:
        """Raise unless documents and lengths fit.

        Args:
            S: Number of keys.
            target: Shape of the scores ``(..., T, S)``, if it is known.
            place: The device of the queries, if it is known.

        Raises:
            ValueError: If they do not.
        """
        for rule in (self, *self.also):
            if rule.documents is not None and rule.documents.shape[-1] != S:
                raise ValueError(
                    f"documents must name one for each of S = {S} keys, got shape {shape(rule.documents)}"
                )
            rule._check_lengths(S)
        self._sequences()
        for x in self.tensors():
            if place is not None and x.device != place:
                raise ValueError(
                    f"a rule's documents and lengths must be on the device of q, {place}, got {x.device}"
                )
            if target is not None and self._by_sequence(x) and not broadcasts((len(x), 1, 1, 1), target):
                raise ValueError(
                    f"a rule for B = {len(x)} sequences must fit scores (B, H, T, S), got scores {target}"
                )

    def tensors(self) -> list[Tensor]:
        """Return all documents and lengths."""
        every = (x for rule in (self, *self.also) for x in (rule.documents, rule.lengths))
        return [x for x in every if x is not None]

    @property
    def only_causal(self) -> bool:
        """Whether it says no more than that a query sees the keys up to its own position."""
        rest = all(x is None for x in (self.window, self.ahead, self.documents, self.lengths))
        return self.causal and rest and not self.prefix and not self.also

    @property
    def only_distances(self) -> bool:
        """Whether it says no more than how far a key may lie from a query: the same for every block."""
        return self.documents is self.lengths is None and not self.prefix and not self.also

    @property
    def _is_local(self) -> bool:
        """Whether it compares the position of a query with that of a key."""
        return self.causal or self.window is not None or self.ahead is not None

    def _check_lengths(self, S: int) -> None:
        """Raise unless lengths fit; they are looked at once, since that waits for a GPU."""
        lengths = self.lengths
        if lengths is None or not lengths.numel():
            return
        version = None if torch.compiler.is_compiling() else version_of(lengths)
        if version is not None and _looked_at.get(self) == (S, version):
            return
        wrong = truth((lengths < 0).any() | (lengths > S).any())
        if wrong:
            raise ValueError(f"lengths must lie between 0 and S = {S}, got {lengths.tolist()}")
        if wrong is False and version is not None:
            _looked_at[self] = (S, version)

    def _sequences(self) -> int | None:
        """Return for how many sequences documents and lengths are, None if they are the same for all."""
        sizes = [len(x) for x in self.tensors() if self._by_sequence(x)]
        apart = {n for n in sizes if n != 1}
        if len(apart) > 1:
            raise ValueError(
                f"documents and lengths of one rule must be for as many sequences, got {sorted(apart)}"
            )
        return max(apart, default=1) if sizes else None

    def _by_sequence(self, x: Tensor) -> bool:
        return x.ndim == 2 or any(x is rule.lengths for rule in (self, *self.also))

    def _limits(self, first: int, last: int, S: int) -> list[tuple[int, int]]:
        """Return ranges that documents and lengths allow, where reading them costs nothing: on the CPU."""
        limits = []
        if self.lengths is not None and self.lengths.device.type == "cpu" and self.lengths.numel():
            end = _number(self.lengths.max())
            limits += [] if end is None else [(0, end)]
        if self.documents is not None and self.documents.device.type == "cpu" and self.documents.numel():
            own = self.documents[..., max(first, 0) : max(last, 0)]
            if not own.numel():
                return [*limits, (0, 0)]
            low, high = own.aminmax(
                dim=-1, keepdim=True
            )  # no other document is between, if they are in order
            near = (self.documents >= low) & (self.documents <= high)  # (S,) or (B, S)
            places = near.reshape(-1, S).any(0).nonzero() if truth(near.any()) is not None else None
            limits += [] if places is None else [(int(places[0]), int(places[-1]) + 1)]
        return limits


# of rules whose lengths were found to fit: the number of keys, and the version of the lengths
_looked_at: weakref.WeakKeyDictionary[MaskRule, tuple[int, int]] = weakref.WeakKeyDictionary()
CAUSAL = MaskRule(causal=True)


def version_of(x: Tensor) -> int | None:
    """Return how often a tensor was written to, None where nobody counts: in inference mode."""
    return None if x.is_inference() else x._version


def _least(one: int | None, other: int | None) -> int | None:
    return min((x for x in (one, other) if x is not None), default=None)


def _number(x: Tensor) -> int | None:
    """Read a whole number, or nothing where nobody can."""
    return None if truth(x == x) is None else int(x)


def as_rule(mask: Tensor | MaskRule | None, *, causal: bool) -> tuple[Tensor | None, MaskRule | None]:
    """Take apart what was given as ``mask=`` and ``causal=``: a table, and a rule.

    Args:
        mask: Either, or nothing.
        causal: Whether the rule is causal too.

    Returns:
        The table or None, and the rule or None.
    """
    if isinstance(mask, MaskRule):
        return None, mask & CAUSAL if causal else mask
    return mask, CAUSAL if causal else None
