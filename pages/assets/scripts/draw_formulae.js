// Draws formulae as soon as they are on the page. A page runs the script once, however often it is included. It reads
// an attribute that only our code writes: Markdown has none.
if (!window.drawsFormulae) {
  window.drawsFormulae = true;
  const draw = part => {
    for (const each of [part, ...part.querySelectorAll("[data-mathml]")].filter(each => each.dataset?.mathml)) {
      const formula = new DOMParser().parseFromString(each.dataset.mathml, "application/xml").documentElement;
      if (formula.localName === "math") each.replaceWith(document.importNode(formula, true));
    }
  };
  new MutationObserver(changes => {
    const added = changes.flatMap(change => [...change.addedNodes]);
    added.filter(part => part.nodeType === Node.ELEMENT_NODE).forEach(draw);
  }).observe(document.body, { childList: true, subtree: true });
  draw(document.body);
}
