// CostCalculator: operations and bytes of a model, given its sizes.
// Host contract (anywidget): model.get/set/save_changes/on/off and el; the default export renders.
const STATE = ["n", "d_model", "heads", "kv_heads", "layers", "width", "network"];
const LENGTHS = [], WIDTHS = [256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192], HEADS = [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
for (let n = 128; n <= 1048576; n *= 2) LENGTHS.push(n, ...(n < 1048576 ? [1.5 * n] : []));
const BYTES = [4, 2, 1];
const WIDE = 560, HIGH = 250; // in drawing units
const LEFT = 64, RIGHT = 14, TOP = 12, BOTTOM = 42;

// One sequence of n tokens. A multiplication and an addition are two operations.
function cost({ n, d_model: d, heads, kv_heads, layers, width, network }) {
  const D = d / heads, kv = kv_heads * D;
  const projections = 4 * n * d * d + 4 * n * d * kv;
  const core = 4 * n * n * d;
  const inside = 16 * n * d * d;
  return {
    projections: layers * projections, core: layers * core, network: layers * inside,
    scores: heads * n * n * width, cache: 2 * kv * n * layers * width,
    crossover: (projections + (network ? inside : 0)) / (4 * n * d),
  };
}

const UNITS = ["", " thousand", " million", " billion", " trillion", " quadrillion", " quintillion"];
const POWERS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
const digits = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
function operations(x) {
  let unit = 0;
  while (x >= 999.5 && unit < UNITS.length - 1) { x /= 1000; unit++; }
  return digits(x) + UNITS[unit];
}
function memory(x) {
  let unit = 0;
  while (x >= 1023.5 && unit < POWERS.length - 1) { x /= 1024; unit++; }
  return `${digits(x)} ${POWERS[unit]}`;
}
const grouped = (x) => x.toLocaleString("en-US");
const brief = (n) => (n >= 1048576 ? `${n / 1048576}M` : n >= 1024 ? `${n / 1024}K` : String(n));
const nearest = (list, x) => list.reduce((best, y, i) => (Math.abs(y - x) < Math.abs(list[best] - x) ? i : best), 0);
const dividing = (whole) => HEADS.filter((h) => whole % h === 0);
const atMost = (list, x) => list.filter((y) => y <= x).pop() ?? list[0];

function render({ model, el }) {
  const state = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const update = (change) => {
    for (const [name, value] of Object.entries(change)) model.set(name, value);
    model.save_changes();
  };
  // a slider over the places of a list, which may depend on the state
  const picker = (label, list, name, change) => {
    const [node, put] = slider(label, { min: "0", step: "1", "data-size": name }, (i) => update(change(list()[i])), (i) => grouped(list()[i]));
    const input = node.querySelector("input");
    return [node, (value) => {
      const i = nearest(list(), value);
      input.max = String(list().length - 1);
      put(i);
      input.setAttribute("aria-valuetext", grouped(list()[i]));
    }];
  };
  // fewer heads where the new number would not divide
  const withHeads = (d_model, heads, kv_heads) => {
    const fitting = atMost(dividing(d_model), heads);
    return { d_model, heads: fitting, kv_heads: atMost(dividing(fitting), kv_heads) };
  };
  const [nLabel, putN] = picker("tokens n", () => LENGTHS, "n", (n) => ({ n }));
  const [dLabel, putD] = picker("model width d", () => WIDTHS, "d_model", (d) => withHeads(d, model.get("heads"), model.get("kv_heads")));
  const [hLabel, putH] = picker("query heads", () => dividing(model.get("d_model")), "heads", (h) => {
    const all = model.get("kv_heads") === model.get("heads"); // they were not grouped, and stay so
    return withHeads(model.get("d_model"), h, all ? h : model.get("kv_heads"));
  });
  const [kLabel, putK] = picker("key/value heads", () => dividing(model.get("heads")), "kv_heads", (kv_heads) => ({ kv_heads }));
  const [lLabel, putL] = slider("layers", { min: "1", max: "96", step: "1", "data-size": "layers" }, (layers) => update({ layers }), String);
  const precision = choice("bytes of a number", BYTES.map(String), BYTES.indexOf(model.get("width")), (i) => update({ width: BYTES[i] }));
  const [switchLabel, switchBox] = toggle("count the network too", (network) => update({ network }));

  const svg = make("svg:svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "pa-canvas", role: "img" });
  const across = (n) => LEFT + (Math.log2(n / 128) / 13) * (WIDE - LEFT - RIGHT);
  const up = (share) => TOP + (1 - share) * (HIGH - TOP - BOTTOM);
  const areas = make("svg:g", {}), frame = make("svg:g", {}), marks = make("svg:g", {});
  for (const share of [0, 0.5, 1]) {
    frame.append(make("svg:line", { x1: LEFT, x2: WIDE - RIGHT, y1: up(share), y2: up(share), class: "pa-grid" }),
      make("svg:text", { x: LEFT - 7, y: up(share) + 5, "text-anchor": "end", class: "pa-axis-name" }, `${100 * share}%`));
  }
  for (let n = 128; n <= 1048576; n *= 8) {
    frame.append(make("svg:text", { x: across(n), y: HIGH - BOTTOM + 18, "text-anchor": n === 128 ? "start" : "middle", class: "pa-axis-name" }, brief(n)));
  }
  frame.append(make("svg:text", { x: WIDE - RIGHT, y: HIGH - 5, "text-anchor": "end", class: "pa-axis-name" }, "tokens n \u2192"));
  svg.append(areas, frame, marks);

  const rule = make("p", { class: "pa-rule" });
  const cells = {};
  const row = (name, label, note) => {
    cells[name] = make("td", { "data-kind": name });
    return make("tr", {}, make("th", { scope: "row" }, label, make("span", { class: "pa-note" }, note)), cells[name]);
  };
  const networkRow = row("network", "Network", "operations");
  const table = make("table", {}, make("caption", {}, "One pass over n tokens"), make("tbody", {},
    row("projections", "Projections", "operations"), row("core", "Core (scores, mixing)", "operations"), networkRow,
    row("token", "Per token", "operations"),
    row("scores", "Scores, if held", "memory, one layer"), row("cache", "KV cache", "memory, all layers")));
  const spoken = make("p", { class: "pa-hidden", role: "status" });
  const root = make("div", { class: "pa-widget pa-cost", role: "group", "aria-label": "What a model costs" },
    make("div", { class: "pa-bar pa-sizes" }, nLabel, dLabel, hLabel, kLabel, lLabel), make("div", { class: "pa-bar" }, precision, switchLabel), svg, rule, table,
    make("p", { class: "pa-help" }, "The picture: each kind of work as a share of all that is counted, for every n. The solid line is your n, the dashed line where the core does half of the work. One sequence; embeddings, norms and the output layer are not counted."),
    spoken);
  el.append(root);

  let speech;
  function draw() {
    const now = state(), found = cost(now);
    const { n, network } = now;
    putN(n); putD(now.d_model); putH(now.heads); putK(now.kv_heads); putL(now.layers);
    precision.querySelectorAll("input").forEach((input, i) => (input.checked = BYTES[i] === now.width));
    switchBox.checked = network;
    networkRow.hidden = !network;
    const total = found.projections + found.core + (network ? found.network : 0);
    const text = { ...Object.fromEntries(["projections", "core", "network"].map((k) => [k, operations(found[k])])),
      token: operations(total / n), scores: memory(found.scores), cache: memory(found.cache) };
    for (const [name, cell] of Object.entries(cells)) {
      cell.textContent = text[name];
      cell.setAttribute("data-value", String(name === "token" ? total / n : found[name]));
    }
    // areas from below: projections, network, core
    const kinds = ["projections", ...(network ? ["network"] : []), "core"];
    const steps = Array.from({ length: 79 }, (_, i) => 128 * 2 ** (i / 6));
    const shares = steps.map((m) => {
      const c = cost({ ...now, n: m }), sum = kinds.reduce((s, k) => s + c[k], 0);
      return kinds.map((k) => c[k] / sum);
    });
    let below = steps.map(() => 0);
    areas.replaceChildren(...kinds.map((kind, k) => {
      const above = below.map((b, i) => b + shares[i][k]);
      const there = steps.map((m, i) => `${across(m).toFixed(1)} ${up(above[i]).toFixed(1)}`);
      const back = steps.map((m, i) => `${across(m).toFixed(1)} ${up(below[i]).toFixed(1)}`).reverse();
      below = above;
      return make("svg:path", { d: `M${[...there, ...back].join("L")}Z`, class: `pa-area pa-${kind}` });
    }));
    const share = found.core / total, at = across(n), cross = across(Math.min(1048576, Math.max(128, found.crossover)));
    marks.replaceChildren(
      make("svg:text", { x: LEFT + 8, y: up(0) - 10, class: "pa-name" }, "projections"),
      ...(network ? [make("svg:text", { x: LEFT + 8, y: up(0.6), class: "pa-name" }, "network")] : []),
      make("svg:text", { x: WIDE - RIGHT - 8, y: up(1) + 22, "text-anchor": "end", class: "pa-name" }, "core"),
      make("svg:line", { x1: cross, x2: cross, y1: up(1), y2: up(0), class: "pa-cross" }),
      make("svg:line", { x1: at, x2: at, y1: up(1), y2: up(0), class: "pa-here" }),
      make("svg:circle", { cx: at, cy: up(1 - share), r: "6", class: "pa-dot" }));
    rule.setAttribute("data-value", String(found.crossover));
    rule.setAttribute("data-share", String(share));
    const rest = network ? "all the rest" : "the projections";
    rule.replaceChildren("The core does ", make("strong", {}, `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`),
      ` of the work. It does as much as ${rest} at n = ${grouped(Number(found.crossover.toFixed(1)))}, which is ${Number((found.crossover / now.d_model).toFixed(3))} d.`);
    svg.setAttribute("aria-label", rule.textContent);
    clearTimeout(speech);
    speech = setTimeout(() => (spoken.textContent = `${rule.textContent} Scores ${text.scores}, cache ${text.cache}.`), 400);
  }
  const stop = redrawOn(model, STATE, draw);
  draw();
  return () => { clearTimeout(speech); stop(); };
}

export default { render };
