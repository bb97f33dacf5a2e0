// GradientDecay: how much of a gradient survives a recurrence, step by step.
const START = 0.5;               // the state that the first word leaves
const WIDTH = 560, HEIGHT = 280; // in drawing units
const MARGINS = { left: 58, right: 14, top: 14, bottom: 40 };
const LOWEST = -8, HIGHEST = 4;  // powers of ten on the vertical axis

// The derivative of the state after each step with respect to the first, the first itself included.
function decay({ weight, length, squash }) {
  let state = START;
  const gradients = [1];
  for (let step = 1; step <= length; step++) {
    state = squash ? Math.tanh(weight * state) : weight * state;
    gradients.push(gradients[step - 1] * weight * (squash ? 1 - state * state : 1));
  }
  return gradients;
}

function build({ update }) {
  const [weightLabel, putWeight] = slider("recurrent weight", { min: "0.05", max: "1.5", step: "0.05" },
    (weight) => update({ weight }), show);
  const [lengthLabel, putLength] = slider("steps", { min: "1", max: "100", step: "1" },
    (length) => update({ length }), String);
  const [squashLabel, putSquash] = toggle("squash the state with tanh", (squash) => update({ squash }));

  const { svg, across, down, level } = chart(WIDTH, HEIGHT, MARGINS);
  const up = (value) => down((HIGHEST - clamp(Math.log10(value), LOWEST, HIGHEST)) / (HIGHEST - LOWEST));
  for (let n = LOWEST; n <= HIGHEST; n += 2) {
    const y = up(10 ** n);
    svg.append(level(y, n ? "pa-grid" : "pa-axis"), axisName([MARGINS.left - 8, y + 5], n ? powerOfTen(n) : "1", { "text-anchor": "end" }));
  }
  svg.append(axisName([MARGINS.left, HEIGHT - 6], "steps back \u2192"));
  const last = axisName([WIDTH - MARGINS.right, HEIGHT - 6], "", { "text-anchor": "end" });
  const lines = make("svg:g", {});
  svg.append(last, lines);

  const left = make("p", { class: "pa-left-over" });
  const rule = make("p", { class: "pa-rule" });

  function draw({ weight, length, squash }) {
    const gradients = decay({ weight, length, squash });
    putWeight(weight);
    putLength(length);
    putSquash(squash);
    last.textContent = String(length);
    const flat = 1 / (length + 1);
    const path = gradients.map((g, step) => `${step ? "L" : "M"}${across(step / length).toFixed(2)} ${up(g).toFixed(2)}`).join("");
    lines.replaceChildren(
      level(up(flat), "pa-flat"),
      make("svg:path", { d: path, class: "pa-curve" }),
      make("svg:circle", { cx: across(1), cy: up(gradients[length]), r: "5", class: "pa-end" }),
    );
    const end = gradients[length];
    left.setAttribute("data-value", String(end));
    left.setAttribute("data-flat", String(flat));
    left.replaceChildren(make("strong", {}, amount(end)), ` is left after ${counted(length, "step", "steps")}; attention keeps ${amount(flat)}.`);
    const hundredth = gradients.findIndex((g) => g < 0.01);
    rule.setAttribute("data-value", String(hundredth));
    rule.textContent = hundredth >= 0 ? `Less than a hundredth is left from step ${hundredth} on.`
      : end > 1 ? "It grows: a small change at the first word becomes a large one." : "At no step is less than a hundredth left.";
    svg.setAttribute("aria-label", `${left.textContent} ${rule.textContent}`);
    return left.textContent;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, weightLabel, lengthLabel, squashLabel), svg, left, rule],
    help: "How strongly the last state depends on the first, on a logarithmic scale. Dashed: attention that gives every word the same weight.",
    draw,
  };
}

export default explorable({ name: "decay", label: "The gradient that survives", state: ["weight", "length", "squash"], build });
