"""Explorables: one on a page that is no notebook, the state of each behind its place, weights on demand.

The directive ``explorable`` shows a widget of `attnlib.widgets`, live.

MyST-NB writes the state of all widgets of a notebook into the head, up to 650 kB that must arrive before the
first word. Here each view is followed by what it needs, and the script that wakes it is the first that a page
asks for: `hydrate-widgets.js` brings an explorable to life as soon as the page has been read so far. Parts of
a state whose names begin with "late_" stand at the end of the page: it can begin without them.

A page that was opened from the disk may not read a file, but it may load a script. So the weights of the
model that writes are a script of the site, which `hydrate-widgets.js` loads when a reader lets the model
write, and not before.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

STATE = "application/vnd.jupyter.widget-state+json"
LATE = "application/vnd.pa.late-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
SHOWN = re.compile(rf'<script type="{re.escape(VIEW)}">\s*(.*?)\s*</script>', re.DOTALL)
REFERENCE = re.compile(r"IPY_MODEL_([0-9a-f]+)")
WEIGHTS = "writer_weights"  # what a front end asks for


def script(kind: str, content: dict) -> str:
    """Return the element that holds a state; a line end behind it says that it is complete."""
    text = json.dumps(content, sort_keys=True).replace("</", "<\\/")
    return f'<script type="{kind}">{text}</script>\n'


class Explorable(Directive):
    """Show the widget named by the argument in its first state."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the widget's view and state, as `move_state` leaves them for a notebook."""
        from attnlib import widgets

        widget = getattr(widgets, self.arguments[0])()
        state = widget.get_state()
        del state["layout"]  # refers to a model that only Jupyter has
        env = self.state.document.settings.env
        model = uuid.uuid5(uuid.NAMESPACE_URL, env.docname + self.arguments[0]).hex
        saved = {
            "state": {model: {"model_name": "AnyModel", "state": state}},
            "version_major": 2,
        }
        view = script(VIEW, {"model_id": model}).rstrip()
        html = f'<div class="explorable">{view}{script(STATE, saved)}</div>'
        return [nodes.raw("", html, format="html")]


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


def move_state(app, pagename, templatename, context, doctree) -> None:
    """Put the state of each widget behind its first view, and the script that wakes them first."""
    body = context.get("body") or ""
    if not SHOWN.search(body):
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

    context["body"] = SHOWN.sub(with_state, body) + (script(LATE, late) if late else "")
    source = context["pathto"]("_static/hydrate-widgets.js", 1)
    wake = f'<script async fetchpriority="high" src="{source}"></script>\n'
    context["metatags"] = context.get("metatags", "") + wake


def weights_script() -> str:
    """Return the script: what Python would answer if it were asked for the weights."""
    from attnlib.experiments.writer import load_writer
    from attnlib.widgets.writer import packed

    writer = load_writer()
    header, data = packed(writer.model, writer.tokens)
    answer = json.dumps({"header": header, "data": base64.b64encode(data).decode()}, separators=(",", ":"))
    return f"(globalThis.payingAttentionAnswers ??= {{}}).{WEIGHTS} = {answer};\n"


def ship_weights(app, error) -> None:
    """Write the script beside the others."""
    if error or app.builder.name != "html":
        return
    (Path(app.outdir) / "_static" / f"{WEIGHTS}.js").write_text(weights_script(), "utf8")
