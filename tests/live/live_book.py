"""A small book with live cells and two exercises that ask for a function, one of them solved; and a Python that is none."""

from nbformat.v4 import new_output

from attnlib.learn import bank, judging
from tests.book.small_book import build, code, exercise, text

CELLS = [
    text("# Live\n\nCells that run."),
    code("import torch, plotting", tags=["setup", "live-setup"], live={"source": ["ready = True"]}),
    text("## Two cells"),
    code("a = 6 * 7\nprint(a)", new_output("stream", name="stdout", text="42\n"), tags=["live"]),
    text("This one defines, and shows on the page what it gives."),
    code("def twice(x):\n    return 2 * x", tags=["live"], live={"then": ["", "", "twice(a)"]}),
    code("heavy(training)"),
]
TASK, OTHER = [id for id in bank.exercises() if id.startswith("1.") and id not in judging.read()][:2]
SOLVED = [
    text("# Solutions"),
    text(f"## Exercise {TASK}: One more\n\nSo."),
    code(f'def answer(x):\n    return x + 1  # one more\n\n\ncheck("{TASK}", answer, record=False)'),
]
EXERCISES = [
    text("# Exercises\n\n## All"),
    *exercise("def answer(x):\n    return ...\n", TASK, f"Exercise {TASK}: One more"),
    *exercise("answer = ...", OTHER, f"Exercise {OTHER}: Another"),
]
PAGE, TASKS = "small", "exercises/01_rnn_bottleneck"


def build_live(folder):
    """Build it in a folder; return the exit code and what was said."""
    return build(folder, CELLS, {TASKS: EXERCISES, "solutions/01_rnn_bottleneck": SOLVED})


# a Python that is none: what it is sent it keeps, and a line of a cell says what it answers
FAKE = """() => {
    const sent = [], shown = (data) => ({ parts: data === null ? [] : [{ type: "text", data }], error: null, ms: 1 });
    const fail = (name, line) => ({ parts: [{ type: "text", data: "before" }], ms: 1,
        error: { name, message: "as asked", line, text: `Traceback\\n  line ${line}\\n${name}: as asked` } });
    const said = (kind, words) => ({ kind, text: words, html: `<div class="pa-line pa-${kind}"><span class="pa-mark">x</span> <strong>Exercise.</strong> ${words}</div>`,
        attempted: kind !== "todo", passed: kind === "good", parts: [] });
    pa.python = {
        status: "idle", sent,
        load: async (progress) => {
            progress({ part: "Python", done: 5e6, total: 1e7 });
            progress({ part: "the book", done: 0, total: 1e6 });
            await pa.python.wait;
            pa.python.status = "ready";
        },
        run: async (source, { cell }) => {
            sent.push([cell, source]);
            const wrong = source.split("\\n").findIndex((line) => line.includes("wrong"));
            if (source.includes("while True")) await new Promise((stop) => { pa.python.stop = stop; });
            return wrong >= 0 ? fail("NameError", wrong + 1) : shown(source.includes("print") ? "42\\n" : null);
        },
        check: async (id, source) => {
            sent.push([id, source]);
            if (source.includes("wrong")) return { ...said("bad", ""), error: fail("NameError", 2).error };
            return source.includes("...") ? said("todo", "Not attempted yet.") : source.includes("+ 1") ? said("good", "One more.") : said("bad", `Too small. Stuck? <code>hint("${id}")</code>`);
        },
        stop: () => {},
    };
}"""
