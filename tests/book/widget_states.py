"""What a widget shows: the state that a notebook stores, and the one that a kernel sends."""

from __future__ import annotations

import math

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
REFERENCE = "IPY_MODEL_"
CLOSE = 1e-6  # how far a decimal number of the same arithmetic may be off
ANYWHERE = math.inf  # and one that training gave on a machine that sums in another order


def stored_states(notebook) -> dict[str, dict]:
    """Return the state of each widget in a notebook, by its id."""
    models = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    return {id: model["state"] for id, model in models.items()}


def listen(messages, states: dict[str, dict]):
    """Wrap a function that gets the kernel's messages; what they say of widgets is noted in ``states``.

    nbval throws these messages away, and with them all that a widget shows.
    """

    def get_message(*arguments, **options):
        message = messages(*arguments, **options)
        content = message["content"]
        if message["msg_type"] in ("comm_open", "comm_msg"):
            states.setdefault(content["comm_id"], {}).update(content["data"].get("state", {}))
        return message

    return get_message


def state_difference(stored: dict, sent: dict, off: float = CLOSE) -> str:
    """Say what differs between two states by more than ``off``; an empty text means that they are alike."""
    for name in sorted(stored.keys() | sent.keys()):
        if name not in stored or name not in sent:
            return f"{name} is {'not stored' if name not in stored else 'stored, and not sent'}"
        if not alike(stored[name], sent[name], off):
            return f"{name} is stored as {brief(stored[name])}, and sent as {brief(sent[name])}"
    return ""


def alike(stored, sent, off: float) -> bool:
    """Compare two values of a state: decimals within ``off``, all else exactly but for random ids."""
    if isinstance(stored, float) and isinstance(sent, (int, float)) and not isinstance(sent, bool):
        return abs(stored - sent) <= off
    if isinstance(stored, list) and isinstance(sent, list):
        return len(stored) == len(sent) and all(alike(a, b, off) for a, b in zip(stored, sent, strict=True))
    if isinstance(stored, dict) and isinstance(sent, dict):
        return stored.keys() == sent.keys() and all(alike(stored[key], sent[key], off) for key in stored)
    if str(stored).startswith(REFERENCE) and str(sent).startswith(REFERENCE):
        return True  # to a layout or a style, which the book leaves as they are
    return type(stored) is type(sent) and stored == sent


def brief(value) -> str:
    """Return a value in at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
