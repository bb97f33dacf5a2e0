"""What a learner's function holds and reads while it runs, where a state of fixed size is asked for."""

from __future__ import annotations

import functools
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from attnlib.learn.calling import call


class Footprint(NamedTuple):
    """What a call needs.

    Attributes:
        held: The most numbers that tensors made by the call held at one time.
        read: The numbers that operations read from the tensors it was given, counted each time.
        python: The most bytes that Python and NumPy held at one time, without those of tensors: on the book's
            pages tensors are Python's own.
    """

    held: int
    read: int
    python: int


class _Tensors(TorchDispatchMode):
    """Count the numbers in tensors that are made inside it, and those that are read from given ones."""

    def __init__(self, given: list[Tensor]) -> None:
        super().__init__()
        self.given = {_address(x) for x in given}
        self.sizes: dict[int, int] = {}  # numbers in each storage that was made
        self.users: Counter[int] = Counter()  # tensors that are views of it
        self.refs: dict[int, weakref.ref] = {}
        self.held = self.most = self.read = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        came = {id(x): _address(x) for x in _tensors(args)}
        made = list(_tensors([result]))
        views = [x for x in made if _address(x) in came.values()]
        for x in made:
            self._note(x)
        if not views:
            self.read += sum(x.numel() for x in _tensors(args) if came[id(x)] in self.given)
        return result

    def _note(self, x: Tensor) -> None:
        """Hold a tensor that was made here until it is gone; views share what they show."""
        address, key = _address(x), id(x)
        if address in self.given or key in self.refs or not x.numel():
            return
        if address not in self.sizes:
            self.sizes[address] = x.numel()
            self.held += x.numel()
            self.most = max(self.most, self.held)
        self.users[address] += 1
        self.refs[key] = weakref.ref(x, lambda _: self._forget(key, address))

    def _forget(self, key: int, address: int) -> None:
        del self.refs[key]
        self.users[address] -= 1
        if self.users[address] == 0:
            self.held -= self.sizes.pop(address)


def _tensors(things: Iterable) -> Iterator[Tensor]:
    """Go through the tensors among things, and in the lists among them."""
    for thing in things:
        if isinstance(thing, Tensor):
            yield thing
        elif isinstance(thing, (list, tuple)):
            yield from _tensors(thing)


def _address(x: Tensor) -> int:
    return x.untyped_storage().data_ptr()


def footprint(function: Callable, *arguments: object) -> Footprint:
    """Call a learner's function twice and measure what it needs.

    Args:
        function: The answer.
        *arguments: What it is called with; a callable is called for each run and makes its argument.
    """
    with _Tensors([]):
        torch.zeros(1)  # loads what PyTorch needs for this, for seconds, outside of the limit of time
    counted, python = _Tensors([x for x in arguments if isinstance(x, Tensor)]), 0

    @functools.wraps(function)
    def with_tensors(*given: object) -> object:
        with counted:
            return function(*given)

    @functools.wraps(function)
    def with_python(*given: object) -> object:
        nonlocal python
        ours = not tracemalloc.is_tracing()
        if ours:
            tracemalloc.start()
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            return function(*given)
        finally:
            python = tracemalloc.get_traced_memory()[1] - before
            if ours:
                tracemalloc.stop()

    for run in (with_tensors, with_python):
        call(run, *(x() if callable(x) and not isinstance(x, Tensor) else x for x in arguments))
    return Footprint(counted.most, counted.read, python - counted.most * bytes_in_python())


@functools.cache
def bytes_in_python() -> int:
    """Return what a number in a tensor takes of Python's own memory: nothing, but on the book's pages."""
    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    numbers = torch.arange(1000.0)
    taken = tracemalloc.get_traced_memory()[0] - before
    if ours:
        tracemalloc.stop()
    return taken // len(numbers)
