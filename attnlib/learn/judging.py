"""Exercises that are data: in TOML, beside the quizzes, a right answer, known wrong ones and their sentences.

The published page grades the same data by the same rules: `judge` here and in ``book/_static/practice.js``.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from importlib import resources

import numpy as np
from torch import Tensor

from attnlib.learn.calling import AnswerError
from attnlib.learn.grading import Exercise, numbers, single

TOLERANCE = 1e-4  # where an exercise names none
TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


@functools.cache
def tables() -> dict[str, dict]:
    """Return the TOML file of each topic: its quiz and all of its exercises."""
    files = [f for f in resources.files("attnlib.learn.bank").iterdir() if f.name.endswith(".toml")]
    return {f.name.removesuffix(".toml"): tomllib.loads(f.read_text("utf8")) for f in files}


@functools.cache
def read() -> dict[str, dict]:
    """Return every data exercise by its id, as it stands in the TOML files."""
    specs = [spec for table in tables().values() for spec in table["exercise"]]
    return {spec["id"]: spec for spec in specs if spec["kind"] != "function"}


def exercise(spec: dict, grade: Callable[[object], str | None]) -> Exercise:
    """Return an exercise as its file tells it, with what grades it."""
    told = (spec[key] for key in ("id", "name", "title", "difficulty", "minutes"))
    return Exercise(*told, tuple(spec["hints"]), grade, spec["lesson"])


def grader(spec: dict) -> Callable[[object], str | None]:
    """Return what grades a Python answer to a data exercise: None if it is right, else the mistake."""
    rules = _rules(spec)
    return lambda answer: judge(rules, values(rules, answer))


def page_spec(id: str) -> dict:
    """Return a data exercise as the page needs it, fit for JSON.

    An answer, right or wrong, is a list with one value for each place: a number, True or False, a list of
    whole numbers (a shape), or the text of an option. A matrix is read row by row.

    Returns:
        ``id``, ``name``, ``kind``, ``title``, ``difficulty``, ``minutes``, ``hints``, ``lesson``; ``options``
        of a choice; ``fields``, a label for each place; ``shape`` of numbers and of a matrix; ``reads``, what
        `read_field` expects at each place; ``answer``, ``tolerance`` (one number, or one for each place)
        and ``relative``; ``mistakes`` in the order of judgement, each with ``place`` (None for the whole
        answer), ``answers``, ``tolerance``, ``relative`` and ``says``; ``otherwise``, a sentence or "" for
        each place.

    Raises:
        KeyError: If there is no such data exercise.
    """
    spec = read()[id]
    told = {key: spec[key] for key in ("id", "name", "title", "difficulty", "minutes", "hints", "lesson")}
    return told | _rules(spec)


def judge(rules: dict, got: list) -> str | None:
    """Return None if the values are right, else a sentence that never holds the right ones.

    The page judges the same way: right within tolerance; a mistake of the whole; a mistake at one place; what
    is said otherwise; else which place is not right, and to which side.
    """
    wrong = [not near(*pair, rules, n) for n, pair in enumerate(zip(got, rules["answer"], strict=True))]
    if not any(wrong):
        return None
    for mistake in rules["mistakes"]:
        place = mistake["place"]
        if place is None:
            known = any(
                all(near(*pair, mistake, n) for n, pair in enumerate(zip(got, other, strict=True)))
                for other in mistake["answers"]
            )
        else:
            known = wrong[place] and any(
                near(got[place], other, mistake, place) for other in mistake["answers"]
            )
        if known:
            return mistake["says"]
    first = wrong.index(True)
    return rules["otherwise"][first] or _side(rules, first, got[first])


def near(got: object, want: object, rules: dict, place: int) -> bool:
    """Tell whether the value at a place is the one wanted: a number within the tolerance, else exactly."""
    if type(want) in (bool, str, list):
        return type(got) is type(want) and got == want
    tolerance = rules["tolerance"]
    tolerance = tolerance[place] if isinstance(tolerance, list) else tolerance
    return abs(got - want) <= max(tolerance, rules["relative"] * abs(want))


def _side(rules: dict, place: int, got: object) -> str:
    """Say which place is not right, and whether it is too large or too small."""
    want = rules["answer"][place]
    if type(want) in (bool, str, list):
        way = "not right"
    elif math.isnan(got):
        way = "not a number"
    else:
        way = "too large" if got > want else "too small"
    label = "it" if len(rules["answer"]) == 1 else rules["fields"][place]
    return f"{label} is {way}."


def values(rules: dict, answer: object) -> list:
    """Read a Python answer as one value for each place.

    Raises:
        AnswerError: If it has another form than the exercise asks for.
    """
    kind, fields = rules["kind"], rules["fields"]
    if kind == "choice":
        said = "".join(answer.split()).lower() if isinstance(answer, str) else None
        chosen = [option for option in rules["options"] if "".join(option.split()).lower() == said]
        if not chosen:
            raise AnswerError(f"choose one of these: {'; '.join(rules['options'])}.")
        return chosen
    if kind == "named":
        parts = by_name(fields, answer)
        return [_value(name, reads, parts[name]) for name, reads in zip(fields, rules["reads"], strict=True)]
    if kind == "number":
        return [single(answer)]
    parts = answer if isinstance(answer, (list, tuple)) and len(answer) == len(fields) else _leaves(answer)
    if kind == "numbers" and len(parts) == len(fields):
        return [_value(name, "number", part) for name, part in zip(fields, parts, strict=True)]
    got, shape = numbers(answer), tuple(rules["shape"])
    if got.shape != shape and got.squeeze().shape != shape:
        asked = f"one number each is asked for {', '.join(fields)}: " if kind == "numbers" else ""
        raise AnswerError(f"{asked}the shape should be {shape}, yours is {tuple(got.shape)}.")
    return got.flatten().tolist()


def by_name(fields: list[str] | tuple[str, ...], answer: object) -> Mapping:
    """Return a dict as it is, and a row of as many values with their names, in the order of the exercise.

    Raises:
        AnswerError: If there are other keys, or another number of values.
    """
    row = answer.tolist() if isinstance(answer, (Tensor, np.ndarray)) else answer
    if isinstance(row, (list, tuple)) and len(row) == len(fields):
        return dict(zip(fields, row, strict=True))
    if not isinstance(answer, Mapping) or set(answer) != set(fields):
        raise AnswerError(f"keep the dict with its keys {', '.join(fields[:-1])} and {fields[-1]}.")
    return answer


def _leaves(answer: object) -> list:
    """Return what lists and tuples, also lists of lists, hold in the end."""
    if not isinstance(answer, (list, tuple)):
        return [answer]
    return [leaf for part in answer for leaf in _leaves(part)]


def _value(name: str, reads: str, answer: object) -> object:
    """Read one value of a dict."""
    if reads == "shape":
        whole = answer.tolist() if isinstance(answer, (Tensor, np.ndarray)) else answer
        if not isinstance(whole, (tuple, list)) or not all(type(n) is int for n in whole):
            raise AnswerError(f"{name}: write the shape as a tuple of whole numbers, like (2, 3, 5).")
        return list(whole)
    if answer is None:
        raise AnswerError(
            f"{name}: it is None, which is no number: a search that found nothing returns None."
        )
    try:
        got = single(answer)
    except AnswerError as error:
        raise AnswerError(f"{name}: {error}") from None
    if reads == "truth":
        if got not in (0, 1):
            raise AnswerError(f"{name}: write True or False.")
        return bool(got)
    return got


def _rules(spec: dict) -> dict:
    """Return what an answer is judged by, in the form that `page_spec` describes."""
    kind, answer = spec["kind"], spec["answer"]
    shape = list(numbers(answer).shape) if kind in ("numbers", "matrix") else []
    fields = spec.get("fields") or [spec["title"]]
    if kind == "matrix":
        fields = [f"row {i + 1}, column {j + 1}" for i in range(shape[0]) for j in range(shape[1])]
    rules = {
        "kind": kind,
        "shape": shape,
        "fields": fields,
        "options": spec.get("options", []),
        "tolerance": spec.get("tolerance", 0.0 if "relative" in spec else TOLERANCE),
        "relative": spec.get("relative", 0.0),
    }
    rules["answer"] = _flat(rules, answer)
    rules["reads"] = [_reads(want) for want in rules["answer"]]
    mistakes = [_mistake(rules, mistake) for mistake in spec.get("mistake", [])]
    rules["mistakes"] = sorted(mistakes, key=lambda m: -1 if m["place"] is None else m["place"])
    otherwise = spec.get("otherwise", "")
    if isinstance(otherwise, dict):
        rules["otherwise"] = [otherwise.get(name, "") for name in rules["fields"]]
    else:
        rules["otherwise"] = [otherwise] * len(rules["answer"])
    return rules


def _flat(rules: dict, answer: object) -> list:
    """Return an answer of the TOML file as one value for each place."""
    if rules["kind"] == "named":
        return [answer[name] for name in rules["fields"]]
    if rules["kind"] == "matrix":
        return [one for row in answer for one in row]
    return list(answer) if rules["kind"] == "numbers" else [answer]


def _reads(want: object) -> str:
    return {bool: "truth", list: "shape", str: "choice"}.get(type(want), "number")


def _mistake(rules: dict, mistake: dict) -> dict:
    """Return a mistake as the page needs it."""
    answers = mistake.get("any", [mistake["answer"]] if "answer" in mistake else [])
    place = _place(rules, mistake["field"]) if "field" in mistake else None
    return {
        "place": place,
        "answers": answers if place is not None else [_flat(rules, one) for one in answers],
        "tolerance": mistake.get("tolerance", rules["tolerance"]),
        "relative": mistake.get("relative", rules["relative"]),
        "says": mistake["says"],
    }


def _place(rules: dict, field: object) -> int:
    """Return the place of a field: a name, an index, or a row and a column."""
    if isinstance(field, str):
        return rules["fields"].index(field)
    return field[0] * rules["shape"][1] + field[1] if isinstance(field, list) else field


NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?"
POWER = rf"([+-]?)({NUMBER})(?:\*\*([+-]?(?:{NUMBER})))?"
QUOTIENT = re.compile(rf"{POWER}(?:/{POWER})?")


def read_field(text: str, reads: str = "number") -> float | bool | list[int]:
    """Read what stands in a field of the page; the page does the same.

    Args:
        text: What was typed. Numbers may be written 0.5, 0,5, 1/2, 5e-1, 2**-1, 12 000 or 12,000,000.
        reads: ``number``, ``shape`` (whole numbers between commas) or ``truth``.

    Raises:
        AnswerError: If it cannot be read, with a sentence; that is no attempt.
    """
    text = text.strip().lower()
    if not text:
        raise AnswerError("Nothing is written here yet.")
    if reads == "truth":
        if text not in TRUTHS:
            raise AnswerError("Write true or false.")
        return TRUTHS[text]
    if reads == "shape":
        parts = re.split(r"[\s,;]+", text.strip("()[]{}, "))
        if not all(re.fullmatch(r"[0-9]{1,15}", part) for part in parts):
            raise AnswerError("Write whole numbers with commas between them, like 2, 3, 5.")
        return [int(part) for part in parts]
    if "%" in text:
        raise AnswerError("Write it without a per cent sign: half is 0.5.")
    return _quotient(_without_separators(text))


def _without_separators(text: str) -> str:
    """Write numbers as Python does: no spaces, no separators of thousands, a decimal point."""
    text = text.replace("−", "-").replace("^", "**")
    text = re.sub(r"(?<=[0-9])[\s_'](?=[0-9]{3}(?![0-9]))", "", text)
    text = re.sub(r"\s*(\*\*|/|-|\+)\s*", r"\1", text)
    return re.sub(r"[0-9.,]+", lambda match: _with_point(match[0]), text)


def _with_point(number: str) -> str:
    """Turn a decimal comma into a point, and leave separators of thousands out."""
    if re.fullmatch(r"[1-9][0-9]{0,2},[0-9]{3}", number):
        raise AnswerError("A comma before three digits can be read in two ways: write 1234 or 1.234.")
    if number.count(",") + number.count(".") > 1:
        for thousands, decimal in ((",", "."), (".", ",")):
            if re.fullmatch(rf"[0-9]{{1,3}}(\{thousands}[0-9]{{3}})+(\{decimal}[0-9]*)?", number):
                return number.replace(thousands, "").replace(decimal, ".")
    return number.replace(",", ".")


def _quotient(text: str) -> float:
    """Read a number, a power, or a quotient of two."""
    match = QUOTIENT.fullmatch(text)
    if match is None:
        raise AnswerError("This cannot be read as a number. Write it like 0.5, 1/2, 5e-1 or 2**-1.")
    try:
        value = _power(*match.group(1, 2, 3))
        if match[5]:
            value /= _power(*match.group(4, 5, 6))
    except (ZeroDivisionError, OverflowError):
        value = math.inf
    if not math.isfinite(value):
        raise AnswerError("This is no finite number.")
    return value


def _power(sign: str, base: str, exponent: str | None) -> float:
    value = float(f"{sign}1") * float(base) ** float(exponent or 1)
    if math.isinf(value):
        raise OverflowError
    return value
