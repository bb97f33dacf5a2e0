/* Cells that run on the page: in a lesson a bar with Run and Edit behind the code, among the exercises one with Check, Hint and a
   solution. The editor (editor.js) comes when it is wanted, Python (python.js) when something is to run; neither before.
   What a reader writes is kept in this browser. Without this file there is the book as it was run. */
(() => {
  "use strict";

  const { make, memory } = window.pa;
  const own = document.currentScript.src;
  const kept = memory("localStorage");
  const STEADY = 300;   // ms that a cell runs before its button offers to stop it: no flicker
  const HOW_TO_LEAVE = "Tab indents. Escape, then Tab, leaves the editor.";
  const NO_PYTHON = "This copy of the book has no Python for the page. The cell runs in the notebook.";

  let fetched = null;

  /** Fetch the editor, once. */
  function editor() {
    fetched ??= new Promise((resolve, reject) => {
      const script = make("script", { src: new URL("editor.js", own).href });
      script.onload = () => resolve(window.pa.editor);
      script.onerror = () => { fetched = null; reject(new Error("The editor could not be loaded.")); };
      document.head.append(script);
    });
    return fetched;
  }

  // Python, with a bar while it is on its way

  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

  /** Return Python, loaded where it is not there yet; meanwhile `place` shows how far it is. */
  async function loaded(place) {
    const python = window.pa.python;
    if (!python) throw new Error(NO_PYTHON);
    if (python.status === "missing") throw new Error(python.missing);
    if (python.status === "ready") return python;
    const bar = make("progress", { "aria-label": "Python for this page" }), said = make("span", {}, "Python is on its way.");
    const heard = make("span", { class: "pa-heard", role: "status" }), shown = make("p", { class: "pa-loading" }, bar, said), parts = new Map();
    place.append(shown, heard);
    heard.textContent = "Python is on its way to this page.";   // said once: the numbers would be told without an end
    try {
      await python.load(({ part, done, total }) => {
        parts.set(part, { done, total });
        const sum = (key) => [...parts.values()].reduce((all, one) => all + one[key], 0);
        if (!sum("total")) return;
        bar.max = sum("total");
        bar.value = sum("done");
        said.textContent = sum("done") < sum("total")
          ? `Python comes once for this page: ${megabytes(sum("done"))} of ${megabytes(sum("total"))} MB. Nothing you write is sent.`
          : "Python is here, and starts.";
      });
    } finally {
      shown.remove();
      heard.remove();
    }
    return python;
  }

  // A cell with an editor: what both kinds have

  const button = (words, run, attributes = {}) => {
    const made = make("button", { type: "button", ...attributes }, words);
    made.addEventListener("click", run);
    return made;
  };

  const count = { cells: 0 };

  /** Take the place of a cell's source as soon as `edit` is called; `parts` says what is run by the keys, and how the cell is called. */
  function writable(block, facts, { label, run }) {
    const shown = block.previousElementSibling, key = `pa-live ${facts.name}`, id = `pa-leave-${++count.cells}`;
    const written = make("div", { class: "pa-editor" }), leave = make("p", { class: "pa-leave", id }, HOW_TO_LEAVE);
    const changed = new Set();   // who wants to know that the text has changed
    let view = null, text = kept.get(key) || facts.source;
    written.addEventListener("keydown", (event) => event.stopPropagation());   // "/" is the page's key for its search

    function keep(now) {
      text = now;
      if (now === facts.source) kept.drop(key);
      else kept.put(key, now);
      changed.forEach((listener) => listener());
    }

    async function open() {
      if (view) return view;
      const { open } = await editor();
      if (view) return view;   // pressed twice
      view = open({
        parent: written, source: text, label, described: id, changed: keep,
        keys: { "Mod-Enter": run, "Shift-Enter": run },
      });
      written.append(leave);
      shown.classList.add("pa-replaced");
      shown.after(written);
      return view;
    }

    return {
      text: () => text,
      isChanged: () => text !== facts.source,
      isOpen: () => view !== null,
      whenChanged: (listener) => changed.add(listener),
      open,
      edit: async () => (await open()).focus(),
      mark: async (line) => (await open()).mark(line),
      close() {
        keep(facts.source);
        view?.close();
        view = null;
        written.remove();
        written.replaceChildren();
        shown.classList.remove("pa-replaced");
      },
    };
  }

  const DRAWS = {
    text: (data) => make("pre", {}, data),
    html: (data) => drawn("pa-own-html", data),
    svg: (data) => drawn("pa-drawn", data),
  };

  function drawn(name, html) {
    const made = make("div", { class: name });
    made.innerHTML = html;
    return made;
  }

  /** What went wrong: which error, where, and how it came there. */
  function wrong({ name, message, line, text }) {
    const where = line ? `on line ${line}` : "";
    const said = make("p", { class: "pa-result pa-bad" }, make("span", { class: "pa-mark", "aria-hidden": "true" }, "✗"), " ", make("strong", {}, name), ` ${where}${message ? `: ${message}` : ""}`);
    const long = text && text.trim() !== message && text.includes("\n");
    return [said, ...(long ? [make("details", { class: "pa-trace" }, make("summary", {}, "How it came there"), make("pre", {}, text))] : [])];
  }

  /** What is wider than its place scrolls, with the arrow keys too (as page.js has it for what was there at first). */
  const reach = (place) => place.querySelectorAll("pre, .pa-drawn").forEach((node) => { if (node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight) node.tabIndex = 0; });

  function show(place, result) {
    place.append(...result.parts.map(({ type, data }) => DRAWS[type](data)), ...(result.error ? wrong(result.error) : []));
    reach(place);
  }

  // A bar is busy with one thing at a time; a press meanwhile stops what runs

  /** Do what a button asks for: load Python, then `run` with it; meanwhile the button offers to stop that. */
  async function work(press, { open, wait, run, fail, tell }) {
    if ("busy" in press.dataset) {
      window.pa.python?.stop();
      return;
    }
    const words = press.textContent;
    let later;
    press.dataset.busy = "";
    try {
      await open();
      tell();
      const python = await loaded(wait);
      later = setTimeout(() => { press.textContent = "Stop"; }, STEADY);
      await run(python);
    } catch (error) {
      fail(error);
    } finally {
      clearTimeout(later);
      press.textContent = words;
      delete press.dataset.busy;
      tell();
    }
  }

  // Live cells of a lesson

  const cells = [];   // of the page, in their order

  /** Run what stands before a cell and was not run yet, in silence; return the first that failed, if one does. */
  async function runBefore(cell, python) {
    for (const one of cells.slice(0, cells.indexOf(cell) + 1)) {
      while (one.setup.length) {
        const result = await python.run(one.setup[0], { cell: "set-up" });
        if (result.error) return { result };
        one.setup.shift();
      }
      if (one === cell || one.done) continue;
      const result = await python.run(one.text(), { cell: one.called });
      if (result.error) return { result, cell: one };
      one.done = true;
    }
    return null;
  }

  function lessonCell(block) {
    const facts = JSON.parse(block.querySelector("script").textContent);
    const cell = { setup: [...facts.setup], done: false, called: String(cells.length + 1) };
    const code = writable(block, facts, { label: `Python, cell ${cell.called} of this page`, run });
    const stored = block.nextElementSibling?.matches(".cell_output") ? block.nextElementSibling : null;
    const output = make("div", { class: "pa-own", "aria-live": "polite" });
    const press = button("Run", run, { class: "pa-run" }), edit = button("Edit", write);
    const reset = button("Reset", restore), wait = make("div");
    const bar = make("div", { class: "pa-cell-bar", role: "group", "aria-label": `Cell ${cell.called}` }, press, edit, reset);
    cell.text = code.text;
    cells.push(cell);

    const tell = () => {
      reset.hidden = !code.isChanged() && !code.isOpen() && !output.firstChild;
      edit.textContent = code.isChanged() && !code.isOpen() ? "Edit yours" : "Edit";
      edit.hidden = code.isOpen();
    };

    function write() { return code.edit().then(tell, fail); }

    const fail = (error) => output.replaceChildren(make("p", { class: "pa-result" }, error.message));

    function run() {
      return work(press, { open: code.open, wait, fail, tell, run: async (python) => {
        const before = await runBefore(cell, python);
        if (before) failedBefore(before);
        else answer(await python.run(code.text(), { cell: cell.called }));
      } });
    }

    function answer(result) {
      cell.done = !result.error;
      const nothing = !result.parts.length && !result.error;
      output.replaceChildren(make("p", { class: "pa-whose" }, nothing ? "It ran, and shows nothing." : "Your run"));
      show(output, result);
      stored?.classList.add("pa-of-book");
      if (result.error?.line) code.mark(result.error.line);
    }

    function failedBefore({ result, cell: one }) {
      const said = one ? `Cell ${one.called} of this page, which this one needs, stopped.` : "What this page needs could not be set up.";
      output.replaceChildren(make("p", { class: "pa-whose" }, said));
      show(output, result);
    }

    function restore() {
      cell.done = false;
      code.close();
      output.replaceChildren();
      stored?.classList.remove("pa-of-book");
      tell();
      press.focus();
    }

    code.whenChanged(tell);
    block.append(bar, wait);
    (stored ?? block).after(output);
    tell();
  }

  // Exercises that ask for a function

  function exercise(block) {
    const facts = JSON.parse(block.querySelector("script").textContent);
    const task = block.parentElement.querySelector(".pa-practice");
    const code = writable(block, facts, { label: `Your answer to exercise ${facts.id}`, run: check });
    const hints = [...task.querySelectorAll(".pa-hints > details")], solution = block.querySelector("template");
    const output = make("div", { class: "pa-own", "aria-live": "polite" }), wait = make("div");
    const result = make("div", { class: "pa-result", role: "status" });
    const press = button("Check", check, { class: "pa-run" }), edit = button("Write here", write, { class: "pa-write" });
    const hint = button("Hint", nextHint), answer = button("Show a solution", solve), reset = button("Reset", restore);
    const bar = make("div", { class: "pa-cell-bar", role: "group", "aria-label": `Exercise ${facts.id}` }, press, edit, hint, answer, reset);
    let tried = false;

    hints.forEach((fold) => fold.classList.add("pa-kept-back"));   // on paper they are read
    const shown = block.previousElementSibling;
    shown.classList.add("pa-writable");   // the code itself is pressed first by whoever wants to write
    shown.addEventListener("click", (event) => { if (!event.target.closest("button") && getSelection().isCollapsed) write(); });

    const left = () => hints.filter((fold) => fold.matches(".pa-kept-back"));

    const tell = () => {
      edit.hidden = code.isOpen();
      edit.textContent = code.isChanged() ? "Go on writing" : "Write here";
      hint.hidden = !left().length;
      hint.textContent = left().length === hints.length ? "Hint" : `Hint (${left().length} left)`;
      answer.hidden = !solution || !(tried || window.pa.attempts(facts.name) > 0) || Boolean(block.querySelector(".pa-solution"));
      reset.hidden = !code.isChanged() && !code.isOpen() && !result.firstChild;
    };

    function write() { return code.edit().then(tell, fail); }

    function fail(error) {
      result.className = "pa-result";
      result.replaceChildren(error.message);
    }

    function check() {
      return work(press, { open: code.open, wait, fail, tell, run: async (python) => {
        judged(await python.check(facts.id, `${code.text()}\n\n\n${facts.call}\n`));
      } });
    }

    function judged(verdict) {
      tried ||= verdict.attempted;
      if (verdict.attempted) window.pa.attempt(facts.name, verdict.passed);
      output.replaceChildren();
      show(output, { parts: verdict.parts ?? [] });
      result.className = `pa-result pa-${verdict.kind}`;
      if (verdict.error) result.replaceChildren(...wrong(verdict.error));
      else {
        const line = drawn("", verdict.html);
        result.replaceChildren(...(line.querySelector(".pa-line") ?? line).childNodes);
        leaveOutTheCall();
      }
      if (verdict.error?.line) code.mark(verdict.error.line);
    }

    /** Hints are asked for by the button here: the words of the notebook, "Stuck? hint(...)", end before that. */
    function leaveOutTheCall() {
      const call = [...result.querySelectorAll("code")].at(-1);
      if (call?.textContent !== `hint("${facts.id}")`) return;
      call.previousSibling.data = call.previousSibling.data.replace(/\s*Stuck\?\s*$/, "");
      call.remove();
    }

    function nextHint() {
      const [next] = left();
      next.classList.remove("pa-kept-back");
      next.open = true;
      tell();
      if (hint.hidden) next.querySelector("summary").focus();
    }

    function solve() {
      const shown = make("div", { class: "pa-solution", tabindex: "-1", role: "group", "aria-label": "A solution" }, solution.content.cloneNode(true));
      shown.append(make("p", {}, make("a", { href: solution.dataset.url }, "Why it is so: on the page of solutions")));
      block.append(shown);
      reach(shown);
      tell();
      shown.focus();
    }

    function restore() {
      code.close();
      output.replaceChildren();
      result.replaceChildren();
      result.className = "pa-result";
      block.querySelector(".pa-solution")?.remove();
      tell();
      edit.focus();
    }

    code.whenChanged(tell);
    if (window.pa.python?.status === "idle") {
      const ask = task.querySelector(".pa-ask");
      ask.replaceChildren(make("span", { class: "pa-on-paper" }, ask.textContent), make("span", { class: "pa-on-screen" }, "It runs in the notebook too."));
    }
    block.append(bar, wait, output, result);
    tell();
  }

  const begin = () => document.querySelectorAll(".pa-live").forEach((block) => (block.dataset.liveExercise ? exercise : lessonCell)(block));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
