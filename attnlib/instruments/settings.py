"""What a result was measured on: model, sizes, training, seeds, machine. It travels with the result.

Whatever trains leaves a `Setting` behind, on the model and on what is measured of it. Claims and captions
of the book take their words from there, so that no sentence about a training can name another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torch import nn

from attnlib.instruments.counters import count_parameters

# how a fact is said; a fact that is not listed is said as "name value"
WORDS = {
    "model": "{}",
    "task": "{}",
    "layers": "{} blocks",
    "width": "{} wide",
    "heads": "{} heads",
    "hidden": "feed-forward network {} wide",
    "norm": "norms {}",
    "positions": "{} positions",
    "weights": "{} weights",
    "optimizer": "{}",
    "rate": "learning rate {}",
    "schedule": "{}",
    "warmup": "warm-up of {} steps",
    "clip": "gradients clipped to length {}",
    "batch": "batches of {}",
    "steps": "{} steps",
    "stops": "stops {}",
    "seeds": "{}",
    "machine": "{}",
    "date": "{}",
}
ONE = {"layers": "1 block", "heads": "1 head", "steps": "1 step"}
ORDER = {name: place for place, name in enumerate(WORDS)}


class Several(tuple[object, ...]):
    """The values of a fact in which results differ."""


class Setting(Mapping[str, Any]):
    """Named facts about how a result came to be; ``str`` says them in one line.

    Args:
        **facts: Numbers, words, True, or None for what does not apply. ``seeds`` is a tuple; of a stored
            result, ``machine`` says where it was measured.

    `Setting(width=64, rate=0.001, seeds=(0, 1))` says "64 wide; learning rate 0.001; 2 seeds".
    """

    def __init__(self, **facts: object) -> None:
        known = {name: value for name, value in facts.items() if value is not None}
        names = sorted(known, key=lambda name: ORDER.get(name, ORDER["weights"]))
        self._facts = {name: known[name] for name in names}

    def __getitem__(self, name: str) -> Any:
        """Return a fact."""
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the facts, in the order in which they are said."""
        return iter(self._facts)

    def __len__(self) -> int:
        """Return how many facts there are."""
        return len(self._facts)

    def __or__(self, more: Mapping[str, object]) -> Setting:
        """Return a setting with facts added or replaced."""
        return Setting(**{**self, **more})

    def __repr__(self) -> str:
        """Return the code that makes it."""
        return f"Setting({', '.join(f'{name}={value!r}' for name, value in self.items())})"

    def __str__(self) -> str:
        """Say what is alike in all results, then in what they differ."""
        alike = [_said(name, value) for name, value in self.items() if not isinstance(value, Several)]
        apart = [f"{name}: {_values(value)}" for name, value in self.items() if isinstance(value, Several)]
        return "; ".join(alike + (["they differ in " + ", ".join(apart)] if apart else []))

    @property
    def stored(self) -> str:
        """Where and when it was measured, if that was not just now; else an empty text."""
        return ", ".join(_values(self[name]) for name in ("machine", "date") if name in self)


class Values(list[Any]):
    """Numbers that carry the setting in which they were measured."""

    def __init__(self, values: Iterable[Any], setting: Setting) -> None:
        super().__init__(values)
        self.setting = setting


def setting_of(*results: object) -> Setting:
    """Return the one setting of several results; where they differ, it says so.

    Args:
        *results: Settings, models and other results that carry one, or lists and dicts of them.

    Returns:
        Their common facts. A fact in which they differ has all its values; seeds are put together.

    Raises:
        TypeError: If something carries no setting.
    """
    settings = list(dict.fromkeys(map(_frozen, _settings(results))))
    names = dict.fromkeys(name for facts in settings for name, _ in facts)
    merged: dict[str, object] = {}
    for name in names:
        values = [dict(facts).get(name) for facts in settings]
        if name == "seeds":
            merged[name] = tuple(sorted({seed for seeds in values for seed in seeds or ()}))
        else:
            each = (one if isinstance(one, Several) else (one,) for one in values)
            parted = list(dict.fromkeys(value for one in each for value in one))
            merged[name] = parted[0] if len(parted) == 1 else Several(parted)
    return Setting(**merged)


def describe(model: nn.Module, /, **facts: object) -> Setting:
    """Return what can be said of a model: its name, its ``facts`` if it has some, and its number of weights.

    Args:
        model: Any module. A dict ``facts`` on it is taken over.
        **facts: What else there is to say, as how it was trained.
    """
    own = dict(getattr(model, "facts", {}))
    weights = own.pop("weights", count_parameters(model))
    return Setting(**{"model": type(model).__name__, **own, "weights": weights, **facts})


def note(model: nn.Module, /, **training: object) -> Setting:
    """Write down on a model, as ``model.setting``, how it was trained.

    A model that is trained on in the same way has the steps of both trainings.

    Args:
        model: What was trained, in place.
        **training: ``optimizer``, ``rate``, ``steps``, ``seeds`` and what else `Setting` takes.

    Returns:
        The setting.
    """
    made = describe(model, **training)
    before = getattr(model, "setting", None)
    if before is not None:
        apart = {name: before[name] for name in before if before[name] != made.get(name)}
        if set(apart) <= {"steps"} and "steps" in made:
            made |= {"steps": before["steps"] + made["steps"]}
        else:
            made |= {"before": str(Setting(**apart))}
    model.setting = made  # type: ignore[assignment]  # a module takes what is no tensor too
    return made


def _settings(results: Iterable[object]) -> Iterator[Setting]:
    for result in results:
        if isinstance(result, Setting):
            yield result
        elif isinstance(carried := getattr(result, "setting", None), Setting):
            yield carried
        elif isinstance(result, Mapping):
            yield from _settings(result.values())
        elif isinstance(result, (list, tuple, set, nn.ModuleList)):
            yield from _settings(result)
        else:
            raise TypeError(
                f"a result must carry its setting, got {type(result).__name__} without one; "
                f"give the trained model, what an experiment returned, or a Setting"
            )


def _frozen(setting: Setting) -> tuple[tuple[str, Any], ...]:
    return tuple(setting.items())


def _said(name: str, value: Any) -> str:
    if value is True:
        return name
    if name == "weights" and isinstance(value, str):
        return value  # in words, where the text that was read decides the number
    if name == "seeds":
        return f"{len(value)} seeds" if len(value) != 1 else f"seed {value[0]}"
    if value == 1 and name in ONE:
        return ONE[name]
    return WORDS.get(name, f"{name} {{}}").format(_value(value))


def _values(value: object) -> str:
    return " / ".join(map(_value, value)) if isinstance(value, Several) else _value(value)


def _value(value: object) -> str:
    if value is None or value is False:
        return "none"
    if value is True:
        return "yes"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
