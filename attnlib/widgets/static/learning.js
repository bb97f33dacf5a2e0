// LearningSteps: training step by step, from stored snapshots: the loss, and the attention weights of meaning in both layers.
const WIDTH = 640, HEIGHT = 190;  // in drawing units
const MARGINS = { left: 46, right: 16, top: 14, bottom: 34 };
const HIGHEST = 6;                // of the loss
const COIN = Math.LN2;            // the loss of a coin between two names

/** Base64 of little-endian uint16, which count thousandths. */
function thousandths(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), view = new DataView(bytes.buffer);
  return range(bytes.length / 2).map((i) => view.getUint16(2 * i, true) / 1000);
}

function build({ model, update }) {
  const [lines, names, steps] = ["lines", "names", "steps"].map((name) => model.get(name));
  const [losses, rows, chances] = ["losses", "rows", "chances"].map((name) => thousandths(model.get(name)));
  const T = lines[0].length;
  const reasons = lines.map((words) => words.at(-2));
  const [stepping, putStep] = picker("training step", { "aria-label": "training step" }, () => steps, (step) => update({ step }), String);
  const [choosing, putLine] = choice("reason", reasons, (line) => update({ line }));

  const { svg, across, down, level } = chart(WIDTH, HEIGHT, MARGINS);
  const last = steps.at(-1), right = (step) => across(step / last), up = (loss) => down(1 - Math.min(loss, HIGHEST) / HIGHEST);
  for (const loss of [0, 2, 4]) svg.append(level(up(loss), loss ? "pa-grid" : "pa-axis"), axisName([MARGINS.left - 8, up(loss) + 5], String(loss), { "text-anchor": "end" }));
  svg.append(level(up(COIN), "pa-coin"), axisName([WIDTH - MARGINS.right, up(COIN) - 6], "a coin between both names, 0.69", { "text-anchor": "end", class: "pa-axis-name pa-coin-name" }),
    axisName([MARGINS.left + 6, MARGINS.top + 10], "loss"), axisName([WIDTH - MARGINS.right, HEIGHT - 8], String(last), { "text-anchor": "end" }), axisName([MARGINS.left, HEIGHT - 8], "training step \u2192"));
  svg.append(make("svg:path", { class: "pa-curve", d: steps.map((step, i) => `${i ? "L" : "M"}${hundredths(right(step))} ${hundredths(up(losses[i]))}`).join("") }));
  const mark = make("svg:g", {});
  svg.append(mark);

  const table = make("table", {}), chanceTable = make("table", {}), said = make("p", { class: "pa-told" });

  function draw({ step, line }) {
    const at = nearest(steps, step), loss = losses[at];
    const from = (2 * at + line) * 2;          // two lines, and for each two rows and two names
    const [first, second] = range(2).map((n) => rows.slice((from + n) * T, (from + n + 1) * T));
    const found = chances.slice(from, from + 2), words = lines[line];
    putStep(step);
    putLine(line);
    become(mark, [needle(right(steps[at])), make("svg:circle", { cx: String(hundredths(right(steps[at]))), cy: String(hundredths(up(loss))), r: "6", class: "pa-now" })]);
    become(table, twoRows(`Attention weights of meaning, after ${counted(steps[at], "step", "steps")}`, words, [first, second]));
    become(chanceTable, chanceRows(["probability"], names.map((name, i) => [name, [found[i]]])));
    const places = names.map((name) => words.indexOf(name));
    said.setAttribute("data-value", String(loss));
    said.replaceChildren(`Loss ${show(loss)}. The first layer gives `, ...given(reasons[line], first.at(-2)), "; the second gives ", ...given(names[0], second[places[0]]), " and ", ...given(names[1], second[places[1]]), ".");
    svg.setAttribute("aria-label", `The loss falls over ${last} training steps from ${show(losses[0])} to ${show(losses.at(-1))}; after ${steps[at]} it is ${show(loss)}.`);
    return said.textContent;
  }
  const needle = (x) => line([x, MARGINS.top], [x, HEIGHT - MARGINS.bottom], { class: "pa-at" });
  return {
    parts: [make("div", { class: "pa-bar" }, stepping, choosing), svg, said, make("div", { class: "pa-two" }, table), make("div", { class: "pa-chances" }, chanceTable)],
    help: "Drag the slider, or use the arrow keys. Every second step of one training was stored, in thousandths; the loss is that on 600 lines of the training, the probabilities are those among its 66 words.",
    draw,
  };
}

export default explorable({ name: "learning", label: "Training, step by step", state: ["step", "line"],
  codes: (model) => ({ step: whole(0, model.get("steps").at(-1)), line: whole(0, model.get("lines").length - 1) }), build });
