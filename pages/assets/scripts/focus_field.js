// Puts the focus into the field that `data-focus` names.
//
// Runs when its element is added. The field may come a moment later.
(async () => {
  const key = [...document.querySelectorAll("[data-focus]")].at(-1).dataset.focus;
  for (let looks = 0; looks < 20; looks++) {
    const field = document.querySelector(`.st-key-${key} :is(input, textarea)`);
    if (field) return field.focus();
    await new Promise(resolve => setTimeout(resolve, 50));
  }
})();
