// AttentionPlane: drag word vectors in the plane; scores, weights and the new vector follow.
// Host contract (anywidget): model.get/set/save_changes/on/off and el; the default export renders.
const LOW = -3;        // the plane shows this range on both axes
const HIGH = 5;
const SIZE = 400;      // in drawing units
const STEP = 0.1;      // how far an arrow key moves a word
const STATE = ["words", "points", "query", "scaled", "separate", "turn", "axes"];

function attend(points, { scaled, separate, turn }) {
  const angle = separate ? (turn * Math.PI) / 180 : 0;
  const queries = points.map(([x, y]) => [
    x * Math.cos(angle) - y * Math.sin(angle),
    x * Math.sin(angle) + y * Math.cos(angle),
  ]);
  const scale = scaled ? 1 / Math.sqrt(2) : 1;
  const scores = queries.map((q) => points.map((k) => dot(q, k) * scale));
  const weights = scores.map(softmax);
  const outputs = weights.map((w) => [0, 1].map((axis) => dot(w, points.map((v) => v[axis]))));
  return { queries, scores, weights, outputs };
}

function arrow(from, to, attributes) {
  return make("svg:line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], ...attributes });
}

function render({ model, el }) {
  const state = () => Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  const update = (change) => {
    for (const [name, value] of Object.entries(change)) model.set(name, value);
    model.save_changes();
  };
  const place = ([x, y]) => [((x - LOW) / (HIGH - LOW)) * SIZE, ((HIGH - y) / (HIGH - LOW)) * SIZE];
  const clamp = (x) => Math.min(HIGH, Math.max(LOW, Math.round(x * 100) / 100));
  const move = (i, x, y) => {
    const points = model.get("points").map((p) => [...p]);
    points[i] = [clamp(x), clamp(y)];
    update({ points });
  };

  const root = make("div", { class: "pa-widget pa-plane", role: "group", "aria-label": "Attention in the plane" });
  const sentences = make("div", { class: "pa-sentences" });
  const queries = make("div", { class: "pa-queries" });
  const [scaledLabel, scaledBox] = toggle("divide scores by \u221a2", (scaled) => update({ scaled }));
  const [separateLabel, separateBox] = toggle("give queries a projection of their own", (separate) => update({ separate }));
  const [turnLabel, putTurn] = slider("it turns them by", { min: "-180", max: "180", step: "5" },
    (turn) => update({ turn }), (turn) => `${show(turn).replace(".00", "")}\u00b0`);
  const reset = make("button", { type: "button" }, "Put the words back");

  const svg = make("svg:svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "pa-canvas", role: "group",
    "aria-label": "The plane. Each word is a slider: arrow keys move it." });
  const marker = freshId("tip");
  svg.append(
    make("svg:defs", {}, make("svg:marker", { id: marker, viewBox: "0 0 8 8", refX: "7", refY: "4",
      markerWidth: "7", markerHeight: "7", orient: "auto-start-reverse", class: "pa-tip" },
      make("svg:path", { d: "M0 0L8 4L0 8z" }))),
  );
  const ground = make("svg:g", { "aria-hidden": "true" });
  const links = make("svg:g", { "aria-hidden": "true" });
  const dots = make("svg:g", {});
  svg.append(ground, links, dots);
  for (let i = LOW; i <= HIGH; i++) {
    const kind = i === 0 ? "pa-axis" : "pa-grid";
    ground.append(arrow(place([i, LOW]), place([i, HIGH]), { class: kind }));
    ground.append(arrow(place([LOW, i]), place([HIGH, i]), { class: kind }));
  }
  const [right, up] = model.get("axes");
  const [zero] = place([0, 0]);
  ground.append(
    make("svg:text", { x: SIZE - 4, y: place([0, 0])[1] + 16, class: "pa-axis-name", "text-anchor": "end" }, `${right} \u2192`),
    make("svg:text", { x: zero - 6, y: 12, class: "pa-axis-name", "text-anchor": "end" }, `${up} \u2191`),
  );

  const table = make("table", {}, make("caption", {}));
  const sum = make("p", { class: "pa-sum" });
  const symmetry = make("p", { class: "pa-symmetry" });
  const spoken = make("p", { class: "pa-hidden", role: "status" });
  const help = make("p", { class: "pa-help" },
    "Drag a word, or focus it and press the arrow keys (with Shift for larger steps). Enter makes it the one that listens.");
  root.append(
    make("div", { class: "pa-bar" }, sentences, queries),
    make("div", { class: "pa-main" }, make("div", { class: "pa-left" }, svg),
      make("div", { class: "pa-right" }, table, sum, symmetry)),
    make("div", { class: "pa-bar" }, scaledLabel, separateLabel, turnLabel, reset), help, spoken,
  );
  el.append(root);

  let handles = [];
  function build() {   // once for each sentence: what holds the focus must survive a redraw
    const { words, query } = state();
    const presets = model.get("presets");
    const same = presets.findIndex((p) => p.words.join() === words.join());
    sentences.replaceChildren(choice("Sentence", presets.map((p) => p.name), same, (i) => choose(presets[i])));
    queries.replaceChildren(choice("Who listens?", words, query, (i) => update({ query: i })));
    handles = words.map((word, i) => {
      const node = ownKeys(make("svg:g", { class: "pa-word", tabindex: "0", role: "slider",
        "aria-valuemin": String(LOW), "aria-valuemax": String(HIGH) },
        make("svg:circle", { r: "22", class: "pa-touch" }), make("svg:circle", { r: "7" }),
        make("svg:text", { x: "11", y: "-9" }, word)));
      node.addEventListener("keydown", (event) => key(event, i));
      node.addEventListener("pointerdown", (event) => drag(event, i, node));
      node.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false }); // no scrolling
      return node;
    });
    dots.replaceChildren(...handles);
  }

  function choose(preset) {
    update({ words: preset.words, points: preset.points.map((p) => [...p]), query: preset.query });
  }

  function key(event, i) {
    const step = event.shiftKey ? 5 * STEP : STEP;
    const [x, y] = model.get("points")[i];
    const to = { ArrowLeft: [x - step, y], ArrowRight: [x + step, y], ArrowUp: [x, y + step], ArrowDown: [x, y - step] }[event.key];
    if (to) move(i, ...to);
    else if (event.key === "Enter" || event.key === " ") update({ query: i });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function drag(event, i, node) {
    node.setPointerCapture(event.pointerId);
    node.focus();
    let moved = false;
    const follow = (e) => {
      const box = svg.getBoundingClientRect();
      moved = true;
      const across = (e.clientX - box.left) / box.width;
      const down = (e.clientY - box.top) / box.height;
      move(i, LOW + across * (HIGH - LOW), HIGH - down * (HIGH - LOW));
    };
    const stop = () => {
      node.removeEventListener("pointermove", follow);
      if (!moved) update({ query: i });
    };
    node.addEventListener("pointermove", follow);
    node.addEventListener("pointerup", stop, { once: true });
    node.addEventListener("pointercancel", stop, { once: true });
    event.preventDefault();
  }

  let speech;
  function draw() {
    const now = state();
    const { words, points, query } = now;
    const { queries: q, scores, weights, outputs } = attend(points, now);
    scaledBox.checked = now.scaled;
    separateBox.checked = now.separate;
    turnLabel.hidden = !now.separate;
    putTurn(now.turn);
    queries.querySelectorAll("input").forEach((input, i) => (input.checked = i === query));

    handles.forEach((node, i) => {
      const [x, y] = place(points[i]);
      const right = points[i][0] > HIGH - 1.2;
      node.setAttribute("transform", `translate(${x} ${y})`);
      node.setAttribute("class", i === query ? "pa-word pa-query" : "pa-word");
      node.setAttribute("aria-label", `${words[i]}${i === query ? ", listening" : ""}`);
      node.setAttribute("data-x", String(points[i][0]));
      node.setAttribute("data-y", String(points[i][1]));
      node.setAttribute("aria-valuenow", points[i][0].toFixed(2));
      node.setAttribute("aria-valuetext", `at ${show(points[i][0])}, ${show(points[i][1])}; weight ${show(weights[query][i])}`);
      node.lastChild.setAttribute("text-anchor", right ? "end" : "start");
      node.lastChild.setAttribute("x", right ? "-11" : "11");
    });
    const at = place(points[query]);
    const to = place(outputs[query]);
    const shapes = words.flatMap((_, i) => i === query ? [] :
      [arrow(at, place(points[i]), { class: "pa-link", "stroke-width": String(1 + 9 * weights[query][i]), opacity: String(0.08 + 0.5 * weights[query][i]) })]);
    if (now.separate) {
      const end = place(q[query]);
      shapes.push(arrow(place([0, 0]), end, { class: "pa-q", "marker-end": `url(#${marker})` }));
      const inside = (x) => Math.min(SIZE - 48, Math.max(6, x));
      shapes.push(make("svg:text", { x: inside(end[0] + 6), y: inside(end[1] + 14), class: "pa-q-name" }, "query"));
    }
    const left = to[0] < at[0];   // name it on the side away from the word
    const label = make("svg:text", { x: to[0] + (left ? -11 : 11), y: to[1] + 14, class: "pa-new-name",
      "text-anchor": left ? "end" : "start" }, `new ${words[query]}`);
    shapes.push(
      arrow(at, to, { class: "pa-step", "marker-end": `url(#${marker})` }),
      make("svg:path", { d: `M${to[0]} ${to[1] - 7}l7 7l-7 7l-7 -7z`, class: "pa-new" }), label,
    );
    links.replaceChildren(...shapes);

    table.querySelector("caption").textContent = `What ${words[query]} takes from each word`;
    table.querySelectorAll("thead, tbody").forEach((part) => part.remove());
    const head = table.createTHead().insertRow();
    for (const name of ["word", "score", "score back", "weight"]) head.append(make("th", { scope: "col" }, name));
    const body = table.createTBody();
    words.forEach((word, j) => {
      const row = body.insertRow();
      row.append(make("th", { scope: "row" }, word));
      for (const [kind, value] of [["score", scores[query][j]], ["back", scores[j][query]], ["weight", weights[query][j]]]) {
        const cell = make("td", { "data-kind": kind, "data-value": String(value) }, show(value));
        if (kind === "weight") cell.style.background = `linear-gradient(to right, rgba(var(--pa-tint), 0.32) ${100 * value}%, transparent 0)`;
        row.append(cell);
      }
    });
    const parts = words.map((word, j) => `${show(weights[query][j])} ${word}`).join(" + ");
    sum.setAttribute("data-x", String(outputs[query][0]));
    sum.setAttribute("data-y", String(outputs[query][1]));
    sum.replaceChildren(make("strong", {}, `new ${words[query]}`), ` = ${parts} = (${show(outputs[query][0])}, ${show(outputs[query][1])})`);
    const gap = Math.max(...words.map((_, j) => Math.abs(scores[query][j] - scores[j][query])));
    symmetry.textContent = gap < 1e-9 ? "Every score is the same in both directions." : "Some scores now differ with the direction.";
    clearTimeout(speech);
    speech = setTimeout(() => (spoken.textContent = sum.textContent), 400);
  }

  const rebuild = () => { build(); draw(); };
  reset.addEventListener("click", () => {
    const presets = model.get("presets");
    choose(presets.find((p) => p.words.join() === model.get("words").join()) ?? presets[0]);
  });
  model.on("change:words", build);
  const stop = redrawOn(model, STATE, draw);
  rebuild();
  return () => {
    clearTimeout(speech);
    model.off("change:words", build);
    stop();
  };
}

export default { render };
