// Opens the row whose key is in `data-opens` of a pressed node, and the row in `data-lands`, once per address. Several
// copies of the script act as one. During a run, or while a part opens, redraws move the row out of view or take its
// focus. So the script brings it back until it has stayed for a second, for at most ten, unless someone uses the page
// or moves the focus on, which a screen reader does without a key. (It can't wait for the end of the opening: if the
// row is drawn again, that event never comes.)
if (!window.openRow) {
  let hold = 0;
  for (const each of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(each, () => { hold++; }, { capture: true, passive: true });
  window.openRow = async key => {
    const mine = ++hold;
    let taken = false;
    for (let looks = 0, seen = 0; looks < 50 && seen < 5 && hold === mine; looks++) {
      const row = document.getElementsByClassName("st-key-" + key)[0];
      const summary = row?.querySelector("summary") ?? row?.closest("details")?.querySelector("summary");
      if (summary) {
        const focused = document.activeElement;
        if (taken && focused !== summary && focused !== document.body) break;
        const { top, bottom } = summary.getBoundingClientRect();
        const there = summary === focused && top >= 0 && bottom <= innerHeight;
        seen = there && summary.parentElement.open ? seen + 1 : 0;
        if (!seen) {
          if (!summary.parentElement.open) summary.click();
          summary.focus({ preventScroll: true });
          taken = true;
          summary.scrollIntoView({ block: "center" });
        }
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  };
  document.addEventListener("click", event => {
    const opener = event.target.closest("[data-opens]");
    if (opener) openRow(opener.dataset.opens);
  });
}
{
  const named = document.querySelector("[data-lands]")?.dataset.lands;
  const landed = named + "@" + location.search;
  if (named && window.landed !== landed) {
    window.landed = landed;
    openRow(named);
  }
}
