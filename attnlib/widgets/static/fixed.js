// FixedState: n numbers are read, d are kept, one is asked for; what is lost.
const SIZES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];   // n, on the slider and under the hand
const WIDE = 560, HIGH = 300; // in drawing units
const MARGINS = { left: 46, right: 16, top: 30, bottom: 44 };
const CURVE = range(121).map((i) => 64 ** (i / 120));       // the n that curves are drawn through

const linear = (d, n) => Math.max(0, 1 - d / n);
// No state of d numbers between -1 and 1 with this noise loses less: the bits that come out are at most those that went in.
const lowest = (d, n, noise) => (noise ? (1 + noise ** -2) ** (-d / n) : 0);

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

  const [dLabel, putD] = slider("the state keeps d", { min: "1", max: "16", step: "1" }, (d) => update({ d }), String);
  const [nLabel, putN] = picker("it reads n", {}, () => [...new Set([...SIZES, state().n])].sort((a, b) => a - b), (n) => update({ n }), String);
  const [noiseLabel, putNoise] = slider("noise on each", { min: "0", max: "1", step: "0.05" },
    (noise) => update({ noise }), (noise) => (noise ? show(noise) : "none"));
  const [settingChoice, putSetting] = choice("Measured at", settings.map(({ d, noise }) => `d = ${d}, ${noise ? `noise ${noise}` : "no noise"}`),
    (i) => update({ d: settings[i].d, noise: settings[i].noise }));
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
    axisName([4, 13], "share lost \u2191"));
  const region = make("svg:path", { class: "pa-region" });
  const straight = make("svg:path", { class: "pa-linear" });
  const everything = make("svg:path", { class: "pa-attention" });
  const marker = make("svg:path", { class: "pa-here" });
  const ends = Object.fromEntries(["linear", "floor"].map((kind) => [kind, make("svg:circle", { r: "5", class: `pa-${kind}-end` })]));
  const dots = make("svg:g", {});
  const names = Object.fromEntries(["forbidden", "linear", "attention", "network"].map((kind) => [kind, make("svg:text", { class: `pa-name pa-${kind}-name` })]));
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
  const rows = Object.fromEntries(["linear", "floor", "network", "attention"].map((kind) => [kind, make("li", { "data-kind": kind })]));
  const list = make("ul", { class: "pa-readings" }, ...Object.values(rows));

  const put = (node, [x, y], text, anchor) => {
    for (const [name, value] of Object.entries({ x, y, "text-anchor": anchor })) node.setAttribute(name, value);
    node.textContent = text;
  };
  function draw(now) {
    const { d, n, noise } = now;
    putD(d);
    putN(n);
    putNoise(noise);
    putSetting(settings.findIndex((s) => s.d === d && s.noise === noise));

    const floor = (m) => lowest(d, m, noise);
    region.setAttribute("d", `${path(CURVE.map((m) => [m, floor(m)]))}L${at(64)} ${up(0)}L${at(1)} ${up(0)}Z`);
    straight.setAttribute("d", path(CURVE.map((m) => [m, linear(d, m)])));
    const kept = attention(noise);
    everything.setAttribute("d", path([[1, kept], [64, kept]]));
    marker.setAttribute("d", path([[n, 0], [n, 1]]));
    const shares = { linear: linear(d, n), floor: floor(n), attention: kept };
    for (const kind of ["linear", "floor"]) {
      ends[kind].setAttribute("cx", at(n));
      ends[kind].setAttribute("cy", up(shares[kind]));
    }
    const trained = found(now);
    const spot = (p, kind) => make("svg:circle", { cx: at(p.n), cy: up(p.lost), r: p.n === n ? "8" : "6", class: `pa-spot pa-${kind}`,
      "data-n": p.n, "data-value": p.lost });
    dots.replaceChildren(...flat(noise).map((p) => spot(p, "flat")), ...trained.map((p) => spot(p, "network")));

    const high = floor(64);
    const inside = [at(64) - 10, up(0.5 * high) + 5];
    put(names.forbidden, inside, "", "end");
    if (high > 0.25) names.forbidden.append(...[`no state of ${d}`, "gets here"].map((part, i) => make("svg:tspan", { x: inside[0], dy: i ? "1.2em" : "0" }, part)));
    const half = Math.min(2 * d, 32);
    put(names.linear, half < 5 ? [at(64), up(linear(d, 64)) - 8] : [at(half) - 12, up(linear(d, half)) + 5], "answered linearly", "end");
    put(names.attention, [at(1) + 6, up(kept) - 8], "attention", "start");
    const last = trained.toSorted((p, q) => q.n - p.n)[0];
    put(names.network, last ? [at(last.n) - 12, up(last.lost) - 4] : [0, 0], last ? last.kind : "", "end");

    title.replaceChildren("Read ", make("strong", {}, String(n)), `, keep ${d}, give back the one asked for.`);
    const here = trained.filter((p) => p.n === n);
    const words = {
      linear: ["Answered linearly, at least ", shares.linear, " is lost."],
      floor: noise ? [`With noise ${noise}, no state of ${d} gets below `, shares.floor, "."] : ["Without noise there is no floor: a digit can hide another number."],
      network: here.length ? [`A trained ${here[0].kind} lost `, here[0].lost, "."]
        : trained.length ? [`Measured for n = ${trained.map((p) => p.n).sort((p, q) => p - q).join(", ")}: the dots.`]
        : ["No network was trained for this d and this noise."],
      attention: [`Attention keeps ${n === 1 ? "the one" : `all ${n}`}: `, kept, flat(noise).length ? " lost, whatever n." : " lost at the least, whatever n."],
    };
    for (const [kind, [before, value, after]] of Object.entries(words)) {
      rows[kind].dataset.value = String(value ?? NaN);
      rows[kind].replaceChildren(before, ...(value === undefined ? [] : [make("strong", {}, show(value)), after]));
    }
    root.dataset.n = String(n);
    svg.setAttribute("aria-label", [title, ...Object.values(rows)].map((node) => node.textContent).join(" "));
    return svg.getAttribute("aria-label");
  }
  return {
    parts: [make("div", { class: "pa-bar" }, dLabel, nLabel, noiseLabel), settingChoice, svg, title, list],
    help: "Move n with the slider, or drag across the picture. Numbers are random; lost is the mean squared error.",
    draw,
  };
}

export default explorable({ name: "fixed", label: "What a fixed state loses", state: ["d", "n", "noise"],
  codes: () => ({ d: whole(1, 16), n: whole(1, 64), noise: number(0, 1) }), build });
