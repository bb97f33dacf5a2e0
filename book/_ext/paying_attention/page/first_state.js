// Run by first_state.py in the built page: the drawing of each view, with its style, as markup that needs no script.
() => {
  const controls = (node) => [...node.querySelectorAll("input, button, select, textarea, [tabindex]")];

  function freeze(node, now) {
    node.removeAttribute("tabindex");
    if (node.matches("[role=slider]")) node.setAttribute("role", "img");
    if (!node.matches("input, button, select, textarea")) return;
    node.setAttribute("disabled", "");
    if (node.matches("[type=radio], [type=checkbox]")) node.toggleAttribute("checked", now.checked);
    else if (node.matches("input")) node.setAttribute("value", now.value);
    else if (node.matches("select")) [...node.options].forEach((option, i) => option.toggleAttribute("selected", i === now.selectedIndex));
  }

  return [...document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]')].map((script) => {
    const live = script.nextElementSibling;
    if (!live?.matches(".static-widget[data-widget-state=ready]")) return null;
    const drawn = live.cloneNode(true);
    const now = controls(live);
    controls(drawn).forEach((node, i) => freeze(node, now[i]));
    drawn.querySelectorAll("datalist, .pa-hidden[role=status]").forEach((node) => node.replaceChildren());
    drawn.dataset.widgetState = "drawn";
    const style = document.createElement("style");
    style.textContent = live.dressed ?? "";
    drawn.prepend(style);
    return drawn.outerHTML;
  });
}
