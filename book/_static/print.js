/* Paper is light, whatever the reader's theme: it changes for as long as the page is printed. */
(() => {
  "use strict";
  const root = document.documentElement;
  let theme = null;

  const toPaper = () => { theme ??= root.dataset.theme; root.dataset.theme = "light"; };
  const back = () => {
    if (theme !== null) root.dataset.theme = theme;
    theme = null;
  };

  window.addEventListener("beforeprint", toPaper);
  window.addEventListener("afterprint", back);
  matchMedia("print").addEventListener("change", (paper) => (paper.matches ? toPaper() : back()));
})();
