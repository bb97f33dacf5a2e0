// BugFinder: a bug of a layer and its line; run the tests, and see what moves when a token is changed, and which find it. All of it was measured before.
const SAID = { passes: "passes", fails: "finds it", error: "stops with an error" };

function build({ model, state, update }) {
  const bugs = model.get("bugs"), tests = model.get("tests");
  const [chosen, putBug] = menu("The layer has", bugs.map(({ name }) => name), choose);
  const back = button("Back", () => choose(state().bug - 1)), next = button("Next", () => choose(state().bug + 1));
  const start = button("", () => update({ run: !state().run }));
  start.className = "pa-start";
  const wrong = make("code", {}), right = make("code", {});
  const lines = make("dl", { class: "pa-lines" },
    make("div", { class: "pa-wrong" }, make("dt", {}, "with the bug"), make("dd", {}, wrong)),
    make("div", { class: "pa-right" }, make("dt", {}, "right"), make("dd", {}, right)));
  const lamps = tests.map((name, n) => make("li", {}, make("b", {}, `${n + 1}`), ` ${name}: `, make("span", {})));
  const table = make("table", { class: "pa-moves" });
  const verdict = make("p", { class: "pa-verdict" }), legend = make("p", { class: "pa-legend" });

  /** Another bug, whose verdicts are not yet in sight. */
  function choose(bug) {
    update({ bug, run: false });
  }

  /** What a cell is: it moves or stays, and it must or must not. */
  function kind(moves, j, i) {
    if (j <= i) return moves ? "pa-as-it-must" : "pa-missing";
    return moves ? "pa-leak" : "pa-still";
  }
  const WORDS = { "pa-unknown": "not yet tried", "pa-as-it-must": "moves", "pa-missing": "does not move, and should", "pa-leak": "moves, and must not", "pa-still": "does not move" };

  function draw({ bug, run }) {
    const shown = bugs[bug];
    if (!shown) return "";
    putBug(bug);
    back.disabled = bug === 0;
    next.disabled = bug === bugs.length - 1;
    start.textContent = run ? "Hide the verdicts" : "Run the tests";
    wrong.textContent = shown.wrong || "\u2013";
    right.textContent = shown.right;
    const found = tests.map((_, n) => n + 1).filter((n) => shown.verdicts[n - 1] !== "passes");
    lamps.forEach((lamp, n) => {
      const said = run ? shown.verdicts[n] : "";
      lamp.className = said && said !== "passes" ? "pa-finds" : "pa-passes";
      lamp.dataset.value = said;
      lamp.lastChild.textContent = said ? SAID[said] : "?";
    });
    const size = range(shown.moved.length);
    const kinds = new Set();
    become(table, [make("caption", {}, "Which outputs move when a token is changed"),
      columns(["token", ...size.map((j) => String(j + 1))]),
      make("tbody", {}, ...size.map((i) => row(`output ${i + 1}`, size.map((j) => {
        const what = run ? kind(shown.moved[i][j], j, i) : "pa-unknown";
        kinds.add(what);
        return make("td", {}, make("span", { class: `pa-cell pa-move ${what}`, "data-value": run ? String(shown.moved[i][j]) : "" }, make("span", { class: "pa-hidden" }, WORDS[what])));
      }))))]);
    const nobody = shown.wrong ? "No test finds it." : "Every test passes.";
    const outcome = found.length ? `Found by test${found.length > 1 ? "s" : ""} ${found.join(found.length === 2 ? " and " : ", ").replace(/, (\d)$/, " and $1")}.` : nobody;
    verdict.textContent = run ? outcome : "Which tests find it?";
    verdict.classList.toggle("pa-bad", run && !found.length && Boolean(shown.wrong));
    legend.textContent = !run ? "" : ["Purple: it moves, as it must.", kinds.has("pa-leak") && "Red: it moves, and must not.", kinds.has("pa-missing") && "Dashed: it does not move, and should."].filter(Boolean).join(" ");
    return `${shown.name}. ${verdict.textContent}`;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, chosen, make("div", { class: "pa-steps" }, back, next)), lines, start,
      make("div", { class: "pa-main" }, make("div", {}, table, legend), make("div", {}, make("ol", { class: "pa-lamps" }, ...lamps), verdict))],
    help: "Press Next, guess which tests will find the bug, and run them.",
    draw,
  };
}

export default explorable({ name: "bugs", label: "A layer and its bugs", state: ["bug", "run"],
  codes: (model) => ({ bug: whole(0, Math.max(0, model.get("bugs").length - 1)), run: flag() }), build });
