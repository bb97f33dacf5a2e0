/* The search of the book, by section: what is found, in which order, and how a page shows the place where one arrives.
   The index (book/_ext/paying_attention/site/section_search.py) is loaded when a reader begins to search. It is a script, since a page that
   was opened from the disk may fetch nothing. */
(() => {
  "use strict";

  const here = new URL(".", document.currentScript.src);   // _static/, wherever the book stands
  const { make } = window.pa;

  // Words: the same for the index, for what is typed and for the page

  const PIECE = /√|\d+(?:\.\d+)+|[\p{L}\p{N}\p{M}_^{}]+/gu;
  const HUMPS = /[A-Z]{2,}(?=[A-Z][a-z]{2})|[A-Z]?[a-z]{2,}/g;
  const STOP = new Set(("a an and are as at be by can do does for from has how if in is it its of on or that the their then " +
    "there this to was we what when where which who why will with you").split(" "));

  const GREEK = ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon " +
    "phi chi psi omega").split(" ");

  /** The same function, which remembers its answers: a book says the same words again and again. */
  function remembering(answer, known = new Map()) {
    return (asked) => {
      if (!known.has(asked)) known.set(asked, answer(asked));
      return known.get(asked);
    };
  }

  /** The words of a piece of text: xW_{Q} is xwq and wq, a_long_name its parts, KVCache is kv, cache and kvcache. */
  const wordsOf = remembering((piece) => {
    if (piece === "√") return ["sqrt"];
    const plain = piece.normalize("NFKD").replace(/[\p{M}{}^]/gu, "");
    const parts = plain.split("_").filter(Boolean);
    const isSymbol = parts.length > 1 && parts.every((part) => part.length < 3);
    if (isSymbol) parts.push(parts.splice(0).join(""));
    if (isSymbol && plain.indexOf("_") === 2) parts.push(parts[0].slice(1));   // a product: its last factor
    return parts.flatMap((part) => {
      const humps = part.match(HUMPS) ?? [];
      const split = humps.length > 1 && humps.join("") === part && humps.every((hump) => hump.length > 2 || hump === hump.toUpperCase());
      return split ? [...humps, part] : [part];
    }).filter(Boolean).map((word) => word.toLowerCase().replace(/[α-ω]/g, (letter) => GREEK[letter.charCodeAt(0) - "α".charCodeAt(0)]));
  });

  /** The pieces of a text that have words: where they stand, and which. */
  function pieces(text) {
    const found = [];
    for (const match of text.matchAll(PIECE)) {
      const words = wordsOf(match[0]);
      if (words.length) found.push({ from: match.index, to: match.index + match[0].length, words });
    }
    return found;
  }

  const tokens = (text) => pieces(text).flatMap((piece) => piece.words);

  /** A word without its ending: masks, masked and masking are one, and so are queries and query. */
  const stem = remembering((word) => {
    if (word.length < 4 || /\d/.test(word)) return word;
    let cut = word.replace(/ies$/, "y").replace(/([^su])s$/, "$1");
    const shorter = cut.replace(/(ing|ed)$/, "");
    if (shorter.length > 2 && /[aeiouy]/.test(shorter)) cut = shorter.replace(/([bdfgmnprt])\1$/, "$1");
    return cut.length > 3 ? cut.replace(/e$/, "") : cut;
  });

  /** Whether one word becomes the other by at most so many letters left out, added, changed or swapped. */
  function near(a, b, most) {
    if (Math.abs(a.length - b.length) > most) return false;
    let before = [], last = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      if (Math.min(...row) > most) return false;
      [before, last] = [last, row];
    }
    return last[b.length] <= most;
  }

  // The index

  const WORTH = { page: 1.25, notation: 1.8, section: 1, term: 0.75, name: 0.5, exercise: 0.55, solution: 0.4, apparatus: 0.5, source: 0.6, claim: 0.45 };
  const FEW = 4;   // so few hits have all words that hits without one of them follow

  /** Read the index: entries with their words, and for every word the entries that have it, where and how often. */
  function read({ pages, entries }) {
    const places = new Map();   // word -> entry -> { heading, text }: how often
    const read = entries.map(([page, anchor, heading, kind, text], at) => {
      const name = kind === "name" ? heading.split(".").at(-1) : heading;   // without its module
      const entry = { page: pages[page], anchor, heading, kind, text, named: tokens(name), said: tokens(text) };
      for (const field of ["named", "said"]) {
        for (const word of entry[field]) {
          if (!places.has(word)) places.set(word, new Map());
          const where = places.get(word);
          if (!where.has(at)) where.set(at, { named: 0, said: 0 });
          where.get(at)[field] += 1;
        }
      }
      return entry;
    });
    const stems = new Map();
    for (const word of places.keys()) {
      if (!stems.has(stem(word))) stems.set(stem(word), []);
      stems.get(stem(word)).push(word);
    }
    const mean = read.reduce((sum, entry) => sum + entry.said.length, 0) / read.length;
    return { entries: read, places, stems, mean };
  }

  function isMistyped(typed, word) {
    return typed.length > 4 && word[0] === typed[0] && near(stem(typed), stem(word), typed.length > 7 ? 2 : 1);
  }

  /** The words of the index that a typed word may mean, and how much each of them counts. */
  function meanings(index, typed, unfinished) {
    const found = new Map();
    const add = (word, worth) => { if (worth > (found.get(word) ?? 0)) found.set(word, worth); };
    for (const word of index.stems.get(stem(typed)) ?? []) add(word, word === typed ? 1 : 0.9);
    const known = found.size > 0;
    for (const word of index.places.keys()) {
      const grows = typed.length === 1 ? word.length === 2 && !STOP.has(word) : typed.length > 3 || unfinished && word.length > 3;
      if (grows && word.startsWith(typed)) add(word, 0.75 * Math.sqrt(typed.length / word.length));
      if (!known && isMistyped(typed, word)) add(word, 0.6);
    }
    return found;
  }

  /** Whether words with these meanings stand one after the other. */
  function inARow(words, row) {
    return words.some((_, i) => row.every((means, j) => means.has(words[i + j])));
  }

  /** The entries that have any of the words, and what each is worth; small words count in a row of words only. */
  function ask(index, words, unfinished) {
    const row = words.map((word, i) => meanings(index, word, unfinished && i === words.length - 1));
    const telling = row.filter((_, i) => !STOP.has(words[i]));
    const means = telling.length ? telling : row;
    const scored = new Map();   // entry -> what it is worth, and the words it was found by
    for (const meaning of means) {
      const best = new Map();
      const having = new Set([...meaning.keys()].flatMap((word) => [...index.places.get(word).keys()]));
      const rare = Math.log(1 + index.entries.length / (1 + having.size));
      for (const [word, worth] of meaning) {
        for (const [at, count] of index.places.get(word)) {
          const { named, said } = index.entries[at];
          const inText = count.said / (count.said + 0.4 + 0.4 * Math.min(said.length / index.mean, 3));
          const inHeading = count.named && 1.6 + 2.4 / named.length;
          const score = worth * rare * (inText + inHeading);
          if (score > (best.get(at)?.score ?? 0)) best.set(at, { score, words: [...(best.get(at)?.words ?? []), word] });
          else best.get(at).words.push(word);
        }
      }
      for (const [at, { score, words }] of best) {
        const sum = scored.get(at) ?? { at, score: 0, matched: 0, words: [] };
        scored.set(at, { at, score: sum.score + score, matched: sum.matched + 1, words: [...sum.words, ...words] });
      }
    }
    return [...scored.values()].map((one) => {
      const entry = index.entries[one.at];
      const called = entry.named.filter((word) => !STOP.has(word) && !/^\d+$/.test(word));
      const exact = called.length === means.length && called.every((word, i) => means[i].get(word) >= 0.6);
      const together = row.length > 1 && [entry.named, entry.said].some((said) => inARow(said, row));
      const factors = [WORTH[entry.kind], exact ? 3 : 1, !together ? 1 : row.length > 3 ? 2 * row.length : (1 + row.length) / 2];   // four in a row are a title
      return { ...one, entry, together, missing: means.length - one.matched, score: factors.reduce((a, b) => a * b, one.score) };
    });
  }

  /** How else the words may be meant: soft max as softmax, multihead as multi head. */
  function otherReadings(index, typed) {
    const put = (i, n, ...words) => [...typed.slice(0, i), ...words, ...typed.slice(i + n)];
    const joined = typed.slice(1).flatMap((word, i) => (index.places.has(typed[i] + word) ? [put(i, 2, typed[i] + word)] : []));
    const parted = typed.flatMap((word, i) => [...word].map((_, at) => [word.slice(0, at), word.slice(at)])
      .filter((halves) => halves.every((half) => half.length > 2 && index.stems.has(stem(half)))).map((halves) => put(i, 1, ...halves)));
    return [joined, parted];
  }

  /** Everything that is found for what was typed, the best first: all of the words, or, if that is rare, most of them. */
  function search(index, query) {
    const typed = tokens(query);
    const unfinished = /[\p{L}\p{N}]$/u.test(query);
    const asksCode = /[a-z]{2}_[a-z]{2}|[a-z]\(\)|[a-z][A-Z][a-z]{2}|[A-Z]{2}[a-z]{2}/.test(query);
    const [joined, parted] = otherReadings(index, typed);
    const hits = [typed, ...joined, ...parted]
      .flatMap((words) => ask(index, words, unfinished).filter((hit) => hit.together || !parted.includes(words)));
    const best = new Map();
    for (const hit of hits) {
      if (asksCode && hit.entry.kind === "name") hit.score *= 4;
      const other = best.get(hit.at);
      if (!other || hit.missing < other.missing || hit.missing === other.missing && hit.score > other.score) best.set(hit.at, hit);
    }
    const sorted = [...best.values()].sort((a, b) => a.missing - b.missing || b.score - a.score || a.at - b.at);
    const least = sorted[0]?.missing;
    const few = sorted.filter((hit) => hit.missing === least).length < FEW;
    return sorted.filter((hit) => hit.missing <= least + (few ? 1 : 0));
  }

  let loading = null;

  /** Load the index, once. */
  function load() {
    loading ??= new Promise((done, fail) => {
      const script = make("script", { src: new URL("search_index.js", here).href });
      script.addEventListener("load", () => done(read(window.paSearchIndex)));
      script.addEventListener("error", () => { loading = null; fail(new Error("the index of the search could not be loaded")); });
      document.head.append(script);
    });
    return loading;
  }

  // How a hit is shown

  const LENGTH = 190;

  /** A piece of text with its formulas set, its code as code, and the words that were found marked. */
  function shown(text, words) {
    const stems = new Set(words.map(stem));
    const node = make("span");
    let into = node;
    const marks = new Map(pieces(text).filter((piece) => piece.words.some((word) => stems.has(stem(word)))).map((p) => [p.from, p.to]));
    const open = (tag, attributes) => { const child = make(tag, attributes); into.append(child); into = child; };
    const close = () => { if (into !== node) into = into.parentNode; };
    let formula = false, code = false, until = -1;
    for (let i = 0; i < text.length; i++) {
      if (marks.has(i)) { open("mark"); until = marks.get(i); }
      const sign = text[i];
      if (sign === "⟦" || sign === "⟧") {
        formula = sign === "⟦";
        if (formula) open("span", { class: "pa-formula" }); else close();
      } else if (sign === "`") {
        code = !code;
        if (code) open("code"); else close();
      } else if (formula && (sign === "_" || sign === "^") && text[i + 1] === "{") {
        open(sign === "_" ? "sub" : "sup");
        i += 1;
      } else if (formula && sign === "}") close();
      else into.append(sign);
      if (i + 1 >= until && until > 0) { close(); until = -1; }
    }
    node.normalize();
    return node;
  }

  /** The paragraph that has most of the words, or as much of it as there is room for, around them. */
  function excerpt(entry, words) {
    const stems = new Set(words.map(stem));
    const hits = (text) => pieces(text).filter((piece) => piece.words.some((word) => stems.has(stem(word))));
    const different = (found) => new Set(found.flatMap((piece) => piece.words.map(stem)).filter((one) => stems.has(one))).size;
    const paragraphs = entry.text.split("\n");
    if (entry.kind === "name") return paragraphs[0];   // what it does, and not how an argument is called
    const best = paragraphs.map((text) => ({ text, found: hits(text) }))
      .reduce((a, b) => (different(b.found) > different(a.found) ? b : a));
    if (best.text.length <= LENGTH * 1.3) return best.text;
    const spread = (piece) => different(best.found.filter((other) => other.from >= piece.from && other.to <= piece.from + LENGTH * 0.7));
    const middle = best.found.reduce((a, b) => (a && spread(a) >= spread(b) ? a : b), null);
    return cut(best.text, Math.max(0, (middle?.from ?? 0) - LENGTH * 0.3));
  }

  /** A stretch of text that begins and ends between words, and outside of formulas and code. */
  function cut(text, wanted) {
    const parts = [...text.matchAll(/⟦[^⟧]*⟧\S*|`[^`]*`\S*|[^\s⟦`]+/gu)];
    const first = wanted ? Math.max(0, parts.findIndex((part) => part.index >= wanted)) : 0;
    const from = parts[first].index;
    const last = parts.slice(first).filter((part) => part.index + part[0].length <= from + LENGTH).at(-1) ?? parts[first];
    const to = last.index + last[0].length;
    return `${from ? "… " : ""}${text.slice(from, to)}${to < text.length ? " …" : ""}`;
  }

  function address({ entry, words }) {
    const url = new URL(`../${entry.page[0]}`, here);
    url.searchParams.set("found", [...new Set(words.map(stem))].slice(0, 12).join(" "));
    url.hash = entry.anchor;
    return url.href;
  }

  function result(hit) {
    const { entry, words } = hit;
    const title = make("span", { class: "pa-hit-title" }, shown(entry.heading, words));
    const link = make("a", { href: address(hit) }, title);
    if (entry.kind !== "page") link.append(" ", make("span", { class: "pa-hit-page" }, shown(entry.page[1], [])));
    if (entry.text) link.append(" ", make("span", { class: "pa-hit-text" }, shown(excerpt(entry, words), words)));
    return make("li", {}, link);
  }

  // A field that answers while one types

  /** Change the address of the page, where the browser allows it. */
  function rename(address) {
    try { history.replaceState(null, "", address); } catch { /* from the disk, perhaps */ }
  }

  const counted = (n, query) => (n ? `${n} ${n === 1 ? "place" : "places"} found.` : `Nothing is found for “${query}”.`);

  function field(form, most) {
    const input = form.querySelector("input");
    const status = make("p", { class: "pa-count", role: "status" });
    const list = make("ol", { class: "pa-hits", "aria-label": "Found" });
    const all = make("p", { class: "pa-all-hits" });
    const hint = make("p", { class: "pa-hint" }, "Words, symbols and names: ", make("kbd", {}, "softmax"), ", ", make("kbd", {}, "sqrt(d_k)"),
      ", ", make("kbd", {}, "W_Q"), ", ", make("kbd", {}, "causal_mask"), ". Arrow keys choose, Enter goes there.");
    const box = make("div", { class: "pa-search" }, status, list, all, hint);
    const links = () => [...box.querySelectorAll("a")];
    let wait = 0;

    const say = (words) => {   // when the typing rests: every letter would be told otherwise
      clearTimeout(wait);
      wait = setTimeout(() => { status.textContent = words; }, 250);
    };
    const update = async () => {
      const query = input.value.trim();
      try {
        const index = await load();
        if (query !== input.value.trim()) return;
        const hits = search(index, query);
        list.replaceChildren(...hits.slice(0, most).map(result));
        hint.hidden = hits.length > 0;
        const rest = new URL("../search.html", here);
        rest.searchParams.set("q", query);
        all.replaceChildren(...(hits.length > most && form.closest("dialog") ? [make("a", { href: rest.href }, `All ${hits.length} places`)] : []));
        say(query ? counted(hits.length, query) : "");
        if (!form.closest("dialog")) rename(query ? `?${rest.searchParams}` : location.pathname);
      } catch (error) {
        say(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`);
      }
    };
    input.setAttribute("enterkeyhint", "go");
    input.addEventListener("focus", () => load().catch(() => {}));
    input.addEventListener("input", update);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await update();
      list.querySelector("a")?.click();
    });
    const move = (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (/^\S$/.test(event.key)) input.focus();   // who goes on typing means the field
      const to = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!to) return;
      const stops = [input, ...links()];
      const at = stops.indexOf(document.activeElement);
      if (at < 0 || stops.length < 2) return;
      event.preventDefault();
      stops[Math.min(Math.max(at + to, 0), stops.length - 1)].focus();
    };
    form.addEventListener("keydown", move);
    box.addEventListener("keydown", move);
    form.after(box);
    return { input, update };
  }

  // Where one arrives: the words are marked, what hides them is opened

  const UNMARKED = "pre, script, style, svg, button, .math, .pa-card, .headerlink, .cell_output > :not(figure, .pa-claims), .pa-hints, " +
    ":is(.pa-asking, .pa-answered) ul.pa-choices";   // these are shown as buttons
  const BLOCKS = "p, li, label, tr, dd, dt, figcaption, h1, h2, h3, h4, summary, .pa-line, div.math";
  const OWNERS = "section:not(.pa-guess, .pa-practice)";

  /** The nodes that belong to a place: a section without those inside it, or a term with its meaning. */
  function placeOf(target) {
    const term = target.closest("dt");
    if (term) return { roots: [term, term.nextElementSibling], own: () => true };
    if (!target.matches("section")) return { roots: [target], own: () => true };
    return { roots: [target], own: (node) => node.closest(OWNERS) === target };
  }

  /** The words of a formula, before and after it is set. */
  function formulaWords(node) {
    const set = node.querySelector("math");
    if (!set) return tokens(node.textContent.replace(/\\color\{[^}]*\}/g, "").replace(/\\sqrt/g, "√").replace(/\\[a-zA-Z]+/g, " "));
    return [...set.querySelectorAll("msqrt, msub, mi, mtext")].flatMap((part) => (part.matches("msqrt") ? ["sqrt"] : tokens(part.textContent)));
  }

  function textsIn(root, own) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (text) =>
      (text.data.trim() && !text.parentElement.closest(UNMARKED) && own(text.parentElement) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT));
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    return found;
  }

  /** Mark the words in a text of the page. */
  function markText(text, stems) {
    const hits = pieces(text.data).filter((piece) => piece.words.some((word) => stems.has(stem(word))));
    for (const { from, to } of hits.reverse()) {
      const rest = text.splitText(from);
      rest.splitText(to - from);
      const mark = make("mark", { class: "pa-found" });
      rest.replaceWith(mark);
      mark.append(rest);
    }
  }

  function unmark() {
    document.querySelectorAll("mark.pa-found").forEach((mark) => {
      const parent = mark.parentNode;
      mark.replaceWith(...mark.childNodes);
      parent.normalize();
    });
    document.querySelectorAll(".math.pa-found").forEach((formula) => formula.classList.remove("pa-found"));
  }

  /** Open whatever hides a place; a question alone gives no answer away. */
  function reveal(node) {
    node.closest(".pa-veil")?.closest(".pa-guess").dispatchEvent(new Event("pa-open"));
    for (let fold = node.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }

  async function arrive(target, stems) {
    const { roots, own } = placeOf(target);
    const blocks = new Map();   // block -> which of the words it has
    const note = (node, words) => {
      const block = node.closest(BLOCKS) ?? node;
      const had = words.map(stem).filter((one) => stems.has(one));
      if (had.length) blocks.set(block, new Set([...(blocks.get(block) ?? []), ...had]));
    };
    for (const root of roots) {
      for (const text of textsIn(root, own)) {
        note(text.parentElement, tokens(text.data));
        markText(text, stems);
      }
      for (const formula of root.querySelectorAll(".math")) {
        const words = own(formula) && !formula.closest("pre, .pa-card") ? formulaWords(formula) : [];
        note(formula, words);
        formula.classList.toggle("pa-found", words.some((word) => stems.has(stem(word))));
      }
    }
    const inOrder = [...blocks].sort(([a], [b]) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    const [best] = inOrder.reduce((a, b) => (b[1].size > a[1].size ? b : a), [target, new Set()]);
    reveal(best);
    const go = () => best.scrollIntoView({ block: best.matches("h1, h2, h3, h4, dt") || best === target ? "start" : "center" });
    let moved = false;
    ["wheel", "touchstart", "keydown", "mousedown"].forEach((kind) => window.addEventListener(kind, () => { moved = true; }, { once: true, passive: true }));
    go();
    await window.MathJax?.startup?.promise;   // formulas that are set later push the place down
    await document.fonts?.ready;
    if (document.readyState !== "complete") await new Promise((done) => { window.addEventListener("load", done, { once: true }); });
    setTimeout(() => { if (!moved) go(); });   // after the browser, which goes to the head of the section when all is loaded
  }

  function arrival() {
    const url = new URL(location.href);
    const found = url.searchParams.get("found");
    if (found === null) return;
    url.searchParams.delete("found");
    rename(url);
    const target = url.hash ? document.getElementById(decodeURIComponent(url.hash.slice(1))) : document.querySelector("article section");
    if (!target) return;
    arrive(target, new Set(found.split(" ")));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") unmark(); });
  }

  const begin = () => {
    document.getElementById("pst-search-dialog")?.setAttribute("aria-label", "Search");
    document.querySelectorAll("dialog form.bd-search").forEach((form) => field(form, 12));
    document.querySelectorAll("main form.bd-search").forEach((form) => {
      const { input, update } = field(form, 60);
      input.value = new URLSearchParams(location.search).get("q") ?? "";
      input.focus();
      if (input.value) update();
    });
    arrival();
  };

  window.pa.search = async (query) => search(await load(), query);
  document.addEventListener("DOMContentLoaded", begin);   // after page.js, which makes the guesses; this script is deferred
})();
