// Quiz: one question after another, checked on the page. Answers are kept in the browser.
function render({ model, el }) {
  const questions = model.get("questions");
  const key = `paying-attention/quiz/${model.get("chapter")}`;
  const read = () => { try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; } };
  const keep = (first) => { try { localStorage.setItem(key, JSON.stringify(first)); } catch { /* private window */ } };
  let first = read();      // question -> the option that was checked first

  const root = make("section", { class: "pa-widget pa-quiz", "aria-label": model.get("title") });
  const total = make("p", { class: "pa-total", role: "status" });
  const again = button("Start over", () => { first = {}; keep(first); start(); root.querySelector("input").focus(); });
  const list = make("ol", {});
  root.append(make("p", { class: "pa-title" }, model.get("title")), list, make("div", { class: "pa-foot" }, total, again));
  el.append(root);

  function count() {
    const answered = questions.filter((_, i) => i in first).length;
    const right = questions.filter((q, i) => q.option[first[i]]?.right).length;
    total.textContent = answered === 0
      ? `${questions.length} questions.`
      : `${right} of ${questions.length} right at the first try` + (answered < questions.length ? `, ${questions.length - answered} to go.` : ".");
    save(model, { score: right });
  }

  function ask(question, i) {
    const group = freshId("question");
    const set = make("fieldset", {}, make("legend", {}, `${i + 1}. `, ...inline(question.text)));
    const word = make("p", { class: "pa-word", role: "status" });
    const inputs = question.option.map(({ text }, j) => {
      const [label, input] = option(group, j, ...inline(text));
      set.append(label);
      return input;
    });
    const answer = (j) => {
      const { right, feedback } = question.option[j];
      word.replaceChildren(make("strong", {}, right ? "Right. " : "Not quite. "), ...inline(feedback));
      word.className = `pa-word ${right ? "pa-right" : "pa-wrong"}`;
    };
    const check = button("Check", () => {
      const picked = inputs.findIndex((input) => input.checked);
      if (picked < 0) {
        word.className = "pa-word";
        word.textContent = "Choose an answer first.";
        return;
      }
      if (!(i in first)) { first[i] = picked; keep(first); count(); }
      answer(picked);
    });
    if (question.option[first[i]]) { inputs[first[i]].checked = true; answer(first[i]); }
    return make("li", {}, set, check, word);
  }

  function start() {
    list.replaceChildren(...questions.map(ask));
    count();
  }
  start();
}

export default { render };
