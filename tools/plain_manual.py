"""Make plain paragraphs of a manual: from reStructuredText or a docstring to one line of ASCII for each.

Prose, headings, signatures and what a parameter means stay. Examples, tables, formulas, addresses and thanks
to people go: a small model that learns them writes noise, or names.
"""

import re
import unicodedata

SIGNATURES = set(
    re.findall(
        r"\S+",
        """function method class attribute data exception describe decorator classmethod staticmethod property
        coroutinemethod abstractmethod decoratormethod opcode option envvar pdbcommand cmdoption object
        c:function c:type c:macro c:member c:var c:struct c:enum""",
    )
)
NOTES = {
    "note": "Note:",
    "warning": "Warning:",
    "tip": "Tip:",
    "important": "Important:",
    "caution": "Caution:",
    "seealso": "See also:",
    "impl-detail": "CPython implementation detail:",
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
    "rubric": "",
    "topic": "",
    "admonition": "",
}
RULE = re.compile(r"([=\-~^\"'#*+_.`<>])\1{2,}")
BORDER = re.compile(r"=+( +=+)+")
DIRECTIVE = re.compile(r"\.\. +([\w:+-]+):: *(.*)")
BULLET = re.compile(r"(?:[-*+•]|#\.|\d+[.)]|\([a-z\d]\)) +(?=\S)")
VERSIONS = re.compile(r"^([\d.]+)(?: [\d.]+)*(?: |$)")
FIELD = re.compile(r":([^:`]+):(?= |$) *")
LATEX = {
    r"\\(?:text|mathrm|texttt|mathbf|textbf|operatorname|mathcal|mathbb)\{([^{}]*)\}": r"\1",
    r"\\times|\\cdot": "x",
    r"\\leq?\b": "<=",
    r"\\geq?\b": ">=",
    r"\\l?dots\b|\\cdots\b": "...",
    r"\\(alpha|beta|gamma|lambda|epsilon|theta|mu|sigma|pi|infty|log|exp|max|min|sum)\b": r"\1",
    r"([_^])\{([^{}]*)\}": r"\1\2",
}
PLAIN = str.maketrans(dict(zip("–—−‘’“”×", "---''\"\"x", strict=True)) | {"…": "..."})
MADE = "written|contributed|implemented|created|maintained|designed|suggested|developed|proposed"
PEOPLE = re.compile(rf"\b(?i:{MADE}|authored) by [A-Z]\w+ (?:[A-Z]\. |[a-z]+ )?[A-Z]")
THANKS = re.compile(
    rf"\s*\((?:{MADE}|patch|reported|idea|fixed)[^()]* by [^()]*(?:\([^()]*\)[^()]*)*\)\.?"
    r"|\s*\((?:see )?(?:bpo|issue|gh)[^()]*\)",
    re.I,
)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a manual, each one line of plain ASCII."""
    found = (inline(block) for block in blocks(text))
    return [line for line in found if line and is_prose(line)]


def blocks(text: str) -> list[str]:
    """Join the lines that belong together, and leave out what is not text."""
    done, lines, indent, hidden, table = [], [], 0, None, False

    def flush() -> None:
        nonlocal lines, hidden
        block, lines = " ".join(lines), []
        if block.endswith("::"):  # what follows further in is an example
            block, hidden = block[:-1].rstrip(" :") + ":", indent
        if block.strip(": "):
            done.append(block)

    example = False
    for line in text.expandtabs().splitlines():
        word, depth = line.strip(), len(line) - len(line.lstrip())
        if not word:
            if indent is not None:  # a note may begin with an empty line
                flush()
            example = False
            table = table == "open"
            continue
        if hidden is not None and depth > hidden:
            continue
        hidden = None
        if word.startswith((">>>", "...  ", "$ ", "In [")):
            flush()
            example = True
        if BORDER.fullmatch(word):
            flush()
            table = "border"
            continue
        if table:
            table = "open"
            continue
        if example or word.startswith(("+-", "+=", "|")):
            continue
        if RULE.fullmatch(word):
            flush()
        elif directive := DIRECTIVE.match(word):
            flush()
            name, rest = directive[1].removeprefix("py:"), directive[2]
            indent = depth
            if name in SIGNATURES:
                done.append(rest)
            elif name in NOTES:
                lines = [(NOTES[name] + " " + VERSIONS.sub(r"\1: ", rest)).strip()]
                indent = None if lines[0].endswith(":") else depth + 3  # the text of a note stands further in
            else:
                hidden = depth
        elif word == ".." or word.startswith(".. "):
            flush()
            hidden = depth
        else:
            new = BULLET.match(word) or FIELD.match(word)
            if new or (lines and indent is not None and depth != indent and not lines[0].startswith("- ")):
                flush()
                if hidden is not None and depth > hidden:
                    continue
                hidden = None
            if not lines or indent is None:
                indent = depth
            word = BULLET.sub("- ", word, count=1) if BULLET.match(word) else field(word)
            if word:
                lines.append(word)
    flush()
    return done


def field(line: str) -> str:
    """Turn ``:param x: text`` into ``x: text``; fields that say nothing to a reader are dropped."""
    found = FIELD.match(line)
    if not found:
        return line
    *_, name = found[1].split()
    rest = line[found.end() :]
    return (
        f"{name}: {rest}" if rest and found[1].split()[0] in ("param", "raises", "return", "returns") else ""
    )


def inline(line: str) -> str:
    """Take the marks out of a line: roles, code, emphasis, links, formulas as far as they can be read."""
    line = re.sub(r":[\w:+-]+:`[~!]?([^`<]*?)\s*(?:<[^`>]*>)?`", lambda m: last(m[0], m[1]), line)
    line = re.sub(r"``(.*?)``", r"\1", line)
    line = re.sub(r"`([^`<]+?)\s*(?:<[^`>]*>)?`_{0,2}", r"\1", line)
    line = re.sub(r"(?<![\w*])(\*\*?)(?=\S)([^*]+?)(?<=\S)\1(?![\w*])", r"\2", line)
    line = re.sub(r" ?\[[\w*#]+\]_|<?\bhttps?://[^\s>)]+>?|\|(?=\w)|(?<=\w)\|", "", line)
    for pattern, plain in LATEX.items():
        line = re.sub(pattern, plain, line)
    line = THANKS.sub("", line.replace("\\ ", "").replace("\\*", "*").replace("{}", "").replace("``", ""))
    line = unicodedata.normalize("NFKD", line.translate(PLAIN))
    return " ".join(line.split()).replace("( ", "(").replace(" )", ")")


def last(role: str, text: str) -> str:
    """Return what a reader sees of a role: with a tilde, the last part of a dotted name."""
    if role.startswith(":pep:"):
        return f"PEP {text}"
    return text.rpartition(".")[2] if "`~" in role else text


def is_prose(line: str) -> bool:
    """Whether a line is worth reading: mostly words, in ASCII, without placeholders, people or addresses."""
    words = re.findall("[A-Za-z]{2,}", line)
    letters = sum(map(str.isalpha, line)) + line.count(" ")
    return (
        line.isascii()
        and line.isprintable()
        and len(words) > 0
        and letters >= 0.72 * len(line)
        and not re.search(
            r"[\\@]|%\(|\{\w+\}|www\.|\bimport \w+$|^(import|from \w+ import|def|return|print)\b", line
        )
        and not re.search(r"[=;{]$|^#|^\w+ = |^(Authors?|Copyright|Maintainer)\b", line)
        and not PEOPLE.search(line)
    )
