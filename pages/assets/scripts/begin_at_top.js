// Shows one thing of a list from its top, and the list again at the place where it was left.
//
// Runs when its element is added, or names another thing. The rows of a list come later, on a busy machine by seconds.
// A place is noted when somebody acts: when the script runs for one of the list's things, the list is gone, and before,
// the browser scrolls when something above the list goes. After the return it must not, until somebody acts.
(async () => {
  const { list, shown } = [...document.querySelectorAll("[data-shown]")].at(-1).dataset;
  const page = document.querySelector("[data-testid=stMain]"), rows = () => page.querySelector(".dvn-scroller");
  if (!window.listPlaces) {
    window.listPlaces = {};
    const keep = () => { if (window.listShown && rows()) listPlaces[listShown] = [page.scrollTop, rows().scrollTop]; };
    for (const act of ["pointerdown", "keydown"]) addEventListener(act, keep, { capture: true });
  }
  const [below, rowsBelow] = listPlaces[list] ?? [0, 0], isLeft = window.listLeft === list;
  const isThere = () => page.scrollTop > below - 1 && rows()?.scrollTop > rowsBelow - 1;
  [window.listShown, window.listLeft] = shown ? ["", list] : [list, ""];
  if (shown) return page.scrollTo(0, 0);
  let hasActed = false;
  if (isLeft) {
    const onAct = () => { hasActed = true; page.style.overflowAnchor = ""; };
    page.style.overflowAnchor = "none";
    for (const act of ["wheel", "pointerdown", "keydown"]) addEventListener(act, onAct, { once: true });
  }
  for (let looks = 0; looks < 400 && isLeft && !hasActed && !isThere(); looks++) {
    page.scrollTo(0, below);
    rows()?.scrollTo(0, rowsBelow);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
})();
