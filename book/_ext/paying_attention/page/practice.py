"""Exercises that are answered on the page, or say that they run in the notebook; progress.

A cell that stored "not attempted yet" is an exercise. One that is data gets what ``practice.js`` makes a form
of; its code is folded, as that of a proof. One that wants a function keeps its code in sight, and a button
opens what the theme's launch menu offers. Without script there are the code and the hints. Under the last
exercise of a page stands how many are solved; the directive ``progress`` shows all chapters.
"""

from __future__ import annotations

import json
import re
from html import escape

from attnlib.learn import bank, judging, record
from attnlib.learn._show import inline
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, text
from paying_attention.page.proof import fold, is_cell, part

UNATTEMPTED = re.compile(r'<div class="pa-line pa-todo".*?<strong>Exercise ([\d.]+)\.</strong>', re.S)
QUIZ = re.compile(r'^quiz\("(\d+)"\)', re.M)
LAUNCH = "<!-- where the notebook runs -->"  # filled in once the theme has made its menu


def asked(cell: nodes.Node) -> str | None:
    """Return the exercise that a cell asks, or None if it asks none."""
    outputs = [node.astext() for node in part(cell, "cell_output") if isinstance(node, nodes.raw)]
    return next((match[1] for output in outputs if (match := UNATTEMPTED.match(output))), None)


def markup(words: str) -> nodes.raw:
    """Return text of the bank, with code between backticks."""
    return nodes.raw("", inline(words), format="html")


def embed(facts: object) -> nodes.raw:
    """Return what the script needs to know, as JSON inside the page."""
    held = json.dumps(facts, sort_keys=True).replace("</", "<\\/")
    return nodes.raw("", f'<script type="application/json">{held}</script>', format="html")


def hints(id: str) -> nodes.Element:
    """Return the hints to an exercise, each a fold."""
    folds = [
        element("details", element("summary", text(f"Hint {n}")), element("p", markup(hint)))
        for n, hint in enumerate(bank.exercises()[id].hints, 1)
    ]
    return element("div", *folds, class_="pa-hints")


def practice(id: str, *children: nodes.Node) -> nodes.Element:
    """Return the block of an exercise."""
    facts = {"aria_label": f"Exercise {id}", "data_exercise": id, "data_name": bank.exercises()[id].name}
    return element("section", *children, class_="pa-practice", **facts)


def show_form(cell: nodes.Element, id: str) -> None:
    """Make of the cell what the script turns into a form; its code goes into a fold."""
    told = markup("In the notebook, put your answer in place of `...` and run the cell.")
    code = fold("in the notebook", [cell])
    cell.children = []
    cell += practice(id, embed(judging.page_spec(id)), element("p", told, class_="pa-ask"), hints(id), code)


def show_launch(cell: nodes.Element, id: str) -> None:
    """Leave the code of the cell in sight, and say that it runs in the notebook, and where."""
    source = [node for node in cell.children if "cell_input" in node["classes"]]
    told = element("p", text("This one runs in the notebook."), class_="pa-ask")
    where = nodes.raw("", LAUNCH, format="html")
    open_ = element("details", element("summary", text("Open the notebook")), where, class_="pa-launch")
    cell.children = []
    cell += [*source, practice(id, element("div", told, open_, class_="pa-runs"), hints(id))]


def find_page(env: BuildEnvironment, name: str) -> str | None:
    """Return the page of the book with this name, whatever folders stand before it."""
    return next((page for page in sorted(env.found_docs) if f"/{page}".endswith(f"/{name}")), None)


def chapters(env: BuildEnvironment, builder, here: str) -> list[dict]:
    """Return what a panel of progress counts: exercises, and the right options of the quiz, by chapter."""
    found = []
    for chapter, topic in bank.CHAPTERS.items():
        about = bank.quiz_data(chapter)
        name = f"{chapter:>02}_{topic}"
        page = find_page(env, f"exercises/{name}") or find_page(env, name)
        found.append(
            {
                "chapter": chapter,
                "title": f"{chapter}. {about['chapter']}",
                "page": builder.get_relative_uri(here, page) if page else "",
                "exercises": [
                    one.name for id, one in bank.exercises().items() if id.split(".")[0] == chapter
                ],
                "right": [[bool(o.get("right")) for o in q["option"]].index(True) for q in about["question"]],
            }
        )
    return found


class panel(nodes.General, nodes.Element):  # noqa: N801 (docutils names visitors after it)
    """The place of a panel of progress, until the pages of the book are known."""


class Progress(Directive):
    """Show the progress that the browser keeps, chapter by chapter, with export and import."""

    def run(self) -> list[nodes.Node]:
        """Return its place."""
        return [panel()]


class Practice(SphinxPostTransform):
    """Rearrange the exercises of a page, and fill in the panels of progress."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Rearrange them."""
        found = [(cell, id) for cell in self.document.findall(is_cell) if (id := asked(cell))]
        for cell, id in found:
            (show_form if id in judging.read() else show_launch)(cell, id)
        for cell, chapter in [(cell, id.split(".")[0]) for cell, id in found][-1:] or self.quizzes():
            cell.parent += panel(chapter=chapter)
        for place in list(self.document.findall(panel)):
            self.fill(place)

    def quizzes(self) -> list[tuple[nodes.Element, str]]:
        """Return the cells of a lesson that show a quiz, whose answers are counted too, and its chapter."""
        found = ((cell, QUIZ.search(cell.astext())) for cell in self.document.findall(is_cell))
        return [(cell, match[1]) for cell, match in found if match]

    def fill(self, place: panel) -> None:
        """Put what the script needs into the place of a panel."""
        here, builder = self.env.docname, self.app.builder
        more = find_page(self.env, "how_to_use")
        known = {"data_more": f"{builder.get_relative_uri(here, more)}#progress"} if more else {}
        known |= {"data_chapter": place["chapter"]} if "chapter" in place else {}
        facts = {"chapters": chapters(self.env, builder, here), "former": record.former_names()}
        place.replace_self(element("div", embed(facts), class_="pa-record", **known))


def notebook_file(context: dict) -> str | None:
    """Return where a page's notebook lies in the site, seen from the page; None if the page is none."""
    name = context.get("sourcename", "")
    return context["pathto"](f"_sources/{name}", 1) if name.endswith(".ipynb") else None


def launch_links(app, page: str, context: dict) -> str:
    """Return the links of the launch menu, or the notebook's file if it has none, and how to run at home."""
    buttons = [
        button
        for group in context.get("header_buttons", [])
        if group.get("label") == "launch-buttons"
        for button in group["buttons"]
        if "url" in button
    ]
    links = [(button["text"], button["url"], "") for button in buttons]
    if not links and (file := notebook_file(context)):
        links.append(("Download the notebook", file, " download"))
    home = find_page(app.env, "how_to_use")
    if home:
        links.append(("JupyterLab, on your computer", f"{app.builder.get_relative_uri(page, home)}#run", ""))
    items = "".join(f'<li><a href="{escape(url)}"{how}>{escape(name)}</a></li>' for name, url, how in links)
    return f"<ul>{items}</ul>"


def fill_launch(app, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Write the links where the exercises of a page want them."""
    if LAUNCH in context.get("body", ""):
        context["body"] = context["body"].replace(LAUNCH, launch_links(app, page, context))
