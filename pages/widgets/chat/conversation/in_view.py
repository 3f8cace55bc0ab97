"""Scrolls to the latest question when it is asked, and to the one that the address names, or else the latest, when a
conversation is opened. Another wording of a question takes the place of the one before. A new chat starts at its top.
Of a long question, such as a mail, only the end is in view, so that there is room for the answer.

Also gives the field for questions the focus back after an answer: it can't be used while a run is in flight, and so the
browser takes the focus from it.

Streamlit keeps the end of a page in view only if `st.chat_input` is alone below the page, not inside `st.bottom`.
"""

from html import escape

import streamlit as st

KEEP_IN_VIEW = """<script>
if (!window.keepInView) {
  let hold = 0, seen = {}, place = "";
  for (const each of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(each, () => { hold++; }, { capture: true, passive: true });
  const giveBackFocus = async () => {
    for (let looks = 0; looks < 20 && document.activeElement === document.body; looks++) {
      document.querySelector("[data-testid=stChatInputTextArea]:enabled")?.focus({ preventScroll: true });
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  };
  const questions = () => [...document.querySelectorAll(".question")];
  const above = row => row && questions().findLast(each => each.compareDocumentPosition(row) & 4);
  addEventListener("click", event => {
    const pressed = above(event.target.closest("[class*=st-key-sign-before-], [class*=st-key-sign-after-]"));
    place = pressed ? `${pressed.getBoundingClientRect().top}px` : "";
  }, { capture: true });
  const look = () => {
    const marker = document.querySelector("[data-conversation]");
    return { ...marker?.dataset, page: marker?.closest("[data-testid=stHtml]") };
  };
  window.keepInView = async () => {
    const now = look(), isOpened = now.page !== seen.page || now.conversation !== seen.conversation;
    const isAsked = now.running && now.running !== seen.running;
    const isChosen = now.sought && now.sought !== seen.sought;
    const isFree = matchMedia("(pointer: fine)").matches && getSelection().isCollapsed;
    if (seen.running && !now.running && isFree) giveBackFocus();
    seen = now;
    if (!isOpened && !isAsked && !isChosen) return;
    const margin = isOpened || isAsked ? "" : place;
    place = "";
    const target = () => {
      if (!now.conversation) return document.querySelector("[data-testid=stMainBlockContainer]");
      const sought = now.sought && !isAsked && document.querySelector(`.st-key-question-${now.sought}`);
      return above(sought) || questions().at(-1);
    };
    const mine = ++hold;
    for (let looks = 0; hold === mine && (looks < 10 || now.running && look().running === now.running); looks++) {
      const question = target();
      if (question) {
        const beyond = now.conversation ? question.offsetHeight - innerHeight / 3 : 0;
        question.style.scrollMarginTop = margin || (beyond > 0 ? `${-beyond}px` : "");
        question.scrollIntoView();
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  };
}
keepInView();
</script>"""
"""Runs whenever its element changes or is added again. A page grows for about two seconds while it is drawn, and during
a run. The script scrolls back to the question until someone uses the page. The focus goes
back only if it is nowhere: it would end a selection, and on a telephone open the keyboard over the answer.
"""


def keep_in_view(conversation_id: str | None, running: str | None, sought: str | None) -> None:
    """Call this first, so that the element keeps its position in the page. `running`: the latest run, if it is in
    flight. `sought`: the run that the address names.
    """
    named = {"conversation": conversation_id, "running": running, "sought": sought}
    marker = " ".join(f'data-{name}="{escape(each or "")}"' for name, each in named.items())
    with st.container(key="in-view"):
        st.html(f"<i {marker}></i>{KEEP_IN_VIEW}", unsafe_allow_javascript=True)
