// Shared by every front end: making elements, and a little arithmetic.
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  const node = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// A text with `code` and *emphasis*, as nodes: never as markup.
function inline(text) {
  return text.split(/(`[^`]+`|\*[^*]+\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return make("code", {}, part.slice(1, -1));
    return /^\*.+\*$/.test(part) ? make("em", {}, part.slice(1, -1)) : part;
  });
}

// JupyterLab takes the arrow keys unless the focused element itself says not to.
function ownKeys(node) {
  node.setAttribute("data-lm-suppress-shortcuts", "true");
  return node;
}

function softmax(scores) {
  const top = Math.max(...scores);
  const e = scores.map((s) => Math.exp(s - top));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => x / sum);
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

// A number for people: two decimals and a true minus sign. The exact one stands in data-value.
const show = (x) => x.toFixed(2).replace(/^-(?=0\.00$)/, "").replace("-", "\u2212");

let serial = 0;
const freshId = (stem) => `pa-${stem}-${++serial}-${Math.random().toString(36).slice(2, 8)}`;

// Controls: a row of radio buttons, a switch, a slider with its number.
function choice(label, names, picked, pick) {
  const set = make("fieldset", { class: "pa-choice" }, make("legend", {}, label));
  const group = freshId("choice");
  names.forEach((name, i) => {
    const input = ownKeys(make("input", { type: "radio", name: group, value: String(i) }));
    input.checked = i === picked;
    input.addEventListener("change", () => pick(i));
    set.append(make("label", {}, input, make("span", {}, name)));
  });
  return set;
}

function toggle(label, changed) {
  const input = ownKeys(make("input", { type: "checkbox", role: "switch" }));
  input.addEventListener("change", () => changed(input.checked));
  return [make("label", { class: "pa-switch" }, input, make("span", {}, label)), input];
}

function slider(label, options, changed, format) {
  const input = ownKeys(make("input", { type: "range", ...options }));
  const output = make("output", {});
  input.addEventListener("input", () => changed(Number(input.value)));
  const put = (value) => { input.value = String(value); output.textContent = format(value); };
  return [make("label", { class: "pa-slider" }, make("span", {}, label), input, output), put];
}

// Several parts of the state may change at once: draw after all of them have arrived. Returns what undoes it.
function redrawOn(model, names, draw) {
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => { waiting = false; draw(); });
  };
  for (const name of names) model.on(`change:${name}`, soon);
  return () => { for (const name of names) model.off(`change:${name}`, soon); };
}
