"""Sphinx extension: the two fonts of the text are asked for at once, so that nothing moves when they arrive.

Only over http: from the disk they are there at once, and a browser takes a preloaded file for one of another site.
"""

from __future__ import annotations

FIRST = ("source-serif-4-latin-wght-normal", "source-sans-3-latin-wght-normal")
PRELOAD = """<script>
if (location.protocol.startsWith("http")) for (const font of [{fonts}]) {{
  const link = document.createElement("link");
  Object.assign(link, {{ rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous", href: font }});
  document.head.append(link);
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
