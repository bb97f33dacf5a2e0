/* What a page of the book does beyond standing there: fold its code, ask its guesses, open what a link leads to.
   Without this file all of it is still there, as plain folds. */
(() => {
  "use strict";

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  /** A storage that forgets where the browser allows none. */
  const memory = (kind) => ({
    get: (key) => { try { return window[kind].getItem(key); } catch { return null; } },
    put: (key, value) => { try { window[kind].setItem(key, value); } catch { /* not kept, then */ } },
  });

  window.pa = { make, memory };  // practice.js needs them too

  // Show all code: one switch for the whole book

  const FOLDS = "details.pa-how, .cell details.hide";

  function codeSwitch(button, kept = memory("localStorage")) {
    const put = (on) => {
      button.setAttribute("aria-pressed", String(on));
      button.textContent = on ? "Fold the code" : "Show all code";
      document.documentElement.classList.toggle("pa-code-shown", on);   // book.css hides the code of mere drawings without it
      document.querySelectorAll(FOLDS).forEach((fold) => { fold.open = on; });
    };
    button.disabled = false;
    if (kept.get("pa-all-code") === "yes") put(true);
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      put(on);
      kept.put("pa-all-code", on ? "yes" : "no");
    });
  }

  // Claims stand in the margin of a wide page, and in its column once their code is open: they stay in sight

  document.addEventListener("click", (event) => {
    const proved = event.target.closest(".pa-proved > details > summary")?.closest(".pa-proved");
    if (proved) setTimeout(() => proved.scrollIntoView({ block: "nearest" }));
  });

  // Guess cards

  const unitOf = (card) => (card.dataset.unit ? ` ${card.dataset.unit}` : "");

  /** The choices of a card as radio buttons; `said()` is the place of the one that is chosen, or null. */
  function choices(card, list) {
    const inputs = [];
    const names = [...list.children].map((item, i) => {
      const inside = item.firstElementChild?.tagName === "P" ? item.firstElementChild : item;
      const input = make("input", { type: "radio", name: card.id, value: String(i) });
      inputs.push(input);
      return make("label", {}, input, make("span", {}, ...[...inside.childNodes].map((node) => node.cloneNode(true))));
    });
    const words = (i) => names[i].lastChild.cloneNode(true);
    return {
      fields: names,
      missing: "Choose one, or skip.",
      said: () => { const at = inputs.findIndex((input) => input.checked); return at < 0 ? null : String(at); },
      words,
      mark: () => names[Number(card.dataset.answer)].classList.add("pa-right"),
      verdict: (said) => (said === card.dataset.answer ? "right" : "wrong"),
    };
  }

  /** A number to type in. */
  function number(card) {
    const input = make("input", { type: "number", step: "any", inputmode: "decimal", "aria-label": `Your guess${unitOf(card)}` });
    const right = Number(card.dataset.answer);
    const within = Number(card.dataset.within || 0);
    const verdict = (said) => {
      const off = Math.abs(Number(said) - right);
      if (off === 0) return "right";
      return off <= 3 * within ? "near" : "wrong";
    };
    return {
      fields: [make("label", { class: "pa-typed" }, input, make("span", {}, unitOf(card)))],
      missing: "Type a number, or skip.",
      said: () => (input.value === "" ? null : input.value),
      words: (said) => `${said}${unitOf(card)}`,
      verdict,
    };
  }

  function guessCard(card, kept = memory("sessionStorage")) {
    const key = `pa-guess ${location.pathname}#${card.id}`;
    const list = card.querySelector("ul.pa-choices");
    const veil = card.querySelector("details.pa-veil");
    const answer = list ? choices(card, list) : number(card);
    const result = make("p", { class: "pa-result", role: "status", tabindex: "-1" });
    const skip = make("button", { type: "button" }, "Skip");
    const waits = make("span", { class: "pa-waits" }, "Until then, what was found is hidden.");
    const buttons = make("div", { class: "pa-buttons" }, make("button", { type: "submit" }, "Commit"), skip, waits);
    const question = make("fieldset", {}, make("legend", {}, "Your guess"), ...answer.fields);
    const form = make("form", { class: "pa-form", novalidate: "" }, question, buttons);

    const reveal = (said) => {
      card.classList.replace("pa-asking", "pa-answered");
      veil.open = true;
      reachWide(veil);
      question.disabled = true;
      answer.mark?.();
      const found = [veil.querySelector("[id^=claim-]") ? "Measured: " : "Answer: ", answer.words(card.dataset.answer), "."];
      const verdict = said === null ? null : answer.verdict(said);
      result.classList.toggle("pa-heard", verdict === null && Boolean(answer.mark)); // the mark is seen
      if (verdict === null) result.replaceChildren(...found);
      else if (verdict === "right") result.replaceChildren("You said ", answer.words(said), ", and that is right.");
      else result.replaceChildren("You said ", answer.words(said), verdict === "near" ? ", which is near. " : ". ", ...found);
    };
    const decide = (said) => {
      kept.put(key, JSON.stringify(said));
      reveal(said);
      result.focus();
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = answer.said();
      if (said === null) result.textContent = answer.missing;
      else decide(said);
    });
    skip.addEventListener("click", () => decide(null));
    card.addEventListener("pa-open", () => { if (card.classList.contains("pa-asking")) reveal(null); });

    card.classList.add("pa-asking");
    (list || card.querySelector(".pa-question").lastElementChild).after(form);
    form.after(result);
    const before = kept.get(key);
    if (before !== null) {
      const said = JSON.parse(before);
      reveal(said);
      const chosen = list && said !== null && form.elements[card.id][Number(said)];
      if (chosen) chosen.checked = true;
    }
  }

  // A link leads to what may be folded or veiled

  function openTarget() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    target.closest(".pa-guess")?.dispatchEvent(new Event("pa-open"));
    let opened = false;
    const own = target.querySelector(":scope > details.pa-deeper");   // a section that is folded itself
    for (let fold = own ?? target.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      opened ||= !fold.open;
      fold.open = true;
    }
    if (opened || target.closest(".pa-veil")) target.scrollIntoView();
  }

  // Cards of citations and terms: Escape takes them away until pointer and focus have left

  function dismissable(reference) {
    const back = () => reference.classList.remove("pa-dismissed");
    reference.addEventListener("mouseleave", back);
    reference.addEventListener("focusout", back);
  }

  function dismiss(event) {
    if (event.key !== "Escape") return;
    document.querySelectorAll(".pa-ref:hover, .pa-ref:focus-within").forEach((r) => r.classList.add("pa-dismissed"));
  }

  // On a narrow screen a comment that would run out of sight stands above its line

  const NARROW = window.matchMedia("(max-width: 600px)");
  const COMMENTED = /^((?:<span><\/span>)? *)(.*\S) +(<span class="c1">.*<\/span>)$/;   // indent, code, comment

  const written = new WeakMap();   // the listings as they came, for a screen that is turned or a font that comes late

  function raiseComments(pre) {
    if (written.has(pre)) pre.innerHTML = written.get(pre);
    else written.set(pre, pre.innerHTML);
    if (!NARROW.matches) return;
    const line = make("pre"), ruler = make("span", {}, "0".repeat(100)), { paddingLeft, paddingRight } = getComputedStyle(pre);
    pre.append(ruler);
    const columns = (100 * (pre.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight))) / ruler.offsetWidth;
    ruler.remove();
    pre.innerHTML = pre.innerHTML.split("\n").map((html) => {
      line.innerHTML = html;
      return line.textContent.length > columns ? html.replace(COMMENTED, "$1$3\n$1$2") : html;
    }).join("\n");
  }

  // A formula or a line of code that is wider than the page scrolls; who has no finger scrolls it with the arrow keys

  const WIDE = "mjx-container[display=true], .highlight pre";

  function reachWide(within) {
    const unfolded = [...within.querySelectorAll(WIDE)].filter((node) => !node.closest("details:not([open])"));  // to measure is to lay out
    unfolded.filter((node) => node.matches("pre:has(.c1)")).forEach(raiseComments);
    unfolded.forEach((node) => { if (node.scrollWidth > node.clientWidth) node.tabIndex = 0; });
  }

  async function reachAll() {
    await window.MathJax?.startup?.promise;
    await document.fonts?.ready;
    reachWide(document);
  }

  const begin = () => {
    document.querySelectorAll("button.pa-all-code").forEach((button) => codeSwitch(button));
    document.querySelectorAll(".pa-guess").forEach((card) => guessCard(card));
    document.querySelectorAll(".pa-ref").forEach(dismissable);
    document.addEventListener("keydown", dismiss);
    window.addEventListener("hashchange", openTarget);
    openTarget();
    document.addEventListener("toggle", (event) => reachWide(event.target), true);  // what was folded had no width
    NARROW.addEventListener("change", reachAll);
    if (document.readyState === "complete") reachAll();
    else window.addEventListener("load", reachAll);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
