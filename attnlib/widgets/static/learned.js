// LearnedLayers: the trained model of two layers, in double precision, on a line that is typed; and one vector that can be exchanged.
const LAST = "meaning";            // stands after every line
const SHOWN = 3;                   // words in the table of probabilities
const WIDE = 100, QUERY = 16;      // numbers in a vector, and in a query
const BARS = [300, 36];            // a vector in small, in drawing units
const FAR = 6;                     // pixels from which a press is a drag

/** Rows times a matrix that is given as one list. */
const project = (rows, flat, columns) => rows.map((x) => range(columns).map((j) => { let total = 0; for (let i = 0; i < x.length; i++) total += x[i] * flat[i * columns + j]; return total; }));
const added = (a, b) => a.map((x, i) => x + b[i]);
const mixed = (weights, rows) => rows[0].map((_, n) => sum(weights.map((w, j) => w * rows[j][n])));

/** Causal attention weights, row by row; what is hidden has weight 0. */
const attend = (queries, keys) => queries.map((q, i) => [...softmax(keys.slice(0, i + 1).map((k) => dot(q, k) / Math.sqrt(QUERY))), ...keys.slice(i + 1).map(() => 0)]);

/** The model: `first(words)` gives the vectors, the hidden states and the weights of the first layer, `second` the rest. */
function reader(model) {
  const known = model.get("vocabulary"), mean = model.get("mean"), flat = halves(model.get("vectors"));
  const w = Object.fromEntries(Object.entries(model.get("weights")).map(([name, text]) => [name, halves(text)]));
  const vector = known.map((_, n) => {
    const centred = mean.map((m, i) => flat[n * WIDE + i] - m), length = Math.sqrt(dot(centred, centred));
    return centred.map((x) => 4 * x / length);
  });
  const number = new Map(known.map((word, n) => [word, n]));
  return {
    first(words) {
      const x = [...words, LAST].map((word) => vector[number.get(word)]);
      const p = x.map((row, i) => added(row, w.position.subarray(i * WIDE, (i + 1) * WIDE)));
      const weights = attend(project(p, w.w_q1, QUERY), project(p, w.w_k1, QUERY)), values = project(p, w.w_v1, WIDE);
      return { x, weights, hidden: p.map((row, i) => added(row, mixed(weights[i], values))) };
    },
    second(x, hidden) {
      const weights = attend(project(hidden, w.w_q2, QUERY), project(hidden, w.w_k2, QUERY));
      const average = mixed(weights.at(-1), x);
      return { weights, chances: softmax(vector.map((one) => dot(average, one))) };
    },
  };
}

function build(tools) {
  const { model, root, state, update, on, signal } = tools;
  const known = model.get("vocabulary"), lengths = model.get("lengths"), others = model.get("others"), read = reader(model);
  const unseen = new Set(known.slice(model.get("trained")));
  const typing = sentenceField(tools, { known, presets: model.get("presets"), longest: Math.max(...lengths), use(words) {
    const line = words.length > 1 && words.at(-1) === LAST ? words.slice(0, -1) : words;   // it follows anyway
    if (line.join() !== state().words.join()) update({ words: line, query: -1 });
  } });

  const asking = make("div", { class: "pa-asking" });
  let putQuery;
  function fill() {
    const words = [...state().words, LAST];
    const [node, put] = menu("Attention weights of", words, (i) => update({ query: i === words.length - 1 ? -1 : i }));
    putQuery = put;
    asking.replaceChildren(node);
  }
  on("words", fill);
  fill();

  const table = make("table", {}), chances = make("table", {});
  const said = make("p", { class: "pa-told" }), note = make("p", { class: "pa-note" });

  // The exchange: a vector is dragged, or picked up and put down by two presses.
  const more = button("Exchange the vector of meaning", () => update({ exchange: true }));
  more.className = "pa-open";
  const [choosing, putOther] = menu("Take it from", others, (i) => update({ other: others[i].split(" ") }), "another line");
  const pictures = [canvas(...BARS, { "aria-hidden": "true" }), canvas(...BARS, { "aria-hidden": "true" })];
  const names = [make("span", {}), make("span", {})];
  const there = ownKeys(button("", () => { if (!dragged) pick(!held); }));
  const here = ownKeys(button("", () => (held ? put() : hint("Pick up the upper vector first."))));
  [there, here].forEach((node, n) => node.replaceChildren(names[n], pictures[n]));
  there.className = "pa-vector pa-there";
  here.className = "pa-vector pa-here";
  const back = button("Give meaning its own vector back", () => update({ handed: false }));
  const told = make("p", { class: "pa-hint", "aria-live": "polite" });
  const HOW = "Drag the upper vector onto the lower one; or press one, then the other.";
  const hint = (words) => { told.textContent = words; };
  hint(HOW);
  const part = make("div", { class: "pa-exchange" }, choosing, there, told, here, back);
  let held = false, dragged = false;
  function pick(now, words = now ? "Picked up. Press the lower vector to put it there; Escape lets go." : HOW) {
    held = now;
    there.setAttribute("aria-pressed", String(now));
    root.classList.toggle("pa-holding", now);
    hint(words);
    if (now && there.matches(":focus-visible")) here.focus();
  }
  function put() {
    pick(false);
    update({ handed: true });
  }
  part.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !held) return;
    pick(false);
    there.focus();
    consume(event);
  });
  there.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    dragged = false;
    const [x, y] = [event.clientX, event.clientY], box = there.getBoundingClientRect();
    let ghost = null;
    const over = (at) => { const b = here.getBoundingClientRect(); return at.clientX > b.left && at.clientX < b.right && at.clientY > b.top && at.clientY < b.bottom; };
    const follow = (at) => {
      if (!ghost && Math.hypot(at.clientX - x, at.clientY - y) < FAR) return;
      if (!ghost) {
        ghost = root.appendChild(there.cloneNode(true));
        ghost.className = "pa-vector pa-there pa-ghost";
        ghost.setAttribute("aria-hidden", "true");
        ghost.style.width = `${box.width}px`;
        dragged = true;
      }
      ghost.style.left = `${box.left + at.clientX - x}px`;
      ghost.style.top = `${box.top + at.clientY - y}px`;
      root.classList.add("pa-holding");
      here.classList.toggle("pa-over", over(at));
    };
    const stop = (at) => {
      there.removeEventListener("pointermove", follow);
      for (const kind of ["pointerup", "pointercancel"]) there.removeEventListener(kind, stop);
      ghost?.remove();
      here.classList.remove("pa-over");
      if (!ghost) return;
      root.classList.toggle("pa-holding", held);
      if (at.type === "pointerup" && over(at)) put();
      setTimeout(() => { dragged = false; });   // after the click that a drag ends with
    };
    there.setPointerCapture(event.pointerId);
    there.addEventListener("pointermove", follow, { signal });
    for (const kind of ["pointerup", "pointercancel"]) there.addEventListener(kind, stop, { signal });
  });

  /** A vector as bars, up and down. */
  function bars(svg, numbers, most, kind) {
    const [wide, high] = BARS, step = wide / numbers.length;
    become(svg, [make("svg:path", { class: kind, d: numbers.map((x, n) => `M${hundredths((n + 0.5) * step)} ${high / 2}v${hundredths(-x / most * high / 2)}`).join("") })]);
  }

  function draw(now) {
    const { words, other, exchange, handed } = now, all = [...words, LAST], T = all.length;
    const own = read.first(words), theirs = read.first(other), plain = read.second(own.x, own.hidden);
    const hidden = handed ? replaced(own.hidden, T - 1, theirs.hidden.at(-1)) : own.hidden;
    const after = handed ? read.second(own.x, hidden) : plain;
    const query = now.query < 0 || now.query >= T ? T - 1 : now.query;
    putQuery(query);
    become(table, twoRows("", all, [own.weights[query], after.weights[query]], (j) => j > query));
    const best = (list) => list.indexOf(Math.max(...list));
    const order = range(known.length).sort((a, b) => Math.max(after.chances[b], plain.chances[b]) - Math.max(after.chances[a], plain.chances[a])).slice(0, SHOWN);
    become(chances, chanceRows(handed ? ["before", "after the exchange"] : ["probability"], order.map((n) => [known[n], handed ? [plain.chances[n], after.chances[n]] : [plain.chances[n]], n === best(after.chances) ? "pa-best" : ""])));
    chances.className = handed ? "pa-both" : "";
    const name = known[best(after.chances)], before = known[best(plain.chances)];
    said.replaceChildren(...(handed
      ? ["With the vector of ", make("em", {}, "meaning"), ` from \u201c\u2026 ${other.slice(-3).join(" ")}\u201d, the next word ${name === before ? "stays " : "becomes "}`, ...given(name, Math.max(...after.chances)), name === before ? "." : `; it was ${before}.`]
      : ["The next word: ", ...given(name, Math.max(...after.chances)), "."]));
    said.setAttribute("data-value", name);
    const strange = [...new Set(words.filter((word) => unseen.has(word)))];
    note.textContent = [strange.length ? `Not in its training: ${strange.join(", ")}.` : "", lengths.includes(words.length) ? "" : `No line of its training had ${counted(words.length, "word", "words")} before meaning.`].filter(Boolean).join(" ");
    part.hidden = !exchange;
    part.setAttribute("data-value", String(exchange));
    more.hidden = exchange;
    back.disabled = !handed;
    const most = Math.max(...theirs.hidden.at(-1).map(Math.abs), ...own.hidden.at(-1).map(Math.abs));
    bars(pictures[0], theirs.hidden.at(-1), most, "pa-theirs");
    bars(pictures[1], hidden.at(-1), most, handed ? "pa-theirs" : "pa-own");
    names[0].textContent = `meaning after \u201c\u2026 ${other.slice(-3).join(" ")}\u201d`;
    names[1].textContent = `meaning after \u201c\u2026 ${words.slice(-3).join(" ")}\u201d${handed ? ", exchanged" : ""}`;
    putOther(others.indexOf(other.join(" ")));
    return [said.textContent, note.textContent].join(" ");
  }

  return {
    parts: [...typing, asking, make("div", { class: "pa-two" }, table), said, make("div", { class: "pa-chances" }, chances), note, more, part],
    help: `Type a line of these ${known.length} words; the model reads it and meaning. Probabilities are over these words. To exchange the vector that meaning has after the first layer, drag the upper vector onto the lower one, or press one and then the other.`,
    draw,
  };
}

export default explorable({
  name: "learned", label: "The trained model, live", build,
  state: ["words", "other", "query", "exchange", "handed"],
  codes: (model) => {
    const line = listOf(oneOf(model.get("vocabulary")), undefined, " ");
    return { words: line, other: line, query: whole(-1, Math.max(...model.get("lengths"))), exchange: flag(), handed: flag() };
  },
  mend: (now, model) => {
    const most = Math.max(...model.get("lengths")), words = now.words.slice(0, most);
    return { ...now, words, other: now.other.slice(0, most), query: now.query < words.length ? now.query : -1, exchange: now.exchange || now.handed };
  },
});
