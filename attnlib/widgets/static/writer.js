// Writer: the stored model writes in the page; what every head attends to, and what becomes of the text without it.
const START = 12;                // the page break: before every text, and the model's own sign that it is done
const LONGEST = 1000;            // characters of a beginning
const SHOWN = 6;                 // tokens that may come next
const PACE = 40, SLICE = 30;     // milliseconds from token to token, and of work between two frames: two of a screen's
const FINEST = 64;               // squares across a head in small
const PATIENCE = 20000;          // milliseconds until the weights must be there

/** The words of a token in a sentence or a table. A token comes as a text with a character for each of its bytes. */
function nameOf(token, place) {
  if (token === "\f") return place === 0 ? "start" : "end";
  return /^ +$/.test(token) ? "space" : /^\n+ *$/.test(token) ? "new line" : visible(token);
}
/** Whether a token is named by what it does, not by its letters. */
const isSign = (token) => /^(\f|\n+ *| +)$/.test(token);
const visible = (token) => token.replace(/[^\n -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);

/** Let the page draw; one that nobody sees draws nothing, and is not waited for. */
const frame = () => new Promise((go) => { requestAnimationFrame(go); setTimeout(go, 100); });
const pause = (milliseconds) => new Promise((go) => { setTimeout(go, milliseconds); });

/** The text that was written in Python: { tokens, given, next(i), weights(layer, head, i) }. */
function storedText({ settings, tokens, ids, given, next, weights }, { layers, heads }) {
  const bytes = Uint8Array.from(atob(weights), (c) => c.charCodeAt(0)), shares = new Uint16Array(bytes.buffer);
  const T = tokens.length, before = (i) => (settings.causal ? i * (i + 1) / 2 : i * T);    // numbers above row i
  const row = (l, h, i) => (l * heads + h) * before(T) + before(i);
  const all = range(layers).map((l) => range(heads).map((h) => range(T).map((i) => Float32Array.from(shares.subarray(row(l, h, i), row(l, h, i + 1)), (x) => x / 65535))));
  return { tokens, ids, given, next: (i) => next[i], weights: (l, h, i) => all[l][h][i] };
}

/** A text that the model writes here; it grows. */
function liveText(run, given, spell, temperature) {
  const next = (i) => {
    const found = shares(run.logits(i), temperature);
    return range(found.length).sort((a, b) => found[b] - found[a]).slice(0, SHOWN).map((token) => [spell(token), found[token]]);
  };
  return { run, tokens: [], given, next, weights: (l, h, i) => run.weights[l][h][i] };
}

/** A head in small, as an address of a picture that is a mask for the colour of weights. */
function inSmall(rows) {
  const T = rows.length, n = Math.min(T, FINEST);
  const picture = Object.assign(document.createElement("canvas"), { width: n, height: n });
  const pen = picture.getContext("2d"), image = pen.createImageData(n, n);
  rows.forEach((row, i) => row.forEach((w, s) => {
    const at = 4 * (Math.floor(i * n / T) * n + Math.floor(s * n / T)) + 3;
    image.data[at] = Math.max(image.data[at], 17 * Math.round(15 * Math.sqrt(w)));    // sixteen shades: fewer bytes
  }));
  pen.putImageData(image, 0, 0);
  return picture.toDataURL();
}

/** Ask for the weights, once: Python answers, or on the published page a script that is fetched now. */
function weightsOf(model, signal) {
  return new Promise((arrived, failed) => {
    const hear = (answer, buffers) => {
      if (answer?.missing) return done(failed, new Error("the weights did not come"));
      if (answer?.header) done(arrived, [answer.header, buffers[0]]);
    };
    const done = (how, what) => { model.off("msg:custom", hear); clearTimeout(late); how(what); };
    const late = setTimeout(() => done(failed, new Error("the weights did not come in time")), PATIENCE);
    signal.addEventListener("abort", () => done(failed, signal.reason));
    model.on("msg:custom", hear);
    model.send({ ask: "writer_weights" });
  });
}

function build({ root, model, state, update, redraw, signal }) {
  const sizes = model.get("sizes"), { layers, heads, positions, length } = sizes, megabytes = `${(sizes.bytes / 1e6).toFixed(1)} MB`;
  const keyOf = ({ prompt, temperature, seed, used, causal }) => JSON.stringify([prompt, temperature, seed, used, causal]);
  const stored = { ...storedText(model.get("sample"), sizes), key: keyOf(model.get("sample").settings) };
  let shown = stored;            // what stands in the text
  let wanted = stored.key;       // what it is to be written for
  let engine = null;             // the model, once its weights are here
  let job = null;                // the writing that goes on now

  // Controls
  const field = ownKeys(make("input", { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false" }));
  const trouble = make("p", { class: "pa-trouble", id: freshId("writer-trouble"), role: "alert" }), note = make("p", { class: "pa-note" });
  const main = button("Start", () => (job ? stop() : start(field.value)));
  main.className = "pa-play";
  const step = button("One token", () => more(1)), further = button("More", () => more(length));
  const beginnings = make("div", { class: "pa-beginnings", role: "group", "aria-label": "Beginnings" },
    ...model.get("beginnings").map((words) => button(words, () => (engine ? take(words) : start(words)))));
  const [heat, putHeat] = slider("Temperature", { min: "0", max: "1.5", step: "0.1" }, (temperature) => update({ temperature }), (x) => (x ? x.toFixed(1) : "0, greedy"));
  const seed = make("output", {}), another = button("Another", () => update({ seed: state().seed % 999 + 1 }));
  const seeds = make("div", { class: "pa-seed" }, make("span", {}, "Seed"), seed, another);

  const text = ownKeys(make("div", { class: "pa-text", tabindex: "0", role: "group", "aria-label": "The text, token by token. Arrow keys choose one." }));
  const said = make("p", { class: "pa-said" });
  const thumbs = range(layers * heads).map(() => make("span", { class: "pa-thumb" }));
  const headName = (n) => `layer ${Math.floor(n / heads) + 1}, head ${n % heads + 1}`;
  const [map, putHead] = choice("Layers down, heads across", thumbs.map((thumb, n) => make("span", { class: "pa-small" }, thumb, make("span", { class: "pa-hidden" }, headName(n)))),
    (n) => update({ layer: Math.floor(n / heads), head: n % heads }));
  map.classList.add("pa-map");
  map.style.setProperty("--pa-heads", String(heads));
  const [use, putUse] = toggle("in use", (used) => { const { layer, head } = state(); update({ used: replaced(state().used, layer * heads + head, used) }); });
  const [useLayer, putLayer] = toggle("its layer", (used) => { const { layer } = state(); update({ used: state().used.map((was, n) => (Math.floor(n / heads) === layer ? used : was)) }); });
  const [mask, putMask] = toggle("causal mask", (causal) => update({ causal }));
  const table = make("table", { class: "pa-next" }, make("caption", {}), make("tbody", {}));

  // Starting, stopping, going on
  function complain(words) {
    trouble.textContent = words;
    field[words ? "setAttribute" : "removeAttribute"]("aria-invalid", "true");
    field[words ? "setAttribute" : "removeAttribute"]("aria-describedby", trouble.id);
  }
  /** Use a beginning, or say why not; what cannot be used stays in the field. */
  function take(words) {
    field.value = words;
    const problem = !words.trim() ? "Type a beginning, or take one of those offered." : words.length > LONGEST ? `A beginning has at most ${LONGEST} characters; this one has ${words.length}.` : tooLong(words);
    complain(problem);
    if (!problem && words !== state().prompt) update({ prompt: words });
    return !problem;
  }
  function tooLong(words) {
    const tokens = engine ? engine.encode(words).length : 0, room = positions - 1 - length;
    return tokens > room ? `The model has room for a beginning of ${room} tokens; this one has ${tokens}.` : "";
  }
  /** The model; its weights are fetched when it is first asked for. */
  async function ready() {
    if (engine) return true;
    const own = job = {};
    settle(state());
    try {
      const [header, data] = await weightsOf(model, signal);
      const { encode, bytes } = bytePairs(header.merges);
      const spell = bytes.map((list) => String.fromCharCode(...list));
      engine = { encode, spell: (token) => spell[token], ...decoder(header.model, unpacked(header, data)) };
    } catch {
      if (!signal.aborted) complain("The model could not be fetched. Try once more, or load the page again.");
    }
    if (job !== own) return false;             // stopped meanwhile
    job = null;
    if (!signal.aborted) settle(state());
    return engine !== null && !signal.aborted;
  }
  async function start(words) {
    if (take(words) && await ready() && take(words)) write(state());
  }
  async function more(count) {
    if (!take(field.value) || !await ready()) return;
    if (wanted !== keyOf(state()) || shown.key !== wanted) return write(state(), count);
    if (shown.over) return;
    work(async (goes) => {
      if (!shown.run) {                        // the stored text goes on here
        const now = state(), text = fresh(now);
        if (!await goes(text.run.read(shown.ids))) return;
        text.tokens = shown.tokens.slice();
        shown = text;
      }
      await goOn(goes, count);
    });
  }
  const fresh = (now) => {
    const used = range(layers).map((l) => now.used.slice(l * heads, (l + 1) * heads));
    const given = 1 + engine.encode(now.prompt).length;
    return { ...liveText(engine.begin({ used, causal: now.causal }), given, engine.spell, now.temperature), key: keyOf(now), now };
  };
  /** Write anew. */
  function write(now, count = length) {
    wanted = keyOf(now);
    work(async (goes) => {
      const text = fresh(now), tokens = [START, ...engine.encode(now.prompt)];
      if (!await goes(text.run.read(tokens))) return;
      text.tokens = tokens.map(engine.spell);
      shown = text;
      await goOn(goes, count);
    });
  }
  /** Token by token, as long as nobody stops it. */
  async function goOn(goes, count) {
    const { run, now } = shown;
    for (let n = 0; n < count; n++) {
      const began = performance.now(), place = run.tokens.length;
      if (place === positions) { shown.over = `All ${positions} positions of the model are taken: it has no room to go on.`; return; }
      const token = chosen(run.logits(place - 1), now.temperature, now.seed, place);
      if (token === START) { shown.over = "Here the model ended its text."; return; }
      if (!await goes(run.read([token]))) return;
      shown.tokens.push(engine.spell(token));
      paint(state(), n % 6 === 0);
      if (!await goes.after(PACE - (performance.now() - began))) return;
    }
  }
  /** Run a job in slices; one that is begun or a stop ends the one before. */
  async function work(run) {
    const own = job = {};
    const alive = () => job === own && !signal.aborted;
    let until = performance.now() + SLICE;
    const goes = async (steps) => {
      for (const _ of steps) {
        if (performance.now() < until) continue;
        await frame();
        if (!alive()) return false;
        until = performance.now() + SLICE;
      }
      return alive();
    };
    goes.after = async (milliseconds) => { await (milliseconds > 0 ? pause(milliseconds) : frame()); until = performance.now() + SLICE; return alive(); };
    buttons(state());
    await run(goes);
    if (!alive()) return;
    job = null;
    redraw();
  }
  function stop() {
    job = null;
    redraw();
  }

  field.addEventListener("keydown", (event) => { if (event.key === "Enter") { start(field.value); consume(event); } });
  root.addEventListener("keydown", (event) => { if (event.key === "Escape" && job) { stop(); consume(event); } });

  // Choosing a token: by a click, the arrow keys, or for a moment by pointing at it
  const under = (event) => { const at = event.target.closest?.("[data-token]"); return at ? Number(at.dataset.token) : null; };
  text.addEventListener("click", (event) => { const token = under(event); if (token !== null) update({ token }); });
  text.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse" && !job) point(state(), under(event)); });
  text.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && !job) point(state()); });
  const place = (now) => (now.token < 0 ? shown.tokens.length - 1 : Math.min(now.token, shown.tokens.length - 1));
  text.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = shown.tokens.length - 1, [right, up] = ARROWS[event.key] ?? [0, 0];
    const to = { Home: 0, End: last }[event.key] ?? (right || up ? clamp(place(state()) + right - up, 0, last) : null);
    if (to === null) return;
    update({ token: to });
    consume(event);
  });

  // Drawing
  const quoted = (i) => (isSign(shown.tokens[i]) ? nameOf(shown.tokens[i], i) : `\u201c${nameOf(shown.tokens[i], i)}\u201d`);
  /** What the chosen token, or one that is pointed at, attends to, and what is likely to follow it. */
  function point(now, pointed = null) {
    const at = pointed ?? place(now), given = shown.weights(now.layer, now.head, at);
    become(text, shown.tokens.map((token, i) => {
      const kinds = ["pa-token", i < shown.given && "pa-given", i === at && "pa-asks", i === 0 && "pa-sign"].filter(Boolean);
      const w = given[i] ?? 0;
      return make("span", { class: kinds.join(" "), "data-token": String(i), "data-value": String(w), style: `--w: ${Math.sqrt(w).toFixed(3)}` }, i === 0 ? "start" : visible(token).replace(/\n/g, "\u21b5\n"));
    }));
    const top = given.indexOf(Math.max(...given));
    const off = !now.used[now.layer * heads + now.head];
    said.replaceChildren(`Layer ${now.layer + 1}, head ${now.head + 1}${off ? ", switched off" : ""}: `, make("em", { class: "pa-query-name" }, quoted(at)),
      ` ${off ? "would give" : "gives"} most weight, ${show(given[top])}, to `, top === at ? "itself" : make("em", { class: "pa-key-name" }, quoted(top)), ".");
    table.querySelector("caption").textContent = now.temperature ? "Next token" : "Next token: the first";
    become(table.querySelector("tbody"), shown.next(at).map(([token, share]) => {
      const taken = token === shown.tokens[at + 1];
      return row(make("span", { class: isSign(token) ? "pa-token pa-sign" : "pa-token" }, nameOf(token, at + 1)), [numberCell("next", share, share)], taken ? { class: "pa-taken" } : { class: "pa-left" });
    }));
    text.dataset.asks = String(at);
  }
  function paint(now, whole = true) {
    point(now);
    if (now.token < 0 && job) text.scrollTop = text.scrollHeight;
    if (!whole) return;
    thumbs.forEach((thumb, n) => {
      thumb.style.setProperty("--pa-picture", `url(${inSmall(shown.tokens.map((_, i) => shown.weights(Math.floor(n / heads), n % heads, i)))})`);
      thumb.classList.toggle("pa-off", !now.used[n]);
    });
  }
  function buttons(now) {
    main.textContent = job ? "Stop" : engine ? "Write" : "Start";
    main.classList.toggle("pa-stop", job !== null);
    for (const node of [step, further]) node.disabled = Boolean(job || shown.over);
    another.disabled = now.temperature === 0;
    root.dataset.writing = String(job !== null);
  }
  function tell(now) {
    const odd = [...new Set(now.prompt.match(/[^\n\f -~]/gu) ?? [])];
    const named = odd.slice(0, 3).map((one) => (/\p{C}/u.test(one) ? `U+${one.codePointAt(0).toString(16).toUpperCase()}` : `\u201c${one}\u201d`)).join(", ");
    const parts = [
      job && !engine ? `Fetching the model, ${megabytes}.` : "",
      job || engine ? "" : keyOf(now) !== wanted ? "Press Start to write it this way." : `This was written beforehand. Start fetches the model, ${megabytes}.`,
      !job && shown.over && keyOf(now) === shown.key ? shown.over : "",
      now.causal ? "" : "Without the mask tokens attend to later ones, too. In training they never did, and the next token is predicted worse.",
      odd.length ? `It has never read ${named}${odd.length > 3 ? ` and ${odd.length - 3} more` : ""}, and spells it in bytes.` : "",
    ];
    return parts.filter(Boolean).join(" ");
  }
  /** Bring all parts up to the state; nothing is begun. */
  function settle(now) {
    putHeat(now.temperature);
    seed.textContent = String(now.seed);
    putHead(now.layer * heads + now.head);
    putUse(now.used[now.layer * heads + now.head]);
    putLayer(now.used.slice(now.layer * heads, (now.layer + 1) * heads).some(Boolean));
    use.querySelector("span").textContent = `${headName(now.layer * heads + now.head)} in use`;
    useLayer.querySelector("span").textContent = `heads of layer ${now.layer + 1} in use`;
    putMask(now.causal);
    paint(now);
    buttons(now);
    note.textContent = tell(now);
  }
  let before = {};
  function draw(now) {
    if (before.prompt !== now.prompt || before.used !== now.used) { field.value = now.prompt; complain(""); }    // another text, or Reset
    before = now;
    const key = keyOf(now);
    if (key !== wanted && (engine || key === stored.key)) {
      if (key === stored.key) { shown = stored; wanted = key; job = null; }
      else if (tooLong(now.prompt)) complain(tooLong(now.prompt));
      else write(now);
    }
    settle(now);
    const written = shown.tokens.slice(shown.given).map(visible).join("");
    return job ? "Writing." : `${note.textContent} ${said.textContent} Written: ${written}`;
  }
  return {
    parts: [make("div", { class: "pa-typed" }, make("label", { class: "pa-prompt" }, make("span", { class: "pa-hidden" }, "A beginning"), field), main), beginnings,
      make("div", { class: "pa-bar pa-how" }, heat, seeds, make("div", { class: "pa-go" }, step, further)),
      make("div", { class: "pa-notes" }, trouble, note), text, said,
      make("div", { class: "pa-main" }, map, make("div", { class: "pa-side" }, table, use, useLayer, mask))],
    help: "Click a token, or choose it with the arrow keys: the darker a token, the more weight the chosen head gives it, and the bars are the likeliest next tokens. The squares are the heads, each with all its weights, queries down and keys across. What you switch off takes no part, and the text is written anew.",
    draw,
  };
}

const beginning = [String, (words) => (words.length <= LONGEST ? words : undefined)];

export { bytePairs, chance, chosen, decoder, unpacked };
export default explorable({ name: "writer", label: "A model that writes", build,
  state: ["prompt", "temperature", "seed", "used", "causal", "token", "layer", "head"],
  codes: (model) => {
    const { layers, heads, positions } = model.get("sizes");
    return { prompt: beginning, temperature: number(0, 1.5), seed: whole(1, 999), used: listOf(flag(), layers * heads), causal: flag(),
      token: whole(-1, positions - 1), layer: whole(0, layers - 1), head: whole(0, heads - 1) };
  } });
