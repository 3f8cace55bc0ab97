// Copies to the clipboard. A page runs the script once, however often it is included. It reads attributes that only our
// code writes: Markdown has none. If the browser refuses the clipboard (as over plain http, except for localhost), the
// text is shown and selected. What a person selects and copies has the brackets of its markers, also where it is pasted
// with its looks.
if (!window.copiesOnClick) {
  window.copiesOnClick = true;
  document.addEventListener("copy", () => {
    document.body.classList.add("is-copied");
    setTimeout(() => document.body.classList.remove("is-copied"));
  });
  document.addEventListener("click", async event => {
    const button = event.target.closest("[data-copied]");
    if (!button) return;
    const source = button.nextElementSibling;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = button.dataset.copied;
    } catch {
      source.hidden = false;
      source.select ? source.select() : getSelection().selectAllChildren(source);
      button.textContent = button.dataset.refused;
    }
    setTimeout(() => { button.textContent = button.dataset.words; }, 4000);
  });
}
