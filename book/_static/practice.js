/* Exercises that are answered on the page: fields, a verdict, progress in this browser. Nothing is sent anywhere.
   `read` and `judge` do what attnlib/learn/judging.py does; tests/book/test_practice.py holds them against each other.
   Without this file there are the code and the hints, as in the notebook. */
(() => {
  "use strict";

  const { make, memory } = window.pa;

  // Reading a field

  /** What was typed cannot be read: the message says how to write it, and it is no attempt. */
  class Unreadable extends Error {}

  const TRUTHS = { true: true, yes: true, false: false, no: false };
  const NUMBER = String.raw`[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?`;
  const POWER = String.raw`([+-]?)(${NUMBER})(?:\*\*([+-]?(?:${NUMBER})))?`;
  const QUOTIENT = new RegExp(`^${POWER}(?:/${POWER})?$`);
  const GROUPED = [[",", /^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$/], [".", /^[0-9]{1,3}(\.[0-9]{3})+(,[0-9]*)?$/]];

  function withPoint(number) {
    if (/^[1-9][0-9]{0,2},[0-9]{3}$/.test(number)) {
      throw new Unreadable("A comma before three digits can be read in two ways: write 1234 or 1.234.");
    }
    if (number.match(/[.,]/g)?.length > 1) {
      for (const [thousands, form] of GROUPED) {
        if (form.test(number)) return number.replaceAll(thousands, "").replace(",", ".");
      }
    }
    return number.replaceAll(",", ".");
  }

  function withoutSeparators(text) {
    return text.replaceAll("−", "-").replaceAll("^", "**")
      .replace(/(?<=[0-9])[\s_'](?=[0-9]{3}(?![0-9]))/g, "")
      .replace(/\s*(\*\*|\/|-|\+)\s*/g, "$1")
      .replace(/[0-9.,]+/g, withPoint);
  }

  function quotient(text) {
    const parts = QUOTIENT.exec(text);
    if (!parts) throw new Unreadable("This cannot be read as a number. Write it like 0.5, 1/2, 5e-1 or 2**-1.");
    const power = ([sign, base, exponent]) => Number(`${sign}1`) * Number(base) ** Number(exponent ?? 1);
    const top = power(parts.slice(1, 4));
    const bottom = parts[5] === undefined ? 1 : power(parts.slice(4, 7));
    if (![top, bottom, top / bottom].every(Number.isFinite)) throw new Unreadable("This is no finite number.");
    return top / bottom;
  }

  /** Read what stands in a field as a number, a shape or a truth. */
  function read(typed, reads = "number") {
    const text = typed.trim().toLowerCase();
    if (!text) throw new Unreadable("Nothing is written here yet.");
    if (reads === "truth") {
      if (!Object.hasOwn(TRUTHS, text)) throw new Unreadable("Write true or false.");
      return TRUTHS[text];
    }
    if (reads === "shape") {
      const parts = text.replace(/^[()[\]{}, ]+|[()[\]{}, ]+$/g, "").split(/[\s,;]+/);
      if (!parts.every((part) => /^[0-9]{1,15}$/.test(part))) {
        throw new Unreadable("Write whole numbers with commas between them, like 2, 3, 5.");
      }
      return parts.map(Number);
    }
    if (text.includes("%")) throw new Unreadable("Write it without a per cent sign: half is 0.5.");
    return quotient(withoutSeparators(text));
  }

  // Judging an answer: a list with one value for each place

  // the tolerance is one number, or one for each place
  const near = (got, want, rules, place) => (typeof want === "number"
    ? Math.abs(got - want) <= Math.max(rules.tolerance[place] ?? rules.tolerance, rules.relative * Math.abs(want))
    : JSON.stringify(got) === JSON.stringify(want));

  function side(spec, place, got) {
    const want = spec.answer[place];
    const way = typeof want === "number" ? `too ${got > want ? "large" : "small"}` : "not right";
    return `${spec.answer.length === 1 ? "it" : spec.fields[place]} is ${way}.`;
  }

  /** Return null if the values are right, else the sentence that says what is not. */
  function judge(spec, got) {
    const wrong = got.map((value, place) => !near(value, spec.answer[place], spec, place));
    if (!wrong.includes(true)) return null;
    const made = (mistake) => mistake.answers.some((other) => (mistake.place === null
      ? got.every((value, place) => near(value, other[place], mistake, place))
      : wrong[mistake.place] && near(got[mistake.place], other, mistake, mistake.place)));
    const first = wrong.indexOf(true);
    return spec.mistakes.find(made)?.says ?? (spec.otherwise[first] || side(spec, first, got[first]));
  }

  Object.assign(window.pa, { read, judge });

  // Progress: the JSON that attnlib.learn.record writes, under one key of this browser. An exercise is known by its name.

  const FORMAT = 2;                        // the first had numbers in place of names
  let former = {};                         // number -> name, for what was kept in the first; the panel of a page holds it
  const kept = memory("localStorage");
  const listeners = [];
  const isTable = (thing) => typeof thing === "object" && thing !== null && !Array.isArray(thing);

  const wellFormed = (data) => isTable(data) && Number.isSafeInteger(data.format ?? 1) && isTable(data.exercises) && isTable(data.quizzes)
    && Object.values(data.exercises).every((e) => isTable(e) && Number.isSafeInteger(e.attempts) && typeof e.passed === "boolean")
    && Object.values(data.quizzes).every(Number.isSafeInteger);

  /** Return what a text holds, or null if it is no progress. */
  function parse(text) {
    try {
      const data = JSON.parse(text);
      return wellFormed(data) ? data : null;
    } catch {
      return null;
    }
  }

  const isNewer = (data) => (data?.format ?? 1) > FORMAT;

  /** Return progress by names, or null if a text holds none that this page knows. */
  function understand(text) {
    const data = parse(text);
    return data && !isNewer(data) ? named(data) : null;
  }

  const NONE = { exercises: {}, quizzes: {} };
  let progress = NONE;

  const write = ({ exercises, quizzes }) => `${JSON.stringify({ exercises, format: FORMAT, quizzes }, null, 1)}\n`;
  const table = (keys, value) => Object.fromEntries([...new Set(keys)].sort().map((key) => [key, value(key)]));

  /** Return both together: the larger number of attempts and the better score; what was solved in either is solved. */
  function merge(one, other) {
    const keys = (part) => [...Object.keys(one[part]), ...Object.keys(other[part])];
    const entries = (name) => [one, other].filter((data) => Object.hasOwn(data.exercises, name)).map((data) => data.exercises[name]);
    const score = (data, chapter) => (Object.hasOwn(data.quizzes, chapter) ? data.quizzes[chapter] : 0);
    return {
      exercises: table(keys("exercises"), (name) => ({
        attempts: Math.max(...entries(name).map((entry) => entry.attempts)),
        passed: entries(name).some((entry) => entry.passed),
      })),
      quizzes: table(keys("quizzes"), (chapter) => Math.max(score(one, chapter), score(other, chapter))),
    };
  }

  /** Put names in the place of former numbers, in whatever format: an older page may write beside this one. */
  function named(data) {
    const isFormer = ([key]) => Object.hasOwn(former, key);
    const entries = Object.entries(data.exercises);
    const moved = entries.filter(isFormer).map(([number, entry]) => [former[number], entry]);
    const stays = entries.filter((entry) => !isFormer(entry));
    return merge({ exercises: Object.fromEntries(stays), quizzes: data.quizzes }, { ...NONE, exercises: Object.fromEntries(moved) });
  }

  function tell() {
    listeners.forEach((listener) => listener());
  }

  /** Add something to what is kept, also to what another tab has kept meanwhile. */
  function keep(more) {
    const text = kept.get("pa-progress");
    progress = merge(merge(progress, understand(text) ?? progress), more);
    if (!isNewer(parse(text))) kept.put("pa-progress", write(progress));
    tell();
  }

  /** Take over what another tab has kept. To write here too would never end beside an older page, which puts its numbers back. */
  function follow({ key, newValue }) {
    if (key !== "pa-progress") return;
    progress = merge(progress, understand(newValue) ?? NONE);
    tell();
  }

  const entryOf = (name) => (Object.hasOwn(progress.exercises, name) ? progress.exercises[name] : { attempts: 0, passed: false });
  const attempt = (name, passed) => keep({ ...NONE, exercises: { [name]: { attempts: entryOf(name).attempts + 1, passed } } });

  Object.assign(window.pa, { attempt, attempts: (name) => entryOf(name).attempts });   // for live.js

  /** The score of a quiz, which keeps its answers itself: question -> the option that was checked first. */
  function quizScore({ chapter, right }) {
    let first = null;
    try { first = JSON.parse(kept.get(`paying-attention/quiz/${chapter}`)); } catch { /* not the quiz's */ }
    return right.filter((option, question) => first?.[question] === option).length;
  }

  function keepQuizzes(chapters) {
    const scored = chapters.map((one) => [one.chapter, quizScore(one)]).filter(([, score]) => score > 0);
    if (scored.length) keep({ ...NONE, quizzes: Object.fromEntries(scored) });
  }

  // The form of an exercise

  const inline = (text) => text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? make("code", {}, part) : part));
  const factsOf = (node) => JSON.parse(node.querySelector("script").textContent);

  function choice({ id, options }) {
    const inputs = options.map((text) => make("input", { type: "radio", name: `practice-${id}`, value: text }));
    return {
      shown: inputs.map((input, i) => make("label", {}, input, make("span", {}, ...inline(options[i])))),
      values: () => {
        const chosen = inputs.find((input) => input.checked);
        if (!chosen) throw new Unreadable("Choose one first.");
        return [chosen.value];
      },
    };
  }

  function field(reads, label) {
    const named = { "aria-label": label };
    if (reads !== "truth") return make("input", { ...named, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    return make("select", named, ...["", "true", "false"].map((value) => make("option", { value }, value)));
  }

  function typed({ kind, shape, fields, reads }, result) {
    const inputs = reads.map((what, place) => field(what, fields[place]));
    inputs.forEach((input) => input.setAttribute("aria-describedby", result.id));
    const several = inputs.length > 1;
    const values = () => inputs.map((input, place) => {
      input.removeAttribute("aria-invalid");
      try {
        return read(input.value, reads[place]);
      } catch (error) {
        input.setAttribute("aria-invalid", "true");
        input.focus();
        throw new Unreadable((several ? `${fields[place]}: ` : "") + error.message);
      }
    });
    if (kind === "matrix") {
      const grid = make("div", { class: "pa-matrix", style: `--columns: ${shape[1]}` }, ...inputs);
      return { shown: [grid], values };
    }
    const labelled = (input, place) => make("label", { class: "pa-typed" }, make("span", {}, fields[place]), input);
    return { shown: inputs.map(labelled), values };
  }

  function say(result, kind, mark, label, sentence) {
    result.className = `pa-result pa-${kind}`;
    const shown = make("span", { class: "pa-mark", "aria-hidden": "true" }, mark);
    result.replaceChildren(shown, " ", make("strong", {}, label), " ", ...inline(sentence));
  }

  function badge(name) {
    const shown = make("span", { class: "pa-solved" });
    listeners.push(() => { shown.textContent = entryOf(name).passed ? "✓ solved" : ""; });
    return shown;
  }

  function form(block) {
    const spec = factsOf(block);
    const result = make("p", { class: "pa-result", role: "status", id: `practice-result-${spec.id}` });
    const answer = spec.kind === "choice" ? choice(spec) : typed(spec, result);
    const question = make("fieldset", {}, make("legend", {}, `Your answer to exercise ${spec.id}`), ...answer.shown);
    const buttons = make("div", { class: "pa-buttons" }, make("button", { type: "submit" }, "Check"), badge(spec.name));
    const made = make("form", { class: "pa-form", novalidate: "" }, question, buttons);
    made.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.tagName !== "SELECT") return;
      event.preventDefault();              // a list does not submit its form by itself, as a field does
      made.requestSubmit();
    });
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      let mistake;
      try {
        mistake = judge(spec, answer.values());
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        result.className = "pa-result";
        result.textContent = error.message;
        return;
      }
      attempt(spec.name, mistake === null);
      if (mistake === null) say(result, "good", "✓", "Passed.", spec.lesson);
      else say(result, "bad", "✗", "Not yet:", mistake);
    });
    block.querySelector(".pa-ask").replaceWith(made, result);
  }

  // The panels: one line under the exercises of a chapter, a table of all chapters on the page that tells how to practise

  const solved = (names) => names.filter((name) => entryOf(name).passed).length;
  const ofAll = (names) => `${solved(names)} of ${names.length}`;

  function line(panel, chapters) {
    const here = chapters.find((one) => one.chapter === panel.dataset.chapter).exercises;
    const all = chapters.flatMap((one) => one.exercises);
    const said = make("span");
    listeners.push(() => { said.textContent = `Solved in this chapter: ${ofAll(here)}; in the book: ${ofAll(all)}.`; });
    const more = panel.dataset.more ? [" ", make("a", { href: panel.dataset.more }, "All chapters, export and import")] : [];
    panel.append(make("p", {}, said, ...more));
  }

  function row({ chapter, title, page, exercises, right }) {
    const name = page ? make("a", { href: page }, title) : title;
    const [bar, done, quiz] = [make("td", { class: "pa-share", "aria-hidden": "true" }, make("span")), make("td"), make("td")];
    listeners.push(() => {
      bar.firstChild.style.setProperty("--share", solved(exercises) / exercises.length);
      done.textContent = ofAll(exercises);
      quiz.textContent = `${Math.min(progress.quizzes[chapter] ?? 0, right.length)} of ${right.length}`;
    });
    return make("tr", {}, make("th", { scope: "row" }, name), bar, done, quiz);
  }

  function download() {
    const url = URL.createObjectURL(new Blob([write(progress)], { type: "application/json" }));
    make("a", { href: url, download: "progress.json" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  async function take(file, result) {
    const data = understand(await file.text());
    if (data) keep(data);
    result.textContent = data ? `${file.name} was added to what this browser keeps.` : `${file.name} is not a progress file; nothing was changed.`;
  }

  function overview(panel, chapters) {
    const head = ["chapter", "", "exercises", "quiz"].map((word) => (word ? make("th", { scope: "col" }, word) : make("td")));
    const body = make("table", { class: "pa-progress" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...chapters.map(row)));
    const total = make("p", {});
    const all = chapters.flatMap((one) => one.exercises);
    listeners.push(() => { total.textContent = `Solved ${ofAll(all)}.`; });
    const result = make("p", { class: "pa-result", role: "status" });
    const file = make("input", { type: "file", accept: ".json,application/json", hidden: "", "aria-label": "A file of progress" });
    const buttons = make("div", { class: "pa-buttons" }, make("button", { type: "button" }, "Export"), make("button", { type: "button" }, "Import"));
    buttons.firstChild.addEventListener("click", download);
    buttons.lastChild.addEventListener("click", () => file.click());
    file.addEventListener("change", async () => {
      if (file.files.length) await take(file.files[0], result);
      file.value = "";                     // the same file may be chosen again
    });
    panel.append(total, body, buttons, file, result);
  }

  function fill(panel) {
    const { chapters } = factsOf(panel);
    (panel.dataset.chapter ? line : overview)(panel, chapters);
    keepQuizzes(chapters);
    document.addEventListener("click", (event) => { if (event.target.closest(".pa-quiz")) keepQuizzes(chapters); });
  }

  const begin = () => {
    const panels = [...document.querySelectorAll(".pa-record")];
    if (panels.length) ({ former } = factsOf(panels[0]));
    const text = kept.get("pa-progress"), before = parse(text);
    progress = understand(text) ?? NONE;
    if (before && !before.format) keep(NONE);                 // from now on by names
    document.querySelectorAll(".pa-practice").forEach((block) => {
      if (block.querySelector("script")) form(block);
      else block.querySelector(".pa-runs").append(badge(block.dataset.name));
    });
    panels.forEach(fill);
    window.addEventListener("storage", follow);
    tell();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
