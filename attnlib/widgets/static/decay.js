// GradientDecay: how much of a gradient survives a recurrence, step by step.
// Host contract (anywidget): model.get/set/save_changes/on/off and el; the default export renders.
const STATE = ["weight", "length", "squash"];
const START = 0.5;               // the state that the first word leaves
const WIDTH = 560, HEIGHT = 280; // in drawing units
const LEFT = 58, RIGHT = 14, TOP = 14, BOTTOM = 40;
const LOWEST = -8, HIGHEST = 4;  // powers of ten on the vertical axis

// The derivative of the state after each step with respect to the first, the first itself included.
function decay({ weight, length, squash }) {
  let state = START;
  const gradients = [1];
  for (let step = 1; step <= length; step++) {
    state = squash ? Math.tanh(weight * state) : weight * state;
    gradients.push(gradients[step - 1] * weight * (squash ? 1 - state * state : 1));
  }
  return gradients;
}

// 0.0052 as it is, 0.0000123 as 1.2 × 10⁻⁵
const SUPERSCRIPTS = { "-": "\u207b", 0: "\u2070", 1: "\u00b9", 2: "\u00b2", 3: "\u00b3", 4: "\u2074", 5: "\u2075", 6: "\u2076", 7: "\u2077", 8: "\u2078", 9: "\u2079" };
const power = (n) => `10${[...String(n)].map((c) => SUPERSCRIPTS[c]).join("")}`;
function amount(x) {
  if (x === 0) return "0";
  if (x >= 0.001 && x < 10000) return String(Number(x.toPrecision(2)));
  const [digits, exponent] = x.toExponential(1).split("e");
  return `${digits} \u00d7 ${power(Number(exponent))}`;
}

function render({ model, el }) {
  const state = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const update = (change) => {
    for (const [name, value] of Object.entries(change)) model.set(name, value);
    model.save_changes();
  };
  const [weightLabel, putWeight] = slider("recurrent weight", { min: "0.05", max: "1.5", step: "0.05" },
    (weight) => update({ weight }), show);
  const [lengthLabel, putLength] = slider("steps", { min: "1", max: "100", step: "1" },
    (length) => update({ length }), String);
  const [squashLabel, squashBox] = toggle("squash the state with tanh", (squash) => update({ squash }));

  const svg = make("svg:svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "pa-canvas", role: "img" });
  const across = (step, length) => LEFT + (step / length) * (WIDTH - LEFT - RIGHT);
  const up = (value) => {
    const log = Math.min(HIGHEST, Math.max(LOWEST, Math.log10(value)));
    return TOP + ((HIGHEST - log) / (HIGHEST - LOWEST)) * (HEIGHT - TOP - BOTTOM);
  };
  for (let n = LOWEST; n <= HIGHEST; n += 2) {
    const y = up(10 ** n);
    svg.append(make("svg:line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, class: n ? "pa-grid" : "pa-axis" }),
      make("svg:text", { x: LEFT - 8, y: y + 5, "text-anchor": "end", class: "pa-axis-name" }, n ? power(n) : "1"));
  }
  svg.append(make("svg:text", { x: LEFT, y: HEIGHT - 6, class: "pa-axis-name" }, "steps back \u2192"));
  const last = make("svg:text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end", class: "pa-axis-name" });
  const lines = make("svg:g", {});
  svg.append(last, lines);

  const left = make("p", { class: "pa-left-over" });
  const rule = make("p", { class: "pa-rule" });
  const spoken = make("p", { class: "pa-hidden", role: "status" });
  const root = make("div", { class: "pa-widget pa-decay", role: "group", "aria-label": "The gradient that survives" },
    make("div", { class: "pa-bar" }, weightLabel, lengthLabel, squashLabel), svg, left, rule,
    make("p", { class: "pa-help" }, "How strongly the last state depends on the first, on a logarithmic scale. Dashed: attention that gives every word the same weight."),
    spoken);
  el.append(root);

  let speech;
  function draw() {
    const now = state();
    const gradients = decay(now);
    const { weight, length, squash } = now;
    putWeight(weight);
    putLength(length);
    squashBox.checked = squash;
    last.textContent = String(length);
    const flat = 1 / (length + 1);
    const path = gradients.map((g, step) => `${step ? "L" : "M"}${across(step, length).toFixed(2)} ${up(g).toFixed(2)}`).join("");
    lines.replaceChildren(
      make("svg:line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(flat), y2: up(flat), class: "pa-flat" }),
      make("svg:path", { d: path, class: "pa-curve" }),
      make("svg:circle", { cx: across(length, length), cy: up(gradients[length]), r: "5", class: "pa-end" }),
    );
    const end = gradients[length];
    left.setAttribute("data-value", String(end));
    left.setAttribute("data-flat", String(flat));
    left.replaceChildren(make("strong", {}, amount(end)), ` is left after ${length} ${length === 1 ? "step" : "steps"}; attention keeps ${amount(flat)}.`);
    const hundredth = gradients.findIndex((g) => g < 0.01);
    rule.setAttribute("data-value", String(hundredth));
    rule.textContent = hundredth >= 0 ? `Less than a hundredth is left from step ${hundredth} on.`
      : end > 1 ? "It grows: a small change at the first word becomes a large one." : "At no step is less than a hundredth left.";
    svg.setAttribute("aria-label", `${left.textContent} ${rule.textContent}`);
    clearTimeout(speech);
    speech = setTimeout(() => (spoken.textContent = left.textContent), 400);
  }
  const stop = redrawOn(model, STATE, draw);
  draw();
  return () => { clearTimeout(speech); stop(); };
}

export default { render };
