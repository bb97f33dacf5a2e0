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

/** An id that nothing else on the page has; the same at each first drawing, so that a page can be built twice alike. */
function freshId(stem) {
  const counts = (globalThis.payingAttentionIds ??= {});
  counts[stem] = (counts[stem] ?? 0) + 1;
  return `pa-${stem}-${counts[stem]}`;
}

/**
 * Bring the children of a node up to a list of new ones. A child with the same tag and class is changed, not replaced:
 * what stays can glide to its new place, and keeps the focus.
 */
function become(parent, nodes) {
  nodes.forEach((node, i) => {
    const old = parent.children[i];
    if (!old || old.tagName !== node.tagName || old.classList[0] !== node.classList[0]) {
      if (old) old.replaceWith(node);
      else parent.append(node);
      return;
    }
    for (const { name } of [...old.attributes]) if (!node.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    if (node.children.length) become(old, [...node.children]);
    else if (old.textContent !== node.textContent || old.children.length) old.replaceChildren(...node.childNodes);
  });
  while (parent.children.length > nodes.length) parent.lastElementChild.remove();
}

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
  const group = freshId(`choice-${label.toLowerCase().replace(/\W+/g, "-")}`);
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

/** A menu; its value is a place in the list of names, or -1 for what stands first, `none`. */
function menu(label, names, pick, none) {
  const input = ownKeys(make("select", {}, ...(none ? [make("option", { value: "-1" }, none)] : []), ...names.map((name, i) => make("option", { value: String(i) }, name))));
  input.addEventListener("change", () => { if (input.value !== "-1") pick(Number(input.value)); });
  return [make("label", { class: "pa-menu" }, make("span", {}, label), input), (at) => { input.value = String(at); }];
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

/** A cell with a number; a share between 0 and 1 is drawn beside it as a bar, never under it. */
function numberCell(kind, value, share, text = show(value)) {
  const cell = make("td", { "data-kind": kind, "data-value": String(value) });
  if (share === undefined) cell.append(text);
  else {
    const bar = make("span", { class: "pa-share", style: `width: ${(100 * clamp(share, 0, 1)).toFixed(2)}%` });
    cell.append(make("span", { class: "pa-measure" }, make("span", { class: "pa-track" }, bar), make("span", { class: "pa-number" }, text)));
  }
  return cell;
}

// Drawings: points are [x, y] in drawing units

const canvas = (width, height, attributes = { role: "img" }) => make("svg:svg", { viewBox: `0 0 ${width} ${height}`, class: "pa-canvas", ...attributes });
const hundredths = (x) => Number(x.toFixed(2));
// as a path, and texts moved as a whole: only then can a style sheet let them glide
const line = ([x1, y1], [x2, y2], attributes) => make("svg:path", { d: `M${hundredths(x1)} ${hundredths(y1)}L${hundredths(x2)} ${hundredths(y2)}`, ...attributes });
const moved = ([x, y]) => `translate(${hundredths(x)} ${hundredths(y)})`;
const svgText = (at, text, attributes) => make("svg:text", { transform: moved(at), ...attributes }, text);
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

// State in words, for an address: [the text of a value, the value of a text or undefined].

const flag = () => [(on) => (on ? "1" : "0"), (text) => ({ 1: true, 0: false })[text]];
const number = (low, high) => [(x) => String(Number(x.toFixed(4))), (text) => (/^-?\d{1,9}(\.\d{1,6})?$/.test(text) ? clamp(Number(text), low, high) : undefined)];
const whole = (low, high) => [String, (text) => (/^-?\d{1,9}$/.test(text) ? clamp(Number(text), low, high) : undefined)];
const oneOf = (items) => [(item) => String(item), (text) => items.find((item) => String(item) === text)];
/** A list, of fixed length where a count is given; its items as `part` has them, with a sign between. */
function listOf(part, count, sign = "") {
  const [write, read] = part;
  return [(list) => list.map(write).join(sign), (text) => {
    const items = text.split(sign).map(read);
    return (count === undefined || items.length === count) && !items.includes(undefined) ? items : undefined;
  }];
}

/** The texts of all parts of a state. */
const spelled = (codes, state) => Object.fromEntries(Object.entries(codes).map(([name, [write]]) => [name, write(state[name])]));

/** The values that texts stand for; what cannot be read is left out. */
function understood(codes, texts) {
  const values = Object.entries(codes).map(([name, [, read]]) => [name, name in texts ? read(texts[name]) : undefined]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
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

/** What the hand holds follows at once; what jumps, glides. */
function stillWhileHeld(root, signal) {
  root.addEventListener("pointerdown", () => root.classList.add("pa-still"), { capture: true, signal });
  for (const kind of ["pointerup", "pointercancel"]) {
    window.addEventListener(kind, () => setTimeout(() => root.classList.remove("pa-still")), { signal });
  }
}

/** The row under every explorable. `share`, where there is a page with an address: { link(), snippet() }. */
function foot({ root, reset, share, say }) {
  const help = button("Help", () => help.setAttribute("aria-expanded", String(root.classList.toggle("pa-helped"))));
  help.setAttribute("aria-expanded", "false");
  help.className = "pa-more";
  const row = make("div", { class: "pa-foot" }, button("Reset", reset), help);
  if (!share) return [row];
  const text = make("textarea", { class: "pa-snippet", readonly: "", rows: "4", "aria-label": "To copy", spellcheck: "false" });
  text.hidden = true;
  const offer = (words) => { text.value = words; text.hidden = false; text.focus(); text.select(); };
  const copy = button("Copy link", async () => {
    try {
      await navigator.clipboard.writeText(share.link());
      copy.textContent = "Copied";
      say("The link is copied.");
      setTimeout(() => { copy.textContent = "Copy link"; }, 1500);
    } catch {
      offer(share.link());   // a browser that does not let us: then by hand
    }
  });
  const embed = button("Embed", () => {
    if (text.hidden) offer(share.snippet());
    else text.hidden = true;
    embed.setAttribute("aria-expanded", String(!text.hidden));
  });
  embed.setAttribute("aria-expanded", "false");
  row.append(copy, embed);
  return [row, text];
}

/**
 * What an explorable exports. It owns the frame, the state, redrawing, what screen readers are told, the row of buttons below,
 * the state in the address, and the clean-up. The host (anywidget, or the page's own script) gives `el` and a model with get,
 * set, save_changes, on and off; the page gives `page` too: { asked(name, run), changed(name, texts), link(name, texts), snippet(name, texts, root) }.
 *
 * name   its frame has the class pa-{name}; its state stands in the address as #explore={name}&...
 * label  the name of the frame for screen readers
 * state  the names of all that a reader can change; each change draws anew
 * codes  how each part of the state is spelled in an address: (model) => ({ name: [write, read] })
 * mend   (state, model) => the same with parts that go together, where an address had others
 * build  makes the parts, once: (tools) => ({ parts, help, draw })
 *   parts  what stands in the frame, in order; `help`, a text, comes below
 *   draw   (state) => a sentence for screen readers; brings all parts up to the state
 *
 * The tools: `state()` and `update({ name: value })`; `model`, for what never changes; `on(name, run)`, for what must not
 * wait until the drawing; `redraw()`; `root`, the frame; `signal`, which aborts when the explorable is taken away.
 */
function explorable({ name, label, state: names, codes = () => ({}), mend = (now) => now, build }) {
  function render({ model, el, page }) {
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
    const first = structuredClone(state());
    const spelling = codes(model);
    const texts = () => spelled(spelling, state());
    const start = JSON.stringify(spelled(spelling, first));
    const { parts, help, draw } = build({ root, model, state, update, on, redraw, signal });
    const share = page && { link: () => page.link(name, texts()), snippet: () => page.snippet(name, texts(), root) };
    const buttons = foot({ root, reset: () => update(structuredClone(first)), share, say });
    root.append(...parts, make("p", { class: "pa-help" }, help), ...buttons, spoken);
    el.append(root);
    stillWhileHeld(root, signal);
    const soon = batched(() => {
      redraw();
      if (!signal.aborted) page?.changed(name, JSON.stringify(texts()) === start ? null : texts());
    });
    page?.asked(name, (asked) => update(mend({ ...structuredClone(first), ...understood(spelling, asked) }, model)), root);
    for (const part of names) on(part, soon);
    redraw();
    if (document.fonts?.status === "loading") document.fonts.ready.then(redraw);   // labels are measured: once more in the page's own font
    return () => removal.abort();
  }
  return { render };
}
