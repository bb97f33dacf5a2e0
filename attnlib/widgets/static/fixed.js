// FixedState: n numbers are read, d are kept, one is asked for; what is lost.
const SIZES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];   // n, on the slider and under the hand
const WIDE = 560, HIGH = 300; // in drawing units
const MARGINS = { left: 46, right: 16, top: 30, bottom: 44 };
const CURVE = range(121).map((i) => 64 ** (i / 120));       // the n that curves are drawn through

const linear = (d, n) => Math.max(0, 1 - d / n);
// No state of d numbers between -1 and 1 with this noise loses less: the bits that come out are at most those that went in.
const lowest = (d, n, noise) => (noise ? (1 + noise ** -2) ** (-d / n) : 0);

// A mark for each kind of network, in its order; their colours are those of the book's figures.
const MARKS = [
  ([x, y], r) => ({ d: `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z` }),
  ([x, y], r) => ({ d: `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z` }),
  ([x, y], r) => ({ d: `M${x - 0.9 * r} ${y - 0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z` }),
  ([x, y], r) => ({ d: `M${x} ${y - 1.2 * r}l${1.2 * r} ${2.2 * r}h${-2.4 * r}z` }),
];
const mark = (kind, at, r, attributes) => make("svg:path", { ...MARKS[kind % MARKS.length](at, r), ...attributes });

const CHIPS = 6; // so many settings are offered, in one row
/** The settings to offer: those of the measured noise nearest to the present one, with a d near the present one. */
function offered(settings, { d, noise }) {
  if (!settings.length) return [];
  const levels = settings.map((s) => s.noise);
  const level = levels[nearest(levels, noise)];
  return settings.filter((s) => s.noise === level).sort((p, q) => Math.abs(p.d - d) - Math.abs(q.d - d)).slice(0, CHIPS);
}

// Names beside curves and dots

/** The box of a name whose first line begins, is centred or ends at a point. */
function boxAt([x, y], anchor, wide, size, lines) {
  const left = x - { start: 0, middle: wide / 2, end: wide }[anchor];
  return { left, right: left + wide, top: y - 0.85 * size, bottom: y + 0.3 * size + 1.2 * size * (lines - 1) };
}
const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
const holds = (box, [x, y]) => x > box.left - 4 && x < box.right + 4 && y > box.top - 4 && y < box.bottom + 4;

/**
 * Write names where each has room: inside the frame, over no other name, and over as few points as can be. `wanted` are the
 * names in their order of precedence: { node, lines, spots: [[point, anchor], ...] }, the best spot first.
 */
function putNames(wanted, frame, points) {
  const taken = [];
  for (const { node, lines, spots } of wanted) {
    node.replaceChildren(...lines.map((part) => make("svg:tspan", {}, part)));
    if (!lines.length) continue;
    const size = parseFloat(getComputedStyle(node).fontSize) || 15;
    const wide = Math.max(...[...node.children].map((part) => part.getComputedTextLength?.() || 0.55 * size * part.textContent.length));
    let best = { cost: Infinity };
    spots.forEach(([[x, y], anchor], order) => {
      for (let lift = 0; lift <= 120; lift += 6) {
        for (const at of [[x, y - lift], [x, y + lift]]) {
          const box = boxAt(at, anchor, wide, size, lines.length);
          const inside = box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
          const cost = lift + 10 * order + 25 * points.filter((point) => holds(box, point)).length;
          if (inside && cost < best.cost && taken.every((other) => apart(box, other))) best = { cost, at, anchor, box };
        }
      }
    });
    if (!best.box) { node.replaceChildren(); continue; }   // better no name than one over another
    taken.push(best.box);
    node.setAttribute("text-anchor", best.anchor);
    [...node.children].forEach((part, i) => {
      part.setAttribute("x", hundredths(best.at[0]));
      part.setAttribute("y", hundredths(best.at[1] + 1.2 * size * i));
    });
  }
}

function build({ model, state, update, root }) {
  const measured = model.get("measured");
  const flat = (noise) => measured.filter((p) => p.kind === "attention" && p.noise === noise);
  const found = ({ d, noise }) => measured.filter((p) => p.kind !== "attention" && p.d === d && p.noise === noise);
  const attention = (noise) => {
    const dots = flat(noise);
    return dots.length ? sum(dots.map((p) => p.lost)) / dots.length : lowest(1, 1, noise);
  };
  const settings = measured.filter((p) => p.kind !== "attention")
    .filter((p, i, all) => all.findIndex((q) => q.d === p.d && q.noise === p.noise) === i)
    .sort((p, q) => p.noise - q.noise || p.d - q.d);

  const kinds = [...new Set(measured.filter((p) => p.kind !== "attention").map((p) => p.kind))].slice(0, MARKS.length);

  const [dLabel, putD] = slider("the state keeps d", { min: "1", max: "16", step: "1" }, (d) => update({ d }), String);
  const [nLabel, putN] = picker("it reads n", {}, () => [...new Set([...SIZES, state().n])].sort((a, b) => a - b), (n) => update({ n }), String);
  const [noiseLabel, putNoise] = slider("noise on each", { min: "0", max: "1", step: "0.05" },
    (noise) => update({ noise }), (noise) => (noise ? show(noise) : "none"));
  const [settingChoice, putSetting] = choice("Measured at", settings.map(({ d }) => `d = ${d}`),
    (i) => update({ d: settings[i].d, noise: settings[i].noise }));
  const chips = [...settingChoice.querySelectorAll("label")];
  settingChoice.hidden = settings.length === 0;

  const { svg, across, down, level } = chart(WIDE, HIGH, MARGINS);
  const at = (n) => across(Math.log2(n) / 6);
  const up = (lost) => down(1 - lost);
  const path = (points) => `M${points.map(([n, lost]) => `${at(n).toFixed(1)} ${up(lost).toFixed(1)}`).join("L")}`;
  for (const lost of [0, 0.5, 1]) {
    svg.append(level(up(lost), lost ? "pa-grid" : "pa-axis"), axisName([MARGINS.left - 8, up(lost) + 5], String(lost), { "text-anchor": "end" }));
  }
  for (let n = 1; n <= 64; n *= 2) svg.append(axisName([at(n), HIGH - MARGINS.bottom + 19], String(n), { "text-anchor": "middle" }));
  svg.append(axisName([WIDE - MARGINS.right, HIGH - 4], "numbers read, n \u2192", { "text-anchor": "end" }),
    axisName([4, 17], "mean squared error \u2191"));
  const region = make("svg:path", { class: "pa-region" });
  const straight = make("svg:path", { class: "pa-linear" });
  const everything = make("svg:path", { class: "pa-attention" });
  const marker = make("svg:path", { class: "pa-here" });
  const ends = Object.fromEntries(["linear", "bound"].map((kind) => [kind, make("svg:circle", { r: "5", class: `pa-${kind}-end` })]));
  const dots = make("svg:g", {});
  const named = ["forbidden", "linear", "attention", ...kinds.map((_, i) => `network-${i + 1}`)];
  const names = Object.fromEntries(named.map((kind) => [kind, make("svg:text", { class: `pa-name pa-${kind}-name` })]));
  const frame = { left: MARGINS.left + 2, right: WIDE - MARGINS.right, top: MARGINS.top, bottom: HIGH - MARGINS.bottom };
  svg.append(region, marker, straight, everything, ...Object.values(ends), dots, ...Object.values(names));

  const follow = (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * WIDE - MARGINS.left) / (WIDE - MARGINS.left - MARGINS.right);
    update({ n: SIZES[nearest(SIZES, 64 ** clamp(share, 0, 1))] });
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button) return;
    svg.setPointerCapture(event.pointerId);
    follow(event);
  });
  svg.addEventListener("pointermove", (event) => { if (svg.hasPointerCapture(event.pointerId)) follow(event); });

  const title = make("p", { class: "pa-title" });
  const rowOf = (kind) => make("li", { "data-kind": kind });
  const rows = { linear: rowOf("linear"), bound: rowOf("bound"), network: rowOf("network") };
  kinds.slice(1).forEach((_, i) => { rows[`network-${i + 2}`] = rowOf(`network-${i + 2}`); });
  rows.attention = rowOf("attention");
  const list = make("ul", { class: "pa-readings" }, ...Object.values(rows));

  function draw(now) {
    const { d, n, noise } = now;
    putD(d);
    putN(n);
    putNoise(noise);
    putSetting(settings.findIndex((s) => s.d === d && s.noise === noise));
    const near = offered(settings, now);
    chips.forEach((chip, i) => { chip.hidden = !near.includes(settings[i]); });
    settingChoice.querySelector("legend").textContent = near[0]?.noise ? `Measured at noise ${near[0].noise}` : "Measured without noise";

    const bound = (m) => lowest(d, m, noise);
    region.setAttribute("d", `${path(CURVE.map((m) => [m, bound(m)]))}L${at(64)} ${up(0)}L${at(1)} ${up(0)}Z`);
    straight.setAttribute("d", noise ? "" : path(CURVE.map((m) => [m, linear(d, m)])));   // the line is about exact numbers
    ends.linear.toggleAttribute("hidden", noise > 0);
    const kept = attention(noise);
    const range = flat(noise).length ? flat(noise).map((p) => p.n) : [1, 64];   // drawn as far as it was measured
    everything.setAttribute("d", path([[Math.min(...range), kept], [Math.max(...range), kept]]));
    marker.setAttribute("d", path([[n, 0], [n, 1]]));
    const errors = { linear: linear(d, n), bound: bound(n), attention: kept };
    for (const kind of ["linear", "bound"]) {
      ends[kind].setAttribute("cx", at(n));
      ends[kind].setAttribute("cy", up(errors[kind]));
    }
    const trained = kinds.map((kind) => found(now).filter((p) => p.kind === kind).sort((p, q) => q.n - p.n));
    const spot = (kind, name) => (p) => mark(kind, [at(p.n), up(p.lost)], p.n === n ? 8 : 6, { class: `pa-spot ${name}`, "data-n": p.n, "data-value": p.lost });
    dots.replaceChildren(...flat(noise).map(spot(0, "pa-flat")), ...trained.flatMap((all, i) => all.map(spot(i, `pa-network pa-network-${i + 1}`))));

    const curve = CURVE.filter((_, i) => i % 3 === 0);
    const points = [...flat(noise), ...trained.flat()].map((p) => [at(p.n), up(p.lost)])
      .concat(noise ? [] : curve.map((m) => [at(m), up(linear(d, m))]), curve.map((m) => [at(m), up(kept)]));
    const high = bound(64);
    const half = Math.min(2 * d, 32);
    const beside = (all) => all.flatMap((p) => [[[at(p.n) - 13, up(p.lost) + 5], "end"], [[at(p.n) + 13, up(p.lost) + 5], "start"]]);
    putNames([
      { node: names.forbidden, lines: high > 0.25 ? [`no state of ${d}`, "gets here"] : [], spots: [[[at(64) - 10, up(0.5 * high)], "end"]] },
      { node: names.attention, lines: ["attention"], spots: [[[at(1) + 6, up(kept) - 8], "start"], [[at(1) + 6, up(kept) + 20], "start"], [[at(4), up(kept) - 8], "start"]] },
      { node: names.linear, lines: noise ? [] : ["answered linearly"],
        spots: [[[at(half) - 14, up(linear(d, half))], "end"], [[at(1) + 6, up(1) + 18], "start"], [[at(half) + 14, up(linear(d, half)) + 18], "start"]] },
      ...trained.map((all, i) => ({ node: names[`network-${i + 1}`], lines: all.length ? [kinds[i]] : [], spots: beside(all) })),
    ], frame, points);

    title.replaceChildren("Read ", make("strong", {}, String(n)), `, keep ${d}, answer with one of them.`);
    const measuredFor = (all) => [...new Set(all.map((p) => p.n))].sort((p, q) => p - q).join(", ");
    const errorOf = (all, kind) => {
      const here = all.find((p) => p.n === n);
      return here ? [`${kind}: error `, here.lost, " in one run."] : all.length ? [`${kind}: measured for n = ${measuredFor(all)}.`] : [];
    };
    const words = {
      linear: noise ? [] : ["Answered linearly, the error is at least ", errors.linear, "."],
      bound: noise ? [`With noise ${noise}, no state of ${d} has an error below `, errors.bound, "."] : ["Without noise the lower bound is 0: a digit can hide another number."],
      network: trained.flat().length ? errorOf(trained[0], kinds[0]) : ["No network was trained at this d and this noise."],
      ...Object.fromEntries(kinds.slice(1).map((kind, i) => [`network-${i + 2}`, errorOf(trained[i + 1], kind)])),
      attention: flat(noise).length ? ["Attention: error ", kept, `, the mean of what was measured for n = ${measuredFor(flat(noise))}.`]
        : [`Attention keeps ${n === 1 ? "the one" : `all ${n}`}: error at least `, kept, "."],
    };
    for (const [kind, [before, value, after]] of Object.entries(words)) {
      rows[kind].dataset.value = String(value ?? NaN);
      rows[kind].hidden = before === undefined;
      rows[kind].replaceChildren(before ?? "", ...(value === undefined ? [] : [make("strong", {}, show(value)), after]));
    }
    root.dataset.n = String(n);
    svg.setAttribute("aria-label", [title, ...Object.values(rows)].map((node) => node.textContent).join(" "));
    return svg.getAttribute("aria-label");
  }
  return {
    parts: [make("div", { class: "pa-bar" }, dLabel, nLabel, noiseLabel), settingChoice, svg, title, list],
    help: "Move n with the slider, or drag across the picture. The numbers are random, of variance 1.",
    draw,
  };
}

export default explorable({ name: "fixed", label: "The error of a fixed state", state: ["d", "n", "noise"],
  codes: () => ({ d: whole(1, 16), n: whole(1, 64), noise: number(0, 1) }), build });
