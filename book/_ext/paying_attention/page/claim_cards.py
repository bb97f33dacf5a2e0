"""A claim is a tick at the end of the sentence that says it; its card waits until it is asked for.

The card has the claim in full, what was measured and required, the setting, and a link to the code. All cards
of a page stand at its end: unseen on the screen, where the script opens the one whose tick is asked for, and
notes on paper. Without script a tick leads to its card, which then shows.

Which sentence says a claim is told by its words, among the paragraphs and captions next to its cell. Where an
author knows better, the cell's metadata say so: ``"said": ["nearest key, nine"]``, words of the sentence for
each claim of the cell in turn, or null to leave one to the rule. Words that no one sentence near has stop the
build.

Among the solutions a claim is part of the answer: it stands where its cell does, in full.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.transforms.post_transforms import SphinxPostTransform

from paying_attention.html_element import element, html_element, text
from paying_attention.page.proof import claimed

LINE = re.compile(
    r"</strong> (?P<sentence>.*?)(?P<rest>(?: <span class=\"pa-(?:measured|stored|setting)\">.*)?)</div>\s*$",
    re.S,
)
PART = re.compile(r'<span class="pa-(measured|stored|setting)">(.*?)</span>', re.S)
# a full stop, and behind it the end, or what no sentence goes on with
END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<! al)(?<! vs)(?<! cf)(?<!Fig)[.!?][\"'”’)\]]*(?=$|\s+[^a-z\s])")
OPAQUE = "\ufffc"  # in the place of a formula, a piece of code or a card
STOP = frozenset(
    re.findall(
        r"\w+",
        "the a an of to and in is are it its that this as by for with on at from or each one be no not than "
        "so if which who what their they has have had was were all any both",
    )
)
FAR = 4  # paragraphs away
# what makes it more likely that a sentence says a claim, or less, beside the words that both have
BOLD, BEHIND, CAPTION, ASKING, STEP, LEAST = 0.22, 0.15, -0.06, -0.2, -0.08, 0.05
# a question or an instruction says no finding
ASKS = re.compile(
    r"[?:]\s*$|^\s*(?:(?:so|now|then|and|but|once more|begin by),? )?"
    r"(?:take|train|put|let|give|swap|add|begin|read|drag|move|teach|test|compare|measure|draw)\b",
    re.I,
)


class ClaimCardError(SphinxError):
    """A claim whose sentence is not where its cell says."""

    category = "Claims"


# Sentences


class Sentence(NamedTuple):
    """A sentence of a block of text: its words, and where in the block it ends."""

    block: nodes.Element
    words: str
    end: int


def leaves(node: nodes.Node) -> Iterator[tuple[nodes.Node, str]]:
    """Yield what a block of text is made of, each with its words; what must not be cut has a sign instead."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child, str(child)
        elif isinstance(child, (nodes.math, nodes.literal, nodes.raw, nodes.image)):
            yield child, OPAQUE
        elif isinstance(child, html_element) and child["html"].get("class") == "pa-ref":
            yield child, child[0].astext()
        else:
            yield from leaves(child)


def sentences(block: nodes.Element) -> list[Sentence]:
    """Return the sentences of a block; what ends without a full stop ends with the block."""
    said = "".join(words for _, words in leaves(block))
    found, begin = [], 0
    for match in END.finditer(said):
        found.append(Sentence(block, said[begin : match.end()], match.end()))
        begin = match.end()
    if said[begin:].strip():
        found.append(Sentence(block, said[begin:], len(said.rstrip())))
    return found


def stems(words: str) -> set[str]:
    """Return what tells a sentence from others: its numbers, and its words without their endings."""
    found = re.findall(r"[a-z]+|\d+(?:[.,]\d+)*", words.lower())
    return {word[:5] for word in found if word not in STOP}


def is_bold(sentence: Sentence) -> bool:
    """Tell whether a part of a sentence is bold: a finding."""
    bold = [node.astext() for node in sentence.block.findall(nodes.strong)]
    return any(words.strip(" .") in sentence.words and len(words) > 20 for words in bold)


# Where a claim is said


def zone(node: nodes.Node) -> nodes.Node:
    """Return the section or the veiled answer that a node stands in: no tick leaves it."""
    node = node.parent
    while node.parent is not None and not isinstance(node, nodes.section):
        if isinstance(node, html_element) and node["html"].get("class") == "pa-answer":
            break
        node = node.parent
    return node


def is_said(node: nodes.Node) -> bool:
    """Tell whether a node is a block of text in which a claim can be said."""
    if isinstance(node, nodes.caption):
        return True
    if not isinstance(node, nodes.paragraph):
        return False
    inside = node.parent
    while inside is not None and not isinstance(inside, nodes.section):
        if isinstance(inside, (nodes.block_quote, nodes.table, nodes.figure)):
            return False
        if isinstance(inside, html_element) and inside["html"].get("class") in ("pa-question", "pa-practice"):
            return False
        inside = inside.parent
    return True


class Near(NamedTuple):
    """A block of text near a claim: how many blocks away it stands, and whether behind it."""

    block: nodes.Element
    steps: int
    behind: bool


def near(place: claimed, order: list[nodes.Node]) -> list[Near]:
    """Return the blocks next to a claim, in the same section or answer: those before it first."""
    own = zone(place)
    here = order.index(place)
    before = [node for node in reversed(order[:here]) if not isinstance(node, claimed) and zone(node) is own]
    after = [node for node in order[here + 1 :] if not isinstance(node, claimed) and zone(node) is own]
    return [Near(block, n, side is after) for side in (before, after) for n, block in enumerate(side[:FAR])]


def weigh(claim: set[str], sentence: Sentence, at: Near, rarity: dict[str, float]) -> float:
    """Return how likely a sentence says a claim: by the rare words of both, and by what and where it is."""
    own = stems(sentence.words)
    common = sum(rarity.get(stem, 0.0) for stem in claim & own)
    size = math.sqrt(sum(rarity.get(stem, 3.0) for stem in claim) * max(sum(rarity[s] for s in own), 8.0))
    likely = common / max(size, 1e-9) + STEP * at.steps + BOLD * is_bold(sentence) + BEHIND * at.behind
    asks = ASKS.search(sentence.words) is not None
    return likely + ASKING * asks + CAPTION * isinstance(at.block, nodes.caption)


def said_by(words: str, around: list[Near], rarity: dict[str, float]) -> Sentence | None:
    """Return the sentence that most likely says a claim, or None if nothing stands near it."""
    claim = stems(html.unescape(re.sub(r"<[^>]+>", "", words)))
    found = [(weigh(claim, one, at, rarity), one) for at in around for one in sentences(at.block)]
    best = max(found, key=lambda pair: pair[0], default=None)
    if best is None or best[0] < LEAST:
        return sentences(around[0].block)[-1] if around and sentences(around[0].block) else None
    return best[1]


def pointed_at(words: str, around: list[Near]) -> Sentence:
    """Return the sentence with these words, or say that there is none."""
    found = [one for at in around for one in sentences(at.block) if words in one.words]
    if len(found) != 1:
        raise ClaimCardError(
            f"the words {words!r} must stand in one sentence near their claim, but do in {len(found)}; "
            f"mend `said` in the metadata of the claim's cell"
        )
    return found[0]


# Ticks


def split(block: nodes.Element, end: int, made: nodes.Node) -> None:
    """Put a node into a block of text, behind that many letters of it."""
    at = 0
    for node, words in leaves(block):
        at += len(words)
        if at < end:
            continue
        if at > end and isinstance(node, nodes.Text):
            cut = len(words) - (at - end)
            place = place_of(node)
            node.parent.children[place : place + 1] = []
            for offset, piece in enumerate((nodes.Text(words[:cut]), made, nodes.Text(words[cut:]))):
                node.parent.insert(place + offset, piece)
            return
        while node.parent is not block and node is node.parent.children[-1]:
            node = node.parent  # behind what is bold, not in it
        node.parent.insert(place_of(node) + 1, made)
        return
    block += made


def place_of(node: nodes.Node) -> int:
    """Return where a node stands in its parent; ``index`` would find an equal text that stands before it."""
    return next(n for n, child in enumerate(node.parent.children) if child is node)


def tick(numbers: list[str]) -> nodes.Element:
    """Return the tick of some claims."""
    first = numbers[0]
    name = f"Claim {first}" if len(numbers) == 1 else f"Claims {', '.join(numbers)}"
    return element(
        "a",
        text("✓"),
        class_="pa-claimed",
        href=f"#claim-{first}",
        id=f"tick-{first}",
        role="doc-noteref",
        aria_label=name,
        aria_describedby=f"card-of-claim-{first}",
        data_numbers=", ".join(numbers),
    )


# Cards


def parts_of(line: str) -> tuple[str, dict[str, str]]:
    """Return the sentence of a stored claim, and what stands beside it, by its name."""
    match = LINE.search(line)
    if match is None:
        raise ClaimCardError(f"a stored claim must have a label and a sentence, got {line[:120]!r}")
    beside = {}
    for kind, words in PART.findall(match["rest"]):
        if kind == "measured":
            value, _, required = words.removeprefix("measured: ").partition("; required: ")
            beside |= {"measured": value} | ({"required": required} if required else {})
        else:
            beside[kind] = words.removeprefix("setting: ")
    return match["sentence"], beside


NAMES = {"measured": "measured", "required": "required", "stored": "run", "setting": "setting"}


def shown_claim(number: str, line: str, code: str) -> str:
    """Return the part of a card that tells one claim."""
    sentence, beside = parts_of(line)
    rows = "".join(
        f'<span class="pa-fact pa-{kind}"><span class="pa-named">{name}</span> {beside[kind]}</span>'
        for kind, name in NAMES.items()
        if kind in beside
    )
    return (
        f'<div class="pa-line pa-good" id="claim-{number}" style="order: {number}">'
        f'<span class="pa-claim-number">{number}.</span> '
        f'<span class="pa-says">{sentence}</span>{rows}'
        f'<span class="pa-of"><a class="pa-code-of" href="#{code}">the code</a> '
        f'<a class="pa-number" href="#claim-{number}">Claim {number}</a></span></div>'
    )


def card(claims: list[tuple[str, str, str]]) -> nodes.Element:
    """Return the card of a tick."""
    first = claims[0][0]
    lines = "".join(shown_claim(*claim) for claim in claims)
    back = f'<a class="pa-back" href="#tick-{first}">back to the text</a>'
    return element(
        "div",
        nodes.raw("", lines + back, format="html"),
        class_="pa-proof",
        id=f"card-of-claim-{first}",
        popover="manual",
        role="note",
        tabindex="-1",
        aria_label="What was measured",
    )


def show(places: list[claimed]) -> None:
    """Let the claims of these places stand where their cells do, in full."""
    for place in places:
        lines = [nodes.raw("", line, format="html") for _, line in place["claims"]]
        place.replace_self(element("div", *lines, class_="pa-claims"))


def rarities(blocks: Iterable[nodes.Element]) -> dict[str, float]:
    """Return how rare each word is among the sentences of a page."""
    said = [stems(one.words) for block in blocks for one in sentences(block)]
    counts = Counter(stem for words in said for stem in words)
    return {stem: math.log((len(said) + 1) / (count + 0.5)) for stem, count in counts.items()}


class ClaimCards(SphinxPostTransform):
    """Put a tick behind the sentence of each claim, and the cards at the end of the page."""

    formats = ("html",)

    def run(self, **_: object) -> None:
        """Do so for a page."""
        order = [node for node in self.document.findall() if isinstance(node, claimed) or is_said(node)]
        places = [node for node in order if isinstance(node, claimed)]
        if "solutions" in self.env.docname.split("/"):
            show(places)
            return
        if not places:
            return
        rarity = rarities(node for node in order if not isinstance(node, claimed))
        ticked: dict[tuple[int, int], tuple[Sentence, list]] = {}
        for place in places:
            try:
                self.place(place, near(place, order), rarity, ticked)
            except ClaimCardError as error:
                raise ClaimCardError(f"{self.env.docname}: {error}") from error
        for sentence, claims in sorted(ticked.values(), key=lambda pair: -pair[0].end):
            split(sentence.block, sentence.end, tick([number for number, *_ in claims]))
        self.end(places, [claims for _, claims in ticked.values()])

    def place(self, place: claimed, around: list[Near], rarity: dict, ticked: dict) -> None:
        """Note which sentence says each claim of a place, and which claims none says."""
        place["alone"] = []
        pointers = place["said"] + [None] * len(place["claims"])
        for (number, line), words in zip(place["claims"], pointers, strict=False):
            told = (number, line, place["code"])
            sentence = pointed_at(words, around) if words else said_by(parts_of(line)[0], around, rarity)
            if sentence is None:
                place["alone"].append(told)
            else:
                ticked.setdefault((id(sentence.block), sentence.end), (sentence, []))[1].append(told)

    def end(self, places: list[claimed], ticked: list[list]) -> None:
        """Put the cards at the end of the page, and take the places away."""
        cards = list(ticked)
        for place in places:
            alone = place["alone"]
            cards += [alone] if alone else []
            place.replace_self(
                [element("p", tick([number for number, *_ in alone]), class_="pa-ticks")] if alone else []
            )
        cards.sort(key=lambda claims: int(claims[0][0]))
        page = next(self.document.findall(nodes.section), self.document)
        title = element("p", text("What was measured"), class_="pa-proofs-title")
        page += element("section", title, *map(card, cards), class_="pa-proofs", role="doc-endnotes")
