// Quiz: one question after another, checked on the page. Answers are kept in the browser.
function render({ model, el }) {
  const questions = model.get("questions");
  const key = `paying-attention/quiz/${model.get("chapter")}`;
  const read = () => { try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; } };
  const keep = (first) => { try { localStorage.setItem(key, JSON.stringify(first)); } catch { /* private window */ } };
  let first = read();      // question -> the option that was checked first

  const root = make("section", { class: "pa-widget pa-quiz", "aria-label": model.get("title") });
  const total = make("p", { class: "pa-total", role: "status" });
  const again = make("button", { type: "button" }, "Start over");
  const list = make("ol", {});
  root.append(make("p", { class: "pa-title" }, model.get("title")), list, make("div", { class: "pa-foot" }, total, again));
  el.append(root);

  function count() {
    const answered = questions.filter((_, i) => i in first).length;
    const right = questions.filter((q, i) => q.option[first[i]]?.right).length;
    total.textContent = answered === 0
      ? `${questions.length} questions.`
      : `${right} of ${questions.length} right at the first try` + (answered < questions.length ? `, ${questions.length - answered} to go.` : ".");
    model.set("score", right);
    model.save_changes();
  }

  function ask(question, i) {
    const group = freshId("question");
    const set = make("fieldset", {}, make("legend", {}, `${i + 1}. `, ...inline(question.text)));
    const word = make("p", { class: "pa-word", role: "status" });
    const button = make("button", { type: "button" }, "Check");
    question.option.forEach((option, j) => {
      const input = ownKeys(make("input", { type: "radio", name: group, value: String(j) }));
      set.append(make("label", {}, input, make("span", {}, ...inline(option.text))));
    });
    const answer = (j) => {
      const { right, feedback } = question.option[j];
      word.replaceChildren(make("strong", {}, right ? "Right. " : "Not quite. "), ...inline(feedback));
      word.className = `pa-word ${right ? "pa-right" : "pa-wrong"}`;
    };
    button.addEventListener("click", () => {
      const picked = set.querySelector("input:checked");
      if (!picked) {
        word.className = "pa-word";
        word.textContent = "Choose an answer first.";
        return;
      }
      if (!(i in first)) { first[i] = Number(picked.value); keep(first); count(); }
      answer(Number(picked.value));
    });
    if (question.option[first[i]]) { set.querySelectorAll("input")[first[i]].checked = true; answer(first[i]); }
    return make("li", {}, set, button, word);
  }

  function start() {
    list.replaceChildren(...questions.map(ask));
    count();
  }
  again.addEventListener("click", () => { first = {}; keep(first); start(); root.querySelector("input").focus(); });
  start();
}

export default { render };
