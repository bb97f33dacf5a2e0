/* Resume where you left off: a chapter notes how far one has read, in this browser alone, and the landing page offers to go on
   there. Without script, or where nothing may be stored, the landing page stays as it is. */
(() => {
  "use strict";

  const { make, memory } = window.pa;
  const kept = memory("localStorage");
  const KEY = "pa-last-read";
  const PAGE = /^(\w+\/)?\w+$/;   // solutions lie deeper, and no address that leads elsewhere looks like this
  const root = new URL(document.documentElement.dataset.content_root, location.href);

  const words = (heading) => {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll(".headerlink").forEach((link) => link.remove());
    return copy.textContent.trim();
  };

  /** The last section whose heading has passed the middle of the screen. */
  const reached = () => [...document.querySelectorAll("article section > h2")]
    .filter((heading) => heading.getBoundingClientRect().top < innerHeight / 2).at(-1);

  function note(page) {
    const heading = reached();
    kept.put(KEY, JSON.stringify({
      page,
      title: words(document.querySelector("article h1")),
      section: heading ? words(heading) : "",
      anchor: heading ? heading.parentElement.id : "",
    }));
  }

  /** What was noted, or null if nothing was, or something else has written there. */
  function last() {
    try {
      const read = JSON.parse(kept.get(KEY));
      return PAGE.test(read.page) ? read : null;
    } catch { return null; }
  }

  function offer(line) {
    const read = last();
    if (!read) return;
    const to = new URL(`${read.page}.html${read.anchor && `#${read.anchor}`}`, root);
    line.replaceChildren("Go on with ", make("a", { href: to }, read.section ? `${read.title}: ${read.section}` : read.title));
  }

  const begin = () => {
    const page = location.pathname.slice(root.pathname.length).replace(/\.html$/, "");
    const line = document.querySelector(".pa-then");
    if (line) offer(line);
    else if (PAGE.test(page) && document.querySelector(".pa-under-title")) {   // chapters say how long they take
      note(page);
      document.addEventListener("visibilitychange", () => { if (document.hidden) note(page); });
      window.addEventListener("pagehide", () => note(page));
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
