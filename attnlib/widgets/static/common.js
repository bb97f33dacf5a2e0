// Shared by every front end, which is this text followed by its own: a page without a server has no other file to read from.

// Elements

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; "svg:line" makes one of a drawing. */
function make(tag, attributes = {}, ...children) {
  const node = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** A text with `code` and *emphasis*, as nodes: never as markup. */
function inline(text) {
  return text.split(/(`[^`]+`|\*[^*]+\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return make("code", {}, part.slice(1, -1));
    return /^\*.+\*$/.test(part) ? make("em", {}, part.slice(1, -1)) : part;
  });
}

let serial = 0;
/** An id that no other front end on the page has. */
const freshId = (stem) => `pa-${stem}-${++serial}-${Math.random().toString(36).slice(2, 8)}`;

// Arithmetic

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);
const range = (n) => Array.from({ length: n }, (_, i) => i);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** The place in a list of the number nearest to x. */
const nearest = (list, x) => list.reduce((best, y, i) => (Math.abs(y - x) < Math.abs(list[best] - x) ? i : best), 0);

function softmax(scores) {
  const top = Math.max(...scores);
  const e = scores.map((s) => Math.exp(s - top));
  const total = sum(e);
  return e.map((x) => x / total);
}

/** A copy of a list with one of its items replaced: what the model holds is never changed in place. */
const replaced = (list, at, value) => list.map((x, i) => (i === at ? value : x));

// Numbers for people. The exact ones stand in data-value.

/** Two decimals and a true minus sign. */
const show = (x) => x.toFixed(2).replace(/^-(?=0\.00$)/, "").replace("-", "\u2212");

const SUPERSCRIPTS = { "-": "\u207b", 0: "\u2070", 1: "\u00b9", 2: "\u00b2", 3: "\u00b3", 4: "\u2074", 5: "\u2075", 6: "\u2076", 7: "\u2077", 8: "\u2078", 9: "\u2079" };
/** 10⁻⁵ for -5. */
const powerOfTen = (n) => `10${[...String(n)].map((c) => SUPERSCRIPTS[c]).join("")}`;

/** Two digits: 0.0052 as it is, 0.0000123 as 1.2 × 10⁻⁵. */
function amount(x) {
  if (x === 0) return "0";
  if (x >= 0.001 && x < 10000) return String(Number(x.toPrecision(2)));
  const [digits, exponent] = x.toExponential(1).split("e");
  return `${digits} \u00d7 ${powerOfTen(Number(exponent))}`;
}

/** "1 step", "2 steps". */
const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;

// Keys

/** Where an arrow key leads: to the right, and up. */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** JupyterLab takes the arrow keys unless the focused element itself says not to. */
function ownKeys(node) {
  node.setAttribute("data-lm-suppress-shortcuts", "true");
  return node;
}

/** Keep a key that was used from the page and from JupyterLab. */
function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

// Controls. Those with a value come as [node, put]: `put` shows a value, and calls nobody back.

function button(label, pressed) {
  const node = make("button", { type: "button" }, label);
  node.addEventListener("click", pressed);
  return node;
}

/** One radio button of a group: [label, input]. */
function option(group, i, ...words) {
  const input = ownKeys(make("input", { type: "radio", name: group, value: String(i) }));
  return [make("label", {}, input, make("span", {}, ...words)), input];
}

/** A row of radio buttons; its value is a place in the row, or -1 for none. */
function choice(label, names, pick) {
  const group = freshId("choice");
  const options = names.map((name, i) => option(group, i, name));
  options.forEach(([, input], i) => input.addEventListener("change", () => pick(i)));
  const set = make("fieldset", { class: "pa-choice" }, make("legend", {}, label), ...options.map(([node]) => node));
  return [set, (at) => options.forEach(([, input], i) => { input.checked = i === at; })];
}

/** A switch: its words beside it, or as an aria-label among the attributes. */
function toggle(words, changed, attributes = {}) {
  const input = ownKeys(make("input", { type: "checkbox", role: "switch", ...attributes }));
  input.addEventListener("change", () => changed(input.checked));
  const node = make("label", { class: "pa-switch" }, input, ...(words ? [make("span", {}, words)] : []));
  return [node, (on) => { input.checked = on; }];
}

/** A slider and its value in words. */
function slider(label, options, changed, format) {
  const input = ownKeys(make("input", { type: "range", ...options }));
  const output = make("output", {});
  input.addEventListener("input", () => changed(Number(input.value)));
  const put = (value) => { input.value = String(value); output.textContent = format(value); };
  return [make("label", { class: "pa-slider" }, make("span", {}, label), input, output), put];
}

/** A slider over the places of a list, which may depend on the state; `changed` gets the item. */
function picker(label, attributes, list, changed, format) {
  const [node, put] = slider(label, { min: "0", step: "1", ...attributes }, (i) => changed(list()[i]), (i) => format(list()[i]));
  const input = node.querySelector("input");
  return [node, (value) => {
    const i = nearest(list(), value);
    input.max = String(list().length - 1);
    put(i);
    input.setAttribute("aria-valuetext", format(list()[i]));
  }];
}

// Tables

/** The row that names the columns. */
const columns = (names, attributes = {}) => make("thead", attributes, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));

/** A row that begins with its name: a text, or several nodes. */
const row = (name, cells, attributes = {}) => make("tr", attributes, make("th", { scope: "row" }, ...[name].flat()), ...cells);

/** A cell with a number; a share between 0 and 1 is drawn behind it as a bar. */
function numberCell(kind, value, share) {
  const cell = make("td", { "data-kind": kind, "data-value": String(value) }, show(value));
  if (share !== undefined) cell.style.background = `linear-gradient(to right, rgba(var(--pa-tint), 0.32) ${100 * share}%, transparent 0)`;
  return cell;
}

// Drawings: points are [x, y] in drawing units

const canvas = (width, height, attributes = { role: "img" }) => make("svg:svg", { viewBox: `0 0 ${width} ${height}`, class: "pa-canvas", ...attributes });
const line = ([x1, y1], [x2, y2], attributes) => make("svg:line", { x1, y1, x2, y2, ...attributes });
const svgText = ([x, y], text, attributes) => make("svg:text", { x, y, ...attributes }, text);
const axisName = (at, text, attributes = {}) => svgText(at, text, { class: "pa-axis-name", ...attributes });
const diamond = ([x, y], r, attributes) => make("svg:path", { d: `M${x} ${y - r}l${r} ${r}l-${r} ${r}l-${r} -${r}z`, ...attributes });

/** A canvas with margins for the names of its axes; `across` and `down` place a share of what is inside them. */
function chart(width, height, { left, right, top, bottom }) {
  return {
    svg: canvas(width, height),
    across: (share) => left + share * (width - left - right),
    down: (share) => top + share * (height - top - bottom),
    level: (y, kind) => line([left, y], [width - right, y], { class: kind }),
  };
}

// The frame

/** Change several parts of the state, and tell Python once. */
function save(model, change) {
  for (const [name, value] of Object.entries(change)) model.set(name, value);
  model.save_changes();
}

/** Several parts of the state may change at once: run after all of them have arrived. */
function batched(run) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => { waiting = false; run(); });
  };
}

/** Put a sentence where screen readers find it, a moment after the last change: not at every step of a drag. */
function speaker(node, signal) {
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return (sentence) => {
    clearTimeout(timer);
    timer = setTimeout(() => { node.textContent = sentence; }, 400);
  };
}

/**
 * What an explorable exports. It owns the frame, the state, redrawing, what screen readers are told, and the clean-up.
 * The host (anywidget, or the page's own script) gives `el` and a model with get, set, save_changes, on and off.
 *
 * name   its frame has the class pa-{name}
 * label  the name of the frame for screen readers
 * state  the names of all that a reader can change; each change draws anew
 * build  makes the parts, once: (tools) => ({ parts, help, draw })
 *   parts  what stands in the frame, in order; `help`, a text, comes below
 *   draw   (state) => a sentence for screen readers; brings all parts up to the state
 *
 * The tools: `state()` and `update({ name: value })`; `model`, for what never changes; `on(name, run)`, for what must not
 * wait until the drawing; `redraw()`; `root`, the frame; `signal`, which aborts when the explorable is taken away.
 */
function explorable({ name, label, state: names, build }) {
  function render({ model, el }) {
    const removal = new AbortController();
    const { signal } = removal;
    const root = make("div", { class: `pa-widget pa-${name}`, role: "group", "aria-label": label });
    const spoken = make("p", { class: "pa-hidden", role: "status" });
    const say = speaker(spoken, signal);
    const state = () => Object.fromEntries(names.map((part) => [part, model.get(part)]));
    const update = (change) => save(model, change);
    const redraw = () => { if (!signal.aborted) say(draw(state())); };
    const on = (part, run) => {
      model.on(`change:${part}`, run);
      signal.addEventListener("abort", () => model.off(`change:${part}`, run));
    };
    const { parts, help, draw } = build({ root, model, state, update, on, redraw, signal });
    root.append(...parts, make("p", { class: "pa-help" }, help), spoken);
    el.append(root);
    const soon = batched(redraw);
    for (const part of names) on(part, soon);
    redraw();
    return () => removal.abort();
  }
  return { render };
}
