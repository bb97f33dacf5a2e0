// The attention weights of one query in two layers, under the words of its line; and probabilities of the next word.
const LAYERS = ["first layer", "second layer"];
const tiny = (x) => (x < 0.005 ? "0" : show(x));

/** The rows of a table of two layers, for `become`. `hidden` says which positions the mask hides from the query. */
function twoRows(caption, words, rows, hidden = () => false) {
  const top = words.map((word) => make("th", { scope: "col", class: "pa-key-name" }, make("span", {}, word)));
  const weight = (w, j) => make("td", { class: `pa-two-cell${hidden(j) ? " pa-gone" : w < 0.005 ? " pa-nought" : ""}`, "data-kind": "weight", "data-value": String(w), style: `--t: ${w.toFixed(3)}` },
    make("span", hidden(j) ? { class: "pa-hidden" } : {}, hidden(j) ? "hidden" : tiny(w)));
  return [make("caption", {}, caption), make("thead", {}, make("tr", {}, make("td", {}), ...top)),
    make("tbody", {}, ...rows.map((weights, n) => row(LAYERS[n], weights.map(weight))))];
}

/** The rows of a table of probabilities: `columns` names them, and each of `entries` is [word, probabilities, class]. */
function chanceRows(names, entries) {
  return [columns(["next word", ...names]), make("tbody", {}, ...entries.map(([word, list, kind]) => row(word, list.map((p) => numberCell("chance", p, p)), kind ? { class: kind } : {})))];
}

/** "Goku 0.95", as nodes. */
const given = (word, p) => [make("em", {}, word), ` ${show(p)}`];
