// AttentionPlane: drag word vectors in the plane; scores, weights and the new vector follow.
const LOW = -3;        // the plane shows this range on both axes
const HIGH = 5;
const SIZE = 400;      // in drawing units
const STEP = 0.1;      // how far an arrow key moves a word

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

function build({ model, state, update, on }) {
  const place = ([x, y]) => [((x - LOW) / (HIGH - LOW)) * SIZE, ((HIGH - y) / (HIGH - LOW)) * SIZE];
  const inside = (x) => clamp(Math.round(x * 100) / 100, LOW, HIGH);
  const move = (i, x, y) => update({ points: replaced(state().points, i, [inside(x), inside(y)]) });
  const choose = ({ words, points, query }) => update({ words, points: points.map((p) => [...p]), query });
  const presets = () => model.get("presets");
  const presetOf = (words) => presets().findIndex((p) => p.words.join() === words.join());

  const sentences = make("div", { class: "pa-sentences" });
  const queries = make("div", { class: "pa-queries" });
  const [scaledLabel, putScaled] = toggle("divide scores by \u221a2", (scaled) => update({ scaled }));
  const [separateLabel, putSeparate] = toggle("give queries a projection of their own", (separate) => update({ separate }));
  const [turnLabel, putTurn] = slider("it turns them by", { min: "-180", max: "180", step: "5" },
    (turn) => update({ turn }), (turn) => `${show(turn).replace(".00", "")}\u00b0`);
  const reset = button("Put the words back", () => choose(presets()[Math.max(0, presetOf(state().words))]));

  const svg = canvas(SIZE, SIZE, { role: "group", "aria-label": "The plane. Each word is a slider: arrow keys move it." });
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
    ground.append(line(place([i, LOW]), place([i, HIGH]), { class: kind }));
    ground.append(line(place([LOW, i]), place([HIGH, i]), { class: kind }));
  }
  const [right, up] = state().axes;
  const [zeroX, zeroY] = place([0, 0]);
  ground.append(
    axisName([SIZE - 4, zeroY + 16], `${right} \u2192`, { "text-anchor": "end" }),
    axisName([zeroX - 6, 12], `${up} \u2191`, { "text-anchor": "end" }),
  );

  const caption = make("caption", {});
  const body = make("tbody", {});
  const table = make("table", {}, caption, columns(["word", "score", "score back", "weight"]), body);
  const result = make("p", { class: "pa-sum" });
  const symmetry = make("p", { class: "pa-symmetry" });

  let handles = [], putQuery;
  function fill() {   // once for each sentence: what holds the focus must survive a redraw
    const { words } = state();
    const [sentenceChoice, putSentence] = choice("Sentence", presets().map((p) => p.name), (i) => choose(presets()[i]));
    const [queryChoice, put] = choice("Who listens?", words, (query) => update({ query }));
    putQuery = put;
    putSentence(presetOf(words));
    sentences.replaceChildren(sentenceChoice);
    queries.replaceChildren(queryChoice);
    handles = words.map((word, i) => {
      const node = ownKeys(make("svg:g", { class: "pa-word", tabindex: "0", role: "slider",
        "aria-valuemin": String(LOW), "aria-valuemax": String(HIGH) },
        make("svg:circle", { r: "22", class: "pa-touch" }), make("svg:circle", { r: "7" }),
        svgText([11, -9], word)));
      node.addEventListener("keydown", (event) => key(event, i));
      node.addEventListener("pointerdown", (event) => drag(event, i, node));
      node.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false }); // no scrolling
      return node;
    });
    dots.replaceChildren(...handles);
  }

  function key(event, i) {
    const step = event.shiftKey ? 5 * STEP : STEP;
    const [x, y] = state().points[i];
    if (event.key in ARROWS) {
      const [right, up] = ARROWS[event.key];
      move(i, x + right * step, y + up * step);
    } else if (event.key === "Enter" || event.key === " ") update({ query: i });
    else return;
    consume(event);
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

  function draw(now) {
    const { words, points, query } = now;
    const { queries: q, scores, weights, outputs } = attend(points, now);
    putScaled(now.scaled);
    putSeparate(now.separate);
    turnLabel.hidden = !now.separate;
    putTurn(now.turn);
    putQuery(query);

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
      [line(at, place(points[i]), { class: "pa-link", "stroke-width": String(1 + 9 * weights[query][i]), opacity: String(0.08 + 0.5 * weights[query][i]) })]);
    if (now.separate) {
      const end = place(q[query]);
      shapes.push(line(place([0, 0]), end, { class: "pa-q", "marker-end": `url(#${marker})` }));
      const shown = (x) => clamp(x, 6, SIZE - 48);
      shapes.push(svgText([shown(end[0] + 6), shown(end[1] + 14)], "query", { class: "pa-q-name" }));
    }
    const left = to[0] < at[0];   // name it on the side away from the word
    const name = svgText([to[0] + (left ? -11 : 11), to[1] + 14], `new ${words[query]}`,
      { class: "pa-new-name", "text-anchor": left ? "end" : "start" });
    shapes.push(
      line(at, to, { class: "pa-step", "marker-end": `url(#${marker})` }),
      diamond(to, 7, { class: "pa-new" }), name,
    );
    links.replaceChildren(...shapes);

    caption.textContent = `What ${words[query]} takes from each word`;
    body.replaceChildren(...words.map((word, j) => row(word, [numberCell("score", scores[query][j]), numberCell("back", scores[j][query]),
      numberCell("weight", weights[query][j], weights[query][j])])));
    const parts = words.map((word, j) => `${show(weights[query][j])} ${word}`).join(" + ");
    result.setAttribute("data-x", String(outputs[query][0]));
    result.setAttribute("data-y", String(outputs[query][1]));
    result.replaceChildren(make("strong", {}, `new ${words[query]}`), ` = ${parts} = (${show(outputs[query][0])}, ${show(outputs[query][1])})`);
    const gap = Math.max(...words.map((_, j) => Math.abs(scores[query][j] - scores[j][query])));
    symmetry.textContent = gap < 1e-9 ? "Every score is the same in both directions." : "Some scores now differ with the direction.";
    return result.textContent;
  }

  fill();
  on("words", fill);
  return {
    parts: [make("div", { class: "pa-bar" }, sentences, queries),
      make("div", { class: "pa-main" }, make("div", { class: "pa-left" }, svg), make("div", { class: "pa-right" }, table, result, symmetry)),
      make("div", { class: "pa-bar" }, scaledLabel, separateLabel, turnLabel, reset)],
    help: "Drag a word, or focus it and press the arrow keys (with Shift for larger steps). Enter makes it the one that listens.",
    draw,
  };
}

export default explorable({
  name: "plane", label: "Attention in the plane", build,
  state: ["words", "points", "query", "scaled", "separate", "turn", "axes"],
});
