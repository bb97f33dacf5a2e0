r"""A formula on one line: ``\frac{q \cdot k}{\sqrt{d_k}}`` is ``(q · k)/√d_{k}``.

For places where nothing sets formulas. Of TeX only ``_{}`` and ``^{}`` are left, which are easily shown
raised and lowered.
"""

from __future__ import annotations

import re
import unicodedata

TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.", re.S)
SIGNS = {
    "approx": "≈",
    "cdot": "·",
    "dots": "…",
    "ell": "ℓ",
    "ge": "≥",
    "geq": "≥",
    "in": "∈",
    "infty": "∞",
    "le": "≤",
    "leq": "≤",
    "lVert": "‖",
    "rVert": "‖",
    "ne": "≠",
    "odot": "⊙",
    "partial": "∂",
    "prod": "∏",
    "sum": "∑",
    "times": "×",
    "to": "→",
    "top": "⊤",
}
DROPPED = {"begin": 1, "end": 1, "color": 1}  # and how many arguments go with them
SIZES = {"!", "left", "right", "big", "bigl", "bigr", "Big", "Bigl", "Bigr", "displaystyle"}
PLAIN = {"boldsymbol", "hat", "mathbf", "mathbb", "mathcal", "mathrm", "mathsf", "operatorname", "underbrace"}
TEXTS = {"text", "textbf", "textit"}
SPACES = {",", ";", ":", " ", "quad", "qquad"}
WHOLE = re.compile(r"√?\w+([_^]\{[^{}]*\})*")


def sign(name: str) -> str:
    """Return the letter or sign that a command stands for, or its name: functions are called by it."""
    if name in SIGNS:
        return SIGNS[name]
    size = "SMALL" if name.islower() else "CAPITAL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return name


def whole(part: str) -> str:
    """Put into parentheses what would fall apart below a root or in a fraction."""
    return part if WHOLE.fullmatch(part) else f"({part})"


class Reader:
    """Reads a formula from left to right."""

    def __init__(self, tex: str) -> None:
        """Begin at the left."""
        self.left = TOKEN.findall(tex)[::-1]

    def argument(self) -> str:
        """Read what a command takes: a group in braces, or one sign."""
        while self.left and self.left[-1].isspace():
            self.left.pop()
        return self.step()

    def rest(self, end: str = "") -> str:
        """Read to the end, or to the brace that closes a group."""
        said = ""
        while self.left and self.left[-1] != end:
            part = self.step()
            apart = said[-1:].isalnum() and len(part) > 1 and part.isalpha()
            said += f" {part}" if apart else part
        if self.left:
            self.left.pop()
        return re.sub(r"\s+", " ", said).strip()

    def step(self) -> str:
        """Read one sign, group or command with what it takes."""
        if not self.left:
            return ""
        token = self.left.pop()
        if token == "{":
            return self.rest("}")
        if token in "_^":
            return f"{token}{{{self.argument()}}}"
        if token == "&":
            return " "
        if token == "\\\\":
            return "; "
        return self.command(token[1:]) if token[0] == "\\" else token

    def command(self, name: str) -> str:
        """Read what follows a command."""
        if name in ("frac", "tfrac", "dfrac"):
            return f"{whole(self.argument())}/{whole(self.argument())}"
        if name == "sqrt":
            return f"√{whole(self.argument())}"
        if name in PLAIN or name in TEXTS:
            return self.argument()
        for _ in range(DROPPED.get(name, 0)):
            self.argument()
        if name == "lVert" and self.left[-1:] == [" "]:
            self.left.pop()
        if name in SPACES:
            return " "
        return "" if name in DROPPED or name in SIZES else sign(name)


def linear(tex: str) -> str:
    """Return a formula on one line, in letters and signs."""
    return Reader(tex).rest()
