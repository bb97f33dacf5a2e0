"""Words and numbers to draw, and what a schematic drawing then holds."""

import re
from xml.etree import ElementTree

import torch

WORDS = ["I", "love", "Paris"]
LONG = ["The", "apple", "that", "fell", "was", "green", "and", "sweet"]
SENTENCE = ["The", "woman", "whom", "the", "children", "saw", "yesterday", "in", "town", "is", "here"]
WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
VALUES = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])


def parts(drawing, tag):
    root = ElementTree.fromstring(drawing._repr_svg_())
    return [part for part in root.iter() if part.tag.endswith("}" + tag)]


def texts(drawing):
    return ["".join(part.itertext()) for part in parts(drawing, "text")]


def filled(drawing, colour):
    return [part for part in parts(drawing, "rect") if part.get("fill") == colour]


def arrows(drawing, colour):
    return [path for path in parts(drawing, "path") if path.get("stroke") == colour]


def said(drawing):
    return re.findall(r">([^<>]+)</text>", drawing._repr_svg_())
