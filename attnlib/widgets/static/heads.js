// HeadViewer: trained heads on a sequence that can be changed; what each attends to, and what breaks without it.
const RELATIONS = ["previous", "match", "first"];
const STEP = 62, HEIGHT = 222, UPPER = 46, LOWER = 180;  // the drawing: a step a token, keys above, queries below
const GONE = "\u2013";

// Where each relation leads from token i, or -1.
function targets(letters, i) {
  return [i - 1, letters.lastIndexOf(letters[i], i - 1) < 0 || i === 0 ? -1 : letters.lastIndexOf(letters[i], i - 1), i > 0 ? 0 : -1];
}

function compute(now, tables) {
  const { letters, digits, used } = now;
  const [K, V, T, H] = tables.sizes;
  const token = (table, i) => table[letters[i]].map((x, n) => x + table[K + digits[i]][n] + table[K + V + i][n]);
  const [q, k, worth] = [tables.query_table, tables.key_table, tables.worth].map((table) => letters.map((_, i) => token(table, i)));
  const D = q[0].length / H;
  const part = (row, h, wide) => row.slice(h * wide, (h + 1) * wide);
  const weights = range(H).map((h) => letters.map((_, i) =>
    softmax(k.slice(0, i + 1).map((key) => dot(part(q[i], h, D), part(key, h, D)) / Math.sqrt(D)))));
  const points = letters.map((_, i) => targets(letters, i));
  const apart = range(T).filter((i) => points[i].every((at, r) => at >= 0 && points[i].indexOf(at) === r));  // three different tokens
  const scores = weights.map((head) => RELATIONS.map((_, r) =>
    (apart.length ? sum(apart.map((i) => head[i][points[i][r]])) / apart.length : NaN)));
  const answers = letters.map((_, i) => {
    const told = [...tables.bias];
    weights.forEach((head, h) => {
      if (used[h]) head[i].forEach((w, j) => part(worth[j], h, 3 * V).forEach((x, n) => { told[n] += w * x; }));
    });
    return RELATIONS.map((_, r) => softmax(told.slice(r * V, (r + 1) * V)));
  });
  return { weights, scores, answers, points };
}

const best = (shares) => shares.indexOf(Math.max(...shares));

function build({ model, state, update }) {
  const tables = Object.fromEntries(["sizes", "query_table", "key_table", "worth", "bias"].map((name) => [name, model.get(name)]));
  const [K, V, T, H] = tables.sizes;
  const letter = (n) => String.fromCharCode(97 + n);
  const change = (name, at, value) => update({ [name]: replaced(state()[name], at, value) });

  const [heads, putHead] = choice("Head", range(H).map((h) => String(h + 1)), (head) => update({ head }));
  const [tokens, putToken] = choice("Token that attends", range(T).map(() => ""), (token) => update({ token }));
  tokens.classList.add("pa-tokens");
  const [letters, putLetter] = choice("Its letter", range(K).map(letter), (n) => change("letters", state().token, n));
  const [digitLabel, putDigit] = slider("Its digit", { min: "0", max: String(V - 1), step: "1" },
    (n) => change("digits", state().token, n), String);
  const svg = canvas(T * STEP, HEIGHT);
  const [beams, boxes, numbers] = range(3).map(() => make("svg:g", {}));
  svg.append(beams, boxes, numbers);

  const switches = range(H).map((h) => toggle("", (on) => change("used", h, on), { "aria-label": `use head ${h + 1}` }));
  const body = make("tbody", {}, ...switches.map(([node], h) =>
    row(`head ${h + 1}`, [...RELATIONS.map(() => make("td", { "data-kind": "score" })), make("td", {}, node)])));
  const table = make("table", { class: "pa-scores" }, make("caption", {}, "Attention weight where the relation leads"),
    columns(["head", ...RELATIONS, "use it"]), body);
  const replies = make("table", { class: "pa-answers" }, make("caption", {}),
    columns(["relation", "right", "answer", "probability"]), make("tbody", {}));
  const total = make("p", { class: "pa-total" });

  // a click chooses; hovering shows for a moment what a token attends to, and chooses nothing
  const under = (event) => { const at = event.target.closest("[data-token]"); return at ? Number(at.dataset.token) : null; };
  let last = null;
  const preview = (token) => { if (last) picture(last.now, last.found, token ?? last.now.token); };
  svg.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") preview(under(event)); });
  svg.addEventListener("pointerleave", () => preview(null));
  svg.addEventListener("click", (event) => { const token = under(event); if (token !== null) update({ token }); });

  const middle = (i) => (i + 0.5) * STEP;
  const spell = (now) => now.letters.map((n, i) => letter(n) + now.digits[i]);
  function picture(now, { weights, points }, token) {
    const names = spell(now), given = weights[now.head][token];
    const lines = given.map((w, j) => line([middle(token), LOWER - 20], [middle(j), UPPER + 20], {
      class: "pa-beam", "stroke-width": String(1 + 11 * w), opacity: String(Math.min(1, 0.08 + w)), "data-value": String(w) }));
    const words = names.flatMap((name, i) => [UPPER, LOWER].map((y) => {
      const kinds = [y === LOWER && i === token && (token === now.token ? "pa-asks" : "pa-previews"), y === LOWER && i === now.token && "pa-asks",
        y === UPPER && i > token && "pa-unseen", y === UPPER && i === points[token][1] && "pa-match"].filter(Boolean);
      return make("svg:g", { class: ["pa-token", ...new Set(kinds)].join(" "), "data-token": String(i) },
        make("svg:rect", { x: middle(i) - 25, y: y - 19, width: "50", height: "38", rx: "8" }),
        svgText([middle(i), y + 7], name, { "text-anchor": "middle" }));
    }));
    const shares = given.map((w, j) => svgText([middle(j), UPPER - 26], w >= 0.05 ? show(w) : "", { "text-anchor": "middle", class: "pa-given" }));
    become(beams, lines);
    become(boxes, words);
    become(numbers, shares);
    svg.dataset.token = String(token);
    svg.classList.toggle("pa-off", !now.used[now.head]);
  }
  function draw(now) {
    const found = compute(now, tables);
    const { weights, scores, answers, points } = found;
    const { token, head } = now;
    const names = spell(now);
    last = { now, found };
    putHead(head);
    putToken(token);
    putLetter(now.letters[token]);
    putDigit(now.digits[token]);
    tokens.querySelectorAll("span").forEach((span, i) => (span.textContent = names[i]));

    const given = weights[head][token];
    picture(now, found, token);
    const top = best(given);
    const off = now.used[head] ? "" : " It is switched off: it adds nothing to the answers.";
    const told = `Head ${head + 1}: ${names[token]} gives most weight, ${show(given[top])}, to ${top === token ? "itself" : `token ${top + 1}, ${names[top]}`}.${off}`;
    svg.setAttribute("aria-label", told);

    body.querySelectorAll("tr").forEach((entry, h) => {
      entry.classList.toggle("pa-shown", h === head);
      entry.classList.toggle("pa-off", !now.used[h]);
      entry.querySelectorAll("[data-kind=score]").forEach((cell, r) => {
        const score = scores[h][r];
        cell.dataset.value = String(score);
        cell.textContent = Number.isNaN(score) ? GONE : show(score);
        cell.style.background = `rgba(var(--pa-weight-tint), ${0.4 * (score || 0)})`;
      });
    });
    switches.forEach(([, put], h) => put(now.used[h]));

    replies.querySelector("caption").textContent = `What ${names[token]} answers`;
    replies.querySelector("tbody").replaceChildren(...RELATIONS.map((name, r) => {
      const at = points[token][r];
      const said = best(answers[token][r]);
      const sure = answers[token][r][said];
      const right = at >= 0 && said === now.digits[at];
      const cells = at < 0 ? [GONE, GONE, GONE] : [String(now.digits[at]), `${said} ${right ? "\u2713" : "\u2717"}`, show(sure)];
      const shown = cells.map((text, n) => make("td", n === 2 ? { "data-kind": "sure", "data-value": String(at < 0 ? NaN : sure) } : {}, text));
      return row(name, shown, at < 0 ? {} : { class: right ? "pa-right" : "pa-wrong" });
    }));
    const asked = points.flatMap((p, i) => p.map((at, r) => [at, i, r]).filter(([at]) => at >= 0));
    const wrong = asked.filter(([at, i, r]) => best(answers[i][r]) !== now.digits[at]).map(([, i, r]) => `${RELATIONS[r]} of ${names[i]}`);
    const rightOnes = asked.length - wrong.length;
    const which = wrong.length === 1 ? `; wrong: ${wrong[0]}.` : ".";
    total.setAttribute("data-value", String(rightOnes));
    total.replaceChildren("All tokens: ", make("strong", {}, `${rightOnes} of ${asked.length}`), ` right${which}`);
    return `${told} ${total.textContent}`;
  }
  return {
    parts: [make("div", { class: "pa-bar" }, heads), svg, tokens, make("details", {}, make("summary", {}, "change the token"), make("div", { class: "pa-bar pa-edit" }, letters, digitLabel)),
      make("div", { class: "pa-main" }, table, make("div", {}, replies, total))],
    help: "Click a token, or choose it with the arrow keys. The lines are the weights of the chosen head, dashed and grey while it is switched off; a ring marks the last earlier token with the same letter, if there is one. The table of weights shows averages, over those tokens whose three relations lead to three different tokens.",
    draw,
  };
}

export default explorable({ name: "heads", label: "Trained heads on a sequence", state: ["letters", "digits", "token", "head", "used"], build,
  codes: (model) => {
    const [K, V, T, H] = model.get("sizes");
    return { letters: listOf(whole(0, K - 1), T, "_"), digits: listOf(whole(0, V - 1), T, "_"), token: whole(0, T - 1), head: whole(0, H - 1), used: listOf(flag(), H) };
  }, });
