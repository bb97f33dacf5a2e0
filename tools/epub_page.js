// Run by make_epub.py in a built page: its article as XHTML for a reader without script, and its headings.
// `pages` are the files of the pages by address, `pictures` those of the explorables, `live` is where they move.
({ pages, pictures, live }) => {
  const article = document.querySelector(".bd-article");
  const all = (selector) => [...article.querySelectorAll(selector)];
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const unwrap = (node) => node.replaceWith(...node.childNodes);

  // formulas: what MathJax says to a screen reader, with the TeX for readers that know no MathML
  for (const set of all("mjx-container")) {
    const formula = set.querySelector("mjx-assistive-mml math");
    if (set.getAttribute("display") === "true") formula.setAttribute("display", "block");
    set.replaceWith(formula);
  }

  // figures: the colours and fonts of the theme as they are in light
  const style = getComputedStyle(document.documentElement);
  const settled = (value) => value.replace(/var\((--[\w-]+)[^)]*\)/g, (_, name) => style.getPropertyValue(name).trim().replaceAll('"', "'"));
  for (const node of all("svg, svg *")) {
    for (const { name, value } of [...node.attributes]) if (value.includes("var(")) node.setAttribute(name, settled(value));
  }

  // explorables: a picture; quizzes: a list
  for (const quiz of all(".pa-quiz")) {
    const questions = [...quiz.querySelectorAll("fieldset")].map((one) => {
      const options = [...one.querySelectorAll("label")].map((label) => make("li", {}, ...label.querySelector("span, div").childNodes));
      return make("div", { class: "question" }, make("p", {}, ...one.querySelector("legend").childNodes), make("ul", {}, ...options));
    });
    quiz.closest(".static-widget").replaceWith(make("div", { class: "quiz" }, ...questions));
  }
  all(".static-widget").forEach((widget, i) => {
    const alt = widget.querySelector("[aria-label]")?.getAttribute("aria-label") ?? "";
    const said = make("figcaption", {}, "The explorable as it first stands. It moves ", make("a", { href: live }, "on the book's pages"), " and in its notebooks.");
    widget.replaceWith(make("figure", { class: "explorable" }, make("img", { src: pictures[i], alt }), said));
  });

  // a button in a sentence is read
  all("button.pa-try").forEach(unwrap);

  // folds are open, but for the code that measures; what is to be pressed goes
  all(".cell > details.pa-how, .pa-of, .cell details.hide, .pa-form, .pa-result, .pa-live, .pa-on-screen, .pa-launch, .pa-record, .pa-all-code, .pa-card, .pa-heard, .headerlink, script, style, link, button, input, select")
    .forEach((node) => node.remove());
  for (const fold of all("details:not(.pa-how)")) {
    const summary = fold.querySelector(":scope > summary");
    const heading = summary?.querySelector("h2, h3, h4");
    if (heading) summary.replaceWith(heading);
    else if (fold.matches(".pa-veil, .pa-note > details")) summary?.remove();
    else summary?.replaceWith(make("p", { class: "folded" }, ...summary.childNodes));
    fold.replaceWith(make("div", { class: fold.className || "fold" }, ...fold.childNodes));
  }
  all("details").forEach((fold) => fold.removeAttribute("open"));
  all(".pa-ref").forEach(unwrap);

  // a tick is the number of a note, and the notes are the cards of the claims
  for (const tick of all("a.pa-claimed")) {
    tick.replaceChildren(make("sup", {}, tick.dataset.numbers));
    tick.removeAttribute("aria-label");
  }
  all(".pa-proof").forEach((card) => card.removeAttribute("popover"));

  // links: to the files of this book; what is not in it is no link
  for (const link of all("a[href]")) {
    const url = new URL(link.getAttribute("href"), document.baseURI);   // in a drawing, link.href is no text
    const page = pages[url.href.slice(0, url.href.length - url.hash.length)];
    if (page) link.setAttribute("href", page + url.hash);
    else if (!url.protocol.startsWith("http")) unwrap(link);
  }
  const images = all("img").filter((img) => !pictures.includes(img.getAttribute("src"))).map((img) => {
    const from = img.src;
    img.setAttribute("src", `images/${decodeURIComponent(from.split("/").pop())}`);
    return from;
  });

  const comments = document.createTreeWalker(article, NodeFilter.SHOW_COMMENT);
  const said = [];
  while (comments.nextNode()) said.push(comments.currentNode);
  said.forEach((comment) => comment.remove());
  for (const node of [article, ...all("*")]) {
    for (const { name } of [...node.attributes]) {
      if (/^(data-|aria-(describedby|pressed|hidden|live)|tabindex|role$|loading$|itemprop$)/.test(name)) node.removeAttribute(name);
    }
  }

  const headings = all("h1, h2").map((heading) => ({
    level: Number(heading.tagName[1]),
    words: heading.textContent.replace(/\s+/g, " ").trim(),
    place: heading.closest("section[id]")?.id ?? "",
  }));
  const body = make("section", { class: "page" }, ...article.childNodes);
  return { body: new XMLSerializer().serializeToString(body), headings, images };
}
