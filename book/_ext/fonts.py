"""Sphinx extension: the fonts of the text are asked for at once; page.js holds the page back for them.

Only over http: from the disk they are there at once, and browsers do not preload files of a disk.
"""

from __future__ import annotations

FIRST = (
    "source-serif-4-latin-wght-normal",
    "source-serif-4-latin-wght-italic",
    "source-sans-3-latin-wght-normal",
)
PRELOAD = """<script>
if (location.protocol.startsWith("http")) for (const href of [{fonts}]) {{
  const how = {{ rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous", href }};
  document.head.append(Object.assign(document.createElement("link"), how));
}}
</script>
"""


def ask_early(app, pagename, templatename, context, doctree) -> None:
    """Add the script to the head of a page."""
    fonts = ", ".join(f'"{context["pathto"](f"_static/fonts/{name}.woff2", 1)}"' for name in FIRST)
    context["metatags"] = PRELOAD.format(fonts=fonts) + context.get("metatags", "")


def setup(app) -> dict:
    """Register with Sphinx."""
    app.connect("html-page-context", ask_early)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
