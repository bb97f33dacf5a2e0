"""Sphinx directive ``explorable``: a widget of `attnlib.widgets`, live on a page that is no notebook."""

from __future__ import annotations

import json
import uuid

from docutils import nodes
from docutils.parsers.rst import Directive

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


class Explorable(Directive):
    """Show the widget named by the argument in its first state."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the widget's view and state, as `widget_state` leaves them for a notebook."""
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

        def embed(kind: str, data: dict) -> str:
            text = json.dumps(data, sort_keys=True).replace("</", "<\\/")
            return f'<script type="{kind}">{text}</script>'

        html = f'<div class="explorable">{embed(VIEW, {"model_id": model})}{embed(STATE, saved)}\n</div>'
        return [nodes.raw("", html, format="html")]
