"""One script in the browser that copies to the clipboard and draws formulae."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.words import language, say
from rag.runs.export.markdown import run_as_markdown
from rag.trace.events import Event, RunFinished

COPY_ON_CLICK = """<script>
if (!window.answersAreAlive) {
  window.answersAreAlive = true;
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
</script>"""
"""It also draws formulae as soon as they are on the page. A page runs it once, however often it is included. It reads
attributes that only our code writes: Markdown has none. If the browser refuses the clipboard (as over plain http,
except for localhost), the text is shown and selected. What a person selects and copies has the brackets of its markers,
also where it is pasted with its looks.
"""


def show_script() -> None:
    """Adds the script to a page, before it shows answers."""
    st.html(COPY_ON_CLICK, unsafe_allow_javascript=True)


def copy_button(help_key: str) -> str:
    """HTML of a button that copies the text of the next element. `help_key`: key of the text that says as what."""
    words = escape(say("chat.copy"))
    return (
        f'<button class="copy" title="{escape(say(help_key))}" aria-live="polite" data-words="{words}" '
        f'data-copied="{escape(say("chat.copied"))}" data-refused="{escape(say("chat.copy_refused"))}">{words}</button>'
    )


def show_copy_run(events: Sequence[Event]) -> None:
    """Offers a finished run as Markdown with its sources. Shows nothing if it has no answer."""
    last = events[-1]
    if isinstance(last, RunFinished) and last.answer:
        text = escape(run_as_markdown(events, language()))
        st.html(
            f'<div class="copying">{copy_button("chat.copy_markdown")}<textarea hidden readonly rows="8" '
            f'aria-label="{escape(say("chat.copy_markdown"))}">{text}</textarea></div>',
            width="content",
        )
