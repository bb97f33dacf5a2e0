// AverageLine: the weights of one head move four families along a line; cuts give the age of one child.
const [WIDE, HIGH] = [440, 176];
const LEVELS = [[34, 52], [112, 130], [146, 164], [34, 52]];   // where the two names of a family stand, so that none meets another

/** The average of each family, the dots that families share, and the cuts between dots of different ages. */
function compute({ weight, told }, ages) {
  const families = ages.flatMap((a) => ages.map((b) => [a, b]));
  const averages = families.map(([a, b]) => Number((weight * a + (1 - weight) * b).toFixed(9)));
  const dots = [...new Set(averages)].sort((a, b) => a - b)
    .map((at) => ({ at, ages: [...new Set(families.filter((_, i) => averages[i] === at).map((family) => family[told]))].sort((a, b) => a - b) }));
  const cuts = dots.slice(1).flatMap((dot, i) => (String(dot.ages) === String(dots[i].ages) ? [] : [(dot.at + dots[i].at) / 2]));
  return { families, averages, dots, cuts };
}

function build({ model, update }) {
  const names = model.get("names"), ages = model.get("ages"), [low, high] = ages;
  const [weightLabel, putWeight] = slider(`weight of ${names[0]}`, { min: "0", max: "1", step: "0.05" }, (weight) => update({ weight }), show);
  const [tellLabel, putTold] = choice("Find", names.map((name) => `${name}\u2019s age`), (told) => update({ told }));
  const svg = canvas(WIDE, HIGH);
  const verdict = make("p", { class: "pa-verdict" });
  const place = (average) => 40 + ((average - low) / (high - low)) * (WIDE - 80);
  const AXIS = 82;

  function draw(now) {
    const { weight, told } = now;
    const { families, averages, dots, cuts } = compute(now, ages);
    putWeight(weight);
    putTold(told);
    const nodes = [line([place(low), AXIS], [place(high), AXIS], { class: "pa-axis" })];
    nodes.push(...cuts.map((cut) => line([place(cut), 20], [place(cut), HIGH - 4], { class: "pa-cut", "data-value": String(cut) })));
    dots.forEach((dot) => {
      const x = place(dot.at), both = dot.ages.length > 1;
      nodes.push(make("svg:circle", { class: `pa-dot${!both && dot.ages[0] === high ? " pa-older" : ""}`, cx: hundredths(x), cy: AXIS, r: 8 }));
      if (both) nodes.push(make("svg:path", { class: "pa-half", d: `M${hundredths(x)} ${AXIS - 8}a8 8 0 0 1 0 16z` }));
    });
    families.forEach((family, i) => family.forEach((age, child) => {
      nodes.push(svgText([place(averages[i]), LEVELS[i][child]], `${names[child]} ${age}`, { class: child === told ? "pa-family pa-told" : "pa-family", "data-value": String(averages[i]), "data-family": String(i) }));
    }));
    dots.forEach((dot) => {
      const out = dot.at === low ? -1 : dot.at === high ? 1 : 0;  // an end has names above and, at weight 0 or 1, below
      const at = out ? [place(dot.at) + 20 * out, AXIS + 5] : [place(dot.at), AXIS - 15];
      nodes.push(svgText(at, String(Number(dot.at.toFixed(2))), { class: "pa-average" }));
    });
    become(svg, nodes);
    const who = names[told], mixed = dots.filter((dot) => dot.ages.length > 1);
    const said = mixed.length ? `${mixed.length === 1 ? "One dot stands" : "Both dots stand"} for families in which ${who} is ${low} and for others in which ${who} is ${high}: neither a cut nor anything else behind the head can tell them apart.`
      : cuts.length === 1 ? `One cut gives ${who}\u2019s age.` : `It takes ${cuts.length} cuts to find ${who}\u2019s age. An MLP can make them; a linear layer cannot.`;
    verdict.textContent = said;
    verdict.dataset.cuts = String(cuts.length);
    svg.setAttribute("aria-label", `Averages ${dots.map((dot) => `${Number(dot.at.toFixed(2))}: ${who} ${dot.ages.join(" or ")}`).join(", ")}`);
    return `Weight of ${names[0]} ${show(weight)}, of ${names[1]} ${show(1 - weight)}. ${said}`;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, weightLabel, tellLabel), svg, verdict],
    help: `Four families on a line, each at the weighted average of its ages. A full dot: the age to find is ${high}. Dashed: a cut.`,
    draw,
  };
}

export default explorable({ name: "averages", label: "Two ages in one average", state: ["weight", "told"],
  codes: () => ({ weight: number(0, 1), told: whole(0, 1) }), build });
