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
  const [weightLabel, putWeight] = slider("recurrent weight", { min: "0.05", max: "1.5", step: "0.01" },
    (weight) => update({ weight }), show);
  const [lengthLabel, putLength] = slider("steps", { min: "1", max: "100", step: "1" },
    (length) => update({ length }), String);
  const [squashLabel, putSquash] = toggle("take the tanh of the state", (squash) => update({ squash }));

  const { svg, across, down, level } = chart(WIDTH, HEIGHT, MARGINS);
  // a value off the axis lies off the frame: the picture is cut there, not the number
  const up = (value) => down((HIGHEST - clamp(Math.log10(value), LOWEST - 3, HIGHEST + 3)) / (HIGHEST - LOWEST));
  const clip = freshId("frame");
  svg.append(make("svg:defs", {}, make("svg:clipPath", { id: clip },
    make("svg:rect", { x: MARGINS.left, y: MARGINS.top, width: WIDTH - MARGINS.left, height: HEIGHT - MARGINS.top - MARGINS.bottom }))));
  for (let n = LOWEST; n <= HIGHEST; n += 2) {
    const y = up(10 ** n);
    svg.append(level(y, n ? "pa-grid" : "pa-axis"), axisName([MARGINS.left - 8, y + 5], n ? powerOfTen(n) : "1", { "text-anchor": "end" }));
  }
  svg.append(axisName([MARGINS.left, HEIGHT - 6], "steps back \u2192"));
  const last = axisName([WIDTH - MARGINS.right, HEIGHT - 6], "", { "text-anchor": "end" });
  const lines = make("svg:g", {});
  svg.append(last, lines);

  // where the line ends; or an arrow where it leaves the frame, and the value it ends at
  function ending(gradients) {
    const length = gradients.length - 1;
    const gone = gradients.findIndex((g) => g > 10 ** HIGHEST || g < 10 ** LOWEST);
    if (gone < 0) return [make("svg:circle", { cx: across(1), cy: up(gradients[length]), r: "5", class: "pa-end" })];
    const [before, after] = [gradients[gone - 1], gradients[gone]].map(Math.log10);
    const rises = after > HIGHEST, edge = rises ? HIGHEST : LOWEST;
    const x = across((gone - 1 + (edge - before) / (after - before)) / length);
    const y = up(10 ** edge), sign = rises ? 1 : -1;
    const right = x < WIDTH - 190;
    return [
      make("svg:path", { d: `M${x.toFixed(2)} ${(y - 2 * sign).toFixed(2)}l7 ${12 * sign}l-14 0z`, class: "pa-off" }),
      svgText([x + (right ? 14 : -14), y + (rises ? 18 : -10)], `${amount(gradients[length])} at step ${length}`,
        { class: "pa-off-value", "text-anchor": right ? "start" : "end" }),
    ];
  }

  const left = make("p", { class: "pa-left-over" });
  const rule = make("p", { class: "pa-rule" });

  function draw({ weight, length, squash }) {
    const gradients = decay({ weight, length, squash });
    putWeight(weight);
    putLength(length);
    putSquash(squash);
    last.textContent = String(length);
    const path = gradients.map((g, step) => `${step ? "L" : "M"}${across(step / length).toFixed(2)} ${up(g).toFixed(2)}`).join("");
    const end = gradients[length];
    become(lines, [
      make("svg:path", { d: path, class: "pa-curve", "clip-path": `url(#${clip})` }),
      ...ending(gradients),
    ]);
    left.setAttribute("data-value", String(end));
    left.replaceChildren(make("strong", {}, amount(end)), ` is left after ${counted(length, "step", "steps")}.`);
    const hundredth = gradients.findIndex((g) => g < 0.01);
    rule.setAttribute("data-value", String(hundredth));
    rule.textContent = hundredth >= 0 ? `Less than a hundredth is left from step ${hundredth} on.`
      : end > 1 ? "It grows: a small change at the first word becomes a large one." : "At no step is less than a hundredth left.";
    svg.setAttribute("aria-label", `${left.textContent} ${rule.textContent}`);
    return left.textContent;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, weightLabel, lengthLabel, squashLabel), svg, left, rule],
    help: "How strongly the last state depends on the first, on a logarithmic scale.",
    draw,
  };
}

export default explorable({ name: "decay", label: "What is left of a gradient", state: ["weight", "length", "squash"],
  codes: () => ({ weight: number(0.05, 1.5), length: whole(1, 100), squash: flag() }), build });
