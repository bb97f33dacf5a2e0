// CostCalculator: operations and bytes of a model, given its sizes.
const LENGTHS = [], WIDTHS = [256, 512, 768, 1024, 1536, 1600, 2048, 3072, 4096, 6144, 8192], HEADS = [1, 2, 4, 6, 8, 12, 16, 24, 25, 32, 48, 64, 96, 128];
for (let n = 128; n <= 1048576; n *= 2) LENGTHS.push(n, ...(n < 1048576 ? [1.5 * n] : []));
const BYTES = [4, 2, 1];
const WIDE = 560, HIGH = 236; // in drawing units
const MARGINS = { left: 64, right: 14, top: 12, bottom: 42 };

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
const POWERS = ["bytes", "kB", "MB", "GB", "TB", "PB"]; // of a thousand, as in data sheets
const digits = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
function operations(x) {
  let unit = 0;
  while (x >= 999.5 && unit < UNITS.length - 1) { x /= 1000; unit++; }
  return digits(x) + UNITS[unit];
}
function memory(x) {
  let unit = 0;
  while (x >= 999.5 && unit < POWERS.length - 1) { x /= 1000; unit++; }
  return `${digits(x)} ${POWERS[unit]}`;
}
const grouped = (x) => x.toLocaleString("en-US");
const twoDigits = (x) => { const unit = 10 ** Math.max(0, String(x).length - 2); return Math.floor(x / unit) * unit; };
const brief = (n) => (n >= 1048576 ? `${n / 1048576}M` : n >= 1024 ? `${n / 1024}K` : String(n));
const dividing = (whole) => HEADS.filter((h) => whole % h === 0);
const atMost = (list, x) => list.filter((y) => y <= x).pop() ?? list[0];

// fewer heads where the new number would not divide
const withHeads = (d_model, heads, kv_heads) => {
  const fitting = atMost(dividing(d_model), heads);
  return { d_model, heads: fitting, kv_heads: atMost(dividing(fitting), kv_heads) };
};

function build({ model, state, update }) {
  const size = (label, list, name, change) => picker(label, { "data-size": name }, list, (value) => update(change(value)), grouped);
  const [nLabel, putN] = size("tokens n", () => LENGTHS, "n", (n) => ({ n }));
  const [dLabel, putD] = size("model width d", () => WIDTHS, "d_model", (d) => withHeads(d, state().heads, state().kv_heads));
  const [hLabel, putH] = size("query heads", () => dividing(state().d_model), "heads", (h) => {
    const { d_model, heads, kv_heads } = state();
    return withHeads(d_model, h, kv_heads === heads ? h : kv_heads); // heads that were not grouped stay so
  });
  const [kLabel, putK] = size("key/value heads", () => dividing(state().heads), "kv_heads", (kv_heads) => ({ kv_heads }));
  const [lLabel, putL] = slider("layers", { min: "1", max: "96", step: "1", "data-size": "layers" }, (layers) => update({ layers }), String);
  const [precision, putWidth] = choice("bytes of a number", BYTES.map(String), (i) => update({ width: BYTES[i] }));
  const models = model.get("models"), cards = model.get("cards");
  const [modelLabel, putModel] = menu("model", models.map(({ name }) => name), (i) => {
    const { name, d_model, heads, kv_heads, layers, context } = models[i];
    update({ named: name, d_model, heads, kv_heads, layers, n: context });
  }, "your own");
  const [cardLabel, putCard] = menu("on", cards.map(({ name, gigabytes }) => `${name}, ${gigabytes} GB`), (i) => update({ gpu: cards[i].gigabytes }));
  const [networkLabel, putNetwork] = toggle("count the MLPs too", (network) => update({ network }));

  const { svg, across, down, level } = chart(WIDE, HIGH, MARGINS);
  const at = (n) => across(Math.log2(n / 128) / 13);
  const up = (share) => down(1 - share);
  const areas = make("svg:g", {}), frame = make("svg:g", {}), marks = make("svg:g", {});
  for (const share of [0, 0.5, 1]) {
    frame.append(level(up(share), "pa-grid"), axisName([MARGINS.left - 7, up(share) + 5], `${100 * share}%`, { "text-anchor": "end" }));
  }
  for (let n = 128; n <= 1048576; n *= 8) {
    frame.append(axisName([at(n), HIGH - MARGINS.bottom + 18], brief(n), { "text-anchor": n === 128 ? "start" : "middle" }));
  }
  frame.append(axisName([WIDE - MARGINS.right, HIGH - 5], "tokens n \u2192", { "text-anchor": "end" }));
  svg.append(areas, frame, marks);

  // what has to fit: the weights, the cache and, if they are held, the scores. The frame is the GPU; what is
  // too much stands out beyond it, up to four times its memory
  const shelf = canvas(WIDE, 30);
  const weightsBar = make("svg:rect", { class: "pa-weights", y: "4", height: "22" });
  const cacheBar = make("svg:rect", { class: "pa-cache", y: "4", height: "22" });
  const scoresBar = make("svg:rect", { class: "pa-scores", y: "5", height: "20" });
  const room = make("svg:rect", { class: "pa-room", x: "1", y: "4", height: "22", rx: "3" });
  shelf.append(weightsBar, cacheBar, scoresBar, room);
  const fits = make("p", { class: "pa-fits" });
  const known = ({ named, d_model, heads, kv_heads, layers }) => models.findIndex((one) =>
    one.name === named && one.d_model === d_model && one.heads === heads && one.kv_heads === kv_heads && one.layers === layers);
  function fill(now, { cache, scores }) {
    const at = known(now), which = models[at];
    const weights = which ? which.parameters * now.width : 0, card = now.gpu * 1e9;
    const token = cache / now.n, pair = scores / now.n ** 2, free = Math.max(0, card - weights);
    const fitting = Math.floor(free / token);
    const fitting_with_scores = Math.floor((Math.sqrt(token ** 2 + 4 * pair * free) - token) / (2 * pair));
    putModel(at);
    putCard(cards.findIndex(({ gigabytes }) => gigabytes === now.gpu));
    const drawn = clamp(weights + cache + scores, card, 4 * card), pixels = (WIDE - 2) / drawn;
    room.setAttribute("width", card * pixels);
    let end = 0;
    for (const [bar, bytes] of [[weightsBar, weights], [cacheBar, cache], [scoresBar, scores]]) {
      const start = end;
      end = Math.min(end + bytes * pixels, WIDE - 2);
      bar.setAttribute("x", 1 + start);
      bar.setAttribute("width", end - start);
    }
    const { name } = cards.find(({ gigabytes }) => gigabytes === now.gpu) ?? { name: "GPU" };
    const full = weights + cache > card, over = !full && weights + cache + scores > card;
    shelf.classList.toggle("pa-full", full);
    shelf.classList.toggle("pa-over", over);
    Object.assign(fits.dataset, { weights, cache, scores, room: fitting, room_with_scores: fitting_with_scores });
    fits.replaceChildren(...(which ? [make("span", { class: "pa-weights-name" }, `${memory(weights)} of weights`), " + "] : []),
      make("span", { class: "pa-cache-name" }, `${memory(cache)} of cache`), weights > card ? `: the weights alone do not fit the ${name}.`
        : full ? `: too much for the ${name}. ` : `: fits the ${now.gpu} GB of the ${name}${over ? ", but not with the scores" : ""}. `,
      ...(weights > card ? [] : ["Room for ", make("strong", {}, `about ${grouped(twoDigits(fitting))}`), ` tokens${which ? "" : ", weights not counted"}; with the `,
        make("span", { class: "pa-scores-name" }, "scores of one layer"), ` held too, now ${memory(scores)}, for `, make("strong", {}, `about ${grouped(twoDigits(fitting_with_scores))}`), "."]));
    shelf.setAttribute("aria-label", fits.textContent);
  }

  const rule = make("p", { class: "pa-rule" });
  const cells = {};
  const amounts = (name, label, note) => {
    cells[name] = make("td", { "data-kind": name });
    return row([label, make("span", { class: "pa-note" }, note)], [cells[name]]);
  };
  const networkRow = amounts("network", "MLPs", "operations");
  const table = make("table", {}, make("caption", {}, "One pass over n tokens"), make("tbody", {},
    amounts("projections", "Projections", "operations"), amounts("core", "Core (scores, averages)", "operations"), networkRow));

  function draw(now) {
    const found = cost(now);
    const { n, network } = now;
    putN(n); putD(now.d_model); putH(now.heads); putK(now.kv_heads); putL(now.layers);
    putWidth(BYTES.indexOf(now.width));
    putNetwork(network);
    fill(now, found);
    networkRow.hidden = !network;
    const total = found.projections + found.core + (network ? found.network : 0);
    for (const [name, cell] of Object.entries(cells)) {
      cell.textContent = operations(found[name]);
      cell.setAttribute("data-value", String(found[name]));
    }
    // areas from below: projections, network, core
    const kinds = ["projections", ...(network ? ["network"] : []), "core"];
    const steps = range(79).map((i) => 128 * 2 ** (i / 6));
    const shares = steps.map((m) => {
      const c = cost({ ...now, n: m }), all = sum(kinds.map((k) => c[k]));
      return kinds.map((k) => c[k] / all);
    });
    let below = steps.map(() => 0);
    become(areas, kinds.map((kind, k) => {
      const above = below.map((b, i) => b + shares[i][k]);
      const there = steps.map((m, i) => `${at(m).toFixed(1)} ${up(above[i]).toFixed(1)}`);
      const back = steps.map((m, i) => `${at(m).toFixed(1)} ${up(below[i]).toFixed(1)}`).reverse();
      below = above;
      return make("svg:path", { d: `M${[...there, ...back].join("L")}Z`, class: `pa-area pa-${kind}` });
    }));
    const share = found.core / total;
    const upright = (m, kind) => line([at(m), up(1)], [at(m), up(0)], { class: kind });
    become(marks, [
      upright(clamp(found.crossover, 128, 1048576), "pa-cross"), upright(n, "pa-here"),
      make("svg:circle", { cx: at(n), cy: up(1 - share), r: "6", class: "pa-dot" }),
      svgText([MARGINS.left + 8, up(0) - 10], "projections", { class: "pa-name" }),
      svgText([WIDE - MARGINS.right - 8, up(1) + 22], "core", { "text-anchor": "end", class: "pa-name" }),
      ...(network ? [svgText([MARGINS.left + 8, up(0.6)], "MLPs", { class: "pa-name" })] : []),
    ]);
    rule.setAttribute("data-value", String(found.crossover));
    rule.setAttribute("data-share", String(share));
    const rest = network ? "all the rest" : "the projections";
    rule.replaceChildren("The core does ", make("strong", {}, `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`),
      ` of the work. It does as much as ${rest} at n = ${grouped(Number(found.crossover.toFixed(1)))}, which is ${Number((found.crossover / now.d_model).toFixed(3))} d.`);
    svg.setAttribute("aria-label", rule.textContent);
    return `${fits.textContent} ${rule.textContent}`;
  }
  return {
    parts: [make("div", { class: "pa-bar pa-known" }, modelLabel, cardLabel), make("div", { class: "pa-bar pa-sizes" }, nLabel),
      make("details", {}, make("summary", {}, "change the model"), make("div", { class: "pa-bar pa-sizes" }, dLabel, hLabel, kLabel, lLabel), make("div", { class: "pa-bar" }, precision, networkLabel), make("p", { class: "pa-note" }, "An MLP is counted as 16nd\u00b2, a quarter low for Mistral and Llama 3. GPUs have the memory of their data sheets.")), shelf, fits,
      make("details", { class: "pa-work" }, make("summary", {}, "what does the work"), make("p", { class: "pa-note" }, "Each kind of work as a share of all. The solid line is your n; at the dashed line the core does half."), svg, rule, table)],
    help: "The frame is the memory of the GPU. What does not fit stands out.",
    draw,
  };
}

export default explorable({
  name: "cost", label: "What a model costs", build,
  codes: (model) => ({ n: whole(128, 1048576), d_model: oneOf(WIDTHS), heads: oneOf(HEADS), kv_heads: oneOf(HEADS), layers: whole(1, 96), width: oneOf(BYTES), network: flag(), named: oneOf(model.get("models").map(({ name }) => name)), gpu: oneOf(model.get("cards").map(({ gigabytes }) => gigabytes)) }),
  mend: (now) => ({ ...now, ...withHeads(now.d_model, now.heads, now.kv_heads) }),
  state: ["n", "d_model", "heads", "kv_heads", "layers", "width", "network", "gpu", "named"],
});
