// TileStepper: the table of scores, a tile after the other, and what is held in fast memory meanwhile.
const SIZES = [1, 2, 3, 6];
const CELL = 46, LEFT = 48, TOP = 34, APART = 10; // in drawing units
const LOWERED = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089";
/** One decimal: a cell has no room for two. */
const tenths = (x) => x.toFixed(1).replace(/^-(?=0\.0$)/, "").replace("-", "\u2212");
const named = (letter, i) => letter + LOWERED[i + 1];

/** All that is known after so many tiles; as in Python, line by line. */
function run({ scores, values, step, size }) {
  const n = values.length, across = n / size;
  const done = [];
  let now = { m: [], l: [], o: [], shrink: [] };
  for (let block = 0; block < step; block += across) {
    const rows = scores.slice((block / across) * size).slice(0, size);
    now = { m: rows.map(() => -Infinity), l: rows.map(() => 0), o: rows.map(() => 0), shrink: rows.map(() => 0) };
    const tiles = Math.min(across, step - block);
    for (let tile = 0; tile < tiles; tile++) {
      rows.forEach((all, i) => {
        const s = all.slice(tile * size, (tile + 1) * size), v = values.slice(tile * size, (tile + 1) * size);
        const m = Math.max(now.m[i], ...s), e = s.map((x) => Math.exp(x - m));
        const shrink = Math.exp(now.m[i] - m);
        now.l[i] = now.l[i] * shrink + sum(e);
        now.o[i] = now.o[i] * shrink + dot(e, v);
        now.m[i] = m;
        now.shrink[i] = shrink;
      });
    }
    if (tiles === across) done.push(...now.o.map((o, i) => o / now.l[i]));
  }
  const begun = Math.ceil(step / across);
  return {
    ...now, done, across,
    held: step ? size * size + 8 * size : 0,
    moved: 2 * size * begun + 3 * size * step + size * Math.floor(step / across),
    end: 3 * n + 3 * n * across,
    row: step ? begun - 1 : -1,
    column: step ? (step - 1) % across : -1,
  };
}

/** "query 3", "queries 3 and 4", "queries 1 to 3". */
function numbered(one, many, from, count) {
  if (count === 1) return `${one} ${from + 1}`;
  return `${many} ${from + 1} ${count === 2 ? "and" : "to"} ${from + count}`;
}

function build({ model, state, update }) {
  const values = model.get("v"), n = values.length;
  const scores = model.get("q").map((q) => model.get("k").map((k) => dot(q, k) / Math.SQRT2));
  const last = (size) => (n / size) ** 2;
  const go = (by) => { const { step, size } = state(); update({ step: clamp(step + by, 0, last(size)) }); };

  const [sizeChoice, putSize] = choice("Tiles of", SIZES.map((size) => (size === n ? "all" : `${size} × ${size}`)), (i) => update({ size: SIZES[i], step: 1 }));
  const [stepLabel, putStep] = slider("tile", { min: "0", step: "1" }, (step) => update({ step }), (step) => `${step} of ${last(state().size)}`);
  const back = button("Back", () => go(-1)), next = button("Step", () => go(1));
  const steps = make("span", { class: "pa-steps" }, back, next);

  const right = LEFT + n * CELL, bottom = TOP + n * CELL;
  const svg = canvas(right + APART + CELL + 14, bottom + 40);
  const body = make("svg:g", {});
  svg.append(svgText([right + APART + CELL / 2 + 4, TOP / 2 + 4], "output", { class: "pa-for-o", "text-anchor": "middle" }),
    svgText([LEFT / 2 - 2, bottom + 24], "v", { class: "pa-for-v", "text-anchor": "middle" }), body);
  const box = (x, y, wide, high, kind) => make("svg:rect", { x, y, width: wide, height: high, rx: 4, class: kind });
  const word = (x, y, text, kind) => svgText([x, y + 5], text, { class: kind, "text-anchor": "middle" });

  const table = make("table", { class: "pa-fast" });
  const title = make("p", { class: "pa-title" });
  const repair = make("p", { class: "pa-repair" });
  const held = make("p", { class: "pa-held" });
  const traffic = make("p", { class: "pa-moved" });

  function picture({ row: r, column: c, done }, size) {
    const inRow = (i) => Math.floor(i / size) === r, inColumn = (j) => Math.floor(j / size) === c;
    const parts = [];
    range(n).forEach((i) => {
      const y = TOP + i * CELL, x = LEFT + i * CELL;
      parts.push(box(4, y + 3, LEFT - 12, CELL - 6, `pa-q${inRow(i) ? " pa-in" : ""}`), word(LEFT / 2 - 2, y + CELL / 2, named("q", i), "pa-q-name"));
      parts.push(box(x + 3, 4, CELL - 6, TOP - 10, `pa-k${inColumn(i) ? " pa-in" : ""}`), word(x + CELL / 2, TOP / 2 - 1, named("k", i), "pa-k-name"));
      parts.push(box(x + 3, bottom + 6, CELL - 6, TOP - 8, `pa-v${inColumn(i) ? " pa-in" : ""}`), word(x + CELL / 2, bottom + 19, String(values[i]), "pa-v-name"));
      const out = i < done.length ? show(done[i]) : inRow(i) ? "\u2026" : "";
      parts.push(box(right + APART, y + 3, CELL + 8, CELL - 6, `pa-o${i < done.length ? " pa-in" : ""}`), word(right + APART + CELL / 2 + 4, y + CELL / 2, out, "pa-o-name"));
      range(n).forEach((j) => {
        const here = inRow(i) && inColumn(j);
        const past = i < r * size || (inRow(i) && j < c * size);
        parts.push(box(LEFT + j * CELL + 2, y + 2, CELL - 4, CELL - 4, `pa-cell${here ? " pa-here" : past ? " pa-past" : ""}`));
        parts.push(word(LEFT + j * CELL + CELL / 2, y + CELL / 2, here ? tenths(scores[i][j]) : "", "pa-score"));
      });
    });
    if (r >= 0) parts.push(box(LEFT + c * size * CELL, TOP + r * size * CELL, size * CELL, size * CELL, "pa-frame"));
    become(body, parts);
  }

  function draw({ step, size }) {
    const now = run({ scores, values, step, size });
    const { row: r, column: c } = now;
    putSize(SIZES.indexOf(size));
    stepLabel.querySelector("input").max = String(last(size));
    putStep(step);
    back.disabled = step === 0;
    next.disabled = step === last(size);
    picture(now, size);
    table.replaceChildren(make("caption", {}, "In fast memory, for each query"),
      columns(["query", "m", "\u2113", "o", "o / \u2113"]),
      make("tbody", {}, ...now.m.map((m, i) => row(named("q", r * size + i), [
        numberCell("m", m), numberCell("l", now.l[i]), numberCell("o", now.o[i]), numberCell("answer", now.o[i] / now.l[i])]))));
    table.hidden = step === 0;
    const queries = numbered("query", "queries", r * size, size), keys = numbered("key", "keys", c * size, size);
    title.replaceChildren(...(step ? [make("strong", {}, `Tile ${step}: `), `${queries} ${size > 1 ? "meet" : "meets"} ${keys}.`] : ["Nothing has been read yet."]));
    const grown = now.shrink.map((x, i) => [x, i]).filter(([x]) => x < 1);
    repair.dataset.value = now.shrink.join(" ");
    repair.textContent = !step ? "" : c === 0 ? `A new row begins: ${queries} ${size > 1 ? "start" : "starts"} afresh.`
      : grown.length ? `A larger score came, so what was summed before shrinks: ${grown.map(([x, i]) => `${named("q", r * size + i)} × ${amount(x)}`).join(", ")}.`
        : "No score was larger than those before: nothing shrinks.";
    held.dataset.value = String(now.held);
    held.replaceChildren("Held in fast memory: ", make("strong", {}, String(now.held)), " numbers.");
    traffic.dataset.value = String(now.moved);
    traffic.dataset.end = String(now.end);
    traffic.replaceChildren("Moved so far: ", make("strong", {}, String(now.moved)), ` of ${now.end} numbers; with a table of all scores in slow memory, ${6 * n + 4 * n * n}.`);
    const said = `${title.textContent} ${repair.textContent} ${now.m.map((m, i) => `${named("q", r * size + i)}: m ${show(m)}, sum ${show(now.l[i])}, o ${show(now.o[i])}.`).join(" ")}`;
    svg.setAttribute("aria-label", said);
    return said;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, sizeChoice, steps, stepLabel),
      make("div", { class: "pa-main" }, make("div", { class: "pa-left" }, svg), make("div", { class: "pa-right" }, title, table, repair, held, traffic))],
    help: "Step with the buttons or the arrow keys. Queries and keys are two numbers, values one. m is the largest score so far, \u2113 the sum of exponentials relative to it, o the sum of the values, each times its exponential.",
    draw,
  };
}

export default explorable({ name: "tiles", label: "Attention, tile by tile", state: ["step", "size"],
  codes: () => ({ step: whole(0, 36), size: oneOf(SIZES) }),
  mend: ({ step, size }, model) => ({ size, step: Math.min(step, (model.get("v").length / size) ** 2) }), build });
