"""The rules of a style sheet that can apply to something: no extension, `light_head` uses it.

A rule is left out if each of its selectors asks for a class that no page and no script has a word for.
"""

from __future__ import annotations

import re

COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)
RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
EMPTY = re.compile(r"@(?:media|supports)[^{};]*\{\s*\}")
WORD = re.compile(r"-?[A-Za-z_][\w-]*")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
INSIDE = re.compile(r"\([^()]*\)|\[[^\]]*\]")
COMMA = re.compile(r",(?![^()]*\))")


def words(text: str) -> set[str]:
    """Return all words of pages or scripts that could be the name of a class, or the beginning of one."""
    return set(WORD.findall(text))


def can_apply(selector: str, known: set[str]) -> bool:
    """Return whether all classes of a selector are known; what is asked in brackets is not looked at."""
    if "\\" in selector:
        return True
    plain = INSIDE.sub("", INSIDE.sub("", selector))

    def is_known(name: str) -> bool:
        beginnings = (name[: i + 1] for i, letter in enumerate(name) if letter == "-")
        return name in known or any(one in known for one in beginnings)  # a script may put names together

    return all(is_known(name) for name in CLASS.findall(plain))


def used(css: str, known: set[str]) -> str:
    """Return a style sheet without the rules, and without the selectors, that can apply to nothing."""

    def kept(rule: re.Match) -> str:
        head, body = rule[1], rule[2]
        if "@" in head or "/*" in head:
            return rule[0]
        left = [one for one in COMMA.split(head) if can_apply(one, known)]
        return f"{','.join(left)}{{{body}}}" if left else ""

    return EMPTY.sub("", RULE.sub(kept, COMMENT.sub("", css)))
