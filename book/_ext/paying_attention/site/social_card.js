// Put the card in place of the page: its title, the question under it, and its first figure or drawing.
async (book) => {
  const article = document.querySelector("article");
  const title = article.querySelector("h1").firstChild.textContent.trim();
  const said = [...article.querySelectorAll("h1 ~ p")].map((one) => one.textContent.trim()).find(Boolean) ?? "";
  const figure = article.querySelector("svg.pa-figure, .static-widget svg");
  const made = (tag, name, ...parts) => {
    const one = document.createElement(tag);
    one.className = name;
    one.append(...parts);
    return one;
  };
  // as it looks on the page, wherever its style comes from
  const pictured = (svg) => {
    const { width, height } = svg.getBoundingClientRect();
    const copy = svg.cloneNode(true);
    const drawn = [...svg.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((one, i) => {
      const style = getComputedStyle(drawn[i]);
      for (const name of ["fill", "stroke", "stroke-width", "paint-order", "opacity", "font-size", "font-weight", "display"]) {
        one.style.setProperty(name, style.getPropertyValue(name));
      }
    });
    if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
    copy.style.cssText = "width: 100%; height: 100%; max-width: none";
    return made("div", "picture", copy);
  };
  const sentence = said.match(/^.{20,150}?[.?!](?=\s|$)/s)?.[0] ?? said.slice(0, 150);
  const card = made("div", "card-of-page", made("header", "", book), made("h1", "", title), made("p", "", sentence));
  document.documentElement.dataset.theme = "light";
  const logo = Object.assign(new Image(), { src: document.querySelector("link[rel=icon]").href, className: "logo" });
  card.append(figure ? pictured(figure) : logo);
  if (title === book) card.querySelector("header").remove();
  const style = document.createElement("style");
  style.textContent = `
    .card-of-page { position: fixed; inset: 0; z-index: 9999; background: #fff; color: #1d1d1f; padding: 48px 56px;
      display: flex; flex-direction: column; border-left: 16px solid #7d4e9e; overflow: hidden; }
    .card-of-page header { font: 600 26px "Book Sans", sans-serif; color: #7d4e9e; }
    .card-of-page h1 { font-size: 54px; line-height: 1.1; margin: 6px 0 8px; }
    .card-of-page p { font-size: 31px; line-height: 1.25; margin: 0 0 14px; }
    .card-of-page .picture { flex: 1; min-height: 0; }
    .card-of-page .logo { flex: 1; min-height: 0; align-self: end; }`;
  document.documentElement.append(style);
  document.body.replaceChildren(card);
  await Promise.all([document.fonts.ready, figure || logo.decode()]);
}
