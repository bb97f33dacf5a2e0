// MaskPainter: paint a mask; weights, row sums and leaks follow.

// Weights of each row: softmax over what is allowed, or over everything and zero afterwards.
function weigh(scores, mask, after) {
  return scores.map((row, i) => {
    if (after) return softmax(row).map((w, j) => (mask[i][j] ? w : 0));
    const open = row.map((_, j) => j).filter((j) => mask[i][j]);
    const part = open.length ? softmax(open.map((j) => row[j])) : [];
    return row.map((_, j) => (mask[i][j] ? part[open.indexOf(j)] : 0));
  });
}

// Which word (row) depends on which (column) through all layers. A layer adds to its input, so each depends on itself.
function dependencies(mask, after, layers) {
  const one = mask.map((row, i) => row.map((open, j) => i === j || (after ? row.some(Boolean) : open)));
  let depends = mask.map((row, i) => row.map((_, j) => i === j));
  for (let n = 0; n < layers; n++) {
    depends = one.map((row) => row.map((_, j) => row.some((open, k) => open && depends[k][j])));
  }
  return depends;
}

function build({ model, state, update, signal }) {
  const words = model.get("words");
  const scores = model.get("scores");
  const positions = range(words.length);
  const paint = (i, j, open) => {
    const { mask } = state();
    if (mask[i][j] !== open) update({ mask: replaced(mask, i, replaced(mask[i], j, open)) });
  };

  const presets = model.get("presets");
  const [starts, putStart] = choice("Mask", presets.map(({ name }) => name), (i) => update({ mask: presets[i].mask.map((row) => [...row]) }));
  const [layersLabel, putLayers] = slider("layers", { min: "1", max: "5", step: "1" }, (layers) => update({ layers }), String);
  const [afterLabel, putAfter] = toggle("zero the weights after the softmax instead", (after) => update({ after }));

  // One cell is in the tab order; arrows move from it.
  let at = [0, 0], painting = null, ignoreClick = false;
  const cells = positions.map((i) => positions.map((j) => {
    const cell = ownKeys(make("button", { type: "button", class: "pa-cell", tabindex: "-1" }));
    cell.addEventListener("focus", () => move(i, j));
    cell.addEventListener("keydown", (event) => {
      const [right, up] = ARROWS[event.key] ?? [0, 0];
      const edge = { Home: 0, End: words.length - 1 }[event.key];
      if (!right && !up && edge === undefined) return;
      event.preventDefault();
      cells[i - up]?.[edge ?? j + right]?.focus();
    });
    cell.addEventListener("click", () => { if (!ignoreClick) paint(i, j, !state().mask[i][j]); });
    cell.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;   // a finger taps, and scrolls the page
      painting = !state().mask[i][j];
      ignoreClick = true;
      paint(i, j, painting);
    });
    cell.addEventListener("pointerenter", (event) => {
      if (painting !== null && event.buttons & 1) paint(i, j, painting);
    });
    return cell;
  }));
  const lift = () => { painting = null; setTimeout(() => (ignoreClick = false)); };
  window.addEventListener("pointerup", lift, { signal });
  function move(i, j) {
    cells[at[0]][at[1]].tabIndex = -1;
    at = [i, j];
    cells[i][j].tabIndex = 0;
  }

  const sums = positions.map(() => make("td", { class: "pa-row-sum" }));
  const table = make("table", { class: "pa-mask" },
    make("caption", {}, "Weights: each row is a query"),
    columns(["query", ...words, "sum"]),
    make("tbody", {}, ...words.map((word, i) => row(word, [...cells[i].map((cell) => make("td", {}, cell)), sums[i]]))));
  const verdict = make("p", { class: "pa-verdict" });
  const detail = make("p", { class: "pa-detail" });
  const legend = make("p", { class: "pa-legend" });

  function draw({ mask, after, layers }) {
    const weights = weigh(scores, mask, after);
    const depends = dependencies(mask, after, layers);
    putLayers(layers);
    putAfter(after);
    putStart(presets.findIndex((preset) => JSON.stringify(preset.mask) === JSON.stringify(mask)));
    const leaking = [];
    let dotted = false;
    for (const i of positions) {
      for (const j of positions) {
        const cell = cells[i][j], open = mask[i][j], w = weights[i][j];
        const future = j > i && depends[i][j];
        const hidden = depends[i][j] && !open && i !== j;
        if (future) leaking.push(j);
        dotted ||= hidden;
        cell.dataset.value = String(w);
        cell.dataset.depends = String(depends[i][j]);
        cell.setAttribute("aria-pressed", String(open));
        cell.setAttribute("aria-label", `${words[i]} ${open ? "may" : "may not"} attend to ${words[j]}, weight ${show(w)}${future ? ", leaks" : ""}`);
        cell.textContent = open ? show(w) : hidden ? "\u25cf" : "\u2013";
        cell.classList.toggle("pa-open", open);
        cell.classList.toggle("pa-leak", future);
        cell.style.setProperty("--w", String(0.06 + 0.34 * w));
      }
      const total = sum(weights[i]);
      const masked = !mask[i].some(Boolean);
      sums[i].dataset.value = String(total);
      sums[i].textContent = masked ? "masked" : show(total);
      sums[i].classList.toggle("pa-off", Math.abs(total - 1) > 1e-9);
    }
    cells[at[0]][at[1]].tabIndex = 0;
    const n = leaking.length;
    verdict.dataset.leaks = String(n);
    verdict.replaceChildren(make("strong", {}, n ? "Causal: no. " : "Causal: yes. "),
      n ? `${counted(n, "pair lets", "pairs let")} a word depend on a later one: ${pairs(depends)}.` : "No word depends on a later one.");
    verdict.classList.toggle("pa-bad", n > 0);
    const masked = words.filter((_, i) => !mask[i].some(Boolean)).length;
    detail.textContent = `${mask.flat().filter(Boolean).length} of ${words.length ** 2} cells are open`
      + (masked ? `; ${counted(masked, "query is fully masked: its output is zero", "queries are fully masked: their outputs are zero")}` : "")
      + (after ? "; rows no longer sum to 1." : ".");
    const dots = after ? "\u25cf hidden, but the row depends on it: its score is in the sum by which the row was divided."
      : "\u25cf hidden, but the row depends on it: through another word, a layer earlier.";
    legend.textContent = [dotted ? dots : "", n ? "Orange frame: from the future." : ""].join(" ").trim();
    return verdict.textContent;
  }
  // At most three of them by name, with positions, since two words are spelt alike.
  function pairs(depends) {
    const all = positions.flatMap((i) => positions.filter((j) => j > i && depends[i][j]).map((j) => `${words[i]} (${i + 1}) on ${words[j]} (${j + 1})`));
    return all.slice(0, 3).join(", ") + (all.length > 3 ? ", \u2026" : "");
  }
  return {
    parts: [starts, make("div", { class: "pa-bar" }, layersLabel, afterLabel), table, legend, verdict, detail],
    help: "Click or drag to open and close cells; or walk with the arrow keys and press Space.",
    draw,
  };
}

export default explorable({ name: "masks", label: "A mask to paint", state: ["mask", "after", "layers"],
  codes: (model) => ({ mask: listOf(listOf(flag(), model.get("words").length), model.get("words").length, "-"), after: flag(), layers: whole(1, 5) }), build });
