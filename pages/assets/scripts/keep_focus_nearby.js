// Keeps the focus of the keyboard near a button that is gone once it was pressed, such as one that stops a run.
//
// A moment after the button has gone: a list or a popover that closes puts the focus somewhere itself. Not while the page
// is drawn: what stands in its place may be to come. Not before the key is up: held down, it would press what then has the
// focus. Only for the keyboard: on a phone, a field with the focus opens the keys.
if (!window.focusIsKept) {
  window.focusIsKept = true;
  let pressed, place, isHeld, timer;
  const note = event => {
    if (event.repeat) return;
    pressed = ["Enter", " "].includes(event.key) && event.target.closest("button");
    place = pressed && pressed.getBoundingClientRect();
    isHeld = pressed;
  };
  addEventListener("keydown", note, { capture: true });
  addEventListener("pointerdown", note, { capture: true });
  const distance = field => {
    const { left, right, top, bottom } = field.getBoundingClientRect();
    const beside = (least, most) => Math.max(least, most, 0);
    return Math.hypot(beside(left - place.right, place.left - right), beside(top - place.bottom, place.top - bottom));
  };
  const keep = () => {
    if (!pressed || isHeld || pressed.isConnected || document.activeElement !== document.body) return;
    if (!document.querySelector("[data-test-script-state=notRunning]")) return look();
    const fields = [...document.querySelectorAll("button:not(:disabled), textarea")];
    const seen = fields.filter(each => each.checkVisibility() && !each.closest("[data-stale=true]"));
    seen.sort((one, other) => distance(one) - distance(other))[0]?.focus({ preventScroll: true });
  };
  const look = () => {
    if (!pressed || pressed.isConnected) return;
    clearTimeout(timer);
    timer = setTimeout(keep, 100);
  };
  addEventListener("keyup", () => { isHeld = false; look(); }, { capture: true });
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}
