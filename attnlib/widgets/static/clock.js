// PositionClock: a query and a key as the hands of four clocks, and their score by their distance.
const KINDS = [["sinusoid", "added sinusoids"], ["rotary", "rotary"], ["alibi", "ALiBi"]];
const BASES = [10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 1000000];
const HANDS = 4, FARTHEST = 64, PLACES = 100, BACK = 16;
const WIDE = 560, TEXT_HIGH = 72, CLOCKS_HIGH = 204, CHART_HIGH = 222;   // in drawing units
const RADIUS = 54, MIDDLE = 112;
const MARGINS = { left: 44, right: 14, top: 30, bottom: 34 };
const TICKS = { sinusoid: [-8, 0, 8, 16], rotary: [-4, -2, 0, 2, 4], alibi: [-12, -8, -4, 0, 4] };   // of the scores

// An arrow is [up, right]: it starts at twelve o'clock and turns clockwise, as a hand does.
const turned = ([up, right], angle) => [up * Math.cos(angle) - right * Math.sin(angle), up * Math.sin(angle) + right * Math.cos(angle)];
const speeds = (base) => range(HANDS).map((i) => base ** (-2 * i / (2 * HANDS)));
const slope = (head) => 2 ** -head;

/** The four arrows of a query or a key at a position; a query is turned back. */
function hands({ kind, base, back }, place, asks) {
  return speeds(base).map((speed) => {
    if (kind === "alibi") return [1, 0];
    const [up, right] = turned([1, 0], place * speed);
    const arrow = kind === "sinusoid" ? [1 + up, right] : [up, right];
    return asks ? turned(arrow, -back * speed) : arrow;
  });
}

function score(now, key, distance) {
  const q = hands(now, key + distance, true), k = hands(now, key, false);
  return sum(q.map((arrow, i) => dot(arrow, k[i]))) - (now.kind === "alibi" ? slope(now.head) * distance : 0);
}

/** The lowest and the highest score of each distance, over all positions. */
let known = ["", null];
function band(now) {
  const name = [now.kind, now.base, now.back, now.head].join();
  if (known[0] !== name) {
    const all = range(FARTHEST + 1).map((distance) => range(PLACES + 1).map((key) => score(now, key, distance)));
    known = [name, all.map((one) => [Math.min(...one), Math.max(...one)])];
  }
  return known[1];
}

/** Let a drawing be dragged along: `run` gets where the hand is, and where it began, as shares of the width. */
function dragged(svg, begin, run) {
  const share = (event) => {
    const box = svg.getBoundingClientRect();
    return (event.clientX - box.left) / box.width;
  };
  svg.addEventListener("pointerdown", (event) => {
    const from = share(event), start = begin();
    const follow = (e) => run(share(e), from, start);
    svg.setPointerCapture(event.pointerId);
    follow(event);
    svg.addEventListener("pointermove", follow);
    const stop = () => svg.removeEventListener("pointermove", follow);
    for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, stop, { once: true });
  });
}

const grouped = (x) => (x < 100 ? x.toFixed(1) : Math.round(x).toLocaleString("en-US"));

function build({ state, update }) {
  const [kindChoice, putKind] = choice("Positions", KINDS.map(([, name]) => name), (i) => update({ kind: KINDS[i][0] }));
  const [distanceLabel, putDistance] = slider("distance", { min: "0", max: String(FARTHEST), step: "1" }, (distance) => update({ distance }), String);
  const [placeLabel, putPlace] = slider("move both", { min: "0", max: String(PLACES), step: "1" }, (place) => update({ place }), (place) => `from ${place}`);
  const [baseLabel, putBase] = picker("base", {}, () => BASES, (base) => update({ base }), (base) => base.toLocaleString("en-US"));
  const [backLabel, putBack] = slider("query attends", { min: "0", max: String(BACK), step: "1" }, (back) => update({ back }), (back) => `${back} back`);
  const [headLabel, putHead] = slider("head", { min: "1", max: "8", step: "1" }, (head) => update({ head }), (head) => `${head}: 1/${2 ** head}`);

  // the text: a line of positions with query and key on it
  const text = canvas(WIDE, TEXT_HIGH);
  const long = WIDE - 48, at = (place) => 24 + place / (PLACES + FARTHEST) * long;
  const words = make("svg:g", {});
  text.append(line([at(0), 38], [at(PLACES + FARTHEST), 38], { class: "pa-axis" }), words);
  dragged(text, () => state().place, (now, from, place) =>
    update({ place: clamp(Math.round(place + (now - from) * WIDE / long * (PLACES + FARTHEST)), 0, PLACES) }));

  const clocks = canvas(WIDE, CLOCKS_HIGH);
  const dials = make("svg:g", {});
  clocks.append(dials);

  const { svg, across, down, level } = chart(WIDE, CHART_HIGH, MARGINS);
  const frame = make("svg:g", {}), curves = make("svg:g", {});
  const clip = freshId("clock-frame");
  svg.append(make("svg:defs", {}, make("svg:clipPath", { id: clip },
    make("svg:rect", { x: MARGINS.left, y: MARGINS.top - 4, width: WIDE - MARGINS.left, height: CHART_HIGH - MARGINS.top - MARGINS.bottom + 8 }))), frame, curves);

  dragged(svg, () => 0, (now) => update({ distance: clamp(Math.round((now * WIDE - across(0)) / (across(1) - across(0)) * FARTHEST), 0, FARTHEST) }));

  const result = make("p", { class: "pa-score" });
  const verdict = make("p", { class: "pa-verdict" });

  function drawText({ place, distance }) {
    const [key, query] = [at(place), at(place + distance)];
    become(words, [
      line([key, 38], [query, 38], { class: "pa-between" }),
      make("svg:circle", { cx: hundredths(key), cy: "38", r: "6", class: "pa-key" }),
      make("svg:circle", { cx: hundredths(query), cy: "38", r: "6", class: "pa-query" }),
      svgText([clamp(key, 60, WIDE - 60), 66], `key at ${place}`, { class: "pa-key-name", "text-anchor": "middle" }),
      svgText([clamp(query, 70, WIDE - 70), 22], `query at ${place + distance}`, { class: "pa-query-name", "text-anchor": "middle" }),
    ]);
    text.setAttribute("aria-label", `The key is at position ${place}, the query at ${place + distance}: distance ${distance}.`);
  }

  function dial(i, q, k, { kind, base }) {
    const x = (i + 0.5) * WIDE / HANDS, unit = kind === "sinusoid" ? RADIUS / 2 : RADIUS - 3;
    const tip = ([up, right]) => [x + right * unit, MIDDLE - up * unit];
    const still = kind === "alibi";
    const wedge = [tip(k), tip(q)].map(([a, b]) => `${hundredths(a)} ${hundredths(b)}`);
    return make("svg:g", { class: still ? "pa-dial pa-standing" : "pa-dial" },
      make("svg:circle", { cx: x, cy: MIDDLE, r: RADIUS, class: "pa-rim" }),
      line([x, MIDDLE - RADIUS], [x, MIDDLE - RADIUS + 7], { class: "pa-tick" }),
      make("svg:path", { d: `M${x} ${MIDDLE}L${wedge[0]}L${wedge[1]}z`, class: "pa-wedge" }),
      line([x, MIDDLE], kind === "sinusoid" ? tip([1, 0]) : [x, MIDDLE], { class: "pa-word" }),
      line([x, MIDDLE], tip(k), { class: "pa-key-hand" }),
      line([x, MIDDLE], tip(q), { class: "pa-query-hand" }),
      svgText([x, 44], still ? "never" : grouped(2 * Math.PI / speeds(base)[i]), { class: "pa-axis-name", "text-anchor": "middle" }),
      svgText([x, CLOCKS_HIGH - 10], show(dot(q, k)), { class: "pa-share-name", "text-anchor": "middle", "data-value": String(dot(q, k)) }));
  }

  function drawChart(now) {
    const ticks = TICKS[now.kind], low = ticks[0], high = ticks.at(-1);
    const up = (value) => down((high - clamp(value, 2 * low - high, high)) / (high - low));
    const over = (distance) => across(distance / FARTHEST);
    const point = (distance, value) => `${over(distance).toFixed(2)} ${up(value).toFixed(2)}`;
    become(frame, [
      ...ticks.flatMap((value) => [level(up(value), value ? "pa-grid" : "pa-axis"),
        axisName([MARGINS.left - 7, up(value) + 5], show(value).slice(0, -3), { "text-anchor": "end" })]),
      ...[0, 16, 32].map((n) => axisName([over(n), CHART_HIGH - 10], String(n), { "text-anchor": "middle" })),
      axisName([WIDE - MARGINS.right, CHART_HIGH - 10], "distance \u2192", { "text-anchor": "end" }),
      axisName([MARGINS.left + 4, 18], "score"),
    ]);
    const edges = band(now), curve = range(FARTHEST + 1).map((distance) => score(now, now.place, distance));
    const area = [...edges.map(([, top], n) => point(n, top)), ...edges.map(([bottom], n) => point(n, bottom)).reverse()];
    become(curves, [
      make("svg:path", { d: `M${area.join("L")}z`, class: "pa-band", "clip-path": `url(#${clip})` }),
      make("svg:path", { d: `M${curve.map((value, n) => point(n, value)).join("L")}`, class: "pa-curve", "clip-path": `url(#${clip})`, "data-value": curve.join(" ") }),
      make("svg:circle", { cx: over(now.distance).toFixed(2), cy: up(Math.max(curve[now.distance], low)).toFixed(2), r: "7", class: "pa-now" }),
    ]);
    return [curve[now.distance], ...edges[now.distance]];
  }

  function draw(now) {
    const { kind, place, distance } = now;
    putKind(KINDS.findIndex(([name]) => name === kind));
    putDistance(distance); putPlace(place); putBase(now.base); putBack(now.back); putHead(now.head);
    baseLabel.hidden = backLabel.hidden = kind === "alibi";
    headLabel.hidden = kind !== "alibi";
    const q = hands(now, place + distance, true), k = hands(now, place, false);
    drawText(now);
    become(dials, [axisName([4, 18], "positions for a whole turn"), ...range(HANDS).map((i) => dial(i, q[i], k[i], now))]);
    const [value, lowest, highest] = drawChart(now);
    const parts = q.map((arrow, i) => show(dot(arrow, k[i])));
    const less = kind === "alibi" ? ` \u2212 ${distance} / ${2 ** now.head}` : "";
    Object.assign(result.dataset, { value, lowest, highest });
    result.replaceChildren("score = ", make("span", { class: "pa-parts" }, parts.join(" + ").replaceAll("+ \u2212", "\u2212 ") + less), " = ", make("strong", {}, show(value)));
    const stays = highest - lowest < 1e-6;
    verdict.textContent = stays ? `At distance ${distance} the score is ${show(value)} at all positions.`
      : `At distance ${distance} the score is from ${show(lowest)} to ${show(highest)}, depending on the positions.`;
    clocks.setAttribute("aria-label", `Four clocks. Dot products of query and key: ${parts.join(", ")}.`);
    svg.setAttribute("aria-label", `The score against the distance from 0 to ${FARTHEST}. ${verdict.textContent}`);
    return `Score ${show(value)}. ${verdict.textContent}`;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, kindChoice, distanceLabel, placeLabel, baseLabel, backLabel, headLabel), text, clocks, result, svg, verdict],
    help: "Each clock is a pair of features, with a hand for the query and one for the key; the number below is their dot product, not yet divided by \u221ad. Drag query and key along their line, or the dot along the curve. Added sinusoids show two things more: dashed, the embedding before its position is added, and a band, the scores of that distance at all positions.",
    draw,
  };
}

export default explorable({ name: "clock", label: "The clock of positions", state: ["kind", "place", "distance", "base", "back", "head"],
  codes: () => ({ kind: oneOf(KINDS.map(([name]) => name)), place: whole(0, PLACES), distance: whole(0, FARTHEST), base: oneOf(BASES), back: whole(0, BACK), head: whole(1, 8) }), build });
