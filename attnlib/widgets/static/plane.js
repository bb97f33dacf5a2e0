// AttentionPlane: drag word vectors in the plane; scores, weights and the new vector follow.
const LOW = -3;        // the plane shows this range on both axes
const HIGH = 5;
const SIZE = 400;      // in drawing units
const STEP = 0.1;      // how far an arrow key moves a word

// e to a score: 54.6, 2981, 4.7 × 10¹¹.
const grown = (x) => (x < 0.01 || x >= 1e5 ? amount(x) : x >= 100 ? String(Math.round(x)) : String(Number(x.toPrecision(3))));

/** The head of an arrow, as a shape of its own: WebKit gives a marker no colour of its line, and none at all to a second drawing. */
function head([x1, y1], [x2, y2], attributes) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const corner = (side) => [x2 - 14 * Math.cos(angle) + side * Math.sin(angle), y2 - 14 * Math.sin(angle) - side * Math.cos(angle)].map(hundredths).join(" ");
  return make("svg:path", { d: `M${corner(-7)}L${hundredths(x2)} ${hundredths(y2)}L${corner(7)}z`, ...attributes });
}

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
  const [separateLabel, putSeparate] = toggle("turn the queries", (separate) => update({ separate }));
  const [turnLabel, putTurn] = slider("turned by", { min: "-180", max: "180", step: "5" },
    (turn) => update({ turn }), (turn) => `${show(turn).replace(".00", "")}\u00b0`);

  const svg = canvas(SIZE, SIZE, { role: "group", "aria-label": "The plane. Each word is a slider: arrow keys move it." });
  const ground = make("svg:g", { "aria-hidden": "true" });
  const links = make("svg:g", { "aria-hidden": "true" });
  const dots = make("svg:g", {});
  svg.append(ground, links, dots);
  for (let i = LOW; i <= HIGH; i++) {
    const kind = i === 0 ? "pa-axis" : "pa-grid";
    ground.append(line(place([i, LOW]), place([i, HIGH]), { class: kind }));
    ground.append(line(place([LOW, i]), place([HIGH, i]), { class: kind }));
    if (i % 2 || i === 0) continue;
    ground.append(axisName([place([i, 0])[0], place([0, 0])[1] + 14], show(i).slice(0, -3), { "text-anchor": "middle" }),
      axisName([place([0, 0])[0] - 10, place([0, i])[1] + 4], show(i).slice(0, -3), { "text-anchor": "end" }));
  }
  const [right, up] = state().axes;
  const [zeroX, zeroY] = place([0, 0]);
  ground.append(
    axisName([SIZE - 4, zeroY + 29], `${right} \u2192`, { "text-anchor": "end" }),
    axisName([zeroX - 8, 19], `${up} \u2191`, { "text-anchor": "end" }),
  );

  const caption = make("caption", {});
  const body = make("tbody", {});
  const table = make("table", {}, caption, columns(["word", "score", make("span", {}, "e", make("sup", {}, "score")), "weight"]), body);
  const result = make("p", { class: "pa-sum" });
  const symmetry = make("p", { class: "pa-symmetry" });

  let handles = [], putQuery;
  function fill() {   // once for each sentence: what holds the focus must survive a redraw
    const { words } = state();
    const [sentenceChoice, putSentence] = choice("Sentence", presets().map((p) => p.name), (i) => choose(presets()[i]));
    const [queryChoice, put] = choice("Whose query?", words, (query) => update({ query }));
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
    const [x, y] = state().points[i];
    const follow = (e) => {
      const [right, down] = [e.clientX - event.clientX, e.clientY - event.clientY];
      moved ||= Math.hypot(right, down) >= 4;   // a hand that chooses trembles
      const unit = svg.getBoundingClientRect().width / (HIGH - LOW);
      if (moved) move(i, x + right / unit, y - down / unit);
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

  /** Where a label beside a point goes so that all of it stays in the frame: on the other side where it would leave. */
  function within([x, y], label, [right, down]) {
    const wide = label.getComputedTextLength?.() || 9 * label.textContent.length;
    const left = right > 0 ? x + right : x + right - wide;
    const other = right > 0 ? x - right - wide : x - right;
    const fits = (at) => at >= 3 && at + wide <= SIZE - 3;
    return [fits(left) || !fits(other) ? clamp(left, 3, SIZE - 3 - wide) : other, clamp(y + down, 20, SIZE - 8)];
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
      node.setAttribute("transform", moved([x, y]));
      node.setAttribute("class", i === query ? "pa-word pa-query" : "pa-word");
      node.setAttribute("aria-label", `${words[i]}${i === query ? ", query" : ""}`);
      node.setAttribute("data-x", String(points[i][0]));
      node.setAttribute("data-y", String(points[i][1]));
      node.setAttribute("aria-valuenow", points[i][0].toFixed(2));
      node.setAttribute("aria-valuetext", `at ${show(points[i][0])}, ${show(points[i][1])}; weight ${show(weights[query][i])}`);
      const label = within([x, y], node.lastChild, [11, -9]);
      node.lastChild.setAttribute("transform", moved([label[0] - x, label[1] - y]));
    });
    const at = place(points[query]);
    const to = place(outputs[query]);
    const shapes = words.flatMap((_, i) => i === query ? [] :
      [line(at, place(points[i]), { class: "pa-link", "stroke-width": String(1 + 9 * weights[query][i]), opacity: String(0.08 + 0.5 * weights[query][i]) })]);
    if (now.separate) {
      const end = place(q[query]);
      shapes.push(line(place([0, 0]), end, { class: "pa-q" }), head(place([0, 0]), end, { class: "pa-q-head" }));
      shapes.push(svgText(end, "query", { class: "pa-q-name" }));
    }
    shapes.push(line(at, to, { class: "pa-step" }), head(at, to, { class: "pa-step-head" }), diamond([0, 0], 7, { class: "pa-new", transform: moved(to) }),
      svgText(to, `new ${words[query]}`, { class: "pa-new-name" }));
    become(links, shapes);
    const put = (kind, point, shift) => {
      const label = links.querySelector(`.${kind}`);
      label?.setAttribute("transform", moved(within(point, label, shift)));
    };
    put("pa-q-name", place(q[query]), [8, 16]);
    put("pa-new-name", to, [to[0] < at[0] ? -11 : 11, 16]);   // on the side away from the word

    caption.textContent = `How ${words[query]} attends to each word`;
    const most = Math.max(...scores[query], 0) || 1, top = Math.max(...scores[query]);
    become(body, words.map((word, j) => {
      const score = scores[query][j];
      return row(word, [numberCell("score", score, score / most), numberCell("grown", Math.exp(score), Math.exp(score - top), grown(Math.exp(score))),
        numberCell("weight", weights[query][j], weights[query][j])]);
    }));
    const parts = words.flatMap((word, j) => [j ? " + " : "", make("span", { class: "pa-w" }, show(weights[query][j])), " ", make("span", { class: "pa-v" }, word)]);
    result.setAttribute("data-x", String(outputs[query][0]));
    result.setAttribute("data-y", String(outputs[query][1]));
    result.replaceChildren(make("strong", {}, `new ${words[query]}`), " = ", ...parts, " = ", make("span", { class: "pa-point" }, `(${show(outputs[query][0])}, ${show(outputs[query][1])})`));
    const other = words.map((_, j) => j).filter((j) => j !== query).sort((i, j) => weights[query][j] - weights[query][i])[0];
    symmetry.hidden = other === undefined;
    if (other !== undefined) {
      const [there, back] = [scores[query][other], scores[other][query]];
      symmetry.dataset.value = `${there} ${back}`;
      symmetry.textContent = Math.abs(there - back) < 1e-9 ? `${words[query]} scores ${words[other]} ${show(there)}, and ${words[other]} scores ${words[query]} ${show(there)}.`
        : `${words[query]} scores ${words[other]} ${show(there)}, but ${words[other]} scores ${words[query]} ${show(back)}.`;
    }
    return result.textContent;
  }

  fill();
  on("words", fill);
  return {
    parts: [make("div", { class: "pa-bar" }, sentences, queries),
      make("div", { class: "pa-main" }, make("div", { class: "pa-left" }, svg), make("div", { class: "pa-right" }, table, result, symmetry)),
      make("div", { class: "pa-bar" }, scaledLabel, separateLabel, turnLabel)],
    help: "Drag a word, or press the arrow keys on it (Shift: larger steps). A click or Enter makes its query the one shown. e to the score makes every score positive; divided by their sum, they are the weights.",
    draw,
  };
}

export default explorable({
  name: "plane", label: "Attention in the plane", build,
  state: ["words", "points", "query", "scaled", "separate", "turn", "axes"],
  codes: (model) => ({ words: oneOf(model.get("presets").map((preset) => preset.words)), points: listOf(listOf(number(LOW, HIGH), 2, "_"), undefined, "__"),
    query: whole(0, 99), scaled: flag(), separate: flag(), turn: number(-180, 180) }),
  mend: (now, model) => {
    const preset = model.get("presets").find((one) => one.words.join() === now.words.join());
    return { ...now, points: now.points.length === now.words.length ? now.points : preset.points, query: Math.min(now.query, now.words.length - 1) };
  },
});
