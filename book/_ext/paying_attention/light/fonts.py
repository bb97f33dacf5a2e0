"""The fonts of the text are asked for at once, and the page shows itself with them.

So no line moves when they arrive; after two seconds the page shows itself anyway, and without script it never
waits. They are asked for only over http: from the disk they are there at once, and browsers do not preload
files of a disk. With the styles come the names of the fonts, and only then it is known what to wait for.
"""

from __future__ import annotations

FIRST = (
    "source-serif-4-latin-wght-normal",
    "source-sans-3-latin-wght-normal",
    "source-serif-4-latin-wght-italic",
)
ASK = """<script>
if (location.protocol.startsWith("http")) for (const href of [{fonts}]) {{
  const how = {{ rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous", href }};
  document.head.append(Object.assign(document.createElement("link"), how));
}}
if (document.fonts) {{
  const page = document.documentElement;
  const show = () => page.classList.remove("pa-waits");
  const names = ['1em "Book Serif"', '1em "Book Sans"', 'italic 1em "Book Serif"'];
  page.classList.add("pa-waits");
  setTimeout(show, 2000);
  document.addEventListener("load", ({{ target }}) => {{
    if (target.rel !== "stylesheet") return;
    Promise.all(names.map((name) => document.fonts.load(name))).then(show, show);
  }}, true);
}}
</script>
"""


def ask_early(app, pagename, templatename, context, doctree) -> None:
    """Add the script to the head of a page."""
    fonts = ", ".join(f'"{context["pathto"](f"_static/fonts/{name}.woff2", 1)}"' for name in FIRST)
    context["metatags"] = ASK.format(fonts=fonts) + context.get("metatags", "")
