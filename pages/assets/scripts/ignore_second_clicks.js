// The second click of a double click is no act of a person.
//
// Many people click twice on everything. Both clicks would count, and a question be asked twice. This is only so for
// buttons that begin something: others, such as ‹ › and + −, may be pressed as fast as one likes.
if (!window.ignoresSecondClicks) {
  window.ignoresSecondClicks = true;
  const begins = [
    "again", "begin-comparison", "crawl-into", "create-index", "follow-up", "link", "load-samples", "page-again",
    "reindex", "retry", "run-on", "site-again", "suggestion", "table-retry",
  ].map(each => `[class*="st-key-${each}"] button`).join() + ", .stFormSubmitButton button";
  document.addEventListener("click", event => {
    if (event.detail < 2 || !event.target.closest(begins)) return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
}
