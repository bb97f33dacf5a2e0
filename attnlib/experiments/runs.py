"""Trainings too long for a page: their results lie in ``attnlib/data``, and each carries its setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources

from attnlib.instruments.settings import Setting

# what the files call a fact, and what a setting calls it
NAMES = {"lr": "rate", "seed": "seeds", "device": "machine"}


class Run(dict):
    """One stored training: its sizes and its results by name, and its ``setting``.

    Args:
        stored: What the file says of it.
        setting: What it was measured on.
    """

    def __init__(self, stored: Mapping, setting: Setting) -> None:
        super().__init__(stored)
        self.setting = setting


def load(
    name: str,
    *,
    part: str | None = None,
    results: tuple[str, ...],
    facts: Callable[[dict], dict] | None = None,
    usual: Mapping[str, object] | None = None,
    **same: object,
) -> dict:
    """Read a stored measurement and give each of its runs a setting.

    Args:
        name: Of the file in ``attnlib/data``, without its ending.
        part: Which part of the file, if it has several with ``runs`` of their own.
        results: Names of what was measured: they are no facts of the setting.
        facts: What a run's setting says besides, from the run.
        usual: What a run is that does not say so; the file's own ``usual`` if not given.
        **same: Facts that all runs share and the file does not say of each.

    Returns:
        What the file holds, with each of ``runs`` as a `Run`. What a run does not say is as under ``usual``.
    """
    file = _read(name)
    data = dict(file if part is None else file[part])
    made_on = {"machine": data.get("device", file.get("device")), "date": data.get("date", file.get("date"))}

    def with_setting(stored: dict) -> Run:
        run = {**(data.get("usual", {}) if usual is None else usual), **stored}
        known = {NAMES.get(key, key): value for key, value in run.items() if key not in results}
        known["seeds"] = (run["seed"],) if "seed" in run else None
        more = facts(run) if facts is not None else {}
        return Run(stored, Setting(**{**made_on, **same, **known, **more}))

    data["runs"] = [with_setting(run) for run in data["runs"]]
    return data


@cache
def _text(name: str) -> str:
    return (resources.files("attnlib") / "data" / f"{name}.json").read_text("utf8")


def _read(name: str) -> dict:
    return json.loads(_text(name))
