// A sentence that is typed, of words that have a vector.

// How many letters to change, add or drop to make one word of the other.
function spellingGap(a, b) {
  let row = range(b.length + 1);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1])));
    row = next;
  }
  return row[b.length];
}

/**
 * The field for the sentence, examples, the list of words, and what is said of a word that has no vector.
 * known    all words, as they are spelled
 * presets  sentences to choose from
 * longest  how many words fit
 * use      called with the words of a sentence that can be used
 */
function sentenceField({ state, on }, { known, presets, longest, use }) {
  const spelling = new Map(known.map((word) => [word.toLowerCase(), word]));
  const plain = (typed) => typed.replace(/[.,;:!?]+$/, "").toLowerCase();
  const trouble = make("p", { class: "pa-trouble", id: freshId("trouble"), role: "alert" });
  const input = ownKeys(make("input", { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: "200" }));
  const [examples, putExample] = menu("Examples", presets, (i) => { take(presets[i]); putExample(-1); }, "Examples");
  const list = make("div", { class: "pa-list", id: freshId("words") });
  list.hidden = true;
  const more = button(`${known.length} words`, () => {
    list.hidden = !list.hidden;
    if (!list.firstChild) list.append(...known.map((word) => button(word, () => take(`${input.value.trim()} ${word}`))));   // made when asked for
    more.setAttribute("aria-expanded", String(!list.hidden));
  });
  more.setAttribute("aria-expanded", "false");
  more.setAttribute("aria-controls", list.id);

  const parts = (text) => text.trim().split(/\s+/).filter((typed) => plain(typed));
  const spelt = (typed) => typed.map((word) => spelling.get(plain(word)));
  const fits = (typed) => typed.length > 0 && typed.length <= longest && typed.every((word) => spelling.has(plain(word)));
  // What cannot be used stays in the field, and what is shown stays that of the last sentence that could.
  function take(text) {
    input.value = text;
    const typed = parts(text);
    if (fits(typed)) use(spelt(typed));
    complain(typed);
  }
  let told = "";
  function complain(typed) {
    const unknown = [...new Set(typed.filter((word) => !spelling.has(plain(word))))];
    const long = typed.length > longest;
    const now = JSON.stringify([unknown, long, typed.length === 0]);
    if (told === now) return;                  // a button must survive the blur that pressing it causes
    told = now;
    const bad = unknown.length > 0 || long || !typed.length;
    input[bad ? "setAttribute" : "removeAttribute"]("aria-invalid", "true");
    input[bad ? "setAttribute" : "removeAttribute"]("aria-describedby", trouble.id);
    const near = (word) => known.map((w) => [spellingGap(plain(word), w.toLowerCase()), w]).filter(([gap]) => gap <= Math.max(2, word.length / 2))
      .sort((a, b) => a[0] - b[0]).slice(0, 3).map(([, w]) => w);
    const offer = (word) => { const words = near(word); return words.length ? ["Nearest words: ", words] : ["Nothing near it is here; take, say: ", known.slice(0, 3)]; };
    const instead = (old, word) => button(word, () => { take(parts(input.value).map((one) => (one === old ? word : one)).join(" ")); input.focus(); });
    trouble.replaceChildren(...(typed.length ? [] : ["Type a word. "]), ...(long ? [`At most ${longest} words fit here; these are ${typed.length}. `] : []),
      ...unknown.flatMap((word) => {
        const [lead, words] = offer(word);
        return [`There is no vector for \u201c${word}\u201d. ${lead}`, ...words.map((w) => instead(word, w)), " "];
      }));
  }
  input.addEventListener("input", () => { const typed = parts(input.value); if (fits(typed)) { use(spelt(typed)); complain(typed); } });
  input.addEventListener("change", () => take(input.value));
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") { take(input.value); consume(event); } });
  const fill = () => {
    const words = state().words.join(" ");
    if (parts(input.value).map(plain).join(" ") === words.toLowerCase()) return;
    input.value = words;
    complain(state().words);
  };
  on("words", fill);
  fill();
  const field = make("label", { class: "pa-sentence" }, make("span", { class: "pa-label" }, "A sentence"), input);
  return [make("div", { class: "pa-typed" }, field, examples, more), list, trouble];
}
