// WholeLayer: a sentence goes through one layer of attention; each step grows out of the one before, and one word is followed.
const STEPS = ["words", "Q K V", "scores", "mask", "softmax", "average", "output"];
const [WORDS, QKV, SCORES, MASK, SOFTMAX, AVERAGE, OUTPUT] = range(STEPS.length);
const PAUSE = 2600;              // milliseconds a step is shown when playing
const SURE = 0.9;                // from which cosine on an output is called like a word
const ASKS = 3;                  // which number of a word says for its query that it stands for another
const MEANT = [0, 1, 2, 5];      // the numbers of a word that values have
const THUMB = [46, 34];          // a step in small, in drawing units

const times = (rows, w) => rows.map((row) => w[0].map((_, j) => sum(row.map((x, i) => x * w[i][j]))));
const cosine = (a, b) => dot(a, b) / Math.max(Math.sqrt(dot(a, a) * dot(b, b)), 1e-12);
const best = (list) => list.indexOf(Math.max(...list));

/** Everything the layer computes, in double precision. */
function compute({ words, causal, heads }, given) {
  const x = words.map((word, i) => [...given.rows.get(word), ...given.places[i]]);
  const width = x[0].length / heads;
  const cut = (rows) => range(heads).map((h) => rows.map((row) => row.slice(h * width, (h + 1) * width)));
  const [q, k, v] = [given.w_q, given.w_k, given.w_v].map((w) => cut(times(x, w)));
  const scores = q.map((head, h) => head.map((query) => k[h].map((key) => dot(query, key) / Math.sqrt(width))));
  const masked = scores.map((head) => head.map((row, i) => row.map((s, j) => (causal && j > i ? -Infinity : s))));
  const weights = masked.map((head) => head.map(softmax));
  const mixed = weights.map((head, h) => times(head, v[h]));
  const output = times(words.map((_, i) => mixed.flatMap((head) => head[i])), given.w_o);
  const meant = (row) => MEANT.map((n) => row[n]);
  const like = output.map((row, i) => {
    const near = x.map((other, j) => (causal && j > i ? 0 : cosine(meant(row), meant(other))));
    return Math.max(...near) >= SURE ? best(near) : -1;
  });
  return { x, q, k, v, scores, masked, weights, mixed, output, like, width };
}

// Two digits: 6.7, 12, 0.90 for a share.
const brief = (x) => (Math.abs(x) < 0.05 ? "0" : Math.abs(x) >= 9.95 ? x.toFixed(0) : x.toFixed(1)).replace("-", "\u2212");
const round = (x) => brief(x).replace(".0", "");
const share = (x) => (Math.abs(x) < 0.005 ? "0" : show(x));
const largest = (...tables) => Math.max(1e-9, ...tables.flat(2).map(Math.abs).filter(Number.isFinite));

/** A tinted number; `kind` says which of the colours. What is hidden is hatched. */
function cell(kind, value, most, text, attributes = {}) {
  const gone = value === -Infinity;
  const names = ["pa-cell", `pa-${kind}`, value < 0 && !gone && "pa-below", gone && "pa-gone", text === "0" && !gone && (kind === "weight" ? "pa-nought" : "pa-nought pa-dot")].filter(Boolean);
  return make("td", { ...attributes, class: [...names, attributes.class].filter(Boolean).join(" "), "data-kind": kind, "data-value": String(value),
    style: `--t: ${gone ? 0 : Math.min(1, Math.abs(value) / most).toFixed(3)}` }, make("span", gone ? { class: "pa-hidden" } : {}, gone ? "hidden" : text));
}

/** A step in small: squares of four strengths, a path for each, and four more for what is below zero. */
function squares(rows, kind, most, [left, top, wide, high]) {
  const [w, h] = [wide / rows[0].length, high / rows.length];
  const paths = range(8).map(() => "");
  rows.forEach((row, i) => row.forEach((x, j) => {
    const strength = Number.isFinite(x) ? Math.ceil(4 * Math.min(1, Math.abs(x) / most) - 0.4) : 0;
    if (strength > 0) paths[strength - 1 + 4 * Number(x < 0)] += `M${hundredths(left + j * w)} ${hundredths(top + i * h)}h${hundredths(w)}v${hundredths(h)}h${hundredths(-w)}z`;
  }));
  return paths.map((d, n) => make("svg:path", { class: n < 4 ? `pa-${kind}` : `pa-${kind} pa-below`, opacity: String(((n % 4) + 1) / 4), d }));
}

function build(tools) {
  const { model, root, state, update, on, signal } = tools;
  const known = model.get("vocabulary");
  function use(words) {
    const asks = words.findIndex((word) => model.get("vectors")[known.indexOf(word)][ASKS] !== 0);
    const same = words[state().word] === state().words[state().word];
    if (words.join() !== state().words.join()) update({ words, word: same ? state().word : Math.max(0, asks) });
  }
  const names = ["places", "w_q", "w_k", "w_v", "w_o", "features", "opposites", "matched", "handed", "jobs"];
  const given = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  given.rows = new Map(known.map((word, i) => [word, model.get("vectors")[i]]));
  const calm = () => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? true;

  const strip = make("div", { class: "pa-strip" });
  let putWord;
  function fill() {
    const [node, put] = choice("Follow", state().words, (word) => update({ word }));
    putWord = put;
    node.querySelectorAll("label").forEach((label, i) => label.setAttribute("data-word", String(i)));
    strip.replaceChildren(node);
  }
  on("words", fill);
  fill();

  const thumbs = STEPS.map(() => canvas(...THUMB, { "aria-hidden": "true" }));
  const [trail, putStep] = choice("Step", STEPS.map((name, n) => make("span", { class: "pa-small" }, thumbs[n], make("b", {}, name))), (step) => go(step));
  trail.classList.add("pa-trail");
  const said = make("p", { class: "pa-said" }), lens = make("p", { class: "pa-lens" });
  const table = make("table", {});
  const panel = ownKeys(make("div", { class: "pa-panel", tabindex: "0", role: "group" }, table));
  const [mask, putMask] = toggle("hide later words", (causal) => update({ causal }));
  const kinds = [...given.jobs, "both in one"];
  const [heads, putHead] = choice("Head", kinds, (n) => update(n < given.jobs.length ? { heads: given.jobs.length, head: n } : { heads: 1 }));

  // Stepping and playing
  let timer = null;
  const back = button("Back", () => go(state().step - 1)), next = button("Next", () => go(state().step + 1));
  const play = button("Play", () => (timer ? stop() : start()));
  play.className = "pa-play";
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function start() {
    if (state().step === OUTPUT) update({ step: WORDS });
    timer = setInterval(() => { if (state().step === OUTPUT) stop(); else update({ step: state().step + 1 }); }, PAUSE);
    play.textContent = "Pause";
  }
  function go(step) {
    stop();
    update({ step: clamp(step, WORDS, OUTPUT) });
  }
  signal.addEventListener("abort", stop);
  const more = button("The whole layer: all steps and heads", () => update({ whole: true }));
  more.className = "pa-all";
  panel.addEventListener("keydown", (event) => {
    if (!(event.key in ARROWS) || event.ctrlKey || event.metaKey || event.altKey) return;
    const [right, up] = ARROWS[event.key];
    if (right && state().whole) go(state().step + right);
    else if (up) update({ word: clamp(state().word - up, 0, state().words.length - 1) });
    consume(event);
  });

  // Pointing at a word follows it for a moment; a click or a tap goes on following it.
  let last = null;
  const under = (event) => { const at = event.target.closest?.("[data-word]"); return at ? Number(at.dataset.word) : null; };
  const keyUnder = (event) => { const at = event.target.closest?.("[data-key]"); return at ? Number(at.dataset.key) : null; };
  const peek = (word, key) => { if (last) picture(last.now, last.found, word ?? last.now.word, key); };
  for (const area of [panel, strip]) {
    area.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") peek(under(event), keyUnder(event)); });
    area.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") peek(null, null); });
  }
  panel.addEventListener("click", (event) => { const word = under(event); if (word !== null) update({ word }); });

  // The panels
  const em = (word, kind = "key") => make("em", { class: `pa-${kind}-name` }, word);
  const heading = (text, attributes = {}) => make("th", { scope: "col", ...attributes }, make("span", {}, text));
  const wordRow = (name, i, word, cells) => make("tr", { class: i === word ? "pa-row pa-followed" : "pa-row", "data-word": String(i) }, make("th", { scope: "row" }, name), ...cells);
  const caption = (words) => make("caption", {}, words);
  const ofHead = ({ heads: n, head }) => (n === 1 ? "one head" : `head ${head + 1}, ${given.jobs[head]}`);
  const slots = ({ heads: n, head }) => (n === 1 ? given.matched.flat() : given.matched[head]);
  const handed = ({ heads: n }) => (n === 1 ? given.jobs.flatMap(() => given.handed) : given.handed);

  const panels = {
    [WORDS]: (now, { x }, word) => [caption("x: ten numbers for each word"),
      make("thead", {}, make("tr", {}, make("td", {}), ...given.features.map((name) => heading(name)))),
      make("tbody", {}, ...x.map((row, i) => wordRow(now.words[i], i, word, row.map((n) => cell("x", n, 1, brief(n))))))],
    [QKV]: (now, { q, k, v, width }, word, h) => {
      const three = [["query", q[h], slots(now)], ["key", k[h], slots(now)], ["value", v[h], handed(now)]];
      const first = (n) => (n === 0 ? { class: "pa-first" } : {});
      return [caption(`Queries, keys, values: ${ofHead(now)}`),
        make("thead", {}, make("tr", { class: "pa-groups" }, make("td", {}), ...three.map(([kind]) => make("th", { scope: "colgroup", colspan: String(width), class: `pa-${kind}-name` }, make("span", {}, kind)))),
          make("tr", { class: "pa-slots" }, make("td", {}), ...three.flatMap(([, , list]) => list.map((name, n) => heading(name, first(n)))))),
        make("tbody", {}, ...now.words.map((name, i) => wordRow(name, i, word,
          three.flatMap(([kind, rows]) => rows[i].map((x, n) => cell(kind, x, largest(rows), brief(x), first(n)))))))];
    },
    [AVERAGE]: (now, { weights, v, mixed }, word, h) => [caption(`Values, averaged for ${now.words[word]}: ${ofHead(now)}`),
      make("thead", {}, make("tr", {}, make("td", {}), ...now.words.map((name, j) => heading(name, { class: j === word ? "pa-key-name pa-column" : "pa-key-name", "data-word": String(j) })),
        heading("average", { class: "pa-output-name pa-first" }))),
      make("tbody", {}, make("tr", { class: "pa-row pa-weights" }, make("th", { scope: "row" }, "weight"),
        ...weights[h][word].map((w, j) => cell("weight", w, 1, share(w), { "data-key": String(j) })), make("td", { class: "pa-cell pa-first" }, make("span", {}))),
      ...handed(now).map((slot, n) => make("tr", { class: "pa-row" }, make("th", { scope: "row" }, slot),
        ...v[h].map((row, j) => cell("value", row[n], 1 / Math.max(weights[h][word][j], 0.04), brief(row[n]), { "data-key": String(j) })),
        cell("output", mixed[h][word][n], 1, share(mixed[h][word][n]), { class: "pa-first" }))))],
    [OUTPUT]: (now, { output, like }, word) => [caption("Output: ten numbers for each word again"),
      make("thead", {}, make("tr", {}, make("td", {}), ...given.features.map((name) => heading(name)), heading("most like", { class: "pa-like pa-first" }))),
      make("tbody", {}, ...output.map((row, i) => wordRow(now.words[i], i, word, [...row.map((n) => cell("output", n, 1, brief(n))),
        make("td", { class: "pa-cell pa-like pa-first" }, make("span", {}, like[i] < 0 ? "\u2013" : now.words[like[i]]))])))],
  };
  const square = (now, found, word, h) => {
    const { step, words } = now;
    const [title, rows, kind] = { [SCORES]: ["Scores", found.scores[h], "score"], [MASK]: ["Scores, masked", found.masked[h], "score"], [SOFTMAX]: ["Weights", found.weights[h], "weight"] }[step];
    const seen = (i, j) => found.masked[h][i][j] !== -Infinity;
    return [caption(`${title}: ${ofHead(now)}`),
      make("thead", {}, make("tr", {}, make("td", {}), ...words.map((name, j) => heading(name, { class: j === word ? "pa-key-name pa-column" : "pa-key-name", "data-word": String(j) })))),
      make("tbody", {}, ...rows.map((row, i) => wordRow(words[i], i, word, row.map((x, j) => {
        const shown = step === SOFTMAX && !seen(i, j) ? -Infinity : x;
        const entry = cell(kind, shown, kind === "weight" ? 1 : largest(found.scores[h]), kind === "weight" ? share(x) : brief(x), { "data-key": String(j), class: j === word ? "pa-column" : "" });
        entry.dataset.value = String(x);
        return entry;
      }))))];
  };

  /** What happens in this step, in one sentence, as nodes; and below it the arithmetic for the word that is followed. */
  function tell(now, found, word, h, key) {
    const { step, words, causal } = now, he = () => em(words[word], "query");
    const row = found.weights[h][word];
    const at = key ?? best(step === SCORES ? found.scores[h][word] : row);
    const ahead = causal ? words.length - 1 - word : 0;
    const other = (j) => (j === word ? "itself" : em(words[j]));
    const meaning = (row) => row.map((x, n) => [Math.abs(x), x < 0 ? given.opposites[n] : given.features[n]]).filter(([x]) => x >= 0.05)
      .map(([x, name]) => `${name} ${round(x)}`).join(", ");
    const spelt = (numbers, kind) => [" ", make("span", { class: `pa-${kind}-name` }, `${kind} (${numbers.map(round).join(", ")})`)];
    const order = range(words.length).filter((j) => row[j] >= 0.005).sort((i, j) => row[j] - row[i]).slice(0, 4);
    switch (step) {
      case WORDS: return [["Each word becomes ten numbers: six say what it is, four its position."],
        [he(), `: ${meaning(found.x[word].slice(0, given.opposites.length)) || "nothing that these six tell"}; position ${word + 1}, on a clock with two hands.`]];
      case QKV: return [["Three matrices make a query, a key and a value of ", he(), "."],
        found.width > 5 ? [he(), ": thirty numbers, ten of each kind."] : [he(), ":", ...["query", "key", "value"].flatMap((kind) => spelt({ query: found.q, key: found.k, value: found.v }[kind][h][word], kind))]];
      case SCORES: {
        const terms = found.q[h][word].map((x, n) => [x, found.k[h][at][n]]).filter(([a, b]) => Math.abs(a * b) >= 0.05).sort((a, b) => Math.abs(b[0] * b[1]) - Math.abs(a[0] * a[1]));
        const products = terms.slice(0, 4).map(([a, b]) => `${round(a)} \u00d7 ${round(b)}`).join(" + ").replaceAll("+ \u2212", "\u2212 ");
        return [["The query of ", he(), ", times each word\u2019s key, gives its scores."],
          [he(), " \u00b7 ", em(words[at]), `: ${products || "0"}${terms.length > 4 ? " + \u2026" : ""}, divided by \u221a${found.width}: ${show(found.scores[h][word][at])}`]];
      }
      case MASK: return [!causal ? ["The mask is off: every word may attend to every other."] : ahead ? [he(), ` may not attend ahead: ${counted(ahead, "later word is", "later words are")} hidden.`] : [he(), " is the last word: nothing is hidden from it."],
        causal ? ["A model that predicts the next word must not attend to it."] : ["An encoder may do this; a model that predicts the next word would be told it."]];
      case SOFTMAX: return [[...(now.whole ? ["Each row becomes weights that sum to one; "] : []), he(), ` gives most, ${show(row[best(row)])}, to `, other(best(row)), "."],
        row[at] === 0 && causal && at > word ? [em(words[at]), " is hidden: its weight is 0."]
          : [em(words[at]), ": e", make("sup", {}, show(found.masked[h][word][at])), `, divided by the sum of its row, is ${show(row[at])}.`]];
      case AVERAGE: return [["The values, each times its weight, are added: the weighted average for ", he(), "."],
        [...order.flatMap((j, n) => [n ? " + " : "", make("span", { class: "pa-weight-name" }, show(row[j])), " ", make("span", { class: "pa-value-name" }, words[j])]), order.length < row.filter((w) => w >= 0.005).length ? " + \u2026" : "", " = ", make("span", { class: "pa-output-name" }, "average")]];
      default: return [[now.heads === 1 ? "One more matrix makes the output: that for " : "One more matrix joins the heads: the output for ", he(), ...(found.like[word] < 0 ? [" is a blend of many words."] : [" is most like ", other(found.like[word]), "."])],
        ["Output for ", he(), `: ${meaning(found.output[word]) || "nothing"}. A model adds it to x.`]];
    }
  }

  function miniature(n, now, found, word, h) {
    const frame = make("svg:rect", { class: "pa-frame", x: "1", y: "1", width: String(THUMB[0] - 2), height: String(THUMB[1] - 2), rx: "4" });
    if (n > now.step) return [frame];                       // a step still to come is not drawn
    const T = now.words.length, [wide, high] = [THUMB[0] - 6, THUMB[1] - 6], box = [3, 3, wide, high];
    const third = (m) => [3 + m * (wide + 2) / 3, 3, (wide - 4) / 3, high];
    const vectors = (rows, kind, where) => squares(rows, kind, largest(rows), where);
    const column = now.words.map((_, j) => [found.weights[h][word][j], ...found.v[h][j].map((x) => x * found.weights[h][word][j])]);
    const under = column[0].map((_, i) => column.map((c) => c[i]));
    const shapes = {
      [WORDS]: () => vectors(found.x, "x", box), [OUTPUT]: () => vectors(found.output, "output", box),
      [QKV]: () => [["query", found.q], ["key", found.k], ["value", found.v]].flatMap(([kind, rows], m) => vectors(rows[h], kind, third(m))),
      [SCORES]: () => squares(found.scores[h], "score", largest(found.scores[h]), box), [MASK]: () => squares(found.masked[h], "score", largest(found.scores[h]), box),
      [SOFTMAX]: () => squares(found.weights[h], "weight", 1, box),
      [AVERAGE]: () => [...squares(under.slice(0, 1), "weight", 1, [3, 3, wide - 7, 5]), ...squares(under.slice(1), "value", 1, [3, 9, wide - 7, high - 6]),
        ...squares(found.mixed[h][word].map((x) => [x]), "output", 1, [wide - 2, 9, 5, high - 6])],
    }[n]();
    const mark = n === AVERAGE ? [] : [make("svg:rect", { class: "pa-mark", x: "2.5", y: hundredths(3 + word * high / T), width: String(wide + 1), height: hundredths(high / T) })];
    return [frame, ...shapes, ...mark];
  }

  function picture(now, found, word, key = null) {
    const h = now.heads === 1 ? 0 : now.head, squared = [SCORES, MASK, SOFTMAX].includes(now.step);
    become(table, (squared ? square : panels[now.step])(now, found, word, h));
    table.className = `pa-step-${now.step}${found.width > 5 ? " pa-whole" : ""}${squared || now.step === AVERAGE ? " pa-pairs" : ""}`;
    panel.style.setProperty("--pa-rows", String(now.words.length));
    panel.dataset.word = String(word);
    strip.querySelectorAll("label").forEach((label, i) => label.classList.toggle("pa-followed", i === word));
    thumbs.forEach((svg, n) => { become(svg, miniature(n, now, found, word, h)); svg.classList.toggle("pa-later", n > now.step); });
    const [sentence, arithmetic] = tell(now, found, word, h, key);
    said.replaceChildren(...sentence);
    lens.replaceChildren(...arithmetic);
  }

  /** The panel grows out of its place in the row of steps; scores, mask and weights are one table that changes colour. */
  let growing = null;
  function grow(from, to) {
    growing?.cancel();                         // it is measured where it lies
    const kept = [SCORES, MASK, SOFTMAX];
    if (calm() || !panel.animate || from === to || (kept.includes(from) && kept.includes(to))) return;
    const [small, large] = [thumbs[to].getBoundingClientRect(), panel.getBoundingClientRect()];
    if (!large.width || !small.width) return;
    const shift = `translate(${small.left - large.left}px, ${small.top - large.top}px) scale(${small.width / large.width}, ${small.height / large.height})`;
    growing = panel.animate([{ transform: shift, opacity: 0.2 }, { transform: "none", opacity: 1 }], { duration: 420, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" });
  }

  function draw(asked) {
    const now = { ...asked, word: clamp(asked.word, 0, asked.words.length - 1) };   // Python may change one without the other
    const found = compute(now, given);
    root.classList.toggle("pa-one-step", !now.whole);
    const before = last?.now.step ?? now.step;
    last = { now, found };
    putWord(now.word);
    requestAnimationFrame(() => {              // on a phone the sentence is wider; measured once, when all is laid out
      const chosen = strip.querySelector(".pa-followed");
      if (chosen) strip.scrollLeft = chosen.offsetLeft - strip.offsetLeft - (strip.clientWidth - chosen.offsetWidth) / 2;
    });
    putStep(now.step);
    putMask(now.causal);
    putHead(now.heads === 1 ? given.jobs.length : now.head);
    picture(now, found, now.word);
    panel.setAttribute("aria-label", `Step ${now.step + 1}, ${STEPS[now.step]}. Left and right arrows change the step, up and down the word.`);
    back.disabled = now.step === WORDS;
    next.disabled = now.step === OUTPUT;
    if (before !== now.step) grow(before, now.step);
    return `Step ${now.step + 1} of ${STEPS.length}, ${STEPS[now.step]}. ${said.textContent} ${lens.textContent}`;
  }

  return {
    parts: [...sentenceField(tools, { known, presets: model.get("presets"), longest: given.places.length, use }), strip, trail, said, panel, lens, make("div", { class: "pa-bar" }, make("div", { class: "pa-transport" }, back, play, next), mask, heads), more],
    help: "Click a word to follow it. Vectors and weights are made by hand, so that each number has a name. Ochre is below zero and says the opposite: not someone but something, not good but evil, not a deed but a quality. A trained layer finds its own.",
    draw,
  };
}

export default explorable({
  name: "layer", label: "The whole layer, live", build,
  state: ["words", "word", "step", "causal", "heads", "head", "whole"],
  codes: (model) => ({ words: listOf(oneOf(model.get("vocabulary")), undefined, " "), word: whole(0, model.get("places").length - 1), step: whole(0, STEPS.length - 1),
    causal: flag(), heads: whole(1, model.get("jobs").length), head: whole(0, model.get("jobs").length - 1), whole: flag() }),
  mend: (now, model) => {
    const words = now.words.slice(0, model.get("places").length);
    return { ...now, words, word: Math.min(now.word, words.length - 1) };
  },
});
