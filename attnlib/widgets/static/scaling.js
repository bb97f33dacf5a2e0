// ScalingLab: a random query and sixteen random keys; what the width and the scaling do to the weights.
const KEYS = 16, WIDEST = 1024;
const SCALINGS = [["none", "nothing"], ["root", "\u221ad"], ["full", "d"]];
const WIDTH = 560, HEIGHT = 190, ROOM = 142; // in drawing units; the room is for the scores, above
const EDGES = [1, 2, 4, 10, 20, 40, 100, 200, 400, 1000];    // how far the axis of the scores goes
const MARGINS = { left: 46, right: 10, top: 16, bottom: 34 };

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
  const rows = range(1 + KEYS).map((i) => flat.slice(i * WIDEST, (i + 1) * WIDEST));
  known = [draw, rows];
  return rows;
}

function measure({ power, scaling, spread, draw }) {
  const d = 2 ** power;
  const scale = { none: 1, root: 1 / Math.sqrt(d), full: 1 / d }[scaling];
  const [q, ...keys] = normals(draw).map((row) => row.slice(0, d).map((x) => x * spread));
  const scores = keys.map((k) => scale * dot(q, k));
  const p = softmax(scores);
  const mean = sum(scores) / KEYS;
  return {
    d, p, scores, scale,
    std: Math.sqrt(sum(scores.map((s) => (s - mean) ** 2)) / KEYS),
    top: Math.max(...p),
  };
}

// Small numbers need more than two decimals.
const measured = (x) => (x >= 0.1 || x === 0 ? x.toFixed(2) : amount(x));

const ROWS = [
  ["std", "std of the scores", "with \u221ad: about 1"],
  ["top", "largest weight", `equal weights: ${(1 / KEYS).toFixed(2)}`],
];

function build({ root, state, update }) {
  const [widthLabel, putWidth] = slider("width d", { min: "1", max: "10", step: "1" },
    (power) => update({ power }), (power) => String(2 ** power));
  const [spreadLabel, putSpread] = slider("std of q and k", { min: "0.25", max: "3", step: "0.25" },
    (spread) => update({ spread }), show);
  const [divide, putScaling] = choice("divide by", SCALINGS.map(([, name]) => name), (i) => update({ scaling: SCALINGS[i][0] }));
  const again = ownKeys(button("draw again", () => update({ draw: state().draw + 1 })));

  // the scores: one dot a key, stacked where they coincide
  const heap = canvas(WIDTH, ROOM);
  const ground = ROOM - 26, bins = 40;
  const dots = make("svg:g", {}), ticks = make("svg:g", {});
  heap.append(line([MARGINS.left, ground], [WIDTH - MARGINS.right, ground], { class: "pa-axis" }), axisName([4, 14], "scores of sixteen keys"), ticks, dots);
  function histogram({ scores, p, scale }) {
    const far = Math.max(...scores.map(Math.abs)) / scale; // undivided, so that dividing draws the dots together
    const edge = EDGES.find((x) => x >= far) ?? EDGES.at(-1);
    const across = (x) => MARGINS.left + (x + edge) / (2 * edge) * (WIDTH - MARGINS.left - MARGINS.right);
    const place = (score) => Math.round(clamp(score / edge, -1, 1) * bins / 2);
    const heights = {}, tallest = Math.max(...scores.map((one) => scores.filter((other) => place(other) === place(one)).length));
    const step = Math.min(12.5, (ground - 34) / Math.max(1, tallest - 1)); // a high heap is pressed together
    heap.setAttribute("aria-label", `Scores of sixteen keys, from ${show(Math.min(...scores))} to ${show(Math.max(...scores))}.`);
    become(dots, scores.map((score, i) => {
      const bin = place(score);
      heights[bin] = (heights[bin] ?? 0) + 1;
      return make("svg:circle", { cx: across(bin / bins * 2 * edge).toFixed(2), cy: (ground - 7 - step * (heights[bin] - 1)).toFixed(2), r: "5.5", class: "pa-score",
        "fill-opacity": (0.15 + 0.85 * p[i]).toFixed(3), "data-value": score });
    }));
    become(ticks, [-1, -0.5, 0, 0.5, 1].map((share) => axisName([across(share * edge), ROOM - 8], show(share * edge).replace(/\.?0+$/, ""), { "text-anchor": "middle" })));
  }

  const { svg, down, level } = chart(WIDTH, HEIGHT, MARGINS);
  const up = (weight) => down(1 - weight);
  for (const weight of [0, 0.5, 1]) {
    svg.append(level(up(weight), weight ? "pa-grid" : "pa-axis"),
      axisName([MARGINS.left - 8, up(weight) + 5], String(weight), { "text-anchor": "end" }));
  }
  svg.append(axisName([MARGINS.left, HEIGHT - 8], "weights of the same keys, ordered by score \u2192"));
  const bars = make("svg:g", {});
  svg.append(bars, level(up(1 / KEYS), "pa-equal"));

  const cells = Object.fromEntries(ROWS.map(([name]) => [name, make("td", {})]));
  const table = make("table", {}, make("caption", { class: "pa-hidden" }, "What the weights look like"),
    columns(["measure", "value"], { class: "pa-hidden" }),
    make("tbody", {}, ...ROWS.map(([name, words, reference]) => row([words, make("small", {}, reference)], [cells[name]], { "data-row": name }))));

  function draw(now) {
    const found = measure(now);
    putWidth(now.power);
    putSpread(now.spread);
    putScaling(SCALINGS.findIndex(([name]) => name === now.scaling));
    const step = (WIDTH - MARGINS.left - MARGINS.right) / KEYS;
    histogram(found);
    become(bars, [...found.p].sort((a, b) => a - b).map((w, i) => make("svg:rect", {
      x: MARGINS.left + i * step + 0.12 * step, width: 0.76 * step, y: up(w), height: Math.max(0, up(0) - up(w)), class: "pa-weight", "data-value": w,
    })));
    for (const [name] of ROWS) {
      cells[name].textContent = measured(found[name]);
      cells[name].setAttribute("data-value", String(found[name]));
    }
    root.setAttribute("data-draw", String(now.draw));
    const told = `Width ${found.d}: largest weight ${measured(found.top)}.`;
    svg.setAttribute("aria-label", told);
    return told;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, widthLabel, spreadLabel, divide, again), heap, svg, table],
    help: "Above, each dot is the score of a key, darker the more weight it gets; the axis is that of the undivided scores. Below, in the same order, the weights that the softmax makes of them. Dashed: what each key would get if all got the same.",
    draw,
  };
}

export default explorable({ name: "scaling", label: "Width, scaling and softmax", state: ["power", "scaling", "spread", "draw"],
  codes: () => ({ power: whole(1, 10), scaling: oneOf(SCALINGS.map(([name]) => name)), spread: number(0.25, 3), draw: whole(1, 1e6) }), build });
