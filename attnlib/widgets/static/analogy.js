// AnalogyMap: choose a - b + c; see the nearest words, and the plane through a, b and c.
const WIDTH = 460;     // of the map, in drawing units
const HEIGHT = 340;
const MARGIN = 46;
const WIDE = 100;      // numbers in a vector
const SHOWN = 8;       // words in the table
const MAPPED = 3;      // words on the map
const LETTER = 8;      // about how wide a letter is, where it cannot be measured
const LINE = 20;       // how high a label is

const minus = (x, y) => x.map((v, i) => v - y[i]);
const size = (x) => Math.sqrt(dot(x, x));
const unit = (x) => { const n = size(x); return x.map((v) => (n > 1e-9 ? v / n : 0)); };

// How many letters to change, add or drop to make one word of the other.
function edits(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length];
}

const area = (p, q) => Math.max(0, Math.min(p[2], q[2]) - Math.max(p[0], q[0])) * Math.max(0, Math.min(p[3], q[3]) - Math.max(p[1], q[1]));

// Put each label beside its point where it covers least of the points, the lines and the labels before it.
function placeLabels(items, lines) {
  const around = (x, y, r) => [x - r, y - r, x + r, y + r];
  const taken = items.map(({ x, y }) => around(x, y, 7));
  for (const [from, to] of lines) {
    for (let i = 1; i < 40; i++) taken.push(around(from[0] + (to[0] - from[0]) * i / 40, from[1] + (to[1] - from[1]) * i / 40, 2));
  }
  const labels = [];
  return items.map(({ x, y, w }) => {
    const tries = [0, 10, 22, 36].flatMap((far) => [
      ["start", 10 + far, 0], ["end", -10 - far, 0], ["middle", 0, -LINE / 2 - 9 - far], ["middle", 0, LINE / 2 + 9 + far],
      ["start", 7, -LINE / 2 - 6 - far], ["end", -7, -LINE / 2 - 6 - far], ["start", 7, LINE / 2 + 6 + far], ["end", -7, LINE / 2 + 6 + far],
    ]).map(([anchor, dx, dy]) => {
      const left = x + dx - { start: 0, middle: w / 2, end: w }[anchor];
      return { anchor, x: x + dx, y: y + dy, box: [left, y + dy - LINE / 2, left + w, y + dy + LINE / 2] };
    });
    const cost = ({ box }) => taken.reduce((sum, other) => sum + area(box, other), 0) + labels.reduce((sum, other) => sum + 9 * area(box, other), 0)
      + 1000 * (Math.max(0, 2 - box[0]) + Math.max(0, box[2] + 2 - WIDTH) + Math.max(0, -box[1]) + Math.max(0, box[3] - HEIGHT));
    const best = tries.reduce((a, b) => (cost(b) < cost(a) - 1 ? b : a));
    labels.push(best.box);
    return best;
  });
}

function build({ model, state, update, on, redraw }) {
  const words = model.get("words");
  const place = new Map(words.map((word, i) => [word, i]));
  const vector = (word) => Array.from(flat.subarray(place.get(word) * WIDE, (place.get(word) + 1) * WIDE));
  const here = (word) => place.get(word) < lengths.length;   // the vectors of words that few ask for come later
  let flat, lengths;
  function takeVectors() {
    const parts = ["vectors", "late_vectors"].map((part) => halves(model.get(part) ?? ""));
    flat = new Float64Array(parts[0].length + parts[1].length);
    flat.set(parts[0]);
    flat.set(parts[1], parts[0].length);
    lengths = words.slice(0, flat.length / WIDE).map((word) => size(vector(word)));
  }
  takeVectors();

  const list = make("datalist", { id: freshId("words") }, ...words.map((word) => make("option", { value: word })));
  const trouble = make("p", { class: "pa-trouble", id: freshId("trouble"), role: "alert" });
  const inputs = {};
  const equation = make("div", { class: "pa-equation" });
  for (const [name, sign, label] of [["a", "", "start from"], ["b", "\u2212", "take away"], ["c", "+", "add"]]) {
    const input = ownKeys(make("input", { type: "text", list: list.id, autocomplete: "off", autocapitalize: "none",
      spellcheck: "false", "data-name": name }));
    input.addEventListener("change", () => choose(name, input.value));
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      choose(name, input.value);
      consume(event);
    });
    inputs[name] = input;
    equation.append(make("label", {}, make("span", { class: "pa-label" }, sign ? `${label} (${sign})` : label), input));
  }
  const [excludeLabel, putExclude] = toggle("leave the inputs out", (exclude) => update({ exclude }));
  const svg = canvas(WIDTH, HEIGHT);
  const drawing = make("svg:g", {}), lettering = make("svg:g", {});
  svg.append(drawing, lettering);
  const caption = make("caption", {});
  const body = make("tbody", {});
  const table = make("table", {}, caption, columns(["word", "cosine"]), body);
  const presets = model.get("presets");
  const spelt = ([a, b, c]) => `${a} \u2212 ${b} + ${c}`;
  const [presetChoice, putPreset] = choice("Try", presets.map(spelt), (i) => {
    const [a, b, c] = presets[i];
    update({ a, b, c });
    for (const name of Object.keys(inputs)) { delete unknown[name]; fill(name); }
    complain();
  });

  const fill = (name) => { inputs[name].value = state()[name]; };
  const unknown = {};   // what stands in a field and has no vector

  // An unknown word stays in its field; the answers stay those of the last words that were known.
  function choose(name, typed) {
    const word = typed.trim().toLowerCase();
    if (place.has(word) && here(word)) {
      delete unknown[name];
      update({ [name]: word });
      fill(name);
    } else unknown[name] = word;
    complain();
  }

  let told = "{}";
  function complain() {
    if (told === JSON.stringify(unknown)) return;   // a button must survive the blur that pressing it causes
    told = JSON.stringify(unknown);
    for (const [name, input] of Object.entries(inputs)) {
      const bad = name in unknown;
      input[bad ? "setAttribute" : "removeAttribute"]("aria-invalid", "true");
      input[bad ? "setAttribute" : "removeAttribute"]("aria-describedby", trouble.id);
    }
    trouble.replaceChildren(...Object.entries(unknown).flatMap(([name, word]) => {
      if (!word) return ["Type a word. "];
      if (place.has(word)) return [`The vector of \u201c${word}\u201d is still on its way. `];
      const close = words.map((w) => [edits(word, w), w]).filter(([n]) => n <= Math.max(2, word.length / 2))
        .sort((x, y) => x[0] - y[0] || (y[1][0] === word[0]) - (x[1][0] === word[0])).slice(0, 3).map(([, w]) => w);
      const said = `There is no vector here for \u201c${word}\u201d. `;
      return [close.length ? `${said}Closest spellings: ` : said, ...close.map((w) => button(w, () => { choose(name, w); inputs[name].focus(); }))];
    }));
  }

  function compute(names, exclude) {
    const [a, b, c] = names.map(vector);
    const target = a.map((x, i) => x - b[i] + c[i]);
    const length = size(target);
    const out = new Set(exclude ? names : []);
    const cosines = lengths.map((own, i) => {
      let product = 0;
      for (let j = 0; j < WIDE; j++) product += flat[i * WIDE + j] * target[j];
      return [words[i], product / Math.max(own * length, 1e-300)];
    });
    const nearest = cosines.filter(([word]) => !out.has(word)).sort((x, y) => y[1] - x[1]).slice(0, SHOWN);
    const first = unit(minus(c, b));
    const up = minus(a, b);
    const along = dot(up, first);
    const second = unit(up.map((x, i) => x - along * first[i]));
    const at = (x) => { const gap = minus(x, b); return [dot(gap, first), dot(gap, second)]; };
    return { nearest, target: at(target), at };
  }

  function draw({ a, b, c, exclude }) {
    const names = [a, b, c];
    if (!names.every(here)) return "";   // an address asked for them; drawn when their vectors come
    const title = spelt(names);
    const { nearest, target, at } = compute(names, exclude);
    putExclude(exclude);
    putPreset(presets.findIndex((preset) => preset.join() === names.join()));

    caption.textContent = `Nearest to ${title}`;
    become(body, nearest.map(([word, cosine]) =>
      row(word, [numberCell("cosine", cosine, Math.max(0, cosine))], names.includes(word) ? { class: "pa-input-word" } : {})));

    const mapped = [...new Set([...names, ...nearest.slice(0, MAPPED).map(([word]) => word)])];
    const points = [...mapped.map((word) => ({ word, at: at(vector(word)) })), { word: null, at: target }];
    const [xs, ys] = [0, 1].map((axis) => points.map((p) => p.at[axis]));
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = Math.min((WIDTH - 2 * MARGIN) / Math.max(right - left, 1e-6), (HEIGHT - 2 * MARGIN) / Math.max(high - low, 1e-6), 80);
    const onMap = ([x, y]) => [WIDTH / 2 + (x - (left + right) / 2) * scale, HEIGHT / 2 - (y - (low + high) / 2) * scale];
    const [pa, pb, pc, pt] = [...names.map((word) => onMap(at(vector(word)))), onMap(target)];
    const sides = [[pb, pa], [pc, pt], [pb, pc], [pa, pt]];
    const shapes = sides.map(([from, to], i) => line(from, to, { class: i < 2 ? "pa-base" : "pa-side" }));
    const items = [];
    for (const { word, at: where } of points) {
      const [x, y] = onMap(where);
      if (word === null) {
        shapes.push(diamond([x, y], 8, { class: "pa-target", "data-x": String(where[0]), "data-y": String(where[1]) }));
        items.push({ x, y, text: title, kind: "pa-target-name" });
      } else {
        const kind = names.includes(word) ? "pa-given" : word === nearest[0][0] ? "pa-best" : "pa-near";
        shapes.push(make("svg:circle", { cx: x, cy: y, r: kind === "pa-near" ? 4 : 6, class: `pa-dot ${kind}`, "data-word": word,
          "data-x": String(where[0]), "data-y": String(where[1]) }));
        items.push({ x, y, text: word, kind: `${kind}-name` });
      }
    }
    const order = items.toSorted((p, q) => p.kind.endsWith("near-name") - q.kind.endsWith("near-name"));
    become(drawing, shapes);
    lettering.replaceChildren(...order.map(({ text, kind }) => make("svg:text", { class: `pa-name ${kind}` }, text)));
    const labels = [...lettering.children];
    labels.forEach((label, i) => (order[i].w = label.getComputedTextLength() || order[i].text.length * LETTER));
    placeLabels(order, sides).forEach(({ x, y, anchor }, i) => {
      labels[i].setAttribute("transform", moved([x, y + 5]));
      labels[i].setAttribute("text-anchor", anchor);
    });
    const answers = nearest.slice(0, 3).map(([word, cosine]) => `${word} ${show(cosine)}`).join(", ");
    svg.setAttribute("aria-label", `Map: ${names.join(", ")} and ${title} are the corners of a parallelogram. Nearest words: ${answers}.`);
    return `Nearest to ${title}: ${answers}`;
  }

  for (const name of Object.keys(inputs)) {
    on(name, () => { delete unknown[name]; fill(name); complain(); });
    fill(name);
  }
  on("late_vectors", () => {
    takeVectors();
    redraw();
    for (const [name, word] of Object.entries(unknown)) choose(name, word);
  });
  return {
    parts: [make("div", { class: "pa-presets" }, presetChoice), equation, list, trouble, make("div", { class: "pa-bar" }, excludeLabel),
      make("div", { class: "pa-main" }, make("div", { class: "pa-left" }, svg), make("div", { class: "pa-right" }, table))],
    help: `The map is the plane through the three inputs. Rings are words off this plane: they are farther from the sum than they look here. ${words.length.toLocaleString("en")} words to choose from.`,
    draw,
  };
}

export default explorable({ name: "analogy", label: "Arithmetic with words", state: ["a", "b", "c", "exclude"], build,
  codes: (model) => ({ ...Object.fromEntries(["a", "b", "c"].map((part) => [part, oneOf(model.get("words"))])), exclude: flag() }) });
