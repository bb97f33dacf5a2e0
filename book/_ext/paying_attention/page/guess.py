"""A question to guess, and its answer behind a veil until the reader commits or skips.

A markdown cell tagged ``guess`` asks. Its metadata say what is right: ``"guess": {"answer": "about half"}``,
one of the choices in its list, or ``{"answer": 44, "unit": "steps", "within": 3}`` for a number. Veiled are
the cells tagged ``answer`` that follow, or what stands in a ``<details>`` of the cell itself. Without script
the veil is a plain fold.

What is said to a choice stands beside the answer: ``"says": {"nearly everything": "That would need ..."}``, a
sentence or two for some choices or all of them; for a number ``"low"`` and ``"high"``, said to a guess that
is too low or too high. Without script, and on paper, they follow the answer.
"""

from __future__ import annotations

import re

from attnlib.learn._show import inline
from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, text


class GuessError(SphinxError):
    """A guess card that cannot be shown as it stands."""

    category = "Guess"


def render_markdown_cell(self, token) -> None:
    """Render a markdown cell; one that is a guess or an answer goes into a container of its own."""
    metadata = token.meta["metadata"]
    tags = [tag for tag in metadata.get("tags", []) if tag in ("guess", "answer")]
    parent, before = self.current_node, len(self.current_node)
    self.render_children(token)
    if not tags:
        return
    if self.current_node is not parent:
        raise GuessError(
            f"a cell tagged {tags[0]} must hold no heading, got one in {self.document['source']}; "
            f"move the heading into a cell of its own"
        )
    held = parent.children[before:]
    del parent.children[before:]
    classes = ["cell_markdown", *(f"tag_{tag}" for tag in tags)]
    guess = metadata.get("guess", {}) | {
        "choices": choices(held)
    }  # as they are written, before quotes turn curly
    parent += nodes.container("", *held, classes=classes, guess=guess)


def choices(held: list[nodes.Node]) -> list[str]:
    """Return the items of the last list among some nodes."""
    lists = [node for node in held if isinstance(node, nodes.bullet_list)]
    return [item.astext() for item in lists[-1].children] if lists else []


def is_tagged(node: nodes.Node, tag: str) -> bool:
    """Tell whether a node is a cell with this tag."""
    return isinstance(node, nodes.container) and f"tag_{tag}" in node["classes"]


def own_answer(card: nodes.Element) -> list[nodes.Node]:
    """Take what stands in a ``<details>`` out of a cell, tags included, and return it without them."""
    html = [(at, node.astext()) for at, node in enumerate(card.children) if isinstance(node, nodes.raw)]
    opens = [at for at, said in html if said.lstrip().startswith("<details")]
    closes = [at for at, said in html if said.rstrip().endswith("</details>")]
    if not opens or not closes:
        return []
    held = card.children[opens[0] + 1 : closes[-1]]
    del card.children[opens[0] : closes[-1] + 1]
    return held


def following_answers(card: nodes.Element) -> list[nodes.Node]:
    """Take the cells tagged ``answer`` that directly follow a card out of the page, and return them."""
    after = card.parent.children[card.parent.index(card) + 1 :]
    held = []
    for node in after:
        if not is_tagged(node, "answer"):
            break
        held.append(node)
    for node in held:
        card.parent.remove(node)
    return held


def facts(guess: dict) -> dict[str, str]:
    """Return what the page's script needs to know, or say what is wrong with it."""
    answer, listed = guess.get("answer"), guess["choices"]
    if listed:
        if answer not in listed:
            raise GuessError(
                f"the answer must be one of the choices {listed}, got {answer!r}; mend the cell's metadata"
            )
        return {"data_answer": str(listed.index(answer))}
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        raise GuessError(f"a guess without a list must have a number as answer, got {answer!r}; add either")
    known = {"data_answer": f"{answer:g}" if isinstance(answer, float) else str(answer)}
    known |= {f"data_{name}": str(guess[name]) for name in ("unit", "within") if name in guess}
    return known


TOO = {"low": "a smaller number", "high": "a larger number"}


def replies(guess: dict) -> list[nodes.Node]:
    """Return what is said to each choice, as a list that the page's script looks into; or nothing."""
    listed = guess["choices"]  # in words alone; a reply may name its choice as it is written
    says = {re.sub(r"[`*]", "", choice): reply for choice, reply in guess.get("says", {}).items()}
    known = {choice: (str(at), choice) for at, choice in enumerate(listed)} if listed else {}
    known = known or {kind: (kind, words) for kind, words in TOO.items()}
    strange = [choice for choice in says if choice not in known]
    if strange:
        raise GuessError(f"`says` must name some of {list(known)}, got {strange}; mend the cell's metadata")
    rows = []
    for choice, (place, words) in known.items():
        if choice not in says:
            continue
        html = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", inline(says[choice]))
        told = element("dd", nodes.raw("", html, format="html"))
        rows.append(element("div", element("dt", text(f"{words}:")), text(" "), told, data_said=place))
    return [element("dl", *rows, class_="pa-replies")] if rows else []


def make_card(card: nodes.Element, number: int) -> None:
    """Replace the cell by a card."""
    answer = own_answer(card) + following_answers(card)
    if not answer:
        raise GuessError("there must be an answer; tag the next cells `answer` or add <details> to this one")
    for listed in [node for node in card.children if isinstance(node, nodes.bullet_list)][-1:]:
        listed["classes"].append("pa-choices")
    veil = element(
        "details",
        element("summary", text("Answer")),
        element("div", *answer, class_="pa-answer"),
        *replies(card["guess"]),
        class_="pa-veil",
    )
    asked = element("div", *card.children, class_="pa-question")
    card.replace_self(
        element(
            "section",
            asked,
            veil,
            class_="pa-guess",
            id=f"guess-{number}",
            aria_label=f"Guess {number}",
            **facts(card["guess"]),
        )
    )


class Guesses(SphinxPostTransform):
    """Make a card of each guess, with its answer behind the veil."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Make the cards of a page."""
        found = [node for node in self.document.findall(nodes.container) if is_tagged(node, "guess")]
        for number, card in enumerate(found, 1):
            try:
                make_card(card, number)
            except GuessError as error:
                raise GuessError(
                    f"{self.env.docname}, guess {number} ({card.astext()[:60]!r}): {error}"
                ) from error
