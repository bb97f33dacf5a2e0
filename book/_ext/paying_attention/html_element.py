"""One node for any HTML element, so that no other needs to write tags."""

from __future__ import annotations

from html import escape

from docutils import nodes


class html_element(nodes.General, nodes.Element):  # noqa: N801 (docutils names visitors after it)
    """An HTML element around its children; where there is no HTML, the children alone."""


def element(tag: str, *children: nodes.Node, **attributes: str) -> html_element:
    """Return ``<tag attributes>children</tag>``; ``class_`` stands for class, ``data_x`` for data-x."""
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return html_element("", *children, tag=tag, html=names)


def text(words: str) -> nodes.Text:
    """Return a piece of text."""
    return nodes.Text(words)


def _visit(self, node: html_element) -> None:
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in node["html"].items())
    self.body.append(f"<{node['tag']}{attributes}>")


def _depart(self, node: html_element) -> None:
    self.body.append(f"</{node['tag']}>")


def _pass(self, node: html_element) -> None:
    """Leave the children as they are."""


VISITORS = {
    "html": (_visit, _depart),
    **dict.fromkeys(("latex", "text", "man", "texinfo"), (_pass, _pass)),
}
