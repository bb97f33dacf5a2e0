// ScalingLab: a random query and twelve random keys; what the width and the scaling do to the weights.
// Host contract (anywidget): model.get/set/save_changes/on/off and el; the default export renders.
const STATE = ["power", "scaling", "spread", "draw"];
const KEYS = 12, WIDEST = 1024;
const SCALINGS = [["none", "nothing"], ["root", "\u221ad"], ["full", "d"]];
const WIDTH = 560, HEIGHT = 230; // in drawing units
const LEFT = 46, RIGHT = 10, TOP = 16, BOTTOM = 34;

// Random numbers that Python makes too: mulberry32, then Box and Muller.
function* uniform(seed) {
  let state = seed | 0;
  for (;;) {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    yield (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
  }
}

let known = [0, null];
function normals(draw) {
  if (known[0] === draw) return known[1];
  const source = uniform(draw), flat = [];
  while (flat.length < (1 + KEYS) * WIDEST) {
    const radius = Math.sqrt(-2 * Math.log(source.next().value));
    const angle = 2 * Math.PI * source.next().value;
    flat.push(radius * Math.cos(angle), radius * Math.sin(angle));
  }
  const rows = Array.from({ length: 1 + KEYS }, (_, i) => flat.slice(i * WIDEST, (i + 1) * WIDEST));
  known = [draw, rows];
  return rows;
}

const sum = (xs) => xs.reduce((a, b) => a + b, 0);

function measure({ power, scaling, spread, draw }) {
  const d = 2 ** power;
  const scale = { none: 1, root: 1 / Math.sqrt(d), full: 1 / d }[scaling];
  const [q, ...keys] = normals(draw).map((row) => row.slice(0, d).map((x) => x * spread));
  const scores = keys.map((k) => scale * dot(q, k));
  const p = softmax(scores);
  const mean = sum(scores) / KEYS;
  const square = sum(p.map((x) => x * x));
  // d weight_i / d query = scale * weight_i * (key_i - mean key), the mean with the weights
  const middle = q.map((_, c) => sum(p.map((x, i) => x * keys[i][c])));
  const away = keys.map((k) => sum(k.map((x, c) => (x - middle[c]) ** 2)));
  return {
    d, p,
    std: Math.sqrt(sum(scores.map((s) => (s - mean) ** 2)) / KEYS),
    top: Math.max(...p),
    entropy: sum(p.map((x) => (x > 0 ? -x * Math.log(x) : 0))),
    jacobian: Math.sqrt(Math.max(0, square - 2 * sum(p.map((x) => x ** 3)) + square * square)),
    follows: scale * Math.sqrt(sum(p.map((x, i) => x * x * away[i]))),
  };
}

// 0.0052 as it is, 0.0000123 as 1.2 × 10⁻⁵
const RAISED = { "-": "\u207b", 0: "\u2070", 1: "\u00b9", 2: "\u00b2", 3: "\u00b3", 4: "\u2074", 5: "\u2075", 6: "\u2076", 7: "\u2077", 8: "\u2078", 9: "\u2079" };
function amount(x) {
  if (x >= 0.1 || x === 0) return x.toFixed(2);
  if (x >= 0.001) return String(Number(x.toPrecision(2)));
  const [digits, exponent] = x.toExponential(1).split("e");
  return `${digits} \u00d7 10${[...String(Number(exponent))].map((c) => RAISED[c]).join("")}`;
}

const ROWS = [
  ["std", "standard deviation of the scores", "healthy: about 1"],
  ["top", "largest weight", `equal weights: ${(1 / KEYS).toFixed(2)}`],
  ["entropy", "entropy", `equal weights: ${Math.log(KEYS).toFixed(2)}`],
  ["jacobian", "how weights follow the scores", "norm of the softmax\u2019s Jacobian"],
  ["follows", "how weights follow the query", "the same, with keys and scaling"],
];

function render({ model, el }) {
  const state = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const update = (change) => {
    for (const [name, value] of Object.entries(change)) model.set(name, value);
    model.save_changes();
  };
  const [widthLabel, putWidth] = slider("width d", { min: "1", max: "10", step: "1" },
    (power) => update({ power }), (power) => String(2 ** power));
  const [spreadLabel, putSpread] = slider("spread of q and k", { min: "0.25", max: "3", step: "0.25" },
    (spread) => update({ spread }), show);
  const divide = choice("divide by", SCALINGS.map(([, name]) => name),
    SCALINGS.findIndex(([name]) => name === model.get("scaling")), (i) => update({ scaling: SCALINGS[i][0] }));
  const again = ownKeys(make("button", { type: "button" }, "draw again"));
  again.addEventListener("click", () => update({ draw: model.get("draw") + 1 }));

  const svg = make("svg:svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "pa-canvas", role: "img" });
  const up = (value) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  for (const level of [0, 0.5, 1]) {
    svg.append(make("svg:line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(level), y2: up(level), class: level ? "pa-grid" : "pa-axis" }),
      make("svg:text", { x: LEFT - 8, y: up(level) + 5, "text-anchor": "end", class: "pa-axis-name" }, String(level)));
  }
  svg.append(make("svg:text", { x: LEFT, y: HEIGHT - 8, class: "pa-axis-name" }, "weights of twelve keys, largest first \u2192"));
  const bars = make("svg:g", {});
  svg.append(bars, make("svg:line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(1 / KEYS), y2: up(1 / KEYS), class: "pa-equal" }));

  const body = make("tbody", {});
  const cells = {};
  for (const [name, words, reference] of ROWS) {
    cells[name] = make("td", {});
    body.append(make("tr", { "data-row": name }, make("th", { scope: "row" }, words, make("small", {}, reference)), cells[name]));
  }
  const table = make("table", {}, make("caption", { class: "pa-hidden" }, "What the weights look like"),
    make("thead", { class: "pa-hidden" }, make("tr", {}, make("th", { scope: "col" }, "measure"), make("th", { scope: "col" }, "value"))), body);
  const spoken = make("p", { class: "pa-hidden", role: "status" });
  const root = make("div", { class: "pa-widget pa-scaling", role: "group", "aria-label": "Width, scaling and softmax" },
    make("div", { class: "pa-bar" }, widthLabel, spreadLabel, divide, again), svg, table,
    make("p", { class: "pa-help" }, "Dashed: what each key would get if all got the same."), spoken);
  el.append(root);

  let speech;
  function draw() {
    const now = state();
    const found = measure(now);
    putWidth(now.power);
    putSpread(now.spread);
    divide.querySelectorAll("input").forEach((input, i) => { input.checked = SCALINGS[i][0] === now.scaling; });
    const step = (WIDTH - LEFT - RIGHT) / KEYS;
    bars.replaceChildren(...[...found.p].sort((a, b) => b - a).map((w, i) => make("svg:rect", {
      x: LEFT + i * step + 0.12 * step, width: 0.76 * step, y: up(w), height: Math.max(0, up(0) - up(w)), class: "pa-weight", "data-value": w,
    })));
    for (const [name] of ROWS) {
      cells[name].textContent = amount(found[name]);
      cells[name].setAttribute("data-value", String(found[name]));
    }
    root.setAttribute("data-draw", String(now.draw));
    const told = `Width ${found.d}: largest weight ${amount(found.top)}, entropy ${amount(found.entropy)}, weights follow the query by ${amount(found.follows)}.`;
    svg.setAttribute("aria-label", told);
    clearTimeout(speech);
    speech = setTimeout(() => (spoken.textContent = told), 400);
  }
  const stop = redrawOn(model, STATE, draw);
  draw();
  return () => { clearTimeout(speech); stop(); };
}

export default { render };
