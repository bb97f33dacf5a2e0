"""In NumPy's place where there is none: nothing is an array of it, and using it says so."""

from __future__ import annotations

from typing import Any, NoReturn


class ndarray:  # noqa: N801 - NumPy's name
    """What nothing is an instance of."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to be made."""
        _refuse("ndarray")


class generic(ndarray):  # noqa: N801
    """What nothing is an instance of."""


class bool_(generic):  # noqa: N801
    """What nothing is an instance of."""


def _refuse(name: str) -> NoReturn:
    sentence = (
        f"`numpy.{name}` does not run on the page, which has no NumPy: open the notebook of this chapter"
    )
    try:
        from torch.missing import NOTED, NotOnThePageError
    except ImportError:
        raise AttributeError(sentence) from None
    NOTED.append(sentence)
    raise NotOnThePageError(sentence)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    _refuse(name)
