"""Progress as a table, one row for each chapter."""

from __future__ import annotations

from attnlib.learn import bank, record
from attnlib.learn._show import inline, show


def progress() -> None:
    """Show a table by chapter: exercises solved and the best score of each quiz."""
    try:
        data, note = record.load(), ""
    except record.RecordError as error:
        data, note = {"exercises": {}, "quizzes": {}}, record.left_alone(error)
    rows = []
    for chapter in bank.CHAPTERS:
        names = [one.name for id, one in bank.exercises().items() if id.split(".")[0] == chapter]
        solved = sum(bool(data["exercises"].get(name, {}).get("passed")) for name in names)
        about = bank.quiz_data(chapter)
        questions = len(about["question"])
        best = min(data["quizzes"].get(chapter, 0), questions)
        title = f"{chapter}. {about['chapter']}"
        bar = "█" * round(10 * solved / len(names)) + "░" * (10 - round(10 * solved / len(names)))
        rows.append((title, bar, f"{solved} of {len(names)}", f"{best} of {questions}"))
    head = ("chapter", "", "exercises", "quiz")
    widths = [max(len(r[i]) for r in (head, *rows)) for i in range(4)]
    text = "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in (head, *rows)
    )
    cells = "".join(
        f'<tr><th scope="row">{t}</th><td aria-hidden="true">{b}</td><td>{e}</td><td>{q}</td></tr>'
        for t, b, e, q in rows
    )
    markup = (
        '<table class="pa-progress"><thead><tr><th scope="col">chapter</th>'
        '<td></td><th scope="col">exercises</th><th scope="col">quiz</th></tr></thead>'
        f"<tbody>{cells}</tbody></table>"
    )
    show(markup + (f"<p>{inline(note)}</p>" if note else ""), text + (f"\n{note}" if note else ""))
