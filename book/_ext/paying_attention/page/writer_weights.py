"""The weights of the model that writes, as a script of the site.

A page that was opened from the disk may not read a file, but it may load a script. `hydrate-widgets.js` does
so when a reader lets the model write, and not before.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

NAME = "writer_weights"


def script() -> str:
    """Return the script: what Python would answer if it were asked for the weights."""
    from attnlib.experiments.writer import load_writer
    from attnlib.widgets.writer import packed

    writer = load_writer()
    header, data = packed(writer.model, writer.tokens)
    answer = json.dumps({"header": header, "data": base64.b64encode(data).decode()}, separators=(",", ":"))
    return f"(globalThis.payingAttentionAnswers ??= {{}}).{NAME} = {answer};\n"


def finish(app, error) -> None:
    """Write the script beside the others."""
    if error or app.builder.name != "html":
        return
    (Path(app.outdir) / "_static" / f"{NAME}.js").write_text(script(), "utf8")
