// The browser's history has one entry for each act of a person.
//
// When another page is opened, Streamlit first gives the page that is left the parameters of the other, which is an
// entry of its own. Back led there, and showed the wrong page: the chat without its conversation, or the same page once
// more.
if (!window.oneEntryPerAct) {
  window.oneEntryPerAct = true;
  const push = history.pushState;
  let hasActed = true;
  const act = event => { hasActed ||= event.isTrusted; };
  for (const each of ["click", "keydown"]) addEventListener(each, act, { capture: true });
  history.pushState = (...address) => {
    (hasActed ? push : history.replaceState).apply(history, address);
    hasActed = false;
  };
}
