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
    drop: (key) => { try { window[kind].removeItem(key); } catch { /* was not kept */ } },
  });

  window.pa = { make, memory };  // practice.js and live.js need them too

  // Show all code: one switch, for this page, until it is left

  const FOLDS = ".cell > details.pa-how, .cell details.hide";

  function codeSwitch(button) {
    button.disabled = false;
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      document.documentElement.classList.toggle("pa-code-shown", on);   // book.css keeps it from sight without
      document.querySelectorAll(FOLDS).forEach((fold) => {
        fold.open = on;
        if (!on) fold.classList.remove("pa-asked");
      });
    });
  }

  /** Show one piece of code, which a card has asked for. */
  function showCode(fold) {
    fold.classList.add("pa-asked");
    fold.open = true;
  }

  // The cards of claims: a pointer or the focus shows one, a click or a tap keeps it; Escape, or to go elsewhere, takes it away

  const SOON = 150, GRACE = 300;   // ms that a pointer rests on a tick before its card comes, and is away before it goes
  let shown = null;                // { tick, card }

  function hideCard() {
    if (!shown) return;
    shown.card.hidePopover();
    shown.tick.classList.remove("pa-open");
    shown = null;
  }

  /** Put a card below its tick, or above where there is no room below; on a phone book.css puts it at the foot. */
  function place(card, tick) {
    const at = tick.getBoundingClientRect(), { width, height } = card.getBoundingClientRect(), room = document.documentElement.clientWidth;
    const top = at.bottom + 6 + height > innerHeight && at.top - 6 - height > 0 ? at.top - 6 - height : at.bottom + 6;
    card.style.left = `${Math.max(8, Math.min(at.left - 24, room - width - 8)) + scrollX}px`;
    card.style.top = `${top + scrollY}px`;
  }

  function showCard(tick, card) {
    if (shown?.card === card) return;
    hideCard();
    card.showPopover();
    place(card, tick);
    tick.classList.add("pa-open");
    shown = { tick, card };
  }

  function claimTick(tick) {
    const card = document.getElementById(tick.getAttribute("aria-describedby"));
    if (!card.showPopover) return;   // then a tick leads to its card, at the end of the page
    let timer;
    const later = (run, ms) => { clearTimeout(timer); timer = setTimeout(run, ms); };
    const inside = (node) => tick.contains(node) || card.contains(node);
    const hide = () => { if (shown?.card === card && !inside(document.activeElement)) hideCard(); };
    for (const one of [tick, card]) {
      one.addEventListener("pointerenter", ({ pointerType }) => { if (pointerType === "mouse") later(() => showCard(tick, card), SOON); });
      one.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType === "mouse") later(hide, GRACE); });
      one.addEventListener("focusout", ({ relatedTarget }) => { if (!inside(relatedTarget) && shown?.card === card) hideCard(); });
    }
    tick.addEventListener("focus", () => { if (tick.matches(":focus-visible")) showCard(tick, card); });
    tick.addEventListener("click", (event) => {
      event.preventDefault();
      clearTimeout(timer);
      showCard(tick, card);
      card.focus({ preventScroll: true });   // so that Tab leads to the code, and a screen reader reads on there
    });
    card.addEventListener("click", (event) => {
      const link = event.target.closest(".pa-code-of");
      const code = link && document.getElementById(link.hash.slice(1));
      if (!code) return;
      event.preventDefault();
      hideCard();
      if (code.matches("details")) showCode(code);
      for (let fold = code.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      code.scrollIntoView({ block: "nearest" });
      const first = code.querySelector("summary") ?? code;
      if (first === code) first.tabIndex = -1;
      first.focus({ preventScroll: true });
    });
  }

  function leaveCard({ target }) {
    if (shown && !shown.card.contains(target) && !shown.tick.contains(target)) hideCard();
  }

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
      kind: (said) => said,
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
      kind: (said) => (verdict(said) === "right" ? "right" : Number(said) < right ? "low" : "high"),
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
      const found = [veil.querySelector(".pa-claimed") ? "Measured: " : "Answer: ", answer.words(card.dataset.answer), "."];
      const verdict = said === null ? null : answer.verdict(said);
      const reply = said === null ? null : veil.querySelector(`.pa-replies [data-said="${answer.kind(said)}"] dd`);
      const more = reply ? [" ", ...[...reply.childNodes].map((node) => node.cloneNode(true))] : [];
      result.classList.toggle("pa-heard", verdict === null && Boolean(answer.mark)); // the mark is seen
      if (verdict === null) result.replaceChildren(...found);
      else if (verdict === "right") result.replaceChildren("You said ", answer.words(said), ", and that is right.", ...more);
      else result.replaceChildren("You said ", answer.words(said), verdict === "near" ? ", which is near." : ".", ...more, " ", ...found);
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

  const withoutNumber = (id) => id.replace(/^exercise(-\d+)+/, "");

  /** Return the exercise of a link made before it was renumbered, which has its title. */
  function renumbered(id) {
    return [...document.querySelectorAll('[id^="exercise-"]')].find((one) => withoutNumber(one.id) === withoutNumber(id));
  }

  function openTarget() {
    const id = decodeURIComponent(location.hash.slice(1)), there = id && document.getElementById(id);
    const named = there || renumbered(id);
    if (!named) return;
    const card = named.closest(".pa-proof");
    const target = card?.showPopover ? document.querySelector(`[aria-describedby="${card.id}"]`) : named;   // a claim is where its tick stands
    if (named.matches("details.pa-how")) showCode(named);
    target.closest(".pa-guess")?.dispatchEvent(new Event("pa-open"));
    let opened = false;
    const own = target.querySelector(":scope > details.pa-deeper");   // a section that is folded itself
    for (let fold = own ?? target.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      opened ||= !fold.open;
      fold.open = true;
    }
    if (target !== named) {
      target.scrollIntoView({ block: "center" });
      showCard(target, card);
    } else if (!there || opened || target.closest(".pa-veil")) target.scrollIntoView();
  }

  // Cards of citations and terms: Escape takes them away until pointer and focus have left

  function dismissable(reference) {
    const back = () => reference.classList.remove("pa-dismissed");
    reference.addEventListener("mouseleave", back);
    reference.addEventListener("focusout", back);
  }

  function dismiss(event) {
    if (event.key !== "Escape") return;
    if (shown) {
      const { tick, card } = shown;
      if (card.contains(document.activeElement)) tick.focus({ preventScroll: true });
      hideCard();
    }
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

  // A formula, a figure or a line of code that is wider than the page scrolls; who has no finger scrolls it with the arrow keys

  const WIDE = "mjx-container[display=true], .highlight pre, .pa-drawn";

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
    document.querySelectorAll("a.pa-claimed").forEach(claimTick);
    document.addEventListener("pointerdown", leaveCard);
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
