"""Explorables: one on a page that is no notebook, the state of each behind its place, what to try, weights.

The directive ``explorable`` shows a widget of `attnlib.widgets`, live.

MyST-NB writes the state of all widgets of a notebook into the head, up to 650 kB that must arrive before the
first word. Here each view is followed by what it needs, and the script that wakes it is the first that a page
asks for: `hydrate-widgets.js` brings an explorable to life as soon as the page has been read so far. Parts of
a state whose names begin with "late_" stand at the end of the page: it can begin without them.

A link to a state, ``[Turn it by 90°](#explore=plane&turn=90)``, becomes a button that puts the explorable of
that name there; what it does not name goes back to how it was at first. In JupyterLab it reads as a link. A
name or a part of a state that the page does not have stops the build.

A page that was opened from the disk may not read a file, but it may load a script. So the weights of the
model that writes are a script of the site, which `hydrate-widgets.js` loads when a reader lets the model
write, and not before.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import SphinxError
from sphinx.transforms import SphinxTransform

from paying_attention.html_element import element

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


STATES = re.compile(rf'<script type="{re.escape(STATE)}">(.*?)</script>', re.DOTALL)
NAMED = re.compile(r'explorable\(\{\s*name: "(\w+)"')  # how a front end says its name
TRIED = re.compile(r'<button[^>]* data-state="([^"]+)"')


class TryError(SphinxError):
    """A button for a state that no explorable of its page has."""

    category = "Explorables"


class TryThis(SphinxTransform):
    """Make a button of each link to a state, before MyST looks for a heading of that name."""

    def apply(self, **_: object) -> None:
        """Make those of a page."""
        for link in list(self.document.findall(nodes.reference)):
            state = link.get("refuri", "")
            if state.startswith("#explore="):
                link.replace_self(
                    element("button", *link.children, class_="pa-try", type="button", data_state=state[1:])
                )


def parts_by_name(body: str) -> dict[str, set[str]]:
    """Return the parts of the state of each explorable in a page."""
    found = {}
    for held in STATES.findall(body):
        for record in json.loads(held)["state"].values():
            name = NAMED.search(record["state"].get("_esm", ""))
            if name:
                found[name[1]] = set(record["state"])
    return found


def check_tries(app, pagename, templatename, context, doctree) -> None:
    """Refuse a button for what is not on its page."""
    body = context.get("body") or ""
    known = parts_by_name(body) if TRIED.search(body) else {}
    for state in map(unescape, TRIED.findall(body)):
        (_, name), *parts = parse_qsl(state, keep_blank_values=True)
        if name not in known:
            raise TryError(
                f"{pagename}: #{state} must name an explorable of its page, one of {sorted(known)}"
            )
        strange = [part for part, _ in parts if part not in known[name]]
        if strange:
            raise TryError(f"{pagename}: #{state} must name parts of the state of {name}, got {strange}")


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
