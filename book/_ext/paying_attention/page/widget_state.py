"""The state of each explorable stands behind its place on the page, not before everything.

MyST-NB writes the state of all widgets of a notebook into the head, up to 650 kB that must arrive before the
first word. Here each view is followed by what it needs, and the script that wakes it is the first that a page
asks for: `hydrate-widgets.js` brings an explorable to life as soon as the page has been read so far. Parts of
a state whose names begin with "late_" stand at the end of the page: it can begin without them.
"""

from __future__ import annotations

import json
import re

STATE = "application/vnd.jupyter.widget-state+json"
LATE = "application/vnd.pa.late-state+json"
VIEW = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-view\+json">\s*(.*?)\s*</script>', re.DOTALL
)
REFERENCE = re.compile(r"IPY_MODEL_([0-9a-f]+)")


def needed(model: str, records: dict) -> dict:
    """Return the records of a model and of those it refers to."""
    found, open_ = {}, [model]
    while open_:
        name = open_.pop()
        if name in records and name not in found:
            found[name] = records[name]
            open_ += REFERENCE.findall(json.dumps(records[name]))
    return found


def take_late(records: dict) -> dict:
    """Take the parts that can wait out of the states, and return them by model."""
    late = {}
    for model, record in records.items():
        names = [name for name in record["state"] if name.startswith("late_")]
        if names:
            late[model] = {name: record["state"].pop(name) for name in names}
    return late


def script(kind: str, content: dict) -> str:
    """Return the element that holds a state; a line end behind it says that it is complete."""
    text = json.dumps(content, sort_keys=True).replace("</", "<\\/")
    return f'<script type="{kind}">{text}</script>\n'


def move(app, pagename, templatename, context, doctree) -> None:
    """Put the state of each widget behind its first view, and the script that wakes them first."""
    body = context.get("body") or ""
    if not VIEW.search(body):
        return
    scripts = context["script_files"]
    records = {}
    for one in [one for one in scripts if one.attributes.get("type") == STATE]:
        records |= json.loads(one.attributes["body"])["state"]
        scripts.remove(one)
    late = take_late(records)

    def with_state(view: re.Match) -> str:
        own = needed(json.loads(view[1])["model_id"], records)
        for name in own:
            del records[name]
        return view[0] + (script(STATE, {"state": own}) if own else "")

    context["body"] = VIEW.sub(with_state, body) + (script(LATE, late) if late else "")
    source = context["pathto"]("_static/hydrate-widgets.js", 1)
    wake = f'<script async fetchpriority="high" src="{source}"></script>\n'
    context["metatags"] = context.get("metatags", "") + wake
